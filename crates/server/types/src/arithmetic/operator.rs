//! Binary and unary operators, and comparisons.

use std::cmp::Ordering;

/// A binary operator with a value as its result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operator {
    /// `+`: addition or concatenation.
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Modulo,
    /// `&`
    BitAnd,
    /// `|`
    BitOr,
    /// `^`
    BitXor,
}

/// A unary operator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOperator {
    /// `+`, which has no effect.
    Plus,
    /// `-`
    Minus,
    /// `~`
    BitNot,
}

/// A comparison operator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `<>` and `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=` and `!>`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=` and `!<`
    GreaterOrEqual,
}

impl Operator {
    /// The operator's name in messages 402 and 8117.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Subtract => "subtract",
            Self::Multiply => "multiply",
            Self::Divide => "divide",
            Self::Modulo => "modulo",
            Self::BitAnd => "'&'",
            Self::BitOr => "'|'",
            Self::BitXor => "'^'",
        }
    }
}

impl UnaryOperator {
    /// The operator's name in message 8117.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Plus => "plus",
            Self::Minus => "minus",
            Self::BitNot => "'~'",
        }
    }
}

impl Comparison {
    /// Whether two values in this order satisfy the comparison.
    #[must_use]
    pub fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }

    /// The operator's name in message 402.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Equal => "equal to",
            Self::NotEqual => "not equal to",
            Self::Less => "less than",
            Self::LessOrEqual => "less than or equal to",
            Self::Greater => "greater than",
            Self::GreaterOrEqual => "greater than or equal to",
        }
    }
}
