//! CREATE TABLE and ALTER TABLE.

use super::{Condition, Expr, IndexColumn, Name, ObjectName, Position, Setting, TypeName};

/// CREATE TABLE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateTable {
    /// The table.
    pub name: ObjectName,
    /// Columns, constraints and indexes in order; at least one.
    pub elements: Vec<TableElement>,
    /// `ON filegroup`.
    pub filegroup: Option<Name>,
    /// `TEXTIMAGE_ON filegroup`.
    pub text_filegroup: Option<Name>,
    /// `WITH (..)`; empty without.
    pub options: Vec<Setting>,
}

/// One element of a table's definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableElement {
    /// A column with its own constraints.
    Column(Box<ColumnDefinition>),
    /// A constraint of the table.
    Constraint(Box<Constraint>),
    /// `INDEX i (a, b)`.
    Index(Box<TableIndex>),
}

/// A column's definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnDefinition {
    /// Its name.
    pub name: Name,
    /// Its type or expression.
    pub kind: ColumnKind,
    /// `COLLATE`.
    pub collation: Option<Name>,
    /// `NULL` is true, `NOT NULL` is false, neither is `None`.
    pub nullable: Option<bool>,
    /// `IDENTITY`.
    pub identity: Option<Identity>,
    /// `ROWGUIDCOL`.
    pub row_guid: bool,
    /// DEFAULT, PRIMARY KEY, UNIQUE, CHECK and REFERENCES in order; keys have no columns of their own here.
    pub constraints: Vec<Constraint>,
    /// `INDEX i`, without columns, which is on this one.
    pub index: Option<TableIndex>,
    /// Its position.
    pub position: Position,
}

/// What a column holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Values of a type.
    Typed(TypeName),
    /// `AS expression [PERSISTED]`.
    Computed {
        /// The expression.
        value: Expr,
        /// `PERSISTED`.
        persisted: bool,
    },
}

/// `IDENTITY [(seed, increment)]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The first value and the step, with their signs; (1, 1) without.
    pub seed_and_increment: Option<(Expr, Expr)>,
    /// `NOT FOR REPLICATION`.
    pub not_for_replication: bool,
}

/// A constraint of a column or a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// `CONSTRAINT name`.
    pub name: Option<Name>,
    /// What it is.
    pub kind: ConstraintKind,
    /// Its position.
    pub position: Position,
}

/// What a constraint is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConstraintKind {
    /// `PRIMARY KEY`
    PrimaryKey(KeyConstraint),
    /// `UNIQUE`
    Unique(KeyConstraint),
    /// `FOREIGN KEY`
    ForeignKey(ForeignKey),
    /// `CHECK`
    Check {
        /// What must not be false.
        condition: Condition,
        /// `NOT FOR REPLICATION`.
        not_for_replication: bool,
    },
    /// `DEFAULT`
    Default {
        /// The value.
        value: Expr,
        /// `FOR column`, of ALTER TABLE ADD.
        column: Option<Name>,
        /// `WITH VALUES`: existing rows get it too.
        with_values: bool,
    },
}

/// A primary or unique key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyConstraint {
    /// CLUSTERED is true, NONCLUSTERED is false, neither is `None`.
    pub clustered: Option<bool>,
    /// The columns; empty at a column, whose key it is.
    pub columns: Vec<IndexColumn>,
    /// `WITH (..)`; empty without.
    pub options: Vec<Setting>,
    /// `ON filegroup`.
    pub filegroup: Option<Name>,
}

/// A foreign key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKey {
    /// The columns; empty at a column, whose key it is.
    pub columns: Vec<Name>,
    /// The table that it refers to.
    pub table: ObjectName,
    /// That table's columns; empty for its primary key.
    pub referenced: Vec<Name>,
    /// `ON DELETE`.
    pub on_delete: Option<ReferentialAction>,
    /// `ON UPDATE`.
    pub on_update: Option<ReferentialAction>,
    /// `NOT FOR REPLICATION`.
    pub not_for_replication: bool,
}

/// What becomes of rows that refer to one that goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferentialAction {
    /// `NO ACTION`: refused.
    NoAction,
    /// `CASCADE`
    Cascade,
    /// `SET NULL`
    SetNull,
    /// `SET DEFAULT`
    SetDefault,
}

/// An index in a table's definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableIndex {
    /// Its name.
    pub name: Name,
    /// `UNIQUE`.
    pub unique: bool,
    /// CLUSTERED is true, NONCLUSTERED is false, neither is `None`.
    pub clustered: Option<bool>,
    /// The columns; empty at a column, whose index it is.
    pub columns: Vec<IndexColumn>,
    /// `INCLUDE (..)`; empty without.
    pub include: Vec<Name>,
    /// `WHERE`.
    pub filter: Option<Condition>,
    /// `WITH (..)`; empty without.
    pub options: Vec<Setting>,
    /// `ON filegroup`.
    pub filegroup: Option<Name>,
}

/// ALTER TABLE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterTable {
    /// The table.
    pub name: ObjectName,
    /// What is done.
    pub action: AlterTableAction,
}

/// What ALTER TABLE does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "a statement has one of them")]
pub enum AlterTableAction {
    /// `[WITH CHECK | NOCHECK] ADD ..`
    Add {
        /// `WITH CHECK` is true, `WITH NOCHECK` is false.
        check: Option<bool>,
        /// What is added; at least one.
        elements: Vec<TableElement>,
    },
    /// `DROP ..`; at least one.
    Drop(Vec<DropElement>),
    /// `ALTER COLUMN ..`
    AlterColumn(AlterColumn),
    /// `[WITH CHECK | NOCHECK] CHECK | NOCHECK CONSTRAINT ..`
    Constraints(ConstraintChange),
    /// `REBUILD [WITH (..)]`
    Rebuild(Vec<Setting>),
}

/// What ALTER TABLE DROP drops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropElement {
    /// A column (true) or a constraint.
    pub column: bool,
    /// `IF EXISTS`.
    pub if_exists: bool,
    /// Its name.
    pub name: Name,
    /// `WITH (..)` of a constraint; empty without.
    pub options: Vec<Setting>,
}

/// `ALTER COLUMN name type ..`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterColumn {
    /// The column.
    pub name: Name,
    /// Its new type.
    pub type_name: TypeName,
    /// `COLLATE`.
    pub collation: Option<Name>,
    /// `NULL` is true, `NOT NULL` is false, neither is `None`.
    pub nullable: Option<bool>,
}

/// Constraints switched on or off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstraintChange {
    /// `WITH CHECK` is true, `WITH NOCHECK` is false: whether existing rows are checked.
    pub check: Option<bool>,
    /// CHECK (true) or NOCHECK.
    pub enable: bool,
    /// The constraints; empty for ALL.
    pub names: Vec<Name>,
}
