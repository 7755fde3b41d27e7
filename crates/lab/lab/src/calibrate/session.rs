//! A session: a process with files of its own, that prints a line for each block.
//!
//! - fresh-instances: databases and keys are made for the session, in random order, and removed at its end. What is
//!   particular to an instance (memory, the place of a file) differs between sessions.
//! - random-then-reversed: operations come in random order, and in each operation all arms; the next round has the
//!   reverse order. Drift within two rounds cancels.
//! - same-work: a block does the same work in all arms. Only Triple DES has fewer rounds and
//!   smaller databases: with those of others it would take eight of ten seconds. The fixed cost of
//!   a block is then divided by fewer pages, which adds 2 % to the cost of a page.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha20Rng;
use selenite::Suite;
use selenite_plan::Operation;
use selenite_worker::WorkerError;
use selenite_worker::engine::Engine as _;
use selenite_worker::protocol::{DatabaseSpec, PLAIN};

use super::arm_database::{ArmDatabase, MixTimes};
use super::record_sealing::{RECORD_BYTES, RecordSealing};
use super::sample::{BlockSample, COUNTED, ConversionSample, MixSample, PLAIN2, SessionLine, SessionSpec};
use super::tls_endpoint::{self, PACKET_BYTES, TlsEndpoint, VERSIONS};
use crate::native::{Native, OBSERVED};

/// The argument that makes the program a session of a calibration.
pub const SESSION_ARGUMENT: &str = "plan-session";

/// Carries out the measurements, and passes every line to `print`.
///
/// # Errors
/// Errors of SQLite, the engine and the system, and those of `print`. The folder is removed in any case.
pub fn run(
    spec: &SessionSpec,
    print: &mut dyn FnMut(&SessionLine) -> Result<(), WorkerError>,
) -> Result<(), WorkerError> {
    let deadline = Instant::now() + Duration::from_millis(spec.milliseconds);
    if std::env::var_os("OPENSSL_ia32cap").is_some() {
        selenite_cipher::prefer_aws_lc();
    }
    std::fs::create_dir(&spec.folder).map_err(WorkerError::io("make", &spec.folder))?;
    let folder = SessionFolder(spec.folder.clone());
    let mut session = Session::new(spec, &folder.0)?;
    session.convert(&folder.0, print)?;
    let mut longest = Duration::ZERO;
    let mut order = Vec::new();
    for round in 0.. {
        let began = Instant::now();
        if round >= ROUNDS_MIN && began + longest > deadline {
            break;
        }
        order = match round % 2 {
            0 => session.order(),
            _ => order.into_iter().rev().collect(),
        };
        for block in &order {
            session.measure(round, block, print)?;
        }
        longest = longest.max(began.elapsed());
    }
    Ok(())
}

/// Removed with all that is in it.
pub(crate) struct SessionFolder(pub(crate) PathBuf);

impl Drop for SessionFolder {
    fn drop(&mut self) {
        // The parent removes what cannot be removed here.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// One measurement, or several that are made one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Task {
    ReadSequential,
    ReadRandom,
    /// Pages written, transactions, commits, pages read from the log, and the checkpoint.
    Log,
    Rollback,
    Mix,
    Open,
    Backup,
    LogRecord,
    Packet,
    Handshake,
}

/// A task of one size in one arm.
#[derive(Clone, Debug)]
struct Block {
    task: Task,
    bytes: u32,
    arm: String,
}

/// CPU nanoseconds of a block.
enum Times {
    /// Of an operation each.
    Operations(Vec<(Operation, f64)>),
    Mix(MixTimes),
}

/// The resources of a session.
struct Session {
    random: ChaCha20Rng,
    suites: Vec<Suite>,
    databases: BTreeMap<(u32, String), ArmDatabase>,
    sealings: BTreeMap<String, RecordSealing>,
    endpoints: Vec<(&'static str, TlsEndpoint)>,
    key_file: PathBuf,
}

impl Session {
    fn new(spec: &SessionSpec, folder: &Path) -> Result<Self, WorkerError> {
        let suite = |name: &String| {
            let suite = Suite::from_name(name).filter(|suite| *suite != Suite::None);
            suite.ok_or_else(|| WorkerError::Refused(format!("there is no cipher {name}")))
        };
        let suites: Vec<Suite> = spec.suites.iter().map(suite).collect::<Result<_, _>>()?;
        let mut session = Self {
            random: ChaCha20Rng::seed_from_u64(spec.seed),
            sealings: suites
                .iter()
                .map(|suite| (suite.name().to_owned(), RecordSealing::new(*suite)))
                .collect(),
            suites,
            databases: BTreeMap::new(),
            endpoints: TlsEndpoint::all()?,
            key_file: folder.join("key"),
        };
        make_key(&session.key_file)?;
        let mut arms: Vec<(u32, String)> = PAGE_SIZES
            .into_iter()
            .flat_map(|size| session.database_arms().map(move |arm| (size, arm)).collect::<Vec<_>>())
            .collect();
        arms.shuffle(&mut session.random);
        for (page_size, arm) in arms {
            let path = folder.join(format!("{arm}-{page_size}.db"));
            let suite = Suite::from_name(&arm);
            let bytes = DATABASE_BYTES / suite.map_or(1, slowness);
            let mut spec = ArmDatabase::spec_of(&path, &session.key_file, suite, page_size);
            if arm == COUNTED {
                spec.settings.insert(OBSERVED.to_owned(), "yes".to_owned());
            }
            let database = ArmDatabase::create(spec, bytes / page_size)?;
            session.databases.insert((page_size, arm), database);
        }
        Ok(session)
    }

