//! Texts that differ in constants alone, as one text with parameters.
//!
//! - `only-whole-operands`: a constant becomes a parameter where it is all of one side of a comparison of a WHERE, a
//!   value of INSERT .. VALUES, or what a column is set to. There a variable of the constant's own type means the
//!   same. Elsewhere a constant may decide what a query is: a column's type, the number of a column to sort by, or
//!   whether an expression is that of GROUP BY.
//! - `one-plain-statement`: the text is one SELECT, INSERT .. VALUES, UPDATE or DELETE of known words, and names no
//!   variable, so that the parameters' names are free.
//! - `same-lines`: no constant with a line break is replaced: the lines of errors stay.

use crate::ast::Literal;
use crate::keyword::Keyword;
use crate::lexer::tokens;
use crate::token::{Token, TokenKind};

/// A text whose constants have become parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameterized {
    /// The text, with `@1`, `@2` and so on in place of constants.
    pub text: String,
    /// The constants, in this order.
    pub constants: Vec<Constant>,
}

/// A constant that has become a parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Constant {
    /// `Integer` (with a sign, if it has one), `String` or `National`.
    pub literal: Literal,
    /// Whether it is compared with something; otherwise it is stored, with the length of its type.
    pub is_compared: bool,
}

/// Replaces constants of a batch by parameters; `None` where none can be replaced.
#[must_use]
pub fn parameterized(text: &str) -> Option<Parameterized> {
    if text.len() > TEXT_SIZE_MAX {
        return None;
    }
    let tokens = tokens(text, &|| true)?;
    let mut scan = Scan::new(text, &tokens)?;
    while scan.step()? {}
    (!scan.constants.is_empty()).then(|| scan.finish())
}

/// A statement that may have parameters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Select,
    Insert,
    Update,
    Delete,
}

/// The part of the statement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Before those below.
    Head,
    /// SET of an UPDATE.
    Set,
    /// VALUES of an INSERT.
    Values,
    /// WHERE.
    Where,
    /// ORDER BY.
    Order,
}

struct Scan<'a> {
    text: &'a str,
    tokens: &'a [Token],
    kind: Kind,
    part: Part,
    /// Of parentheses.
    depth: usize,
    at: usize,
    /// What was written, up to `copied` of the text.
    written: String,
    copied: usize,
    constants: Vec<Constant>,
}

impl<'a> Scan<'a> {
    fn new(text: &'a str, tokens: &'a [Token]) -> Option<Self> {
        let first = tokens.first()?.kind;
        let known = KINDS.iter().find(|(keyword, _)| first == TokenKind::Keyword(*keyword));
        let (_, kind) = *known?;
        Some(Self {
            text,
            tokens,
            kind,
            part: Part::Head,
            depth: 0,
            at: 0,
            written: String::with_capacity(text.len()),
            copied: 0,
            constants: Vec::new(),
        })
    }

    /// Reads a token; `None` if the text is none that has parameters, `false` at its end.
    fn step(&mut self) -> Option<bool> {
        let token = self.tokens.get(self.at)?;
        match token.kind {
            TokenKind::End => return Some(false),
            TokenKind::Keyword(keyword) => self.keyword(keyword)?,
            TokenKind::LeftParen => self.depth += 1,
            TokenKind::RightParen => self.depth = self.depth.checked_sub(1)?,
            TokenKind::Integer | TokenKind::String | TokenKind::National => self.constant()?,
            // A semicolon may only be followed by the end.
            TokenKind::Semicolon => {
                let is_last = self.kind_at(self.at + 1) == TokenKind::End;
                return is_last.then_some(false);
            }
            TokenKind::Variable
            | TokenKind::Colon
            | TokenKind::LeftBrace
            | TokenKind::RightBrace
            | TokenKind::Unknown
            | TokenKind::UnclosedQuote
            | TokenKind::UnclosedComment
            | TokenKind::LongIdentifier => return None,
            TokenKind::Word
            | TokenKind::Bracketed
            | TokenKind::DoubleQuoted
            | TokenKind::Decimal
            | TokenKind::Float
            | TokenKind::Money
            | TokenKind::Binary
            | TokenKind::Global
            | TokenKind::Comma
            | TokenKind::Point
            | TokenKind::Plus
            | TokenKind::Minus
            | TokenKind::Star
            | TokenKind::Slash
            | TokenKind::Percent
            | TokenKind::Ampersand
            | TokenKind::Pipe
            | TokenKind::Caret
            | TokenKind::Tilde
            | TokenKind::Equal
            | TokenKind::Less
            | TokenKind::Greater
            | TokenKind::Bang => {}
        }
        self.at += 1;
        Some(true)
    }

