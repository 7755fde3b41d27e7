//! What a statement on rows reads and changes, and whether it may.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use selenite_compiler::SqlError;
use selenite_compiler::catalog::{
    Catalog, FunctionResult, Relation, Sequence, SystemFunction, Table, UserFunction, View,
};
use selenite_compiler::statement::Statement;
use selenite_tsql::ast::{self, ExprKind, ObjectName, StatementKind};

use crate::catalog::permission::{Permissions, denied_in, denied_on, error, no_object};
use crate::catalog::schema::is_global;
use crate::names::session_catalog::SessionCatalog;

/// What a statement on rows requested from the catalog (`rows-are-checked-at-binding` of
/// [`crate::catalog::permission`]).
pub struct Asked<'a> {
    catalog: &'a SessionCatalog,
    seen: RefCell<Vec<NamedRelation>>,
    views: Cell<usize>,
    calls_functions: Cell<bool>,
}

/// What was requested from a catalog.
#[derive(Clone)]
pub enum NamedRelation {
    /// A table, by its database and name.
    Table(Arc<Table>),
    /// A view: its database, schema and name.
    View([String; 3]),
    /// A function of a user, and whether it returns rows.
    Function(Arc<UserFunction>, bool),
    /// What the server shows: its name.
    System(String),
    /// A sequence whose values are taken: its database, schema and name.
    Sequence([String; 3]),
}

impl NamedRelation {
    /// Whether it needs no permission where it is named in a view's text: views and tables have one owner, whose view
    /// gives its rows to every user who may read it (ownership chaining). What the server shows has no such owner.
    #[must_use]
    pub fn is_of_the_owner(&self) -> bool {
        match self {
            Self::Table(_) | Self::View(_) | Self::Function(..) => true,
            Self::System(_) | Self::Sequence(_) => false,
        }
    }

    /// Whether it may be read.
    fn is_readable(&self, permissions: &Permissions) -> bool {
        match self {
            Self::Table(table) => permissions.reads_in(&table.schema),
            Self::View([_, schema, _]) => permissions.reads_in(schema),
            Self::Function(function, true) => permissions.reads_in(&function.schema),
            Self::Function(function, false) => permissions.owns_schema(&function.schema),
            Self::System(_) => permissions.reads(),
            Self::Sequence([_, schema, _]) => permissions.writes_in(schema),
        }
    }

    /// 229 for what may not be read.
    fn denied(&self) -> SqlError {
        match self {
            Self::Table(table) => denied_on("SELECT", [&table.database, &table.schema, &table.name]),
            Self::View([database, schema, name]) => denied_on("SELECT", [database, schema, name]),
            Self::Function(function, returns_rows) => denied_on(
                ["EXECUTE", "SELECT"][usize::from(*returns_rows)],
                [&function.database, &function.schema, &function.name],
            ),
            Self::System(name) => denied_on("SELECT", ["", "sys", name]),
            Self::Sequence([database, schema, name]) => denied_on("UPDATE", [database, schema, name]),
        }
    }

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
            views: Cell::default(),
            calls_functions: Cell::default(),
        }
    }

    /// Whether a function of a user is called.
    #[must_use]
    pub fn calls_functions(&self) -> bool {
        self.calls_functions.get()
    }

    /// All of it, in order.
    #[must_use]
    pub fn seen(self) -> Vec<NamedRelation> {
        self.seen.into_inner()
    }
}

