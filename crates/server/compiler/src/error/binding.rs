//! Errors of names and types, found before a statement runs: they end the batch.

use selenite_types::DeclarationError;

use super::{Ends, SqlError};

impl SqlError {
    /// 40510: an unsupported feature of SQL Server, by its name.
    #[must_use]
    pub fn unsupported(what: &str) -> Self {
        Self::new(40510, Ends::Batch, format!("{what} is not supported."))
    }

    /// 40510 for a function.
    #[must_use]
    pub fn unsupported_function(name: &str) -> Self {
        Self::unsupported(&format!("Function '{name}'"))
    }

    /// 106: more sources in a query than the limit.
    #[must_use]
    pub fn too_many_tables(count_max: usize) -> Self {
        let text = format!("Too many table names in the query. The maximum allowable is {count_max}.");
        Self::new(106, Ends::Batch, text).with_severity(15)
    }

    /// 8624: an internal error.
    #[must_use]
    pub fn internal(what: &str) -> Self {
        let text = "Internal Query Processor Error: The query processor could not produce a query plan.";
        Self::new(8624, Ends::Statement, format!("{text} ({what})"))
    }

    /// 102: an unexpected word.
    #[must_use]
    pub fn syntax_near(word: &str) -> Self {
        Self::new(102, Ends::Batch, format!("Incorrect syntax near '{word}'.")).with_severity(15)
    }

    /// 128: a column where no rows are in scope.
    #[must_use]
    pub fn name_not_permitted(name: &str) -> Self {
        let text = format!(
            "The name \"{name}\" is not permitted in this context. Valid expressions are constants, constant expressions, \
             and (in some contexts) variables. Column names are not permitted."
        );
        Self::new(128, Ends::Batch, text).with_severity(15)
    }

    /// 134: a variable that is declared twice in its batch.
    #[must_use]
    pub fn variable_declared_twice(name: &str) -> Self {
        let text = format!(
            "The variable name '{name}' has already been declared. Variable names must be unique within a query batch \
             or stored procedure."
        );
        Self::new(134, Ends::Batch, text).with_severity(15)
    }

    /// 2739: a variable of a type that only columns and parameters have.
    #[must_use]
    pub fn old_type_of_variable() -> Self {
        let text = "The text, ntext, and image data types are invalid for local variables.";
        Self::new(2739, Ends::Batch, text)
    }

    /// 137: an undeclared variable.
    #[must_use]
    pub fn undeclared_variable(name: &str) -> Self {
        Self::new(
            137,
            Ends::Batch,
            format!("Must declare the scalar variable \"{name}\"."),
        )
        .with_severity(15)
        .with_state(2)
    }

    /// 147: an aggregate in WHERE.
    #[must_use]
    pub fn aggregate_in_where() -> Self {
        let text = "An aggregate may not appear in the WHERE clause unless it is in a subquery contained in a HAVING clause \
                    or a select list, and the column being aggregated is an outer reference.";
        Self::new(147, Ends::Batch, text).with_severity(15)
    }

    /// 155: an unknown word among a function's arguments.
    #[must_use]
    pub fn unknown_option(word: &str, function: &str) -> Self {
        let text = format!("'{word}' is not a recognized {function} option.");
        Self::new(155, Ends::Batch, text).with_severity(15)
    }

    /// 155: an unknown date part of a function.
    #[must_use]
    pub fn unknown_date_part(word: &str, function: &str) -> Self {
        Self::new(
            155,
            Ends::Batch,
            format!("'{word}' is not a recognized {function} option."),
        )
        .with_severity(15)
    }

    /// 168: a float that no type can represent.
    #[must_use]
    pub fn float_out_of_range(text: &str) -> Self {
        let text =
            format!("The floating point value '{text}' is out of the range of computer representation (8 bytes).");
        Self::new(168, Ends::Batch, text).with_severity(15)
    }

    /// 174: a wrong number of arguments of a function with a fixed number.
    #[must_use]
    pub fn argument_count(function: &str, count: usize) -> Self {
        let text = format!("The {function} function requires {count} argument(s).");
        Self::new(174, Ends::Batch, text).with_severity(15)
    }

    /// 189: a wrong number of arguments of a function with a range.
    #[must_use]
    pub fn argument_count_range(function: &str, least: usize, most: usize) -> Self {
        let text = format!("The {function} function requires {least} to {most} arguments.");
        Self::new(189, Ends::Batch, text).with_severity(15)
    }

