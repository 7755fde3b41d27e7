//! The files beside a database: drafts, unencrypted copies, unencrypted logs.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use selenite_format::{journal, wal};
use selenite_vfs::operation_file;

use super::file_format::FileFormat;
use super::walk::{Names, Walk};
use super::{Unreadable, look_into};
use crate::EngineError;
use crate::draft::{CLAIM, beside, folder_of, target_of_draft};
use crate::platform::identity;
use crate::raw_file::RawFile;

/// The files of a folder.
pub struct AdjacentFiles {
    names: Names,
    drafts: Vec<OsString>,
    plain: Vec<OsString>,
}

impl AdjacentFiles {
    /// The files of a folder in which `plain` are the unencrypted databases.
    pub fn new(names: Names, plain: Vec<OsString>) -> Self {
        let is_draft = |name: &&OsString| target_of_draft(name).is_some();
        let drafts = names.names.iter().filter(is_draft).cloned().collect();
        Self { names, drafts, plain }
    }

    /// The files beside one database, as of `asked` or later. A folder that cannot be listed is added to `unreadable`.
    pub fn of(path: &Path, asked: Instant, unreadable: &mut Vec<Unreadable>) -> Self {
        static LAST: LastFolder = LastFolder(Mutex::new(None));
        let folder = folder_of(path);
        let name = path.file_name().unwrap_or_default();
        let all = LAST.names(folder, asked, unreadable);
        let names = Names {
            path: folder.to_owned(),
            names: all.beside(name),
        };
        let is_plain_copy = |name: &&OsString| {
            is_copy_of(path.file_name().unwrap_or_default(), name)
                && matches!(look_into(&folder.join(name)), Ok(Some(FileFormat::Plain)))
        };
        let plain = names.names.iter().filter(is_plain_copy).cloned().collect();
        Self::new(names, plain)
    }

    /// The path of the file of that name.
    pub fn path(&self, name: &OsStr) -> PathBuf {
        self.names.path.join(name)
    }

    /// The drafts for the database of that name, except those that a process is working on.
    pub fn drafts_of(&self, name: &OsStr) -> Vec<PathBuf> {
        let is_of = |draft: &&OsString| target_of_draft(draft) == Some(name);
        let drafts = self.drafts.iter().filter(is_of).map(|draft| self.path(draft));
        drafts.filter(|draft| !is_claimed(draft)).collect()
    }

    /// The unencrypted databases that are named like copies of it.
    pub fn copies_of(&self, name: &OsStr) -> Vec<PathBuf> {
        let is_copy = |other: &&OsString| is_copy_of(name, other);
        self.plain
            .iter()
            .filter(is_copy)
            .map(|other| self.path(other))
            .collect()
    }

    /// Its log and journal, if they are unencrypted: left from before it was encrypted, or put
    /// there. One that cannot be read is skipped; it is reported when its folder is listed.
    pub fn logs_in_clear(&self, name: &OsStr) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for (companion, is_in_clear) in LOGS {
            let log = beside(Path::new(name), companion).into_os_string();
            if self.names.names.binary_search(&log).is_err() {
                continue;
            }
            let path = self.path(&log);
            if RawFile::open_in_folder(&path)
                .and_then(|file| is_in_clear(&file))
                .unwrap_or(false)
            {
                found.push(path);
            }
        }
        found
    }
}

/// The last folder that was listed: of many databases in one folder, each asks for its names.
struct LastFolder(Mutex<Option<KeptNames>>);

