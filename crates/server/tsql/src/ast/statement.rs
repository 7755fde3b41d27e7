//! Statements, control of flow, views and procedures, which are mutually recursive.

use std::sync::Arc;

use super::{
    AlterAuthorization, AlterDatabase, AlterEncryptionKey, AlterIndex, AlterLogin, AlterRole, AlterTable, AlterUser,
    AssignmentOperator, Backup, BackupCertificate, CellKeyStatement, Condition, CreateCertificate, CreateDatabase,
    CreateIndex, CreateLogin, CreateRole, CreateSynonym, CreateTable, CreateUser, CursorStatement, Dbcc, Delete,
    DropIndex, EncryptionKey, Execute, ExecuteAs, Expr, Insert, KeyManagement, Kill, Merge, ModuleContext, Name,
    NameOrVariable, ObjectName, PermissionChange, Position, Restore, SelectStatement, SequenceDefinition, SetOption,
    TableElement, TableType, TriggerEvents, TriggerSwitch, TriggerTiming, TypeName, Update,
};

/// A complete batch, or dynamic SQL, which is parsed like a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// The statements in order; empty if the text has only whitespace and comments.
    pub statements: Vec<Statement>,
    /// The functions and globals with one part that the batch references: each once, ignoring case, in the order of
    /// first occurrence.
    pub functions: Vec<Name>,
    /// The types that the batch names, but for those of users that are known: each once, ignoring case.
    pub types: Vec<TypeReference>,
}

/// The name of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeReference {
    /// The schema, if it is written.
    pub schema: Option<String>,
    /// The name.
    pub name: String,
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The kind of statement.
    pub kind: StatementKind,
    /// The position, without a trailing semicolon.
    pub position: Position,
}

