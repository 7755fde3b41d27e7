//! CREATE, BACKUP and DROP CERTIFICATE.

use selenite_compiler::SqlError;
use selenite_keyring::{HeldAge, PasswordFileError};
use selenite_runtime::machine::Failure;
use selenite_tsql::ast::{self, CertificateSource, ExprKind, Literal, PrivateKey, Setting};
use selenite_types::{DataType, DateFormat, DateTime2, Value, Width, convert};

use super::key_file::{KeyFile, not_valid};
use super::master_key::master_key;
use super::private_part::PrivatePart;
use super::x509::{Issued, issue, thumbprint};
use super::{error, info, missing, unsupported};
use crate::Instance;
use crate::administration::Administration;
use crate::database_error::of_master;
use crate::execution_context::ExecutionContext;
use crate::master::{CertificateRecord, MasterError, NewStoredCertificate, Removal};
use crate::sealing::{SealingKey, check_password, open_with_password, seal_with_password};

impl Administration<'_, '_> {
    /// CREATE CERTIFICATE.
    pub(crate) fn create_certificate(
        &self,
        create: &ast::CreateCertificate,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<(), Failure> {
        let instance = self.session.instance;
        if create.authorization.as_ref().is_some_and(|owner| !owner.is("dbo")) {
            return Err(unsupported("CREATE CERTIFICATE AUTHORIZATION").into());
        }
        if create.active_for_begin_dialog.is_some() {
            return Err(unsupported("CREATE CERTIFICATE ACTIVE FOR BEGIN_DIALOG").into());
        }
        let name = &create.name.text;
        let named = instance.master().certificate_named(name);
        if named.map_err(|fault| of_master(&fault))?.is_some() {
            return Err(taken(name).into());
        }
        let key = master_key(instance)?;
        let issued = match &create.source {
            CertificateSource::New { password: Some(_), .. } => {
                return Err(unsupported("CREATE CERTIFICATE ENCRYPTION BY PASSWORD").into());
            }
            CertificateSource::New {
                password: None,
                options,
            } => {
                let now = i64::try_from(selenite::now()).unwrap_or(i64::MAX);
                let wanted = WantedCertificate::of(options, now)?;
                if let Some((number, text)) = wanted.warning(now) {
                    execution.reply.message(&info(number, text))?;
                }
                issue(wanted.subject, wanted.not_before, wanted.not_after).map_err(|why| {
                    let text = format!("An error occurred during the generation of the certificate ({why}).");
                    error(15468, text)
                })?
            }
            CertificateSource::File { path, private_key } => {
                let Some(private_key) = private_key else {
                    return Err(unsupported("CREATE CERTIFICATE FROM FILE without PRIVATE KEY").into());
                };
                self.take_in(path, private_key)?
            }
            CertificateSource::Binary { .. } => return Err(unsupported("CREATE CERTIFICATE FROM BINARY").into()),
        };
        Ok(self.keep_certificate(name, &issued, &key)?)
    }

    fn keep_certificate(&self, name: &str, issued: &Issued, key: &SealingKey) -> Result<(), SqlError> {
        let part = &issued.private_part;
        let text = part
            .encode()
            .ok_or_else(|| SqlError::internal("a private key that is none"))?;
        let sealed = key.seal(text.as_bytes(), &part.thumbprint)?;
        let record = CertificateRecord {
            id: 0,
            name: name.to_owned(),
            certificate: issued.certificate.clone(),
            thumbprint: part.thumbprint.clone(),
            serial: part.serial.clone(),
            subject: part.subject.clone(),
            recipient: issued.recipient.clone(),
            not_before: part.not_before,
            not_after: part.not_after,
            backed_up: 0,
        };
        let new = NewStoredCertificate {
            record: &record,
            sealed: &sealed,
        };
        match self.session.instance.master().add_certificate(&new) {
            Ok(()) => Ok(()),
            Err(MasterError::Taken(name)) => Err(taken(&name)),
            Err(fault) => Err(of_master(&fault)),
        }
    }

    /// A certificate from its backup.
    fn take_in(&self, path: &str, private_key: &PrivateKey) -> Result<Issued, SqlError> {
        let instance = self.session.instance;
        if private_key.encryption_password.is_some() {
            return Err(unsupported("CREATE CERTIFICATE FROM FILE with ENCRYPTION BY PASSWORD"));
        }
        let Some(key_path) = private_key.path.as_ref().filter(|_| private_key.bytes.is_none()) else {
            return Err(unsupported("CREATE CERTIFICATE FROM FILE with PRIVATE KEY (BINARY)"));
        };
        let folder = instance.data_folder();
        let certificate = KeyFile::new(path, folder).read()?;
        let sealed = KeyFile::new(key_path, folder).read()?;
        let wrong = || error(15465, "The private key password is invalid.");
        let password = private_key.decryption_password.as_deref().ok_or_else(wrong)?;
        let opened = open_with_password(instance, &sealed, password, PRIVATE_SIZE_MAX)?;
        let plain = opened.map_err(|why| {
            if why == PasswordFileError::WrongPassword {
                wrong()
            } else {
                not_valid()
            }
        })?;
        let text = std::str::from_utf8(&plain).map_err(|_| not_valid())?;
        let private_part = PrivatePart::parse(text).ok_or_else(not_valid)?;
        if private_part.thumbprint != thumbprint(&certificate) {
            let text = "The certificate, asymmetric key, or private key data is invalid.";
            return Err(error(15297, text));
        }
        let recipient = private_part.recipient().ok_or_else(not_valid)?;
        Ok(Issued {
            certificate: certificate.to_vec(),
            recipient,
            private_part,
        })
    }

    /// BACKUP CERTIFICATE.
    pub(crate) fn backup_certificate(&self, backup: &ast::BackupCertificate) -> Result<(), SqlError> {
        let instance = self.session.instance;
        let folder = instance.data_folder();
        let name = &backup.name.text;
        let found = instance
            .master()
            .certificate_named(name)
            .map_err(|fault| of_master(&fault))?;
        let found = found.ok_or_else(|| missing("find", "certificate", name))?;
        let public = KeyFile::new(&backup.path, folder);
        let Some(private_key) = &backup.private_key else {
            return public.write(&found.certificate);
        };
        if private_key.decryption_password.is_some() || private_key.bytes.is_some() {
            return Err(unsupported("BACKUP CERTIFICATE with DECRYPTION BY PASSWORD or BINARY"));
        }
        let (Some(path), Some(password)) = (&private_key.path, &private_key.encryption_password) else {
            return Err(unsupported(
                "BACKUP CERTIFICATE with PRIVATE KEY, but no FILE or ENCRYPTION BY PASSWORD",
            ));
        };
        check_password(password)?;
        let sealed = instance
            .master()
            .sealed_key(found.id)
            .map_err(|fault| of_master(&fault))?;
        let sealed = sealed.ok_or_else(|| missing("find", "certificate", name))?;
        let plain = master_key(instance)?.open(&sealed, &found.thumbprint)?;
        let by_password = seal_with_password(instance, &plain, password)?;
        let private = KeyFile::new(path, folder);
        public.write(&found.certificate)?;
        if let Err(why) = private.write(&by_password) {
            public.discard();
            return Err(why);
        }
        let noted = instance.master().note_certificate_backup(found.id);
        noted.map_err(|fault| of_master(&fault))
    }

    /// DROP CERTIFICATE.
    pub(crate) fn drop_certificates(&self, drop: &ast::Drop) -> Result<(), SqlError> {
        for name in &drop.names {
            let name = &name.name.text;
            let removed = self.session.instance.master().remove_certificate(name);
            match removed.map_err(|fault| of_master(&fault))? {
                Removal::Missing if !drop.if_exists => return Err(missing("drop", "certificate", name)),
                Removal::Done | Removal::Missing => {}
                Removal::Needed(_) => {
                    let text = format!(
                        "The certificate '{name}' cannot be dropped because it is bound to one or more database encryption key."
                    );
                    return Err(error(3716, text));
                }
            }
        }
        Ok(())
    }
}

/// The private keys of all certificates, in memory, to open backups with; empty if there are no certificates.
///
/// # Errors
/// The error of master.db; a private key that its master key does not open.
pub fn held_certificates(instance: &Instance) -> Result<Option<HeldAge>, SqlError> {
    let master = instance.master();
    let certificates = master.certificates().map_err(|fault| of_master(&fault))?;
    if certificates.is_empty() {
        return Ok(None);
    }
    let key = master_key(instance)?;
    let mut identities = Vec::with_capacity(certificates.len());
    for certificate in &certificates {
        let sealed = master.sealed_key(certificate.id).map_err(|fault| of_master(&fault))?;
        let Some(sealed) = sealed else { continue };
        let plain = key.open(&sealed, &certificate.thumbprint)?;
        let text = std::str::from_utf8(&plain).ok();
        let part = text.and_then(PrivatePart::parse).ok_or_else(not_valid)?;
        identities.push(part.identity);
    }
    let held = HeldAge::new(identities).map_err(|_| not_valid())?;
    Ok(Some(held))
}

/// The contents of a new certificate.
pub struct WantedCertificate<'a> {
    /// SUBJECT.
    pub subject: &'a str,
    /// START_DATE: seconds since 1970-01-01 UTC.
    pub not_before: i64,
    /// EXPIRY_DATE.
    pub not_after: i64,
}

