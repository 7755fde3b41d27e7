//! What a statement on rows reads and changes, and whether it may.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use selenite_compiler::catalog::{Catalog, ChangeVerb, Relation, Sequence, SystemFunction, Table, UserFunction, View};
use selenite_compiler::change::UpdateStrategy;
use selenite_compiler::statement::Statement;
use selenite_compiler::{SourceColumn, SqlError, same_name};
use selenite_tsql::ast::{self, ExprKind, ObjectName, StatementKind};
use selenite_types::DataType;

use crate::catalog::effective_permissions::{Permissions, Securable};
use crate::catalog::permission::{check_columns, denied_in, error, no_object};
use crate::catalog::permission_kind::PermissionKind;
use crate::catalog::schema_names::SchemaNames;
use crate::master::ServerPermission;
use crate::names::named_relation::{NamedRelation, NamedUse, NamedUses, is_own};
use crate::names::session_catalog::SessionCatalog;

/// What a statement on rows requested from the catalog (`rows-are-checked-at-binding` of
/// [`crate::catalog::permission`]).
pub struct Asked<'a> {
    catalog: &'a SessionCatalog,
    uses: NamedUses,
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

impl<'a> Asked<'a> {
    /// Nothing yet. `owner` is that of the procedure that the statement is of, if it is of one.
    #[must_use]
    pub fn of(catalog: &'a SessionCatalog, owner: Option<i32>) -> Self {
        Self {
            catalog,
            uses: NamedUses::default(),
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
    pub fn uses(self) -> (Vec<NamedUse>, OwnershipChain) {
        (self.uses.unchained(), self.chain)
    }

    fn note(&self, relation: NamedRelation) {
        let is_chained = relation.schema().is_some_and(|schema| self.is_chained(schema));
        self.uses.push(relation, 0, is_chained);
    }
}

impl Catalog for Asked<'_> {
    fn poll(&self) -> Result<(), SqlError> {
        self.catalog.poll()
    }

    fn relation(&self, name: &ObjectName) -> Result<Option<Relation>, SqlError> {
        let found = self.catalog.relation(name)?;
        if let Some(found) = &found {
            self.note(NamedRelation::of(found));
        }
        Ok(found)
    }

    fn note_source(&self, relation: &Relation, columns: &[SourceColumn]) -> Option<usize> {
        self.uses.note_source(relation, columns)
    }

    fn note_column(&self, source: usize, column: usize) {
        self.uses.note_column(source, column);
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
            self.note(NamedRelation::System(function.name.clone()));
        }
        Ok(found)
    }

    fn sequence(&self, name: &ObjectName) -> Result<Option<Arc<Sequence>>, SqlError> {
        let found = self.catalog.sequence(name)?;
        if let Some(sequence) = &found {
            self.note(NamedRelation::sequence(&self.catalog.database, sequence));
        }
        Ok(found)
    }

