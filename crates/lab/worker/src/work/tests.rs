use std::sync::mpsc::{Sender, channel};

use base64::Engine as _;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;

use super::*;
use crate::protocol::{Dataset, Hummer};
use crate::stock::{Stock, spec};
use crate::{dataset, digest};

struct Fixture {
    _folder: tempfile::TempDir,
    database: DatabaseSpec,
    connection: Connection,
    sender: Sender<Control>,
    controls: Controls,
}

impl Fixture {
    fn new(dataset: &Dataset, journal_mode: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut database = spec(&folder.path().join("a.db"));
        database.journal_mode = journal_mode.to_owned();
        dataset::load(&Stock, &database, dataset, 7).unwrap();
        let connection = Stock.open(&database).unwrap();
        let (sender, controls) = channel();
        Self {
            _folder: folder,
            database,
            connection,
            sender,
            controls,
        }
    }

    fn run_as(&self, work: &Workload, seed: u64, process: Share) -> Result<Sample, WorkerError> {
        let block = Block {
            seed,
            process,
            start_at_ns: 0,
            controls: &self.controls,
        };
        run(&Stock, &self.database, &self.connection, work, &block)
    }

    fn run(&self, work: &Workload) -> Sample {
        self.run_as(work, 5, Share { index: 0, count: 1 }).unwrap()
    }

    fn count(&self, sql: &str) -> i64 {
        self.connection.query_row(sql, [], |row| row.get(0)).unwrap()
    }
}

const STATEMENTS: Dataset = Dataset::Statements { rows: 300, indexes: 0 };
const CARDS: Dataset = Dataset::Cards { rows: 200 };

fn hummer(mix: [u8; 3], loops: u64) -> Workload {
    Workload::Hummer {
        hummer: Hummer {
            mix,
            loops,
            pause_every: 0,
            pause_ms: 0,
        },
    }
}

fn recorded(text: &str) -> u64 {
    let bytes = base64::engine::general_purpose::STANDARD.decode(text).unwrap();
    let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
    histogram.len()
}

#[test]
fn inserts_are_rows_and_leave_no_log() {
    for (mode, has_log) in [("wal", true), ("delete", false)] {
        let fixture = Fixture::new(&STATEMENTS, mode);
        let sample = fixture.run(&Workload::Insert { rows: 20 });
        assert_eq!(fixture.count("SELECT count(*) FROM testtable"), 320);
        assert_eq!(sample.operations, 20);
        assert_eq!(recorded(&sample.latencies["insert"]), 20);
        assert!(sample.checkpoint_ns <= sample.elapsed_ns);
        // The log before it was truncated: a frame for each page of each transaction.
        assert_eq!(sample.wal_bytes >= 20 * 4096, has_log, "{sample:?}");
        assert_eq!(
            sample.database_bytes,
            std::fs::metadata(&fixture.database.path).unwrap().len()
        );
        let mut wal = fixture.database.path.clone().into_os_string();
        wal.push("-wal");
        assert_eq!(std::fs::metadata(wal).is_ok_and(|log| log.len() == 0), has_log);
    }
}

#[test]
fn an_insert_into_indexes_writes_more_pages() {
    let written = [0, 2].map(|indexes| {
        let fixture = Fixture::new(&Dataset::Statements { rows: 5000, indexes }, "wal");
        let count = fixture.count("SELECT count(*) FROM sqlite_schema WHERE type = 'index'");
        assert_eq!(count, i64::from(indexes));
        let sample = fixture.run(&Workload::Insert { rows: 20 });
        assert_eq!(fixture.run(&Workload::IntegrityCheck).answer, "ok");
        sample.wal_bytes
    });
    assert!(written[1] > 2 * written[0], "{written:?}");
    let folder = tempfile::tempdir().unwrap();
    let many = Dataset::Statements { rows: 1, indexes: 3 };
    let refused = dataset::load(&Stock, &spec(&folder.path().join("a.db")), &many, 7);
    assert!(matches!(refused, Err(WorkerError::Refused(_))), "{refused:?}");
}

