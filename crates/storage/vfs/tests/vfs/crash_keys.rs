//! Crashes while keys are changed (FORMAT 3.7): a key that opens the database before or after the
//! change always opens it, and a removed key does not open it after the removal was reported.

use std::cell::Cell;

use rusqlite::Connection;
use selenite_cipher::Secret;
use selenite_format::keeps_dropped;
use selenite_keyring::change::{self, add_slot, remove_slot, renew_master};
use selenite_keyring::{KeyError, RawIdentity, Recipient, Unlocked, os_random};
use selenite_testing::crash_point::Density;
use selenite_testing::fault::Failure;
use selenite_testing::{Call, Disk, Fault, Image, KeyFile, Ledger, Opening, Scenario, run};
use selenite_vfs::change::stage;
use selenite_vfs::ffi::Code;

type Prepared = Result<change::Change, selenite_keyring::KeyError>;

const PATH: &str = "/keys/main.db";
const OLD: u8 = 1;
const NEW: u8 = 2;
const OTHERS: std::ops::Range<u8> = 3..12;

fn identity(byte: u8) -> RawIdentity {
    RawIdentity::new(Secret::new([byte; 32]))
}

/// Carries out a change inside the caller's transaction.
fn apply(
    connection: &Connection,
    prepare: impl FnOnce(&Unlocked) -> Prepared + Send + 'static,
) -> rusqlite::Result<()> {
    let token = stage(Box::new(|unlocked| {
        let change = prepare(unlocked)?;
        Ok((change.unlocked, change.revokes_access))
    }));
    connection.query_row("SELECT selenite_apply(?1)", [token], |row| row.get::<_, i64>(0))?;
    Ok(())
}

fn add(byte: u8) -> impl FnOnce(&Unlocked) -> Prepared + Send + 'static {
    move |from| add_slot(from, &identity(byte), "added", 1, &mut os_random)
}

fn remove(byte: u8) -> impl FnOnce(&Unlocked) -> Prepared + Send + 'static {
    move |from| {
        let owner = identity(byte);
        let slots = &from.superblock.slots;
        let found = slots
            .iter()
            .find(|slot| owner.owns(from.superblock.database_id, slot).unwrap_or(false));
        remove_slot(from, found.unwrap().id)
    }
}

fn renew(bytes: &'static [u8]) -> impl FnOnce(&Unlocked) -> Prepared + Send + 'static {
    move |from| {
        let owners: Vec<_> = bytes.iter().map(|&byte| identity(byte)).collect();
        let owners: Vec<&dyn Recipient> = owners.iter().map(|owner| owner as _).collect();
        renew_master(from, &owners, 1, &mut os_random)
    }
}

struct Keys {
    old: Opening,
    new: Opening,
    pragmas: String,
    _files: [KeyFile; 2],
}

impl Keys {
    fn new(mode: &str) -> Self {
        let files = [KeyFile::new(OLD), KeyFile::new(NEW)];
        let [old, new] = [&files[0], &files[1]].map(|key| Opening::encrypted(PATH, key));
        Self {
            old,
            new,
            pragmas: format!("PRAGMA journal_mode = {mode}; PRAGMA synchronous = extra;"),
            _files: files,
        }
    }

    /// A database with three commits; its superblock takes several sectors, because of slots that
    /// no key opens.
    fn origin(&self, ledger: &Ledger) -> Image {
        let disk = Disk::new();
        let _disk_guard = disk.enter();
        let connection = self.connect_old().unwrap();
        ledger.create(&connection, &["main"]).unwrap();
        for tx in 2..=3 {
            ledger.commit(&connection, &["main"], tx).unwrap();
        }
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        for other in OTHERS {
            apply(&connection, add(other)).unwrap();
        }
        connection.execute_batch("COMMIT").unwrap();
        drop(connection);
        disk.image()
    }

    fn connect_old(&self) -> rusqlite::Result<Connection> {
        let connection = self.old.connect()?;
        connection.execute_batch(&self.pragmas)?;
        Ok(connection)
    }

    fn check(&self, ledger: &Ledger, step: u64) -> Result<(), String> {
        let opens = |opening: &Opening| {
            let connection = opening.connect().map_err(|error| error.to_string())?;
            ledger.check_recovered(&connection, &["main"], 3)
        };
        let (old, new) = (self.old.connect().is_ok(), self.new.connect().is_ok());
        match step {
            0 => opens(&self.old),
            1 => opens(&self.new),
            _ if old => Err(format!("the old key opens after step {step}")),
            _ => opens(&self.new),
        }
        .and_then(|()| {
            if old || new {
                Ok(())
            } else {
                Err("no key opens".to_owned())
            }
        })
        .and_then(|()| self.check_twin(if new { &self.new } else { &self.old }))
    }

    /// A request for a change, even one that fails, leaves no superblock that lists a removed key.
    fn check_twin(&self, opening: &Opening) -> Result<(), String> {
        let connection = opening.connect().map_err(|error| error.to_string())?;
        connection
            .execute_batch("BEGIN IMMEDIATE")
            .map_err(|error| error.to_string())?;
        let refused = apply(&connection, |_| Err(KeyError::NotUnderWay));
        let _ = connection.execute_batch("ROLLBACK");
        let bytes = Disk::of_thread().ok().and_then(|disk| disk.bytes(PATH));
        let bytes = bytes.ok_or("no database")?;
        if refused.is_ok() || keeps_dropped(&bytes[..32768], &bytes[32768..65536]) {
            return Err("a superblock still lists a key that was dropped".to_owned());
        }
        Ok(())
    }
}

/// Adds the new key, removes the old one, renews the master key: three steps, each acknowledged.
fn change_all(connection: &Connection, acknowledge: &dyn Fn(u64)) -> rusqlite::Result<()> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    apply(connection, add(NEW))?;
    connection.execute_batch("COMMIT")?;
    acknowledge(1);
    connection.execute_batch("BEGIN IMMEDIATE")?;
    apply(connection, remove(OLD))?;
    acknowledge(2);
    connection.execute_batch("COMMIT; BEGIN IMMEDIATE")?;
    apply(connection, renew(&[NEW]))?;
    acknowledge(3);
    connection.execute_batch("COMMIT")
}

