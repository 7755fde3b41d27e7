//! The server as sys.servers has it, its endpoint, and the databases of features that none of them uses.

use selenite_compiler::SqlError;
use selenite_types::DataType;

use super::{BIT, Cell, ColumnSpec, INT, NAME, Row, SMALL, SYS, TINY, ViewContext, ViewSpec, row, text};

pub(crate) const VIEWS: &[ViewSpec] = &[
    ViewSpec {
        schema: SYS,
        name: "servers",
        is_of_server: true,
        columns: &[SERVER],
        rows: servers,
    },
    ViewSpec {
        schema: SYS,
        name: "endpoints",
        is_of_server: true,
        columns: &[ENDPOINT],
        rows: |_| {
            let tcp = (2, "TCP");
            let statements = (2, "TSQL");
            let started = (0, "STARTED");
            Ok(vec![row![
                "TSQL Default TCP",
                4,
                1,
                tcp.0,
                tcp.1,
                statements.0,
                statements.1,
                started.0,
                started.1,
                false,
            ]])
        },
    },
    ViewSpec {
        schema: SYS,
        name: "database_mirroring",
        is_of_server: true,
        columns: &[DATABASE, MIRRORING],
        rows: |context| Ok(each_database(context, &vec![Cell::Null; MIRRORING.len()])),
    },
    ViewSpec {
        schema: SYS,
        name: "database_recovery_status",
        is_of_server: true,
        columns: &[DATABASE, &[("last_log_backup_lsn", LOG_NUMBER, true)]],
        rows: |context| Ok(each_database(context, &[Cell::Null])),
    },
    ViewSpec {
        schema: SYS,
        name: "database_filestream_options",
        is_of_server: true,
        columns: &[DATABASE, FILESTREAM],
        rows: |context| Ok(each_database(context, &[0.into(), "OFF".into(), Cell::Null])),
    },
    ViewSpec {
        schema: SYS,
        name: "database_query_store_options",
        is_of_server: false,
        columns: &[QUERY_STORE],
        rows: |_| Ok(vec![row![0, "OFF", 0, "OFF"]]),
    },
];

const SERVER: &[ColumnSpec] = &[
    ("server_id", INT, false),
    ("name", NAME, false),
    ("product", NAME, false),
    ("provider", NAME, false),
    ("data_source", text(4000), true),
    ("location", text(4000), true),
    ("provider_string", text(4000), true),
    ("catalog", NAME, true),
    ("connect_timeout", INT, true),
    ("query_timeout", INT, true),
    ("is_linked", BIT, false),
    ("is_remote_login_enabled", BIT, false),
    ("is_rpc_out_enabled", BIT, false),
    ("is_data_access_enabled", BIT, false),
    ("is_collation_compatible", BIT, false),
    ("uses_remote_collation", BIT, false),
    ("collation_name", NAME, true),
    ("lazy_schema_validation", BIT, false),
    ("is_system", BIT, false),
    ("is_publisher", BIT, false),
    ("is_subscriber", BIT, true),
    ("is_distributor", BIT, true),
    ("is_nonsql_subscriber", BIT, true),
];

/// The server itself: no other one is linked.
fn servers(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let name = context.objects.instance.name();
    let (yes, no) = (true, false);
    Ok(vec![row![
        0,
        name,
        "SQL Server",
        "SQLNCLI",
        name,
        Cell::Null,
        Cell::Null,
        Cell::Null,
        0,
        0,
        no,
        yes,
        yes,
        no,
        no,
        yes,
        Cell::Null,
        no,
        no,
        no,
        no,
        no,
        no,
    ]])
}

const ENDPOINT: &[ColumnSpec] = &[
    ("name", NAME, false),
    ("endpoint_id", INT, false),
    ("principal_id", INT, true),
    ("protocol", TINY, false),
    ("protocol_desc", text(60), true),
    ("type", TINY, false),
    ("type_desc", text(60), true),
    ("state", TINY, true),
    ("state_desc", text(60), true),
    ("is_admin_endpoint", BIT, false),
];

const DATABASE: &[ColumnSpec] = &[("database_id", INT, false)];

/// The number of a record of a log.
const LOG_NUMBER: DataType = DataType::Decimal {
    precision: 25,
    scale: 0,
};

const MIRRORING: &[ColumnSpec] = &[
    ("mirroring_guid", DataType::UniqueIdentifier, true),
    ("mirroring_state", TINY, true),
    ("mirroring_state_desc", text(60), true),
    ("mirroring_role", TINY, true),
    ("mirroring_role_desc", text(60), true),
    ("mirroring_role_sequence", INT, true),
    ("mirroring_safety_level", TINY, true),
    ("mirroring_safety_level_desc", text(60), true),
    ("mirroring_safety_sequence", INT, true),
    ("mirroring_partner_name", NAME, true),
    ("mirroring_partner_instance", NAME, true),
    ("mirroring_witness_name", NAME, true),
    ("mirroring_witness_state", TINY, true),
    ("mirroring_witness_state_desc", text(60), true),
    ("mirroring_failover_lsn", LOG_NUMBER, true),
    ("mirroring_connection_timeout", INT, true),
    ("mirroring_redo_queue", INT, true),
    ("mirroring_redo_queue_type", text(60), true),
    ("mirroring_end_of_log_lsn", LOG_NUMBER, true),
    ("mirroring_replication_lsn", LOG_NUMBER, true),
];
const FILESTREAM: &[ColumnSpec] = &[
    ("non_transacted_access", TINY, false),
    ("non_transacted_access_desc", text(60), false),
    ("directory_name", text(255), true),
];
const QUERY_STORE: &[ColumnSpec] = &[
    ("desired_state", SMALL, false),
    ("desired_state_desc", text(60), true),
    ("actual_state", SMALL, false),
    ("actual_state_desc", text(60), true),
];

/// A row for each database: its number, and `rest`.
fn each_database(context: &ViewContext<'_>, rest: &[Cell]) -> Vec<Row> {
    let databases = context.objects.directory.databases.iter();
    let row = |id: i32| {
        let mut row = row![id];
        row.extend_from_slice(rest);
        row
    };
    databases.map(|record| row(record.id)).collect()
}
