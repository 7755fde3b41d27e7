//! The kind of statement that runs, by the words that SQL Server has for it.

use selenite_tsql::ast::{DropKind, Statement, StatementKind};

use crate::registry::own;

/// Tells others what runs, until it is dropped.
pub(super) struct Command(());

impl Command {
    /// Something begins.
    pub fn begin(words: &'static str) -> Self {
        own::note_command(Some(words));
        Self(())
    }

    /// A statement begins; none where it has no words.
    pub fn of(statement: &Statement) -> Option<Self> {
        words(&statement.kind).map(Self::begin)
    }
}

impl Drop for Command {
    fn drop(&mut self) {
        own::note_command(None);
    }
}

/// Whether a statement makes the server drop programs: DBCC FREEPROCCACHE of all, or FREESYSTEMCACHE ('ALL').
pub(super) fn frees_programs(statement: &Statement) -> bool {
    if let StatementKind::Dbcc(dbcc) = &statement.kind {
        return crate::administration::dbcc::frees_programs(dbcc);
    }
    false
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "what is scalar, or has no words of its own, has none"
)]
pub(super) fn words(kind: &StatementKind) -> Option<&'static str> {
    Some(match kind {
        StatementKind::Select(_) => "SELECT",
        StatementKind::Insert(_) => "INSERT",
        StatementKind::Update(_) => "UPDATE",
        StatementKind::Delete(_) => "DELETE",
        StatementKind::Merge(_) => "MERGE",
        StatementKind::Truncate(_) => "TRUNCATE TABLE",
        StatementKind::CreateTable(_) => "CREATE TABLE",
        StatementKind::AlterTable(_) => "ALTER TABLE",
        StatementKind::CreateIndex(_) => "CREATE INDEX",
        StatementKind::AlterIndex(_) => "ALTER INDEX",
        StatementKind::DropIndex { .. } => "DROP INDEX",
        StatementKind::View(_) => "CREATE VIEW",
        StatementKind::Procedure(_) => "CREATE PROCEDURE",
        StatementKind::Function(_) => "CREATE FUNCTION",
        StatementKind::CreateType(_) => "CREATE TYPE",
        StatementKind::CreateDatabase(_) => "CREATE DATABASE",
        StatementKind::AlterDatabase(_) => "ALTER DATABASE",
        StatementKind::Backup(_) => "BACKUP DATABASE",
        StatementKind::Restore(_) => "RESTORE DATABASE",
        StatementKind::Dbcc(_) => "DBCC",
        StatementKind::Kill(_) => "KILL",
        StatementKind::Checkpoint(_) => "CHECKPOINT",
        StatementKind::Drop(drop) => match drop.kind {
            DropKind::Table => "DROP TABLE",
            DropKind::View => "DROP VIEW",
            DropKind::Procedure => "DROP PROCEDURE",
            DropKind::Database => "DROP DATABASE",
            DropKind::Login => "DROP LOGIN",
            DropKind::User => "DROP USER",
            DropKind::Role => "DROP ROLE",
            DropKind::ServerRole => "DROP SERVER ROLE",
            DropKind::Schema => "DROP SCHEMA",
            DropKind::Certificate => "DROP CERTIFICATE",
            DropKind::CryptographicProvider => "DROP CRYPTOGRAPHIC PROVIDER",
            DropKind::Credential => "DROP CREDENTIAL",
            DropKind::AsymmetricKey => "DROP ASYMMETRIC KEY",
            DropKind::SymmetricKey => "DROP SYMMETRIC KEY",
            DropKind::Function => "DROP FUNCTION",
            DropKind::Type => "DROP TYPE",
            DropKind::Trigger | DropKind::Sequence | DropKind::Synonym | DropKind::Statistics => return None,
        },
        _ => return None,
    })
}
