//! What is around an expression of the machine itself, outside of statements on tables.

use std::cell::Cell;
use std::sync::Arc;

use selenite_compiler::{
    CaughtError, ColumnFacts, ColumnKey, Connection, DatabaseFacts, Environment, IdentityFacts, Key, KeyClass,
    KeyFacts, KeyPair, KeyPairOperation, KeyReference, KeySecret, ObjectFacts, ObjectKey, PrincipalFacts, RandomState,
    SchemaFacts, Server, Session, SqlError, UserTypeFacts,
};
use selenite_types::{Guid, Moment};

use super::SessionHost;
use crate::memory;

impl Environment for SessionHost<'_> {
    fn now(&self) -> Moment {
        self.state.now
    }

    fn session(&self) -> &Session {
        &self.state.session
    }

    fn connection(&self) -> &Connection {
        &self.state.connection
    }

    fn server(&self) -> &Server {
        &self.state.server
    }

    fn caught(&self) -> Option<&CaughtError> {
        self.state.caught.as_deref()
    }

    fn random(&self) -> &Cell<RandomState> {
        &self.state.random
    }

    fn reserve(&self, bytes: usize) -> Result<(), SqlError> {
        memory::reserve(bytes)
    }

    fn poll(&self) -> Result<(), SqlError> {
        match self.reply.is_interrupted() {
            true => Err(SqlError::interrupted()),
            false => Ok(()),
        }
    }

    fn bulk_file(&self, path: &str) -> Result<Vec<u8>, SqlError> {
        self.environment().bulk_file(path)
    }

    fn random_bytes(&self, bytes: &mut [u8]) {
        self.environment().random_bytes(bytes)
    }

    fn open_key(&self, guid: Guid) -> Result<Option<KeySecret>, SqlError> {
        self.environment().open_key(guid)
    }

    fn key_of_pair(&self, guid: Guid, pair: KeyPair<'_>) -> Result<Option<KeySecret>, SqlError> {
        self.environment().key_of_pair(guid, pair)
    }

    fn on_key_pair(&self, pair: KeyPair<'_>, operation: KeyPairOperation<'_>) -> Result<Option<Vec<u8>>, SqlError> {
        self.environment().on_key_pair(pair, operation)
    }

    fn key(&self, class: KeyClass, key: KeyReference<'_>) -> Result<Option<KeyFacts>, SqlError> {
        self.environment().key(class, key)
    }

    fn new_guid(&self) -> Guid {
        self.environment().new_guid()
    }

    fn new_sequential_guid(&self) -> Guid {
        self.environment().new_sequential_guid()
    }

    fn last_row_version(&self) -> Result<u64, SqlError> {
        self.environment().last_row_version()
    }

    fn min_active_row_version(&self) -> Result<u64, SqlError> {
        self.environment().min_active_row_version()
    }

    fn database(&self, key: Key<'_>) -> Result<Option<DatabaseFacts>, SqlError> {
        self.environment().database(key)
    }

    fn schema(&self, key: Key<'_>) -> Result<Option<SchemaFacts>, SqlError> {
        self.environment().schema(key)
    }

    fn object(&self, key: ObjectKey<'_>) -> Result<Option<ObjectFacts>, SqlError> {
        self.environment().object(key)
    }

    fn column(&self, table_id: i32, key: ColumnKey<'_>) -> Result<Option<ColumnFacts>, SqlError> {
        self.environment().column(table_id, key)
    }

    fn definition(&self, id: i32) -> Result<Option<Arc<str>>, SqlError> {
        self.environment().definition(id)
    }

    fn lock_mode(&self, lock: [&str; 3]) -> Result<Arc<str>, SqlError> {
        self.environment().lock_mode(lock)
    }

    fn would_lock(&self, lock: [&str; 3], mode: &str) -> Result<bool, SqlError> {
        self.environment().would_lock(lock, mode)
    }

    fn identity(&self, table_id: i32) -> Result<Option<IdentityFacts>, SqlError> {
        self.environment().identity(table_id)
    }

    fn user(&self, key: Key<'_>) -> Result<Option<PrincipalFacts>, SqlError> {
        self.environment().user(key)
    }

    fn login(&self, key: Key<'_>) -> Result<Option<PrincipalFacts>, SqlError> {
        self.environment().login(key)
    }

    fn has_permission(
        &self,
        securable: Option<&str>,
        class: Option<&str>,
        permission: &str,
        column: Option<&str>,
    ) -> Result<Option<bool>, SqlError> {
        self.environment().has_permission(securable, class, permission, column)
    }

    fn user_type(&self, key: Key<'_>, schema: Option<&str>) -> Result<Option<UserTypeFacts>, SqlError> {
        self.environment().user_type(key, schema)
    }
}