impl LastFolder {
    /// The names of the files in a folder, as of `asked` or later. They are listed again if they were listed before that,
    /// unless the folder shows that it is unchanged.
    fn names(&self, folder: &Path, asked: Instant, unreadable: &mut Vec<Unreadable>) -> Arc<FolderNames> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (begun, clock) = (Instant::now(), SystemTime::now());
        let state = folder_state(folder);
        if let (Some(kept), Some(state)) = (kept.as_ref(), &state)
            && kept.is_of(state, asked)
        {
            return kept.names.clone();
        }
        let unreadable_count = unreadable.len();
        let listed = Walk::of(folder).next(unreadable);
        let names = Arc::new(FolderNames::new(listed.map_or_else(Vec::new, |listed| listed.names)));
        *kept = state
            .filter(|_| unreadable.len() == unreadable_count)
            .map(|state| KeptNames {
                // A change in the moment of an earlier one may leave the folder's time as it is.
                is_settled: clock.duration_since(state.1).is_ok_and(|age| age >= SETTLED),
                state,
                begun,
                names: names.clone(),
            });
        names
    }
}

/// Device and inode of a folder, and when its files last changed.
type FolderState = ((u64, u64), SystemTime);

struct KeptNames {
    state: FolderState,
    /// Whether each later change of the folder shows in its state.
    is_settled: bool,
    /// When they began to be listed.
    begun: Instant,
    names: Arc<FolderNames>,
}

impl KeptNames {
    fn is_of(&self, state: &FolderState, asked: Instant) -> bool {
        self.state.0 == state.0 && (self.begun >= asked || (self.is_settled && self.state == *state))
    }
}

/// The names of the files in a folder, found by how they begin or end: a fleet has many databases in one folder, and looks
/// for the files beside each.
struct FolderNames {
    sorted: Vec<OsString>,
    /// Places in `sorted`, ordered by the names read from their end.
    by_end: Vec<usize>,
}

impl FolderNames {
    fn new(sorted: Vec<OsString>) -> Self {
        let mut by_end: Vec<usize> = (0..sorted.len()).collect();
        let end_of = |at: usize| sorted[at].as_encoded_bytes().iter().rev();
        by_end.sort_unstable_by(|&one, &other| end_of(one).cmp(end_of(other)));
        Self { sorted, by_end }
    }

    /// Those of the files that belong to a database, or are named like copies of it; sorted.
    fn beside(&self, name: &OsStr) -> Vec<OsString> {
        let own = name.as_encoded_bytes();
        let is_beside = |other: &&OsString| {
            other.as_encoded_bytes().starts_with(own) || is_copy_of(name, other) || target_of_draft(other) == Some(name)
        };
        let draft = [b".", own].concat();
        let named = self.beginning_with(stem(own)).chain(self.beginning_with(&draft));
        let found: BTreeSet<&OsString> = named.chain(self.ending_with(own)).filter(is_beside).collect();
        found.into_iter().cloned().collect()
    }

    fn beginning_with<'a>(&'a self, start: &'a [u8]) -> impl Iterator<Item = &'a OsString> {
        let first = self.sorted.partition_point(|name| name.as_encoded_bytes() < start);
        let names = self.sorted[first..].iter();
        names.take_while(move |name| name.as_encoded_bytes().starts_with(start))
    }

    fn ending_with<'a>(&'a self, end: &'a [u8]) -> impl Iterator<Item = &'a OsString> {
        let bytes = |at: usize| self.sorted[at].as_encoded_bytes();
        let is_before = |&at: &usize| bytes(at).iter().rev().lt(end.iter().rev());
        let names = self.by_end[self.by_end.partition_point(is_before)..].iter();
        names
            .map(|&at| &self.sorted[at])
            .take_while(move |name| name.as_encoded_bytes().ends_with(end))
    }
}

fn folder_state(folder: &Path) -> Option<FolderState> {
    let changed = fs::metadata(folder).and_then(|found| found.modified()).ok()?;
    Some((identity(folder).ok()?, changed))
}

/// Longer than the steps of any file system's clock (2 s: FAT).
const SETTLED: Duration = Duration::from_secs(3);

/// Whether a process holds the claim on a draft, or the draft is that claim.
pub fn is_claimed(draft: &Path) -> bool {
    let is_claim = draft.as_os_str().as_encoded_bytes().ends_with(CLAIM.as_bytes());
    let claim = if is_claim {
        draft.to_owned()
    } else {
        beside(draft, CLAIM)
    };
    operation_file::read(&claim).is_ok_and(|held| held.is_some())
}

