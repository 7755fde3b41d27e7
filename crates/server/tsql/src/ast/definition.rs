//! Views and procedures, and DROP of whatever has a name.

use super::{Expr, Name, ObjectName, Position, SelectStatement, Statement, TypeName};

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
    /// `= value`: a constant, perhaps with a sign; a bare word is a column with one part and stands for its letters.
    pub default: Option<Expr>,
    /// `OUTPUT`.
    pub output: bool,
    /// `READONLY`.
    pub read_only: bool,
    /// Where it stands.
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
