//! The pages that are still of the old epoch: found by their trailers, and dirtied by SQLite
//! itself.

use std::time::{Duration, Instant};

use super::pace::{BatchTiming, Pace};
use super::{ReencryptionJob, pause};
use crate::lock_holders::holders;
use crate::watch::Phase;
use crate::{Database, EngineError};

/// Checks that the linked SQLite can write a page by its number.
///
/// # Errors
/// [`EngineError::Sqlite`] if it was built without that.
pub fn check_sqlite(database: &Database) -> Result<(), EngineError> {
    let used = database.text("SELECT sqlite_compileoption_used('ENABLE_DBPAGE_VTAB')")?;
    if used == "1" {
        return Ok(());
    }
    Err(EngineError::Sqlite {
        class: crate::Class::Other,
        what: "this selenite was built with an SQLite that has no sqlite_dbpage".to_owned(),
        next: "build it in its own workspace, whose .cargo/config.toml asks for that".to_owned(),
    })
}

/// The result of `selenite_old_pages`: the page to continue with, and runs of old pages.
struct OldPages {
    next: u32,
    runs: Vec<(u32, u32)>,
}

impl OldPages {
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let next = words.next()?.parse().ok()?;
        let runs = words.map(|word| {
            let (first, last) = word.split_once('-')?;
            Some((first.parse().ok()?, last.parse().ok()?))
        });
        Some(Self {
            next,
            runs: runs.collect::<Option<_>>()?,
        })
    }

    fn pages(&self) -> impl Iterator<Item = u32> + '_ {
        self.runs.iter().flat_map(|&(first, last)| first..=last)
    }
}

/// Finds pages of another epoch, from `first` on.
fn find_old_pages(work: &ReencryptionJob<'_>, first: u32, find_count: u32) -> Result<OldPages, EngineError> {
    let sql = format!("SELECT selenite_old_pages('main', {first}, {SCAN_COUNT}, {find_count})");
    let text = work.patiently(|| work.database.text(&sql))?;
    OldPages::parse(&text)
        .ok_or_else(|| EngineError::usage(format!("selenite_old_pages answered {text}"), "report this"))
}

/// Whether any page of the file is of another epoch.
pub fn any_is_old(work: &ReencryptionJob<'_>) -> Result<bool, EngineError> {
    Ok(first_old(work)?.is_some())
}

/// The first page of the file that is of another epoch.
pub fn first_old(work: &ReencryptionJob<'_>) -> Result<Option<u32>, EngineError> {
    let mut next = 1;
    while next != 0 {
        let found = find_old_pages(work, next, 1)?;
        if let Some(&(first, _)) = found.runs.first() {
            return Ok(Some(first));
        }
        next = found.next;
    }
    Ok(None)
}

/// Saves that all pages up to this one are done.
pub type SaveUpTo<'a> = &'a dyn Fn(u32) -> Result<(), EngineError>;

/// The re-encryption of the old pages.
pub struct Pages<'a> {
    /// The phase that progress is reported as.
    pub phase: Phase,
    work: &'a ReencryptionJob<'a>,
    /// Changes with every commit of another connection. `None` before the first read.
    version: Option<u64>,
    contention_until: Option<Instant>,
    /// When the last pause ended, and `slept` at that time.
    at_work_since: (Instant, Duration),
}

impl<'a> Pages<'a> {
    pub fn new(work: &'a ReencryptionJob<'a>) -> Self {
        Self {
            phase: Phase::Sealing,
            work,
            version: None,
            contention_until: None,
            at_work_since: (Instant::now(), work.slept.get()),
        }
    }

    /// Re-encrypts the old pages from page `first` on, and returns how many they were.
    ///
    /// # Errors
    /// [`EngineError::Interrupted`]; the errors of SQLite and the VFS.
    pub fn convert_from(&mut self, first: u32, pace: &mut Pace, save: SaveUpTo<'_>) -> Result<u64, EngineError> {
        let before = pace.page_count();
        let mut next = first;
        let mut since_save = 0;
        while next != 0 {
            pause::wait(self.work)?;
            let found = find_old_pages(self.work, next, pace.batch_size(self.has_contention()))?;
            let count = u64::try_from(found.pages().count()).unwrap_or(0);
            if count > 0 {
                let Some(timing) = self.batch(&found)? else {
                    self.work.wait("waiting for readers", BUSY_PAUSE)?;
                    continue;
                };
                pace.note(timing);
                since_save += count * self.work.page_bytes;
            }
            next = found.next;
            self.report(next, pace)?;
            if since_save >= self.work.save_every {
                since_save = 0;
                save(next.saturating_sub(1))?;
            }
            self.rest(pace)?;
        }
        Ok(pace.page_count() - before)
    }

    /// Runs one transaction. Waits for writers. `None` if it was rolled back, as others were
    /// reading.
    fn batch(&mut self, found: &OldPages) -> Result<Option<BatchTiming>, EngineError> {
        let database = self.work.database;
        let synced = sync_time(database)?;
        self.lock()?;
        let started = Instant::now();
        let written = self.dirty(found);
        let ended = database.batch(if written.is_ok() { "COMMIT" } else { "ROLLBACK" });
        let elapsed = started.elapsed();
        let in_sync = sync_time(database)?.saturating_sub(synced);
        match written.and_then(|page_count| ended.map(|()| page_count)) {
            Ok(page_count) => Ok(Some(BatchTiming {
                page_count,
                lock: elapsed.saturating_sub(in_sync),
            })),
            // In rollback mode, a reader blocked the commit.
            Err(EngineError::Busy { .. }) => {
                let _ = database.batch("ROLLBACK");
                self.note_contention();
                Ok(None)
            }
            Err(error) => {
                let _ = database.batch("ROLLBACK");
                Err(error)
            }
        }
    }

