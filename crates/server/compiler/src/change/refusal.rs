//! Errors of changes, with SQL Server's texts.

use crate::catalog::Table;
use crate::{Ends, SqlError};

impl SqlError {
    fn change(number: i32, severity: u8, state: u8, text: impl Into<String>) -> Self {
        Self::new(number, Ends::Batch, text)
            .with_severity(severity)
            .with_state(state)
    }

    /// 109 and 110: a row of VALUES with fewer or more values than columns.
    pub fn values_count(columns: usize, values: usize) -> Self {
        let tail = "The number of values in the VALUES clause must match the number of columns specified in the INSERT \
                    statement.";
        if columns > values {
            let text = "There are more columns in the INSERT statement than values specified in the VALUES clause.";
            return Self::change(109, 15, 1, format!("{text} {tail}"));
        }
        let text = "There are fewer columns in the INSERT statement than values specified in the VALUES clause.";
        Self::change(110, 15, 1, format!("{text} {tail}"))
    }

    /// 120 and 121: a SELECT with fewer or more columns than the target.
    pub fn select_count(columns: usize, items: usize) -> Self {
        let tail = "The number of SELECT values must match the number of INSERT columns.";
        if columns > items {
            let text = "The select list for the INSERT statement contains fewer items than the insert list.";
            return Self::change(120, 15, 1, format!("{text} {tail}"));
        }
        let text = "The select list for the INSERT statement contains more items than the insert list.";
        Self::change(121, 15, 1, format!("{text} {tail}"))
    }

    /// 213: another number of values than the table's columns.
    pub fn table_count() -> Self {
        Self::change(
            213,
            16,
            1,
            "Column name or number of supplied values does not match table definition.",
        )
    }

    /// 259: a change of a system view.
    pub fn system_change() -> Self {
        Self::change(259, 16, 1, "Ad hoc updates to system catalogs are not allowed.")
    }

    /// 264: a column that is specified twice.
    pub fn column_given_twice(column: &str) -> Self {
        let text = format!(
            "The column name '{column}' is specified more than once in the SET clause or column list of an INSERT. A column \
             cannot be assigned more than one value in the same clause. Modify the clause to make sure that a column is \
             updated only once. If this statement updates or inserts columns into a view, column aliasing can conceal the \
             duplication in your code."
        );
        Self::change(264, 16, 1, text)
    }

    /// 271: a change of a computed column.
    pub fn computed_change(column: &str) -> Self {
        let text = format!(
            "The column \"{column}\" cannot be modified because it is either a computed column or is the result of a UNION \
             operator."
        );
        Self::change(271, 16, 1, text)
    }

    /// 272: UPDATE of a rowversion.
    pub fn row_version_change() -> Self {
        Self::change(272, 16, 1, "Cannot update a timestamp column.")
    }

    /// 273: an explicit value for a rowversion.
    pub fn row_version_given() -> Self {
        let text = "Cannot insert an explicit value into a timestamp column. Use INSERT with a column list to exclude the \
                    timestamp column, or insert a DEFAULT into the timestamp column.";
        Self::change(273, 16, 1, text)
    }

    /// 286: a change of `inserted` or `deleted`.
    pub fn logical_table_change() -> Self {
        Self::change(286, 16, 1, "The logical tables INSERTED and DELETED cannot be updated.")
    }

    /// 334: OUTPUT to the client of a table with triggers.
    pub fn output_with_triggers(table: &str) -> Self {
        let text = format!(
            "The target table '{table}' of the DML statement cannot have any enabled triggers if the statement contains an \
             OUTPUT clause without INTO clause."
        );
        Self::change(334, 16, 1, text)
    }

    /// 339: DEFAULT for an identity column.
    pub fn default_identity() -> Self {
        Self::change(
            339,
            16,
            1,
            "DEFAULT or NULL are not allowed as explicit identity values.",
        )
    }

