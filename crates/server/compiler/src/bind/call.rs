//! Calls of functions.

use selenite_tsql::ast;
use selenite_types::{DataType, DatePart, Value, Width};

use super::Binder;
use crate::json::{NullsInJson, json_values, marked};
use crate::{AggregateKind, Expr, Function, SqlError};

impl Binder<'_> {
    /// A scalar function, or a query node: an aggregate or a window function.
    pub(super) fn call(&mut self, call: &ast::FunctionCall, position: ast::Position) -> Result<Expr, SqlError> {
        if call.form != ast::CallForm::Function {
            return self.xml_method(call);
        }
        let Some(name) = call.name.single() else {
            return self.hook.user_function(call);
        };
        if call.over.is_some() || AggregateKind::find(&name.text).is_some() {
            return self.hook.call(call, position);
        }
        let name = odbc_name(&name.text, call.odbc);
        if GROUPING_FUNCTIONS.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            return self.hook.call(call, position);
        }
        if WINDOW_FUNCTIONS.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            return Err(SqlError::over_required(name));
        }
        let Some(function) = Function::find(name).filter(|function| !function.name.starts_with('@')) else {
            return Err(SqlError::unknown_function(name));
        };
        function.check_supported()?;
        if function.name == "newsequentialid" {
            return Err(SqlError::sequential_not_default());
        }
        let arguments = match &call.arguments {
            ast::Arguments::Absent => &[],
            ast::Arguments::List(arguments) => {
                if function.is_bare() {
                    return Err(SqlError::syntax_near("("));
                }
                arguments.as_slice()
            }
            ast::Arguments::Star => return Err(SqlError::unsupported(&format!("{}(*)", name.to_ascii_uppercase()))),
            ast::Arguments::Distinct(_) => return Err(SqlError::syntax_near("DISTINCT")),
            ast::Arguments::Json(arguments) => return self.json_values(function, arguments),
        };
        let (part, arguments) = if function.takes_part() {
            let (part, arguments) = split_part(function, arguments)?;
            (part, arguments)
        } else {
            (None, arguments)
        };
        let (arguments, word) = match (function.takes_word(), arguments) {
            (true, [first, word]) => (std::slice::from_ref(first), Some(json_type(word)?)),
            (_, arguments) => (arguments, None),
        };
        let mut bound = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let argument = self.expr(argument)?;
            bound.push(match function.composes_json() && self.hook.is_json(&argument) {
                true => marked(argument),
                false => argument,
            });
        }
        bound.extend(word);
        function.bind(part, bound)
    }

    /// JSON_OBJECT and JSON_ARRAY.
    fn json_values(&mut self, function: &'static Function, written: &ast::JsonArguments) -> Result<Expr, SqlError> {
        let mut bound = Vec::with_capacity(written.list.len());
        for (at, value) in written.list.iter().enumerate() {
            let is_name = written.named && at % 2 == 0;
            let value = self.expr(value)?;
            bound.push(match !is_name && self.hook.is_json(&value) {
                true => marked(value),
                false => value,
            });
        }
        let nulls = match written.null_on_null.unwrap_or(written.named) {
            true => NullsInJson::Written,
            false => NullsInJson::Absent,
        };
        function.bind(None, json_values(nulls, bound))
    }
}

/// The date part that the first argument names, and the remaining arguments.
fn split_part<'a>(
    function: &Function,
    arguments: &'a [ast::Expr],
) -> Result<(Option<DatePart>, &'a [ast::Expr]), SqlError> {
    let Some((first, rest)) = arguments.split_first() else {
        // Missing arguments are an error of binding.
        return Err(SqlError::argument_count(function.name, function.argument_count_least()));
    };
    let ast::ExprKind::Column(column) = &first.kind else {
        return Err(SqlError::invalid_parameter(1, function.name));
    };
    let word = &column.name.text;
    match DatePart::from_name(word) {
        Some(part) if column.table.is_none() => Ok((Some(part), rest)),
        Some(_) | None => Err(SqlError::unknown_date_part(word, function.name)),
    }
}

/// The word that is ISJSON's second argument, in lower case.
fn json_type(word: &ast::Expr) -> Result<Expr, SqlError> {
    let ast::ExprKind::Column(column) = &word.kind else {
        return Err(SqlError::invalid_parameter(2, "isjson"));
    };
    let text = column.name.text.to_ascii_lowercase();
    if column.table.is_some() || !["value", "scalar", "array", "object"].contains(&text.as_str()) {
        return Err(SqlError::unknown_option(&column.name.text, "ISJSON"));
    }
    let data_type = DataType::VarChar(Width::Limited(10));
    Ok(Expr::literal(Value::Text(text.into()), data_type))
}

/// The T-SQL name of an ODBC function that differs only in its name.
fn odbc_name(name: &str, is_odbc: bool) -> &str {
    const NAMES: [(&str, &str); 12] = [
        ("atan2", "atn2"),
        ("curtimestamp", "current_timestamp"),
        ("database", "db_name"),
        ("dayofmonth", "day"),
        ("ifnull", "isnull"),
        ("insert", "stuff"),
        ("lcase", "lower"),
        ("length", "len"),
        ("locate", "charindex"),
        ("now", "getdate"),
        ("repeat", "replicate"),
        ("ucase", "upper"),
    ];
    let found = NAMES
        .iter()
        .find(|(odbc, _)| is_odbc && odbc.eq_ignore_ascii_case(name));
    found.map_or(name, |(_, own)| own)
}

/// Functions of GROUP BY.
const GROUPING_FUNCTIONS: [&str; 2] = ["grouping", "grouping_id"];

/// Functions that have no meaning without OVER.
const WINDOW_FUNCTIONS: [&str; 12] = [
    "cume_dist",
    "dense_rank",
    "first_value",
    "lag",
    "last_value",
    "lead",
    "ntile",
    "percent_rank",
    "percentile_cont",
    "percentile_disc",
    "rank",
    "row_number",
];
