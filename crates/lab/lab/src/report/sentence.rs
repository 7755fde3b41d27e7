//! The results of a study in sentences, which all reports share.

use crate::disqualification::{Disqualification, SESSIONS_MIN};
use crate::summary::{ArmRole, CellSummary, Effect, Metric, Overall, StudyState, Summary, Verdict};

use super::number;

/// The name of a metric within a sentence.
pub fn metric(metric: Metric) -> &'static str {
    match metric {
        Metric::Instructions => "instructions",
        Metric::Cpu => "CPU",
        Metric::ReadChars => "bytes requested by reads",
        Metric::WriteChars => "bytes passed to writes",
        Metric::ReadCalls => "calls that read",
        Metric::WriteCalls => "calls that write",
        Metric::ReadBytes => "bytes read from storage",
        Metric::WriteBytes => "bytes sent to storage",
        Metric::Elapsed => "elapsed time",
        Metric::Checkpoint => "checkpoint",
        Metric::Switches => "context switches",
        Metric::Faults => "page faults",
        Metric::DatabaseBytes => "size of the database",
        Metric::WalBytes => "size of the log",
        Metric::PeakMemory => "peak memory",
        Metric::ArchiveBytes => "size of the backup",
        Metric::Slowdown => "time of a loop while pages are re-encrypted",
        Metric::Aftermath => "time of a loop afterwards",
        Metric::TailSlowdown => "99th percentile of latency while pages are re-encrypted",
    }
}

/// A metric's value in its unit.
pub fn value(metric: Metric, value: f64) -> String {
    match metric {
        Metric::Cpu | Metric::Elapsed | Metric::Checkpoint => number::duration(value),
        Metric::ReadChars
        | Metric::WriteChars
        | Metric::ReadBytes
        | Metric::WriteBytes
        | Metric::DatabaseBytes
        | Metric::WalBytes
        | Metric::PeakMemory
        | Metric::ArchiveBytes => number::bytes(value),
        Metric::Instructions | Metric::ReadCalls | Metric::WriteCalls | Metric::Switches | Metric::Faults => {
            number::count(value)
        }
        // The value is a ratio already.
        Metric::Slowdown | Metric::Aftermath | Metric::TailSlowdown => number::percent(value - 1.0),
    }
}

/// A verdict in a word or two.
pub fn state(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Within { inside_floor: true } => "within floor",
        Verdict::Within { inside_floor: false } => "within",
        Verdict::Above => "above",
        Verdict::NotResolved { .. } => "not resolved",
    }
}

/// The cost of an arm and its verdict: one sentence.
pub fn overall(summary: &Summary, overall: &Overall) -> String {
    let name = metric(overall.metric);
    let cost = cost(summary, overall, name);
    let limit = number::share(summary.study.limit);
    match overall.verdict {
        Verdict::Above if overall.cells.len() > 1 => format!("{cost}; above the limit of {limit}"),
        Verdict::Above => format!("{cost}; above the limit of {limit}"),
        Verdict::Within { inside_floor: true } => {
            format!("{cost}; within the limit of {limit}, not distinguishable from a second unencrypted copy")
        }
        Verdict::Within { inside_floor: false } if overall.cells.len() > 1 => {
            format!("{cost}; within the limit of {limit} in every gating cell")
        }
        Verdict::Within { inside_floor: false } => format!("{cost}; within the limit of {limit}"),
        Verdict::NotResolved { minutes_more } => format!("{cost}; {}", not_resolved(summary, &limit, minutes_more)),
    }
}

/// The cost of an arm, without the verdict.
pub fn figures(summary: &Summary, overall: &Overall) -> String {
    cost(summary, overall, metric(overall.metric))
}

fn cost(summary: &Summary, overall: &Overall, name: &str) -> String {
    let arm = &overall.arm;
    if let [only] = overall.cells.as_slice() {
        let effect = effect(summary, only, arm, overall.metric);
        let ratio = effect.map_or(overall.dearest.1, |effect| effect.ratio);
        let interval = effect.and_then(|effect| effect.interval);
        return format!(
            "{arm} costs {} in {}",
            ratio_of(ratio, interval, name),
            cell_label(summary, only)
        );
    }
    match &overall.pooled {
        Some(pooled) if pooled.p_same >= 0.05 => {
            format!("{arm} costs {} over all", ratio_of(pooled.ratio, pooled.interval, name))
        }
        _ => {
            let (dearest, most) = &overall.dearest;
            let interval = effect(summary, dearest, arm, overall.metric).and_then(|effect| effect.interval);
            let ends = interval
                .map(|ends| format!(" {}", number::interval(ends)))
                .unwrap_or_default();
            let label = cell_label(summary, dearest);
            let (least, most) = (number::percent(overall.cheapest.1), number::percent(*most));
            format!("{arm} costs from {least} to {most}{ends} {name}, most in {label}")
        }
    }
}

