//! Crashes of an offline copy: at every moment the path has one complete database, the old one or
//! the new one; the next run completes the copy, and leaves no page under the old key.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use selenite::offline::{Offline, offline};
use selenite::{Access, EngineError, Suite, Watch};
use selenite_testing::crash_point::Density;
use selenite_testing::ledger::check_integrity;
use selenite_testing::own_process;
use selenite_testing::{Disk, Image, KeyFile, Ledger, Opening, Scenario, Summary, run};

use super::sim_storage::{Forgets, SimStorage};
use super::{PATH, find_old, marks};

struct Fixture {
    key: KeyFile,
    ledger: Ledger,
    mode: &'static str,
    to: Suite,
}

impl Fixture {
    fn new(mode: &'static str, to: Suite) -> Self {
        Self {
            key: KeyFile::new(1),
            ledger: Ledger::SMALL,
            mode,
            to,
        }
    }

    fn opening(&self) -> Opening {
        Opening::encrypted(PATH, &self.key).with("plain", "allow")
    }

    fn access(&self) -> Access {
        Access {
            identity: Some(self.key.spec().parse().unwrap()),
            allow_plain: true,
            busy_wait: Duration::ZERO,
            ..Access::default()
        }
    }

    /// Eight commits, and `kib` KiB of filler rows. The log still exists.
    fn origin(&self, kib: u32) -> Image {
        selenite_testing::sim::install();
        let disk = Disk::new();
        let _entered = disk.enter();
        let connection = self.opening().with("page_size", "1024").connect().unwrap();
        connection
            .execute_batch(&format!(
                "PRAGMA journal_mode = {};
                 CREATE TABLE filler AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {kib})
                 SELECT randomblob(900) FROM n",
                self.mode
            ))
            .unwrap();
        self.ledger.create(&connection, &["main"]).unwrap();
        for tx in 2..=8 {
            self.ledger.commit(&connection, &["main"], tx).unwrap();
        }
        disk.image()
    }

    fn copy(&self, to: Suite, forgets: Forgets) -> Result<u32, EngineError> {
        let how = Offline {
            suite: Some(to),
            noted_every: 1 << 20,
        };
        let storage = SimStorage::forgetful(forgets);
        let done = offline(&storage, Path::new(PATH), &self.access(), &how, &Watch::none())?;
        assert!(done.not_retired.is_none(), "{:?}", done.not_retired);
        Ok(done.epoch)
    }

    fn commit(&self, tx: u64) {
        let connection = self.opening().connect().unwrap();
        connection.execute_batch("PRAGMA synchronous = extra").unwrap();
        self.ledger.commit(&connection, &["main"], tx).unwrap();
    }

    /// How many commits there are.
    fn count(&self) -> Result<u64, String> {
        let connection = self.opening().connect().map_err(|error| format!("open: {error}"))?;
        check_integrity(&connection)?;
        Ok(self.ledger.check(&connection, "main")?)
    }

    fn epoch(&self) -> Result<u32, String> {
        let status = selenite::status(&SimStorage::of_thread(), Path::new(PATH), &self.access());
        let sealed = status.map_err(|error| format!("status: {error}"))?.sealed;
        let epochs = sealed.ok_or("not encrypted")?.epochs;
        match epochs.as_slice() {
            [sole] => Ok(sole.epoch),
            several => Err(format!("{} epochs", several.len())),
        }
    }

    fn check(&self, old: &HashSet<Vec<u8>>, acknowledged: u64) -> Result<(), String> {
        let disk = Disk::of_thread().map_err(|code| code.to_string())?;
        // Opening would create one.
        if disk.bytes(PATH).is_none_or(|bytes| bytes.is_empty()) {
            return Err("there is neither the old database nor the new one".to_owned());
        }
        let before = self.epoch()?;
        {
            let connection = self.opening().connect().map_err(|error| format!("open: {error}"))?;
            self.ledger.check_recovered(&connection, &["main"], acknowledged)?;
        }
        let count = self.count()?;
        // A database that is unencrypted already is not converted to NONE again.
        let to = if (before, self.to) == (2, Suite::None) {
            Suite::Aes256
        } else {
            self.to
        };
        let again = self
            .copy(to, Forgets::Nothing)
            .map_err(|error| format!("again: {error}"))?;
        if again != before + 1 || self.epoch()? != again {
            return Err(format!("epoch {again} after {before}"));
        }
        if self.count()? != count {
            return Err(format!("{} commits of {count}", self.count()?));
        }
        let names = disk.names();
        if names != [PATH] {
            return Err(format!("{names:?} are left"));
        }
        find_old(old)
    }
}

fn crash(fixture: &Fixture, kib: u32, points: usize, forgets: Forgets) -> Summary {
    let origin = fixture.origin(kib);
    let old = marks(&origin);
    let name = format!("offline, {}, to {}, {kib} KiB", fixture.mode, fixture.to);
    let check = |acknowledged| fixture.check(&old, acknowledged);
    let scenario = Scenario::new(&name, &check)
        .from(origin)
        .with_density(Density::DENSE)
        .with_points(points);
    run(&scenario, |run| {
        run.acknowledge(8);
        fixture.commit(9);
        run.acknowledge(9);
        assert_eq!(fixture.copy(fixture.to, forgets).unwrap(), 2);
        fixture.commit(10);
        run.acknowledge(10);
        Ok(())
    })
}

#[test]
fn a_crash_of_an_offline_copy_leaves_one_complete_database_and_the_next_run_finishes() {
    own_process!();
    for (mode, to) in [
        ("wal", Suite::Aes256),
        ("persist", Suite::ChaCha20),
        ("delete", Suite::None),
    ] {
        crash(&Fixture::new(mode, to), 50, 400, Forgets::Nothing).assert_sound(200);
    }
    // Three runs of pages, of which some are taken over.
    crash(&Fixture::new("wal", Suite::Aes256), 2500, 50, Forgets::Nothing).assert_sound(25);
}

#[test]
fn a_copy_that_takes_the_name_too_early_is_found() {
    own_process!();
    // A folder's names are on the disk with the next commit at the latest: there are few such
    // moments, so nearly all are tried.
    for (forgets, kib, points) in [(Forgets::SyncsOfFiles, 50, 200), (Forgets::SyncsOfFolders, 1, 900)] {
        let found = crash(&Fixture::new("wal", Suite::Aes256), kib, points, forgets)
            .failures
            .len();
        println!("{forgets:?}: {found} crash images were not sound");
        assert!(found > 0, "no run found {forgets:?}");
    }
}