    /// 195: an unknown function, option or global variable.
    #[must_use]
    pub fn unknown_function(name: &str) -> Self {
        let text = format!("'{name}' is not a recognized built-in function name.");
        Self::new(195, Ends::Batch, text).with_severity(15).with_state(10)
    }

    /// 207: an unknown column.
    #[must_use]
    pub fn unknown_column(name: &str) -> Self {
        Self::new(207, Ends::Batch, format!("Invalid column name '{name}'."))
    }

    /// 208: an unknown table, view or table-valued function.
    #[must_use]
    pub fn unknown_object(name: &str) -> Self {
        Self::new(208, Ends::Batch, format!("Invalid object name '{name}'."))
    }

    /// 209: a column name that several sources have.
    #[must_use]
    pub fn ambiguous_column(name: &str) -> Self {
        Self::new(209, Ends::Batch, format!("Ambiguous column name '{name}'."))
    }

    /// 448: an unknown collation.
    #[must_use]
    pub fn unknown_collation(name: &str) -> Self {
        Self::new(448, Ends::Batch, format!("Invalid collation '{name}'."))
    }

    /// 447: COLLATE of an expression that is not text.
    #[must_use]
    pub fn collate_type(type_name: &str) -> Self {
        Self::new(
            447,
            Ends::Batch,
            format!("Expression type {type_name} is invalid for COLLATE clause."),
        )
    }

    /// 468: two collations that differ, the later one first.
    #[must_use]
    pub fn collation_conflict(later: &str, earlier: &str, operation: &str) -> Self {
        let text = format!(
            "Cannot resolve the collation conflict between \"{later}\" and \"{earlier}\" in the {operation} operation."
        );
        Self::new(468, Ends::Batch, text).with_state(9)
    }

    /// 451: two collations of a column of a result, the later one first.
    #[must_use]
    pub fn column_conflict(later: &str, earlier: &str, operator: &str, column: usize) -> Self {
        let text = format!(
            "Cannot resolve collation conflict between \"{later}\" and \"{earlier}\" in {operator} operator occurring in SELECT \
             statement column {column}."
        );
        Self::new(451, Ends::Batch, text)
    }

    /// 457: text of one byte a character that has two collations, and so perhaps two code pages.
    #[must_use]
    pub fn conversion_conflict(of: &str, [later, earlier]: [&str; 2], operator: &str) -> Self {
        let text = format!(
            "Implicit conversion of {of} value to {of} cannot be performed because the collation of the value is unresolved due \
             to a collation conflict between \"{later}\" and \"{earlier}\" in {operator} operator."
        );
        Self::new(457, Ends::Batch, text)
    }

    /// 302: NEWSEQUENTIALID anywhere but as the default of a uniqueidentifier.
    #[must_use]
    pub fn sequential_not_default() -> Self {
        let text = "The newsequentialid() built-in function can only be used in a DEFAULT expression for a column of type \
                    'uniqueidentifier' in a CREATE TABLE or ALTER TABLE statement. It cannot be combined with other \
                    operators to form a complex scalar expression.";
        Self::new(302, Ends::Batch, text).with_state(0)
    }

    /// 10761: PARSE to a type that text is not parsed to.
    #[must_use]
    pub fn parse_type(type_name: &str, function: &str) -> Self {
        let text = format!("Invalid data type {type_name} in function {function}.");
        Self::new(10761, Ends::Batch, text)
    }

    /// 403: a unary operator of an unsupported type.
    #[must_use]
    pub fn invalid_operator_type(operator: &str, type_name: &str) -> Self {
        let text = format!("Invalid operator for data type. Operator equals {operator}, type equals {type_name}.");
        Self::new(403, Ends::Batch, text)
    }

    /// 1007: a number of more than 38 digits.
    #[must_use]
    pub fn number_out_of_range(text: &str) -> Self {
        let text =
            format!("The number '{text}' is out of the range for numeric representation (maximum precision 38).");
        Self::new(1007, Ends::Batch, text).with_severity(15)
    }

    /// 1046: a subquery where none is allowed.
    #[must_use]
    pub fn subquery_not_allowed() -> Self {
        let text = "Subqueries are not allowed in this context. Only scalar expressions are allowed.";
        Self::new(1046, Ends::Batch, text).with_severity(15)
    }