    /// 544: an explicit value for an identity without IDENTITY_INSERT.
    pub fn identity_given(table: &Table) -> Self {
        if table.is_variable() {
            let text = "INSERT into an identity column not allowed on table variables.";
            // 1077: an explicit value for an identity of a table variable.
            return Self::new(1077, Ends::Statement, text);
        }
        let text = format!(
            "Cannot insert explicit value for identity column in table '{}' when IDENTITY_INSERT is set to OFF.",
            table.name
        );
        Self::new(544, Ends::Statement, text)
    }

    /// 545: no explicit value for an identity with IDENTITY_INSERT.
    pub fn identity_missing(table: &Table) -> Self {
        let text = format!(
            "Explicit value must be specified for identity column in table '{}' either when IDENTITY_INSERT is set to ON or \
             when a replication user is inserting into a NOT FOR REPLICATION identity column.",
            table.name
        );
        Self::new(545, Ends::Statement, text)
    }

    /// 4104 for a qualifier other than the target's.
    pub fn other_target(name: &str) -> Self {
        Self::unbound_identifier(name)
    }

    /// 550: a row written through a view WITH CHECK OPTION that violates its condition.
    pub fn check_option() -> Self {
        let text = "The attempted insert or update failed because the target view either specifies WITH CHECK OPTION or spans a \
                    view that specifies WITH CHECK OPTION and one or more rows resulting from the operation did not qualify under \
                    the CHECK OPTION constraint.";
        Self::new(550, Ends::Statement, text)
    }

    /// 4403: a change through a query of groups or of distinct rows.
    pub fn change_of_groups(name: &str) -> Self {
        let text = format!(
            "Cannot update the view or function '{name}' because it contains aggregates, or a DISTINCT or GROUP BY clause, \
             or PIVOT or UNPIVOT operator."
        );
        Self::change(4403, 16, 1, text)
    }

    /// 4416: a change through a UNION ALL.
    pub fn change_of_union_all(name: &str) -> Self {
        let text =
            format!("UNION ALL view '{name}' is not updatable because the definition contains a disallowed construct.");
        Self::change(4416, 16, 1, text)
    }

    /// 4426: a change through a UNION.
    pub fn change_of_union(name: &str) -> Self {
        let text = format!("View '{name}' is not updatable because the definition contains a UNION operator.");
        Self::change(4426, 16, 1, text)
    }

    /// 4405: a change through a query of several tables.
    pub fn change_of_several(name: &str) -> Self {
        let text = format!(
            "View or function '{name}' is not updatable because the modification affects multiple base tables."
        );
        Self::change(4405, 16, 1, text)
    }

    /// 4406: a change of a column that a query computes.
    pub fn derived_column(name: &str) -> Self {
        let text = format!(
            "Update or insert of view or function '{name}' failed because it contains a derived or constant field."
        );
        Self::change(4406, 16, 1, text)
    }

    /// 4712: TRUNCATE of a referenced table.
    pub fn truncate_referenced(table: &str) -> Self {
        let text =
            format!("Cannot truncate table '{table}' because it is being referenced by a FOREIGN KEY constraint.");
        Self::change(4712, 16, 1, text)
    }

    /// 4701: TRUNCATE of an unknown table.
    pub fn truncate_unknown(table: &str) -> Self {
        let text =
            format!("Cannot find the object \"{table}\" because it does not exist or you do not have permissions.");
        Self::change(4701, 16, 1, text)
    }

    /// 8101: an explicit identity value without a column list.
    pub fn identity_without_list(table: &Table) -> Self {
        let text = format!(
            "An explicit value for the identity column in table '{}' can only be specified when a column list is used and \
             IDENTITY_INSERT is ON.",
            table.name
        );
        Self::change(8101, 16, 1, text)
    }

    /// 8102: UPDATE of an identity.
    pub fn identity_change(column: &str) -> Self {
        Self::change(8102, 16, 1, format!("Cannot update identity column '{column}'."))
    }

