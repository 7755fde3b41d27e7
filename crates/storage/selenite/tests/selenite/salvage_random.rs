//! Random databases with random damage: every row whose pages are sound is salvaged, none is
//! wrong, and each missing one is reported. The expected result is queried from SQLite before the
//! damage (`dbstat`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use selenite::salvage::{Lost, Salvaged, TableReport};
use selenite::{AutoVacuum, Cell, Layout, PageSize, Suite};

use crate::salvage::{numbers, save, saved, sealed, table};
use crate::support::{Fixture, query};

/// SplitMix64.
struct Random(u64);

impl Random {
    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.draw() % end
    }
}

/// Tables of one to four columns, some with rows longer than a page, and with free pages.
fn statements(random: &mut Random) -> String {
    let mut sql = String::new();
    let table_count = 1 + random.below(4);
    for number in 0..table_count {
        let columns = [
            "id INTEGER PRIMARY KEY",
            "id",
            "id INTEGER PRIMARY KEY, x TEXT",
            "id INT, x, y REAL, z",
        ];
        let names = ["id, v", "id, v", "id, x, v", "id, x, y, z, v"];
        let values = ["i", "-i", "i, 'x' || i", "i, i * 0.5, i, NULL"];
        let kind = usize::try_from(random.below(4)).unwrap();
        let (rows, size) = (
            random.below(1500) + 1,
            [0, 40, 900, 4000][usize::try_from(random.below(4)).unwrap()],
        );
        let step = 1 + random.below(5);
        sql.push_str(&format!(
            "CREATE TABLE t{number} ({}, v BLOB); CREATE INDEX i{number} ON t{number} (id, v);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + {step} FROM n WHERE i < {rows})
            INSERT INTO t{number} ({}) SELECT {}, randomblob(abs(random()) % {}) FROM n;",
            columns[kind],
            names[kind],
            values[kind],
            size + 10,
        ));
        if random.below(2) == 0 {
            let (first, last) = (random.below(rows), random.below(rows));
            sql.push_str(&format!(
                "DELETE FROM t{number} WHERE rowid BETWEEN {first} AND {last};"
            ));
        }
    }
    sql.push_str("CREATE TABLE keyed (a, b, PRIMARY KEY (b, a)) WITHOUT ROWID;");
    let rows = random.below(600) + 1;
    sql.push_str(&format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
        INSERT INTO keyed SELECT i, hex(randomblob(i % 90)) FROM n;"
    ));
    sql
}

/// For each table its rows by rowid, and the pages of each row: those from the root to its leaf,
/// and its overflow pages.
struct Expected {
    rows: BTreeMap<String, BTreeMap<i64, Vec<Cell>>>,
    pages: BTreeMap<String, BTreeMap<i64, BTreeSet<u32>>>,
    keyed: BTreeSet<String>,
}

impl Expected {
    fn of(fixture: &Fixture, path: &Path) -> Self {
        let ask = |sql: &str| query(path, &fixture.access(), sql).unwrap();
        let mut expected = Self {
            rows: BTreeMap::new(),
            pages: BTreeMap::new(),
            keyed: ask(KEYED).iter().map(|row| format!("{row:?}")).collect(),
        };
        for name in ask("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 't_'") {
            let Cell::Text(name) = &name[0] else { panic!() };
            let rows = by_rowid(ask(&all(name)));
            let nodes = ask(&format!(
                "SELECT path, pageno, pagetype, ncell FROM dbstat WHERE name = '{name}' ORDER BY path"
            ));
            expected.pages.insert(name.clone(), pages_of(&rows, &nodes));
            expected.rows.insert(name.clone(), rows);
        }
        expected
    }
}

const KEYED: &str = "SELECT a, b FROM keyed";

fn all(name: &str) -> String {
    format!("SELECT rowid, *, typeof(id) FROM {name}")
}

