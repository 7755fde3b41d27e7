//! `selenite backups list`.

use selenite::backups::{self, BaseState, Listed, Listing};
use selenite::{Access, utc};
use serde_json::{Value, json};

use super::heading;
use crate::arguments::backups::BackupsList;
use crate::cli_error::CliError;
use crate::destination;
use crate::lines::{bytes, count, counted};
use crate::meter::Meter;
use crate::output::{note, print, print_json};
use crate::printable;

pub fn run(arguments: &BackupsList, access: &Access) -> Result<(), CliError> {
    let place = destination::open(&arguments.destination)?;
    let of = destination::database(arguments.database.as_deref())?;
    let meter = Meter::start();
    let listed = backups::list(place.as_ref(), access, of, &meter.watch());
    meter.finish();
    let listing = listed.map_err(|error| CliError::of(error, super::stopped))?;
    if arguments.json {
        print_json(&json(&listing))?;
    } else {
        print(&text(&listing, &place.place()))?;
    }
    for one in &listing.archives {
        if let Some(why_not) = &one.why_not {
            note(why_not);
        } else if let Some(fault) = &one.fault {
            note(&format!("{}: {}", fault.object, fault.what));
        }
    }
    Ok(())
}

fn text(listing: &Listing, place: &str) -> String {
    if listing.archives.is_empty() && listing.foreign_count == 0 {
        return printable::line(&format!("no backups in {place}"));
    }
    let rows: Vec<[String; COLUMN_COUNT]> = listing.archives.iter().map(row).collect();
    let heads = HEADS.map(str::to_owned);
    let width = |column: usize| {
        let cells = rows.iter().chain([&heads]).map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..COLUMN_COUNT).map(width).collect();
    let line = |cells: &[String; COLUMN_COUNT]| {
        let cells = cells
            .iter()
            .zip(&widths)
            .zip(NUMBERS)
            .map(|((cell, width), is_number)| {
                if is_number {
                    format!("{cell:>width$}  ")
                } else {
                    format!("{cell:width$}  ")
                }
            });
        let line: String = cells.collect();
        format!("{}\n", printable::line(line.trim_end()))
    };
    let (mut text, mut last) = (String::new(), None);
    for (one, row) in listing.archives.iter().zip(&rows) {
        if let Some(heading) = heading(&mut last, &one.entry) {
            text.push_str(&heading);
            text.push_str(&line(&heads));
        }
        text.push_str(&line(row));
    }
    let size = listing.archives.iter().map(|one| one.entry.size).sum();
    let archives = u64::try_from(listing.archives.len()).unwrap_or(u64::MAX);
    text.push_str(&format!("{}, {}\n", counted(archives, "backup"), bytes(size)));
    if listing.foreign_count > 0 {
        text.push_str(&format!(
            "ignored {} of other programs\n",
            counted(listing.foreign_count, "object")
        ));
    }
    if !listing.has_key && archives > 0 {
        text.push_str("without a key: unauthenticated, and times are those in the names\n");
    }
    text
}

fn row(one: &Listed) -> [String; COLUMN_COUNT] {
    let entry = &one.entry;
    let known = one.known.as_ref();
    let made = known.map_or_else(|| begun(entry.name.as_str()), |known| utc(known.made));
    let kind = match known {
        None => "?".to_owned(),
        Some(known) => match &known.base {
            None => "full".to_owned(),
            Some(base) if known.base_is_there => format!("on {base}"),
            Some(base) => format!("based on a missing one: {}", short(base.as_str())),
        },
    };
    let pages = known.map_or("?".to_owned(), |known| count(known.page_count.into()));
    let mut state = match &one.fault {
        None if entry.is_finished => "complete".to_owned(),
        None => "unfinished".to_owned(),
        Some(fault) => format!("NOT complete: {}: {}", last(&fault.object), clause(&fault.what)),
    };
    if !entry.is_finished && !entry.has_begun {
        state.push_str(", its first object is missing");
    }
    match known.filter(|known| known.base_is_there).map(|known| known.chain_state) {
        None | Some(BaseState::Whole) => {}
        Some(BaseState::Closed) => state.push_str(", based on one that the given keys do not open"),
        Some(BaseState::Broken) => state.push_str(", based on one that is NOT complete"),
    }
    if known.is_some_and(|known| !known.is_own) {
        state.push_str(", of UNKNOWN origin");
    }
    if let Some(missing @ 1..) = known.map(|known| known.missing_count) {
        let missing = u64::try_from(missing).unwrap_or(u64::MAX);
        state.push_str(&format!(", without {}", counted(missing, "bad page")));
    }
    match known.and_then(|known| known.followed_until) {
        Some(until) => state.push_str(&format!(", followed until {}", utc(until / 1000))),
        // The time is in the encrypted log, and the files' times may be those of a copy.
        None if entry.log_count > 0 => state.push_str(", followed"),
        None => {}
    }
    if known.is_none() && one.why_not.is_some() {
        state.push_str(", not read");
    }
    [
        entry.name.to_string(),
        made,
        kind,
        pages,
        bytes(entry.size),
        count(entry.part_count.into()),
        state,
    ]
}