    /// 1023: an argument that is not a keyword.
    #[must_use]
    pub fn invalid_parameter(number: usize, function: &str) -> Self {
        let text = format!("Invalid parameter {number} specified for {function}.");
        Self::new(1023, Ends::Batch, text).with_severity(15)
    }

    /// 4104: a qualified name with an unknown qualifier.
    #[must_use]
    pub fn unbound_identifier(name: &str) -> Self {
        Self::new(
            4104,
            Ends::Batch,
            format!("The multi-part identifier \"{name}\" could not be bound."),
        )
    }

    /// 4108: a window function outside SELECT and ORDER BY.
    #[must_use]
    pub fn window_not_allowed() -> Self {
        let text = "Windowed functions can only appear in the SELECT or ORDER BY clauses.";
        Self::new(4108, Ends::Batch, text).with_severity(15)
    }

    /// 8116: an argument of an unsupported type.
    #[must_use]
    pub fn argument_type(type_name: &str, number: usize, function: &str) -> Self {
        let text = format!("Argument data type {type_name} is invalid for argument {number} of {function} function.");
        Self::new(8116, Ends::Batch, text)
    }

    /// 8117: an operand of an unsupported type in an operator or aggregate.
    #[must_use]
    pub fn operand_type(type_name: &str, operator: &str) -> Self {
        let text = format!("Operand data type {type_name} is invalid for {operator} operator.");
        Self::new(8117, Ends::Batch, text)
    }

    /// 8133: CASE with NULL literals only.
    #[must_use]
    pub fn only_nulls_in_case() -> Self {
        let text = "At least one of the result expressions in a CASE specification must be an expression other than the \
                    NULL constant.";
        Self::new(8133, Ends::Batch, text)
    }

    /// 4121: an unknown user-defined function.
    #[must_use]
    pub fn unknown_user_function(name: &str) -> Self {
        let column = name.split('.').next().unwrap_or(name);
        let text = format!(
            "Cannot find either column \"{column}\" or the user-defined function or aggregate \"{name}\", or the name is \
             ambiguous."
        );
        Self::new(4121, Ends::Batch, text)
    }

    /// 4127: COALESCE with NULL literals only.
    #[must_use]
    pub fn only_nulls_in_coalesce() -> Self {
        let text = "At least one of the arguments to COALESCE must be an expression that is not the NULL constant.";
        Self::new(4127, Ends::Batch, text)
    }

    /// 4151: NULLIF whose first argument is the NULL literal.
    #[must_use]
    pub fn nullif_of_null() -> Self {
        let text = "The type of the first argument to NULLIF cannot be the NULL constant because the type of the first \
                    argument has to be known.";
        Self::new(4151, Ends::Batch, text)
    }

    /// 8631: a statement with too many operations.
    #[must_use]
    pub fn too_complex() -> Self {
        let text = "Internal error: Server stack limit has been reached. Please look for potentially deep nesting in your \
                    query, and try to simplify it.";
        Self::new(8631, Ends::Batch, text).with_severity(17)
    }

    /// 8623: a statement that exceeds its budget of nodes.
    #[must_use]
    pub fn no_plan() -> Self {
        let text = "The query processor ran out of internal resources and could not produce a query plan. This is a rare event \
                    and only expected for extremely complex queries or queries that reference a very large number of \
                    tables or partitions. Please simplify the query. If you believe you have received this message in \
                    error, contact Customer Support Services for more information.";
        Self::new(8623, Ends::Batch, text).with_severity(16)
    }

    /// 8624: the statement is cancelled. It is not sent: the machine polls its host before it sends an error.
    #[must_use]
    pub fn interrupted() -> Self {
        Self::internal("a statement that is to stop")
    }

    /// 701: more memory than the session's limit.
    #[must_use]
    pub fn out_of_memory() -> Self {
        let text = "There is insufficient system memory in resource pool 'default' to run this query.";
        Self::new(701, Ends::Batch, text).with_severity(17).with_state(123)
    }

    /// 10753: a window function without OVER.
    #[must_use]
    pub fn over_required(function: &str) -> Self {
        let text = format!("The function '{function}' must have an OVER clause.");
        Self::new(10753, Ends::Batch, text).with_severity(15)
    }
}

impl From<DeclarationError> for SqlError {
    fn from(error: DeclarationError) -> Self {
        Self::new(i32::from(error.number()), Ends::Batch, error.to_string())
            .with_severity(error.severity())
            .with_state(error.state())
    }
}
