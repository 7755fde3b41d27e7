//! SET of the options that the machine does not keep: carried out, accepted because they change nothing here, or refused.

use std::sync::Arc;

use selenite_compiler::{Ends, PlanError};
use selenite_runtime::machine::Failure;
use selenite_tds::EnvChange;
use selenite_tsql::ast::{Name, SetOption, SetValue};
use selenite_types::{DateFirst, DateFormat, Value};

use super::host::SessionHost;
use super::statistics::Stopwatch;
use crate::instance::LANGUAGE;

/// Carries out a SET.
///
/// # Errors
/// 195 for an unknown option, 40517 for one that is not supported, and what is wrong with its value.
pub(super) fn set(host: &mut SessionHost<'_>, option: &SetOption, value: Option<&Value>) -> Result<(), Failure> {
    match option {
        SetOption::Switch { names, on } => {
            // All of them or none.
            for name in names {
                check_switch(&name.text, *on)?;
            }
            for name in names {
                permit(host, &name.text, *on);
            }
            Ok(())
        }
        SetOption::Statistics { names, on } => statistics(host, names, *on),
        SetOption::IdentityInsert { table, on } => {
            let (executor, execution) = host.execution();
            executor.identity_insert(table, *on, execution)
        }
        SetOption::IsolationLevel(level) => {
            host.state.isolation = *level;
            Ok(())
        }
        SetOption::Value { name, value: written } => {
            let word = match written {
                SetValue::Word(word) => Some(word.text.as_str()),
                SetValue::Value(_) => match value {
                    Some(Value::Text(text)) => Some(text.trim_end()),
                    _ => None,
                },
            };
            set_value(host, name, word, value)
        }
    }
}

/// What can be told of a SET before it runs: whether there is such an option, and whether it is supported.
///
/// # Errors
/// 195, 40517.
pub(super) fn check(option: &SetOption) -> Result<(), PlanError> {
    match option {
        SetOption::Switch { names, on } => names
            .iter()
            .filter(|name| !MACHINE_SWITCHES.iter().any(|known| name.is(known)))
            .try_for_each(|name| check_switch(&name.text, *on)),
        SetOption::Statistics { names, on } => check_statistics(names, *on),
        SetOption::Value { .. } | SetOption::IdentityInsert { .. } | SetOption::IsolationLevel(_) => Ok(()),
    }
}

/// What becomes of a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Effect {
    /// It may be ON and OFF, and its bit of `@@OPTIONS` says so.
    Any(i32),
    /// It may only be ON.
    On(i32),
    /// It may only be OFF.
    Off(i32),
}

fn effect(name: &str) -> Option<Effect> {
    let lower = name.to_ascii_lowercase();
    SWITCHES
        .iter()
        .find(|(known, _)| *known == lower)
        .map(|(_, effect)| *effect)
}

fn check_switch(name: &str, on: bool) -> Result<(), PlanError> {
    match (effect(name), on) {
        (None, _) => Err(unknown_option(name)),
        (Some(Effect::Any(_)), _) | (Some(Effect::On(_)), true) | (Some(Effect::Off(_)), false) => Ok(()),
        (Some(Effect::On(_)), false) => Err(unsupported(&format!("{} OFF", name.to_ascii_uppercase()))),
        (Some(Effect::Off(_)), true) => Err(unsupported(&format!("{} ON", name.to_ascii_uppercase()))),
    }
}

fn permit(host: &mut SessionHost<'_>, name: &str, on: bool) {
    let Some(Effect::Any(bit) | Effect::On(bit) | Effect::Off(bit)) = effect(name) else {
        return;
    };
    let options = &mut host.state.session.options;
    *options = if on { *options | bit } else { *options & !bit };
}

fn check_statistics(names: &[Name], on: bool) -> Result<(), PlanError> {
    for name in names {
        let is_known = ["TIME", "IO", "PROFILE", "XML"].iter().any(|known| name.is(known));
        if !is_known {
            return Err(unknown_option(&format!("STATISTICS {}", name.text)));
        }
        if on && !name.is("TIME") && !name.is("IO") {
            return Err(unsupported(&format!(
                "STATISTICS {} ON",
                name.text.to_ascii_uppercase()
            )));
        }
    }
    Ok(())
}

