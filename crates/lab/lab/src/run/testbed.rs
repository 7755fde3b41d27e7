//! What a study needs of its surroundings: workers, the page cache, the clock, the machine's counters.

use std::path::Path;
use std::time::Duration;

use selenite_worker::protocol::{Control, DatabaseSpec, Dataset, Digest, Hello, Loaded, Opened, Workload};

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

    /// Whether the engine of an arm is there, and can be run as the arm says. What was found is for people.
    ///
    /// Errors: why not.
    fn find(&mut self, arm: &Arm) -> Result<Vec<(String, String)>, EnginesError>;

    /// SHA-256 of the program of an arm that was found, in hexadecimal digits; none if it can't be read.
    fn program_sha256(&mut self, arm: &Arm) -> Option<String>;

    /// Starts so many processes of an arm that was found.
    ///
    /// Errors: why not.
    fn start(&mut self, arm: &Arm, count: u32) -> Result<Self::WorkerGroup, DriveError>;

    /// Proves what an arm claims of a database file, beside that of its baseline database. What was seen is for people.
    ///
    /// Errors: it is not so.
    fn prove(
        &mut self,
        arm: &Arm,
        file: &Path,
        plain: &Path,
        loaded: &Loaded,
        opened: &Opened,
    ) -> Result<Vec<(String, String)>, ProofError>;

    /// Starts the program that re-encrypts a database while others work on it.
    ///
    /// Errors: why not.
    fn start_reencryption(&mut self, database: &DatabaseSpec, how: &Online) -> Result<Self::Reencryption, DriveError>;

    /// Proves that no page of a database is as it was in a copy from before.
    ///
    /// Errors: one is.
    fn prove_reencrypted(&mut self, before: &Path, after: &Path, page_size: u32) -> Result<(), ProofError>;

    /// Puts a database that is closed out of the system's page cache, and proves it.
    ///
    /// Errors: it stays there; or the machine.
    fn evict(&mut self, database: &Path) -> Result<(), CacheError>;

    /// Reads a database that is closed into the system's page cache.
    ///
    /// Errors: the machine.
    fn prefetch(&mut self, database: &Path) -> Result<(), CacheError>;

    /// Bytes that are free for files beside `path`.
    ///
    /// Errors: those of the operating system.
    fn free_bytes(&self, path: &Path) -> std::io::Result<u64>;

    /// Seconds since 1970, UTC.
    fn now_s(&self) -> f64;

    /// The machine, for people. Copies will lie in `folder`.
    fn host(&mut self, folder: &Path) -> HostFacts;

    /// Begins to look at the machine, for the time of a block. `pids` are our workers.
    fn begin_sampling(&mut self, pids: &[u32]);

    /// What the machine did since the last [`Testbed::begin_sampling`], and why a block in that time does not count.
    fn end_sampling(&mut self, at_s: f64) -> (HostSample, Option<String>);
}

/// Processes of an arm.
pub trait Workers {
    /// Who they are.
    fn hello(&self) -> &Hello;
    /// Their process ids.
    fn pids(&self) -> Vec<u32>;
    /// Makes a database.
    ///
    /// Errors, as of all that follow: the worker refused, died, hung or talked rubbish.
    fn load(&mut self, at: &DatabaseSpec, data: &Dataset, seed: u64, limit: Duration) -> Result<Loaded, DriveError>;
    /// Opens a database in all of them.
    ///
    /// Errors: as above.
    fn open(&mut self, at: &DatabaseSpec, limit: Duration) -> Result<Opened, DriveError>;
    /// Closes it.
    ///
    /// Errors: as above.
    fn close(&mut self, limit: Duration) -> Result<(), DriveError>;
    /// A digest of all rows.
    ///
    /// Errors: as above.
    fn digest(&mut self, limit: Duration) -> Result<Digest, DriveError>;
    /// Does a block of work; `control` is asked now and then.
    ///
    /// Errors: as above.
    fn run(
        &mut self,
        work: &Workload,
        seed: u64,
        limit: Duration,
        control: &mut dyn FnMut() -> Option<Control>,
    ) -> Result<GroupSample, DriveError>;
    /// The same, where `control` is asked as often as `poll` says.
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
    /// Ends them.
    fn end(self);
}

/// A program that re-encrypts a database; killed when it is dropped.
pub trait Reencryption {
    /// How it ended; none while it is at work.
    ///
    /// Errors: it failed.
    fn look(&mut self) -> Result<Option<Ended>, DriveError>;
}

impl Reencryption for Administrator {
    fn look(&mut self) -> Result<Option<Ended>, DriveError> {
        Administrator::look(self)
    }
}

impl Workers for WorkerGroup {
    fn hello(&self) -> &Hello {
        WorkerGroup::hello(self)
    }

    fn pids(&self) -> Vec<u32> {
        WorkerGroup::pids(self)
    }

    fn load(&mut self, at: &DatabaseSpec, data: &Dataset, seed: u64, limit: Duration) -> Result<Loaded, DriveError> {
        WorkerGroup::load(self, at, data, seed, limit)
    }

    fn open(&mut self, at: &DatabaseSpec, limit: Duration) -> Result<Opened, DriveError> {
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

/// A worker that has nothing open ends at once.
const END: Duration = Duration::from_secs(5);
