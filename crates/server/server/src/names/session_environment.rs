//! What is around an expression: the session's state and the meaning of names.

use std::cell::Cell;
use std::sync::Arc;

use rusqlite::Connection;
use selenite_compiler::catalog::UserFunction;
use selenite_compiler::{
    CaughtError, ColumnFacts, ColumnKey, Connection as Client, DatabaseFacts, Ends, Environment, IdentityFacts, Key,
    KeyClass, KeyFacts, KeyPair, KeyPairOperation, KeyReference, KeySecret, ObjectFacts, ObjectKey, PrincipalFacts,
    RandomState, SchemaFacts, Server, Session, SqlError, UserTypeFacts,
};
use selenite_keyring::os_random;
use selenite_runtime::sqlite::{Identities, TakenValues, next_temporary_row_version};
use selenite_runtime::user_function;
use selenite_types::{Guid, Moment, Value};

use crate::database::application_locks::{LockMode, LockName, LockOwner};
use crate::database::database_connection::DatabaseConnection;
use crate::memory;
use crate::names::sequential_guid;
use crate::names::session_objects::SessionObjects;
use crate::session_state::SessionState;

/// An [`Environment`] of borrowed parts.
#[derive(Clone, Copy)]
pub struct SessionEnvironment<'a> {
    /// The session's.
    pub state: &'a SessionState,
    /// The executor's.
    pub objects: &'a SessionObjects,
    /// Of a statement on tables: the source of NEXT VALUE FOR.
    pub sequences: Option<SequenceSource<'a>>,
}

/// Where values of sequences come from while a statement runs.
#[derive(Clone, Copy)]
pub struct SequenceSource<'a> {
    /// The connection, in a transaction that writes.
    pub connection: &'a Connection,
    /// The database's counters.
    pub identities: &'a Identities,
    /// The statement's values so far.
    pub taken: &'a TakenValues,
}

impl<'a> SequenceSource<'a> {
    /// The source of a statement that runs in `database`.
    pub fn of(database: &'a DatabaseConnection, taken: &'a TakenValues) -> Self {
        Self {
            connection: &database.connection,
            identities: &database.shared.identities,
            taken,
        }
    }
}

