//! Statements, control of flow, views and procedures, which contain each other.

use super::{
    AlterDatabase, AlterEncryptionKey, AlterIndex, AlterLogin, AlterRole, AlterTable, AlterUser, AssignmentOperator,
    Backup, BackupCertificate, Condition, CreateCertificate, CreateDatabase, CreateIndex, CreateLogin, CreateRole,
    CreateSchema, CreateTable, CreateUser, Dbcc, Delete, DropIndex, EncryptionKey, Execute, Expr, Insert, Kill, Name,
    NameOrVariable, ObjectName, PermissionChange, Position, Restore, SelectStatement, SetOption, TableElement,
    TypeName, Update,
};

/// A whole batch, or a text that is run as one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// Its statements in order; empty if it has blanks and comments alone.
    pub statements: Vec<Statement>,
    /// The functions and globals that it names, each once, in capitals or not, where it first
    /// stands: those of one part.
    pub functions: Vec<Name>,
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// What it is.
    pub kind: StatementKind,
    /// Its position, without the semicolon after it.
    pub position: Position,
}

/// What a statement is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// `BEGIN .. END`; at least one.
    Block(Vec<Statement>),
    /// `IF`
    If(Box<If>),
    /// `WHILE`
    While(Box<While>),
    /// `BREAK`, always in a WHILE.
    Break,
    /// `CONTINUE`, always in a WHILE.
    Continue,
    /// `RETURN [value]`; a value only in a procedure.
    Return(Option<Expr>),
    /// `BEGIN TRY`
    Try(Box<Try>),
    /// `THROW`; without arguments it throws again.
    Throw(Option<Box<Throw>>),
    /// `RAISERROR`
    RaiseError(Box<RaiseError>),
    /// `PRINT`
    Print(Expr),
    /// `WAITFOR`
    WaitFor(WaitFor),
    /// `GOTO label`; the label is in the same batch or procedure.
    Goto(Name),
    /// `label:`, once in its batch or procedure.
    Label(Name),
    /// `DECLARE`; at least one.
    Declare(Vec<Declaration>),
    /// `SET @v = value`
    SetVariable(SetVariable),
    /// `SET` of an option.
    SetOption(SetOption),
    /// `USE`
    Use(Name),
    /// `BEGIN TRANSACTION` and what ends it.
    Transaction(Transaction),
    /// `EXEC`
    Execute(Box<Execute>),
    /// `SELECT`
    Select(Box<SelectStatement>),
    /// `INSERT`
    Insert(Box<Insert>),
    /// `UPDATE`
    Update(Box<Update>),
    /// `DELETE`
    Delete(Box<Delete>),
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
    /// `DROP` of what has a name alone.
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
        /// `FORCE`: also if something can't be decrypted by the old one.
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
        /// What opens the file.
        file_password: String,
        /// The key's own password from then on.
        password: String,
        /// `FORCE`: also if something can't be decrypted by the present one.
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
    /// `CREATE LOGIN`
    CreateLogin(Box<CreateLogin>),
    /// `ALTER LOGIN`
    AlterLogin(Box<AlterLogin>),
    /// `CREATE USER`
    CreateUser(Box<CreateUser>),
    /// `ALTER USER`
    AlterUser(AlterUser),
    /// `CREATE ROLE`
    CreateRole(CreateRole),
    /// `ALTER ROLE`, `ALTER SERVER ROLE`
    AlterRole(AlterRole),
    /// `CREATE SCHEMA`
    CreateSchema(CreateSchema),
    /// `GRANT`, `DENY`, `REVOKE`
    Permission(Box<PermissionChange>),
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
    /// What is T-SQL but not carried out here.
    Unsupported(Unsupported),
}

/// `BEGIN TRANSACTION` and what ends it.
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
    /// `ROLLBACK [TRANSACTION [name]]`: the outermost one's name or a savepoint's.
    Rollback(Option<NameOrVariable>),
    /// `SAVE TRANSACTION name`
    Save(NameOrVariable),
}

/// A statement that was understood far enough to find its end and to name what is not supported in it.
///
/// The server refuses it by name when it reaches it: error 40510.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// What is not supported: `MERGE`, `PIVOT`, `DECLARE CURSOR`; words of T-SQL in capitals.
    pub what: String,
    /// The statement's own text.
    pub text: String,
    /// The position of the thing itself, within the statement.
    pub position: Position,
}

