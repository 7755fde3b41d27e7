//! The databases that one statement names, as it sees them.
//!
//! - `runs-at-home`: a statement runs in one of them, its *home*: the one that it writes to, or the only one whose
//!   tables it reads, else the one in use. Tables of the others, and the session's temporary ones if home is not in
//!   use, are bound under the names that home's connection has for them ([`crate::execution::cross_database_table`]).
//!   Only one database is written to.
//! - `view-in-its-database`: a view is bound by its text, whose names are its own database's. Permissions on them are
//!   checked as if the statement had named them.
//! - `bound-schema-is-read`: in the transaction in which a statement reads a database, its schema is the one that
//!   names were bound to. If it has changed, the statement is bound again: values of one type would be read as
//!   another's. So it is if permissions or logins have changed while it waited.
//! - `permissions-of-each-database`: reading a database needs the login's permissions in that database. Those in
//!   another do not count.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::sync::Arc;

use selenite_compiler::catalog::{Catalog, FunctionResult, Relation, SystemFunction, Table, UserFunction};
use selenite_compiler::statement::Statement;
use selenite_compiler::{SourceColumn, SqlError, same_name, written_object};
use selenite_tsql::ast::{ObjectName, StatementKind};

use crate::catalog::effective_permissions::Permissions;
use crate::catalog::schema::{is_global, is_temporary};
use crate::catalog::schema_names::SchemaNames;
use crate::database::database_connection::Version;
use crate::execution::cross_database_table::{CrossDatabaseTable, Reach};
use crate::execution::table_statement::definitions_change;
use crate::master::TEMPDB;
use crate::names::named_relation::{NamedRelation, NamedUses};
use crate::names::row_permissions::{OwnershipChain, check_reads, check_rows};
use crate::names::session_objects::SessionObjects;

/// A database as a session sees it.
pub struct DatabaseView {
    /// Its id.
    pub id: i32,
    /// What there is.
    pub objects: SessionObjects,
    /// What the session's login is there.
    pub permissions: Permissions,
    /// The definitions and permissions that `objects` show.
    pub version: Version,
}

/// The databases of a statement; the first is the one in use.
pub struct DatabaseViews {
    /// Those that were looked into.
    pub known: Vec<DatabaseView>,
    /// `runs-at-home`.
    pub home: i32,
    /// How many databases may be attached to home's connection: none within a transaction.
    pub attached_max: usize,
    /// Whether a schema has changed since the statement was bound.
    pub is_stale: Cell<bool>,
}

/// What a statement's names stand for.
pub struct DatabaseViewsCatalog<'a> {
    databases: &'a DatabaseViews,
    missing: Cell<Option<i32>>,
    uses: NamedUses,
    chain: OwnershipChain,
    others: RefCell<Vec<CrossDatabaseTable>>,
}

impl DatabaseViews {
    /// The database in use, and no other yet.
    #[must_use]
    pub fn of(current: DatabaseView, attached_max: usize) -> Self {
        Self {
            home: current.id,
            known: vec![current],
            attached_max,
            is_stale: Cell::new(false),
        }
    }

    /// `bound-schema-is-read`: refuses a schema that has changed since names were bound to it.
    ///
    /// # Errors
    /// 8624, and the statement is bound again.
    pub fn check_version(&self, id: i32, version: i64) -> Result<(), SqlError> {
        let bound = self.known.iter().find(|view| view.id == id);
        match bound.is_some_and(|view| view.version.sqlite() == version) {
            true => Ok(()),
            false => Err(self.stale()),
        }
    }

    /// 8624, and the statement is bound again.
    pub fn stale(&self) -> SqlError {
        self.is_stale.set(true);
        definitions_change()
    }

    /// The database in use.
    ///
    /// # Errors
    /// None: it is always there.
    pub fn current(&self) -> Result<&DatabaseView, SqlError> {
        let first = self.known.first();
        first.ok_or_else(|| SqlError::internal("a statement without a database"))
    }

    /// The id of the database that a name is of.
    ///
    /// # Errors
    /// 208 for none; 40510 for another server's.
    fn id_of(&self, name: &ObjectName) -> Result<i32, SqlError> {
        if name.server.is_some() {
            return Err(SqlError::unsupported("A name with a server"));
        }
        if is_global(&name.name.text) {
            return Ok(TEMPDB);
        }
        let current = self.current()?;
        let Some(database) = &name.database else {
            return Ok(current.id);
        };
        let mut known = current.objects.directory.databases.iter();
        let found = known.find(|record| same_name(&record.name, &database.text));
        found
            .map(|record| record.id)
            .ok_or_else(|| SqlError::unknown_object(&written_object(name)))
    }