impl Environment for SessionEnvironment<'_> {
    fn now(&self) -> Moment {
        self.state.now
    }

    fn session(&self) -> &Session {
        &self.state.session
    }

    fn connection(&self) -> &Client {
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
        match self.objects.is_interrupted() {
            true => Err(SqlError::interrupted()),
            false => Ok(()),
        }
    }

    fn begin_row(&self) {
        if let Some(sequences) = &self.sequences {
            sequences.taken.begin_row();
        }
    }

    fn next_value(&self, sequence_id: i32, ordinal: Option<i64>) -> Result<i128, SqlError> {
        let source = self.sequences.ok_or_else(|| SqlError::internal("a sequence"))?;
        let sequence = self.objects.catalog.schema.sequence_of_id(sequence_id);
        let sequence = sequence.ok_or_else(|| SqlError::internal("a sequence that is not there"))?;
        let take = || source.identities.next_of(source.connection, sequence);
        source.taken.value(sequence_id, ordinal, take)
    }

    fn next_row_version(&self, is_temporary: bool) -> Result<u64, SqlError> {
        if is_temporary {
            return Ok(next_temporary_row_version());
        }
        let source = self.sequences.ok_or_else(|| SqlError::internal("a rowversion"))?;
        source.identities.next_row_version(source.connection)
    }

    fn last_row_version(&self) -> Result<u64, SqlError> {
        self.objects.row_versions().map(|(last, _)| last)
    }

    fn min_active_row_version(&self) -> Result<u64, SqlError> {
        self.objects.row_versions().map(|(_, active)| active)
    }

    fn user_function(&self, function: &Arc<UserFunction>, arguments: Vec<Value>) -> Result<Value, SqlError> {
        user_function::call(function, arguments)
    }

    fn bulk_file(&self, path: &str) -> Result<Vec<u8>, SqlError> {
        let read = self.objects.read_bulk_file(path);
        let error = read.as_ref().err().map(SqlError::number);
        self.objects.bulk_files.note(path, error);
        read
    }

    fn random_bytes(&self, bytes: &mut [u8]) {
        os_random(bytes);
    }

    fn open_key(&self, guid: Guid) -> Result<Option<KeySecret>, SqlError> {
        Ok(self.objects.open_key(guid))
    }

    fn key_of_pair(&self, guid: Guid, pair: KeyPair<'_>) -> Result<Option<KeySecret>, SqlError> {
        self.objects.key_of_pair(guid, pair)
    }

    fn on_key_pair(&self, pair: KeyPair<'_>, operation: KeyPairOperation<'_>) -> Result<Option<Vec<u8>>, SqlError> {
        self.objects.on_key_pair(pair, operation)
    }

    fn key(&self, class: KeyClass, key: KeyReference<'_>) -> Result<Option<KeyFacts>, SqlError> {
        Ok(self.objects.key(class, key))
    }

    fn new_guid(&self) -> Guid {
        new_guid()
    }

    fn new_sequential_guid(&self) -> Guid {
        sequential_guid::next()
    }

    fn database(&self, key: Key<'_>) -> Result<Option<DatabaseFacts>, SqlError> {
        self.objects.database(key)
    }

    fn schema(&self, key: Key<'_>) -> Result<Option<SchemaFacts>, SqlError> {
        self.objects.schema(key)
    }

    fn object(&self, key: ObjectKey<'_>) -> Result<Option<ObjectFacts>, SqlError> {
        self.objects.object(key)
    }

    fn definition(&self, id: i32) -> Result<Option<Arc<str>>, SqlError> {
        Ok(self.objects.definition(id))
    }

    fn lock_mode(&self, lock: [&str; 3]) -> Result<Arc<str>, SqlError> {
        let (name, holder) = named_lock(self.objects, (self.state, "APPLOCK_MODE"), lock)?;
        let mode = self.objects.application_locks.mode(&name, holder);
        Ok(Arc::from(mode.map_or("NoLock", LockMode::word)))
    }

    fn would_lock(&self, lock: [&str; 3], mode: &str) -> Result<bool, SqlError> {
        const FUNCTION: &str = "APPLOCK_TEST";
        let mode = LockMode::of_word(mode).ok_or_else(|| invalid_lock(1225, "application lock mode", FUNCTION))?;
        let (name, holder) = named_lock(self.objects, (self.state, FUNCTION), lock)?;
        Ok(self.objects.application_locks.would_grant(&name, holder, mode))
    }

    fn column(&self, table_id: i32, key: ColumnKey<'_>) -> Result<Option<ColumnFacts>, SqlError> {
        self.objects.column(table_id, key)
    }

    fn identity(&self, table_id: i32) -> Result<Option<IdentityFacts>, SqlError> {
        self.objects.identity(table_id)
    }

    fn user(&self, key: Key<'_>) -> Result<Option<PrincipalFacts>, SqlError> {
        self.objects.user(key)
    }

    fn login(&self, key: Key<'_>) -> Result<Option<PrincipalFacts>, SqlError> {
        self.objects.login(key)
    }

    fn has_permission(
        &self,
        securable: Option<&str>,
        class: Option<&str>,
        permission: &str,
        column: Option<&str>,
    ) -> Result<Option<bool>, SqlError> {
        self.objects.has_permission((securable, class), permission, column)
    }

    fn user_type(&self, key: Key<'_>, schema: Option<&str>) -> Result<Option<UserTypeFacts>, SqlError> {
        self.objects.user_type(key, schema)
    }
}

/// The lock of a principal, a name and an owner, and who would hold it.
fn named_lock(
    objects: &SessionObjects,
    (state, function): (&SessionState, &str),
    [principal, resource, owner]: [&str; 3],
) -> Result<(LockName, (u16, LockOwner)), SqlError> {
    let principal = objects.catalog.schema.principals().any_id_of(principal);
    let principal = principal.ok_or_else(|| invalid_lock(1230, "database principal", function))?;
    let owner = LockOwner::of_word(owner).ok_or_else(|| invalid_lock(1226, "application lock owner", function))?;
    if owner == LockOwner::Transaction && state.session.transaction_count == 0 {
        let text = "The statement or function must be executed in the context of a user transaction.";
        return Err(SqlError::new(3918, Ends::Statement, text));
    }
    let session = u16::try_from(state.session.spid).unwrap_or(0);
    let name = LockName {
        database_id: objects.database_id,
        principal,
        resource: resource.chars().take(255).collect(),
    };
    Ok((name, (session, owner)))
}

fn invalid_lock(number: i32, what: &str, function: &str) -> SqlError {
    SqlError::new(
        number,
        Ends::Statement,
        format!("An invalid {what} was passed to {function}."),
    )
}

/// NEWID: random, of version 4 (RFC 9562), whose third group is little-endian on the wire.
pub(crate) fn new_guid() -> Guid {
    let mut bytes = [0; 16];
    // The library's generator fails only where the system has none, and then no login got this far.
    if aws_lc_rs::rand::fill(&mut bytes).is_err() {
        return Guid([0; 16]);
    }
    bytes[7] = bytes[7] & 0x0F | 0x40;
    bytes[8] = bytes[8] & 0x3F | 0x80;
    Guid(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_guid_is_random_and_says_so() {
        let (first, second) = (new_guid(), new_guid());
        assert_ne!(first, second);
        assert_eq!(first.0[7] >> 4, 4);
        assert_eq!(first.0[8] >> 6, 0b10);
    }
}
