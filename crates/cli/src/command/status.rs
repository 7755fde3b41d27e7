//! `selenite status`: of one database, or of all databases in a folder.

mod exposition;
mod listing_json;
pub mod table;

use std::io::IsTerminal;
use std::path::Path;

use selenite::folder::{Entry, Listing, ListingContext};
use selenite::storage::Disk;
use selenite::{Access, EngineError, EpochCounts, Sealed, SlotKind, Status, Suite, Superblocks, utc, whole_file};
use serde_json::{Value, json};

use super::each::{self, Answer};
use super::keys::{hexadecimal, slot_json, slot_lines};
use crate::arguments;
use crate::cli_error::CliError;
use crate::lines::{Lines, bytes, count};
use crate::meter::Meter;
use crate::output::print;
use crate::printable;
use crate::terminal;

pub fn run(arguments: &arguments::Status, access: &Access) -> Result<(), CliError> {
    let Some(path) = &arguments.database else {
        return each::run(arguments.files0_from.as_deref(), |path, asked| {
            answer(
                path,
                access,
                &ListingContext::keyless(arguments.limits()).asked_at(asked),
            )
        });
    };
    if path.is_dir() || arguments.prometheus {
        return run_listing(arguments, access, path);
    }
    let status = selenite::status(&Disk, path, access)?;
    if let Some(sealed) = &status.sealed {
        warn_of_superblocks(sealed.superblocks, path);
    }
    let counts = match &status.sealed {
        Some(_) if arguments.pages => Some(count_pages(path)?),
        _ => None,
    };
    let judged = ListingContext::keyless(arguments.limits()).judge(&status);
    if arguments.json {
        let mut object = json(&status, &judged);
        if let Some((module, words)) = status.sealed.as_ref().and_then(fips_words) {
            object["fips"] = json!({ "module": module, "not_approved": words });
        }
        if let Some(counts) = &counts {
            object["superblock"]["pages_by_epoch"] = counts_json(counts);
        }
        deliver(arguments, &printable::json(&object))?;
    } else {
        deliver(arguments, &text(&status, &judged, counts.as_ref()))?;
    }
    end(arguments, !judged.warnings.is_empty())
}

/// The answer about one of several databases.
fn answer(path: &Path, access: &Access, context: &ListingContext) -> Answer {
    match selenite::status(&Disk, path, access) {
        Ok(status) => Answer {
            result: Some(json(&status, &context.judge(&status))),
            error: None,
        },
        Err(error) => Answer::failed(error),
    }
}

/// The listing of a folder, or of one database as if it were in a folder.
fn run_listing(arguments: &arguments::Status, access: &Access, path: &Path) -> Result<(), CliError> {
    if arguments.pages {
        return Err(CliError::Engine(EngineError::Usage {
            what: format!("{}: --pages needs a database, not a folder", path.display()),
            next: "omit --pages, or give a database".to_owned(),
        }));
    }
    let context = ListingContext::new(access, arguments.limits())?;
    let listing = if path.is_dir() {
        context.folder(path)?
    } else {
        context.file(path)?
    };
    if arguments.json {
        let object = listing_json::object(&listing, arguments.limits());
        deliver(arguments, &printable::json(&object))?;
    } else if arguments.prometheus {
        deliver(arguments, &exposition::text(&listing))?;
    } else {
        deliver(arguments, &table::text(&listing, place(arguments)))?;
    }
    report_unreadable(&listing);
    end(arguments, listing.has_warnings())
}

/// Reports files and folders that could not be read on standard error, one per line.
fn report_unreadable(listing: &Listing) {
    for one in &listing.unreadable {
        let path = printable::path(&one.path);
        say!("warning: cannot read {path}: {}", printable::line(&one.why));
    }
}

fn place(arguments: &arguments::Status) -> table::DisplayOptions {
    let stdout = std::io::stdout();
    if arguments.output.is_some() || !stdout.is_terminal() {
        return table::DisplayOptions::default();
    }
    let size = rustix::termios::tcgetwinsize(&stdout).ok();
    table::DisplayOptions {
        width: size.map(|size| size.ws_col.into()).filter(|&width: &usize| width > 0),
        colored: terminal::takes_colors(true),
    }
}

/// Writes the text to the requested file, or to standard output.
fn deliver(arguments: &arguments::Status, text: &str) -> Result<(), CliError> {
    let Some(output) = &arguments.output else {
        return Ok(print(text)?);
    };
    let text = format!("{}\n", text.trim_end_matches('\n'));
    Ok(whole_file::replace(output, text.as_bytes())?)
}

