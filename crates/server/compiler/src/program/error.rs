//! Errors of procedural code at compile time.

use selenite_tsql::SyntaxError;

use crate::{Ends, SqlError};

/// An error of severity 15, state 1, which ends the batch before it begins.
fn refused(number: i32, text: impl Into<String>) -> SqlError {
    SqlError::new(number, Ends::Batch, text).with_severity(15)
}

impl SqlError {
    /// 206: an argument that is a table of another type than the parameter, or one of them is no table.
    pub fn table_clash(given: &str, wanted: &str) -> Self {
        let text = format!("Operand type clash: {given} is incompatible with {wanted}");
        Self::new(206, Ends::Statement, text).with_state(2)
    }

    /// 346: READONLY of a parameter that is no table.
    pub(crate) fn read_only_scalar(name: &str) -> Self {
        let text =
            format!("The parameter \"{name}\" can not be declared READONLY since it is not a table-valued parameter.");
        refused(346, text)
    }

    /// 350: a column of a table type.
    pub(crate) fn column_of_table_type(name: &str) -> Self {
        let text = format!(
            "The column \"{name}\" does not have a valid data type. A column cannot be of a user-defined table type."
        );
        refused(350, text)
    }

    /// 352: a table-valued parameter without READONLY.
    pub(crate) fn table_not_read_only(name: &str) -> Self {
        let text = format!("The table-valued parameter \"{name}\" must be declared with the READONLY option.");
        refused(352, text)
    }

    /// 1067: SET SHOWPLAN_ALL, SHOWPLAN_TEXT or SHOWPLAN_XML beside another statement.
    #[must_use]
    pub fn plans_not_alone() -> Self {
        let text = "The SET SHOWPLAN statements must be the only statements in the batch.";
        Self::new(1067, Ends::Batch, text).with_severity(15)
    }

    /// 10700: a change of a table-valued parameter.
    pub(crate) fn read_only_table(name: &str) -> Self {
        let text = format!("The table-valued parameter \"{name}\" is READONLY and cannot be modified.");
        Self::new(10700, Ends::Batch, text)
    }

    /// 119: an argument without a name after a named one.
    pub(crate) fn argument_after_named(number: usize) -> Self {
        refused(
            119,
            format!(
                "Must pass parameter number {number} and subsequent parameters as '@name = value'. After the form \
                 '@name = value' has been used, all subsequent parameters must be passed in the form '@name = value'."
            ),
        )
    }

    /// 132: a duplicate label.
    pub(crate) fn label_declared_twice(name: &str) -> Self {
        refused(
            132,
            format!(
                "The label '{name}' has already been declared. Label names must be unique within a query batch or \
                 stored procedure."
            ),
        )
    }

    /// 133: a GOTO to an unknown label.
    pub(crate) fn unknown_label(name: &str) -> Self {
        refused(
            133,
            format!("A GOTO statement references the label '{name}' but the label has not been declared."),
        )
    }

    /// 135: BREAK outside a WHILE.
    pub(crate) fn break_outside_loop() -> Self {
        refused(
            135,
            "Cannot use a BREAK statement outside the scope of a WHILE statement.",
        )
    }

    /// 136: CONTINUE outside a WHILE.
    pub(crate) fn continue_outside_loop() -> Self {
        refused(
            136,
            "Cannot use a CONTINUE statement outside the scope of a WHILE statement.",
        )
    }

    /// 141: assignments mixed with values in one SELECT.
    pub(crate) fn assignment_beside_values() -> Self {
        refused(
            141,
            "A SELECT statement that assigns a value to a variable must not be combined with data-retrieval \
             operations.",
        )
    }

    /// 178: RETURN with a value in a batch.
    pub(crate) fn return_value_not_allowed() -> Self {
        refused(
            178,
            "A RETURN statement with a return value cannot be used in this context.",
        )
    }

    /// 179: OUTPUT after a constant.
    pub(crate) fn output_of_constant() -> Self {
        refused(
            179,
            "Cannot use the OUTPUT option when passing a constant to a stored procedure.",
        )
    }

    /// 263: `*` without a table.
    pub(crate) fn star_without_table() -> Self {
        SqlError::new(263, Ends::Batch, "Must specify table to select from.")
    }

    /// 1026: a GOTO into a TRY or CATCH block.
    pub(crate) fn goto_into_try() -> Self {
        refused(1026, "GOTO cannot be used to jump into a TRY or CATCH scope.")
    }

    /// 443: a statement with an effect outside its function.
    pub fn side_effect(what: &str) -> Self {
        let text = format!("Invalid use of a side-effecting operator '{what}' within a function.");
        SqlError::new(443, Ends::Batch, text)
    }

    /// 444: rows for the client within a function.
    pub(crate) fn rows_in_function() -> Self {
        let text = "Select statements included within a function cannot return data to a client.";
        SqlError::new(444, Ends::Batch, text).with_state(2)
    }

    /// 455: a function that does not end with RETURN.
    pub(crate) fn last_is_no_return() -> Self {
        let text = "The last statement included within a function must be a return statement.";
        SqlError::new(455, Ends::Batch, text).with_state(2)
    }

    /// 1075: RETURN without a value in a scalar function.
    pub(crate) fn return_without_value() -> Self {
        refused(
            1075,
            "RETURN statements in scalar valued functions must include an argument.",
        )
    }

    /// 2772: a temporary table in a function.
    pub fn temporary_in_function() -> Self {
        SqlError::new(
            2772,
            Ends::Batch,
            "Cannot access temporary tables from within a function.",
        )
    }

    /// 557: EXECUTE of a procedure within a function.
    pub fn call_in_function() -> Self {
        let text = "Only functions and some extended stored procedures can be executed from within a function.";
        SqlError::new(557, Ends::Batch, text).with_state(2)
    }

    /// 1087: an undeclared table variable.
    pub(crate) fn undeclared_table(name: &str) -> Self {
        refused(1087, format!("Must declare the table variable \"{name}\".")).with_state(2)
    }

    /// 2747: too many arguments of RAISERROR.
    pub(crate) fn too_many_substitutions(most: usize) -> Self {
        SqlError::new(
            2747,
            Ends::Batch,
            format!("Too many substitution parameters for RAISERROR. Cannot exceed {most} substitution parameters."),
        )
    }

    /// 2748: an argument of RAISERROR of an unsupported type.
    pub(crate) fn substitution_type(type_name: &str, number: usize) -> Self {
        SqlError::new(
            2748,
            Ends::Batch,
            format!("Cannot specify {type_name} data type (parameter {number}) as a substitution parameter."),
        )
    }

    /// 10704: THROW without arguments outside a CATCH.
    pub fn rethrow_outside_catch() -> Self {
        refused(
            10704,
            "To rethrow an error, a THROW statement must be used inside a CATCH block. Insert the THROW statement \
             inside a CATCH block, or add error parameters to the THROW statement.",
        )
    }
}

impl From<SyntaxError> for SqlError {
    /// No statement of a batch with a syntax error is executed.
    fn from(error: SyntaxError) -> Self {
        let number = i32::try_from(error.number).unwrap_or(i32::MAX);
        Self::new(number, Ends::Batch, error.message)
            .with_severity(error.severity)
            .with_state(error.state)
            .on_line(error.line)
    }
}