/// `+12.3 % CPU [10.1, 14.5]`.
fn ratio_of(ratio: f64, interval: Option<(f64, f64)>, name: &str) -> String {
    let ends = interval
        .map(|ends| format!(" {}", number::interval(ends)))
        .unwrap_or_default();
    format!("{} {name}{ends}", number::percent(ratio))
}

fn not_resolved(summary: &Summary, limit: &str, minutes_more: Option<f64>) -> String {
    let more = minutes_more
        .map(|minutes| {
            let sessions = sessions_of(summary, minutes);
            let sessions = sessions.map_or_else(String::new, |count| match count {
                ..=1 => " (1 session)".to_owned(),
                count => format!(" ({count} sessions)"),
            });
            format!(
                ": about {} more of measurement are needed{sessions}",
                number::minutes(minutes)
            )
        })
        .unwrap_or_default();
    format!("not yet clear whether this exceeds the {limit} limit{more}")
}

/// The number of sessions in so many minutes, at the duration of the previous ones.
#[expect(
    clippy::cast_possible_truncation,
    reason = "at most 10,000 sessions are forecast; the cast saturates"
)]
fn sessions_of(summary: &Summary, minutes: f64) -> Option<i64> {
    let each = summary.study.session_s.filter(|seconds| *seconds > 0.0)?;
    Some((minutes * 60.0 / each).round() as i64)
}

/// A sentence about the study's extension and its effect on intervals; none if it was not extended.
pub fn extended(summary: &Summary) -> Option<String> {
    let extensions = &summary.study.extensions;
    let first = extensions.first()?;
    let times = match extensions.len() {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        count => format!("{count} times"),
    };
    let added: Vec<String> = extensions.iter().map(|one| one.sessions.to_string()).collect();
    let added = match added.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and then {last}", rest.join(", then ")),
        Some(_) | None => added.concat(),
    };
    let noun = match extensions.last() {
        Some(last) if last.sessions == 1 => "session",
        Some(_) | None => "sessions",
    };
    let lacks_interval = |effect: &Effect| effect.interval.is_none();
    let missing = match summary.cells.iter().flat_map(|cell| &cell.effects).any(lacks_interval) {
        true => " An effect without an interval has fewer sessions than a confidence sequence needs.",
        false => "",
    };
    Some(format!(
        "This study was extended {times} after its end, when its effects could be seen: from {} sessions by {added} \
         {noun}. Its 95 % intervals are therefore confidence sequences, which are wider than t intervals but hold \
         however often a study is extended.{missing}",
        first.from
    ))
}

/// The metric of an arm over its gating cells, as a sentence without a verdict.
pub fn range(summary: &Summary, arm: &str, which: Metric) -> Option<String> {
    let gating = summary.cells.iter().filter(|cell| cell.gating);
    let effects: Vec<&Effect> = gating
        .filter_map(|cell| effect(summary, &cell.name, arm, which))
        .collect();
    let low = effects.iter().map(|effect| effect.ratio).fold(f64::INFINITY, f64::min);
    let high = effects
        .iter()
        .map(|effect| effect.ratio)
        .fold(f64::NEG_INFINITY, f64::max);
    let name = metric(which);
    let mut letters = name.chars();
    let name = letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect::<String>())?;
    match effects.as_slice() {
        [] => None,
        [only] => Some(format!("{name} {}.", number::estimate(only.ratio, only.interval))),
        _ => Some(format!("{name} {} to {}.", number::percent(low), number::percent(high))),
    }
}

/// CPU cost of an arm per page, over the gating cells whose interval excludes 0: the range of estimates.
pub fn per_page(summary: &Summary, arm: &str) -> Option<(f64, f64)> {
    if summary.study.sessions < SESSIONS_MIN {
        return None;
    }
    let gating = summary.cells.iter().filter(|cell| cell.gating);
    let effects = gating.filter_map(|cell| effect(summary, &cell.name, arm, Metric::Cpu));
    let sure = effects
        .filter_map(|effect| effect.per_page_ns)
        .filter(|(_, low, high)| *low > 0.0 || *high < 0.0);
    sure.map(|(center, ..)| center).fold(None, |ends, value| match ends {
        None => Some((value, value)),
        Some((low, high)) => Some((value.min(low), value.max(high))),
    })
}

