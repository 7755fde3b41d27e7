//! What names and ids mean to a session: DB_ID, OBJECT_ID and related ones.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use selenite_compiler::catalog::{Column, KeyKind};
use selenite_compiler::definition::SCHEMA;
use selenite_compiler::statement::ResultColumn;
use selenite_compiler::{
    ColumnFacts, ColumnKey, DatabaseFacts, IdentityFacts, Key, ObjectFacts, ObjectKey, ObjectKind, PrincipalFacts,
    SchemaFacts, SqlError, TableOption, UserTypeFacts, same_name,
};
use selenite_tsql::{stored_condition, stored_expression};
use selenite_types::Decimal;

use crate::bulk_load::{ReadFiles, open_allowed, read_allowed};
use crate::catalog::directory::Directory;
use crate::catalog::effective_permissions::Permissions;
use crate::catalog::object_list::ListedObject;
use crate::catalog::permission::check_bulk;
use crate::catalog::principals::{Principals, has_guests};
use crate::catalog::schema::user_type::SchemaType;
use crate::catalog::schema::{Schema, SchemaTable, is_global};
use crate::catalog::system_relations::ViewDefinition;
use crate::database::application_locks::ApplicationLocks;
use crate::database::database_connection::{SharedDatabase, look_at};
use crate::database::expectation::tempdb;
use crate::master::{DatabaseRecord, LoginRecord, TEMPDB};
use crate::names::identity::Identity;
use crate::names::known_permissions::KnownPermissions;
use crate::names::principal_facts::{login_facts, user_facts};
use crate::names::session_catalog::SessionCatalog;
use crate::open_keys::OpenKeys;
use crate::{Instance, Interrupts};

/// A snapshot of the objects that a session sees, for the duration of a statement. SQLite's functions use it, too.
#[derive(Clone)]
pub struct SessionObjects {
    /// Databases and logins.
    pub directory: Arc<Directory>,
    /// The id of the database in use.
    pub database_id: i32,
    /// Whose rights the session has.
    pub identity: Identity,
    /// What rights that are.
    pub known_permissions: Arc<KnownPermissions>,
    /// The objects of the database in use.
    pub catalog: SessionCatalog,
    /// The database in use, once it was used.
    pub shared: Option<Arc<SharedDatabase>>,
    /// Locks that clients name themselves.
    pub application_locks: Arc<ApplicationLocks>,
    /// The server.
    pub instance: Arc<Instance>,
    /// What stops a statement.
    pub interrupts: Interrupts,
    /// tempdb's objects, if the session has tempdb open and another database in use.
    pub tempdb: Option<Arc<Schema>>,
    /// The keys that the session has opened.
    pub open_keys: Arc<OpenKeys>,
    /// What OPENROWSET has read, for the audit log.
    pub bulk_files: Arc<ReadFiles>,
    /// Other databases whose views a statement names, by their ids.
    pub other_databases: Arc<HashMap<i32, Self>>,
}

impl SessionObjects {
    /// Whether the request is to stop.
    pub fn is_interrupted(&self) -> bool {
        self.interrupts.poll().is_some()
    }

    /// A database.
    ///
    /// # Errors
    /// The error that ends the statement. An unknown database is `None`, as in the following functions.
    pub fn database(&self, key: Key<'_>) -> Result<Option<DatabaseFacts>, SqlError> {
        let found = self.directory.databases.iter().find(|record| match key {
            Key::Current => record.id == self.database_id,
            Key::Name(name) => same_name(&record.name, name),
            Key::Id(id) => record.id == id,
            Key::Sid(_) => false,
        });
        let Some(record) = found else { return Ok(None) };
        let options = self.directory.options(record.id);
        let is_accessible = record.id == self.database_id || !options.is_offline() && self.is_accessible(record);
        Ok(Some(DatabaseFacts {
            id: i16::try_from(record.id).unwrap_or(i16::MAX),
            name: Arc::from(record.name.as_str()),
            is_accessible,
            status: Arc::from(if options.is_offline() { "OFFLINE" } else { "ONLINE" }),
            is_read_only: options.is_read_only(),
            recovery: Arc::from("SIMPLE"),
            user_access: options.user_access().word(),
            switched_on: Arc::from(options.switched_on()),
        }))
    }

