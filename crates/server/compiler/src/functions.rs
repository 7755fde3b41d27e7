//! The catalogue of functions of values: names, arguments, result types, code, and whether each is supported.
//!
//! U1. Each function is one row of its family's table; nothing else knows its name.
//! U2. Code gets values that binding has converted as the row's rules say; unless the row says otherwise none is NULL.
//! U3. What SQL Server has and we do not is a row too, and refused by name.

use std::{collections::HashMap, fmt, sync::OnceLock};

use selenite_types::{DataType, DatePart, Value};

use crate::{Expr, ExprKind, FunctionCall, PlanError, common_type};

mod arguments;
mod choice;
mod conversion;
mod dates;
mod globals;
mod mathematics;
mod rule;
mod system;
mod text;
mod typing;

pub(crate) use arguments::{Arguments, float_in, whole_in, within};
pub(crate) use choice::collation_of;
pub(crate) use rule::{Rule, SYSNAME, seconds_scale};
pub(crate) use text::{fixed, name_parts};
#[cfg(test)]
use typing::varying;
pub(crate) use typing::{NATIONAL_WIDTH_MAX, Typing, WIDTH_MAX, constant_whole, text_width, widest, with_digits};

/// A function of values, or a global variable.
pub struct Function {
    /// Its name in lower case, as messages show it; global variables have their `@@`.
    pub name: &'static str,
    /// How often equal arguments give another value.
    pub volatility: Volatility,
    rules: &'static [Rule],
    least: usize,
    most: usize,
    takes_part: bool,
    is_bare: bool,
    typing: Typing,
    nulls: Nulls,
    code: Code,
}

/// How often a function with the same arguments gives another value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Volatility {
    /// Never, in one session.
    Never,
    /// From one statement to the next: GETDATE, RAND, `@@ROWCOUNT`.
    Statement,
    /// When anybody defines something: OBJECT_ID, USER_NAME. Within a statement never.
    Definition,
    /// From row to row: NEWID.
    Row,
}

/// What a function does with NULL.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Nulls {
    /// Any NULL makes NULL, and nothing else does.
    Spread,
    /// Any NULL makes NULL, and so may other arguments.
    Make,
    /// The code is given NULLs; its result may be one.
    Take,
    /// The code is given NULLs; its result is never one.
    Never,
}

