//! The server's databases, and what encrypts them.

use selenite_engine::storage::Disk;
use selenite_engine::{Sealed, State, Suite, status};
use selenite_plan::PlanError;

use super::super::directory::Directory;
use super::{BIT, Cell, ColumnSpec, INT, NAME, Row, SYS, Sight, TIME, TINY, ViewSpec, bytes, row, text};
use crate::master::{DatabaseName, DatabaseRecord};
use selenite_types::DataType;

pub(super) const VIEWS: &[ViewSpec] = &[
    ViewSpec {
        schema: SYS,
        name: "databases",
        is_of_server: true,
        columns: (DATABASES, &[]),
        rows: databases,
    },
    ViewSpec {
        schema: SYS,
        name: "dm_database_encryption_keys",
        is_of_server: true,
        columns: (ENCRYPTION_KEYS, &[]),
        rows: encryption_keys,
    },
    ViewSpec {
        schema: SYS,
        name: "certificates",
        is_of_server: false,
        columns: (CERTIFICATES, &[]),
        rows: |_| Ok(Vec::new()),
    },
    ViewSpec {
        schema: SYS,
        name: "configurations",
        is_of_server: true,
        columns: (CONFIGURATIONS, &[]),
        rows: configurations,
    },
];

const DATABASES: &[ColumnSpec] = &[
    ("name", NAME, false),
    ("database_id", INT, false),
    ("source_database_id", INT, true),
    ("owner_sid", bytes(85), true),
    ("create_date", TIME, false),
    ("compatibility_level", TINY, false),
    ("collation_name", NAME, true),
    ("user_access", TINY, true),
    ("user_access_desc", text(60), true),
    ("is_read_only", BIT, true),
    ("is_auto_close_on", BIT, false),
    ("is_auto_shrink_on", BIT, true),
    ("state", TINY, true),
    ("state_desc", text(60), true),
    ("is_in_standby", BIT, true),
    ("is_cleanly_shutdown", BIT, true),
    ("is_supplemental_logging_enabled", BIT, true),
    ("snapshot_isolation_state", TINY, true),
    ("snapshot_isolation_state_desc", text(60), true),
    ("is_read_committed_snapshot_on", BIT, true),
    ("recovery_model", TINY, true),
    ("recovery_model_desc", text(60), true),
    ("page_verify_option", TINY, true),
    ("page_verify_option_desc", text(60), true),
    ("is_auto_create_stats_on", BIT, true),
    ("is_auto_create_stats_incremental_on", BIT, true),
    ("is_auto_update_stats_on", BIT, true),
    ("is_auto_update_stats_async_on", BIT, true),
    ("is_ansi_null_default_on", BIT, true),
    ("is_ansi_nulls_on", BIT, true),
    ("is_ansi_padding_on", BIT, true),
    ("is_ansi_warnings_on", BIT, true),
    ("is_arithabort_on", BIT, true),
    ("is_concat_null_yields_null_on", BIT, true),
    ("is_numeric_roundabort_on", BIT, true),
    ("is_quoted_identifier_on", BIT, true),
    ("is_recursive_triggers_on", BIT, true),
    ("is_cursor_close_on_commit_on", BIT, true),
    ("is_local_cursor_default", BIT, true),
    ("is_fulltext_enabled", BIT, true),
    ("is_trustworthy_on", BIT, true),
    ("is_db_chaining_on", BIT, true),
    ("is_parameterization_forced", BIT, true),
    ("is_master_key_encrypted_by_server", BIT, false),
    ("is_query_store_on", BIT, true),
    ("is_published", BIT, false),
    ("is_subscribed", BIT, false),
    ("is_merge_published", BIT, false),
    ("is_distributor", BIT, false),
    ("is_sync_with_backup", BIT, false),
    ("service_broker_guid", DataType::UniqueIdentifier, false),
    ("is_broker_enabled", BIT, false),
    ("log_reuse_wait", TINY, true),
    ("log_reuse_wait_desc", text(60), true),
    ("is_date_correlation_on", BIT, false),
    ("is_cdc_enabled", BIT, false),
    ("is_encrypted", BIT, true),
];

