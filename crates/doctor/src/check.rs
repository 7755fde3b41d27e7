//! The result of one check.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// The subject.
    pub name: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The details.
    pub finding: String,
    /// What to do; none if all is well, or nothing can be done.
    pub advice: Option<String>,
}

/// The verdict of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// As required.
    Ok,
    /// It works, but could be better.
    Advice,
    /// It does not work, or secrets are exposed.
    Problem,
}

/// The worst verdict.
#[must_use]
pub fn worst(checks: &[Check]) -> Verdict {
    checks.iter().map(|check| check.verdict).max().unwrap_or(Verdict::Ok)
}

impl Check {
    /// A check without complaint.
    #[must_use]
    pub fn ok(name: &str, finding: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            verdict: Verdict::Ok,
            finding: finding.into(),
            advice: None,
        }
    }

    /// Something that could be better.
    #[must_use]
    pub fn advice(name: &str, finding: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Advice,
            advice: Some(advice.into()),
            ..Self::ok(name, finding)
        }
    }

    /// Something that does not work, or exposes secrets.
    #[must_use]
    pub fn problem(name: &str, finding: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Problem,
            ..Self::advice(name, finding, advice)
        }
    }
}

impl Verdict {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Advice => "advice",
            Self::Problem => "problem",
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.verdict.word(), self.name, self.finding)?;
        match &self.advice {
            Some(advice) => write!(f, "; {advice}"),
            None => Ok(()),
        }
    }
}
