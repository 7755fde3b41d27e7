//! Short anchors: what `follow` appends to a place, and what a connection with `anchor=` is compared with.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rusqlite::Connection;
use selenite::follow::{Anchoring, write_anchors};
use selenite::storage::Disk;
use selenite::{AnchorPlace, Class, EngineError, Observer, Progress, Watch};
use selenite_testing::random::Random;

use crate::support::Fixture;

mod accepted;

const WAL: &str = "PRAGMA journal_mode = WAL; CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
    INSERT INTO t SELECT i, randomblob(2500) FROM n;";

/// An encrypted database in WAL mode, and a place for its anchors.
struct Anchored {
    fixture: Fixture,
    path: PathBuf,
    place: PathBuf,
}

impl Anchored {
    fn new() -> Self {
        let fixture = Fixture::new();
        let (path, place) = (fixture.path("app.db"), fixture.path("anchors"));
        let anchored = Self { fixture, path, place };
        anchored.connect(&anchored.path).unwrap().execute_batch(WAL).unwrap();
        anchored
    }

    fn connect(&self, path: &Path) -> rusqlite::Result<Connection> {
        self.connect_with(path, "")
    }

    /// Opens it and reads the schema.
    fn connect_with(&self, path: &Path, parameters: &str) -> rusqlite::Result<Connection> {
        let uri = format!("{}{parameters}", self.fixture.access().uri(path).as_str());
        let connection = Connection::open(uri)?;
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        Ok(connection)
    }

    fn open(&self, path: &Path, more: &str) -> rusqlite::Result<i64> {
        let connection = self.connect_with(path, &format!("&anchor={}{more}", self.place.display()))?;
        connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0))
    }

    /// Follows until `after` a turn, which gets what is waited for, returns that it is enough.
    fn follow_with(&self, after: &mut dyn FnMut(Option<&str>) -> bool) -> Result<u64, EngineError> {
        let stop = Arc::new(Stop::default());
        let how = Anchoring {
            place: AnchorPlace::File(self.place.clone()),
            every: Duration::ZERO,
            accept_older: false,
            is_first: !self.place.exists(),
        };
        write_anchors(
            &Disk,
            &self.path,
            &self.fixture.access(),
            (how, false),
            &Watch::new(stop.clone()),
            &mut |_, waits_for| {
                let is_enough = after(waits_for);
                stop.0.fetch_or(is_enough, Ordering::SeqCst);
            },
        )
    }

    fn follow(&self, accept_older: bool) -> Result<u64, EngineError> {
        let how = Anchoring {
            place: AnchorPlace::File(self.place.clone()),
            every: Duration::ZERO,
            accept_older,
            is_first: !self.place.exists(),
        };
        write_anchors(
            &Disk,
            &self.path,
            &self.fixture.access(),
            (how, true),
            &Watch::none(),
            &mut |_, _| {},
        )
    }

    /// A copy of the database and its log, in a folder of its own.
    fn copy(&self, name: &str) -> PathBuf {
        let folder = self.fixture.path(name);
        fs::create_dir(&folder).unwrap();
        for suffix in ["", "-wal", "-journal"] {
            let file = format!("app.db{suffix}");
            if self.fixture.path(&file).exists() {
                fs::copy(self.fixture.path(&file), folder.join(&file)).unwrap();
            }
        }
        folder.join("app.db")
    }

    /// Puts such a copy in the place of the database.
    fn put_back(&self, copy: &Path) {
        for suffix in ["", "-wal", "-shm"] {
            let file = self.fixture.path(&format!("app.db{suffix}"));
            let _ = fs::remove_file(&file);
            let from = copy.with_file_name(format!("app.db{suffix}"));
            if from.exists() {
                fs::copy(from, file).unwrap();
            }
        }
    }
}

/// Ends what is watched when it is set.
#[derive(Default)]
struct Stop(AtomicBool);

impl Observer for Stop {
    fn progress(&self, _: Progress) {}

