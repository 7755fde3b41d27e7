//! Writes values as SQL.

use selenite_types::{DataType, Value};

use super::form::{keeps_form, plain_convert};
use super::parameter::{Parameter, ParameterValue};
use super::{Form, Writer};
use crate::compiled::VARIANT_COLLATION;
use crate::expr::{is_fixed, is_once, is_safe, is_volatile, is_volatile_predicate};
use crate::query::tree::{QueryNode, ROW_ID, SqliteColumn};
use crate::{
    ColumnRef, Expr, ExprKind, InputOrigin, Let, Node, NodeMut, OperationUse, Predicate, SqlError, WholeOperand,
};

impl Writer {
    /// SQL of an expression's value in its type's storage form.
    ///
    /// Errors: 8623 for more nodes than the limit of a statement, 8631 for more operations.
    pub fn value(&mut self, expr: &Expr) -> Result<String, SqlError> {
        self.parts.budget.spend(1)?;
        if is_fixed(expr) {
            if self.lazy > 0 && !is_safe(expr) && !is_once(expr) {
                return self.operation(expr);
            }
            let value = ParameterValue::Value(expr.clone());
            return Ok(self.parameter(Parameter {
                value,
                data_type: expr.data_type,
            }));
        }
        if let Some(convert) = plain_convert(expr)
            && keeps_form(&convert.operand.data_type, &expr.data_type)
        {
            return self.value(&convert.operand);
        }
        match &expr.kind {
            ExprKind::Column(column) => self.column(*column),
            ExprKind::QueryNode(reference) => self.query_node_value(*reference),
            ExprKind::Case { branches, otherwise } => self.case(branches, otherwise.as_deref()),
            ExprKind::Coalesce(values) => self.coalesce(values, &expr.data_type),
            ExprKind::Let(bound) => self.bound_once(expr, bound),
            ExprKind::Literal(_)
            | ExprKind::Null
            | ExprKind::Variable(_)
            | ExprKind::Input(_)
            | ExprKind::Convert(_)
            | ExprKind::Unary { .. }
            | ExprKind::Binary { .. }
            | ExprKind::Whole(_)
            | ExprKind::Choose { .. }
            | ExprKind::Call(_)
            | ExprKind::UserCall(_) => self.operation(expr),
            ExprKind::Local => Err(SqlError::internal("a local value outside its expression")),
        }
    }

    /// SQL of the key by which a value is compared, grouped or ordered: with its collation, if it is text.
    ///
    /// Errors: as [`Writer::value`].
    pub fn key(&mut self, expr: &Expr) -> Result<String, SqlError> {
        check_ordered(&expr.data_type)?;
        let sql = self.value(expr)?;
        Ok(collated(Form::of(&expr.data_type), sql, expr.collation))
    }

    /// SQL of a source's column.
    ///
    /// Errors: 8624 for an unbound column.
    pub fn column(&mut self, column: ColumnRef) -> Result<String, SqlError> {
        let source = column.source;
        let weight = self.column_weight(column)?;
        self.parts.budget.spend(weight)?;
        if column.column == ROW_ID {
            let name = self.parts.row_ids.get(&source).map_or("rowid", String::as_str);
            return Ok(format!("t{source}.{name}"));
        }
        match self.parts.place(column) {
            Some(SqliteColumn::Named(name)) => Ok(format!("t{source}.{}", super::quoted(name)?)),
            Some(SqliteColumn::Element(at, class)) => {
                Ok(super::from::element(&format!("t{source}.value"), *at, *class))
            }
            Some(SqliteColumn::Numbered(at)) => Ok(format!("t{source}.c{at}")),
            Some(SqliteColumn::Inlined(expr)) => {
                let expr = expr.clone();
                Ok(format!("({})", self.lazily(|writer| writer.value(&expr))?))
            }
            None => Err(SqlError::internal("a column of no source")),
        }
    }

