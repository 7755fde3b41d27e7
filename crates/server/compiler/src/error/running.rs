//! Errors of procedural code at run time.

use crate::{Ends, SqlError};

impl SqlError {
    /// 3609: a trigger that has ended the transaction.
    #[must_use]
    pub fn ended_in_trigger() -> Self {
        let text = "The transaction ended in the trigger. The batch has been aborted.";
        Self::new(3609, Ends::Transaction, text)
    }

    /// 3616: a trigger that has caught an error after which the transaction can only be rolled back.
    #[must_use]
    pub fn raised_in_trigger() -> Self {
        let text = "An error was raised during trigger execution. The batch has been aborted and the user transaction, if any, \
                    has been rolled back.";
        Self::new(3616, Ends::Transaction, text)
    }

    /// 148: an invalid time of WAITFOR.
    pub fn wait_time(text: &str) -> Self {
        Self::new(
            148,
            Ends::Statement,
            format!("Incorrect time syntax in time string '{text}' used with WAITFOR."),
        )
        .with_severity(15)
    }

    /// 201: a parameter without a default and without an argument.
    #[must_use]
    pub fn parameter_missing(procedure: &str, parameter: &str) -> Self {
        let text =
            format!("Procedure or function '{procedure}' expects parameter '{parameter}', which was not supplied.");
        Self::new(201, Ends::Statement, text).with_state(4)
    }

    /// 217: calls that are nested too deeply.
    pub fn nesting_exceeded(limit: usize) -> Self {
        let text =
            format!("Maximum stored procedure, function, trigger, or view nesting level exceeded (limit {limit}).");
        Self::new(217, Ends::Transaction, text)
    }

    /// 266: a procedure that ends with another transaction count than it began with.
    pub fn transaction_count(before: i32, now: i32) -> Self {
        let text = format!(
            "Transaction count after EXECUTE indicates a mismatching number of BEGIN and COMMIT statements. Previous \
             count = {before}, current count = {now}."
        );
        Self::new(266, Ends::Statement, text).with_state(2)
    }

    /// 628: a savepoint without a transaction.
    pub fn save_without_transaction() -> Self {
        let text = "Cannot issue SAVE TRANSACTION when there is no active transaction.";
        Self::new(628, Ends::Statement, text).with_state(0)
    }

    /// 491: OPENROWSET(BULK) without an alias.
    pub fn bulk_rowset_alias() -> Self {
        let text = "A correlation name must be specified for the bulk rowset in the from clause.";
        Self::new(491, Ends::Batch, text)
    }

    /// 4806: SINGLE_CLOB of a file that begins as UTF-16 does.
    pub fn bulk_unicode() -> Self {
        let text = "SINGLE_CLOB requires a double-byte character set (DBCS) (char) input file. The file specified is \
                    Unicode.";
        Self::new(4806, Ends::Statement, text)
    }

    /// 4809: SINGLE_NCLOB of a file that does not.
    pub fn bulk_not_unicode() -> Self {
        let text = "SINGLE_NCLOB requires a UNICODE (widechar) input file. The file specified is not Unicode.";
        Self::new(4809, Ends::Statement, text)
    }

    /// 2732: RAISERROR with an invalid message number.
    pub fn message_number(number: i32) -> Self {
        let text = format!(
            "Error number {number} is invalid. The number must be from 13000 through 2147483647 and it cannot be 50000."
        );
        Self::new(2732, Ends::Statement, text)
    }

    /// 2754: RAISERROR of a severity that needs WITH LOG.
    pub fn severity_needs_log() -> Self {
        let text = "Error severity levels greater than 18 can only be specified by members of the sysadmin role, \
                    using the WITH LOG option.";
        Self::new(2754, Ends::Statement, text)
    }

    /// 2778: RAISERROR WITH LOG by a user without administrator rights.
    pub fn log_needs_administrator() -> Self {
        let text = "Only System Administrator can specify WITH LOG option for RAISERROR command.";
        Self::new(2778, Ends::Statement, text)
    }

    /// 2786: an argument of RAISERROR of a wrong type for its placeholder.
    pub fn substitution_mismatch(number: usize) -> Self {
        let text = format!(
            "The data type of substitution parameter {number} does not match the expected type of the format \
             specification."
        );
        Self::new(2786, Ends::Statement, text)
    }

    /// 2787: an invalid placeholder in a message.
    pub fn format_specification(text: &str) -> Self {
        Self::new(
            2787,
            Ends::Statement,
            format!("Invalid format specification: '{text}'."),
        )
    }

    /// 2812: an unknown procedure.
    #[must_use]
    pub fn unknown_procedure(name: &str) -> Self {
        let text = format!("Could not find stored procedure '{name}'.");
        Self::new(2812, Ends::Statement, text).with_state(62)
    }

    /// 3902: COMMIT without a transaction.
    pub fn commit_without_transaction() -> Self {
        let text = "The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION.";
        Self::new(3902, Ends::Statement, text)
    }

