//! The layout is in force as it was asked for, in every cipher.

use std::path::Path;

use selenite_worker::protocol::{Dataset, PLAIN};

use crate::Fault;
use crate::folder::Folder;
use crate::talk::Talk;

/// Page size, page cache, journal mode and synchronous, after loading and after opening again.
///
/// # Errors
/// What differs.
pub fn is_in_force(executable: &Path) -> Result<(), Fault> {
    let folder = Folder::new()?;
    let mut talk = Talk::start(executable)?;
    for cipher in talk.ciphers()? {
        for (page_size, journal_mode, synchronous) in [(4096, "wal", "normal"), (8192, "delete", "full")] {
            let mut database = folder.spec(&format!("{cipher}-{page_size}.db"), &cipher);
            database.page_size = page_size;
            database.cache_kib = 640;
            database.journal_mode = journal_mode.to_owned();
            database.synchronous = synchronous.to_owned();
            talk.load(&database, &Dataset::Statements { rows: 100, indexes: 0 })?;
            let opened = talk.open(&database)?;
            let expected = [
                ("page_size", page_size.to_string()),
                ("cache_size", "-640".to_owned()),
                ("journal_mode", journal_mode.to_owned()),
                ("synchronous", synchronous.to_owned()),
            ];
            for (name, value) in expected {
                Fault::unless(opened.layout.get(name) == Some(&value), || {
                    format!("{cipher}: {name} should be {value}: {:?}", opened.layout)
                })?;
            }
            let size = database.path.metadata()?.len();
            Fault::unless(size == opened.pages * u64::from(page_size), || {
                format!("{cipher}: {} pages of {page_size} in {size} bytes", opened.pages)
            })?;
            Fault::unless(opened.encrypted == (cipher != PLAIN), || {
                format!("{cipher}: called encrypted: {}", opened.encrypted)
            })?;
        }
    }
    Ok(())
}
