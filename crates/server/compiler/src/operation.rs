//! Operations: expressions that SQLite evaluates by calling `tsql_op(N, a, b, ..)`.
//!
//! - `equal-operations-share-a-number`: expressions that differ only in the origin of their inputs
//!   have one number.
//! - `inputs-come-with-the-call`: all inputs of an operation are arguments of the call: columns,
//!   variables and nodes of the query binder.
//! - `owned-by-the-statement`: operations belong to a bound statement and are dropped with it;
//!   there are at most [`OPERATION_COUNT_MAX`].

use std::fmt;

use selenite_types::storage::{Misfit, Stored, StoredRef, from_stored, to_stored};
use selenite_types::{DataType, Value};

use crate::{
    ColumnRef, Environment, Expr, ExprKind, Frame, NodeMut, Predicate, QueryNodeRef, Slot, SqlError, Whole,
    WholeOperand,
};

/// An input of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OperationInput {
    /// The origin of its value.
    pub origin: InputOrigin,
    /// The type of its storage form; a bit for a predicate.
    pub data_type: DataType,
}

/// The origin of an operation's argument.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum InputOrigin {
    /// A column.
    Column(ColumnRef),
    /// A variable: a parameter of the statement.
    Variable(Slot),
    /// A value node of the query binder.
    QueryNode(QueryNodeRef),
    /// A predicate node of the query binder: 0, 1 or NULL.
    QueryNodePredicate(QueryNodeRef),
}

/// An interned expression: its number and its inputs, in order.
#[derive(Clone, PartialEq, Debug)]
pub struct OperationUse {
    /// The first argument of `tsql_op`.
    pub number: u32,
    /// The other arguments.
    pub inputs: Vec<OperationInput>,
    /// The type of its result's storage form; a bit for a predicate.
    pub data_type: DataType,
}

/// The failure of an operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OperationFailure {
    /// A T-SQL error.
    Error(SqlError),
    /// An invalid storage form of an input: error 50823, whose text names the column, which the caller adds.
    Misfit {
        /// The index in [`OperationUse::inputs`].
        input: usize,
        /// The mismatch.
        misfit: Misfit,
    },
}

/// The operations of one bound statement.
#[derive(Clone, Default, Debug)]
pub struct Operations {
    operations: Vec<Operation>,
}

#[derive(Clone, PartialEq, Debug)]
struct Operation {
    code: Code,
    input_types: Vec<DataType>,
    data_type: DataType,
}

#[derive(Clone, PartialEq, Debug)]
enum Code {
    Value(Expr),
    Truth(Predicate),
}

impl Operations {
    /// Whether there are no operations.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// No operations.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Interns an expression.
    ///
    /// Errors: 8631 for too many operations.
    pub fn intern(&mut self, expr: &Expr) -> Result<OperationUse, SqlError> {
        let mut inputs = Inputs::default();
        let mut code = expr.clone();
        code.rewrite(&mut |node| inputs.replace(node));
        self.add(Code::Value(code), inputs.list, expr.data_type)
    }

    /// Interns a condition, whose result is 0, 1 or NULL.
    ///
    /// Errors: as [`Operations::intern`].
    pub fn intern_predicate(&mut self, predicate: &Predicate) -> Result<OperationUse, SqlError> {
        let mut inputs = Inputs::default();
        let mut code = predicate.clone();
        code.rewrite(&mut |node| inputs.replace(node));
        self.add(Code::Truth(code), inputs.list, DataType::Bit)
    }

    /// Evaluates operation `number` over the storage forms of its inputs.
    ///
    /// Errors: any error of the values; an invalid storage form; 8624 for an unknown number or a wrong count of
    /// arguments.
    pub fn run(
        &self,
        number: u32,
        arguments: &[StoredRef<'_>],
        environment: &dyn Environment,
    ) -> Result<Stored<'static>, OperationFailure> {
        let operation = usize::try_from(number)
            .ok()
            .and_then(|number| self.operations.get(number));
        let operation = operation.filter(|operation| operation.input_types.len() == arguments.len());
        let operation = operation.ok_or_else(|| SqlError::internal("no such operation"))?;
        let mut few = [const { Value::Null }; FEW];
        let mut many = Vec::new();
        let row = match few.get_mut(..arguments.len()) {
            Some(row) => row,
            None => {
                many.resize(arguments.len(), Value::Null);
                many.as_mut_slice()
            }
        };
        for (input, (value, argument)) in row.iter_mut().zip(arguments).enumerate() {
            let data_type = operation.input_types.get(input).unwrap_or(&DataType::Int);
            *value = from_stored(*argument, data_type).map_err(|misfit| OperationFailure::Misfit { input, misfit })?;
        }
        operation
            .evaluate(&Frame {
                slots: &[],
                row,
                local: None,
                environment,
            })
            .map_err(OperationFailure::Error)
    }

