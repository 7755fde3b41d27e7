//! Records the calls for files, and the sizes of TDS packets, as a trace (FORMAT 14), where the environment asks for
//! it.
//!
//! - no-contents: a record has no byte that is read or written, and no name of a file.
//! - sealed-before-written: records are kept in memory and written as sections encrypted for the
//!   recipient.
//! - bounded-loss: a section is written with the first call that comes a second after its first record, with the last
//!   file that is closed, and when the process exits. One that is killed loses the calls of a second at most.
//! - bounded: a trace that has reached its limit gets no further records.
//! - no-call-fails: an error in writing the trace ends the recording, and is an error of no call.
//! - one-process: a child of fork(2) has the key and the position of its parent's trace. It records
//!   nothing: two sections of one number would be sealed under one nonce.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::time::{Duration, Instant, SystemTime};

use selenite_cipher::{PartKey, Secret};
use selenite_format::trace::{TraceEvent, TraceHeader, TraceRecord, TraceRole, TraceWriter};
use selenite_keyring::{AgeRecipient, archive_recipient, os_random};

use crate::environment;
use crate::ffi::{at_exit, open_private};
use crate::role::Role;

/// The recorder of this process, if `SELENITE_TRACE` and `SELENITE_TRACE_RECIPIENT` are set.
pub(crate) fn recorder() -> Option<&'static Recorder> {
    RECORDER
        .get_or_init(|| {
            let recorder = Recorder::of_environment(&environment::variable).unwrap_or_else(|error| {
                // The application works without a trace; one who asked for it has to know.
                let _ = writeln!(io::stderr(), "selenite: no trace is recorded: {error}");
                None
            });
            if recorder.is_some() {
                at_exit(|| {
                    if let Some(Some(recorder)) = RECORDER.get() {
                        recorder.exit();
                    }
                });
            }
            recorder
        })
        .as_ref()
}

static RECORDER: OnceLock<Option<Recorder>> = OnceLock::new();

/// Writes the trace of this process.
pub(crate) struct Recorder(Mutex<Recording>);

struct Recording {
    file: File,
    key: PartKey,
    process: u32,
    /// A moment by both clocks.
    origin: (Instant, u64),
    writer: TraceWriter,
    /// When the first record of the section was made.
    section_began: Option<Instant>,
    /// The number of the next section.
    section: u32,
    written: u64,
    limit: u64,
    is_over: bool,
    /// Numbers of databases by their paths, which are not recorded.
    databases: BTreeMap<String, u32>,
    files: u32,
    open_files: BTreeSet<u32>,
    connections: u32,
    open_connections: u32,
}

/// A file whose calls are recorded.
pub(crate) struct TracedFile {
    recorder: &'static Recorder,
    number: u32,
}

/// A connection of a TDS client, whose messages and packets are recorded.
pub struct TracedConnection {
    recorder: &'static Recorder,
    number: u32,
}

/// A database whose commits are recorded.
pub(crate) struct TracedDatabase {
    recorder: &'static Recorder,
    number: u32,
}

impl Recorder {
    /// `None` if [`FILE_VARIABLE`] is not set.
    fn of_environment(variable: &dyn Fn(&str) -> Option<OsString>) -> io::Result<Option<Self>> {
        let set = |name| variable(name).filter(|value| !value.is_empty());
        let wrong = |name: &str, what: &str| io::Error::other(format!("{name} is {what}"));
        let Some(prefix) = set(FILE_VARIABLE) else {
            return Ok(None);
        };
        let recipient = set(RECIPIENT_VARIABLE).ok_or_else(|| wrong(RECIPIENT_VARIABLE, "not set"))?;
        let recipient = recipient
            .into_string()
            .map_err(|_| wrong(RECIPIENT_VARIABLE, "no recipient"))?;
        let limit = match set(LIMIT_VARIABLE) {
            None => LIMIT_DEFAULT,
            Some(text) => text
                .to_str()
                .and_then(|text| text.parse().ok())
                .ok_or_else(|| wrong(LIMIT_VARIABLE, "no number of bytes"))?,
        };
        Self::begin(prefix, &recipient, limit).map(Some)
    }

