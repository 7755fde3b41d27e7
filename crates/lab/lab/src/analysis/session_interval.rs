//! How an interval across sessions is made.

use selenite_stats::{
    Estimate, Interval, Options, SESSIONS_MIN, confidence_sequence, estimate, sequence_p_value, session_estimates,
    sessions_to_clear_by_sequence, t_interval,
};

use crate::summary::StudyFacts;

/// The kind of interval: all of a study have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionInterval {
    /// Student's t: the number of sessions does not depend on the effects.
    T,
    /// A confidence sequence, which holds after every session at once: the study was extended, by someone who could
    /// see its effects.
    Sequence {
        /// Sessions of the configuration: where the sequence is narrowest. It is fixed before the first session.
        planned: u32,
    },
}

impl SessionInterval {
    /// That of a study with so many extensions.
    pub fn new(extensions: usize, planned: u32) -> Self {
        match extensions {
            0 => Self::T,
            _ => Self::Sequence { planned },
        }
    }

    /// That of a study that was summarised.
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

    /// The estimate, with this interval.
    pub fn estimate(self, sessions: &[Vec<f64>], options: &Options) -> Option<Estimate> {
        let found = estimate(sessions, options)?;
        let t = match self {
            Self::T => found.t,
            Self::Sequence { .. } => self.around(&session_estimates(sessions)?),
        };
        Some(Estimate { t, ..found })
    }

    /// How likely sessions so far from `effect` are if it is the true one; `found` is their estimate.
    pub fn p_value(self, sessions: &[Vec<f64>], found: &Estimate, effect: f64) -> Option<f64> {
        match self {
            Self::T => found.p_value(effect),
            Self::Sequence { planned } => sequence_p_value(&session_estimates(sessions)?, effect, planned),
        }
    }
}

/// How many sessions more an extension needs until an interval is clear of `limit`.
pub fn sessions_more(limit: f64, found: &Estimate, pairs: u32, planned: u32) -> Option<u32> {
    let needed = sessions_to_clear_by_sequence(limit, found, pairs, (CONFIDENCE, POWER), planned)?;
    Some(needed.max(SESSIONS_MIN).max(found.sessions + 1) - found.sessions)
}

/// Of all intervals.
pub const CONFIDENCE: f64 = 0.95;

/// The chance that a forecast leaves for the limit to be cleared.
const POWER: f64 = 0.8;
