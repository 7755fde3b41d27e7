//! What names in a session's statements refer to.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use selenite_compiler::catalog::{Catalog, Relation, Sequence, SystemFunction, Table, UserFunction};
use selenite_compiler::definition::{SCHEMA, bracketed};
use selenite_compiler::statement::{Binding, ResultColumn};
use selenite_compiler::{Ends, NameKey, ObjectKind, SqlError, same_name, written_object};
use selenite_tsql::ast::{Name, ObjectName};

use crate::catalog::catalog_rows::CatalogRow;
use crate::catalog::directory::Directory;
use crate::catalog::schema::function::SchemaFunction;
use crate::catalog::schema::user_type::SchemaType;
use crate::catalog::schema::{
    Schema, SchemaSequence, SchemaSynonym, SchemaTable, SchemaTrigger, SchemaView, is_global, is_temporary, parsed,
};
use crate::catalog::system_relations::{SystemRelations, ViewDefinition};
use crate::catalog::table_variables::Variables;
use crate::master::TEMPDB;
use crate::{Interrupts, memory};

/// The objects that a session sees.
#[derive(Clone)]
pub struct SessionCatalog {
    /// The name of the database in use.
    pub database: Arc<str>,
    /// Its objects.
    pub schema: Arc<Schema>,
    /// The schema of names without one; where an object is not in it, it is looked for in `dbo`.
    pub default_schema: Arc<str>,
    /// What the server shows of itself.
    pub system: &'static SystemRelations,
    /// The session's temporary tables.
    pub temporary: Arc<Schema>,
    /// All databases.
    pub directory: Arc<Directory>,
    /// The table variables of the frame that runs.
    pub variables: Arc<Variables>,
    /// Whether the database is another than the one in use, for one statement: then each name has to say that it
    /// means it.
    pub is_other_database: bool,
    /// The database that a name was of, if it was another one.
    pub other_database: Arc<Mutex<Option<i32>>>,
    /// Polled while a statement is bound.
    pub interrupts: Interrupts,
}

impl SessionCatalog {
    /// Looks at all of a name but its last part.
    ///
    /// # Errors
    /// 40510 for another server or database.
    pub fn check_place(&self, name: &ObjectName) -> Result<(), SqlError> {
        if name.server.is_some() {
            return Err(SqlError::unsupported("A name with a server"));
        }
        if is_global(&name.name.text) {
            return self.check_tempdb();
        }
        match &name.database {
            Some(database) if !same_name(&database.text, &self.database) => {
                let known = self.directory.databases.iter();
                let found = known.into_iter().find(|one| same_name(&one.name, &database.text));
                let Some(found) = found else {
                    return Err(SqlError::unknown_object(&written_object(name)));
                };
                *self.noted() = Some(found.id);
                Err(SqlError::unsupported(&format!(
                    "A name in another database ({})",
                    database.text
                )))
            }
            None if self.is_other_database => Err(self.refuse_unqualified()),
            Some(_) | None => Ok(()),
        }
    }

    /// A global temporary object is tempdb's, whatever its name says.
    fn check_tempdb(&self) -> Result<(), SqlError> {
        if self.id() == Some(TEMPDB) {
            return Ok(());
        }
        *self.noted() = Some(TEMPDB);
        Err(SqlError::unsupported(
            "A global temporary object within another database",
        ))
    }

    /// Notes that a name is of another database than the one that all names were thought to be of.
    fn refuse_unqualified(&self) -> SqlError {
        *self.noted() = Some(0);
        SqlError::unsupported("A statement on tables of several databases")
    }

    /// The id of the database.
    fn id(&self) -> Option<i32> {
        let mut known = self.directory.databases.iter();
        known.find(|one| same_name(&one.name, &self.database)).map(|one| one.id)
    }

