//! Certificates that databases are encrypted by.

use rusqlite::{Connection, OptionalExtension, Row};

use super::keys::Removal;
use super::{Master, MasterError, folded, now};

/// A certificate, without its private part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CertificateRecord {
    /// Its id: from 256 up, as SQL Server numbers them.
    pub id: i64,
    /// Its name as it was created.
    pub name: String,
    /// The X.509 certificate, as DER.
    pub certificate: Vec<u8>,
    /// SHA-1 of the DER, as SQL Server has it.
    pub thumbprint: Vec<u8>,
    /// Its serial number, as bytes.
    pub serial: Vec<u8>,
    /// The text of SUBJECT; its issuer, too.
    pub subject: String,
    /// The recipient for key slots: `age1...`.
    pub recipient: String,
    /// The beginning of its validity: seconds since 1970-01-01 UTC.
    pub not_before: i64,
    /// The end of its validity.
    pub not_after: i64,
    /// When it was last backed up with its private key; 0 if never.
    pub backed_up: i64,
}

/// A certificate to be stored.
pub(crate) struct NewStoredCertificate<'a> {
    /// Everything but its id.
    pub record: &'a CertificateRecord,
    /// Its private part, encrypted with the master key.
    pub sealed: &'a [u8],
}

impl Master {
    /// All certificates, by rising id.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn certificates(&self) -> Result<Vec<CertificateRecord>, MasterError> {
        self.with(|connection| {
            let mut asked = connection.prepare_cached(&format!("{SELECT} ORDER BY id"))?;
            let rows = asked.query_map([], record)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// The certificate of that name, case-insensitively.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn certificate_named(&self, name: &str) -> Result<Option<CertificateRecord>, MasterError> {
        self.with(|connection| find(connection, name))
    }

    /// A certificate's private part, as encrypted with the master key.
    ///
    /// # Errors
    /// SQLite's error.
    pub(crate) fn sealed_key(&self, id: i64) -> Result<Option<Vec<u8>>, MasterError> {
        self.with(|connection| {
            let sql = "SELECT sealed FROM selenite_certificate WHERE id = ?1";
            Ok(connection.query_row(sql, [id], |row| row.get(0)).optional()?)
        })
    }

    /// Stores a new certificate, whose id is chosen here.
    ///
    /// # Errors
    /// [`MasterError::Taken`] if there is one of that name or that very certificate; SQLite's error.
    pub(crate) fn add_certificate(&self, new: &NewStoredCertificate<'_>) -> Result<(), MasterError> {
        self.change(|connection| {
            let record = new.record;
            let is_there = "SELECT 1 FROM selenite_certificate WHERE folded = ?1 OR thumbprint = ?2";
            let mut asked = connection.prepare(is_there)?;
            if asked.exists((folded(&record.name), &record.thumbprint))? {
                return Err(MasterError::Taken(record.name.clone()));
            }
            let sql = "INSERT INTO selenite_certificate (id, name, folded, certificate, thumbprint, serial, subject, recipient, \
                not_before, not_after, sealed, backed_up) VALUES ((SELECT coalesce(max(id) + 1, ?1) FROM \
                selenite_certificate), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
            connection.execute(
                sql,
                (
                    FIRST_ID,
                    &record.name,
                    folded(&record.name),
                    &record.certificate,
                    &record.thumbprint,
                    &record.serial,
                    &record.subject,
                    &record.recipient,
                    record.not_before,
                    record.not_after,
                    new.sealed,
                    record.backed_up,
                ),
            )?;
            Ok(())
        })
    }

    /// Notes that a certificate was backed up with its private key.
    ///
    /// # Errors
    /// SQLite's error.
    pub(crate) fn note_certificate_backup(&self, id: i64) -> Result<(), MasterError> {
        self.change(|connection| {
            let sql = "UPDATE selenite_certificate SET backed_up = ?2 WHERE id = ?1";
            connection.execute(sql, (id, now()))?;
            Ok(())
        })
    }

    /// Removes a certificate, unless a database encryption key needs it: then the database's name is returned.
    ///
    /// # Errors
    /// SQLite's error.
    pub(crate) fn remove_certificate(&self, name: &str) -> Result<Removal, MasterError> {
        self.change(|connection| {
            let Some(found) = find(connection, name)? else {
                return Ok(Removal::Missing);
            };
            let sql = "SELECT name FROM selenite_encryption_key JOIN selenite_database ON id = database_id \
                WHERE certificate_id = ?1 ORDER BY id LIMIT 1";
            let needed: Option<String> = connection.query_row(sql, [found.id], |row| row.get(0)).optional()?;
            if let Some(name) = needed {
                return Ok(Removal::Needed(name));
            }
            connection.execute("DELETE FROM selenite_certificate WHERE id = ?1", [found.id])?;
            Ok(Removal::Done)
        })
    }
}

fn find(connection: &Connection, name: &str) -> Result<Option<CertificateRecord>, MasterError> {
    let mut asked = connection.prepare_cached(&format!("{SELECT} WHERE folded = ?1"))?;
    Ok(asked.query_row([folded(name)], record).optional()?)
}

fn record(row: &Row<'_>) -> rusqlite::Result<CertificateRecord> {
    Ok(CertificateRecord {
        id: row.get(0)?,
        name: row.get(1)?,
        certificate: row.get(2)?,
        thumbprint: row.get(3)?,
        serial: row.get(4)?,
        subject: row.get(5)?,
        recipient: row.get(6)?,
        not_before: row.get(7)?,
        not_after: row.get(8)?,
        backed_up: row.get(9)?,
    })
}

const SELECT: &str = "SELECT id, name, certificate, thumbprint, serial, subject, recipient, not_before, not_after, backed_up \
    FROM selenite_certificate";
/// Below are the certificates of SQL Server's own.
const FIRST_ID: i64 = 256;
