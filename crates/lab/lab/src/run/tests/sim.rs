//! A simulated testbed of text files: rows are lines, workers are values, time advances with blocks.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};
use selenite_worker::protocol::{
    Control, DatabaseSpec, Dataset, Digest, Hello, Loaded, OpenedDatabase, PLAIN, PROTOCOL, Sample, Workload,
};
use sha2::{Digest as _, Sha256};

use super::super::testbed::{Reencryption, Testbed, Workers};
use crate::arm::Arm;
use crate::cache::{CacheError, Residence};
use crate::config::{Online, hex};
use crate::drive::{DriveError, Ended, Failure, GroupSample};
use crate::engines::EnginesError;
use crate::proof::ProofError;
use crate::summary::{HostFacts, HostSample};

/// A fault at a block, by the block's index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimFault {
    Die,
    Hang,
    Refuse,
    Alter,
    Slept,
    AnswerOther,
    WriteOther,
    Interrupt,
    /// The run is dropped, as by a panic.
    Cut,
    Kill,
}

/// A fault of the administrator's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReencryptionFault {
    Fails,
    NeverEnds,
    LeavesPages,
}

/// The administrator's program: it ends at the third poll.
pub struct SimReencryption(Rc<RefCell<SimState>>, usize);

impl Reencryption for SimReencryption {
    fn poll(&mut self) -> Result<Option<Ended>, DriveError> {
        self.1 += 1;
        match self.0.borrow().sealer {
            Some(ReencryptionFault::Fails) => Err(DriveError::Died {
                at: Failure {
                    program: "sim".into(),
                    request: "re-encrypt",
                    stderr: vec!["no room".into()],
                },
                status: "exit status: 1".into(),
            }),
            Some(ReencryptionFault::NeverEnds) => Ok(None),
            Some(ReencryptionFault::LeavesPages) | None => Ok((self.1 > 2).then(|| Ended {
                took: Duration::from_millis(40),
                output_tail: "done".into(),
            })),
        }
    }
}

#[derive(Default)]
pub struct SimState {
    pub faults: BTreeMap<usize, SimFault>,
    pub every: Option<SimFault>,
    pub missing: Option<String>,
    pub not_encrypted: Option<String>,
    pub load_other: Option<String>,
    pub unproved: Option<String>,
    pub never_cold: bool,
    /// Whether engines are servers, and the bytes that they read from storage in a block.
    pub server: bool,
    pub read_bytes: u64,
    /// The version of the machine's kernel.
    pub kernel: u32,
    /// The version of the programs of all arms.
    pub program: u32,
    /// The fault of the administrator's program; without one it succeeds.
    pub sealer: Option<ReencryptionFault>,
    /// The number of its starts.
    pub sealed: usize,
    pub free: Option<u64>,
    pub seconds_per_block: f64,
    pub runs: usize,
    pub clock: f64,
    pub pids: u32,
    pub interrupt: Option<&'static AtomicBool>,
    /// One entry per run: arm, cipher, file, work, KiB of cache.
    pub log: Vec<(String, String, PathBuf, Workload, u32)>,
}

#[derive(Clone, Default)]
pub struct Sim(pub Rc<RefCell<SimState>>);

pub struct Hand {
    state: Rc<RefCell<SimState>>,
    arm: Arm,
    hello: Hello,
    pids: Vec<u32>,
    open: Option<DatabaseSpec>,
    dead: bool,
}

impl Sim {
    pub fn with(faults: &[(usize, SimFault)]) -> Sim {
        let sim = Sim::default();
        sim.0.borrow_mut().faults = faults.iter().copied().collect();
        sim
    }
}

impl Testbed for Sim {
    type WorkerGroup = Hand;
    type Reencryption = SimReencryption;

    fn start_reencryption(&mut self, database: &DatabaseSpec, _: &Online) -> Result<SimReencryption, DriveError> {
        assert!(database.path.is_file() && database.cipher != PLAIN);
        self.0.borrow_mut().sealed += 1;
        Ok(SimReencryption(self.0.clone(), 0))
    }

    fn prove_reencrypted(&mut self, before: &Path, after: &Path, _: u32) -> Result<(), ProofError> {
        assert!(before.is_file() && after.is_file() && before != after);
        match self.0.borrow().sealer == Some(ReencryptionFault::LeavesPages) {
            true => Err(ProofError::NotReencrypted {
                path: after.to_owned(),
                count: 1,
                first: 65536,
            }),
            false => Ok(()),
        }
    }

    fn find(&mut self, arm: &Arm) -> Result<Vec<(String, String)>, EnginesError> {
        match self.0.borrow().missing.as_ref() == Some(&arm.engine) {
            true => Err(EnginesError::Missing {
                engine: arm.engine.clone(),
                looked: vec![],
            }),
            false => Ok(vec![]),
        }
    }

