//! Crashes of `encrypt` and `decrypt` in place: at every moment the path has one complete
//! database, unencrypted or encrypted, and the next run completes the operation.

use std::path::Path;
use std::time::Duration;

use selenite::{Access, Encrypt, EngineError, Target, Watch, decrypt, encrypt};
use selenite_testing::crash_point::Density;
use selenite_testing::own_process;
use selenite_testing::{Disk, Image, KeyFile, Ledger, Opening, Scenario, Summary, run};

use super::PATH;
use super::sim_storage::{Forgets, SimStorage};

struct Fixture {
    key: KeyFile,
    ledger: Ledger,
    mode: &'static str,
    is_encryption: bool,
}

impl Fixture {
    fn new(mode: &'static str, is_encryption: bool) -> Self {
        Self {
            key: KeyFile::new(1),
            ledger: Ledger::SMALL,
            mode,
            is_encryption,
        }
    }

    fn opening(&self, is_sealed: bool) -> Opening {
        if is_sealed {
            Opening::encrypted(PATH, &self.key)
        } else {
            Opening::plain(PATH)
        }
    }

    fn origin(&self) -> Image {
        selenite_testing::sim::install();
        let disk = Disk::new();
        let _entered = disk.enter();
        let connection = self.opening(!self.is_encryption).connect().unwrap();
        connection
            .execute_batch(&format!("PRAGMA page_size = 1024; PRAGMA journal_mode = {}", self.mode))
            .unwrap();
        self.ledger.create(&connection, &["main"]).unwrap();
        for tx in 2..=8 {
            self.ledger.commit(&connection, &["main"], tx).unwrap();
        }
        disk.image()
    }

    fn convert(&self, forgets: Forgets) -> Result<(), EngineError> {
        let access = Access {
            identity: Some(self.key.spec().parse().unwrap()),
            busy_wait: Duration::ZERO,
            plain_vfs: "sim",
            ..Access::default()
        };
        let (storage, path, watch) = (SimStorage::forgetful(forgets), Path::new(PATH), Watch::none());
        if self.is_encryption {
            encrypt(&storage, path, &access, &Encrypt::default(), &watch).map(drop)
        } else {
            decrypt(&storage, path, &access, &Target::InPlace, &watch).map(drop)
        }
    }

    fn commit(&self, is_sealed: bool, tx: u64) {
        let connection = self.opening(is_sealed).connect().unwrap();
        connection.execute_batch("PRAGMA synchronous = extra").unwrap();
        self.ledger.commit(&connection, &["main"], tx).unwrap();
    }

    fn check(&self, acknowledged: u64) -> Result<(), String> {
        let disk = Disk::of_thread().map_err(|code| code.to_string())?;
        let bytes = disk.bytes(PATH).unwrap_or_default();
        if bytes.is_empty() {
            return Err("there is neither the old database nor the new one".to_owned());
        }
        let is_sealed = bytes.starts_with(b"Selenite");
        let is_done = is_sealed == self.is_encryption;
        if acknowledged > 9 && !is_done {
            return Err("the old database came back".to_owned());
        }
        self.recover(acknowledged)?;
        if !is_done {
            self.convert(Forgets::Nothing)
                .map_err(|error| format!("again: {error}"))?;
            let connection = self.opening(self.is_encryption).connect();
            let connection = connection.map_err(|error| format!("open again: {error}"))?;
            if self.ledger.check(&connection, "main")? <= acknowledged {
                return Err("a commit is missing after the second run".to_owned());
            }
        }
        match disk.names().as_slice() {
            [sole] if sole == PATH => Ok(()),
            names => Err(format!("{names:?} are left")),
        }
    }

    fn recover(&self, acknowledged: u64) -> Result<(), String> {
        // An unencrypted one may be marked, as another file was to take its name: to the VFS it is what it was.
        let opening = self.opening(true).with("plain", "allow");
        let connection = opening.connect().map_err(|error| format!("open: {error}"))?;
        self.ledger.check_recovered(&connection, &["main"], acknowledged)
    }
}

fn crash(mode: &'static str, is_encryption: bool, points: usize, forgets: Forgets) -> Summary {
    let fixture = Fixture::new(mode, is_encryption);
    let name = format!("{}, {mode}", if is_encryption { "encrypt" } else { "decrypt" });
    let check = |acknowledged| fixture.check(acknowledged);
    let scenario = Scenario::new(&name, &check)
        .from(fixture.origin())
        .with_density(Density::DENSE)
        .with_points(points);
    run(&scenario, |run| {
        run.acknowledge(8);
        fixture.commit(!is_encryption, 9);
        run.acknowledge(9);
        fixture.convert(forgets).unwrap();
        fixture.commit(is_encryption, 10);
        run.acknowledge(10);
        Ok(())
    })
}

#[test]
fn a_crash_in_place_leaves_one_complete_database_and_the_next_run_finishes() {
    own_process!();
    for mode in ["delete", "wal"] {
        for is_encryption in [true, false] {
            crash(mode, is_encryption, 300, Forgets::Nothing).assert_sound(100);
        }
    }
}

#[test]
fn a_conversion_whose_name_is_not_on_disk_is_found() {
    own_process!();
    for is_encryption in [true, false] {
        let found = crash("delete", is_encryption, 200, Forgets::SyncsOfFolders)
            .failures
            .len();
        println!("{found} crash images were not sound");
        assert!(found > 0);
    }
}
