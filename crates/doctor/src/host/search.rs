//! Finds the programs: in PATH, and below the folders of pyenv and nvm.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{Host, HostKind};

/// The programs that a user may mean, each executable once; `variable` reads the environment.
#[must_use]
pub fn find(variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<Host> {
    let home = variable("HOME").map(PathBuf::from);
    let place = |name: &str, folder: &str| {
        let set = variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        set.or_else(|| home.as_ref().map(|home| home.join(folder)))
    };
    let pyenv = place("PYENV_ROOT", ".pyenv");
    let mut folders: Vec<PathBuf> = std::env::split_paths(&variable("PATH").unwrap_or_default()).collect();
    // A relative one is the current folder's, which may belong to anyone.
    folders.retain(|folder| folder.is_absolute() && !is_shims(folder, pyenv.as_deref()));
    folders.extend(pyenv.iter().flat_map(|root| versions(&root.join("versions"))));
    folders.extend(
        place("NVM_DIR", ".nvm")
            .iter()
            .flat_map(|root| versions(&root.join("versions/node"))),
    );
    let mut known = BTreeSet::new();
    let mut hosts = Vec::new();
    for folder in folders {
        for name in names(&folder) {
            let Some(kind) = kind(&name) else { continue };
            let path = folder.join(name);
            let Ok(real) = path.canonicalize() else { continue };
            if is_executable(&real) && known.insert(real) && hosts.len() < HOST_COUNT_MAX {
                hosts.push(Host { kind, path });
            }
        }
    }
    hosts
}

/// pyenv's scripts, which run one of its versions: those are found themselves.
fn is_shims(folder: &Path, pyenv: Option<&Path>) -> bool {
    pyenv.is_some_and(|root| folder == root.join("shims"))
}

/// The folders of executables of all versions.
fn versions(folder: &Path) -> Vec<PathBuf> {
    names(folder)
        .into_iter()
        .map(|name| folder.join(name).join("bin"))
        .collect()
}

/// The names in a folder, in an order that puts `python3` before `python3.11`.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

fn kind(name: &str) -> Option<HostKind> {
    match name {
        "python" | "python3" => Some(HostKind::Python),
        "node" | "nodejs" => Some(HostKind::Node),
        "sqlite3" => Some(HostKind::Shell),
        _ => {
            let minor = name.strip_prefix("python3.")?;
            minor.parse::<u32>().ok().map(|_| HostKind::Python)
        }
    }
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

/// More than anyone looks through; each is run.
const HOST_COUNT_MAX: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_in_path_and_below_version_managers_once_each() {
        let root = tempfile::tempdir().unwrap();
        let file = |name: &str, mode| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, name).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        };
        file("bin/python3.11", 0o755);
        file("bin/python3.11-config", 0o755);
        file("bin/sqlite3", 0o755);
        file("bin/node", 0o644);
        std::os::unix::fs::symlink("python3.11", root.path().join("bin/python3")).unwrap();
        file("home/.pyenv/shims/python3", 0o755);
        file("home/.pyenv/versions/3.9.18/bin/python3.9", 0o755);
        file("home/.nvm/versions/node/v22.13.0/bin/node", 0o755);
        let path = format!("{0}/bin:relative:{0}/home/.pyenv/shims:{0}/bin", root.path().display());
        let home = root.path().join("home");
        let hosts = find(&|name| match name {
            "PATH" => Some(path.clone().into()),
            "HOME" => Some(home.clone().into()),
            _ => None,
        });
        let found: Vec<(HostKind, String)> = hosts
            .iter()
            .map(|host| {
                (
                    host.kind,
                    host.path.strip_prefix(root.path()).unwrap().display().to_string(),
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                (HostKind::Python, "bin/python3".to_owned()),
                (HostKind::Shell, "bin/sqlite3".to_owned()),
                (HostKind::Python, "home/.pyenv/versions/3.9.18/bin/python3.9".to_owned()),
                (HostKind::Node, "home/.nvm/versions/node/v22.13.0/bin/node".to_owned()),
            ]
        );
        assert!(find(&|_| None).is_empty());
    }
}
