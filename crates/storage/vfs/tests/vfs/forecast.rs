//! `selenite_forecast`, `selenite_file_counts` and `selenite_metrics()`, for encrypted and
//! unencrypted databases.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rusqlite::Connection;
use selenite_testing::disk::DiskGuard;
use selenite_testing::{Disk, KeyFile, Opening};

const PAGE_SIZE: i64 = 4096;
const FRAME_SIZE: i64 = PAGE_SIZE + 24;
const SUITES: [&str; 8] = [
    "AEGIS_128X4",
    "AEGIS_256X4",
    "AES_128",
    "AES_192",
    "AES_256",
    "AES_256_CTR_HMAC",
    "CHACHA20",
    "TRIPLE_DES_3KEY",
];

struct ForecastDatabase {
    opening: Opening,
    _disk_guard: DiskGuard,
    _key: KeyFile,
}

impl ForecastDatabase {
    /// A disk for one database, at a path that no other test uses: counts belong to the process.
    fn new(test: &str, is_clear: bool) -> Self {
        let disk = Disk::new();
        let disk_guard = disk.enter();
        let key = KeyFile::new(1);
        let path = format!("/forecast-{test}-{is_clear}/main.db");
        let mut opening = Opening::encrypted(&path, &key);
        if is_clear {
            // The VFS itself creates only encrypted databases.
            drop(filled(&Opening::plain(&path)));
            opening = opening.with("plain", "allow");
        }
        drop(filled(&opening));
        Self {
            opening,
            _disk_guard: disk_guard,
            _key: key,
        }
    }

    fn connect(&self) -> Connection {
        let connection = self.opening.connect().unwrap();
        connection
            .execute_batch("PRAGMA cache_size = 5; PRAGMA wal_autocheckpoint = 0")
            .unwrap();
        connection
    }
}

/// 300 rows, each on its own page.
fn filled(opening: &Opening) -> Connection {
    let connection = opening.connect().unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0;
             CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, version INTEGER, body BLOB);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
             INSERT OR IGNORE INTO t SELECT i, 0, zeroblob(3000) FROM n",
        )
        .unwrap();
    connection
}

/// All counts, by role and column.
fn counts(connection: &Connection) -> BTreeMap<String, i64> {
    let mut select = connection.prepare("SELECT * FROM selenite_file_counts").unwrap();
    let names: Vec<String> = select.column_names().map(str::to_owned).collect();
    let mut rows = select.query([]).unwrap();
    let mut counts = BTreeMap::new();
    while let Some(row) = rows.next().unwrap() {
        let role: String = row.get("role").unwrap();
        for name in &names[3..] {
            counts.insert(format!("{role}.{name}"), row.get(name.as_str()).unwrap());
        }
    }
    counts
}

/// The increase of each count caused by a piece of work.
fn raised(connection: &Connection, work: impl FnOnce()) -> impl Fn(&str) -> i64 {
    let before = counts(connection);
    work();
    let after = counts(connection);
    move |name| after[name] - before[name]
}

fn update(connection: &Connection, rows: &str) {
    let sql = format!("UPDATE t SET version = version + 1 WHERE id {rows}");
    connection.execute(&sql, []).unwrap();
}

#[test]
fn commits_and_their_frames_are_counted() {
    for is_clear in [false, true] {
        let fixture = ForecastDatabase::new("commits", is_clear);
        let connection = fixture.connect();
        update(&connection, "= 1");
        let raised = raised(&connection, || {
            for number in 0..20 {
                let first = number * 9 + 1;
                update(&connection, &format!("IN ({first}, {}, {})", first + 3, first + 6));
            }
            for _ in 0..5 {
                update(&connection, "= 7");
            }
        });
        assert_eq!((raised("wal.commits"), raised("wal.frames")), (25, 65));
        assert_eq!(raised("wal.bytes_written"), 65 * FRAME_SIZE);
        assert_eq!(raised("database.bytes_written"), 0);
        let counts = counts(&connection);
        assert_eq!(
            (counts["wal.page_size"], counts["database.page_size"]),
            (PAGE_SIZE, PAGE_SIZE)
        );
    }
}

/// If a page is overwritten in the log, SQLite writes all headers after it again at the commit,
/// including the commit frame's.
#[test]
fn a_transaction_that_exceeds_the_cache_is_one_commit() {
    for is_clear in [false, true] {
        let fixture = ForecastDatabase::new("spill", is_clear);
        let connection = fixture.connect();
        let raised_by = |end: &'static str| {
            raised(&connection, || {
                connection.execute_batch("BEGIN").unwrap();
                update(&connection, "<= 60");
                update(&connection, "<= 60");
                connection.execute_batch(end).unwrap();
            })
        };
        let committed = raised_by("COMMIT");
        assert_eq!(committed("wal.commits"), 1);
        assert!(
            (60..=64).contains(&committed("wal.frames")),
            "{}",
            committed("wal.frames")
        );
        let rolled_back = raised_by("ROLLBACK");
        assert!(rolled_back("wal.bytes_written") > 0);
        assert_eq!((rolled_back("wal.commits"), rolled_back("wal.frames")), (0, 0));
        let next = raised(&connection, || update(&connection, "= 1"));
        assert_eq!((next("wal.commits"), next("wal.frames")), (1, 1));
    }
}

