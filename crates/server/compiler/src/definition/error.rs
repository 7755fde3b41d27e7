//! Errors of definitions.

use crate::{Ends, SqlError};

impl SqlError {
    fn of_definition(number: i32, text: String) -> Self {
        Self::new(number, Ends::Batch, text)
    }

    /// 2705: two columns with one name.
    pub(super) fn column_defined_twice(column: &str, table: &str) -> Self {
        let text = format!(
            "Column names in each table must be unique. Column name '{column}' in table '{table}' is specified more than once."
        );
        Self::of_definition(2705, text).with_state(3)
    }

    /// 2749: IDENTITY of an unsupported type.
    pub(super) fn identity_type(column: &str) -> Self {
        let text = format!(
            "Identity column '{column}' must be of data type int, bigint, smallint, tinyint, or decimal or numeric with a \
             scale of 0, unencrypted, and constrained to be nonnullable."
        );
        Self::of_definition(2749, text).with_state(2)
    }

    /// 8147: IDENTITY and NULL.
    pub(super) fn identity_nullable(column: &str, table: &str) -> Self {
        let text = format!("Could not create IDENTITY attribute on nullable column '{column}', table '{table}'.");
        Self::of_definition(8147, text)
    }

    /// 2756: an increment of 0, or a seed or increment that is not an integer.
    pub(super) fn identity_value(column: &str) -> Self {
        let text = format!("Invalid value for seed or increment of identity column '{column}'.");
        Self::of_definition(2756, text)
    }

    /// 2744: two IDENTITY columns.
    pub(super) fn identity_twice(table: &str) -> Self {
        let text = format!(
            "Multiple identity columns specified for table '{table}'. Only one identity column per table is allowed."
        );
        Self::of_definition(2744, text).with_state(2)
    }

    /// 1754: IDENTITY and DEFAULT.
    pub(super) fn default_on_identity(table: &str, column: &str) -> Self {
        let text = format!(
            "Defaults cannot be created on columns with an IDENTITY attribute. Table '{table}', column '{column}'."
        );
        Self::of_definition(1754, text).with_state(0)
    }

    /// 1755: DEFAULT of a rowversion.
    pub(super) fn default_on_row_version(table: &str, column: &str) -> Self {
        let text = format!(
            "Defaults cannot be created on columns of data type timestamp. Table '{table}', column '{column}'."
        );
        Self::of_definition(1755, text).with_state(0)
    }

    /// 2738: a second rowversion.
    pub(super) fn row_version_twice(table: &str, column: &str) -> Self {
        let text = format!(
            "A table can only have one timestamp column. Because table '{table}' already has one, the column '{column}' \
             cannot be added."
        );
        Self::of_definition(2738, text).with_state(2)
    }

    /// 1781: a second DEFAULT.
    pub(super) fn default_twice() -> Self {
        Self::of_definition(1781, "Column already has a DEFAULT bound to it.".to_owned())
    }

    /// 8110: a second primary key, in one statement.
    pub(super) fn primary_key_twice(table: &str) -> Self {
        let text = format!("Cannot add multiple PRIMARY KEY constraints to table '{table}'.");
        Self::of_definition(8110, text).with_state(0)
    }

    /// 1779: a second primary key in ALTER TABLE.
    pub(super) fn has_primary_key(table: &str) -> Self {
        let text = format!("Table '{table}' already has a primary key defined on it.");
        Self::of_definition(1779, text).with_state(0)
    }

    /// 8111: a primary key of a nullable column.
    pub(super) fn primary_key_nullable(table: &str) -> Self {
        let text = format!("Cannot define PRIMARY KEY constraint on nullable column in table '{table}'.");
        Self::of_definition(8111, text)
    }

    /// 1911: an unknown column in a key or index.
    pub(super) fn index_column(name: &str) -> Self {
        Self::of_definition(
            1911,
            format!("Column name '{name}' does not exist in the target table or view."),
        )
    }

    /// 1909: a column twice in one key.
    pub(super) fn index_column_twice(name: &str) -> Self {
        let text = format!("Cannot use duplicate column names in index. Column name '{name}' listed more than once.");
        Self::of_definition(1909, text)
    }

    /// 1913: a duplicate index name in a table.
    #[must_use]
    pub fn index_name_taken(index: &str, table: &str) -> Self {
        let text = format!(
            "The operation failed because an index or statistics with name '{index}' already exists on table '{table}'."
        );
        Self::of_definition(1913, text)
    }

    /// 1919: a column that is too long for a key.
    pub(super) fn index_column_type(column: &str, table: &str) -> Self {
        let text = format!(
            "Column '{column}' in table '{table}' is of a type that is invalid for use as a key column in an index."
        );
        Self::of_definition(1919, text)
    }

    /// 1769: an unknown column in a foreign key.
    pub(super) fn foreign_column(key: &str, column: &str, table: &str) -> Self {
        let text = format!("Foreign key '{key}' references invalid column '{column}' in referencing table '{table}'.");
        Self::of_definition(1769, text)
    }

    /// 8139: a foreign key with another number of columns than its referenced columns.
    pub(super) fn foreign_column_count(table: &str) -> Self {
        let text = format!(
            "Number of referencing columns in foreign key differs from number of referenced columns, table '{table}'."
        );
        Self::of_definition(8139, text).with_state(0)
    }

    /// 2714: a name that exists.
    #[must_use]
    pub fn name_taken(name: &str) -> Self {
        let text = format!("There is already an object named '{name}' in the database.");
        Self::of_definition(2714, text).with_state(6)
    }

    /// 4924: an unknown column in ALTER TABLE.
    pub(super) fn no_such_column(action: &str, column: &str, table: &str) -> Self {
        let text = format!("{action} failed because column '{column}' does not exist in table '{table}'.");
        Self::of_definition(4924, text)
    }

    /// 3728: an unknown constraint in ALTER TABLE.
    pub(super) fn no_such_constraint(name: &str) -> Self {
        Self::of_definition(3728, format!("'{name}' is not a constraint."))
    }

    /// 5074: a column with dependents.
    ///
    /// SQL Server sends 4922 after it.
    #[must_use]
    pub fn column_needed(what: &str, column: &str) -> Self {
        Self::of_definition(5074, format!("The {what} is dependent on column '{column}'."))
    }

    /// 4936: PERSISTED of what another computation may not give again.
    pub(super) fn not_deterministic(column: &str, table: &str) -> Self {
        let text = format!(
            "Computed column '{column}' in table '{table}' cannot be persisted because the column is non-deterministic."
        );
        Self::of_definition(4936, text)
    }

    /// 4923: the last column of a table.
    pub(super) fn last_column(column: &str, table: &str) -> Self {
        let text = format!(
            "ALTER TABLE DROP COLUMN failed because '{column}' is the only data column in table '{table}'. A table must have at \
             least one data column."
        );
        Self::of_definition(4923, text)
    }
}
