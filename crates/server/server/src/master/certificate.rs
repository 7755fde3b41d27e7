//! The certificate that the server shows, where it was given none.

use rusqlite::OptionalExtension;
use zeroize::Zeroizing;

use super::{Master, MasterError};

/// A certificate of the server's own and its key, both as DER.
pub struct StoredCertificate {
    /// The certificate.
    pub certificate: Vec<u8>,
    /// Its key.
    pub key: Zeroizing<Vec<u8>>,
    /// The end of its validity: seconds since 1970-01-01 UTC.
    pub not_after: i64,
}

impl Master {
    /// The stored one, if there is one.
    ///
    /// # Errors
    /// SQLite's error.
    pub(crate) fn certificate(&self) -> Result<Option<StoredCertificate>, MasterError> {
        self.with(|connection| {
            let sql = "SELECT a.value, b.value, c.value FROM selenite_setting AS a, selenite_setting AS b, \
                selenite_setting AS c WHERE a.name = 'tls_certificate' AND b.name = 'tls_key' AND c.name = 'tls_not_after'";
            let kept = connection.query_row(sql, [], |row| {
                Ok(StoredCertificate {
                    certificate: row.get(0)?,
                    key: Zeroizing::new(row.get(1)?),
                    not_after: row.get(2)?,
                })
            });
            Ok(kept.optional()?)
        })
    }

    /// Stores one in place of the stored one.
    ///
    /// # Errors
    /// SQLite's error.
    pub(crate) fn store_certificate(&self, new: &StoredCertificate) -> Result<(), MasterError> {
        self.change(|connection| {
            let sql = "INSERT OR REPLACE INTO selenite_setting (name, value) VALUES \
                ('tls_certificate', ?1), ('tls_key', ?2), ('tls_not_after', ?3)";
            connection.execute(sql, (&new.certificate, &*new.key, new.not_after))?;
            Ok(())
        })
    }
}
