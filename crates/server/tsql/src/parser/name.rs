//! Names of one part and of several.

use super::{Parse, Parser};
use crate::{
    ast::{ColumnName, Name, NameOrVariable, ObjectName, Position},
    error::{SyntaxError, SyntaxFault},
    keyword::Keyword,
    lexer::is_long,
    token::{Token, TokenKind},
};

impl Parser<'_> {
    /// Whether the next token is a name.
    pub(super) fn is_name(&self) -> bool {
        self.is_name_token(self.peek())
    }

    pub(super) fn is_name_token(&self, token: Token) -> bool {
        match token.kind {
            TokenKind::Word | TokenKind::Bracketed => true,
            TokenKind::DoubleQuoted => self.quoted_identifier,
            _ => false,
        }
    }

    /// A required name.
    pub(super) fn name(&mut self) -> Parse<Name> {
        if !self.is_name() {
            return Err(self.unexpected());
        }
        let token = self.advance();
        let text = match token.kind {
            TokenKind::Word => self.text(token).into(),
            _ => self.delimited(token),
        };
        self.checked_name(text.into_owned(), token)
    }

    fn checked_name(&self, text: String, token: Token) -> Parse<Name> {
        if text.is_empty() {
            return Err(SyntaxFault::EMPTY_NAME.at(token.position));
        }
        if is_long(&text) {
            return Err(SyntaxFault::long_identifier(&self.identifier_start(token)).at(token.position));
        }
        Ok(Name {
            text,
            quoted: token.kind != TokenKind::Word,
            position: token.position,
        })
    }

    /// A name, or one of the given reserved keywords, which are names in this context.
    pub(super) fn name_or(&mut self, reserved: &[Keyword]) -> Parse<Name> {
        let token = self.peek();
        match token.kind {
            TokenKind::Keyword(keyword) if reserved.contains(&keyword) => Ok(self.any_word()),
            _ => self.name(),
        }
    }

    /// The next token as an undelimited name; for words, reserved or not.
    pub(super) fn any_word(&mut self) -> Name {
        let token = self.advance();
        Name {
            text: String::from(self.text(token)),
            quoted: false,
            position: token.position,
        }
    }

    /// Whether the next token is a word, reserved or not.
    pub(super) fn is_any_word(&self) -> bool {
        matches!(self.kind(), TokenKind::Word | TokenKind::Keyword(_))
    }

    /// A name that may be written as a string, such as an alias.
    pub(super) fn name_or_string(&mut self) -> Parse<Name> {
        if !self.is_string() {
            return self.name();
        }
        let token = self.advance();
        self.checked_name(self.string_value(token), token)
    }

    pub(super) fn name_or_variable(&mut self) -> Parse<NameOrVariable> {
        if self.is(TokenKind::Variable) {
            return Ok(NameOrVariable::Variable(self.variable()?));
        }
        self.name().map(NameOrVariable::Name)
    }

    /// A variable, with its `@` or `@@`.
    pub(super) fn variable(&mut self) -> Parse<String> {
        if !matches!(self.kind(), TokenKind::Variable | TokenKind::Global) {
            return Err(self.unexpected());
        }
        let token = self.advance();
        Ok(String::from(self.text(token)))
    }

    /// A name of one to four parts; all but the last may be omitted, but not their points.
    pub(super) fn object_name(&mut self) -> Parse<ObjectName> {
        let (start, first) = (self.here(), self.at);
        while self.eat(TokenKind::Point) {}
        let has_points = self.at > first;
        let mut name = self.written_name()?;
        let written = self.tokens.get(first..self.at).unwrap_or(&[]);
        let point_count = written.iter().filter(|token| token.kind == TokenKind::Point).count();
        if has_points && point_count >= PART_COUNT_MAX {
            return Err(self.too_many_parts(start));
        }
        name.position = self.since(start);
        Ok(name)
    }

    /// A name of one to four parts whose first part is not omitted.
    pub(super) fn written_name(&mut self) -> Parse<ObjectName> {
        self.object_name_up_to(None)
    }

    /// The name before `.*`; the point is consumed, too.
    pub(super) fn object_name_before_star(&mut self) -> Parse<ObjectName> {
        let name = self.object_name_up_to(Some(TokenKind::Star))?;
        self.expect(TokenKind::Point)?;
        Ok(name)
    }

    /// A name of one to four parts, up to a point that is followed by `stop`.
    fn object_name_up_to(&mut self, stop: Option<TokenKind>) -> Parse<ObjectName> {
        let first = self.name()?;
        let start = first.position;
        let mut name = ObjectName {
            server: None,
            database: None,
            schema: None,
            name: first,
            position: start,
        };
        let (mut count, mut left_out) = (1, 0);
        while self.is(TokenKind::Point) && stop != Some(self.peek_at(1).kind) {
            self.advance();
            // Between two points a part may be omitted, but never the last one.
            if self.is(TokenKind::Point) {
                left_out += 1;
                continue;
            }
            let last = core::mem::replace(&mut name.name, self.name()?);
            count += left_out + 1;
            if count > PART_COUNT_MAX {
                return Err(self.too_many_parts(start));
            }
            let mut before = [name.database.take(), name.schema.take(), Some(last), None, None];
            before.rotate_left(left_out);
            let [server, database, schema, ..] = before;
            (name.server, name.database, name.schema) = (server, database, schema);
            left_out = 0;
        }
        if left_out > 0 {
            return Err(self.unexpected());
        }
        name.position = self.since(start);
        Ok(name)
    }

    fn too_many_parts(&mut self, start: Position) -> Box<SyntaxError> {
        while self.is(TokenKind::Point) || self.is_name() {
            self.advance();
        }
        let position = self.since(start);
        SyntaxFault::too_many_parts(position.text(self.source)).at(position)
    }

    /// A column with an optional qualifier.
    pub(super) fn column_name(&mut self) -> Parse<ColumnName> {
        let name = self.written_name()?;
        Ok(column_of(name))
    }

    /// A list of at least one name in parentheses.
    pub(super) fn names_in_parens(&mut self) -> Parse<Vec<Name>> {
        self.list_in_parens(Self::name)
    }

    /// An optional list of names in parentheses.
    pub(super) fn optional_names(&mut self) -> Parse<Vec<Name>> {
        if self.is(TokenKind::LeftParen) {
            self.names_in_parens()
        } else {
            Ok(Vec::new())
        }
    }
}

/// The last part as the column, the preceding parts as its qualifier.
pub(super) fn column_of(name: ObjectName) -> ColumnName {
    let whole = name.position;
    let table = name.schema.map(|table| ObjectName {
        server: None,
        database: name.server,
        schema: name.database,
        position: Position {
            end: table.position.end,
            ..whole
        },
        name: table,
    });
    ColumnName { table, name: name.name }
}

/// `server.database.schema.name`
const PART_COUNT_MAX: usize = 4;
