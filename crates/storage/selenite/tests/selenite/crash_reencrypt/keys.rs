//! Crashes during the commands that change keys: identities with a slot can always open the
//! database, removed ones stay removed once that was reported, and the same command completes what
//! was begun.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use selenite::compromised::{Compromised, Step, compromised};
use selenite::reencrypt::{Goal, Reencrypt, reencrypt};
use selenite::{Access, EngineError, Observer, Progress, Watch, keys};
use selenite_format::{SUPERBLOCK_A, SUPERBLOCK_B, Superblock};
use selenite_keyring::KeyError;
use selenite_testing::crash_point::Density;
use selenite_testing::own_process;
use selenite_testing::{Disk, Image, KeyFile, Ledger, Opening, Run, Scenario, Summary, run};
use selenite_vfs::role::Role;

use super::sim_storage::SimStorage;
use super::{PATH, find_old, marks};

/// Commits of the ledger: keys change, rows do not.
const COMMITS: u64 = 8;

struct Fixture {
    own: KeyFile,
    other: KeyFile,
    added: KeyFile,
    ledger: Ledger,
    mode: &'static str,
}

/// A database, and the id of the slot to remove.
struct Origin {
    image: Image,
    slot: String,
}

/// Interrupts an operation after some pages have been re-encrypted.
struct Stop;

impl Observer for Stop {
    fn progress(&self, _: Progress) {}

    fn is_interrupted(&self) -> bool {
        true
    }
}

impl Fixture {
    fn new(mode: &'static str) -> Self {
        Self {
            own: KeyFile::new(1),
            other: KeyFile::new(2),
            added: KeyFile::new(3),
            ledger: Ledger::SMALL,
            mode,
        }
    }

    fn access(&self, key: &KeyFile) -> Access {
        Access {
            identity: Some(key.spec().parse().unwrap()),
            busy_wait: Duration::ZERO,
            ..Access::default()
        }
    }

    /// A database with two slots; if `is_under_way`, with a re-encryption in progress that began
    /// before any slot was removed.
    fn origin(&self, is_under_way: bool) -> Origin {
        selenite_testing::sim::install();
        let disk = Disk::new();
        let _entered = disk.enter();
        {
            let opening = Opening::encrypted(PATH, &self.own).with("page_size", "1024");
            let connection = opening.connect().unwrap();
            connection
                .execute_batch(&format!("PRAGMA journal_mode = {}", self.mode))
                .unwrap();
            self.ledger.create(&connection, &["main"]).unwrap();
            for tx in 2..=COMMITS {
                self.ledger.commit(&connection, &["main"], tx).unwrap();
            }
        }
        let storage = SimStorage::of_thread();
        let access = self.access(&self.own);
        let added = keys::add(&storage, Path::new(PATH), &access, &self.other.spec(), "").unwrap();
        if is_under_way {
            let how = self.how(Goal::NewKey);
            let stopped = reencrypt(&storage, Path::new(PATH), &access, &how, &Watch::new(Arc::new(Stop)));
            assert!(matches!(stopped, Err(EngineError::Unfinished { .. })), "{stopped:?}");
        }
        Origin {
            image: disk.image(),
            slot: added.report.added[0].id.to_string(),
        }
    }

    fn how(&self, goal: Goal) -> Reencrypt {
        Reencrypt {
            goal,
            batch_max: 5,
            save_every: 10 * 1024,
            ..Reencrypt::default()
        }
    }

    fn opens(&self, key: &KeyFile) -> bool {
        let opening = Opening::encrypted(PATH, key);
        let opened = opening.connect();
        opened.is_ok_and(|connection| self.ledger.check(&connection, "main") == Ok(COMMITS))
    }

    /// The owner can read all rows.
    fn check_own(&self) -> Result<(), String> {
        let opening = Opening::encrypted(PATH, &self.own);
        let connection = opening.connect().map_err(|error| format!("open: {error}"))?;
        selenite_testing::ledger::check_integrity(&connection)?;
        match self.ledger.check(&connection, "main")? {
            COMMITS => Ok(()),
            count => Err(format!("{count} commits")),
        }
    }

    /// The slot is in neither superblock, so that damage to one does not restore it, and its
    /// holder can't open the database.
    fn check_gone(&self, slot: &str) -> Result<(), String> {
        if self.opens(&self.other) {
            return Err("who was shut out opens it".to_owned());
        }
        for superblock in superblocks()? {
            if superblock.slots.iter().any(|left| left.id.to_string() == slot) {
                return Err(format!("the slot is in generation {}", superblock.generation));
            }
        }
        Ok(())
    }
}

