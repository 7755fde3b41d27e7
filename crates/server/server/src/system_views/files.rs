//! The files of databases, and where their data is.

use std::path::{Path, PathBuf};

use selenite_compiler::SqlError;
use selenite_types::DataType;

use super::{BIT, Cell, ColumnSpec, INT, NAME, Row, SYS, TINY, ViewContext, ViewSpec, row, text};
use crate::master::{DatabaseRecord, MASTER};

pub(crate) const VIEWS: &[ViewSpec] = &[
    ViewSpec {
        schema: SYS,
        name: "master_files",
        is_of_server: true,
        columns: &[DATABASE, FILE],
        rows: master_files,
    },
    ViewSpec {
        schema: SYS,
        name: "database_files",
        is_of_server: false,
        columns: &[FILE],
        rows: database_files,
    },
    ViewSpec {
        schema: SYS,
        name: "data_spaces",
        is_of_server: false,
        columns: &[SPACE],
        rows: |_| Ok(vec![space()]),
    },
    ViewSpec {
        schema: SYS,
        name: "filegroups",
        is_of_server: false,
        columns: &[SPACE, GROUP],
        rows: filegroups,
    },
];

const DATABASE: &[ColumnSpec] = &[("database_id", INT, true)];
const FILE: &[ColumnSpec] = &[
    ("file_id", INT, false),
    ("file_guid", DataType::UniqueIdentifier, true),
    ("type", TINY, false),
    ("type_desc", text(60), true),
    ("data_space_id", INT, false),
    ("name", NAME, false),
    ("physical_name", text(260), false),
    ("state", TINY, true),
    ("state_desc", text(60), true),
    ("size", INT, false),
    ("max_size", INT, false),
    ("growth", INT, true),
    ("is_media_read_only", BIT, false),
    ("is_read_only", BIT, false),
    ("is_sparse", BIT, false),
    ("is_percent_growth", BIT, false),
    ("is_name_reserved", BIT, false),
];
pub(crate) const SPACE: &[ColumnSpec] = &[
    ("name", NAME, false),
    ("data_space_id", INT, false),
    ("type", DataType::Char(2), false),
    ("type_desc", text(60), true),
    ("is_default", BIT, true),
    ("is_system", BIT, true),
];
const GROUP: &[ColumnSpec] = &[
    ("filegroup_guid", DataType::UniqueIdentifier, true),
    ("log_filegroup_id", INT, true),
    ("is_read_only", BIT, true),
    ("is_autogrow_all_files", BIT, true),
];

/// Where databases are is visible to logins that may create and alter them.
fn master_files(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let mut rows = Vec::new();
    if !context.objects.permissions().is_administrator {
        return Ok(rows);
    }
    for record in &context.objects.directory.databases {
        for file in files(context, record) {
            let mut row = row![record.id];
            row.extend(file);
            rows.push(row);
        }
    }
    Ok(rows)
}

fn database_files(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let mut databases = context.objects.directory.databases.iter();
    let record = databases.find(|record| record.id == context.objects.database_id);
    Ok(record.map(|record| files(context, record)).unwrap_or_default())
}

/// A database's file: master's and those of users.
pub(crate) fn path(context: &ViewContext<'_>, record: &DatabaseRecord) -> Option<PathBuf> {
    let instance = &context.objects.instance;
    match record.id {
        MASTER => Some(instance.master().path().to_owned()),
        _ if record.is_reserved() => None,
        _ => record.path(instance.data_folder()).ok(),
    }
}

/// The database's file and its log. One that is in memory alone has none.
fn files(context: &ViewContext<'_>, record: &DatabaseRecord) -> Vec<Row> {
    let Some(data) = path(context, record) else {
        return Vec::new();
    };
    let log = log_of(&data);
    vec![
        file(DATA_FILE, (0, "ROWS"), &record.name, &data),
        file(LOG_FILE, (1, "LOG"), &format!("{}_log", record.name), &log),
    ]
}

/// The log of the database at a path.
pub(crate) fn log_of(data: &Path) -> PathBuf {
    let mut log = data.to_owned().into_os_string();
    log.push("-wal");
    log.into()
}

/// Bytes. There is no log before the first commit, and after the last connection.
pub(crate) fn size_of(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |facts| facts.len())
}

fn file(number: i32, (kind, word): (i32, &str), name: &str, path: &Path) -> Row {
    let pages = Cell::count(size_of(path).div_ceil(PAGE_SIZE), i64::from(i32::MAX));
    row![
        number,
        Cell::Null,
        kind,
        word,
        2 - number,
        name,
        path.to_string_lossy().into_owned(),
        0,
        "ONLINE",
        pages,
        -1,
        Cell::Null,
        false,
        false,
        false,
        false,
        false,
    ]
}

fn space() -> Row {
    row!["PRIMARY", 1, "FG", "ROWS_FILEGROUP", true, false]
}

fn filegroups(_: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let mut row = space();
    row.extend(row![Cell::Null, Cell::Null, false, false]);
    Ok(vec![row])
}

/// The file_id of the database file.
pub(crate) const DATA_FILE: i32 = 1;
/// The file_id of the log.
pub(crate) const LOG_FILE: i32 = 2;
/// Bytes: sizes are shown in pages of SQL Server's.
const PAGE_SIZE: u64 = 8192;
