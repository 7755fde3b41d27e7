//! Sequences and synonyms.

use super::{Parse, Parser};
use crate::{
    ast::{CreateSynonym, Expr, ExprKind, NextValue, SequenceDefinition, SequenceOption, StatementKind},
    keyword::Keyword,
};

impl Parser<'_> {
    /// `SEQUENCE name [options]`, after CREATE or ALTER.
    pub(super) fn sequence(&mut self, alter: bool) -> Parse<StatementKind> {
        self.advance();
        let name = self.object_name()?;
        let mut options = Vec::new();
        while let Some(option) = self.sequence_option()? {
            options.push(option);
        }
        Ok(StatementKind::Sequence(Box::new(SequenceDefinition {
            alter,
            name,
            options,
        })))
    }

    fn sequence_option(&mut self) -> Parse<Option<SequenceOption>> {
        if self.eat_keyword(Keyword::As) {
            return self.type_name().map(SequenceOption::As).map(Some);
        }
        let option = if self.eat_word("start") {
            self.expect_keyword(Keyword::With)?;
            SequenceOption::Start(self.required_constant()?)
        } else if self.eat_word("restart") {
            let value = match self.eat_keyword(Keyword::With) {
                true => Some(self.required_constant()?),
                false => None,
            };
            SequenceOption::Restart(value)
        } else if self.eat_word("increment") {
            self.expect_keyword(Keyword::By)?;
            SequenceOption::Increment(self.required_constant()?)
        } else if self.eat_word("minvalue") {
            SequenceOption::Minimum(Some(self.required_constant()?))
        } else if self.eat_word("maxvalue") {
            SequenceOption::Maximum(Some(self.required_constant()?))
        } else if self.eat_word("cycle") {
            SequenceOption::Cycle(true)
        } else if self.eat_word("cache") {
            SequenceOption::Cache(self.constant_or_variable()?)
        } else if self.is_word("no") {
            self.advance();
            match () {
                () if self.eat_word("minvalue") => SequenceOption::Minimum(None),
                () if self.eat_word("maxvalue") => SequenceOption::Maximum(None),
                () if self.eat_word("cycle") => SequenceOption::Cycle(false),
                () if self.eat_word("cache") => SequenceOption::NoCache,
                () => return Err(self.unexpected()),
            }
        } else {
            return Ok(None);
        };
        Ok(Some(option))
    }

    /// `SYNONYM name FOR object`, after CREATE.
    pub(super) fn create_synonym(&mut self) -> Parse<StatementKind> {
        self.advance();
        let name = self.object_name()?;
        self.expect_keyword(Keyword::For)?;
        let object = self.object_name()?;
        Ok(StatementKind::Synonym(Box::new(CreateSynonym { name, object })))
    }

    /// `NEXT VALUE FOR sequence [OVER (..)]`
    pub(super) fn next_value(&mut self) -> Parse<Expr> {
        let start = self.here();
        self.advance();
        self.advance();
        self.expect_keyword(Keyword::For)?;
        let sequence = self.object_name()?;
        let over = match self.eat_keyword(Keyword::Over) {
            true => Some(self.over()?),
            false => None,
        };
        Ok(self.expr_since(start, ExprKind::NextValue(Box::new(NextValue { sequence, over }))))
    }
}
