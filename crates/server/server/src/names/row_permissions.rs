//! What a statement on rows reads and changes, and whether it may.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use selenite_compiler::catalog::{
    Catalog, ChangeVerb, FunctionResult, Relation, Sequence, SystemFunction, Table, UserFunction, View,
};
use selenite_compiler::statement::Statement;
use selenite_compiler::{SqlError, same_name};
use selenite_tsql::ast::{self, ExprKind, ObjectName, StatementKind};

use crate::catalog::effective_permissions::{Permissions, Securable};
use crate::catalog::grants::PermissionKind;
use crate::catalog::permission::{denied_in, denied_on, error, no_object};
use crate::catalog::schema::is_global;
use crate::catalog::schema_names::SchemaNames;
use crate::names::session_catalog::SessionCatalog;

/// What a statement on rows requested from the catalog (`rows-are-checked-at-binding` of
/// [`crate::catalog::permission`]).
pub struct Asked<'a> {
    catalog: &'a SessionCatalog,
    seen: RefCell<Vec<NamedRelation>>,
    calls_functions: Cell<bool>,
    chain: OwnershipChain,
}

/// The databases and owners of the procedure and of the views whose texts are being bound, outermost first
/// (`ownership-chains` of [`crate::catalog::permission`]); `None` where an owner is not known. Numbers of owners mean
/// nothing in another database.
#[derive(Default)]
pub struct OwnershipChain(RefCell<Vec<Option<(String, i32)>>>);

impl OwnershipChain {
    /// Within a procedure of an owner in a database, or in a batch.
    #[must_use]
    pub fn of_procedure(database: &str, owner: Option<i32>) -> Self {
        let of_text = owner.map(|owner| Some((database.to_owned(), owner)));
        Self(RefCell::new(of_text.into_iter().collect()))
    }

    /// The text of a view of a database and schema begins; `names` are that database's.
    pub fn enter(&self, (database, schema): (&str, &str), names: &SchemaNames) {
        let owner = names.named(schema).map(|schema| (database.to_owned(), schema.owner));
        self.0.borrow_mut().push(owner);
    }

    /// The innermost view's text ends.
    pub fn leave(&self) {
        self.0.borrow_mut().pop();
    }

    /// Whether what is named in a schema of a database, whose `names` these are, has the owner of the text that names it,
    /// and so needs no permission.
    #[must_use]
    pub fn has(&self, (database, schema): (&str, &str), names: &SchemaNames) -> bool {
        let of_texts = self.0.borrow();
        let Some(Some((of_text, owner))) = of_texts.last() else {
            return false;
        };
        same_name(of_text, database) && names.named(schema).is_some_and(|schema| schema.owner == *owner)
    }
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
    /// The schema of a table or view. What the server shows has no owner.
    #[must_use]
    pub fn schema(&self) -> Option<&str> {
        match self {
            Self::Table(table) => Some(&table.schema),
            Self::View([_, schema, _]) | Self::Sequence([_, schema, _]) => Some(schema),
            Self::Function(function, _) => Some(&function.schema),
            Self::System(_) => None,
        }
    }