#[test]
fn every_reader_reads_all_of_it_with_a_cache_of_its_own() {
    let fixture = Fixture::new(&Dataset::Scan { bytes: 4 << 20 }, "wal");
    let answers = [1, 5].map(|connections| {
        let sample = fixture.run(&Workload::Readers { connections });
        assert_eq!(sample.operations, u64::from(connections));
        assert!(
            sample.read_chars >= u64::from(connections) * (4 << 20) * 9 / 10,
            "{sample:?}"
        );
        sample.answer
    });
    let ends = answers.map(|answer| answer.split_once(" times ").map(|(_, end)| end.to_owned()).unwrap());
    assert_eq!(ends[0], ends[1]);
    assert!(ends[0].starts_with("1 rows "), "{ends:?}");
    // The fixture's own connection is still open.
    assert!(
        fixture
            .run(&Workload::Equal { rehearsals: 0 })
            .answer
            .starts_with("0 rows ")
    );
    for connections in [0, 257] {
        let refused = fixture.run_as(&Workload::Readers { connections }, 5, Share { index: 0, count: 1 });
        assert!(matches!(refused, Err(WorkerError::Refused(_))), "{refused:?}");
    }
}

#[test]
fn a_database_is_opened_the_requested_number_of_times() {
    // Reads are counted for the whole process.
    selenite_testing::own_process!();
    let fixture = Fixture::new(&STATEMENTS, "wal");
    let Fixture {
        _folder: folder,
        database,
        connection,
        controls,
        ..
    } = fixture;
    drop(connection);
    let block = Block {
        seed: 5,
        process: Share { index: 0, count: 1 },
        start_at_ns: 0,
        controls: &controls,
    };
    let samples = [1, 40].map(|times| run_closed(&Stock, &database, &Workload::Open { times }, &block).unwrap());
    assert_eq!(samples[0].answer, samples[1].answer);
    assert!(samples[0].answer.starts_with("1 rows "), "{}", samples[0].answer);
    assert_eq!(samples[1].operations, 40);
    // The header of the database is read each time.
    assert!(
        samples[1].read_calls >= 40 && samples[1].read_calls > 20 * samples[0].read_calls,
        "{samples:?}"
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn an_update_writes_every_page_also_the_second_time_with_the_same_seed() {
    let fixture = Fixture::new(&STATEMENTS, "wal");
    for _ in 0..3 {
        let sample = fixture.run(&Workload::UpdateAll);
        assert!(sample.write_chars > 4096 * 3, "{sample:?}");
        assert_eq!(
            fixture.count("SELECT count(DISTINCT name) FROM testtable WHERE length(name) = 25"),
            1
        );
    }
}

#[test]
fn reads_return_the_rows_that_exist() {
    let fixture = Fixture::new(&Dataset::Scan { bytes: 100_000 }, "wal");
    let like = fixture.run(&Workload::Like { rehearsals: 2 });
    assert!(like.answer.starts_with("1 rows "), "{}", like.answer);
    assert_eq!(like.operations, 1);
    assert!(
        fixture
            .run(&Workload::Equal { rehearsals: 0 })
            .answer
            .starts_with("0 rows ")
    );
    assert_eq!(fixture.run(&Workload::IntegrityCheck).answer, "ok");
    assert_eq!(fixture.run(&Workload::QuickCheck).answer, "ok");
    assert!(
        fixture
            .run_as(&Workload::SelectAll, 5, Share { index: 0, count: 1 })
            .is_err()
    );
}

#[test]
fn a_damaged_index_fails_the_integrity_check() {
    let fixture = Fixture::new(&CARDS, "delete");
    fixture
        .connection
        .execute_batch(
            "PRAGMA writable_schema = ON;
             UPDATE sqlite_schema SET sql = 'CREATE INDEX PurchaseByVendor ON Purchase(Amount)'
             WHERE name = 'PurchaseByVendor';",
        )
        .unwrap();
    let connection = Stock.open(&fixture.database).unwrap();
    let block = Block {
        seed: 5,
        process: Share { index: 0, count: 1 },
        start_at_ns: 0,
        controls: &fixture.controls,
    };
    let checked = run(
        &Stock,
        &fixture.database,
        &connection,
        &Workload::IntegrityCheck,
        &block,
    );
    assert!(matches!(checked, Err(WorkerError::Wrong(_))), "{checked:?}");
}

#[test]
fn the_mix_is_reads_updates_inserts_and_twins_do_the_same() {
    let fixtures = [Fixture::new(&CARDS, "wal"), Fixture::new(&CARDS, "delete")];
    let samples = fixtures.each_ref().map(|fixture| fixture.run(&hummer([5, 4, 1], 100)));
    assert_eq!(samples[0].answer, samples[1].answer);
    assert!(
        samples[0]
            .answer
            .starts_with("50 read, 40 updated, 10 inserted, 50 rows ")
    );
    let digests = fixtures
        .each_ref()
        .map(|fixture| digest::of(&fixture.connection).unwrap());
    assert_eq!(digests[0], digests[1]);
    assert_eq!(fixtures[0].count("SELECT count(*) FROM Purchase"), 210);
    for (name, count) in [("read", 50), ("update", 40), ("insert", 10)] {
        assert_eq!(recorded(&samples[0].latencies[name]), count);
    }
    let other = fixtures[0]
        .run_as(&hummer([5, 4, 1], 100), 6, Share { index: 0, count: 1 })
        .unwrap();
    assert_ne!(other.answer, samples[0].answer);
}

#[test]
fn several_processes_work_on_one_database() {
    let fixture = Fixture::new(&CARDS, "wal");
    std::thread::scope(|scope| {
        for index in 0..3 {
            let database = &fixture.database;
            scope.spawn(move || {
                let connection = Stock.open(database).unwrap();
                let (_sender, controls) = channel();
                let block = Block {
                    seed: 5,
                    process: Share { index, count: 3 },
                    start_at_ns: 0,
                    controls: &controls,
                };
                let sample = run(&Stock, database, &connection, &hummer([0, 5, 5], 600), &block).unwrap();
                assert_eq!(sample.answer, "0 read, 300 updated, 300 inserted");
                assert_eq!(sample.checkpoint_ns > 0, index == 0);
            });
        }
    });
    assert_eq!(fixture.count("SELECT count(*) FROM Purchase"), 1100);
    assert_eq!(fixture.run(&Workload::IntegrityCheck).answer, "ok");
}

#[test]
fn controls_change_the_mix_and_end_the_pause() {
    let fixture = Fixture::new(&CARDS, "wal");
    let send = |stop, mix| fixture.sender.send(Control { stop, mix }).unwrap();
    send(false, Some([0, 0, 9]));
    send(false, Some([0, 10, 0]));
    let sample = fixture.run(&hummer([10, 0, 0], 30));
    assert!(
        sample.answer.starts_with("0 read, 30 updated, 0 inserted"),
        "{}",
        sample.answer
    );
    assert!(sample.altered);
    let long = Hummer {
        mix: [10, 0, 0],
        loops: 100,
        pause_every: 1,
        pause_ms: 3_600_000,
    };
    send(true, None);
    let sample = fixture.run(&Workload::Hummer { hummer: long });
    assert!(sample.altered && sample.operations < 100);
    assert!(!fixture.run(&hummer([10, 0, 0], 3)).altered);
}

#[test]
fn an_invalid_mix_and_an_excess_process_are_refused() {
    let fixture = Fixture::new(&CARDS, "wal");
    for (mix, index) in [([4, 3, 2], 0), ([255, 255, 255], 0), ([4, 3, 3], 1)] {
        let refused = fixture.run_as(&hummer(mix, 1), 5, Share { index, count: 1 });
        assert!(matches!(refused, Err(WorkerError::Refused(_))), "{mix:?}");
    }
}

#[test]
fn copies_are_removed_afterwards() {
    let fixture = Fixture::new(&CARDS, "wal");
    assert_eq!(fixture.run(&Workload::Backup).answer, "copied");
    let Fixture {
        _folder: folder,
        database,
        connection,
        controls,
        ..
    } = fixture;
    drop(connection);
    let block = Block {
        seed: 5,
        process: Share { index: 0, count: 1 },
        start_at_ns: 0,
        controls: &controls,
    };
    let to_plain = Workload::Convert { to: "plain".to_owned() };
    let converted = run_closed(&Stock, &database, &to_plain, &block).unwrap();
    assert!(converted.write_chars > std::fs::metadata(&database.path).unwrap().len() / 2);
    let to_other = Workload::Convert { to: "AES".to_owned() };
    assert!(run_closed(&Stock, &database, &to_other, &block).is_err());
    run_closed(&Stock, &database, &Workload::PhysicalVerify, &block).unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