    /// A keyword, if the statement may have it (one-plain-statement).
    fn keyword(&mut self, keyword: Keyword) -> Option<()> {
        let is_outside = self.depth == 0;
        let is_first = self.at == 0;
        let of_kind = |kind: Kind| self.kind == kind && is_outside;
        let is = |wanted: &[Keyword]| wanted.contains(&keyword);
        let is_known = is(&KNOWN)
            || is(&[Keyword::Select]) && (is_first || !is_outside)
            || is(&[Keyword::Insert, Keyword::Update, Keyword::Delete]) && is_first
            || is(&[Keyword::Into]) && self.kind == Kind::Insert
            || is(&[Keyword::Set]) && of_kind(Kind::Update)
            || is(&[Keyword::Values]) && of_kind(Kind::Insert);
        if !is_known {
            return None;
        }
        // In parentheses is a subquery, which ends with them.
        let begins = PARTS.iter().find(|(word, _)| *word == keyword && is_outside);
        if let Some((_, part)) = begins {
            self.part = *part;
        }
        Some(())
    }

    /// A constant, which becomes a parameter if it may (only-whole-operands).
    fn constant(&mut self) -> Option<()> {
        // A sign belongs to the constant where nothing but an operator is before it.
        let is_signed = self.kind_before(1) == TokenKind::Minus && self.tokens[self.at].kind == TokenKind::Integer;
        let first = self.at - usize::from(is_signed);
        if !self.is_operand(first) {
            return Some(());
        }
        let start = offset(self.tokens[first].position.start);
        let end = offset(self.tokens[self.at].position.end);
        let Some(literal) = self.literal(start..end) else {
            return Some(());
        };
        if self.constants.len() >= CONSTANT_COUNT_MAX {
            return None;
        }
        self.constants.push(Constant {
            literal,
            is_compared: self.part == Part::Where,
        });
        self.written.push_str(self.text.get(self.copied..start)?);
        // A digit or a letter before it would be read with it.
        self.written.push_str(" @");
        self.written.push_str(&self.constants.len().to_string());
        self.copied = end;
        Some(())
    }

    /// Whether the constant from this token to the present one is all of an operand.
    fn is_operand(&self, first: usize) -> bool {
        let before = |count: usize| first.checked_sub(count).map_or(TokenKind::End, |at| self.kind_at(at));
        let after = self.kind_at(self.at + 1);
        match self.part {
            Part::Values => {
                self.depth == 1
                    && matches!(before(1), TokenKind::LeftParen | TokenKind::Comma)
                    && matches!(after, TokenKind::RightParen | TokenKind::Comma)
            }
            Part::Set => {
                let ends = matches!(
                    after,
                    TokenKind::Comma
                        | TokenKind::End
                        | TokenKind::Semicolon
                        | TokenKind::Keyword(Keyword::Where | Keyword::From)
                );
                self.depth == 0 && ends && before(1) == TokenKind::Equal && is_name(before(2))
            }
            Part::Where => {
                let ends = matches!(
                    after,
                    TokenKind::End
                        | TokenKind::Semicolon
                        | TokenKind::RightParen
                        | TokenKind::Keyword(Keyword::And | Keyword::Or | Keyword::Order)
                );
                let is_operator = |kind| matches!(kind, TokenKind::Equal | TokenKind::Less | TokenKind::Greater);
                let mut count = 1;
                while count <= OPERATOR_TOKENS_MAX && (is_operator(before(count)) || before(count) == TokenKind::Bang) {
                    count += 1;
                }
                ends && count > 1 && is_name(before(count))
            }
            Part::Head | Part::Order => false,
        }
    }

