//! /proc/self/mountinfo: the file system of a folder.

use std::path::{Path, PathBuf};

/// A mounted file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// The mount point.
    pub point: PathBuf,
    /// The type: `ext4`.
    pub kind: String,
    /// The device: `/dev/vda`.
    pub device: String,
    /// The mount options: `rw,relatime`, then those of the file system.
    pub options: String,
    /// MAJOR:MINOR.
    pub number: String,
}

impl Mount {
    /// The mount of a folder, given as an absolute path: the last of those with the longest mount
    /// point above it.
    #[must_use]
    pub fn of(folder: &Path, mountinfo: &str) -> Option<Self> {
        let above = mountinfo
            .lines()
            .filter_map(Self::parse)
            .filter(|mount| folder.starts_with(&mount.point));
        above.max_by_key(|mount| mount.point.components().count())
    }

    /// Whether its files are in memory or in other file systems, so that they cannot be evicted
    /// like those of a disk.
    #[must_use]
    pub fn has_no_disk(&self) -> bool {
        [
            "tmpfs", "ramfs", "overlay", "fuse", "nfs", "nfs4", "9p", "virtiofs", "cifs",
        ]
        .contains(&self.kind.as_str())
    }

    /// Parses a line (proc_pid_mountinfo(5)).
    fn parse(line: &str) -> Option<Self> {
        let (front, back) = line.split_once(" - ")?;
        let front: Vec<&str> = front.split(' ').collect();
        let back: Vec<&str> = back.split(' ').collect();
        let (number, point, options) = (front.get(2)?, front.get(4)?, front.get(5)?);
        Some(Self {
            point: PathBuf::from(unescape(point)),
            kind: (*back.first()?).to_owned(),
            device: unescape(back.get(1)?),
            options: format!("{options},{}", back.get(2).copied().unwrap_or_default()),
            number: (*number).to_owned(),
        })
    }
}

/// White space and backslashes are escaped as octal numbers in that file.
fn unescape(text: &str) -> String {
    let octal = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    octal
        .into_iter()
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    const INFO: &str = "22 27 0:21 / /proc rw,relatime - proc proc rw\n\
        27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n\
        30 25 0:27 / /tmp rw,nosuid shared:3 master:1 - tmpfs tmpfs rw,size=1k\n\
        31 27 8:1 / /mnt/my\\040disk rw - xfs /dev/sda1 rw\n\
        32 27 8:2 / /mnt rw - btrfs /dev/sdb rw\n";

    #[test]
    fn the_longest_point_above_a_folder_counts() {
        let kind = |folder: &str| Mount::of(Path::new(folder), INFO).unwrap().kind;
        assert_eq!(kind("/home/x"), "ext4");
        assert_eq!(kind("/tmp/x"), "tmpfs");
        assert_eq!(kind("/tmpx"), "ext4");
        assert_eq!(kind("/mnt/my disk/x"), "xfs");
        assert_eq!(kind("/mnt/my"), "btrfs");
    }

    #[test]
    fn a_line_with_optional_fields_is_read_whole() {
        let mount = Mount::of(Path::new("/tmp"), INFO).unwrap();
        assert_eq!(mount.options, "rw,nosuid,rw,size=1k");
        assert_eq!((mount.device.as_str(), mount.number.as_str()), ("tmpfs", "0:27"));
        assert!(mount.has_no_disk());
    }

    #[test]
    fn an_invalid_line_is_not_a_mount() {
        for text in ["", "x", "a - b", "1 2 3 4 / rw - ", "1 2 3 4 / - ext4"] {
            assert_eq!(Mount::of(Path::new("/"), text), None, "{text:?}");
        }
    }
}
