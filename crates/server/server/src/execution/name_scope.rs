//! What names mean to a session's statements.

use std::sync::Arc;

use selenite_compiler::definition::SCHEMA;
use selenite_compiler::{SqlError, same_name};
use selenite_tsql::ast::ObjectName;

use crate::catalog::schema::is_global;
use crate::database::database_connection::Version;
use crate::database::database_registry::DatabaseRegistry;
use crate::database::frames::Frames;
use crate::database::transactions::Transactions;
use crate::execution_context::SessionInfo;
use crate::master::TEMPDB;
use crate::names::identity::Identity;
use crate::names::session_catalog::SessionCatalog;
use crate::names::session_objects::SessionObjects;
use crate::system_views::RELATIONS;

/// The definitions that a statement was bound for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlanVersion {
    /// The database.
    pub database_id: i32,
    /// Its definitions.
    pub version: Version,
    /// Those of the session's temporary tables.
    pub temporary: u64,
    /// Those of the frame's table variables.
    pub variables: usize,
    /// Whether names without a database mean none of it, since another one is in use.
    pub is_other_database: bool,
}

/// The objects of the database in use, and what functions see of them.
pub(crate) struct NameScope {
    /// As the last statement, or [`NameScope::refresh`], has found them.
    pub objects: SessionObjects,
    /// What functions see instead while a statement runs in another database than the one in use.
    pub substitute: Option<SessionObjects>,
    /// Whether a statement runs in another database than the one in use.
    pub is_other_database: bool,
    /// The schema of names without one.
    pub default_schema: Arc<str>,
    /// The state that `objects` shows: definitions, and how many connections had been closed.
    shown: Option<(PlanVersion, u64)>,
}

impl NameScope {
    /// The scope of a session which has used no database yet.
    ///
    /// # Errors
    /// The error of master.db.
    pub fn new(
        registry: &DatabaseRegistry,
        (session, identity): (&SessionInfo<'_>, Identity),
    ) -> Result<Self, SqlError> {
        let directory = registry.directory(session.instance)?;
        let catalog = SessionCatalog {
            database: Arc::from(session.login_info.database.as_str()),
            schema: Arc::default(),
            default_schema: Arc::from(SCHEMA),
            system: &RELATIONS,
            temporary: Arc::default(),
            directory: directory.clone(),
            variables: Arc::default(),
            is_other_database: false,
            other_database: Arc::default(),
            interrupts: session.interrupts.clone(),
        };
        Ok(Self {
            objects: SessionObjects {
                application_locks: registry.application_locks.clone(),
                directory,
                database_id: session.login_info.database_id,
                identity,
                known_permissions: Arc::default(),
                catalog,
                shared: None,
                instance: session.instance.clone(),
                interrupts: session.interrupts.clone(),
                tempdb: None,
                open_keys: Arc::default(),
                bulk_files: Arc::default(),
                other_databases: Arc::default(),
            },
            substitute: None,
            is_other_database: false,
            default_schema: Arc::from(SCHEMA),
            shown: None,
        })
    }

    /// Reads the present state of the database in use: other sessions may have defined something.
    ///
    /// # Errors
    /// What keeps it from being opened or read.
    pub fn refresh(
        &mut self,
        registry: &DatabaseRegistry,
        session: &SessionInfo<'_>,
        transactions: &mut Transactions<'_>,
        frames: &Frames,
    ) -> Result<PlanVersion, SqlError> {
        let (database_id, temporary) = (transactions.current, transactions.temporary_version());
        let used = transactions.connect()?;
        let (definitions, schema) = used.database.definitions()?;
        let version = PlanVersion {
            database_id,
            version: definitions,
            temporary,
            variables: frames.mark(),
            is_other_database: self.is_other_database,
        };
        let tempdb = transactions.get(TEMPDB).filter(|_| database_id != TEMPDB);
        self.objects.tempdb = match tempdb {
            Some(tempdb) => Some(tempdb.database.definitions()?.1),
            None => None,
        };
        let directory = registry.directory(session.instance)?;
        let database = &transactions.connected()?.database;
        let shown = Some((version, transactions.closed_count()));
        // The objects' own directory changes without the catalog's.
        let is_shown = self.shown == shown && Arc::ptr_eq(&directory, &self.objects.catalog.directory);
        if !is_shown {
            self.objects.directory = directory;
            self.objects.shared = Some(database.shared.clone());
            self.objects.catalog = SessionCatalog {
                database: Arc::from(database.shared.record.name.as_str()),
                schema,
                default_schema: Arc::clone(&self.default_schema),
                system: &RELATIONS,
                temporary: database.temporary(),
                directory: self.objects.directory.clone(),
                variables: Arc::default(),
                is_other_database: self.is_other_database,
                other_database: Arc::default(),
                interrupts: session.interrupts.clone(),
            };
            self.shown = shown;
        }
        self.objects.catalog.variables = frames.variables();
        self.objects.catalog.default_schema = Arc::clone(&self.default_schema);
        Ok(version)
    }

    /// The next [`NameScope::refresh`] reads everything.
    pub fn invalidate(&mut self) {
        self.shown = None;
    }

    /// The id of the other database that a name specifies; `None` if it specifies none that exists. A global temporary
    /// object is tempdb's.
    pub fn other_database(&self, name: &ObjectName, current: i32) -> Option<i32> {
        let id = match is_global(&name.name.text) {
            true => TEMPDB,
            false => {
                let database = name.database.as_ref()?;
                let mut known = self.objects.directory.databases.iter();
                known.find(|record| same_name(&record.name, &database.text))?.id
            }
        };
        (id != current).then_some(id)
    }

    /// What functions see while a statement runs.
    pub fn seen_by_functions(&self) -> &SessionObjects {
        self.substitute.as_ref().unwrap_or(&self.objects)
    }
}
