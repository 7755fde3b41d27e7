//! The counters of sequences: `given-once` and `reserved-in-blocks`, as those of identities are.

use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rusqlite::{Connection, OptionalExtension};
use selenite_compiler::SqlError;
use selenite_compiler::catalog::{Sequence, SequenceRule};

use super::error::tsql_error;
use super::identities::{Identities, IdentityJournal, SequenceCounter};

/// A range of values: sp_sequence_get_range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SequenceRange {
    /// The first value.
    pub first: i128,
    /// The last value.
    pub last: i128,
    /// How often the range passes the end of the sequence.
    pub cycle_count: i32,
}

impl Identities {
    /// Takes the next value of a sequence.
    ///
    /// # Errors
    /// 11728; SQLite's error.
    pub fn next_of(&self, connection: &Connection, sequence: &Sequence) -> Result<i128, SqlError> {
        let mut counters = self.lock();
        let mut counter = match counters.sequences.get(&sequence.object_id) {
            Some(counter) => *counter,
            None => load(connection, sequence)?,
        };
        let value = counter
            .next
            .ok_or_else(|| SqlError::sequence_exhausted(&sequence.name))?;
        if counter.left == 0 {
            counter.left = reserve(connection, sequence, value)?;
        }
        counter = SequenceCounter {
            next: sequence.rule.after(value),
            last: Some(value),
            left: counter.left - 1,
        };
        counters.sequences.insert(sequence.object_id, counter);
        Ok(value)
    }

    /// Takes `count` values of a sequence at once; `None` if there are not as many.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn range_of(
        &self,
        connection: &Connection,
        sequence: &Sequence,
        count: i64,
    ) -> Result<Option<SequenceRange>, SqlError> {
        let counter = self.counter_of(connection, sequence)?;
        let Some(first) = counter.next else { return Ok(None) };
        let Some((last, cycle_count)) = nth(&sequence.rule, first, i128::from(count) - 1) else {
            return Ok(None);
        };
        let moved = SequenceCounter {
            next: sequence.rule.after(last),
            last: Some(last),
            left: 0,
        };
        store(connection, sequence.object_id, &moved)?;
        self.lock().sequences.insert(sequence.object_id, moved);
        Ok(Some(SequenceRange {
            first,
            last,
            cycle_count,
        }))
    }

    /// Where a sequence is.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn counter_of(&self, connection: &Connection, sequence: &Sequence) -> Result<SequenceCounter, SqlError> {
        let known = self.lock().sequences.get(&sequence.object_id).copied();
        match known {
            Some(counter) => Ok(counter),
            None => load(connection, sequence),
        }
    }

    /// Where a sequence is; `None` if that is not known without reading the database.
    pub fn known_counter(&self, sequence_id: i32) -> Option<SequenceCounter> {
        self.lock().sequences.get(&sequence_id).copied()
    }

    /// Moves a sequence that is altered; can be undone.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn move_sequence(
        &self,
        connection: &Connection,
        sequence_id: i32,
        (next, last): (Option<i128>, Option<i128>),
        journal: &IdentityJournal,
    ) -> Result<(), SqlError> {
        let moved = SequenceCounter { next, last, left: 0 };
        store(connection, sequence_id, &moved)?;
        let before = self.lock().sequences.insert(sequence_id, moved);
        journal.note_sequence(sequence_id, before);
        Ok(())
    }

    /// Forgets the counter of a created or dropped sequence, whose id may be reused; can be undone.
    pub fn forget_sequence(&self, sequence_id: i32, journal: &IdentityJournal) {
        let before = self.lock().sequences.remove(&sequence_id);
        journal.note_sequence(sequence_id, before);
    }
}

/// The values of sequences that a statement has taken: each row has one of each sequence.
#[derive(Default)]
pub struct TakenValues {
    /// The current row's value of each sequence.
    of_row: RefCell<HashMap<i32, i128>>,
    /// All values of each sequence with OVER, in the order of OVER.
    ordered: RefCell<HashMap<i32, Vec<i128>>>,
}

impl TakenValues {
    /// Begins a row.
    pub fn begin_row(&self) {
        let mut of_row = self.of_row.borrow_mut();
        if !of_row.is_empty() {
            of_row.clear();
        }
    }

    /// The value of the current row, or of the row with the number `ordinal`; `take` takes a new one.
    ///
    /// # Errors
    /// Those of `take`.
    pub fn value(
        &self,
        sequence_id: i32,
        ordinal: Option<i64>,
        mut take: impl FnMut() -> Result<i128, SqlError>,
    ) -> Result<i128, SqlError> {
        if let Some(ordinal) = ordinal {
            let at = usize::try_from(ordinal - 1).map_err(|_| SqlError::internal("a row's number"))?;
            let mut ordered = self.ordered.borrow_mut();
            let values = ordered.entry(sequence_id).or_default();
            while values.len() <= at {
                values.push(take()?);
            }
            return values
                .get(at)
                .copied()
                .ok_or_else(|| SqlError::internal("a row's number"));
        }
        match self.of_row.borrow_mut().entry(sequence_id) {
            Entry::Occupied(known) => Ok(*known.get()),
            Entry::Vacant(vacant) => Ok(*vacant.insert(take()?)),
        }
    }
}