/// IF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct If {
    /// The condition.
    pub condition: Condition,
    /// What then runs.
    pub then: Statement,
    /// `ELSE`.
    pub otherwise: Option<Statement>,
}

/// WHILE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct While {
    /// The condition, tested before each iteration.
    pub condition: Condition,
    /// What runs.
    pub body: Statement,
}

/// `BEGIN TRY .. END TRY BEGIN CATCH .. END CATCH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Try {
    /// What runs; at least one.
    pub body: Vec<Statement>,
    /// What runs after an error; may be empty.
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
    /// A number, text or variable.
    pub message: Expr,
    /// The severity.
    pub severity: Expr,
    /// The state.
    pub state: Expr,
    /// What the message's placeholders take.
    pub arguments: Vec<Expr>,
    /// `WITH ..`; empty without.
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
    /// A span or a time of day.
    pub kind: WaitKind,
    /// A constant or variable.
    pub value: Expr,
}

/// What WAITFOR waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitKind {
    /// A span of time.
    Delay,
    /// A time of day.
    Time,
}

/// One variable of a DECLARE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// Its name, with its sign.
    pub name: String,
    /// Its type.
    pub variable_type: VariableType,
    /// `= value`; never for a table.
    pub initial: Option<Expr>,
    /// Its position.
    pub position: Position,
}

/// What a variable holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VariableType {
    /// A value.
    Scalar(TypeName),
    /// A table: `TABLE (..)`.
    Table(Vec<TableElement>),
}

/// `SET @v = value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetVariable {
    /// The variable, with its sign.
    pub variable: String,
    /// `=` or a compound one.
    pub operator: AssignmentOperator,
    /// To what.
    pub value: Expr,
}

/// Whether a definition must be new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Create {
    /// `CREATE`: it must not exist.
    New,
    /// `ALTER`: it must exist.
    Alter,
    /// `CREATE OR ALTER`.
    NewOrAlter,
}

/// CREATE or ALTER VIEW; its text is that of its statement's position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// Whether it must be new.
    pub create: Create,
    /// Its name.
    pub name: ObjectName,
    /// Its columns' names; empty if the query names them.
    pub columns: Vec<Name>,
    /// `WITH SCHEMABINDING`, ENCRYPTION, VIEW_METADATA; empty without.
    pub options: Vec<Name>,
    /// Its rows.
    pub select: SelectStatement,
    /// `WITH CHECK OPTION`.
    pub check_option: bool,
}

/// CREATE or ALTER PROCEDURE; its text is that of its statement's position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Procedure {
    /// Whether it must be new.
    pub create: Create,
    /// Its name.
    pub name: ObjectName,
    /// `;number`, of procedures that share a name.
    pub number: Option<u32>,
    /// Its parameters in order.
    pub parameters: Vec<Parameter>,
    /// `WITH RECOMPILE`, ENCRYPTION; empty without.
    pub options: Vec<Name>,
    /// `FOR REPLICATION`.
    pub for_replication: bool,
    /// What it does, to the batch's end; may be empty. Lines are the batch's.
    pub body: Vec<Statement>,
}

/// A parameter of a procedure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name, with its sign.
    pub name: String,
    /// Its type.
    pub type_name: TypeName,
    /// `NULL` is true, `NOT NULL` is false, neither is `None`.
    pub nullable: Option<bool>,
    /// `= value`: a constant, perhaps with a sign; a bare word is a column with one part and means the string of its
    /// letters.
    pub default: Option<Expr>,
    /// `OUTPUT`.
    pub output: bool,
    /// `READONLY`.
    pub read_only: bool,
    /// Its position.
    pub position: Position,
}

/// DROP of objects that have a name alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drop {
    /// What they are.
    pub kind: DropKind,
    /// `IF EXISTS`.
    pub if_exists: bool,
    /// Their names; at least one. Of databases, logins, users, roles, schemas and certificates each has one part.
    pub names: Vec<ObjectName>,
}

/// What DROP drops.
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
    /// `DROP CERTIFICATE`
    Certificate,
}
