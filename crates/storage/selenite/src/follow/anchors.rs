//! Writes short anchors while a database is followed (FORMAT 10.8).
//!
//! - sessions-accumulate: an old image is found by its session's counter: each anchor has all sessions that were ever
//!   met, as long as there is room. So the first turn reads every page and every frame of the log, and later ones the
//!   frames that were written since: an image that was overwritten at once may be put back, too.
//! - newest-first: the pages are named that the last frames wrote; if the log does not tell, those that are new to the
//!   known sessions, and of each session the highest counters.
//! - old-file-is-found: pages that were named before the log was restarted stay named until the log has them: by these the
//!   file from before a checkpoint is found beside a log of any size. So the last ones that the log has stay named, too.
//! - given-up-stays-so: before an older state is accepted, its generation is raised above that of the anchors, so that the
//!   superblock of the newer state is older from then on. Its pages are, too: the next anchor keeps the sessions, and names
//!   the pages that the one before it named. A state in the middle of a re-encryption is not accepted: it may have the same
//!   key epoch as the newer one.
//! - epochs-are-read: when the key epochs of the superblock are others than at the turn before, all pages are read again: a
//!   checkpoint may have sealed some again, by sessions that no frame has.
//! - not-laundered: each turn compares first: what was put back meanwhile must not become the newest state. The connection
//!   only reads, and is the first one: it plays no journal back, and while it is open no other connection can.
//! - never-back: a place that has an earlier anchor than was written to it gets none, and one without an anchor only if
//!   it is to be the first: who can empty the place must not make an old copy the newest state by it.
//! - stored-is-read: what was written is read again. A command that keeps nothing says no error.
//! - on-disk-first: the log is synced before the anchor is written: with `synchronous=NORMAL` a power failure would take
//!   back what it names.
//! - only-authentic: a page that does not open ends the turn. Its counter could be any.
//! - sealed-by-checkpoints: a checkpoint beside a read mark fills gaps of the file with zeros, and seals pages again if the
//!   epoch has changed: later than commits behind the mark, whose images must not seem to be older than the anchor.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use selenite_cipher::{Epoch, SessionId};
use selenite_format::State;
use selenite_format::anchor::{NamedPage, SealingEpoch, ShortAnchor};
use selenite_format::archive::LogEnd;
use selenite_keyring::{Config, KeyError, Unlocked};
use selenite_vfs::anchor_place::{AnchorPlace, Newest, check_generation};
use selenite_vfs::error::VfsError;
use selenite_vfs::snapshot::{Sealed, Snapshot, check_not_older};
use zeroize::Zeroizing;

use crate::draft::beside;
use crate::error::io_error;
use crate::storage::Storage;
use crate::{Access, Database, EngineError, keys, now};

mod newest_pages;

use newest_pages::{Read, newest_first, recency};

/// How anchors are written.
#[derive(Clone, Debug)]
pub struct Anchoring {
    /// Where to.
    pub place: AnchorPlace,
    /// The shortest time between two of them.
    pub every: Duration,
    /// Whether the database may be older than the newest anchor there: it was restored on purpose.
    pub accept_older: bool,
    /// Whether this begins the anchors of the database: there must be none at the place. Otherwise there must be one.
    pub is_first: bool,
}

/// Writes anchors of a database whenever it has changed.
pub(super) struct Anchors {
    writer: Option<Writer>,
    written: u64,
}

struct Writer {
    how: Anchoring,
    config: Config,
    database: Database,
    /// Device and inode of the file.
    identity: (u64, u64),
    /// Those of the log, once it is there: as long as this connection is, no other removes it.
    log_identity: Option<(u64, u64)>,
    known: Option<Known>,
    tried: Option<Instant>,
    /// The last anchor that this process wrote or compared with (never-back).
    last: Option<ShortAnchor>,
    /// The highest number at the place when an older state was accepted, of any master key's anchor.
    number_min: u64,
}

