//! A page that fails authentication in a statement: error 824, which ends the connection.
//!
//! SQLite reports only a number (SQLITE_IOERR_DATA). The page and the file are those of the VFS's last refusal on this
//! thread.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use selenite::{Refusal, Role, take_refusal};
use selenite_compiler::{Ends, SqlError};

/// Registers a database's file, for messages.
pub fn note_file(path: &Path, database_id: i32) {
    known().insert(path.display().to_string(), database_id);
}

/// Error 824, if SQLite's error is a page that fails authentication.
pub fn damaged_page(error: &rusqlite::Error) -> Option<SqlError> {
    let failure = error.sqlite_error()?;
    if failure.extended_code != IOERR_DATA {
        return None;
    }
    let place = take_refusal().as_ref().and_then(place_of).unwrap_or_default();
    let text = format!(
        "SQL Server detected a logical consistency-based I/O error: page is not authentic. It occurred during a read{place}.  \
         Additional messages in the SQL Server error log or operating system error log may provide more detail. This is a \
         severe error condition that threatens database integrity and must be corrected immediately. Complete a full database \
         consistency check (DBCC CHECKDB). This error can be caused by many factors; for more information, see SQL Server \
         Books Online."
    );
    let error = SqlError::new(DAMAGED_PAGE, Ends::Connection, text);
    Some(error.with_severity(24).with_state(2))
}

/// 824: a page that is damaged or not authentic.
pub const DAMAGED_PAGE: i32 = 824;

/// `of page (1:7) in database ID 5 ('d') in file '/data/d.db'`: file 1 is the data, file 2 the log.
fn place_of(refusal: &Refusal) -> Option<String> {
    let (role, page_no) = refusal.page?;
    let (file_no, suffix) = match role {
        Role::Main => (1, ""),
        Role::Wal => (2, "-wal"),
        Role::Journal => (2, "-journal"),
        // These have no name, and contain no pages of a database.
        Role::SuperJournal | Role::Nameless => return None,
    };
    let path = &refusal.path;
    let database = known().get(path).map_or_else(String::new, |id| {
        let name = Path::new(path).file_stem().unwrap_or_default().to_string_lossy();
        format!(" in database ID {id} ('{name}')")
    });
    Some(format!(
        " of page ({file_no}:{page_no}){database} in file '{path}{suffix}'"
    ))
}

fn known() -> std::sync::MutexGuard<'static, BTreeMap<String, i32>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Database ids by path; no two servers share a path.
static KNOWN: Mutex<BTreeMap<String, i32>> = Mutex::new(BTreeMap::new());

/// SQLITE_IOERR_DATA (sqlite.org/rescode.html).
const IOERR_DATA: i32 = 10 | (32 << 8);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_location_of_a_page_is_reported_as_far_as_it_is_known() {
        let path = "/data/of this test/d.db".to_owned();
        let at = |role| {
            let text = String::new();
            let page = Some((role, 7));
            place_of(&Refusal {
                path: path.clone(),
                page,
                text,
            })
        };
        let text = " of page (1:7) in file '/data/of this test/d.db'";
        assert_eq!(at(Role::Main).as_deref(), Some(text));
        note_file(Path::new(&path), 5);
        let text = " of page (2:7) in database ID 5 ('d') in file '/data/of this test/d.db-wal'";
        assert_eq!(at(Role::Wal).as_deref(), Some(text));
        assert_eq!(at(Role::Nameless), None);
    }
}