    fn is_interrupted(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// SQLITE_IOERR_VNODE: another database than the expected one, or an older one.
const VNODE: i32 = 10 | (27 << 8);
/// SQLITE_IOERR_AUTH: what is needed to judge it can't be reached.
const AUTH: i32 = 10 | (28 << 8);

fn code(opened: &rusqlite::Result<i64>) -> i32 {
    match opened {
        Ok(_) => 0,
        Err(error) => error.sqlite_error().unwrap().extended_code,
    }
}

fn pick(random: &mut Random, count: usize) -> usize {
    usize::try_from(random.below(count.try_into().unwrap())).unwrap()
}

#[test]
fn every_copy_from_before_the_anchor_is_refused_and_nothing_else() {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    let seed = Random::seed_or(u64::from(now.subsec_nanos()));
    println!("seed {seed}");
    let mut random = Random::new(seed);
    for _ in 0..6 {
        let anchored = Anchored::new();
        let mut connections = vec![anchored.connect(&anchored.path).unwrap()];
        let (mut commits, mut anchored_commits) = (0, None);
        let mut copies: Vec<(PathBuf, u32)> = Vec::new();
        for step in 0..60 {
            let which = pick(&mut random, connections.len());
            match random.below(12) {
                0..=4 => {
                    let (from, count) = (1 + random.below(39), 1 + random.below(5));
                    let sql = format!(
                        "UPDATE t SET b = randomblob(2500) WHERE a BETWEEN {from} AND {}",
                        from + count
                    );
                    let sql = match random.below(5) {
                        0 => "INSERT INTO t (b) VALUES (randomblob(9000))".to_owned(),
                        1 => "DELETE FROM t WHERE a = (SELECT max(a) FROM t WHERE a > 45)".to_owned(),
                        _ => sql,
                    };
                    commits += u32::from(connections[which].execute(&sql, []).unwrap() > 0);
                }
                5 => {
                    let kind = ["PASSIVE", "FULL", "RESTART", "TRUNCATE"][pick(&mut random, 4)];
                    let sql = format!("PRAGMA wal_checkpoint({kind})");
                    connections[which].query_row(&sql, [], |_| Ok(())).unwrap();
                }
                6 if random.below(4) == 0 => {
                    connections[which].execute_batch("VACUUM").unwrap();
                    commits += 1;
                }
                6 | 7 => connections.push(anchored.connect(&anchored.path).unwrap()),
                8 => {
                    // The last one to be closed copies the log and removes it.
                    connections.clear();
                    connections.push(anchored.connect(&anchored.path).unwrap());
                }
                9 | 10 => {
                    anchored.follow(false).unwrap();
                    anchored_commits = Some(commits);
                }
                _ => copies.push((anchored.copy(&format!("copy{step}")), commits)),
            }
            if anchored_commits.is_some() {
                let opened = anchored.open(&anchored.path, "");
                assert_eq!(code(&opened), 0, "seed {seed}, step {step}: {opened:?}");
            }
        }
        let Some(known) = anchored_commits else { continue };
        drop(connections);
        for (copy, commits) in copies {
            let opened = anchored.open(&copy, "&anchor_missing=allow");
            let expected = if commits < known { VNODE } else { 0 };
            assert_eq!(
                code(&opened),
                expected,
                "seed {seed}: {commits} of {known}: {}",
                copy.display()
            );
        }
    }
}

#[test]
fn an_old_page_or_log_among_new_ones_is_refused_and_a_forged_counter_too() {
    let anchored = Anchored::new();
    let connection = anchored.connect(&anchored.path).unwrap();
    let checkpoint = || {
        connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .unwrap()
    };
    checkpoint();
    let old = anchored.copy("old");
    connection
        .execute("UPDATE t SET b = randomblob(2500) WHERE a = 7", [])
        .unwrap();
    let (with_log, without) = (anchored.copy("with_log"), anchored.copy("without"));
    checkpoint();
    let new = anchored.copy("new");
    anchored.follow(false).unwrap();
    assert_eq!(code(&anchored.open(&with_log, "")), 0);
    fs::remove_file(without.with_file_name("app.db-wal")).unwrap();
    assert_eq!(code(&anchored.open(&without, "")), VNODE);
    let (old, mut bytes) = (fs::read(old).unwrap(), fs::read(&new).unwrap());
    assert_eq!(old.len(), bytes.len());
    let page_size = 4096;
    let differing: Vec<usize> = (65_536..bytes.len())
        .step_by(page_size)
        .filter(|&at| old[at..at + page_size] != bytes[at..at + page_size])
        .collect();
    assert!(!differing.is_empty());
    for at in differing {
        let newer = bytes[at..at + page_size].to_vec();
        bytes[at..at + page_size].copy_from_slice(&old[at..at + page_size]);
        fs::write(&new, &bytes).unwrap();
        assert_eq!(code(&anchored.open(&new, "")), VNODE);
        // The counter is the last number of the nonce (FORMAT 5.1).
        let counter = at + page_size - 16 - 4;
        bytes[counter..counter + 4].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff]);
        fs::write(&new, &bytes).unwrap();
        let forged = code(&anchored.open(&new, ""));
        assert!(forged != 0 && forged != VNODE, "{forged}");
        bytes[at..at + page_size].copy_from_slice(&newer);
    }
    fs::write(&new, &bytes).unwrap();
    assert_eq!(code(&anchored.open(&new, "")), 0);
}