/// What is known of a database.
#[derive(Default)]
struct Known {
    /// Up to where its log was read; `None` before the first time.
    end: Option<LogEnd>,
    /// The key epochs of the superblock then (epochs-are-read).
    epochs: Vec<Epoch>,
    /// The generation and key of the last anchor.
    last: Option<(u64, [u8; 16])>,
    number: u64,
    /// The highest counter of each session, and when it was last met.
    sessions: BTreeMap<SessionId, (u32, u64)>,
    /// Counts turns, for the sessions.
    turn: u64,
    pages: BTreeMap<u32, NamedPage>,
    /// The turn in which each of them was named.
    named_in: BTreeMap<u32, u64>,
    /// Those that the anchor of a newer state named (given-up-stays-so), until the next anchor is written.
    given_up: BTreeSet<u32>,
    /// The last anchor, if it was written under the present key.
    anchor: Option<ShortAnchor>,
    /// How many pages were written since the last anchor.
    changed_count: u64,
}

/// What a turn sees of a database.
struct Extent {
    page_count: u32,
    /// Those of the named pages whose newest image is in the log.
    in_log: BTreeSet<u32>,
}

impl Anchors {
    /// `how` is `None` if none are written.
    pub(super) fn open(
        storage: &dyn Storage,
        path: &Path,
        access: &Access,
        how: Option<Anchoring>,
    ) -> Result<Self, EngineError> {
        let open = |how: Anchoring| -> Result<Writer, EngineError> {
            check_place(&how.place, path)?;
            let database = Database::open_to_read(storage, path, access)?;
            database.keep_log_on_close()?;
            let mut writer = Writer {
                how,
                config: Access::config()?,
                database,
                identity: identity(storage, path)?,
                log_identity: None,
                known: None,
                tried: None,
                last: None,
                number_min: 0,
            };
            if writer.how.accept_older {
                writer.raise_generation(storage, access)?;
            }
            writer.known = Some(writer.first()?);
            writer.check_log(storage)?;
            Ok(writer)
        };
        Ok(Self {
            writer: how.map(open).transpose()?,
            written: 0,
        })
    }

    /// How many anchors were written.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Writes an anchor if the time has come, or `is_last`, and there is something new.
    ///
    /// # Errors
    /// [`EngineError::Anchor`]: the database is older than the newest anchor; [`EngineError::Refused`]: a page is not
    /// authentic; [`EngineError::NoAnchor`]: the place can't be read or written; [`EngineError::Usage`]: it is in rollback
    /// mode, or another file has its name.
    pub(super) fn turn(&mut self, storage: &dyn Storage, is_last: bool) -> Result<(), EngineError> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let path = writer.database.path();
        if identity(storage, path)? != writer.identity {
            return Err(EngineError::usage(
                "another file has taken the name of the database, whose anchors were written",
                "start again; if it was restored on purpose, first with --accept-older --once",
            ));
        }
        writer.check_log(storage)?;
        let is_early = writer.tried.is_some_and(|tried| tried.elapsed() < writer.how.every);
        if !is_early || is_last {
            writer.tried = Some(Instant::now());
            self.written += u64::from(writer.write()?);
        }
        Ok(())
    }
}

impl Writer {
    /// Refuses another log than the one that is read: what is committed is not in it.
    fn check_log(&mut self, storage: &dyn Storage) -> Result<(), EngineError> {
        let log = beside(self.database.path(), "-wal");
        let now = match storage.attributes(&log) {
            Ok(attributes) => Some(attributes.identity),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(io_error("follow", &log)(error)),
        };
        match self.log_identity {
            None => self.log_identity = now,
            known if known == now => {}
            Some(_) => {
                return Err(EngineError::usage(
                    format!("another file has taken the name {}, or none has it", log.display()),
                    "end the programs that have the database open, find out who did it, and start again",
                ));
            }
        }
        Ok(())
    }

    /// Returns whether there was something new.
    fn write(&mut self) -> Result<bool, EngineError> {
        let path = self.database.path().to_owned();
        let known = match self.known.take() {
            Some(known) => known,
            None => self.first()?,
        };
        let read = self.database.read(move |snapshot| read_changes(snapshot, known, &path));
        self.database.end_any_read();
        // After an error all is read again.
        let (mut known, unlocked) = read?;
        let key = unlocked.master.anchor_key();
        let state = (unlocked.superblock.generation, key.id());
        if known.last == Some(state) && known.changed_count == 0 {
            self.known = Some(known);
            return Ok(false);
        }
        sync_log(self.database.path())?;
        let anchor = known.next(&unlocked)?;
        let text = anchor.encode(|maced| key.mac(maced));
        // After an error it is not known whether it was written: the newest one is read again.
        let appended = self.how.place.append(&self.config, anchor.number, &text, &key);
        let stored = appended.and_then(|()| self.check_stored(anchor.number, &unlocked));
        stored.map_err(|error| refused(error, self.database.path()))?;
        self.last = Some(anchor.clone());
        // Once: what is put back, or removed, later was not meant.
        self.how.accept_older = false;
        self.how.is_first = false;
        known.last = Some(state);
        known.number = anchor.number;
        known.changed_count = 0;
        known.anchor = Some(anchor);
        self.known = Some(known);
        Ok(true)
    }

