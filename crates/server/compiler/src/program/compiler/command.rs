//! Properties of statements that the host executes: DONE command, transaction access, rows.

use selenite_tsql::ast::{self, DropKind, PermissionAction, StatementKind};

use crate::program::Command;
use crate::program::step::Access;

/// The properties of a statement that are known before it runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Traits {
    /// The command number of its DONE.
    pub(super) command: u16,
    /// Its access in a transaction.
    pub(super) access: Access,
    /// Whether it returns rows to the client.
    pub(super) rows: bool,
}

/// The traits of a statement: those that begin an implicit transaction are listed with SET IMPLICIT_TRANSACTIONS.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "all other statements are outside transactions"
)]
pub(super) fn traits(kind: &StatementKind) -> Traits {
    match kind {
        StatementKind::Select(select) => select_traits(select),
        StatementKind::Insert(insert) => change(Command::INSERT, &insert.output),
        StatementKind::Update(update) => change(Command::UPDATE, &update.output),
        StatementKind::Delete(delete) => change(Command::DELETE, &delete.output),
        StatementKind::Merge(merge) => change(Command::MERGE, &merge.output),
        StatementKind::Truncate(_) => write(Command::NONE),
        StatementKind::Cursor(cursor) => cursor_traits(cursor),
        StatementKind::CreateTable(_) => write(Command::CREATE_TABLE),
        StatementKind::AlterTable(_) => write(Command::ALTER_TABLE),
        StatementKind::CreateIndex(_) => write(Command::CREATE_INDEX),
        StatementKind::AlterIndex(_) => write(Command::ALTER_INDEX),
        StatementKind::DropIndex { .. } => write(Command::DROP_INDEX),
        StatementKind::View(_) => write(Command::CREATE_VIEW),
        StatementKind::Procedure(_) => write(Command::CREATE_PROCEDURE),
        StatementKind::Trigger(_) | StatementKind::TriggerSwitch(_) => write(Command::NONE),
        StatementKind::Sequence(_) | StatementKind::Synonym(_) => write(Command::NONE),
        StatementKind::Function(_) | StatementKind::CreateType(_) => write(Command::NONE),
        StatementKind::Drop(drop) => drop_traits(drop.kind),
        StatementKind::CreateUser(_) => write(Command::CREATE_USER),
        StatementKind::AlterUser(_) => write(Command::ALTER_USER),
        StatementKind::CreateRole(_) => write(Command::CREATE_ROLE),
        StatementKind::AlterRole(_) => write(Command::ALTER_ROLE),
        StatementKind::Schema(ast::SchemaStatement::Create(_)) => write(Command::CREATE_SCHEMA),
        StatementKind::Schema(ast::SchemaStatement::Alter(_)) => write(Command::NONE),
        StatementKind::Permission(change) => write(match change.action {
            PermissionAction::Grant => Command::GRANT,
            PermissionAction::Deny => Command::DENY,
            PermissionAction::Revoke => Command::REVOKE,
        }),
        StatementKind::AlterAuthorization(_) => write(Command::NONE),
        StatementKind::CellKey(statement) => match &**statement {
            ast::CellKeyStatement::OpenSymmetricKey { .. } | ast::CellKeyStatement::CloseSymmetricKey(_) => {
                plain(Command::NONE)
            }
            ast::CellKeyStatement::CreateSymmetricKey(_)
            | ast::CellKeyStatement::AlterSymmetricKey { .. }
            | ast::CellKeyStatement::CreateKeyPair { .. }
            | ast::CellKeyStatement::AlterPrivateKey { .. }
            | ast::CellKeyStatement::AlterMasterKey { .. } => write(Command::NONE),
        },
        other => plain(server_command(other)),
    }
}

