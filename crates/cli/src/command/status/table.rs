//! A listing as a table.

use selenite::folder::{Entry, Kind, Listing, Warning};
use selenite::{Age, DAY_SECONDS, Sealed, VerifyKind};

use crate::lines::{count, counted};
use crate::printable;

/// The properties of the output device.
#[derive(Clone, Copy, Default)]
pub struct DisplayOptions {
    /// The characters of a line; none if the output is not a terminal.
    pub width: Option<usize>,
    /// Whether colours are supported and wanted.
    pub colored: bool,
}

/// The table, with a summary below it.
pub fn text(listing: &Listing, place: DisplayOptions) -> String {
    let databases = &listing.databases;
    let mut text = String::new();
    if !databases.is_empty() {
        text.push_str(&table(databases, place));
        text.push('\n');
    }
    text.push_str(&summary(listing));
    let has = |is_such: fn(&Entry) -> bool| databases.iter().any(is_such);
    if has(|one| encrypted(one) == SAYS_YES) {
        text.push_str("\nsays yes: not authenticated by a key; the line is the file's own claim");
    }
    if has(|one| one.kind == Kind::Foreign) {
        text.push_str("\nunknown: neither SQLite's nor ours; another product may have encrypted it");
    }
    text
}

fn table(databases: &[Entry], place: DisplayOptions) -> String {
    let mut rows: Vec<[String; COLUMN_COUNT]> = databases.iter().map(row).collect();
    let heads = HEADS.map(str::to_owned);
    let widest = |column: usize, rows: &[[String; COLUMN_COUNT]]| {
        let cells = rows.iter().chain([&heads]).map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    if let Some(width) = place.width {
        let others: usize = (1..COLUMN_COUNT).map(|column| widest(column, &rows) + GAP.len()).sum();
        let room = width.saturating_sub(others).max(PATH_WIDTH_MIN);
        for row in &mut rows {
            row[0] = printable::shortened(&row[0], room);
        }
    }
    let widths: Vec<usize> = (0..COLUMN_COUNT).map(|column| widest(column, &rows)).collect();
    let mut text = line(&heads, &widths, ["", ""]);
    for row in &rows {
        let colors = if place.colored { [YELLOW, PLAIN] } else { ["", ""] };
        text.push_str(&line(row, &widths, colors));
    }
    text
}

/// A line, with its last cell, the warnings, in color.
fn line(cells: &[String; COLUMN_COUNT], widths: &[usize], [begin, end]: [&str; 2]) -> String {
    let mut text = String::new();
    let (warnings, others) = cells.split_last().expect("there are several columns");
    for (cell, width) in others.iter().zip(widths) {
        text.push_str(&format!("{cell:width$}{GAP}"));
    }
    if warnings.is_empty() {
        text.truncate(text.trim_end().len());
    } else {
        text.push_str(&format!("{begin}{warnings}{end}"));
    }
    text.push('\n');
    text
}

fn row(entry: &Entry) -> [String; COLUMN_COUNT] {
    let sealed = entry.sealed.as_ref();
    let age = |age: Option<Age>| age.map_or("-".to_owned(), age_words);
    let warnings: Vec<String> = entry
        .warnings
        .iter()
        .map(|warning| warning_words(entry, warning))
        .collect();
    [
        printable::path(&entry.path),
        encrypted(entry).to_owned(),
        sealed.map_or("-", |sealed| sealed.suite).to_owned(),
        age(entry.data_key_age),
        age(entry.master_key_age),
        verified(entry),
        sealed.map_or("-".to_owned(), state),
        warnings.join(", "),
    ]
}

fn encrypted(entry: &Entry) -> &'static str {
    match (entry.kind, &entry.sealed) {
        (Kind::Sealed, Some(sealed)) => match (sealed.is_encrypted(), sealed.authentic) {
            (true, true) => "yes",
            (true, false) => SAYS_YES,
            (false, _) => "no",
        },
        (Kind::Plain, _) => "no",
        (Kind::Damaged, _) => "damaged",
        (Kind::Empty, _) => "empty",
        (Kind::Foreign, _) | (Kind::Sealed, None) => "unknown",
    }
}

/// The state of re-encryption, and its progress.
pub fn state(sealed: &Sealed) -> String {
    let percent = sealed.percent().map(|percent| format!(", {percent} %"));
    format!("{}{}", sealed.state_word(), percent.unwrap_or_default())
}

fn verified(entry: &Entry) -> String {
    match &entry.last_verify {
        Some((note, age)) => {
            let what = match note.kind {
                VerifyKind::Full => "",
                VerifyKind::Physical => ", pages only",
            };
            format!("{}{what}{}", age_words(*age), before_reencryption(entry))
        }
        None if entry.is_encrypted() => "never".to_owned(),
        None => "-".to_owned(),
    }
}