fn end(arguments: &arguments::Status, has_warnings: bool) -> Result<(), CliError> {
    if arguments.fail_on_warning && has_warnings {
        return Err(CliError::Answer(1));
    }
    Ok(())
}

fn count_pages(path: &Path) -> Result<EpochCounts, CliError> {
    let meter = Meter::start();
    let counted = selenite::count_epochs(&Disk, path, &meter.watch());
    meter.finish();
    Ok(counted?)
}

fn counts_json(counts: &EpochCounts) -> Value {
    let epochs = counts.pages.iter();
    let epochs: Vec<Value> = epochs
        .map(|(epoch, pages)| json!({ "epoch": epoch, "pages": pages }))
        .collect();
    json!({ "epochs": epochs, "blank": counts.blank_count })
}

/// The module of the FIPS build, and what of this database it does not open, or not seal; `None` in the normal build.
pub fn fips_words(sealed: &Sealed) -> Option<(String, String)> {
    let module = match selenite::fips_module() {
        Ok(module) => module?,
        Err(error) => error.to_string(),
    };
    let mut words = Vec::new();
    for epoch in &sealed.epochs {
        words.extend(match Suite::from_name(epoch.suite) {
            Some(suite) if suite.is_sealed_here() => None,
            Some(suite) if suite.is_opened_here() => Some(format!("suite {suite} (opened, not written)")),
            Some(_) | None => Some(format!("suite {}", epoch.suite)),
        });
    }
    let age = sealed.slots.iter().filter(|slot| slot.kind == SlotKind::Age).count();
    if age > 0 {
        words.push(format!("{age} age key slot(s)"));
    }
    let argon2id = sealed.slots.iter().filter(|slot| slot.is_argon2id).count();
    if argon2id > 0 {
        words.push(format!("{argon2id} passphrase slot(s) of Argon2id"));
    }
    let words = match words.is_empty() {
        true => "nothing".to_owned(),
        false => words.join(", "),
    };
    Some((module, words))
}

/// A database as lines of names and values. Text from the database cannot control the terminal.
fn text(status: &Status, judged: &Entry, counts: Option<&EpochCounts>) -> String {
    let mut lines = Lines::default();
    lines.add("database", printable::path(&status.path));
    match &status.sealed {
        None => lines.add("encrypted", "no"),
        Some(sealed) => describe(&mut lines, sealed),
    }
    if let Some(counts) = counts {
        lines.add_all("pages of", count_lines(counts));
    }
    if let Some((note, age)) = &judged.last_verify {
        let what = format!(
            "{}, {}, {}{}",
            utc(note.time),
            table::age_words(*age),
            note.kind.word(),
            table::before_reencryption(judged)
        );
        lines.add("verified", what);
    } else if judged.is_encrypted() {
        lines.add("verified", "no verification recorded on this machine");
    }
    let files = status.files.iter();
    lines.add_all(
        "files",
        files.map(|file| format!("{}  {}", printable::path(&file.path), bytes(file.size))),
    );
    let warnings = judged.warnings.iter();
    lines.add_all(
        "warnings",
        warnings.map(|warning| table::warning_words(judged, warning)),
    );
    printable::lines(&lines.text())
}

fn count_lines(counts: &EpochCounts) -> Vec<String> {
    let epochs = counts.pages.iter();
    let mut lines: Vec<String> = epochs
        .map(|(epoch, pages)| format!("epoch {epoch}: {}", count(*pages)))
        .collect();
    if counts.blank_count > 0 {
        lines.push(format!("no epoch: {}", count(counts.blank_count)));
    }
    lines
}

