//! Expressions and conditions in the form in which SQL Server keeps them: what its views show of defaults, checks,
//! computed columns and filters is not the text that was written.
//!
//! - `unknown-forms-are-printed`: where SQL Server's form is not known, the text is that of the printer.

use crate::ast::{
    Arguments, BinaryOperator, Case, CaseBranches, Cast, CastKind, ColumnName, Comparison, Condition, ConditionKind,
    Expr, ExprKind, FunctionCall, Literal, ObjectName, TypeArgument, TypeName, UnaryOperator,
};

/// The text of an expression, in parentheses.
#[must_use]
pub fn stored_expression(expression: &Expr) -> String {
    format!("({})", value(expression).unwrap_or_else(|| expression.to_string()))
}

/// The text of a condition, in parentheses.
#[must_use]
pub fn stored_condition(condition: &Condition) -> String {
    format!("({})", test(condition).unwrap_or_else(|| condition.to_string()))
}

/// The text of an index's filter, in parentheses: unlike other conditions, it keeps a list.
#[must_use]
pub fn stored_filter(filter: &Condition) -> String {
    let parts = if let ConditionKind::And(list) = &filter.kind {
        list.as_slice()
    } else {
        core::slice::from_ref(filter)
    };
    match parts
        .iter()
        .any(|part| matches!(part.kind, ConditionKind::InList { .. }))
    {
        true => format!("({filter})"),
        false => stored_condition(filter),
    }
}

fn value(expression: &Expr) -> Option<String> {
    match &expression.kind {
        ExprKind::Literal(literal) => constant(literal),
        ExprKind::Column(column) => self::column(column),
        ExprKind::Unary { operator, operand } => signed(*operator, operand),
        ExprKind::Binary { operator, left, right } => Some(format!(
            "{}{operator}{}",
            operand(left, *operator)?,
            operand(right, *operator)?
        )),
        ExprKind::Function(call) => function(call),
        ExprKind::Cast(cast) => conversion(cast),
        ExprKind::Case(case) => choice(case),
        ExprKind::Iif(iif) => Some(format!(
            "case when {} then {} else {} end",
            test(&iif.condition)?,
            value(&iif.then)?,
            value(&iif.otherwise)?
        )),
        ExprKind::NextValue(next) if next.over.is_none() && next.sequence.schema.is_some() => {
            Some(format!("NEXT VALUE FOR {}", object(&next.sequence)))
        }
        ExprKind::OdbcLiteral(_)
        | ExprKind::Variable(_)
        | ExprKind::Global(_)
        | ExprKind::Collate { .. }
        | ExprKind::TimeZone { .. }
        | ExprKind::Subquery(_)
        | ExprKind::NextValue(_)
        | ExprKind::Default => None,
    }
}

/// Numbers are in parentheses of their own, in digits without needless zeros in front.
fn constant(literal: &Literal) -> Option<String> {
    Some(match literal {
        Literal::Null => "NULL".to_owned(),
        Literal::Integer(_) | Literal::Decimal(_) => format!("({})", number(literal)?),
        Literal::Money(_) | Literal::Float(_) => return None,
        Literal::String(text) => format!("'{}'", text.replace('\'', "''")),
        Literal::National(text) => format!("N'{}'", text.replace('\'', "''")),
        Literal::Binary(digits) => format!("0x{digits}"),
    })
}

fn number(literal: &Literal) -> Option<String> {
    let (Literal::Integer(text) | Literal::Decimal(text)) = literal else {
        return None;
    };
    let digits = text.trim_start_matches('0');
    let is_bare = digits.is_empty() || digits.starts_with('.');
    Some(format!("{}{digits}", if is_bare { "0" } else { "" }))
}

fn signed(operator: UnaryOperator, operand: &Expr) -> Option<String> {
    let sign = match operator {
        UnaryOperator::Minus => "-",
        UnaryOperator::Plus => return value(operand),
        UnaryOperator::BitNot => "~",
    };
    if let ExprKind::Literal(literal) = &operand.kind
        && let Some(number) = number(literal)
        && operator == UnaryOperator::Minus
    {
        return Some(format!("(-{number})"));
    }
    let text = value(operand)?;
    let is_binary = matches!(operand.kind, ExprKind::Binary { .. });
    Some(if is_binary {
        format!("{sign}({text})")
    } else {
        format!("{sign}{text}")
    })
}