fn by_rowid(rows: Vec<Vec<Cell>>) -> BTreeMap<i64, Vec<Cell>> {
    let rowid = |row: &Vec<Cell>| match row[0] {
        Cell::Integer(rowid) => rowid,
        Cell::Null | Cell::Real(_) | Cell::Text(_) | Cell::Blob(_) => panic!("{row:?}"),
    };
    rows.into_iter().map(|row| (rowid(&row), row)).collect()
}

/// Leaves have the rows in the order of their paths: `/`, `/000/`, `/000/01a/`;
/// `/000/01a/003+000000` is an overflow page of the fourth cell (sqlite.org/dbstat.html).
fn pages_of(rows: &BTreeMap<i64, Vec<Cell>>, nodes: &[Vec<Cell>]) -> BTreeMap<i64, BTreeSet<u32>> {
    let mut by_path: BTreeMap<&str, u32> = BTreeMap::new();
    let mut pages = BTreeMap::new();
    let mut rowids = rows.keys();
    let mut cells: BTreeMap<String, i64> = BTreeMap::new();
    let parts = |node: &'_ Vec<Cell>| match (&node[0], &node[1], &node[2], &node[3]) {
        (Cell::Text(path), Cell::Integer(page_no), Cell::Text(kind), Cell::Integer(count)) => {
            (path.clone(), u32::try_from(*page_no).unwrap(), kind.clone(), *count)
        }
        other => panic!("{other:?}"),
    };
    for node in nodes {
        let (_, page_no, kind, _) = parts(node);
        if let (Cell::Text(path), "internal" | "leaf") = (&node[0], kind.as_str()) {
            by_path.insert(path, page_no);
        }
    }
    for node in nodes {
        let (path, _, kind, count) = parts(node);
        if kind != "leaf" {
            continue;
        }
        let ends = path.match_indices('/').map(|(at, _)| &path[..=at]);
        let way: BTreeSet<u32> = ends.map(|prefix| by_path[prefix]).collect();
        for cell in 0..count {
            let rowid = *rowids.next().unwrap();
            pages.insert(rowid, way.clone());
            cells.insert(format!("{path}{cell:03x}"), rowid);
        }
    }
    assert_eq!(rowids.next(), None);
    for node in nodes {
        let (path, page_no, kind, _) = parts(node);
        if kind == "overflow" {
            let rowid = cells[path.split_once('+').unwrap().0];
            pages.get_mut(&rowid).unwrap().insert(page_no);
        }
    }
    pages
}

/// Damages pages at random; returns their numbers.
fn damage(path: &Path, page_size: usize, page_count: u32, random: &mut Random) -> BTreeSet<u32> {
    let mut bytes = fs::read(path).unwrap();
    let place = |page_no: u32| 65536 + (usize::try_from(page_no).unwrap() - 1) * page_size;
    let mut spoilt = BTreeSet::new();
    for _ in 0..=random.below(5) {
        // Damage of page 1 has another test.
        let mut draw = || 2 + u32::try_from(random.below(u64::from(page_count) - 1)).unwrap();
        let (one, other) = (draw(), draw());
        let at = place(one);
        let image = bytes[at..at + page_size].to_vec();
        match random.below(4) {
            // A second flip of the same bit would repair it.
            0 if !spoilt.contains(&one) => {
                bytes[at + usize::try_from(random.below(1024)).unwrap()] ^= 1 << random.below(8)
            }
            1 => bytes[at..at + page_size].fill(0),
            2 if one != other && !spoilt.contains(&one) && !spoilt.contains(&other) => {
                bytes.copy_within(place(other)..place(other) + page_size, at);
                bytes[place(other)..place(other) + page_size].copy_from_slice(&image);
                spoilt.insert(other);
            }
            3 if one != other && !spoilt.contains(&one) && !spoilt.contains(&other) => {
                bytes[place(other)..place(other) + page_size].copy_from_slice(&image);
                spoilt.insert(other);
                continue;
            }
            _ => continue,
        }
        spoilt.insert(one);
    }
    if random.below(8) == 0 {
        let end = 2 + u32::try_from(random.below(u64::from(page_count) - 1)).unwrap();
        bytes.truncate(place(end));
        spoilt.extend(end..=page_count);
    }
    fs::write(path, bytes).unwrap();
    spoilt
}