    /// The server's own view of a name. In another database it is found if it shows the server.
    ///
    /// # Errors
    /// 40510 for another server, or what there is in another database.
    fn system_view(&self, name: &ObjectName) -> Result<Option<&'static ViewDefinition>, SqlError> {
        let schema = name.schema.as_ref().map(|schema| schema.text.as_str());
        let Some(view) = self.system.view(schema, &name.name.text) else {
            return Ok(None);
        };
        if !view.is_of_server {
            self.check_place(name)?;
        }
        let is_there = |database: &str| {
            self.directory
                .databases
                .iter()
                .any(|one| same_name(&one.name, database))
        };
        let is_known = name.database.as_ref().is_none_or(|database| is_there(&database.text));
        Ok(is_known.then_some(view))
    }

    /// The columns of a view; none if its query can't be bound now.
    pub fn view_columns(&self, view: &SchemaView) -> Vec<ResultColumn> {
        let (schema, name) = (bracketed(&view.view.schema), bracketed(&view.view.name));
        self.columns_of(&format!("SELECT * FROM {schema}.{name}"))
    }

    /// The columns of a function that returns rows; none if its text can't be bound now.
    pub fn function_columns(&self, function: &SchemaFunction) -> Vec<ResultColumn> {
        let known = match &function.function {
            Ok(known) if function.kind != ObjectKind::ScalarFunction => known,
            Ok(_) | Err(_) => return Vec::new(),
        };
        let (schema, name) = (bracketed(&known.schema), bracketed(&known.name));
        let arguments = vec!["NULL"; known.parameters.len()].join(", ");
        self.columns_of(&format!("SELECT * FROM {schema}.{name}({arguments})"))
    }

    fn columns_of(&self, select: &str) -> Vec<ResultColumn> {
        let Ok(tree) = parsed(select) else {
            return Vec::new();
        };
        let variables = selenite_compiler::Variables::default();
        let binding = Binding {
            catalog: self,
            variables: &variables,
        };
        let bound = tree
            .statements
            .first()
            .and_then(|statement| binding.statement(statement).ok());
        bound.map(|bound| bound.columns().to_vec()).unwrap_or_default()
    }

    /// The database that a name was of that could not be found here.
    pub fn take_other_database(&self) -> Option<i32> {
        self.noted().take()
    }

    fn noted(&self) -> MutexGuard<'_, Option<i32>> {
        self.other_database.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Objects of users by their names, whose databases [`SessionCatalog::check_place`] has looked at.
impl SessionCatalog {
    /// What `find` finds, by schema and name, in the schemas in which a name is looked up: the one that it has, or the
    /// default one and then `dbo`.
    fn in_schemas<'a, R>(&'a self, name: &'a ObjectName, find: impl Fn(&'a str, &'a str) -> Option<R>) -> Option<R> {
        let own = name.name.text.as_str();
        match &name.schema {
            Some(schema) => find(&schema.text, own),
            None => find(&self.default_schema, own).or_else(|| find(SCHEMA, own)),
        }
    }

    /// The table of a name, which may be a temporary one's.
    pub fn table(&self, name: &ObjectName) -> Option<&Arc<SchemaTable>> {
        if is_temporary(&name.name.text) {
            return self.temporary.temporary_table(&name.name.text);
        }
        self.in_schemas(name, |schema, own| self.schema.table(schema, own))
    }

    /// The view of a name.
    pub fn view(&self, name: &ObjectName) -> Option<&Arc<SchemaView>> {
        self.in_schemas(name, |schema, own| self.schema.view(schema, own))
    }

    /// The procedure of a name, which may be a temporary one's.
    pub fn procedure(&self, name: &ObjectName) -> Option<&Arc<CatalogRow>> {
        self.called_procedure(name, None)
    }

    /// The procedure of a name that another one of the schema `caller` calls.
    pub fn called_procedure(&self, name: &ObjectName, caller: Option<&str>) -> Option<&Arc<CatalogRow>> {
        let own = name.name.text.as_str();
        if is_temporary(own) {
            return self.temporary.procedure(SCHEMA, own);
        }
        if let (Some(caller), None) = (caller, &name.schema) {
            let found = self.schema.procedure(caller, own);
            return found.or_else(|| self.schema.procedure(SCHEMA, own));
        }
        self.in_schemas(name, |schema, own| self.schema.procedure(schema, own))
    }

    /// The sequence of a name.
    pub fn own_sequence(&self, name: &ObjectName) -> Option<&Arc<SchemaSequence>> {
        self.in_schemas(name, |schema, own| self.schema.sequence(schema, own))
    }

    /// The trigger of a name.
    pub fn trigger(&self, name: &ObjectName) -> Option<&Arc<SchemaTrigger>> {
        self.in_schemas(name, |schema, own| self.schema.trigger(schema, own))
    }

    /// The synonym of a name.
    pub fn synonym(&self, name: &ObjectName) -> Option<&Arc<SchemaSynonym>> {
        self.in_schemas(name, |schema, own| self.schema.synonym(schema, own))
    }

    /// Refuses a synonym of what is elsewhere.
    ///
    /// # Errors
    /// 40510.
    pub fn check_base(&self, synonym: &SchemaSynonym) -> Result<(), SqlError> {
        let object = &synonym.object;
        let is_here = |database: &Name| same_name(&database.text, &self.database);
        match object.server.is_none() && object.database.as_ref().is_none_or(is_here) {
            true => Ok(()),
            false => Err(SqlError::unsupported("A synonym of an object in another database")),
        }
    }

    fn stored_relation(&self, name: &ObjectName) -> Option<Relation> {
        self.in_schemas(name, |schema, own| {
            let table = self.schema.table(schema, own);
            let view = || self.schema.view(schema, own);
            table
                .map(|table| Relation::Table(table.table.clone()))
                .or_else(|| view().map(|view| Relation::View(view.view.clone())))
        })
    }

    /// The function of a name.
    pub fn function_of(&self, name: &ObjectName) -> Option<&Arc<SchemaFunction>> {
        self.in_schemas(name, |schema, own| self.schema.function(schema, own))
    }

    /// The type of a name.
    pub fn user_type(&self, name: &ObjectName) -> Option<&Arc<SchemaType>> {
        self.in_schemas(name, |schema, own| self.schema.user_type(schema, own))
    }

    /// The schema of the table, view, procedure or function of a name.
    pub fn schema_of(&self, name: &ObjectName) -> Option<String> {
        self.in_schemas(name, |schema, own| {
            let table = self.schema.table(schema, own).map(|table| &table.definition.schema);
            let view = || self.schema.view(schema, own).map(|view| &view.row.schema);
            let procedure = || self.schema.procedure(schema, own).map(|row| &row.schema);
            let sequence = || self.schema.sequence(schema, own).map(|found| &found.row.schema);
            let synonym = || self.schema.synonym(schema, own).map(|found| &found.row.schema);
            let function = || self.schema.function(schema, own).map(|function| &function.row.schema);
            let trigger = || self.schema.trigger(schema, own).map(|found| &found.row.schema);
            let found = table.or_else(view).or_else(procedure).or_else(trigger);
            let found = found.or_else(sequence).or_else(synonym);
            found.or_else(function).cloned()
        })
    }

    /// The schema of an object that is to be created, as the database names it.
    ///
    /// # Errors
    /// 2760 for one that does not exist, or has no objects of users.
    pub fn new_schema(&self, name: &ObjectName) -> Result<String, SqlError> {
        if name.name.text.starts_with('#') {
            return Ok(SCHEMA.to_owned());
        }
        let written = name
            .schema
            .as_ref()
            .map_or(&*self.default_schema, |schema| schema.text.as_str());
        let known = self.schema.names().named(written);
        let known = known.filter(|schema| schema.has_objects());
        known
            .map(|schema| schema.name.clone())
            .ok_or_else(|| SqlError::unknown_schema(written))
    }
}

