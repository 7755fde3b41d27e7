//! The kinds of statements that the parser knows.

use selenite_tsql::ast::{SchemaStatement, Statement, StatementKind, Transaction};

fn transaction_name(transaction: &Transaction) -> &'static str {
    match transaction {
        Transaction::Begin(_) => "BEGIN TRANSACTION",
        Transaction::Commit { .. } => "COMMIT",
        Transaction::Rollback(_) => "ROLLBACK",
        Transaction::Save(_) => "SAVE",
    }
}

/// The name of a kind. To add one, add it to [`ALL`], and a form of it to the page.
pub fn name(kind: &StatementKind) -> &'static str {
    match kind {
        StatementKind::Block(_) => "BEGIN .. END",
        StatementKind::If(_) => "IF",
        StatementKind::While(_) => "WHILE",
        StatementKind::Break => "BREAK",
        StatementKind::Continue => "CONTINUE",
        StatementKind::Return(_) => "RETURN",
        StatementKind::Try(_) => "TRY",
        StatementKind::Throw(_) => "THROW",
        StatementKind::RaiseError(_) => "RAISERROR",
        StatementKind::Print(_) => "PRINT",
        StatementKind::WaitFor(_) => "WAITFOR",
        StatementKind::Goto(_) => "GOTO",
        StatementKind::Label(_) => "label",
        StatementKind::Declare(_) => "DECLARE",
        StatementKind::SetVariable(_) => "SET of a variable",
        StatementKind::SetOption(_) => "SET of an option",
        StatementKind::Use(_) => "USE",
        StatementKind::Transaction(transaction) => transaction_name(transaction),
        StatementKind::Execute(_) => "EXECUTE",
        StatementKind::Select(_) => "SELECT",
        StatementKind::Insert(_) => "INSERT",
        StatementKind::Update(_) => "UPDATE",
        StatementKind::Delete(_) => "DELETE",
        StatementKind::Merge(_) => "MERGE",
        StatementKind::Truncate(_) => "TRUNCATE",
        StatementKind::CreateTable(_) => "CREATE TABLE",
        StatementKind::AlterTable(_) => "ALTER TABLE",
        StatementKind::CreateIndex(_) => "CREATE INDEX",
        StatementKind::AlterIndex(_) => "ALTER INDEX",
        StatementKind::DropIndex { .. } => "DROP INDEX",
        StatementKind::View(_) => "VIEW",
        StatementKind::Procedure(_) => "PROCEDURE",
        StatementKind::Trigger(_) | StatementKind::TriggerSwitch(_) => "TRIGGER",
        StatementKind::Sequence(_) => "SEQUENCE",
        StatementKind::Synonym(_) => "SYNONYM",
        StatementKind::Function(_) => "FUNCTION",
        StatementKind::CreateType(_) => "CREATE TYPE",
        StatementKind::Drop(_) => "DROP",
        StatementKind::Unsupported(_) => "refused by the parser",
        StatementKind::CreateDatabase(_) => "CREATE DATABASE",
        StatementKind::AlterDatabase(_) => "ALTER DATABASE",
        StatementKind::Backup(_) => "BACKUP",
        StatementKind::Restore(_) => "RESTORE",
        StatementKind::CreateMasterKey { .. } => "CREATE MASTER KEY",
        StatementKind::RegenerateMasterKey { .. } => "ALTER MASTER KEY",
        StatementKind::OpenMasterKey { .. } => "OPEN MASTER KEY",
        StatementKind::CloseMasterKey => "CLOSE MASTER KEY",
        StatementKind::BackupMasterKey { .. } => "BACKUP MASTER KEY",
        StatementKind::RestoreMasterKey { .. } => "RESTORE MASTER KEY",
        StatementKind::DropMasterKey => "DROP MASTER KEY",
        StatementKind::CreateCertificate(_) => "CREATE CERTIFICATE",
        StatementKind::BackupCertificate(_) => "BACKUP CERTIFICATE",
        StatementKind::CreateEncryptionKey(_) => "CREATE DATABASE ENCRYPTION KEY",
        StatementKind::AlterEncryptionKey(_) => "ALTER DATABASE ENCRYPTION KEY",
        StatementKind::DropEncryptionKey => "DROP DATABASE ENCRYPTION KEY",
        StatementKind::KeyManagement(_) => "key management",
        StatementKind::CreateLogin(_) => "CREATE LOGIN",
        StatementKind::AlterLogin(_) => "ALTER LOGIN",
        StatementKind::CreateUser(_) => "CREATE USER",
        StatementKind::AlterUser(_) => "ALTER USER",
        StatementKind::CreateRole(_) => "CREATE ROLE",
        StatementKind::AlterRole(_) => "ALTER ROLE",
        StatementKind::Schema(_) => "CREATE SCHEMA",
        StatementKind::Permission(_) => "GRANT",
        StatementKind::Dbcc(_) => "DBCC",
        StatementKind::Kill(_) | StatementKind::Checkpoint(_) => server_name(kind),
        StatementKind::Reconfigure { .. } | StatementKind::Shutdown { .. } => server_name(kind),
    }
}