/// An operand of `outer`: a binary one is in parentheses unless it binds tighter.
fn operand(expression: &Expr, outer: BinaryOperator) -> Option<String> {
    let text = value(expression)?;
    let loose =
        matches!(&expression.kind, ExprKind::Binary { operator, .. } if is_product(outer) || !is_product(*operator));
    Some(if loose { format!("({text})") } else { text })
}

fn is_product(operator: BinaryOperator) -> bool {
    match operator {
        BinaryOperator::Multiply | BinaryOperator::Divide | BinaryOperator::Modulo => true,
        BinaryOperator::Add
        | BinaryOperator::Subtract
        | BinaryOperator::BitAnd
        | BinaryOperator::BitXor
        | BinaryOperator::BitOr => false,
    }
}

fn column(column: &ColumnName) -> Option<String> {
    // A column of a table's own definition has no qualifier.
    column.table.is_none().then(|| bracketed(&column.name.text))
}

fn bracketed(name: &str) -> String {
    format!("[{}]", name.replace(']', "]]"))
}

fn object(name: &ObjectName) -> String {
    let parts = [&name.server, &name.database, &name.schema];
    let outer = parts
        .into_iter()
        .flatten()
        .map(|part| format!("{}.", bracketed(&part.text)));
    outer.chain([bracketed(&name.name.text)]).collect()
}

fn function(call: &FunctionCall) -> Option<String> {
    if call.over.is_some() || call.odbc || call.null_treatment.is_some() || !call.within_group.is_empty() {
        return None;
    }
    let Some(name) = call.name.single() else {
        let Arguments::List(list) = &call.arguments else {
            return None;
        };
        return Some(format!("{}({})", object(&call.name), values(list)?));
    };
    let name = name.text.to_ascii_lowercase();
    match &call.arguments {
        Arguments::Absent => Some(without_parentheses(&name)?.to_owned()),
        Arguments::List(list) => match (name.as_str(), list.as_slice()) {
            ("year" | "month" | "day", [of]) => Some(format!("datepart({name},{})", value(of)?)),
            (_, [part, rest @ ..]) if PARTED.contains(&name.as_str()) => {
                let ExprKind::Column(word) = &part.kind else {
                    return None;
                };
                Some(format!("{name}({},{})", part_of_date(&word.name.text)?, values(rest)?))
            }
            _ => Some(format!("{name}({})", values(list)?)),
        },
        Arguments::Star | Arguments::Distinct(_) | Arguments::Json(_) => None,
    }
}

fn values(list: &[Expr]) -> Option<String> {
    let list: Option<Vec<String>> = list.iter().map(value).collect();
    Some(list?.join(","))
}

/// What is written without parentheses is kept as the function that it stands for.
fn without_parentheses(name: &str) -> Option<&'static str> {
    match name {
        "current_timestamp" => Some("getdate()"),
        "current_user" | "session_user" | "user" => Some("user_name()"),
        "system_user" => Some("suser_sname()"),
        _ => None,
    }
}

/// The functions whose first argument is a part of a date.
const PARTED: [&str; 6] = [
    "dateadd",
    "datediff",
    "datediff_big",
    "datename",
    "datepart",
    "datetrunc",
];

fn part_of_date(word: &str) -> Option<&'static str> {
    Some(match word.to_ascii_lowercase().as_str() {
        "year" | "yy" | "yyyy" => "year",
        "quarter" | "qq" | "q" => "quarter",
        "month" | "mm" | "m" => "month",
        "dayofyear" | "dy" | "y" => "dayofyear",
        "day" | "dd" | "d" => "day",
        "week" | "wk" | "ww" => "week",
        "weekday" | "dw" | "w" => "weekday",
        "hour" | "hh" => "hour",
        "minute" | "mi" | "n" => "minute",
        "second" | "ss" | "s" => "second",
        "millisecond" | "ms" => "millisecond",
        "microsecond" | "mcs" => "microsecond",
        "nanosecond" | "ns" => "nanosecond",
        _ => return None,
    })
}

fn conversion(cast: &Cast) -> Option<String> {
    let type_name = type_name(&cast.type_name);
    let operand = value(&cast.operand)?;
    match cast.kind {
        CastKind::Cast => Some(format!("CONVERT({type_name},{operand})")),
        CastKind::Convert => match &cast.style {
            Some(style) => Some(format!("CONVERT({type_name},{operand},{})", value(style)?)),
            None => Some(format!("CONVERT({type_name},{operand})")),
        },
        CastKind::TryCast | CastKind::TryConvert | CastKind::Parse | CastKind::TryParse => None,
    }
}

