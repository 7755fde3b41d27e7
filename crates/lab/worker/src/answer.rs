//! A running digest of the results of work: cheap, so that it does not dominate the measured work.
//!
//! It distinguishes results that differ by accident, not by design; [`crate::digest`] is the strict
//! one.

use rusqlite::Row;
use rusqlite::types::ValueRef;

use crate::WorkerError;

/// A running digest.
#[derive(Clone, Copy, Debug)]
pub struct AnswerDigest {
    state: u64,
    count: u64,
}

impl AnswerDigest {
    /// The digest of nothing.
    #[must_use]
    pub fn new() -> Self {
        Self { state: START, count: 0 }
    }

    /// Adds a row.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn row(&mut self, row: &Row<'_>, columns: usize) -> Result<(), WorkerError> {
        for column in 0..columns {
            match row.get_ref(column)? {
                ValueRef::Null => self.number(1),
                ValueRef::Integer(value) => self.bytes(2, &value.to_le_bytes()),
                ValueRef::Real(value) => self.bytes(3, &value.to_le_bytes()),
                ValueRef::Text(text) => self.bytes(4, text),
                ValueRef::Blob(bytes) => self.bytes(5, bytes),
            }
        }
        self.count += 1;
        Ok(())
    }

    /// Adds a number.
    pub fn number(&mut self, number: u64) {
        self.state = (self.state ^ number).wrapping_mul(FACTOR).rotate_left(29);
    }

    fn bytes(&mut self, kind: u64, bytes: &[u8]) {
        self.number(kind.wrapping_add((bytes.len() as u64) << 3));
        for piece in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..piece.len()].copy_from_slice(piece);
            self.number(u64::from_le_bytes(word));
        }
    }

    /// The current state: rows, and 16 hexadecimal digits.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{} rows {:016x}", self.count, self.state)
    }
}

impl Default for AnswerDigest {
    fn default() -> Self {
        Self::new()
    }
}

/// Digits of pi, and an odd number near 2^64 divided by the golden ratio.
const START: u64 = 0x243f_6a88_85a3_08d3;
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sql: &str) -> String {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        let mut statement = connection.prepare(sql).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        let mut answer = AnswerDigest::new();
        while let Some(row) = rows.next().unwrap() {
            answer.row(row, columns).unwrap();
        }
        answer.text()
    }

    #[test]
    fn digests_differ_by_value_type_and_order() {
        let texts = [
            of("SELECT 1 WHERE 0"),
            of("SELECT 1"),
            of("SELECT 2"),
            of("SELECT '1'"),
            of("SELECT 1.0"),
            of("SELECT NULL"),
            of("SELECT x'31'"),
            of("VALUES (1), (2)"),
            of("VALUES (2), (1)"),
            of("SELECT 'ab', 'c'"),
            of("SELECT 'a', 'bc'"),
        ];
        for (index, text) in texts.iter().enumerate() {
            assert!(!texts[index + 1..].contains(text), "{text}");
        }
        assert_eq!(of("SELECT 1"), of("SELECT 1"));
        assert!(of("VALUES (1), (2)").starts_with("2 rows "));
    }
}