    /// Whether it may be read.
    fn is_readable(&self, permissions: &Permissions) -> bool {
        match self {
            Self::Table(table) => permissions.may_on(PermissionKind::Select, (&table.schema, &table.name)),
            Self::View([_, schema, name]) => permissions.may_on(PermissionKind::Select, (schema, name)),
            Self::Function(function, returns_rows) => {
                let kind = if *returns_rows {
                    PermissionKind::Select
                } else {
                    PermissionKind::Execute
                };
                permissions.may_on(kind, (&function.schema, &function.name))
            }
            Self::System(_) => true,
            Self::Sequence([_, schema, name]) => permissions.may_on(PermissionKind::Update, (schema, name)),
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
    /// Nothing yet. `owner` is that of the procedure that the statement is of, if it is of one.
    #[must_use]
    pub fn of(catalog: &'a SessionCatalog, owner: Option<i32>) -> Self {
        Self {
            catalog,
            seen: RefCell::default(),
            calls_functions: Cell::default(),
            chain: OwnershipChain::of_procedure(&catalog.database, owner),
        }
    }

    fn is_chained(&self, schema: &str) -> bool {
        self.chain
            .has((&self.catalog.database, schema), self.catalog.schema.names())
    }

    /// Whether a function of a user is called.
    #[must_use]
    pub fn calls_functions(&self) -> bool {
        self.calls_functions.get()
    }

    /// All of it that has to be permitted, in order, and the chain that the statement's own names are in.
    #[must_use]
    pub fn seen(self) -> (Vec<NamedRelation>, OwnershipChain) {
        (self.seen.into_inner(), self.chain)
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
            if !seen.schema().is_some_and(|schema| self.is_chained(schema)) {
                self.seen.borrow_mut().push(seen);
            }
        }
        Ok(found)
    }

    fn enter_view(&self, home: (&str, &str)) {
        self.chain.enter(home, self.catalog.schema.names());
    }

    fn leave_view(&self) {
        self.chain.leave();
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
        if let Some(sequence) = &found
            && !self.is_chained(&sequence.schema)
        {
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
            if !self.is_chained(&function.schema) {
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

/// Whether what is in a schema has the owner of the procedure that a statement is of.
pub type IsChained<'a> = &'a dyn Fn(&str) -> bool;

/// Whether a user who is no administrator may run a statement on rows. `is_chained` says whether what is in a schema
/// may be changed because the procedure that the statement is of has the same owner.
///
/// # Errors
/// 229 for what may not be read or changed, 262 for SELECT INTO, 1088 for TRUNCATE, 300 for the state of the server.
pub fn check_rows(
    bound: &Statement,
    kind: &StatementKind,
    (seen, is_chained): (&[NamedRelation], IsChained<'_>),
    (permissions, database): (&Permissions, &str),
) -> Result<(), SqlError> {
    if permissions.is_administrator {
        return Ok(());
    }
    let target = match bound {
        Statement::Rows(_) | Statement::Assign(_) => None,
        Statement::Into(into) => {
            check_into(&into.name, (permissions, database))?;
            None
        }
        Statement::Insert(insert) => Some((targets(insert.table(), insert.views()), vec![PermissionKind::Insert])),
        Statement::Update(update) => Some((targets(update.table(), update.views()), vec![PermissionKind::Update])),
        Statement::Delete(delete) => Some((targets(delete.table(), delete.views()), vec![PermissionKind::Delete])),
        Statement::Merge(merge) => {
            let kinds = merge.verbs().into_iter().map(kind_of);
            Some((targets(&merge.table, merge.views()), kinds.collect()))
        }
        Statement::Truncate(truncate) => {
            if !is_own(&truncate.table) && !may_alter(&truncate.table, permissions) {
                return Err(no_object(&truncate.table.name, 7));
            }
            None
        }
    };
    let truncates = matches!(bound, Statement::Truncate(_));
    let is_target = |seen: &NamedRelation| target.as_ref().is_some_and(|((named, _), _)| named.is(seen));
    let target_count = seen.iter().filter(|seen| is_target(seen)).count();
    let mut writes: Vec<(Target<'_>, PermissionKind)> = Vec::new();
    let mut unchained: Vec<(Target<'_>, PermissionKind)> = Vec::new();
    if let Some(((named, inner), kinds)) = &target {
        writes.extend(kinds.iter().map(|kind| (*named, *kind)));
        // What has another owner than the view through which it is changed.
        let inner = inner.iter().filter(|inner| seen.iter().any(|seen| inner.is(seen)));
        unchained.extend(inner.flat_map(|inner| kinds.iter().map(move |kind| (*inner, *kind))));
        // Those of OUTPUT INTO.
        let others = bound.written().into_iter().skip(1);
        writes.extend(others.map(|table| (Target::Table(table), PermissionKind::Insert)));
    }
    writes.retain(|(target, _)| !is_chained(target.name()[1]));
    for (target, kind) in writes.iter().chain(&unchained).filter(|(target, _)| !target.is_own()) {
        let [_, schema, name] = target.name();
        if !permissions.may_on(*kind, (schema, name)) {
            return Err(denied_on(kind.name(), target.name()));
        }
    }
    if let Statement::Insert(insert) = bound
        && insert.bulk().is_some()
        && insert.gives_identity()
        && !is_own(insert.table())
        && !may_alter(insert.table(), permissions)
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

fn kind_of(verb: ChangeVerb) -> PermissionKind {
    match verb {
        ChangeVerb::Insert => PermissionKind::Insert,
        ChangeVerb::Update => PermissionKind::Update,
        ChangeVerb::Delete => PermissionKind::Delete,
    }
}

/// SELECT INTO is also a CREATE TABLE.
fn check_into(name: &ObjectName, (permissions, database): (&Permissions, &str)) -> Result<(), SqlError> {
    if name.name.text.starts_with('#') {
        return Ok(());
    }
    if !permissions.may(PermissionKind::CreateTable, Securable::Database) {
        return Err(denied_in("CREATE TABLE", database));
    }
    let schema = name
        .schema
        .as_ref()
        .map_or(&*permissions.default_schema, |schema| schema.text.as_str());
    match permissions.may_create_in(schema) {
        true => Ok(()),
        false => Err(SqlError::unknown_schema(schema)),
    }
}

fn may_alter(table: &Table, permissions: &Permissions) -> bool {
    permissions.may_on(PermissionKind::Alter, (&table.schema, &table.name))
}

/// What a change is of.
#[derive(Clone, Copy)]
enum Target<'a> {
    Table(&'a Table),
    View(&'a View),
}

/// What a change of a table is of: what was named, and what is changed through it. `views` are those that the table is
/// changed through, the named one last.
fn targets<'a>(table: &'a Table, views: &'a [Arc<View>]) -> (Target<'a>, Vec<Target<'a>>) {
    let table = Target::Table(table);
    match views {
        [] => (table, Vec::new()),
        [between @ .., named] => {
            let between = between.iter().map(|view| Target::View(view));
            (Target::View(named), between.chain([table]).collect())
        }
    }
}

impl<'a> Target<'a> {
    fn name(&self) -> [&'a str; 3] {
        match self {
            Self::Table(table) => [&table.database, &table.schema, &table.name],
            Self::View(view) => [&view.database, &view.schema, &view.name],
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
        return match permissions.may(PermissionKind::ViewDatabaseState, Securable::Database) {
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
