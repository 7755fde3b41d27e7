//! SET SHOWPLAN_ALL, SHOWPLAN_TEXT and SHOWPLAN_XML.

use selenite_tsql::ast::SetOption;

/// The form in which plans are shown in place of running statements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlanForm {
    /// SHOWPLAN_ALL: a row for each operator.
    All,
    /// SHOWPLAN_TEXT: a text for each operator.
    Text,
    /// SHOWPLAN_XML: a document for each batch.
    Xml,
}

impl PlanForm {
    /// The one that an option sets.
    #[must_use]
    pub fn of_option(name: &str) -> Option<Self> {
        let known = [
            ("SHOWPLAN_ALL", Self::All),
            ("SHOWPLAN_TEXT", Self::Text),
            ("SHOWPLAN_XML", Self::Xml),
        ];
        let found = known.into_iter().find(|(known, _)| name.eq_ignore_ascii_case(known));
        found.map(|(_, form)| form)
    }

    /// Whether a SET sets one.
    #[must_use]
    pub fn is_in(option: &SetOption) -> bool {
        match option {
            SetOption::Switch { names, .. } => names.iter().any(|name| Self::of_option(&name.text).is_some()),
            SetOption::Value { .. }
            | SetOption::Statistics { .. }
            | SetOption::IdentityInsert { .. }
            | SetOption::IsolationLevel(_) => false,
        }
    }
}
