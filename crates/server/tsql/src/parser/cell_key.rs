//! Keys that encrypt values: symmetric keys, key pairs, and what protects them.

use super::{Parse, Parser};
use crate::{
    ast::{CellKeyStatement, CreateSymmetricKey, KeyProtector, Name, Setting, StatementKind},
    keyword::Keyword,
    token::TokenKind,
};

impl Parser<'_> {
    /// Whether `SYMMETRIC KEY` is next.
    pub(super) fn is_symmetric_key(&self) -> bool {
        self.is_word("symmetric") && self.is_at(1, TokenKind::Keyword(Keyword::Key))
    }

    /// `SYMMETRIC KEY name` or `ASYMMETRIC KEY name`, of which the first word was seen.
    fn key_name(&mut self) -> Parse<Name> {
        self.advance();
        self.expect_keyword(Keyword::Key)?;
        self.name()
    }

    /// `SYMMETRIC KEY name [AUTHORIZATION user] WITH .. ENCRYPTION BY ..`; keys of providers are refused.
    pub(super) fn create_symmetric_key(&mut self) -> Parse<StatementKind> {
        let name = self.key_name()?;
        let authorization = self.optional_authorization()?;
        if self.is_keyword(Keyword::From) {
            return self.refused_statement("CREATE SYMMETRIC KEY FROM PROVIDER");
        }
        self.expect_keyword(Keyword::With)?;
        let options = self.list(Self::symmetric_key_option)?;
        self.expect_word("encryption")?;
        self.expect_keyword(Keyword::By)?;
        let protectors = self.list(|parser| parser.protector(false))?;
        Ok(kind(CellKeyStatement::CreateSymmetricKey(CreateSymmetricKey {
            name,
            authorization,
            options,
            protectors,
        })))
    }

    fn symmetric_key_option(&mut self) -> Parse<Setting> {
        let known = ["algorithm", "key_source", "identity_value"];
        if !known.iter().any(|word| self.is_word(word)) || !self.is_at(1, TokenKind::Equal) {
            return Err(self.unexpected());
        }
        let start = self.here();
        let name = self.any_word();
        self.setting_after(start, name)
    }

    /// What encrypts a symmetric key, or, with the passwords of private keys, decrypts it.
    fn protector(&mut self, decrypts: bool) -> Parse<KeyProtector> {
        if self.eat_word("password") {
            self.expect(TokenKind::Equal)?;
            return self.string().map(KeyProtector::Password);
        }
        if self.eat_word("certificate") {
            let name = self.name()?;
            return Ok(KeyProtector::Certificate(name, self.private_key_password(decrypts)?));
        }
        if self.is_word("asymmetric") {
            let name = self.key_name()?;
            return Ok(KeyProtector::AsymmetricKey(name, self.private_key_password(decrypts)?));
        }
        match self.is_symmetric_key() {
            true => self.key_name().map(KeyProtector::SymmetricKey),
            false => Err(self.unexpected()),
        }
    }

    /// `WITH PASSWORD = '..'`
    fn private_key_password(&mut self, decrypts: bool) -> Parse<Option<String>> {
        if !decrypts || !self.is_keyword(Keyword::With) || !self.is_word_at(1, "password") {
            return Ok(None);
        }
        self.advance();
        self.advance();
        self.expect(TokenKind::Equal)?;
        self.string().map(Some)
    }

    /// ADD or DROP; whether it is ADD.
    fn add_or_drop(&mut self) -> Parse<bool> {
        if self.eat_keyword(Keyword::Add) {
            return Ok(true);
        }
        self.expect_keyword(Keyword::Drop)?;
        Ok(false)
    }

    /// `SYMMETRIC KEY name ADD | DROP ENCRYPTION BY ..`
    pub(super) fn alter_symmetric_key(&mut self) -> Parse<StatementKind> {
        let name = self.key_name()?;
        let add = self.add_or_drop()?;
        self.expect_word("encryption")?;
        self.expect_keyword(Keyword::By)?;
        let protectors = self.list(|parser| parser.protector(false))?;
        Ok(kind(CellKeyStatement::AlterSymmetricKey { name, add, protectors }))
    }

    /// `SYMMETRIC KEY name DECRYPTION BY ..`
    pub(super) fn open_symmetric_key(&mut self) -> Parse<StatementKind> {
        let name = self.key_name()?;
        self.expect_word("decryption")?;
        self.expect_keyword(Keyword::By)?;
        let protector = self.protector(true)?;
        Ok(kind(CellKeyStatement::OpenSymmetricKey { name, protector }))
    }

    /// `SYMMETRIC KEY name` or `ALL SYMMETRIC KEYS`
    pub(super) fn close_symmetric_key(&mut self) -> Parse<StatementKind> {
        let name = match self.eat_keyword(Keyword::All) {
            true => {
                self.expect_word("symmetric")?;
                self.expect_word("keys")?;
                None
            }
            false => Some(self.key_name()?),
        };
        Ok(kind(CellKeyStatement::CloseSymmetricKey(name)))
    }

    /// `WITH ALGORITHM = .. [ENCRYPTION BY PASSWORD = '..']` of CREATE ASYMMETRIC KEY.
    pub(super) fn create_key_pair(&mut self, name: Name, authorization: Option<Name>) -> Parse<StatementKind> {
        let algorithm = self.with_algorithm()?;
        let password = match self.is_word("encryption") {
            true => Some(self.by_password("encryption")?),
            false => None,
        };
        Ok(kind(CellKeyStatement::CreateKeyPair {
            name,
            authorization,
            algorithm,
            password,
        }))
    }

    /// `CERTIFICATE name WITH PRIVATE KEY (..)` or `ASYMMETRIC KEY name WITH PRIVATE KEY (..)`; what else is altered is
    /// refused.
    pub(super) fn alter_private_key(&mut self) -> Parse<StatementKind> {
        let of_certificate = self.is_word("certificate");
        let name = match of_certificate {
            true => {
                self.advance();
                self.name()?
            }
            false => self.key_name()?,
        };
        let refused = match of_certificate {
            true => "ALTER CERTIFICATE other than WITH PRIVATE KEY and passwords",
            false => "ALTER ASYMMETRIC KEY other than WITH PRIVATE KEY and passwords",
        };
        let start = self.here();
        let Some(key) = self.optional_private_key()? else {
            return self.refused_statement(refused);
        };
        if key.path.is_some() || key.bytes.is_some() {
            self.refuse(refused, self.since(start));
        }
        Ok(kind(CellKeyStatement::AlterPrivateKey {
            of_certificate,
            name,
            decryption_password: key.decryption_password,
            encryption_password: key.encryption_password,
        }))
    }

    /// `MASTER KEY ADD | DROP ENCRYPTION BY ..`
    pub(super) fn alter_master_key(&mut self) -> Parse<StatementKind> {
        self.advance();
        self.expect_keyword(Keyword::Key)?;
        let add = self.add_or_drop()?;
        self.expect_word("encryption")?;
        self.expect_keyword(Keyword::By)?;
        let password = match self.eat_word("service") {
            true => {
                self.expect_word("master")?;
                self.expect_keyword(Keyword::Key)?;
                None
            }
            false => {
                self.expect_word("password")?;
                self.expect(TokenKind::Equal)?;
                Some(self.string()?)
            }
        };
        Ok(kind(CellKeyStatement::AlterMasterKey { add, password }))
    }
}

fn kind(statement: CellKeyStatement) -> StatementKind {
    StatementKind::CellKey(Box::new(statement))
}