    fn case(&mut self, branches: &[(Predicate, Expr)], otherwise: Option<&Expr>) -> Result<String, SqlError> {
        let mut sql = String::from("CASE");
        for (at, (condition, result)) in branches.iter().enumerate() {
            let condition = match at {
                0 => self.condition(condition)?,
                _ => self.lazily(|writer| writer.condition(condition))?,
            };
            let result = self.lazily(|writer| writer.value(result))?;
            sql.push_str(&format!(" WHEN {condition} THEN {result}"));
        }
        if let Some(otherwise) = otherwise {
            let otherwise = self.lazily(|writer| writer.value(otherwise))?;
            sql.push_str(&format!(" ELSE {otherwise}"));
        }
        sql.push_str(" END");
        Ok(sql)
    }

    /// A value that is used several times is an argument of one operation. But if branches contain nodes that SQLite
    /// evaluates, subqueries or aggregates, the operation only returns the number of the branch, so that the others are
    /// not evaluated.
    fn bound_once(&mut self, expr: &Expr, bound: &Let) -> Result<String, SqlError> {
        let ExprKind::Case { branches, otherwise } = &bound.body.kind else {
            return self.operation(expr);
        };
        let results = branches.iter().map(|(_, result)| result).chain(otherwise.as_deref());
        if !results.clone().any(holds_query) || results.clone().any(is_local) {
            return self.operation(expr);
        }
        let number = |at: usize| Expr::literal(Value::Int(i32::try_from(at).unwrap_or(i32::MAX)), DataType::Int);
        let numbered = branches.iter().enumerate();
        let which = Expr::new(
            ExprKind::Case {
                branches: numbered.map(|(at, (test, _))| (test.clone(), number(at))).collect(),
                otherwise: None,
            },
            DataType::Int,
        );
        let which = Let {
            value: bound.value.clone(),
            body: which,
        };
        let which = Expr::new(ExprKind::Let(Box::new(which)), DataType::Int);
        let mut sql = format!("CASE {}", self.operation(&which)?);
        for (at, (_, result)) in branches.iter().enumerate() {
            let result = self.lazily(|writer| writer.value(result))?;
            sql.push_str(&format!(" WHEN {at} THEN {result}"));
        }
        if let Some(otherwise) = otherwise {
            let otherwise = self.lazily(|writer| writer.value(otherwise))?;
            sql.push_str(&format!(" ELSE {otherwise}"));
        }
        sql.push_str(" END");
        Ok(sql)
    }

    fn coalesce(&mut self, values: &[Expr], data_type: &DataType) -> Result<String, SqlError> {
        let mut parts = Vec::with_capacity(values.len());
        for (at, value) in values.iter().enumerate() {
            if !keeps_form(&value.data_type, data_type) {
                return Err(SqlError::internal("COALESCE of several types"));
            }
            parts.push(match at {
                0 => self.value(value)?,
                _ => self.lazily(|writer| writer.value(value))?,
            });
        }
        Ok(match parts.as_slice() {
            [only] => only.clone(),
            _ => format!("coalesce({})", parts.join(", ")),
        })
    }

    /// SQL of an integer operand.
    ///
    /// Errors: as [`Writer::value`].
    pub fn whole(&mut self, operand: &WholeOperand) -> Result<String, SqlError> {
        match operand {
            WholeOperand::Slot(slot, _) => {
                let value = ParameterValue::Whole(*slot);
                Ok(self.parameter(Parameter {
                    value,
                    data_type: DataType::BigInt,
                }))
            }
            WholeOperand::Literal(value, _) => Ok(value.to_string()),
            WholeOperand::Input(..) => Err(SqlError::internal("an input outside an operation")),
            WholeOperand::Expr(expr) => self.value(expr),
        }
    }

    /// `tsql_op(N, ..)` of an expression.
    ///
    /// Errors: as [`Writer::value`].
    pub fn operation(&mut self, expr: &Expr) -> Result<String, SqlError> {
        let mut expr = expr.clone();
        let mut count = 0;
        expr.visit(&mut |_| count += 1);
        self.parts.budget.spend(count)?;
        expr.rewrite(&mut |node| self.fix(node));
        let volatile = is_volatile(&expr);
        let operation = self.operations.intern(&expr)?;
        self.call(&operation, volatile)
    }

