//! A database as a URI that names its cipher and key.

use selenite_worker::WorkerError;
use selenite_worker::protocol::DatabaseSpec;

/// Where a database is to be made, and how it is encrypted; `secret` is in hexadecimal digits, none in clear.
///
/// # Errors
/// [`WorkerError::Refused`] if the path is no text.
pub fn of(database: &DatabaseSpec, secret: Option<&str>) -> Result<String, WorkerError> {
    let path = database
        .path
        .to_str()
        .ok_or_else(|| WorkerError::Refused(format!("{} is not valid UTF-8", database.path.display())))?;
    // https://www.sqlite.org/uri.html: these end a path or begin an escape.
    let path = path.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    Ok(match secret {
        Some(secret) => format!("file:{path}?cipher={}&hexkey={secret}", database.cipher),
        // Without one the copy would take the key of the source.
        None => format!("file:{path}?key="),
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use selenite_worker::stock::spec;

    #[test]
    fn a_path_is_escaped() {
        let mut database = spec(Path::new("/a b/50%?#1.db"));
        assert_eq!(of(&database, None).unwrap(), "file:/a b/50%25%3f%231.db?key=");
        database.cipher = "aegis".to_owned();
        assert_eq!(
            of(&database, Some("00ff")).unwrap(),
            "file:/a b/50%25%3f%231.db?cipher=aegis&hexkey=00ff"
        );
    }
}
