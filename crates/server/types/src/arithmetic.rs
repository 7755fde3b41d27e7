//! Operators: operand types, result types and results.

mod error;
mod integer;
mod moments;
mod operation;
mod operator;
mod signature;

pub use error::OperationError;
pub use integer::Integer;
pub use operator::{Comparison, Operator, UnaryOperator};
pub use signature::Signature;