    fn database_arms(&self) -> impl Iterator<Item = String> {
        let suites = self.suites.iter().map(|suite| suite.name());
        [PLAIN, PLAIN2, COUNTED].into_iter().chain(suites).map(str::to_owned)
    }

    /// Encrypts a database to a new file under each suite, as `selenite encrypt --to` does.
    fn convert(
        &mut self,
        folder: &Path,
        print: &mut dyn FnMut(&SessionLine) -> Result<(), WorkerError>,
    ) -> Result<(), WorkerError> {
        let mut suites = self.suites.clone();
        suites.shuffle(&mut self.random);
        for suite in suites {
            let bytes = CONVERTED_BYTES / slowness(suite);
            let path = folder.join("convert.db");
            let spec = ArmDatabase::spec_of(&path, &self.key_file, None, PAGE_SIZES[0]);
            let source = ArmDatabase::create(spec, bytes / PAGE_SIZES[0])?;
            let target = DatabaseSpec {
                path: folder.join("converted.db"),
                cipher: suite.name().to_owned(),
                key_file: self.key_file.clone(),
                ..source.spec().clone()
            };
            let began = Instant::now();
            Native.convert(source.spec(), &target)?;
            let elapsed = began.elapsed();
            remove(&target.path)?;
            remove(&path)?;
            print(&SessionLine::Conversion(ConversionSample {
                suite: suite.name().to_owned(),
                ns_per_mib: elapsed.as_secs_f64() * 1e9 / (f64::from(bytes) / MIB),
            }))?;
        }
        Ok(())
    }

    /// All blocks of a round: tasks shuffled, and in each task all arms.
    fn order(&mut self) -> Vec<Block> {
        let mut tasks: Vec<(Task, u32)> = vec![(Task::Open, 0), (Task::Mix, 0), (Task::Handshake, 0)];
        for bytes in PAGE_SIZES {
            let tasks_of_pages = [
                Task::ReadSequential,
                Task::ReadRandom,
                Task::Log,
                Task::Rollback,
                Task::Backup,
            ];
            tasks.extend(tasks_of_pages.map(|task| (task, bytes)));
        }
        tasks.extend(RECORD_BYTES.map(|bytes| (Task::LogRecord, bytes)));
        tasks.extend(PACKET_BYTES.map(|bytes| (Task::Packet, bytes)));
        tasks.shuffle(&mut self.random);
        let mut order = Vec::new();
        for (task, bytes) in tasks {
            let mut arms = self.arms(task);
            arms.shuffle(&mut self.random);
            order.extend(arms.into_iter().map(|arm| Block { task, bytes, arm }));
        }
        order
    }

    fn arms(&self, task: Task) -> Vec<String> {
        match task {
            Task::ReadSequential | Task::ReadRandom | Task::Log | Task::Rollback | Task::Open | Task::Backup => {
                self.database_arms().collect()
            }
            // The database of a slow suite is smaller: its cache would have other rows.
            Task::Mix => self
                .database_arms()
                .filter(|arm| Suite::from_name(arm).is_none_or(|suite| slowness(suite) == 1))
                .collect(),
            Task::LogRecord => self.sealings.keys().cloned().collect(),
            Task::Packet => [PLAIN].into_iter().chain(VERSIONS).map(str::to_owned).collect(),
            Task::Handshake => VERSIONS.map(str::to_owned).into(),
        }
    }