impl<'a> WantedCertificate<'a> {
    /// Reads the options of CREATE CERTIFICATE.
    ///
    /// # Errors
    /// 15212, 15213; a date that is none.
    pub fn of(options: &'a [Setting], now: i64) -> Result<Self, SqlError> {
        let told = |name: &str| {
            let found = options.iter().find(|option| option.name.is(name));
            found.and_then(text_of)
        };
        let subject = told("SUBJECT").unwrap_or_default();
        if !(1..=SUBJECT_COUNT_MAX).contains(&subject.encode_utf16().count()) {
            let text = format!(
                "Invalid certificate subject. The certificate subject must have between 1 and {SUBJECT_COUNT_MAX} characters."
            );
            return Err(error(15212, text));
        }
        let not_before = told("START_DATE").map_or(Ok(now), moment)?;
        let not_after = match told("EXPIRY_DATE") {
            Some(text) => moment(text)?,
            None => not_before.saturating_add(YEAR_SECONDS),
        };
        if not_after < not_before {
            let text = "Warning: The certificate you created has an invalid validity period; its expiration date precedes \
                its start date.";
            return Err(error(15213, text));
        }
        Ok(Self {
            subject,
            not_before,
            not_after,
        })
    }

    /// What is sent about its validity.
    pub fn warning(&self, now: i64) -> Option<(i32, &'static str)> {
        if self.not_after < now {
            return Some((15214, "Warning: The certificate you created is expired."));
        }
        let text = "Warning: The certificate you created is not yet valid; its start date is in the future.";
        (self.not_before > now).then_some((15215, text))
    }
}

