//! Statements.

use core::fmt;

use super::{List, Optional, Text, on_or_off, word};
use crate::ast::{DropIndex, Statement, StatementKind, Transaction, Tree};

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Body(&self.statements))
    }
}

/// Statements, each terminated by a semicolon and on its own line.
pub(super) struct Body<'a>(pub(super) &'a [Statement]);

impl fmt::Display for Body<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|statement| writeln!(f, "{statement};"))
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)
    }
}

impl fmt::Display for StatementKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Block(body) => write!(f, "BEGIN\n{}END", Body(body)),
            Self::If(it) => write!(f, "{it}"),
            Self::While(it) => write!(f, "{it}"),
            Self::Break => f.write_str("BREAK"),
            Self::Continue => f.write_str("CONTINUE"),
            Self::Return(value) => write!(f, "RETURN{}", Optional("", value.as_ref(), "")),
            Self::Try(it) => write!(f, "{it}"),
            Self::Throw(throw) => write!(f, "THROW{}", Optional("", throw.as_ref(), "")),
            Self::RaiseError(it) => write!(f, "{it}"),
            Self::Print(value) => write!(f, "PRINT {value}"),
            Self::WaitFor(it) => write!(f, "{it}"),
            Self::Goto(label) => write!(f, "GOTO {label}"),
            Self::Label(label) => write!(f, "{label}:"),
            Self::Declare(list) => write!(f, "DECLARE {}", List(list)),
            Self::SetVariable(it) => write!(f, "{it}"),
            Self::SetOption(it) => write!(f, "{it}"),
            Self::Use(database) => write!(f, "USE {database}"),
            Self::Transaction(it) => write!(f, "{it}"),
            Self::Execute(it) => write!(f, "{it}"),
            Self::Cursor(it) => write!(f, "{it}"),
            Self::Select(it) => write!(f, "{it}"),
            Self::Insert(it) => write!(f, "{it}"),
            Self::Update(it) => write!(f, "{it}"),
            Self::Delete(it) => write!(f, "{it}"),
            Self::Merge(it) => write!(f, "{it}"),
            Self::Truncate(table) => write!(f, "TRUNCATE TABLE {table}"),
            Self::CreateTable(it) => write!(f, "{it}"),
            Self::AlterTable(it) => write!(f, "{it}"),
            Self::CreateIndex(it) => write!(f, "{it}"),
            Self::AlterIndex(it) => write!(f, "{it}"),
            Self::DropIndex { if_exists, indexes } => drop_index(f, *if_exists, indexes),
            Self::Sequence(_) | Self::Synonym(_) => object(f, self),
            Self::View(_)
            | Self::Procedure(_)
            | Self::Function(_)
            | Self::Trigger(_)
            | Self::TriggerSwitch(_)
            | Self::CreateType(_) => object(f, self),
            Self::Drop(it) => write!(f, "{it}"),
            Self::CreateDatabase(it) => write!(f, "{it}"),
            Self::AlterDatabase(it) => write!(f, "{it}"),
            Self::Backup(it) => write!(f, "{it}"),
            Self::Restore(it) => write!(f, "{it}"),
            Self::CreateMasterKey { password } => create_master_key(f, password.as_deref()),
            Self::RegenerateMasterKey { force, password } => regenerate_master_key(f, *force, password),
            Self::OpenMasterKey { password } => open_master_key(f, password),
            Self::BackupMasterKey { path, password } => backup_master_key(f, path, password),
            Self::RestoreMasterKey { .. } => restore_master_key(f, self),
            Self::CreateCertificate(it) => write!(f, "{it}"),
            Self::BackupCertificate(it) => write!(f, "{it}"),
            Self::CreateEncryptionKey(it) => write!(f, "{it}"),
            Self::AlterEncryptionKey(it) => write!(f, "{it}"),
            Self::CloseMasterKey | Self::DropMasterKey | Self::DropEncryptionKey => f.write_str(dropped_key(self)),
            Self::KeyManagement(_) | Self::CellKey(_) | Self::AlterAuthorization(_) => object(f, self),
            Self::CreateLogin(_)
            | Self::AlterLogin(_)
            | Self::CreateUser(_)
            | Self::AlterUser(_)
            | Self::CreateRole(_)
            | Self::AlterRole(_) => principal(f, self),
            Self::Schema(it) => write!(f, "{it}"),
            Self::Permission(_) | Self::ExecuteAs(_) | Self::Revert(_) => principal(f, self),
            Self::Dbcc(it) => write!(f, "{it}"),
            Self::Kill(it) => write!(f, "{it}"),
            Self::Checkpoint(seconds) => write!(f, "CHECKPOINT{}", Optional("", seconds.as_ref(), "")),
            Self::Reconfigure { with_override } => write!(f, "RECONFIGURE{}", word(*with_override, " WITH OVERRIDE")),
            Self::Shutdown { no_wait } => write!(f, "SHUTDOWN{}", word(*no_wait, " WITH NOWAIT")),
            Self::Unsupported(unsupported) => f.write_str(&unsupported.text),
        }
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the caller has picked objects and keys")]
fn object(f: &mut fmt::Formatter<'_>, kind: &StatementKind) -> fmt::Result {
    match kind {
        StatementKind::Sequence(it) => write!(f, "{it}"),
        StatementKind::Synonym(it) => write!(f, "{it}"),
        StatementKind::View(it) => write!(f, "{it}"),
        StatementKind::Procedure(it) => write!(f, "{it}"),
        StatementKind::Function(it) => write!(f, "{it}"),
        StatementKind::CreateType(it) => write!(f, "{it}"),
        StatementKind::Trigger(it) => write!(f, "{it}"),
        StatementKind::TriggerSwitch(it) => write!(f, "{it}"),
        StatementKind::KeyManagement(it) => write!(f, "{it}"),
        StatementKind::CellKey(it) => write!(f, "{it}"),
        StatementKind::AlterAuthorization(it) => write!(f, "{it}"),
        _ => Ok(()),
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the caller has picked logins, users and roles"
)]
fn principal(f: &mut fmt::Formatter<'_>, kind: &StatementKind) -> fmt::Result {
    match kind {
        StatementKind::CreateLogin(it) => write!(f, "{it}"),
        StatementKind::AlterLogin(it) => write!(f, "{it}"),
        StatementKind::CreateUser(it) => write!(f, "{it}"),
        StatementKind::AlterUser(it) => write!(f, "{it}"),
        StatementKind::CreateRole(it) => write!(f, "{it}"),
        StatementKind::AlterRole(it) => write!(f, "{it}"),
        StatementKind::Permission(it) => write!(f, "{it}"),
        StatementKind::ExecuteAs(it) => write!(f, "{it}"),
        StatementKind::Revert(cookie) => write!(f, "REVERT{}", Optional("WITH COOKIE = ", cookie.as_ref(), "")),
        _ => Ok(()),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the caller has picked keys")]
fn dropped_key(kind: &StatementKind) -> &'static str {
    match kind {
        StatementKind::CloseMasterKey => "CLOSE MASTER KEY",
        StatementKind::DropMasterKey => "DROP MASTER KEY",
        _ => "DROP DATABASE ENCRYPTION KEY",
    }
}

fn drop_index(f: &mut fmt::Formatter<'_>, if_exists: bool, indexes: &[DropIndex]) -> fmt::Result {
    write!(f, "DROP INDEX{} {}", word(if_exists, " IF EXISTS"), List(indexes))
}

fn create_master_key(f: &mut fmt::Formatter<'_>, password: Option<&str>) -> fmt::Result {
    f.write_str("CREATE MASTER KEY")?;
    match password {
        Some(password) => write!(f, " ENCRYPTION BY PASSWORD = {}", Text(password)),
        None => Ok(()),
    }
}

fn regenerate_master_key(f: &mut fmt::Formatter<'_>, force: bool, password: &str) -> fmt::Result {
    let force = if force { "FORCE " } else { "" };
    write!(
        f,
        "ALTER MASTER KEY {force}REGENERATE WITH ENCRYPTION BY PASSWORD = {}",
        Text(password)
    )
}

fn open_master_key(f: &mut fmt::Formatter<'_>, password: &str) -> fmt::Result {
    write!(f, "OPEN MASTER KEY DECRYPTION BY PASSWORD = {}", Text(password))
}

fn restore_master_key(f: &mut fmt::Formatter<'_>, kind: &StatementKind) -> fmt::Result {
    let StatementKind::RestoreMasterKey {
        path,
        file_password,
        password,
        force,
    } = kind
    else {
        return Ok(());
    };
    write!(f, "RESTORE MASTER KEY FROM FILE = {}", Text(path))?;
    write!(f, " DECRYPTION BY PASSWORD = {}", Text(file_password))?;
    write!(f, " ENCRYPTION BY PASSWORD = {}", Text(password))?;
    f.write_str(if *force { " FORCE" } else { "" })
}

fn backup_master_key(f: &mut fmt::Formatter<'_>, path: &str, password: &str) -> fmt::Result {
    write!(f, "BACKUP MASTER KEY TO FILE = {}", Text(path))?;
    write!(f, " ENCRYPTION BY PASSWORD = {}", Text(password))
}

impl fmt::Display for Transaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Begin(name) => write!(f, "BEGIN TRANSACTION{}", Optional("", name.as_ref(), "")),
            Self::Commit {
                name,
                delayed_durability,
            } => {
                write!(f, "COMMIT TRANSACTION{}", Optional("", name.as_ref(), ""))?;
                match delayed_durability {
                    Some(delayed) => write!(f, " WITH (DELAYED_DURABILITY = {})", on_or_off(*delayed)),
                    None => Ok(()),
                }
            }
            Self::Rollback(name) => write!(f, "ROLLBACK TRANSACTION{}", Optional("", name.as_ref(), "")),
            Self::Save(name) => write!(f, "SAVE TRANSACTION {name}"),
        }
    }
}