fn databases(sight: &Sight<'_>) -> Result<Vec<Row>, PlanError> {
    let offset = sight.state.now.offset_minutes;
    let keys = states(sight);
    let mut rows = Vec::new();
    for record in &sight.objects.directory.databases {
        let is_encrypted = keys.iter().any(|(id, state)| *id == record.id && *state == ENCRYPTED.0);
        let (off, on) = (false, true);
        let mut row = row![
            &record.name,
            record.id,
            Cell::Null,
            vec![1_u8],
            Cell::of_seconds(record.created, offset),
            160,
            "SQL_Latin1_General_CP1_CI_AS",
            0,
            "MULTI_USER",
            off,
            off,
            off,
            0,
            "ONLINE",
            off,
            off,
            off,
            0,
            "OFF",
            off,
            3,
            "SIMPLE",
            2,
            "CHECKSUM",
        ];
        let switches = [
            off, off, off, off, off, on, on, on, on, on, off, on, off, off, off, off, off, off, off, off, off, off, off,
            off, off, off,
        ];
        row.extend(switches.map(Cell::from));
        row.extend(row![
            vec![0_u8; 16],
            off,
            0,
            "NOTHING",
            off,
            off,
            is_encrypted,
        ]);
        rows.push(row);
    }
    Ok(rows)
}

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
        let epoch = sealed.epochs.iter().find(|epoch| epoch.is_sealing).or(sealed.epochs.first());
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

/// The state of encryption of each database whose file is encrypted.
fn states(sight: &Sight<'_>) -> Vec<(i32, i32)> {
    let of = |record: &DatabaseRecord| {
        let seen = status(&Disk, &path(sight, record)?, sight.objects.instance.access()).ok()?;
        Some((record.id, state_of(&seen.sealed?).0))
    };
    let Directory { databases, .. } = &*sight.objects.directory;
    databases.iter().filter_map(of).collect()
}

/// A database's file: master's and those of users.
fn path(sight: &Sight<'_>, record: &DatabaseRecord) -> Option<std::path::PathBuf> {
    let instance = &sight.objects.instance;
    match record.id {
        MASTER => Some(instance.master().path().to_owned()),
        _ if record.is_reserved() => None,
        _ => DatabaseName::new(&record.name).ok().map(|name| name.path(instance.data_folder())),
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

const CERTIFICATES: &[ColumnSpec] = &[
    ("name", NAME, false),
    ("certificate_id", INT, false),
    ("principal_id", INT, true),
    ("pvt_key_encryption_type", DataType::Char(2), false),
    ("pvt_key_encryption_type_desc", text(60), true),
    ("is_active_for_begin_dialog", BIT, true),
    ("issuer_name", text(442), true),
    ("cert_serial_number", text(64), true),
    ("sid", bytes(85), true),
    ("string_sid", NAME, true),
    ("subject", text(4000), true),
    ("expiry_date", TIME, true),
    ("start_date", TIME, true),
    ("thumbprint", bytes(32), false),
    ("attested_by", text(260), true),
    ("pvt_key_last_backup_date", TIME, true),
    ("key_length", INT, true),
];

const CONFIGURATIONS: &[ColumnSpec] = &[
    ("configuration_id", INT, false),
    ("name", text(35), false),
    ("value", INT, true),
    ("minimum", INT, true),
    ("maximum", INT, true),
    ("value_in_use", INT, true),
    ("description", text(255), false),
    ("is_dynamic", BIT, false),
    ("is_advanced", BIT, false),
];

fn configurations(sight: &Sight<'_>) -> Result<Vec<Row>, PlanError> {
    let sessions = i32::try_from(sight.objects.instance.registry().session_max()).unwrap_or(i32::MAX);
    Ok(vec![row![
        103,
        "user connections",
        sessions,
        0,
        32_767,
        sessions,
        "Number of user connections allowed",
        false,
        true,
    ]])
}

