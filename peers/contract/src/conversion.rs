//! Conversions keep every row, and make what they say.

use std::fs;

use selenite_worker::protocol::{Dataset, PLAIN};
use selenite_worker::{Engine, dataset, digest};

use crate::Fault;
use crate::folder::Folder;

/// From every cipher to every cipher and to clear and back: the same rows, as a database that is sealed or is not.
///
/// # Errors
/// What differs.
pub fn keeps_all_rows(engine: &dyn Engine) -> Result<(), Fault> {
    let folder = Folder::new()?;
    let ciphers: Vec<String> = [PLAIN.to_owned()].into_iter().chain(engine.hello()?.ciphers).collect();
    for from in &ciphers {
        let source = folder.spec(&format!("{from} 50%?.db"), from);
        let loaded = dataset::load(engine, &source, &Dataset::Cards { rows: 300 }, 5)?;
        for to in &ciphers {
            let target = folder.spec(&format!("{from} 50%?-{to}#.db"), to);
            engine.convert(&source, &target)?;
            Fault::unless(engine.convert(&source, &target).is_err(), || {
                format!("{from} to {to}: overwritten")
            })?;
            let is_plain = fs::read(&target.path)?.starts_with(b"SQLite format 3");
            Fault::unless(is_plain == (to == PLAIN), || {
                format!("{from} to {to}: in clear: {is_plain}")
            })?;
            let connection = engine.open(&target)?;
            let status = engine.status(&connection, &target)?;
            Fault::unless(status.encrypted == (to != PLAIN), || {
                format!("{from} to {to}: {status:?}")
            })?;
            let digest = digest::of(&connection)?;
            Fault::unless(digest.digest == loaded.digest, || format!("{from} to {to}: other rows"))?;
            let check: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
            Fault::unless(check == "ok", || format!("{from} to {to}: {check}"))?;
        }
    }
    Ok(())
}