    fn program_sha256(&mut self, arm: &Arm) -> Option<String> {
        Some(format!("{} {}", arm.engine, self.0.borrow().program))
    }

    fn start(&mut self, arm: &Arm, count: u32) -> Result<Hand, DriveError> {
        let mut state = self.0.borrow_mut();
        let first = state.pids;
        state.pids += count;
        let hello = Hello {
            protocol: PROTOCOL,
            engine: arm.engine.clone(),
            library: format!("{} 1", arm.engine),
            sqlite_version: "3.0".into(),
            sqlite_source_id: String::new(),
            ciphers: vec!["AES_256".into(), "x".into()],
            without_aes: BTreeMap::new(),
            server: state.server,
            works: Vec::new(),
            limits: Vec::new(),
        };
        let pids = (first..first + count).collect();
        Ok(Hand {
            state: self.0.clone(),
            arm: arm.clone(),
            hello,
            pids,
            open: None,
            dead: false,
        })
    }

    fn prove(
        &mut self,
        arm: &Arm,
        file: &Path,
        plain: &Path,
        _: &Loaded,
        _: &OpenedDatabase,
    ) -> Result<Vec<(String, String)>, ProofError> {
        assert!(file.is_file() && plain.is_file());
        match self.0.borrow().unproved.as_ref() == Some(&arm.name) {
            true => Err(ProofError::NotEncrypted {
                path: file.to_owned(),
                found: "rows".into(),
            }),
            false => Ok(vec![("entropy".into(), "high".into())]),
        }
    }

    fn evict(&mut self, database: &Path) -> Result<(), CacheError> {
        assert!(database.is_file());
        match self.0.borrow().never_cold {
            true => Err(CacheError::NotEvicted {
                path: database.to_owned(),
                residence: Residence::default(),
            }),
            false => Ok(()),
        }
    }

    fn prefetch(&mut self, database: &Path) -> Result<(), CacheError> {
        assert!(database.is_file());
        Ok(())
    }

    fn free_bytes(&self, _: &Path) -> std::io::Result<u64> {
        Ok(self.0.borrow().free.unwrap_or(u64::MAX))
    }

    fn now_s(&self) -> f64 {
        1_700_000_000.0 + self.0.borrow().clock
    }

    fn host(&mut self, _: &Path) -> HostFacts {
        let state = self.0.borrow();
        let fact = |name: &str, value: String| (name.to_owned(), value);
        HostFacts {
            facts: vec![
                fact("kernel", format!("Linux {}", state.kernel)),
                fact("load", state.clock.to_string()),
            ],
            warnings: vec![],
        }
    }

    fn begin_sampling(&mut self, pids: &[u32]) {
        assert!(!pids.is_empty());
    }

    fn end_sampling(&mut self, at_s: f64) -> (HostSample, Option<String>) {
        let state = self.0.borrow();
        let slept = state.runs > 0 && state.fault(state.runs - 1) == Some(SimFault::Slept);
        (
            HostSample {
                at_s,
                ..HostSample::default()
            },
            slept.then(|| "the machine slept".to_owned()),
        )
    }
}

impl SimState {
    fn fault(&self, run: usize) -> Option<SimFault> {
        self.faults.get(&run).copied().or(self.every)
    }
}

impl Hand {
    fn failure(&self, request: &'static str) -> Failure {
        Failure {
            program: "sim".into(),
            request,
            stderr: vec![],
        }
    }

    fn path(&self) -> PathBuf {
        assert!(!self.dead, "a dead worker was asked");
        self.open.as_ref().expect("nothing is open").path.clone()
    }
}

/// The lines of a file after the first, which names the cipher.
fn rows(path: &Path) -> Vec<String> {
    fs::read_to_string(path)
        .unwrap()
        .lines()
        .skip(1)
        .map(str::to_owned)
        .collect()
}

fn append(path: &Path, line: &str) {
    writeln!(fs::File::options().append(true).open(path).unwrap(), "{line}").unwrap();
}

fn digest(path: &Path) -> Digest {
    let rows = rows(path);
    Digest {
        digest: hex(&Sha256::digest(rows.join("\n"))),
        rows: rows.len() as u64,
    }
}

impl Workers for Hand {
    fn hello(&self) -> &Hello {
        &self.hello
    }

    fn pids(&self) -> Vec<u32> {
        self.pids.clone()
    }

    fn load(
        &mut self,
        at: &DatabaseSpec,
        data: &Dataset,
        seed: u64,
        _: Option<&Path>,
        _: Duration,
    ) -> Result<Loaded, DriveError> {
        assert_eq!(fs::read(&at.key_file).unwrap().len(), 32);
        let other = self.state.borrow().load_other.as_ref() == Some(&self.arm.name);
        fs::write(&at.path, format!("{}\n{data:?} {seed} {other}\n", at.cipher)).unwrap();
        let digest = digest(&at.path);
        Ok(Loaded {
            digest: digest.digest,
            rows: digest.rows,
            marker: "marker".into(),
        })
    }

