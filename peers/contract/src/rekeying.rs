//! A change of key is one: for every page, for good, and for no one but who has the new key.

use std::collections::HashSet;
use std::fs;

use selenite_worker::protocol::{DatabaseSpec, Dataset, PLAIN};
use selenite_worker::{Engine, dataset, digest};

use crate::Fault;
use crate::folder::Folder;

/// In every cipher, in a log and with a rollback journal: the old key opens nothing, no page is as it was at any place,
/// the new key finds the same rows, and nothing is left beside the file. In clear it is refused.
///
/// # Errors
/// What is otherwise.
pub fn shuts_the_old_key_out(engine: &dyn Engine) -> Result<(), Fault> {
    let folder = Folder::new()?;
    for cipher in engine.hello()?.ciphers {
        for journal_mode in ["wal", "delete"] {
            let name = format!("{cipher}-{journal_mode}.db");
            let mut old = folder.spec(&name, &cipher);
            old.journal_mode = journal_mode.to_owned();
            let about = |what: &str| format!("{name}: {what}");
            let loaded = dataset::load(engine, &old, &Dataset::Cards { rows: 500 }, 5)?;
            let before = fs::read(&old.path)?;
            engine.rekey(&old, &folder.path("other-key"))?;
            let after = fs::read(&old.path)?;
            Fault::unless(engine.open(&old).is_err(), || about("the old key opens it"))?;
            let pages: HashSet<_> = before.chunks(4096).collect();
            Fault::unless(after.chunks(4096).all(|page| !pages.contains(page)), || {
                about("a page is as it was")
            })?;
            Fault::unless(!folder.path(&format!("{name}-wal")).exists(), || about("a log is left"))?;
            let new = DatabaseSpec {
                key_file: folder.path("other-key"),
                ..old.clone()
            };
            let connection = engine.open(&new)?;
            let digest = digest::of(&connection)?;
            Fault::unless(digest.digest == loaded.digest, || about("other rows"))?;
            let check: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
            Fault::unless(check == "ok", || about(&check))?;
        }
    }
    let plain = folder.spec("plain.db", PLAIN);
    dataset::load(engine, &plain, &Dataset::Cards { rows: 10 }, 5)?;
    Fault::unless(engine.rekey(&plain, &folder.path("other-key")).is_err(), || {
        "an unencrypted database got a key".to_owned()
    })
}
