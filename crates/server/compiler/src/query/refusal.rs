//! Errors of queries, with SQL Server's texts.

mod grouping;
mod recursion;
mod window;

use crate::{Ends, SqlError};

impl SqlError {
    fn query(number: i32, severity: u8, state: u8, text: impl Into<String>) -> Self {
        Self::new(number, Ends::Batch, text)
            .with_severity(severity)
            .with_state(state)
    }

    /// 104: ORDER BY of a UNION by an expression that is not one of its columns.
    pub(crate) fn order_item_of_union() -> Self {
        let text = "ORDER BY items must appear in the select list if the statement contains a UNION, INTERSECT or EXCEPT \
                    operator.";
        Self::query(104, 15, 1, text)
    }

    /// 107: `t.*` of an unknown table.
    pub(crate) fn unknown_star(prefix: &str) -> Self {
        let text =
            format!("The column prefix '{prefix}' does not match with a table name or alias name used in the query.");
        Self::query(107, 15, 1, text)
    }

    /// 108: ORDER BY with a column number out of range.
    pub(crate) fn order_position(number: &str) -> Self {
        let text =
            format!("The ORDER BY position number {number} is out of range of the number of items in the select list.");
        Self::query(108, 15, 1, text)
    }

    /// 116: several columns in a scalar subquery.
    pub(crate) fn one_column_only() -> Self {
        let text =
            "Only one expression can be specified in the select list when the subquery is not introduced with EXISTS.";
        Self::query(116, 16, 1, text)
    }

    /// 130: an aggregate of an aggregate.
    pub(crate) fn aggregate_of_aggregate() -> Self {
        let text = "Cannot perform an aggregate function on an expression containing an aggregate or a subquery.";
        Self::query(130, 15, 1, text)
    }

    /// 141: assignments mixed with values in one SELECT.
    pub(crate) fn assignment_and_rows() -> Self {
        let text = "A SELECT statement that assigns a value to a variable must not be combined with data-retrieval operations.";
        Self::query(141, 15, 1, text)
    }

    /// 144: GROUP BY an aggregate or a subquery.
    pub(crate) fn group_by_aggregate() -> Self {
        let text =
            "Cannot use an aggregate or a subquery in an expression used for the group by list of a GROUP BY clause.";
        Self::query(144, 15, 1, text)
    }

    /// 145: ORDER BY of a DISTINCT by an expression that is not one of its columns.
    pub(crate) fn order_item_of_distinct() -> Self {
        Self::query(
            145,
            15,
            1,
            "ORDER BY items must appear in the select list if SELECT DISTINCT is specified.",
        )
    }

    /// 157: an aggregate in UPDATE's SET.
    pub(crate) fn aggregate_in_set() -> Self {
        Self::query(
            157,
            15,
            1,
            "An aggregate may not appear in the set list of an UPDATE statement.",
        )
    }

    /// 158: an aggregate in OUTPUT.
    pub(crate) fn aggregate_in_output() -> Self {
        Self::query(158, 15, 1, "An aggregate may not appear in the OUTPUT clause.")
    }

    /// 164: GROUP BY an expression without a column.
    pub(crate) fn group_by_constant() -> Self {
        let text = "Each GROUP BY expression must contain at least one column that is not an outer reference.";
        Self::query(164, 15, 1, text)
    }

    /// 169: the same column twice in ORDER BY.
    pub(crate) fn order_item_twice() -> Self {
        let text = "A column has been specified more than once in the order by list. Columns in the order by list must be unique.";
        Self::query(169, 15, 1, text)
    }

    /// 191: queries that are nested too deeply.
    pub(crate) fn nested_too_deeply() -> Self {
        let text = "Some part of your SQL statement is nested too deeply. Rewrite the query or break it up into smaller queries.";
        Self::query(191, 15, 1, text)
    }

    /// 205: a UNION of different numbers of columns.
    pub(crate) fn unequal_columns() -> Self {
        let text = "All queries combined using a UNION, INTERSECT or EXCEPT operator must have an equal number of expressions \
                    in their target lists.";
        Self::query(205, 16, 1, text)
    }

    /// 263: `*` without FROM.
    pub(crate) fn star_of_nothing() -> Self {
        Self::query(263, 16, 1, "Must specify table to select from.")
    }

    /// 408: ORDER BY a constant.
    pub(crate) fn order_by_constant(position: usize) -> Self {
        let text = format!("A constant expression was encountered in the ORDER BY list, position {position}.");
        Self::query(408, 16, 1, text)
    }

