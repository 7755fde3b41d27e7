//! What DONE and a transaction must know of a statement that the host runs.

use selenite_tsql::ast::{self, DropKind, PermissionAction, StatementKind};

use crate::{machine::Command, program::step::Access};

/// The number that a statement's DONE has.
pub(super) fn command(kind: &StatementKind) -> u16 {
    match kind {
        StatementKind::Select(select) if creates_table(select) => Command::SELECT_INTO,
        StatementKind::Select(_) => Command::SELECT,
        StatementKind::Insert(_) => Command::INSERT,
        StatementKind::Update(_) => Command::UPDATE,
        StatementKind::Delete(_) => Command::DELETE,
        StatementKind::CreateTable(_) => Command::CREATE_TABLE,
        StatementKind::AlterTable(_) => Command::ALTER_TABLE,
        StatementKind::CreateIndex(_) => Command::CREATE_INDEX,
        StatementKind::AlterIndex(_) => Command::ALTER_INDEX,
        StatementKind::DropIndex { .. } => Command::DROP_INDEX,
        StatementKind::View(_) => Command::CREATE_VIEW,
        StatementKind::Procedure(_) => Command::CREATE_PROCEDURE,
        StatementKind::Drop(drop) => drop_command(drop.kind),
        StatementKind::CreateDatabase(_) => Command::CREATE_DATABASE,
        StatementKind::AlterDatabase(_) => Command::ALTER_DATABASE,
        StatementKind::CreateMasterKey { .. } => Command::CREATE_MASTER_KEY,
        StatementKind::DropMasterKey => Command::DROP_MASTER_KEY,
        StatementKind::CreateCertificate(_) => Command::CREATE_CERTIFICATE,
        StatementKind::CreateLogin(_) => Command::CREATE_LOGIN,
        StatementKind::AlterLogin(_) => Command::ALTER_LOGIN,
        StatementKind::CreateUser(_) => Command::CREATE_USER,
        StatementKind::AlterUser(_) => Command::ALTER_USER,
        StatementKind::CreateRole(_) => Command::CREATE_ROLE,
        StatementKind::AlterRole(_) => Command::ALTER_ROLE,
        StatementKind::CreateSchema(_) => Command::CREATE_SCHEMA,
        StatementKind::Permission(change) => match change.action {
            PermissionAction::Grant => Command::GRANT,
            PermissionAction::Deny => Command::DENY,
            PermissionAction::Revoke => Command::REVOKE,
        },
        StatementKind::Dbcc(_) => Command::DBCC,
        _ => Command::NONE,
    }
}

fn drop_command(kind: DropKind) -> u16 {
    match kind {
        DropKind::Table => Command::DROP_TABLE,
        DropKind::View => Command::DROP_VIEW,
        DropKind::Procedure => Command::DROP_PROCEDURE,
        DropKind::Function => Command::DROP_FUNCTION,
        DropKind::Trigger => Command::DROP_TRIGGER,
        DropKind::Database => Command::DROP_DATABASE,
        DropKind::Schema => Command::DROP_SCHEMA,
        DropKind::Login => Command::DROP_LOGIN,
        DropKind::User => Command::DROP_USER,
        DropKind::Role => Command::DROP_ROLE,
        DropKind::Certificate => Command::DROP_CERTIFICATE,
    }
}

/// What a statement does to a transaction: those that begin an implicit one are listed with SET IMPLICIT_TRANSACTIONS.
pub(super) fn access(kind: &StatementKind) -> Access {
    match kind {
        StatementKind::Select(select) if creates_table(select) => Access::Change,
        StatementKind::Select(select) if has_tables(select) => Access::Read,
        StatementKind::Insert(_) | StatementKind::Update(_) | StatementKind::Delete(_) => Access::Change,
        StatementKind::Truncate(_)
        | StatementKind::CreateTable(_)
        | StatementKind::AlterTable(_)
        | StatementKind::CreateIndex(_)
        | StatementKind::AlterIndex(_)
        | StatementKind::DropIndex { .. }
        | StatementKind::View(_)
        | StatementKind::Procedure(_)
        | StatementKind::Permission(_)
        | StatementKind::CreateUser(_)
        | StatementKind::CreateRole(_)
        | StatementKind::CreateSchema(_) => Access::Write,
        StatementKind::Drop(drop) => match drop.kind {
            DropKind::Database | DropKind::Login | DropKind::Certificate => Access::None,
            DropKind::Table
            | DropKind::View
            | DropKind::Procedure
            | DropKind::Function
            | DropKind::Trigger
            | DropKind::Schema
            | DropKind::User
            | DropKind::Role => Access::Write,
        },
        _ => Access::None,
    }
}

/// Whether the client gets rows of a statement.
pub(super) fn sends_rows(kind: &StatementKind) -> bool {
    let to_client = |output: &[ast::Output]| output.iter().any(|output| output.into.is_none());
    match kind {
        StatementKind::Select(select) => match &select.query.body {
            ast::QueryBody::Select(inner) => {
                let assigns = inner
                    .items
                    .iter()
                    .any(|item| matches!(item, ast::SelectItem::Assign { .. }));
                inner.into.is_none() && !assigns
            }
            ast::QueryBody::Combined(_) => true,
        },
        StatementKind::Insert(insert) => to_client(&insert.output),
        StatementKind::Update(update) => to_client(&update.output),
        StatementKind::Delete(delete) => to_client(&delete.output),
        _ => false,
    }
}

fn creates_table(select: &ast::SelectStatement) -> bool {
    match &select.query.body {
        ast::QueryBody::Select(select) => select.into.is_some(),
        ast::QueryBody::Combined(_) => false,
    }
}

fn has_tables(select: &ast::SelectStatement) -> bool {
    match &select.query.body {
        ast::QueryBody::Select(select) => !select.from.is_empty(),
        ast::QueryBody::Combined(_) => true,
    }
}
