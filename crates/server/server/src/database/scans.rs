//! Scans: databases whose pages are being re-encrypted, each on a thread of its own, while sessions continue.
//!
//! - `one-scan-per-database`: a database has one scan at a time. Its progress is in the file: a
//!   scan that ends with the server continues with the next one.
//! - `suspended-scan-polls`: a suspended scan keeps its thread, which checks every 200 ms whether
//!   it may continue.
//! - `encryption-noted-at-the-end`: that a database has to be encrypted is noted when its last page
//!   is encrypted, and taken back before the first page is decrypted.
//! - `no-scan-without-its-client`: a scan does not begin if its client has left before.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::thread::JoinHandle;
use std::time::Duration;

use selenite::reencrypt::{Goal, Reencrypt, is_paused, reencrypt};
use selenite::storage::Disk;
use selenite::{Access, EngineError, Layout, Observer, Progress, Suite, Watch};
use selenite_keyring::KeyError;

use crate::database::expectation::access_to;
use crate::database::file_state::{FileState, Phase};
use crate::master::{DatabaseRecord, EncryptionKeyRecord, Tde};
use crate::{Instance, NewDatabases};

/// The scans of a server.
#[derive(Default)]
pub struct Scans {
    instance: OnceLock<Arc<Instance>>,
    known: Mutex<HashMap<i32, Scan>>,
    order: Mutex<()>,
    is_closed: AtomicBool,
}

/// A scan and its thread.
struct Scan {
    course: Arc<Course>,
    thread: JoinHandle<()>,
}

/// The progress of a scan.
#[derive(Default)]
struct Course {
    stage: Mutex<Stage>,
    moved: Condvar,
    is_told_to_stop: AtomicBool,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
enum Stage {
    /// The file does not say so yet.
    #[default]
    Beginning,
    /// The file says so.
    Started,
    /// It has ended, successfully or with an error.
    Ended(Result<(), String>),
}

impl Scans {
    /// The server has started: scans that were not finished continue.
    pub fn open(&self, instance: &Arc<Instance>) {
        if self.instance.set(instance.clone()).is_err() {
            return;
        }
        let unfinished = instance.master().encryption_keys().and_then(|keys| {
            let found = keys.into_iter().map(|key| {
                let record = instance.master().database_of(key.database_id)?;
                Ok(record.map(|record| (key, record)))
            });
            found.collect::<Result<Vec<_>, _>>()
        });
        let unfinished = match unfinished {
            Ok(found) => found.into_iter().flatten(),
            Err(fault) => {
                instance.log().line(&format!("master.db: {fault}"));
                return;
            }
        };
        let keeps_encrypted = instance.config().new_databases == NewDatabases::Encrypted;
        for (key, record) in unfinished {
            let Ok(path) = record.path(instance.data_folder()) else {
                continue;
            };
            let Ok(access) = access_to(instance, record.id) else {
                continue;
            };
            match FileState::load(&path, &access) {
                Ok(state) => {
                    let Some(goal) = goal_of(key.tde, &key, &state, keeps_encrypted) else {
                        note_settled(instance, &record);
                        continue;
                    };
                    if is_paused(&Disk, &path) {
                        let text = format!("The encryption scan of database '{}' is suspended.", record.name);
                        instance.log().line(&text);
                    }
                    self.start(instance, &record, &path, goal);
                }
                Err(failed) => instance.log().line(&format!("database '{}': {failed}", record.name)),
            }
        }
    }

    /// The server stops: all scans end. Their progress is kept.
    pub fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        let scans: Vec<Scan> = self.known().drain().map(|(_, scan)| scan).collect();
        for scan in &scans {
            scan.course.is_told_to_stop.store(true, Ordering::Release);
        }
        for scan in scans {
            // The hook has reported a panic already.
            let _ = scan.thread.join();
        }
    }

    /// The right to change keys, for one session at a time. While it waits, `poll` decides whether to continue.
    ///
    /// # Errors
    /// The error of `poll`.
    pub fn order<E>(&self, mut poll: impl FnMut() -> Result<(), E>) -> Result<MutexGuard<'_, ()>, E> {
        loop {
            match self.order.try_lock() {
                Ok(order) => return Ok(order),
                Err(TryLockError::Poisoned(poisoned)) => return Ok(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => {
                    poll()?;
                    std::thread::sleep(LOOK);
                }
            }
        }
    }

