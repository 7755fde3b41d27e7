//! Compiles T-SQL's syntax tree to typed programs and SQLite's SQL. `selenite-runtime` runs them.
//!
//! - `names-through-a-catalog`: names are bound against a catalog that the caller provides. No I/O, no SQLite, no
//!   clock.
//! - `one-type`: an expression has one type, decided before it runs. Constants are folded here, so expressions are
//!   evaluated here.
//! - `refused-by-name`: an unsupported feature is an error that names it, never a wrong result.
#![forbid(unsafe_code)]

mod aggregate;
mod bind;
mod binding;
mod budget;
pub mod catalog;
pub mod change;
mod collation;
pub mod compiled;
pub mod definition;
mod dotnet;
mod environment;
mod error;
mod evaluate;
mod expr;
mod file_name;
mod functions;
mod json;
mod name;
mod operation;
pub mod program;
mod query;
mod scope;
pub mod statement;
#[cfg(test)]
mod testing;
mod time_zone;
mod writer;
mod xml;

pub use aggregate::{Accumulator, Aggregate, AggregateKind};
pub use bind::{Binder, NoQuery, QueryHook, common_type, constant, declared_type};
pub use collation::{Collation, CollationLabel, DEFAULT_NAME as DEFAULT_COLLATION};
pub use environment::{
    CaughtError, CertificateFacts, ColumnFacts, ColumnKey, Connection, CursorActivity, CursorDetails, CursorFacts,
    CursorScope, DatabaseFacts, Environment, IdentityFacts, Key, KeyClass, KeyFacts, KeyPair, KeyPairOperation,
    KeyReference, KeySecret, ObjectFacts, ObjectKey, ObjectKind, PrincipalFacts, RandomState, SchemaFacts, Server,
    Session, SessionContext, TableOption, TriggerFacts, UserTypeFacts,
};
pub use error::{Ends, SqlError};
pub use evaluate::{Frame, size_of};
pub use expr::{
    Compare, Convert, Expr, ExprKind, Function, FunctionCall, Let, LetPredicate, Like, Node, NodeMut, Predicate,
    QueryNodeRef, UserCall, Volatility, Whole, WholeCompare, WholeOperand, WholeOperation,
};
pub use functions::{FunctionState, forget_xml_documents};
pub use name::{NameKey, is_same_type, same_name};
pub use operation::{InputOrigin, OPERATION_COUNT_MAX, OperationFailure, OperationInput, OperationUse, Operations};
pub use scope::{
    ColumnRef, Columns, FoundColumn, Slot, Source, SourceColumn, Variable, Variables, written_column, written_object,
};
pub use writer::{Parameter, ParameterValue, SqlText, stored};
