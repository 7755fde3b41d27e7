//! What is refused: cut texts, resets, other servers, nonsense.

use super::*;

#[test]
fn a_text_cut_after_any_line_is_refused_or_gives_the_intervals_before() {
    for source in sources() {
        let whole = source.outcome().unwrap();
        for (index, text) in source.files.iter().enumerate() {
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            for end in 0..lines.len() {
                let mut files = source.files.clone();
                files[index] = lines[..end].concat();
                let Ok(cut) = run(source.observe, &files) else { continue };
                assert!(
                    whole.intervals.starts_with(&cut.intervals),
                    "{}: text {index} cut after line {end}",
                    source.name
                );
            }
            for start in 1..lines.len() {
                let mut files = source.files.clone();
                files[index] = lines[start..].concat();
                let Ok(cut) = run(source.observe, &files) else { continue };
                assert!(
                    whole.intervals.ends_with(&cut.intervals),
                    "{}: text {index} from line {start}",
                    source.name
                );
            }
        }
    }
}

#[test]
fn a_text_cut_within_a_line_is_refused() {
    for source in sources() {
        let last = source.files.len() - 1;
        let text = &source.files[last];
        let step = if text.len() > 10_000 { 101 } else { 1 };
        for end in (1..text.len()).step_by(step) {
            if text.as_bytes()[end - 1] == b'\n' || !text.is_char_boundary(end) {
                continue;
            }
            let mut files = source.files.clone();
            files[last].truncate(end);
            let outcome = run(source.observe, &files);
            assert!(
                matches!(outcome, Err(PlanError::Input { .. })),
                "{}: cut after {end} bytes",
                source.name
            );
        }
    }
}

#[test]
fn each_counter_that_decreases_is_named() {
    for source in sources() {
        let names: Vec<String> = {
            let mut names = Vec::new();
            with_counters(&source.files.concat(), &mut |name, value| {
                if is_counter(name) && name != "Innodb_data_read" && !names.iter().any(|one| one == name) {
                    names.push(name.to_owned());
                }
                value
            });
            names
        };
        assert!(names.len() >= 4, "{}: {names:?}", source.name);
        for name in names {
            let mut last = std::collections::BTreeMap::new();
            let lowered = with_counters(&source.files.concat(), &mut |found, value| {
                let count = last.entry(found.to_owned()).or_insert(0_u32);
                *count += 1;
                // The first occurrence is far higher than all that follow.
                if found == name && *count <= 9 && (*count == 1 || source.name.starts_with("sql")) {
                    value + 1_000_000_000_000_000
                } else {
                    value
                }
            });
            match run(source.observe, &[lowered]) {
                Err(PlanError::Reset { place, counter }) => {
                    assert!(counter.contains(&name), "{counter}, not {name}");
                    assert!(place.starts_with("text 1, line "), "{place}");
                }
                other => panic!("{}, {name}: {other:?}", source.name),
            }
        }
    }
}

#[test]
fn resets_of_statistics_and_restarts_are_found() {
    for (source, column) in [
        ("postgresql-18", "io_reset_epoch"),
        ("postgresql-18", "wal_reset_epoch"),
        ("postgresql-17", "start_epoch"),
        ("postgresql-15", "writer_reset_epoch"),
        ("postgresql-15", "database_reset_epoch"),
    ] {
        let text = read(&format!("{source}/snapshots.csv"));
        let lines: Vec<&str> = text.lines().collect();
        let index = lines[0].split(',').position(|name| name == column).unwrap();
        let mut fields: Vec<&str> = lines[3].split(',').collect();
        fields[index] = "1795449999.5";
        let changed = [lines[0], lines[1], &fields.join(","), ""].join("\n");
        let outcome = run(observe_postgresql, &[changed]);
        assert!(
            matches!(outcome, Err(PlanError::Reset { .. })),
            "{source}, {column}: {outcome:?}"
        );
    }
    let files = [
        read("mariadb-10.11/snapshot-1.tsv"),
        replaced("mariadb-10.11/snapshot-2.tsv", "Uptime\t123", "Uptime\t5"),
    ];
    let outcome = run(observe_mariadb, &files);
    let Err(PlanError::Reset { place, counter }) = &outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(counter, "Uptime");
    assert!(place.starts_with("text 2, line "), "{place}");
    let files = [read("sql-server/files.csv").replace(
        "9,SQL1,2026-11-13T04:00:00.123,8,7241500",
        "9,SQL1,2026-11-23T10:00:20,8,7241500",
    )];
    let outcome = run(observe_sql_server, &files);
    assert!(matches!(outcome, Err(PlanError::Reset { .. })), "{outcome:?}");
}

