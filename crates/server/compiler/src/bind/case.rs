//! CASE, IIF and CAST.

use selenite_tsql::ast;
use selenite_types::{Comparison, Conversion, DataType, DeclarationContext, Value};

use super::Binder;
use super::condition::compared;
use super::conversion::declared_type;
use super::once::Once;
use crate::expr::collation_of;
use crate::{Expr, ExprKind, Function, Predicate, SqlError, common_type};

impl Binder<'_> {
    /// CASE in both forms.
    pub(super) fn case(&mut self, case: &ast::Case) -> Result<Expr, SqlError> {
        let mut branches = Vec::new();
        let mut once = Once::default();
        match &case.branches {
            ast::CaseBranches::Simple {
                operand,
                branches: written,
            } => {
                let (around, operand) = Once::new(self.expr(operand)?);
                once = around;
                for branch in written {
                    let value = self.expr(&branch.value)?;
                    let condition = compared(Comparison::Equal, operand.clone(), value)
                        .map_err(|error| error.on_line(branch.value.position.line))?;
                    branches.push((condition, self.operand(&branch.result)?));
                }
            }
            ast::CaseBranches::Searched(written) => {
                for branch in written {
                    branches.push((self.condition(&branch.condition)?, self.operand(&branch.result)?));
                }
            }
        }
        let otherwise = case
            .otherwise
            .as_ref()
            .map(|otherwise| self.operand(otherwise))
            .transpose()?;
        Ok(once.around(chosen(branches, otherwise)?))
    }

    /// IIF.
    pub(super) fn iif(&mut self, iif: &ast::Iif) -> Result<Expr, SqlError> {
        let condition = self.condition(&iif.condition)?;
        let then = self.operand(&iif.then)?;
        let otherwise = self.operand(&iif.otherwise)?;
        chosen(vec![(condition, then)], Some(otherwise))
    }

    /// CAST, CONVERT and their TRY_ forms.
    pub(super) fn cast(&mut self, cast: &ast::Cast) -> Result<Expr, SqlError> {
        let data_type = declared_type(&cast.type_name, DeclarationContext::Cast)?;
        let operand = self.operand(&cast.operand)?;
        if let ast::CastKind::Parse | ast::CastKind::TryParse = cast.kind {
            let culture = match &cast.style {
                Some(culture) => Some(self.expr(culture)?),
                None => None,
            };
            let is_try = cast.kind == ast::CastKind::TryParse;
            return Function::parsed(operand, data_type, culture, is_try);
        }
        let style = match &cast.style {
            Some(style) => Some(self.expr_as(style, &DataType::Int)?),
            None => None,
        };
        let is_try = match cast.kind {
            ast::CastKind::TryCast | ast::CastKind::TryConvert | ast::CastKind::TryParse => true,
            ast::CastKind::Cast | ast::CastKind::Convert | ast::CastKind::Parse => false,
        };
        if operand.is_null_word() {
            return Ok(Expr::literal(Value::Null, data_type));
        }
        // The result has the collation of the operand.
        let data_type = data_type.under(operand.collation.named);
        Conversion::check_explicit(&operand.data_type, &data_type)?;
        if operand.data_type == data_type && style.is_none() {
            return Ok(operand);
        }
        operand.check_collation_in(&data_type)?;
        Ok(operand.wrapped(&data_type, style, is_try))
    }
}

/// A CASE of bound branches, whose results are converted to one type.
fn chosen(branches: Vec<(Predicate, Expr)>, otherwise: Option<Expr>) -> Result<Expr, SqlError> {
    let results: Vec<&Expr> = branches.iter().map(|(_, result)| result).chain(&otherwise).collect();
    if results.iter().all(|result| result.is_null_word()) {
        return Err(SqlError::only_nulls_in_case());
    }
    let data_type = common_type(results.iter().copied())?;
    let collation = collation_of(results.iter().copied(), "CASE")?;
    let nullable = otherwise.is_none() || results.iter().any(|result| result.nullable);
    let branches = branches
        .into_iter()
        .map(|(condition, result)| Ok((condition, result.converted_to(&data_type)?)))
        .collect::<Result<Vec<_>, SqlError>>()?;
    let otherwise = otherwise
        .map(|otherwise| otherwise.converted_to(&data_type))
        .transpose()?
        .map(Box::new);
    let kind = ExprKind::Case { branches, otherwise };
    Ok(Expr::new(kind, data_type)
        .with_nullable(nullable)
        .with_collation(collation))
}
