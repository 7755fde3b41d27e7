//! A gate: decides from a summary whether a change passes; the answer has an exit status.

mod recorded;

use std::fmt;

use selenite_stats::{Estimate, Options, SESSIONS_MIN, estimate, holm, sessions_to_clear};

use crate::analysis::session_interval::{CONFIDENCE, SessionInterval, sessions_more};
use crate::disqualification::{Disqualification, disqualifications};
use crate::pattern::matches;
use crate::summary::{ArmRole, CellSummary, Effect, Metric, Summary};

pub use recorded::judge_recorded;

/// The criteria of a gate.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The largest acceptable effect, as a ratio: 0.03 is 3 %.
    pub limit: f64,
    /// The metric.
    pub metric: Metric,
    /// The cells, as a pattern with `*` and `?`; none for the gating ones.
    pub cells: Option<String>,
    /// The arm; none for all encrypted ones.
    pub arm: Option<String>,
}

/// The decision.
#[derive(Clone, Debug, PartialEq)]
pub enum GateDecision {
    /// Every interval is below the limit.
    Within,
    /// At least one interval is above it, after Holm's correction over the cells of that arm.
    Above,
    /// Neither.
    NotResolved {
        /// The estimated time to a decision, in minutes; none if unknown.
        minutes_more: Option<f64>,
    },
    /// The study cannot decide, for these reasons.
    Invalid(Vec<String>),
}

impl GateDecision {
    /// The exit status of a gate.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Within => 0,
            Self::Above => 10,
            Self::NotResolved { .. } => 11,
            Self::Invalid(_) => 12,
        }
    }
}

/// The result of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The cell.
    pub cell: String,
    /// The arm.
    pub arm: String,
    /// (arm - control) / control.
    pub ratio: f64,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// The ratio and interval of a recorded figure, if the cell is compared with one.
    pub recorded: Option<(f64, Option<(f64, f64)>)>,
    /// The decision for this cell alone.
    pub outcome: GateDecision,
}

/// The answer of a gate.
#[derive(Clone, Debug, PartialEq)]
pub struct GateResult {
    /// The decision.
    pub outcome: GateDecision,
    /// The results by cell; empty if the study cannot decide.
    pub findings: Vec<Finding>,
}

impl fmt::Display for GateResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            let text = crate::report::estimate(finding.ratio, finding.interval);
            let before = finding
                .recorded
                .map(|(ratio, ends)| crate::report::estimate(ratio, ends));
            let state = match (&finding.outcome, &before) {
                (GateDecision::Within, None) => "within",
                (GateDecision::Above, None) => "above",
                (GateDecision::Within, Some(_)) => "no worse",
                (GateDecision::Above, Some(_)) => "worse",
                (GateDecision::NotResolved { .. } | GateDecision::Invalid(_), _) => "not resolved",
            };
            let before = before.map_or_else(String::new, |before| format!(", recorded {before}"));
            writeln!(f, "{} in {}: {text}{before}: {state}", finding.arm, finding.cell)?;
        }
        let is_recorded = self.findings.iter().any(|finding| finding.recorded.is_some());
        match &self.outcome {
            GateDecision::Within if is_recorded => write!(f, "no worse than recorded"),
            GateDecision::Above if is_recorded => write!(f, "worse than recorded"),
            GateDecision::Within => write!(f, "within the limit"),
            GateDecision::Above => write!(f, "above the limit"),
            GateDecision::NotResolved {
                minutes_more: Some(minutes),
            } => {
                write!(
                    f,
                    "not resolved: about {} more of measurement are needed",
                    crate::report::minutes(*minutes)
                )
            }
            GateDecision::NotResolved { minutes_more: None } => write!(f, "not resolved"),
            GateDecision::Invalid(reasons) => write!(f, "this study cannot answer: {}", reasons.join("; ")),
        }
    }
}

/// Decides from the summary alone.
#[must_use]
pub fn judge(summary: &Summary, question: &Question) -> GateResult {
    let (arms, cells, mut reasons) = chosen(summary, question);
    reasons.extend(
        disqualifications(summary)
            .iter()
            .filter(|reason| relevant(reason, &arms))
            .map(ToString::to_string),
    );
    let mut findings = Vec::new();
    for arm in &arms {
        let mut family = Vec::new();
        for cell in &cells {
            let floor = cell
                .effects
                .iter()
                .any(|effect| effect.metric == question.metric && is_floor(summary, &effect.arm));
            let found = cell
                .effects
                .iter()
                .find(|effect| effect.arm == *arm && effect.metric == question.metric);
            match found {
                Some(effect) if floor => family.push((cell.name.as_str(), effect)),
                Some(_) => reasons.push(format!("a second copy has no figure of it in {}", cell.name)),
                None => reasons.push(format!("{arm} has no figure of it in {}", cell.name)),
            }
        }
        findings.extend(of_arm(summary, question.limit, &family));
    }
    if !reasons.is_empty() {
        reasons.dedup();
        return GateResult {
            outcome: GateDecision::Invalid(reasons),
            findings: Vec::new(),
        };
    }
    GateResult {
        outcome: together(&findings),
        findings,
    }
}