impl Catalog for Asked<'_> {
    fn poll(&self) -> Result<(), SqlError> {
        self.catalog.poll()
    }

    fn relation(&self, name: &ObjectName) -> Result<Option<Relation>, SqlError> {
        let found = self.catalog.relation(name)?;
        if let Some(found) = &found {
            let seen = NamedRelation::of(found);
            if self.views.get() == 0 || !seen.is_of_the_owner() {
                self.seen.borrow_mut().push(seen);
            }
        }
        Ok(found)
    }

    fn enter_view(&self) {
        self.views.set(self.views.get() + 1);
    }

    fn leave_view(&self) {
        self.views.set(self.views.get().saturating_sub(1));
    }

    fn function(&self, name: &ObjectName) -> Result<Option<Arc<SystemFunction>>, SqlError> {
        let found = self.catalog.function(name)?;
        if let Some(function) = &found {
            self.seen
                .borrow_mut()
                .push(NamedRelation::System(function.name.clone()));
        }
        Ok(found)
    }

    fn sequence(&self, name: &ObjectName) -> Result<Option<Arc<Sequence>>, SqlError> {
        let found = self.catalog.sequence(name)?;
        if let Some(sequence) = &found {
            let name = [&*self.catalog.database, &sequence.schema, &sequence.name];
            let name = name.map(str::to_owned);
            self.seen.borrow_mut().push(NamedRelation::Sequence(name));
        }
        Ok(found)
    }

    fn user_function(&self, name: &ObjectName) -> Result<Option<Arc<UserFunction>>, SqlError> {
        let found = self.catalog.user_function(name)?;
        if let Some(function) = &found {
            let returns_rows = !matches!(function.result, FunctionResult::Scalar(_));
            self.calls_functions.set(true);
            if self.views.get() == 0 {
                let seen = NamedRelation::Function(function.clone(), returns_rows);
                self.seen.borrow_mut().push(seen);
            }
        }
        Ok(found)
    }

    fn table_variable(&self, name: &str) -> Result<Option<Arc<Table>>, SqlError> {
        self.catalog.table_variable(name)
    }
}

/// Whether a user who is no administrator may run a statement on rows.
///
/// # Errors
/// 229 for what may not be read or changed, 262 for SELECT INTO, 1088 for TRUNCATE, 300 for the state of the server.
pub fn check_rows(
    bound: &Statement,
    kind: &StatementKind,
    seen: &[NamedRelation],
    (permissions, database): (&Permissions, &str),
) -> Result<(), SqlError> {
    if permissions.is_administrator {
        return Ok(());
    }
    let target = match bound {
        Statement::Rows(_) | Statement::Assign(_) => None,
        Statement::Into(into) => {
            if !into.name.name.text.starts_with('#') && !permissions.defines() {
                return Err(denied_in("CREATE TABLE", database));
            }
            None
        }
        Statement::Insert(insert) => Some((Target::of(insert.table(), insert.view()), "INSERT")),
        Statement::Update(update) => Some((Target::of(update.table(), update.view()), "UPDATE")),
        Statement::Delete(delete) => Some((Target::of(delete.table(), delete.view()), "DELETE")),
        Statement::Truncate(truncate) => {
            let may = permissions.defines() || permissions.owns_schema(&truncate.table.schema);
            if !is_own(&truncate.table) && !may {
                return Err(no_object(&truncate.table.name, 7));
            }
            None
        }
    };
    let truncates = matches!(bound, Statement::Truncate(_));
    let is_target = |seen: &NamedRelation| target.is_some_and(|(target, _)| target.is(seen));
    let target_count = seen.iter().filter(|seen| is_target(seen)).count();
    if let Some((target, verb)) = target
        && !target.is_own()
        && !permissions.writes_in(target.schema())
    {
        return Err(denied_on(verb, target.name()));
    }
    if let Statement::Insert(insert) = bound
        && insert.bulk().is_some()
        && insert.gives_identity()
        && !is_own(insert.table())
        && !(permissions.defines() || permissions.owns_schema(&insert.table().schema))
    {
        // As SET IDENTITY_INSERT.
        return Err(no_object(&insert.table().name, 11));
    }
    for seen in seen {
        match seen {
            NamedRelation::System(name) => check_system(name, (permissions, database))?,
            other if other.is_readable(permissions) || (is_target(other) && !reads_target(kind, target_count)) => {}
            NamedRelation::View(_) | NamedRelation::Function(..) | NamedRelation::Sequence(_) => {
                return Err(seen.denied());
            }
            NamedRelation::Table(table) if !is_own(table) && !truncates => return Err(seen.denied()),
            NamedRelation::Table(_) => {}
        }
    }
    Ok(())
}