    /// Whether this server has a scan of a database.
    pub fn is_running(&self, database_id: i32) -> bool {
        let known = self.known();
        known.get(&database_id).is_some_and(|scan| !scan.thread.is_finished())
    }

    /// Waits for the end of a scan that has ended according to its file. While it waits, `poll` decides whether to
    /// continue.
    ///
    /// # Errors
    /// The error of `poll`.
    pub fn settle<E>(&self, database_id: i32, mut poll: impl FnMut() -> Result<(), E>) -> Result<(), E> {
        while self.is_running(database_id) {
            poll()?;
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    /// Begins a scan, and waits until the database's file says so. While it waits, `poll` decides whether to
    /// continue.
    ///
    /// # Errors
    /// The error of `poll`: the scan does not begin then, if it has not already.
    pub fn begin<E>(
        &self,
        record: &DatabaseRecord,
        path: &Path,
        goal: Goal,
        mut poll: impl FnMut() -> Result<(), E>,
    ) -> Result<Result<(), String>, E> {
        let Some(instance) = self.instance.get() else {
            return Ok(Err("the server has not started yet".to_owned()));
        };
        if self.is_running(record.id) {
            return Ok(Err("a scan is already running".to_owned()));
        }
        let Some(course) = self.start(instance, record, path, goal) else {
            return Ok(Err("could not start a thread for it".to_owned()));
        };
        loop {
            match course.wait() {
                Stage::Beginning => {}
                Stage::Started | Stage::Ended(Ok(())) => return Ok(Ok(())),
                Stage::Ended(Err(why)) => return Ok(Err(why)),
            }
            if let Err(stop) = poll() {
                course.is_told_to_stop.store(true, Ordering::Release);
                return Err(stop);
            }
        }
    }

    fn start(&self, instance: &Arc<Instance>, record: &DatabaseRecord, path: &Path, goal: Goal) -> Option<Arc<Course>> {
        let course = Arc::new(Course::default());
        let work = EncryptionScan {
            instance: instance.clone(),
            record: record.clone(),
            path: path.to_owned(),
            access: access_to(instance, record.id).ok()?,
            course: course.clone(),
        };
        let mut known = self.known();
        if self.is_closed.load(Ordering::Acquire) {
            return None;
        }
        let spawned = std::thread::Builder::new()
            .name("encryption scan".to_owned())
            .spawn(move || work.run(goal));
        let thread = spawned.ok()?;
        known.insert(
            record.id,
            Scan {
                course: course.clone(),
                thread,
            },
        );
        Some(course)
    }

    fn known(&self) -> MutexGuard<'_, HashMap<i32, Scan>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Course {
    fn set(&self, stage: Stage) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage;
        self.moved.notify_all();
    }

    fn note_begun(&self) {
        let mut stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        if *stage == Stage::Beginning {
            *stage = Stage::Started;
            self.moved.notify_all();
        }
    }

    /// Its progress, a while later if it has not begun.
    fn wait(&self) -> Stage {
        let stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .moved
            .wait_timeout_while(stage, LOOK, |stage| *stage == Stage::Beginning);
        waited.unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    fn has_begun(&self) -> bool {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) != Stage::Beginning
    }
}

/// The engine calls these only once the file records the scan.
impl Observer for Course {
    fn progress(&self, _: Progress) {
        self.note_begun();
    }

    fn waiting(&self, _: &str) {
        self.note_begun();
    }

    fn is_interrupted(&self) -> bool {
        self.is_told_to_stop.load(Ordering::Acquire)
    }
}

/// The context of a scan's thread.
struct EncryptionScan {
    instance: Arc<Instance>,
    record: DatabaseRecord,
    path: PathBuf,
    access: Access,
    course: Arc<Course>,
}

impl EncryptionScan {
    fn run(&self, goal: Goal) {
        let name = &self.record.name;
        self.log(&format!("Beginning database encryption scan for database '{name}'."));
        let ended = self.scan(goal).and_then(|is_over| {
            if is_over {
                self.note_encrypted()?;
            }
            Ok(is_over)
        });
        match &ended {
            Ok(true) => self.log(&format!("Database encryption scan for database '{name}' is complete.")),
            Ok(false) => {}
            Err(why) => self.log(&format!(
                "Database encryption scan for database '{name}' was aborted. Reissue ALTER DB to resume the scan. ({why})"
            )),
        }
        if ended != Ok(false) {
            let noted = self
                .instance
                .master()
                .change_encryption_key(self.record.id, |key, now| key.scanned = now);
            if let Err(fault) = noted {
                self.log(&format!("master.db: {fault}"));
            }
        }
        self.course.set(Stage::Ended(ended.map(drop)));
    }