/// Both superblocks, if they are intact.
fn superblocks() -> Result<Vec<Superblock>, String> {
    let bytes = Disk::of_thread().unwrap().bytes(PATH).ok_or("there is no database")?;
    let places = [SUPERBLOCK_A, SUPERBLOCK_B].map(|place| usize::try_from(place).unwrap());
    let whole = places.map(|place| Superblock::parse(&bytes[place..place + 32768]));
    Ok(whole.into_iter().flatten().collect())
}

/// Accepts success, and the errors that mean that it was done before.
fn or_done_before<T>(done: Result<T, EngineError>) -> Result<(), String> {
    match done {
        Ok(_) | Err(EngineError::Key(KeyError::NoSuchSlot { .. })) => Ok(()),
        Err(EngineError::Usage { what, .. }) if what.contains("already has a key slot") => Ok(()),
        Err(error) => Err(format!("again: {error}")),
    }
}

impl Fixture {
    /// Three steps: adds a slot, removes one, renews the master key.
    fn change(&self, slot: &str, step: u64) -> Result<(), EngineError> {
        let (storage, path, access) = (SimStorage::of_thread(), Path::new(PATH), self.access(&self.own));
        match step {
            1 => keys::add(&storage, path, &access, &self.added.spec(), "").map(drop),
            2 => keys::remove(&storage, path, &access, slot, true).map(drop),
            _ => {
                // Drops the slots that a crash restored.
                keys::renew(&storage, path, &access, &[self.added.spec()], true).map(drop)
            }
        }
    }

    fn check_changes(&self, origin: &Origin, done: u64) -> Result<(), String> {
        self.check_own()?;
        if done >= 1 && !self.opens(&self.added) {
            return Err("who was added does not open it".to_owned());
        }
        if done >= 2 {
            self.check_gone(&origin.slot)?;
        }
        if done >= 3 {
            self.check_renewed(origin)?;
        }
        for step in 1..=3 {
            or_done_before(self.change(&origin.slot, step))?;
            if step == 2 {
                self.check_gone(&origin.slot)?;
            }
        }
        self.check_own()?;
        self.check_renewed(origin)?;
        if self.opens(&self.added) {
            Ok(())
        } else {
            Err("who was added does not open it in the end".to_owned())
        }
    }

    /// No key in either superblock is wrapped as before.
    fn check_renewed(&self, origin: &Origin) -> Result<(), String> {
        let bytes = origin.image.bytes(PATH);
        let old = Superblock::parse(&bytes[..32768]).or_else(|_| Superblock::parse(&bytes[32768..65536]));
        let old = old.map_err(|error| error.to_string())?;
        for superblock in superblocks()? {
            let is_old = superblock.log_key == old.log_key
                || superblock.epochs.iter().any(|epoch| {
                    let mut before = old.epochs.iter();
                    before.any(|old| old.wrapped == epoch.wrapped)
                });
            if is_old {
                return Err(format!("the old master key opens generation {}", superblock.generation));
            }
        }
        Ok(())
    }

    fn remove_and_renew(&self, slot: &str, resume: bool, done: &mut dyn FnMut(Step)) -> Result<(), EngineError> {
        let what = Compromised {
            slot: slot.to_owned(),
            recipients: Vec::new(),
            resume,
            drop_others: false,
            how: self.how(Goal::NewKey),
        };
        let (storage, access) = (SimStorage::of_thread(), self.access(&self.own));
        compromised(&storage, Path::new(PATH), &access, &what, &Watch::none(), done)
    }

    /// `known`: the slot's holder could unwrap data keys up to that epoch.
    fn check_revoked(&self, slot: &str, old: &HashSet<Vec<u8>>, known: u32, done: u64) -> Result<(), String> {
        self.check_own()?;
        if done >= 1 {
            self.check_gone(slot)?;
        }
        if done < 2 {
            let there = superblocks()?
                .into_iter()
                .max_by_key(|superblock| superblock.generation);
            let slots = there.ok_or("no superblock is whole")?.slots;
            let is_gone = slots.iter().all(|left| left.id.to_string() != slot);
            self.remove_and_renew(slot, is_gone, &mut |_| ())
                .map_err(|error| format!("again: {error}"))?;
        }
        self.check_own()?;
        self.check_gone(slot)?;
        for superblock in superblocks()? {
            if let Some(left) = superblock.epochs.iter().find(|epoch| epoch.epoch.0 <= known) {
                return Err(format!("epoch {} is still there, which was in reach", left.epoch.0));
            }
        }
        find_old(old)
    }
}

