use proptest::prelude::*;

use super::*;

/// Events, a millisecond apart.
fn script(events: &[TraceEvent]) -> Result<ReplayScript, PlanError> {
    let mut builder = ReplayBuilder::default();
    builder.begin_trace();
    for (number, event) in (0..).zip(events) {
        builder.add(&TraceRecord {
            microseconds: 1_000_000_000_000 + 1000 * number,
            event: *event,
        });
    }
    builder.finish()
}

fn open(file: u32, role: TraceRole) -> TraceEvent {
    let database = 1;
    TraceEvent::Open { file, database, role }
}

fn read(file: u32, page: u64, pages: u32) -> TraceEvent {
    let (offset, size) = (page * 4096, pages * 4096);
    TraceEvent::Read { file, offset, size }
}

fn write(file: u32, page: u64, pages: u32) -> TraceEvent {
    let (offset, size) = (page * 4096, pages * 4096);
    TraceEvent::Write { file, offset, size }
}

fn transaction(reads: &[(u32, u32)], writes: &[u32]) -> ReplayStep {
    ReplayStep::Transaction {
        reads: reads.to_vec(),
        writes: writes.to_vec(),
    }
}

#[test]
fn transactions_of_a_log_have_their_pages_and_their_checkpoint() {
    let begin = TraceEvent::Begin { file: 1 };
    let commit = |frames| TraceEvent::Commit { database: 1, frames };
    let found = script(&[
        open(1, TraceRole::Database),
        open(2, TraceRole::Wal),
        open(3, TraceRole::Temporary),
        begin,
        // The header, two pages that follow one another, and three in one call.
        TraceEvent::Read {
            file: 1,
            offset: 0,
            size: 100,
        },
        read(1, 5, 1),
        read(1, 6, 1),
        read(1, 20, 3),
        write(3, 4, 1),
        begin,
        read(1, 9, 1),
        read(2, 7, 1),
        commit(2),
        // A checkpoint of two pages.
        read(2, 1, 1),
        write(1, 9, 1),
        read(2, 2, 1),
        write(1, 30, 1),
        begin,
    ])
    .unwrap();
    assert_eq!((found.databases.len(), found.packets.len()), (1, 0));
    let database = &found.databases[0];
    assert!(database.is_wal);
    assert_eq!((database.page_size, database.pages), (4096, 23));
    let ReplayStep::Transaction { reads, writes } = &database.steps[1] else {
        panic!("{:?}", database.steps);
    };
    assert_eq!(
        (reads.len(), reads[0], writes.as_slice()),
        (2, (9, 1), [9, 20].as_slice())
    );
    assert_eq!(database.steps[0], transaction(&[(5, 2), (20, 3)], &[]));
    assert_eq!(database.steps[2..], [ReplayStep::Checkpoint, transaction(&[], &[])]);
    let totals = found.totals();
    assert_eq!((totals.transactions, totals.pages_read, totals.checkpoints), (3, 7, 1));
    assert_eq!((totals.commits, totals.pages_written), (1, 2));
    assert!((found.seconds - 0.017).abs() < 1e-6);
}

#[test]
fn in_rollback_mode_the_pages_that_were_written_are_written() {
    let found = script(&[
        open(1, TraceRole::Database),
        open(2, TraceRole::Journal),
        TraceEvent::Begin { file: 1 },
        read(1, 3, 1),
        write(2, 0, 1),
        write(1, 3, 1),
        write(1, 8, 2),
    ])
    .unwrap();
    assert!(!found.databases[0].is_wal);
    assert_eq!(found.databases[0].steps, [transaction(&[(3, 1)], &[3, 8, 9])]);
}

#[test]
fn packets_are_counted_by_size_and_connection() {
    let sent = |connection, size| TraceEvent::Sent { connection, size };
    let found = script(&[
        sent(1, 8),
        TraceEvent::Received {
            connection: 1,
            size: 4096,
        },
        sent(2, 4000),
        sent(2, 32_767),
    ])
    .unwrap();
    assert_eq!(found.connections, 2);
    assert_eq!(found.packets, BTreeMap::from([(128, 1), (4096, 2), (32_767, 1)]));
    assert!(script(&[TraceEvent::Full]).is_err());
    assert!(script(&[open(1, TraceRole::Temporary), read(1, 5, 1)]).is_err());
}

/// A trace that says that it has hundreds of large databases fills no disk.
#[test]
fn databases_beyond_the_limit_are_left_out() {
    let mut events = Vec::new();
    for database in 1..300 {
        let (file, role) = (database, TraceRole::Database);
        events.push(TraceEvent::Open { file, database, role });
        for _ in 0..database {
            events.push(TraceEvent::Begin { file });
        }
        events.push(read(file, if database % 2 == 0 { 40_000 } else { 2 }, 1));
    }
    let found = script(&events).unwrap();
    let bytes = |database: &ReplayedDatabase| u64::from(database.pages) * u64::from(database.page_size);
    assert!(found.databases.iter().map(bytes).sum::<u64>() <= u64::from(PAGES_BYTES_MAX));
    assert_eq!(
        (found.databases.len(), found.left_out),
        (DATABASES_MAX, 299 - DATABASES_MAX)
    );
    assert_eq!(found.databases[0].steps.len(), 299);
}

fn any_event() -> impl Strategy<Value = TraceEvent> {
    let role = prop_oneof![
        Just(TraceRole::Database),
        Just(TraceRole::Wal),
        Just(TraceRole::Journal),
        Just(TraceRole::Temporary)
    ];
    let size = prop_oneof![Just(4096_u32), Just(512), Just(8192), any::<u32>()];
    prop_oneof![
        (0..4_u32, 0..3_u32, role).prop_map(|(file, database, role)| TraceEvent::Open { file, database, role }),
        (0..4_u32).prop_map(|file| TraceEvent::Begin { file }),
        (0..4_u32, any::<u64>(), size.clone()).prop_map(|(file, offset, size)| TraceEvent::Read { file, offset, size }),
        (0..4_u32, any::<u64>(), size).prop_map(|(file, offset, size)| TraceEvent::Write { file, offset, size }),
        (0..3_u32, any::<u32>()).prop_map(|(database, frames)| TraceEvent::Commit { database, frames }),
        (0..4_u32).prop_map(|file| TraceEvent::Close { file }),
    ]
}

proptest! {
    /// Whatever a trace says, a script stays within its database, and a database within its limit.
    #[test]
    fn pages_are_within_the_database(events in prop::collection::vec(any_event(), 0..60)) {
        let Ok(found) = script(&events) else { return Ok(()) };
        for database in &found.databases {
            for step in &database.steps {
                let ReplayStep::Transaction { reads, writes } = step else { continue };
                for (first, count) in reads {
                    prop_assert!(*count > 0 && first + count <= database.pages);
                }
                prop_assert!(writes.iter().all(|page| *page < database.pages));
            }
        }
    }
}