    /// A schema.
    ///
    /// # Errors
    /// As [`SessionObjects::database`].
    pub fn schema(&self, key: Key<'_>) -> Result<Option<SchemaFacts>, SqlError> {
        let names = self.catalog.schema.names();
        let found = match key {
            Key::Current => names.named(&self.permissions().default_schema),
            Key::Name(wanted) => names.named(wanted),
            Key::Id(wanted) => names.of_id(wanted),
            Key::Sid(_) => None,
        };
        Ok(found.map(|schema| SchemaFacts {
            id: schema.id,
            name: Arc::from(schema.name.as_str()),
        }))
    }

    /// An object.
    ///
    /// # Errors
    /// As [`SessionObjects::database`].
    pub fn object(&self, key: ObjectKey<'_>) -> Result<Option<ObjectFacts>, SqlError> {
        match key {
            ObjectKey::Name {
                database,
                schema,
                name,
                object_type,
            } => {
                let found = self.object_of_name(database, schema, name)?;
                Ok(
                    found
                        .filter(|found| object_type.is_none_or(|wanted| same_name(letters(found.kind), wanted.trim()))),
                )
            }
            ObjectKey::Id { database, id } => self.object_of_id(database, id),
        }
    }

    /// A column.
    ///
    /// # Errors
    /// As [`SessionObjects::database`].
    pub fn column(&self, table_id: i32, key: ColumnKey<'_>) -> Result<Option<ColumnFacts>, SqlError> {
        let columns = self.columns_of(table_id);
        Ok(columns.into_iter().find(|column| match key {
            ColumnKey::Name(name) => same_name(&column.name, name),
            ColumnKey::Number(number) => column.number == number,
        }))
    }

    /// The text of a view, procedure, check or default; `None` for what has none, or may not be seen.
    pub fn definition(&self, id: i32) -> Option<Arc<str>> {
        let permissions = self.permissions();
        let schema = &self.catalog.schema;
        let views = schema.views().map(|view| &view.row);
        let functions = schema.functions().map(|function| &function.row);
        let triggers = schema.triggers().map(|trigger| &*trigger.row);
        let procedures = schema.procedures().map(|row| &**row);
        let mut modules = views.chain(procedures).chain(functions).chain(triggers);
        if let Some(row) = modules.find(|row| row.object_id == id) {
            if !permissions.sees_text((&row.schema, &row.name)) {
                return None;
            }
            return Some(Arc::from(row.definition.as_str()));
        }
        let object = schema.objects().into_iter().find(|object| object.id == id)?;
        let table = schema.tables().find(|table| table.table.object_id == object.parent)?;
        let definition = &table.definition;
        if !permissions.sees_text((&definition.schema, &definition.name)) {
            return None;
        }
        let check = definition
            .checks
            .iter()
            .find(|check| same_name(&check.name, &object.name));
        let defaults = definition.columns.iter().filter_map(|column| column.default.as_ref());
        let default = defaults.into_iter().find(|(name, _)| same_name(name, &object.name));
        let text = check.map(|check| stored_condition(&check.condition));
        text.or_else(|| default.map(|(_, value)| stored_expression(value)))
            .map(Arc::from)
    }

    /// A table's identity.
    ///
    /// # Errors
    /// As [`SessionObjects::database`].
    pub fn identity(&self, table_id: i32) -> Result<Option<IdentityFacts>, SqlError> {
        let Some(table) = self.table_of_id(table_id) else {
            return Ok(None);
        };
        let column = table.table.identity().and_then(|at| table.table.columns.get(at));
        let Some(rule) = column.and_then(|column| column.identity) else {
            return Ok(None);
        };
        let last = match &self.shared {
            Some(shared) => shared.last_identity(&self.instance, &table.table)?,
            None => None,
        };
        let whole = |unscaled| Decimal { unscaled, scale: 0 };
        Ok(Some(IdentityFacts {
            seed: whole(rule.seed),
            increment: whole(rule.increment),
            current: whole(last.unwrap_or(rule.seed)),
        }))
    }

