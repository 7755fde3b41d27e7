//! Comparison with a recorded study: whether the cost has increased.

use super::{Finding, GateDecision, GateResult, Question, chosen, relevant, together};
use crate::disqualification::{SESSIONS_MIN, disqualifications};
use crate::summary::{Effect, Summary};

/// Compares with a recorded study. A chosen cell is worse if its interval is above the whole
/// recorded one, so that the difference exceeds the uncertainty of both. The limit of the question
/// is not used.
#[must_use]
pub fn judge_recorded(summary: &Summary, recorded: &Summary, question: &Question) -> GateResult {
    let (arms, cells, mut reasons) = chosen(summary, question);
    let flawed = disqualifications(summary);
    let flawed = flawed.iter().filter(|reason| relevant(reason, &arms));
    reasons.extend(flawed.map(ToString::to_string));
    let mut findings = Vec::new();
    for arm in &arms {
        for cell in &cells {
            let of = |summary: &Summary| -> Option<Effect> {
                let cell = summary.cells.iter().find(|other| other.name == cell.name)?;
                let mut effects = cell.effects.iter();
                let found = effects.find(|effect| effect.arm == *arm && effect.metric == question.metric);
                found.cloned()
            };
            match (of(summary), of(recorded)) {
                (Some(now), Some(before)) => findings.push(finding(&cell.name, &now, &before)),
                (None, _) => reasons.push(format!("{arm} has no figure of it in {}", cell.name)),
                (_, None) => reasons.push(format!("{arm} has no recorded figure of it in {}", cell.name)),
            }
        }
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

fn finding(cell: &str, now: &Effect, before: &Effect) -> Finding {
    let enough = now.sessions >= SESSIONS_MIN && before.sessions >= SESSIONS_MIN;
    let outcome = match (now.interval, before.interval) {
        (Some((low, _)), Some((_, high))) if enough => match low > high {
            true => GateDecision::Above,
            false => GateDecision::Within,
        },
        _ => GateDecision::NotResolved { minutes_more: None },
    };
    Finding {
        cell: cell.to_owned(),
        arm: now.arm.clone(),
        ratio: now.ratio,
        interval: now.interval,
        recorded: Some((before.ratio, before.interval)),
        outcome,
    }
}
