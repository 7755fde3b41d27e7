//! `selenite salvage`.

use selenite::salvage::{Hole, Lost, Salvaged, SchemaState, TableReport, salvage};
use selenite::storage::Disk;
use selenite::{Access, BadPageOrigin};
use serde_json::{Value, json};

use crate::arguments;
use crate::cli_error::CliError;
use crate::lines::{Lines, bytes, count, counted, elapsed};
use crate::meter::Meter;
use crate::output::{note, print, print_json};
use crate::printable;

pub fn run(arguments: &arguments::Salvage, access: &Access) -> Result<(), CliError> {
    let meter = Meter::start();
    let (path, to) = (&arguments.database, &arguments.to);
    let done = salvage(&Disk, path, access, (to, &arguments.recipient), &meter.watch());
    meter.finish();
    report(&done?, arguments.json)
}

/// Prints what was salvaged, and what was lost.
pub fn report(salvaged: &Salvaged, is_json: bool) -> Result<(), CliError> {
    if is_json {
        print_json(&json(salvaged))?;
    } else {
        print(&text(salvaged))?;
    }
    report_losses(salvaged)
}

/// Reports losses on standard error, one line for each range of pages or rows.
fn report_losses(salvaged: &Salvaged) -> Result<(), CliError> {
    for pages in page_ranges(&salvaged.bad_pages) {
        say!("{pages}: not authentic");
    }
    more(salvaged.bad_count, salvaged.bad_pages.len(), "page");
    for pages in page_ranges(&salvaged.uncertain_pages) {
        say!("{pages}: used, but the version of the last commit may have been in a damaged part of a log");
    }
    more(salvaged.uncertain_count, salvaged.uncertain_pages.len(), "page");
    for bad in &salvaged.bad_logs {
        note(&match bad.origin {
            BadPageOrigin::Journal => format!("{bad}: not rolled back"),
            BadPageOrigin::Wal | BadPageOrigin::Database => format!("{bad}: commits after this point may be lost"),
        });
    }
    match salvaged.schema {
        SchemaState::Whole => {}
        SchemaState::Partial => say!("schema: partly unreadable: tables, views or triggers may be missing"),
        SchemaState::Lost => say!("schema: lost with page 1: the names and columns of all tables are unknown"),
    }
    for table in &salvaged.tables {
        for lost in lost_ranges(&table.lost) {
            note(&format!("table {}: {lost}", table.name));
        }
        more(table.lost_count, table.lost.len(), "page or row");
    }
    for not_made in &salvaged.not_made {
        note(&format!(
            "{} {} was not created: {}",
            not_made.kind, not_made.name, not_made.why
        ));
    }
    for slot in &salvaged.dropped {
        note(&format!(
            "key slot {slot} could not be copied: add it with selenite keys add"
        ));
    }
    if salvaged.is_complete() {
        return Ok(());
    }
    Err(CliError::Found {
        what: "not everything could be salvaged".to_owned(),
        next: "compare the items listed above with a backup, and keep the damaged database until then",
    })
}

/// Ascending page numbers as ranges: `page 7`, `pages 9 to 12`.
fn page_ranges(pages: &[u32]) -> Vec<String> {
    pages
        .chunk_by(|a, b| a.checked_add(1) == Some(*b))
        .map(|range| match range {
            [first, .., last] => format!("pages {first} to {last}"),
            _ => format!("page {}", range[0]),
        })
        .collect()
}

/// The losses of a table, in order; adjacent ones with the same reason are merged.
fn lost_ranges(lost: &[Lost]) -> Vec<String> {
    lost.chunk_by(continues)
        .map(|range| match (&range[0], &range[range.len() - 1]) {
            (Lost::Page(first), Lost::Page(last)) if range.len() > 1 => {
                let rows = Hole {
                    up_to: last.up_to,
                    ..*first
                }
                .rows();
                let count = count(range.len() as u64);
                format!(
                    "{count} pages, {} to {}: {}: {rows}",
                    first.page_no, last.page_no, first.why
                )
            }
            (
                Lost::Row {
                    rowid: Some(first),
                    why,
                    page_no,
                },
                Lost::Row {
                    rowid: Some(last),
                    page_no: last_page,
                    ..
                },
            ) if range.len() > 1 => format!("rows {first} to {last}: pages {page_no} to {last_page}: {why}"),
            (one, _) => one.to_string(),
        })
        .collect()
}

/// Whether the second loss follows the first without a gap, for the same reason.
fn continues(first: &Lost, second: &Lost) -> bool {
    match (first, second) {
        (Lost::Page(a), Lost::Page(b)) => a.why == b.why && a.up_to.is_some() && a.up_to == b.above,
        (
            Lost::Row {
                rowid: Some(a),
                why: first,
                ..
            },
            Lost::Row {
                rowid: Some(b),
                why: second,
                ..
            },
        ) => a.checked_add(1) == Some(*b) && first == second,
        (Lost::Page(_) | Lost::Row { .. }, _) => false,
    }
}

fn more(all: u64, listed: usize, one: &str) {
    let unlisted = all.saturating_sub(u64::try_from(listed).unwrap_or(u64::MAX));
    if unlisted > 0 {
        say!("and {} more", counted(unlisted, one));
    }
}

