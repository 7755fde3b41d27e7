//! Statements.

use super::{
    AlterDatabase, AlterEncryptionKey, AlterIndex, AlterLogin, AlterRole, AlterTable, AlterUser, Backup,
    BackupCertificate, CreateCertificate, CreateDatabase, CreateIndex, CreateLogin, CreateRole, CreateSchema,
    CreateTable, CreateUser, Dbcc, Declaration, Delete, Drop, DropIndex, EncryptionKey, Execute, Expr, If, Insert,
    Kill, Name, NameOrVariable, ObjectName, PermissionChange, Position, Procedure, RaiseError, Restore,
    SelectStatement, SetOption, SetVariable, Throw, Try, Update, View, WaitFor, While,
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
    /// Where it stands, without the semicolon after it.
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
        /// The transaction's name, which no one looks at.
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
/// The server refuses it by name when it comes to it: error 40510.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// What is not supported: `MERGE`, `PIVOT`, `DECLARE CURSOR`; words of T-SQL in capitals.
    pub what: String,
    /// The statement's own text.
    pub text: String,
    /// Where the thing itself stands, within the statement.
    pub position: Position,
}
