//! The operators of two operands that make a value.

/// An operator of two operands that makes a value of a type of its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operator {
    /// `+`: a sum, or a concatenation.
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

/// An operator of one operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOperator {
    /// `+`, which changes nothing.
    Plus,
    /// `-`
    Minus,
    /// `~`
    BitNot,
}

/// A comparison.
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
    /// The name that messages 402 and 8117 have for it.
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
    /// The name that message 8117 has for it.
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
    /// The name that message 402 has for it.
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