/// What a change is of, as it was named.
#[derive(Clone, Copy)]
enum Target<'a> {
    Table(&'a Table),
    View(&'a View),
}

impl<'a> Target<'a> {
    fn of(table: &'a Table, view: Option<&'a Arc<View>>) -> Self {
        view.map_or(Self::Table(table), |view| Self::View(view))
    }

    fn name(&self) -> [&'a str; 3] {
        match self {
            Self::Table(table) => [&table.database, &table.schema, &table.name],
            Self::View(view) => [&view.database, &view.schema, &view.name],
        }
    }

    fn schema(&self) -> &'a str {
        match self {
            Self::Table(table) => &table.schema,
            Self::View(view) => &view.schema,
        }
    }

    fn is_own(&self) -> bool {
        match self {
            Self::Table(table) => is_own(table),
            Self::View(_) => false,
        }
    }

    fn is(&self, seen: &NamedRelation) -> bool {
        match (self, seen) {
            (Self::Table(own), NamedRelation::Table(table)) => {
                table.object_id == own.object_id && table.sqlite == own.sqlite
            }
            (Self::View(_), NamedRelation::View(name)) => self.name() == name.each_ref().map(String::as_str),
            (
                Self::Table(_) | Self::View(_),
                NamedRelation::Table(_)
                | NamedRelation::View(_)
                | NamedRelation::Function(..)
                | NamedRelation::System(_)
                | NamedRelation::Sequence(_),
            ) => false,
        }
    }
}

/// Whether what a statement reads in a database that it writes nothing to may be read there.
///
/// # Errors
/// 229, 300.
pub fn check_reads(seen: &[NamedRelation], (permissions, database): (&Permissions, &str)) -> Result<(), SqlError> {
    if permissions.is_administrator {
        return Ok(());
    }
    for seen in seen {
        match seen {
            NamedRelation::System(name) => check_system(name, (permissions, database))?,
            other if other.is_readable(permissions) => {}
            NamedRelation::View(_) | NamedRelation::Function(..) | NamedRelation::Sequence(_) => {
                return Err(seen.denied());
            }
            NamedRelation::Table(table) if !is_own(table) => return Err(seen.denied()),
            NamedRelation::Table(_) => {}
        }
    }
    Ok(())
}

/// Temporary tables are the session's own, and global ones everyone's.
fn is_own(table: &Table) -> bool {
    table.sqlite.schema == "temp" || is_global(&table.name)
}

/// Whether a change reads the rows that it changes: then it needs SELECT, too.
#[expect(clippy::wildcard_enum_match_arm, reason = "other statements have no target")]
fn reads_target(kind: &StatementKind, asked_count: usize) -> bool {
    match kind {
        // Once it is requested as the target.
        StatementKind::Insert(insert) => !insert.output.is_empty() || asked_count > 1,
        StatementKind::Update(update) => {
            let reads = |assignment: &ast::Assignment| match &assignment.value {
                ast::ValueOrDefault::Default(_) => false,
                ast::ValueOrDefault::Value(value) => {
                    assignment.operator != ast::AssignmentOperator::Set || !is_constant(value)
                }
            };
            // A common table expression reads what it likes of the target.
            !update.with.is_empty()
                || update.filter.is_some()
                || !update.from.is_empty()
                || !update.output.is_empty()
                || is_queried(update.top.as_ref())
                || update.assignments.iter().any(reads)
        }
        StatementKind::Delete(delete) => {
            !delete.with.is_empty()
                || delete.filter.is_some()
                || !delete.from.is_empty()
                || !delete.output.is_empty()
                || is_queried(delete.top.as_ref())
        }
        _ => true,
    }
}

/// Whether a value has nothing to do with rows.
fn is_constant(value: &ast::Expr) -> bool {
    matches!(
        value.kind,
        ExprKind::Literal(_) | ExprKind::OdbcLiteral(_) | ExprKind::Variable(_) | ExprKind::Global(_)
    )
}

/// Whether TOP's count may be a query's, which reveals the rows that it counts.
fn is_queried(top: Option<&ast::Top>) -> bool {
    top.is_some_and(|top| !is_constant(&top.count))
}

/// VIEW SERVER STATE and VIEW DATABASE STATE: what other sessions do is visible to administrators, and what a
/// database is made of to its owners. Views that show every user their own session contain that alone.
fn check_system(name: &str, (permissions, database): (&Permissions, &str)) -> Result<(), SqlError> {
    let name = name.to_ascii_lowercase();
    if !name.starts_with("dm_") || OWN.contains(&name.as_str()) {
        return Ok(());
    }
    if name.starts_with("dm_db_") {
        return match permissions.owns() {
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