/// The kind of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// `BEGIN .. END`; at least one statement.
    Block(Vec<Statement>),
    /// `IF`
    If(Box<If>),
    /// `WHILE`
    While(Box<While>),
    /// `BREAK`, only valid in WHILE.
    Break,
    /// `CONTINUE`, only valid in WHILE.
    Continue,
    /// `RETURN [value]`; a value is only valid in a procedure.
    Return(Option<Expr>),
    /// `BEGIN TRY`
    Try(Box<Try>),
    /// `THROW`; without arguments it rethrows the caught error.
    Throw(Option<Box<Throw>>),
    /// `RAISERROR`
    RaiseError(Box<RaiseError>),
    /// `PRINT`
    Print(Expr),
    /// `WAITFOR`
    WaitFor(WaitFor),
    /// `GOTO label`; the label is in the same batch or procedure.
    Goto(Name),
    /// `label:`, unique in its batch or procedure.
    Label(Name),
    /// `DECLARE`; at least one variable.
    Declare(Vec<Declaration>),
    /// `SET @v = value`
    SetVariable(SetVariable),
    /// `SET` of an option.
    SetOption(SetOption),
    /// `USE`
    Use(Name),
    /// `BEGIN TRANSACTION`, `COMMIT`, `ROLLBACK` or `SAVE TRANSACTION`
    Transaction(Transaction),
    /// `EXEC`
    Execute(Box<Execute>),
    /// `EXECUTE AS`
    ExecuteAs(Box<ExecuteAs>),
    /// `REVERT [WITH COOKIE = @cookie]`
    Revert(Option<Box<Expr>>),
    /// DECLARE CURSOR, OPEN, FETCH, CLOSE, DEALLOCATE, and SET of a cursor variable.
    Cursor(Box<CursorStatement>),
    /// `SELECT`
    Select(Box<SelectStatement>),
    /// `INSERT`
    Insert(Box<Insert>),
    /// `UPDATE`
    Update(Box<Update>),
    /// `DELETE`
    Delete(Box<Delete>),
    /// `MERGE`
    Merge(Box<Merge>),
    /// `TRUNCATE TABLE`
    Truncate(ObjectName),
    /// `CREATE TABLE`
    CreateTable(Box<CreateTable>),
    /// `ALTER TABLE`
    AlterTable(Box<AlterTable>),
    /// `CREATE INDEX`
    CreateIndex(Box<CreateIndex>),
    /// `ALTER INDEX`
    AlterIndex(Box<AlterIndex>),
    /// `DROP INDEX [IF EXISTS]`
    DropIndex {
        /// `IF EXISTS`.
        if_exists: bool,
        /// The indexes; at least one.
        indexes: Vec<DropIndex>,
    },
    /// `CREATE VIEW`, `ALTER VIEW`; the batch's only statement.
    View(Box<View>),
    /// `CREATE PROCEDURE`, `ALTER PROCEDURE`; the batch's only statement.
    Procedure(Box<Procedure>),
    /// `CREATE TRIGGER`, `ALTER TRIGGER`; the batch's only statement.
    Trigger(Box<Trigger>),
    /// `ENABLE TRIGGER`, `DISABLE TRIGGER`
    TriggerSwitch(Box<TriggerSwitch>),
    /// `CREATE SEQUENCE`, `ALTER SEQUENCE`
    Sequence(Box<SequenceDefinition>),
    /// `CREATE SYNONYM`
    Synonym(Box<CreateSynonym>),
    /// `CREATE FUNCTION`, `ALTER FUNCTION`; the batch's only statement.
    Function(Box<Function>),
    /// `CREATE TYPE`
    CreateType(Box<CreateType>),
    /// `DROP` of objects given only by name.
    Drop(Drop),
    /// `CREATE DATABASE`
    CreateDatabase(Box<CreateDatabase>),
    /// `ALTER DATABASE`
    AlterDatabase(Box<AlterDatabase>),
    /// `BACKUP DATABASE`, `BACKUP LOG`
    Backup(Box<Backup>),
    /// `RESTORE`
    Restore(Box<Restore>),
    /// `CREATE MASTER KEY [ENCRYPTION BY PASSWORD = '..']`
    CreateMasterKey {
        /// The password.
        password: Option<String>,
    },
    /// `ALTER MASTER KEY [FORCE] REGENERATE WITH ENCRYPTION BY PASSWORD = '..'`
    RegenerateMasterKey {
        /// `FORCE`: continue even if a dependent key cannot be decrypted with the old master key.
        force: bool,
        /// The new password.
        password: String,
    },
    /// `OPEN MASTER KEY DECRYPTION BY PASSWORD = '..'`
    OpenMasterKey {
        /// The password.
        password: String,
    },
    /// `CLOSE MASTER KEY`
    CloseMasterKey,
    /// `BACKUP MASTER KEY TO FILE = '..' ENCRYPTION BY PASSWORD = '..'`
    BackupMasterKey {
        /// The path.
        path: String,
        /// The password.
        password: String,
    },
    /// `RESTORE MASTER KEY FROM FILE = '..' DECRYPTION BY PASSWORD = '..' ENCRYPTION BY PASSWORD = '..' [FORCE]`
    RestoreMasterKey {
        /// The path.
        path: String,
        /// The password that decrypts the file.
        file_password: String,
        /// The password that protects the restored master key.
        password: String,
        /// `FORCE`: continue even if a dependent key cannot be decrypted with the current master key.
        force: bool,
    },
    /// `DROP MASTER KEY`
    DropMasterKey,
    /// `CREATE CERTIFICATE`
    CreateCertificate(Box<CreateCertificate>),
    /// `BACKUP CERTIFICATE`
    BackupCertificate(Box<BackupCertificate>),
    /// `CREATE DATABASE ENCRYPTION KEY`
    CreateEncryptionKey(EncryptionKey),
    /// `ALTER DATABASE ENCRYPTION KEY`
    AlterEncryptionKey(AlterEncryptionKey),
    /// `DROP DATABASE ENCRYPTION KEY`
    DropEncryptionKey,
    /// Keys that encrypt values.
    CellKey(Box<CellKeyStatement>),
    /// CREATE and ALTER of cryptographic providers, credentials and keys of providers.
    KeyManagement(Box<KeyManagement>),
    /// `CREATE LOGIN`
    CreateLogin(Box<CreateLogin>),
    /// `ALTER LOGIN`
    AlterLogin(Box<AlterLogin>),
    /// `CREATE USER`
    CreateUser(Box<CreateUser>),
    /// `ALTER USER`
    AlterUser(AlterUser),
    /// `CREATE ROLE`, `CREATE SERVER ROLE`
    CreateRole(CreateRole),
    /// `ALTER ROLE`, `ALTER SERVER ROLE`
    AlterRole(AlterRole),
    /// `CREATE SCHEMA`, `ALTER SCHEMA`
    Schema(SchemaStatement),
    /// `GRANT`, `DENY`, `REVOKE`
    Permission(Box<PermissionChange>),
    /// `ALTER AUTHORIZATION`
    AlterAuthorization(Box<AlterAuthorization>),
    /// `DBCC`
    Dbcc(Box<Dbcc>),
    /// `KILL`
    Kill(Kill),
    /// `CHECKPOINT [seconds]`
    Checkpoint(Option<u32>),
    /// `RECONFIGURE [WITH OVERRIDE]`
    Reconfigure {
        /// `WITH OVERRIDE`
        with_override: bool,
    },
    /// `SHUTDOWN [WITH NOWAIT]`
    Shutdown {
        /// `WITH NOWAIT`
        no_wait: bool,
    },
    /// A T-SQL statement that the server does not support.
    Unsupported(Unsupported),
}