/// A note if the database was re-encrypted after the verification.
pub fn before_reencryption(entry: &Entry) -> &'static str {
    match entry.is_reencrypted_since_verify() {
        true => ", before the last re-encryption",
        false => "",
    }
}

/// An age in whole days.
pub fn age_words(age: Age) -> String {
    match age {
        Age::Future(_) => "in the future".to_owned(),
        Age::Seconds(seconds) => match seconds / DAY_SECONDS {
            0 => "today".to_owned(),
            days => format!("{} d", count(days)),
        },
    }
}

/// A warning in a line, with its reason if the warning does not contain it.
pub fn warning_words(entry: &Entry, warning: &Warning) -> String {
    let words = warning.to_string();
    let is_explained = matches!(warning, Warning::Damaged | Warning::Refused);
    let why = entry.problem.as_ref().filter(|_| is_explained);
    printable::line(&why.map_or(words.clone(), |why| format!("{words}: {why}")))
}

fn summary(listing: &Listing) -> String {
    let databases = &listing.databases;
    let number = |is_such: fn(&Entry) -> bool| {
        let number = databases.iter().filter(|one| is_such(one)).count();
        u64::try_from(number).unwrap_or(u64::MAX)
    };
    let mut parts = vec![counted(number(|_| true), "database")];
    for (number, what) in [
        (number(Entry::is_encrypted), "encrypted"),
        (number(|one| encrypted(one) == "no"), "unencrypted"),
        (number(|one| one.kind == Kind::Damaged), "damaged"),
        (number(|one| !one.warnings.is_empty()), "with warnings"),
    ] {
        if number > 0 {
            parts.push(format!("{} {what}", count(number)));
        }
    }
    let unreadable = u64::try_from(listing.unreadable.len()).unwrap_or(u64::MAX);
    if unreadable > 0 {
        parts.push(format!("{} not read", counted(unreadable, "place")));
    }
    parts.join(", ")
}

const COLUMN_COUNT: usize = 8;
const HEADS: [&str; COLUMN_COUNT] = [
    "PATH",
    "ENCRYPTED",
    "SUITE",
    "DATA KEY",
    "MASTER KEY",
    "VERIFIED",
    "STATE",
    "WARNINGS",
];
const SAYS_YES: &str = "says yes";
const GAP: &str = "  ";
/// A shorter path has no value to a reader; the terminal wraps the line instead.
const PATH_WIDTH_MIN: usize = 24;
const YELLOW: &str = "\x1b[33m";
const PLAIN: &str = "\x1b[0m";

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(path: &str) -> Entry {
        Entry {
            path: path.into(),
            size: 4096,
            kind: Kind::Plain,
            sealed: None,
            data_key_age: None,
            master_key_age: None,
            last_verify: None,
            problem: None,
            warnings: vec![Warning::InClear],
        }
    }

    #[test]
    fn paths_are_shortened_on_a_terminal_only() {
        let long = format!("/srv/{}/app.db", "x".repeat(200));
        let listing = Listing {
            time: 0,
            databases: vec![plain(&long), plain("/srv/b.db")],
            unreadable: Vec::new(),
        };
        let whole = text(&listing, DisplayOptions::default());
        assert!(whole.contains(&long) && !whole.contains('\x1b'), "{whole}");
        for width in [120, 150] {
            let place = DisplayOptions {
                width: Some(width),
                colored: false,
            };
            let short = text(&listing, place);
            assert!(short.contains("...") && short.contains("/app.db  no"), "{short}");
            assert!(short.lines().all(|line| line.chars().count() <= width), "{short}");
        }
        let narrow = text(
            &listing,
            DisplayOptions {
                width: Some(10),
                colored: true,
            },
        );
        assert!(
            narrow.contains("xxx/app.db") && narrow.contains("\x1b[33munencrypted"),
            "{narrow}"
        );
    }

    #[test]
    fn names_have_no_power_over_the_terminal() {
        let mut entry = plain("/srv/\u{1b}[31m\u{9b}2J.db");
        entry.warnings = vec![Warning::PlainCopy("/srv/\u{1b}[2J\n.bak".into()), Warning::Damaged];
        entry.problem = Some("\u{7}why".to_owned());
        let listing = Listing {
            time: 0,
            databases: vec![entry],
            unreadable: Vec::new(),
        };
        let text = text(&listing, DisplayOptions::default());
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
        assert!(text.contains("unencrypted copy: ?[2J?.bak, damaged: ?why"), "{text}");
    }

    #[test]
    fn ages_are_whole_days() {
        assert_eq!(age_words(Age::Seconds(86_399)), "today");
        assert_eq!(age_words(Age::Seconds(86_400 * 1234)), "1,234 d");
        assert_eq!(age_words(Age::Future(1)), "in the future");
    }
}