    /// Begins a trace in a new file: the prefix, a dot, and the number of this process.
    fn begin(mut prefix: OsString, recipient: &str, limit: u64) -> io::Result<Self> {
        let recipient: AgeRecipient = recipient.parse().map_err(io::Error::other)?;
        let (mut id, mut salt, mut secret) = ([0; 16], [0; 16], [0; 32]);
        for bytes in [&mut id[..], &mut salt, &mut secret] {
            os_random(bytes);
        }
        let secret = Secret::new(secret);
        let wrapped = archive_recipient::wrap(&recipient, &secret).map_err(io::Error::other)?;
        let header = TraceHeader { id, salt, wrapped }.encode();
        let process = std::process::id();
        prefix.push(format!(".{process}"));
        let mut file = open_private(File::options().write(true).create_new(true), Path::new(&prefix))?;
        file.write_all(&header)?;
        let now = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        let microseconds = u64::try_from(now.as_micros()).unwrap_or(u64::MAX);
        Ok(Self(Mutex::new(Recording {
            file,
            key: PartKey::of_trace(&secret, &id, &salt),
            process,
            origin: (Instant::now(), microseconds),
            writer: TraceWriter::default(),
            section_began: None,
            section: 0,
            written: u64::try_from(header.len()).unwrap_or(u64::MAX),
            limit,
            is_over: false,
            databases: BTreeMap::new(),
            files: 0,
            open_files: BTreeSet::new(),
            connections: 0,
            open_connections: 0,
        })))
    }

    /// Numbers a file of the database at `path` that is being opened. Super-journals are not recorded.
    pub(crate) fn open(&'static self, path: &str, role: Role) -> Option<TracedFile> {
        let role = match role {
            Role::Main => TraceRole::Database,
            Role::Wal => TraceRole::Wal,
            Role::Journal => TraceRole::Journal,
            Role::Nameless => TraceRole::Temporary,
            Role::SuperJournal => return None,
        };
        let mut recording = self.lock();
        let database = match role {
            TraceRole::Temporary => 0,
            TraceRole::Database | TraceRole::Wal | TraceRole::Journal => recording.database(path),
        };
        recording.files += 1;
        let number = recording.files;
        recording.open_files.insert(number);
        let file = number;
        recording.push(Instant::now(), TraceEvent::Open { file, database, role });
        drop(recording);
        Some(TracedFile { recorder: self, number })
    }

    /// Numbers the database at `path`.
    pub(crate) fn database(&'static self, path: &str) -> TracedDatabase {
        let number = self.lock().database(path);
        TracedDatabase { recorder: self, number }
    }

    fn connect(&'static self) -> TracedConnection {
        let mut recording = self.lock();
        recording.connections += 1;
        recording.open_connections += 1;
        let number = recording.connections;
        drop(recording);
        TracedConnection { recorder: self, number }
    }

    /// Ends the trace of a process that exits: it closes its files now.
    fn exit(&self) {
        // A thread that holds the lock may never run again: its process loses what one that is killed does.
        let mut recording = match self.0.try_lock() {
            Ok(recording) => recording,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        for file in std::mem::take(&mut recording.open_files) {
            recording.push(Instant::now(), TraceEvent::Close { file });
        }
        recording.flush();
        recording.is_over = true;
    }

    fn lock(&self) -> MutexGuard<'_, Recording> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A kind of call that is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TracedCall {
    Read,
    Write,
    Sync,
}

impl TracedFile {
    /// Records a call that began at `at`.
    pub(crate) fn record(&self, call: TracedCall, at: Instant, offset: u64, size: usize) {
        let (file, size) = (self.number, u32::try_from(size).unwrap_or(u32::MAX));
        let event = match call {
            TracedCall::Read => TraceEvent::Read { file, offset, size },
            TracedCall::Write => TraceEvent::Write { file, offset, size },
            TracedCall::Sync => TraceEvent::Sync { file },
        };
        self.recorder.lock().push(at, event);
    }