    fn measure(
        &mut self,
        round: u32,
        block: &Block,
        print: &mut dyn FnMut(&SessionLine) -> Result<(), WorkerError>,
    ) -> Result<(), WorkerError> {
        let is_slow = Suite::from_name(&block.arm).is_some_and(|suite| slowness(suite) > 1);
        if is_slow && !round.is_multiple_of(SLOW_ROUNDS) {
            return Ok(());
        }
        let times = match self.times(round, block)? {
            Times::Operations(times) => times,
            Times::Mix(mix) => {
                return print(&SessionLine::Mix(MixSample {
                    round,
                    arm: block.arm.clone(),
                    ns: mix.ns,
                    load: mix.load,
                }));
            }
        };
        for (operation, ns) in times {
            let bytes = match operation.has_size() {
                true => block.bytes,
                // These costs exclude pages, and so do not depend on the page size.
                false
                    if matches!(
                        operation,
                        Operation::Commit
                            | Operation::RollbackCommit
                            | Operation::Transaction
                            | Operation::RollbackTransaction
                    ) && block.bytes != PAGE_SIZES[0] =>
                {
                    continue;
                }
                false => 0,
            };
            print(&SessionLine::Block(BlockSample {
                round,
                arm: block.arm.clone(),
                operation,
                bytes,
                ns,
            }))?;
        }
        Ok(())
    }

