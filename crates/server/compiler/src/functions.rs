//! The catalogue of scalar functions: names, arguments, result types, code, and whether each is supported.
//!
//! - `one-row-per-function`: each function is one row of its family's table; no other code has its
//!   name.
//! - `arguments-are-converted`: code receives values that binding has converted by the row's rules;
//!   none is NULL unless the row allows it.
//! - `unsupported-functions-have-rows`: a function of SQL Server that is not supported has a row too,
//!   and is refused by name.

use std::collections::HashMap;
use std::sync::OnceLock;

use selenite_types::DatePart;

use crate::expr::{Code, Nulls};
use crate::{Expr, ExprKind, Function, FunctionCall, SqlError, common_type};

mod bulk_file;
mod choice;
mod conversion;
mod dates;
mod encryption;
mod globals;
mod json;
mod mathematics;
mod row_version;
mod sequence;
mod system;
mod text;
mod trigger;
mod xml;
mod xml_explicit;
mod xml_methods;

pub(crate) use bulk_file::OPEN_BULK_FILE;
pub(crate) use conversion::{check_sequential_default, sequential_default};
pub(crate) use json::{
    FOR_JSON, FOR_JSON_LEVELS, FOR_JSON_ROW, FOR_JSON_VALUES, FOR_ROWS, OPEN_JSON, OPEN_JSON_COLUMNS,
};
pub(crate) use mathematics::GENERATE_SERIES;
pub(crate) use row_version::next_row_version;
pub(crate) use sequence::{is_next_value, next_value_of};
pub(crate) use text::{fixed, name_parts};
pub(crate) use xml::{
    FOR_XML, FOR_XML_LEVELS, FOR_XML_PATH, FOR_XML_RAW, FOR_XML_TYPE, FOR_XML_VALUES, XML_OF_NO_NAMESPACE, XML_TEXT,
};
pub(crate) use xml_explicit::FOR_XML_EXPLICIT;
pub(crate) use xml_methods::XML_NODES;
pub use xml_methods::forget_xml_documents;

use crate::expr::{
    Arguments, Rule, SYSNAME, Typing, arguments, collation_of, float_in, seconds_scale, typing, with_digits,
};

/// A function's entry in `docs/TSQL.md`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FunctionState {
    /// The family: `text`, `mathematics`, `dates`, `conversion`, `encryption`, `json`, `system`, `globals`.
    pub family: &'static str,
    /// The name in lower case.
    pub name: &'static str,
    /// Whether it is supported.
    pub is_supported: bool,
}

impl Function {
    /// The function with this name, in any case; global variables have their `@@`.
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

    /// A call with bound arguments; `part` is the date part.
    ///
    /// Errors: 174 and 189 for a wrong number of arguments, 8116 and others for their types, 40510 if it is not
    /// supported.
    pub(crate) fn bind(&'static self, part: Option<DatePart>, arguments: Vec<Expr>) -> Result<Expr, SqlError> {
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
        let collation = collation_of(&converted, self.name)?.resolved(self.name)?;
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

    /// The function of `UPDATE (column)`, which no name of a batch's is.
    pub(crate) fn updated() -> &'static Self {
        &trigger::UPDATED
    }

    /// AT TIME ZONE, which has no name.
    pub(crate) fn at_time_zone() -> &'static Self {
        &dates::AT_TIME_ZONE
    }

    /// The function of a method of xml that is an expression.
    pub(crate) fn xml_method(method: &str) -> Option<&'static Self> {
        match method {
            "value" => Some(&xml_methods::XML_VALUE),
            "exist" => Some(&xml_methods::XML_EXIST),
            "query" => Some(&xml_methods::XML_QUERY),
            _ => None,
        }
    }

    /// The function of modify().
    pub(crate) fn xml_mutator() -> &'static Self {
        &xml_methods::XML_MODIFY
    }

    /// PARSE or TRY_PARSE, whose arguments are written as those of CAST are.
    ///
    /// Errors: 10761 for a type that text is not parsed to; 8116 for what is no text.
    pub(crate) fn parsed(
        text: Expr,
        data_type: selenite_types::DataType,
        culture: Option<Expr>,
        is_try: bool,
    ) -> Result<Expr, SqlError> {
        conversion::parsed(text, data_type, culture, is_try)
    }

    /// Refuses a function that is not supported.
    ///
    /// Errors: 40510.
    pub(crate) fn check_supported(&self) -> Result<(), SqlError> {
        match self.code {
            Code::Refused => Err(SqlError::unsupported_function(&self.name.to_ascii_uppercase())),
            Code::Run(_) | Code::Rewrite(_) => Ok(()),
        }
    }

    /// Checks that a function or global variable with this name, if there is one, is supported.
    ///
    /// # Errors
    /// 40510.
    pub fn check_name(name: &str) -> Result<(), SqlError> {
        match (crate::AggregateKind::find(name), Self::find(name)) {
            (None, Some(function)) => function.check_supported(),
            (Some(_), _) | (None, None) => Ok(()),
        }
    }

    fn check_count(&self, given: usize) -> Result<(), SqlError> {
        let part = usize::from(self.takes_part);
        let (least, most) = (
            self.least + part,
            self.most.saturating_add(part).min(ARGUMENT_COUNT_MAX),
        );
        if (least..=most).contains(&given) {
            Ok(())
        } else if least == most {
            Err(SqlError::argument_count(self.name, least))
        } else {
            Err(SqlError::argument_count_range(self.name, least, most))
        }
    }

    /// The minimum number of arguments, including the date part.
    pub(crate) fn argument_count_least(&self) -> usize {
        self.least + usize::from(self.takes_part)
    }

    /// The entries of all functions, by family.
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

/// The families with their functions.
fn families() -> impl Iterator<Item = (&'static str, &'static [Function])> {
    [
        ("choice", choice::FUNCTIONS),
        ("text", text::FUNCTIONS),
        ("mathematics", mathematics::FUNCTIONS),
        ("dates", dates::FUNCTIONS),
        ("conversion", conversion::FUNCTIONS),
        ("encryption", encryption::FUNCTIONS),
        ("json", json::FUNCTIONS),
        ("system", system::FUNCTIONS),
        ("trigger", trigger::FUNCTIONS),
        ("globals", globals::FUNCTIONS),
    ]
    .into_iter()
}

/// 1,024: SQL Server's limit of arguments.
const ARGUMENT_COUNT_MAX: usize = 1024;

#[cfg(test)]
mod tests;
