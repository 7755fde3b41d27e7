//! Authenticates every page that a connection of this process would see, while the process serves
//! the database.
//!
//! - one-read-transaction: the pages are those of one read transaction, read from the file and the
//!   log: neither from SQLite's page cache nor from the page pool. No other descriptor is opened
//!   (no-second-descriptor in `raw_file.rs`), and only a checkpoint has to wait.
//! - last-image-only: only the last image of each page in a log is checked: the others are never
//!   read.

use std::path::{Path, PathBuf};

use selenite_cipher::PageNo;
use selenite_format::Geometry;
use selenite_vfs::error::VfsError;
use selenite_vfs::role::Role;
use selenite_vfs::snapshot::Snapshot;

use super::page_buffer::PageBuffer;
use super::{BadPage, Findings, Origin};
use crate::storage::Storage;
use crate::watch::Phase;
use crate::{Access, Class, Database, EngineError, Watch};

/// The result of this verification.
#[derive(Clone, Debug)]
pub struct ServedReport {
    /// How many pages the database has; 0 if that could not be read.
    pub page_count: u32,
    /// The bad pages, at most [`super::BAD_LISTED_MAX`].
    pub bad: Vec<BadPage>,
    /// How many are bad.
    pub bad_count: u64,
}

/// Authenticates every page of a database that this process may have open, as of its last commit.
///
/// # Errors
/// [`EngineError::NotEncrypted`] if pages are neither sealed nor in this format;
/// [`EngineError::Key`]; [`EngineError::Busy`]; [`EngineError::Interrupted`]; the errors of
/// SQLite. Bad pages are not an error: see the report.
pub fn served(storage: &dyn Storage, path: &Path, access: &Access, watch: &Watch) -> Result<ServedReport, EngineError> {
    let database = match Database::open(storage, path, access) {
        Ok(database) => database,
        Err(error) => return refused(error),
    };
    // Otherwise the last connection that is closed would copy a log that may be damaged.
    database.keep_log_on_close()?;
    let check = SnapshotCheck {
        path: path.to_owned(),
        watch: watch.clone(),
    };
    let found = database.read(move |snapshot| check.run(snapshot));
    database.end_any_read();
    match found {
        Ok(report) => Ok(report),
        Err(error) => refused(error),
    }
}

/// The report if SQLite or the VFS failed before the pages could be read one by one.
fn refused(error: EngineError) -> Result<ServedReport, EngineError> {
    if error.class() != Class::Data {
        return Err(error);
    }
    let bad = BadPage::new(Origin::Database, 0, None, error.to_string());
    Ok(ServedReport {
        page_count: 0,
        bad: vec![bad],
        bad_count: 1,
    })
}

struct SnapshotCheck {
    path: PathBuf,
    watch: Watch,
}

impl SnapshotCheck {
    fn run(&self, snapshot: &mut Snapshot<'_>) -> Result<ServedReport, EngineError> {
        let page_size = snapshot.page_size();
        let lock_page = Geometry::new(page_size).lock_page();
        let (size, page_count) = (page_size.bytes(), snapshot.page_count());
        let mut images = vec![0; size * PAGES_AT_ONCE];
        let mut plain = PageBuffer::new(size);
        let mut findings = Findings::default();
        let mut first = 1_u32;
        while first <= page_count {
            self.watch.check()?;
            let done = u64::from(first - 1) * page_size.as_u64();
            let total = u64::from(page_count) * page_size.as_u64();
            self.watch.report(Phase::Verifying, done, total);
            let left = usize::try_from(page_count - first)
                .unwrap_or(usize::MAX)
                .saturating_add(1);
            let room = &mut images[..size * left.min(PAGES_AT_ONCE)];
            self.read(snapshot, first, room)?;
            for (page_no, image) in (first..=page_count).zip(room.chunks_exact(size)) {
                if PageNo(page_no) == lock_page {
                    continue;
                }
                match snapshot.open(page_no, image, plain.bytes()) {
                    Ok(()) => {}
                    Err(error) => findings.add(self.bad(page_no, &error)?),
                }
            }
            first = first.saturating_add(u32::try_from(PAGES_AT_ONCE).unwrap_or(u32::MAX));
        }
        let (bad, bad_count) = findings.into_sorted();
        Ok(ServedReport {
            page_count,
            bad,
            bad_count,
        })
    }

    fn read(&self, snapshot: &mut Snapshot<'_>, first: u32, images: &mut [u8]) -> Result<(), EngineError> {
        snapshot
            .read(first, images)
            .map_err(|error| EngineError::of_vfs(&error, &self.path))
    }

    /// The finding for a page that did not open; other errors are returned.
    fn bad(&self, page_no: u32, error: &VfsError) -> Result<BadPage, EngineError> {
        if let VfsError::Unauthentic { role, .. } | VfsError::UnknownEpoch { role, .. } = error {
            let origin = if *role == Role::Wal {
                Origin::Wal
            } else {
                Origin::Database
            };
            return Ok(BadPage::new(origin, page_no, None, error.to_string()));
        }
        if matches!(error, VfsError::DeprecatedSuite) {
            return Ok(BadPage::new(Origin::Database, page_no, None, error.to_string()));
        }
        Err(EngineError::of_vfs(error, &self.path))
    }
}

/// 256 KiB of pages of 4096 bytes: more than the kernel's own read-ahead.
const PAGES_AT_ONCE: usize = 64;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;
    use crate::storage::Disk;
    use crate::{Layout, Suite, install};

    #[test]
    fn a_damaged_page_is_named_while_the_process_has_the_database_open() {
        install().unwrap();
        for suite in [Suite::Aes256, Suite::None] {
            let folder = tempfile::tempdir().unwrap();
            let key = folder.path().join("key");
            std::fs::write(&key, [7; 32]).unwrap();
            let access = Access {
                identity: Some(format!("raw:{}", key.display()).parse().unwrap()),
                allow_plain: true,
                ..Access::default()
            };
            let path = folder.path().join("app.db");
            let layout = Layout {
                suite,
                ..Layout::default()
            };
            let database = Database::create(&Disk, &path, &access, &layout).unwrap();
            let fill =
                "CREATE TABLE t (a); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
                        INSERT INTO t SELECT zeroblob(1000) FROM n";
            database.text("PRAGMA journal_mode = WAL").unwrap();
            database.batch(fill).unwrap();
            let verify = || served(&Disk, &path, &access, &Watch::none()).unwrap();
            let good = verify();
            assert!(good.page_count > 20 && good.bad_count == 0, "{good:?}");
            database.text("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
            assert_eq!(verify().bad_count, 0);
            let place = Geometry::new(layout.page_size).offset(PageNo(9)).0 + 100;
            let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
            file.write_all_at(&[0x5A], place).unwrap();
            let found = verify();
            // Left open: closing it would release SQLite's locks.
            std::mem::forget(file);
            assert_eq!(found.bad_count, 1, "{suite:?} {found:?}");
            assert_eq!((found.bad[0].page_no, found.bad[0].origin), (9, Origin::Database));
        }
    }
}
