//! The testbed on this machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::statvfs;
use selenite_worker::protocol::{DatabaseSpec, Loaded, OpenedDatabase};
use sha2::{Digest as _, Sha256};

use super::testbed::Testbed;
use crate::arm::Arm;
use crate::cache::{CacheError, PageCache};
use crate::config::{Online, hex};
use crate::drive::{Administrator, DriveError, WorkerCommand, WorkerGroup};
use crate::engines::{Engines, EnginesError, without_aes};
use crate::host::{self, HostSampler, Source};
use crate::native;
use crate::proof::{Claim, FileScan, FolderScan, ProofError, prove, prove_folder, prove_pages_reencrypted};
use crate::summary::{HostFacts, HostSample};

/// This machine.
#[derive(Debug)]
pub struct LocalTestbed {
    engines: Engines,
    cache: PageCache,
    source: Source,
    /// Of the current block.
    sampler: Option<HostSampler>,
    /// The command of each arm's worker, by name of the arm.
    commands: BTreeMap<String, WorkerCommand>,
    /// SHA-256 of programs, by path.
    programs: BTreeMap<PathBuf, String>,
}

impl LocalTestbed {
    /// With the workers that `engines` finds.
    #[must_use]
    pub fn new(engines: Engines) -> LocalTestbed {
        LocalTestbed {
            engines,
            cache: PageCache::default(),
            source: Source::default(),
            sampler: None,
            commands: BTreeMap::new(),
            programs: BTreeMap::new(),
        }
    }
}

impl Testbed for LocalTestbed {
    type WorkerGroup = WorkerGroup;
    type Reencryption = Administrator;

    fn find(&mut self, arm: &Arm) -> Result<Vec<(String, String)>, EnginesError> {
        let mut command = self.engines.find(&arm.engine, arm.worker.as_deref())?;
        let mut facts = Vec::new();
        if !arm.aes_instructions {
            let (masked, with, without) = without_aes(&command, &arm.cipher, START)?;
            command = masked;
            let times = |time: selenite_worker::protocol::CipherTime| {
                format!(
                    "{:.0} ns to seal a page, {:.0} ns to open one",
                    time.seal_ns, time.open_ns
                )
            };
            facts.push(("cipher with AES instructions".to_owned(), times(with)));
            facts.push(("cipher without AES instructions".to_owned(), times(without)));
        }
        self.commands.insert(arm.name.clone(), command);
        Ok(facts)
    }

    fn program_sha256(&mut self, arm: &Arm) -> Option<String> {
        let path = self.commands.get(&arm.name)?.program.clone();
        if let Some(known) = self.programs.get(&path) {
            return Some(known.clone());
        }
        let found = hex(&Sha256::digest(std::fs::read(&path).ok()?));
        self.programs.insert(path, found.clone());
        Some(found)
    }

    fn start(&mut self, arm: &Arm, count: u32) -> Result<WorkerGroup, DriveError> {
        let command = self.commands.get(&arm.name).cloned().unwrap_or_default();
        WorkerGroup::start(&command, count, START)
    }

    fn prove(
        &mut self,
        arm: &Arm,
        file: &Path,
        plain: &Path,
        loaded: &Loaded,
        opened: &OpenedDatabase,
    ) -> Result<Vec<(String, String)>, ProofError> {
        let claim = Claim::of(&arm.engine, &arm.cipher);
        if file.is_dir() {
            let scan = FolderScan::at(file, &loaded.marker)?;
            let beside = FolderScan::at(plain, &loaded.marker)?;
            return prove_folder(claim, &scan, &beside, opened).map(|proof| proof.facts);
        }
        let scan = FileScan::at(file, &loaded.marker)?;
        let beside = FileScan::at(plain, &loaded.marker)?;
        prove(claim, &scan, &beside, opened).map(|proof| proof.facts)
    }

    fn start_reencryption(&mut self, database: &DatabaseSpec, how: &Online) -> Result<Administrator, DriveError> {
        let program = how.administrator.as_deref().unwrap_or(self.engines.program());
        let mut output_file = database.path.as_os_str().to_owned();
        output_file.push("-words");
        Administrator::start(
            &native::reencryption(program, database, &how.options)?,
            Path::new(&output_file),
        )
    }

    fn prove_reencrypted(&mut self, before: &Path, after: &Path, page_size: u32) -> Result<(), ProofError> {
        prove_pages_reencrypted(before, after, page_size).map(drop)
    }

    fn evict(&mut self, database: &Path) -> Result<(), CacheError> {
        self.cache.evict(database).map(drop)
    }

    fn prefetch(&mut self, database: &Path) -> Result<(), CacheError> {
        self.cache.prefetch(database).map(drop)
    }

    fn free_bytes(&self, path: &Path) -> std::io::Result<u64> {
        let found = statvfs(path)?;
        Ok(found.f_bavail.saturating_mul(found.f_frsize))
    }

    fn now_s(&self) -> f64 {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_secs_f64()
    }

    fn host(&mut self, folder: &Path) -> HostFacts {
        host::facts(&self.source, folder)
    }

    fn begin_sampling(&mut self, pids: &[u32]) {
        self.sampler = Some(HostSampler::begin(&self.source, pids));
    }

    fn end_sampling(&mut self, at_s: f64) -> (HostSample, Option<String>) {
        match self.sampler.take() {
            Some(sampler) => {
                let window = sampler.end(at_s);
                let void = window.void().map(str::to_owned);
                (window.sample, void)
            }
            None => (
                HostSample {
                    at_s,
                    ..HostSample::default()
                },
                None,
            ),
        }
    }
}

/// A worker answers `hello` in less time.
const START: Duration = Duration::from_secs(30);
