//! The identity that opens the databases, if none is configured.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use directories::ProjectDirs;
use selenite::Access;
use selenite_keyring::{Config as KeyConfig, Spec, keygen, write_key_file};

use crate::ServerError;
use crate::master::Master;

/// A key that the server found or created itself.
pub struct OwnIdentity {
    /// Its file.
    pub path: PathBuf,
    /// Whether it was created just now.
    pub is_new: bool,
}

/// Completes `access`: a configured identity stays; otherwise an age key outside the data folder is used, and created
/// if it is missing.
///
/// # Errors
/// [`ServerError::Usage`] where no key can be created, or a new one would open nothing; [`ServerError::Engine`].
pub fn settle(
    access: &mut Access,
    wanted: Option<&Path>,
    data_folder: &Path,
) -> Result<Option<OwnIdentity>, ServerError> {
    let set = KeyConfig::load(&|variable| std::env::var_os(variable))?;
    if access.identity.is_some() || set.identity().is_some() {
        return Ok(None);
    }
    let path = match wanted {
        Some(path) => std::path::absolute(path).map_err(|source| ServerError::Io {
            verb: "name",
            path: path.to_owned(),
            source,
        })?,
        None => default_path()?,
    };
    let is_new = !path.exists();
    if is_new && Master::is_there(data_folder) {
        return Err(ServerError::Usage {
            what: format!(
                "{}: no identity is named, and there is none at {}",
                data_folder.join("master.db").display(),
                path.display()
            ),
            next: "name the one that it was made for: --identity FILE".to_owned(),
        });
    }
    if is_new {
        make(&path)?;
    }
    let found = path.canonicalize().map_err(|source| ServerError::Io {
        verb: "open",
        path: path.clone(),
        source,
    })?;
    if found.starts_with(data_folder) {
        return Err(ServerError::Usage {
            what: format!("{}: a key beside what it opens is none", found.display()),
            next: "keep it elsewhere, and name it: --identity FILE".to_owned(),
        });
    }
    access.identity = Some(Spec::Age(path.clone()));
    Ok(Some(OwnIdentity { path, is_new }))
}

fn make(path: &Path) -> Result<(), ServerError> {
    if let Some(folder) = path.parent() {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(|source| ServerError::Io {
            verb: "make",
            path: folder.to_owned(),
            source,
        })?;
    }
    Ok(write_key_file(path, keygen(selenite::now()).text.as_bytes())?)
}

fn default_path() -> Result<PathBuf, ServerError> {
    let dirs = ProjectDirs::from("", "", "selenite").ok_or_else(|| ServerError::Usage {
        what: "no identity is named, and there is no home folder to make one in".to_owned(),
        next: "make one with selenite keygen, and name it: --identity FILE".to_owned(),
    })?;
    Ok(dirs.config_dir().join("server-key.txt"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_never_beside_what_it_opens() {
        let place = tempfile::tempdir().unwrap();
        let data = place.path().canonicalize().unwrap().join("data");
        std::fs::create_dir(&data).unwrap();
        let wanted = place.path().join("keys").join("server-key.txt");
        for is_new in [true, false] {
            let mut access = Access::default();
            let own = settle(&mut access, Some(&wanted), &data).unwrap().unwrap();
            assert_eq!((own.is_new, own.path), (is_new, wanted.clone()));
            assert_eq!(access.identity, Some(Spec::Age(wanted.clone())));
        }
        let mut access = Access::default();
        let inside = settle(&mut access, Some(&data.join("key.txt")), &data);
        assert!(matches!(inside, Err(ServerError::Usage { .. })));
        assert_eq!(access.identity, None);
        // A new key would not open the present files.
        std::fs::write(data.join("master.db"), "").unwrap();
        let lost = settle(&mut access, Some(&place.path().join("lost")), &data);
        assert!(matches!(lost, Err(ServerError::Usage { .. })));
        assert!(!place.path().join("lost").exists());
    }
}