#[test]
fn snapshots_out_of_order_or_of_one_moment_are_refused() {
    for source in sources() {
        let text = source.files.concat();
        let outcome = run(source.observe, &[text.clone(), text]);
        // The time of SQL Server is that of the computer, which may have been restarted.
        let is_reset = source.name.starts_with("sql") && matches!(outcome, Err(PlanError::Reset { .. }));
        if !is_reset {
            refused(outcome, "", "in order of time");
        }
        let first = source.files[0].clone();
        if source.files.len() > 1 {
            refused(
                run(source.observe, &[first.clone(), first.clone()]),
                "text 2",
                "of the same moment",
            );
            refused(run(source.observe, &[first]), "snapshots", "two are needed");
        }
    }
    refused(run(observe_postgresql, &[String::new()]), "text 1", "no snapshot");
    refused(run(observe_postgresql, &[]), "snapshots", "two are needed");
}

#[test]
fn snapshots_of_different_servers_are_refused() {
    let first = read("mariadb-10.11/snapshot-1.tsv");
    let other = replaced("mariadb-10.11/snapshot-2.tsv", "hostname\t", "hostname\tother-");
    refused(
        run(observe_mariadb, &[first.clone(), other]),
        "text 2",
        "different servers",
    );
    refused(
        run(observe_mariadb, &[first, read("mariadb-11.8/snapshot-2.tsv")]),
        "text",
        "which the other has",
    );
    let files = [read("postgresql-17/snapshots.csv"), read("postgresql-18/snapshots.csv")];
    refused(run(observe_postgresql, &files), "text 2, line 2", "another query");
    let files = [replaced(
        "sql-server/files.csv",
        "SQL1,2026-11-13T04:00:00.123,8,7241500",
        "SQL2,2026-11-13T04:00:00.123,8,7241500",
    )];
    refused(run(observe_sql_server, &files), "text 1, line 25", "different servers");
}

#[test]
fn nonsense_is_refused_with_line_and_column() {
    let number = |value: &str| replaced("postgresql-15/snapshots.csv", ",16760,", &format!(",{value},"));
    for value in ["-16760", "NaN", "1e9", "16 760", "0x10"] {
        let place = "text 1, line 4, column buffers_written";
        refused(run(observe_postgresql, &[number(value)]), place, "");
    }
    let text = replaced("postgresql-15/snapshots.csv", "wal_bytes", "wal_octets");
    refused(
        run(observe_postgresql, &[text]),
        "text 1, line 2",
        "no column wal_bytes",
    );
    let text = format!("{}hello\n", read("postgresql-15/snapshots.csv"));
    refused(run(observe_postgresql, &[text]), "text 1, line 7", "fields");
    let files = [
        read("mariadb-10.11/snapshot-1.tsv"),
        replaced(
            "mariadb-10.11/snapshot-2.tsv",
            "Innodb_pages_read\t",
            "Innodb_pages_read\t-",
        ),
    ];
    refused(run(observe_mariadb, &files), "Innodb_pages_read", "negative");
    let text = replaced(
        "sql-server/plain-1.csv",
        "num_of_bytes_written",
        "num_of_octets_written",
    );
    refused(
        run(observe_sql_server, &[text, read("sql-server/plain-2.csv")]),
        "text 1",
        "num_of_bytes_written",
    );
}

/// A text of comma-separated values, with other values in some columns of lines, from 0.
fn edited(path: &str, changes: &[(usize, &str, &str)]) -> String {
    let text = read(path);
    let mut lines: Vec<Vec<String>> = text
        .lines()
        .map(|line| line.split(',').map(str::to_owned).collect())
        .collect();
    for (line, column, value) in changes {
        let index = lines[0].iter().position(|name| name == column).unwrap();
        (*value).clone_into(&mut lines[*line][index]);
    }
    lines.iter().map(|fields| fields.join(",") + "\n").collect()
}

#[test]
fn what_no_machine_does_is_refused_with_its_place() {
    let huge = "4611686018427387904";
    let postgresql = |column: &str| {
        let lines: Vec<(usize, &str, &str)> = [3, 5].map(|line| (line, column, huge)).to_vec();
        run(observe_postgresql, &[edited("postgresql-17/snapshots.csv", &lines)])
    };
    let place = "text 1, line 4, pages read at random";
    refused(postgresql("reads_random"), place, "no machine does more");
    refused(
        postgresql("wal_bytes"),
        "text 1, line 4, log writes",
        "no machine moves more",
    );
    refused(
        postgresql("xact_commit"),
        "text 1, line 4, requests",
        "no machine does more",
    );
    let of_size = edited("postgresql-17/snapshots.csv", &[(5, "database_bytes", huge)]);
    refused(
        run(observe_postgresql, &[of_size]),
        "database size",
        "no database has more",
    );
    let files = [
        read("mariadb-10.11/snapshot-1.tsv"),
        replaced("mariadb-10.11/snapshot-2.tsv", "Questions\t", "Questions\t999999999999"),
    ];
    refused(run(observe_mariadb, &files), "TLS packets", "no machine does more");
    let files = [
        read("mariadb-10.11/snapshot-1.tsv"),
        replaced(
            "mariadb-10.11/snapshot-2.tsv",
            "Innodb_page_size\t16384",
            "Innodb_page_size\t1638400",
        ),
    ];
    refused(run(observe_mariadb, &files), "Innodb_page_size", "no size of a page");
}