/// CREATE SCHEMA or ALTER SCHEMA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaStatement {
    /// `CREATE SCHEMA`
    Create(CreateSchema),
    /// `ALTER SCHEMA`
    Alter(AlterSchema),
}

/// CREATE SCHEMA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateSchema {
    /// The schema's name; `None` if it is the owner's name.
    pub name: Option<Name>,
    /// `AUTHORIZATION owner`.
    pub authorization: Option<Name>,
    /// The CREATE TABLE, CREATE VIEW, GRANT, DENY and REVOKE statements that belong to it.
    pub elements: Vec<Statement>,
}

/// `ALTER SCHEMA name TRANSFER ..`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterSchema {
    /// The schema that gets the object.
    pub name: Name,
    /// `OBJECT ::`, `TYPE ::` or `XML SCHEMA COLLECTION ::`: the words as written, separated by one space.
    pub class: Option<String>,
    /// The object.
    pub object: ObjectName,
}

/// `BEGIN TRANSACTION`, `COMMIT`, `ROLLBACK` or `SAVE TRANSACTION`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transaction {
    /// `BEGIN TRANSACTION [name]`
    Begin(Option<NameOrVariable>),
    /// `COMMIT [TRANSACTION [name]] [WITH (DELAYED_DURABILITY = ON | OFF)]`
    Commit {
        /// The transaction's name, which is ignored.
        name: Option<NameOrVariable>,
        /// DELAYED_DURABILITY.
        delayed_durability: Option<bool>,
    },
    /// `ROLLBACK [TRANSACTION [name]]`: the name of the outermost transaction or of a savepoint.
    Rollback(Option<NameOrVariable>),
    /// `SAVE TRANSACTION name`
    Save(NameOrVariable),
}

/// A statement with an unsupported feature, parsed only to find the end of the statement and the name of the feature.
///
/// The server refuses it with error 40510, which contains this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The unsupported feature: `MERGE`, `PIVOT`, `DECLARE CURSOR`; keywords are in upper case.
    pub what: String,
    /// The statement's text.
    pub text: String,
    /// The position of the unsupported feature within the statement.
    pub position: Position,
}

/// IF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct If {
    /// The condition.
    pub condition: Condition,
    /// The statement that is executed if the condition is true.
    pub then: Statement,
    /// `ELSE`.
    pub otherwise: Option<Statement>,
}

/// WHILE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct While {
    /// The condition, tested before each iteration.
    pub condition: Condition,
    /// The loop's body.
    pub body: Statement,
}

/// `BEGIN TRY .. END TRY BEGIN CATCH .. END CATCH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Try {
    /// The statements of the TRY block; at least one.
    pub body: Vec<Statement>,
    /// The statements of the CATCH block; may be empty.
    pub handler: Vec<Statement>,
}

/// `THROW number, message, state`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Throw {
    /// A constant or variable.
    pub number: Expr,
    /// A constant or variable.
    pub message: Expr,
    /// A constant or variable.
    pub state: Expr,
}

