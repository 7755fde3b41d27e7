//! Verification reports the table or index that a bad page belongs to.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use selenite::storage::Disk;
use selenite::verify::{BadPage, Owner, physical};
use selenite::{AutoVacuum, Cell, Database, Layout, PageSize, Watch};

use crate::support::{Collected, Fixture};

const SCHEMA: &str = "CREATE TABLE note (id INTEGER PRIMARY KEY, text, blob);
    CREATE INDEX note_by_text ON note (text);
    CREATE TABLE \"wide \u{e4}\" (a PRIMARY KEY, b) WITHOUT ROWID;
    CREATE VIEW v AS SELECT * FROM note;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 160)
    INSERT INTO note SELECT i, hex(randomblob(20 + i % 300)), CASE WHEN i % 40 = 0 THEN randomblob(5000) END FROM n;
    INSERT INTO \"wide \u{e4}\" SELECT hex(randomblob(30)), text FROM note;
    CREATE TABLE gone AS SELECT * FROM note;
    DROP TABLE gone;";

fn owners(path: &Path, fixture: &Fixture) -> BTreeMap<u32, Owner> {
    let report = physical(&Disk, path, &fixture.access(), &Watch::none()).unwrap();
    let name = |bad: BadPage| (bad.page_no, bad.owner.expect("every page has one"));
    report.bad.into_iter().map(name).collect()
}

fn flip(bytes: &mut [u8], page_no: u32, page_size: usize) {
    bytes[65536 + (usize::try_from(page_no).unwrap() - 1) * page_size + 77] ^= 1;
}

fn count(path: &Path, fixture: &Fixture, sql: &str) -> Result<(), selenite::EngineError> {
    let mut rows = Collected::default();
    Database::open(&Disk, path, &fixture.access())?.run(sql, &mut rows)
}

/// Each page alone is made bad. SQLite then fails to read the reported table or index, and reads
/// all others.
#[test]
fn each_page_belongs_to_the_object_that_sqlite_can_not_read_without_it() {
    for (page_size, encoding, auto_vacuum) in [
        (1024, "UTF-8", AutoVacuum::None),
        (1024, "UTF-16le", AutoVacuum::Full),
        (4096, "UTF-16be", AutoVacuum::Incremental),
    ] {
        let fixture = Fixture::new();
        let path = fixture.path("app.db");
        let layout = Layout {
            page_size: PageSize::try_from(page_size).unwrap(),
            auto_vacuum,
            ..Layout::default()
        };
        let database = Database::create(&Disk, &path, &fixture.access(), &layout).unwrap();
        let mut rows = Collected::default();
        database
            .run(&format!("PRAGMA encoding = '{encoding}'; {SCHEMA}"), &mut rows)
            .unwrap();
        rows.0.clear();
        database.run("PRAGMA page_count", &mut rows).unwrap();
        let Cell::Integer(page_count) = rows.0[0][0] else {
            panic!("{rows:?}", rows = rows.0)
        };
        drop(database);
        let good = fs::read(&path).unwrap();
        let bytes_of = usize::try_from(page_size).unwrap();
        let mut kinds: BTreeMap<&str, u32> = BTreeMap::new();
        // Reading a damaged database takes long: some pages of each kind suffice.
        for page_no in (1..=u32::try_from(page_count).unwrap()).filter(|page_no| *page_no < 12 || page_no % 4 == 0) {
            let mut bad = good.clone();
            flip(&mut bad, page_no, bytes_of);
            fs::write(&path, &bad).unwrap();
            let found = owners(&path, &fixture);
            assert_eq!(found.keys().copied().collect::<Vec<_>>(), [page_no]);
            let owner = &found[&page_no];
            *kinds.entry(owner.word()).or_default() += 1;
            let reads = [
                (
                    "note",
                    "SELECT sum(length(text)), sum(length(CAST(blob AS TEXT))) FROM note NOT INDEXED",
                ),
                (
                    "note_by_text",
                    "SELECT count(DISTINCT text) FROM note INDEXED BY note_by_text",
                ),
                ("wide \u{e4}", "SELECT sum(length(b)), count(*) FROM \"wide \u{e4}\""),
            ];
            for (name, sql) in reads {
                let is_bad = count(&path, &fixture, sql).is_err();
                let expected = page_no == 1 || owner.name() == Some(name);
                assert_eq!(is_bad, expected, "page {page_no} of {page_size}: {owner}, {sql}");
            }
        }
        assert_eq!(
            kinds.contains_key("pointer map"),
            auto_vacuum != AutoVacuum::None,
            "{kinds:?}"
        );
        let has_free = auto_vacuum != AutoVacuum::Full;
        assert_eq!(kinds.contains_key("free list"), has_free, "{kinds:?}");
        assert!(
            kinds["table"] > 4 && kinds["index"] > 1 && !kinds.contains_key("unknown"),
            "{kinds:?}"
        );
    }
}

/// An owner that only a bad page would reveal is not guessed.
#[test]
fn unreachable_pages_have_an_unknown_owner() {
    let fixture = Fixture::new();
    let path = fixture.path("app.db");
    let database = Database::create(&Disk, &path, &fixture.access(), &Layout::default()).unwrap();
    database.run(SCHEMA, &mut Collected::default()).unwrap();
    drop(database);
    let mut bytes = fs::read(&path).unwrap();
    let page_count = u32::try_from((bytes.len() - 65536) / 4096).unwrap();
    for page_no in 1..=page_count {
        flip(&mut bytes, page_no, 4096);
    }
    fs::write(&path, bytes).unwrap();
    let found = owners(&path, &fixture);
    assert_eq!(found.len(), usize::try_from(page_count).unwrap());
    for (page_no, owner) in found {
        assert_eq!(owner, if page_no == 1 { Owner::Schema } else { Owner::Unknown });
    }
}