    /// The last value of rowversion columns, and the first that an open transaction has taken, or else the next one.
    ///
    /// # Errors
    /// As [`SessionObjects::database`].
    pub fn row_versions(&self) -> Result<(u64, u64), SqlError> {
        match &self.shared {
            Some(shared) => shared.row_versions(&self.instance),
            None => Err(SqlError::internal("a database that is not open")),
        }
    }

    /// A user or role of the current database.
    ///
    /// # Errors
    /// As [`SessionObjects::database`].
    pub fn user(&self, key: Key<'_>) -> Result<Option<PrincipalFacts>, SqlError> {
        let principals = self.catalog.schema.principals();
        Ok(user_facts(key, &self.permissions(), principals))
    }

    /// A login or role of the server.
    ///
    /// # Errors
    /// As [`SessionObjects::database`].
    pub fn login(&self, key: Key<'_>) -> Result<Option<PrincipalFacts>, SqlError> {
        Ok(login_facts(
            key,
            (&self.identity, || self.permissions()),
            &self.directory,
        ))
    }

    /// The types of users that are visible to the session's user, by rising number.
    pub fn seen_types(&self) -> Vec<&Arc<SchemaType>> {
        let permissions = self.permissions();
        let mut types = self.catalog.schema.user_types();
        types.retain(|one| permissions.sees_type((&one.row.schema, &one.row.name)));
        types
    }

    /// A type of a user in the current database that is visible to the session's user.
    ///
    /// # Errors
    /// As [`SessionObjects::database`].
    pub fn user_type(&self, key: Key<'_>, schema: Option<&str>) -> Result<Option<UserTypeFacts>, SqlError> {
        let known = &self.catalog.schema;
        let found = match key {
            Key::Id(id) => known.user_types().into_iter().find(|one| one.id() == id),
            Key::Name(name) => match schema {
                Some(schema) => known.user_type(schema, name),
                None => known
                    .user_type(&self.catalog.default_schema, name)
                    .or_else(|| known.user_type(SCHEMA, name)),
            },
            Key::Current | Key::Sid(_) => None,
        };
        let permissions = self.permissions();
        let found = found.filter(|one| permissions.sees_type((&one.row.schema, &one.row.name)));
        Ok(found.map(|one| UserTypeFacts {
            id: one.id(),
            name: one.row.name.clone(),
            base: one.base(),
            nullable: one.is_nullable(),
            owner: DBO,
        }))
    }
}

impl SessionObjects {
    /// What the session's login is in the database in use.
    pub fn permissions(&self) -> Permissions {
        let (directory, schema) = (&self.directory, &self.catalog.schema);
        self.known_permissions
            .of(&self.identity, directory, (self.database_id, schema))
    }