    fn user_function(&self, name: &ObjectName) -> Result<Option<Arc<UserFunction>>, SqlError> {
        let found = self.catalog.user_function(name)?;
        if let Some(function) = &found {
            self.calls_functions.set(true);
            self.note(NamedRelation::function(function));
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
/// 229 and 230 for what may not be read or changed, 262 for SELECT INTO, 1088 for TRUNCATE, 300 for the state of the
/// server.
pub fn check_rows(
    bound: &Statement,
    kind: &StatementKind,
    (uses, is_chained): (&[NamedUse], IsChained<'_>),
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
    let is_target = |one: &NamedUse| target.as_ref().is_some_and(|((named, _), _)| named.is(&one.relation));
    let target_count = uses.iter().filter(|one| is_target(one)).count();
    let mut writes: Vec<Write<'_>> = Vec::new();
    let mut unchained: Vec<Write<'_>> = Vec::new();
    if let Some(((named, inner), kinds)) = &target {
        let assigned = |wanted: PermissionKind| {
            let updates = wanted == PermissionKind::Update;
            updates.then(|| assigned_columns((bound, kind), *named)).flatten()
        };
        writes.extend(kinds.iter().map(|kind| (*named, *kind, assigned(*kind))));
        // What has another owner than the view through which it is changed.
        let inner = inner
            .iter()
            .filter(|inner| uses.iter().any(|one| inner.is(&one.relation)));
        unchained.extend(inner.flat_map(|inner| kinds.iter().map(move |kind| (*inner, *kind, None))));
        // Those of OUTPUT INTO.
        let others = bound.written().into_iter().skip(1);
        writes.extend(others.map(|table| (Target::Table(table), PermissionKind::Insert, None)));
    }
    writes.retain(|(target, ..)| !is_chained(target.name()[1]));
    for (target, kind, columns) in writes.iter().chain(&unchained).filter(|(target, ..)| !target.is_own()) {
        check_columns(*kind, target.name(), columns.as_deref(), permissions)?;
    }
    check_bulk_options(bound, permissions)?;
    for one in uses {
        let is_written = is_target(one) && !one.names_columns() && !reads_target(kind, target_count);
        let is_truncated = truncates && matches!(one.relation, NamedRelation::Table(_));
        if !is_written && !is_truncated {
            check_use(one, uses, (permissions, database))?;
        }
    }
    Ok(())
}

/// 1088: a bulk load without ALTER that gives identity values, as SET IDENTITY_INSERT, or fires no triggers.
fn check_bulk_options(bound: &Statement, permissions: &Permissions) -> Result<(), SqlError> {
    let Statement::Insert(insert) = bound else {
        return Ok(());
    };
    let Some(bulk) = insert.bulk() else { return Ok(()) };
    let table = insert.table();
    let is_more = insert.gives_identity() || !bulk.fires && table.fires.on(ChangeVerb::Insert);
    match is_more && !is_own(table) && !may_alter(table, permissions) {
        true => Err(no_object(&table.name, 11)),
        false => Ok(()),
    }
}

/// Whether what a statement names may be read.
fn check_use(one: &NamedUse, uses: &[NamedUse], (permissions, database): (&Permissions, &str)) -> Result<(), SqlError> {
    match &one.relation {
        NamedRelation::System(name) => check_system(name, (permissions, database)),
        NamedRelation::Table(_) | NamedRelation::View(_) if one.is_of_another(uses) => Ok(()),
        NamedRelation::Table(_) | NamedRelation::View(_) | NamedRelation::Function(..) | NamedRelation::Sequence(_) => {
            one.check_read(permissions)
        }
    }
}

/// A change of something: the permission that it needs, and the columns, if they are known.
type Write<'a> = (Target<'a>, PermissionKind, Option<Vec<&'a str>>);

/// The columns of what an UPDATE or MERGE names that it changes; `None` where the names in its assignments may be those
/// of a common table expression or derived table.
fn assigned_columns<'a>((bound, kind): (&'a Statement, &'a StatementKind), named: Target<'a>) -> Option<Vec<&'a str>> {
    let written = match (bound, named) {
        (Statement::Update(update), Target::Table(table)) => match &update.strategy {
            UpdateStrategy::Rows(rows) => Some((table, &rows.write)),
            // Of a table alone, whose names those in the assignments are.
            UpdateStrategy::Whole(_) => None,
        },
        (Statement::Merge(merge), Target::Table(table)) => Some((table, &merge.update.as_ref()?.1)),
        (Statement::Update(_) | Statement::Merge(_), Target::View(_)) => None,
        (
            Statement::Rows(_)
            | Statement::Assign(_)
            | Statement::Into(_)
            | Statement::Insert(_)
            | Statement::Delete(_)
            | Statement::Truncate(_),
            _,
        ) => return None,
    };
    let names = match written {
        Some((table, write)) => {
            let columns = write.changed.iter().filter_map(|at| table.columns.get(*at));
            // Each change of a row changes it.
            let columns = columns.filter(|column| column.data_type != DataType::RowVersion);
            columns.map(|column| column.name.as_str()).collect()
        }
        None => written_columns(kind)?,
    };
    Some(names).filter(|names: &Vec<&str>| !names.is_empty())
}

/// The columns in the assignments of a statement whose target is named by itself.
#[expect(clippy::wildcard_enum_match_arm, reason = "other statements assign nothing")]
fn written_columns(kind: &StatementKind) -> Option<Vec<&str>> {
    fn column(assignment: &ast::Assignment) -> Option<&str> {
        match &assignment.target {
            ast::AssignmentTarget::Column(name) | ast::AssignmentTarget::VariableAndColumn(_, name) => {
                Some(name.name.text.as_str())
            }
            ast::AssignmentTarget::Variable(_) => None,
        }
    }
    match kind {
        StatementKind::Update(update) if update.with.is_empty() && update.from.is_empty() => {
            Some(update.assignments.iter().filter_map(column).collect())
        }
        StatementKind::Merge(merge) if merge.with.is_empty() => {
            let actions = merge.clauses.iter().map(|clause| match &clause.action {
                ast::MergeAction::Update(assignments) => assignments.as_slice(),
                ast::MergeAction::Delete | ast::MergeAction::Insert { .. } => &[],
            });
            Some(actions.flatten().filter_map(column).collect())
        }
        _ => None,
    }
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
/// 229, 230, 300.
pub fn check_reads(uses: &[NamedUse], (permissions, database): (&Permissions, &str)) -> Result<(), SqlError> {
    match permissions.is_administrator {
        true => Ok(()),
        false => uses
            .iter()
            .try_for_each(|one| check_use(one, uses, (permissions, database))),
    }
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

/// VIEW SERVER STATE and VIEW DATABASE STATE: what other sessions do, and what a database is made of. Views that show every user their own session contain that alone.
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
    if permissions.server.may(ServerPermission::ViewServerState) {
        return Ok(());
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