/// The value `steps` after `first`, and how often the sequence begins again before it.
fn nth(rule: &SequenceRule, first: i128, steps: i128) -> Option<(i128, i32)> {
    let left = rule.values_left(first);
    if steps <= left {
        return Some((first + steps * rule.increment, 0));
    }
    if !rule.cycles {
        return None;
    }
    let begin = if rule.increment > 0 { rule.minimum } else { rule.maximum };
    let size = rule.steps_of_cycle().saturating_add(1);
    let beyond = steps - left - 1;
    let cycle_count = i32::try_from(beyond / size + 1).ok()?;
    Some((begin + beyond % size * rule.increment, cycle_count))
}

/// The state in the database: that of a sequence of which no value was taken, or what was reserved.
fn load(connection: &Connection, sequence: &Sequence) -> Result<SequenceCounter, SqlError> {
    let stored = connection
        .query_row(
            "SELECT next FROM selenite_catalog WHERE object_id = ?1",
            [sequence.object_id],
            |row| row.get::<_, Option<String>>(0),
        )
        .optional()
        .map_err(|error| tsql_error(&error))?
        .flatten();
    let Some(stored) = stored else {
        return Ok(SequenceCounter {
            next: Some(sequence.rule.start),
            last: None,
            left: 0,
        });
    };
    let (next, last) = stored.split_once(' ').unwrap_or((stored.as_str(), ""));
    Ok(SequenceCounter {
        next: next.parse().ok(),
        last: last.parse().ok(),
        left: 0,
    })
}

/// Reserves a block of values from `first` on, and returns how many.
fn reserve(connection: &Connection, sequence: &Sequence, first: i128) -> Result<u32, SqlError> {
    let rule = &sequence.rule;
    // A block ends at the latest with the sequence, so that the rest of it is one run of values.
    let further = rule.values_left(first).min(i128::from(rule.reserved()) - 1);
    let last = first + further * rule.increment;
    let reserved = SequenceCounter {
        next: rule.after(last),
        last: Some(last),
        left: 0,
    };
    store(connection, sequence.object_id, &reserved)?;
    Ok(u32::try_from(further + 1).unwrap_or(1))
}

fn store(connection: &Connection, sequence_id: i32, counter: &SequenceCounter) -> Result<(), SqlError> {
    let text = |value: Option<i128>| value.map_or_else(|| EXHAUSTED.to_owned(), |value| value.to_string());
    let stored = format!("{} {}", text(counter.next), text(counter.last));
    let done = connection.prepare_cached("UPDATE selenite_catalog SET next = ?2 WHERE object_id = ?1");
    done.and_then(|mut statement| statement.execute((sequence_id, stored)))
        .map(drop)
        .map_err(|error| tsql_error(&error))
}

/// In place of a value that there is not.
const EXHAUSTED: &str = "-";

#[cfg(test)]
mod tests {
    use selenite_compiler::catalog::SequenceCache;

    use super::*;

    const RULE: SequenceRule = SequenceRule {
        start: 3,
        increment: 2,
        minimum: 1,
        maximum: 8,
        cycles: false,
        cache: SequenceCache::None,
    };

    #[test]
    fn a_range_ends_with_its_sequence() {
        assert_eq!(nth(&RULE, 3, 2), Some((7, 0)));
        assert_eq!(nth(&RULE, 3, 3), None);
    }

    #[test]
    fn a_range_of_a_cycling_sequence_begins_again_at_the_minimum() {
        let rule = SequenceRule { cycles: true, ..RULE };
        // 3 5 7, 1 3 5 7, 1 3 5 7
        assert_eq!(nth(&rule, 3, 3), Some((1, 1)));
        assert_eq!(nth(&rule, 3, 6), Some((7, 1)));
        assert_eq!(nth(&rule, 3, 7), Some((1, 2)));
    }

    #[test]
    fn the_range_of_a_type_wider_than_an_i128_is_counted() {
        let most = 10_i128.pow(38) - 1;
        let rule = SequenceRule {
            start: -most,
            increment: 1,
            minimum: -most,
            maximum: most,
            cycles: true,
            cache: SequenceCache::None,
        };
        assert_eq!(nth(&rule, -most, 5), Some((5 - most, 0)));
        assert_eq!(nth(&rule, most, 2), Some((1 - most, 1)));
    }

    #[test]
    fn a_descending_range_begins_again_at_the_maximum() {
        let rule = SequenceRule {
            increment: -3,
            cycles: true,
            ..RULE
        };
        // 3, 8 5 2, 8
        assert_eq!(nth(&rule, 3, 1), Some((8, 1)));
        assert_eq!(nth(&rule, 3, 4), Some((8, 2)));
    }
}
