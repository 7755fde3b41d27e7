//! CREATE and ALTER: dispatch by object type.

use super::{Parse, Parser};
use crate::{
    ast::{Create, StatementKind},
    error::SyntaxFault,
    keyword::Keyword,
    token::TokenKind,
};

impl Parser<'_> {
    /// CREATE; `first` states whether it is the first statement of its batch.
    pub(super) fn create(&mut self, first: bool) -> Parse<StatementKind> {
        self.advance();
        if self.is_keyword(Keyword::Or) && self.is_at(1, TokenKind::Keyword(Keyword::Alter)) {
            self.advance();
            self.advance();
            return match self.module(first, Create::NewOrAlter)? {
                Some(kind) => Ok(kind),
                None => Err(self.unexpected()),
            };
        }
        if let Some(kind) = self.module(first, Create::New)? {
            return Ok(kind);
        }
        match self.kind() {
            TokenKind::Keyword(Keyword::Table) => self.create_table(),
            TokenKind::Keyword(Keyword::Unique | Keyword::Clustered | Keyword::Nonclustered | Keyword::Index) => {
                self.create_index()
            }
            TokenKind::Keyword(Keyword::Database) => self.create_database(),
            TokenKind::Keyword(Keyword::User) => self.create_user(),
            TokenKind::Keyword(Keyword::Schema) => {
                self.check_first(first, "CREATE SCHEMA")?;
                self.create_schema()
            }
            TokenKind::Word if self.is_word("login") => self.create_login(),
            TokenKind::Word if self.is_word("role") => self.create_role(false),
            TokenKind::Word if self.is_server_role() => {
                self.advance();
                self.create_role(true)
            }
            TokenKind::Word if self.is_word("sequence") => self.sequence(false),
            TokenKind::Keyword(Keyword::Statistics) => self.create_statistics(),
            TokenKind::Word if self.is_word("synonym") => self.create_synonym(),
            TokenKind::Word if self.is_word("type") => self.create_type(),
            TokenKind::Word if self.is_word("master") => self.create_master_key(),
            TokenKind::Word if self.is_word("certificate") => self.create_certificate(),
            TokenKind::Word if self.is_key_management("cryptographic") => self.create_provider(),
            TokenKind::Word if self.is_key_management("credential") => self.credential(false),
            TokenKind::Word if self.is_key_management("asymmetric") => self.create_asymmetric_key(),
            TokenKind::Word if self.is_symmetric_key() => self.create_symmetric_key(),
            _ => self.refused_object("CREATE"),
        }
    }

    /// ALTER; `first` states whether it is the first statement of its batch.
    pub(super) fn alter(&mut self, first: bool) -> Parse<StatementKind> {
        self.advance();
        if let Some(kind) = self.module(first, Create::Alter)? {
            return Ok(kind);
        }
        match self.kind() {
            TokenKind::Keyword(Keyword::Table) => self.alter_table(),
            TokenKind::Keyword(Keyword::Index) => self.alter_index(),
            TokenKind::Keyword(Keyword::Database) => self.alter_database(),
            TokenKind::Keyword(Keyword::User) => self.alter_user(),
            TokenKind::Keyword(Keyword::Authorization) => self.alter_authorization(),
            TokenKind::Keyword(Keyword::Schema) => self.alter_schema(),
            TokenKind::Word if self.is_word("login") => self.alter_login(),
            TokenKind::Word if self.is_word("role") => self.alter_role(false),
            TokenKind::Word if self.is_word("sequence") => self.sequence(true),
            TokenKind::Word if self.is_server_role() => {
                self.advance();
                self.alter_role(true)
            }
            TokenKind::Word if self.is_key_management("cryptographic") => self.alter_provider(),
            TokenKind::Word if self.is_key_management("credential") => self.credential(true),
            TokenKind::Word if self.is_word("master") && self.is_regenerate() => self.regenerate_master_key(),
            TokenKind::Word if self.is_word("master") => self.alter_master_key(),
            TokenKind::Word if self.is_symmetric_key() => self.alter_symmetric_key(),
            TokenKind::Word if self.is_word("certificate") || self.is_key_management("asymmetric") => {
                self.alter_private_key()
            }
            _ => self.refused_object("ALTER"),
        }
    }

    /// Whether `SERVER ROLE` follows.
    pub(super) fn is_server_role(&self) -> bool {
        self.is_word("server") && self.is_word_at(1, "role")
    }

    /// VIEW, PROCEDURE, FUNCTION and TRIGGER, which must be the first statement of their batch.
    fn module(&mut self, first: bool, create: Create) -> Parse<Option<StatementKind>> {
        let TokenKind::Keyword(keyword) = self.kind() else {
            return Ok(None);
        };
        let alter = create == Create::Alter;
        let kind = match keyword {
            Keyword::View => {
                self.check_first(first, if alter { "ALTER VIEW" } else { "CREATE VIEW" })?;
                self.view(create)?
            }
            Keyword::Proc | Keyword::Procedure => {
                self.check_first(first, "CREATE/ALTER PROCEDURE")?;
                self.procedure(create)?
            }
            Keyword::Function => {
                let what = if alter { "ALTER FUNCTION" } else { "CREATE FUNCTION" };
                self.check_first(first, what)?;
                self.function_definition(create)?
            }
            Keyword::Trigger => {
                self.check_first(first, if alter { "ALTER TRIGGER" } else { "CREATE TRIGGER" })?;
                self.trigger(create)?
            }
            _ => return Ok(None),
        };
        Ok(Some(kind))
    }

    /// Inside another statement the keyword is a syntax error; after another statement it is misplaced.
    fn check_first(&mut self, first: bool, what: &str) -> Parse<()> {
        match (first, self.statement_depth) {
            (true, _) => Ok(()),
            (false, 0 | 1) => Err(SyntaxFault::not_first(what).at(self.here())),
            (false, _) => Err(self.unexpected()),
        }
    }

    /// Unsupported objects, recognized by their keywords.
    pub(super) fn refused_object(&mut self, verb: &str) -> Parse<StatementKind> {
        if !self.is_any_word() {
            return Err(self.unexpected());
        }
        let first = self.text(self.peek()).to_ascii_uppercase();
        if !OBJECTS.contains(&first.as_str()) {
            return Err(self.unexpected());
        }
        let mut what = format!("{verb} {first}");
        let second = self.peek_at(1);
        if OBJECTS_OF_TWO_WORDS.contains(&first.as_str())
            && matches!(second.kind, TokenKind::Word | TokenKind::Keyword(_))
        {
            what.push(' ');
            what.push_str(&self.text(second).to_ascii_uppercase());
            self.advance();
        }
        let start = self.advance().position;
        if verb == "DROP" {
            self.optional_if_exists()?;
        }
        self.skip_statement()?;
        self.refuse(what, self.since(start));
        Ok(StatementKind::Break)
    }
}