    /// Records that a read transaction begins.
    pub(crate) fn begin(&self) {
        let event = TraceEvent::Begin { file: self.number };
        self.recorder.lock().push(Instant::now(), event);
    }
}

impl Drop for TracedFile {
    /// Records that it is closed.
    fn drop(&mut self) {
        let mut recording = self.recorder.lock();
        recording.push(Instant::now(), TraceEvent::Close { file: self.number });
        recording.open_files.remove(&self.number);
        recording.flush_if_closed();
    }
}

impl TracedConnection {
    /// Numbers a connection of a client, if this process records a trace.
    #[must_use]
    pub fn begin() -> Option<Self> {
        recorder().map(Recorder::connect)
    }

    /// Records a message that was received, of so many bytes with its headers.
    pub fn received(&self, size: usize) {
        let (connection, size) = (self.number, u32::try_from(size).unwrap_or(u32::MAX));
        let event = TraceEvent::Received { connection, size };
        self.recorder.lock().push(Instant::now(), event);
    }

    /// Records a packet that is sent, of so many bytes with its header.
    pub fn sent(&self, size: usize) {
        let (connection, size) = (self.number, u32::try_from(size).unwrap_or(u32::MAX));
        let event = TraceEvent::Sent { connection, size };
        self.recorder.lock().push(Instant::now(), event);
    }
}

impl Drop for TracedConnection {
    fn drop(&mut self) {
        let mut recording = self.recorder.lock();
        recording.open_connections -= 1;
        recording.flush_if_closed();
    }
}

impl TracedDatabase {
    /// Records a commit of so many frames.
    pub(crate) fn commit(&self, frames: u64) {
        let (database, frames) = (self.number, u32::try_from(frames).unwrap_or(u32::MAX));
        self.recorder
            .lock()
            .push(Instant::now(), TraceEvent::Commit { database, frames });
    }
}

impl Recording {
    fn database(&mut self, path: &str) -> u32 {
        let next = u32::try_from(self.databases.len()).map_or(u32::MAX, |count| count.saturating_add(1));
        *self.databases.entry(path.to_owned()).or_insert(next)
    }

    fn push(&mut self, at: Instant, event: TraceEvent) {
        if self.is_over {
            return;
        }
        let (instant, microseconds) = self.origin;
        let since = u64::try_from(at.saturating_duration_since(instant).as_micros()).unwrap_or(u64::MAX);
        let microseconds = microseconds.saturating_add(since);
        self.writer.push(&TraceRecord { microseconds, event });
        let began = *self.section_began.get_or_insert(at);
        if self.writer.size() >= SECTION_BYTES || at.saturating_duration_since(began) >= SECTION_TIME {
            self.flush();
        }
        // The next section, with its size and tag, has to be within the limit.
        if !self.is_over && self.written + SECTION_ROOM > self.limit {
            let event = TraceEvent::Full;
            self.writer.push(&TraceRecord { microseconds, event });
            self.flush();
            self.is_over = true;
        }
    }

    /// Writes the section when the last file or connection was closed.
    fn flush_if_closed(&mut self) {
        if self.open_files.is_empty() && self.open_connections == 0 {
            self.flush();
        }
    }

    /// `sealed-before-written`, `one-process`, `no-call-fails`.
    fn flush(&mut self) {
        let mut section = self.writer.take();
        self.section_began = None;
        if section.is_empty() || self.is_over {
            return;
        }
        if std::process::id() != self.process {
            self.is_over = true;
            return;
        }
        let tag = self.key.seal_piece(self.section, false, &mut section);
        section.extend(tag);
        let size = u32::try_from(section.len()).unwrap_or(u32::MAX).to_be_bytes();
        let bytes = [&size[..], &section].concat();
        if self.file.write_all(&bytes).is_err() {
            self.is_over = true;
            return;
        }
        self.written += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        match self.section.checked_add(1) {
            Some(next) => self.section = next,
            None => self.is_over = true,
        }
    }
}

/// What the file's name begins with.
pub const FILE_VARIABLE: &str = "SELENITE_TRACE";
/// The age recipient.
pub const RECIPIENT_VARIABLE: &str = "SELENITE_TRACE_RECIPIENT";
/// Bytes that a trace has at most.
pub const LIMIT_VARIABLE: &str = "SELENITE_TRACE_LIMIT";
/// Some ten million calls.
const LIMIT_DEFAULT: u64 = 64 << 20;
/// Records are sealed when they are as many bytes: some 30,000 calls.
const SECTION_BYTES: usize = 256 << 10;
/// bounded-loss.
const SECTION_TIME: Duration = Duration::from_secs(1);
/// A section, the last record in it, its size and its tag.
const SECTION_ROOM: u64 = (256 << 10) + 128;

#[cfg(test)]
mod tests {
    use selenite_format::trace::{next_section, records};
    use selenite_keyring::{AgeIdentity, Identity, keygen};