    /// `stored-is-read`.
    fn check_stored(&self, number: u64, unlocked: &Unlocked) -> Result<(), VfsError> {
        let newest = self.how.place.newest(&self.config, unlocked)?;
        if matches!(newest, Newest::Anchor { .. }) && newest.number() == number {
            return Ok(());
        }
        Err(VfsError::NoAnchor(format!(
            "{}: anchor number {number} was written, and the newest one there is number {}",
            self.how.place,
            newest.number()
        )))
    }

    /// The superblock, and the newest anchor at the place.
    fn newest(&self) -> Result<(Unlocked, Newest), EngineError> {
        let path = self.database.path().to_owned();
        let keys_path = path.clone();
        let unlocked = self
            .database
            .read(move |snapshot| snapshot.unlocked().map_err(|error| refused(error, &keys_path)));
        self.database.end_any_read();
        if unlocked.is_err() && has_journal(&path) {
            return Err(EngineError::usage(
                "a rollback journal is beside the database: it is not played back before the comparison with the anchor",
                "find out where it is from; after a crash in rollback mode open the database once by another program",
            ));
        }
        let unlocked = unlocked?;
        let newest = self.how.place.newest(&self.config, &unlocked);
        let newest = newest.map_err(|error| refused(error, &path))?;
        Ok((unlocked, newest))
    }

    /// `given-up-stays-so`.
    fn raise_generation(&mut self, storage: &dyn Storage, access: &Access) -> Result<(), EngineError> {
        let (unlocked, newest) = self.newest()?;
        self.number_min = newest.number_max();
        let superblock = &unlocked.superblock;
        if superblock.state != State::Steady {
            return Err(EngineError::usage(
                "the database is being re-encrypted, and is not accepted in between",
                "finish that first: selenite reencrypt --resume",
            ));
        }
        // Anyone can have written that of another master key: it must not use the generations up.
        let above = newest
            .generation()
            .min(superblock.generation.saturating_add(GENERATIONS_MAX));
        if superblock.generation > above {
            return Ok(());
        }
        keys::rewrite(storage, self.database.path(), access, above.saturating_add(1)).map(drop)
    }

    /// Begins with the newest anchor that is there, which the database must not be older than.
    fn first(&mut self) -> Result<Known, EngineError> {
        let path = self.database.path().to_owned();
        // Asked before the transaction begins that is compared: another one may be writing its last anchor.
        let (_, newest) = self.newest()?;
        let last = self.last.clone();
        if let Some(last) = last.as_ref().filter(|last| newest.number() < last.number) {
            let what = format!("{}: its newest anchor was number {}", self.how.place, last.number);
            return Err(refused(VfsError::NoAnchor(what), &path));
        }
        self.check_first(&newest)?;
        let accept_older = self.how.accept_older;
        let place = self.how.place.clone();
        let known = self.database.read(move |snapshot| {
            let refused = |error| refused(error, &path);
            let unlocked = snapshot.unlocked().map_err(refused)?;
            if !accept_older {
                newest.check_generation(&unlocked).map_err(refused)?;
            }
            let (number, anchor, is_own) = match (newest, last) {
                (Newest::None, _) => return Ok((Known::default(), None)),
                (Newest::Anchor { anchor, .. }, _) => (anchor.number, anchor, true),
                (
                    Newest::OtherMaster {
                        number, own: Some(own), ..
                    },
                    _,
                ) if accept_older => (number, *own, true),
                (Newest::OtherMaster { number, .. }, _) if accept_older => {
                    let known = Known {
                        number,
                        ..Known::default()
                    };
                    return Ok((known, None));
                }
                // What is at the place may be what anyone appended; this is what was there.
                (Newest::OtherMaster { number, .. }, Some(last)) => (number, last, false),
                (Newest::OtherMaster { number, .. }, None) => return Err(refused(other_master(&place, number))),
            };
            let known = Known {
                number,
                ..Known::of(&anchor)
            };
            if accept_older {
                let named = anchor.pages.keys().copied().filter(|&page_no| page_no != 1);
                let known = Known {
                    given_up: named.take(GIVEN_UP_MAX).collect(),
                    ..known
                };
                return Ok((known, Some(anchor)));
            }
            check_generation(anchor.generation, &unlocked).map_err(refused)?;
            check_not_older(snapshot, &anchor).map_err(refused)?;
            let known = Known {
                pages: anchor.pages.clone(),
                named_in: recency(snapshot, &anchor.pages).map_err(refused)?,
                turn: ShortAnchor::PAGES_MAX as u64,
                anchor: is_own.then(|| anchor.clone()),
                ..known
            };
            Ok((known, Some(anchor)))
        });
        self.database.end_any_read();
        let (mut known, anchor) = known?;
        known.number = known.number.max(self.number_min);
        self.last = anchor;
        Ok(known)
    }

