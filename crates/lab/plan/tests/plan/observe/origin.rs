//! Snapshots and counters of another server or of another time.

use super::*;

/// The snapshots that name their server and say their time, with these counters and connections.
fn observe(files: &str, performance: Option<&str>, connections: &[&str]) -> Outcome {
    let files = [SnapshotText {
        name: "files.csv",
        text: files,
    }];
    let connections: Vec<SnapshotText<'_>> = connections
        .iter()
        .map(|text| SnapshotText {
            name: "connections.csv",
            text,
        })
        .collect();
    let performance = performance.map(|text| SnapshotText {
        name: "performance.csv",
        text,
    });
    let texts = Texts {
        files: &files,
        performance,
        connections: &connections,
    };
    sql_server::observe(&texts, &Selection::default(), &Supplement::default())
}

fn files() -> String {
    read("sql-server/files.csv")
}

fn performance() -> String {
    read("sql-server/performance.csv")
}

#[test]
fn counters_and_connections_of_the_same_server_and_time_are_taken() {
    let connections = read("sql-server/connections.csv");
    let observation = observe(&files(), Some(&performance()), &[&connections]).unwrap();
    assert!(observation.load_per_second().amount(Operation::Packet).count > 0.0);
    assert!(!observation.notes.iter().any(|note| note.contains("not known")));
}

