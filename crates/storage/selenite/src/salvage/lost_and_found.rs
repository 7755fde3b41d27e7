//! The table `lost_and_found`, for rows whose own table is not certain.
//!
//! Its columns: the page of the row, the table's name if known, the rowid, the number of fields,
//! and the fields. It is created with the first row.

use rusqlite::types::ValueRef;

use super::page_survey::PageSurvey;
use super::record;
use super::report::Strays;
use super::row::each_row;
use super::schema::Entry;
use super::table_layout::quote;
use super::text::Encoding;
use crate::{Database, EngineError, Watch};

/// A page with rows whose table is not certain.
pub struct Stray {
    /// Its number.
    pub page_no: u32,
    /// The table's name, if it is known and the table can't be created.
    pub table: Option<String>,
}

/// Inserts the rows of these pages into it; `None` if there are no such pages.
///
/// # Errors
/// The errors of SQLite; [`EngineError::Interrupted`].
pub fn keep(
    (database, old): (&Database, &[Entry]),
    survey: &mut PageSurvey<'_>,
    pages: &[Stray],
    encoding: Encoding,
    watch: &Watch,
) -> Result<Option<Strays>, EngineError> {
    if pages.is_empty() {
        return Ok(None);
    }
    let width = width(survey, pages);
    let table = free_name(database, old)?;
    let columns: Vec<String> = (0..width).map(|index| format!(", c{index}")).collect();
    let name = quote(&table);
    database.batch(&format!(
        "BEGIN; CREATE TABLE main.{name} (page INTEGER, name TEXT, id INTEGER, field_count INTEGER{})",
        columns.concat()
    ))?;
    let values: Vec<String> = (0..width + FIXED).map(|index| encoding.placeholder(index)).collect();
    let sql = format!("INSERT INTO main.{name} VALUES ({})", values.join(", "));
    let prepared = database.connection().prepare(&sql);
    let mut statement = prepared.map_err(|error| database.error(error))?;
    let mut strays = Strays {
        table,
        ..Strays::default()
    };
    for stray in pages {
        watch.check()?;
        let read = each_row(survey, stray.page_no, |rowid, payload| {
            let values = payload
                .ok()
                .and_then(record::values)
                .filter(|values| values.len() <= width);
            let Some(values) = values else {
                strays.lost_count += 1;
                return Ok(());
            };
            let row = Row {
                stray,
                rowid,
                values,
                width,
            };
            row.insert(&mut statement, encoding)
                .map_err(|error| database.error(error))?;
            strays.row_count += 1;
            Ok(())
        })?;
        strays.lost_count += u64::from(read.is_err());
        survey.report_copied(watch);
    }
    drop(statement);
    database.batch("COMMIT")?;
    Ok(Some(strays))
}

struct Row<'a> {
    stray: &'a Stray,
    rowid: Option<i64>,
    values: Vec<ValueRef<'a>>,
    width: usize,
}

impl Row<'_> {
    fn insert(self, statement: &mut rusqlite::Statement<'_>, encoding: Encoding) -> Result<(), rusqlite::Error> {
        let field_count = i64::try_from(self.values.len()).unwrap_or(i64::MAX);
        // The name is a string of this program, in UTF-8: it is bound as any such text.
        let name = self.stray.table.as_deref();
        for (index, value) in [
            ValueRef::Integer(self.stray.page_no.into()),
            ValueRef::Null,
            self.rowid.map_or(ValueRef::Null, ValueRef::Integer),
            ValueRef::Integer(field_count),
        ]
        .into_iter()
        .enumerate()
        {
            encoding.bind(statement, index, value)?;
        }
        if let Some(name) = name {
            encoding.bind_str(statement, 1, name)?;
        }
        for index in 0..self.width {
            let value = self.values.get(index).copied().unwrap_or(ValueRef::Null);
            encoding.bind(statement, FIXED + index, value)?;
        }
        statement.raw_execute().map(drop)
    }
}

/// The maximum number of fields of a row on these pages.
fn width(survey: &mut PageSurvey<'_>, pages: &[Stray]) -> usize {
    let mut width = 0;
    for stray in pages {
        let Ok((node, page)) = survey.node(stray.page_no) else {
            continue;
        };
        for cell in &node.cells {
            let (start, size) = cell.local;
            let fields = record::fields(&page[start..start + size]);
            width = width.max(fields.map_or(0, |(fields, _)| fields.len()));
        }
    }
    width.min(WIDTH_MAX)
}

/// A name that no entry has or had: entries that could not be created yet may be listed later.
fn free_name(database: &Database, old: &[Entry]) -> Result<String, EngineError> {
    let had = |name: &str| old.iter().any(|entry| entry.name.eq_ignore_ascii_case(name));
    let names = std::iter::once("lost_and_found".to_owned()).chain((1_u32..).map(|n| format!("lost_and_found_{n}")));
    for name in names.filter(|name| !had(name)) {
        let found = database.connection().query_row(
            "SELECT count(*) FROM sqlite_schema WHERE lower(name) = ?1",
            [&name],
            |row| row.get::<_, i64>(0),
        );
        if found.map_err(|error| database.error(error))? == 0 {
            return Ok(name);
        }
    }
    Err(EngineError::usage("no free table name", "report this"))
}

/// The columns before the fields.
const FIXED: usize = 4;
/// SQLite's limit of columns (SQLITE_MAX_COLUMN), less the fixed ones.
const WIDTH_MAX: usize = 2000 - FIXED;
