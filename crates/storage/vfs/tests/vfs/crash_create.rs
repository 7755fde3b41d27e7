//! Crashes while a database is created: the file must be empty or whole (FORMAT 2.6).

use selenite_keyring::keygen;
use selenite_testing::crash_point::Density;
use selenite_testing::{Damage, Disk, KeyFile, Ledger, Opening, Scenario, run};

#[test]
fn a_new_database_is_empty_or_whole_after_every_crash() {
    let ways = [
        ("4096", "PRAGMA synchronous = extra;"),
        ("1024", "PRAGMA journal_mode = wal; PRAGMA synchronous = full;"),
        ("65536", "PRAGMA journal_mode = truncate;"),
    ];
    for (page_size, pragmas) in ways {
        for names_at_once in [false, true] {
            let key = KeyFile::new(1);
            let opening = Opening::encrypted("/create/main.db", &key).with("page_size", page_size);
            let ledger = Ledger::SMALL;
            let check = |acknowledged| {
                let connection = opening.connect().map_err(|error| format!("open: {error}"))?;
                ledger.check_recovered(&connection, &["main"], acknowledged)
            };
            let name = format!("create {page_size}, names at once: {names_at_once}");
            let mut scenario = Scenario::new(&name, &check).with_density(Density::DENSE);
            if names_at_once {
                scenario = scenario.with_names_at_once();
            }
            let summary = run(&scenario, |run| {
                let connection = opening.connect()?;
                connection.execute_batch(pragmas)?;
                ledger.create(&connection, &["main"])?;
                run.acknowledge(1);
                Ok(())
            });
            summary.assert_sound(200);
        }
    }
}

/// With many slots a superblock takes several sectors, of which any may be missing.
#[test]
fn a_new_database_with_large_superblocks_is_empty_or_whole_after_every_crash() {
    let identities: String = (0..5).map(|_| keygen(1).text.to_string()).collect();
    let key = KeyFile::holding("age", identities.as_bytes());
    let opening = Opening::encrypted("/create-large/main.db", &key);
    let ledger = Ledger::SMALL;
    let check = |acknowledged| {
        let connection = opening.connect().map_err(|error| format!("open: {error}"))?;
        ledger.check_recovered(&connection, &["main"], acknowledged)
    };
    let scenario = Scenario::new("create, large superblocks", &check).with_density(Density::DENSE);
    let summary = run(&scenario, |run| {
        let connection = opening.connect()?;
        connection.execute_batch("PRAGMA synchronous = extra")?;
        ledger.create(&connection, &["main"])?;
        run.acknowledge(1);
        Ok(())
    });
    summary.assert_sound(200);
}

/// VACUUM INTO creates a separate database: it exists when the statement is done, and the source is
/// never damaged.
#[test]
fn a_copy_by_vacuum_into_is_empty_or_whole_after_every_crash() {
    let key = KeyFile::new(1);
    let opening = Opening::encrypted("/into/main.db", &key).with("page_size", "1024");
    let copy = opening.at("/into/copy.db");
    let ledger = Ledger::SMALL;
    let check = |acknowledged| {
        let open = |opening: &Opening| opening.connect().map_err(|error| format!("open: {error}"));
        if acknowledged > 0 {
            ledger.check_recovered(&open(&opening)?, &["main"], acknowledged)?;
        }
        let copied = ledger.check(&open(&copy)?, "main")?;
        match copied {
            0 | 3 => Ok(()),
            other => Err(format!("{other} commits in the copy")),
        }
    };
    let scenario = Scenario::new("vacuum into", &check).with_density(Density::DENSE);
    let summary = run(&scenario, |run| {
        let connection = opening.connect()?;
        connection.execute_batch("PRAGMA synchronous = extra;")?;
        ledger.create(&connection, &["main"])?;
        for tx in 2..=3 {
            ledger.commit(&connection, &["main"], tx)?;
        }
        run.acknowledge(3);
        connection.execute("VACUUM INTO ?1", [copy.uri()])?;
        Ok(())
    });
    summary.assert_sound(200);
}

/// A power failure that damages the sectors being written leaves an empty file, a whole database, or, where a
/// superblock's sector holds garbage before the first commit, a file that is refused; never one that lost a commit.
#[test]
fn a_new_database_under_damaged_sectors_loses_no_commit() {
    for (page_size, pragmas, sector_size, powersafe) in [
        ("4096", "PRAGMA synchronous = extra;", 512, true),
        ("4096", "PRAGMA synchronous = extra;", 4096, false),
        (
            "1024",
            "PRAGMA journal_mode = wal; PRAGMA synchronous = full;",
            512,
            true,
        ),
        (
            "1024",
            "PRAGMA journal_mode = wal; PRAGMA synchronous = full;",
            4096,
            false,
        ),
    ] {
        let key = KeyFile::new(1);
        let opening = Opening::encrypted("/create-damaged/main.db", &key).with("page_size", page_size);
        let ledger = Ledger::SMALL;
        let check = |acknowledged| {
            let connection = match opening.connect() {
                Err(_) if acknowledged == 0 => return Ok(()),
                connection => connection.map_err(|error| format!("open: {error}"))?,
            };
            ledger.check_recovered(&connection, &["main"], acknowledged)
        };
        let prepare = |disk: &Disk| {
            if !powersafe {
                disk.forbid_powersafe_overwrite(sector_size);
            }
        };
        let name = format!("create damaged {page_size} {sector_size} {powersafe}");
        let scenario = Scenario::new(&name, &check)
            .with_disk(&prepare)
            .with_damage(Damage { sector_size, powersafe })
            .with_points(400);
        let summary = run(&scenario, |run| {
            let connection = opening.connect()?;
            connection.execute_batch(pragmas)?;
            ledger.create(&connection, &["main"])?;
            run.acknowledge(1);
            for tx in 2..=3 {
                ledger.commit(&connection, &["main"], tx)?;
                run.acknowledge(tx);
            }
            Ok(())
        });
        summary.assert_sound(100);
    }
}
