//! The method of intervals across sessions.

use selenite_stats::{
    Estimate, Interval, Options, SESSIONS_MIN, confidence_sequence, estimate, sequence_p_value, session_estimates,
    sessions_to_clear_by_sequence, t_interval,
};

use crate::summary::StudyFacts;

/// The method: all intervals of a study have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionInterval {
    /// Student's t, if the number of sessions did not depend on the effects.
    T,
    /// A confidence sequence, which holds after every session at once, if the study was extended by
    /// a user who could see its effects.
    Sequence {
        /// The sessions of the configuration, at which the sequence is narrowest. The number is
        /// fixed before the first session.
        planned: u32,
    },
}

impl SessionInterval {
    /// The method of a study with so many extensions.
    pub fn new(extensions: usize, planned: u32) -> Self {
        match extensions {
            0 => Self::T,
            _ => Self::Sequence { planned },
        }
    }

    /// The method of a summarised study.
    pub fn of(study: &StudyFacts) -> Self {
        Self::new(study.extensions.len(), study.planned_sessions)
    }

    /// The 95 % interval of the mean of sessions' values.
    pub fn around(self, sessions: &[f64]) -> Option<Interval> {
        match self {
            Self::T => t_interval(sessions, CONFIDENCE),
            Self::Sequence { planned } => confidence_sequence(sessions, CONFIDENCE, planned),
        }
    }

    /// The estimate with an interval by this method.
    pub fn estimate(self, sessions: &[Vec<f64>], options: &Options) -> Option<Estimate> {
        let found = estimate(sessions, options)?;
        let t = match self {
            Self::T => found.t,
            Self::Sequence { .. } => self.around(&session_estimates(sessions)?),
        };
        Some(Estimate { t, ..found })
    }

    /// The probability of sessions so far from `effect` if it is the true one; `found` is their estimate.
    pub fn p_value(self, sessions: &[Vec<f64>], found: &Estimate, effect: f64) -> Option<f64> {
        match self {
            Self::T => found.p_value(effect),
            Self::Sequence { planned } => sequence_p_value(&session_estimates(sessions)?, effect, planned),
        }
    }
}

/// The number of further sessions that an extension needs until an interval excludes `limit`.
pub fn sessions_more(limit: f64, found: &Estimate, pairs: u32, planned: u32) -> Option<u32> {
    let needed = sessions_to_clear_by_sequence(limit, found, pairs, (CONFIDENCE, POWER), planned)?;
    Some(needed.max(SESSIONS_MIN).max(found.sessions + 1) - found.sessions)
}

/// Of all intervals.
pub const CONFIDENCE: f64 = 0.95;

/// The probability, assumed by forecasts, that the interval will exclude the limit.
const POWER: f64 = 0.8;
