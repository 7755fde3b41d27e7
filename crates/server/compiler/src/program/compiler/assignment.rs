//! DECLARE, SET of a variable, and SELECT without a table.

use selenite_tsql::ast::{self, ExprKind, Position, SelectItem, StatementKind};
use selenite_types::{DataType, DeclarationContext, Operator};

use super::Compiler;
use crate::binding::{ResultColumn, mutator};
use crate::program::step::{
    Branch, BranchInt, EnvironmentRead, Int, Operand, Role, SelectAssign, SelectValues, Set, SetInt, Step,
};
use crate::query::SELECT_COUNT_MAX;
use crate::{Expr, Predicate, Slot, SqlError, Whole, WholeOperand};

impl Compiler<'_> {
    pub(super) fn declarations(&mut self, declarations: Vec<ast::Declaration>, position: Position) {
        for (number, declaration) in (1..).zip(declarations) {
            let line = declaration.position.line;
            if let Err(error) = self.declaration(number, declaration, position) {
                self.error(error, line);
            }
        }
    }

    fn declaration(&mut self, number: u32, declaration: ast::Declaration, position: Position) -> Result<(), SqlError> {
        let type_name = match &declaration.variable_type {
            ast::VariableType::Scalar(type_name) => type_name,
            ast::VariableType::Table(_) | ast::VariableType::TableType(..) => {
                return self.declare_table(declaration, position);
            }
            ast::VariableType::Cursor => return self.declare_cursor_variable(declaration, position),
        };
        let place = DeclarationContext::Variable {
            number,
            name: &declaration.name,
        };
        let is_old = ["text", "ntext", "image"]
            .iter()
            .any(|word| type_name.name.name.is(word));
        let declared = match is_old {
            true => Err(SqlError::old_type_of_variable()),
            false => crate::declared_type(type_name, place),
        };
        // A variable of an invalid type is declared all the same, so that its uses are not errors.
        let fallback = declared.as_ref().copied().unwrap_or(DataType::Int);
        let slot = self.declare(&declaration.name, fallback)?;
        let data_type = declared?;
        let Some(initial) = declaration.initial else {
            return Ok(());
        };
        let operator = ast::AssignmentOperator::Set;
        self.assign(
            &declaration.name,
            slot,
            data_type,
            operator,
            initial,
            declaration.position,
        )
    }

    pub(super) fn set_variable(&mut self, set: ast::SetVariable, position: Position) -> Result<(), SqlError> {
        if self.is_cursor(&set.variable) {
            return self.share_cursor(&set, position);
        }
        let variable = self
            .variables
            .find(&set.variable)
            .map_err(|error| error.with_state(1))?;
        self.assign(
            &set.variable,
            variable.slot,
            variable.data_type,
            set.operator,
            set.value,
            position,
        )
    }

    /// One assignment as a statement.
    fn assign(
        &mut self,
        name: &str,
        slot: Slot,
        data_type: DataType,
        operator: ast::AssignmentOperator,
        value: ast::Expr,
        position: Position,
    ) -> Result<(), SqlError> {
        let whole = compound(name, operator, value, position);
        match self.scalar(&whole, Some(&data_type))? {
            Some(operand) => {
                let step = fast_set(slot, data_type, operand);
                self.push(step, position.line);
                Ok(())
            }
            None => self.select_into(name, ast::AssignmentOperator::Set, whole, position, Role::Assign),
        }
    }

    pub(super) fn select(&mut self, select: ast::SelectStatement, position: Position) -> Result<(), SqlError> {
        if let Some(items) = plain_items(&select) {
            check_items(items)?;
            let step = match items.first() {
                Some(SelectItem::Assign { .. }) => self.select_assign(items, position)?,
                Some(SelectItem::Value { .. } | SelectItem::Star { .. }) | None => self.select_values(items)?,
            };
            if let Some(step) = step {
                self.push(step, position.line);
                return Ok(());
            }
        }
        let kind = StatementKind::Select(Box::new(select));
        self.host_statement(ast::Statement { kind, position }, Role::Plain)
    }

    /// The step for a list of values; `None` if it needs a table.
    ///
    /// Errors: 1056 for a list that is too long; any error of a value.
    fn select_values(&self, items: &[SelectItem]) -> Result<Option<Step>, SqlError> {
        if items.len() > SELECT_COUNT_MAX {
            return Err(SqlError::too_many_columns());
        }
        let mut select = SelectValues {
            columns: Vec::with_capacity(items.len()),
            values: Vec::with_capacity(items.len()),
            reads: EnvironmentRead::Nothing,
        };
        for item in items {
            let SelectItem::Value { value, alias } = item else {
                return Ok(None);
            };
            let Some(operand) = self.scalar(value, None)? else {
                return Ok(None);
            };
            select.columns.push(ResultColumn {
                name: alias.as_ref().map(|alias| alias.text.clone()).unwrap_or_default(),
                data_type: operand.value.data_type,
                nullable: operand.value.nullable,
                collation: operand.value.collation,
                identity: None,
                is_computed: false,
                place: String::new(),
            });
            select.reads = select.reads.max(operand.reads);
            select.values.push(operand.value);
        }
        Ok(Some(Step::SelectValues(Box::new(select))))
    }

    /// The step for a list of assignments; `None` if it needs a table.
    fn select_assign(&self, items: &[SelectItem], position: Position) -> Result<Option<Step>, SqlError> {
        let mut assignments: Vec<(Slot, Expr)> = Vec::with_capacity(items.len());
        let mut reads = EnvironmentRead::Nothing;
        for item in items {
            let SelectItem::Assign {
                variable,
                operator,
                value,
                ..
            } = item
            else {
                return Ok(None);
            };
            let found = self.variables.find(variable).map_err(|error| error.with_state(1))?;
            let whole = compound(variable, *operator, value.clone(), position);
            let Some(operand) = self.scalar(&whole, Some(&found.data_type))? else {
                return Ok(None);
            };
            reads = reads.max(operand.reads);
            assignments.push((found.slot, operand.value));
        }
        Ok(Some(Step::SelectAssign(Box::new(SelectAssign { assignments, reads }))))
    }

    /// The step of a branch, in the fast form if it compares an int variable.
    pub(super) fn fast_branch(&self, branch: Branch) -> Step {
        let Predicate::Whole(compare) = &branch.condition else {
            return Step::Branch(Box::new(branch));
        };
        let (WholeOperand::Slot(left, Whole::Int), Some(right)) = (&compare.left, int_operand(&compare.right)) else {
            return Step::Branch(Box::new(branch));
        };
        Step::BranchInt(Box::new(BranchInt {
            left: left.index(),
            comparison: compare.comparison,
            right,
            general: branch,
        }))
    }
}