/// Whether a file is named like a copy of the database: its whole name, or that without the
/// extension, followed by a character that is neither letter nor digit (`app.db.bak`, `app-old.db`,
/// `app (copy).db`), or its whole name after such a character (`old-app.db`).
fn is_copy_of(name: &OsStr, other: &OsStr) -> bool {
    let (name, other) = (name.as_encoded_bytes(), other.as_encoded_bytes());
    if name.is_empty() || name == other || other.starts_with(b".") {
        return false;
    }
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
    let behind = other.strip_prefix(stem(name)).and_then(|rest| rest.first());
    let before = other.strip_suffix(name).and_then(|rest| rest.last());
    behind.is_some_and(|byte| !is_letter(byte)) || before.is_some_and(|byte| !is_letter(byte))
}

/// A name without its extension.
fn stem(name: &[u8]) -> &[u8] {
    match name.iter().rposition(|&byte| byte == b'.') {
        None | Some(0) => name,
        Some(dot) => &name[..dot],
    }
}

/// Looks for a complete header of SQLite's own version (FORMAT 6.1).
fn wal_is_in_clear(file: &RawFile) -> Result<bool, EngineError> {
    let mut header = [0; 8];
    let size = file.read_at(&mut header, 0)?;
    let is_log = header[..3] == WAL_MAGIC && matches!(header[3], 0x82 | 0x83);
    Ok(size == header.len() && is_log && header[4..] == wal::VERSION_SQLITE.to_be_bytes())
}

/// Looks for SQLite's own magic (FORMAT 7.1), or for page 1 in clear in a journal whose header was
/// overwritten with zeros at its end (sqlite.org/pragma.html#pragma_journal_mode, PERSIST).
fn journal_is_in_clear(file: &RawFile) -> Result<bool, EngineError> {
    let mut start = vec![0; JOURNAL_START];
    let size = file.read_at(&mut start, 0)?;
    let start = &start[..size];
    let Some(magic) = start.first_chunk::<8>() else {
        return Ok(false);
    };
    if *magic == journal::MAGIC {
        return Ok(true);
    }
    let is_finished = *magic == [0; 8];
    Ok(is_finished && start.windows(PAGE_1.len()).any(|window| window == PAGE_1))
}

