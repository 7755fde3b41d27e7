//! Master keys, certificates and database encryption keys.

use super::{Parse, Parser};
use crate::{
    ast::{
        AlterEncryptionKey, BackupCertificate, CertificateSource, CreateCertificate, CursorStatement, EncryptionKey,
        Encryptor, Name, PrivateKey, Setting, StatementKind,
    },
    keyword::Keyword,
    token::TokenKind,
};

impl Parser<'_> {
    /// `MASTER KEY [ENCRYPTION BY PASSWORD = '..']`
    pub(super) fn create_master_key(&mut self) -> Parse<StatementKind> {
        self.advance();
        self.expect_keyword(Keyword::Key)?;
        let password = match self.is_word("encryption") {
            true => Some(self.by_password("encryption")?),
            false => None,
        };
        Ok(StatementKind::CreateMasterKey { password })
    }

    /// Whether the next tokens are `MASTER KEY [FORCE] REGENERATE`. ADD and DROP of its encryptions are refused.
    pub(super) fn is_regenerate(&self) -> bool {
        let at = if self.is_word_at(2, "force") { 3 } else { 2 };
        self.is_at(1, TokenKind::Keyword(Keyword::Key)) && self.is_word_at(at, "regenerate")
    }

    /// `MASTER KEY [FORCE] REGENERATE WITH ENCRYPTION BY PASSWORD = '..'`
    pub(super) fn regenerate_master_key(&mut self) -> Parse<StatementKind> {
        self.advance();
        self.advance();
        let force = self.eat_word("force");
        self.advance();
        self.expect_keyword(Keyword::With)?;
        let password = self.by_password("encryption")?;
        Ok(StatementKind::RegenerateMasterKey { force, password })
    }

    /// `ENCRYPTION BY PASSWORD = '..'` or `DECRYPTION BY PASSWORD = '..'`.
    pub(super) fn by_password(&mut self, word: &str) -> Parse<String> {
        self.expect_word(word)?;
        self.expect_keyword(Keyword::By)?;
        self.expect_word("password")?;
        self.expect(TokenKind::Equal)?;
        self.string()
    }

    /// OPEN and CLOSE of keys and of cursors.
    pub(super) fn open_or_close(&mut self, keyword: Keyword) -> Parse<StatementKind> {
        self.advance();
        let open = keyword == Keyword::Open;
        if self.is_word("master") && self.is_at(1, TokenKind::Keyword(Keyword::Key)) {
            self.advance();
            self.advance();
            if !open {
                return Ok(StatementKind::CloseMasterKey);
            }
            let password = self.by_password("decryption")?;
            return Ok(StatementKind::OpenMasterKey { password });
        }
        if self.is_symmetric_key() || !open && self.is_keyword(Keyword::All) {
            return match open {
                true => self.open_symmetric_key(),
                false => self.close_symmetric_key(),
            };
        }
        self.cursor_of(if open {
            CursorStatement::Open
        } else {
            CursorStatement::Close
        })
    }

    /// `MASTER KEY TO FILE = '..' ENCRYPTION BY PASSWORD = '..'`
    pub(super) fn backup_master_key(&mut self) -> Parse<StatementKind> {
        self.advance();
        self.expect_keyword(Keyword::Key)?;
        self.expect_keyword(Keyword::To)?;
        let path = self.file_path()?;
        let password = self.by_password("encryption")?;
        Ok(StatementKind::BackupMasterKey { path, password })
    }

    /// `MASTER KEY FROM FILE = '..' DECRYPTION BY PASSWORD = '..' ENCRYPTION BY PASSWORD = '..' [FORCE]`
    pub(super) fn restore_master_key(&mut self) -> Parse<StatementKind> {
        self.advance();
        self.expect_keyword(Keyword::Key)?;
        self.expect_keyword(Keyword::From)?;
        let path = self.file_path()?;
        let file_password = self.by_password("decryption")?;
        let password = self.by_password("encryption")?;
        let force = self.eat_word("force");
        Ok(StatementKind::RestoreMasterKey {
            path,
            file_password,
            password,
            force,
        })
    }

    /// `FILE = '..'`
    pub(super) fn file_path(&mut self) -> Parse<String> {
        self.expect_keyword(Keyword::File)?;
        self.expect(TokenKind::Equal)?;
        self.string()
    }

    pub(super) fn create_certificate(&mut self) -> Parse<StatementKind> {
        self.advance();
        let name = self.name()?;
        let authorization = self.optional_authorization()?;
        let source = if self.eat_keyword(Keyword::From) {
            if self.is_keyword(Keyword::File) {
                CertificateSource::File {
                    path: self.file_path()?,
                    private_key: self.optional_private_key()?,
                }
            } else if self.eat_word("binary") {
                self.expect(TokenKind::Equal)?;
                CertificateSource::Binary {
                    bytes: self.binary()?,
                    private_key: self.optional_private_key()?,
                }
            } else if self.is_word("assembly") || self.is_word("executable") {
                return self.refused_statement("CREATE CERTIFICATE FROM ASSEMBLY");
            } else {
                return Err(self.unexpected());
            }
        } else {
            let password = match self.is_word("encryption") {
                true => Some(self.by_password("encryption")?),
                false => None,
            };
            self.expect_keyword(Keyword::With)?;
            let options = self.list(Self::certificate_option)?;
            CertificateSource::New { password, options }
        };
        let active_for_begin_dialog = match self.is_word("active") {
            true => Some(self.active_for_begin_dialog()?),
            false => None,
        };
        Ok(StatementKind::CreateCertificate(Box::new(CreateCertificate {
            name,
            authorization,
            source,
            active_for_begin_dialog,
        })))
    }

    /// `SUBJECT = '..'` and other options, which require a string.
    fn certificate_option(&mut self) -> Parse<Setting> {
        let known = ["subject", "start_date", "expiry_date"]
            .iter()
            .any(|word| self.is_word(word));
        if !known {
            return Err(self.unexpected());
        }
        let start = self.here();
        let name = self.any_word();
        if !self.is(TokenKind::Equal) || !self.is_string_token(self.peek_at(1)) {
            self.expect(TokenKind::Equal)?;
            return Err(self.unexpected());
        }
        self.setting_after(start, name)
    }

    fn active_for_begin_dialog(&mut self) -> Parse<bool> {
        self.advance();
        self.expect_keyword(Keyword::For)?;
        self.expect_word("begin_dialog")?;
        self.expect(TokenKind::Equal)?;
        self.on_or_off()
    }

    pub(super) fn optional_authorization(&mut self) -> Parse<Option<Name>> {
        match self.eat_keyword(Keyword::Authorization) {
            true => self.name().map(Some),
            false => Ok(None),
        }
    }

    pub(super) fn binary(&mut self) -> Parse<crate::ast::Literal> {
        match self.is(TokenKind::Binary) {
            true => self.literal().ok_or_else(|| self.unexpected()),
            false => Err(self.unexpected()),
        }
    }

    /// An optional `WITH PRIVATE KEY (..)`.
    pub(super) fn optional_private_key(&mut self) -> Parse<Option<PrivateKey>> {
        if !self.is_keyword(Keyword::With) || !self.is_word_at(1, "private") {
            return Ok(None);
        }
        self.advance();
        self.advance();
        self.expect_keyword(Keyword::Key)?;
        self.expect(TokenKind::LeftParen)?;
        let mut key = PrivateKey::default();
        loop {
            if self.is_keyword(Keyword::File) {
                key.path = Some(self.file_path()?);
            } else if self.eat_word("binary") {
                self.expect(TokenKind::Equal)?;
                key.bytes = Some(self.binary()?);
            } else if self.is_word("decryption") {
                key.decryption_password = Some(self.by_password("decryption")?);
            } else {
                key.encryption_password = Some(self.by_password("encryption")?);
            }
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::RightParen)?;
        Ok(Some(key))
    }

    /// `CERTIFICATE name TO FILE = '..' [WITH PRIVATE KEY (..)]`
    pub(super) fn backup_certificate(&mut self) -> Parse<StatementKind> {
        self.advance();
        let name = self.name()?;
        self.expect_keyword(Keyword::To)?;
        let path = self.file_path()?;
        let private_key = self.optional_private_key()?;
        Ok(StatementKind::BackupCertificate(Box::new(BackupCertificate {
            name,
            path,
            private_key,
        })))
    }

    /// `ENCRYPTION KEY WITH ALGORITHM = .. ENCRYPTION BY SERVER ..`
    pub(super) fn create_encryption_key(&mut self) -> Parse<StatementKind> {
        self.advance();
        self.advance();
        let algorithm = self.with_algorithm()?;
        let encryptor = self.encryptor()?;
        Ok(StatementKind::CreateEncryptionKey(EncryptionKey {
            algorithm,
            encryptor,
        }))
    }

    /// `ENCRYPTION KEY [REGENERATE WITH ALGORITHM = ..] [ENCRYPTION BY SERVER ..]`
    pub(super) fn alter_encryption_key(&mut self) -> Parse<StatementKind> {
        self.advance();
        self.advance();
        let algorithm = match self.eat_word("regenerate") {
            true => Some(self.with_algorithm()?),
            false => None,
        };
        let encryptor = match algorithm.is_none() || self.is_word("encryption") {
            true => Some(self.encryptor()?),
            false => None,
        };
        Ok(StatementKind::AlterEncryptionKey(AlterEncryptionKey {
            algorithm,
            encryptor,
        }))
    }

    pub(super) fn with_algorithm(&mut self) -> Parse<Name> {
        self.expect_keyword(Keyword::With)?;
        self.expect_word("algorithm")?;
        self.expect(TokenKind::Equal)?;
        self.word()
    }

    fn encryptor(&mut self) -> Parse<Encryptor> {
        self.expect_word("encryption")?;
        self.expect_keyword(Keyword::By)?;
        self.expect_word("server")?;
        if self.eat_word("asymmetric") {
            self.expect_keyword(Keyword::Key)?;
            return self.name().map(Encryptor::AsymmetricKey);
        }
        self.expect_word("certificate")?;
        self.name().map(Encryptor::Certificate)
    }
}
