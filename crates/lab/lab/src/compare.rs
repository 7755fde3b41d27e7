//! Comparison of two studies: whether the cost of encryption has changed.
//!
//! Effects are compared, which have their own controls: a comparison across two machines is
//! possible, with a warning.

use std::fmt;

use selenite_stats::t_quantile;
use serde::Serialize;

use crate::summary::{ArmRole, Effect, Metric, SUMMARY_SCHEMA, Summary};

/// Why two summaries cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompareError {
    /// One has another version of the model.
    OtherSchema(u32),
    /// They have no cell, arm and metric in common.
    NothingInCommon,
}

impl fmt::Display for CompareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherSchema(schema) => {
                write!(
                    f,
                    "a summary of schema {schema}, but this program supports {SUMMARY_SCHEMA}: export it again from its store"
                )
            }
            Self::NothingInCommon => write!(f, "these studies have no cell and arm in common"),
        }
    }
}

impl std::error::Error for CompareError {}

/// Two studies, compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Differences between the studies other than time.
    pub warnings: Vec<String>,
    /// The effects that both have.
    pub changes: Vec<Change>,
    /// Cells and arms that only one of them has.
    pub alone: Vec<String>,
}

/// The change of an effect.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The cell.
    pub cell: String,
    /// The arm.
    pub arm: String,
    /// The metric.
    pub metric: Metric,
    /// The ratio in the first study, with its interval.
    pub before: (f64, Option<(f64, f64)>),
    /// The ratio in the second one, with its interval.
    pub after: (f64, Option<(f64, f64)>),
    /// (1 + after) / (1 + before) - 1: the difference of the logarithms.
    pub change: f64,
    /// Its 95 % interval, by Welch's t across sessions; none if one study has fewer than two.
    pub interval: Option<(f64, f64)>,
    /// Whether the interval excludes no change.
    pub resolved: bool,
}

/// Compares the second summary with the first, for the given metrics.
///
/// Errors: `OtherSchema`, `NothingInCommon`.
pub fn compare(first: &Summary, second: &Summary, metrics: &[Metric]) -> Result<Comparison, CompareError> {
    if let Some(other) = [first, second]
        .into_iter()
        .find(|summary| summary.schema != SUMMARY_SCHEMA)
    {
        return Err(CompareError::OtherSchema(other.schema));
    }
    let encrypted = |name: &str| {
        first
            .arms
            .iter()
            .any(|arm| arm.name == name && arm.role == ArmRole::Encrypted)
    };
    let mut changes = Vec::new();
    for cell in &first.cells {
        let Some(other) = second.cells.iter().find(|other| other.name == cell.name) else {
            continue;
        };
        for before in cell
            .effects
            .iter()
            .filter(|effect| metrics.contains(&effect.metric) && encrypted(&effect.arm))
        {
            let same = |after: &&Effect| after.arm == before.arm && after.metric == before.metric;
            changes.extend(
                other
                    .effects
                    .iter()
                    .find(same)
                    .map(|after| change(&cell.name, before, after)),
            );
        }
    }
    if changes.is_empty() {
        return Err(CompareError::NothingInCommon);
    }
    Ok(Comparison {
        warnings: warnings(first, second),
        changes,
        alone: alone(first, second),
    })
}

fn change(cell: &str, before: &Effect, after: &Effect) -> Change {
    let center = after.ratio.ln_1p() - before.ratio.ln_1p();
    let interval = welch(&logs(before), &logs(after));
    Change {
        cell: cell.to_owned(),
        arm: before.arm.clone(),
        metric: before.metric,
        before: (before.ratio, before.interval),
        after: (after.ratio, after.interval),
        change: center.exp_m1(),
        interval: interval.map(|(low, high)| (low.exp_m1(), high.exp_m1())),
        resolved: interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0),
    }
}

fn logs(effect: &Effect) -> Vec<f64> {
    effect.by_session.iter().map(|(_, ratio)| ratio.ln_1p()).collect()
}

/// The interval of the difference of two means whose variances may differ.
fn welch(before: &[f64], after: &[f64]) -> Option<(f64, f64)> {
    let ((a, a_error, a_freedom), (b, b_error, b_freedom)) = (moments(before)?, moments(after)?);
    let error = a_error + b_error;
    if error <= 0.0 {
        return Some((b - a, b - a));
    }
    let freedom = error * error / (a_error * a_error / a_freedom + b_error * b_error / b_freedom);
    let half = t_quantile(0.975, freedom)? * error.sqrt();
    Some((b - a - half, b - a + half))
}