    /// The number of operations.
    #[must_use]
    pub fn count(&self) -> usize {
        self.operations.len()
    }

    fn add(&mut self, code: Code, inputs: Vec<OperationInput>, data_type: DataType) -> Result<OperationUse, SqlError> {
        let input_types = inputs.iter().map(|input| input.data_type).collect();
        let operation = Operation {
            code,
            input_types,
            data_type,
        };
        let known = self.operations.iter().position(|known| *known == operation);
        let at = match known {
            Some(at) => at,
            None => {
                self.operations.push(operation);
                self.operations.len() - 1
            }
        };
        match u32::try_from(at) {
            Ok(number) if number < OPERATION_COUNT_MAX => Ok(OperationUse {
                number,
                inputs,
                data_type,
            }),
            Ok(_) | Err(_) => {
                self.operations.pop();
                Err(SqlError::too_complex())
            }
        }
    }
}

impl Operation {
    fn evaluate(&self, frame: &Frame<'_>) -> Result<Stored<'static>, SqlError> {
        let value = match &self.code {
            Code::Value(expr) => expr.evaluate(frame)?,
            Code::Truth(predicate) => predicate.evaluate(frame)?.map_or(Value::Null, Value::Bit),
        };
        let stored = to_stored(&value, &self.data_type);
        stored
            .map(Stored::into_owned)
            .map_err(|misfit| SqlError::internal(&misfit.to_string()))
    }
}

/// The distinct inputs of an expression.
#[derive(Default)]
struct Inputs {
    list: Vec<OperationInput>,
}

impl Inputs {
    fn replace(&mut self, node: NodeMut<'_>) {
        match node {
            NodeMut::Expr(expr) => {
                if let Some(origin) = origin_of(&expr.kind) {
                    expr.kind = ExprKind::Input(self.number(origin, expr.data_type));
                }
            }
            NodeMut::Predicate(predicate) => {
                if let Predicate::QueryNode(node) = *predicate {
                    *predicate = Predicate::Input(self.number(InputOrigin::QueryNodePredicate(node), DataType::Bit));
                }
            }
            NodeMut::Operand(operand) => {
                let data_type = operand.data_type();
                let origin = match operand {
                    WholeOperand::Slot(slot, _) => Some(InputOrigin::Variable(*slot)),
                    WholeOperand::Expr(expr) => origin_of(&expr.kind),
                    WholeOperand::Literal(..) | WholeOperand::Input(..) => None,
                };
                if let (Some(origin), Some(whole)) = (origin, Whole::of(&data_type)) {
                    *operand = WholeOperand::Input(self.number(origin, data_type), whole);
                }
            }
        }
    }

    fn number(&mut self, origin: InputOrigin, data_type: DataType) -> u32 {
        let input = OperationInput { origin, data_type };
        let known = self.list.iter().position(|known| *known == input);
        let at = known.unwrap_or_else(|| {
            self.list.push(input);
            self.list.len() - 1
        });
        u32::try_from(at).unwrap_or(u32::MAX)
    }
}

/// The origin of a leaf's value; `None` for a computed value.
fn origin_of(kind: &ExprKind) -> Option<InputOrigin> {
    match kind {
        ExprKind::Column(column) => Some(InputOrigin::Column(*column)),
        ExprKind::QueryNode(node) => Some(InputOrigin::QueryNode(*node)),
        ExprKind::Variable(slot) => Some(InputOrigin::Variable(*slot)),
        ExprKind::Literal(_)
        | ExprKind::Null
        | ExprKind::Input(_)
        | ExprKind::Convert(_)
        | ExprKind::Unary { .. }
        | ExprKind::Binary { .. }
        | ExprKind::Whole(_)
        | ExprKind::Case { .. }
        | ExprKind::Coalesce(_)
        | ExprKind::Let(_)
        | ExprKind::Local
        | ExprKind::Choose { .. }
        | ExprKind::Call(_)
        | ExprKind::UserCall(_) => None,
    }
}

impl From<SqlError> for OperationFailure {
    fn from(error: SqlError) -> Self {
        Self::Error(error)
    }
}

impl fmt::Display for OperationFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error(error) => write!(f, "{error}"),
            Self::Misfit { input, misfit } => write!(f, "input {input}: {misfit}"),
        }
    }
}

impl std::error::Error for OperationFailure {}

/// 65,536: a statement that needs more would be longer than the 65,536 packets that SQL Server accepts for one batch.
pub const OPERATION_COUNT_MAX: u32 = 65_536;

/// Most operations have no more inputs; those with more allocate once per row.
const FEW: usize = 6;

#[cfg(test)]
mod tests;
