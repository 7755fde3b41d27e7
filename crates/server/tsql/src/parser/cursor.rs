//! Cursors.

use super::{Parse, Parser};
use crate::{
    ast::{
        CursorDefinition, CursorName, CursorPurpose, CursorStatement, DeclareCursor, ExprKind, FetchCursor,
        FetchDirection, Name, NameOrVariable, SelectStatement, StatementKind,
    },
    keyword::Keyword,
    token::TokenKind,
};

impl Parser<'_> {
    /// `name [INSENSITIVE] [SCROLL] CURSOR ..`, after DECLARE.
    pub(super) fn declare_cursor(&mut self) -> Parse<StatementKind> {
        let name = self.name()?;
        let standard = self.cursor_words()?;
        let definition = self.cursor_definition()?;
        Ok(cursor(CursorStatement::Declare(DeclareCursor {
            name,
            standard,
            definition,
        })))
    }

    /// `CURSOR [options] FOR query [FOR UPDATE [OF a, b] | READ ONLY]`
    pub(super) fn cursor_definition(&mut self) -> Parse<CursorDefinition> {
        self.expect_keyword(Keyword::Cursor)?;
        let options = self.cursor_words()?;
        self.expect_keyword(Keyword::For)?;
        let with = self.optional_with()?;
        let query = Box::new(SelectStatement {
            with,
            query: self.query()?,
            options: self.query_options()?,
        });
        Ok(CursorDefinition {
            options,
            query,
            purpose: self.cursor_purpose()?,
        })
    }

    fn cursor_purpose(&mut self) -> Parse<CursorPurpose> {
        if !self.eat_keyword(Keyword::For) {
            return Ok(CursorPurpose::Unspecified);
        }
        if self.eat_keyword(Keyword::Read) {
            self.expect_word("only")?;
            return Ok(CursorPurpose::ReadOnly);
        }
        self.expect_keyword(Keyword::Update)?;
        match self.eat_keyword(Keyword::Of) {
            true => Ok(CursorPurpose::Update(self.list(Self::updated_column)?)),
            false => Ok(CursorPurpose::Update(Vec::new())),
        }
    }

    fn updated_column(&mut self) -> Parse<Name> {
        self.column_name().map(|column| column.name)
    }

    /// Options up to CURSOR or FOR.
    fn cursor_words(&mut self) -> Parse<Vec<String>> {
        let mut words = Vec::new();
        while self.is(TokenKind::Word) {
            let is_option = OPTIONS.iter().any(|option| self.is_word(option));
            if !is_option {
                return Err(self.unexpected());
            }
            let token = self.advance();
            words.push(self.text(token).to_ascii_uppercase());
        }
        Ok(words)
    }

    /// OPEN, CLOSE or DEALLOCATE, after its keyword.
    pub(super) fn cursor_of(&mut self, statement: fn(CursorName) -> CursorStatement) -> Parse<StatementKind> {
        self.cursor_name().map(|name| cursor(statement(name)))
    }

    /// `FETCH [NEXT ..] [FROM] cursor [INTO @a, @b]`
    pub(super) fn fetch(&mut self) -> Parse<StatementKind> {
        self.advance();
        let direction = self.fetch_direction()?;
        let cursor_name = self.cursor_name()?;
        let into = match self.eat_keyword(Keyword::Into) {
            true => self.list(Self::variable)?,
            false => Vec::new(),
        };
        Ok(cursor(CursorStatement::Fetch(FetchCursor {
            direction,
            cursor: cursor_name,
            into,
        })))
    }

    fn fetch_direction(&mut self) -> Parse<FetchDirection> {
        let is_from = |parser: &Self| parser.is_at(1, TokenKind::Keyword(Keyword::From));
        let words = [
            ("next", FetchDirection::Next),
            ("prior", FetchDirection::Prior),
            ("first", FetchDirection::First),
            ("last", FetchDirection::Last),
        ];
        for (word, direction) in words {
            if self.is_word(word) && is_from(self) {
                self.advance();
                self.advance();
                return Ok(direction);
            }
        }
        let is_absolute = self.is_word("absolute");
        let is_number = (is_absolute || self.is_word("relative"))
            && !self.is_at(1, TokenKind::Keyword(Keyword::Into))
            && !self.is_at(1, TokenKind::Semicolon)
            && !self.is_at(1, TokenKind::End);
        if !is_number {
            self.eat_keyword(Keyword::From);
            return Ok(FetchDirection::Next);
        }
        self.advance();
        let count = Box::new(self.required_constant()?);
        self.expect_keyword(Keyword::From)?;
        Ok(match is_absolute {
            true => FetchDirection::Absolute(count),
            false => FetchDirection::Relative(count),
        })
    }

    /// `[GLOBAL] name` or `@name`
    pub(super) fn cursor_name(&mut self) -> Parse<CursorName> {
        let global = self.is_word("global") && self.is_name_token(self.peek_at(1));
        if global {
            self.advance();
        }
        let name = self.name_or_variable()?;
        Ok(CursorName { global, name })
    }
}

/// The cursor that `SET @a = name` may name. That of `SET @a = @b` is for the compiler, which knows the variables.
pub(super) fn shared_cursor(value: &ExprKind) -> Option<CursorName> {
    match value {
        ExprKind::Column(column) if column.table.is_none() => Some(CursorName {
            global: false,
            name: NameOrVariable::Name(column.name.clone()),
        }),
        _ => None,
    }
}

pub(super) fn cursor(statement: CursorStatement) -> StatementKind {
    StatementKind::Cursor(Box::new(statement))
}

/// All words that may stand before or after CURSOR; which of them go together is for the compiler.
const OPTIONS: [&str; 13] = [
    "insensitive",
    "scroll",
    "local",
    "global",
    "forward_only",
    "static",
    "keyset",
    "dynamic",
    "fast_forward",
    "read_only",
    "scroll_locks",
    "optimistic",
    "type_warning",
];