#[test]
fn an_older_superblock_is_refused_and_so_is_an_anchor_that_can_not_be_judged() {
    let anchored = Anchored::new();
    let before = anchored.copy("before");
    let access = anchored.fixture.access();
    selenite::keys::add(&Disk, &anchored.path, &access, &anchored.fixture.spec("other-key"), "").unwrap();
    anchored.follow(false).unwrap();
    assert_eq!(code(&anchored.open(&anchored.path, "")), 0);
    assert_eq!(code(&anchored.open(&before, "&anchor_missing=allow")), VNODE);
    let renewed = anchored.copy("renewed");
    selenite::keys::renew(&Disk, &renewed, &access, &[], true).unwrap();
    // Its master key is another one: the MAC can't be checked.
    assert_eq!(code(&anchored.open(&renewed, "")), AUTH);
    assert_eq!(code(&anchored.open(&renewed, "&anchor_missing=allow")), 0);
}

#[test]
fn a_place_without_an_anchor_of_the_database_is_an_error_that_can_be_allowed() {
    let anchored = Anchored::new();
    let refuse = |what: &str| {
        assert_eq!(code(&anchored.open(&anchored.path, "")), AUTH, "{what}");
        assert_eq!(
            code(&anchored.open(&anchored.path, "&anchor_missing=allow")),
            0,
            "{what}"
        );
    };
    refuse("missing");
    fs::write(&anchored.place, "").unwrap();
    refuse("empty");
    let unnamed = anchored.connect_with(&anchored.path, "&anchor=");
    assert!(unnamed.is_err());
    fs::write(&anchored.place, "selenite short anchor 1\n").unwrap();
    refuse("cut");
    fs::remove_file(&anchored.place).unwrap();
    anchored.follow(false).unwrap();
    let text = fs::read_to_string(&anchored.place).unwrap();
    assert_eq!(code(&anchored.open(&anchored.path, "")), 0);
    for altered in [
        text.replace("number 1", "number 2"),
        text.replace("generation ", "generation 1"),
        text.replace("short anchor 1", "short anchor 2"),
    ] {
        fs::write(&anchored.place, altered).unwrap();
        refuse("altered");
    }
    let another = Anchored::new();
    another.follow(false).unwrap();
    fs::copy(&another.place, &anchored.place).unwrap();
    refuse("of another");
    fs::remove_file(&anchored.place).unwrap();
    fs::create_dir(&anchored.place).unwrap();
    refuse("a folder");
    fs::remove_dir(&anchored.place).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &anchored.place, rustix::fs::Mode::RUSR).unwrap();
    refuse("a pipe");
    fs::remove_file(&anchored.place).unwrap();
    // Closing it would release the locks of the connections that have it open.
    std::os::unix::fs::symlink(&anchored.path, &anchored.place).unwrap();
    let user = anchored.connect(&anchored.path).unwrap();
    user.execute_batch("BEGIN IMMEDIATE").unwrap();
    refuse("the database");
    let other = anchored.connect(&anchored.path).unwrap();
    assert!(
        other.execute_batch("BEGIN IMMEDIATE").is_err(),
        "the lock is still held"
    );
}