#[test]
fn commits_in_exclusive_mode_and_over_a_new_log_are_counted() {
    for is_clear in [false, true] {
        let fixture = ForecastDatabase::new("exclusive", is_clear);
        let connection = fixture.connect();
        connection.execute_batch("PRAGMA locking_mode = exclusive").unwrap();
        let raised = raised(&connection, || {
            for _ in 0..3 {
                update(&connection, "= 1");
            }
            connection
                .query_row("PRAGMA wal_checkpoint(truncate)", [], |_| Ok(()))
                .unwrap();
            update(&connection, "IN (1, 4)");
        });
        assert_eq!((raised("wal.commits"), raised("wal.frames")), (4, 5));
    }
}

struct Row {
    suite: String,
    period: String,
    numbers: BTreeMap<String, f64>,
}

fn forecast(connection: &Connection) -> Vec<Row> {
    let mut select = connection.prepare("SELECT * FROM selenite_forecast").unwrap();
    let names: Vec<String> = select.column_names().map(str::to_owned).collect();
    let row = |row: &rusqlite::Row<'_>| {
        let number = |name: &String| Ok((name.clone(), row.get(name.as_str())?));
        Ok(Row {
            suite: row.get(0)?,
            period: row.get(1)?,
            numbers: names[2..].iter().map(number).collect::<rusqlite::Result<_>>()?,
        })
    };
    let rows = select.query_map([], row).unwrap();
    rows.collect::<rusqlite::Result<_>>().unwrap()
}

/// Works until a second has passed: a shorter period has no rates.
fn forecast_under_load(connection: &Connection) -> Vec<Row> {
    loop {
        for row in 1..=100 {
            update(connection, &format!("= {row}"));
        }
        let rows = forecast(connection);
        if !rows.is_empty() {
            return rows;
        }
    }
}

#[test]
fn a_forecast_has_every_suite_and_its_interval() {
    for is_clear in [false, true] {
        let fixture = ForecastDatabase::new("rows", is_clear);
        let connection = fixture.connect();
        let rows = forecast_under_load(&connection);
        let names: BTreeSet<(&str, &str)> = rows
            .iter()
            .map(|row| (row.suite.as_str(), row.period.as_str()))
            .collect();
        let wanted = SUITES.iter().flat_map(|suite| [(*suite, "now"), (*suite, "hour")]);
        assert_eq!(names, wanted.collect());
        assert_eq!(rows.len(), names.len());
        for row in &rows {
            let number = |name: &str| row.numbers[name];
            assert!((1.0..=3600.0).contains(&number("seconds")), "{}", number("seconds"));
            for name in ["pages_read_per_s", "pages_written_per_s", "commits_per_s"] {
                assert!(number(name) > 0.0, "{name}");
            }
            assert!(number("pages_written_per_s") >= number("commits_per_s"));
            let (low, cpu, high) = (number("cpu_low"), number("cpu"), number("cpu_high"));
            assert!(
                0.0 <= low && low <= cpu && cpu <= high && cpu > 0.0,
                "{low} {cpu} {high}"
            );
            assert!(number("page_read_p50_us") > 0.0 && number("page_read_p50_us") <= number("page_read_p99_us"));
            assert!(number("commit_p50_us") > 0.0 && number("commit_p50_us") <= number("commit_p99_us"));
        }
        let cpu = |suite: &str| rows.iter().find(|row| row.suite == suite).unwrap().numbers["cpu"];
        assert!(cpu("TRIPLE_DES_3KEY") > cpu("AEGIS_128X4"));
    }
}

#[test]
fn a_forecast_changes_no_count_and_no_transaction() {
    for is_clear in [false, true] {
        let fixture = ForecastDatabase::new("look", is_clear);
        let connection = fixture.connect();
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        update(&connection, "<= 60");
        let raised = raised(&connection, || {
            forecast(&connection);
            connection
                .query_row("SELECT selenite_metrics()", [], |_| Ok(()))
                .unwrap();
        });
        assert_eq!((raised("database.reads"), raised("wal.reads")), (0, 0));
        connection.execute_batch("COMMIT").unwrap();
        let changed: i64 = connection
            .query_row("SELECT sum(version) FROM t", [], |row| row.get(0))
            .unwrap();
        assert_eq!(changed, 60);
    }
}

