//! Values of the environment.

use std::sync::Arc;

use selenite_types::{DataType, Decimal};

/// The connection and its user.
#[derive(Clone, Debug)]
pub struct Connection {
    /// The login: SUSER_SNAME, SYSTEM_USER.
    pub login: Arc<str>,
    /// The login that opened the connection: ORIGINAL_LOGIN.
    pub original_login: Arc<str>,
    /// The user of the current database: USER, CURRENT_USER, SESSION_USER.
    pub user: Arc<str>,
    /// The client's host name: HOST_NAME.
    pub host: Arc<str>,
    /// The client's process id: HOST_ID.
    pub host_id: Arc<str>,
    /// The client's application name: APP_NAME.
    pub application: Arc<str>,
    /// CONNECTIONPROPERTY('net_transport') and ('physical_net_transport'): TCP.
    pub net_transport: Arc<str>,
    /// CONNECTIONPROPERTY('protocol_type'): TSQL.
    pub protocol_type: Arc<str>,
    /// CONNECTIONPROPERTY('auth_scheme'): SQL.
    pub auth_scheme: Arc<str>,
    /// The server's address on this connection.
    pub local_net_address: Option<Arc<str>>,
    /// The server's port on this connection.
    pub local_tcp_port: Option<i32>,
    /// The client's address.
    pub client_net_address: Option<Arc<str>>,
}

/// Properties of the server.
#[derive(Clone, Debug)]
pub struct Server {
    /// `@@SERVERNAME` and SERVERPROPERTY('ServerName').
    pub name: Arc<str>,
    /// `@@SERVICENAME`.
    pub service_name: Arc<str>,
    /// SERVERPROPERTY('MachineName').
    pub machine_name: Arc<str>,
    /// SERVERPROPERTY('InstanceName'): `None` for the default instance.
    pub instance_name: Option<Arc<str>>,
    /// `@@VERSION`.
    pub version: Arc<str>,
    /// SERVERPROPERTY('ProductVersion'): four numbers.
    pub product_version: [u16; 4],
    /// SERVERPROPERTY('ProductLevel'): RTM.
    pub product_level: Arc<str>,
    /// SERVERPROPERTY('Edition').
    pub edition: Arc<str>,
    /// SERVERPROPERTY('EngineEdition').
    pub engine_edition: i32,
    /// SERVERPROPERTY('ProcessID').
    pub process_id: i32,
    /// SERVERPROPERTY('InstanceDefaultDataPath').
    pub data_path: Arc<str>,
    /// `@@MAX_CONNECTIONS`.
    pub connection_count_max: i32,
}

/// The error that a CATCH handles.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CaughtError {
    /// ERROR_NUMBER.
    pub number: i32,
    /// ERROR_SEVERITY.
    pub severity: i32,
    /// ERROR_STATE.
    pub state: i32,
    /// ERROR_PROCEDURE: `None` in a batch.
    pub procedure: Option<Arc<str>>,
    /// ERROR_LINE.
    pub line: i32,
    /// ERROR_MESSAGE.
    pub text: Arc<str>,
}

/// The key of a lookup.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Key<'a> {
    /// The current database, its default schema, the current user or the current login.
    Current,
    /// A name.
    Name(&'a str),
    /// An id.
    Id(i32),
    /// The security identifier of a login.
    Sid(&'a [u8]),
}

/// A database.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DatabaseFacts {
    /// The id.
    pub id: i16,
    /// Its name.
    pub name: Arc<str>,
    /// Whether the login has access to it.
    pub is_accessible: bool,
    /// DATABASEPROPERTYEX('Status'), such as ONLINE.
    pub status: Arc<str>,
    /// DATABASEPROPERTYEX('Updateability'): whether it is READ_ONLY.
    pub is_read_only: bool,
    /// DATABASEPROPERTYEX('Recovery'): FULL, SIMPLE.
    pub recovery: Arc<str>,
    /// DATABASEPROPERTYEX('UserAccess'), such as MULTI_USER.
    pub user_access: &'static str,
    /// The options of ALTER DATABASE that are ON.
    pub switched_on: Arc<[&'static str]>,
}

/// A schema.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SchemaFacts {
    /// The id.
    pub id: i32,
    /// Its name.
    pub name: Arc<str>,
}

