//! What is said to a worker and what it answers: JSON, a line each.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The version of what is in this file. A worker of another one is refused.
pub const PROTOCOL: u32 = 4;

/// A line to a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// Who are you? The first line of every conversation. Answer: [`Hello`].
    Hello {
        /// [`PROTOCOL`].
        protocol: u32,
    },
    /// Makes a new database and fills it; leaves it closed, with no WAL. Answer: [`Loaded`].
    Load {
        /// The database.
        database: DatabaseSpec,
        /// What to put in.
        dataset: Dataset,
        /// Where the rows come from.
        seed: u64,
    },
    /// Opens a database, instead of the one that is open. Answer: [`Opened`].
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
        /// What to do.
        work: Workload,
        /// Where random choices come from.
        seed: u64,
        /// How many processes work on the database together, and which of them this one is, from 0.
        process: Share,
        /// When to start, by CLOCK_MONOTONIC in nanoseconds; at once if it has passed.
        #[serde(default)]
        start_at_ns: u64,
    },
    /// How long the cipher itself takes. Answer: [`CipherTime`].
    Cipher {
        /// A name from [`Hello::ciphers`].
        cipher: String,
    },
    /// While a `run` of [`Workload::Hummer`] is under way: other parameters, or an early end. No answer.
    Control(Control),
    /// The end of the conversation; so is the end of standard input. No answer.
    Quit,
}

/// A line from a worker, for every request that has an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Response<T> {
    /// It was done.
    Ok(T),
    /// It could not be done, and why. The worker goes on.
    Error(String),
}

/// Which database, and how it is opened: the same for every arm but for the cipher.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatabaseSpec {
    /// The file.
    pub path: PathBuf,
    /// A name from [`Hello::ciphers`], or [`PLAIN`].
    pub cipher: String,
    /// A file with 32 bytes, the key. Not used with [`PLAIN`].
    pub key_file: PathBuf,
    /// What else this engine is told, in its own words.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// Page size in bytes.
    pub page_size: u32,
    /// SQLite's page cache in KiB, of one connection.
    pub cache_kib: u32,
    /// As in PRAGMA journal_mode.
    pub journal_mode: String,
    /// As in PRAGMA synchronous.
    pub synchronous: String,
}

/// The cipher of an unencrypted database.
pub const PLAIN: &str = "plain";

/// What a database holds. Sizes count rows; what a row is, the dataset says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Dataset {
    /// `SomeData(Id INTEGER, SomeText TEXT)` without an index (scans), until the file has so many bytes.
    Scan {
        /// Bytes of an unencrypted database.
        bytes: u64,
    },
    /// `testtable(code, date, name)` (statements).
    Statements {
        /// Rows there before anything is measured.
        rows: u64,
        /// Indexes besides the key, as many as [`INDEXES_MAX`].
        #[serde(default)]
        indexes: u32,
    },
    /// Vendor, Card, Purchase with their indexes (hummer).
    Cards {
        /// Rows in each table.
        rows: u64,
    },
    /// No database: a server's answers, as someone sees them who reads along between it and its client (context
    /// switches).
    Wire,
}

/// What `Statements` can have: one by date, one by name and date.
pub const INDEXES_MAX: u32 = 2;

/// A block of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Workload {
    /// `SELECT * FROM SomeData WHERE SomeText LIKE '%Wibble%'`.
    Like {
        /// How often before the clock starts, so that pages are in SQLite's cache.
        #[serde(default)]
        rehearsals: u32,
    },
    /// `SELECT * FROM SomeData WHERE Id = 100000000`.
    Equal {
        /// As of `Like`.
        #[serde(default)]
        rehearsals: u32,
    },
    /// Single-row inserts, a transaction each, then a checkpoint.
    Insert {
        /// How many.
        rows: u64,
    },
    /// Updates every row in one statement, then a checkpoint.
    UpdateAll,
    /// Reads every row of testtable.
    SelectAll,
    /// SQLite's online backup into a new file of the same kind, deleted afterwards.
    Backup,
    /// The hummer loop, then a checkpoint by process 0.
    Hummer {
        /// How it goes.
        hummer: Hummer,
    },
    /// Writes a copy of another kind, then deletes it: `VACUUM INTO` where the engine has no other way.
    Convert {
        /// The cipher of the copy, or [`PLAIN`].
        to: String,
    },
    /// Gives a copy, made before the clock starts, a new key and re-encrypts every page of it; in
    /// clear, copies the file's bytes and syncs them. It is gone afterwards.
    Rekey,
    /// Makes a backup that may be kept elsewhere of a copy, made before the clock starts:
    /// compressed and sealed, in files. In clear: SQLite's online backup, `zstd -T2 -3`, `age`. It
    /// is gone afterwards.
    Archive {
        /// Of what has changed since a full one that was made before the clock starts, one page in
        /// a hundred; in clear of all.
        incremental: bool,
    },
    /// `PRAGMA integrity_check`, which has to answer ok.
    IntegrityCheck,
    /// `PRAGMA quick_check`, which has to answer ok.
    QuickCheck,
    /// Reads all pages without SQL's structure: authenticates them where the engine can, else reads the file.
    PhysicalVerify,
    /// So many connections of one process, a thread each, of which every one reads the whole of SomeData.
    Readers {
        /// How many, besides the one that the database is open in.
        connections: u32,
    },
    /// Opens the database, asks one question, and closes it, again and again.
    Open {
        /// How often.
        times: u64,
    },
    /// The loop of the context switches article on a server, which tells its client of every statement of it.
    Messages {
        /// How often the loop turns.
        turns: u64,
        /// Bytes of a packet that the server sends.
        packet_size: u16,
    },
}

