//! Translates SQLite's constraint violations to SQL Server's errors.
//!
//! SQLite names columns (`UNIQUE constraint failed: t.a, t.b`); SQL Server names the constraint and the key's values.

use selenite_types::{Value, text_of};

use super::{ChangeVerb, Check, ForeignKey, Key, KeyKind, Table};
use crate::{Ends, SqlError};

/// The constraint that a row broke.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Violation<'a> {
    /// A NOT NULL column, by its index.
    NotNull(usize),
    /// A key.
    Unique(&'a Key),
    /// A foreign key of this table, or one that refers to it: SQLite does not report which.
    ForeignKey,
    /// SQLite's message for an error that SQL Server does not have.
    Unknown,
}

impl Table {
    /// Parses SQLite's `message` about a constraint of this table.
    #[must_use]
    pub fn violation(&self, message: &str) -> Violation<'_> {
        if message.starts_with("FOREIGN KEY") {
            return Violation::ForeignKey;
        }
        if let Some(columns) = message.strip_prefix("NOT NULL constraint failed: ") {
            let column = self.without_table(columns).and_then(|name| self.column(name));
            return column.map_or(Violation::Unknown, Violation::NotNull);
        }
        if let Some(columns) = message.strip_prefix("UNIQUE constraint failed: ") {
            return self.broken_key(columns).map_or(Violation::Unknown, Violation::Unique);
        }
        Violation::Unknown
    }

    /// The key with the listed columns, in the key's order: SQLite lists those of its index.
    fn broken_key(&self, listed: &str) -> Option<&Key> {
        if let Some(index) = listed.strip_prefix("index '") {
            let index = index.strip_suffix('\'')?;
            let index = index.strip_suffix("$null").unwrap_or(index);
            let index = index
                .strip_prefix(self.sqlite.name.as_str())
                .and_then(|index| index.strip_prefix('.'));
            return self
                .keys
                .iter()
                .find(|key| index.is_some_and(|index| crate::same_name(&key.name, index)));
        }
        self.keys.iter().find(|key| self.column_list(key) == listed)
    }

    fn column_list(&self, key: &Key) -> String {
        let names = key.columns.iter().filter_map(|&at| self.columns.get(at));
        let names: Vec<String> = names
            .map(|column| format!("{}.{}", self.sqlite.name, column.name))
            .collect();
        names.join(", ")
    }

    fn without_table<'a>(&self, name: &'a str) -> Option<&'a str> {
        name.strip_prefix(self.sqlite.name.as_str())?.strip_prefix('.')
    }

    /// 515: NULL in a NOT NULL column.
    #[must_use]
    pub fn null_in(&self, column: usize, verb: ChangeVerb) -> SqlError {
        let name = self.columns.get(column).map_or("", |column| column.name.as_str());
        let text = format!(
            "Cannot insert the value NULL into column '{name}', table '{}'; column does not allow nulls. {} fails.",
            self.full_name(),
            verb.word()
        );
        SqlError::new(515, Ends::Statement, text).with_state(2)
    }

    /// 2601 or 2627: a duplicate key; `row` has the values of all columns.
    #[must_use]
    pub fn duplicate(&self, key: &Key, row: &[Value]) -> SqlError {
        let values: Vec<String> = key.columns.iter().map(|&at| self.shown(at, row)).collect();
        let values = values.join(", ");
        let (table, name) = (self.schema_name(), &key.name);
        let kind = match key.kind {
            KeyKind::Primary => "PRIMARY KEY",
            KeyKind::Unique => "UNIQUE KEY",
            KeyKind::Index => {
                let text = format!(
                    "Cannot insert duplicate key row in object '{table}' with unique index '{name}'. \
                     The duplicate key value is ({values})."
                );
                // 2601: a duplicate key in a unique index.
                return SqlError::new(2601, Ends::Statement, text).with_severity(14);
            }
        };
        let text = format!(
            "Violation of {kind} constraint '{name}'. Cannot insert duplicate key in object '{table}'. \
             The duplicate key value is ({values})."
        );
        // 2627: a duplicate key of a PRIMARY KEY or UNIQUE constraint.
        SqlError::new(2627, Ends::Statement, text).with_severity(14)
    }

    fn shown(&self, column: usize, row: &[Value]) -> String {
        let text = self
            .columns
            .get(column)
            .zip(row.get(column))
            .and_then(|(column, value)| {
                let text = text_of(value, &column.data_type)?;
                Some(if column.data_type.is_padded() {
                    text.trim_end_matches(' ').to_owned()
                } else {
                    text
                })
            });
        text.unwrap_or_else(|| "<NULL>".to_owned())
    }

    /// 547: a violated CHECK constraint.
    #[must_use]
    pub fn check_failed(&self, check: &Check, verb: ChangeVerb) -> SqlError {
        let column = check.column.and_then(|at| self.columns.get(at));
        let column = column.map_or_else(String::new, |column| format!(", column '{}'", column.name));
        let text = format!(
            "The {} statement conflicted with the CHECK constraint \"{}\". The conflict occurred in database \"{}\", \
             table \"{}\"{column}.",
            verb.word(),
            check.name,
            self.database,
            self.schema_name()
        );
        SqlError::new(547, Ends::Statement, text).with_state(0)
    }

    /// 547: a foreign key of this table without a referenced row.
    #[must_use]
    pub fn foreign_key_failed(&self, key: &ForeignKey, verb: ChangeVerb) -> SqlError {
        let (schema, name) = &key.referenced_table;
        let same = crate::same_name(name, &self.name) && crate::same_name(schema, &self.schema);
        let kind = if same { "FOREIGN KEY SAME TABLE" } else { "FOREIGN KEY" };
        self.conflict(key, verb, kind, &format!("{schema}.{name}"), &key.referenced_columns)
    }

    /// 547: a foreign key of another table, `referring` (schema and name), that refers to the row.
    #[must_use]
    pub fn reference_failed(&self, referring: &str, key: &ForeignKey, verb: ChangeVerb) -> SqlError {
        let same = crate::same_name(referring, &self.schema_name());
        let kind = if same { "SAME TABLE REFERENCE" } else { "REFERENCE" };
        self.conflict(key, verb, kind, referring, &key.columns)
    }

    /// 547: SET DEFAULT of a referencing row to a default that has no referenced row.
    #[must_use]
    pub fn default_failed(&self, key: &ForeignKey, verb: ChangeVerb) -> SqlError {
        let (schema, name) = &key.referenced_table;
        self.conflict(
            key,
            verb,
            "FOREIGN KEY",
            &format!("{schema}.{name}"),
            &key.referenced_columns,
        )
    }

    fn conflict(&self, key: &ForeignKey, verb: ChangeVerb, kind: &str, table: &str, columns: &[String]) -> SqlError {
        let column = match columns {
            [column] => format!(", column '{column}'"),
            [] | [_, ..] => String::new(),
        };
        let text = format!(
            "The {} statement conflicted with the {kind} constraint \"{}\". The conflict occurred in database \"{}\", \
             table \"{table}\"{column}.",
            verb.word(),
            key.name,
            self.database
        );
        SqlError::new(547, Ends::Statement, text).with_state(0)
    }

    /// 2628: text or bytes that are too long for their column.
    ///
    /// `kept` is the part that fits.
    #[must_use]
    pub fn truncated(&self, column: usize, kept: &str) -> SqlError {
        let name = self.columns.get(column).map_or("", |column| column.name.as_str());
        let text = format!(
            "String or binary data would be truncated in table '{}', column '{name}'. Truncated value: '{kept}'.",
            self.full_name()
        );
        SqlError::new(2628, Ends::Statement, text)
    }
}