/// The key of an object's lookup.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ObjectKey<'a> {
    /// A name.
    Name {
        /// The database; `None` is the current one.
        database: Option<&'a str>,
        /// The schema; `None` is the default one.
        schema: Option<&'a str>,
        /// The object's name.
        name: &'a str,
        /// The type as in OBJECT_ID's second argument (`U`, `V`, `P`); `None` is any.
        object_type: Option<&'a str>,
    },
    /// An id.
    Id {
        /// The database; `None` is the current one.
        database: Option<i32>,
        /// The object's id.
        id: i32,
    },
}

/// An object: a table, view, procedure or constraint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ObjectFacts {
    /// The id.
    pub id: i32,
    /// Its name.
    pub name: Arc<str>,
    /// Its schema.
    pub schema: SchemaFacts,
    /// The kind.
    pub kind: ObjectKind,
    /// Whether it is a system object.
    pub is_system: bool,
    /// The properties of a table.
    pub table: TableOption,
}

/// The values of OBJECTPROPERTY for a table.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct TableOption {
    /// TableHasIdentity.
    pub has_identity: bool,
    /// TableHasPrimaryKey.
    pub has_primary_key: bool,
    /// TableHasIndex.
    pub has_index: bool,
    /// TableHasClustIndex.
    pub has_clustered_index: bool,
    /// TableHasForeignKey.
    pub has_foreign_key: bool,
    /// TableHasCheckCnst.
    pub has_check: bool,
    /// TableHasDefaultCnst.
    pub has_default: bool,
    /// TableHasUniqueCnst.
    pub has_unique: bool,
}

/// The kind of an object, by the letters of `sys.objects.type`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ObjectKind {
    /// `U`
    UserTable,
    /// `S` and `IT`
    SystemTable,
    /// `V`
    View,
    /// `P`
    Procedure,
    /// `X`
    ExtendedProcedure,
    /// `FN`
    ScalarFunction,
    /// `IF`
    InlineFunction,
    /// `TF`
    TableFunction,
    /// `TR`
    Trigger,
    /// `PK`
    PrimaryKey,
    /// `UQ`
    Unique,
    /// `F`
    ForeignKey,
    /// `C`
    Check,
    /// `D`
    Default,
    /// `SO`
    Sequence,
    /// `SN`
    Synonym,
}

/// The key of a column's lookup.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ColumnKey<'a> {
    /// A name.
    Name(&'a str),
    /// A number, from 1.
    Number(i32),
}

/// A column.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ColumnFacts {
    /// Its number, from 1.
    pub number: i32,
    /// Its name.
    pub name: Arc<str>,
    /// Its type.
    pub data_type: DataType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// Whether it is the identity column.
    pub is_identity: bool,
    /// Whether it is computed.
    pub is_computed: bool,
}

/// A type of a user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UserTypeFacts {
    /// `user_type_id` in sys.types.
    pub id: i32,
    /// Its name.
    pub name: String,
    /// The type for which it stands; none of a table type.
    pub base: Option<DataType>,
    /// Whether a column of it allows NULL if its definition does not say.
    pub nullable: bool,
    /// The principal that owns it.
    pub owner: i32,
}

/// A table's identity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IdentityFacts {
    /// The first value.
    pub seed: Decimal,
    /// The increment.
    pub increment: Decimal,
    /// The last value that was assigned; the seed before the first.
    pub current: Decimal,
}

/// A user, login or role.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PrincipalFacts {
    /// The id.
    pub id: i32,
    /// Its name.
    pub name: Arc<str>,
    /// Whether it is a role.
    pub is_role: bool,
    /// For a role: whether the current user or login is a member.
    pub is_member: bool,
}
