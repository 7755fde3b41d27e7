//! A key file, as the digits that SQL takes.

use std::fs;

use selenite_worker::WorkerError;
use selenite_worker::protocol::DatabaseSpec;

/// The key of a database in 64 hexadecimal digits.
///
/// # Errors
/// [`WorkerError::Io`] if the file can't be read; [`WorkerError::Refused`] if it has not 32 bytes.
pub fn digits(database: &DatabaseSpec) -> Result<String, WorkerError> {
    let key = fs::read(&database.key_file).map_err(WorkerError::io("read", &database.key_file))?;
    if key.len() != KEY_SIZE {
        return Err(WorkerError::Refused(format!(
            "{} has {} bytes, a key has {KEY_SIZE}",
            database.key_file.display(),
            key.len()
        )));
    }
    Ok(key.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// 256 bits: what every cipher here takes.
const KEY_SIZE: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use selenite_worker::stock::spec;

    #[test]
    fn a_key_has_32_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let mut database = spec(&folder.path().join("a.db"));
        database.key_file = folder.path().join("key");
        assert!(matches!(digits(&database), Err(WorkerError::Io { .. })));
        fs::write(&database.key_file, [0xa5; 31]).unwrap();
        assert!(matches!(digits(&database), Err(WorkerError::Refused(_))));
        fs::write(&database.key_file, [0xa5; 32]).unwrap();
        assert_eq!(digits(&database).unwrap(), "a5".repeat(32));
    }
}
