//! What refuses a batch before it begins.
//!
//! Z1. A statement or an option that is known and not supported refuses its whole batch, with nothing done: what stands before it may be
//!     half of what was meant. What only the database can tell is found when the statement runs, as a name that is not there is.

use selenite_plan::PlanError;
use selenite_plan::definition::TableDefinition;
use selenite_tsql::ast::{DropKind, PermissionAction, Statement, StatementKind, VariableType};

use super::set_option;

/// Everything of these statements that is not supported, but for procedures' bodies, which are batches of their own.
pub(super) fn find(statements: &[Statement]) -> Vec<PlanError> {
    let mut found = Vec::new();
    for statement in statements {
        look(statement, &mut found);
    }
    found
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "all other statements are supported, or tell when they run"
)]
fn look(statement: &Statement, found: &mut Vec<PlanError>) {
    let refused = |what: &str| Err(PlanError::unsupported(what));
    let looked = match &statement.kind {
        StatementKind::Block(statements) => return statements.iter().for_each(|inner| look(inner, found)),
        StatementKind::If(inner) => {
            look(&inner.then, found);
            return inner.otherwise.iter().for_each(|otherwise| look(otherwise, found));
        }
        StatementKind::While(inner) => return look(&inner.body, found),
        StatementKind::Try(inner) => {
            return inner
                .body
                .iter()
                .chain(&inner.handler)
                .for_each(|inner| look(inner, found));
        }
        StatementKind::SetOption(option) => set_option::check(option),
        StatementKind::CreateTable(create) => only_unsupported(TableDefinition::read(create, 0)),
        StatementKind::Declare(declarations) => declarations.iter().try_for_each(|declaration| {
            let VariableType::Table(elements) = &declaration.variable_type else {
                return Ok(());
            };
            only_unsupported(TableDefinition::of_elements(&declaration.name, elements, 0))
        }),
        StatementKind::CreateRole(_) => refused("CREATE ROLE"),
        StatementKind::Drop(drop) if drop.kind == DropKind::Role => refused("DROP ROLE"),
        StatementKind::Permission(change) => refused(match change.action {
            PermissionAction::Grant => "GRANT",
            PermissionAction::Deny => "DENY",
            PermissionAction::Revoke => "REVOKE",
        }),
        _ => Ok(()),
    };
    if let Err(error) = looked {
        found.push(error.on_line(statement.position.line));
    }
}

/// All else that is wrong with a definition is told when it is carried out.
fn only_unsupported<T>(read: Result<T, PlanError>) -> Result<(), PlanError> {
    match read {
        Err(error) if error.number() == UNSUPPORTED => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

const UNSUPPORTED: i32 = 40510;
