//! Preparation, once per study: finds every arm's engine, loads, compares and proves its masters,
//! and draws the schedule.

use std::collections::BTreeMap;
use std::path::Path;

use selenite_worker::protocol::{Dataset, Hello, Loaded, OpenedDatabase, PLAIN};

use super::Runner;
use super::error::RunError;
use super::observer::Progress;
use super::testbed::{Testbed, Workers};
use crate::arm::Arm;
use crate::database_files;
use crate::schedule;
use crate::store::{ArmRow, MasterRow};
use crate::summary::ArmFacts;

/// Facts found about an arm.
struct ArmPreparation {
    hello: Hello,
    proof: Vec<(String, String)>,
    masters: BTreeMap<String, MasterRow>,
}

impl<B: Testbed> Runner<'_, B> {
    /// Makes what is missing; false if it was interrupted.
    pub(super) fn prepare(&mut self) -> Result<bool, RunError> {
        let stored = self.store.arms()?;
        let mut known = self.find()?;
        self.check_space()?;
        let same_key = self.copies.prepare()?;
        let datasets = self.config.data.clone();
        for (place, (data, dataset)) in datasets.iter().enumerate() {
            let seed = schedule::data_seed(self.study.seed, place);
            let mut plain = None;
            let mut rows = None;
            if same_key && self.is_there(&stored, data) && self.is_as_loaded(&stored, data)? {
                continue;
            }
            for (index, known) in known.iter_mut().enumerate() {
                if self.is_interrupted() {
                    return Ok(false);
                }
                if known.hello.server && rows.is_none() && *dataset != Dataset::Wire {
                    plain = Some(self.make_rows(data, dataset, seed)?);
                    rows = Some(self.copies.rows(data));
                }
                let loaded = self.load(index, data, dataset, seed, rows.as_deref(), known)?;
                let first = plain.get_or_insert_with(|| loaded.clone());
                self.compare(index, data, first, &loaded)?;
            }
        }
        match stored.is_empty() {
            true => self.draw(known)?,
            false => self.compare_stored(&stored, &known)?,
        }
        for arm in self.store.arms()? {
            for (data, master) in arm.masters {
                let pages = self.pages.entry(data).or_default();
                *pages = master.pages.max(*pages);
            }
        }
        Ok(true)
    }

    /// Whether masters of an earlier run can be used. For a dataset, either all are used or none.
    fn is_there(&self, stored: &[ArmRow], data: &str) -> bool {
        let there = |(arm, row): (&Arm, &ArmRow)| {
            let found = database_files::bytes(&self.copies.master(&arm.name, data));
            let bytes = row.masters.get(data).map(|master| master.bytes);
            found.is_ok_and(|found| Some(found) == bytes)
        };
        !stored.is_empty() && self.arms.iter().zip(stored).all(there)
    }

    /// Whether they still hold the rows that they were loaded with. A master that cannot be opened
    /// or read does not.
    fn is_as_loaded(&mut self, stored: &[ArmRow], data: &str) -> Result<bool, RunError> {
        let limit = LOAD.max(self.request_timeout());
        for (arm, row) in self.arms.clone().iter().zip(stored) {
            let path = self.copies.master(&arm.name, data);
            let spec = self.spec(arm, &arm.cipher, &path, self.config.layout.cache_kib);
            let started = self.around.testbed.start(arm, 1);
            let mut group = started.map_err(|source| worker(arm, "start", source))?;
            let digest = group
                .open(&spec, limit)
                .and_then(|_| group.digest(limit))
                .and_then(|digest| group.close(limit).map(|()| digest));
            group.end();
            let wanted = row
                .masters
                .get(data)
                .map(|master| (master.digest.as_str(), master.rows));
            match digest {
                Ok(digest) if wanted == Some((digest.digest.as_str(), digest.rows)) => {}
                Ok(_) | Err(_) => {
                    self.event(&format!(
                        "data `{data}` of `{}` was changed: all is loaded again",
                        arm.name
                    ))?;
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Starts a process of each arm, and requests its [`Hello`].
    fn find(&mut self) -> Result<Vec<ArmPreparation>, RunError> {
        let mut known = Vec::new();
        for arm in &self.arms {
            let found = self.around.testbed.find(arm);
            let proof = found.map_err(|source| RunError::Engine {
                arm: arm.name.clone(),
                source: Box::new(source),
            })?;
            let started = self.around.testbed.start(arm, 1);
            let group = started.map_err(|source| worker(arm, "start", source))?;
            let hello = group.hello().clone();
            group.end();
            arm.check(&hello)?;
            arm.check_works(&hello, &self.config.cells)?;
            known.push(ArmPreparation {
                hello,
                proof,
                masters: BTreeMap::new(),
            });
        }
        Ok(known)
    }

    fn check_space(&self) -> Result<(), RunError> {
        let needed = super::database_copies::bytes_needed(&self.config, self.arms.len());
        let folder = super::folder(self.store.path());
        let free = self
            .around
            .testbed
            .free_bytes(folder)
            .map_err(RunError::io("look at", folder))?;
        match free < needed {
            true => Err(RunError::NoSpace {
                path: folder.to_owned(),
                needed,
                free,
            }),
            false => Ok(()),
        }
    }

    /// Makes the database with the rows of a dataset, from which servers are loaded.
    fn make_rows(&mut self, data: &str, dataset: &Dataset, seed: u64) -> Result<Loaded, RunError> {
        let arm = Arm::of_rows();
        let found = self.around.testbed.find(&arm);
        found.map_err(|source| RunError::Engine {
            arm: arm.name.clone(),
            source: Box::new(source),
        })?;
        let path = self.copies.rows(data);
        self.copies.clear(&path)?;
        let spec = self.spec(&arm, PLAIN, &path, self.config.layout.cache_kib);
        let limit = LOAD.max(self.request_timeout());
        let started = self.around.testbed.start(&arm, 1);
        let mut group = started.map_err(|source| worker(&arm, "start", source))?;
        let loaded = group
            .load(&spec, dataset, seed, None, limit)
            .map_err(|source| worker(&arm, "load", source))?;
        group.end();
        Ok(loaded)
    }

    fn load(
        &mut self,
        index: usize,
        data: &str,
        dataset: &Dataset,
        seed: u64,
        rows: Option<&Path>,
        known: &mut ArmPreparation,
    ) -> Result<Loaded, RunError> {
        let arm = self.arms[index].clone();
        self.around
            .observer
            .progress(&Progress::Loading { arm: &arm.name, data });
        let path = self.copies.master(&arm.name, data);
        self.copies.clear(&path)?;
        let spec = self.spec(&arm, &arm.cipher, &path, self.config.layout.cache_kib);
        let limit = LOAD.max(self.request_timeout());
        let mut group = self
            .around
            .testbed
            .start(&arm, 1)
            .map_err(|source| worker(&arm, "start", source))?;
        let loaded = group
            .load(&spec, dataset, seed, rows, limit)
            .map_err(|source| worker(&arm, "load", source))?;
        let opened = group
            .open(&spec, limit)
            .map_err(|source| worker(&arm, "open", source))?;
        let digest = group.digest(limit).map_err(|source| worker(&arm, "digest", source))?;
        group.close(limit).map_err(|source| worker(&arm, "close", source))?;
        group.end();
        self.check_layout(&arm, &opened)?;
        if digest.digest != loaded.digest || digest.rows != loaded.rows {
            let at = format!("data `{data}`, read again");
            return Err(RunError::RowsDiffer {
                arm: arm.name.clone(),
                other: arm.name,
                at,
            });
        }
        known.proof.extend(self.prove(&arm, data, &path, &loaded, &opened)?);
        let bytes = database_files::bytes(&path).map_err(RunError::io("look at", &path))?;
        let master = MasterRow {
            digest: loaded.digest.clone(),
            rows: loaded.rows,
            bytes,
            pages: opened.pages,
        };
        known.masters.insert(data.to_owned(), master);
        Ok(loaded)
    }

    fn prove(
        &mut self,
        arm: &Arm,
        data: &str,
        path: &Path,
        loaded: &Loaded,
        opened: &OpenedDatabase,
    ) -> Result<Vec<(String, String)>, RunError> {
        let control = arm.control.map_or(arm, |control| &self.arms[control]);
        let plain = self.copies.master(&control.name, data);
        let proved = self.around.testbed.prove(arm, path, &plain, loaded, opened);
        let facts = proved.map_err(|source| RunError::Proof {
            arm: arm.name.clone(),
            source,
        })?;
        let several = self.config.data.len() > 1;
        let named = |(name, text)| {
            if several {
                (format!("{data}: {name}"), text)
            } else {
                (name, text)
            }
        };
        Ok(match arm.cipher == PLAIN {
            true => Vec::new(),
            false => facts.into_iter().map(named).collect(),
        })
    }

    fn check_layout(&self, arm: &Arm, opened: &OpenedDatabase) -> Result<(), RunError> {
        let layout = &self.config.layout;
        let wanted = [
            ("page_size", layout.page_size.to_string()),
            // A negative value is in KiB, not in pages.
            ("cache_size", format!("-{}", layout.cache_kib)),
            ("journal_mode", layout.journal_mode.clone()),
            ("synchronous", layout.synchronous.clone()),
        ];
        for (key, wanted) in wanted {
            match opened.layout.get(key) {
                Some(found) if !found.eq_ignore_ascii_case(&wanted) => {
                    let (arm, key, found) = (arm.name.clone(), key.to_owned(), found.clone());
                    return Err(RunError::LayoutDiffers {
                        arm,
                        key,
                        wanted,
                        found,
                    });
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn compare(&self, index: usize, data: &str, first: &Loaded, loaded: &Loaded) -> Result<(), RunError> {
        match first.digest == loaded.digest && first.rows == loaded.rows {
            true => Ok(()),
            false => Err(self.differ(index, 0, format!("data `{data}`, loaded"))),
        }
    }

    /// For a resumed study, the loaded masters must equal the ones in the store.
    fn compare_stored(&self, stored: &[ArmRow], known: &[ArmPreparation]) -> Result<(), RunError> {
        for (index, (row, known)) in stored.iter().zip(known).enumerate() {
            for (data, master) in &known.masters {
                let before = row.masters.get(data).map(|before| (&before.digest, before.rows));
                if before != Some((&master.digest, master.rows)) {
                    return Err(self.differ(index, index, format!("data `{data}`, loaded again")));
                }
            }
        }
        Ok(())
    }

    pub(super) fn differ(&self, arm: usize, other: usize, at: String) -> RunError {
        RunError::RowsDiffer {
            arm: self.arms[arm].name.clone(),
            other: self.arms[other].name.clone(),
            at,
        }
    }

    fn draw(&mut self, known: Vec<ArmPreparation>) -> Result<(), RunError> {
        let arms = self.arms.clone();
        let programs = arms.iter().map(|arm| self.around.testbed.program_sha256(arm));
        let programs: Vec<Option<String>> = programs.collect();
        let facts = |((arm, known), program_sha256): ((&Arm, ArmPreparation), Option<String>)| {
            let facts = ArmFacts {
                name: arm.name.clone(),
                label: arm.label(&known.hello),
                control: arm.control.map(|control| self.arms[control].name.clone()),
                role: arm.role,
                cipher: arm.cipher.clone(),
                library: known.hello.library,
                sqlite_version: known.hello.sqlite_version,
                limits: known.hello.limits,
                proof: known.proof,
                bytes: known.masters.values().map(|master| master.bytes).sum(),
                pages: known.masters.values().map(|master| master.pages).sum(),
                pool: arm.pool,
                none: arm.none.map(|none| self.arms[none].name.clone()),
                program_sha256,
            };
            (facts, known.masters)
        };
        let arms: Vec<_> = self.arms.iter().zip(known).zip(programs).map(facts).collect();
        let study = &self.config.study;
        let draws = schedule::draw(self.study.seed, self.extent(study.sessions));
        Ok(self.store.plan(&arms, &self.config.cells, &draws)?)
    }
}

/// The error of a worker of an arm.
pub(crate) fn worker(arm: &Arm, at: &str, source: crate::drive::DriveError) -> RunError {
    RunError::Worker {
        arm: arm.name.clone(),
        at: at.to_owned(),
        source: Box::new(source),
    }
}

/// Even on a slow disk, the largest dataset is loaded in less time.
const LOAD: std::time::Duration = std::time::Duration::from_secs(3600);
