//! The environment of an expression: the clock, the session, the server, and the names of a database.
//!
//! - `asked-at-run-time`: no method is called before an expression runs: binding needs types only,
//!   which do not depend on the environment.
//! - `none-becomes-null`: `None` means that there is no such object, for which functions return NULL;
//!   an error ends the statement.

use std::cell::Cell;
use std::sync::Arc;

use selenite_types::{Guid, Moment, Value};

use crate::SqlError;
use crate::catalog::UserFunction;

mod facts;
mod keys;
mod random;
mod session;
mod session_context;

pub use facts::{
    CaughtError, ColumnFacts, ColumnKey, Connection, DatabaseFacts, IdentityFacts, Key, ObjectFacts, ObjectKey,
    ObjectKind, PrincipalFacts, SchemaFacts, Server, TableOption, UserTypeFacts,
};
pub use keys::{CertificateFacts, KeyClass, KeyFacts, KeyPair, KeyPairOperation, KeyReference, KeySecret};
pub use random::RandomState;
pub use session::{CursorActivity, CursorDetails, CursorFacts, CursorScope, Session, TriggerFacts};
pub use session_context::SessionContext;

/// The environment of an expression, one method for each group of functions. Default methods return no names.
pub trait Environment {
    /// The time at which the statement began: all calls of GETDATE in a statement return it.
    fn now(&self) -> Moment;

    /// The session's options and counters: `@@ROWCOUNT`, `@@SPID`, DATEFORMAT.
    fn session(&self) -> &Session;

    /// The connection and its user: SUSER_SNAME, HOST_NAME, CONNECTIONPROPERTY.
    fn connection(&self) -> &Connection;

    /// The server: `@@VERSION`, SERVERPROPERTY.
    fn server(&self) -> &Server;

    /// The error handled by the innermost CATCH around the statement: ERROR_NUMBER and related functions.
    fn caught(&self) -> Option<&CaughtError>;

    /// The session's random numbers: RAND.
    fn random(&self) -> &Cell<RandomState>;

    /// Called before `_bytes` bytes are allocated for a value; 0 checks whether too many are in use.
    ///
    /// Errors: 701.
    fn reserve(&self, _bytes: usize) -> Result<(), SqlError> {
        Ok(())
    }

    /// Polled for cancellation by long operations, every 65,536 steps.
    ///
    /// Errors: [`SqlError::interrupted`], which is not sent: the host stops the machine by its own poll.
    fn poll(&self) -> Result<(), SqlError> {
        Ok(())
    }

    /// Begins a row: NEXT VALUE FOR has one value for each sequence and row.
    fn begin_row(&self) {}

    /// The next value of a sequence for the current row; with `ordinal`, the value of the statement's row with this
    /// number, from 1, in the order of OVER.
    ///
    /// Errors: 11728; the errors of writing to the database.
    fn next_value(&self, _sequence_id: i32, _ordinal: Option<i64>) -> Result<i128, SqlError> {
        Err(SqlError::internal("a sequence"))
    }

    /// The next value of rowversion columns, of tempdb's counter for a temporary table.
    ///
    /// Errors: the errors of writing to the database.
    fn next_row_version(&self, _is_temporary: bool) -> Result<u64, SqlError> {
        Err(SqlError::internal("a rowversion"))
    }

    /// The last value of rowversion columns of the current database: `@@DBTS`.
    ///
    /// Errors: the errors of reading the database.
    fn last_row_version(&self) -> Result<u64, SqlError> {
        Err(SqlError::internal("a rowversion"))
    }

    /// The first value that an open transaction of the current database has taken, or else the next one:
    /// MIN_ACTIVE_ROWVERSION.
    ///
    /// Errors: as [`Environment::last_row_version`].
    fn min_active_row_version(&self) -> Result<u64, SqlError> {
        Err(SqlError::internal("a rowversion"))
    }

    /// Runs a function of a user: its value, or its rows as JSON ([`crate::UserCall`]).
    ///
    /// Errors: any error of its statements, which ends the statement that calls it.
    fn user_function(&self, _function: &Arc<UserFunction>, _arguments: Vec<Value>) -> Result<Value, SqlError> {
        Err(SqlError::internal("a function outside a statement on tables"))
    }

    /// The contents of a file that OPENROWSET names.
    ///
    /// Errors: 4834 without the permission, 4860 if it is not there or in no folder that is allowed; 701 if it is too large.
    fn bulk_file(&self, path: &str) -> Result<Vec<u8>, SqlError> {
        Err(SqlError::internal(&format!("no file {path} outside a server")))
    }

    /// Fills the bytes by the system's random generator.
    fn random_bytes(&self, bytes: &mut [u8]);

    /// The bytes of a symmetric key of the current database, if the session has opened it: ENCRYPTBYKEY, DECRYPTBYKEY.
    ///
    /// Errors: as [`Environment::database`].
    fn open_key(&self, _guid: Guid) -> Result<Option<KeySecret>, SqlError> {
        Ok(None)
    }

