//! Which options SET knows, and which are supported: what is known before it runs.

use selenite_compiler::{Ends, SqlError};
use selenite_tsql::ast::{Name, SetOption};

/// What is known of a SET before it runs: whether there is such an option, and whether it is supported.
///
/// # Errors
/// 195, 40517.
pub(crate) fn check(option: &SetOption) -> Result<(), SqlError> {
    match option {
        SetOption::Switch { names, on } => names
            .iter()
            .filter(|name| !MACHINE_SWITCHES.iter().any(|known| name.is(known)))
            .try_for_each(|name| check_switch(&name.text, *on)),
        SetOption::Statistics { names, .. } => check_statistics(names),
        SetOption::Value { .. } | SetOption::IdentityInsert { .. } | SetOption::IsolationLevel(_) => Ok(()),
    }
}

/// What becomes of a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// It may be ON and OFF, and its bit of `@@OPTIONS` says so.
    Any(i32),
    /// It may only be ON.
    On(i32),
    /// It may only be OFF.
    Off(i32),
}

/// What becomes of a switch of this name; none if it is unknown.
pub(crate) fn effect(name: &str) -> Option<Effect> {
    let lower = name.to_ascii_lowercase();
    SWITCHES
        .iter()
        .find(|(known, _)| *known == lower)
        .map(|(_, effect)| *effect)
}

/// Refuses a switch that is unknown or not supported.
///
/// # Errors
/// 195, 40517.
pub(crate) fn check_switch(name: &str, on: bool) -> Result<(), SqlError> {
    match (effect(name), on) {
        (None, _) => Err(unknown_option(name)),
        (Some(Effect::Any(_)), _) | (Some(Effect::On(_)), true) | (Some(Effect::Off(_)), false) => Ok(()),
        (Some(Effect::On(_)), false) => Err(unsupported(&format!("{} OFF", name.to_ascii_uppercase()))),
        (Some(Effect::Off(_)), true) => Err(unsupported(&format!("{} ON", name.to_ascii_uppercase()))),
    }
}

/// Refuses SET STATISTICS of what is unknown.
///
/// # Errors
/// 195.
pub(crate) fn check_statistics(names: &[Name]) -> Result<(), SqlError> {
    for name in names {
        let is_known = ["TIME", "IO", "PROFILE", "XML"].iter().any(|known| name.is(known));
        if !is_known {
            return Err(unknown_option(&format!("STATISTICS {}", name.text)));
        }
    }
    Ok(())
}

/// 195: no such option.
pub(crate) fn unknown_option(name: &str) -> SqlError {
    SqlError::new(195, Ends::Batch, format!("'{name}' is not a recognized SET option."))
        .with_severity(15)
        .with_state(5)
}

/// 40517: an option that would change what statements mean.
pub(crate) fn unsupported(what: &str) -> SqlError {
    let text = format!("Keyword or statement option 'SET {what}' is not supported in this version of SQL Server.");
    SqlError::new(40517, Ends::Statement, text)
}

/// `@@OPTIONS`' bit of QUOTED_IDENTIFIER.
pub(crate) const QUOTED_IDENTIFIER: i32 = 256;

/// The switches that the machine keeps: all of them may be ON and OFF.
const MACHINE_SWITCHES: [&str; 4] = ["NOCOUNT", "XACT_ABORT", "IMPLICIT_TRANSACTIONS", "FMTONLY"];

/// Options by lower-case name. An option that allows both values has no effect on supported features.
const SWITCHES: [(&str, Effect); 20] = [
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
    ("forceplan", Effect::Any(0)),
    ("no_browsetable", Effect::Any(0)),
    ("noexec", Effect::Off(0)),
    ("numeric_roundabort", Effect::Off(8192)),
    ("parseonly", Effect::Off(0)),
    ("quoted_identifier", Effect::Any(QUOTED_IDENTIFIER)),
    ("remote_proc_transactions", Effect::Any(0)),
    ("showplan_all", Effect::Any(0)),
    ("showplan_text", Effect::Any(0)),
    ("showplan_xml", Effect::Any(0)),
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
        assert_eq!(check_switch("noexec", true).unwrap_err().number(), 40517);
        assert_eq!(check_switch("no_such_option", true).unwrap_err().number(), 195);
    }

    #[test]
    fn switches_are_in_order_and_in_lower_case() {
        assert!(SWITCHES.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(SWITCHES.iter().all(|(name, _)| name.to_ascii_lowercase() == *name));
    }
}