/// An option's string.
pub(super) fn text_of(option: &Setting) -> Option<&str> {
    let ExprKind::Literal(Literal::String(text) | Literal::National(text)) = &option.expr()?.kind else {
        return None;
    };
    Some(text)
}

/// A moment in UTC, as seconds since 1970-01-01.
fn moment(text: &str) -> Result<i64, SqlError> {
    let from = DataType::NVarChar(Width::Max);
    let to = DataType::DateTime2(0);
    let read = convert(&Value::Text(text.into()), &from, &to, None, DateFormat::default())?;
    let Value::DateTime(read) = read else {
        return Err(SqlError::internal("a moment that is none"));
    };
    let since = read.units().saturating_sub(UNIX_EPOCH_UNITS);
    if since < 0 || read > DateTime2::MAX {
        let text = "The certificate's dates must not be before 1970-01-01.";
        return Err(error(50823, text));
    }
    Ok(since / UNITS_PER_SECOND)
}

/// 15232: the name, or the certificate, exists already.
fn taken(name: &str) -> SqlError {
    let text = format!(
        "A certificate with name '{name}' already exists or this certificate already has been added to the database."
    );
    error(15232, text)
}

/// What sys.certificates has room for.
const SUBJECT_COUNT_MAX: usize = 4000;
/// A subject of 4000 characters, each escaped, and the rest.
const PRIVATE_SIZE_MAX: usize = 49_152;
const YEAR_SECONDS: i64 = 365 * 86_400;
const UNITS_PER_SECOND: i64 = 10_000_000;
/// There are 719,162 days between 0001-01-01 and 1970-01-01.
const UNIX_EPOCH_UNITS: i64 = 719_162 * 86_400 * UNITS_PER_SECOND;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_moments_in_utc() {
        let cases = [
            ("19700101", 0),
            ("2000-02-29", 951_782_400),
            ("02/29/2000", 951_782_400),
            ("9999-12-31 23:59:59", 253_402_300_799),
        ];
        for (text, seconds) in cases {
            assert_eq!(moment(text).unwrap(), seconds, "{text}");
        }
        assert_eq!(moment("no date").unwrap_err().number(), 241);
        assert!(moment("19691231").is_err());
    }
}