    /// The bytes of a symmetric key of the current database, as a key pair decrypts it: DECRYPTBYKEYAUTOCERT.
    ///
    /// Errors: 15581 without the database master key that is needed; 8645; as [`Environment::database`].
    fn key_of_pair(&self, _guid: Guid, _pair: KeyPair<'_>) -> Result<Option<KeySecret>, SqlError> {
        Ok(None)
    }

    /// What a key pair of the current database makes of data; `None` if that does not succeed: ENCRYPTBYCERT, SIGNBYCERT.
    ///
    /// Errors: as [`Environment::key_of_pair`].
    fn on_key_pair(&self, _pair: KeyPair<'_>, _operation: KeyPairOperation<'_>) -> Result<Option<Vec<u8>>, SqlError> {
        Ok(None)
    }

    /// A key of the current database: KEY_GUID, CERT_ID, CERTPROPERTY.
    ///
    /// Errors: as [`Environment::database`].
    fn key(&self, _class: KeyClass, _key: KeyReference<'_>) -> Result<Option<KeyFacts>, SqlError> {
        Ok(None)
    }

    /// A new random uniqueidentifier: NEWID.
    fn new_guid(&self) -> Guid;

    /// A new uniqueidentifier that is after all that this server process has made so: NEWSEQUENTIALID.
    fn new_sequential_guid(&self) -> Guid {
        self.new_guid()
    }

    /// A database: DB_NAME, DB_ID, DATABASEPROPERTYEX, HAS_DBACCESS.
    ///
    /// Errors: any error that ends the statement; an unknown database is `None`.
    fn database(&self, _key: Key<'_>) -> Result<Option<DatabaseFacts>, SqlError> {
        Ok(None)
    }

    /// A schema of the current database, or of `database`: SCHEMA_NAME, SCHEMA_ID.
    ///
    /// Errors: as [`Environment::database`].
    fn schema(&self, _key: Key<'_>) -> Result<Option<SchemaFacts>, SqlError> {
        Ok(None)
    }

    /// An object of a database: OBJECT_ID, OBJECT_NAME, OBJECTPROPERTY.
    ///
    /// Errors: as [`Environment::database`].
    fn object(&self, _key: ObjectKey<'_>) -> Result<Option<ObjectFacts>, SqlError> {
        Ok(None)
    }

    /// The text of a view, procedure, check or default of the current database: OBJECT_DEFINITION.
    ///
    /// Errors: as [`Environment::database`].
    fn definition(&self, _id: i32) -> Result<Option<Arc<str>>, SqlError> {
        Ok(None)
    }

    /// The mode of a lock that clients name, by principal, name and owner: APPLOCK_MODE.
    ///
    /// Errors: as [`Environment::database`].
    fn lock_mode(&self, _lock: [&str; 3]) -> Result<Arc<str>, SqlError> {
        Ok(Arc::from("NoLock"))
    }

    /// Whether such a lock would be granted in a mode: APPLOCK_TEST.
    ///
    /// Errors: as [`Environment::database`].
    fn would_lock(&self, _lock: [&str; 3], _mode: &str) -> Result<bool, SqlError> {
        Ok(true)
    }

    /// A column of a table or view of the current database: COL_NAME, COL_LENGTH, COLUMNPROPERTY.
    ///
    /// Errors: as [`Environment::database`].
    fn column(&self, _table_id: i32, _key: ColumnKey<'_>) -> Result<Option<ColumnFacts>, SqlError> {
        Ok(None)
    }

    /// The identity of a table: IDENT_CURRENT, IDENT_SEED, IDENT_INCR.
    ///
    /// Errors: as [`Environment::database`].
    fn identity(&self, _table_id: i32) -> Result<Option<IdentityFacts>, SqlError> {
        Ok(None)
    }

    /// A user or role of the current database: USER_NAME, USER_ID, IS_MEMBER, IS_ROLEMEMBER.
    ///
    /// Errors: as [`Environment::database`].
    fn user(&self, _key: Key<'_>) -> Result<Option<PrincipalFacts>, SqlError> {
        Ok(None)
    }

    /// A login or role of the server: SUSER_NAME, SUSER_ID, IS_SRVROLEMEMBER.
    ///
    /// Errors: as [`Environment::database`].
    fn login(&self, _key: Key<'_>) -> Result<Option<PrincipalFacts>, SqlError> {
        Ok(None)
    }

    /// Whether the current user has a permission on something of a class: HAS_PERMS_BY_NAME. `None` for an unknown
    /// class, permission, name or column, without a name the database or, without a class, the server; `ANY` stands for
    /// any permission.
    ///
    /// Errors: as [`Environment::database`].
    fn has_permission(
        &self,
        _securable: Option<&str>,
        _class: Option<&str>,
        _permission: &str,
        _column: Option<&str>,
    ) -> Result<Option<bool>, SqlError> {
        Ok(None)
    }

    /// A type of a user in the current database, by its schema and name or `user_type_id`; without a schema, as statements
    /// look it up: TYPE_NAME, TYPE_ID, TYPEPROPERTY.
    ///
    /// Errors: as [`Environment::database`].
    fn user_type(&self, _key: Key<'_>, _schema: Option<&str>) -> Result<Option<UserTypeFacts>, SqlError> {
        Ok(None)
    }
}
