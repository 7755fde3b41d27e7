//! The verdict on an effect and a limit.

use serde::{Deserialize, Serialize};

use crate::{Estimate, Interval};

/// With fewer sessions there is no verdict: t with 3 degrees of freedom depends on normality that
/// has not been verified.
pub const SESSIONS_MIN: u32 = 5;

/// The verdict on an effect and a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum Verdict {
    /// The whole interval is below the limit.
    Within {
        /// The effect cannot be distinguished from a second copy of its control.
        inside_floor: bool,
    },
    /// The whole interval is above the limit.
    Above,
    /// The limit is in the interval, there is no interval, or there are fewer sessions than
    /// [`SESSIONS_MIN`].
    NotResolved,
}

/// Compares an effect with its floor and with the limit, which is `ln(1 + limit)`.
///
/// `floor` is the interval of a second copy of the control, compared with the control. Which copy
/// is the second is arbitrary, so its sign has no meaning: copies may differ by as much as the end
/// of the floor that is farther from 0, up or down. The effect is inside the floor unless its whole
/// interval is beyond that, on one side. Without a floor, copies are assumed to be equal: the
/// effect is inside if its interval contains 0. A floor with a NaN end contains every effect.
#[must_use]
pub fn verdict(effect: &Estimate, floor: Option<Interval>, limit: f64) -> Verdict {
    let Some(interval) = effect.t.filter(|_| effect.sessions >= SESSIONS_MIN) else {
        return Verdict::NotResolved;
    };
    if interval.high < limit {
        Verdict::Within {
            inside_floor: is_inside(interval, floor),
        }
    } else if interval.low > limit {
        Verdict::Above
    } else {
        Verdict::NotResolved
    }
}

fn is_inside(effect: Interval, floor: Option<Interval>) -> bool {
    let reach = floor.map_or(0.0, |floor| {
        if floor.low.is_nan() || floor.high.is_nan() {
            f64::INFINITY
        } else {
            floor.low.abs().max(floor.high.abs())
        }
    });
    effect.low <= reach && effect.high >= -reach
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(low: f64, high: f64, sessions: u32) -> Estimate {
        Estimate {
            center: f64::midpoint(low, high),
            t: Interval::new(low, high),
            bootstrap: None,
            sessions,
            pairs: 8 * sessions,
            within_sd: 0.01,
            between_sd: 0.01,
            session_sd: 0.01,
        }
    }

    fn within(inside_floor: bool) -> Verdict {
        Verdict::Within { inside_floor }
    }

    #[test]
    fn the_whole_interval_has_to_be_on_one_side() {
        assert_eq!(verdict(&effect(0.01, 0.02, 5), None, 0.03), within(false));
        assert_eq!(verdict(&effect(0.04, 0.05, 5), None, 0.03), Verdict::Above);
        assert_eq!(verdict(&effect(0.02, 0.04, 5), None, 0.03), Verdict::NotResolved);
        assert_eq!(verdict(&effect(0.02, 0.03, 5), None, 0.03), Verdict::NotResolved);
        assert_eq!(verdict(&effect(0.03, 0.04, 5), None, 0.03), Verdict::NotResolved);
    }

    #[test]
    fn four_sessions_are_too_few() {
        assert_eq!(verdict(&effect(0.01, 0.02, 4), None, 0.03), Verdict::NotResolved);
        assert_eq!(verdict(&effect(0.04, 0.05, 4), None, 0.03), Verdict::NotResolved);
    }

    #[test]
    fn without_interval_or_limit_nothing_is_resolved() {
        assert_eq!(verdict(&effect(f64::NAN, 0.0, 8), None, 0.03), Verdict::NotResolved);
        assert_eq!(verdict(&effect(0.01, 0.02, 8), None, f64::NAN), Verdict::NotResolved);
    }

    #[test]
    fn the_floor_reaches_to_both_sides() {
        let floor = Interval::new(-0.012, 0.002);
        assert_eq!(verdict(&effect(0.011, 0.02, 8), floor, 0.03), within(true));
        assert_eq!(verdict(&effect(0.013, 0.02, 8), floor, 0.03), within(false));
        assert_eq!(verdict(&effect(-0.05, -0.013, 8), floor, 0.03), within(false));
        assert_eq!(verdict(&effect(-0.05, -0.012, 8), floor, 0.03), within(true));
        assert_eq!(verdict(&effect(-0.05, 0.02, 8), floor, 0.03), within(true));
    }

    #[test]
    fn without_a_floor_only_nothing_is_inside() {
        assert_eq!(verdict(&effect(-0.01, 0.02, 8), None, 0.03), within(true));
        assert_eq!(verdict(&effect(0.001, 0.02, 8), None, 0.03), within(false));
    }

    #[test]
    fn a_floor_that_is_not_a_number_contains_every_effect() {
        let floor = Some(Interval {
            low: f64::NAN,
            high: 0.0,
        });
        assert_eq!(verdict(&effect(0.01, 0.02, 8), floor, 0.03), within(true));
    }
}