/// What makes the value.
enum Code {
    /// This, at each evaluation.
    Run(fn(&Arguments<'_>) -> Result<Value, PlanError>),
    /// Other nodes, at binding.
    Rewrite(fn(&'static str, Vec<Expr>) -> Result<Expr, PlanError>),
    /// Nothing: it is not supported.
    Refused,
}

/// What `docs/TSQL.md` tells of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FunctionState {
    /// The family: `text`, `mathematics`, `dates`, `conversion`, `system`, `globals`.
    pub family: &'static str,
    /// The name in lower case.
    pub name: &'static str,
    /// Whether it is supported.
    pub is_supported: bool,
}

impl Function {
    /// A function of exactly these arguments that is NULL only for NULL, and whose value depends on them alone.
    pub(crate) const fn new(
        name: &'static str,
        rules: &'static [Rule],
        typing: Typing,
        run: fn(&Arguments<'_>) -> Result<Value, PlanError>,
    ) -> Self {
        Self {
            name,
            volatility: Volatility::Never,
            rules,
            least: rules.len(),
            most: rules.len(),
            takes_part: false,
            is_bare: false,
            typing,
            nulls: Nulls::Spread,
            code: Code::Run(run),
        }
    }

    /// A function that becomes other nodes.
    pub(crate) const fn rewritten(
        name: &'static str,
        least: usize,
        most: usize,
        rewrite: fn(&'static str, Vec<Expr>) -> Result<Expr, PlanError>,
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
            typing: Typing::Is(DataType::Int),
            nulls: Nulls::Take,
            code: Code::Refused,
        }
    }

    /// The last `count` arguments may be left out.
    pub(crate) const fn optional(mut self, count: usize) -> Self {
        self.least -= count;
        self
    }

    /// The last rule holds for all further arguments, to `most` in all.
    pub(crate) const fn repeated(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    /// The first argument, which no rule is for, is a word that names a part of a date.
    pub(crate) const fn with_part(mut self) -> Self {
        self.takes_part = true;
        self
    }

    /// May be NULL although no argument is.
    pub(crate) const fn making_nulls(mut self) -> Self {
        self.nulls = Nulls::Make;
        self
    }

    /// The code is given NULLs, and may return one.
    pub(crate) const fn taking_nulls(mut self) -> Self {
        self.nulls = Nulls::Take;
        self
    }

    /// The code is given NULLs, and never returns one.
    pub(crate) const fn never_null(mut self) -> Self {
        self.nulls = Nulls::Never;
        self
    }

    /// Written without parentheses.
    pub(crate) const fn bare(mut self) -> Self {
        self.is_bare = true;
        self
    }

    /// Another value in each statement.
    pub(crate) const fn of_statement(mut self) -> Self {
        self.volatility = Volatility::Statement;
        self
    }

    /// Another value when something was defined.
    pub(crate) const fn of_definitions(mut self) -> Self {
        self.volatility = Volatility::Definition;
        self
    }

    /// Another value in each row.
    pub(crate) const fn of_row(mut self) -> Self {
        self.volatility = Volatility::Row;
        self
    }

    /// The function of a name, in any case; global variables have their `@@`.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        static BY_NAME: OnceLock<HashMap<&'static str, &'static Function>> = OnceLock::new();
        let by_name = BY_NAME.get_or_init(|| {
            families()
                .flat_map(|(_, functions)| functions)
                .map(|f| (f.name, f))
                .collect()
        });
        by_name.get(name.to_ascii_lowercase().as_str()).copied()
    }

    /// A call with bound arguments; `part` is the word before them.
    ///
    /// Errors: 174 and 189 for a wrong number of arguments, 8116 and others for their types, 40510 if it is not supported.
    pub(crate) fn bind(&'static self, part: Option<DatePart>, arguments: Vec<Expr>) -> Result<Expr, PlanError> {
        self.check_supported()?;
        self.check_count(arguments.len() + usize::from(self.takes_part))?;
        if let Code::Rewrite(rewrite) = self.code {
            return rewrite(self.name, arguments);
        }
        let mut converted = Vec::with_capacity(arguments.len());
        for (at, argument) in arguments.into_iter().enumerate() {
            let rule = self.rules.get(at).or(self.rules.last()).copied().unwrap_or(Rule::Any);
            converted.push(rule.apply(argument, at + 1 + usize::from(self.takes_part), self.name)?);
        }
        if self.rules.contains(&Rule::Alike) {
            let data_type = common_type(&converted)?;
            converted = converted
                .into_iter()
                .map(|one| one.converted_to(&data_type))
                .collect::<Result<_, _>>()?;
        }
        let data_type = self.typing.of(&converted);
        let collation = collation_of(&converted, self.name)?;
        let nullable = match self.nulls {
            Nulls::Spread => converted.iter().any(|argument| argument.nullable),
            Nulls::Make | Nulls::Take => true,
            Nulls::Never => false,
        };
        let call = FunctionCall {
            function: self,
            part,
            arguments: converted,
        };
        Ok(Expr::new(ExprKind::Call(Box::new(call)), data_type)
            .with_nullable(nullable)
            .with_collation(collation))
    }

    /// Refuses a function that is not supported.
    ///
    /// Errors: 40510.
    pub(crate) fn check_supported(&self) -> Result<(), PlanError> {
        match self.code {
            Code::Refused => Err(PlanError::unsupported_function(&self.name.to_ascii_uppercase())),
            Code::Run(_) | Code::Rewrite(_) => Ok(()),
        }
    }

    /// Sees that a function or global of this name, if there is one, is supported.
    ///
    /// # Errors
    /// 40510.
    pub fn check_name(name: &str) -> Result<(), PlanError> {
        match (crate::AggregateKind::find(name), Self::find(name)) {
            (None, Some(function)) => function.check_supported(),
            (Some(_), _) | (None, None) => Ok(()),
        }
    }

    fn check_count(&self, given: usize) -> Result<(), PlanError> {
        let part = usize::from(self.takes_part);
        let (least, most) = (
            self.least + part,
            self.most.saturating_add(part).min(ARGUMENT_COUNT_MAX),
        );
        if (least..=most).contains(&given) {
            Ok(())
        } else if least == most {
            Err(PlanError::argument_count(self.name, least))
        } else {
            Err(PlanError::argument_count_range(self.name, least, most))
        }
    }

    /// How many arguments a call has at least, the part of a date included.
    pub(crate) fn argument_count_least(&self) -> usize {
        self.least + usize::from(self.takes_part)
    }

    /// The value of a call.
    ///
    /// Errors: whatever goes wrong with the values.
    pub(crate) fn run(&self, arguments: &Arguments<'_>) -> Result<Value, PlanError> {
        let spreads = match self.nulls {
            Nulls::Spread | Nulls::Make => true,
            Nulls::Take | Nulls::Never => false,
        };
        if spreads && arguments.values.contains(&Value::Null) {
            return Ok(Value::Null);
        }
        match self.code {
            Code::Run(run) => run(arguments),
            Code::Rewrite(_) | Code::Refused => Err(PlanError::unsupported_function(self.name)),
        }
    }

    /// Whether the first argument is a word that names a part of a date.
    #[must_use]
    pub fn takes_part(&self) -> bool {
        self.takes_part
    }

    /// Whether it is written without parentheses, as CURRENT_TIMESTAMP is.
    #[must_use]
    pub fn is_bare(&self) -> bool {
        self.is_bare
    }

    /// What all functions are, family by family.
    pub fn states() -> impl Iterator<Item = FunctionState> {
        families().flat_map(|(family, functions)| {
            functions.iter().map(move |function| FunctionState {
                family,
                name: function.name,
                is_supported: !matches!(function.code, Code::Refused),
            })
        })
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

/// Each family's name and functions.
fn families() -> impl Iterator<Item = (&'static str, &'static [Function])> {
    [
        ("choice", choice::FUNCTIONS),
        ("text", text::FUNCTIONS),
        ("mathematics", mathematics::FUNCTIONS),
        ("dates", dates::FUNCTIONS),
        ("conversion", conversion::FUNCTIONS),
        ("system", system::FUNCTIONS),
        ("globals", globals::FUNCTIONS),
    ]
    .into_iter()
}

/// 1,024: SQL Server's own limit of what a call may be given.
const ARGUMENT_COUNT_MAX: usize = 1024;

#[cfg(test)]
mod tests;