#[test]
fn the_last_anchor_counts_however_the_next_was_cut() {
    let anchored = Anchored::new();
    anchored.follow(false).unwrap();
    let old = anchored.copy("old");
    let connection = anchored.connect(&anchored.path).unwrap();
    connection.execute("UPDATE t SET b = 1 WHERE a = 3", []).unwrap();
    let first = fs::read(&anchored.place).unwrap();
    anchored.follow(false).unwrap();
    let both = fs::read(&anchored.place).unwrap();
    assert!(both.starts_with(&first));
    for end in [first.len() + 1, first.len() + 30, both.len() - 1] {
        fs::write(&anchored.place, &both[..end]).unwrap();
        assert_eq!(code(&anchored.open(&old, "")), 0);
        // The next one is found behind it.
        anchored.follow(false).unwrap();
        assert_eq!(code(&anchored.open(&old, "")), VNODE);
        assert_eq!(code(&anchored.open(&anchored.path, "")), 0);
    }
}

#[test]
fn no_journal_is_played_back_before_the_comparison() {
    let anchored = Anchored::new();
    let old = anchored.copy("old");
    let connection = anchored.connect(&anchored.path).unwrap();
    connection.execute("UPDATE t SET b = 1 WHERE a < 9", []).unwrap();
    anchored.follow(false).unwrap();
    connection
        .query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))
        .unwrap();
    connection
        .execute_batch("PRAGMA cache_size = 2; PRAGMA cache_spill = 1; BEGIN; UPDATE t SET b = randomblob(2500);")
        .unwrap();
    let hot = anchored.copy("hot");
    assert!(hot.with_file_name("app.db-journal").metadata().unwrap().len() > 4096);
    connection.execute_batch("ROLLBACK").unwrap();
    // An old journal could be put there: it is played back by those that don't compare.
    let refused = code(&anchored.open(&hot, ""));
    assert!(refused != 0 && refused != VNODE, "{refused}");
    assert!(hot.with_file_name("app.db-journal").exists());
    drop(anchored.connect(&hot).unwrap());
    assert_eq!(code(&anchored.open(&hot, "")), 0);
    assert_eq!(code(&anchored.open(&anchored.path, "")), 0);
    assert_eq!(code(&anchored.open(&old, "")), VNODE);
    let refused = anchored.follow(false).unwrap_err();
    assert_eq!(refused.class(), Class::Usage, "{refused}");
}

#[test]
fn a_connection_without_locks_is_not_compared_and_so_refused() {
    let anchored = Anchored::new();
    anchored.follow(false).unwrap();
    for more in ["&immutable=1", "&nolock=1"] {
        assert_ne!(code(&anchored.open(&anchored.path, more)), 0, "{more}");
    }
    // With a log, exclusive mode reads without any lock of its index.
    let user = anchored.connect(&anchored.path).unwrap();
    user.execute("UPDATE t SET b = 1 WHERE a = 1", []).unwrap();
    let copy = anchored.copy("copy");
    let uri = anchored.fixture.access().uri(&copy);
    let connection = Connection::open(format!("{}&anchor={}", uri.as_str(), anchored.place.display())).unwrap();
    connection.execute_batch("PRAGMA locking_mode = EXCLUSIVE").unwrap();
    let read = connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0));
    assert_ne!(code(&read), 0);
}