/// `RAISERROR (message, severity, state, arguments..) WITH options`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaiseError {
    /// A message number, text or variable.
    pub message: Expr,
    /// The severity.
    pub severity: Expr,
    /// The state.
    pub state: Expr,
    /// The arguments of the message's format specifications.
    pub arguments: Vec<Expr>,
    /// `WITH ..`; empty if absent.
    pub options: Vec<RaiseErrorOption>,
}

/// An option of RAISERROR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RaiseErrorOption {
    /// `LOG`
    Log,
    /// `NOWAIT`
    NoWait,
    /// `SETERROR`
    SetError,
}

/// `WAITFOR DELAY '..'` or `WAITFOR TIME '..'`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitFor {
    /// DELAY or TIME.
    pub kind: WaitKind,
    /// A constant or variable.
    pub value: Expr,
}

/// The kind of a WAITFOR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitKind {
    /// A duration.
    Delay,
    /// A time of day.
    Time,
}

/// One variable of a DECLARE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// The variable's name, with its `@`.
    pub name: String,
    /// The type.
    pub variable_type: VariableType,
    /// `= value`; never present for a table variable.
    pub initial: Option<Expr>,
    /// The position of the node.
    pub position: Position,
}

/// The type of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VariableType {
    /// A scalar type.
    Scalar(TypeName),
    /// A table: `TABLE (..)`.
    Table(Vec<TableElement>),
    /// A table type of a user, as it is written, and what it means.
    TableType(TypeName, Arc<TableType>),
    /// `CURSOR`
    Cursor,
}

/// `SET @v = value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetVariable {
    /// The variable, with its `@`.
    pub variable: String,
    /// `=` or a compound assignment operator.
    pub operator: AssignmentOperator,
    /// The assigned value.
    pub value: Expr,
}

/// Whether a definition creates or alters an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Create {
    /// `CREATE`: the object must not exist.
    New,
    /// `ALTER`: the object must exist.
    Alter,
    /// `CREATE OR ALTER`.
    NewOrAlter,
}

/// CREATE or ALTER VIEW; the definition's text is the range of the statement's position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// `CREATE`, `ALTER` or `CREATE OR ALTER`.
    pub create: Create,
    /// The view's name.
    pub name: ObjectName,
    /// The column names; empty if the query's names apply.
    pub columns: Vec<Name>,
    /// SCHEMABINDING, ENCRYPTION, VIEW_METADATA; empty if absent.
    pub options: Vec<Name>,
    /// The query.
    pub select: SelectStatement,
    /// `WITH CHECK OPTION`.
    pub check_option: bool,
}

/// CREATE or ALTER PROCEDURE; the definition's text is the range of the statement's position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Procedure {
    /// `CREATE`, `ALTER` or `CREATE OR ALTER`.
    pub create: Create,
    /// The procedure's name.
    pub name: ObjectName,
    /// `;number`, for procedures that share a name.
    pub number: Option<u32>,
    /// The parameters in order.
    pub parameters: Vec<Parameter>,
    /// `WITH RECOMPILE`, ENCRYPTION; empty if absent.
    pub options: Vec<Name>,
    /// `WITH EXECUTE AS`.
    pub execute_as: Option<ModuleContext>,
    /// `FOR REPLICATION`.
    pub for_replication: bool,
    /// The body, up to the end of the batch; may be empty. Line numbers are those of the batch.
    pub body: Vec<Statement>,
}

/// CREATE or ALTER TRIGGER; the definition's text is the range of the statement's position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trigger {
    /// `CREATE`, `ALTER` or `CREATE OR ALTER`.
    pub create: Create,
    /// The trigger's name.
    pub name: ObjectName,
    /// The table or view that it is on.
    pub table: ObjectName,
    /// `WITH ENCRYPTION`; empty if absent.
    pub options: Vec<Name>,
    /// `WITH EXECUTE AS`.
    pub execute_as: Option<ModuleContext>,
    /// AFTER or INSTEAD OF.
    pub timing: TriggerTiming,
    /// The statements that fire it; at least one.
    pub events: TriggerEvents,
    /// The body, up to the end of the batch. Line numbers are those of the batch.
    pub body: Vec<Statement>,
}

