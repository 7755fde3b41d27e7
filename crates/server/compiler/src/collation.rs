//! Collations: how text is compared, and the precedence of two collations.

use selenite_types::Encoding;

use crate::{SqlError, same_name};

/// The collation of an expression, and its precedence.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Collation {
    /// How text is compared.
    pub named: selenite_types::Collation,
    /// The origin, which decides its precedence.
    pub label: CollationLabel,
}

/// The origin of a collation: in a comparison of two, the higher precedence applies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum CollationLabel {
    /// The database's collation, of a constant, a variable or a function of these.
    #[default]
    CoercibleDefault,
    /// A column's collation.
    Implicit,
    /// No collation: columns of two were combined. It gets one by COLLATE, or by an operand that has one by COLLATE.
    Unresolved {
        /// The other collation.
        other: selenite_types::Collation,
    },
    /// COLLATE.
    Explicit,
}

impl Collation {
    /// The collation that COLLATE with this name specifies.
    ///
    /// Errors: 448 for a name that is not known, 40510 for one of Latin1_General that is not supported.
    pub fn explicit(name: &str) -> Result<Self, SqlError> {
        let is_default = ["database_default", "catalog_default"]
            .iter()
            .any(|known| same_name(name, known));
        let named = match is_default {
            true => Some(selenite_types::Collation::DEFAULT),
            false => selenite_types::Collation::from_name(name),
        };
        let label = CollationLabel::Explicit;
        named.map(|named| Self { named, label }).ok_or_else(|| {
            let is_of_latin = name.to_ascii_lowercase().contains("latin1_general_");
            match is_of_latin {
                true => SqlError::unsupported(&format!("Collation {name}")),
                false => SqlError::unknown_collation(name),
            }
        })
    }

    /// A collation as that of a declared column.
    #[must_use]
    pub fn implicit(named: selenite_types::Collation) -> Self {
        let label = CollationLabel::Implicit;
        Self { named, label }
    }

    /// The collation as that of a declared column.
    #[must_use]
    pub fn of_column(self) -> Self {
        Self::implicit(self.named)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.named.name()
    }

    /// The collation of two texts in `operation`, which error messages name.
    ///
    /// Errors: 468 for two by COLLATE that differ.
    pub fn combine(self, other: Self, operation: &str) -> Result<Self, SqlError> {
        let conflict = self.named != other.named && self.label.precedence() == other.label.precedence();
        if conflict && self.label == CollationLabel::Explicit {
            return Err(SqlError::collation_conflict(other.name(), self.name(), operation));
        }
        if conflict && self.label == CollationLabel::Implicit {
            let other = other.named;
            let label = CollationLabel::Unresolved { other };
            return Ok(Self { label, ..self });
        }
        let is_higher = other.label.precedence() > self.label.precedence();
        Ok(if is_higher { other } else { self })
    }

    /// Checks that text in UTF-8 stays under a collation of UTF-8.
    ///
    /// Errors: 40510.
    pub(crate) fn check_encoding(self, encoding: Encoding) -> Result<(), SqlError> {
        let keeps = match self.label {
            CollationLabel::CoercibleDefault | CollationLabel::Implicit | CollationLabel::Explicit => {
                encoding != Encoding::Utf8 || self.named.is_utf8()
            }
            CollationLabel::Unresolved { .. } => true,
        };
        match keeps {
            true => Ok(()),
            false => Err(SqlError::unsupported(&format!(
                "varchar in UTF-8 beside text under {}",
                self.name()
            ))),
        }
    }

    /// The collation, of text that has to have one: the result of `operation`, which error messages name.
    ///
    /// Errors: 468 if it is unresolved.
    pub fn resolved(self, operation: &str) -> Result<Self, SqlError> {
        match self.label {
            CollationLabel::Unresolved { other } => {
                Err(SqlError::collation_conflict(other.name(), self.name(), operation))
            }
            CollationLabel::CoercibleDefault | CollationLabel::Implicit | CollationLabel::Explicit => Ok(self),
        }
    }
}

impl CollationLabel {
    fn precedence(self) -> u8 {
        match self {
            Self::CoercibleDefault => 0,
            Self::Implicit => 1,
            Self::Unresolved { .. } => 2,
            Self::Explicit => 3,
        }
    }
}

/// The server's and every database's collation.
pub const DEFAULT_NAME: &str = "SQL_Latin1_General_CP1_CI_AS";

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
            "Cannot resolve the collation conflict between \"SQL_Latin1_General_CP1_CI_AS\" and \
             \"Latin1_General_BIN2\" in the equal to operation."
        );
    }

    #[test]
    fn two_columns_have_no_collation_until_one_is_given() {
        let binary = Collation::explicit("Latin1_General_BIN2").unwrap();
        let column = Collation::default().of_column();
        let neither = column.combine(binary.of_column(), "add").unwrap();
        assert_eq!(neither.resolved("add").unwrap_err().number(), 468);
        assert_eq!(neither.combine(Collation::default(), "add").unwrap(), neither);
        assert_eq!(column.combine(neither, "add").unwrap(), neither);
        assert_eq!(neither.combine(binary, "add").unwrap(), binary);
        assert_eq!(binary.combine(neither, "add").unwrap().resolved("add").unwrap(), binary);
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
