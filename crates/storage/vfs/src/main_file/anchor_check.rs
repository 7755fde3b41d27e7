//! Compares a database with its newest short anchor, when a connection begins its first transaction (FORMAT 10.8).
//!
//! - before-the-first-page: SQLite gets no page before the comparison has succeeded.
//! - nothing-before-it: a lock for writing is refused until then: a hot journal would be played back and sealed again, and
//!   the last connection that closes would copy the log and remove it.
//! - later-epoch-is-newer: a checkpoint seals a page again if the epoch has changed. No old image is of a later epoch.
//! - opened-not-only-read: a page's trailer counts only if the page opens: anyone can write a trailer with a high counter.

use selenite_cipher::{TRAILER_SIZE, Trailer};
use selenite_format::anchor::{Mark, NamedPage, ShortAnchor};
use selenite_keyring::rfc3339;
use zeroize::Zeroizing;

use super::MainFile;
use super::snapshot::Snapshot;
use crate::error::VfsError;
use crate::ffi::{Code, KeptName, LockLevel, OpenFlags};
use crate::wal_file::WalFile;

/// What a connection is compared with before its first transaction.
pub struct AnchorCheck {
    anchor: ShortAnchor,
    log_name: KeptName,
}

impl AnchorCheck {
    /// With this anchor; `log_name` is the name of the database's log.
    pub fn new(anchor: ShortAnchor, log_name: KeptName) -> Self {
        Self { anchor, log_name }
    }
}

impl MainFile {
    /// Lets the connection be compared with an anchor before its first transaction.
    pub(crate) fn set_anchor_check(&mut self, check: AnchorCheck) {
        self.anchor_check = Some(Box::new(check));
    }

    /// `before-the-first-page`: called before a page is read outside of a log, and when a read mark was taken. After an
    /// error the next call compares again.
    pub(super) fn check_anchor(&mut self) -> Result<(), VfsError> {
        let Some(check) = self.anchor_check.take() else {
            return Ok(());
        };
        let compared = self.compare_with_anchor(&check);
        if compared.is_err() {
            self.anchor_check = Some(check);
        }
        compared
    }

    /// As [`MainFile::check_anchor`], before the read of a page.
    pub(super) fn check_anchor_before_reading(&mut self) -> Result<(), VfsError> {
        if self.anchor_check.is_none() {
            return Ok(());
        }
        // With an index the comparison was made when the first read mark was taken.
        match (self.read_lock.level(), self.read_lock.has_shm()) {
            (LockLevel::SHARED, false) => self.check_anchor(),
            _ => Err(VfsError::SettingsMismatch(
                "an anchor can't be compared without locks (nolock, immutable, locking_mode=exclusive)",
            )),
        }
    }

    /// Enforces `nothing-before-it`.
    pub(super) fn check_lock_before_anchor(&self, level: LockLevel) -> Result<(), VfsError> {
        if level <= LockLevel::SHARED || self.anchor_check.is_none() {
            return Ok(());
        }
        Err(VfsError::SettingsMismatch(
            "before the comparison with the anchor no journal is played back and no exclusive lock taken; after a crash \
                in rollback mode open it once without anchor=",
        ))
    }

    fn compare_with_anchor(&mut self, check: &AnchorCheck) -> Result<(), VfsError> {
        if self.region.is_some() && self.read_lock.log_end().is_none() {
            // A writer is changing the index: SQLite reads it again, too.
            return Err(Code::BUSY.into());
        }
        let database = self.database.clone();
        let had_log = database.has_log();
        let mut log = match self.read_lock.has_shm() {
            false => None,
            true => {
                // The log has no locks of its own that closing it could release.
                let flags = OpenFlags(OpenFlags::WAL.0 | OpenFlags::READ_ONLY.0);
                let (lower, flags) = database.host.lower.open(Some(check.log_name.get()), flags)?;
                Some(WalFile::new(
                    database.clone(),
                    lower,
                    None,
                    (check.log_name.get().keep(), flags),
                )?)
            }
        };
        let compared = Snapshot::new(self, log.as_mut()).and_then(|mut seen| check_not_older(&mut seen, &check.anchor));
        drop(log);
        database.set_log(had_log);
        compared
    }
}

/// Compares what a transaction sees with an anchor.
///
/// # Errors
/// `Older`: it has images that were sealed before the anchor was written, and are not those that it names;
/// `Unauthentic`; errors of the VFS below.
pub fn check_not_older(seen: &mut Snapshot<'_>, anchor: &ShortAnchor) -> Result<(), VfsError> {
    let size = seen.page_size().bytes();
    let mut image = vec![0; size];
    let mut plain = Zeroizing::new(vec![0; size]);
    let mut older = Vec::new();
    for (&page_no, named) in &anchor.pages {
        // When pages are added or removed page 1 is written, too, which each anchor has.
        if page_no > seen.page_count() {
            continue;
        }
        seen.read(page_no, &mut image)?;
        seen.open(page_no, &image, &mut plain)?;
        let sealed = Sealed::of(&image);
        let highest = anchor.sessions.get(&sealed.session);
        let is_known = sealed.image == *named || sealed.image.epoch > named.epoch;
        if !is_known && highest.is_some_and(|&highest| sealed.counter <= highest) {
            older.push(page_no);
        }
    }
    if older.is_empty() {
        return Ok(());
    }
    let pages: Vec<String> = older.iter().take(SHOWN_MAX).map(u32::to_string).collect();
    Err(VfsError::Older(format!(
        "of {} pages that the newest commits before {} wrote, {} are older: {}",
        anchor.pages.len(),
        rfc3339(anchor.made),
        older.len(),
        pages.join(", ")
    )))
}

/// What a sealed image says about itself.
#[derive(Clone, Copy)]
pub struct Sealed {
    /// The session that sealed it.
    pub session: selenite_cipher::SessionId,
    /// The session's counter.
    pub counter: u32,
    /// Its epoch and mark (FORMAT 10.3).
    pub image: NamedPage,
}

impl Sealed {
    /// Of an image that opens.
    ///
    /// # Panics
    /// If it is shorter than a trailer.
    #[must_use]
    pub fn of(image: &[u8]) -> Self {
        let trailer = image
            .last_chunk::<TRAILER_SIZE>()
            .expect("an image ends with a trailer");
        let trailer = Trailer::parse(trailer);
        let mut mark = Mark::default();
        mark.0.copy_from_slice(&trailer.tag[..8]);
        Self {
            session: trailer.nonce.session,
            counter: trailer.nonce.counter,
            image: NamedPage {
                epoch: trailer.epoch,
                mark,
            },
        }
    }
}

/// How many page numbers an error names.
const SHOWN_MAX: usize = 8;