fn type_name(type_name: &TypeName) -> String {
    let arguments: Vec<String> = type_name
        .arguments
        .iter()
        .map(|argument| match argument {
            TypeArgument::Number(number) => number.to_string(),
            TypeArgument::Max => "max".to_owned(),
        })
        .collect();
    let name = object(&type_name.name);
    // The name of a type of the server's own is kept in small letters.
    let name = if type_name.user_type.is_none() {
        name.to_ascii_lowercase()
    } else {
        name
    };
    match arguments.is_empty() {
        true => name,
        false => format!("{name}({})", arguments.join(",")),
    }
}

fn choice(case: &Case) -> Option<String> {
    let mut text = "case".to_owned();
    match &case.branches {
        CaseBranches::Simple { operand, branches } => {
            text.push_str(&format!(" {}", value(operand)?));
            for branch in branches {
                text.push_str(&format!(
                    " when {} then {}",
                    value(&branch.value)?,
                    value(&branch.result)?
                ));
            }
        }
        CaseBranches::Searched(branches) => {
            for branch in branches {
                text.push_str(&format!(
                    " when {} then {}",
                    test(&branch.condition)?,
                    value(&branch.result)?
                ));
            }
        }
    }
    if let Some(otherwise) = &case.otherwise {
        text.push_str(&format!(" else {}", value(otherwise)?));
    }
    Some(text + " end")
}

fn test(condition: &Condition) -> Option<String> {
    match &condition.kind {
        ConditionKind::And(list) => {
            let part = |one: &Condition| Some(enclosed(is_alternative(one), test(one)?));
            joined(list.iter().map(part), " AND ")
        }
        ConditionKind::Or(list) => joined(list.iter().map(test), " OR "),
        ConditionKind::Not(operand) => {
            let is_both = matches!(operand.kind, ConditionKind::And(_) | ConditionKind::Between { .. });
            let text = enclosed(is_both || is_alternative(operand), test(operand)?);
            Some(format!("NOT {text}"))
        }
        ConditionKind::Compare { operator, left, right } => compared(left, *operator, right),
        ConditionKind::IsNull { operand, negated } => Some(format!(
            "{} IS {}NULL",
            value(operand)?,
            if *negated { "NOT " } else { "" }
        )),
        // Each bound is a comparison of its own.
        ConditionKind::Between {
            operand,
            low,
            high,
            negated: false,
        } => Some(format!(
            "{} AND {}",
            compared(operand, Comparison::GreaterOrEqual, low)?,
            compared(operand, Comparison::LessOrEqual, high)?
        )),
        // A list is compared with its values, from the last one on.
        ConditionKind::InList {
            operand,
            list,
            negated: false,
        } => joined(
            list.iter().rev().map(|one| compared(operand, Comparison::Equal, one)),
            " OR ",
        ),
        ConditionKind::Like {
            operand,
            pattern,
            escape: None,
            negated,
        } => Some(format!(
            "{}{} like {}",
            if *negated { "NOT " } else { "" },
            value(operand)?,
            value(pattern)?
        )),
        ConditionKind::Quantified { .. }
        | ConditionKind::IsDistinctFrom { .. }
        | ConditionKind::Between { .. }
        | ConditionKind::InList { .. }
        | ConditionKind::InQuery { .. }
        | ConditionKind::Like { .. }
        | ConditionKind::Exists(_)
        | ConditionKind::Updated(_) => None,
    }
}

/// Whether the stored text has OR outside of parentheses.
fn is_alternative(condition: &Condition) -> bool {
    match &condition.kind {
        ConditionKind::Or(_) => true,
        ConditionKind::InList { list, .. } => list.len() > 1,
        ConditionKind::And(_)
        | ConditionKind::Not(_)
        | ConditionKind::Compare { .. }
        | ConditionKind::Quantified { .. }
        | ConditionKind::IsNull { .. }
        | ConditionKind::IsDistinctFrom { .. }
        | ConditionKind::Between { .. }
        | ConditionKind::InQuery { .. }
        | ConditionKind::Like { .. }
        | ConditionKind::Exists(_)
        | ConditionKind::Updated(_) => false,
    }
}

fn enclosed(encloses: bool, text: String) -> String {
    if encloses { format!("({text})") } else { text }
}

