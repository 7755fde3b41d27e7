//! Constants.

/// A constant: its kind, which decides its type, and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Literal {
    /// `NULL`.
    Null,
    /// Digits alone; of any length, so it need not fit int or bigint (then it is a decimal).
    Integer(String),
    /// Digits with a point: `1.5`, `.5`, `5.`.
    Decimal(String),
    /// With an exponent: `1e5`, `1.5E-3`, `1e` (which is 1).
    Float(String),
    /// With a currency sign, which is the text's first character; `$` alone is 0.
    Money(String),
    /// `'text'`: the characters themselves, doubled quotes made single.
    String(String),
    /// `N'text'`: as [`Literal::String`], but national.
    National(String),
    /// `0x..`: the hexadecimal digits without `0x`; their count may be odd (a 0 is to be thought before) or 0.
    Binary(String),
}
