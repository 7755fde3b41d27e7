//! Requests to a worker and its answers: JSON, one object per line.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The version of this protocol. A worker with another version is refused.
pub const PROTOCOL: u32 = 5;

/// A request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// The first line of every conversation. Answer: [`Hello`].
    Hello {
        /// [`PROTOCOL`].
        protocol: u32,
    },
    /// Makes a new database and fills it; leaves it closed, with no WAL. Answer: [`Loaded`].
    Load {
        /// The database.
        database: DatabaseSpec,
        /// The contents.
        dataset: Dataset,
        /// The seed of the rows.
        seed: u64,
        /// For a [server](Hello::server): a stock SQLite database that holds these rows, as the
        /// worker for stock SQLite makes them. Not with [`Dataset::Wire`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rows: Option<PathBuf>,
    },
    /// Opens a database, after closing the one that is open. Answer: [`OpenedDatabase`].
    Open {
        /// The database.
        database: DatabaseSpec,
    },
    /// Closes the database. Answer: [`Done`].
    Close,
    /// A digest of all rows of all tables, in order of their rowids. Answer: [`Digest`].
    Digest,
    /// Does a block of work on the open database. Answer: [`Sample`].
    Run {
        /// The work.
        work: Workload,
        /// The seed of random choices.
        seed: u64,
        /// The number of processes that work on the database together, and the index of this one. A
        /// [server](Hello::server)'s worker does the work of all of them, each in a session of its
        /// own: its index is 0.
        process: Share,
        /// The start, by CLOCK_MONOTONIC in nanoseconds; at once if it has passed.
        #[serde(default)]
        start_at_ns: u64,
    },
    /// Measures the time of the cipher itself. Answer: [`CipherTime`].
    Cipher {
        /// A name from [`Hello::ciphers`].
        cipher: String,
    },
    /// Changes parameters of a [`Workload::Hummer`] in progress, or ends it early. No answer.
    Control(Control),
    /// Ends the conversation, as does the end of standard input. No answer.
    Quit,
}

/// An answer to a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Response<T> {
    /// The result.
    Ok(T),
    /// The reason of a failure. The worker continues.
    Error(String),
}

/// A database and the options of opening it: the same for every arm except the cipher.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatabaseSpec {
    /// The file; the data folder of a [server](Hello::server).
    pub path: PathBuf,
    /// A name from [`Hello::ciphers`], or [`PLAIN`].
    pub cipher: String,
    /// A file with the 32 bytes of the key. Not used with [`PLAIN`].
    pub key_file: PathBuf,
    /// Further options of this engine.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// Page size in bytes.
    pub page_size: u32,
    /// SQLite's page cache in KiB, of one connection; a server's, of all of them.
    pub cache_kib: u32,
    /// As in PRAGMA journal_mode; a server has its own journal.
    pub journal_mode: String,
    /// As in PRAGMA synchronous. Of a server: `off`, never synced; `normal`, a commit may be lost
    /// with the power, and the database is not damaged; `full` and `extra`, each commit is synced.
    pub synchronous: String,
}

/// The cipher of an unencrypted database.
pub const PLAIN: &str = "plain";

/// The contents of a database. Sizes count rows, whose columns the dataset defines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Dataset {
    /// `SomeData(Id INTEGER, SomeText TEXT)` without an index (scans), filled until the file has so
    /// many bytes.
    Scan {
        /// Size of an unencrypted database, in bytes.
        bytes: u64,
    },
    /// `testtable(code, date, name)` (statements).
    Statements {
        /// Rows before any measurement.
        rows: u64,
        /// Indexes besides the key, at most [`INDEXES_MAX`].
        #[serde(default)]
        indexes: u32,
    },
    /// Vendor, Card, Purchase with their indexes (hummer).
    Cards {
        /// Rows in each table.
        rows: u64,
    },
    /// No database: a server's answers, as an observer of the connection to its client sees them
    /// (context switches).
    Wire,
}

/// The indexes of `Statements`: one by date, one by name and date.
pub const INDEXES_MAX: u32 = 2;