/// The difference between an arm and suite NONE, if the study has it.
pub fn against_none(effect: &Effect) -> String {
    let none = effect.against_none.as_ref();
    none.map_or_else(String::new, |none| number::estimate(none.ratio, none.interval))
}

/// The effect of an arm in a cell.
pub fn effect<'a>(summary: &'a Summary, cell: &str, arm: &str, metric: Metric) -> Option<&'a Effect> {
    let cell = summary.cells.iter().find(|facts| facts.name == cell)?;
    effect_in(cell, arm, metric)
}

/// The effect of an arm in this cell.
pub fn effect_in<'a>(cell: &'a CellSummary, arm: &str, metric: Metric) -> Option<&'a Effect> {
    cell.effects
        .iter()
        .find(|effect| effect.arm == arm && effect.metric == metric)
}

/// Names of the arms that are shown, in order: the encrypted ones; in a study without any, the
/// second unencrypted copy.
pub fn shown(summary: &Summary) -> Vec<&str> {
    let of = |role| {
        let arms = summary.arms.iter().filter(move |arm| arm.role == role);
        arms.map(|arm| arm.name.as_str()).collect::<Vec<_>>()
    };
    match of(ArmRole::Encrypted) {
        arms if arms.is_empty() => of(ArmRole::Floor),
        arms => arms,
    }
}

/// Names of the encrypted arms, in order.
pub fn encrypted(summary: &Summary) -> Vec<&str> {
    let arms = summary.arms.iter().filter(|arm| arm.role == ArmRole::Encrypted);
    arms.map(|arm| arm.name.as_str()).collect()
}

/// The display name of a cell.
pub fn cell_label<'a>(summary: &'a Summary, name: &'a str) -> &'a str {
    summary
        .cells
        .iter()
        .find(|cell| cell.name == name)
        .map_or(name, |cell| cell.label.as_str())
}

/// Why there is no verdict.
pub fn no_verdict(disqualifications: &[Disqualification]) -> String {
    let reasons: Vec<String> = disqualifications.iter().map(Disqualification::to_string).collect();
    format!("This study bears no verdict: {}.", reasons.join("; "))
}

/// A remark as a complete sentence.
pub fn statement(remark: &str) -> String {
    let mut letters = remark.trim().chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    let rest = letters.as_str();
    let end = if rest.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{rest}{end}")
}

/// The reason of a study's end.
pub fn ending(state: StudyState) -> &'static str {
    match state {
        StudyState::Unfinished => "it has not ended",
        StudyState::Precise => "every gating interval was as narrow as asked",
        StudyState::Complete => "all planned sessions were done",
        StudyState::OutOfBudget => "its time was up",
        StudyState::Stopped => "it was told to stop",
    }
}

/// The role of cells in a verdict.
pub const HOLM: &str = "An arm is within the limit if it is within in every gating cell, which needs no correction. \
    It is above if one gating cell is: there the chance of a false alarm grows with the cells, so that a gating cell is \
    called above only if it still is after Holm's correction over the gating cells of that arm. Other cells are \
    exploratory: their intervals are not corrected.";

/// The gating cells that are not resolved although their interval excludes the limit, if there are any.
pub fn corrected(summary: &Summary) -> Option<String> {
    let limit = summary.study.limit;
    let mut found = Vec::new();
    for cell in summary.cells.iter().filter(|cell| cell.gating) {
        let effects = cell.effects.iter().filter(|effect| effect.metric == cell.judged());
        let open = effects.filter(|effect| matches!(effect.verdict, Verdict::NotResolved { .. }));
        let clear = open.filter(|effect| effect.interval.is_some_and(|(low, _)| low > limit));
        found.extend(clear.map(|effect| format!("{} in {}", effect.arm, cell.label)));
    }
    if found.is_empty() {
        return None;
    }
    let found = found.join("; ");
    Some(format!(
        "Not resolved after Holm's correction for several gating cells, though the interval is above the limit: {found}."
    ))
}

/// The method of the figures.
pub fn method(summary: &Summary) -> String {
    let interval = match summary.study.extensions.is_empty() {
        true => "95 % t interval",
        false => "95 % confidence sequence",
    };
    METHOD.replace("INTERVAL", interval)
}

const METHOD: &str = "A pair is a block of the encrypted arm and one of its control, of the same work, minutes apart at \
    most; which came first was drawn. Within a session the effect is the Hodges-Lehmann estimate of \
    ln(encrypted / plain); sessions, which have new copies and new processes, are what counts: the interval is a INTERVAL across \
    them. Ratios are (encrypted - plain) / plain. No outlier is left out.";
