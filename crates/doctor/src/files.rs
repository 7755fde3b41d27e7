//! Checks of a database file: its file system, its permissions, the free space beside it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::statvfs;

use crate::{Check, Mount, Source};

/// Checks the place of a database: its file system and permissions, and whether the disk has room
/// for the copy that an encryption or an offline re-encryption makes.
#[must_use]
pub fn database(source: &Source, database: &Path) -> Vec<Check> {
    let facts = fs::metadata(database).ok();
    let mut checks = vec![file_system(source, database)];
    if let Some(facts) = facts {
        checks.push(permissions(facts.mode()));
        checks.push(room(database, facts.size()));
    }
    checks
}

/// The caveats of the file system that a file is on.
fn file_system(source: &Source, file: &Path) -> Check {
    let name = "file system";
    let file = absolute(file);
    let mount = source
        .read("proc/self/mountinfo")
        .and_then(|text| Mount::of(&file, &text));
    let Some(mount) = mount else {
        return Check::ok(name, "unknown: /proc/self/mountinfo cannot be read");
    };
    let finding = format!("{} at {}", mount.kind, mount.point.display());
    match caveat(&mount.kind) {
        Some(advice) => Check::advice(name, finding, advice),
        None => Check::ok(name, finding),
    }
}

/// What to do about a file system that has less than SQLite expects, by the kernel's name of it.
fn caveat(kind: &str) -> Option<&'static str> {
    match kind {
        "nfs" | "nfs4" | "cifs" | "smb3" | "smbfs" | "afs" | "ceph" | "9p" | "glusterfs" => Some(
            "WAL mode needs shared memory, and locks over a network may fail: put the database on a local disk, or use \
             one machine only and journal_mode=DELETE",
        ),
        "tmpfs" | "ramfs" => Some("it is in memory, and gone after a restart: put the database on a disk"),
        "overlay" | "aufs" => Some("a layer of a container, which is gone with it: put the database on a volume"),
        "virtiofs" => Some(
            "shared with a virtual machine's host: locks and shared memory may not reach the other side; open the \
             database on one side only",
        ),
        kind if kind == "fuse" || kind.starts_with("fuse.") => Some(
            "a file system in user space: locks, syncs and shared memory are what that program makes of them; use a \
             disk's own file system",
        ),
        _ => None,
    }
}

/// The permissions of a database file: what is in it is encrypted, but not who may change it.
fn permissions(mode: u32) -> Check {
    let name = "permissions";
    let finding = format!("mode {:o}", mode & 0o7777);
    if mode & 0o022 != 0 {
        return Check::advice(
            name,
            format!("{finding}: other users can write"),
            "they can destroy it, or put an older copy in its place: chmod go-w, or umask 077 for what is new",
        );
    }
    if mode & 0o044 != 0 {
        return Check::advice(
            name,
            format!("{finding}: other users can read"),
            "they see its size, when pages change, and its key slots: chmod go-r",
        );
    }
    Check::ok(name, finding)
}

fn room(database: &Path, size: u64) -> Check {
    // `free_disk` says the same for the lab, to which too little is fatal.
    let folder = database.parent().filter(|folder| !folder.as_os_str().is_empty());
    let found = free_disk(folder.unwrap_or(Path::new(".")), size);
    match found.advice {
        Some(advice) => Check::advice(
            &found.name,
            found.finding,
            format!("{advice}, before it is re-encrypted"),
        ),
        None => found,
    }
}

/// Whether a folder, which need not exist yet, has room for that many bytes.
#[must_use]
pub fn free_disk(folder: &Path, bytes: u64) -> Check {
    let name = "free disk";
    let above = folder
        .ancestors()
        .find(|path| !path.as_os_str().is_empty() && path.exists());
    let folder = above.unwrap_or(Path::new("."));
    let free = match statvfs(folder) {
        Ok(space) => space.f_bavail.saturating_mul(space.f_frsize),
        Err(error) => {
            let finding = format!("{}: {error}", folder.display());
            return Check::problem(name, finding, "give an existing folder");
        }
    };
    let finding = format!("{} MiB at {}", free >> 20, folder.display());
    if free < bytes {
        let advice = format!(
            "{} MiB are needed: free space, or use another folder",
            bytes.div_ceil(1 << 20)
        );
        return Check::problem(name, finding, advice);
    }
    Check::ok(name, finding)
}

/// A path without links; that of its folder, if the file does not exist yet.
fn absolute(file: &Path) -> PathBuf {
    let whole = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let existing = whole.ancestors().find_map(|path| path.canonicalize().ok());
    existing.unwrap_or(whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn a_file_system_that_is_no_local_disk_has_a_caveat() {
        let folder = tempfile::tempdir().unwrap();
        let of = |kind: &str| {
            fs::create_dir_all(folder.path().join("proc/self")).unwrap();
            let line = format!("27 1 254:0 / / rw - {kind} dev rw\n");
            fs::write(folder.path().join("proc/self/mountinfo"), line).unwrap();
            file_system(&Source::at(folder.path()), Path::new("app.db"))
        };
        for kind in ["ext4", "xfs", "btrfs", "zfs", "f2fs", "fuseblk"] {
            assert_eq!(of(kind).verdict, Verdict::Ok, "{kind}");
        }
        for (kind, word) in [
            ("nfs4", "WAL mode needs shared memory"),
            ("cifs", "WAL mode needs shared memory"),
            ("tmpfs", "gone after a restart"),
            ("overlay", "volume"),
            ("fuse.sshfs", "user space"),
            ("virtiofs", "one side only"),
        ] {
            let check = of(kind);
            assert_eq!(check.verdict, Verdict::Advice, "{kind}");
            assert!(
                check.finding.contains(kind) && check.advice.unwrap().contains(word),
                "{kind}"
            );
        }
        assert_eq!(
            file_system(&Source::at("/nowhere"), Path::new("app.db")).verdict,
            Verdict::Ok
        );
    }

    #[test]
    fn permissions_of_others_are_reported() {
        assert_eq!(permissions(0o100_600).verdict, Verdict::Ok);
        assert!(
            permissions(0o100_644)
                .finding
                .contains("mode 644: other users can read")
        );
        assert!(
            permissions(0o100_666)
                .finding
                .contains("mode 666: other users can write")
        );
        assert!(permissions(0o100_660).finding.contains("can write"));
    }

    #[test]
    fn too_little_room_is_advice_for_a_database_and_a_problem_for_a_study() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("app.db");
        assert_eq!(room(&file, 1).verdict, Verdict::Ok);
        assert_eq!(room(&file, u64::MAX).verdict, Verdict::Advice);
        assert_eq!(
            free_disk(&folder.path().join("not/yet"), u64::MAX).verdict,
            Verdict::Problem
        );
    }
}
