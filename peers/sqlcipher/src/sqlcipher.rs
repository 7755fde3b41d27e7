//! SQLCipher 4 with its own defaults: AES-256-CBC and HMAC-SHA512 of every page, by OpenSSL.
//!
//! The key is given raw, so no key is derived from a passphrase when a database is opened.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};
use selenite_peer::{flags, key, pragma};
use selenite_worker::engine::{self, Engine, Status, check_absent};
use selenite_worker::protocol::{DatabaseSpec, Hello, PLAIN};
use selenite_worker::{WorkerError, layout};

/// The SQLCipher that is linked in.
#[derive(Clone, Copy, Debug)]
pub struct SqlCipher;

impl Engine for SqlCipher {
    fn hello(&self) -> Result<Hello, WorkerError> {
        let connection = Connection::open_in_memory()?;
        // What encrypts is known once there is a key.
        connection.execute_batch(&format!("PRAGMA key = \"x'{}'\"", "00".repeat(32)))?;
        let version = pragma::answer(&connection, "cipher_version")?;
        if version.is_empty() {
            return Err(WorkerError::Engine(
                "there is no SQLCipher in this worker: build it with scripts/peers.sh".to_owned(),
            ));
        }
        let provider = pragma::answer(&connection, "cipher_provider_version")?;
        let mut hello = engine::hello(
            "sqlcipher",
            format!("SQLCipher {version}, {provider}"),
            vec![CIPHER.to_owned()],
        )?;
        hello.without_aes.insert(IA32CAP.0.to_owned(), IA32CAP.1.to_owned());
        Ok(hello)
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
        if database.cipher == PLAIN {
            layout::set_page_size(&connection, database)?;
        }
        layout::apply(&connection, database)?;
        Ok(connection)
    }

    fn status(&self, connection: &Connection, _: &DatabaseSpec) -> Result<Status, WorkerError> {
        let mut values = BTreeMap::new();
        for name in SAID {
            let value = pragma::answer(connection, name)?;
            if !value.is_empty() {
                values.insert(name.to_owned(), value);
            }
        }
        let encrypted = values.get("cipher_status").is_some_and(|status| status == "1");
        Ok(Status { values, encrypted })
    }

    /// By ATTACH and `sqlcipher_export`, as SQLCipher's documentation has it.
    fn convert(&self, source: &DatabaseSpec, target: &DatabaseSpec) -> Result<(), WorkerError> {
        check_absent(target)?;
        let secret = secret(target)?;
        // What is attached is opened as the main database was, and this one has to be made.
        self.open(source)?.close().map_err(|(_, error)| error)?;
        let connection = keyed(source, flags::CREATE)?;
        layout::apply(&connection, source)?;
        attach(&connection, &target.path, secret.as_deref().unwrap_or_default())?;
        let page_size = if secret.is_some() {
            "cipher_page_size"
        } else {
            "page_size"
        };
        connection.pragma_update(Some("copy"), page_size, target.page_size)?;
        connection.pragma_update(Some("copy"), "synchronous", &target.synchronous)?;
        connection.query_row("SELECT sqlcipher_export('copy')", [], |_| Ok(()))?;
        connection.execute_batch("DETACH copy")?;
        connection.close().map_err(|(_, error)| error)?;
        Ok(())
    }

    /// By `PRAGMA rekey`, in the journal mode that the database has; its log goes into the file when it is closed.
    fn rekey(&self, database: &DatabaseSpec, key_file: &Path) -> Result<(), WorkerError> {
        let renewed = DatabaseSpec {
            key_file: key_file.to_owned(),
            ..database.clone()
        };
        let secret = secret(&renewed)?.ok_or_else(|| WorkerError::Refused("in clear there is no key".to_owned()))?;
        let connection = self.open(database)?;
        pragma::answer(&connection, &format!("rekey = \"{secret}\""))?;
        connection.close().map_err(|(_, error)| error)?;
        Ok(())
    }

    /// By `PRAGMA cipher_integrity_check`, which authenticates every page of the file; in clear it is only read.
    fn verify_physical(&self, database: &DatabaseSpec) -> Result<u64, WorkerError> {
        if database.cipher == PLAIN {
            return engine::read_through(database);
        }
        let connection = self.open(database)?;
        let fault = pragma::answer(&connection, "cipher_integrity_check")?;
        if !fault.is_empty() {
            return Err(WorkerError::Wrong(fault));
        }
        connection.close().map_err(|(_, error)| error)?;
        let facts = database
            .path
            .metadata()
            .map_err(WorkerError::io("read", &database.path))?;
        Ok(facts.len())
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
        // It answers `ok`, whether the key fits or not: the first read finds that out.
        pragma::answer(&connection, &format!("key = \"{secret}\""))?;
        pragma::answer(&connection, &format!("cipher_page_size = {}", database.page_size))?;
    }
    Ok(connection)
}

/// A raw key in SQLCipher's words; none in clear.
fn secret(database: &DatabaseSpec) -> Result<Option<String>, WorkerError> {
    match database.cipher.as_str() {
        PLAIN => Ok(None),
        CIPHER => Ok(Some(format!("x'{}'", key::digits(database)?))),
        other => Err(WorkerError::Refused(format!(
            "there is no cipher {other}: {CIPHER} is known"
        ))),
    }
}

fn attach(connection: &Connection, path: &Path, secret: &str) -> Result<(), WorkerError> {
    let path = path
        .to_str()
        .ok_or_else(|| WorkerError::Refused(format!("{} is not valid UTF-8", path.display())))?;
    connection.execute("ATTACH ?1 AS copy KEY ?2", [path, secret])?;
    Ok(())
}

/// SQLCipher 4's only one.
const CIPHER: &str = "aes256cbc";

/// Hides AES-NI and PCLMULQDQ from OpenSSL (its manual page `OPENSSL_ia32cap`).
const IA32CAP: (&str, &str) = ("OPENSSL_ia32cap", "~0x200000200000000");

/// What it says of itself.
const SAID: [&str; 6] = [
    "cipher",
    "cipher_provider",
    "cipher_provider_version",
    "cipher_settings",
    "cipher_status",
    "cipher_version",
];

#[cfg(test)]
mod tests {
    use super::*;
    use selenite_peer_contract::{Fault, conversion, rekeying, sealing};

    #[test]
    fn a_conversion_keeps_all_rows() -> Result<(), Fault> {
        conversion::keeps_all_rows(&SqlCipher)
    }

    #[test]
    fn a_change_of_key_shuts_the_old_one_out() -> Result<(), Fault> {
        rekeying::shuts_the_old_key_out(&SqlCipher)
    }

    #[test]
    fn a_log_shows_nothing() -> Result<(), Fault> {
        sealing::log_shows_nothing(&SqlCipher)
    }
}