    /// Compares what is at the place with what the caller knows of it (`never-back`).
    fn check_first(&self, newest: &Newest) -> Result<(), EngineError> {
        let (place, is_none) = (&self.how.place, matches!(newest, Newest::None));
        if is_none && !self.how.is_first && self.last.is_none() {
            return Err(EngineError::usage(
                format!("{place} has no anchor of this database"),
                "if none was ever written there, write the first one: --first-anchor --once; if one was, find out who \
                 removed it, and compare the database with a backup",
            ));
        }
        // What was written in an earlier turn may be there.
        if !is_none && self.how.is_first && self.tried.is_none() {
            return Err(EngineError::usage(
                format!("{place} has an anchor of this database, number {}", newest.number()),
                "leave --first-anchor out",
            ));
        }
        Ok(())
    }
}

impl Known {
    fn of(anchor: &ShortAnchor) -> Self {
        let sessions = anchor.sessions.iter();
        Self {
            number: anchor.number,
            sessions: sessions.map(|(&session, &counter)| (session, (counter, 0))).collect(),
            ..Self::default()
        }
    }

    /// Takes what frames and pages say that were read. `is_newest_first`: the pages are in the order in which they were
    /// written, the last one first.
    fn take(&mut self, frames: &[(u32, Sealed)], pages: Vec<(u32, Sealed)>, is_newest_first: bool, seen: &Extent) {
        let pages = match is_newest_first {
            true => pages,
            false => newest_first(self.new_among(pages)),
        };
        for (_, sealed) in frames.iter().chain(&pages) {
            let (counter, met) = self.sessions.entry(sealed.session).or_default();
            *counter = sealed.counter.max(*counter);
            *met = self.turn;
        }
        let given_up = std::mem::take(&mut self.given_up);
        let limit = match is_newest_first {
            true => NAMED_MAX,
            // One page of each session, where nothing else says which was written last.
            false => NAMED_MAX.max(self.sessions.len()),
        };
        let mut room = limit.min(ShortAnchor::PAGES_MAX - 1 - given_up.len());
        // If nothing is new, the last commit is still that of an earlier turn.
        let is_anything_new = pages.iter().any(|(page_no, _)| *page_no != 1);
        let earlier_limit = if is_anything_new {
            NAMED_MAX
        } else {
            ShortAnchor::PAGES_MAX
        };
        let mut earlier = std::mem::take(&mut self.pages);
        earlier.retain(|&page_no, _| page_no <= seen.page_count);
        for (page_no, sealed) in pages {
            earlier.remove(&page_no);
            if page_no != 1 && !given_up.contains(&page_no) {
                if room == 0 {
                    continue;
                }
                room -= 1;
            }
            self.pages.insert(page_no, sealed.image);
            self.named_in.insert(page_no, self.turn);
        }
        self.keep(earlier, earlier_limit, seen);
    }