    /// 5316: INSTEAD OF triggers for some actions of a MERGE.
    pub fn merge_instead_of_some(table: &str) -> Self {
        let text = format!(
            "The target '{table}' of the MERGE statement has an INSTEAD OF trigger on some, but not all, of the actions \
             specified in the MERGE statement. In a MERGE statement, if any action has an enabled INSTEAD OF trigger on the \
             target, then all actions must have enabled INSTEAD OF triggers."
        );
        Self::change(5316, 16, 1, text)
    }

    /// 5318: the source of a MERGE has the target's name.
    pub fn merge_names() -> Self {
        let text = "In a MERGE statement, the source and target cannot have the same name or alias. Use different aliases for \
                    the source and target to ensure that they have unique names in the MERGE statement.";
        Self::change(5318, 16, 1, text)
    }

    /// 5333: a column in the condition of WHEN NOT MATCHED that is not the source's.
    pub fn merge_not_of_source(name: &str) -> Self {
        let text = format!(
            "The identifier '{name}' cannot be bound. Only source columns and columns in the clause scope are allowed in the \
             'WHEN NOT MATCHED' clause of a MERGE statement."
        );
        Self::change(5333, 16, if name.contains('.') { 2 } else { 1 }, text)
    }

    /// 5334: a column in the condition of WHEN NOT MATCHED BY SOURCE that is not the target's.
    pub fn merge_not_of_target(name: &str) -> Self {
        let text = format!(
            "The identifier '{name}' cannot be bound. Only target columns and columns in the clause scope are allowed in the \
             'WHEN NOT MATCHED BY SOURCE' clause of a MERGE statement."
        );
        Self::change(5334, 16, if name.contains('.') { 2 } else { 1 }, text)
    }

    /// 8672: a MERGE that updates a row more than once.
    pub fn merge_twice() -> Self {
        let text = "The MERGE statement attempted to UPDATE or DELETE the same row more than once. This happens when a target \
                    row matches more than one source row. A MERGE statement cannot UPDATE/DELETE the same row of the target \
                    table multiple times. Refine the ON clause to ensure a target row matches at most one source row, or use \
                    the GROUP BY clause to group the source rows.";
        Self::new(8672, Ends::Statement, text)
    }

    /// The error of a row that a MERGE writes: 547 names the statement; 515 says UPDATE, whatever the action.
    #[must_use]
    pub fn in_merge(self) -> Self {
        let text = match self.number() {
            547 => {
                let rest = ["INSERT", "UPDATE", "DELETE"].iter().find_map(|verb| {
                    let rest = self.text().strip_prefix("The ")?;
                    rest.strip_prefix(verb)
                });
                rest.map(|rest| format!("The MERGE{rest}"))
            }
            515 => {
                let first = self.text().strip_suffix("INSERT fails.");
                first.map(|first| format!("{first}UPDATE fails."))
            }
            _ => None,
        };
        match text {
            Some(text) => Self::new(self.number(), self.ends(), text)
                .with_severity(self.severity())
                .with_state(self.state())
                .on_line(self.line()),
            None => self,
        }
    }

    /// 11742: NEXT VALUE FOR in a MERGE.
    pub fn merge_next_value() -> Self {
        let text = "NEXT VALUE FOR function can only be used with MERGE if it is defined within a default constraint on the \
                    target table for insert action.";
        Self::change(11742, 15, 1, text)
    }

    /// 8115: an identity that exceeds its type.
    pub fn identity_overflow(type_name: &str) -> Self {
        let text = format!("Arithmetic overflow error converting IDENTITY to data type {type_name}.");
        Self::new(8115, Ends::Statement, text)
    }

    /// 8154: a target that occurs more than once in FROM.
    pub fn ambiguous_target(name: &str) -> Self {
        Self::change(8154, 15, 1, format!("The table '{name}' is ambiguous."))
    }
}
