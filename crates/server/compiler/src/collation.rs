//! Collations: how text is compared, and the precedence of two collations.

use crate::{SqlError, same_name};

/// The collation of an expression, and its precedence.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Collation {
    /// Whether text is compared by code points (Latin1_General_BIN2); else case and trailing spaces are ignored.
    pub is_binary: bool,
    /// The origin, which decides its precedence.
    pub label: CollationLabel,
}

/// The origin of a collation: in a comparison of two, the higher precedence applies.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum CollationLabel {
    /// The database's collation, of a constant, a variable or a function of these.
    #[default]
    CoercibleDefault,
    /// A column's collation.
    Implicit,
    /// COLLATE.
    Explicit,
}

impl Collation {
    /// The collation that COLLATE with this name specifies.
    ///
    /// Errors: 448 for a collation other than the default and Latin1_General_BIN2.
    pub fn explicit(name: &str) -> Result<Self, SqlError> {
        let label = CollationLabel::Explicit;
        let is_default = [DEFAULT_NAME, "database_default", "catalog_default"]
            .iter()
            .any(|known| same_name(name, known));
        if is_default {
            return Ok(Self {
                is_binary: false,
                label,
            });
        }
        if same_name(name, BINARY_NAME) {
            return Ok(Self { is_binary: true, label });
        }
        Err(SqlError::unknown_collation(name))
    }

    /// The collation as that of a declared column.
    #[must_use]
    pub fn of_column(self) -> Self {
        Self {
            label: CollationLabel::Implicit,
            ..self
        }
    }

    /// The comparison in the types' terms.
    #[must_use]
    pub fn order(self) -> selenite_types::Collation {
        if self.is_binary {
            selenite_types::Collation::Latin1GeneralBin2
        } else {
            selenite_types::Collation::Latin1General
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        if self.is_binary { BINARY_NAME } else { DEFAULT_NAME }
    }

    /// The collation of two texts in `operation`, which error messages name.
    ///
    /// Errors: 468 if they differ and have the same precedence.
    pub fn combine(self, other: Self, operation: &str) -> Result<Self, SqlError> {
        if self.label == other.label && self.is_binary != other.is_binary {
            return Err(SqlError::collation_conflict(self.name(), other.name(), operation));
        }
        Ok(if other.label > self.label { other } else { self })
    }
}

/// The server's and every database's collation.
pub const DEFAULT_NAME: &str = "SQL_Latin1_General_CP1_CI_AS";

const BINARY_NAME: &str = "Latin1_General_BIN2";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_collation_of_higher_precedence_applies() {
        let constant = Collation::default();
        let column = constant.of_column();
        let binary = Collation::explicit("latin1_general_bin2").unwrap();
        assert_eq!(binary.combine(column, "equal to").unwrap(), binary);
        assert_eq!(
            constant.combine(binary.of_column(), "equal to").unwrap(),
            binary.of_column()
        );
        assert_eq!(column.combine(constant, "equal to").unwrap(), column);
    }

    #[test]
    fn two_collations_of_equal_precedence_conflict() {
        let binary = Collation::explicit("Latin1_General_BIN2").unwrap();
        let default = Collation::explicit("database_default").unwrap();
        let conflict = binary.combine(default, "equal to").unwrap_err();
        assert_eq!(conflict.number(), 468);
        assert_eq!(
            conflict.text(),
            "Cannot resolve the collation conflict between \"Latin1_General_BIN2\" and \
             \"SQL_Latin1_General_CP1_CI_AS\" in the equal to operation."
        );
        assert!(binary.of_column().combine(default.of_column(), "like").is_err());
    }

    #[test]
    fn another_collation_is_refused_by_name() {
        let error = Collation::explicit("Klingon_CI_AS").unwrap_err();
        assert_eq!(
            (error.number(), error.text()),
            (448, "Invalid collation 'Klingon_CI_AS'.")
        );
    }
}
