//! Errors of cursors.

use crate::{Ends, SqlError};

impl SqlError {
    /// 1048: options of a cursor that exclude each other.
    #[must_use]
    pub fn cursor_options(first: &str, second: &str) -> Self {
        let text = format!("Conflicting cursor options {first} and {second}.");
        Self::new(1048, Ends::Batch, text).with_severity(15)
    }

    /// 1049: options of both forms of DECLARE CURSOR.
    #[must_use]
    pub fn cursor_syntax_mixed() -> Self {
        let text = "Mixing old and new syntax to specify cursor options is not allowed.";
        Self::new(1049, Ends::Batch, text).with_severity(15)
    }

    /// 13602 or 6819: FOR JSON or FOR XML in a cursor.
    #[must_use]
    pub fn for_in_cursor(is_json: bool) -> Self {
        let (number, word) = if is_json { (13602, "JSON") } else { (6819, "XML") };
        let text = format!("The FOR {word} clause is not allowed in a CURSOR statement.");
        Self::new(number, Ends::Batch, text)
    }

    /// 16905: an open cursor.
    #[must_use]
    pub fn cursor_is_open() -> Self {
        Self::new(16905, Ends::Statement, "The cursor is already open.")
    }

    /// 16911: a direction other than NEXT.
    #[must_use]
    pub fn fetch_forward_only(of: &str, direction: &str) -> Self {
        let text = format!("{of}: The fetch type {direction} cannot be used with forward only cursors.");
        Self::new(16911, Ends::Statement, text)
    }

    /// 16915: a name that a cursor has.
    #[must_use]
    pub fn cursor_exists(name: &str) -> Self {
        let text = format!("A cursor with the name '{name}' already exists.");
        Self::new(16915, Ends::Statement, text)
    }

    /// 16916: a name that no cursor has.
    #[must_use]
    pub fn unknown_cursor(name: &str) -> Self {
        let text = format!("A cursor with the name '{name}' does not exist.");
        Self::new(16916, Ends::Statement, text)
    }

    /// 16917: a cursor that is not open.
    #[must_use]
    pub fn cursor_is_closed() -> Self {
        Self::new(16917, Ends::Statement, "Cursor is not open.")
    }

    /// 16924: INTO with another number of variables than the cursor has columns.
    #[must_use]
    pub fn fetch_variable_count() -> Self {
        let text =
            "Cursorfetch: The number of variables declared in the INTO list must match that of selected columns.";
        Self::new(16924, Ends::Statement, text)
    }

    /// 16922: a value of a type that INTO does not convert.
    #[must_use]
    pub fn fetch_conversion(from: &str, to: &str) -> Self {
        let text = format!("Cursor Fetch: Implicit conversion from data type {from} to {to} is not allowed.");
        Self::new(16922, Ends::Statement, text)
    }

    /// 16946: a cursor whose tables are out of scope.
    #[must_use]
    pub fn cursor_tables_gone() -> Self {
        let text = "Could not open the cursor because one or more of its tables have gone out of scope.";
        Self::new(16946, Ends::Statement, text)
    }

    /// 16948: a variable of another type in place of a cursor.
    #[must_use]
    pub fn not_a_cursor_variable(name: &str) -> Self {
        let text = format!(
            "The variable '{name}' is not a cursor variable, but it is used in a place where a cursor variable is expected."
        );
        Self::new(16948, Ends::Batch, text)
    }

    /// 16949: a cursor variable in place of a value.
    #[must_use]
    pub fn cursor_variable(name: &str) -> Self {
        let text = format!(
            "The variable '{name}' is a cursor variable, but it is used in a place where a cursor variable is not valid."
        );
        Self::new(16949, Ends::Batch, text)
    }

    /// 16950: a variable without a cursor.
    #[must_use]
    pub fn no_cursor_allocated(name: &str) -> Self {
        let text = format!("The variable '{name}' does not currently have a cursor allocated to it.");
        Self::new(16950, Ends::Statement, text).with_state(2)
    }