    /// Names pages of earlier turns (old-file-is-found): of those that are in the file, and of those that are in the log,
    /// the ones that were named last.
    fn keep(&mut self, earlier: BTreeMap<u32, NamedPage>, limit: usize, seen: &Extent) {
        let mut earlier: Vec<_> = earlier.into_iter().collect();
        earlier.sort_by_key(|(page_no, _)| (*page_no != 1, Reverse(self.named_in.get(page_no).copied()), *page_no));
        let (in_log, in_file): (Vec<_>, Vec<_>) = earlier
            .into_iter()
            .partition(|(page_no, _)| seen.in_log.contains(page_no));
        for group in [in_file, in_log] {
            let room = limit.max(self.pages.len() + NAMED_MAX).min(ShortAnchor::PAGES_MAX - 1);
            for (page_no, image) in group {
                if page_no == 1 || self.pages.len() < room {
                    self.pages.entry(page_no).or_insert(image);
                }
            }
        }
        let named = &self.pages;
        self.named_in.retain(|page_no, _| named.contains_key(page_no));
    }

    /// The pages that were sealed after what the last anchor knows of their sessions.
    fn new_among(&self, mut pages: Vec<(u32, Sealed)>) -> Vec<(u32, Sealed)> {
        let is_new = |sealed: &Sealed| {
            let known = self.sessions.get(&sealed.session);
            known.is_none_or(|&(highest, _)| sealed.counter > highest)
        };
        // Without an anchor that the database was compared with, all may be.
        if self.anchor.is_some() {
            pages.retain(|(page_no, sealed)| *page_no == 1 || is_new(sealed));
        }
        pages
    }

    /// The next anchor.
    fn next(&self, unlocked: &Unlocked) -> Result<ShortAnchor, KeyError> {
        let epoch = unlocked.superblock.sealing_epoch;
        let key_id = unlocked.data_key_id(epoch)?;
        let mut sessions: Vec<_> = self.sessions.iter().collect();
        sessions.sort_by_key(|(_, (_, met))| Reverse(*met));
        let sessions = sessions.into_iter().take(ShortAnchor::SESSIONS_MAX);
        Ok(ShortAnchor {
            sealing: key_id.map(|key_id| SealingEpoch { epoch, key_id }),
            log: self.end.filter(|end| end.position.frames > 0),
            database_id: unlocked.superblock.database_id,
            key_id: unlocked.master.anchor_key().id(),
            made: now(),
            generation: unlocked.superblock.generation,
            page_size: unlocked.superblock.page_size,
            // That of another key can't be trusted.
            number: self.number.saturating_add(1),
            sessions: sessions.map(|(&session, &(counter, _))| (session, counter)).collect(),
            pages: self.pages.clone(),
        })
    }
}

fn other_master(place: &AnchorPlace, number: u64) -> VfsError {
    VfsError::NoAnchor(format!(
        "{place}: its newest anchor, number {number}, is under another master key: if it was renewed while no selenite \
         follow ran, run it once with --accept-older --once"
    ))
}

/// Device and inode of the file at the database's path.
pub(super) fn identity(storage: &dyn Storage, path: &Path) -> Result<(u64, u64), EngineError> {
    let attributes = storage.attributes(path);
    Ok(attributes.map_err(io_error("follow", path))?.identity)
}

/// Refuses a place that is a file of the database.
fn check_place(place: &AnchorPlace, database: &Path) -> Result<(), EngineError> {
    let AnchorPlace::File(file) = place else { return Ok(()) };
    // By a link, too; of a file that does not exist, the folder tells.
    let resolved = |path: &Path| {
        path.canonicalize().or_else(|_| {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new(".")).canonicalize()?;
            Ok::<_, std::io::Error>(folder.join(path.file_name().unwrap_or_default()))
        })
    };
    let (Ok(file), Ok(database)) = (resolved(file), resolved(database)) else {
        return Ok(());
    };
    let of_database = ["", "-journal", "-wal", "-shm", "-selenite"];
    if of_database.iter().any(|suffix| beside(&database, suffix) == file) {
        return Err(EngineError::usage(
            format!(
                "{} is a file of the database, and no place for its anchors",
                file.display()
            ),
            "take a file where no one but the user of selenite follow can write",
        ));
    }
    Ok(())
}

fn has_journal(path: &Path) -> bool {
    beside(path, "-journal").metadata().is_ok_and(|found| found.len() > 0)
}