fn compared(left: &Expr, operator: Comparison, right: &Expr) -> Option<String> {
    Some(format!("{}{operator}{}", value(left)?, value(right)?))
}

fn joined(parts: impl Iterator<Item = Option<String>>, between: &str) -> Option<String> {
    let parts: Option<Vec<String>> = parts.collect();
    Some(parts?.join(between))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ast::StatementKind;
    use crate::{Options, parse};

    fn condition(text: &str) -> String {
        let parsed = parse(&format!("IF {text} SELECT 1"), Options::default()).unwrap();
        let StatementKind::If(statement) = &parsed.statements[0].kind else {
            panic!("{text}");
        };
        stored_condition(&statement.condition)
    }

    fn expression(text: &str) -> String {
        let parsed = parse(&format!("IF {text} = 1 SELECT 1"), Options::default()).unwrap();
        let StatementKind::If(statement) = &parsed.statements[0].kind else {
            panic!("{text}");
        };
        let ConditionKind::Compare { left, .. } = &statement.condition.kind else {
            panic!("{text}");
        };
        stored_expression(left)
    }

    #[test]
    fn constants_and_calls_have_their_stored_form() {
        for (written, stored) in [
            ("18", "((18))"),
            ("-007", "((-7))"),
            (".50", "((0.50))"),
            ("'it''s'", "('it''s')"),
            ("N'x'", "(N'x')"),
            ("NULL", "(NULL)"),
            ("0xFF", "(0xFF)"),
            ("NEWID()", "(newid())"),
            ("CURRENT_TIMESTAMP", "(getdate())"),
            ("SYSTEM_USER", "(suser_sname())"),
            ("DateAdd(yy, -18, GETDATE())", "(dateadd(year,(-18),getdate()))"),
            ("YEAR(a)", "(datepart(year,[a]))"),
            ("dbo.f(a, 1)", "([dbo].[f]([a],(1)))"),
            ("CAST(a AS varchar(10))", "(CONVERT([varchar](10),[a]))"),
            ("CONVERT(char(8), a, 112)", "(CONVERT([char](8),[a],(112)))"),
            ("NEXT VALUE FOR dbo.s", "(NEXT VALUE FOR [dbo].[s])"),
            (
                "CASE WHEN a > 0 THEN 'x' ELSE 'y' END",
                "(case when [a]>(0) then 'x' else 'y' end)",
            ),
            ("a + ' ' + b", "(([a]+' ')+[b])"),
            ("a * (1.0 - d) * q", "(([a]*((1.0)-[d]))*[q])"),
            ("a + b * c", "([a]+[b]*[c])"),
            ("-(a + 1)", "(-([a]+(1)))"),
        ] {
            assert_eq!(expression(written), stored, "{written}");
        }
    }

    #[test]
    fn conditions_have_their_stored_form() {
        for (written, stored) in [
            ("a >= 0", "([a]>=(0))"),
            ("\"a\" != 'x'", "([a]<>'x')"),
            ("a BETWEEN 1 AND 5", "([a]>=(1) AND [a]<=(5))"),
            ("a IN ('x', 'y', 'z')", "([a]='z' OR [a]='y' OR [a]='x')"),
            (
                "a IN (1, 2) AND b IS NOT NULL",
                "(([a]=(2) OR [a]=(1)) AND [b] IS NOT NULL)",
            ),
            ("(a = 1 AND b = 2) OR c = 3", "([a]=(1) AND [b]=(2) OR [c]=(3))"),
            ("NOT (a = 1 OR b = 2)", "(NOT ([a]=(1) OR [b]=(2)))"),
            ("a NOT LIKE '%[^0-9]%'", "(NOT [a] like '%[^0-9]%')"),
            ("LEN(a) > 3 OR a IS NULL", "(len([a])>(3) OR [a] IS NULL)"),
        ] {
            assert_eq!(condition(written), stored, "{written}");
        }
    }

    #[test]
    fn a_form_that_is_not_known_is_printed() {
        for text in ["a COLLATE Latin1_General_BIN2", "1e5", "@@SPID", "(SELECT 1)"] {
            assert_eq!(expression(text), format!("({text})"));
        }
        for text in ["a NOT IN (1, 2)", "a LIKE 'x!%' ESCAPE '!'"] {
            assert_eq!(condition(text), format!("({text})"));
        }
    }
}
