//! Compares a database with its newest short anchor, when a connection begins its first transaction (FORMAT 10.8).
//!
//! - before-the-first-page: SQLite gets no page before the comparison has succeeded.
//! - again-with-the-log: of a database in WAL mode without a log SQLite reads page 1 first, and opens the log then, which
//!   may have been put there in between. So the comparison is made again when the first read mark is taken.
//! - nothing-before-it: a lock for writing is refused until then: a hot journal would be played back and sealed again, and
//!   the last connection that closes would copy the log and remove it.
//! - same-log-is-newest: the frames up to the end that the anchor has are the ones that it knew: what a checkpoint sealed
//!   again after them is their content. In another log all pages are newer than the anchor, or what the file has, too: a
//!   power failure may bring a log back that was removed.
//! - index-changed: what a writer changed between SQLite's look at the index and its lock, SQLite reads again.
//! - later-epoch-is-newer: a checkpoint seals a page again if the epoch has changed. What the anchor knows was sealed again
//!   under its sealing epoch at most; an image of a later one, of a known session, is of a history that was given up.
//! - opened-not-only-read: a page's trailer counts only if the page opens: anyone can write a trailer with a high counter.

use std::collections::BTreeMap;

use selenite_cipher::{Epoch, PageNo, TRAILER_SIZE, Trailer};
use selenite_format::anchor::{Mark, NamedPage, SealingEpoch, ShortAnchor};
use selenite_keyring::rfc3339;
use zeroize::Zeroizing;

