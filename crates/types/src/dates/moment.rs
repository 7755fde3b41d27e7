//! The present moment, as the caller knows it.

/// A moment that a clock showed, and where: GETDATE and its kin are made of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moment {
    /// Nanoseconds since 1970-01-01 in UTC.
    pub unix_ns: u64,
    /// How many minutes local time is ahead of UTC.
    pub offset_minutes: i16,
}
