//! A prediction for people: as text here, as a page in `html/plan.rs`.

use std::fmt::Write;

use selenite_plan::predict::{OperationCost, WhatIf};
use selenite_plan::{Prediction, predict::Estimate};

use super::number;

/// The prediction as text, of lines of at most 100 columns but for names.
#[must_use]
pub fn text(prediction: &Prediction) -> String {
    let mut out = format!("{}\n", verdict(prediction));
    for line in &prediction.observed {
        let _ = writeln!(out, "  observed: {line}");
    }
    if !prediction.parts.is_empty() {
        let [operation, amount, each, cores] = HEAD;
        let _ = writeln!(out, "\n{operation:24} {amount:>12} {each:>26} {cores:>28}");
    }
    for part in &prediction.parts {
        let [operation, amount, each, cores] = row(part);
        let _ = writeln!(out, "{operation:24} {amount:>12} {each:>26} {cores:>28}");
    }
    for (name, text) in statements(prediction) {
        let _ = write!(out, "\n{name}\n{}", wrapped(&text));
    }
    if !prediction.warnings.is_empty() {
        out.push_str("\nAssumptions and limits\n");
        for warning in &prediction.warnings {
            out.push_str(&wrapped(warning));
        }
    }
    out
}

/// The answer, and what it holds for.
fn verdict(prediction: &Prediction) -> String {
    format!("{} {}", answer(prediction), conditions(prediction))
}

/// The answer in one sentence.
pub(super) fn answer(prediction: &Prediction) -> String {
    let question = &prediction.question;
    let what = match &question.tls {
        Some(tls) => format!("{} and {tls} take", question.cipher),
        None => format!("{} takes", question.cipher),
    };
    let mut text = format!(
        "{what} {} of {} cores",
        share(prediction.added_share),
        short(prediction.cores)
    );
    let _ = write!(text, " ({} cores)", figures(prediction.added_cores));
    if let Some(usage) = prediction.added_to_usage {
        let _ = write!(text, ": {} of the CPU time in use now", share(usage));
    }
    text.push('.');
    if let Some(saturation) = prediction.saturation {
        let may = if saturation.served.value < 1.0 { "is" } else { "may be" };
        let _ = write!(
            text,
            " The machine {may} saturated: it serves {} of this load",
            share(saturation.served)
        );
        if let Some(requests) = saturation.requests {
            let _ = write!(text, ", {} requests a second", figures(requests));
        }
        text.push('.');
    }
    text
}

/// What the brackets of the answer are, and what is changed beside the encryption.
pub(super) fn conditions(prediction: &Prediction) -> String {
    let mut text = "Brackets are 90 % intervals.".to_owned();
    if let Some(changes) = changes(&prediction.question.what_if) {
        let _ = write!(text, " What if: {changes}");
        if !prediction.assumed.is_empty() {
            let _ = write!(text, ", so {}", prediction.assumed.join(" and "));
        }
        text.push('.');
    }
    text
}

/// What is changed beside the encryption.
fn changes(what_if: &WhatIf) -> Option<String> {
    let unchanged = WhatIf::default();
    let mut changes = Vec::new();
    if what_if.load != unchanged.load {
        changes.push(format!("the load times {}", short(what_if.load)));
    }
    if what_if.reads != unchanged.reads {
        changes.push(format!("physical reads times {}", short(what_if.reads)));
    }
    if let Some(size) = what_if.page_size {
        changes.push(format!("pages of {size} bytes"));
    }
    (!changes.is_empty()).then(|| changes.join(", "))
}

/// The heads of [`row`].
pub(super) const HEAD: [&str; 4] = ["operation", "a second", "each, added", "cores, added"];

/// What an operation adds.
pub(super) fn row(part: &OperationCost) -> [String; 4] {
    [
        part.operation.name().to_owned(),
        rate(part.amount.count),
        numbers(part.each_ns, number::duration),
        figures(part.cores),
    ]
}

/// All else that was predicted: names and sentences.
pub(super) fn statements(prediction: &Prediction) -> Vec<(&'static str, String)> {
    let mut all = times(prediction);
    all.extend(space_and_formula(prediction));
    all
}

/// Response times, throughput, and the section that serializes commits.
fn times(prediction: &Prediction) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    if let Some(latency) = prediction.latency {
        let ms = |value: f64| number::duration(value * 1e6);
        all.push((
            "Response time of requests (CPU and waiting for it; not the disk), modelled",
            format!(
                "p50 {} + {}; p99 {} + {}. Cores are busy {} of the time without encryption, {} with it.",
                ms(latency.p50_ms),
                numbers(latency.p50_added_ms, ms),
                ms(latency.p99_ms),
                numbers(latency.p99_added_ms, ms),
                number::share(latency.utilization),
                share(latency.utilization_after)
            ),
        ));
    }
    if let Some(throughput) = prediction.throughput {
        let text = format!("{} of today's.", share(throughput));
        all.push(("Greatest throughput, where the cores limit it", text));
    }
    if let Some(serialized) = prediction.serialized {
        let demand = match serialized.share_after.high > 1.0 {
            true => " It is a demand: at 100 %, commits are saturated.",
            false => "",
        };
        all.push((
            "The section in which commits are one after the other",
            format!(
                "Held {} of the time without encryption, {} with it, if all that a commit encrypts is within it.{demand} The greatest rate of commits is {} of today's.",
                number::share(serialized.share),
                share(serialized.share_after),
                share(serialized.commits_max)
            ),
        ));
    }
    all
}

