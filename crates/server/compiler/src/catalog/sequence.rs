//! Sequences.

use selenite_types::DataType;

/// A sequence: what NEXT VALUE FOR counts by.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sequence {
    /// Its number in sys.objects.
    pub object_id: i32,
    /// The schema's name.
    pub schema: String,
    /// The sequence's name, as it was defined.
    pub name: String,
    /// The type of its values: an integer, or decimal with scale 0.
    pub data_type: DataType,
    /// How it counts.
    pub rule: SequenceRule,
}

/// How a sequence counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SequenceRule {
    /// The first value.
    pub start: i128,
    /// The difference of two values; not 0.
    pub increment: i128,
    /// MINVALUE.
    pub minimum: i128,
    /// MAXVALUE.
    pub maximum: i128,
    /// CYCLE: after the last value it begins again, at MINVALUE or, descending, at MAXVALUE.
    pub cycles: bool,
    /// How many values are reserved at a time.
    pub cache: SequenceCache,
}

/// CACHE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SequenceCache {
    /// As many as the server likes.
    Default,
    /// `CACHE size`.
    Size(u32),
    /// NO CACHE.
    None,
}

impl SequenceRule {
    /// The value after `value`; `None` after the last one of a sequence that does not cycle.
    #[must_use]
    pub fn after(&self, value: i128) -> Option<i128> {
        let next = value.checked_add(self.increment);
        match next.filter(|next| (self.minimum..=self.maximum).contains(next)) {
            Some(next) => Some(next),
            None if self.cycles && self.increment > 0 => Some(self.minimum),
            None if self.cycles => Some(self.maximum),
            None => None,
        }
    }

    /// How many values there are after `value` before the sequence ends or begins again.
    #[must_use]
    pub fn values_left(&self, value: i128) -> i128 {
        let end = if self.increment > 0 { self.maximum } else { self.minimum };
        self.steps_between(value, end)
    }

    /// How many values a cycle has after its first one.
    #[must_use]
    pub fn steps_of_cycle(&self) -> i128 {
        self.steps_between(self.minimum, self.maximum)
    }

    /// The distance of two numeric(38,0) does not fit an i128.
    fn steps_between(&self, one: i128, other: i128) -> i128 {
        let steps = one.abs_diff(other).checked_div(self.increment.unsigned_abs());
        i128::try_from(steps.unwrap_or(0)).unwrap_or(i128::MAX)
    }

    /// How many values are reserved at a time.
    #[must_use]
    pub fn reserved(&self) -> u32 {
        match self.cache {
            SequenceCache::Default => CACHE_DEFAULT,
            SequenceCache::Size(size) => size.max(1),
            SequenceCache::None => 1,
        }
    }
}

/// SQL Server names no number.
const CACHE_DEFAULT: u32 = 50;