#[test]
fn counters_of_another_computer_are_refused() {
    let of = |computer: &str| performance().replace(r"\\SQL1\", &format!(r"\\{computer}\"));
    for same in ["sql1", "SQL1.example.com"] {
        observe(&files(), Some(&of(same)), &[]).unwrap();
    }
    for other in ["SQL2", "SQL11", "SQL", "SQL2.example.com", "10.0.0.1"] {
        let outcome = observe(&files(), Some(&of(other)), &[]);
        refused(outcome, "performance.csv", &format!("of the computer {other}"));
    }
    // One column of another computer is enough.
    let mixed = performance().replace(r"\\SQL1\Process(", r"\\SQL2\Process(");
    refused(
        observe(&files(), Some(&mixed), &[]),
        "performance.csv",
        "different computers: SQL1 and SQL2",
    );
    // Without a computer in the counters there is nothing to compare.
    let observation = observe(&files(), Some(&performance().replace(r"\\SQL1\", r"\")), &[]).unwrap();
    assert!(observation.notes.iter().any(|note| note.contains("do not name")));
    // A node of a cluster has another name than the server on it.
    let cluster = files()
        .replace(",SQL1,2026-11-13", ",VIRTUAL,2026-11-13")
        .replace(",SQL1,2026-11-23", ",NODE7,2026-11-23");
    observe(&cluster, Some(&of("NODE7")), &[]).unwrap();
    refused(
        observe(&cluster, Some(&of("NODE8")), &[]),
        "performance.csv",
        "of the computer NODE8",
    );
}

#[test]
fn counters_of_another_instance_are_refused() {
    let named = files().replace(",SQL1,2026-11-13", r",SQL1\SALES,2026-11-13");
    let of = |instance: &str| performance().replace(r"\SQLServer:", &format!(r"\MSSQL${instance}:"));
    observe(&named, Some(&of("SALES")), &[]).unwrap();
    observe(&named, Some(&of("Sales")), &[]).unwrap();
    for (files, performance) in [(&named, performance()), (&named, of("STOCK")), (&files(), of("SALES"))] {
        refused(
            observe(files, Some(&performance), &[]),
            "performance.csv",
            "of the instance",
        );
    }
}

#[test]
fn counters_of_another_time_are_refused() {
    let at = |from: &str, to: &str| {
        let text = performance();
        assert!(text.contains(from));
        text.replace(from, to)
    };
    for (from, to) in [("11/23", "11/22"), ("\"11/23/2026 10:", "\"11/23/2026 11:")] {
        refused(
            observe(&files(), Some(&at(from, to)), &[]),
            "performance.csv",
            "the same time",
        );
    }
    // UTC is local time and the bias.
    let east = at("(Coordinated Universal Time)(0)", "(Maroc (heure locale))(-60)");
    refused(observe(&files(), Some(&east), &[]), "performance.csv", "the same time");
    observe(&files(), Some(&east.replace(" 10:", " 11:")), &[]).unwrap();
    // typeperf does not say the time zone: it is that of the server.
    let local = at(" (Coordinated Universal Time)(0)", "");
    refused(observe(&files(), Some(&local), &[]), "performance.csv", "the same time");
    let observation = observe(&files(), Some(&local.replace(" 10:", " 11:")), &[]).unwrap();
    assert!(observation.notes.iter().any(|note| note.contains("time zone")));
}

#[test]
fn snapshots_without_server_and_time_are_noted() {
    let plain = (1..=3).map(|n| read(&format!("sql-server/plain-{n}.csv")));
    let plain = plain.collect::<String>().replace('\u{feff}', "");
    let other = performance().replace("SQL1", "SQL2").replace("11/23", "11/22");
    let observation = observe(&plain, Some(&other), &[]).unwrap();
    let is_noted = |what: &str| observation.notes.iter().any(|note| note.contains(what));
    assert!(is_noted("of the same server is not known") && is_noted("of the same time is not known"));
    // Among themselves, they have to be of one computer.
    let mixed = other.replace(r"\\SQL2\Process(", r"\\SQL3\Process(");
    refused(
        observe(&plain, Some(&mixed), &[]),
        "performance.csv",
        "different computers",
    );
}

#[test]
fn connections_of_another_server_or_time_are_refused() {
    let connections = read("sql-server/connections.csv");
    let other = connections.replace(",SQL1,", ",SQL2,");
    refused(observe(&files(), None, &[&other]), "connections.csv", "server_name");
    let restarted = connections.replace("2026-11-13T04", "2026-11-13T05");
    refused(
        observe(&files(), None, &[&restarted]),
        "connections.csv",
        "sqlserver_start_time",
    );
    // Three rows have another server than the rest.
    let (head, tail) = connections.split_at(connections.rfind("sample_ms").unwrap());
    let mixed = format!("{head}{}", tail.replace(",SQL1,", ",SQL2,"));
    refused(observe(&files(), None, &[&mixed]), "connections.csv", "server_name");
    let later = connections.replace(",8640", ",8670").replace("8640", "8670");
    refused(observe(&files(), None, &[&later]), "connections.csv", "the same time");
    // sample_ms of older versions is an int, which has wrapped: that of the connections has not.
    let plain: String = (1..=2).map(|n| read(&format!("sql-server/plain-{n}.csv"))).collect();
    let plain = plain
        .replace('\u{feff}', "")
        .replace("864000123", "2147483000")
        .replace("864015140", "-2147469279");
    let wrapped: String = connections
        .split_inclusive('\n')
        .filter(|line| !line.starts_with("8640301"))
        .map(|line| {
            line.replace("864000163", "2147483040")
                .replace("864015180", "2147498057")
        })
        .collect();
    observe(&plain, None, &[&wrapped]).unwrap();
}

#[test]
fn log_files_that_contradict_the_type_are_refused() {
    let of = |text: &str, log_files: &[(u64, u64)]| {
        let files = [SnapshotText {
            name: "files.csv",
            text,
        }];
        let texts = Texts {
            files: &files,
            ..Texts::default()
        };
        let selection = Selection {
            databases: Vec::new(),
            log_files: log_files.to_vec(),
        };
        sql_server::observe(&texts, &selection, &Supplement::default())
    };
    let files = files();
    // What type_desc says may be repeated.
    assert_eq!(
        of(&files, &[(5, 2), (6, 2)]).unwrap().intervals,
        of(&files, &[]).unwrap().intervals
    );
    let rows = of(&files, &[(6, 1)]);
    refused(rows, "--log-file 6:1", "type_desc of file 1 of database 6 is ROWS");
    let two = files.replace("\n6,1,ROWS,", "\n6,1,LOG,");
    refused(
        of(&two, &[(6, 2)]),
        "--log-file",
        "type_desc of file 1 of database 6 is LOG",
    );
    of(&two, &[(6, 1), (6, 2)]).unwrap();
    let stream = files.replace("\n6,1,ROWS,", "\n6,1,FILESTREAM,");
    refused(of(&stream, &[(6, 1)]), "--log-file 6:1", "is FILESTREAM");
    let is_data = |outcome: Outcome| {
        let load = outcome.unwrap().intervals[1].load.clone();
        load.amount(Operation::Write).count
    };
    assert!(is_data(of(&stream, &[(6, 2)])) < is_data(of(&files, &[(6, 2)])));
    for missing in [(6, 9), (77, 2), (1, 2)] {
        let place = format!("--log-file {}:{}", missing.0, missing.1);
        refused(of(&files, &[(6, 2), missing]), &place, "no such file");
    }
}

/// SHOW GLOBAL STATUS alone, with more names.
fn status(n: u32, more: &[(&str, &str)]) -> String {
    let text = read(&format!("mariadb-10.11/snapshot-{n}.tsv"));
    let lines = text.lines().skip(2).take_while(|line| !line.starts_with("hostname"));
    let more = more.iter().map(|(name, value)| format!("{name}\t{value}\n"));
    lines.map(|line| format!("{line}\n")).chain(more).collect()
}

#[test]
fn status_of_different_servers_is_refused_by_what_a_server_keeps() {
    for name in ["Innodb_redo_log_uuid", "Caching_sha2_password_rsa_public_key"] {
        let of = |one: &str, other: &str| {
            run(
                observe_mariadb,
                &[status(1, &[(name, one)]), status(2, &[(name, other)])],
            )
        };
        let observation = of("17", "17").unwrap();
        assert!(!observation.notes.iter().any(|note| note.contains("do not name")));
        refused(of("17", "18"), "text 2", "different servers");
    }
    let observation = run(observe_mariadb, &[status(1, &[]), status(2, &[])]).unwrap();
    assert!(
        observation
            .notes
            .iter()
            .any(|note| note.contains("do not name their server"))
    );
}

#[test]
fn two_instances_on_one_host_are_told_apart() {
    for name in ["datadir", "socket"] {
        for query in [mariadb::QUERY_MARIADB, mariadb::QUERY_MYSQL] {
            assert!(query.contains(&format!("'{name}'")));
        }
        let files = [status(1, &[(name, "/srv/one")]), status(2, &[(name, "/srv/two")])];
        refused(run(observe_mariadb, &files), "text 2", "different servers");
    }
}

#[test]
fn another_start_is_another_server_or_a_restart() {
    let message = |outcome: Outcome| outcome.unwrap_err().to_string();
    let one = read("mariadb-10.11/snapshot-1.tsv");
    for uptime in ["5", "1230"] {
        let other = replaced(
            "mariadb-10.11/snapshot-2.tsv",
            "Uptime\t123",
            &format!("Uptime\t{uptime}"),
        );
        let found = message(run(observe_mariadb, &[one.clone(), other]));
        assert!(
            found.contains("restarted") && found.contains("different servers"),
            "{found}"
        );
    }
    let text = read("postgresql-18/snapshots.csv");
    let last = text.rfind("1795445696.461491").unwrap();
    let mut other = text.clone();
    other.replace_range(last..last + 17, "1795445111.461491");
    let found = message(run(observe_postgresql, &[other]));
    assert!(
        found.contains("restarted") && found.contains("different servers"),
        "{found}"
    );
    // Every query has it.
    let text = text.replace("start_epoch", "begin_epoch");
    refused(run(observe_postgresql, &[text]), "text 1", "start_epoch");
}

proptest! {
    #[test]
    fn counters_have_to_cover_most_of_the_time(shift in -59_i32..59) {
        let (minute, second) = (if shift < 0 { 59 } else { 0 }, shift.rem_euclid(60));
        let hour = if shift < 0 { 9 } else { 10 };
        let mut text = performance().lines().next().unwrap().to_owned() + "\r\n";
        for at in [0, 10, 20, 30] {
            let second = second + at;
            let time = format!("{hour:02}:{minute:02}:{:02}", second % 60);
            let time = match second / 60 {
                0 => time,
                _ => format!("10:{:02}:{:02}", (minute + 1) % 60, second % 60),
            };
            text += &format!("\"11/23/2026 {time}.100\"{}\r\n", ",\"1\"".repeat(6));
        }
        let outcome = observe(&files(), Some(&text), &[]);
        // 30.032 s of snapshots, of which four fifths are 24.03 s.
        let is_taken = f64::from(shift.abs()) <= 30.0 - 24.03 + if shift > 0 { 0.032 } else { 0.0 };
        prop_assert_eq!(outcome.is_ok(), is_taken, "{}: {:?}", shift, outcome);
    }

    #[test]
    fn a_start_that_moves_is_refused(shift in -100_i64..100_000) {
        let uptime = 123 + shift;
        let other = replaced("mariadb-10.11/snapshot-2.tsv", "Uptime\t123", &format!("Uptime\t{uptime}"));
        let outcome = run(observe_mariadb, &[read("mariadb-10.11/snapshot-1.tsv"), other]);
        // Uptime is in whole seconds: that of the snapshots advances by 11, and the clock by 10.03.
        prop_assert_eq!(outcome.is_ok(), (-5..=4).contains(&shift), "{}: {:?}", shift, outcome);
    }
}