    fn times(&mut self, round: u32, block: &Block) -> Result<Times, WorkerError> {
        let absent = || WorkerError::Wrong(format!("there is no arm {}", block.arm));
        let size = if block.bytes == 0 { PAGE_SIZES[0] } else { block.bytes };
        let database = self.databases.get(&(size, block.arm.clone())).ok_or_else(absent);
        let endpoint = self.endpoints.iter().find(|(name, _)| *name == block.arm);
        let random = &mut self.random;
        Ok(Times::Operations(match block.task {
            Task::ReadSequential => vec![(Operation::ReadSequential, database?.read_sequential()?)],
            Task::ReadRandom => vec![(Operation::ReadRandom, database?.read_random(random)?)],
            Task::Log => {
                let times = database?.write(random)?;
                vec![
                    (Operation::Write, times.write),
                    (Operation::Append, times.append),
                    (Operation::Transaction, times.transaction),
                    (Operation::Commit, times.commit),
                    (Operation::ReadLog, times.read),
                    (Operation::Checkpoint, times.checkpoint),
                ]
            }
            Task::Rollback => {
                let times = database?.write_in_rollback_mode(random)?;
                vec![
                    (Operation::RollbackWrite, times.write),
                    (Operation::RollbackTransaction, times.transaction),
                    (Operation::RollbackCommit, times.commit),
                ]
            }
            Task::Mix => return Ok(Times::Mix(database?.mix(u64::from(round))?)),
            Task::Open => vec![(Operation::Open, database?.open()?)],
            Task::Backup => vec![(Operation::Backup, database?.back_up()?)],
            Task::LogRecord => {
                let sealing = self.sealings.get_mut(&block.arm).ok_or_else(absent)?;
                vec![(Operation::LogRecord, sealing.measure(block.bytes)?)]
            }
            Task::Packet => match endpoint {
                Some((_, endpoint)) => vec![(Operation::Packet, endpoint.packet(block.bytes)?)],
                None => vec![(Operation::Packet, tls_endpoint::copy(block.bytes)?)],
            },
            Task::Handshake => {
                let (_, endpoint) = endpoint.ok_or_else(absent)?;
                vec![(Operation::Handshake, endpoint.handshake()?)]
            }
        }))
    }
}

/// The factor by which a suite does less work in a block.
fn slowness(suite: Suite) -> u32 {
    if suite.is_deprecated() { 4 } else { 1 }
}

/// Writes a random key in the engine's format.
pub(crate) fn make_key(path: &Path) -> Result<(), WorkerError> {
    let mut key = [0; 32];
    let random = std::fs::File::open(RANDOM).and_then(|mut file| file.read_exact(&mut key));
    random.map_err(WorkerError::io("read", RANDOM))?;
    let file = std::fs::File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    file.and_then(|mut file| file.write_all(&key))
        .map_err(WorkerError::io("write", path))
}

/// Removes a database that is closed.
fn remove(path: &Path) -> Result<(), WorkerError> {
    std::fs::remove_file(path).map_err(WorkerError::io("remove", path))
}

/// Bytes of a page. A page between them is interpolated.
pub const PAGE_SIZES: [u32; 2] = [4096, 16_384];

/// 16 MiB: more than a core's second-level cache has, as of databases in production. In 4 MiB, reading a page in
/// clear costs so much less that Selenite's reading ahead seems to save nothing.
const DATABASE_BYTES: u32 = 16 << 20;

/// 16 MiB: opening, syncing and renaming are a small part of the conversion.
const CONVERTED_BYTES: u32 = 16 << 20;

const RANDOM: &str = "/dev/urandom";

const MIB: f64 = 1_048_576.0;

/// One in random order and one in the reverse order.
const ROUNDS_MIN: u32 = 2;

/// A suite that takes a hundred times as long as others is measured in every fourth round: its own
/// cost exceeds the noise by the same factor.
const SLOW_ROUNDS: u32 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_measures_every_operation_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let spec = SessionSpec {
            folder: folder.path().join("session"),
            seed: 3,
            milliseconds: 1,
            suites: vec!["AES_256".to_owned()],
            replay: None,
        };
        let (mut blocks, mut mixes, mut conversions) = (Vec::new(), Vec::new(), 0);
        run(&spec, &mut |line| {
            match line {
                SessionLine::Block(block) => blocks.push(block.clone()),
                SessionLine::Mix(mix) => mixes.push(mix.clone()),
                SessionLine::Conversion(_) => conversions += 1,
            }
            Ok(())
        })
        .unwrap();
        assert_eq!(conversions, 1);
        // In each of two rounds the same in all arms, and what it does is counted in one of them.
        let arms: std::collections::BTreeSet<&str> = mixes.iter().map(|mix| mix.arm.as_str()).collect();
        assert_eq!(arms, ["AES_256", COUNTED, PLAIN, PLAIN2].into());
        assert_eq!(mixes.len(), 8);
        for mix in mixes {
            let load = mix.load.filter(|_| mix.arm == COUNTED);
            assert_eq!(load.is_some(), mix.arm == COUNTED);
            let Some(load) = load else { continue };
            assert_eq!(load.amount(Operation::Commit).count, 512.0);
            assert!(load.amount(Operation::Transaction).count >= 1536.0, "{load:?}");
            // The cache has an eighth of the rows.
            assert!(
                (800.0..1100.0).contains(&load.amount(Operation::ReadRandom).count),
                "{load:?}"
            );
            assert!(load.amount(Operation::Checkpoint).count > 400.0, "{load:?}");
        }
        for operation in Operation::ALL {
            let sizes: std::collections::BTreeSet<u32> = blocks
                .iter()
                .filter(|block| block.operation == operation)
                .map(|block| block.bytes)
                .collect();
            let expected = if matches!(operation, Operation::LogRecord | Operation::Packet) {
                3
            } else {
                1 + usize::from(operation.has_size())
            };
            assert_eq!(sizes.len(), expected, "{operation:?}");
        }
        let rounds: Vec<u32> = blocks.iter().map(|block| block.round).collect();
        assert_eq!((rounds.first(), rounds.last()), (Some(&0), Some(&1)));
        // The second round has the reverse order; of a log's operations, only between logs.
        let open = |round| {
            let of_round = blocks.iter().filter(move |block| block.round == round);
            let arms = of_round.filter(|block| block.operation == Operation::Open);
            arms.map(|block| block.arm.clone()).collect::<Vec<_>>()
        };
        let mut reversed = open(1);
        reversed.reverse();
        assert_eq!(open(0), reversed);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_session_that_no_one_listens_to_leaves_nothing_either() {
        let folder = tempfile::tempdir().unwrap();
        let spec = SessionSpec {
            folder: folder.path().join("session"),
            seed: 3,
            milliseconds: 1,
            suites: vec!["CHACHA20".to_owned()],
            replay: None,
        };
        let refused = run(&spec, &mut |_| Err(WorkerError::Refused("closed".to_owned())));
        assert!(refused.is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
