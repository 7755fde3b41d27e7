//! Option lists: hints, WITH (..), ALTER DATABASE SET.

use super::{Parse, Parser};
use crate::{
    ast::{ColumnName, Expr, ExprKind, Name, ObjectName, Position, Setting, SettingValue, UnaryOperator},
    keyword::Keyword,
    token::TokenKind,
};

impl Parser<'_> {
    /// An optional `WITH (a = 1, b)`.
    pub(super) fn optional_with_settings(&mut self) -> Parse<Vec<Setting>> {
        if !self.is_keyword(Keyword::With) || !self.is_at(1, TokenKind::LeftParen) {
            return Ok(Vec::new());
        }
        self.advance();
        self.list_in_parens(Self::setting)
    }

    /// `NAME`, `NAME = value`, `NAME value` or `NAME (list)`; a name may be a reserved keyword.
    pub(super) fn setting(&mut self) -> Parse<Setting> {
        let start = self.here();
        let name = self.setting_name()?;
        self.setting_after(start, name)
    }

    /// The rest of an option after its name.
    pub(super) fn setting_after(&mut self, start: Position, name: Name) -> Parse<Setting> {
        let equals = self.eat(TokenKind::Equal);
        let value = self.setting_value(equals)?;
        Ok(Setting {
            name,
            equals,
            value,
            position: self.since(start),
        })
    }

    /// An option's name: one word, or all words of a known phrase.
    fn setting_name(&mut self) -> Parse<Name> {
        if self.is(TokenKind::Variable) {
            // OPTIMIZE FOR (@a = 1)
            return Ok(self.any_word());
        }
        if !self.is_any_word() {
            return self.name();
        }
        let mut name = self.any_word();
        let phrase = PHRASES
            .iter()
            .find(|(first, second)| name.is(first) && self.is_any_word_that_is(second));
        if phrase.is_some() {
            let second = self.any_word();
            name.text.push(' ');
            name.text.push_str(&second.text);
            name.position = name.position.to(second.position);
        }
        Ok(name)
    }

    fn is_any_word_that_is(&self, word: &str) -> bool {
        self.is_any_word() && self.text(self.peek()).eq_ignore_ascii_case(word)
    }

    /// The value after an option's name; it is required after `=`.
    fn setting_value(&mut self, equals: bool) -> Parse<Option<SettingValue>> {
        if self.is(TokenKind::LeftParen) {
            let named = matches!(
                self.peek_at(1).kind,
                TokenKind::Word | TokenKind::Keyword(_) | TokenKind::Variable
            ) && !matches!(
                self.peek_at(2).kind,
                TokenKind::Comma | TokenKind::RightParen | TokenKind::Point
            );
            return if named {
                let settings = self.nested(super::WEIGHT_EXPRESSION, |p| p.list_in_parens(Self::setting));
                settings.map(SettingValue::Settings).map(Some)
            } else {
                self.list_in_parens(Self::simple_value)
                    .map(SettingValue::Values)
                    .map(Some)
            };
        }
        if self.is(TokenKind::Integer) && UNITS.iter().any(|unit| self.is_word_at(1, unit)) {
            let mut number = self.any_word();
            let unit = self.any_word();
            number.text.push(' ');
            number.text.push_str(&unit.text);
            number.position = number.position.to(unit.position);
            return Ok(Some(SettingValue::Word(number)));
        }
        if let Some(value) = self.constant_or_variable()? {
            return Ok(Some(SettingValue::Value(value)));
        }
        let word = match self.kind() {
            TokenKind::Word => true,
            TokenKind::Keyword(keyword) => equals || matches!(keyword, Keyword::On | Keyword::Off),
            _ => self.is_name(),
        };
        match word {
            true if self.is_any_word() => Ok(Some(SettingValue::Word(self.any_word()))),
            true => Ok(Some(SettingValue::Word(self.name()?))),
            false if equals => Err(self.unexpected()),
            false => Ok(None),
        }
    }

    /// A constant with an optional sign, or a variable, if one is next.
    pub(super) fn constant_or_variable(&mut self) -> Parse<Option<Expr>> {
        let start = self.here();
        let operator = match self.kind() {
            TokenKind::Minus => UnaryOperator::Minus,
            TokenKind::Plus => UnaryOperator::Plus,
            TokenKind::Variable => {
                let kind = ExprKind::Variable(self.variable()?);
                return Ok(Some(self.expr_since(start, kind)));
            }
            TokenKind::Global => {
                let kind = ExprKind::Global(self.variable()?);
                return Ok(Some(self.expr_since(start, kind)));
            }
            _ => return Ok(self.literal_expr()),
        };
        self.advance();
        let number = matches!(
            self.kind(),
            TokenKind::Integer | TokenKind::Decimal | TokenKind::Float | TokenKind::Money
        );
        let Some(operand) = self.literal_expr().filter(|_| number) else {
            return Err(self.unexpected());
        };
        let kind = ExprKind::Unary {
            operator,
            operand: Box::new(operand),
        };
        Ok(Some(self.expr_since(start, kind)))
    }

    /// A constant with an optional sign, a variable, or a name, which becomes a column.
    pub(super) fn simple_value(&mut self) -> Parse<Expr> {
        if let Some(value) = self.constant_or_variable()? {
            return Ok(value);
        }
        let start = self.here();
        let column = if self.is_any_word() && !self.is_at(1, TokenKind::Point) {
            ColumnName {
                table: None,
                name: self.any_word(),
            }
        } else {
            self.column_name()?
        };
        Ok(self.expr_since(start, ExprKind::Column(Box::new(column))))
    }

    pub(super) fn expr_since(&self, start: Position, kind: ExprKind) -> Expr {
        Expr {
            kind,
            position: self.since(start),
        }
    }

    /// A word or one-part name as an object name.
    pub(super) fn single(name: Name) -> ObjectName {
        ObjectName {
            server: None,
            database: None,
            schema: None,
            position: name.position,
            name,
        }
    }

    /// `ON` (true) or `OFF`.
    pub(super) fn on_or_off(&mut self) -> Parse<bool> {
        if self.eat_keyword(Keyword::On) {
            return Ok(true);
        }
        self.expect_keyword(Keyword::Off)?;
        Ok(false)
    }
}

/// The units that form one word with the number before them.
const UNITS: &[&str] = &["KB", "MB", "GB", "TB", "SECONDS", "MINUTES", "HOURS", "DAYS"];
/// The option names that have two words.
const PHRASES: &[(&str, &str)] = &[
    ("HASH", "GROUP"),
    ("ORDER", "GROUP"),
    ("CONCAT", "UNION"),
    ("HASH", "UNION"),
    ("MERGE", "UNION"),
    ("LOOP", "JOIN"),
    ("MERGE", "JOIN"),
    ("HASH", "JOIN"),
    ("EXPAND", "VIEWS"),
    ("FORCE", "ORDER"),
    ("FORCE", "EXTERNALPUSHDOWN"),
    ("KEEP", "PLAN"),
    ("KEEPFIXED", "PLAN"),
    ("OPTIMIZE", "FOR"),
    ("PARAMETERIZATION", "SIMPLE"),
    ("PARAMETERIZATION", "FORCED"),
    ("ROBUST", "PLAN"),
    ("SERVER", "CERTIFICATE"),
    ("TABLE", "HINT"),
    ("USE", "HINT"),
    ("USE", "PLAN"),
];