#[test]
fn an_unencrypted_or_empty_file_is_not_the_database() {
    let anchored = Anchored::new();
    anchored.follow(false).unwrap();
    let clear = anchored
        .fixture
        .plain("clear.db", "CREATE TABLE t (a); CREATE TABLE u (a)");
    assert_eq!(code(&anchored.open(&clear, "&plain=allow&anchor_missing=allow")), VNODE);
    let empty = anchored.fixture.path("empty.db");
    fs::write(&empty, "").unwrap();
    assert_eq!(code(&anchored.open(&empty, "&anchor_missing=allow")), VNODE);
}

/// As an attacker does to a file that an application has open.
fn overwrite(path: &Path, from: &Path) {
    use std::os::unix::fs::FileExt;
    let bytes = fs::read(from).unwrap();
    let file = fs::File::options().write(true).open(path).unwrap();
    file.write_all_at(&bytes, 0).unwrap();
    // Closing it would release the locks of the connections of this process.
    std::mem::forget(file);
}

#[test]
fn what_was_put_back_while_it_is_followed_does_not_become_the_newest_state() {
    let anchored = Anchored::new();
    let connection = anchored.connect(&anchored.path).unwrap();
    let checkpoint = || {
        connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .unwrap()
    };
    checkpoint();
    let old = anchored.copy("old");
    connection.execute("UPDATE t SET b = 'new' WHERE a = 7", []).unwrap();
    checkpoint();
    let how = Anchoring {
        place: AnchorPlace::File(anchored.place.clone()),
        every: Duration::ZERO,
        accept_older: false,
        is_first: true,
    };
    let mut is_put_back = false;
    let followed = write_anchors(
        &Disk,
        &anchored.path,
        &anchored.fixture.access(),
        (how, false),
        &Watch::none(),
        &mut |written, _| {
            assert_eq!(written, 1);
            assert!(!std::mem::replace(&mut is_put_back, true), "it ends at once");
            overwrite(&anchored.path, &old);
            connection
                .execute("UPDATE t SET b = 'unrelated' WHERE a = 30", [])
                .unwrap();
            checkpoint();
        },
    );
    assert!(matches!(followed, Err(EngineError::Anchor { .. })), "{followed:?}");
    assert_eq!(code(&anchored.open(&anchored.path, "")), VNODE);
}

#[test]
fn a_file_that_takes_the_name_meanwhile_ends_it() {
    let anchored = Anchored::new();
    let other = anchored.copy("other");
    let how = Anchoring {
        place: AnchorPlace::File(anchored.place.clone()),
        every: Duration::ZERO,
        accept_older: false,
        is_first: true,
    };
    let followed = write_anchors(
        &Disk,
        &anchored.path,
        &anchored.fixture.access(),
        (how, false),
        &Watch::none(),
        &mut |_, _| fs::rename(&other, &anchored.path).unwrap(),
    );
    assert_eq!(followed.unwrap_err().class(), Class::Usage);
}

#[test]
fn threads_that_open_it_at_once_read_the_anchor_one_after_the_other() {
    let anchored = Anchored::new();
    anchored.follow(false).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..30 {
                    assert_eq!(code(&anchored.open(&anchored.path, "")), 0);
                }
            });
        }
    });
}

