//! Observations of snapshots in `testdata/plan`, most of which real servers wrote.

mod origin;
mod refusal;

use std::path::PathBuf;

use proptest::prelude::*;
use selenite_plan::observation::ObservedInterval;
use selenite_plan::observe::by_hand::{self, ByHand};
use selenite_plan::observe::quantity::Rate;
use selenite_plan::observe::sql_server::{self, Selection, Texts};
use selenite_plan::observe::{QUERIES, SnapshotText, Supplement, mariadb, postgresql, query};
use selenite_plan::{Observation, Operation, PlanError};

type Outcome = Result<Observation, PlanError>;

/// Texts, and what turns them into an observation.
struct Source {
    name: &'static str,
    files: Vec<String>,
    observe: fn(&[SnapshotText<'_>]) -> Outcome,
}

impl Source {
    fn outcome(&self) -> Outcome {
        run(self.observe, &self.files)
    }
}

fn run(observe: fn(&[SnapshotText<'_>]) -> Outcome, files: &[String]) -> Outcome {
    let names: Vec<String> = (1..=files.len()).map(|n| format!("text {n}")).collect();
    let texts: Vec<SnapshotText<'_>> = names
        .iter()
        .zip(files)
        .map(|(name, text)| SnapshotText { name, text })
        .collect();
    observe(&texts)
}

fn read(path: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../testdata/plan");
    std::fs::read_to_string(root.join(path)).unwrap()
}

fn observe_mariadb(texts: &[SnapshotText<'_>]) -> Outcome {
    mariadb::observe(texts, &Supplement::default())
}

fn observe_postgresql(texts: &[SnapshotText<'_>]) -> Outcome {
    postgresql::observe(texts, &Supplement::default())
}

fn observe_sql_server(files: &[SnapshotText<'_>]) -> Outcome {
    let texts = Texts {
        files,
        ..Texts::default()
    };
    sql_server::observe(&texts, &Selection::default(), &Supplement::default())
}

fn sources() -> Vec<Source> {
    let mut sources: Vec<Source> = ["mariadb-10.11", "mariadb-11.8"]
        .into_iter()
        .map(|name| Source {
            name,
            files: (1..=3).map(|n| read(&format!("{name}/snapshot-{n}.tsv"))).collect(),
            observe: observe_mariadb,
        })
        .collect();
    sources.extend(
        ["postgresql-13-query", "postgresql-15", "postgresql-17", "postgresql-18"]
            .into_iter()
            .map(|name| Source {
                name,
                files: vec![read(&format!("{name}/snapshots.csv"))],
                observe: observe_postgresql,
            }),
    );
    sources.push(Source {
        name: "sql-server",
        files: vec![read("sql-server/files.csv")],
        observe: observe_sql_server,
    });
    sources.push(Source {
        name: "sql-server-plain",
        files: (1..=3).map(|n| read(&format!("sql-server/plain-{n}.csv"))).collect(),
        observe: observe_sql_server,
    });
    sources
}

fn assert_close(found: f64, expected: f64, what: &str) {
    let scale = expected.abs().max(1.0);
    assert!(
        (found - expected).abs() <= scale * 1e-6,
        "{what}: {found}, not {expected}"
    );
}

#[test]
fn snapshots_are_observed_as_a_second_implementation_does() {
    let expected: serde_json::Value = serde_json::from_str(&read("expected.json")).unwrap();
    for source in sources() {
        let name = source.name;
        let observation = source.outcome().unwrap_or_else(|error| panic!("{name}: {error}"));
        let expected = &expected[name];
        assert_eq!(f64::from(observation.page_size), expected["page_size"], "{name}");
        assert_eq!(observation.cores, expected["cores"].as_f64(), "{name}");
        let mib = expected["database_mib"].as_f64().unwrap();
        assert_close(observation.database_mib.unwrap(), mib, name);
        let intervals = expected["intervals"].as_array().unwrap();
        assert_eq!(observation.intervals.len(), intervals.len(), "{name}");
        for (interval, expected) in observation.intervals.iter().zip(intervals) {
            assert_interval(interval, expected, name);
        }
        assert!(!observation.notes.is_empty(), "{name}");
    }
}

fn assert_interval(interval: &ObservedInterval, expected: &serde_json::Value, name: &str) {
    assert_close(interval.seconds, expected["seconds"].as_f64().unwrap(), name);
    assert_eq!(interval.requests, expected["requests"].as_f64(), "{name}");
    assert_eq!(interval.cpu_seconds, expected["cpu_seconds"].as_f64(), "{name}");
    let load = expected["load"].as_object().unwrap();
    assert_eq!(interval.load.0.len(), load.len(), "{name}: {:?}", interval.load);
    for (operation, amount) in &interval.load.0 {
        let key = serde_json::to_value(operation).unwrap();
        let expected = &load[key.as_str().unwrap()];
        let what = format!("{name}, {}", operation.name());
        assert_close(amount.count, expected["count"].as_f64().unwrap(), &what);
        assert_close(amount.kib, expected["kib"].as_f64().unwrap(), &what);
    }
}

#[test]
fn snapshots_in_one_text_are_as_those_in_several() {
    for source in sources() {
        let whole = source.outcome().unwrap();
        let joined = run(source.observe, &[source.files.concat()]).unwrap();
        assert_eq!(joined, whole, "{}", source.name);
    }
}

#[test]
fn a_boxed_table_is_a_snapshot() {
    let files = [read("mariadb-11.8/snapshot-3.tsv"), read("mariadb-11.8/boxed.txt")];
    let observation = run(observe_mariadb, &files).unwrap();
    assert!(observation.intervals[0].load.amount(Operation::ReadRandom).count > 0.0);
}

#[test]
fn show_global_status_alone_is_timed_by_uptime() {
    let files: Vec<String> = (1..=2)
        .map(|n| {
            let text = read(&format!("mariadb-10.11/snapshot-{n}.tsv"));
            let status = text.lines().skip(2).take_while(|line| !line.starts_with("hostname"));
            status.map(|line| format!("{line}\n")).collect()
        })
        .collect();
    let observation = run(observe_mariadb, &files).unwrap();
    assert_eq!(observation.intervals[0].seconds, 11.0);
    assert_eq!(observation.page_size, 16_384);
    assert_eq!(observation.intervals[0].load.amount(Operation::LogRecord).count, 3201.0);
    assert!(observation.notes.iter().any(|note| note.contains("Uptime")));
    refused(
        run(observe_mariadb, &[files[0].clone(), files[0].clone()]),
        "text 2",
        "of the same moment",
    );
}

/// The text with `change` applied to the value of each counter: `(name, value)`.
fn with_counters(text: &str, change: &mut dyn FnMut(&str, u64) -> u64) -> String {
    let mut columns: Vec<String> = Vec::new();
    let mut out = String::new();
    for line in text.lines() {
        let line = line.trim_start_matches('\u{feff}');
        if let Some((name, value)) = line.split_once('\t') {
            let value = value
                .parse()
                .map_or(value.to_owned(), |value| change(name, value).to_string());
            out += &format!("{name}\t{value}\n");
            continue;
        }
        let fields: Vec<&str> = line.split(',').collect();
        if fields.iter().any(|field| field.contains('_')) {
            columns = fields.iter().map(|&field| field.to_owned()).collect();
        }
        let changed: Vec<String> = fields
            .iter()
            .zip(&columns)
            .map(|(field, name)| {
                field
                    .parse()
                    .map_or((*field).to_owned(), |value| change(name, value).to_string())
            })
            .collect();
        out += &changed.join(",");
        out.push('\n');
    }
    out
}

const MARIADB_COUNTERS: [&str; 11] = [
    "Innodb_buffer_pool_read_ahead",
    "Innodb_pages_read",
    "Innodb_pages_written",
    "Innodb_os_log_written",
    "Innodb_log_write_requests",
    "Innodb_max_trx_id",
    "Questions",
    "Bytes_received",
    "Bytes_sent",
    "Connections",
    "Innodb_data_read",
];

fn is_counter(name: &str) -> bool {
    const PREFIXES: [&str; 12] = [
        "num_of_",
        "reads_",
        "read_bytes",
        "write",
        "extend",
        "wal_",
        "blks",
        "buffers",
        "next_",
        "xact",
        "sessions",
        "batch_",
    ];
    let is_moment = name.ends_with("_epoch");
    MARIADB_COUNTERS.contains(&name) || (PREFIXES.iter().any(|prefix| name.starts_with(prefix)) && !is_moment)
}

#[test]
fn the_load_grows_as_the_differences_do() {
    const FACTOR: u64 = 3;
    for source in sources() {
        let mut first: std::collections::BTreeMap<String, u64> = std::collections::BTreeMap::new();
        let mut position = 0_u32;
        let text = source.files.concat();
        let rows_of_files = if source.name.starts_with("sql") { 9 } else { 1 };
        let scaled = with_counters(&text, &mut |name, value| {
            // The rows of SQL Server's files repeat in the same order.
            let is_row_start = name == "database_id";
            position += u32::from(is_row_start);
            if !is_counter(name) {
                return value;
            }
            let key = format!("{name} {}", position % rows_of_files);
            let start = *first.entry(key).or_insert(value);
            start + FACTOR * (value - start)
        });
        let (whole, scaled) = (source.outcome().unwrap(), run(source.observe, &[scaled]).unwrap());
        for (before, after) in whole.intervals.iter().zip(&scaled.intervals) {
            for (operation, amount) in &before.load.0 {
                let is_logins = source.name == "sql-server" && *operation == Operation::Handshake;
                let factor = if is_logins { 1.0 } else { FACTOR as f64 };
                let what = format!("{}, {}", source.name, operation.name());
                assert_close(after.load.amount(*operation).count, amount.count * factor, &what);
                assert_close(after.load.amount(*operation).kib, amount.kib * factor, &what);
            }
        }
    }
}

fn replaced(path: &str, from: &str, to: &str) -> String {
    let text = read(path);
    assert!(text.contains(from), "{path} has no {from}");
    text.replace(from, to)
}

fn refused(outcome: Outcome, place: &str, reason: &str) {
    match outcome {
        Err(PlanError::Input { place: at, reason: why }) => {
            assert!(at.contains(place) && why.contains(reason), "{at}: {why}");
        }
        other => panic!("{place}, {reason}: {other:?}"),
    }
}

#[test]
fn mysql_counts_log_writes_and_handler_commits() {
    let files: Vec<String> = (1..=2)
        .map(|n| {
            let text = replaced(
                &format!("mariadb-10.11/snapshot-{n}.tsv"),
                "10.11.19-MariaDB-0+deb12u1",
                "8.4.6",
            );
            let lines = text.lines().filter(|line| !line.starts_with("Innodb_max_trx_id"));
            lines.map(|line| format!("{line}\n")).collect()
        })
        .collect();
    let observation = run(observe_mariadb, &files).unwrap();
    let load = &observation.intervals[0].load;
    assert_eq!(load.amount(Operation::LogRecord).count, 201.0);
    assert_eq!(load.amount(Operation::Commit).count, 3724.0);
    assert!(observation.notes.iter().any(|note| note.contains("an upper bound")));
}

#[test]
fn a_sample_of_an_int_wraps_and_selected_databases_count() {
    let mut files: Vec<String> = (1..=2).map(|n| read(&format!("sql-server/plain-{n}.csv"))).collect();
    files[0] = files[0].replace("864000123", "2147483000");
    files[1] = files[1].replace("864015140", "-2147469279");
    let observation = run(observe_sql_server, &files).unwrap();
    assert_eq!(observation.intervals[0].seconds, 15.017);
    assert!(observation.notes.iter().any(|note| note.contains("wrapped")));

    let texts = [SnapshotText {
        name: "files.csv",
        text: &read("sql-server/files.csv"),
    }];
    let texts = Texts {
        files: &texts,
        ..Texts::default()
    };
    let of = |databases: &[u64]| {
        let selection = Selection {
            databases: databases.to_vec(),
            log_files: Vec::new(),
        };
        sql_server::observe(&texts, &selection, &Supplement::default())
    };
    // Database 6 and tempdb.
    let observation = of(&[6]).unwrap();
    assert_eq!(observation.intervals[0].load.amount(Operation::ReadRandom).count, 10.0);
    assert_eq!(observation.intervals[1].load.amount(Operation::ReadRandom).count, 8.0);
    assert_eq!(
        observation.intervals[1].load.amount(Operation::ReadSequential).count,
        56.0
    );
    assert_eq!(observation.database_mib, Some(40.0));
    refused(of(&[7]), "--database-id", "no database 7");
    let logs = Selection {
        databases: vec![6],
        log_files: vec![(6, 1)],
    };
    let plain: Vec<String> = (1..=3).map(|n| read(&format!("sql-server/plain-{n}.csv"))).collect();
    let plain = plain.concat();
    let texts = [SnapshotText {
        name: "plain.csv",
        text: &plain,
    }];
    let texts = Texts {
        files: &texts,
        ..Texts::default()
    };
    let observation = sql_server::observe(&texts, &logs, &Supplement::default()).unwrap();
    assert_eq!(observation.intervals[1].load.amount(Operation::LogRecord).count, 7.0);
}

#[test]
fn performance_counters_and_connections_complete_an_observation() {
    let plain: Vec<String> = (1..=3).map(|n| read(&format!("sql-server/plain-{n}.csv"))).collect();
    let files: Vec<SnapshotText<'_>> = plain
        .iter()
        .map(|text| SnapshotText {
            name: "plain.csv",
            text,
        })
        .collect();
    let (performance, connections) = (read("sql-server/performance.csv"), read("sql-server/connections.csv"));
    let observe = |performance: &str, connections: &str| {
        let connections = [SnapshotText {
            name: "connections.csv",
            text: connections,
        }];
        let performance = SnapshotText {
            name: "performance.csv",
            text: performance,
        };
        let texts = Texts {
            files: &files,
            performance: Some(performance),
            connections: &connections,
        };
        sql_server::observe(&texts, &Selection::default(), &Supplement::default())
    };
    let observation = observe(&performance, &connections).unwrap();
    assert_close(observation.requests_per_second().unwrap(), 450.0, "requests");
    assert_close(observation.busy_cores().unwrap(), 1.4, "cores");
    let load = observation.load_per_second();
    assert_close(load.amount(Operation::Commit).count, 180.0, "commits");
    let packets = load.amount(Operation::Packet);
    assert_close(packets.count, 2630.0 / 30.032, "packets");
    assert_close(
        packets.kib,
        (2580.0 * 4.0 + 50.0 * 8000.0 / 1024.0) / 30.032,
        "KiB of packets",
    );
    assert_close(load.amount(Operation::Handshake).count, 1.0 / 30.032, "handshakes");
    for text in [&performance, &connections] {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        for end in 0..lines.len() {
            let cut = lines[..end].concat();
            let outcome = if std::ptr::eq(text, &performance) {
                observe(&cut, &connections)
            } else {
                observe(&performance, &cut)
            };
            assert!(
                matches!(outcome, Err(PlanError::Input { .. })),
                "line {end}: {outcome:?}"
            );
        }
    }
    for (from, to) in [
        ("\"400\"", "\"-1\""),
        ("\"400\"", "\"NaN\""),
        ("10:00:10", "10:00:40"),
        ("11/23", "13/23"),
    ] {
        assert!(performance.contains(from));
        let outcome = observe(&performance.replace(from, to), &connections);
        refused(outcome, "performance.csv, line ", "");
    }
    let outcome = observe(&performance, &connections.replace(",1500,3000,", ",500,3000,"));
    assert!(matches!(outcome, Err(PlanError::Reset { .. })), "{outcome:?}");
}

#[test]
fn numbers_by_hand_become_an_observation() {
    let some = |text: &str| Some(text.to_owned());
    let numbers = ByHand {
        reads: some("25MiB/s"),
        writes: some("400/s"),
        log: some("1 MiB/s"),
        commits: some("256/s"),
        backup: some("1/d"),
        packets: some("4MiB/s"),
        cores: some("4"),
        busy_cores: some("6.25%"),
        database_size: some("84.375GiB"),
        requests: some("6000/min"),
        ..ByHand::default()
    };
    let observation = by_hand::observe(&numbers).unwrap();
    let load = observation.load_per_second();
    assert_eq!(load.amount(Operation::ReadRandom).count, 3200.0);
    assert_eq!(load.amount(Operation::Write).kib, 3200.0);
    assert_eq!(load.amount(Operation::LogRecord).mean_kib(), 4.0);
    assert_close(load.amount(Operation::Backup).kib, 1024.0, "KiB of backups");
    assert_eq!(load.amount(Operation::Packet).count, 1024.0);
    assert_eq!(observation.busy_cores(), Some(0.25));
    assert_eq!(observation.requests_per_second(), Some(100.0));
    assert_eq!(observation.database_mib, Some(86_400.0));

    let with = |change: fn(&mut ByHand)| {
        let mut changed = numbers.clone();
        change(&mut changed);
        by_hand::observe(&changed)
    };
    refused(with(|one| one.page_size = Some("8KB".into())), "--page-size", "8KiB");
    refused(with(|one| one.page_size = Some("0".into())), "--page-size", "0");
    refused(with(|one| one.reads = Some("-1/s".into())), "--reads", "not a rate");
    refused(with(|one| one.commits = None), "--log", "--log-writes");
    refused(with(|one| one.commits = Some("1MB/s".into())), "--commits", "a count");
    refused(with(|one| one.cores = None), "--busy-cores", "say the cores");
    refused(with(|one| one.database_size = None), "--backup", "--database-size");
    refused(
        with(|one| one.busy_cores = Some("500%".into())),
        "--busy-cores",
        "the 4 cores",
    );
    refused(by_hand::observe(&ByHand::default()), "numbers by hand", "no operation");
}

#[test]
fn supplements_take_precedence() {
    let text = read("postgresql-18/snapshots.csv");
    let supplement = Supplement {
        cores: Some(16.0),
        busy_cores: Some(2.0),
        database_mib: Some(5.0),
    };
    let observation = postgresql::observe(&[SnapshotText { name: "t", text: &text }], &supplement).unwrap();
    assert_eq!(observation.cores, Some(16.0));
    assert_close(observation.busy_cores().unwrap(), 2.0, "busy cores");
    assert_eq!(observation.database_mib, Some(5.0));
}

#[test]
fn queries_have_names() {
    for (name, text) in QUERIES {
        assert_eq!(query(name), Some(text));
        assert!(text.ends_with('\n'), "{name}");
    }
    assert_eq!(query("oracle"), None);
}

proptest! {
    #[test]
    fn rates_survive_their_own_text(value in 0.0..1e9_f64, is_bytes: bool) {
        let rate = if is_bytes { Rate::Bytes(value) } else { Rate::Count(value) };
        prop_assert_eq!(Rate::parse("--reads", &rate.to_string()).unwrap(), rate);
    }

    #[test]
    fn quantities_of_any_text_do_not_panic(text in "[0-9.,%/ a-zA-Z-]{0,12}") {
        let numbers = ByHand {
            reads: Some(text.clone()),
            busy_cores: Some(text.clone()),
            page_size: Some(text),
            ..ByHand::default()
        };
        let _ = by_hand::observe(&numbers);
    }

    #[test]
    fn changed_bytes_do_not_panic(
        which in 0_usize..8,
        at in any::<proptest::sample::Index>(),
        byte in "[0-9,.\"|\t\n -]",
    ) {
        let source = sources().swap_remove(which);
        let mut text = source.files.concat();
        let at = at.index(text.len());
        if text.is_char_boundary(at) && text.is_char_boundary(at + 1) {
            text.replace_range(at..=at, &byte);
            if let Ok(observation) = run(source.observe, &[text]) {
                prop_assert!(observation.check().is_ok());
            }
        }
    }
}
