//! Syntax errors with SQL Server's number, severity, state, text and line.

use core::fmt;
use std::borrow::Cow;

use crate::ast::Position;

/// A syntax error as SQL Server reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SyntaxError {
    /// SQL Server's message number: 102, 105, 156 and others.
    pub number: u32,
    /// The severity: 15, an error that the user can correct.
    pub severity: u8,
    /// The state.
    pub state: u8,
    /// The line of the batch, from 1.
    pub line: u32,
    /// The message text.
    pub message: String,
    /// The position of the reported token; empty at the end of the batch.
    pub position: Position,
}

impl SyntaxError {
    /// The second error that SQL Server sends with this one: 105 is followed by 102 near the same text.
    ///
    /// A client receives both and reports the first.
    #[must_use]
    pub fn also(&self) -> Option<Self> {
        let text = self.message.strip_prefix(UNCLOSED_QUOTE)?.strip_suffix("'.")?;
        Some(*SyntaxFault::near(text).at(self.position))
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for SyntaxError {}

/// An error without its position.
#[derive(Clone, Debug)]
pub(crate) struct SyntaxFault {
    number: u32,
    state: u8,
    message: Cow<'static, str>,
}

impl SyntaxFault {
    /// The error with its `position`.
    pub(crate) fn at(self, position: Position) -> Box<SyntaxError> {
        Box::new(SyntaxError {
            number: self.number,
            severity: SEVERITY,
            state: self.state,
            line: position.line,
            message: self.message.into_owned(),
            position,
        })
    }

    const fn fixed(number: u32, state: u8, message: &'static str) -> Self {
        Self {
            number,
            state,
            message: Cow::Borrowed(message),
        }
    }

    fn with(number: u32, state: u8, message: String) -> Self {
        Self {
            number,
            state,
            message: Cow::Owned(message),
        }
    }

    pub(crate) fn near(token: &str) -> Self {
        Self::with(102, 1, format!("Incorrect syntax near '{}'.", echo(token)))
    }

    /// 156: an unexpected keyword.
    pub(crate) fn near_keyword(word: &str) -> Self {
        Self::with(156, 1, format!("Incorrect syntax near the keyword '{word}'."))
    }

    /// 105: a quote that is not closed.
    pub(crate) fn unclosed_quote(body: &str) -> Self {
        Self::with(105, 1, format!("{UNCLOSED_QUOTE}{}'.", echo(body)))
    }

    /// 103: an identifier that is too long.
    ///
    /// `start` is the part of the identifier that the message quotes: the maximum length.
    pub(crate) fn long_identifier(start: &str) -> Self {
        let message = format!("The identifier that starts with '{start}' is too long. Maximum length is 128.");
        Self::with(103, 4, message)
    }

    /// The error for a transaction's or savepoint's name; `start` as in [`SyntaxFault::long_identifier`].
    pub(crate) fn long_transaction_name(start: &str) -> Self {
        let message = format!("The identifier that starts with '{start}' is too long. Maximum length is 32.");
        Self::with(103, 2, message)
    }

    /// 336: what may be a common table expression after a statement without a semicolon.
    pub(crate) fn not_common_table(token: &str) -> Self {
        let message = format!(
            "Incorrect syntax near '{}'. If this is intended to be a common table expression, you need to explicitly \
             terminate the previous statement with a semi-colon.",
            echo(token)
        );
        Self::with(336, 1, message)
    }

    /// 111: a statement that must be the first in its batch.
    ///
    /// `what` is the statement that must be the first in its batch.
    pub(crate) fn not_first(what: &str) -> Self {
        Self::with(
            111,
            1,
            format!("'{what}' must be the first statement in a query batch."),
        )
    }

    pub(crate) fn label_twice(name: &str) -> Self {
        let message = format!(
            "The label '{name}' has already been declared. Label names must be unique within a query batch or stored \
             procedure."
        );
        Self::with(132, 1, message)
    }

    pub(crate) fn label_missing(name: &str) -> Self {
        let message = format!("A GOTO statement references the label '{name}' but the label has not been declared.");
        Self::with(133, 1, message)
    }

    /// 4145: a value where a condition is expected.
    pub(crate) fn not_condition(token: &str) -> Self {
        let message = format!(
            "An expression of non-boolean type specified in a context where a condition is expected, near '{}'.",
            echo(token)
        );
        Self::with(4145, 1, message)
    }

    /// 117: a name with too many parts.
    pub(crate) fn too_many_parts(name: &str) -> Self {
        let message = format!(
            "The object name '{}' contains more than the maximum number of prefixes. The maximum is 3.",
            echo(name)
        );
        Self::with(117, 1, message)
    }

    /// 1080: an integer that is out of range.
    pub(crate) fn integer_range(text: &str) -> Self {
        Self::with(1080, 1, format!("The integer value {} is out of range.", echo(text)))
    }

    /// 1001: an invalid length or precision.
    pub(crate) fn length_invalid(line: u32, text: &str) -> Self {
        let message = format!(
            "Line {line}: Length or precision specification {} is invalid.",
            echo(text)
        );
        Self::with(1001, 1, message)
    }

    /// `count` is the argument's number, from 1.
    pub(crate) fn argument_not_named(count: usize) -> Self {
        let message = format!(
            "Must pass parameter number {count} and subsequent parameters as '@name = value'. After the form '@name = \
             value' has been used, all subsequent parameters must be passed in the form '@name = value'."
        );
        Self::with(119, 1, message)
    }

    /// 154: USE in a procedure, function or trigger.
    pub(crate) const USE_IN_PROCEDURE: Self = Self::fixed(
        154,
        1,
        "a USE database statement is not allowed in a procedure, function or trigger.",
    );
    /// 113: a comment that is not closed.
    pub(crate) const UNCLOSED_COMMENT: Self = Self::fixed(113, 1, "Missing end comment mark '*/'.");
    /// 319: WITH after a statement without a semicolon.
    pub(crate) const WITH_AFTER_STATEMENT: Self = Self::fixed(
        319,
        1,
        "Incorrect syntax near the keyword 'with'. If this statement is a common table expression, an xmlnamespaces \
         clause or a change tracking context clause, the previous statement must be terminated with a semicolon.",
    );
    pub(crate) const RETURN_VALUE: Self = Self::fixed(
        178,
        1,
        "A RETURN statement with a return value cannot be used in this context.",
    );
    pub(crate) const BREAK_OUTSIDE: Self = Self::fixed(
        135,
        1,
        "Cannot use a BREAK statement outside the scope of a WHILE statement.",
    );
    pub(crate) const CONTINUE_OUTSIDE: Self = Self::fixed(
        136,
        1,
        "Cannot use a CONTINUE statement outside the scope of a WHILE statement.",
    );
    pub(crate) const RETHROW_OUTSIDE: Self = Self::fixed(
        10704,
        1,
        "To rethrow an error, a THROW statement must be used inside a CATCH block. Insert the THROW statement inside \
         a CATCH block, or add error parameters to the THROW statement.",
    );
    pub(crate) const TOO_DEEP: Self = Self::fixed(
        191,
        1,
        "Some part of your SQL statement is nested too deeply. Rewrite the query or break it up into smaller queries.",
    );
    pub(crate) const STOPPED: Self = Self::fixed(
        701,
        123,
        "There is insufficient system memory in resource pool 'default' to run this query.",
    );
    /// 125: CASE nested too deeply.
    pub(crate) const CASE_TOO_DEEP: Self = Self::fixed(125, 4, "Case expressions may only be nested to level 10.");
    pub(crate) const IIF_TOO_DEEP: Self = Self::fixed(125, 2, "Case expressions may only be nested to level 10.");
    pub(crate) const EMPTY_NAME: Self = Self::fixed(
        1038,
        4,
        "An object or column name is missing or empty. For SELECT INTO statements, verify each column has a name. For \
         other statements, look for empty alias names. Aliases defined as \"\" or [] are not allowed. Change the \
         alias to a valid name.",
    );
    pub(crate) const ASSIGNMENT_MIXED: Self = Self::fixed(
        141,
        1,
        "A SELECT statement that assigns a value to a variable must not be combined with data-retrieval operations.",
    );
    pub(crate) const ORDER_BY_NESTED: Self = Self::fixed(
        1033,
        1,
        "The ORDER BY clause is invalid in views, inline functions, derived tables, subqueries, and common table \
         expressions, unless TOP, OFFSET or FOR XML is also specified.",
    );
    pub(crate) const TOP_WITH_OFFSET: Self = Self::fixed(
        10741,
        2,
        "A TOP can not be used in the same query or sub-query as a OFFSET.",
    );
    /// 10738: an INSERT with more than 1000 rows of VALUES.
    pub(crate) const TOO_MANY_ROWS: Self = Self::fixed(
        10738,
        1,
        "The number of row value expressions in the INSERT statement exceeds the maximum allowed number of 1000 row \
         values.",
    );
    pub(crate) const ROWS_DIFFER: Self = Self::fixed(
        10709,
        1,
        "The number of columns for each row in a table value constructor must be the same.",
    );
    /// 5324: a clause of MERGE with AND after one without, of the same rows.
    pub(crate) fn merge_order(rows: &str) -> Self {
        let message = format!(
            "In a MERGE statement, a '{rows}' clause with a search condition cannot appear after a '{rows}' clause with \
             no search condition."
        );
        Self::with(5324, 1, message)
    }

    /// 10710: a change of the target's rows where there are none.
    pub(crate) fn merge_not_matched(action: &str) -> Self {
        let message = format!(
            "An action of type '{action}' is not allowed in the 'WHEN NOT MATCHED' clause of a MERGE statement."
        );
        Self::with(10710, 1, message)
    }

    /// 10711: an INSERT where the target has a row.
    pub(crate) fn merge_insert(rows: &str) -> Self {
        let message = format!("An action of type 'INSERT' is not allowed in the '{rows}' clause of a MERGE statement.");
        Self::with(10711, 1, message)
    }

    /// 10714: two clauses of MERGE with the same rows and the same action.
    pub(crate) fn merge_twice(rows: &str, action: &str) -> Self {
        let message = format!(
            "An action of type '{rows}' cannot appear more than once in a '{action}' clause of a MERGE statement."
        );
        Self::with(10714, 1, message)
    }

    /// 10713: MERGE without a semicolon.
    pub(crate) const MERGE_NOT_TERMINATED: Self =
        Self::fixed(10713, 1, "A MERGE statement must be terminated by a semi-colon (;).");
}

/// The part of a token that a message quotes, truncated to the message's maximum length.
fn echo(token: &str) -> &str {
    match token.char_indices().nth(ECHO_LENGTH_MAX) {
        Some((end, _)) => &token[..end],
        None => token,
    }
}

/// The beginning of message 105.
const UNCLOSED_QUOTE: &str = "Unclosed quotation mark after the character string '";
/// The severity of all syntax errors: the user must correct the text.
const SEVERITY: u8 = 15;
/// 1,900 characters: SQL Server truncates messages at 2,047.
const ECHO_LENGTH_MAX: usize = 1_900;
