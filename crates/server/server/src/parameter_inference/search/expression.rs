//! The walk over expressions and conditions.

use selenite_compiler::{SqlError, declared_type};
use selenite_tsql::ast::{Arguments, CaseBranches, Comparison, Condition, ConditionKind, Expr, ExprKind, FunctionCall};
use selenite_types::DataType;

use super::Search;
use crate::parameter_inference::fault;
use crate::parameter_inference::positions::ParameterPosition;

impl Search<'_> {
    /// Searches an expression whose context is `place`.
    pub(super) fn expr(&mut self, expr: &Expr, place: &ParameterPosition) -> Result<(), SqlError> {
        match &expr.kind {
            ExprKind::Literal(_)
            | ExprKind::OdbcLiteral(_)
            | ExprKind::Global(_)
            | ExprKind::Column(_)
            | ExprKind::Default => Ok(()),
            ExprKind::Variable(name) => self.note(name, expr.position, place, (true, false), None),
            ExprKind::Unary { operand, .. } | ExprKind::Collate { operand, .. } => self.expr(operand, place),
            ExprKind::Binary { left, right, .. } => {
                self.one_untyped([&**left, &**right])?;
                self.expr(left, place)?;
                self.expr(right, place)
            }
            ExprKind::TimeZone { operand, zone } => {
                self.expr(operand, &ParameterPosition::Nowhere)?;
                self.expr(zone, &ParameterPosition::Nowhere)
            }
            ExprKind::Function(call) => self.function(call, place),
            ExprKind::Cast(cast) => {
                let data_type = declared_type(&cast.type_name, selenite_types::DeclarationContext::Cast)?;
                self.expr(&cast.operand, &ParameterPosition::of_type(&cast.operand, data_type))?;
                match &cast.style {
                    Some(style) => self.expr(style, &ParameterPosition::of_type(style, DataType::Int)),
                    None => Ok(()),
                }
            }
            ExprKind::Case(case) => {
                let mut results: Vec<&Expr> = Vec::new();
                match &case.branches {
                    CaseBranches::Simple { operand, branches } => {
                        results.extend(branches.iter().map(|branch| &branch.result));
                        self.one_beside(operand, branches.iter().map(|branch| &branch.value), false)?;
                    }
                    CaseBranches::Searched(branches) => {
                        for branch in branches {
                            self.condition(&branch.condition)?;
                        }
                        results.extend(branches.iter().map(|branch| &branch.result));
                    }
                }
                results.extend(&case.otherwise);
                self.one_untyped(results.iter().copied())?;
                results.into_iter().try_for_each(|result| self.expr(result, place))
            }
            ExprKind::Iif(iif) => {
                self.condition(&iif.condition)?;
                self.one_untyped([&iif.then, &iif.otherwise])?;
                self.expr(&iif.then, place)?;
                self.expr(&iif.otherwise, place)
            }
            ExprKind::Subquery(query) => self.query(query, None),
            ExprKind::NextValue(_) => Ok(()),
        }
    }

    fn function(&mut self, call: &FunctionCall, place: &ParameterPosition) -> Result<(), SqlError> {
        // It is equivalent to a CASE that tests each value for NULL.
        let is_coalesce = call.name.single().is_some_and(|name| name.is("COALESCE"));
        let place = if is_coalesce {
            &ParameterPosition::Nowhere
        } else {
            place
        };
        if let Arguments::List(arguments) | Arguments::Distinct(arguments) = &call.arguments {
            self.one_untyped(arguments)?;
            arguments.iter().try_for_each(|argument| self.expr(argument, place))?;
        }
        if let Arguments::Json(arguments) = &call.arguments {
            let mut values = arguments.list.iter();
            values.try_for_each(|value| self.expr(value, &ParameterPosition::Nowhere))?;
        }
        let window = call.over.iter();
        let within = window.flat_map(|window| {
            let ordered = window.order_by.iter().map(|item| &item.value);
            window.partition_by.iter().chain(ordered)
        });
        within
            .into_iter()
            .try_for_each(|value| self.expr(value, &ParameterPosition::Nowhere))
    }

    pub(super) fn condition(&mut self, condition: &Condition) -> Result<(), SqlError> {
        match &condition.kind {
            ConditionKind::And(parts) | ConditionKind::Or(parts) => {
                parts.iter().try_for_each(|part| self.condition(part))
            }
            ConditionKind::Not(inner) => self.condition(inner),
            ConditionKind::Compare { operator, left, right } => {
                let is_ordered = !matches!(operator, Comparison::Equal | Comparison::NotEqual);
                self.one_beside(left, [&**right], is_ordered)
            }
            ConditionKind::IsDistinctFrom { left, right, .. } => self.one_beside(left, [&**right], false),
            ConditionKind::Between { operand, low, high, .. } => self.one_beside(operand, [&**low, &**high], true),
            ConditionKind::InList { operand, list, .. } => self.one_beside(operand, list, false),
            ConditionKind::Like {
                operand,
                pattern,
                escape,
                ..
            } => self.one_beside(operand, std::iter::once(&**pattern).chain(escape.as_deref()), true),
            ConditionKind::IsNull { operand, .. } => self.expr(operand, &ParameterPosition::Nowhere),
            ConditionKind::Quantified {
                operator, left, query, ..
            } => {
                let is_ordered = !matches!(operator, Comparison::Equal | Comparison::NotEqual);
                self.beside_query(left, query, is_ordered)
            }
            ConditionKind::InQuery { operand, query, .. } => self.beside_query(operand, query, false),
            ConditionKind::Exists(query) => self.query(query, None),
            ConditionKind::Updated(_) => Ok(()),
        }
    }

    fn beside_query(
        &mut self,
        operand: &Expr,
        query: &selenite_tsql::ast::Query,
        is_ordered: bool,
    ) -> Result<(), SqlError> {
        let other = Expr {
            kind: ExprKind::Subquery(Box::new(query.clone())),
            position: operand.position,
        };
        self.query(query, None)?;
        self.expr(operand, &ParameterPosition::beside(operand, &other, is_ordered))
    }

    /// An operand that is compared with each of some values: it may be without a type, or they.
    fn one_beside<'e>(
        &mut self,
        operand: &Expr,
        others: impl IntoIterator<Item = &'e Expr>,
        is_ordered: bool,
    ) -> Result<(), SqlError> {
        let others: Vec<&Expr> = others.into_iter().collect();
        for other in &others {
            self.one_untyped([operand, other])?;
        }
        if let Some(first) = others.first() {
            self.expr(operand, &ParameterPosition::beside(operand, first, is_ordered))?;
        }
        others
            .into_iter()
            .try_for_each(|other| self.expr(other, &ParameterPosition::beside(other, operand, is_ordered)))
    }

    /// 11503 for two of them without a type.
    fn one_untyped<'e>(&self, parts: impl IntoIterator<Item = &'e Expr>) -> Result<(), SqlError> {
        let mut first = None;
        for part in parts {
            match (first, untyped(part, &|name| self.is_undeclared(name))) {
                (Some(first), Some(second)) => {
                    return Err(fault::two_untyped(first, second).on_line(part.position.line));
                }
                (None, found) => first = found,
                (Some(_), None) => {}
            }
        }
        Ok(())
    }
}