fn statistics(host: &mut SessionHost<'_>, names: &[Name], on: bool) -> Result<(), Failure> {
    check_statistics(names, on)?;
    for name in names {
        if name.is("TIME") {
            host.stopwatch = on.then(Stopwatch::start);
        }
        if name.is("IO") {
            host.state.statistics_io = on;
        }
    }
    Ok(())
}

fn set_value(
    host: &mut SessionHost<'_>,
    name: &Name,
    word: Option<&str>,
    value: Option<&Value>,
) -> Result<(), Failure> {
    let session = &mut host.state.session;
    match name.text.to_ascii_uppercase().as_str() {
        "ROWCOUNT" => {
            let count = whole(name, value)?;
            host.state.row_count_max = u64::try_from(count).map_err(|_| invalid_value(name))?;
        }
        "TEXTSIZE" => {
            let size = i32::try_from(whole(name, value)?).map_err(|_| invalid_value(name))?;
            session.text_size = match size {
                0 => TEXT_SIZE_DEFAULT,
                size => size.max(-1),
            };
            let size = session.text_size;
            host.reply.set_text_size(size);
        }
        "LOCK_TIMEOUT" => {
            let milliseconds = i32::try_from(whole(name, value)?).map_err(|_| invalid_value(name))?;
            session.lock_timeout_ms = milliseconds.max(-1);
        }
        "DATEFIRST" => {
            let number = whole(name, value)?;
            let first = u8::try_from(number).ok().and_then(DateFirst::new);
            session.date_first = first.ok_or_else(|| date_first(number))?;
        }
        "DATEFORMAT" => {
            let word = word.unwrap_or_default();
            session.date_format = DateFormat::from_name(word).ok_or_else(|| date_format(word))?;
        }
        "LANGUAGE" => return language(host, name, word.unwrap_or_default()),
        "CONTEXT_INFO" => session.context_info = Some(context_info(name, value)?),
        "DEADLOCK_PRIORITY" => deadlock_priority(name, word, value)?,
        "QUERY_GOVERNOR_COST_LIMIT" => {
            if whole(name, value)? != 0 {
                return Err(unsupported("QUERY_GOVERNOR_COST_LIMIT").into());
            }
        }
        _ => return Err(unknown_option(&name.text).into()),
    }
    Ok(())
}

/// The one language, by its name or its alias.
fn language(host: &mut SessionHost<'_>, name: &Name, word: &str) -> Result<(), Failure> {
    if !word.eq_ignore_ascii_case(LANGUAGE) && !word.eq_ignore_ascii_case("English") {
        let text = format!(
            "SET LANGUAGE failed because '{word}' is not an official language name or a language alias on this SQL Server."
        );
        return Err(PlanError::new(2740, Ends::Statement, text).into());
    }
    let session = &mut host.state.session;
    session.language = Arc::from(LANGUAGE);
    session.date_first = DateFirst::default();
    session.date_format = DateFormat::default();
    host.reply.env_change(&EnvChange::Language {
        new: LANGUAGE,
        old: LANGUAGE,
    })?;
    let text = format!("Changed language setting to {LANGUAGE}.");
    Ok(host.reply.info(5703, &text, name.position.line)?)
}

/// Nobody is ever a deadlock's victim here: what the priority is does not matter.
fn deadlock_priority(name: &Name, word: Option<&str>, value: Option<&Value>) -> Result<(), PlanError> {
    let is_known = match word {
        Some(word) => ["LOW", "NORMAL", "HIGH"]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(word)),
        None => (-10..=10).contains(&whole(name, value)?),
    };
    if is_known { Ok(()) } else { Err(invalid_value(name)) }
}

fn context_info(name: &Name, value: Option<&Value>) -> Result<Arc<[u8]>, PlanError> {
    match value {
        Some(Value::Binary(bytes)) if bytes.len() <= CONTEXT_INFO_SIZE => {
            // It always has 128 bytes.
            let mut padded = bytes.to_vec();
            padded.resize(CONTEXT_INFO_SIZE, 0);
            Ok(Arc::from(padded))
        }
        _ => Err(invalid_value(name)),
    }
}