/// The first words of object types of SQL Server that are not supported.
const OBJECTS: &[&str] = &[
    "AGGREGATE",
    "APPLICATION",
    "ASSEMBLY",
    "ASYMMETRIC",
    "AUTHORIZATION",
    "AVAILABILITY",
    "BROKER",
    "CERTIFICATE",
    "COLUMN",
    "COLUMNSTORE",
    "CONTRACT",
    "CRYPTOGRAPHIC",
    "DEFAULT",
    "ENDPOINT",
    "EVENT",
    "EXTERNAL",
    "FULLTEXT",
    "MASTER",
    "MESSAGE",
    "PARTITION",
    "PRIMARY",
    "QUEUE",
    "REMOTE",
    "RESOURCE",
    "ROUTE",
    "RULE",
    "SEARCH",
    "SECURITY",
    "SELECTIVE",
    "SERVER",
    "SERVICE",
    "SIGNATURE",
    "SPATIAL",
    "SYMMETRIC",
    "SYNONYM",
    "TYPE",
    "WORKLOAD",
    "XML",
];
/// Those of them that have two words.
const OBJECTS_OF_TWO_WORDS: &[&str] = &[
    "APPLICATION",
    "ASYMMETRIC",
    "AVAILABILITY",
    "BROKER",
    "COLUMN",
    "COLUMNSTORE",
    "CRYPTOGRAPHIC",
    "EVENT",
    "EXTERNAL",
    "FULLTEXT",
    "MASTER",
    "MESSAGE",
    "PARTITION",
    "PRIMARY",
    "REMOTE",
    "RESOURCE",
    "SEARCH",
    "SECURITY",
    "SELECTIVE",
    "SERVER",
    "SERVICE",
    "SPATIAL",
    "SYMMETRIC",
    "WORKLOAD",
    "XML",
];
