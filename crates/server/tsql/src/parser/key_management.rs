//! Cryptographic providers, credentials and the keys of providers.

use super::{Parse, Parser};
use crate::{
    ast::{
        AlterProvider, CreateAsymmetricKey, CreateProvider, Credential, KeyManagement, Name, Setting, StatementKind,
    },
    keyword::Keyword,
    token::TokenKind,
};

impl Parser<'_> {
    /// Whether `CRYPTOGRAPHIC PROVIDER` or `ASYMMETRIC KEY` is next, by the first word.
    pub(super) fn is_key_management(&self, first: &str) -> bool {
        let has_second = match first {
            "cryptographic" => self.is_word_at(1, "provider"),
            "asymmetric" => self.is_at(1, TokenKind::Keyword(Keyword::Key)),
            _ => true,
        };
        self.is_word(first) && has_second
    }

    /// `CRYPTOGRAPHIC PROVIDER name`
    fn provider_name(&mut self) -> Parse<Name> {
        self.expect_word("cryptographic")?;
        self.expect_word("provider")?;
        self.name()
    }

    /// `CRYPTOGRAPHIC PROVIDER name FROM FILE = '..'`
    pub(super) fn create_provider(&mut self) -> Parse<StatementKind> {
        let name = self.provider_name()?;
        self.expect_keyword(Keyword::From)?;
        let path = self.file_path()?;
        Ok(kind(KeyManagement::CreateProvider(CreateProvider { name, path })))
    }

    /// `CRYPTOGRAPHIC PROVIDER name [FROM FILE = '..'] [ENABLE | DISABLE]`
    pub(super) fn alter_provider(&mut self) -> Parse<StatementKind> {
        let name = self.provider_name()?;
        let path = match self.eat_keyword(Keyword::From) {
            true => Some(self.file_path()?),
            false => None,
        };
        let is_enabled = match (self.eat_word("enable"), self.eat_word("disable")) {
            (true, _) => Some(true),
            (false, true) => Some(false),
            (false, false) if path.is_some() => None,
            (false, false) => return Err(self.unexpected()),
        };
        Ok(kind(KeyManagement::AlterProvider(AlterProvider {
            name,
            path,
            is_enabled,
        })))
    }

    /// `CREDENTIAL name WITH IDENTITY = '..' [, SECRET = '..'] [FOR CRYPTOGRAPHIC PROVIDER name]`
    pub(super) fn credential(&mut self, alter: bool) -> Parse<StatementKind> {
        self.advance();
        let name = self.name()?;
        self.expect_keyword(Keyword::With)?;
        self.expect_keyword(Keyword::Identity)?;
        self.expect(TokenKind::Equal)?;
        let identity = self.string()?;
        let has_secret = self.eat(TokenKind::Comma);
        if has_secret {
            self.expect_word("secret")?;
            self.expect(TokenKind::Equal)?;
            self.string()?;
        }
        let provider = match !alter && self.eat_keyword(Keyword::For) {
            true => Some(self.provider_name()?),
            false => None,
        };
        Ok(kind(KeyManagement::Credential(Credential {
            alter,
            name,
            identity,
            has_secret,
            provider,
        })))
    }

    /// `ASYMMETRIC KEY name [AUTHORIZATION user] FROM PROVIDER name WITH ..`, or a key pair; other sources are refused.
    pub(super) fn create_asymmetric_key(&mut self) -> Parse<StatementKind> {
        self.advance();
        self.advance();
        let name = self.name()?;
        let authorization = self.optional_authorization()?;
        if self.is_keyword(Keyword::With) {
            return self.create_key_pair(name, authorization);
        }
        if !self.is_word_at(1, "provider") {
            return self.refused_statement("CREATE ASYMMETRIC KEY FROM FILE or ASSEMBLY");
        }
        self.advance();
        self.advance();
        let provider = self.name()?;
        self.expect_keyword(Keyword::With)?;
        let options = self.list(Self::key_option)?;
        Ok(kind(KeyManagement::CreateAsymmetricKey(CreateAsymmetricKey {
            name,
            authorization,
            provider,
            options,
        })))
    }

    fn key_option(&mut self) -> Parse<Setting> {
        let known = ["algorithm", "provider_key_name", "creation_disposition"];
        if !known.iter().any(|word| self.is_word(word)) || !self.is_at(1, TokenKind::Equal) {
            return Err(self.unexpected());
        }
        self.setting()
    }
}

fn kind(statement: KeyManagement) -> StatementKind {
    StatementKind::KeyManagement(Box::new(statement))
}