fn server_name(kind: &StatementKind) -> &'static str {
    let names = [
        (matches!(kind, StatementKind::Kill(_)), "KILL"),
        (matches!(kind, StatementKind::Checkpoint(_)), "CHECKPOINT"),
        (matches!(kind, StatementKind::Reconfigure { .. }), "RECONFIGURE"),
    ];
    names
        .iter()
        .find(|(is_it, _)| *is_it)
        .map_or("SHUTDOWN", |(_, name)| name)
}

/// All of them.
pub const ALL: [&str; 72] = [
    "BEGIN .. END",
    "IF",
    "WHILE",
    "BREAK",
    "CONTINUE",
    "RETURN",
    "TRY",
    "THROW",
    "RAISERROR",
    "PRINT",
    "WAITFOR",
    "GOTO",
    "label",
    "DECLARE",
    "SET of a variable",
    "SET of an option",
    "USE",
    "BEGIN TRANSACTION",
    "COMMIT",
    "ROLLBACK",
    "SAVE",
    "EXECUTE",
    "SELECT",
    "INSERT",
    "UPDATE",
    "DELETE",
    "MERGE",
    "TRUNCATE",
    "CREATE TABLE",
    "ALTER TABLE",
    "CREATE INDEX",
    "ALTER INDEX",
    "DROP INDEX",
    "VIEW",
    "PROCEDURE",
    "TRIGGER",
    "SEQUENCE",
    "SYNONYM",
    "FUNCTION",
    "CREATE TYPE",
    "DROP",
    "CREATE DATABASE",
    "ALTER DATABASE",
    "BACKUP",
    "RESTORE",
    "CREATE MASTER KEY",
    "ALTER MASTER KEY",
    "OPEN MASTER KEY",
    "CLOSE MASTER KEY",
    "BACKUP MASTER KEY",
    "RESTORE MASTER KEY",
    "DROP MASTER KEY",
    "CREATE CERTIFICATE",
    "BACKUP CERTIFICATE",
    "CREATE DATABASE ENCRYPTION KEY",
    "ALTER DATABASE ENCRYPTION KEY",
    "DROP DATABASE ENCRYPTION KEY",
    "key management",
    "CREATE LOGIN",
    "ALTER LOGIN",
    "CREATE USER",
    "ALTER USER",
    "CREATE ROLE",
    "ALTER ROLE",
    "CREATE SCHEMA",
    "GRANT",
    "DBCC",
    "KILL",
    "CHECKPOINT",
    "RECONFIGURE",
    "SHUTDOWN",
    "refused by the parser",
];

/// Shows a statement, and all statements in it.
pub fn walk(statement: &Statement, see: &mut dyn FnMut(&Statement)) {
    see(statement);
    let inner: Vec<&Statement> = match &statement.kind {
        StatementKind::Block(block) => block.iter().collect(),
        StatementKind::If(branches) => std::iter::once(&branches.then).chain(&branches.otherwise).collect(),
        StatementKind::While(permit) => vec![&permit.body],
        StatementKind::Schema(SchemaStatement::Create(create)) => create.elements.iter().collect(),
        StatementKind::Try(tried) => tried.body.iter().chain(&tried.handler).collect(),
        _ => Vec::new(),
    };
    for statement in inner {
        walk(statement, see);
    }
}
