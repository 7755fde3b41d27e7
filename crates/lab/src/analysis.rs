//! What a store says: pairs, effects, verdicts.
//!
//! A1. A pair counts only if both its blocks do; why a block does not was decided without looking at what it took.
//! A2. Sessions are what counts: every interval is across sessions.
//! A3. Percentiles come from merged histograms; none is ever a mean of others.

pub mod pool;
pub mod student;