    /// Scans, and returns whether the scan is complete.
    fn scan(&self, mut goal: Goal) -> Result<bool, String> {
        let watch = Watch::new(self.course.clone());
        loop {
            let how = Reencrypt {
                goal,
                ..Reencrypt::default()
            };
            match reencrypt(&Disk, &self.path, &self.access, &how, &watch) {
                Ok(_) => return Ok(true),
                Err(EngineError::Interrupted | EngineError::Unfinished { .. }) => return Ok(false),
                // Another process has finished it meanwhile.
                Err(EngineError::Key(KeyError::NotUnderWay)) => return Ok(true),
                Err(EngineError::Busy { .. } | EngineError::UnderWay { .. }) => {
                    if self.course.is_interrupted() {
                        return Ok(false);
                    }
                    std::thread::sleep(LOOK);
                }
                Err(failed) => return Err(failed.to_string()),
            }
            if self.course.has_begun() {
                goal = Goal::GoOn;
            }
        }
    }

    /// From here on no page of the database may be in clear, if none is; and the change of its encryption key has
    /// ended.
    fn note_encrypted(&self) -> Result<(), String> {
        let state = FileState::load(&self.path, &self.access).map_err(|failed| failed.to_string())?;
        let (master, id) = (self.instance.master(), self.record.id);
        let mut noted = Ok(());
        if state.pages == Phase::Encrypted {
            noted = master.require_encryption(id, true);
        }
        let noted = noted.and_then(|()| match master.encryption_key(id)? {
            Some(key) if state.is_deprecated() || names_deprecated(&key) => Ok(()),
            Some(_) | None => master.allow_deprecated(id, false),
        });
        noted.map_err(|fault| format!("master.db: {fault}"))?;
        note_settled(&self.instance, &self.record);
        Ok(())
    }

    fn log(&self, text: &str) {
        self.instance.log().line(text);
    }
}

/// The change of a database's encryption key has ended.
fn note_settled(instance: &Instance, record: &DatabaseRecord) {
    let master = instance.master();
    let noted = match master.encryption_key(record.id) {
        Ok(Some(key)) if key.tde != key.tde.settled() => {
            master.change_encryption_key(record.id, |key, _| key.tde = key.tde.settled())
        }
        Ok(_) => Ok(()),
        Err(fault) => Err(fault),
    };
    if let Err(fault) = noted {
        instance.log().line(&format!("master.db: {fault}"));
    }
}

fn names_deprecated(key: &EncryptionKeyRecord) -> bool {
    Suite::from_name(&key.algorithm).is_some_and(Suite::is_deprecated)
}

/// ATTENTION is to be answered within 50 ms.
const LOOK: Duration = Duration::from_millis(20);

/// What a scan has to do to a database's pages to bring its encryption key to this state; `None` where there is
/// nothing to do, or the key's algorithm is unknown. `keeps_encrypted` says whether a database that is switched off
/// stays encrypted, under the server's identity alone.
pub fn goal_of(tde: Tde, key: &EncryptionKeyRecord, state: &FileState, keeps_encrypted: bool) -> Option<Goal> {
    if state.pages.is_moving() {
        return Some(Goal::GoOn);
    }
    let sealed_anew = |suite: Suite| {
        let is_same = state.pages == Phase::Encrypted && state.suite == suite.name();
        if is_same { Goal::NewKey } else { Goal::Suite(suite) }
    };
    match tde {
        Tde::TurningOn | Tde::ChangingKey => Suite::from_name(&key.algorithm).map(sealed_anew),
        Tde::TurningOff if state.pages == Phase::Clear => None,
        Tde::TurningOff if keeps_encrypted => Some(sealed_anew(Layout::default().suite)),
        Tde::TurningOff => Some(Goal::Off),
        Tde::On | Tde::Off => None,
    }
}