    /// What the session's login sees, for the server's views.
    #[must_use]
    pub fn seen(&self) -> Cow<'_, Self> {
        let permissions = self.permissions();
        if permissions.defines() {
            return Cow::Borrowed(self);
        }
        let mut seen = self.clone();
        seen.catalog.schema = Arc::new(permissions.seen(&self.catalog.schema));
        if self.database_id == TEMPDB {
            // Temporary tables are the session's own.
            seen.catalog.schema = Arc::new(seen.catalog.schema.with_temporary(&self.catalog.temporary));
        }
        Cow::Owned(seen)
    }

    /// The contents of a file that OPENROWSET names.
    ///
    /// # Errors
    /// 4834, 4860; 701 if it is too large for the request's memory.
    pub fn read_bulk_file(&self, path: &str) -> Result<Vec<u8>, SqlError> {
        check_bulk(&self.permissions())?;
        let file = open_allowed(&self.instance.config().bulk_folders, path)?;
        read_allowed(file, path)
    }

    /// A database that is not the one in use, by its id in digits.
    pub fn of_place(&self, id: &str) -> Option<&Self> {
        self.other_databases.get(&id.parse::<i32>().ok()?)
    }

    /// Whether the session's login may use a database: HAS_DBACCESS. One that can't be looked into can't be used.
    fn is_accessible(&self, record: &DatabaseRecord) -> bool {
        if let Some((database, _)) = self.identity.user {
            return record.id == database || record.id == TEMPDB;
        }
        let own = |login: &&LoginRecord| login.sid[..] == self.identity.sid[..];
        let Some(login) = self.directory.records.iter().find(own) else {
            return false;
        };
        if login.is_administrator || has_guests(record.id) {
            return true;
        }
        let Ok(path) = record.path(self.instance.data_folder()) else {
            return false;
        };
        let found = look_at(&self.instance, record, &path).and_then(|connection| Principals::load(&connection));
        !record.is_reserved()
            && found.is_ok_and(|principals| principals.lets_in(&login.sid, self.directory.has_control(&login.sid)))
    }

    fn object_of_name(
        &self,
        database: Option<&str>,
        schema: Option<&str>,
        name: &str,
    ) -> Result<Option<ObjectFacts>, SqlError> {
        if is_global(name) {
            return self.global(|object| same_name(&object.name, name));
        }
        if name.starts_with('#') {
            // Temporary tables are tempdb's: without its name they are not found from elsewhere.
            if !same_name(database.unwrap_or(&self.catalog.database), "tempdb") {
                return Ok(None);
            }
            return Ok(self.listed(&self.catalog.temporary, |object| same_name(&object.name, name)));
        }
        if let Some(view) = self.catalog.system.view(schema, name) {
            return Ok(Some(system_object(view)));
        }
        if database.is_some_and(|database| !same_name(database, &self.catalog.database)) {
            return self.object_in(Key::Name(database.unwrap_or_default()));
        }
        let permissions = self.permissions();
        let in_schema = |schema: &str| {
            self.listed(&self.catalog.schema, |object| {
                same_name(&object.name, name) && same_name(&object.schema, schema)
            })
        };
        let found = match schema {
            Some(schema) => in_schema(schema),
            None => in_schema(&permissions.default_schema).or_else(|| in_schema(SCHEMA)),
        };
        Ok(found.filter(|found| permissions.sees(found.kind, (&found.schema.name, &found.name))))
    }

    fn object_of_id(&self, database: Option<i32>, id: i32) -> Result<Option<ObjectFacts>, SqlError> {
        if let Some(view) = self.catalog.system.view_of_id(id) {
            return Ok(Some(system_object(view)));
        }
        if let Some(database) = database.filter(|database| *database != self.database_id) {
            return match database {
                TEMPDB => match self.listed(&self.catalog.temporary, |object| object.id == id) {
                    None => self.global(|object| object.id == id),
                    found => Ok(found),
                },
                other => self.object_in(Key::Id(other)),
            };
        }
        let found = self.listed(&self.catalog.schema, |object| object.id == id);
        let permissions = self.permissions();
        Ok(found.filter(|found| permissions.sees(found.kind, (&found.schema.name, &found.name))))
    }

    /// A global temporary object, as the session sees it.
    fn global(&self, is_it: impl Fn(&ListedObject) -> bool) -> Result<Option<ObjectFacts>, SqlError> {
        let is_it = |object: &ListedObject| is_global(&object.name) && is_it(object);
        if self.database_id == TEMPDB {
            return Ok(self.listed(&self.catalog.schema, is_it));
        }
        if let Some(tempdb) = &self.tempdb {
            return Ok(self.listed(tempdb, is_it));
        }
        let record = self.directory.databases.iter().find(|record| record.id == TEMPDB);
        let Some(record) = record.filter(|_| self.instance.has_temporary_database()) else {
            return Ok(None);
        };
        let path = tempdb(&self.instance)?.path().to_owned();
        let schema = Schema::load(&look_at(&self.instance, record, &path)?, "main", &record.name)?;
        Ok(self.listed(&schema, is_it))
    }

    /// An object of another database that there is can't be looked up.
    fn object_in(&self, key: Key<'_>) -> Result<Option<ObjectFacts>, SqlError> {
        match self.database(key)? {
            Some(database) => Err(SqlError::unsupported(&format!(
                "An object in another database ({})",
                database.name
            ))),
            None => Ok(None),
        }
    }

    fn listed(&self, schema: &Schema, is_it: impl Fn(&ListedObject) -> bool) -> Option<ObjectFacts> {
        let found = schema.objects().into_iter().find(is_it)?;
        let table = schema
            .table(&found.schema, &found.name)
            .filter(|table| table.table.object_id == found.id);
        Some(ObjectFacts {
            id: found.id,
            name: Arc::from(found.name.as_str()),
            schema: SchemaFacts {
                id: schema.names().id_of(&found.schema),
                name: Arc::from(found.schema.as_str()),
            },
            kind: found.kind,
            is_system: false,
            table: table.map(|table| options(table)).unwrap_or_default(),
        })
    }

    fn table_of_id(&self, id: i32) -> Option<Arc<SchemaTable>> {
        let permissions = self.permissions();
        let is_shown = |table: &&Arc<SchemaTable>| {
            let definition = &table.definition;
            permissions.sees(ObjectKind::UserTable, (&definition.schema, &definition.name))
        };
        let tables = self.catalog.schema.tables().filter(is_shown);
        tables
            .chain(self.catalog.temporary.tables())
            .find(|table| table.table.object_id == id)
            .cloned()
    }

    /// The columns of a table or view.
    pub(crate) fn columns_of(&self, id: i32) -> Vec<ColumnFacts> {
        if let Some(table) = self.table_of_id(id) {
            let facts = |(number, column): (i32, &Column)| ColumnFacts {
                number,
                name: Arc::from(column.name.as_str()),
                data_type: column.data_type,
                nullable: column.nullable,
                is_identity: column.identity.is_some(),
                is_computed: column.computed.is_some(),
            };
            return (1..).zip(&table.table.columns).map(facts).collect();
        }
        let view = self
            .catalog
            .schema
            .views()
            .find(|view| view.row.object_id == id)
            .filter(|view| {
                let name = (view.row.schema.as_str(), view.row.name.as_str());
                self.permissions().sees(ObjectKind::View, name)
            })
            .cloned();
        let columns = view.map(|view| self.catalog.view_columns(&view)).unwrap_or_default();
        let facts = |(number, column): (i32, ResultColumn)| ColumnFacts {
            number,
            name: Arc::from(column.name.as_str()),
            data_type: column.data_type,
            nullable: column.nullable,
            is_identity: column.identity.is_some(),
            is_computed: false,
        };
        (1..).zip(columns).map(facts).collect()
    }
}