#[test]
fn some_key_opens_the_database_after_every_crash_and_no_removed_one() {
    for mode in ["delete", "wal"] {
        let keys = Keys::new(mode);
        let ledger = Ledger::SMALL;
        let check = |step| keys.check(&ledger, step);
        let name = format!("keys {mode}");
        let scenario = Scenario::new(&name, &check)
            .from(keys.origin(&ledger))
            .with_density(Density::DENSE);
        let summary = run(&scenario, |run| {
            let connection = keys.connect_old()?;
            // The log is not empty while keys change.
            connection.execute_batch("UPDATE state SET tx = tx")?;
            change_all(&connection, &|step| run.acknowledge(step))
        });
        summary.assert_sound(200);
    }
}

/// A failed change is either done or not done, and the database opens in both cases; a reported one
/// is done.
#[test]
fn some_key_opens_the_database_after_any_call_of_a_change_failed() {
    let failures = [
        (Call::Write, Failure::Code(Code::IOERR_WRITE)),
        (Call::Write, Failure::PartialWrite(Code::IOERR_WRITE)),
        (Call::Write, Failure::Code(Code::FULL)),
        (Call::Sync, Failure::Code(Code::IOERR_FSYNC)),
        (Call::Read, Failure::Code(Code::IOERR_READ)),
    ];
    for mode in ["delete", "wal"] {
        let keys = Keys::new(mode);
        let ledger = Ledger::SMALL;
        let origin = keys.origin(&ledger);
        for ((call, failure), times) in failures.iter().flat_map(|failure| [(failure, 1), (failure, u64::MAX)]) {
            for after in 0.. {
                let disk = Disk::of_image(&origin);
                let _disk_guard = disk.enter();
                let connection = keys.connect_old().unwrap();
                disk.inject(Fault {
                    call: *call,
                    role: None,
                    after,
                    times,
                    failure: *failure,
                });
                let step = Cell::new(0);
                let done = change_all(&connection, &|now| step.set(now));
                let hits = disk.fault_hits();
                drop(connection);
                disk.clear_faults();
                let checked = keys.check(&ledger, step.get());
                assert!(
                    checked.is_ok(),
                    "{mode}, {call:?} {after}, {failure:?}: step {}, then {done:?}: {checked:?}",
                    step.get()
                );
                if hits == 0 {
                    assert!(done.is_ok() && step.get() == 3, "{done:?}");
                    break;
                }
            }
        }
    }
}