/// `on-disk-first`. SQLite itself syncs the log before it copies frames from it.
fn sync_log(path: &Path) -> Result<(), EngineError> {
    let log = beside(path, "-wal");
    // SQLite has no locks on this file that closing it could release.
    match std::fs::File::open(&log).and_then(|log| log.sync_all()) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io_error("sync", &log)(error)),
        _ => Ok(()),
    }
}

fn refused(error: VfsError, path: &Path) -> EngineError {
    if let VfsError::Key(error) = error {
        return EngineError::Key(error);
    }
    EngineError::of_vfs(&error, path)
}

/// Reads the pages that were written since the last turn.
fn read_changes(snapshot: &mut Snapshot<'_>, mut known: Known, path: &Path) -> Result<(Known, Unlocked), EngineError> {
    let refused = |error: VfsError| refused(error, path);
    let unlocked = snapshot.unlocked().map_err(refused)?;
    let key_id = unlocked.master.anchor_key().id();
    let end = snapshot.end().ok_or_else(|| {
        EngineError::usage(
            "a database in rollback mode has no log to follow",
            "run PRAGMA journal_mode = WAL once",
        )
    })?;
    let named = known.pages.keys().copied();
    let seen = Extent {
        page_count: snapshot.page_count(),
        in_log: named.filter(|&page_no| snapshot.is_in_log(page_no)).collect(),
    };
    if let Some(anchor) = known.anchor.as_ref().filter(|anchor| anchor.key_id == key_id) {
        check_not_older(snapshot, anchor).map_err(refused)?;
    }
    let epochs: Vec<Epoch> = unlocked.superblock.epochs.iter().map(|record| record.epoch).collect();
    let has_same_epochs = known.epochs == epochs;
    let since = match known.end {
        Some(from) if has_same_epochs && from == end => return Ok((known, unlocked)),
        Some(from) if has_same_epochs => snapshot.pages_since(from).map_err(refused)?,
        Some(_) | None => None,
    };
    known.epochs = epochs;
    known.turn += 1;
    let mut read = Read::new(&known.given_up);
    match since {
        Some(since) => {
            snapshot
                .read_pages_since(&since, |page_no, image, _| read.take(page_no, image))
                .map_err(refused)?;
            let last: BTreeMap<u32, usize> = since.frames().iter().map(|(page_no, _)| *page_no).zip(0..).collect();
            let mut pages = read.pages;
            pages.sort_by_key(|(page_no, _)| Reverse(last.get(page_no).copied()));
            known.take(since.frames(), pages, true, &seen);
        }
        None => {
            let mut frames = snapshot.frames().map_err(refused)?;
            read_all(snapshot, seen.page_count, &mut read).map_err(refused)?;
            frames.append(&mut read.below);
            known.take(&frames, read.pages, false, &seen);
        }
    }
    known.changed_count += read.count;
    known.end = Some(end);
    Ok((known, unlocked))
}

fn read_all(snapshot: &mut Snapshot<'_>, page_count: u32, read: &mut Read) -> Result<(), VfsError> {
    let size = snapshot.page_size().bytes();
    let mut image = vec![0; size];
    let mut plain = Zeroizing::new(vec![0; size]);
    for page_no in 1..=page_count {
        if snapshot.is_lock_page(page_no) {
            continue;
        }
        snapshot.read(page_no, &mut image)?;
        snapshot.open(page_no, &image, &mut plain)?;
        read.take(page_no, &image)?;
        let seen = Sealed::of(&image);
        // One that a checkpoint is writing need not open.
        if snapshot.read_below_log(page_no, &mut image)? && snapshot.open(page_no, &image, &mut plain).is_ok() {
            let below = Sealed::of(&image);
            // sealed-by-checkpoints.
            let is_filler = plain.iter().all(|&byte| byte == 0);
            if !is_filler && below.image.epoch <= seen.image.epoch {
                read.below.push((page_no, below));
            }
        }
    }
    Ok(())
}

/// How many pages are named beside page 1, if the log says which were written last.
const NAMED_MAX: usize = 64;
/// By how much an anchor of another master key can raise the generation.
const GENERATIONS_MAX: u64 = 1 << 20;
/// How many pages of a state that was given up are named.
const GIVEN_UP_MAX: usize = ShortAnchor::PAGES_MAX - 1 - NAMED_MAX;
/// How many are kept at first while all are read.
const KEPT_MIN: usize = 8192;

#[cfg(test)]
mod tests;