/// A block of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Workload {
    /// `SELECT * FROM SomeData WHERE SomeText LIKE '%Wibble%'`.
    Like {
        /// Executions before the clock starts, which load the pages into SQLite's cache.
        #[serde(default)]
        rehearsals: u32,
    },
    /// `SELECT * FROM SomeData WHERE Id = 100000000`.
    Equal {
        /// As for `Like`.
        #[serde(default)]
        rehearsals: u32,
    },
    /// Single-row inserts, one transaction each, then a checkpoint.
    Insert {
        /// The number of rows.
        rows: u64,
    },
    /// Updates every row in one statement, then a checkpoint.
    UpdateAll,
    /// Reads every row of testtable.
    SelectAll,
    /// SQLite's online backup into a new file with the same cipher, deleted afterwards.
    Backup,
    /// The hummer loop, then a checkpoint by process 0.
    Hummer {
        /// The parameters of the loop.
        hummer: Hummer,
    },
    /// Writes a copy with another cipher, then deletes it: `VACUUM INTO` where the engine has no
    /// conversion of its own.
    Convert {
        /// The cipher of the copy, or [`PLAIN`].
        to: String,
    },
    /// Changes the key of a copy, made before the clock starts, and re-encrypts every page of it.
    /// Unencrypted: copies the file's bytes and syncs them. The copy is deleted afterwards.
    Rekey,
    /// Backs up a copy, made before the clock starts, in a form suitable for storage elsewhere:
    /// compressed and encrypted, in files. Unencrypted: SQLite's online backup, `zstd -T2 -3`,
    /// `age`. The backup is deleted afterwards.
    Archive {
        /// Backs up what has changed since a full backup that was made before the clock starts: one
        /// page in a hundred. Unencrypted: everything.
        incremental: bool,
    },
    /// `PRAGMA integrity_check`; the result must be ok.
    IntegrityCheck,
    /// `PRAGMA quick_check`; the result must be ok.
    QuickCheck,
    /// Reads all pages without SQL's structure: authenticates them if the engine can, otherwise
    /// reads the file.
    PhysicalVerify,
    /// So many connections of one process, with a thread each, that each read the whole of
    /// SomeData.
    Readers {
        /// The number of connections, besides the session's own one.
        connections: u32,
    },
    /// Opens the database, runs one query and closes it, repeatedly.
    Open {
        /// The number of repetitions.
        times: u64,
    },
    /// The loop of the context switches article on a server that reports every statement in it to
    /// its client.
    Messages {
        /// The iterations of the loop.
        turns: u64,
        /// The size of the server's packets, in bytes.
        packet_size: u16,
    },
}

impl Workload {
    /// The name of its kind, as in a request and in a configuration.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Like { .. } => "like",
            Self::Equal { .. } => "equal",
            Self::Insert { .. } => "insert",
            Self::UpdateAll => "update-all",
            Self::SelectAll => "select-all",
            Self::Backup => "backup",
            Self::Hummer { .. } => "hummer",
            Self::Convert { .. } => "convert",
            Self::Rekey => "rekey",
            Self::Archive { .. } => "archive",
            Self::IntegrityCheck => "integrity-check",
            Self::QuickCheck => "quick-check",
            Self::PhysicalVerify => "physical-verify",
            Self::Readers { .. } => "readers",
            Self::Open { .. } => "open",
            Self::Messages { .. } => "messages",
        }
    }
}

/// One process's part of the hummer loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hummer {
    /// Of ten loops, the reads of a Card, updates of a Vendor, and inserts of a Purchase.
    pub mix: [u8; 3],
    /// Loops of each process.
    pub loops: u64,
    /// A pause follows every so many loops; 0 for none.
    pub pause_every: u64,
    /// The duration of a pause, in milliseconds.
    pub pause_ms: u64,
}

/// Changed parameters for work in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Control {
    /// Ends the block early.
    #[serde(default)]
    pub stop: bool,
    /// Replaces the mix.
    #[serde(default)]
    pub mix: Option<[u8; 3]>,
}

/// The position of a process among several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// An index.
    pub index: u32,
    /// The number of processes.
    pub count: u32,
}

/// A worker's engine and its properties.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// For example `sqlcipher`.
    pub engine: String,
    /// The library that encrypts, with its version.
    pub library: String,
    /// `sqlite_version()`; empty for an engine that is not SQLite.
    #[serde(default)]
    pub sqlite_version: String,
    /// `sqlite_source_id()`; empty for an engine that is not SQLite.
    #[serde(default)]
    pub sqlite_source_id: String,
    /// The ciphers that it supports, besides [`PLAIN`].
    pub ciphers: Vec<String>,
    /// Whether the engine is a process of its own, which the worker starts for each opened database
    /// and stops when it is closed. A database is a folder then, counters are those of that process
    /// and its descendants, and one worker does the work of all processes of a block.
    #[serde(default)]
    pub server: bool,
    /// The kinds of [`Workload`] that it does; empty if it does all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub works: Vec<String>,
    /// What it cannot do and a reader should know, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<String>,
    /// The environment variables with which a worker uses no AES instructions; empty if this is
    /// impossible.
    #[serde(default)]
    pub without_aes: BTreeMap<String, String>,
}

/// The result of `load`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loaded {
    /// As for [`Digest`].
    pub digest: String,
    /// Rows of all tables.
    pub rows: u64,
    /// A text in the rows, and so in the file of an unencrypted database.
    pub marker: String,
}