/// Detects an unencrypted log.
type IsInClear = fn(&RawFile) -> Result<bool, EngineError>;
const LOGS: [(&str, IsInClear); 2] = [("-wal", wal_is_in_clear), ("-journal", journal_is_in_clear)];
/// 0x377f0682 or 0x377f0683 (sqlite.org/fileformat.html, 4.1).
const WAL_MAGIC: [u8; 3] = [0x37, 0x7f, 0x06];
/// The first 16 bytes of page 1 in clear.
const PAGE_1: &[u8; 16] = b"SQLite format 3\0";
/// 256 KiB: page 1 is among the first pages that a transaction changes.
const JOURNAL_START: usize = 256 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_known_by_their_names() {
        let is = |name: &str, other: &str| is_copy_of(OsStr::new(name), OsStr::new(other));
        for other in [
            "app.db.bak",
            "app.bak",
            "app-old.db",
            "app (copy).db",
            "app_1.db",
            "old-app.db",
            "app.db~",
        ] {
            assert!(is("app.db", other), "{other}");
        }
        for other in [
            "app.db",
            "app2.db",
            "apple.db",
            "xapp.db",
            "ap",
            ".app.db.selenite-tmp-01234567",
            "app\u{e9}.db",
        ] {
            assert!(!is("app.db", other), "{other}");
        }
        assert!(is("app", "app.bak"));
        assert!(!is("", "-x"));
    }

    /// The same as by a look at each name.
    #[test]
    fn files_beside_a_database_are_found_by_their_names() {
        let mut names = vec![".app.db".to_owned(), "~app.db".to_owned(), "app.dbx".to_owned()];
        for stem in ["app", "a", "b", "app.db", "old-app", "app-old", "\u{e9}", ""] {
            for end in ["", ".db", ".db-wal", ".db-journal", ".bak", "-2.db"] {
                names.push(format!("{stem}{end}"));
                names.push(format!(".{stem}{end}.selenite-tmp-01234567"));
            }
        }
        names.sort();
        names.dedup();
        let names: Vec<OsString> = names
            .into_iter()
            .filter(|name| !name.is_empty())
            .map(OsString::from)
            .collect();
        let folder = FolderNames::new(names.clone());
        for name in &names {
            let own = name.as_encoded_bytes();
            let is_beside = |other: &&OsString| {
                other.as_encoded_bytes().starts_with(own)
                    || is_copy_of(name, other)
                    || target_of_draft(other) == Some(name)
            };
            let expected: Vec<OsString> = names.iter().filter(is_beside).cloned().collect();
            assert_eq!(folder.beside(name), expected, "{name:?}");
        }
    }

    /// Also one whose files change all the time, as those of databases in use do.
    #[test]
    fn a_folder_is_listed_once_for_all_that_was_asked_before() {
        let folder = tempfile::tempdir().unwrap();
        let last = LastFolder(Mutex::new(None));
        let names = |asked: Instant| last.names(folder.path(), asked, &mut Vec::new());
        let asked = Instant::now();
        let first = names(asked);
        std::fs::write(folder.path().join("app.db.bak"), "").unwrap();
        assert!(Arc::ptr_eq(&first, &names(asked)));
        let second = names(Instant::now());
        assert_eq!(second.beside(OsStr::new("app.db")), ["app.db.bak"]);
        let other = tempfile::tempdir().unwrap();
        assert!(last.names(other.path(), asked, &mut Vec::new()).sorted.is_empty());
    }

    #[test]
    fn a_draft_that_a_process_works_on_is_skipped() {
        use crate::storage::{Disk, Storage};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("app.db");
        let names = [
            ".app.db.selenite-tmp-01234567-claim",
            ".app.db.selenite-tmp-restore",
            ".app.db.selenite-tmp-restore-claim",
        ];
        for name in names {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let drafts = || AdjacentFiles::of(&path, Instant::now(), &mut Vec::new()).drafts_of(OsStr::new("app.db"));
        assert_eq!(drafts().len(), 3, "no process holds them");
        let held = [names[0], names[2]].map(|name| Disk.claim(&folder.path().join(name)).unwrap().unwrap());
        assert_eq!(drafts(), Vec::<PathBuf>::new());
        drop(held);
        assert_eq!(drafts(), [folder.path().join(names[1])]);
    }

    #[test]
    fn logs_in_clear_are_distinguished_from_ours() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let detects = |is_in_clear: IsInClear, bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            is_in_clear(&RawFile::open_in_folder(&path).unwrap()).unwrap()
        };
        let log = |version: u32| [&[0x37, 0x7f, 0x06, 0x82][..], &version.to_be_bytes(), &[0; 24]].concat();
        assert!(detects(wal_is_in_clear, &log(3_007_000)));
        assert!(!detects(wal_is_in_clear, &log(3_007_001)));
        assert!(!detects(wal_is_in_clear, &log(3_007_000)[..7]));
        assert!(!detects(wal_is_in_clear, &[0; 32]));

        let magic = journal::MAGIC;
        assert!(detects(journal_is_in_clear, &[&magic[..], &[0; 504]].concat()));
        assert!(!detects(
            journal_is_in_clear,
            &[&journal::magic_to_disk(magic)[..], &[0; 504]].concat()
        ));
        let finished = [&[0; 516][..], PAGE_1, &[7; 4080]].concat();
        assert!(detects(journal_is_in_clear, &finished));
        assert!(!detects(journal_is_in_clear, &[&[0; 516][..], &[7; 4096]].concat()));
        assert!(!detects(journal_is_in_clear, b""));
    }
}