fn describe(lines: &mut Lines, sealed: &Sealed) {
    let encrypted = if sealed.is_encrypted() {
        "yes"
    } else {
        "no (suite NONE)"
    };
    lines.add("encrypted", encrypted);
    match (&sealed.opened_by, &sealed.why_not) {
        (Some(slot), _) => lines.add(
            "authentic",
            format!("yes, opened by key slot {:.8}", slot.id.to_string()),
        ),
        (None, Some(why)) => lines.add("authentic", format!("not checked: {why}")),
        (None, None) => lines.add("authentic", "not checked"),
    }
    if let Some(is_pinned) = sealed.is_pinned {
        lines.add("pinned", if is_pinned { "yes" } else { "no" });
    }
    if let Some(origin) = sealed.origin {
        lines.add("origin", origin.to_string());
    }
    if let Some(commitment) = &sealed.commitment {
        lines.add("commitment", hexadecimal(commitment));
    }
    lines.add("superblocks", superblock_words(sealed.superblocks));
    lines.add("suite", sealed.suite);
    if let Some((build, words)) = fips_words(sealed) {
        lines.add("FIPS build", build);
        lines.add("not approved", words);
    }
    lines.add("state", sealed.state_word());
    if let Some(percent) = sealed.percent() {
        lines.add(
            "done up to",
            format!("page {}, {percent} %", count(sealed.cursor.into())),
        );
    }
    let size = u64::from(sealed.page_count) * u64::from(sealed.page_size);
    lines.add(
        "pages",
        format!(
            "{} of {} bytes, {}",
            count(sealed.page_count.into()),
            count(sealed.page_size.into()),
            bytes(size)
        ),
    );
    lines.add("database id", sealed.database_id.to_string());
    lines.add("generation", count(sealed.generation));
    lines.add("master key", format!("made {}", utc(sealed.master_created)));
    let epochs = sealed.epochs.iter().map(|epoch| {
        let sealing = if epoch.is_sealing {
            ""
        } else {
            ", no longer used for new pages"
        };
        format!(
            "epoch {}, {}, made {}{sealing}",
            epoch.epoch,
            epoch.suite,
            utc(epoch.created)
        )
    });
    lines.add_all("data keys", epochs);
    lines.add_all("key slots", slot_lines(&sealed.slots));
}

/// The state of both superblocks, in a line.
pub fn superblock_words(found: Superblocks) -> String {
    format!("A {}, B {}", word(found.a_is_whole), word(found.b_is_whole))
}

pub fn superblocks_json(found: Superblocks) -> Value {
    json!({ "a": word(found.a_is_whole), "b": word(found.b_is_whole) })
}

fn word(is_whole: bool) -> &'static str {
    if is_whole { "ok" } else { "damaged" }
}

/// Warns of a damaged superblock: the database still opens, so the damage would go unnoticed until
/// the other one is lost too.
pub fn warn_of_superblocks(found: Superblocks, path: &Path) {
    if !found.are_whole() {
        say!(
            "warning: one of the two superblocks is damaged; if the other is damaged, too, the database \
                cannot be opened\n next: rewrite it: selenite keys repair {}",
            printable::path(path)
        );
    }
    if found.keeps_dropped {
        say!(
            "warning: one of the two superblocks still lists a dropped key, because a change was \
                interrupted\n next: rewrite it: selenite keys repair {}",
            printable::path(path)
        );
    }
}

pub fn json(status: &Status, judged: &Entry) -> Value {
    let files: Vec<Value> = status
        .files
        .iter()
        .map(|file| json!({ "path": file.path.to_string_lossy(), "size": file.size }))
        .collect();
    let mut object = json!({
        "path": status.path.to_string_lossy(),
        "encrypted": status.sealed.as_ref().is_some_and(Sealed::is_encrypted),
        "files": files,
        "last_verify": listing_json::last_verify(judged),
        "warnings": listing_json::warnings(judged),
    });
    let Some(sealed) = &status.sealed else { return object };
    let epochs: Vec<Value> = sealed
        .epochs
        .iter()
        .map(|epoch| {
            json!({
                "epoch": epoch.epoch,
                "suite": epoch.suite,
                "created": utc(epoch.created),
                "sealing": epoch.is_sealing,
            })
        })
        .collect();
    object["superblock"] = json!({
        "authentic": sealed.authentic,
        "superblocks": superblocks_json(sealed.superblocks),
        "opened_by": sealed.opened_by.as_ref().map(|slot| slot.id.to_string()),
        "pinned": sealed.is_pinned,
        "origin": sealed.origin.map(|origin| origin.to_string()),
        "commitment": sealed.commitment.map(|commitment| hexadecimal(&commitment)),
        "suite": sealed.suite,
        "state": sealed.state_word(),
        "cursor": sealed.cursor,
        "percent": sealed.percent(),
        "page_size": sealed.page_size,
        "page_count": sealed.page_count,
        "database_id": sealed.database_id.to_string(),
        "generation": sealed.generation,
        "master_key_created": utc(sealed.master_created),
        "epochs": epochs,
        "slots": sealed.slots.iter().map(slot_json).collect::<Vec<_>>(),
    });
    object
}