    /// 1008: ORDER BY a variable.
    pub(crate) fn order_by_variable(position: usize) -> Self {
        let text = format!(
            "The SELECT item identified by the ORDER BY number {position} contains a variable as part of the expression \
             identifying a column position. Variables are only allowed when ordering by an expression referencing a column \
             name."
        );
        Self::query(1008, 16, 1, text)
    }

    /// 1011: two sources with one alias.
    pub(crate) fn alias_twice(name: &str) -> Self {
        Self::query(
            1011,
            16,
            1,
            format!("The correlation name '{name}' is specified multiple times in a FROM clause."),
        )
    }

    /// 1012: an alias that is also the name of a table.
    pub(crate) fn table_and_alias(name: &str) -> Self {
        let text = format!("The correlation name '{name}' has the same exposed name as table '{name}'.");
        Self::query(1012, 16, 1, text)
    }

    /// 1013: one table twice without aliases.
    pub(crate) fn table_twice(first: &str, second: &str) -> Self {
        let text = format!(
            "The objects \"{first}\" and \"{second}\" in the FROM clause have the same exposed names. \
             Use correlation names to distinguish them."
        );
        Self::query(1013, 16, 1, text)
    }

    /// 1015: an aggregate in ON.
    pub(crate) fn aggregate_in_on() -> Self {
        let text = "An aggregate cannot appear in an ON clause unless it is in a subquery contained in a HAVING clause or \
                    select list, and the column being aggregated is an outer reference.";
        Self::query(1015, 15, 1, text)
    }

    /// 1031: a percentage above 100.
    pub(crate) fn percent_range() -> Self {
        Self::new(1031, Ends::Statement, "Percent values must be between 0 and 100.").with_severity(15)
    }

    /// 1014: TOP or FETCH of NULL, or of a negative count.
    pub fn invalid_row_count() -> Self {
        Self::new(
            1014,
            Ends::Statement,
            "A TOP or FETCH clause contains an invalid value.",
        )
        .with_severity(15)
    }

    /// 10742: a negative OFFSET.
    pub(crate) fn negative_offset() -> Self {
        Self::new(
            10742,
            Ends::Statement,
            "The offset specified in a OFFSET clause may not be negative.",
        )
        .with_severity(15)
    }

    /// 10744: FETCH with a count below 1.
    pub(crate) fn fetch_of_none() -> Self {
        let text = "The number of rows provided for a FETCH clause must be greater then zero.";
        Self::new(10744, Ends::Statement, text).with_severity(15)
    }

    /// 512: several rows in a scalar subquery.
    pub fn several_rows() -> Self {
        let text = "Subquery returned more than 1 value. This is not permitted when the subquery follows =, !=, <, <= , >, >= \
                    or when the subquery is used as an expression.";
        Self::new(512, Ends::Statement, text)
    }

    /// 1033: ORDER BY without TOP or OFFSET in a view or subquery.
    pub(crate) fn order_in_view() -> Self {
        let text = "The ORDER BY clause is invalid in views, inline functions, derived tables, subqueries, and common table \
                    expressions, unless TOP, OFFSET or FOR XML is also specified.";
        Self::query(1033, 15, 1, text)
    }

    /// 1038: a column of SELECT INTO without a name.
    pub(crate) fn unnamed_into_column() -> Self {
        let text = "An object or column name is missing or empty. For SELECT INTO statements, verify each column has a name. \
                    For other statements, look for empty alias names. Aliases defined as \"\" or [] are not allowed. Change \
                    the alias to a valid name.";
        Self::query(1038, 15, 5, text)
    }

    /// 2705: two columns of SELECT INTO with one name.
    pub(crate) fn into_column_twice(column: &str, table: &str) -> Self {
        let text = format!(
            "Column names in each table must be unique. Column name '{column}' in table '{table}' is specified more than once."
        );
        Self::query(2705, 16, 3, text)
    }

    /// 50823: a stored value that is not of its declared type.
    ///
    /// `place` names its table and column; it is empty for a value that is computed from several.
    pub fn misfit(place: &str, what: &str) -> Self {
        let place = if place.is_empty() {
            String::new()
        } else {
            format!(" in {place}")
        };
        Self::new(
            50823,
            Ends::Statement,
            format!("A stored value{place} is not of its declared type: {what}."),
        )
    }

