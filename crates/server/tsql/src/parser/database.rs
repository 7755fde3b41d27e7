//! Databases, BACKUP and RESTORE.

use super::{Parse, Parser};
use crate::{
    ast::{
        AlterDatabase, AlterDatabaseAction, Backup, BackupDevice, BackupKind, CreateDatabase, DeviceKind, FileGroup,
        FileSize, FileSpec, Restore, RestoreKind, Setting, SettingValue, SizeUnit, StatementKind, Termination,
    },
    error::SyntaxFault,
    keyword::Keyword,
    token::TokenKind,
};

impl Parser<'_> {
    /// Parses after CREATE.
    pub(super) fn create_database(&mut self) -> Parse<StatementKind> {
        self.advance();
        if self.is_word("encryption") && self.is_at(1, TokenKind::Keyword(Keyword::Key)) {
            return self.create_encryption_key();
        }
        if let Some(what) = self.refused_database("CREATE DATABASE") {
            return self.refused_statement(what);
        }
        let mut database = CreateDatabase {
            name: self.name()?,
            containment: None,
            groups: Vec::new(),
            log: Vec::new(),
            collation: None,
            options: Vec::new(),
        };
        if self.eat_word("containment") {
            self.expect(TokenKind::Equal)?;
            database.containment = Some(self.name()?);
        }
        if self.eat_keyword(Keyword::On) {
            self.eat_keyword(Keyword::Primary);
            database.groups = self.file_groups()?;
        }
        if self.is_word("log") {
            self.advance();
            self.expect_keyword(Keyword::On)?;
            database.log = self.list(Self::file_spec)?;
        }
        if self.eat_keyword(Keyword::Collate) {
            database.collation = Some(self.name()?);
        }
        if self.eat_keyword(Keyword::With) {
            database.options = self.list(Self::setting)?;
        }
        if self.is_keyword(Keyword::For) {
            return self.refused_statement("CREATE DATABASE FOR ATTACH");
        }
        if self.is_keyword(Keyword::As) {
            return self.refused_statement("CREATE DATABASE AS SNAPSHOT");
        }
        Ok(StatementKind::CreateDatabase(Box::new(database)))
    }

    /// DATABASE AUDIT SPECIFICATION, DATABASE SCOPED CONFIGURATION and CREDENTIAL.
    fn refused_database(&self, verb: &str) -> Option<String> {
        if self.is_word("audit") && self.is_word_at(1, "specification") {
            return Some(format!("{verb} AUDIT SPECIFICATION"));
        }
        let scoped = self.is_word("scoped");
        if scoped && self.is_word_at(1, "configuration") {
            return Some(format!("{verb} SCOPED CONFIGURATION"));
        }
        (scoped && self.is_word_at(1, "credential")).then(|| format!("{verb} SCOPED CREDENTIAL"))
    }

    /// The files of the primary file group, then those of named groups.
    fn file_groups(&mut self) -> Parse<Vec<FileGroup>> {
        let mut groups: Vec<FileGroup> = Vec::new();
        loop {
            if self.is_word("filegroup") {
                self.advance();
                let name = Some(self.name()?);
                if self.is_keyword(Keyword::Contains) || self.is_word("contains") {
                    let start = self.advance().position;
                    self.name()?;
                    self.refuse("FILEGROUP CONTAINS", self.since(start));
                }
                groups.push(FileGroup {
                    name,
                    is_default: self.eat_keyword(Keyword::Default),
                    files: vec![self.file_spec()?],
                });
            } else {
                let file = self.file_spec()?;
                match groups.last_mut() {
                    Some(group) => group.files.push(file),
                    None => groups.push(FileGroup {
                        name: None,
                        is_default: false,
                        files: vec![file],
                    }),
                }
            }
            if !self.eat(TokenKind::Comma) {
                return Ok(groups);
            }
        }
    }

    fn file_spec(&mut self) -> Parse<FileSpec> {
        self.expect(TokenKind::LeftParen)?;
        let mut spec = FileSpec::default();
        loop {
            let token = self.peek();
            let option = self.text(token).to_ascii_lowercase();
            if !matches!(option.as_str(), "name" | "filename" | "size" | "maxsize" | "filegrowth") {
                return Err(self.unexpected());
            }
            self.advance();
            self.expect(TokenKind::Equal)?;
            match option.as_str() {
                "name" => spec.name = Some(self.name_or_string()?),
                "filename" => spec.file_name = Some(self.string()?),
                "size" => spec.size = Some(self.file_size()?),
                "maxsize" => spec.size_max = Some(self.file_size()?),
                _ => spec.growth = Some(self.file_size()?),
            }
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::RightParen)?;
        Ok(spec)
    }

    fn file_size(&mut self) -> Parse<FileSize> {
        if self.eat_word("unlimited") {
            return Ok(FileSize::Unlimited);
        }
        let token = self.expect(TokenKind::Integer)?;
        let text = self.text(token);
        let count = text
            .parse()
            .map_err(|_| SyntaxFault::integer_range(text).at(token.position))?;
        let unit = SIZE_UNITS
            .iter()
            .find(|(word, _)| self.is_word(word))
            .map(|(_, unit)| *unit);
        let unit = unit.or_else(|| self.is(TokenKind::Percent).then_some(SizeUnit::Percent));
        if unit.is_some() {
            self.advance();
        }
        Ok(FileSize::Amount { count, unit })
    }

    /// Parses after ALTER.
    pub(super) fn alter_database(&mut self) -> Parse<StatementKind> {
        self.advance();
        if self.is_word("encryption") && self.is_at(1, TokenKind::Keyword(Keyword::Key)) {
            return self.alter_encryption_key();
        }
        if let Some(what) = self.refused_database("ALTER DATABASE") {
            return self.refused_statement(what);
        }
        let name = match self.eat_keyword(Keyword::Current) {
            true => None,
            false => Some(self.name()?),
        };
        let action = match self.kind() {
            TokenKind::Keyword(Keyword::Set) => {
                self.advance();
                AlterDatabaseAction::Set {
                    options: self.list(Self::database_option)?,
                    termination: self.termination()?,
                }
            }
            TokenKind::Keyword(Keyword::Collate) => {
                self.advance();
                AlterDatabaseAction::Collate(self.name()?)
            }
            TokenKind::Word if self.is_word("modify") && self.is_word_at(1, "name") => {
                self.advance();
                self.advance();
                self.expect(TokenKind::Equal)?;
                AlterDatabaseAction::ModifyName(self.name()?)
            }
            TokenKind::Word if self.is_word("modify") => return self.refused_statement("ALTER DATABASE MODIFY"),
            TokenKind::Word if self.is_word("remove") => return self.refused_statement("ALTER DATABASE REMOVE"),
            TokenKind::Keyword(Keyword::Add) => return self.refused_statement("ALTER DATABASE ADD"),
            _ => return Err(self.unexpected()),
        };
        Ok(StatementKind::AlterDatabase(Box::new(AlterDatabase { name, action })))
    }

    fn database_option(&mut self) -> Parse<Setting> {
        let start = self.here();
        let is_full = self.is_word("recovery") && self.is_at(1, TokenKind::Keyword(Keyword::Full));
        let option = match is_full {
            // The only value that is a reserved word.
            true => Setting {
                name: self.any_word(),
                equals: false,
                value: Some(SettingValue::Word(self.any_word())),
                position: self.since(start),
            },
            false => self.setting()?,
        };
        if self.is(TokenKind::LeftParen) {
            // QUERY_STORE = ON (..)
            self.skip_parens()?;
            let what = format!("ALTER DATABASE SET {}", option.name.text.to_ascii_uppercase());
            self.refuse(what, self.since(start));
        }
        Ok(option)
    }

    fn termination(&mut self) -> Parse<Option<Termination>> {
        if !self.is_keyword(Keyword::With) {
            return Ok(None);
        }
        if self.is_word_at(1, "no_wait") {
            self.advance();
            self.advance();
            return Ok(Some(Termination::NoWait));
        }
        if !self.is_at(1, TokenKind::Keyword(Keyword::Rollback)) {
            return Ok(None);
        }
        self.advance();
        self.advance();
        if self.eat_word("immediate") {
            return Ok(Some(Termination::RollbackImmediate));
        }
        self.expect_word("after")?;
        let seconds = self.unsigned()?;
        self.eat_word("seconds");
        Ok(Some(Termination::RollbackAfter(seconds)))
    }

    pub(super) fn backup(&mut self) -> Parse<StatementKind> {
        self.advance();
        let kind = match self.kind() {
            TokenKind::Keyword(Keyword::Database) => BackupKind::Database,
            TokenKind::Keyword(Keyword::Tran | Keyword::Transaction) => BackupKind::Log,
            TokenKind::Word if self.is_word("log") => BackupKind::Log,
            TokenKind::Word if self.is_word("certificate") => return self.backup_certificate(),
            TokenKind::Word if self.is_word("master") => return self.backup_master_key(),
            _ => return self.refused_object("BACKUP"),
        };
        self.advance();
        let database = self.name_or_variable()?;
        let part = self.is_keyword(Keyword::File) || self.is_word("filegroup") || self.is_word("read_write_filegroups");
        if part {
            return self.refused_statement("BACKUP of files");
        }
        let devices = match self.eat_keyword(Keyword::To) {
            true => self.list(Self::backup_device)?,
            false if kind == BackupKind::Log => Vec::new(),
            false => return Err(self.unexpected()),
        };
        if self.is_word("mirror") {
            return self.refused_statement("BACKUP MIRROR TO");
        }
        let options = match self.eat_keyword(Keyword::With) {
            true => self.list(Self::setting)?,
            false => Vec::new(),
        };
        Ok(StatementKind::Backup(Box::new(Backup {
            kind,
            database,
            devices,
            options,
        })))
    }

    fn backup_device(&mut self) -> Parse<BackupDevice> {
        let equal = self.is_at(1, TokenKind::Equal);
        let kind = match self.kind() {
            TokenKind::Keyword(Keyword::Disk) => DeviceKind::Disk,
            TokenKind::Word if equal && self.is_word("tape") => DeviceKind::Tape,
            TokenKind::Word if equal && self.is_word("url") => DeviceKind::Url,
            TokenKind::Word if equal && self.is_word("database_snapshot") => {
                let at = self.here();
                self.refuse("DATABASE_SNAPSHOT", at);
                DeviceKind::Disk
            }
            TokenKind::Variable => {
                return Ok(BackupDevice {
                    kind: DeviceKind::Logical,
                    path: self.required_constant()?,
                });
            }
            _ => {
                let start = self.here();
                let column = super::name::column_of(Self::single(self.name()?));
                return Ok(BackupDevice {
                    kind: DeviceKind::Logical,
                    path: self.expr_since(start, crate::ast::ExprKind::Column(Box::new(column))),
                });
            }
        };
        self.advance();
        self.expect(TokenKind::Equal)?;
        if !self.is_string() && !self.is(TokenKind::Variable) {
            return Err(self.unexpected());
        }
        Ok(BackupDevice {
            kind,
            path: self.required_constant()?,
        })
    }

    pub(super) fn restore(&mut self) -> Parse<StatementKind> {
        self.advance();
        if self.is_word("master") && self.is_at(1, TokenKind::Keyword(Keyword::Key)) {
            return self.restore_master_key();
        }
        let kind = RESTORE_KINDS
            .iter()
            .find(|(word, _)| self.is_word(word))
            .map(|(_, kind)| *kind);
        let kind = match (kind, self.kind()) {
            (Some(kind), _) => kind,
            (None, TokenKind::Keyword(Keyword::Database)) => RestoreKind::Database,
            (None, TokenKind::Keyword(Keyword::Tran | Keyword::Transaction)) => RestoreKind::Log,
            (None, _) => return self.refused_object("RESTORE"),
        };
        self.advance();
        let database = match kind {
            RestoreKind::Database | RestoreKind::Log => Some(self.name_or_variable()?),
            RestoreKind::FileListOnly | RestoreKind::HeaderOnly | RestoreKind::LabelOnly | RestoreKind::VerifyOnly => {
                None
            }
        };
        if self.is_keyword(Keyword::File) || self.is_word("page") || self.is_word("filegroup") {
            return self.refused_statement("RESTORE of files or pages");
        }
        let devices = match database.is_none() || self.is_keyword(Keyword::From) {
            true => {
                self.expect_keyword(Keyword::From)?;
                self.list(Self::backup_device)?
            }
            false => Vec::new(),
        };
        let options = match self.eat_keyword(Keyword::With) {
            true => self.list(Self::restore_option)?,
            false => Vec::new(),
        };
        Ok(StatementKind::Restore(Box::new(Restore {
            kind,
            database,
            devices,
            options,
        })))
    }

    /// `MOVE 'a' TO 'b'`, or any other option.
    fn restore_option(&mut self) -> Parse<Setting> {
        let start = self.here();
        if !self.is_word("move") {
            return self.setting();
        }
        let name = self.any_word();
        let from = self.simple_value()?;
        self.expect_keyword(Keyword::To)?;
        let to = self.simple_value()?;
        Ok(Setting {
            name,
            equals: false,
            value: Some(SettingValue::Values(vec![from, to])),
            position: self.since(start),
        })
    }
}

const SIZE_UNITS: &[(&str, SizeUnit)] = &[
    ("KB", SizeUnit::Kilobytes),
    ("MB", SizeUnit::Megabytes),
    ("GB", SizeUnit::Gigabytes),
    ("TB", SizeUnit::Terabytes),
];
const RESTORE_KINDS: &[(&str, RestoreKind)] = &[
    ("LOG", RestoreKind::Log),
    ("FILELISTONLY", RestoreKind::FileListOnly),
    ("HEADERONLY", RestoreKind::HeaderOnly),
    ("LABELONLY", RestoreKind::LabelOnly),
    ("VERIFYONLY", RestoreKind::VerifyOnly),
];
