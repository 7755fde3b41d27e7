//! The highest rowids that AUTOINCREMENT has assigned.

use rusqlite::Statement;

use super::page_survey::PageSurvey;
use super::record;
use super::report::{Lost, TableReport, broken_off};
use super::row::each_row;
use super::text::Encoding;
use super::tree::Hole;
use crate::{Database, EngineError};

/// Restores the values of `sqlite_sequence` that are higher than those of the copied rows: so a
/// rowid is not assigned twice.
///
/// # Errors
/// The errors of SQLite.
pub fn restore(
    database: &Database,
    survey: &mut PageSurvey<'_>,
    pages: &[u32],
    encoding: Encoding,
    report: &mut TableReport,
) -> Result<(), EngineError> {
    if database.number("SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_sequence'")? == 0 {
        return lose_all(survey, pages, report);
    }
    let prepare = |sql: &str| {
        database
            .connection()
            .prepare(sql)
            .map_err(|error| database.error(error))
    };
    let (name, number) = (encoding.placeholder(0), encoding.placeholder(1));
    let mut update = prepare(&format!(
        "UPDATE main.sqlite_sequence SET seq = max(seq, {number}) WHERE name = {name}"
    ))?;
    let mut insert = prepare(&format!(
        "INSERT INTO main.sqlite_sequence (name, seq) VALUES ({name}, {number})"
    ))?;
    for &page_no in pages {
        let read = each_row(survey, page_no, |rowid, payload| {
            let values = match payload {
                Ok(payload) => record::values(payload),
                Err((at, why)) => {
                    report.lose_row(rowid, at, broken_off(why));
                    return Ok(());
                }
            };
            let Some(&[name, number]) = values.as_deref() else {
                report.lose_row(rowid, page_no, "it is not of this table");
                return Ok(());
            };
            let run = |statement: &mut Statement<'_>| {
                encoding.bind(statement, 0, name)?;
                encoding.bind(statement, 1, number)?;
                statement.raw_execute()
            };
            let changed = run(&mut update).map_err(|error| database.error(error))?;
            if changed == 0 {
                run(&mut insert).map_err(|error| database.error(error))?;
            }
            report.row_count += 1;
            Ok(())
        })?;
        if let Err(why) = read {
            report.lose(Lost::Page(Hole::of_page(page_no, why)));
        }
    }
    Ok(())
}

/// For when no table with an AUTOINCREMENT could be created.
fn lose_all(survey: &mut PageSurvey<'_>, pages: &[u32], report: &mut TableReport) -> Result<(), EngineError> {
    for &page_no in pages {
        // A page that can't be read now has no row that could be reported.
        let _ = each_row(survey, page_no, |rowid, _| {
            report.lose_row(rowid, page_no, "its table could not be created");
            Ok(())
        })?;
    }
    Ok(())
}
