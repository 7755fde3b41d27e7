//! The service master key: it encrypts the master keys of databases, so that the server opens them by itself.

use rusqlite::OptionalExtension;
use selenite_keyring::os_random;
use zeroize::Zeroizing;

use super::{Master, MasterError};

impl Master {
    /// The key, which is made when it is first needed.
    ///
    /// # Errors
    /// SQLite's error.
    pub(crate) fn service_master_key(&self) -> Result<Zeroizing<Vec<u8>>, MasterError> {
        self.change(|connection| {
            let mut secret = Zeroizing::new([0_u8; SECRET_SIZE]);
            os_random(&mut *secret);
            let known = "SELECT value FROM selenite_setting WHERE name = 'service_master_key'";
            let find = || connection.query_row(known, [], |row| row.get(0)).optional();
            if let Some(found) = find()? {
                return Ok(Zeroizing::new(found));
            }
            let sql = "INSERT INTO selenite_setting (name, value) VALUES ('service_master_key', ?1)";
            connection.execute(sql, [secret.as_slice()])?;
            Ok(Zeroizing::new(secret.to_vec()))
        })
    }
}

/// AES-256.
const SECRET_SIZE: usize = 32;
