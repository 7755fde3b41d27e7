//! The operators of expressions, conditions and assignments.

/// A unary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOperator {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `~`
    BitNot,
}

/// A binary operator; the comment states its precedence, 1 is the highest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOperator {
    /// `*`, 1
    Multiply,
    /// `/`, 1
    Divide,
    /// `%`, 1
    Modulo,
    /// `+`, 2: addition or concatenation, depending on the types
    Add,
    /// `-`, 2
    Subtract,
    /// `&`, 2
    BitAnd,
    /// `^`, 2
    BitXor,
    /// `|`, 2
    BitOr,
}

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `<>` or `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=` or `!>`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=` or `!<`
    GreaterOrEqual,
}

/// The quantifier of a comparison with a subquery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// `ALL`.
    All,
    /// `ANY` or `SOME`.
    Any,
}

/// `=` and the compound assignment operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssignmentOperator {
    /// `=`
    Set,
    /// `+=`
    Add,
    /// `-=`
    Subtract,
    /// `*=`
    Multiply,
    /// `/=`
    Divide,
    /// `%=`
    Modulo,
    /// `&=`
    BitAnd,
    /// `^=`
    BitXor,
    /// `|=`
    BitOr,
    /// `a.modify(value)`: a change of xml.
    Modify,
}