/// The result of `open`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenedDatabase {
    /// The engine's own report of the encryption: names and values, for display.
    pub status: BTreeMap<String, String>,
    /// Whether the engine reports the database as encrypted.
    pub encrypted: bool,
    /// PRAGMA page_count.
    pub pages: u64,
    /// PRAGMA page_size, cache_size, journal_mode, synchronous: the effective values, as far as the
    /// engine has them.
    pub layout: BTreeMap<String, String>,
    /// The files of a folder that the engine claims to encrypt, by their paths in it. Every other
    /// file is searched, too: what it holds in clear is reported.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub encrypted_files: BTreeMap<String, EncryptedContent>,
}

/// What of a file is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EncryptedContent {
    /// Whole pages: every block is random, except for blocks that were never written.
    Pages,
    /// Records, between headers in clear.
    Records,
}

/// An empty result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {}

/// A digest of all rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest {
    /// SHA-256, in hexadecimal digits.
    pub digest: String,
    /// Rows of all tables.
    pub rows: u64,
}

/// The time of a cipher for one page, without SQLite; medians.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CipherTime {
    /// Nanoseconds to seal 4096 bytes.
    pub seal_ns: f64,
    /// Nanoseconds to decrypt them.
    pub open_ns: f64,
}

/// The cost of a block of work for this process: differences of counters, never totals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The start, by CLOCK_MONOTONIC, in nanoseconds.
    pub began_ns: u64,
    /// Elapsed time, including a checkpoint at the end.
    pub elapsed_ns: u64,
    /// CPU time of the process, including threads that have ended (CLOCK_PROCESS_CPUTIME_ID).
    pub cpu_ns: u64,
    /// The part of it in user mode (getrusage).
    pub user_ns: u64,
    /// The part of it in the kernel (getrusage).
    pub system_ns: u64,
    /// Instructions in user mode, where the machine can count them.
    #[serde(default)]
    pub instructions: Option<u64>,
    /// Context switches because the process waited.
    pub switches_voluntary: u64,
    /// Context switches because the time slice ended.
    pub switches_involuntary: u64,
    /// The peak of resident memory during the block (`VmHWM`), where it can be reset before it.
    #[serde(default)]
    pub peak_bytes: Option<u64>,
    /// Page faults without I/O.
    pub faults_minor: u64,
    /// Page faults with I/O.
    pub faults_major: u64,
    /// Calls that read (`syscr` in /proc/self/io).
    pub read_calls: u64,
    /// Calls that write (`syscw`).
    pub write_calls: u64,
    /// Bytes requested by reads (`rchar`).
    pub read_chars: u64,
    /// Bytes passed to writes (`wchar`).
    pub write_chars: u64,
    /// Bytes read from storage (`read_bytes`).
    pub read_bytes: u64,
    /// Bytes to be written to storage (`write_bytes`).
    pub write_bytes: u64,
    /// Pages that SQLite requested from its VFS (SQLITE_DBSTATUS_CACHE_MISS).
    #[serde(default)]
    pub pages_read: u64,
    /// Pages that SQLite wrote (SQLITE_DBSTATUS_CACHE_WRITE).
    #[serde(default)]
    pub pages_written: u64,
    /// CPU time of the client, if it is another process than the one that is measured: of a
    /// [server](Hello::server)'s worker itself. It is not a part of `cpu_ns`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_cpu_ns: Option<u64>,
    /// Elapsed time of the checkpoint at the end.
    #[serde(default)]
    pub checkpoint_ns: u64,
    /// CPU time of that checkpoint.
    #[serde(default)]
    pub checkpoint_cpu_ns: u64,
    /// Statements or loops that succeeded.
    pub operations: u64,
    /// Statements that failed and were retried.
    #[serde(default)]
    pub retries: u64,
    /// A digest of the results of the work; the same for every arm.
    pub answer: String,
    /// PRAGMA page_count afterwards.
    pub pages: u64,
    /// Size of the database's file afterwards, in bytes.
    #[serde(default)]
    pub database_bytes: u64,
    /// Size of the write-ahead log in bytes: before the checkpoint at the end, or afterwards if
    /// there is none.
    #[serde(default)]
    pub wal_bytes: u64,
    /// Size of the backup's files, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive_bytes: Option<u64>,
    /// Whether parameters were changed during the block.
    #[serde(default)]
    pub altered: bool,
    /// The counts of the database's files before and after, if the engine counts them: a CSV text of each process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub file_counts: Vec<String>,
    /// Latencies by operation: a V2-deflate HdrHistogram of nanoseconds in Base64.
    #[serde(default)]
    pub latencies: BTreeMap<String, String>,
}