    fn dirty(&self, found: &OldPages) -> Result<u64, EngineError> {
        let database = self.work.database;
        let sql = "UPDATE sqlite_dbpage SET data = data WHERE pgno = ?1 AND schema = 'main'";
        let error = |error| database.error(error);
        let mut update = database.connection().prepare_cached(sql).map_err(error)?;
        let mut count = 0;
        for page in found.pages() {
            // A page after SQLite's last is not updated: it is truncated at the end.
            count += u64::try_from(update.execute([page]).map_err(error)?).unwrap_or(0);
        }
        Ok(count)
    }

    /// Takes SQLite's write lock, and waits as long as others have it.
    fn lock(&mut self) -> Result<(), EngineError> {
        let began = Instant::now();
        let slept = self.work.slept.get();
        loop {
            match self.work.database.begin() {
                Err(EngineError::Busy { .. }) => {
                    self.note_contention();
                    // With many writers the lock is free only for moments between two commits;
                    // during a long transaction it suffices to ask rarely.
                    let wait = if began.elapsed() < LONG {
                        RETRY_PAUSE
                    } else {
                        BUSY_PAUSE
                    };
                    self.work.wait("waiting for writers", wait)?;
                }
                answer => {
                    // All of this time counts as waiting, including the waits within it.
                    self.work.slept.set(slept + began.elapsed());
                    return answer;
                }
            }
        }
    }

    fn note_contention(&mut self) {
        self.contention_until = Some(Instant::now() + CONTENTION_TIME);
    }

    fn has_contention(&self) -> bool {
        self.contention_until.is_some_and(|until| Instant::now() < until)
    }

    /// Pauses, if others use the database.
    fn rest(&mut self, pace: &Pace) -> Result<(), EngineError> {
        let version = self.work.number("PRAGMA main.data_version")?;
        if self.version.replace(version).is_some_and(|last| last != version) {
            self.note_contention();
        }
        // Connections that only read are visible by their locks alone.
        if !self.has_contention() && !holders(self.work.path).is_empty() {
            self.note_contention();
        }
        let has_contention = self.has_contention();
        let (since, slept) = self.at_work_since;
        let at_work = since
            .elapsed()
            .saturating_sub(self.work.slept.get().saturating_sub(slept));
        self.work.sleep(pace.rest(has_contention.then_some(at_work)))?;
        self.at_work_since = (Instant::now(), self.work.slept.get());
        Ok(())
    }

    fn report(&self, next: u32, pace: &Pace) -> Result<(), EngineError> {
        let page_count = self.work.number("PRAGMA main.page_count")?;
        let done = if next == 0 { page_count } else { u64::from(next) - 1 };
        let (done, total) = (done * self.work.page_bytes, page_count * self.work.page_bytes);
        self.work.watch.report(self.phase, done.min(total), total);
        self.work.operation.progress(done.min(total), total, pace);
        self.work.watch.check()
    }
}

impl ReencryptionJob<'_> {
    /// Retries a read while others block it: in rollback mode a committing writer does.
    pub fn patiently<T>(&self, mut read: impl FnMut() -> Result<T, EngineError>) -> Result<T, EngineError> {
        loop {
            match read() {
                Err(EngineError::Busy { .. }) => self.wait("waiting for writers", RETRY_PAUSE)?,
                answer => return answer,
            }
        }
    }

    pub fn number(&self, sql: &str) -> Result<u64, EngineError> {
        self.patiently(|| self.database.number(sql))
    }

    /// Sleeps in slices, and reports what it waits for, and for which processes.
    pub fn wait(&self, what: &str, time: Duration) -> Result<(), EngineError> {
        self.watch.waiting(&self.operation.waiting(what));
        self.sleep(time)
    }

    pub fn sleep(&self, time: Duration) -> Result<(), EngineError> {
        let began = Instant::now();
        let until = began + time;
        loop {
            self.watch.check()?;
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            std::thread::sleep(left.min(SLEEP_SLICE));
        }
        self.slept.set(self.slept.get() + began.elapsed());
        Ok(())
    }
}

fn sync_time(database: &Database) -> Result<Duration, EngineError> {
    Ok(Duration::from_nanos(database.number("SELECT selenite_sync_ns()")?))
}

/// Pages per scan of trailers: 16 MiB of pages of 4 KiB, some milliseconds.
const SCAN_COUNT: u32 = 4096;
/// Others count as using the database for this time after they were last noticed.
const CONTENTION_TIME: Duration = Duration::from_secs(1);
/// After a commit that readers blocked.
const BUSY_PAUSE: Duration = Duration::from_millis(20);
/// A wait for the write lock longer than this means a long transaction.
const LONG: Duration = Duration::from_secs(10);
const RETRY_PAUSE: Duration = Duration::from_millis(1);
/// Sleeps are divided into slices of this length, so that Ctrl-C takes effect.
const SLEEP_SLICE: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_old_pages_is_parsed() {
        let found = OldPages::parse("812 3-5 9-9").unwrap();
        assert_eq!(found.next, 812);
        assert_eq!(found.pages().collect::<Vec<_>>(), [3, 4, 5, 9]);
        assert_eq!(OldPages::parse("0").unwrap().pages().count(), 0);
        assert!(OldPages::parse("1 2").is_none() && OldPages::parse("").is_none());
    }
}