    fn literal(&self, range: std::ops::Range<usize>) -> Option<Literal> {
        let text = self.text.get(range)?;
        if let Some(quoted) = text.strip_prefix(['N', 'n']) {
            return body(quoted).map(Literal::National);
        }
        if text.starts_with('\'') {
            return body(text).map(Literal::String);
        }
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => ("-", digits.trim_start()),
            None => ("", text),
        };
        let signed = format!("{sign}{digits}");
        signed.parse::<i32>().is_ok().then_some(Literal::Integer(signed))
    }

    fn kind_before(&self, count: usize) -> TokenKind {
        self.at.checked_sub(count).map_or(TokenKind::End, |at| self.kind_at(at))
    }

    fn kind_at(&self, at: usize) -> TokenKind {
        self.tokens.get(at).map_or(TokenKind::End, |token| token.kind)
    }

    fn finish(mut self) -> Parameterized {
        self.written.push_str(self.text.get(self.copied..).unwrap_or(""));
        Parameterized {
            text: self.written,
            constants: self.constants,
        }
    }
}

/// The characters of a string without its quotes; `None` with a line break (same-lines), or if it is long.
fn body(quoted: &str) -> Option<String> {
    let inner = quoted.strip_prefix('\'')?.strip_suffix('\'')?;
    (inner.len() <= STRING_SIZE_MAX && !inner.contains('\n')).then(|| inner.replace("''", "'"))
}

/// Whether an operand may end with it that is no constant.
fn is_name(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Word | TokenKind::Bracketed)
}

fn offset(at: u32) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}