/// The conversion, the network, the formula, and what the intervals come from.
fn space_and_formula(prediction: &Prediction) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    if let Some(conversion) = prediction.conversion {
        let time = conversion.seconds.map_or_else(
            || "Its time was not calibrated".to_owned(),
            |seconds| {
                let seconds = numbers(seconds, |seconds| number::duration(seconds * 1e9));
                format!("{seconds}, where the disk is no slower than the calibrated one")
            },
        );
        let mib = |mib: f64| number::bytes(mib * 1024.0 * 1024.0);
        all.push((
            "Encrypting the database once",
            format!(
                "{time}. The encrypted database has {}, which are needed beside the old one until it is done.",
                mib(conversion.encrypted_mib)
            ),
        ));
    }
    if let Some(backup) = prediction.backup {
        let added = numbers(backup.added_seconds, |seconds| number::duration(seconds * 1e9));
        all.push((
            "A full backup",
            format!(
                "{} of CPU time in clear by SQLite's backup API, {added} more when encrypted, for a copy of {}.",
                number::duration(backup.plain_seconds * 1e9),
                number::bytes(backup.mib * 1024.0 * 1024.0)
            ),
        ));
    }
    if let Some(kib) = prediction.network_kib {
        let text = format!(
            "{} a second more, for records' headers and tags.",
            number::bytes(kib * 1024.0)
        );
        all.push(("Network", text));
    }
    if let Some(formula) = &prediction.formula {
        all.push((
            "The formula of reads alone",
            format!(
                "{} MB read a second, by {} MB that a core decrypts in a second, on {} cores: {} % of the machine. The prediction above is {} %: it has what the formula leaves out, {}.",
                short(formula.read_mb),
                short(formula.decrypted_mb),
                short(prediction.cores),
                short(formula.percent),
                short(formula.percent + formula.left_out_percent),
                listed(&formula.left_out)
            ),
        ));
    }
    if prediction.parts.iter().any(|part| part.each_ns.low < 0.0) {
        all.push((
            "Operations that cost less",
            "Below zero, Selenite saves more than its cipher takes: it writes the frames of a commit together. Where an interval has zero in it, neither a cost nor a saving was resolved."
                .to_owned(),
        ));
    }
    if prediction.added_cores.low < prediction.added_cores.high {
        let shares = prediction
            .uncertainty
            .iter()
            .map(|(name, of)| format!("{name} {:.0} %", of * 100.0));
        all.push((
            "What makes the interval wide",
            format!("{}.", shares.collect::<Vec<_>>().join(", ")),
        ));
    }
    all
}

/// A value with its 90 % interval.
pub(super) fn numbers(estimate: Estimate, text: impl Fn(f64) -> String) -> String {
    format!(
        "{} [{}, {}]",
        text(estimate.value),
        text(estimate.low),
        text(estimate.high)
    )
}

/// A value with its 90 % interval, without digits that are not known.
pub(super) fn figures(estimate: Estimate) -> String {
    numbers(estimate, |value| known_digits(value, estimate.high - estimate.low))
}

fn share(estimate: Estimate) -> String {
    let percent = estimate.times(100.0);
    let text = |value| known_digits(value, percent.high - percent.low);
    format!(
        "{} % [{}, {}]",
        text(percent.value),
        text(percent.low),
        text(percent.high)
    )
}

/// A value to the place of the second digit of its interval's width, and at most six digits behind the point.
fn known_digits(value: f64, width: f64) -> String {
    if width <= value.abs() * WIDTH_MIN {
        return short(value);
    }
    // One more than enough for the narrowest and the widest intervals.
    let units = (-6..=9).map(|place| (place, 10_f64.powi(place)));
    let (place, unit) = units
        .rev()
        .find(|(_, unit)| *unit * 10.0 <= width)
        .unwrap_or((-6, 1e-6));
    let decimals = usize::try_from(-place).unwrap_or(0);
    let rounded = if place > 0 {
        (value / unit).round() * unit
    } else {
        value
    };
    number::fixed(rounded, decimals)
}

fn rate(count: f64) -> String {
    match count {
        _ if count < 10.0 => short(count),
        _ => number::count(count),
    }
}

/// Three digits that count, and no more than six behind the point.
pub(super) fn short(value: f64) -> String {
    let digits = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        size if size >= 0.1 => 3,
        size if size >= 0.01 => 4,
        size if size >= 0.001 => 5,
        _ => 6,
    };
    let text = format!("{value:.digits$}");
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

fn listed(words: &[String]) -> String {
    match words {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// Lines of at most 98 columns, two of them indentation.
fn wrapped(text: &str) -> String {
    let mut out = String::new();
    let mut line = String::from(" ");
    for word in text.split(' ') {
        if line.len() + 1 + word.len() > WIDTH && line.len() > 1 {
            let _ = writeln!(out, "{line}");
            line = String::from(" ");
        }
        line.push(' ');
        line.push_str(word);
    }
    let _ = writeln!(out, "{line}");
    out
}

const WIDTH: usize = 98;
/// Draws of the same differ by the rounding of sums.
const WIDTH_MIN: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_that_count() {
        for (value, text) in [
            (0.0, "0"),
            (-0.000_000_1, "0"),
            (0.000_123_4, "0.000123"),
            (0.0625, "0.0625"),
            (6.25, "6.25"),
            (1234.5, "1234"),
            (99.95, "100"),
            (10.04, "10"),
        ] {
            assert_eq!(short(value), text, "{value}");
        }
    }

    #[test]
    fn lines_are_broken_between_words() {
        let text = wrapped(&"word ".repeat(60));
        assert!(
            text.lines()
                .all(|line| line.len() <= WIDTH && line.starts_with("  word"))
        );
        assert_eq!(text.matches("word").count(), 60);
    }
}
