//! The master key of master: it seals the private parts of certificates.
//!
//! The server can always use it, since it is in master.db, which is encrypted: SQL Server calls that encryption by
//! the service master key. So OPEN MASTER KEY only checks the password, and CLOSE MASTER KEY has no effect.

use selenite_compiler::SqlError;
use selenite_keyring::os_random;
use zeroize::Zeroizing;

use super::key_file::KeyFile;
use super::{error, missing, unsupported};
use crate::Instance;
use crate::administration::Administration;
use crate::database::restored_key::hexadecimal;
use crate::database_error::of_master;
use crate::master::{MasterError, Removal, StoredMasterKey};
use crate::sealing::{SealingKey, check_password, open_with_password, seal_with_password};

/// The key in master.db.
///
/// # Errors
/// 15581 if it does not exist; SQLite's error.
pub fn master_key(instance: &Instance) -> Result<SealingKey, SqlError> {
    let stored = instance
        .master()
        .stored_master_key()
        .map_err(|fault| of_master(&fault))?;
    let stored = stored.ok_or_else(|| {
        let text = "Please create a master key in the database or open the master key in the session before performing \
            this operation.";
        error(15581, text)
    })?;
    SealingKey::new(&stored.secret).ok_or_else(|| SqlError::internal("a master key of another size"))
}

impl Administration<'_, '_> {
    /// CREATE MASTER KEY.
    pub(crate) fn create_master_key(&self, password: Option<&str>) -> Result<(), SqlError> {
        let instance = self.session.instance;
        let password = password.ok_or_else(|| {
            let text = "Database master keys without password are not supported in this version of SQL Server.";
            error(33161, text).with_severity(15)
        })?;
        if instance
            .master()
            .master_key()
            .map_err(|fault| of_master(&fault))?
            .is_some()
        {
            return Err(there_is_one());
        }
        check_password(password)?;
        let new = new_master_key(instance, password)?;
        let mut guid = [0; 16];
        os_random(&mut guid);
        let is_new = instance.master().add_master_key(&new, guid);
        match is_new.map_err(|fault| of_master(&fault))? {
            true => Ok(()),
            false => Err(there_is_one()),
        }
    }

    /// ALTER MASTER KEY REGENERATE: another key, with which the private parts of all certificates are encrypted.
    pub(crate) fn regenerate_master_key(&self, force: bool, password: &str) -> Result<(), SqlError> {
        if force {
            return Err(unsupported("ALTER MASTER KEY FORCE REGENERATE"));
        }
        let instance = self.session.instance;
        let old = master_key(instance)?;
        check_password(password)?;
        let new = new_master_key(instance, password)?;
        self.seal_anew(&old, &new)
    }

    /// Puts another master key in the place of the present one: the private parts of all certificates go along.
    fn seal_anew(&self, old: &SealingKey, new: &StoredMasterKey) -> Result<(), SqlError> {
        let key = SealingKey::new(&new.secret).ok_or_else(|| SqlError::internal("a master key of another size"))?;
        let mut refused = None;
        let master = self.session.instance.master();
        let replaced = master.replace_master_key(new, |thumbprint, sealed| {
            let again = old
                .open(sealed, thumbprint)
                .and_then(|plain| key.seal(&plain, thumbprint));
            again.map_err(|why| {
                let what = MasterError::Unknown(why.text().to_owned());
                refused = Some(why);
                what
            })
        });
        match (refused, replaced) {
            (Some(why), _) => Err(why),
            (None, replaced) => replaced.map_err(|fault| of_master(&fault)),
        }
    }

    /// OPEN MASTER KEY.
    pub(crate) fn open_master_key(&self, password: &str) -> Result<(), SqlError> {
        let instance = self.session.instance;
        let stored = instance
            .master()
            .stored_master_key()
            .map_err(|fault| of_master(&fault))?;
        let stored = stored.ok_or_else(|| missing("find", "symmetric key", "master key"))?;
        let opened = open_with_password(instance, &stored.by_password, password, SECRET_SIZE)?;
        match opened {
            Ok(secret) if *secret == *stored.secret => Ok(()),
            Ok(_) | Err(_) => Err(error(15313, "The key is not encrypted using the specified decryptor.")),
        }
    }