use super::MainFile;
use super::snapshot::Snapshot;
use crate::error::VfsError;
use crate::ffi::{Code, KeptName, LockLevel, OpenFlags};
use crate::index_header::{BACKFILLED, IndexHeader};
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

    /// `before-the-first-page`: called when a read mark was taken. After an error the next call compares again.
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

    /// Before the read of a page. The check stays until [`MainFile::end_anchor_check`].
    pub(super) fn check_anchor_before_reading(&mut self) -> Result<(), VfsError> {
        let Some(check) = self.anchor_check.take() else {
            return Ok(());
        };
        // With an index the comparison was made when the first read mark was taken.
        let compared = match (self.read_lock.level(), self.read_lock.has_shm()) {
            (LockLevel::SHARED, false) => self.compare_with_anchor(&check),
            _ => Err(VfsError::SettingsMismatch(
                "an anchor can't be compared without locks (nolock, immutable, locking_mode=exclusive)",
            )),
        };
        self.anchor_check = Some(check);
        compared
    }

    /// A page was read after the comparison: no other is needed, but `again-with-the-log`.
    pub(super) fn end_anchor_check(&mut self, page_no: PageNo, page: &[u8]) {
        // lockBtree() opens the log by the read version, which is 2 in WAL mode.
        let opens_log = page_no.0 == 1 && page.get(READ_VERSION) == Some(&2);
        if !opens_log {
            self.anchor_check = None;
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
        match &self.region {
            // A writer is changing the index: SQLite reads it again, too.
            Some(_) if self.read_lock.log_end().is_none() => return Err(Code::BUSY.into()),
            // SQLite has an index of its own in memory, which this code does not see (walBeginShmUnreliable() in wal.c).
            None if self.read_lock.has_shm() => {
                return Err(VfsError::SettingsMismatch(
                    "an anchor can't be compared with a log in a folder that can't be written, where no connection keeps \
                     an index (-shm) of it; copy the log into the file first, by a connection that may write",
                ));
            }
            Some(_) | None => {}
        }
        if self.is_mark_0_late() {
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
        if compared.is_err() && self.has_index_changed() {
            return Err(Code::BUSY.into());
        }
        compared
    }

    /// `index-changed`: SQLite reads only the file if all of the log was in it, and looks at the index again when it has
    /// that lock.
    fn is_mark_0_late(&self) -> bool {
        let (Some(region), Some((index, looks_in_log))) = (&self.region, self.read_lock.log_end()) else {
            return false;
        };
        !looks_in_log
            && region
                .word(BACKFILLED)
                .is_none_or(|copied| copied < index.frame_count())
    }

    /// `index-changed`: whether the index is another one than when the read mark was taken.
    fn has_index_changed(&self) -> bool {
        let seen = self.read_lock.log_end().map(|(index, _)| index);
        let Some(region) = &self.region else { return false };
        IndexHeader::read(region) != seen
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
    let last_epoch = check_epoch(seen, anchor)?;
    let known_frames = check_log(seen, anchor)?;
    let mut older = Vec::new();
    for (&page_no, named) in &anchor.pages {
        // When pages are added or removed page 1 is written, too, which each anchor has.
        if page_no > seen.page_count() {
            continue;
        }
        seen.read(page_no, &mut image)?;
        seen.open(page_no, &image, &mut plain)?;
        let sealed = Sealed::of(&image);
        // same-log-is-newest.
        let is_known_frame = seen.frame_of(page_no).is_some_and(|frame| frame < known_frames);
        let is_sealed_again = sealed.image.epoch > named.epoch && sealed.image.epoch <= last_epoch;
        let is_known = is_known_frame || sealed.image == *named || is_sealed_again;
        if !is_known && is_from_before(anchor, &sealed) {
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

/// Compares the data key of the epoch that was the sealing one: a history that was given up may have an epoch of the same
/// number. Returns the last epoch under which an image that the anchor knows can have been sealed again.
fn check_epoch(seen: &mut Snapshot<'_>, anchor: &ShortAnchor) -> Result<Epoch, VfsError> {
    let Some(SealingEpoch { epoch, key_id }) = anchor.sealing else {
        return Ok(Epoch(u32::MAX));
    };
    let listed = seen.unlocked()?.data_key_id(epoch)?;
    if listed.is_some_and(|listed| listed != key_id) {
        return Err(VfsError::Older(format!(
            "its key epoch {} has another key than before {}",
            epoch.0,
            rfc3339(anchor.made)
        )));
    }
    Ok(epoch)
}

/// Compares the log, if the transaction reads it. Returns how many of its frames the anchor knew.
fn check_log(seen: &mut Snapshot<'_>, anchor: &ShortAnchor) -> Result<u32, VfsError> {
    let Some(end) = seen.end().filter(|_| seen.sees_log()) else {
        return Ok(0);
    };
    let known = anchor.log.filter(|known| known.position.salts == end.position.salts);
    if let Some(known) = known {
        return match seen.place_behind(known.position.frames)? {
            Some(place) if place == known => Ok(known.position.frames),
            _ => Err(VfsError::Older(format!(
                "its log has {} frames and is not the one that had {} before {}",
                end.position.frames,
                known.position.frames,
                rfc3339(anchor.made)
            ))),
        };
    }
    let mut frames = Vec::new();
    if !seen.frames_of(end, &mut frames)? {
        return Err(VfsError::Older("its log ends before its index does".to_owned()));
    }
    let last: BTreeMap<u32, Sealed> = frames.into_iter().collect();
    let mut below = vec![0; seen.page_size().bytes()];
    for (page_no, sealed) in last {
        let is_named = anchor.pages.get(&page_no) == Some(&sealed.image);
        if is_named || page_no > seen.page_count() || !is_from_before(anchor, &sealed) {
            continue;
        }
        seen.read_below_log(page_no, &mut below)?;
        if Sealed::of(&below).image != sealed.image {
            return Err(VfsError::Older(format!(
                "its log has page {page_no} from before {}",
                rfc3339(anchor.made)
            )));
        }
    }
    Ok(0)
}

/// Whether an image was sealed before what the anchor knows of its session.
fn is_from_before(anchor: &ShortAnchor, sealed: &Sealed) -> bool {
    let highest = anchor.sessions.get(&sealed.session);
    highest.is_some_and(|&highest| sealed.counter <= highest)
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

/// Where page 1 has it.
const READ_VERSION: usize = 19;
/// How many page numbers an error names.
const SHOWN_MAX: usize = 8;
