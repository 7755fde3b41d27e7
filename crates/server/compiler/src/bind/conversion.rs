//! Implicit conversions, and the types that a batch declares.

use std::borrow::Cow;

use selenite_tsql::ast;
use selenite_types::{
    Argument, Conversion, DataType, DateFormat, DeclarationContext, Family, Site, Value, Width, convert,
};

use crate::{Collation, Convert, Expr, ExprKind, SqlError, same_name};

/// The declared type of a variable, a column or a CAST.
///
/// Errors: any error of the name or its numbers; 350 for a column of a table type.
pub fn declared_type(name: &ast::TypeName, place: DeclarationContext<'_>) -> Result<DataType, SqlError> {
    let written = &name.name;
    match (&name.user_type, place) {
        (None, _) | (Some(_), DeclarationContext::Cast) => {}
        (Some(user_type), DeclarationContext::Column { .. } | DeclarationContext::Variable { .. }) => {
            if let ast::NamedType::Alias(alias) = user_type {
                return declared_type(&alias.base, place);
            }
            if let DeclarationContext::Column { name: column, .. } = place {
                return Err(SqlError::column_of_table_type(column).on_line(name.position.line));
            }
        }
    }
    let is_system = written
        .schema
        .as_ref()
        .is_none_or(|schema| same_name(&schema.text, "sys"));
    if written.database.is_some() || written.server.is_some() {
        return Err(SqlError::unsupported("A type of another database").on_line(name.position.line));
    }
    let arguments: Vec<Argument> = name
        .arguments
        .iter()
        .map(|argument| match argument {
            ast::TypeArgument::Number(number) => Argument::Number(u64::from(*number)),
            ast::TypeArgument::Max => Argument::Max,
        })
        .collect();
    let site = Site {
        place,
        line: name.position.line,
    };
    // No type of the system has a name with a dot.
    let text = match (is_system, &written.schema) {
        (false, Some(schema)) => Cow::Owned(format!("{}.{}", schema.text, written.name.text)),
        (_, _) => Cow::Borrowed(written.name.text.as_str()),
    };
    DataType::from_name(&text, &arguments, &site).map_err(|error| SqlError::from(error).on_line(name.position.line))
}

/// A type of text as its collation encodes it, wide enough for what it held.
pub(crate) fn under(data_type: &DataType, collation: Collation) -> DataType {
    let encoded = data_type.under(collation.named);
    let (before, encoding) = (data_type.encoding(), encoded.encoding());
    match data_type.width().map(|width| encoding.width_of(width, before)) {
        Some(Width::Limited(length)) if before != encoding && encoded.is_padded() => encoding.padded(length),
        Some(width) if before != encoding => encoding.varying(width),
        Some(_) | None => encoded,
    }
}

/// The common type of several expressions: results of CASE, columns of UNION, both sides of IN.
///
/// The literal NULL does not count; int if there is nothing else.
///
/// Errors: 206 if one of them does not convert to the type of the highest precedence.
pub fn common_type<'a>(exprs: impl IntoIterator<Item = &'a Expr>) -> Result<DataType, SqlError> {
    let mut common: Option<DataType> = None;
    for expr in exprs.into_iter().filter(|expr| !expr.is_null_word()) {
        common = Some(match common {
            None => expr.data_type,
            Some(before) => before.unify(&expr.data_type)?,
        });
    }
    Ok(common.unwrap_or(DataType::Int))
}

impl Expr {
    /// The expression converted to `data_type` as by an assignment; unchanged if it has that type.
    ///
    /// Errors: 206 and 257 if there is no implicit conversion.
    pub fn converted_to(self, data_type: &DataType) -> Result<Self, SqlError> {
        if self.data_type == *data_type {
            return Ok(self);
        }
        if self.is_null_word() {
            return Ok(Self::literal(Value::Null, *data_type));
        }
        Conversion::check_implicit(&self.data_type, data_type)?;
        self.check_collation_in(data_type)?;
        Ok(self.wrapped(data_type, None, false))
    }

    /// Checks that a sql_variant, which has no collation of its own here, is not made of text under another one.
    ///
    /// Errors: 40510.
    pub(super) fn check_collation_in(&self, data_type: &DataType) -> Result<(), SqlError> {
        match *data_type == DataType::SqlVariant && self.collation.named != selenite_types::Collation::DEFAULT {
            true => {
                let name = self.collation.name();
                Err(SqlError::unsupported(&format!("A sql_variant of text in {name}")))
            }
            false => Ok(()),
        }
    }

    /// The expression in a conversion; a constant is converted now if that succeeds.
    pub(super) fn wrapped(self, data_type: &DataType, style: Option<Self>, is_try: bool) -> Self {
        let (nullable, collation) = (self.nullable, self.collation);
        if style.is_none()
            && let ExprKind::Literal(value) = &self.kind
            && !depends_on_session(&self.data_type, data_type)
            && let Ok(converted) = convert(value, &self.data_type, data_type, None, DateFormat::default())
        {
            return Self::literal(converted, *data_type).with_collation(collation);
        }
        let nullable = nullable || is_try || style.as_ref().is_some_and(|style| style.nullable);
        let convert = Convert {
            operand: self,
            style,
            is_try,
        };
        Self::new(ExprKind::Convert(Box::new(convert)), *data_type)
            .with_nullable(nullable)
            .with_collation(collation)
    }
}

/// Whether the conversion depends on the session's DATEFORMAT.
fn depends_on_session(from: &DataType, to: &DataType) -> bool {
    let is_date = |family| matches!(family, Family::OldDate | Family::NewDate | Family::Time);
    matches!(from.family(), Family::Text | Family::Variant) && is_date(to.family())
}