/// CREATE or ALTER FUNCTION; the definition's text is the range of the statement's position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// `CREATE`, `ALTER` or `CREATE OR ALTER`.
    pub create: Create,
    /// The function's name.
    pub name: ObjectName,
    /// The parameters in order.
    pub parameters: Vec<Parameter>,
    /// `WITH SCHEMABINDING`, `RETURNS NULL ON NULL INPUT` and others, in upper case; empty if absent.
    pub options: Vec<String>,
    /// `WITH EXECUTE AS`.
    pub execute_as: Option<ModuleContext>,
    /// RETURNS, and the body.
    pub body: FunctionBody,
}

/// The result of a function, and how it is computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FunctionBody {
    /// `RETURNS type AS BEGIN .. END`.
    Scalar {
        /// The type of the value.
        returns: TypeName,
        /// The statements; at least one.
        body: Vec<Statement>,
    },
    /// `RETURNS TABLE AS RETURN SELECT ..`.
    Inline(Box<SelectStatement>),
    /// `RETURNS @v TABLE (..) AS BEGIN .. END`.
    Table {
        /// The variable whose rows are returned, with its `@`.
        variable: String,
        /// The elements of its table.
        elements: Vec<TableElement>,
        /// The statements; at least one.
        body: Vec<Statement>,
    },
}

/// `CREATE TYPE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateType {
    /// The type's name.
    pub name: ObjectName,
    /// Its definition.
    pub definition: TypeDefinition,
}

/// The definition of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeDefinition {
    /// `FROM type [NULL | NOT NULL]`.
    Alias {
        /// The type for which it is another name.
        base: Box<TypeName>,
        /// `NULL` is true, `NOT NULL` is false, neither is `None`.
        nullable: Option<bool>,
    },
    /// `AS TABLE (..)`.
    Table(Vec<TableElement>),
}

/// A parameter of a procedure or function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The parameter's name, with its `@`.
    pub name: String,
    /// The type.
    pub type_name: TypeName,
    /// The table type that it is, of a table-valued parameter.
    pub table: Option<Arc<TableType>>,
    /// `NULL` is true, `NOT NULL` is false, neither is `None`.
    pub nullable: Option<bool>,
    /// `= value`: a constant with an optional sign; a bare word is a column with one part and stands for a string
    /// constant.
    pub default: Option<Expr>,
    /// `OUTPUT`.
    pub output: bool,
    /// `READONLY`.
    pub read_only: bool,
    /// The position of the node.
    pub position: Position,
}

impl Parameter {
    /// Whether it is a cursor: `CURSOR [VARYING] OUTPUT`.
    #[must_use]
    pub fn is_cursor(&self) -> bool {
        let name = &self.type_name.name;
        self.table.is_none() && name.single().is_some_and(|name| name.is_word("CURSOR"))
    }
}

/// DROP of objects given only by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drop {
    /// The kind of object.
    pub kind: DropKind,
    /// `IF EXISTS`.
    pub if_exists: bool,
    /// The names; at least one. Those of databases, logins, users, roles, schemas and certificates have one part.
    pub names: Vec<ObjectName>,
}

/// The kind of object in DROP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropKind {
    /// `DROP TABLE`
    Table,
    /// `DROP VIEW`
    View,
    /// `DROP PROCEDURE`
    Procedure,
    /// `DROP FUNCTION`
    Function,
    /// `DROP TRIGGER`
    Trigger,
    /// `DROP SEQUENCE`
    Sequence,
    /// `DROP SYNONYM`
    Synonym,
    /// `STATISTICS`; the part before the last of each name is that of a table.
    Statistics,
    /// `DROP TYPE`
    Type,
    /// `DROP DATABASE`
    Database,
    /// `DROP SCHEMA`
    Schema,
    /// `DROP LOGIN`
    Login,
    /// `DROP USER`
    User,
    /// `DROP ROLE`
    Role,
    /// `DROP SERVER ROLE`
    ServerRole,
    /// `DROP CERTIFICATE`
    Certificate,
    /// `DROP CRYPTOGRAPHIC PROVIDER`
    CryptographicProvider,
    /// `DROP CREDENTIAL`
    Credential,
    /// `DROP ASYMMETRIC KEY`
    AsymmetricKey,
    /// `DROP SYMMETRIC KEY`
    SymmetricKey,
}