fn crash_changes(mode: &'static str, points: usize, prepare: &(dyn Fn(&Disk) + Sync)) -> Summary {
    let fixture = Fixture::new(mode);
    let origin = fixture.origin(false);
    let check = |done| fixture.check_changes(&origin, done);
    let name = format!("keys, {mode}");
    let scenario = Scenario::new(&name, &check)
        .from(origin.image.clone())
        .with_density(Density::DENSE)
        .with_disk(prepare)
        .with_points(points);
    run(&scenario, |run| {
        for step in 1..=3 {
            fixture.change(&origin.slot, step).unwrap();
            run.acknowledge(step);
        }
        Ok(())
    })
}

type Drive<'a> = &'a dyn Fn(&Fixture, &str, &Run);

fn crash_remove_and_renew(mode: &'static str, is_under_way: bool, points: usize, drive: Drive<'_>) -> Summary {
    let fixture = Fixture::new(mode);
    let origin = fixture.origin(is_under_way);
    let old = marks(&origin.image);
    let known = 1 + u32::from(is_under_way);
    let check = |done| fixture.check_revoked(&origin.slot, &old, known, done);
    let name = format!(
        "compromised, {mode}, {}",
        if is_under_way { "under way" } else { "steady" }
    );
    let scenario = Scenario::new(&name, &check)
        .from(origin.image.clone())
        .with_points(points);
    run(&scenario, |run| {
        drive(&fixture, &origin.slot, run);
        Ok(())
    })
}

fn remove_and_renew(fixture: &Fixture, slot: &str, run: &Run) {
    let mut epoch = 0;
    let done = fixture.remove_and_renew(slot, false, &mut |step| match step {
        Step::SlotRemoved(report) => assert_eq!(report.removed.len(), 1),
        Step::MasterRenewed(_) => run.acknowledge(1),
        Step::DoneBefore(_) => panic!("nothing was done before"),
        Step::EarlierEnded(sealed) => epoch = sealed.epoch,
        Step::DataKeyReplaced(sealed) => {
            assert_eq!(sealed.epoch, if epoch == 0 { 2 } else { epoch + 1 });
            run.acknowledge(2);
        }
    });
    done.unwrap();
}

/// A former error: treating a re-encryption that was in progress as the third step.
fn remove_and_resume(fixture: &Fixture, slot: &str, run: &Run) {
    let (storage, path, access) = (SimStorage::of_thread(), Path::new(PATH), fixture.access(&fixture.own));
    keys::remove(&storage, path, &access, slot, true).unwrap();
    keys::renew(&storage, path, &access, &[], false).unwrap();
    run.acknowledge(1);
    reencrypt(&storage, path, &access, &fixture.how(Goal::GoOn), &Watch::none()).unwrap();
    run.acknowledge(2);
}

#[test]
fn a_crash_of_a_change_of_keys_removes_no_other_slot_and_restores_none() {
    own_process!();
    for mode in ["delete", "wal"] {
        crash_changes(mode, 700, &|_| ()).assert_sound(100);
    }
}

#[test]
fn a_crash_of_a_change_that_is_not_on_disk_is_found() {
    own_process!();
    let found = crash_changes("wal", 200, &|disk| disk.ignore_syncs(Role::Main)).failures;
    println!("{} crash images were not sound", found.len());
    assert!(!found.is_empty());
}

#[test]
fn the_same_command_completes_a_removal_after_a_crash() {
    own_process!();
    for mode in ["delete", "wal"] {
        for is_under_way in [false, true] {
            crash_remove_and_renew(mode, is_under_way, 400, &remove_and_renew).assert_sound(200);
        }
    }
}

#[test]
fn a_data_key_that_a_removed_holder_knew_is_found() {
    own_process!();
    let found = crash_remove_and_renew("wal", true, 100, &remove_and_resume).failures;
    let known = found
        .iter()
        .filter(|failure| failure.contains("which was in reach"))
        .count();
    println!("{known} crash images hold a key that was in reach");
    assert!(known > 0, "{found:?}");
}