#[test]
fn other_databases_of_a_connection_are_named_by_their_schema() {
    let fixture = ForecastDatabase::new("schema", true);
    let connection = fixture.connect();
    let rows = |table: &str| {
        let sql = format!("SELECT count(*) FROM {table}");
        connection.query_row(&sql, [], |row| row.get::<_, i64>(0))
    };
    assert_eq!(rows("selenite_file_counts('main')"), Ok(3));
    // A database on another VFS has no row.
    Opening::plain("/forecast-schema-other/main.db")
        .attach(&connection, "other")
        .unwrap();
    assert_eq!(rows("selenite_file_counts('other')"), Ok(0));
    assert_eq!(rows("selenite_forecast('other')"), Ok(0));
    assert!(rows("selenite_forecast('none')").is_err());
    for sql in [
        "SELECT selenite_metrics('none')",
        "SELECT selenite_metrics('other')",
        "SELECT selenite_metrics('main', 'main')",
    ] {
        assert!(connection.query_row(sql, [], |_| Ok(())).is_err(), "{sql}");
    }
}

#[test]
fn without_the_meter_a_database_has_no_counts() {
    for is_clear in [false, true] {
        let fixture = ForecastDatabase::new("meter", is_clear);
        let connection = fixture.connect();
        let before = counts(&connection);
        let unmetered = fixture.opening.clone().with("meter", "0").connect().unwrap();
        update(&unmetered, "< 50");
        let changed: i64 = unmetered
            .query_row("SELECT sum(version) FROM t", [], |row| row.get(0))
            .unwrap();
        assert_eq!(changed, 49);
        // The counts are those of the other connection, which does nothing.
        assert_eq!(counts(&unmetered), before);
        selenite_vfs::forget_file_counts(Path::new(fixture.opening.path()));
        update(&unmetered, "< 50");
        for table in ["selenite_file_counts", "selenite_forecast"] {
            let sql = format!("SELECT count(*) FROM {table}");
            let rows: i64 = unmetered.query_row(&sql, [], |row| row.get(0)).unwrap();
            assert_eq!(rows, 0, "{table}");
        }
        assert!(fixture.opening.clone().with("meter", "off").connect().is_err());
    }
}

/// All samples of a text, by name and labels; panics if Prometheus would refuse the text.
fn samples(text: &str) -> BTreeMap<String, f64> {
    let mut samples = BTreeMap::new();
    let mut known = BTreeSet::new();
    let (mut name, mut kind) = (String::new(), String::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (of, words) = help.split_once(' ').unwrap();
            assert!(!words.is_empty() && known.insert(of.to_owned()), "{of} twice");
            let declared = lines.next().unwrap().strip_prefix("# TYPE ").unwrap();
            let (typed, declared) = declared.split_once(' ').unwrap();
            assert!(typed == of && ["counter", "gauge"].contains(&declared), "{line}");
            (name, kind) = (of.to_owned(), declared.to_owned());
            continue;
        }
        let (series, value) = line.rsplit_once(' ').unwrap();
        let labels = series.strip_prefix(name.as_str()).unwrap();
        let labels = labels.strip_prefix('{').unwrap().strip_suffix('}').unwrap();
        for label in labels.split(',') {
            let (label, text) = label.split_once('=').unwrap();
            assert!(label.chars().all(|c| c.is_ascii_lowercase()), "{line}");
            assert!(
                text.len() >= 2 && text.starts_with('"') && text.ends_with('"'),
                "{line}"
            );
        }
        assert_eq!(name.ends_with("_total"), kind == "counter", "{line}");
        let value: f64 = value.parse().unwrap();
        assert!(value.is_finite() && value >= 0.0, "{line}");
        assert!(samples.insert(series.to_owned(), value).is_none(), "twice: {line}");
    }
    assert!(text.ends_with('\n'));
    samples
}

#[test]
fn metrics_are_a_text_that_prometheus_reads() {
    for is_clear in [false, true] {
        let fixture = ForecastDatabase::new("metrics", is_clear);
        let connection = fixture.connect();
        forecast_under_load(&connection);
        let text: String = connection
            .query_row("SELECT selenite_metrics()", [], |row| row.get(0))
            .unwrap();
        let samples = samples(&text);
        let counts = counts(&connection);
        for (series, count) in [
            (
                "selenite_file_reads_total{schema=\"main\",role=\"database\"}",
                "database.reads",
            ),
            (
                "selenite_file_written_bytes_total{schema=\"main\",role=\"wal\"}",
                "wal.bytes_written",
            ),
            ("selenite_commits_total{schema=\"main\"}", "wal.commits"),
            ("selenite_commit_frames_total{schema=\"main\"}", "wal.frames"),
        ] {
            #[expect(clippy::cast_precision_loss, reason = "a test's small count")]
            let counted = counts[count] as f64;
            assert_eq!(samples[series], counted, "{series}");
        }
        for suite in SUITES {
            let labels = format!("schema=\"main\",suite=\"{suite}\",period=\"hour\"");
            assert!(samples[&format!("selenite_forecast_cpu_ratio{{{labels}}}")] > 0.0);
            let series = format!("selenite_forecast_commit_seconds{{{labels},quantile=\"0.99\"}}");
            assert!(samples[&series] > 0.0);
        }
        assert!(!text.contains("/forecast-"), "no path");
    }
}