#[test]
fn a_text_under_another_key_proves_nothing_and_a_second_writer_is_refused() {
    let anchored = Anchored::new();
    anchored.follow(false).unwrap();
    let text = fs::read_to_string(&anchored.place).unwrap();
    let key = text.lines().find(|line| line.starts_with("key ")).unwrap();
    let forged = text
        .replace(key, &format!("key {}", "0".repeat(32)))
        .replace("number 1\n", &format!("number {}\n", u64::MAX));
    // A later generation would be that of a renewed master key, before which the database was put back.
    fs::write(&anchored.place, forged.replace("generation ", "generation 9")).unwrap();
    assert_eq!(code(&anchored.open(&anchored.path, "&anchor_missing=allow")), VNODE);
    fs::write(&anchored.place, format!("{text}{forged}")).unwrap();
    assert_eq!(
        code(&anchored.open(&anchored.path, "")),
        0,
        "the one whose MAC is right is compared"
    );
    fs::write(&anchored.place, forged).unwrap();
    assert_eq!(code(&anchored.open(&anchored.path, "")), AUTH);
    assert_eq!(code(&anchored.open(&anchored.path, "&anchor_missing=allow")), 0);
    let refused = anchored.follow(false).unwrap_err();
    assert!(matches!(refused, EngineError::NoAnchor { .. }), "{refused}");
}

#[test]
fn two_writers_of_anchors_are_told_of_each_other_and_not_of_texts_of_others() {
    let anchored = Anchored::new();
    anchored.follow(false).unwrap();
    let text = fs::read_to_string(&anchored.place).unwrap();
    let forged = text.replace("number 1\n", &format!("number {}\n", u64::MAX));
    let key = forged.lines().find(|line| line.starts_with("key ")).unwrap();
    let of_no_key = forged.replace(key, &format!("key {}", "0".repeat(32)));
    let connection = anchored.connect(&anchored.path).unwrap();
    let commit = || {
        connection
            .execute("UPDATE t SET b = randomblob(9) WHERE a = 3", [])
            .unwrap()
    };
    // What any user could append has the highest number.
    fs::write(&anchored.place, format!("{of_no_key}{text}")).unwrap();
    commit();
    assert_eq!(anchored.follow(false).unwrap(), 1);
    fs::write(&anchored.place, format!("{text}{of_no_key}")).unwrap();
    assert_eq!(anchored.follow(false).unwrap(), 1);
    assert_eq!(code(&anchored.open(&anchored.path, "")), 0);
    commit();
    let mut said: Vec<Option<String>> = Vec::new();
    let written = anchored.follow_with(&mut |waits_for| {
        said.push(waits_for.map(str::to_owned));
        let place = fs::read_to_string(&anchored.place).unwrap();
        match said.len() {
            // Text of no one's does not keep it from writing; another writer does.
            1 => fs::write(&anchored.place, format!("{place}{forged}{of_no_key}")).unwrap(),
            2 => assert_eq!(anchored.follow(false).unwrap(), 1),
            _ => {}
        }
        commit();
        said.len() == 4
    });
    assert_eq!(written.unwrap(), 4);
    let told: Vec<bool> = said.iter().map(Option::is_some).collect();
    assert_eq!(told, [false, false, true, false, false], "{said:?}");
    let told = said[2].as_ref().unwrap();
    assert!(told.contains("another process writes there"), "{told}");
}

#[test]
fn a_number_that_no_one_has_counted_to_does_not_end_the_numbers() {
    let anchored = Anchored::new();
    anchored.follow(false).unwrap();
    let text = fs::read_to_string(&anchored.place).unwrap();
    let key = text.lines().find(|line| line.starts_with("key ")).unwrap();
    let other = text.replace(key, &format!("key {}", "0".repeat(32)));
    let other = other.replace("number 1\n", &format!("number {}\n", u64::MAX));
    let generation = text.lines().find(|line| line.starts_with("generation ")).unwrap();
    let other = other.replace(generation, &format!("generation {}", u64::MAX));
    fs::write(&anchored.place, other).unwrap();
    let connection = anchored.connect(&anchored.path).unwrap();
    for _ in 0..3 {
        connection
            .execute("UPDATE t SET b = randomblob(9) WHERE a = 3", [])
            .unwrap();
        assert_eq!(anchored.follow(true).unwrap(), 1);
    }
    assert_eq!(code(&anchored.open(&anchored.path, "")), 0);
}