/// 5313: a synonym of what does not exist.
pub fn invalid_synonym(name: &str) -> SqlError {
    let text = format!("Synonym '{name}' refers to an invalid object.");
    SqlError::new(5313, Ends::Batch, text)
}

impl Catalog for SessionCatalog {
    fn poll(&self) -> Result<(), SqlError> {
        memory::reserve(0)?;
        match self.interrupts.poll() {
            None => Ok(()),
            Some(_) => Err(SqlError::internal("a statement that is to stop")),
        }
    }

    fn relation(&self, name: &ObjectName) -> Result<Option<Relation>, SqlError> {
        let own = name.name.text.as_str();
        if is_temporary(own) {
            if self.is_other_database {
                return Err(self.refuse_unqualified());
            }
            return Ok(self.table(name).map(|table| Relation::Table(table.table.clone())));
        }
        if name.single().is_some()
            && let Some(logical) = self.variables.get(&NameKey::new(own))
        {
            // `inserted` and `deleted`; names of table variables begin with another sign.
            return Ok(Some(Relation::Table(logical.table.clone())));
        }
        if let Some(view) = self.system_view(name)? {
            let of = self.id().filter(|_| self.is_other_database && !view.is_of_server);
            return Ok(Some(Relation::System(Arc::new(view.relation_of(of)))));
        }
        self.check_place(name)?;
        if let Some(found) = self.stored_relation(name) {
            return Ok(Some(found));
        }
        let Some(synonym) = self.synonym(name) else {
            return Ok(None);
        };
        self.check_base(synonym)?;
        let found = match self.system_view(&synonym.object)? {
            Some(view) => Some(Relation::System(Arc::new(view.relation_of(None)))),
            None => self.stored_relation(&synonym.object),
        };
        found.map(Some).ok_or_else(|| invalid_synonym(&synonym.row.name))
    }

    fn sequence(&self, name: &ObjectName) -> Result<Option<Arc<Sequence>>, SqlError> {
        self.check_place(name)?;
        Ok(self.own_sequence(name).map(|found| found.sequence.clone()))
    }

    fn function(&self, name: &ObjectName) -> Result<Option<Arc<SystemFunction>>, SqlError> {
        let schema = name.schema.as_ref().map(|schema| schema.text.as_str());
        match self.system.function(schema, &name.name.text) {
            Some(function) => Ok(Some(Arc::new(function.relation()))),
            None => self.check_place(name).map(|()| None),
        }
    }

    fn user_function(&self, name: &ObjectName) -> Result<Option<Arc<UserFunction>>, SqlError> {
        self.check_place(name)?;
        let found = match (self.function_of(name), self.synonym(name)) {
            (None, Some(synonym)) => {
                self.check_base(synonym)?;
                self.function_of(&synonym.object)
            }
            (found, _) => found,
        };
        found.map(|function| function.function.clone()).transpose()
    }

    fn table_variable(&self, name: &str) -> Result<Option<Arc<Table>>, SqlError> {
        if self.is_other_database {
            return Err(self.refuse_unqualified());
        }
        let found = self.variables.get(&NameKey::new(name));
        Ok(found.map(|variable| variable.table.clone()))
    }
}