    /// 16951: a variable that has a cursor, for a parameter that returns one.
    #[must_use]
    pub fn cursor_already_allocated(name: &str) -> Self {
        let text = format!(
            "The variable '{name}' cannot be used as a parameter because a CURSOR OUTPUT parameter must not have a cursor \
             allocated to it before execution of the procedure."
        );
        Self::new(16951, Ends::Statement, text)
    }

    /// 16957: FOR UPDATE of a cursor that only reads.
    #[must_use]
    pub fn for_update_of_read_only() -> Self {
        let text = "FOR UPDATE cannot be specified on a READ ONLY cursor.";
        Self::new(16957, Ends::Batch, text)
    }

    /// 16960: one more cursor than a session may have.
    #[must_use]
    pub fn too_many_cursors() -> Self {
        let text = "You have reached the maximum number of cursors allowed.";
        Self::new(16960, Ends::Statement, text)
    }

    /// 16925: a direction that a dynamic cursor has not.
    #[must_use]
    pub fn fetch_dynamic(direction: &str) -> Self {
        let text = format!("The fetch type {direction} cannot be used with dynamic cursors.");
        Self::new(16925, Ends::Statement, text)
    }

    /// 16929: a change of a row through a cursor that only reads.
    #[must_use]
    pub fn cursor_read_only() -> Self {
        Self::new(16929, Ends::Statement, "The cursor is READ ONLY.")
    }

    /// 16931: a cursor that is on no row.
    #[must_use]
    pub fn no_current_row() -> Self {
        Self::new(16931, Ends::Statement, "There are no rows in the current fetch buffer.")
    }

    /// 16932: a column that is not of FOR UPDATE.
    #[must_use]
    pub fn not_for_update() -> Self {
        let text = "The cursor has a FOR UPDATE list and the requested column to be updated is not in this list.";
        Self::new(16932, Ends::Statement, text)
    }

    /// 16933: a change of another table than the cursor's.
    #[must_use]
    pub fn not_of_cursor() -> Self {
        let text =
            "The cursor does not include the table being modified or the table is not updatable through the cursor.";
        Self::new(16933, Ends::Statement, text)
    }

    /// 16934: a row that has changed since it was fetched.
    #[must_use]
    pub fn row_changed() -> Self {
        let text = "Optimistic concurrency check failed. The row was modified outside of this cursor.";
        Self::new(16934, Ends::Statement, text)
    }

    /// 16943: a table that is no longer what it was.
    #[must_use]
    pub fn cursor_schema_changed() -> Self {
        let text =
            "Could not complete cursor operation because the table schema changed after the cursor was declared.";
        Self::new(16943, Ends::Statement, text)
    }

    /// 16947: a row that is no longer there.
    #[must_use]
    pub fn current_row_gone() -> Self {
        Self::new(16947, Ends::Statement, "No rows were updated or deleted.")
    }

    /// 16902: an argument of a cursor's procedure.
    #[must_use]
    pub fn cursor_argument(procedure: &str, parameter: &str) -> Self {
        let text = format!("{procedure}: The value of the parameter '{parameter}' is invalid.");
        Self::new(16902, Ends::Statement, text)
    }

    /// 16909: a number that no cursor has.
    #[must_use]
    pub fn unknown_cursor_number(procedure: &str, number: i32) -> Self {
        let text = format!("{procedure}: The cursor identifier value provided ({number:x}) is not valid.");
        Self::new(16909, Ends::Statement, text)
    }

    /// 16930: a row that is not in the buffer.
    #[must_use]
    pub fn not_in_buffer() -> Self {
        Self::new(16930, Ends::Statement, "The requested row is not in the fetch buffer.")
    }

    /// 16937: what is no query.
    #[must_use]
    pub fn no_cursor_for_statement() -> Self {
        let text = "A server cursor cannot be opened on the given statement or statements. Use a default result set or \
                    client cursor.";
        Self::new(16937, Ends::Statement, text)
    }

    /// 16955: a cursor that the client does not accept.
    #[must_use]
    pub fn not_acceptable() -> Self {
        Self::new(16955, Ends::Statement, "Could not create an acceptable cursor.")
    }
}
