//! What encrypts databases.

use selenite_engine::storage::Disk;
use selenite_engine::{Sealed, State, Suite, status};
use selenite_plan::PlanError;
use selenite_types::DataType;

use super::{Cell, ColumnSpec, INT, Row, SYS, Sight, TIME, ViewSpec, bytes, row, text};
use crate::master::{DatabaseName, DatabaseRecord};

pub(super) const VIEWS: &[ViewSpec] = &[ViewSpec {
    schema: SYS,
    name: "dm_database_encryption_keys",
    is_of_server: true,
    columns: (ENCRYPTION_KEYS, &[]),
    rows: encryption_keys,
}];

const ENCRYPTION_KEYS: &[ColumnSpec] = &[
    ("database_id", INT, true),
    ("encryption_state", INT, true),
    ("create_date", TIME, true),
    ("regenerate_date", TIME, true),
    ("modify_date", TIME, true),
    ("set_date", TIME, true),
    ("opened_date", TIME, true),
    ("key_algorithm", text(32), true),
    ("key_length", INT, true),
    ("encryptor_thumbprint", bytes(20), true),
    ("encryptor_type", text(32), true),
    ("percent_complete", DataType::Real, true),
    ("encryption_state_desc", text(32), true),
];

fn encryption_keys(sight: &Sight<'_>) -> Result<Vec<Row>, PlanError> {
    let offset = sight.state.now.offset_minutes;
    let mut rows = Vec::new();
    for record in &sight.objects.directory.databases {
        let Some(sealed) = path(sight, record).and_then(|path| {
            let seen = status(&Disk, &path, sight.objects.instance.access()).ok()?;
            seen.sealed
        }) else {
            continue;
        };
        let (state, word) = state_of(&sealed);
        let epoch = sealed
            .epochs
            .iter()
            .find(|epoch| epoch.is_sealing)
            .or(sealed.epochs.first());
        let made = epoch.map_or(sealed.master_created, |epoch| epoch.created);
        let moment = |seconds: u64| Cell::of_seconds(i64::try_from(seconds).unwrap_or(0), offset);
        let done = f64::from(sealed.cursor) * 100.0 / f64::from(sealed.page_count.max(1));
        let is_moving = state != ENCRYPTED.0;
        rows.push(row![
            record.id,
            state,
            moment(sealed.master_created),
            moment(made),
            moment(made),
            moment(sealed.master_created),
            Cell::of_time(Some(sight.objects.instance.started()), offset),
            key_algorithm(sealed.suite),
            key_bits(sealed.suite),
            Cell::Null,
            "ASYMMETRIC KEY",
            if is_moving { done } else { 0.0 },
            word,
        ]);
    }
    if !rows.is_empty() {
        // As SQL Server has it: tempdb is encrypted as soon as any database is. Ours is in memory alone.
        let started = Cell::of_time(Some(sight.objects.instance.started()), offset);
        rows.insert(
            0,
            row![
                TEMPDB,
                ENCRYPTED.0,
                started.clone(),
                started.clone(),
                started.clone(),
                started.clone(),
                started,
                "AES",
                256,
                Cell::Null,
                Cell::Null,
                0.0,
                ENCRYPTED.1,
            ],
        );
    }
    Ok(rows)
}

/// The ids of the databases whose files are encrypted.
pub(super) fn encrypted_databases(sight: &Sight<'_>) -> Vec<i32> {
    let of = |record: &DatabaseRecord| {
        let seen = status(&Disk, &path(sight, record)?, sight.objects.instance.access()).ok()?;
        (state_of(&seen.sealed?).0 == ENCRYPTED.0).then_some(record.id)
    };
    sight.objects.directory.databases.iter().filter_map(of).collect()
}

/// A database's file: master's and those of users.
pub(super) fn path(sight: &Sight<'_>, record: &DatabaseRecord) -> Option<std::path::PathBuf> {
    let instance = &sight.objects.instance;
    match record.id {
        MASTER => Some(instance.master().path().to_owned()),
        _ if record.is_reserved() => None,
        _ => DatabaseName::new(&record.name)
            .ok()
            .map(|name| name.path(instance.data_folder())),
    }
}

/// encryption_state and its word.
fn state_of(sealed: &Sealed) -> (i32, &'static str) {
    match sealed.state {
        State::Steady if sealed.suite == Suite::None.name() => (1, "UNENCRYPTED"),
        State::Steady => ENCRYPTED,
        State::SwitchingOn => (2, "ENCRYPTION_IN_PROGRESS"),
        State::Changing | State::Finishing => (4, "KEY_CHANGE_IN_PROGRESS"),
        State::SwitchingOff => (5, "DECRYPTION_IN_PROGRESS"),
        State::Retired => (0, "NO_ENCRYPTION_KEY"),
    }
}

/// The name of a cipher as SQL Server has it.
fn key_algorithm(suite: &str) -> &str {
    if suite.starts_with("TRIPLE_DES") {
        "TRIPLE_DES"
    } else if suite.starts_with("AES_") {
        "AES"
    } else {
        suite
    }
}

fn key_bits(suite: &str) -> i32 {
    [("128", 128), ("192", 192), ("TRIPLE_DES", 192), ("256", 256)]
        .into_iter()
        .find(|(digits, _)| suite.contains(digits))
        .map_or(256, |(_, bits)| bits)
}

const ENCRYPTED: (i32, &str) = (3, "ENCRYPTED");
const MASTER: i32 = 1;
const TEMPDB: i32 = 2;
