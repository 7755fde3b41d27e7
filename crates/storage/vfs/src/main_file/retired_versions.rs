//! The mark of an unencrypted file whose name another file takes: write and read versions in its header that no SQLite
//! knows (FORMAT 3.14). They tell which ones they were.

use std::ops::Range;

/// Where page 1 has them (sqlite.org/fileformat.html, 1.3.3).
pub const VERSIONS: Range<usize> = 18..20;
pub const VERSIONS_AT: u64 = 18;
/// Those of a database in WAL mode.
pub const WAL_VERSIONS: [u8; 2] = [2, 2];

/// The versions with the mark.
pub fn retired(versions: [u8; 2]) -> [u8; 2] {
    versions.map(|version| version.min(HIGHEST) + ADDED)
}

/// The versions without the mark; `None` if the file is not marked. After a power failure one of the two may be.
pub fn before_retired(found: &[u8]) -> Option<[u8; 2]> {
    let found: [u8; 2] = found.try_into().ok()?;
    let before = found.map(|version| version.checked_sub(ADDED).unwrap_or(version));
    (before != found).then_some(before)
}

/// The highest version that SQLite writes to.
const HIGHEST: u8 = 2;
const ADDED: u8 = u8::MAX - HIGHEST;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_unknown_to_sqlite_and_tells_the_versions_before() {
        for versions in [[1, 1], WAL_VERSIONS, [0, 0]] {
            let marked = retired(versions);
            assert!(marked.iter().all(|&version| version > HIGHEST), "{marked:?}");
            assert_eq!(before_retired(&marked), Some(versions));
            for torn in [[versions[0], marked[1]], [marked[0], versions[1]]] {
                assert_eq!(before_retired(&torn), Some(versions), "{torn:?}");
            }
            assert_eq!(before_retired(&versions), None);
        }
        // As it was before the versions were told.
        assert_eq!(before_retired(&[255, 255]), Some(WAL_VERSIONS));
        assert_eq!(before_retired(&[255]), None);
    }
}