    /// The id of the database of a table that was bound.
    fn id_of_table(&self, table: &Table) -> Result<i32, SqlError> {
        let current = self.current()?;
        if is_sessions(&table.name) {
            return Ok(current.id);
        }
        let mut known = current.objects.directory.databases.iter();
        let found = known.find(|record| same_name(&record.name, &table.database));
        found
            .map(|record| record.id)
            .ok_or_else(|| SqlError::internal("a table of no database"))
    }
}

impl<'a> DatabaseViewsCatalog<'a> {
    /// Nothing was asked for yet.
    #[must_use]
    pub fn of(databases: &'a DatabaseViews) -> Self {
        Self {
            databases,
            missing: Cell::new(None),
            uses: NamedUses::default(),
            chain: OwnershipChain::default(),
            others: RefCell::default(),
        }
    }

    /// The database that was asked for and not looked into yet.
    pub fn missing(&self) -> Option<i32> {
        self.missing.take()
    }

    /// The tables that are read in other databases than home.
    #[must_use]
    pub fn cross_database_tables(self) -> Vec<CrossDatabaseTable> {
        self.others.into_inner()
    }

    /// `runs-at-home`. Where a statement is to run.
    ///
    /// # Errors
    /// 40510 if it writes to several databases.
    pub fn home(&self, bound: &Statement) -> Result<i32, SqlError> {
        let current = self.databases.current()?.id;
        let mut written = Vec::new();
        for table in bound.written() {
            written.push(self.databases.id_of_table(table)?);
        }
        if let Statement::Into(into) = bound {
            written.push(match is_sessions(&into.name.name.text) {
                true => current,
                false => self.databases.id_of(&into.name)?,
            });
        }
        written.sort_unstable();
        written.dedup();
        match written.as_slice() {
            [home] => return Ok(*home),
            [] => {}
            [_, ..] => return Err(SqlError::unsupported("A statement that writes to several databases")),
        }
        let mut read: Vec<i32> = Vec::new();
        for one in self.uses.all() {
            match &one.relation {
                NamedRelation::Table(table) if !is_sessions(&table.name) => read.push(one.database_id),
                NamedRelation::Table(_)
                | NamedRelation::View(_)
                | NamedRelation::System(_)
                | NamedRelation::Sequence(_)
                | NamedRelation::Function(..) => {}
            }
        }
        read.sort_unstable();
        read.dedup();
        Ok(match read.as_slice() {
            [home] => *home,
            [] | [_, ..] => current,
        })
    }

    /// `permissions-of-each-database`. Whether the statement may be run.
    ///
    /// # Errors
    /// 229, 230, 262, 300, 1088.
    pub fn check(&self, bound: &Statement, kind: &StatementKind) -> Result<(), SqlError> {
        for database in &self.databases.known {
            let mut uses = self.uses.all();
            uses.retain(|one| one.database_id == database.id && !one.is_chained);
            let who = (&database.permissions, database.objects.catalog.database.as_ref());
            match database.id == self.databases.home {
                true => check_rows(bound, kind, (&uses, &|_| false), who)?,
                false => check_reads(&uses, who)?,
            }
        }
        Ok(())
    }