/// What OBJECTPROPERTY reports of a table.
fn options(table: &SchemaTable) -> TableOption {
    let definition = &table.definition;
    let has_key = |kind| definition.keys.iter().any(|key| key.kind == kind);
    let indexes = table.listed_indexes();
    TableOption {
        has_identity: table.table.identity().is_some(),
        has_primary_key: has_key(KeyKind::Primary),
        has_index: indexes.iter().any(|index| index.number > 0),
        has_clustered_index: indexes.iter().any(|index| index.number == 1),
        has_foreign_key: !definition.foreign_keys.is_empty(),
        has_check: !definition.checks.is_empty(),
        has_default: definition.columns.iter().any(|column| column.default.is_some()),
        has_unique: has_key(KeyKind::Unique),
    }
}

fn system_object(view: &ViewDefinition) -> ObjectFacts {
    ObjectFacts {
        id: view.id,
        name: Arc::from(view.name),
        schema: SchemaFacts {
            id: view.schema_id(),
            name: Arc::from(view.schema),
        },
        kind: ObjectKind::View,
        is_system: true,
        table: TableOption::default(),
    }
}

/// The letters of sys.objects.type.
pub fn letters(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::UserTable => "U",
        ObjectKind::SystemTable => "S",
        ObjectKind::View => "V",
        ObjectKind::Procedure => "P",
        ObjectKind::ExtendedProcedure => "X",
        ObjectKind::ScalarFunction => "FN",
        ObjectKind::InlineFunction => "IF",
        ObjectKind::TableFunction => "TF",
        ObjectKind::Trigger => "TR",
        ObjectKind::PrimaryKey => "PK",
        ObjectKind::Unique => "UQ",
        ObjectKind::ForeignKey => "F",
        ObjectKind::Check => "C",
        ObjectKind::Default => "D",
        ObjectKind::Sequence => "SO",
        ObjectKind::Synonym => "SN",
    }
}

/// The number of the user dbo.
const DBO: i32 = 1;
