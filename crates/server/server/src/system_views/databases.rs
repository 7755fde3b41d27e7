//! The server's databases and settings.

use selenite_compiler::SqlError;
use selenite_types::{DataType, Value};

use super::{
    BIT, Cell, ColumnSpec, INT, NAME, Row, SMALL, SYS, TIME, TINY, VARIANT, ViewContext, ViewSpec, bytes, encryption,
    row, text,
};

pub(crate) const VIEWS: &[ViewSpec] = &[
    ViewSpec {
        schema: SYS,
        name: "databases",
        is_of_server: true,
        columns: &[DATABASES],
        rows: databases,
    },
    ViewSpec {
        schema: SYS,
        name: "configurations",
        is_of_server: true,
        columns: &[CONFIGURATIONS],
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
    ("service_broker_guid", DataType::UniqueIdentifier, true),
    ("is_broker_enabled", BIT, false),
    ("log_reuse_wait", TINY, true),
    ("log_reuse_wait_desc", text(60), true),
    ("is_date_correlation_on", BIT, false),
    ("is_cdc_enabled", BIT, false),
    ("is_encrypted", BIT, true),
    ("is_honor_broker_priority_on", BIT, true),
    ("replica_id", DataType::UniqueIdentifier, true),
    ("group_database_id", DataType::UniqueIdentifier, true),
    ("resource_pool_id", INT, true),
    ("default_language_lcid", SMALL, true),
    ("default_language_name", NAME, true),
    ("default_fulltext_language_lcid", INT, true),
    ("default_fulltext_language_name", NAME, true),
    ("is_nested_triggers_on", BIT, true),
    ("is_transform_noise_words_on", BIT, true),
    ("two_digit_year_cutoff", SMALL, true),
    ("containment", TINY, true),
    ("containment_desc", text(60), true),
    ("target_recovery_time_in_seconds", INT, true),
    ("is_federation_member", BIT, true),
    ("is_remote_data_archive_enabled", BIT, true),
    ("is_mixed_page_allocation_on", BIT, true),
    ("catalog_collation_type", INT, false),
    ("catalog_collation_type_desc", text(60), true),
    ("physical_database_name", NAME, true),
    ("is_accelerated_database_recovery_on", BIT, true),
    ("is_ledger_on", BIT, true),
    ("is_change_feed_enabled", BIT, true),
];

fn databases(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let offset = context.state.now.offset_minutes;
    let encrypted = encryption::encrypted_databases(context);
    let mut rows = Vec::new();
    for record in &context.objects.directory.databases {
        let is_encrypted = encrypted.contains(&record.id);
        let options = context.objects.directory.options(record.id);
        let off = false;
        let (state, state_desc) = if options.is_offline() {
            (6, "OFFLINE")
        } else {
            (0, "ONLINE")
        };
        let is_snapshot = options.is_on("ALLOW_SNAPSHOT_ISOLATION");
        let mut row = row![
            &record.name,
            record.id,
            Cell::Null,
            vec![1_u8],
            Cell::of_seconds(record.created, offset),
            i32::from(options.compatibility_level()),
            "SQL_Latin1_General_CP1_CI_AS",
            options.user_access().number(),
            options.user_access().word(),
            options.is_read_only(),
            options.is_on("AUTO_CLOSE"),
            off,
            state,
            state_desc,
            off,
            off,
            off,
            i32::from(is_snapshot),
            if is_snapshot { "ON" } else { "OFF" },
            options.is_on("READ_COMMITTED_SNAPSHOT"),
            3,
            "SIMPLE",
            2,
            "CHECKSUM",
        ];
        let mut switches = [off; 26];
        for (switch, name) in switches.iter_mut().zip(SWITCHES) {
            *switch = options.is_on(name);
        }
        switches[CURSOR_SWITCH] = options.is_local_cursor_default();
        switches[MASTER_KEY_SWITCH] = encryption::has_master_key(context, record.id);
        row.extend(switches.map(Cell::from));
        row.extend(row![Cell::Null, off, 0, "NOTHING", off, off, is_encrypted, off]);
        // Of replicas, and of databases that are contained.
        row.extend(vec![Cell::Null; 10]);
        row.extend(row![
            0,
            "NONE",
            0,
            off,
            off,
            off,
            0,
            "DATABASE_DEFAULT",
            &record.name,
            off,
            off,
            off
        ]);
        rows.push(row);
    }
    Ok(rows)
}

/// The options behind the columns from is_auto_create_stats_on to is_recursive_triggers_on; one that is not ALTER
/// DATABASE's is empty.
const SWITCHES: [&str; 13] = [
    "AUTO_CREATE_STATISTICS",
    "",
    "AUTO_UPDATE_STATISTICS",
    "AUTO_UPDATE_STATISTICS_ASYNC",
    "ANSI_NULL_DEFAULT",
    "ANSI_NULLS",
    "ANSI_PADDING",
    "ANSI_WARNINGS",
    "ARITHABORT",
    "CONCAT_NULL_YIELDS_NULL",
    "NUMERIC_ROUNDABORT",
    "QUOTED_IDENTIFIER",
    "RECURSIVE_TRIGGERS",
];

/// is_local_cursor_default, counted from is_auto_create_stats_on.
const CURSOR_SWITCH: usize = 14;
/// is_master_key_encrypted_by_server, counted from is_auto_create_stats_on.
const MASTER_KEY_SWITCH: usize = 19;

const CONFIGURATIONS: &[ColumnSpec] = &[
    ("configuration_id", INT, false),
    ("name", text(35), false),
    ("value", VARIANT, true),
    ("minimum", VARIANT, true),
    ("maximum", VARIANT, true),
    ("value_in_use", VARIANT, true),
    ("description", text(255), false),
    ("is_dynamic", BIT, false),
    ("is_advanced", BIT, false),
];

fn configurations(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let number = |number: i32| Cell::of_variant(DataType::Int, Value::Int(number));
    let sessions = i32::try_from(context.objects.instance.registry().limits().max).unwrap_or(i32::MAX);
    Ok(vec![row![
        103,
        "user connections",
        number(sessions),
        number(0),
        number(32_767),
        number(sessions),
        "Number of user connections allowed",
        false,
        true,
    ]])
}