    /// BACKUP MASTER KEY.
    pub(crate) fn backup_master_key(&self, path: &str, password: &str) -> Result<(), SqlError> {
        let instance = self.session.instance;
        let stored = instance
            .master()
            .stored_master_key()
            .map_err(|fault| of_master(&fault))?;
        let stored = stored.ok_or_else(|| missing("find", "symmetric key", "master key"))?;
        check_password(password)?;
        let digits = Zeroizing::new(hexadecimal(&stored.secret));
        let text = Zeroizing::new(format!("{BACKUP_HEADING}\n{}\n", *digits));
        let sealed = seal_with_password(instance, text.as_bytes(), password)?;
        KeyFile::new(path, instance.data_folder()).write(&sealed)
    }

    /// RESTORE MASTER KEY: the key of a backup replaces the present one, or becomes the first one.
    pub(crate) fn restore_master_key(
        &self,
        path: &str,
        (file_password, password): (&str, &str),
        force: bool,
    ) -> Result<(), SqlError> {
        if force {
            return Err(unsupported("RESTORE MASTER KEY FORCE"));
        }
        let instance = self.session.instance;
        let master = instance.master();
        check_password(password)?;
        let bad = || error(15317, "The master key file does not exist or has invalid format.");
        let sealed = KeyFile::new(path, instance.data_folder()).read().map_err(|_| bad())?;
        let opened = open_with_password(instance, &sealed, file_password, BACKUP_SIZE_MAX)?;
        let secret = opened.ok().and_then(|plain| parse_backup(&plain)).ok_or_else(bad)?;
        let by_password = seal_with_password(instance, &secret, password)?;
        let new = StoredMasterKey { secret, by_password };
        if master.master_key().map_err(|fault| of_master(&fault))?.is_some() {
            return self.seal_anew(&master_key(instance)?, &new);
        }
        let mut guid = [0; 16];
        os_random(&mut guid);
        match master.add_master_key(&new, guid).map_err(|fault| of_master(&fault))? {
            true => Ok(()),
            false => Err(there_is_one()),
        }
    }

    /// DROP MASTER KEY.
    pub(crate) fn drop_master_key(&self) -> Result<(), SqlError> {
        let removed = self.session.instance.master().remove_master_key();
        match removed.map_err(|fault| of_master(&fault))? {
            Removal::Done => Ok(()),
            Removal::Missing => Err(missing("drop", "symmetric key", "master key")),
            Removal::Needed(name) => {
                let text = format!("Cannot drop master key because certificate '{name}' is encrypted by it.");
                Err(error(15580, text))
            }
        }
    }
}

/// The key that is in a backup's text. `None` if the text is not a backup.
fn parse_backup(text: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let text = std::str::from_utf8(text).ok()?;
    let digits = text
        .strip_prefix(BACKUP_HEADING)?
        .strip_prefix('\n')?
        .strip_suffix('\n')?;
    let is_plain = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    if digits.len() != 2 * SECRET_SIZE || !is_plain {
        return None;
    }
    let mut secret = Zeroizing::new(vec![0; SECRET_SIZE]);
    for (byte, at) in secret.iter_mut().zip((0..digits.len()).step_by(2)) {
        *byte = u8::from_str_radix(digits.get(at..at + 2)?, 16).ok()?;
    }
    Some(secret)
}

/// A new random secret, and the same encrypted with a password.
fn new_master_key(instance: &Instance, password: &str) -> Result<StoredMasterKey, SqlError> {
    let mut secret = Zeroizing::new(vec![0; SECRET_SIZE]);
    os_random(&mut secret);
    let by_password = seal_with_password(instance, &secret, password)?;
    Ok(StoredMasterKey { secret, by_password })
}

fn there_is_one() -> SqlError {
    let text = "There is already a master key in the database. Please drop it before performing this statement.";
    error(15578, text)
}

/// AES-256.
const SECRET_SIZE: usize = 32;
/// The first line of a backup.
const BACKUP_HEADING: &str = "# Master key, made by Selenite";
/// The heading, 64 digits, and their lines' ends.
const BACKUP_SIZE_MAX: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backup_leads_back_to_its_key_and_nothing_else_does() {
        let text = format!("{BACKUP_HEADING}\n{}\n", hexadecimal(&[0xa7; 32]));
        assert_eq!(**parse_backup(text.as_bytes()).unwrap(), [0xa7; 32]);
        for size in 0..text.len() {
            assert!(parse_backup(&text.as_bytes()[..size]).is_none(), "{size}");
        }
        let signed = text.replace("a7a7a7", "+7a7a7");
        assert!(parse_backup(signed.as_bytes()).is_none());
        assert!(parse_backup(text.replace("a7a7", "+7+7").as_bytes()).is_none());
    }
}