    /// 3903: ROLLBACK without a transaction.
    pub fn rollback_without_transaction() -> Self {
        let text = "The ROLLBACK TRANSACTION request has no corresponding BEGIN TRANSACTION.";
        Self::new(3903, Ends::Statement, text)
    }

    /// 8164: an INSERT .. EXECUTE within another.
    pub fn nested_capture() -> Self {
        Self::new(8164, Ends::Statement, "An INSERT EXEC statement cannot be nested.")
    }

    /// 3915: a rollback within an INSERT .. EXECUTE.
    pub fn rollback_in_capture() -> Self {
        let text = "Cannot use the ROLLBACK statement within an INSERT-EXEC statement.";
        // The changes that the ROLLBACK was to undo must not stay: the whole transaction is rolled back.
        Self::new(3915, Ends::Transaction, text).with_state(0)
    }

    /// 3916: a COMMIT within an INSERT .. EXECUTE.
    pub fn commit_in_capture() -> Self {
        let text =
            "Cannot use the COMMIT statement within an INSERT-EXEC statement unless BEGIN TRANSACTION is used first.";
        Self::new(3916, Ends::Statement, text).with_state(0)
    }

    /// 483: OUTPUT in an INSERT .. EXECUTE.
    pub fn output_of_execute() -> Self {
        let text = "The OUTPUT clause cannot be used in an INSERT...EXEC statement.";
        Self::new(483, Ends::Batch, text)
    }

    /// 3930: a change in a transaction that can only be rolled back.
    pub fn uncommittable() -> Self {
        let text = "The current transaction cannot be committed and cannot support operations that write to the log \
                    file. Roll back the transaction.";
        Self::new(3930, Ends::Statement, text)
    }

    /// 3931: a rollback to a savepoint in a transaction that can only be rolled back.
    pub fn uncommittable_savepoint() -> Self {
        let text = "The current transaction cannot be committed and cannot be rolled back to a savepoint. Roll back \
                    the entire transaction.";
        Self::new(3931, Ends::Statement, text)
    }

    /// 3998: a transaction that can only be rolled back at the end of a batch.
    pub fn uncommittable_at_end() -> Self {
        let text = "Uncommittable transaction is detected at the end of the batch. The transaction is rolled back.";
        Self::new(3998, Ends::Transaction, text)
    }

    /// 6401: an unknown transaction or savepoint name.
    pub fn unknown_savepoint(name: &str) -> Self {
        let text = format!("Cannot roll back {name}. No transaction or savepoint of that name was found.");
        Self::new(6401, Ends::Statement, text)
    }

    /// 8114: an argument that does not convert to its parameter's type.
    pub fn argument_conversion(from: &str, to: &str) -> Self {
        let text = format!("Error converting data type {from} to {to}.");
        Self::new(8114, Ends::Statement, text).with_state(5)
    }

    /// 8143: a parameter that occurs twice in a call.
    pub fn parameter_twice(name: &str) -> Self {
        Self::new(
            8143,
            Ends::Statement,
            format!("Parameter '{name}' was supplied multiple times."),
        )
    }

    /// 8144: more arguments than parameters.
    pub fn too_many_arguments(procedure: &str) -> Self {
        let text = format!("Procedure or function {procedure} has too many arguments specified.");
        Self::new(8144, Ends::Statement, text).with_state(2)
    }

    /// 8145: an unknown parameter.
    pub fn unknown_parameter(name: &str, procedure: &str) -> Self {
        let text = format!("{name} is not a parameter for procedure {procedure}.");
        Self::new(8145, Ends::Statement, text).with_state(2)
    }

    /// 8162: OUTPUT of a parameter that is not an OUTPUT parameter.
    pub fn parameter_not_output(name: &str) -> Self {
        let text = format!(
            "The formal parameter \"{name}\" was not declared as an OUTPUT parameter, but the actual parameter passed \
             in requested output."
        );
        Self::new(8162, Ends::Statement, text).with_state(2)
    }

    /// 8178: a missing argument for a parameter of sp_executesql.
    pub fn text_parameter_missing(text: &str, parameter: &str) -> Self {
        let text =
            format!("The parameterized query '{text}' expects the parameter '{parameter}', which was not supplied.");
        Self::new(8178, Ends::Statement, text)
    }

    /// 18054: RAISERROR with an unknown message number.
    pub fn unknown_message(number: i32, severity: i32, state: i32) -> Self {
        let text = format!(
            "Error {number}, severity {severity}, state {state} was raised, but no message with that error number was \
             found in sys.messages. If error is larger than 50000, make sure the user-defined message is added using \
             sp_addmessage."
        );
        Self::new(18054, Ends::Statement, text)
    }

    /// 35100: THROW with a number below 50000.
    pub fn thrown_number(number: i32) -> Self {
        let text = format!(
            "Error number {number} in the THROW statement is outside the valid range. Specify an error number in the \
             valid range of 50000 to 2147483647."
        );
        Self::new(35100, Ends::Statement, text).with_state(10)
    }
}