/// Whether the report lists this row as lost.
fn is_accounted_for(report: &TableReport, rowid: i64) -> bool {
    report.lost.iter().any(|lost| match lost {
        Lost::Page(hole) => {
            hole.above.is_none_or(|above| rowid > above) && hole.up_to.is_none_or(|up_to| rowid <= up_to)
        }
        Lost::Row { rowid: lost, .. } => *lost == Some(rowid),
    })
}

fn compare(fixture: &Fixture, expected: &Expected, spoilt: &BTreeSet<u32>, salvaged: &Salvaged, seed: u64) {
    assert_eq!(salvaged.bad_count, u64::try_from(spoilt.len()).unwrap(), "seed {seed}");
    for (name, rows) in &expected.rows {
        let report = table(salvaged, name);
        let found = by_rowid(saved(fixture, &all(name)));
        assert_eq!(report.row_count, u64::try_from(found.len()).unwrap(), "seed {seed}");
        for (rowid, row) in &found {
            assert_eq!(
                Some(row),
                rows.get(rowid),
                "seed {seed}: {name} has a row {rowid} that never was"
            );
        }
        for (rowid, pages) in &expected.pages[name] {
            let is_there = found.contains_key(rowid);
            let is_sound = pages.is_disjoint(spoilt);
            assert!(
                is_there || !is_sound,
                "seed {seed}: {name} lacks row {rowid} of {pages:?}"
            );
            let is_told = is_there || is_accounted_for(report, *rowid);
            assert!(is_told, "seed {seed}: {name} row {rowid} is not said to be lost");
        }
    }
    for row in saved(fixture, KEYED) {
        assert!(expected.keyed.contains(&format!("{row:?}")), "seed {seed}: {row:?}");
    }
    let keyed = table(salvaged, "keyed");
    let is_all_there = keyed.row_count == u64::try_from(expected.keyed.len()).unwrap();
    assert_eq!(is_all_there, keyed.lost_count == 0, "seed {seed}: {keyed:?}");
}

fn run(seed: u64) -> u64 {
    let mut random = Random(seed);
    let auto_vacuum = [AutoVacuum::None, AutoVacuum::Full, AutoVacuum::Incremental];
    let layout = Layout {
        suite: Suite::Aegis128X4,
        page_size: PageSize::try_from([1024, 1024, 2048, 4096][usize::try_from(random.below(4)).unwrap()]).unwrap(),
        auto_vacuum: auto_vacuum[usize::try_from(random.below(3)).unwrap()],
    };
    let fixture = Fixture::new();
    let path = sealed(&fixture, "app.db", &layout, &statements(&mut random));
    let expected = Expected::of(&fixture, &path);
    let page_count = numbers(&path, &fixture, "PRAGMA page_count")[0];
    let spoilt = damage(&path, layout.page_size.bytes(), page_count, &mut random);
    let salvaged = save(&fixture, &path);
    compare(&fixture, &expected, &spoilt, &salvaged, seed);
    salvaged.tables.iter().map(|table| table.lost_count).sum()
}

#[test]
fn every_row_on_sound_pages_is_salvaged_and_none_is_wrong() {
    let first = std::env::var("SELENITE_SEED").ok().and_then(|seed| seed.parse().ok());
    let first: u64 = first.unwrap_or(0x5a1);
    println!("seeds from {first}");
    let lost: Vec<u64> = (first..first + 40).map(run).collect();
    let with_loss = lost.iter().filter(|&&count| count > 0).count();
    println!("something was lost in {with_loss} of {}", lost.len());
    assert!(with_loss > 5, "the damage never hits a row");
}