/// Mean, squared standard error, degrees of freedom.
fn moments(values: &[f64]) -> Option<(f64, f64, f64)> {
    let count = f64::from(u32::try_from(values.len()).ok().filter(|count| *count > 1)?);
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((mean, squares / (count - 1.0) / count, count - 1.0))
}

fn warnings(first: &Summary, second: &Summary) -> Vec<String> {
    let mut warnings = Vec::new();
    for (which, summary) in [("first", first), ("second", second)] {
        warnings.extend(
            crate::disqualification::disqualifications(summary)
                .iter()
                .map(|reason| format!("the {which} study: {reason}")),
        );
    }
    for (which, summary) in [("first", first), ("second", second)] {
        if !summary.study.extensions.is_empty() {
            warnings.push(format!(
                "the {which} study was extended after its end: the intervals of changes do not allow for that"
            ));
        }
    }
    for (name, value) in &first.host.facts {
        let other = second
            .host
            .facts
            .iter()
            .find(|(other, _)| other == name)
            .map(|(_, value)| value);
        if other != Some(value) {
            let other = other.map_or("unknown", String::as_str);
            warnings.push(format!("the machines differ in {name}: {value}, then {other}"));
        }
    }
    let (a, b) = (&first.study, &second.study);
    if a.commit != b.commit || a.lab_version != b.lab_version {
        warnings.push(format!(
            "the programs differ: {} {}, then {} {}",
            a.lab_version, a.commit, b.lab_version, b.commit
        ));
    }
    if a.config_sha256 != b.config_sha256 {
        warnings.push("the configurations differ".to_owned());
    }
    if layout(&a.config) != layout(&b.config) {
        warnings.push("the layouts differ: page size, cache, journal or syncs".to_owned());
    }
    for arm in &first.arms {
        let other = second.arms.iter().find(|other| other.name == arm.name);
        if let Some(other) = other.filter(|other| (&other.library, &other.cipher) != (&arm.library, &arm.cipher)) {
            warnings.push(format!(
                "{} is another: {} {}, then {} {}",
                arm.name, arm.library, arm.cipher, other.library, other.cipher
            ));
        }
    }
    warnings
}

/// The layout of a configuration, if the configuration is valid TOML.
fn layout(config: &str) -> Option<toml::Value> {
    config.parse::<toml::Table>().ok()?.get("layout").cloned()
}

fn alone(first: &Summary, second: &Summary) -> Vec<String> {
    let mut alone = Vec::new();
    for (which, one, other) in [("first", first, second), ("second", second, first)] {
        let cells = one
            .cells
            .iter()
            .filter(|cell| other.cells.iter().all(|known| known.name != cell.name));
        alone.extend(cells.map(|cell| format!("cell {}: only in the {which} study", cell.name)));
        let arms = one
            .arms
            .iter()
            .filter(|arm| other.arms.iter().all(|known| known.name != arm.name));
        alone.extend(arms.map(|arm| format!("arm {}: only in the {which} study", arm.name)));
    }
    alone
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for warning in &self.warnings {
            writeln!(f, "note: {warning}")?;
        }
        for change in &self.changes {
            let [before, after] =
                [&change.before, &change.after].map(|(ratio, ends)| crate::report::estimate(*ratio, *ends));
            let state = if change.resolved { "resolved" } else { "not resolved" };
            let by = crate::report::estimate(change.change, change.interval);
            let metric = crate::report::metric(change.metric);
            writeln!(f, "{}, {}, {metric}: {before}, then {after}", change.cell, change.arm)?;
            writeln!(f, "    change {by}: {state}")?;
        }
        for alone in &self.alone {
            writeln!(f, "note: {alone}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn welch_intervals_agree_with_r() {
        // R: t.test(c(4,5,6,7), c(1,2,3)): 1.30 to 5.70, df = 4.87 (signs as after - before).
        let (low, high) = welch(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0, 7.0]).unwrap();
        assert!((f64::midpoint(low, high) - 3.5).abs() < 1e-12);
        assert!(low > 1.2 && low < 1.4 && high > 5.6 && high < 5.8, "{low} {high}");
        assert_eq!(welch(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(welch(&[1.0, 1.0], &[3.0, 3.0]), Some((2.0, 2.0)));
    }
}
