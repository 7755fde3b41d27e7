//! Scalar functions: argument rules, result type, code.

use std::fmt;

use selenite_types::{DataType, Value};

use super::Expr;
use super::arguments::Arguments;
use super::rule::Rule;
use super::typing::Typing;
use crate::SqlError;

/// A scalar function, or a global variable.
pub struct Function {
    /// The name in lower case, as messages show it; global variables have their `@@`.
    pub name: &'static str,
    /// How often equal arguments give another value.
    pub volatility: Volatility,
    pub(crate) rules: &'static [Rule],
    pub(crate) least: usize,
    pub(crate) most: usize,
    pub(crate) takes_part: bool,
    is_bare: bool,
    takes_word: bool,
    composes_json: bool,
    pub(crate) typing: Typing,
    pub(crate) nulls: Nulls,
    pub(crate) code: Code,
}

/// How often a function returns another value for the same arguments.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Volatility {
    /// Never within a session.
    Never,
    /// In each statement: GETDATE, RAND, `@@ROWCOUNT`.
    Statement,
    /// After a change of definitions: OBJECT_ID, USER_NAME. Never within a statement.
    Definition,
    /// In each row: NEWID.
    Row,
}

/// A function's treatment of NULL.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Nulls {
    /// The result is NULL if and only if an argument is.
    Spread,
    /// The result is NULL if an argument is, and may be NULL otherwise.
    Make,
    /// The code receives NULLs, and may return NULL.
    Take,
    /// The code receives NULLs, and never returns NULL.
    Never,
}

/// The implementation of a function.
pub(crate) enum Code {
    /// Code that runs at each evaluation.
    Run(fn(&Arguments<'_>) -> Result<Value, SqlError>),
    /// A rewrite to other nodes, at binding.
    Rewrite(fn(&'static str, Vec<Expr>) -> Result<Expr, SqlError>),
    /// None: the function is not supported.
    Refused,
}

impl Function {
    /// A function of exactly these arguments that is NULL only for NULL, and whose value depends on them alone.
    pub(crate) const fn new(
        name: &'static str,
        rules: &'static [Rule],
        typing: Typing,
        run: fn(&Arguments<'_>) -> Result<Value, SqlError>,
    ) -> Self {
        Self {
            name,
            volatility: Volatility::Never,
            rules,
            least: rules.len(),
            most: rules.len(),
            takes_part: false,
            is_bare: false,
            takes_word: false,
            composes_json: false,
            typing,
            nulls: Nulls::Spread,
            code: Code::Run(run),
        }
    }

    /// A function that is rewritten to other nodes.
    pub(crate) const fn rewritten(
        name: &'static str,
        least: usize,
        most: usize,
        rewrite: fn(&'static str, Vec<Expr>) -> Result<Expr, SqlError>,
    ) -> Self {
        Self {
            least,
            most,
            code: Code::Rewrite(rewrite),
            ..Self::refused(name)
        }
    }

    /// A function that is not supported.
    pub(crate) const fn refused(name: &'static str) -> Self {
        Self {
            name,
            volatility: Volatility::Never,
            rules: &[],
            least: 0,
            most: usize::MAX,
            takes_part: false,
            is_bare: false,
            takes_word: false,
            composes_json: false,
            typing: Typing::Is(DataType::Int),
            nulls: Nulls::Take,
            code: Code::Refused,
        }
    }

    /// Makes the last `count` arguments optional.
    pub(crate) const fn optional(mut self, count: usize) -> Self {
        self.least -= count;
        self
    }

    /// Applies the last rule to all further arguments, up to `most` in all.
    pub(crate) const fn repeated(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    /// Makes the first argument, which has no rule, a date part.
    pub(crate) const fn with_part(mut self) -> Self {
        self.takes_part = true;
        self
    }

    /// The result may be NULL although no argument is.
    pub(crate) const fn making_nulls(mut self) -> Self {
        self.nulls = Nulls::Make;
        self
    }

    /// The code receives NULLs, and may return NULL.
    pub(crate) const fn taking_nulls(mut self) -> Self {
        self.nulls = Nulls::Take;
        self
    }

    /// The code receives NULLs, and never returns NULL.
    pub(crate) const fn never_null(mut self) -> Self {
        self.nulls = Nulls::Never;
        self
    }

    /// The second argument is a word.
    pub(crate) const fn with_word(mut self) -> Self {
        self.takes_word = true;
        self
    }

    /// Texts among the arguments that are JSON are written without quotes.
    pub(crate) const fn composing_json(mut self) -> Self {
        self.composes_json = true;
        self
    }

    /// The function is written without parentheses.
    pub(crate) const fn bare(mut self) -> Self {
        self.is_bare = true;
        self
    }

    /// The value may differ in each statement.
    pub(crate) const fn of_statement(mut self) -> Self {
        self.volatility = Volatility::Statement;
        self
    }

    /// The value may differ after a change of definitions.
    pub(crate) const fn of_definitions(mut self) -> Self {
        self.volatility = Volatility::Definition;
        self
    }

    /// The value may differ in each row.
    pub(crate) const fn of_row(mut self) -> Self {
        self.volatility = Volatility::Row;
        self
    }

    /// The value of a call.
    ///
    /// Errors: any error of the values.
    pub(crate) fn run(&self, arguments: &Arguments<'_>) -> Result<Value, SqlError> {
        let spreads = match self.nulls {
            Nulls::Spread | Nulls::Make => true,
            Nulls::Take | Nulls::Never => false,
        };
        if spreads && arguments.values.contains(&Value::Null) {
            return Ok(Value::Null);
        }
        match self.code {
            Code::Run(run) => run(arguments),
            Code::Rewrite(_) | Code::Refused => Err(SqlError::unsupported_function(self.name)),
        }
    }

    /// Whether the first argument is a date part.
    #[must_use]
    pub fn takes_part(&self) -> bool {
        self.takes_part
    }

    /// Whether the second argument is a word.
    pub(crate) fn takes_word(&self) -> bool {
        self.takes_word
    }

    /// Whether texts among the arguments that are JSON are written without quotes.
    pub(crate) fn composes_json(&self) -> bool {
        self.composes_json
    }

    /// Whether it is written without parentheses, as CURRENT_TIMESTAMP is.
    #[must_use]
    pub fn is_bare(&self) -> bool {
        self.is_bare
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
