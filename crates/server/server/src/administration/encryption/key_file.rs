//! Files that certificates and keys are backed up to, and taken in from.
//!
//! - `owner-only-and-new`: a file is readable by its owner only, and never replaces another.
//! - `paths-stay-in-the-data-folder`: a relative path is in the data folder. A path that leads back
//!   (`..`) names no file, so it names nothing outside of that folder.

use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use selenite_compiler::SqlError;
use selenite_keyring::write_key_file;
use zeroize::Zeroizing;

use super::error;

/// A file as a statement names it.
pub struct KeyFile {
    told: String,
    path: Option<PathBuf>,
}

impl KeyFile {
    /// The file of that name. One that has a backslash, as on Windows, names none here.
    pub fn new(told: &str, folder: &Path) -> Self {
        let is_one = !told.is_empty() && !told.contains('\\') && !told.contains('\0');
        let is_straight = |part| matches!(part, Component::RootDir | Component::CurDir | Component::Normal(_));
        let is_one = is_one && Path::new(told).components().all(is_straight);
        Self {
            told: told.to_owned(),
            path: is_one.then(|| folder.join(told)),
        }
    }

    /// Writes a new file.
    ///
    /// # Errors
    /// 15240, also if there is one already.
    pub fn write(&self, contents: &[u8]) -> Result<(), SqlError> {
        let written = self.path.as_ref().map(|path| write_key_file(path, contents));
        match written {
            Some(Ok(())) => Ok(()),
            Some(Err(_)) | None => {
                let text = format!(
                    "Cannot write into file '{}'. Verify that you have write permissions, that the file path is valid, \
                     and that the file does not already exist.",
                    self.told
                );
                Err(error(15240, text))
            }
        }
    }

    /// Takes back what [`KeyFile::write`] wrote.
    pub fn discard(&self) {
        if let Some(path) = &self.path {
            // A file that can't be removed blocks the next backup, which reports it.
            let _ = std::fs::remove_file(path);
        }
    }

    /// What is in it.
    ///
    /// # Errors
    /// 15208.
    pub fn read(&self) -> Result<Zeroizing<Vec<u8>>, SqlError> {
        self.contents().ok_or_else(not_valid)
    }

    fn contents(&self) -> Option<Zeroizing<Vec<u8>>> {
        let path = self.path.as_ref()?;
        // No file that would keep its reader waiting.
        if !std::fs::metadata(path).ok()?.is_file() {
            return None;
        }
        let mut contents = Zeroizing::new(Vec::new());
        let mut file = File::open(path).ok()?.take(SIZE_MAX + 1);
        let size = file.read_to_end(&mut contents).ok()?;
        (u64::try_from(size).ok()? <= SIZE_MAX).then_some(contents)
    }
}

/// 15208: a file that this server did not write.
pub fn not_valid() -> SqlError {
    let text = "The certificate, asymmetric key, or private key file is not valid or does not exist; or you do not have \
        permissions for it.";
    error(15208, text)
}

/// 64 KiB: a certificate has some hundred bytes, a private key with its subject at most 18 KiB.
const SIZE_MAX: u64 = 65_536;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_is_for_its_owner_and_never_overwritten() {
        let place = tempfile::tempdir().unwrap();
        let file = KeyFile::new("a.cer", place.path());
        assert_eq!(file.read().unwrap_err().number(), 15208);
        file.write(b"first").unwrap();
        let mode = std::fs::metadata(place.path().join("a.cer"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(file.write(b"second").unwrap_err().number(), 15240);
        assert_eq!(**file.read().unwrap(), *b"first");
        file.discard();
        assert_eq!(file.read().unwrap_err().number(), 15208);
    }

    #[test]
    fn what_names_no_file_here_is_none() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("data");
        std::fs::create_dir(&folder).unwrap();
        let back = folder.join("../a.cer");
        std::fs::write(place.path().join("there"), "x").unwrap();
        for told in [
            "",
            "C:\\keys\\a.cer",
            "a\0b",
            ".",
            "no/such/folder",
            "..",
            "../a.cer",
            "../there",
            "./../a.cer",
            back.to_str().unwrap(),
        ] {
            let file = KeyFile::new(told, &folder);
            assert_eq!(file.write(b"x").unwrap_err().number(), 15240, "{told:?}");
            assert_eq!(file.read().unwrap_err().number(), 15208, "{told:?}");
        }
        assert!(!place.path().join("a.cer").exists());
        let elsewhere = place.path().join("b");
        let file = KeyFile::new(elsewhere.to_str().unwrap(), Path::new("/nowhere"));
        file.write(b"x").unwrap();
        assert!(elsewhere.exists());
        std::fs::write(place.path().join("long"), vec![0; 65_537]).unwrap();
        assert_eq!(KeyFile::new("long", place.path()).read().unwrap_err().number(), 15208);
    }
}