/// The command number of a statement on the server or a whole database.
fn server_command(kind: &StatementKind) -> u16 {
    let numbers = [
        (
            matches!(kind, StatementKind::CreateDatabase(_)),
            Command::CREATE_DATABASE,
        ),
        (matches!(kind, StatementKind::AlterDatabase(_)), Command::ALTER_DATABASE),
        (
            matches!(kind, StatementKind::CreateMasterKey { .. }),
            Command::CREATE_MASTER_KEY,
        ),
        (matches!(kind, StatementKind::DropMasterKey), Command::DROP_MASTER_KEY),
        (
            matches!(kind, StatementKind::CreateCertificate(_)),
            Command::CREATE_CERTIFICATE,
        ),
        (matches!(kind, StatementKind::CreateLogin(_)), Command::CREATE_LOGIN),
        (matches!(kind, StatementKind::AlterLogin(_)), Command::ALTER_LOGIN),
        (matches!(kind, StatementKind::Dbcc(_)), Command::DBCC),
    ];
    let found = numbers.into_iter().find(|(is_it, _)| *is_it);
    found.map_or(Command::NONE, |(_, number)| number)
}

fn drop_traits(kind: DropKind) -> Traits {
    match kind {
        DropKind::Table => write(Command::DROP_TABLE),
        DropKind::View => write(Command::DROP_VIEW),
        DropKind::Procedure => write(Command::DROP_PROCEDURE),
        DropKind::Function => write(Command::DROP_FUNCTION),
        DropKind::Trigger => write(Command::DROP_TRIGGER),
        DropKind::Type => write(Command::NONE),
        DropKind::Schema => write(Command::DROP_SCHEMA),
        DropKind::User => write(Command::DROP_USER),
        DropKind::Role => write(Command::DROP_ROLE),
        DropKind::Database => plain(Command::DROP_DATABASE),
        DropKind::Login => plain(Command::DROP_LOGIN),
        DropKind::ServerRole => plain(Command::NONE),
        DropKind::Certificate => plain(Command::DROP_CERTIFICATE),
        DropKind::Sequence | DropKind::Synonym | DropKind::Statistics => write(Command::NONE),
        DropKind::SymmetricKey => write(Command::NONE),
        DropKind::CryptographicProvider | DropKind::Credential | DropKind::AsymmetricKey => plain(Command::NONE),
    }
}

fn select_traits(select: &ast::SelectStatement) -> Traits {
    let ast::QueryBody::Select(inner) = &select.query.body else {
        return Traits {
            command: Command::SELECT,
            access: Access::Read,
            rows: true,
        };
    };
    if inner.into.is_some() {
        return change(Command::SELECT_INTO, &[]);
    }
    let assigns = inner
        .items
        .iter()
        .any(|item| matches!(item, ast::SelectItem::Assign { .. }));
    Traits {
        command: Command::SELECT,
        access: if inner.from.is_empty() {
            Access::None
        } else {
            Access::Read
        },
        rows: !assigns,
    }
}

/// OPEN and FETCH read tables: both begin a transaction with IMPLICIT_TRANSACTIONS.
fn cursor_traits(cursor: &ast::CursorStatement) -> Traits {
    match cursor {
        ast::CursorStatement::Open(_) => Traits {
            access: Access::Read,
            ..plain(Command::NONE)
        },
        ast::CursorStatement::OpenQuery(_) => Traits {
            command: Command::SELECT,
            access: Access::Read,
            rows: true,
        },
        ast::CursorStatement::Fetch(fetch) => Traits {
            command: Command::SELECT,
            access: Access::Read,
            rows: fetch.into.is_empty(),
        },
        ast::CursorStatement::Declare(_)
        | ast::CursorStatement::Set { .. }
        | ast::CursorStatement::Share { .. }
        | ast::CursorStatement::Close(_)
        | ast::CursorStatement::Deallocate(_) => plain(Command::NONE),
    }
}

/// A statement that changes rows.
fn change(command: u16, output: &[ast::Output]) -> Traits {
    Traits {
        command,
        access: Access::Change,
        rows: output.iter().any(|output| output.into.is_none()),
    }
}

/// A statement that changes definitions.
fn write(command: u16) -> Traits {
    Traits {
        command,
        access: Access::Write,
        rows: false,
    }
}

/// A statement outside transactions.
fn plain(command: u16) -> Traits {
    Traits {
        command,
        access: Access::None,
        rows: false,
    }
}
