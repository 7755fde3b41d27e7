//! What refuses a batch before it begins.
//!
//! - `nothing-of-the-batch-runs`: a known statement or option that is not supported makes its whole
//!   batch fail before anything has run: the statements before it may be half of what was meant.
//!   What only the database can tell is found when the statement runs, as a missing name is.

use selenite_compiler::definition::{SCHEMA, TableDefinition};
use selenite_compiler::{Function, SqlError};
use selenite_tsql::ast::{
    AlterDatabaseAction, AlterTable, AlterTableAction, Dbcc, SchemaStatement, Statement, StatementKind, Tree,
    VariableType,
};

use super::set_option_check;
use crate::master::DatabaseOptions;

/// Everything of a text that is not supported, but for statements of procedures' bodies, which are batches of their
/// own.
pub(super) fn find(tree: &Tree) -> Vec<SqlError> {
    let mut found = Vec::new();
    for name in &tree.functions {
        if let Err(error) = Function::check_name(&name.text) {
            found.push(error.on_line(name.position.line));
        }
    }
    for statement in &tree.statements {
        look(statement, &mut found);
    }
    found
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "all other statements are supported, or tell when they run"
)]
fn look(statement: &Statement, found: &mut Vec<SqlError>) {
    let refused = |what: &str| Err(SqlError::unsupported(what));
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
        StatementKind::SetOption(option) => set_option_check::check(option),
        StatementKind::CreateTable(create) => only_unsupported(TableDefinition::read(create, SCHEMA, 0)),
        StatementKind::Declare(declarations) => declarations.iter().try_for_each(|declaration| {
            let VariableType::Table(elements) = &declaration.variable_type else {
                return Ok(());
            };
            only_unsupported(TableDefinition::of_elements((SCHEMA, &declaration.name), elements, 0))
        }),
        StatementKind::AlterTable(alter) => added(alter),
        StatementKind::Schema(SchemaStatement::Create(create)) => {
            let is_permission = |element: &Statement| matches!(element.kind, StatementKind::Permission(_));
            match create.elements.iter().any(is_permission) {
                true => refused("A permission in CREATE SCHEMA"),
                false => return create.elements.iter().for_each(|inner| look(inner, found)),
            }
        }
        StatementKind::AlterDatabase(alter) => match unsupported_setting(&alter.action) {
            Some(what) => refused(&format!("ALTER DATABASE {what}")),
            None => Ok(()),
        },
        StatementKind::Dbcc(dbcc) => check_dbcc(dbcc),
        StatementKind::Reconfigure { .. } => refused("RECONFIGURE"),
        _ => Ok(()),
    };
    if let Err(error) = looked {
        found.push(error.on_line(statement.position.line));
    }
}

/// What ALTER TABLE adds.
fn added(alter: &AlterTable) -> Result<(), SqlError> {
    let AlterTableAction::Add { elements, .. } = &alter.action else {
        return Ok(());
    };
    only_unsupported(TableDefinition::of_elements(
        (SCHEMA, &alter.name.name.text),
        elements,
        0,
    ))
}

/// What ALTER DATABASE is to change, if that can't be changed.
fn unsupported_setting(action: &AlterDatabaseAction) -> Option<String> {
    match action {
        AlterDatabaseAction::Set { options, .. } => options
            .iter()
            .filter(|option| {
                !["ENCRYPTION", "DELAYED_DURABILITY"]
                    .iter()
                    .any(|name| option.name.is(name))
            })
            .find_map(DatabaseOptions::unsupported),
        AlterDatabaseAction::ModifyName(_) => None,
        AlterDatabaseAction::Collate(_) => Some("COLLATE".to_owned()),
    }
}

/// All other errors of a definition are reported when it is carried out.
fn only_unsupported<T>(read: Result<T, SqlError>) -> Result<(), SqlError> {
    match read {
        Err(error) if error.number() == UNSUPPORTED => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

const UNSUPPORTED: i32 = 40510;

/// Whether a DBCC is one that is not supported.
///
/// # Errors
/// 40510.
fn check_dbcc(dbcc: &Dbcc) -> Result<(), SqlError> {
    let command = dbcc.command.text.to_ascii_uppercase();
    match UNSUPPORTED_DBCC.contains(&command.as_str()) {
        true => Err(SqlError::unsupported(&format!("DBCC {command}"))),
        false => Ok(()),
    }
}

/// Commands of DBCC that SQL Server has.
pub(crate) const UNSUPPORTED_DBCC: &[&str] = &[
    "CHECKALLOC",
    "CHECKCATALOG",
    "CHECKFILEGROUP",
    "CLEANTABLE",
    "CLONEDATABASE",
    "DBREINDEX",
    "DBREPAIR",
    "ERRORLOG",
    "FLUSHPROCINDB",
    "FREESESSIONCACHE",
    "HELP",
    "IND",
    "INDEXDEFRAG",
    "LOGINFO",
    "MEMORYSTATUS",
    "OUTPUTBUFFER",
    "PAGE",
    "PINTABLE",
    "PROCCACHE",
    "SHOWCONTIG",
    "SHOW_STATISTICS",
    "SHRINKDATABASE",
    "SHRINKFILE",
    "SHRINKLOG",
    "TRACEON",
    "UNPINTABLE",
    "UPDATEUSAGE",
    "WRITEPAGE",
];
