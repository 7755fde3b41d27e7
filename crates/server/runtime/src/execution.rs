//! The functions that SQLite calls while a statement runs.
//!
//! The server registers these functions with SQLite, each for its connection:
//!
//! | function | kind | does |
//! |---|---|---|
//! | `tsql_op(N, a, ..)` | scalar, deterministic | [`Compiled::operation`] |
//! | `tsql_row(N, a, ..)` | scalar, not deterministic | [`Compiled::operation`] |
//! | `tsql_level(level, max)` | scalar, deterministic | [`next_level`] |
//! | `tsql_aggregate(N, a [, separator])` | aggregate | [`AggregateRun::step`]; NULL of no rows |
//! | `tsql_count(N, a)` | aggregate | the same; 0 of no rows |
//! | `tsql_window(N, a)` | window | [`AggregateRun::enter`], [`AggregateRun::leave`]; NULL of no rows |
//! | `tsql_window_count(N, a)` | window | the same; 0 of no rows |
//! | `tsql_single(a)` | aggregate | [`SingleValue`] |
//! | `tsql_rows(name, a, ..)` | scalar, deterministic | the rows of [`selenite_compiler::catalog::SystemRows::Json`] |
//! | `tsql_check_cancelled()` | scalar, not deterministic | true, or an error after cancellation; per written row |
//!
//! and the collations `SQL_Latin1_General_CP1_CI_AS` and `Latin1_General_BIN2`.
//! An error of a function ends SQLite's statement; the caller sends that error to the client instead of SQLite's.
//! An error of one of them ends SQLite's statement; the caller sends that error to the client and not SQLite's own.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use selenite_compiler::compiled::{AggregateSpec, Compiled};
use selenite_compiler::{Accumulator, AggregateKind, SqlError, stored};
use selenite_types::storage::{Stored, StoredRef, from_stored, variant_key};
use selenite_types::{DataType, Family, Value};

/// An aggregate over one group, or over a moving window frame.
#[derive(Clone, Debug)]
pub struct AggregateRun {
    spec: Arc<AggregateSpec>,
    separator: Value,
    accumulator: Accumulator,
    seen: HashSet<Vec<u8>>,
    /// The values of the window frame, in order, each with the number of its row; NULL is left out.
    frame: VecDeque<(u64, Value)>,
    /// How many rows have entered the frame, and how many have left it.
    rows: (u64, u64),
    /// Whether a value has left the frame, so that the accumulator is out of date.
    moved: bool,
    /// The aggregate of the current values.
    known: Option<Stored<'static>>,
    left_out_null: bool,
}

impl AggregateRun {
    /// Begins aggregate `number` of a statement for one group.
    ///
    /// Errors: 8624 for an unknown number.
    pub fn begin(compiled: &Compiled, number: u32) -> Result<Self, SqlError> {
        let spec = compiled.aggregate(number);
        let spec = spec.ok_or_else(|| SqlError::internal("an aggregate of no number"))?;
        Ok(Self::new(Arc::clone(spec)))
    }

    fn new(spec: Arc<AggregateSpec>) -> Self {
        let accumulator = Accumulator::new(&spec.aggregate, &Value::Null);
        Self {
            spec,
            separator: Value::Null,
            accumulator,
            seen: HashSet::new(),
            frame: VecDeque::new(),
            rows: (0, 0),
            moved: false,
            known: None,
            left_out_null: false,
        }
    }

    /// Sets STRING_AGG's separator, before the first value.
    ///
    /// Errors: 50823 for a value that is not of its type.
    pub fn separate(&mut self, separator: StoredRef<'_>) -> Result<(), SqlError> {
        if self.separator == Value::Null
            && let Some(expr) = &self.spec.aggregate.separator
        {
            self.separator = read(separator, &expr.data_type)?;
            self.accumulator = Accumulator::new(&self.spec.aggregate, &self.separator);
        }
        Ok(())
    }

    /// Adds a value of a group.
    ///
    /// Errors: 8115; 50823 for a value that is not of the operand's type.
    pub fn step(&mut self, argument: StoredRef<'_>) -> Result<(), SqlError> {
        let value = self.decode(argument)?;
        if value == Value::Null {
            self.left_out_null = true;
            return Ok(());
        }
        if self.spec.distinct && !self.seen.insert(self.distinct_key(argument)) {
            return Ok(());
        }
        self.accumulator.step(&value)
    }

    /// Adds a value that enters the window frame: as [`AggregateRun::step`], but it can be removed.
    ///
    /// Errors: as [`AggregateRun::step`].
    pub fn enter(&mut self, argument: StoredRef<'_>) -> Result<(), SqlError> {
        let value = self.decode(argument)?;
        self.known = None;
        self.left_out_null |= value == Value::Null && self.spec.aggregate.reports_nulls();
        let number = self.rows.0;
        self.rows.0 += 1;
        if value == Value::Null {
            return Ok(());
        }
        if !self.moved && !self.is_edge() {
            self.accumulator.step(&value)?;
        }
        self.frame.push_back((number, value));
        Ok(())
    }

    /// Removes the frame's first value.
    pub fn leave(&mut self) {
        self.known = None;
        let number = self.rows.1;
        self.rows.1 += 1;
        let is_kept = self.frame.front().is_some_and(|(first, _)| *first == number);
        if let Some((_, value)) = is_kept.then(|| self.frame.pop_front()).flatten() {
            self.moved = self.moved || !self.is_edge() && !self.accumulator.remove(&value);
        }
    }