fn text(salvaged: &Salvaged) -> String {
    let mut lines = Lines::default();
    lines.add("salvaged", printable::path(&salvaged.path));
    lines.add("suite", salvaged.suite.name());
    let pages = counted(salvaged.page_count.into(), "page");
    lines.add("pages", format!("{pages}, {} not authentic", count(salvaged.bad_count)));
    lines.add_all("tables", salvaged.tables.iter().map(table_words));
    if let Some(strays) = &salvaged.strays {
        let rows = counted(strays.row_count, "row");
        let more = match strays.lost_count {
            0 => String::new(),
            lost => format!(", {} could not be read", count(lost)),
        };
        lines.add("unassigned", format!("{rows}, in table {}{more}", strays.table));
    }
    let verdict = if salvaged.is_complete() { "nothing" } else { "see below" };
    lines.add("lost", verdict);
    lines.add_all("key slots", salvaged.slots.iter().map(ToString::to_string));
    lines.add("size", bytes(salvaged.size));
    lines.add("took", elapsed(salvaged.elapsed));
    lines.add_all("left over", salvaged.leftovers.iter().map(|path| printable::path(path)));
    lines.text()
}

fn table_words(table: &TableReport) -> String {
    let mut words = format!("{}: {}", table.name, counted(table.row_count, "row"));
    if table.found_count > 0 {
        words.push_str(&format!(
            ", {} of them on pages that no page refers to any more",
            count(table.found_count)
        ));
    }
    let pages = table.lost.iter().filter(|lost| matches!(lost, Lost::Page(_))).count();
    let pages = u64::try_from(pages).unwrap_or(u64::MAX);
    let rows = table.lost_count.saturating_sub(pages);
    for (lost, one) in [(pages, "page"), (rows, "row")] {
        if lost > 0 {
            words.push_str(&format!(", {} lost", counted(lost, one)));
        }
    }
    words
}

fn json(salvaged: &Salvaged) -> Value {
    let tables: Vec<Value> = salvaged.tables.iter().map(table_json).collect();
    let logs: Vec<Value> = salvaged
        .bad_logs
        .iter()
        .map(|bad| json!({ "file": bad.origin.word(), "page": bad.page_no, "index": bad.index, "why": bad.why }))
        .collect();
    let not_made: Vec<Value> = salvaged
        .not_made
        .iter()
        .map(|one| json!({ "kind": one.kind, "name": one.name, "why": one.why }))
        .collect();
    json!({
        "path": salvaged.path.to_string_lossy(),
        "complete": salvaged.is_complete(),
        "suite": salvaged.suite.name(),
        "page_size": salvaged.page_size.as_u32(),
        "size": salvaged.size,
        "page_count": salvaged.page_count,
        "bad_count": salvaged.bad_count,
        "bad_pages": salvaged.bad_pages,
        "uncertain_count": salvaged.uncertain_count,
        "uncertain_pages": salvaged.uncertain_pages,
        "bad_logs": logs,
        "schema": match salvaged.schema {
            SchemaState::Whole => "whole",
            SchemaState::Partial => "partial",
            SchemaState::Lost => "lost",
        },
        "rows": salvaged.row_count(),
        "tables": tables,
        "not_made": not_made,
        "strays": salvaged.strays.as_ref().map(|strays| json!({
            "table": strays.table,
            "rows": strays.row_count,
            "lost": strays.lost_count,
        })),
        "slots": salvaged.slots.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "dropped_slots": salvaged.dropped.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "left_over": salvaged.leftovers.iter().map(|path| path.to_string_lossy()).collect::<Vec<_>>(),
        "ms": u64::try_from(salvaged.elapsed.as_millis()).unwrap_or(u64::MAX),
    })
}

fn table_json(table: &TableReport) -> Value {
    let lost: Vec<Value> = table
        .lost
        .iter()
        .map(|lost| match lost {
            Lost::Page(hole) => json!({
                "page": hole.page_no,
                "why": hole.why.to_string(),
                "rows_above": hole.above,
                "rows_up_to": hole.up_to,
                "was_leaf": !hole.may_be_inner,
            }),
            Lost::Row { rowid, page_no, why } => json!({ "row": rowid, "page": page_no, "why": why }),
        })
        .collect();
    json!({
        "name": table.name,
        "rows": table.row_count,
        "found_rows": table.found_count,
        "lost_count": table.lost_count,
        "lost": lost,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_pages_are_one_range() {
        assert_eq!(
            page_ranges(&[2, 3, 4, 9, 11, 12]),
            ["pages 2 to 4", "page 9", "pages 11 to 12"]
        );
        assert!(page_ranges(&[]).is_empty());
        assert_eq!(page_ranges(&[u32::MAX]), ["page 4294967295"]);
    }

    #[test]
    fn rows_that_were_lost_one_after_the_other_are_one_range() {
        let row = |rowid, page_no, why: &str| Lost::Row {
            rowid,
            page_no,
            why: why.to_owned(),
        };
        let lost = [
            row(Some(5), 30, "cut"),
            row(Some(6), 31, "cut"),
            row(Some(7), 32, "bad"),
            row(Some(9), 33, "bad"),
            row(None, 34, "bad"),
            row(None, 35, "bad"),
        ];
        assert_eq!(
            lost_ranges(&lost),
            [
                "rows 5 to 6: pages 30 to 31: cut",
                "row 7: page 32: bad",
                "row 9: page 33: bad",
                "a row: page 34: bad",
                "a row: page 35: bad",
            ]
        );
    }
}
