//! Errors of the planner.

use std::fmt;

/// Why there is no prediction.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlanError {
    /// The input is not in the format of its source: the caller's fault. The text contains the
    /// position and the reason.
    Input {
        /// Where: a file, a column, an option.
        place: String,
        /// Why it is refused.
        reason: String,
    },
    /// A counter is lower than before, or the start of the counting is another one: the server was restarted or its
    /// statistics were reset between two snapshots, or they are of different servers.
    Reset {
        /// Where the later snapshot is; empty where that is not known.
        place: String,
        /// The counter, or what has another start.
        counter: String,
    },
    /// The calibration does not fit: another machine, another version, or no coefficients for what is asked.
    Calibration(String),
    /// The load is outside of what was calibrated, or of what the model is valid for.
    OutOfRange(String),
    /// The load is more than the machine serves, without encryption or with it.
    Saturated(String),
}

impl PlanError {
    /// [`PlanError::Input`].
    pub fn input(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Input {
            place: place.into(),
            reason: reason.into(),
        }
    }

    /// The same with the place of a reset, unless it has one.
    pub(crate) fn at(self, at: &str) -> Self {
        match self {
            Self::Reset { place, counter } if place.is_empty() => Self::Reset {
                place: at.to_owned(),
                counter,
            },
            Self::Reset { .. }
            | Self::Input { .. }
            | Self::Calibration(_)
            | Self::OutOfRange(_)
            | Self::Saturated(_) => self,
        }
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input { place, reason } => write!(out, "{place}: {reason}"),
            Self::Reset { place, counter } => write!(
                out,
                "{place}{}{counter} does not go on from the snapshot before: the server was restarted or its statistics were \
                 reset between the two, or they are of different servers",
                if place.is_empty() { "" } else { ": " }
            ),
            Self::Calibration(reason) => write!(out, "the calibration does not fit: {reason}"),
            Self::Saturated(reason) => write!(out, "the machine is saturated: {reason}"),
            Self::OutOfRange(reason) => write!(out, "no prediction beyond the calibrated range: {reason}"),
        }
    }
}

impl std::error::Error for PlanError {}