    /// The aggregate of the current values.
    ///
    /// Errors: 8115.
    pub fn value(&mut self) -> Result<Stored<'static>, SqlError> {
        if let Some(known) = &self.known {
            return Ok(known.clone());
        }
        let value = self.computed()?;
        self.known = Some(value.clone());
        Ok(value)
    }

    fn computed(&mut self) -> Result<Stored<'static>, SqlError> {
        if self.is_edge() {
            let edge = match self.spec.aggregate.kind == AggregateKind::FirstValue {
                true => self.frame.front(),
                false => self.frame.back(),
            };
            let edge = edge.map_or(&Value::Null, |(_, value)| value);
            return stored(edge, &self.spec.aggregate.data_type);
        }
        if self.moved {
            self.accumulator = Accumulator::new(&self.spec.aggregate, &self.separator);
            for (_, value) in &self.frame {
                self.accumulator.step(value)?;
            }
            self.moved = false;
        }
        stored(&self.accumulator.finish()?, &self.spec.aggregate.data_type)
    }

    /// Whether the aggregate is a value at an edge of the frame.
    fn is_edge(&self) -> bool {
        matches!(
            self.spec.aggregate.kind,
            AggregateKind::FirstValue | AggregateKind::LastValue
        )
    }

    /// Whether NULLs were skipped: warning 8153, once for a statement.
    #[must_use]
    pub fn left_out_null(&self) -> bool {
        self.left_out_null
    }

    fn decode(&self, argument: StoredRef<'_>) -> Result<Value, SqlError> {
        let operand = self.spec.aggregate.operand.as_ref();
        let data_type = operand.map_or(DataType::Int, |operand| operand.data_type);
        read(argument, &data_type)
    }

    /// A byte string that is equal for equal values.
    fn distinct_key(&self, argument: StoredRef<'_>) -> Vec<u8> {
        let data_type = self.spec.aggregate.operand.as_ref().map(|operand| operand.data_type);
        let family = data_type.map(|data_type| data_type.family());
        let has_offset = matches!(data_type, Some(DataType::DateTimeOffset(_)));
        match argument {
            StoredRef::Null => Vec::new(),
            StoredRef::Integer(value) => value.to_be_bytes().to_vec(),
            // Both zeros are equal.
            StoredRef::Real(value) => (value + 0.0).to_bits().to_be_bytes().to_vec(),
            StoredRef::Text(text) if family == Some(Family::Text) => self.spec.collation.named.key(text),
            StoredRef::Text(text) if family == Some(Family::Variant) => variant_key(text),
            // Two offsets may denote one instant. The text was decoded, so it has an offset.
            StoredRef::Text(text) if has_offset => text[..text.len().saturating_sub(OFFSET_SIZE)].to_vec(),
            StoredRef::Text(bytes) | StoredRef::Blob(bytes) => bytes.to_vec(),
        }
    }
}

/// The size of ` +HH:MM` after a datetimeoffset's instant.
const OFFSET_SIZE: usize = 7;

/// The value of a scalar subquery.
#[derive(Clone, Default, Debug)]
pub struct SingleValue {
    value: Option<Stored<'static>>,
}

impl SingleValue {
    /// Adds a row's value.
    ///
    /// Errors: 512 for a second one.
    pub fn step(&mut self, argument: &StoredRef<'_>) -> Result<(), SqlError> {
        if self.value.is_some() {
            return Err(SqlError::several_rows());
        }
        self.value = Some(owned(*argument));
        Ok(())
    }

    /// The value; NULL if there was no row.
    #[must_use]
    pub fn finish(self) -> Stored<'static> {
        self.value.unwrap_or(Stored::Null)
    }
}

/// The level after `level` in a recursive common table expression; `level_max` 0 is no limit.
///
/// Errors: 530 beyond `level_max`.
pub fn next_level(level: i64, level_max: i64) -> Result<i64, SqlError> {
    let next = level.saturating_add(1);
    if level_max > 0 && next > level_max {
        Err(SqlError::recursion_exhausted(level_max))
    } else {
        Ok(next)
    }
}

/// Decodes a value from SQLite as one of a declared type.
///
/// Errors: 50823 if it is not a value of the type.
pub fn read(argument: StoredRef<'_>, data_type: &DataType) -> Result<Value, SqlError> {
    read_at(argument, data_type, "")
}

/// Decodes a value whose table and column, `place`, the error names.
///
/// Errors: 50823 if it is not a value of the type.
pub fn read_at(argument: StoredRef<'_>, data_type: &DataType, place: &str) -> Result<Value, SqlError> {
    from_stored(argument, data_type).map_err(|misfit| SqlError::misfit(place, &misfit.to_string()))
}

fn owned(argument: StoredRef<'_>) -> Stored<'static> {
    match argument {
        StoredRef::Null => Stored::Null,
        StoredRef::Integer(value) => Stored::Integer(value),
        StoredRef::Real(value) => Stored::Real(value),
        StoredRef::Text(text) => Stored::Text(String::from_utf8_lossy(text).into_owned().into()),
        StoredRef::Blob(bytes) => Stored::Blob(bytes.to_vec().into()),
    }
}