#[test]
fn the_place_is_no_file_of_the_database_and_only_its_owner_writes_there() {
    use std::os::unix::fs::PermissionsExt;
    let mut anchored = Anchored::new();
    let own = anchored.place.clone();
    std::os::unix::fs::symlink("app.db-journal", anchored.fixture.path("link")).unwrap();
    fs::write(anchored.fixture.path("app.db-journal"), "").unwrap();
    for name in [
        "app.db",
        "app.db-journal",
        "app.db-wal",
        "app.db-shm",
        "app.db-selenite",
        "link",
    ] {
        anchored.place = anchored.fixture.path(name);
        let refused = anchored.follow(false).unwrap_err();
        assert_eq!(refused.class(), Class::Usage, "{name}: {refused}");
        assert!(
            refused.to_string().contains("no place for its anchors"),
            "{name}: {refused}"
        );
    }
    anchored.place = own;
    anchored.follow(false).unwrap();
    let mode = fs::metadata(&anchored.place).unwrap().permissions().mode();
    assert_eq!(mode & 0o022, 0, "{mode:o}");
}

#[test]
fn the_file_from_before_a_checkpoint_is_refused_beside_a_log_larger_than_an_anchor_names() {
    let anchored = Anchored::new();
    let connection = anchored.connect(&anchored.path).unwrap();
    let checkpoint = || {
        connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .unwrap()
    };
    let more = "WITH RECURSIVE n(i) AS (SELECT 41 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
        INSERT INTO t SELECT i, randomblob(2500) FROM n";
    connection.execute_batch(more).unwrap();
    checkpoint();
    anchored.follow(false).unwrap();
    let old = anchored.copy("old");
    connection
        .execute("UPDATE t SET b = randomblob(2500) WHERE a = 7", [])
        .unwrap();
    anchored.follow(false).unwrap();
    checkpoint();
    for round in 0..4 {
        let from = 50 + round * 80;
        let sql = format!(
            "UPDATE t SET b = randomblob(2500) WHERE a BETWEEN {from} AND {}",
            from + 79
        );
        connection.execute(&sql, []).unwrap();
        anchored.follow(false).unwrap();
        assert_eq!(code(&anchored.open(&anchored.path, "")), 0);
        let newest = anchored.copy(&format!("newest{round}"));
        let mixed = anchored.copy(&format!("mixed{round}"));
        fs::copy(&old, &mixed).unwrap();
        assert_eq!(code(&anchored.open(&newest, "")), 0);
        assert_eq!(code(&anchored.open(&mixed, "")), VNODE, "round {round}");
    }
}

/// The anchor does not say which of its pages were named last.
#[test]
fn the_pages_that_were_named_last_stay_named_when_each_anchor_is_of_a_process_of_its_own() {
    let anchored = Anchored::new();
    let connection = anchored.connect(&anchored.path).unwrap();
    let checkpoint = || {
        connection
            .query_row("PRAGMA wal_checkpoint(FULL)", [], |_| Ok(()))
            .unwrap();
    };
    let commit = |from: u32, to: u32| {
        let sql = format!("UPDATE t SET b = randomblob(2500) WHERE a BETWEEN {from} AND {to}");
        connection.execute(&sql, []).unwrap();
        anchored.follow(false).unwrap();
    };
    let more = "WITH RECURSIVE n(i) AS (SELECT 41 UNION ALL SELECT i + 1 FROM n WHERE i < 700)
        INSERT INTO t SELECT i, randomblob(2500) FROM n";
    connection.execute_batch(more).unwrap();
    anchored.follow(false).unwrap();
    commit(2, 3);
    commit(10, 90);
    checkpoint();
    let old = anchored.copy("old");
    commit(500, 520);
    checkpoint();
    commit(300, 300);
    assert_eq!(code(&anchored.open(&anchored.path, "")), 0);
    let mixed = anchored.copy("mixed");
    fs::copy(&old, &mixed).unwrap();
    assert_eq!(code(&anchored.open(&mixed, "")), VNODE);
}
