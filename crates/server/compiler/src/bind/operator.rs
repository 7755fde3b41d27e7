//! Operators: the types of both sides, and the fast forms for integers.

use selenite_tsql::ast;
use selenite_types::{DataType, Family, Operator, UnaryOperator, Value};

use crate::expr::{collation_of, constant_whole};
use crate::{Collation, Expr, ExprKind, SqlError, Whole, WholeOperand, WholeOperation};

/// The operator for the tree's operator.
pub(super) fn operator(operator: ast::BinaryOperator) -> Operator {
    match operator {
        ast::BinaryOperator::Multiply => Operator::Multiply,
        ast::BinaryOperator::Divide => Operator::Divide,
        ast::BinaryOperator::Modulo => Operator::Modulo,
        ast::BinaryOperator::Add => Operator::Add,
        ast::BinaryOperator::Subtract => Operator::Subtract,
        ast::BinaryOperator::BitAnd => Operator::BitAnd,
        ast::BinaryOperator::BitXor => Operator::BitXor,
        ast::BinaryOperator::BitOr => Operator::BitOr,
    }
}

/// The operator before the `=` of an assignment; `None` for `=` alone.
pub(super) fn of_assignment(operator: ast::AssignmentOperator) -> Option<Operator> {
    match operator {
        ast::AssignmentOperator::Set | ast::AssignmentOperator::Modify => None,
        ast::AssignmentOperator::Add => Some(Operator::Add),
        ast::AssignmentOperator::Subtract => Some(Operator::Subtract),
        ast::AssignmentOperator::Multiply => Some(Operator::Multiply),
        ast::AssignmentOperator::Divide => Some(Operator::Divide),
        ast::AssignmentOperator::Modulo => Some(Operator::Modulo),
        ast::AssignmentOperator::BitAnd => Some(Operator::BitAnd),
        ast::AssignmentOperator::BitXor => Some(Operator::BitXor),
        ast::AssignmentOperator::BitOr => Some(Operator::BitOr),
    }
}

/// A unary operator: a sign or `~`.
pub(super) fn unary(operator: ast::UnaryOperator, operand: Expr, written: &ast::Expr) -> Result<Expr, SqlError> {
    let operator = match operator {
        ast::UnaryOperator::Plus => return plus(operand),
        ast::UnaryOperator::Minus => UnaryOperator::Minus,
        ast::UnaryOperator::BitNot => UnaryOperator::BitNot,
    };
    let is_constant_text = matches!(
        written.kind,
        ast::ExprKind::Literal(ast::Literal::String(_) | ast::Literal::National(_))
    );
    if is_constant_text && operator == UnaryOperator::Minus {
        return Err(SqlError::invalid_operator_type("minus", operand.data_type.keyword()));
    }
    let result = operator.result_type(&operand.data_type)?;
    if let ExprKind::Literal(value) = &operand.kind
        && let Ok(folded) = operator.apply(value, &result)
    {
        return Ok(Expr::literal(folded, result));
    }
    let nullable = operand.nullable;
    Ok(Expr::new(
        ExprKind::Unary {
            operator,
            operand: Box::new(operand),
        },
        result,
    )
    .with_nullable(nullable))
}

fn plus(operand: Expr) -> Result<Expr, SqlError> {
    UnaryOperator::Plus.result_type(&operand.data_type)?;
    Ok(operand)
}

/// An operand, and whether it is an integer constant.
pub(super) struct Operand {
    /// The bound operand.
    pub expr: Expr,
    /// Beside a decimal, an integer constant has the precision of its digits.
    pub is_constant: bool,
}

impl Operand {
    /// The operand that `written` was bound to.
    pub fn new(expr: Expr, written: &ast::Expr) -> Self {
        Self {
            expr,
            is_constant: is_written_integer(written),
        }
    }

    /// An operand that is not a constant.
    pub fn computed(expr: Expr) -> Self {
        Self {
            expr,
            is_constant: false,
        }
    }
}

/// Whether it consists of digits, optionally with signs.
fn is_written_integer(written: &ast::Expr) -> bool {
    let mut written = written;
    while let ast::ExprKind::Unary {
        operator: ast::UnaryOperator::Plus | ast::UnaryOperator::Minus,
        operand,
    } = &written.kind
    {
        written = operand;
    }
    matches!(written.kind, ast::ExprKind::Literal(ast::Literal::Integer(_)))
}

/// A binary operator.
///
/// Errors: 206, 257, 402 and 8117 for incompatible types, 468 for collations.
pub(super) fn binary(operator: Operator, left: Operand, right: Operand) -> Result<Expr, SqlError> {
    let constants = (left.is_constant, right.is_constant);
    let (left, right) = type_null_literals(left.expr, right.expr);
    let nullable = left.nullable || right.nullable;
    if let (Some(of_left), Some(of_right)) = (Whole::of(&left.data_type), Whole::of(&right.data_type)) {
        let result = of_left.max(of_right);
        let operation = WholeOperation {
            operator,
            left: operand(left, of_left),
            right: operand(right, of_right),
            result,
        };
        return Ok(Expr::new(ExprKind::Whole(Box::new(operation)), result.data_type()).with_nullable(nullable));
    }
    let counts_digits = !matches!(operator, Operator::BitAnd | Operator::BitOr | Operator::BitXor);
    let of_left = operand_type(&left, constants.0 && counts_digits, &right);
    let of_right = operand_type(&right, constants.1 && counts_digits, &left);
    let signature = operator.signature(&of_left, &of_right)?;
    let collation = if signature.result.family() == Family::Text {
        collation_of([&left, &right], operator.name())?
    } else {
        Collation::default()
    };
    let (left, right) = (
        left.converted_to(&signature.left)?,
        right.converted_to(&signature.right)?,
    );
    let kind = ExprKind::Binary {
        operator,
        left: Box::new(left),
        right: Box::new(right),
    };
    Ok(Expr::new(kind, signature.result)
        .with_nullable(nullable)
        .with_collation(collation))
}

/// Gives the literal NULL the other side's type.
pub(super) fn type_null_literals(left: Expr, right: Expr) -> (Expr, Expr) {
    match (left.is_null_word(), right.is_null_word()) {
        (true, false) => (Expr::literal(Value::Null, right.data_type), right),
        (false, true) => {
            let null = Expr::literal(Value::Null, left.data_type);
            (left, null)
        }
        (true, true) | (false, false) => (left, right),
    }
}

/// An integer operand; variables and constants are read without evaluation.
pub(super) fn operand(expr: Expr, whole: Whole) -> WholeOperand {
    if let ExprKind::Variable(slot) = expr.kind {
        return WholeOperand::Slot(slot, whole);
    }
    match constant_whole(Some(&expr)) {
        Some(number) => WholeOperand::Literal(number, whole),
        None => WholeOperand::Expr(Box::new(expr)),
    }
}

/// The type of an operand beside `other`.
fn operand_type(operand: &Expr, is_constant: bool, other: &Expr) -> DataType {
    match constant_whole(Some(operand)) {
        Some(constant) if is_constant && other.data_type.family() == Family::Decimal => {
            DataType::of_integer_constant(constant)
        }
        Some(_) | None => operand.data_type,
    }
}
