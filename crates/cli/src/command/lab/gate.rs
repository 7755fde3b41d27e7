//! `selenite lab gate`.

use selenite_lab::gate::{Question, judge, judge_recorded};
use selenite_lab::summary::Metric;

use super::{summary, usage};
use crate::arguments::lab::LabGate;
use crate::cli_error::CliError;
use crate::output::print;

pub fn run(arguments: &LabGate) -> Result<(), CliError> {
    let limit = arguments.fail_above.as_deref().map_or(Ok(0.0), |text| {
        let wrong = || usage(format!("`{text}` is not a percentage"), "give one such as 3%");
        percent(text).ok_or_else(wrong)
    })?;
    let found = summary(&arguments.store)?;
    let question = Question {
        limit,
        metric: arguments.metric.as_deref().map_or(Ok(found.judged()), metric)?,
        cells: arguments.cells.clone(),
        arm: arguments.arm.clone(),
    };
    let answer = match &arguments.against {
        Some(recorded) => judge_recorded(&found, &summary(recorded)?, &question),
        None => judge(&found, &question),
    };
    print(&answer.to_string())?;
    match answer.outcome.exit_code() {
        0 => Ok(()),
        code => Err(CliError::Answer(code)),
    }
}

/// Parses a percentage as a ratio; it may be negative, but must be above -100 %.
pub fn percent(text: &str) -> Option<f64> {
    let number: f64 = text.strip_suffix('%')?.trim_end().parse().ok()?;
    (number.is_finite() && number > -100.0).then_some(number / 100.0)
}

/// Parses the JSON name of a metric.
pub fn metric(name: &str) -> Result<Metric, CliError> {
    serde_json::from_value(serde_json::Value::String(name.to_owned()))
        .map_err(|_| usage(format!("unknown metric `{name}`"), "see selenite lab gate --help"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_may_be_below_zero() {
        assert_eq!((percent("3%"), percent("-5 %")), (Some(0.03), Some(-0.05)));
        assert_eq!((percent("3"), percent("-100%"), percent("nan%")), (None, None, None));
    }
}
