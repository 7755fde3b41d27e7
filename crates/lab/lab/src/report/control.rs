//! The work of a control, where it is not the arm's own work without a cipher.

use crate::summary::{CellSummary, Summary};

/// A sentence about it; none if the work of arm and control is the same.
pub fn of(cell: &CellSummary) -> Option<&'static str> {
    match cell.work.as_str() {
        "convert" => Some(
            "Beside it: an unencrypted copy of an unencrypted database, by SQLite's own VACUUM INTO; a server writes its \
             unencrypted tables again.",
        ),
        "rekey" => Some(
            "Beside it: an ordinary copy of the file's bytes, read, written and synced as by cp and sync. In clear there is no \
             key, and that is what moving the bytes costs.",
        ),
        "archive" => Some(
            "Beside it: what people do with an unencrypted database: SQLite's online backup into a file, then zstd (level 3, two threads) and age, all of \
             it each time. The ratio to suite NONE is that to the same command on an unencrypted database, in our layout.",
        ),
        "physical-verify" => Some(
            "Beside it: reading the file from its first byte to its last. So does an engine that has no such check.",
        ),
        _ => None,
    }
}

/// The sentences for all cells of a study without duplicates, each with its cells.
pub fn all(summary: &Summary) -> Vec<String> {
    let mut said: Vec<(&str, Vec<&str>)> = Vec::new();
    for cell in &summary.cells {
        let Some(sentence) = of(cell) else { continue };
        match said.iter_mut().find(|(other, _)| *other == sentence) {
            Some((_, cells)) => cells.push(&cell.label),
            None => said.push((sentence, vec![&cell.label])),
        }
    }
    let line = |(sentence, cells): (&str, Vec<&str>)| format!("{}: {}", cells.join("; "), lowered(sentence));
    said.into_iter().map(line).collect()
}

fn lowered(sentence: &str) -> String {
    let mut letters = sentence.chars();
    let first = letters.next().map(|letter| letter.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}