/// One process's part of the hummer loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hummer {
    /// Of ten loops: reads of a Card, updates of a Vendor, inserts of a Purchase.
    pub mix: [u8; 3],
    /// Loops of each process.
    pub loops: u64,
    /// A pause follows every so many loops; 0 for none.
    pub pause_every: u64,
    /// How long the pause is.
    pub pause_ms: u64,
}

/// Other parameters for work that is under way.
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

/// Which of several processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// From 0.
    pub index: u32,
    /// How many.
    pub count: u32,
}

/// Who a worker is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// For example `sqlcipher`.
    pub engine: String,
    /// What encrypts, with its version.
    pub library: String,
    /// `sqlite_version()`.
    pub sqlite_version: String,
    /// `sqlite_source_id()`.
    pub sqlite_source_id: String,
    /// What it can seal databases in, beside [`PLAIN`].
    pub ciphers: Vec<String>,
    /// What to put into the environment of a worker so that it uses no AES instructions; empty if it can't be had.
    #[serde(default)]
    pub without_aes: BTreeMap<String, String>,
}

/// What was loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loaded {
    /// As of [`Digest`].
    pub digest: String,
    /// Rows of all tables.
    pub rows: u64,
    /// A text that is in the rows, and so in the file of an unencrypted database.
    pub marker: String,
}

/// What was opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// What the engine itself says of the encryption: names and values, for people.
    pub status: BTreeMap<String, String>,
    /// Whether the engine says that it is encrypted.
    pub encrypted: bool,
    /// PRAGMA page_count.
    pub pages: u64,
    /// PRAGMA page_size, cache_size, journal_mode, synchronous, as they are in force.
    pub layout: BTreeMap<String, String>,
}

/// Nothing to say.
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

/// How long a cipher takes for a page, without SQLite; medians.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CipherTime {
    /// Nanoseconds to seal 4096 bytes.
    pub seal_ns: f64,
    /// Nanoseconds to open them.
    pub open_ns: f64,
}

/// What a block of work cost this process: differences of counters, never totals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// When it began, by CLOCK_MONOTONIC.
    pub began_ns: u64,
    /// Elapsed time, a checkpoint at the end included.
    pub elapsed_ns: u64,
    /// CPU time of the process, threads that have ended included (CLOCK_PROCESS_CPUTIME_ID).
    pub cpu_ns: u64,
    /// Of it, in user mode (getrusage).
    pub user_ns: u64,
    /// Of it, in the kernel (getrusage).
    pub system_ns: u64,
    /// Instructions in user mode, where the machine counts them.
    #[serde(default)]
    pub instructions: Option<u64>,
    /// Context switches because the process waited.
    pub switches_voluntary: u64,
    /// Context switches because its time was up.
    pub switches_involuntary: u64,
    /// The most memory that was resident during the block (`VmHWM`), where it can be set back before it.
    #[serde(default)]
    pub peak_bytes: Option<u64>,
    /// Page faults without a read.
    pub faults_minor: u64,
    /// Page faults with one.
    pub faults_major: u64,
    /// Calls that read (`syscr` in /proc/self/io).
    pub read_calls: u64,
    /// Calls that write (`syscw`).
    pub write_calls: u64,
    /// Bytes asked of the system (`rchar`).
    pub read_chars: u64,
    /// Bytes given to the system (`wchar`).
    pub write_chars: u64,
    /// Bytes read from storage (`read_bytes`).
    pub read_bytes: u64,
    /// Bytes bound for storage (`write_bytes`).
    pub write_bytes: u64,
    /// Pages that SQLite asked its VFS for (SQLITE_DBSTATUS_CACHE_MISS).
    #[serde(default)]
    pub pages_read: u64,
    /// Pages that SQLite wrote (SQLITE_DBSTATUS_CACHE_WRITE).
    #[serde(default)]
    pub pages_written: u64,
    /// Elapsed time of the checkpoint at the end.
    #[serde(default)]
    pub checkpoint_ns: u64,
    /// CPU time of that checkpoint.
    #[serde(default)]
    pub checkpoint_cpu_ns: u64,
    /// Statements or loops that succeeded.
    pub operations: u64,
    /// Statements that failed and were tried again.
    #[serde(default)]
    pub retries: u64,
    /// A digest of what the work answered; the same for every arm.
    pub answer: String,
    /// PRAGMA page_count afterwards.
    pub pages: u64,
    /// Bytes of the database's file afterwards.
    #[serde(default)]
    pub database_bytes: u64,
    /// Bytes of its write-ahead log: before the checkpoint at the end, or afterwards where there is none.
    #[serde(default)]
    pub wal_bytes: u64,
    /// Bytes of the files that a backup was made into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive_bytes: Option<u64>,
    /// Whether parameters were changed while it ran.
    #[serde(default)]
    pub altered: bool,
    /// The counts of the database's files before and after, if the engine counts them: a CSV text of each process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub file_counts: Vec<String>,
    /// Latencies by operation: a V2-deflate HdrHistogram of nanoseconds in Base64.
    #[serde(default)]
    pub latencies: BTreeMap<String, String>,
}
