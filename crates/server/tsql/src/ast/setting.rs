//! Options that many statements take in lists: hints, WITH (..), SET ...

use super::{Expr, Name, Position};

/// One option of a list: `NAME`, `NAME value`, `NAME = value` or `NAME (list)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name as written; of several words divided by one blank, as `HASH JOIN`; a
    /// variable has its sign.
    pub name: Name,
    /// Whether `=` stands between the name and the value.
    pub equals: bool,
    /// Its value.
    pub value: Option<SettingValue>,
    /// Where it stands.
    pub position: Position,
}

impl Setting {
    /// The value's word, if it is one: `ON`, `SIMPLE`.
    #[must_use]
    pub fn word(&self) -> Option<&Name> {
        match &self.value {
            Some(SettingValue::Word(word)) => Some(word),
            Some(SettingValue::Value(_) | SettingValue::Values(_) | SettingValue::Settings(_)) | None => None,
        }
    }

    /// Whether the option of this name is `ON` in a list.
    #[must_use]
    pub fn is_on(options: &[Self], name: &str) -> bool {
        let is_on = |option: &Self| option.word().is_some_and(|word| word.is_word("ON"));
        options.iter().any(|option| option.name.is_word(name) && is_on(option))
    }

    /// The value's expression, if it is one.
    #[must_use]
    pub fn expr(&self) -> Option<&Expr> {
        match &self.value {
            Some(SettingValue::Value(value)) => Some(value),
            Some(SettingValue::Word(_) | SettingValue::Values(_) | SettingValue::Settings(_)) | None => None,
        }
    }
}

/// An option's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingValue {
    /// A word or name: `ON`, `OFF`, `SIMPLE`, `[a]`; also a number with its unit, as `60 SECONDS`.
    Word(Name),
    /// A constant, perhaps with a sign, or a variable.
    Value(Expr),
    /// `(1, a)`: constants, variables, and names (which are columns with one part).
    Values(Vec<Expr>),
    /// `(A = ON, B = 5)`.
    Settings(Vec<Setting>),
}
