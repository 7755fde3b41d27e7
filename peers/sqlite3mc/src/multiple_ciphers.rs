//! SQLite3 Multiple Ciphers with its own defaults for each cipher.
//!
//! `aes256cbc` encrypts pages and does not authenticate them; `chacha20` is ChaCha20-Poly1305; `aegis` is AEGIS-256.
//! Keys are given raw where the cipher takes them. `aes256cbc` does not: it hashes what it is given 4001 times when a
//! database is opened, about 1 ms that no block of work holds but a conversion and openings.

mod location;

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Connection, ErrorCode, OpenFlags};
use selenite_peer::{flags, key, pragma};
use selenite_worker::engine::{self, Engine, Status, check_absent};
use selenite_worker::protocol::{DatabaseSpec, Hello, PLAIN};
use selenite_worker::{WorkerError, layout};

/// The SQLite3 Multiple Ciphers that is linked in.
#[derive(Clone, Copy, Debug)]
pub struct MultipleCiphers;

impl Engine for MultipleCiphers {
    fn hello(&self) -> Result<Hello, WorkerError> {
        let connection = Connection::open_in_memory()?;
        let version = connection
            .query_row("SELECT sqlite3mc_version()", [], |row| row.get(0))
            .map_err(|_| {
                WorkerError::Engine(
                    "there is no SQLite3 Multiple Ciphers in this worker: build it with scripts/peers.sh".to_owned(),
                )
            })?;
        let ciphers = CIPHERS.iter().map(|(name, _)| (*name).to_owned()).collect();
        engine::hello("sqlite3mc", version, ciphers)
    }

    fn connect(&self, database: &DatabaseSpec) -> Result<Connection, WorkerError> {
        keyed(database, flags::OPEN)
    }

    fn open(&self, database: &DatabaseSpec) -> Result<Connection, WorkerError> {
        let connection = keyed(database, flags::OPEN)?;
        layout::apply(&connection, database)?;
        Ok(connection)
    }

    fn create(&self, database: &DatabaseSpec) -> Result<Connection, WorkerError> {
        check_absent(database)?;
        let connection = keyed(database, flags::CREATE)?;
        layout::set_page_size(&connection, database)?;
        layout::apply(&connection, database)?;
        Ok(connection)
    }

    fn status(&self, connection: &Connection, database: &DatabaseSpec) -> Result<Status, WorkerError> {
        let mut values = BTreeMap::new();
        let encrypted = is_refused_without_key(database)?;
        values.insert(
            "without a key".to_owned(),
            if encrypted {
                "file is not a database"
            } else {
                "can be read"
            }
            .to_owned(),
        );
        // In clear it would name the cipher that a key would turn on.
        if encrypted {
            for name in ["cipher", "cipher_salt", "algorithm"] {
                let value = pragma::answer(connection, name)?;
                if !value.is_empty() {
                    values.insert(name.to_owned(), value);
                }
            }
        }
        Ok(Status { values, encrypted })
    }

    /// By `VACUUM INTO` a URI with the other cipher and key.
    fn convert(&self, source: &DatabaseSpec, target: &DatabaseSpec) -> Result<(), WorkerError> {
        check_absent(target)?;
        let location = location::of(target, secret(target)?.as_deref())?;
        let connection = self.open(source)?;
        connection.execute("VACUUM INTO ?1", [location])?;
        connection.close().map_err(|(_, error)| error)?;
        Ok(())
    }

    /// By `PRAGMA hexrekey`, in the journal mode that the database has; its log goes into the file when it is closed.
    fn rekey(&self, database: &DatabaseSpec, key_file: &Path) -> Result<(), WorkerError> {
        let renewed = DatabaseSpec {
            key_file: key_file.to_owned(),
            ..database.clone()
        };
        let secret = secret(&renewed)?.ok_or_else(|| WorkerError::Refused("in clear there is no key".to_owned()))?;
        let connection = self.open(database)?;
        pragma::answer(&connection, &format!("hexrekey = '{secret}'"))?;
        connection.close().map_err(|(_, error)| error)?;
        Ok(())
    }
}

fn keyed(database: &DatabaseSpec, flags: OpenFlags) -> Result<Connection, WorkerError> {
    if let Some(name) = database.settings.keys().next() {
        return Err(WorkerError::Refused(format!(
            "there is no setting {name}: this engine has none"
        )));
    }
    let secret = secret(database)?;
    let connection = Connection::open_with_flags(&database.path, flags)?;
    if let Some(secret) = secret {
        pragma::answer(&connection, &format!("cipher = '{}'", database.cipher))?;
        // It answers `ok`, whether the key fits or not: the first read finds that out.
        pragma::answer(&connection, &format!("hexkey = '{secret}'"))?;
    }
    Ok(connection)
}

/// What the cipher takes as its key, in hexadecimal digits; none in clear.
fn secret(database: &DatabaseSpec) -> Result<Option<String>, WorkerError> {
    if database.cipher == PLAIN {
        return Ok(None);
    }
    let Some((_, before)) = CIPHERS.iter().find(|(name, _)| *name == database.cipher) else {
        let known = CIPHERS.map(|(name, _)| name).join(", ");
        return Err(WorkerError::Refused(format!(
            "there is no cipher {}: {known} are known",
            database.cipher
        )));
    };
    Ok(Some(format!("{before}{}", key::digits(database)?)))
}

/// Whether SQLite finds no database in the file when it has no key: there is no pragma that says it for every cipher.
fn is_refused_without_key(database: &DatabaseSpec) -> Result<bool, WorkerError> {
    let connection = Connection::open_with_flags(&database.path, flags::OPEN)?;
    connection.busy_timeout(layout::BUSY_WAIT)?;
    match connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())) {
        Ok(()) => Ok(false),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Their names, and what stands before a key in digits: `raw:` in ASCII, where the cipher knows it.
const CIPHERS: [(&str, &str); 3] = [("aegis", RAW), ("aes256cbc", ""), ("chacha20", RAW)];

const RAW: &str = "7261773a";

#[cfg(test)]
mod tests {
    use super::*;
    use selenite_peer_contract::{Fault, conversion, rekeying, sealing};

    #[test]
    fn a_conversion_keeps_all_rows() -> Result<(), Fault> {
        conversion::keeps_all_rows(&MultipleCiphers)
    }

    #[test]
    fn a_change_of_key_shuts_the_old_one_out() -> Result<(), Fault> {
        rekeying::shuts_the_old_key_out(&MultipleCiphers)
    }

    #[test]
    fn a_log_shows_nothing() -> Result<(), Fault> {
        sealing::log_shows_nothing(&MultipleCiphers)
    }
}