fn whole(name: &Name, value: Option<&Value>) -> Result<i64, PlanError> {
    match value {
        Some(Value::Int(value)) => Ok(i64::from(*value)),
        Some(Value::BigInt(value)) => Ok(*value),
        Some(Value::SmallInt(value)) => Ok(i64::from(*value)),
        Some(Value::TinyInt(value)) => Ok(i64::from(*value)),
        Some(Value::Decimal(value)) if value.scale == 0 => {
            i64::try_from(value.unscaled).map_err(|_| invalid_value(name))
        }
        _ => Err(invalid_value(name)),
    }
}

/// 195: no such option.
fn unknown_option(name: &str) -> PlanError {
    PlanError::new(195, Ends::Batch, format!("'{name}' is not a recognized SET option."))
        .with_severity(15)
        .with_state(5)
}

/// 40517: an option that would change what statements mean.
fn unsupported(what: &str) -> PlanError {
    let text = format!("Keyword or statement option 'SET {what}' is not supported in this version of SQL Server.");
    PlanError::new(40517, Ends::Statement, text)
}

/// 1060's kin: a value that the option does not take.
fn invalid_value(name: &Name) -> PlanError {
    let text = format!(
        "The value for the SET option '{}' is invalid.",
        name.text.to_ascii_uppercase()
    );
    PlanError::new(50_195, Ends::Statement, text)
}

fn date_first(number: i64) -> PlanError {
    PlanError::new(
        2742,
        Ends::Statement,
        format!("SET DATEFIRST {number} is out of range."),
    )
}

fn date_format(word: &str) -> PlanError {
    let text = format!("SET DATEFORMAT date order '{word}' is invalid.");
    PlanError::new(2741, Ends::Statement, text)
}

/// `@@OPTIONS`' bit of QUOTED_IDENTIFIER.
pub(crate) const QUOTED_IDENTIFIER: i32 = 256;
/// What TEXTSIZE 0 means.
const TEXT_SIZE_DEFAULT: i32 = 4096;
const CONTEXT_INFO_SIZE: usize = 128;

/// The switches that the machine keeps: all of them may be ON and OFF.
const MACHINE_SWITCHES: [&str; 3] = ["NOCOUNT", "XACT_ABORT", "IMPLICIT_TRANSACTIONS"];

/// By their names in lower case. An option that may be set either way changes nothing of what is supported.
const SWITCHES: [(&str, Effect); 21] = [
    ("ansi_null_dflt_off", Effect::Off(2048)),
    ("ansi_null_dflt_on", Effect::On(1024)),
    ("ansi_nulls", Effect::On(32)),
    ("ansi_padding", Effect::On(16)),
    ("ansi_warnings", Effect::On(8)),
    // With ANSI_WARNINGS ON they say nothing.
    ("arithabort", Effect::Any(64)),
    ("arithignore", Effect::Any(128)),
    ("concat_null_yields_null", Effect::On(4096)),
    // There are no cursors.
    ("cursor_close_on_commit", Effect::Any(4)),
    ("disable_def_cnst_chk", Effect::Off(1)),
    ("fmtonly", Effect::Off(0)),
    ("forceplan", Effect::Any(0)),
    ("no_browsetable", Effect::Any(0)),
    ("noexec", Effect::Off(0)),
    ("numeric_roundabort", Effect::Off(8192)),
    ("parseonly", Effect::Off(0)),
    ("quoted_identifier", Effect::Any(QUOTED_IDENTIFIER)),
    ("remote_proc_transactions", Effect::Any(0)),
    ("showplan_all", Effect::Off(0)),
    ("showplan_text", Effect::Off(0)),
    ("showplan_xml", Effect::Off(0)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_that_would_change_a_meaning_is_refused_by_its_name() {
        assert_eq!(check_switch("Ansi_Nulls", true), Ok(()));
        let error = check_switch("ansi_nulls", false).unwrap_err();
        assert_eq!(error.number(), 40517);
        assert!(error.text().contains("'SET ANSI_NULLS OFF'"), "{error}");
        assert_eq!(check_switch("fmtonly", true).unwrap_err().number(), 40517);
        assert_eq!(check_switch("no_such_option", true).unwrap_err().number(), 195);
    }

    #[test]
    fn switches_are_in_order_and_in_lower_case() {
        assert!(SWITCHES.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(SWITCHES.iter().all(|(name, _)| name.to_ascii_lowercase() == *name));
    }
}
