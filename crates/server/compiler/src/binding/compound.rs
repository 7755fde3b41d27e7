//! Assignments with an operator.

use selenite_tsql::ast;

/// `@a += b` as `@a + b`.
pub(crate) fn compound(variable: &str, operator: ast::AssignmentOperator, value: &ast::Expr) -> ast::Expr {
    let position = value.position;
    compound_of(
        ast::Expr {
            kind: ast::ExprKind::Variable(variable.to_owned()),
            position,
        },
        operator,
        value,
    )
}

/// `operand.modify(value)`.
pub(crate) fn mutator(operand: ast::Expr, value: ast::Expr) -> ast::Expr {
    let position = value.position;
    let name = ast::Name {
        text: "modify".to_owned(),
        quoted: true,
        position,
    };
    let call = ast::FunctionCall {
        name: ast::ObjectName {
            server: None,
            database: None,
            schema: None,
            name,
            position,
        },
        arguments: ast::Arguments::List(vec![operand, value]),
        within_group: Vec::new(),
        null_treatment: None,
        over: None,
        odbc: false,
        form: ast::CallForm::Mutator,
    };
    let kind = ast::ExprKind::Function(Box::new(call));
    ast::Expr { kind, position }
}

/// `left += b` as `left + b`.
pub(crate) fn compound_of(left: ast::Expr, operator: ast::AssignmentOperator, value: &ast::Expr) -> ast::Expr {
    let operator = match operator {
        ast::AssignmentOperator::Set => return value.clone(),
        ast::AssignmentOperator::Add => ast::BinaryOperator::Add,
        ast::AssignmentOperator::Subtract => ast::BinaryOperator::Subtract,
        ast::AssignmentOperator::Multiply => ast::BinaryOperator::Multiply,
        ast::AssignmentOperator::Divide => ast::BinaryOperator::Divide,
        ast::AssignmentOperator::Modulo => ast::BinaryOperator::Modulo,
        ast::AssignmentOperator::BitAnd => ast::BinaryOperator::BitAnd,
        ast::AssignmentOperator::BitXor => ast::BinaryOperator::BitXor,
        ast::AssignmentOperator::BitOr => ast::BinaryOperator::BitOr,
        ast::AssignmentOperator::Modify => return mutator(left, value.clone()),
    };
    let (left, right) = (Box::new(left), Box::new(value.clone()));
    ast::Expr {
        kind: ast::ExprKind::Binary { operator, left, right },
        position: value.position,
    }
}
