//! SET of the options that the machine does not keep: carried out, accepted because they change nothing here, or
//! refused.

use std::sync::Arc;

use selenite_compiler::program::PlanForm;
use selenite_compiler::{Ends, SqlError};
use selenite_runtime::machine::Failure;
use selenite_tds::EnvChange;
use selenite_tsql::ast::{Name, SetOption, SetValue};
use selenite_types::{DateFirst, DateFormat, Value};

use super::statistics::Stopwatch;
use crate::compile::set_option_check::{Effect, check_statistics, check_switch, effect, unknown_option, unsupported};
use crate::instance::LANGUAGE;
use crate::reply::Reply;
use crate::session_state::SessionState;

/// What SET changes.
pub(super) struct SetTarget<'a> {
    pub state: &'a mut SessionState,
    pub reply: &'a mut Reply,
    /// SET STATISTICS TIME; none while it is off.
    pub stopwatch: &'a mut Option<Stopwatch>,
}

/// Carries out a SET.
///
/// # Errors
/// 195 for an unknown option, 40517 for one that is not supported, and what is wrong with its value.
pub(super) fn set(target: &mut SetTarget<'_>, option: &SetOption, value: Option<&Value>) -> Result<(), Failure> {
    match option {
        SetOption::Switch { names, on } => {
            // All of them or none.
            for name in names {
                check_switch(&name.text, *on)?;
            }
            for name in names {
                permit(target, &name.text, *on);
            }
            Ok(())
        }
        SetOption::Statistics { names, on } => statistics(target, names, *on),
        SetOption::IdentityInsert { .. } => Err(SqlError::internal("IDENTITY_INSERT, which is the executor's").into()),
        SetOption::IsolationLevel(level) => {
            target.state.isolation = *level;
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
            set_value(target, name, word, value)
        }
    }
}

fn permit(target: &mut SetTarget<'_>, name: &str, on: bool) {
    if let Some(form) = PlanForm::of_option(name) {
        let is_other = target.state.plan_form.is_some_and(|known| known != form);
        target.state.plan_form = match on {
            true => Some(form),
            false => target.state.plan_form.filter(|_| is_other),
        };
    }
    let Some(Effect::Any(bit) | Effect::On(bit) | Effect::Off(bit)) = effect(name) else {
        return;
    };
    let options = &mut target.state.session.options;
    *options = if on { *options | bit } else { *options & !bit };
}

fn statistics(target: &mut SetTarget<'_>, names: &[Name], on: bool) -> Result<(), Failure> {
    check_statistics(names)?;
    for name in names {
        if name.is("TIME") {
            *target.stopwatch = on.then(Stopwatch::start);
        }
        if name.is("IO") {
            target.state.statistics_io = on;
        }
        if name.is("PROFILE") {
            target.state.statistics_profile = on;
        }
        if name.is("XML") {
            target.state.statistics_xml = on;
        }
    }
    Ok(())
}

fn set_value(
    target: &mut SetTarget<'_>,
    name: &Name,
    word: Option<&str>,
    value: Option<&Value>,
) -> Result<(), Failure> {
    let session = &mut target.state.session;
    match name.text.to_ascii_uppercase().as_str() {
        "ROWCOUNT" => {
            let count = whole(name, value)?;
            target.state.row_count_max = u64::try_from(count).map_err(|_| invalid_value(name))?;
        }
        "TEXTSIZE" => {
            let size = i32::try_from(whole(name, value)?).map_err(|_| invalid_value(name))?;
            session.text_size = match size {
                0 => TEXT_SIZE_DEFAULT,
                size => size.max(-1),
            };
            let size = session.text_size;
            target.reply.set_text_size(size);
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
        "LANGUAGE" => return language(target, name, word.unwrap_or_default()),
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
fn language(target: &mut SetTarget<'_>, name: &Name, word: &str) -> Result<(), Failure> {
    if !word.eq_ignore_ascii_case(LANGUAGE) && !word.eq_ignore_ascii_case("English") {
        let text = format!(
            "SET LANGUAGE failed because '{word}' is not an official language name or a language alias on this SQL Server."
        );
        // 2740: SET LANGUAGE with an unknown language.
        return Err(SqlError::new(2740, Ends::Statement, text).into());
    }
    let session = &mut target.state.session;
    session.language = Arc::from(LANGUAGE);
    session.date_first = DateFirst::default();
    session.date_format = DateFormat::default();
    target.reply.env_change(&EnvChange::Language {
        new: LANGUAGE,
        old: LANGUAGE,
    })?;
    let text = format!("Changed language setting to {LANGUAGE}.");
    Ok(target.reply.info(5703, &text, name.position.line)?)
}

/// SET DEADLOCK_PRIORITY has no effect: the victim is the session whose wait would complete the cycle.
fn deadlock_priority(name: &Name, word: Option<&str>, value: Option<&Value>) -> Result<(), SqlError> {
    let is_known = match word {
        Some(word) => ["LOW", "NORMAL", "HIGH"]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(word)),
        None => (-10..=10).contains(&whole(name, value)?),
    };
    if is_known { Ok(()) } else { Err(invalid_value(name)) }
}

fn context_info(name: &Name, value: Option<&Value>) -> Result<Arc<[u8]>, SqlError> {
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

fn whole(name: &Name, value: Option<&Value>) -> Result<i64, SqlError> {
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

/// 50195: an invalid value of a SET option.
fn invalid_value(name: &Name) -> SqlError {
    let text = format!(
        "The value for the SET option '{}' is invalid.",
        name.text.to_ascii_uppercase()
    );
    SqlError::new(50_195, Ends::Statement, text)
}

/// 2742: SET DATEFIRST out of range.
fn date_first(number: i64) -> SqlError {
    SqlError::new(
        2742,
        Ends::Statement,
        format!("SET DATEFIRST {number} is out of range."),
    )
}

/// 2741: SET DATEFORMAT with an invalid order.
fn date_format(word: &str) -> SqlError {
    let text = format!("SET DATEFORMAT date order '{word}' is invalid.");
    SqlError::new(2741, Ends::Statement, text)
}

/// What TEXTSIZE 0 means.
const TEXT_SIZE_DEFAULT: i32 = 4096;
const CONTEXT_INFO_SIZE: usize = 128;