    /// A database that the statement names.
    fn database(&self, id: i32) -> Result<&'a DatabaseView, SqlError> {
        let found = self.databases.known.iter().find(|database| database.id == id);
        found.ok_or_else(|| {
            self.missing.set(Some(id));
            SqlError::internal("a database that was not looked into")
        })
    }

    /// A table where it is, or as home's connection reaches it.
    fn table(&self, database: &DatabaseView, table: &Arc<Table>) -> Arc<Table> {
        if database.id == self.databases.home {
            return table.clone();
        }
        let mut others = self.others.borrow_mut();
        let known = others
            .iter()
            .find(|one| one.database_id == database.id && one.original.sqlite == table.sqlite);
        if let Some(known) = known {
            return known.local.clone();
        }
        let attached = others.iter().filter(|one| one.reach == Reach::Attached);
        let attached: HashSet<i32> = attached.map(|one| one.database_id).chain([database.id]).collect();
        let reach = match attached.len() > self.databases.attached_max || table.is_temporary() {
            true => Reach::Copied,
            false => Reach::Attached,
        };
        let other = CrossDatabaseTable::new(database.id, reach, table.clone(), others.len());
        let local = other.local.clone();
        others.push(other);
        local
    }

    fn note(&self, id: i32, seen: NamedRelation) {
        let database = self.databases.known.iter().find(|database| database.id == id);
        let catalog = database.map(|database| &database.objects.catalog);
        let is_chained = catalog
            .zip(seen.schema())
            .is_some_and(|(catalog, schema)| self.chain.has((&catalog.database, schema), catalog.schema.names()));
        self.uses.push(seen, id, is_chained);
    }

    fn system_view(&self, name: &ObjectName) -> Result<Option<Relation>, SqlError> {
        let schema = name.schema.as_ref().map(|schema| schema.text.as_str());
        let Some(view) = self
            .databases
            .current()?
            .objects
            .catalog
            .system
            .view(schema, &name.name.text)
        else {
            return Ok(None);
        };
        let (id, current) = (self.databases.id_of(name)?, self.databases.current()?.id);
        let of = (id != current && !view.is_of_server).then_some(id);
        let found = Relation::System(Arc::new(view.relation_of(of)));
        let database = self.database(of.unwrap_or(current))?;
        self.note(database.id, NamedRelation::of(&found));
        Ok(Some(found))
    }
}

impl Catalog for DatabaseViewsCatalog<'_> {
    fn poll(&self) -> Result<(), SqlError> {
        self.databases.current()?.objects.catalog.poll()
    }

    fn relation(&self, name: &ObjectName) -> Result<Option<Relation>, SqlError> {
        let is_own = is_sessions(&name.name.text);
        if !is_own && let Some(view) = self.system_view(name)? {
            return Ok(Some(view));
        }
        let database = match is_own {
            true => self.databases.current()?,
            false => self.database(self.databases.id_of(name)?)?,
        };
        let mut plain = name.clone();
        plain.database = None;
        let found = database.objects.catalog.relation(&plain)?;
        if let Some(found) = &found {
            self.note(database.id, NamedRelation::of(found));
        }
        Ok(match found {
            Some(Relation::Table(table)) => Some(Relation::Table(self.table(database, &table))),
            Some(Relation::View(_) | Relation::System(_)) | None => found,
        })
    }

    fn note_source(&self, relation: &Relation, columns: &[SourceColumn]) -> Option<usize> {
        self.uses.note_source(relation, columns)
    }

    fn note_column(&self, source: usize, column: usize) {
        self.uses.note_column(source, column);
    }

    fn enter_view(&self, (database, schema): (&str, &str)) {
        let known = self.databases.known.iter();
        let mut known = known.map(|database| &database.objects.catalog);
        let of_view = known.find(|catalog| same_name(&catalog.database, database));
        let none = SchemaNames::default();
        let names = of_view.map_or(&none, |catalog| catalog.schema.names());
        self.chain.enter((database, schema), names);
    }

    fn leave_view(&self) {
        self.chain.leave();
    }

    fn function(&self, name: &ObjectName) -> Result<Option<Arc<SystemFunction>>, SqlError> {
        let database = self.databases.current()?;
        let mut plain = name.clone();
        plain.database = None;
        let found = database.objects.catalog.function(&plain)?;
        if let Some(found) = &found {
            self.note(database.id, NamedRelation::System(found.name.clone()));
        }
        Ok(found)
    }

    fn user_function(&self, name: &ObjectName) -> Result<Option<Arc<UserFunction>>, SqlError> {
        let database = self.database(self.databases.id_of(name)?)?;
        let mut plain = name.clone();
        plain.database = None;
        let Some(found) = database.objects.catalog.user_function(&plain)? else {
            return Ok(None);
        };
        match found.result {
            FunctionResult::Inline(_) => {
                self.note(database.id, NamedRelation::Function(found.clone(), true));
                Ok(Some(found))
            }
            FunctionResult::Scalar(_) | FunctionResult::Table { .. } => Err(SqlError::unsupported(
                "A function of a user in a statement on tables of several databases",
            )),
        }
    }

    fn table_variable(&self, name: &str) -> Result<Option<Arc<Table>>, SqlError> {
        let database = self.databases.current()?;
        let found = database.objects.catalog.table_variable(name)?;
        Ok(found.map(|table| self.table(database, &table)))
    }
}

/// Whether a table is the session's own, and so lies where the database in use is.
fn is_sessions(name: &str) -> bool {
    name.starts_with('@') || is_temporary(name)
}
