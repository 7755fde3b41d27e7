//! Where a parameter is used.

use std::rc::Rc;

use selenite_tsql::ast::{Expr, Position, TableSource, With};
use selenite_types::DataType;

/// A parameter that was found.
#[derive(Clone, Debug)]
pub(crate) struct InferredParameter {
    /// Its name.
    pub name: String,
    /// Where.
    pub position: Position,
    /// In what.
    pub place: ParameterPosition,
    /// What is seen there.
    pub scope: Scope,
    /// Whether its value is used.
    pub is_input: bool,
    /// Whether it is given a value.
    pub is_output: bool,
    /// The procedure's parameter that it is the argument of.
    pub formal: Option<String>,
}

/// The context of a parameter.
#[derive(Clone, Debug)]
pub(crate) enum ParameterPosition {
    /// An expression: the smallest that is compared, assigned, inserted or cast, or the largest there is.
    Part {
        /// The expression.
        whole: Rc<Expr>,
        /// What it is compared with or becomes.
        target: Option<Target>,
        /// Whether it is compared by order: then the type of the other side does not count by itself.
        is_ordered: bool,
    },
    /// Left of an assignment of this value.
    Set(Rc<Expr>),
    /// Where nothing determines its type.
    Nowhere,
}

/// What an expression is compared with or becomes.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    /// Another expression.
    Expr(Rc<Expr>),
    /// A value of this type.
    Type(DataType),
}

/// What an expression sees: the sources of the queries around it, the innermost last.
#[derive(Clone, Default, Debug)]
pub(crate) struct Scope {
    /// The statement's WITH.
    pub with: Rc<With>,
    /// The sources.
    pub froms: Vec<Rc<[TableSource]>>,
}

impl ParameterPosition {
    /// An expression that becomes nothing else.
    pub fn alone(whole: &Expr) -> Self {
        Self::Part {
            whole: Rc::new(whole.clone()),
            target: None,
            is_ordered: false,
        }
    }

    /// An expression that becomes a value of a type.
    pub fn of_type(whole: &Expr, data_type: DataType) -> Self {
        Self::Part {
            whole: Rc::new(whole.clone()),
            target: Some(Target::Type(data_type)),
            is_ordered: false,
        }
    }

    /// An expression that is compared with another, or becomes of its type.
    pub fn beside(whole: &Expr, other: &Expr, is_ordered: bool) -> Self {
        Self::Part {
            whole: Rc::new(whole.clone()),
            target: Some(Target::Expr(Rc::new(other.clone()))),
            is_ordered,
        }
    }
}
