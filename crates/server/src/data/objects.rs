//! What names and ids mean to a session: DB_ID, OBJECT_ID and their kin.

use std::sync::Arc;

use selenite_plan::definition::SCHEMA;
use selenite_plan::{
    ColumnFacts, ColumnKey, DatabaseFacts, IdentityFacts, Key, ObjectFacts, ObjectKey, PlanError, PrincipalFacts,
    SchemaFacts, same_name,
};
use selenite_types::DataType;

use super::directory::Directory;
use super::permission::Standing;
use super::security::{login_facts, user_facts};
use super::session_catalog::SessionCatalog;
use crate::workbench::Objects;

/// A picture of what a session sees, for as long as a statement runs: SQLite's functions have it too.
#[derive(Clone)]
pub struct SessionObjects {
    /// Databases and logins.
    pub directory: Arc<Directory>,
    /// The id of the database in use.
    pub database_id: i32,
    /// The id of the session's login.
    pub login_id: i32,
    /// The objects of the database in use.
    pub catalog: SessionCatalog,
}

impl Objects for SessionObjects {
    fn database(&self, key: Key<'_>) -> Result<Option<DatabaseFacts>, PlanError> {
        let found = self.directory.databases.iter().find(|record| match key {
            Key::Current => record.id == self.database_id,
            Key::Name(name) => same_name(&record.name, name),
            Key::Id(id) => record.id == id,
        });
        Ok(found.map(|record| DatabaseFacts {
            id: i16::try_from(record.id).unwrap_or(i16::MAX),
            name: Arc::from(record.name.as_str()),
            is_accessible: true,
            status: Arc::from("ONLINE"),
            is_read_only: false,
            recovery: Arc::from("SIMPLE"),
        }))
    }

    fn schema(&self, key: Key<'_>) -> Result<Option<SchemaFacts>, PlanError> {
        let is_it = match key {
            Key::Current => true,
            Key::Name(name) => same_name(name, SCHEMA),
            Key::Id(id) => id == 1,
        };
        Ok(is_it.then(dbo))
    }

    fn object(&self, _key: ObjectKey<'_>) -> Result<Option<ObjectFacts>, PlanError> {
        Err(PlanError::unsupported("OBJECT_ID and its kin"))
    }

    fn column(&self, _table_id: i32, _key: ColumnKey<'_>) -> Result<Option<ColumnFacts>, PlanError> {
        Err(PlanError::unsupported("COL_NAME and its kin"))
    }

    fn identity(&self, _table_id: i32) -> Result<Option<IdentityFacts>, PlanError> {
        Err(PlanError::unsupported("IDENT_CURRENT and its kin"))
    }

    fn user(&self, key: Key<'_>) -> Result<Option<PrincipalFacts>, PlanError> {
        let principals = self.catalog.schema.principals();
        Ok(user_facts(key, &self.standing(), principals))
    }

    fn login(&self, key: Key<'_>) -> Result<Option<PrincipalFacts>, PlanError> {
        Ok(login_facts(key, self.login_id, &self.directory))
    }

    fn alias_type(&self, _key: Key<'_>) -> Result<Option<(i32, String, DataType)>, PlanError> {
        Ok(None)
    }
}

impl SessionObjects {
    /// What the session's login is in the database in use.
    pub fn standing(&self) -> Standing {
        let login = self
            .directory
            .records
            .iter()
            .find(|login| login.id == i64::from(self.login_id));
        let sid = login.map(|login| login.sid.as_slice()).unwrap_or_default();
        Standing::of(sid, &self.directory, self.database_id, self.catalog.schema.principals())
    }
}

fn dbo() -> SchemaFacts {
    SchemaFacts {
        id: 1,
        name: Arc::from(SCHEMA),
    }
}
