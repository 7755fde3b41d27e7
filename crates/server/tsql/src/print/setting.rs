//! Option lists.

use core::fmt;

use super::List;
use crate::ast::{Setting, SettingValue};

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        if self.equals {
            f.write_str(" =")?;
        }
        match &self.value {
            Some(value) => write!(f, " {value}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for SettingValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => write!(f, "{word}"),
            Self::Value(value) => write!(f, "{value}"),
            Self::Values(values) => write!(f, "({})", List(values)),
            Self::Settings(settings) => write!(f, "({})", List(settings)),
        }
    }
}