    /// 1056: too many columns in a select list.
    pub(crate) fn too_many_columns() -> Self {
        let text = "The number of elements in the select list exceeds the maximum allowed number of 4096 elements.";
        Self::query(1056, 15, 1, text)
    }

    /// 321: an unknown hint.
    pub(crate) fn unknown_hint(name: &str) -> Self {
        let text = format!(
            "\"{name}\" is not a recognized table hints option. If it is intended as a parameter to a table-valued function or to \
             the CHANGETABLE function, ensure that your database compatibility mode is set to 90."
        );
        Self::query(321, 15, 1, text)
    }

    /// 1060: TOP or FETCH with a count that is not an integer.
    pub(crate) fn row_count_type() -> Self {
        let text = "The number of rows provided for a TOP or FETCH clauses row count parameter must be an integer.";
        Self::query(1060, 15, 1, text)
    }

    /// 1087: an undeclared table variable.
    pub(crate) fn undeclared_table_variable(name: &str) -> Self {
        Self::query(1087, 15, 2, format!("Must declare the table variable \"{name}\"."))
    }

    /// 1062: WITH TIES without ORDER BY.
    pub(crate) fn ties_without_order() -> Self {
        Self::query(
            1062,
            15,
            1,
            "The TOP N WITH TIES clause is not allowed without a corresponding ORDER BY clause.",
        )
    }

    /// 4115: a column in TOP, OFFSET or FETCH.
    pub(crate) fn column_in_limit() -> Self {
        let text = "A column reference is not allowed in an argument to a TOP, OFFSET, or FETCH clause. Only references to \
                    columns at an outer scope or standalone expressions and subqueries are allowed here.";
        Self::query(4115, 15, 1, text)
    }

    /// 10741: TOP and OFFSET in one query.
    pub(crate) fn top_and_offset() -> Self {
        Self::query(
            10741,
            15,
            2,
            "A TOP can not be used in the same query or sub-query as a OFFSET.",
        )
    }

    /// 8120, 8121, 8127: a column that is neither grouped nor aggregated.
    pub(crate) fn not_grouped(number: i32, column: &str, clause: &str) -> Self {
        // The text of 8127 alone has quotation marks.
        let mark = if number == 8127 { '"' } else { '\'' };
        let text = format!(
            "Column {mark}{column}{mark} is invalid in the {clause} because it is not contained in either an aggregate \
             function or the GROUP BY clause."
        );
        Self::query(number, 16, 1, text)
    }

    /// 8155: a column of a derived table without a name.
    pub(crate) fn unnamed_column(number: usize, name: &str) -> Self {
        Self::query(
            8155,
            16,
            2,
            format!("No column name was specified for column {number} of '{name}'."),
        )
    }

    /// 8156: two columns of a derived table with one name.
    pub(crate) fn column_twice(column: &str, name: &str) -> Self {
        Self::query(
            8156,
            16,
            1,
            format!("The column '{column}' was specified multiple times for '{name}'."),
        )
    }

    /// 8158 and 8159: a column list with more or fewer names than columns.
    pub(crate) fn column_list(name: &str, columns: usize, names: usize) -> Self {
        if names < columns {
            Self::query(
                8158,
                16,
                1,
                format!("'{name}' has more columns than were specified in the column list."),
            )
        } else {
            Self::query(
                8159,
                16,
                1,
                format!("'{name}' has fewer columns than were specified in the column list."),
            )
        }
    }

    /// 10709: rows of VALUES of different lengths.
    pub(crate) fn unequal_rows() -> Self {
        Self::query(
            10709,
            16,
            1,
            "The number of columns for each row in a table value constructor must be the same.",
        )
    }

    /// 313: a table-valued function with too few arguments.
    pub(crate) fn too_few_arguments(name: &str) -> Self {
        let text = format!("An insufficient number of arguments were supplied for the procedure or function {name}.");
        Self::query(313, 16, 3, text)
    }

    /// 8144: a table-valued function with too many arguments.
    pub(crate) fn too_many_function_arguments(name: &str) -> Self {
        let text = format!("Procedure or function {name} has too many arguments specified.");
        Self::query(8144, 16, 3, text)
    }

    /// 7202: an unknown linked server.
    pub(crate) fn unreachable_server(name: &str) -> Self {
        Self::query(
            7202,
            11,
            2,
            format!(
                "Could not find server '{name}' in sys.servers. Verify that the correct server name was specified. \
             If necessary, execute the stored procedure sp_addlinkedserver to add the server to sys.servers."
            ),
        )
    }
}