#[test]
fn numbers_by_hand_that_no_machine_has_are_refused_with_their_option() {
    let some = |text: &str| Some(text.to_owned());
    let of = |change: &dyn Fn(&mut ByHand)| {
        let mut numbers = ByHand {
            reads: some("400/s"),
            cores: some("4"),
            ..ByHand::default()
        };
        change(&mut numbers);
        by_hand::observe(&numbers)
    };
    assert!(of(&|_| ()).is_ok());
    let large = "no machine";
    refused(of(&|one| one.reads = some("1000000000000000/s")), "--reads", large);
    refused(of(&|one| one.reads_mb = some("100000000000")), "--reads-mb", large);
    refused(of(&|one| one.reads_mb = some("-5")), "--reads-mb", "not a rate");
    refused(of(&|one| one.writes = some("999999TB/s")), "--writes", large);
    refused(of(&|one| one.requests = some("999999999999/s")), "--requests", large);
    refused(
        of(&|one| one.database_size = some("4611686018427387904")),
        "--database-size",
        "not a size",
    );
    refused(
        of(&|one| one.database_size = some("2000000TB")),
        "--database-size",
        "no database",
    );
    refused(of(&|one| one.cores = some("9999")), "--cores", "between 0 and 4096");
    refused(of(&|one| one.busy_cores = some("5")), "--busy-cores", "the 4 cores");
    refused(of(&|one| one.packet_size = some("4KiB")), "--packet-size", "--packets");
    let no_log = |one: &mut ByHand| (one.log, one.log_writes) = (some("0MB/s"), some("5/s"));
    refused(of(&no_log), "--log-writes", "no bytes");
}

#[test]
fn wal_that_is_not_written_yet_is_not_lost_without_a_word() {
    let log = |outcome: Outcome| {
        let observation = outcome.unwrap();
        let kib: Vec<f64> = observation
            .intervals
            .iter()
            .map(|interval| interval.load.amount(Operation::LogRecord).kib)
            .collect();
        (kib, observation.notes.join("\n"))
    };
    let path = "postgresql-17/snapshots.csv";
    let (whole, notes) = log(run(observe_postgresql, &[read(path)]));
    assert!(!notes.contains("not written by the last snapshot"), "{notes}");
    // The writes of the second snapshot are made by the third.
    let text = read(path);
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let column = lines[0].iter().position(|name| *name == "wal_write").unwrap();
    let first = lines[1][column];
    let (kib, notes) = log(run(observe_postgresql, &[edited(path, &[(3, "wal_write", first)])]));
    assert_eq!(kib[0], 0.0);
    assert_close(kib[0] + kib[1], whole[0] + whole[1], "all of the log");
    assert!(!notes.contains("not written by the last snapshot"), "{notes}");
    // They are not made at all.
    let none: Vec<(usize, &str, &str)> = [3, 5].map(|line| (line, "wal_write", first)).to_vec();
    let (kib, notes) = log(run(observe_postgresql, &[edited(path, &none)]));
    assert!(kib.iter().all(|kib| *kib == 0.0), "{kib:?}");
    assert!(
        notes.contains("of WAL were generated, and not written by the last snapshot"),
        "{notes}"
    );
    // PostgreSQL 18 counts both where they are written.
    let path = "postgresql-18/snapshots.csv";
    for (column, value) in [("wal_writes", "6714"), ("wal_write_bytes", "80035840")] {
        let outcome = run(observe_postgresql, &[edited(path, &[(3, column, value)])]);
        refused(outcome, "text 1, line 4", "bytes of WAL were written in");
    }
}

#[test]
fn options_that_contradict_the_snapshots_are_refused() {
    let text = read("sql-server/files.csv");
    let files = [SnapshotText { name: "t", text: &text }];
    let performance = read("sql-server/performance.csv");
    let of = |supplement: Supplement, with_counters: bool| {
        let texts = Texts {
            files: &files,
            performance: with_counters.then_some(SnapshotText {
                name: "performance.csv",
                text: &performance,
            }),
            ..Texts::default()
        };
        sql_server::observe(&texts, &Selection::default(), &supplement)
    };
    let cores = |cores: f64| Supplement {
        cores: Some(cores),
        ..Supplement::default()
    };
    assert!(of(cores(8.0), false).is_ok());
    refused(of(cores(16.0), false), "--cores", "cpu_count of the snapshots is 8");
    let busy = Supplement {
        busy_cores: Some(1.0),
        ..Supplement::default()
    };
    refused(of(busy, false), "--busy-cores", "have the CPU time");
    let notes = of(Supplement::default(), true).unwrap().notes.join("\n");
    assert!(
        notes.contains("Batch Requests/sec, % Processor Time, Write Transactions/sec have no effect"),
        "{notes}"
    );
}
