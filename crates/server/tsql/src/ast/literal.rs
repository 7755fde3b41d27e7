//! Constants.

/// A constant: its kind, which determines its type, and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Literal {
    /// `NULL`.
    Null,
    /// Only digits, any number of them: it may not fit int or bigint (then it is a decimal).
    Integer(String),
    /// Digits with a point: `1.5`, `.5`, `5.`.
    Decimal(String),
    /// A number with an exponent: `1e5`, `1.5E-3`, `1e` (which is 1).
    Float(String),
    /// A number with a currency sign, which is the text's first character; `$` alone is 0.
    Money(String),
    /// `'text'`: the characters, with doubled quotes undoubled.
    String(String),
    /// `N'text'`: like [`Literal::String`], but a national (Unicode) string.
    National(String),
    /// `0x..`: the hexadecimal digits without `0x`; may be empty, or an odd number (then a leading 0 is implied).
    Binary(String),
}