    /// `tsql_op(N, ..)` of a condition.
    ///
    /// Errors: as [`Writer::value`].
    pub fn predicate_operation(&mut self, predicate: &Predicate) -> Result<String, SqlError> {
        let mut predicate = predicate.clone();
        let mut count = 0;
        predicate.visit(&mut |_| count += 1);
        self.parts.budget.spend(count)?;
        predicate.rewrite(&mut |node| self.fix(node));
        let volatile = is_volatile_predicate(&predicate);
        let operation = self.operations.intern_predicate(&predicate)?;
        self.call(&operation, volatile)
    }

    /// Replaces a node that is constant in the whole statement by a numbered entry: it becomes a parameter.
    fn fix(&mut self, node: NodeMut<'_>) {
        if let NodeMut::Expr(expr) = node
            && is_once(expr)
        {
            let kind = ExprKind::QueryNode(self.parts.add_query_node(QueryNode::Fixed(expr.clone())));
            *expr = Expr { kind, ..expr.clone() };
        }
    }

    fn call(&mut self, operation: &OperationUse, volatile: bool) -> Result<String, SqlError> {
        if operation.inputs.len() > INPUT_COUNT_MAX {
            let what = format!("An expression of more than {INPUT_COUNT_MAX} columns and variables");
            return Err(SqlError::unsupported(&what));
        }
        let name = if volatile { "tsql_row" } else { "tsql_op" };
        let mut sql = format!("{name}({}", operation.number);
        for (at, input) in operation.inputs.iter().enumerate() {
            let argument = match input.origin {
                InputOrigin::Column(column) => {
                    if let Some(name) = self.parts.column_name(column) {
                        self.inputs.entry((operation.number, at)).or_default().insert(name);
                    }
                    self.column(column)?
                }
                InputOrigin::Variable(slot) => {
                    let value = ParameterValue::Value(Expr::new(ExprKind::Variable(slot), input.data_type));
                    self.parameter(Parameter {
                        value,
                        data_type: input.data_type,
                    })
                }
                InputOrigin::QueryNode(reference) => self.query_node_value(reference)?,
                InputOrigin::QueryNodePredicate(reference) => self.query_node_condition(reference)?,
            };
            sql.push_str(", ");
            sql.push_str(&argument);
        }
        sql.push(')');
        Ok(sql)
    }
}

/// SQLITE_MAX_FUNCTION_ARG's default, less the operation's number.
const INPUT_COUNT_MAX: usize = 999;

/// Whether SQLite evaluates a part of an expression.
fn holds_query(expr: &Expr) -> bool {
    let mut holds = false;
    expr.visit(&mut |node| {
        holds |= match node {
            Node::Expr(expr) => matches!(expr.kind, ExprKind::QueryNode(_)),
            Node::Predicate(predicate) => matches!(predicate, Predicate::QueryNode(_)),
            Node::Slot(_) => false,
        }
    });
    holds
}

/// Whether an expression uses the value of the [`Let`] around it.
fn is_local(expr: &Expr) -> bool {
    let mut is = false;
    expr.visit(&mut |node| is |= matches!(node, Node::Expr(expr) if matches!(expr.kind, ExprKind::Local)));
    is
}

/// Checks that values of a type are compared.
///
/// Errors: 305 for xml.
pub(super) fn check_ordered(data_type: &DataType) -> Result<(), SqlError> {
    match *data_type == DataType::Xml {
        true => Err(selenite_types::OperationError::XmlCompared.into()),
        false => Ok(()),
    }
}

/// SQL of a value in a comparison.
pub(super) fn collated(form: Form, sql: String, collation: crate::Collation) -> String {
    match form {
        Form::Text => format!("{sql} COLLATE {}", collation.named.order().name()),
        Form::Variant => format!("{sql} COLLATE {VARIANT_COLLATION}"),
        Form::Scaled(_)
        | Form::Wide(_)
        | Form::Real
        | Form::Bytes
        | Form::Date
        | Form::Time(_)
        | Form::Moment(_)
        | Form::Offset(_)
        | Form::Guid => form.key(sql),
    }
}