    fn open(&mut self, at: &DatabaseSpec, _: Duration) -> Result<OpenedDatabase, DriveError> {
        assert!(!self.dead, "a dead worker was asked");
        let text = fs::read_to_string(&at.path).unwrap();
        assert_eq!(text.lines().next(), Some(at.cipher.as_str()), "{}", at.path.display());
        self.open = Some(at.clone());
        let lies = self.state.borrow().not_encrypted.as_ref() == Some(&self.arm.name) && self.state.borrow().runs > 0;
        let layout = BTreeMap::from([("page_size".to_owned(), at.page_size.to_string())]);
        Ok(OpenedDatabase {
            status: BTreeMap::new(),
            encrypted: at.cipher != PLAIN && !lies,
            pages: 1000,
            layout,
            encrypted_files: BTreeMap::new(),
        })
    }

    fn close(&mut self, _: Duration) -> Result<(), DriveError> {
        self.path();
        self.open = None;
        Ok(())
    }

    fn digest(&mut self, _: Duration) -> Result<Digest, DriveError> {
        Ok(digest(&self.path()))
    }

    fn run(
        &mut self,
        work: &Workload,
        seed: u64,
        limit: Duration,
        control: &mut dyn FnMut() -> Option<Control>,
    ) -> Result<GroupSample, DriveError> {
        let path = self.path();
        let at = self.open.clone().unwrap();
        let (run, fault, interrupt) = {
            let mut state = self.state.borrow_mut();
            let run = state.runs;
            state.runs += 1;
            state.clock += state.seconds_per_block;
            state.log.push((
                self.arm.name.clone(),
                at.cipher,
                path.clone(),
                work.clone(),
                at.cache_kib,
            ));
            (run, state.fault(run), state.interrupt)
        };
        let mut sample = Sample {
            cpu_ns: 1_000_000 + seed % 1000 + (run % 7) as u64,
            read_bytes: self.state.borrow().read_bytes,
            ..Sample::default()
        };
        sample.answer = format!("{}", rows(&path).len());
        let writes = crate::config::cell::writes(work);
        if writes {
            append(&path, &format!("{seed}"));
        }
        match fault {
            None | Some(SimFault::Slept) => {}
            Some(SimFault::Die) => {
                self.dead = true;
                return Err(DriveError::Died {
                    at: self.failure("run"),
                    status: "signal: 9".into(),
                });
            }
            Some(SimFault::Hang) => {
                self.dead = true;
                return Err(DriveError::Hung {
                    at: self.failure("run"),
                    given: limit,
                });
            }
            Some(SimFault::Refuse) => {
                return Err(DriveError::Refused {
                    at: self.failure("run"),
                    text: "no".into(),
                });
            }
            Some(SimFault::Alter) => sample.altered = true,
            Some(SimFault::AnswerOther) => sample.answer = "other".into(),
            Some(SimFault::WriteOther) => append(&path, "other"),
            Some(SimFault::Interrupt) => interrupt.unwrap().store(true, Ordering::Relaxed),
            Some(SimFault::Cut) => std::panic::resume_unwind(Box::new("cut")),
            Some(SimFault::Kill) => {
                let own = rustix::process::getpid();
                rustix::process::kill_process(own, rustix::process::Signal::KILL).unwrap();
                unreachable!("killed");
            }
        }
        if let Some(control) = control() {
            sample.altered |= control.stop || control.mix.is_some();
        }
        Ok(GroupSample {
            sample,
            histograms: BTreeMap::from([("op".to_owned(), vec![1])]),
            stagger_ns: 0,
        })
    }

    /// Runs until a control to stop. Inserts one row.
    fn run_asked(
        &mut self,
        work: &Workload,
        seed: u64,
        limit: Duration,
        _: Duration,
        control: &mut dyn FnMut() -> Option<Control>,
    ) -> Result<GroupSample, DriveError> {
        let mut ran = self.run(work, seed, limit, &mut || None)?;
        let control = loop {
            match control() {
                Some(control) => break control,
                None => std::thread::yield_now(),
            }
        };
        ran.sample.altered = control.stop;
        (ran.sample.operations, ran.sample.elapsed_ns) = (10, 1_000_000 + seed % 1000);
        let mut latencies = hdrhistogram::Histogram::<u64>::new(3).unwrap();
        latencies.record(1000 + seed % 10).unwrap();
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&latencies, &mut bytes).unwrap();
        ran.histograms = BTreeMap::from([("insert".to_owned(), bytes)]);
        Ok(ran)
    }

    fn end(self) {}
}