const KINDS: [(Keyword, Kind); 4] = [
    (Keyword::Select, Kind::Select),
    (Keyword::Insert, Kind::Insert),
    (Keyword::Update, Kind::Update),
    (Keyword::Delete, Kind::Delete),
];
/// The words that begin a part; FROM of a SELECT or DELETE is before WHERE, and ends SET of an UPDATE.
const PARTS: [(Keyword, Part); 5] = [
    (Keyword::Set, Part::Set),
    (Keyword::Values, Part::Values),
    (Keyword::From, Part::Head),
    (Keyword::Where, Part::Where),
    (Keyword::Order, Part::Order),
];
/// The words of plain statements, but those that begin a statement or one of its parts.
const KNOWN: [Keyword; 34] = [
    Keyword::And,
    Keyword::As,
    Keyword::Asc,
    Keyword::Between,
    Keyword::By,
    Keyword::Case,
    Keyword::Coalesce,
    Keyword::Cross,
    Keyword::CurrentTimestamp,
    Keyword::Default,
    Keyword::Desc,
    Keyword::Else,
    Keyword::End,
    Keyword::Exists,
    Keyword::From,
    Keyword::Full,
    Keyword::In,
    Keyword::Inner,
    Keyword::Is,
    Keyword::Join,
    Keyword::Left,
    Keyword::Like,
    Keyword::Not,
    Keyword::Null,
    Keyword::Nullif,
    Keyword::On,
    Keyword::Or,
    Keyword::Order,
    Keyword::Outer,
    Keyword::Right,
    Keyword::Then,
    Keyword::Top,
    Keyword::When,
    Keyword::Where,
];
/// 8 KiB: what is longer is seldom one plain statement.
const TEXT_SIZE_MAX: usize = 8 * 1024;
/// Longer strings are varchar(max) or nvarchar(max).
const STRING_SIZE_MAX: usize = 2000;
/// More values than this are rows of many.
const CONSTANT_COUNT_MAX: usize = 64;
/// `<=`, `<>`, `!=` and others are two tokens.
const OPERATOR_TOKENS_MAX: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<(String, Vec<Literal>)> {
        let literal = |constant: Constant| constant.literal;
        parameterized(text).map(|found| (found.text, found.constants.into_iter().map(literal).collect()))
    }

    fn integer(digits: &str) -> Literal {
        Literal::Integer(digits.to_owned())
    }

    fn string(text: &str) -> Literal {
        Literal::String(text.to_owned())
    }

    #[test]
    fn whole_operands_become_parameters() {
        let cases: [(&str, &str, Vec<Literal>); 7] = [
            (
                "SELECT a FROM t WHERE id = 7",
                "SELECT a FROM t WHERE id =  @1",
                vec![integer("7")],
            ),
            (
                "select top 3 a, 5 from t where (id >= 7 and [b]<>'it''s') or c=-2 order by 1;",
                "select top 3 a, 5 from t where (id >=  @1 and [b]<> @2) or c= @3 order by 1;",
                vec![integer("7"), string("it's"), integer("-2")],
            ),
            (
                "INSERT INTO t (a, b) VALUES (1, N'\u{e4}'), (- 2, f(3))",
                "INSERT INTO t (a, b) VALUES ( @1,  @2), ( @3, f(3))",
                vec![integer("1"), Literal::National("\u{e4}".to_owned()), integer("-2")],
            ),
            (
                "UPDATE t SET a = 1, b = b + 1 WHERE c = 3",
                "UPDATE t SET a =  @1, b = b + 1 WHERE c =  @2",
                vec![integer("1"), integer("3")],
            ),
            (
                "DELETE t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = 4)",
                "DELETE t WHERE EXISTS (SELECT 1 FROM u WHERE u.a =  @1)",
                vec![integer("4")],
            ),
            // A number beyond int is a numeric, and stays.
            (
                "SELECT a FROM t WHERE b = 3000000000 AND c = 1",
                "SELECT a FROM t WHERE b = 3000000000 AND c =  @1",
                vec![integer("1")],
            ),
            (
                "SELECT a FROM t WHERE b = 'two\nlines' AND c = 1",
                "SELECT a FROM t WHERE b = 'two\nlines' AND c =  @1",
                vec![integer("1")],
            ),
        ];
        for (text, wanted, constants) in cases {
            assert_eq!(of(text), Some((wanted.to_owned(), constants)), "{text}");
        }
    }

    #[test]
    fn constants_that_decide_what_a_query_is_stay() {
        for text in [
            "SELECT 1",
            "SELECT TOP 5 a FROM t ORDER BY 2",
            "SELECT a FROM t WHERE b = 1 + 2",
            "SELECT a FROM t WHERE b = 5 % 3",
            "SELECT a FROM t WHERE 1 = 1",
            "SELECT a FROM t WHERE f('x') LIKE 'a%'",
            "SELECT CASE WHEN a = 1 THEN 2 END FROM t",
            "SELECT a FROM t JOIN u ON t.b = 1",
            "UPDATE t SET a += 1",
            "SELECT a FROM t WHERE b IN (1, 2)",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_not_one_plain_statement_has_no_parameters() {
        for text in [
            "",
            "SELECT a FROM t WHERE b = @b AND c = 1",
            "SELECT a FROM t WHERE b = 1; SELECT 2",
            "SELECT a FROM t WHERE b = 1 SELECT 2",
            "SELECT a FROM t WHERE b = 1 UPDATE t SET a = 2",
            "SELECT a FROM t WHERE b = 1 CREATE TABLE x (a int CHECK (a > 5))",
            "SELECT a INTO x FROM t WHERE b = 1",
            "SELECT DISTINCT a FROM t WHERE b = 1",
            "SELECT a FROM t WHERE b = 1 GROUP BY a",
            "SELECT a FROM t WHERE b = 1 UNION SELECT 2",
            "SELECT a FROM t WHERE b = 1 FOR XML RAW",
            "SELECT a FROM t WITH (NOLOCK) WHERE b = 1",
            "SELECT a FROM t WHERE b = 1 OPTION (RECOMPILE)",
            "INSERT t SELECT a FROM u WHERE b = 1",
            "WITH x AS (SELECT 1 AS a) SELECT a FROM x WHERE a = 1",
            "EXEC p 1",
            "DECLARE @a int = 1",
            "SELECT a FROM t WHERE b = 1)",
            "SELECT a FROM t WHERE b = 'open",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn more_constants_than_a_statement_has_are_no_parameters() {
        let rows = |count: usize| format!("INSERT t VALUES {}", vec!["(1)"; count].join(", "));
        assert_eq!(of(&rows(CONSTANT_COUNT_MAX)).unwrap().1.len(), CONSTANT_COUNT_MAX);
        assert_eq!(of(&rows(CONSTANT_COUNT_MAX + 1)), None);
        let long = "x".repeat(STRING_SIZE_MAX + 1);
        assert_eq!(of(&format!("DELETE t WHERE a = '{long}'")), None);
    }
}
