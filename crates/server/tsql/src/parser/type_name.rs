//! Types: names with arguments.

use std::sync::Arc;

use super::{Parse, Parser};
use crate::{
    ast::{Name, NamedType, ObjectName, TableType, TypeArgument, TypeName, TypeReference, UserType},
    error::SyntaxFault,
    keyword::Keyword,
    token::TokenKind,
};

impl Parser<'_> {
    /// A required type.
    pub(super) fn type_name(&mut self) -> Parse<TypeName> {
        Ok(self.type_or_table()?.0)
    }

    /// A required type, and the table type that it is.
    pub(super) fn type_or_table(&mut self) -> Parse<(TypeName, Option<Arc<TableType>>)> {
        let mut written = self.written_type()?;
        let name = &written.name;
        if name.database.is_some() || name.server.is_some() || !written.arguments.is_empty() {
            return Ok((written, None));
        }
        let reference = TypeReference {
            schema: name.schema.as_ref().map(|schema| schema.text.clone()),
            name: name.name.text.clone(),
        };
        let mut table = None;
        written.user_type = (self.user_types)(&reference).map(|found| match found {
            UserType::Alias(alias) => NamedType::Alias(alias),
            UserType::Table(found) => {
                table = Some(found);
                NamedType::Table
            }
        });
        if written.user_type.is_none() {
            let schema = reference.schema.as_ref().map(|schema| schema.to_ascii_lowercase());
            if self.known_types.insert((schema, reference.name.to_ascii_lowercase())) {
                self.types.push(reference);
            }
        }
        Ok((written, table))
    }

    fn written_type(&mut self) -> Parse<TypeName> {
        let start = self.here();
        let name = match self.type_of_several_words()? {
            Some(name) => name,
            None => self.object_name()?,
        };
        let mut arguments = Vec::new();
        if self.eat(TokenKind::LeftParen) {
            arguments = self.list(Self::type_argument)?;
            self.expect(TokenKind::RightParen)?;
        }
        Ok(TypeName {
            name,
            arguments,
            position: self.since(start),
            user_type: None,
        })
    }

    fn type_argument(&mut self) -> Parse<TypeArgument> {
        if self.eat_word("max") {
            return Ok(TypeArgument::Max);
        }
        let token = self.expect(TokenKind::Integer)?;
        let text = self.text(token);
        match text.parse() {
            Ok(number) => Ok(TypeArgument::Number(number)),
            Err(_) => Err(SyntaxFault::length_invalid(token.position.line, text).at(token.position)),
        }
    }

    /// The standard's types of several words, joined by single spaces.
    fn type_of_several_words(&mut self) -> Parse<Option<ObjectName>> {
        let start = self.here();
        let mut words: Vec<&str> = Vec::new();
        if self.eat_keyword(Keyword::Double) {
            self.expect_word("precision")?;
            words.extend(["double", "precision"]);
        } else if self.eat_keyword(Keyword::National) {
            let token = self.peek();
            let word = CHARACTER_TYPES.iter().find(|word| self.is_word(word));
            let Some(word) = word else {
                return Err(self.unexpected_at(token));
            };
            self.advance();
            words.extend(["national", word]);
        } else {
            // `char varying`; `char` alone is an ordinary name.
            let word = CHARACTER_TYPES
                .iter()
                .chain(&["binary"])
                .find(|word| self.is_word(word));
            let varying = self.is_at(1, TokenKind::Keyword(Keyword::Varying));
            let Some(word) = word.filter(|_| varying) else {
                return Ok(None);
            };
            self.advance();
            words.push(word);
        }
        if words.last() != Some(&"text") && self.eat_keyword(Keyword::Varying) {
            words.push("varying");
        }
        let position = self.since(start);
        let name = Name {
            text: words.join(" "),
            quoted: false,
            position,
        };
        Ok(Some(ObjectName {
            server: None,
            database: None,
            schema: None,
            name,
            position,
        }))
    }
}

/// The words that are allowed after NATIONAL and before VARYING.
const CHARACTER_TYPES: &[&str] = &["character", "char", "text"];