    use super::*;

    /// A recorder, and the identity that reads its trace.
    fn begin(folder: &std::path::Path, limit: u64) -> (&'static Recorder, AgeIdentity) {
        let text = keygen(0).text;
        let secret = text.lines().find(|line| !line.starts_with('#')).unwrap();
        let identity: AgeIdentity = secret.parse().unwrap();
        let recipient = text
            .lines()
            .find_map(|line| line.strip_prefix("# public key: "))
            .unwrap();
        let variable = |name: &str| match name {
            FILE_VARIABLE => Some(folder.join("t").into_os_string()),
            RECIPIENT_VARIABLE => Some(recipient.into()),
            LIMIT_VARIABLE => Some(limit.to_string().into()),
            _ => None,
        };
        let recorder = Recorder::of_environment(&variable).unwrap().unwrap();
        (Box::leak(Box::new(recorder)), identity)
    }

    fn read(folder: &std::path::Path, identity: AgeIdentity) -> Vec<TraceEvent> {
        let path = folder.join(format!("t.{}", std::process::id()));
        let bytes = std::fs::read(path).unwrap();
        let (header, mut rest) = TraceHeader::parse(&bytes).unwrap();
        let identities: [Box<dyn Identity>; 1] = [Box::new(identity)];
        let secret = archive_recipient::unwrap(&identities, &[header.wrapped], &|_| true).unwrap();
        let key = PartKey::of_trace(&secret, &header.id, &header.salt);
        let mut events = Vec::new();
        for number in 0.. {
            let Some((section, behind)) = next_section(rest).unwrap() else {
                break;
            };
            let mut section = section.to_vec();
            let plain = key.open_piece(number, false, &mut section).unwrap();
            events.extend(records(plain).unwrap().iter().map(|record| record.event));
            rest = behind;
        }
        events
    }

    fn trace_size(folder: &std::path::Path) -> u64 {
        let path = folder.join(format!("t.{}", std::process::id()));
        path.metadata().unwrap().len()
    }

    /// Of a trace without sections.
    fn header_size(folder: &std::path::Path) -> u64 {
        let bytes = std::fs::read(folder.join(format!("t.{}", std::process::id()))).unwrap();
        u64::try_from(TraceHeader::parse(&bytes).unwrap().0.encode().len()).unwrap()
    }

    #[test]
    fn calls_are_recorded_without_names_until_all_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let (recorder, identity) = begin(folder.path(), LIMIT_DEFAULT);
        let now = Instant::now();
        let main = recorder.open("/secret/name.db", Role::Main).unwrap();
        let log = recorder.open("/secret/name.db", Role::Wal).unwrap();
        assert!(recorder.open("/secret/name.db", Role::SuperJournal).is_none());
        let temporary = recorder.open("", Role::Nameless).unwrap();
        let connection = recorder.connect();
        connection.received(80);
        connection.sent(4096);
        main.begin();
        main.record(TracedCall::Read, now, 4096, 4096);
        log.record(TracedCall::Write, now, 32, 4120);
        recorder.database("/secret/name.db").commit(3);
        temporary.record(TracedCall::Sync, now, 0, 0);
        drop((main, log, temporary));
        assert_eq!(trace_size(folder.path()), header_size(folder.path()));
        drop(connection);
        let role = |file, database, role| TraceEvent::Open { file, database, role };
        assert_eq!(
            read(folder.path(), identity),
            [
                role(1, 1, TraceRole::Database),
                role(2, 1, TraceRole::Wal),
                role(3, 0, TraceRole::Temporary),
                TraceEvent::Received {
                    connection: 1,
                    size: 80
                },
                TraceEvent::Sent {
                    connection: 1,
                    size: 4096
                },
                TraceEvent::Begin { file: 1 },
                TraceEvent::Read {
                    file: 1,
                    offset: 4096,
                    size: 4096
                },
                TraceEvent::Write {
                    file: 2,
                    offset: 32,
                    size: 4120
                },
                TraceEvent::Commit { database: 1, frames: 3 },
                TraceEvent::Sync { file: 3 },
                TraceEvent::Close { file: 1 },
                TraceEvent::Close { file: 2 },
                TraceEvent::Close { file: 3 },
            ]
        );
        let bytes = std::fs::read(folder.path().join(format!("t.{}", std::process::id()))).unwrap();
        assert!(!bytes.windows(4).any(|window| window == b"name"));
    }