/// Whether a disqualification is relevant for these arms.
fn relevant(reason: &Disqualification, arms: &[&str]) -> bool {
    match reason {
        Disqualification::NoProof(arm) => arms.contains(&arm.as_str()),
        Disqualification::FewSessions(_) => false,
        Disqualification::Empty | Disqualification::Unfinished | Disqualification::NoSecondCopy => true,
    }
}

type Chosen<'a> = (Vec<&'a str>, Vec<&'a CellSummary>, Vec<String>);

fn chosen<'a>(summary: &'a Summary, question: &Question) -> Chosen<'a> {
    let mut reasons = Vec::new();
    if !(question.limit.is_finite() && question.limit > -1.0) {
        reasons.push("the limit is not a ratio".to_owned());
    }
    let encrypted = summary.arms.iter().filter(|arm| arm.role == ArmRole::Encrypted);
    let asked = |name: &str| question.arm.as_deref().is_none_or(|arm| arm == name);
    let arms: Vec<&str> = encrypted
        .map(|arm| arm.name.as_str())
        .filter(|name| asked(name))
        .collect();
    if arms.is_empty() {
        reasons.push(match &question.arm {
            Some(arm) => format!("it has no encrypted arm `{arm}`"),
            None => "it has no encrypted arm".to_owned(),
        });
    }
    let cells: Vec<&CellSummary> = match &question.cells {
        Some(pattern) => summary
            .cells
            .iter()
            .filter(|cell| matches(pattern, &cell.name))
            .collect(),
        None => summary.cells.iter().filter(|cell| cell.gating).collect(),
    };
    if cells.is_empty() {
        reasons.push(match &question.cells {
            Some(pattern) => format!("it has no cell `{pattern}`"),
            None => "it has no gating cell".to_owned(),
        });
    }
    (arms, cells, reasons)
}

fn is_floor(summary: &Summary, arm: &str) -> bool {
    summary
        .arms
        .iter()
        .any(|facts| facts.name == arm && facts.role == ArmRole::Floor)
}

fn of_arm(summary: &Summary, limit: f64, family: &[(&str, &Effect)]) -> Vec<Finding> {
    let bound = limit.ln_1p();
    let interval = SessionInterval::of(&summary.study);
    let estimates: Vec<Option<Estimate>> = family.iter().map(|(_, effect)| reestimate(effect)).collect();
    let p_values: Vec<f64> = family
        .iter()
        .zip(&estimates)
        .map(|((_, effect), found)| {
            let p = found
                .as_ref()
                .and_then(|found| interval.p_value(&logs(effect), found, bound));
            p.unwrap_or(1.0)
        })
        .collect();
    let findings = family
        .iter()
        .zip(estimates)
        .zip(holm(&p_values))
        .map(|(((cell, effect), found), p)| {
            let open = || GateDecision::NotResolved {
                minutes_more: found.and_then(|found| minutes(summary, effect, &found, bound)),
            };
            Finding {
                cell: (*cell).to_owned(),
                arm: effect.arm.clone(),
                ratio: effect.ratio,
                interval: effect.interval,
                recorded: None,
                outcome: match effect.interval {
                    _ if effect.sessions < SESSIONS_MIN || summary.study.sessions < SESSIONS_MIN => open(),
                    Some((_, high)) if high < limit => GateDecision::Within,
                    Some((low, _)) if low > limit && p <= 0.05 => GateDecision::Above,
                    Some(_) | None => open(),
                },
            }
        });
    findings.collect()
}

/// The estimate of each session.
fn logs(effect: &Effect) -> Vec<Vec<f64>> {
    effect.by_session.iter().map(|(_, ratio)| vec![ratio.ln_1p()]).collect()
}

/// Recomputes the estimate of an effect from its sessions.
fn reestimate(effect: &Effect) -> Option<Estimate> {
    estimate(
        &logs(effect),
        &Options {
            replicates: 0,
            ..Options::default()
        },
    )
}

fn minutes(summary: &Summary, effect: &Effect, found: &Estimate, bound: f64) -> Option<f64> {
    let more = match summary.study.planned_sessions {
        // Older summaries do not contain it.
        0 => sessions_to_clear(bound, found, 1, CONFIDENCE, 0.8)?
            .max(SESSIONS_MIN)
            .max(effect.sessions + 1)
            .saturating_sub(effect.sessions),
        planned => sessions_more(bound, found, 1, planned)?,
    };
    Some(f64::from(more) * summary.study.session_s? / 60.0)
}

fn together(findings: &[Finding]) -> GateDecision {
    let mut minutes = Some(0.0f64);
    let mut open = false;
    for finding in findings {
        match &finding.outcome {
            GateDecision::Within => {}
            GateDecision::NotResolved { minutes_more } => {
                open = true;
                minutes = minutes.zip(*minutes_more).map(|(a, b)| a.max(b));
            }
            GateDecision::Above | GateDecision::Invalid(_) => return finding.outcome.clone(),
        }
    }
    if open {
        GateDecision::NotResolved { minutes_more: minutes }
    } else {
        GateDecision::Within
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_have_stars_and_question_marks() {
        assert!(matches("*", "") && matches("hummer/*", "hummer/4-3-3") && matches("*-c?ld", "like-cold"));
        assert!(matches("a*b*c", "aXbYbc") && matches("like", "like"));
        assert!(!matches("hummer/*", "like") && !matches("?", "") && !matches("a*b", "ac") && !matches("", "a"));
    }
}