/// The first of an expression's parameters on which its type depends.
pub(in crate::parameter_inference) fn untyped<'e>(expr: &'e Expr, is_meant: &dyn Fn(&str) -> bool) -> Option<&'e str> {
    let of = |expr: &'e Expr| untyped(expr, is_meant);
    match &expr.kind {
        ExprKind::Variable(name) => is_meant(name).then_some(name.as_str()),
        ExprKind::Unary { operand, .. } | ExprKind::Collate { operand, .. } => of(operand),
        ExprKind::Binary { left, right, .. } => of(left).or_else(|| of(right)),
        ExprKind::Function(call) => match &call.arguments {
            Arguments::List(arguments) | Arguments::Distinct(arguments) => arguments.iter().find_map(of),
            Arguments::Absent | Arguments::Star | Arguments::Json(_) => None,
        },
        ExprKind::Case(case) => {
            let found = match &case.branches {
                CaseBranches::Simple { branches, .. } => branches.iter().find_map(|branch| of(&branch.result)),
                CaseBranches::Searched(branches) => branches.iter().find_map(|branch| of(&branch.result)),
            };
            found.or_else(|| case.otherwise.as_ref().and_then(of))
        }
        ExprKind::Iif(iif) => of(&iif.then).or_else(|| of(&iif.otherwise)),
        ExprKind::Literal(_)
        | ExprKind::OdbcLiteral(_)
        | ExprKind::Global(_)
        | ExprKind::Column(_)
        | ExprKind::TimeZone { .. }
        | ExprKind::Cast(_)
        | ExprKind::Subquery(_)
        | ExprKind::NextValue(_)
        | ExprKind::Default => None,
    }
}
