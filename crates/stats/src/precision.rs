//! When a study may stop.

use crate::{Estimate, SESSIONS_MIN};

/// Whether the interval reaches at most `half_width` (of the logarithm) to each side, and sessions are enough for a
/// verdict. Stopping by it looks at the spread only, never at where the effect lies, and so leaves the effect unbiased.
#[must_use]
pub fn is_precise(estimate: &Estimate, half_width: f64) -> bool {
    estimate.sessions >= SESSIONS_MIN && estimate.t.is_some_and(|interval| interval.half_width() <= half_width)
}