/// An operand that is an int variable or constant.
fn int_operand(operand: &WholeOperand) -> Option<Int> {
    match operand {
        WholeOperand::Slot(slot, Whole::Int) => Some(Int::Slot(slot.index())),
        WholeOperand::Slot(_, Whole::TinyInt | Whole::SmallInt | Whole::BigInt)
        | WholeOperand::Input(..)
        | WholeOperand::Expr(_) => None,
        WholeOperand::Literal(value, _) => i32::try_from(*value).ok().map(Int::Constant),
    }
}

/// `@a += b` as `@a + b`; the value itself for `=`.
fn compound(name: &str, operator: ast::AssignmentOperator, value: ast::Expr, position: Position) -> ast::Expr {
    let variable = ast::Expr {
        kind: ExprKind::Variable(name.to_owned()),
        position,
    };
    if operator == ast::AssignmentOperator::Modify {
        return mutator(variable, value);
    }
    let Some(operator) = binary(operator) else {
        return value;
    };
    let position = value.position;
    let kind = ExprKind::Binary {
        operator,
        left: Box::new(variable),
        right: Box::new(value),
    };
    ast::Expr { kind, position }
}

fn binary(operator: ast::AssignmentOperator) -> Option<ast::BinaryOperator> {
    Some(match operator {
        ast::AssignmentOperator::Set | ast::AssignmentOperator::Modify => return None,
        ast::AssignmentOperator::Add => ast::BinaryOperator::Add,
        ast::AssignmentOperator::Subtract => ast::BinaryOperator::Subtract,
        ast::AssignmentOperator::Multiply => ast::BinaryOperator::Multiply,
        ast::AssignmentOperator::Divide => ast::BinaryOperator::Divide,
        ast::AssignmentOperator::Modulo => ast::BinaryOperator::Modulo,
        ast::AssignmentOperator::BitAnd => ast::BinaryOperator::BitAnd,
        ast::AssignmentOperator::BitXor => ast::BinaryOperator::BitXor,
        ast::AssignmentOperator::BitOr => ast::BinaryOperator::BitOr,
    })
}

/// The step of a SET, in the fast form if it adds to an int.
fn fast_set(slot: Slot, data_type: DataType, operand: Operand) -> Step {
    let general = Set { slot, operand };
    let crate::ExprKind::Whole(whole) = &general.operand.value.kind else {
        return Step::Set(Box::new(general));
    };
    let is_subtraction = match whole.operator {
        Operator::Add => false,
        Operator::Subtract => true,
        Operator::Multiply
        | Operator::Divide
        | Operator::Modulo
        | Operator::BitAnd
        | Operator::BitOr
        | Operator::BitXor => return Step::Set(Box::new(general)),
    };
    let (WholeOperand::Slot(source, Whole::Int), Some(addend)) = (&whole.left, int_operand(&whole.right)) else {
        return Step::Set(Box::new(general));
    };
    if data_type != DataType::Int || whole.result != Whole::Int {
        return Step::Set(Box::new(general));
    }
    Step::SetInt(Box::new(SetInt {
        slot: slot.index(),
        source: source.index(),
        addend,
        is_subtraction,
        general,
    }))
}

/// The items of a SELECT that has no other clause.
fn plain_items(select: &ast::SelectStatement) -> Option<&[SelectItem]> {
    let query = &select.query;
    let ast::QueryBody::Select(inner) = &query.body else {
        return None;
    };
    let is_plain = select.with.is_empty()
        && select.options.is_empty()
        && query.order_by.is_empty()
        && query.offset.is_none()
        && query.for_clause.is_none()
        && !inner.distinct
        && inner.top.is_none()
        && inner.into.is_none()
        && inner.from.is_empty()
        && inner.filter.is_none()
        && inner.group_by.is_empty()
        && inner.having.is_none();
    is_plain.then_some(inner.items.as_slice())
}

/// Errors: 141 for assignments mixed with values, 263 for `*` without a table.
fn check_items(items: &[SelectItem]) -> Result<(), SqlError> {
    let assigns = items
        .iter()
        .filter(|item| matches!(item, SelectItem::Assign { .. }))
        .count();
    if assigns != 0 && assigns != items.len() {
        return Err(SqlError::assignment_beside_values());
    }
    if items.iter().any(|item| matches!(item, SelectItem::Star { .. })) {
        return Err(SqlError::star_without_table());
    }
    Ok(())
}
