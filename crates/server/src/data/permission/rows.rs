//! What a statement on rows reads and changes, and whether it may.

use std::cell::RefCell;
use std::sync::Arc;

use selenite_plan::PlanError;
use selenite_plan::catalog::{Catalog, Relation, SystemFunction, Table};
use selenite_plan::statement::Statement;
use selenite_tsql::ast::{self, ExprKind, ObjectName, StatementKind};

use super::{Standing, denied_in, denied_on, error, no_object};
use crate::data::session_catalog::SessionCatalog;

/// What a statement on rows asked the catalog for: P2.
pub struct Asked<'a> {
    catalog: &'a SessionCatalog,
    seen: RefCell<Vec<Seen>>,
}

/// What a catalog was asked for.
#[derive(Clone)]
pub enum Seen {
    /// A table, by its database and name.
    Table(Arc<Table>),
    /// A view: its database, schema and name.
    View([String; 3]),
    /// What the server shows: its name.
    System(String),
}

impl Seen {
    /// What a catalog answered.
    #[must_use]
    pub fn of(found: &Relation) -> Self {
        match found {
            Relation::Table(table) => Self::Table(table.clone()),
            Relation::View(view) => Self::View([view.database.clone(), view.schema.clone(), view.name.clone()]),
            Relation::System(view) => Self::System(view.name.clone()),
        }
    }
}

impl<'a> Asked<'a> {
    /// Nothing yet.
    #[must_use]
    pub fn of(catalog: &'a SessionCatalog) -> Self {
        Self {
            catalog,
            seen: RefCell::default(),
        }
    }

    /// All of it, in order.
    #[must_use]
    pub fn seen(self) -> Vec<Seen> {
        self.seen.into_inner()
    }
}

/// How often a table was asked for.
fn count(seen: &[Seen], wanted: Option<&Arc<Table>>) -> usize {
    let is_it = |seen: &&Seen| match (seen, wanted) {
        (Seen::Table(table), Some(wanted)) => table.object_id == wanted.object_id && table.sqlite == wanted.sqlite,
        (Seen::Table(_) | Seen::View(_) | Seen::System(_), _) => false,
    };
    seen.iter().filter(is_it).count()
}

impl Catalog for Asked<'_> {
    fn poll(&self) -> Result<(), PlanError> {
        self.catalog.poll()
    }

    fn relation(&self, name: &ObjectName) -> Result<Option<Relation>, PlanError> {
        let found = self.catalog.relation(name)?;
        if let Some(found) = &found {
            self.seen.borrow_mut().push(Seen::of(found));
        }
        Ok(found)
    }

    fn function(&self, name: &ObjectName) -> Result<Option<Arc<SystemFunction>>, PlanError> {
        let found = self.catalog.function(name)?;
        if let Some(function) = &found {
            self.seen.borrow_mut().push(Seen::System(function.name.clone()));
        }
        Ok(found)
    }

    fn table_variable(&self, name: &str) -> Result<Option<Arc<Table>>, PlanError> {
        self.catalog.table_variable(name)
    }
}

/// Whether a statement on rows may be run by who is no administrator.
///
/// # Errors
/// 229 for what may not be read or changed, 262 for SELECT INTO, 1088 for TRUNCATE, 300 for the state of the server.
pub fn check_rows(
    bound: &Statement,
    kind: &StatementKind,
    seen: &[Seen],
    (standing, database): (&Standing, &str),
) -> Result<(), PlanError> {
    if standing.is_administrator {
        return Ok(());
    }
    let target = match bound {
        Statement::Rows(_) | Statement::Assign(_) => None,
        Statement::Into(into) => {
            if !into.name.name.text.starts_with('#') && !standing.defines() {
                return Err(denied_in("CREATE TABLE", database));
            }
            None
        }
        Statement::Insert(insert) => Some((insert.table(), "INSERT")),
        Statement::Update(update) => Some((update.table(), "UPDATE")),
        Statement::Delete(delete) => Some((delete.table(), "DELETE")),
        Statement::Truncate(truncate) => {
            if !is_own(&truncate.table) && !standing.defines() {
                return Err(no_object(&truncate.table.name, 7));
            }
            None
        }
    };
    let truncates = matches!(bound, Statement::Truncate(_));
    let target_count = count(seen, target.map(|(table, _)| table));
    if let Some((table, verb)) = target
        && !is_own(table)
        && !standing.writes()
    {
        return Err(denied_on(verb, [&table.database, &table.schema, &table.name]));
    }
    for seen in seen {
        match seen {
            Seen::System(name) => check_system(name, (standing, database))?,
            Seen::View([database, schema, name]) if !standing.reads() => {
                return Err(denied_on("SELECT", [database, schema, name]));
            }
            Seen::Table(table) if !is_own(table) && !standing.reads() && !truncates => {
                let is_target = target.is_some_and(|(target, _)| target.object_id == table.object_id);
                if !is_target || reads_target(kind, target_count) {
                    return Err(denied_on("SELECT", [&table.database, &table.schema, &table.name]));
                }
            }
            Seen::View(_) | Seen::Table(_) => {}
        }
    }
    Ok(())
}

