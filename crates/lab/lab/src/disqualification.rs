//! The requirements of a verdict.

use std::fmt;

use crate::summary::{ArmRole, StudyState, Summary};

pub use selenite_stats::SESSIONS_MIN;

/// Why a study cannot support a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Disqualification {
    /// No pair of blocks counts.
    Empty,
    /// It has not been completed.
    Unfinished,
    /// It has too few sessions.
    FewSessions(u32),
    /// It has no second copy of the baseline database.
    NoSecondCopy,
    /// The encryption of an arm was not proved.
    NoProof(String),
}

impl fmt::Display for Disqualification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "no pair of blocks counts"),
            Self::Unfinished => write!(f, "it has not ended"),
            Self::FewSessions(1) => write!(f, "it has one session; a verdict needs {SESSIONS_MIN}"),
            Self::FewSessions(sessions) => write!(f, "it has {sessions} sessions; a verdict needs {SESSIONS_MIN}"),
            Self::NoSecondCopy => write!(f, "no figures of the second unencrypted copy"),
            Self::NoProof(arm) => write!(f, "the encryption of {arm} was not proved"),
        }
    }
}

/// All reasons against a verdict; empty if there are none.
pub fn disqualifications(summary: &Summary) -> Vec<Disqualification> {
    let mut disqualifications = Vec::new();
    let mut pairs = summary.cells.iter().flat_map(|cell| &cell.pairs);
    if pairs.next().is_none() {
        disqualifications.push(Disqualification::Empty);
    }
    if summary.study.state == StudyState::Unfinished {
        disqualifications.push(Disqualification::Unfinished);
    }
    if summary.study.sessions < SESSIONS_MIN {
        disqualifications.push(Disqualification::FewSessions(summary.study.sessions));
    }
    let floor = |arm: &str| {
        summary
            .arms
            .iter()
            .any(|facts| facts.name == arm && facts.role == ArmRole::Floor)
    };
    let floors = summary
        .cells
        .iter()
        .filter(|cell| cell.effects.iter().any(|effect| floor(&effect.arm)));
    if floors.count() < summary.cells.len() || summary.cells.is_empty() {
        disqualifications.push(Disqualification::NoSecondCopy);
    }
    let encrypted = summary.arms.iter().filter(|arm| arm.role == ArmRole::Encrypted);
    disqualifications.extend(
        encrypted
            .filter(|arm| arm.proof.is_empty())
            .map(|arm| Disqualification::NoProof(arm.name.clone())),
    );
    disqualifications
}