fn json(listing: &Listing) -> Value {
    let archive = |one: &Listed| {
        let entry = &one.entry;
        let known = one.known.as_ref();
        let base = known.and_then(|known| known.base.as_ref());
        json!({
            "database_id": entry.database_id.to_string(),
            "name": entry.name.as_str(),
            "begun": begun(entry.name.as_str()),
            "made": known.map(|known| utc(known.made)),
            "kind": known.map(|known| if known.base.is_some() { "incremental" } else { "full" }),
            "base": base.map(|base| if known.is_some_and(|known| known.base_is_there) { base.as_str() } else { short(base.as_str()) }),
            "base_is_there": known.map(|known| known.base_is_there),
            "rests_on_whole": known.and_then(|known| match known.chain_state {
                BaseState::Whole => Some(true),
                BaseState::Broken => Some(false),
                BaseState::Closed => None,
            }),
            "origin": known.map(|known| crate::lines::origin(known.is_own)),
            "pages": known.map(|known| known.page_count),
            "page_size": known.map(|known| known.page_size),
            "pages_missing": known.map(|known| known.missing_count),
            "has_digest": known.map(|known| known.has_digest),
            "complete": entry.is_finished && one.fault.is_none(),
            "fault": one.fault.as_ref().map(|fault| json!({ "object": fault.object, "what": fault.what })),
            "objects": entry.object_count,
            "parts": entry.part_count,
            "size": entry.size,
            "modified": utc(entry.modified),
            "followed_until": known.and_then(|known| known.followed_until).map(|until| utc(until / 1000)),
            "followed": entry.log_count > 0,
            "why_not_read": one.why_not,
        })
    };
    json!({
        "backups": listing.archives.iter().map(archive).collect::<Vec<_>>(),
        "foreign_objects": listing.foreign_count,
        "by_key": listing.has_key,
    })
}

/// The time in a name: `20261122T005456Z-...`.
fn begun(name: &str) -> String {
    let part = |from: usize, to: usize| name.get(from..to).unwrap_or_default();
    let (date, time) = (
        [part(0, 4), part(4, 6), part(6, 8)],
        [part(9, 11), part(11, 13), part(13, 15)],
    );
    format!("{}T{}Z", date.join("-"), time.join(":"))
}

/// The id in a name whose time is unknown.
fn short(name: &str) -> &str {
    name.rsplit('-').next().unwrap_or(name)
}

/// The last component of an object's name.
fn last(object: &str) -> &str {
    object.rsplit('/').next().unwrap_or(object)
}

/// The part of a message that fits into a column; the full text is printed below the table.
fn clause(what: &str) -> &str {
    what.split(':').next().unwrap_or(what)
}

const COLUMN_COUNT: usize = 7;
const HEADS: [&str; COLUMN_COUNT] = ["BACKUP", "MADE", "KIND", "PAGES", "SIZE", "PARTS", "STATE"];
/// Whether a column contains numbers, which are right-aligned.
const NUMBERS: [bool; COLUMN_COUNT] = [false, false, false, true, true, true, false];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_in_a_name_is_shown_as_other_times() {
        assert_eq!(begun("20261122T005456Z-abababababababab"), utc(1_795_308_896));
        assert_eq!(short("19700101T000000Z-abababababababab"), "abababababababab");
    }
}