/// Whether what a statement reads in a database that it writes nothing to may be read there.
///
/// # Errors
/// 229, 300.
pub fn check_reads(seen: &[Seen], (standing, database): (&Standing, &str)) -> Result<(), PlanError> {
    if standing.is_administrator {
        return Ok(());
    }
    for seen in seen {
        match seen {
            Seen::System(name) => check_system(name, (standing, database))?,
            Seen::View([database, schema, name]) if !standing.reads() => {
                return Err(denied_on("SELECT", [database, schema, name]));
            }
            Seen::Table(table) if !is_own(table) && !standing.reads() => {
                return Err(denied_on("SELECT", [&table.database, &table.schema, &table.name]));
            }
            Seen::View(_) | Seen::Table(_) => {}
        }
    }
    Ok(())
}

/// Temporary tables are the session's own.
fn is_own(table: &Table) -> bool {
    table.sqlite.schema == "temp"
}

/// Whether a change reads the rows that it changes: then it needs SELECT, too.
#[expect(clippy::wildcard_enum_match_arm, reason = "other statements have no target")]
fn reads_target(kind: &StatementKind, asked_count: usize) -> bool {
    match kind {
        // Once it is asked for as the target.
        StatementKind::Insert(insert) => !insert.output.is_empty() || asked_count > 1,
        StatementKind::Update(update) => {
            let reads = |assignment: &ast::Assignment| match &assignment.value {
                ast::ValueOrDefault::Default(_) => false,
                ast::ValueOrDefault::Value(value) => {
                    assignment.operator != ast::AssignmentOperator::Set
                        || !matches!(
                            value.kind,
                            ExprKind::Literal(_)
                                | ExprKind::OdbcLiteral(_)
                                | ExprKind::Variable(_)
                                | ExprKind::Global(_)
                        )
                }
            };
            // A common table expression reads what it likes of the target.
            !update.with.is_empty()
                || update.filter.is_some()
                || !update.from.is_empty()
                || !update.output.is_empty()
                || update.assignments.iter().any(reads)
        }
        StatementKind::Delete(delete) => {
            !delete.with.is_empty() || delete.filter.is_some() || !delete.from.is_empty() || !delete.output.is_empty()
        }
        _ => true,
    }
}

/// VIEW SERVER STATE and VIEW DATABASE STATE: what other sessions do is the administrator's to see, and what a database is made of its
/// owners'. Views that show everybody the asker's own session are made of that alone.
fn check_system(name: &str, (standing, database): (&Standing, &str)) -> Result<(), PlanError> {
    let name = name.to_ascii_lowercase();
    if !name.starts_with("dm_") || OWN.contains(&name.as_str()) {
        return Ok(());
    }
    if name.starts_with("dm_db_") {
        return match standing.owns() {
            true => Ok(()),
            false => Err(denied_in("VIEW DATABASE STATE", database)),
        };
    }
    let text = "VIEW SERVER STATE permission was denied on object 'server', database 'master'.";
    Err(error(300, text.to_owned()).with_severity(14))
}

/// Of one's own session, or of a text of one's own.
const OWN: &[&str] = &[
    "dm_exec_sessions",
    "dm_exec_requests",
    "dm_exec_describe_first_result_set",
];
