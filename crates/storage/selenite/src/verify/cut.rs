//! Missing pages: if the file was truncated at a page boundary, no tag detects that.
//!
//! - count-by-last-commit: the expected number of pages is that of the last commit in the log, or
//!   else of the hot journal, which a rollback uses, or else of page 1. A page that neither the
//!   file has nor the log or journal is about to write is missing; a log without a commit supplies
//!   no page.
//! - longer-is-allowed: the file may be longer (FORMAT 2.4).
//! - missing-is-rechecked: others may be writing: missing pages are checked again, with the logs
//!   as they are then.

use selenite_cipher::PageNo;
use selenite_vfs::view::View;

use super::keys::look_again;
use super::pages::Opener;
use super::pending_writes::PendingWrites;
use super::{BadPage, Findings, Origin, Subject, journal, wal};
use crate::EngineError;
use crate::raw_file::RawFile;

/// Checks for missing pages; `logs` are the log and the journal, which are updated if they are
/// read again.
pub(super) fn check(
    subject: &Subject<'_>,
    view: &mut View,
    (wal, journal): (&mut Option<wal::LogFrames>, &mut Option<journal::JournalRecords>),
    findings: &mut Findings,
) -> Result<(), EngineError> {
    let missing = look_again((subject.keys, subject.file), view, subject.watch, |view| {
        let mut missing = missing_page(subject, view, (wal.as_ref(), journal.as_ref()))?;
        if missing.is_some() && !subject.is_still {
            // missing-is-rechecked: closed first, since a file that this process has open can't be
            // opened again.
            (*wal, *journal) = (None, None);
            *wal = wal::load(subject, view)?.map(|(found, _)| found);
            *journal = journal::load(subject, view)?;
            missing = missing_page(subject, view, (wal.as_ref(), journal.as_ref()))?;
        }
        let is_good = missing.is_none();
        Ok((missing, is_good))
    })?;
    if let Some(missing) = missing {
        findings.add(missing);
    }
    Ok(())
}

/// The first of them, with a message about all.
fn missing_page(
    subject: &Subject<'_>,
    view: &View,
    (wal, journal): (Option<&wal::LogFrames>, Option<&journal::JournalRecords>),
) -> Result<Option<BadPage>, EngineError> {
    let Some(promised) = promised(subject, view, wal, journal) else {
        return Ok(None);
    };
    let present = view.geometry.page_count(subject.file.size()?);
    if present >= promised {
        return Ok(None);
    }
    let mut held = PendingWrites::new(subject, wal, journal)?.held_between(present + 1, promised);
    let lock_page = view.geometry.lock_page().0;
    if (present + 1..=promised).contains(&lock_page) {
        // It has no place, and is never written.
        held.push(lock_page);
        held.sort_unstable();
    }
    let held_count = u32::try_from(held.len()).unwrap_or(u32::MAX);
    let more_count = (promised - present).saturating_sub(held_count);
    if more_count == 0 {
        return Ok(None);
    }
    let mut first = present + 1;
    for page_no in held {
        if page_no == first {
            first += 1;
        }
    }
    let all = match more_count - 1 {
        0 => String::new(),
        more if more == promised - first => format!(", with all up to page {promised}"),
        more => format!(", with {more} more up to page {promised}"),
    };
    let why = format!("missing{all}: the file was truncated");
    Ok(Some(BadPage::new(Origin::Database, first, None, why)))
}

/// Enforces `count-by-last-commit`.
fn promised(
    subject: &Subject<'_>,
    view: &View,
    wal: Option<&wal::LogFrames>,
    journal: Option<&journal::JournalRecords>,
) -> Option<u32> {
    let committed = wal.map(|wal| wal.page_count).filter(|&count| count > 0);
    match (committed, journal) {
        (Some(count), _) => Some(count),
        // It is unknown whether that is rolled back.
        (None, Some(journal)) if journal.has_super_journal => None,
        (None, Some(journal)) => Some(journal.page_count),
        (None, None) => header_page_count(subject.file, view),
    }
}

/// The page count in SQLite's header, if that is valid (sqlite.org/fileformat.html, 1.3.8). `None`
/// also if page 1 does not open, which is reported elsewhere.
fn header_page_count(file: &RawFile, view: &View) -> Option<u32> {
    let mut opener = Opener::new(file, view);
    let plain = opener.page(PageNo(1)).ok()??.plain;
    let field = plain[28..32].try_into().expect("four bytes");
    (plain[24..28] == plain[92..96]).then(|| u32::from_be_bytes(field))
}