    #[test]
    fn a_section_is_written_a_second_after_its_first_record() {
        let folder = tempfile::tempdir().unwrap();
        let (recorder, identity) = begin(folder.path(), LIMIT_DEFAULT);
        let file = recorder.open("a", Role::Main).unwrap();
        let now = Instant::now();
        for milliseconds in [500, 900, 1200, 1300, 2100] {
            file.record(
                TracedCall::Read,
                now + Duration::from_millis(milliseconds),
                milliseconds,
                512,
            );
        }
        let read_at = |event: &TraceEvent| {
            if let TraceEvent::Read { offset, .. } = event {
                return Some(*offset);
            }
            None
        };
        let events = read(folder.path(), identity);
        let offsets: Vec<u64> = events.iter().filter_map(read_at).collect();
        // The process could be killed here: it loses the calls after that at 1200 ms.
        assert_eq!(offsets, [500, 900, 1200]);
        drop(file);
    }

    #[test]
    fn a_process_that_exits_has_closed_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let (recorder, identity) = begin(folder.path(), LIMIT_DEFAULT);
        let files = ["a", "b"].map(|path| recorder.open(path, Role::Main).unwrap());
        files[0].record(TracedCall::Sync, Instant::now(), 0, 0);
        recorder.exit();
        let events = read(folder.path(), identity);
        assert_eq!(
            events[2..],
            [
                TraceEvent::Sync { file: 1 },
                TraceEvent::Close { file: 1 },
                TraceEvent::Close { file: 2 }
            ]
        );
        let size = trace_size(folder.path());
        drop(files);
        assert_eq!(trace_size(folder.path()), size);
    }

    #[test]
    fn a_trace_ends_at_its_limit_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let limit = 600 << 10;
        let (recorder, identity) = begin(folder.path(), limit);
        let file = recorder.open("a", Role::Main).unwrap();
        for page in 0..200_000 {
            file.record(TracedCall::Read, Instant::now(), page * 4096, 4096);
        }
        drop(file);
        let size = trace_size(folder.path());
        assert!(size <= limit && size > limit / 2, "{size}");
        let events = read(folder.path(), identity);
        assert_eq!(events.last(), Some(&TraceEvent::Full));
        assert!(events.len() > 10_000);
    }

    #[test]
    fn an_existing_file_and_a_process_without_the_variables_have_no_trace() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(format!("t.{}", std::process::id())), "kept").unwrap();
        let recipient = keygen(0).text;
        let recipient = recipient
            .lines()
            .find_map(|line| line.strip_prefix("# public key: "))
            .unwrap();
        let prefix = folder.path().join("t");
        assert!(Recorder::begin(prefix.into(), recipient, LIMIT_DEFAULT).is_err());
        assert!(Recorder::of_environment(&|_| None).unwrap().is_none());
        let without_recipient = |name: &str| (name == FILE_VARIABLE).then(|| folder.path().join("u").into_os_string());
        let error = Recorder::of_environment(&without_recipient).err().unwrap();
        assert_eq!(error.to_string(), "SELENITE_TRACE_RECIPIENT is not set");
        assert!(!folder.path().join("u").exists());
        assert!(Recorder::begin(folder.path().join("u").into(), "no recipient", 0).is_err());
    }
}
