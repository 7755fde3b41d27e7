//! The environment of a study: workers, the page cache, the clock, the machine's counters.

use std::path::Path;
use std::time::Duration;

use selenite_worker::protocol::{Control, DatabaseSpec, Dataset, Digest, Hello, Loaded, OpenedDatabase, Workload};

use crate::arm::Arm;
use crate::cache::CacheError;
use crate::config::Online;
use crate::drive::{Administrator, DriveError, Ended, GroupSample, WorkerGroup};
use crate::engines::EnginesError;
use crate::proof::ProofError;
use crate::summary::{HostFacts, HostSample};

/// The testbed.
pub trait Testbed {
    /// Processes of an arm.
    type WorkerGroup: Workers;
    /// A program that re-encrypts a database.
    type Reencryption: Reencryption;

    /// Checks that the engine of an arm exists, and can run with the arm's settings. Returns facts for display.
    ///
    /// Errors: the reason why not.
    fn find(&mut self, arm: &Arm) -> Result<Vec<(String, String)>, EnginesError>;

    /// SHA-256 of the program of an arm that was found, in hexadecimal digits; none if it cannot be read.
    fn program_sha256(&mut self, arm: &Arm) -> Option<String>;

    /// Starts `count` processes of an arm that was found.
    ///
    /// Errors: they could not be started.
    fn start(&mut self, arm: &Arm, count: u32) -> Result<Self::WorkerGroup, DriveError>;

    /// Proves an arm's claim about a database file, by comparison with its baseline database.
    /// Returns the evidence for display.
    ///
    /// Errors: the claim is refuted.
    fn prove(
        &mut self,
        arm: &Arm,
        file: &Path,
        plain: &Path,
        loaded: &Loaded,
        opened: &OpenedDatabase,
    ) -> Result<Vec<(String, String)>, ProofError>;

    /// Starts the program that re-encrypts a database while others work on it.
    ///
    /// Errors: it could not be started.
    fn start_reencryption(&mut self, database: &DatabaseSpec, how: &Online) -> Result<Self::Reencryption, DriveError>;

    /// Proves that no page of a database is the same as in an earlier copy.
    ///
    /// Errors: a page is the same.
    fn prove_reencrypted(&mut self, before: &Path, after: &Path, page_size: u32) -> Result<(), ProofError>;

    /// Evicts a closed database from the system's page cache, and verifies it.
    ///
    /// Errors: it stays in the cache; an I/O error.
    fn evict(&mut self, database: &Path) -> Result<(), CacheError>;

    /// Reads a closed database into the system's page cache.
    ///
    /// Errors: an I/O error.
    fn prefetch(&mut self, database: &Path) -> Result<(), CacheError>;

    /// Free bytes of the file system of `path`.
    ///
    /// Errors: those of the operating system.
    fn free_bytes(&self, path: &Path) -> std::io::Result<u64>;

    /// Seconds since 1970, UTC.
    fn now_s(&self) -> f64;

    /// Facts about the machine for display. Copies will be in `folder`.
    fn host(&mut self, folder: &Path) -> HostFacts;

    /// Starts sampling the machine for the duration of a block. `pids` are the workers.
    fn begin_sampling(&mut self, pids: &[u32]);

    /// The sample since the last [`Testbed::begin_sampling`], and why a block in that time does not count.
    fn end_sampling(&mut self, at_s: f64) -> (HostSample, Option<String>);
}

/// Processes of an arm.
pub trait Workers {
    /// The [`Hello`] of their engine.
    fn hello(&self) -> &Hello;
    /// Their process ids.
    fn pids(&self) -> Vec<u32>;
    /// Makes a database from a seed, and from a database with its rows for servers.
    ///
    /// Errors of this and all following functions: the worker refused, died, hung or gave an invalid answer.
    fn load(
        &mut self,
        at: &DatabaseSpec,
        data: &Dataset,
        seed: u64,
        rows: Option<&Path>,
        limit: Duration,
    ) -> Result<Loaded, DriveError>;
    /// Opens a database in all processes.
    ///
    /// Errors: as above.
    fn open(&mut self, at: &DatabaseSpec, limit: Duration) -> Result<OpenedDatabase, DriveError>;
    /// Closes the database.
    ///
    /// Errors: as above.
    fn close(&mut self, limit: Duration) -> Result<(), DriveError>;
    /// A digest of all rows.
    ///
    /// Errors: as above.
    fn digest(&mut self, limit: Duration) -> Result<Digest, DriveError>;
    /// Runs a block of work; `control` is polled at intervals.
    ///
    /// Errors: as above.
    fn run(
        &mut self,
        work: &Workload,
        seed: u64,
        limit: Duration,
        control: &mut dyn FnMut() -> Option<Control>,
    ) -> Result<GroupSample, DriveError>;
    /// As [`Workers::run`], where `control` is polled at the interval `poll`.
    ///
    /// Errors: as above.
    fn run_asked(
        &mut self,
        work: &Workload,
        seed: u64,
        limit: Duration,
        poll: Duration,
        control: &mut dyn FnMut() -> Option<Control>,
    ) -> Result<GroupSample, DriveError>;
    /// Ends the processes.
    fn end(self);
}

/// A program that re-encrypts a database; killed on drop.
pub trait Reencryption {
    /// Its end; none while it is running.
    ///
    /// Errors: it failed.
    fn poll(&mut self) -> Result<Option<Ended>, DriveError>;
}

impl Reencryption for Administrator {
    fn poll(&mut self) -> Result<Option<Ended>, DriveError> {
        Administrator::poll(self)
    }
}

impl Workers for WorkerGroup {
    fn hello(&self) -> &Hello {
        WorkerGroup::hello(self)
    }

    fn pids(&self) -> Vec<u32> {
        WorkerGroup::pids(self)
    }

    fn load(
        &mut self,
        at: &DatabaseSpec,
        data: &Dataset,
        seed: u64,
        rows: Option<&Path>,
        limit: Duration,
    ) -> Result<Loaded, DriveError> {
        WorkerGroup::load(self, at, data, seed, rows, limit)
    }

    fn open(&mut self, at: &DatabaseSpec, limit: Duration) -> Result<OpenedDatabase, DriveError> {
        WorkerGroup::open(self, at, limit)
    }

    fn close(&mut self, limit: Duration) -> Result<(), DriveError> {
        WorkerGroup::close(self, limit)
    }

    fn digest(&mut self, limit: Duration) -> Result<Digest, DriveError> {
        WorkerGroup::digest(self, limit)
    }

    fn run(
        &mut self,
        work: &Workload,
        seed: u64,
        limit: Duration,
        control: &mut dyn FnMut() -> Option<Control>,
    ) -> Result<GroupSample, DriveError> {
        WorkerGroup::run(self, work, seed, limit, control)
    }

    fn run_asked(
        &mut self,
        work: &Workload,
        seed: u64,
        limit: Duration,
        poll: Duration,
        control: &mut dyn FnMut() -> Option<Control>,
    ) -> Result<GroupSample, DriveError> {
        WorkerGroup::run_asked(self, work, seed, limit, poll, control)
    }

    fn end(self) {
        self.quit(END);
    }
}

/// A worker without an open database ends at once.
const END: Duration = Duration::from_secs(5);
