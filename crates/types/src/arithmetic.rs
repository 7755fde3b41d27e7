//! Operators: which types they take, what type they make, and of which value.

mod error;
mod operator;

pub use error::OperationError;
pub use operator::{Comparison, Operator, UnaryOperator};
