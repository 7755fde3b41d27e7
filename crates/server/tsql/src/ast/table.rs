//! CREATE TABLE and ALTER TABLE.

use std::sync::Arc;

use super::{
    AliasType, Condition, Expr, IndexColumn, Name, ObjectName, Position, Setting, TableTriggerSwitch, TypeName,
};

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
    /// `WITH (..)`; empty if absent.
    pub options: Vec<Setting>,
}

/// One element of a table definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableElement {
    /// A column with its column constraints.
    Column(Box<ColumnDefinition>),
    /// A table constraint.
    Constraint(Box<Constraint>),
    /// `INDEX i (a, b)`.
    Index(Box<TableIndex>),
}

/// A table type of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableType {
    /// Its schema.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// Columns, constraints and indexes in order.
    pub elements: Vec<TableElement>,
}

impl TableType {
    /// Its schema and name.
    #[must_use]
    pub fn full_name(&self) -> (&str, &str) {
        (&self.schema, &self.name)
    }

    /// Whether both are one type: one that was dropped and created in another form since is another type.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        std::ptr::eq(self, other) || self == other
    }
}

/// A type of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserType {
    /// Another name of a type.
    Alias(Arc<AliasType>),
    /// A table.
    Table(Arc<TableType>),
}

impl UserType {
    /// Its schema and name.
    #[must_use]
    pub fn full_name(&self) -> (&str, &str) {
        match self {
            Self::Alias(alias) => (&alias.schema, &alias.name),
            Self::Table(table) => table.full_name(),
        }
    }
}

/// A column definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnDefinition {
    /// The column's name.
    pub name: Name,
    /// The type, or the expression of a computed column.
    pub kind: ColumnKind,
    /// `COLLATE`.
    pub collation: Option<Name>,
    /// `NULL` is true, `NOT NULL` is false, neither is `None`.
    pub nullable: Option<bool>,
    /// `IDENTITY`.
    pub identity: Option<Identity>,
    /// `ROWGUIDCOL`.
    pub row_guid: bool,
    /// DEFAULT, PRIMARY KEY, UNIQUE, CHECK and REFERENCES in order; a column constraint has no column list.
    pub constraints: Vec<Constraint>,
    /// `INDEX i` without a column list: an index on this column.
    pub index: Option<TableIndex>,
    /// The position of the node.
    pub position: Position,
}

/// The type of a column, or its expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// A column with a type.
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
    /// The seed and the increment, with their signs; (1, 1) if absent.
    pub seed_and_increment: Option<(Expr, Expr)>,
    /// `NOT FOR REPLICATION`.
    pub not_for_replication: bool,
}

/// A constraint of a column or a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// `CONSTRAINT name`.
    pub name: Option<Name>,
    /// The kind of constraint.
    pub kind: ConstraintKind,
    /// The position of the node.
    pub position: Position,
}

/// The kind of a constraint.
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
        /// The condition; a row violates the constraint if it is false.
        condition: Condition,
        /// `NOT FOR REPLICATION`.
        not_for_replication: bool,
    },
    /// `DEFAULT`
    Default {
        /// The default value.
        value: Expr,
        /// `FOR column`, only in ALTER TABLE ADD.
        column: Option<Name>,
        /// `WITH VALUES`: existing rows receive the value, too.
        with_values: bool,
    },
}

/// PRIMARY KEY or UNIQUE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyConstraint {
    /// CLUSTERED is true, NONCLUSTERED is false, neither is `None`.
    pub clustered: Option<bool>,
    /// The columns; empty for a column constraint.
    pub columns: Vec<IndexColumn>,
    /// `WITH (..)`; empty if absent.
    pub options: Vec<Setting>,
    /// `ON filegroup`.
    pub filegroup: Option<Name>,
}

/// FOREIGN KEY or REFERENCES.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKey {
    /// The columns; empty for a column constraint.
    pub columns: Vec<Name>,
    /// The referenced table.
    pub table: ObjectName,
    /// The referenced columns; empty for the referenced table's primary key.
    pub referenced: Vec<Name>,
    /// `ON DELETE`.
    pub on_delete: Option<ReferentialAction>,
    /// `ON UPDATE`.
    pub on_update: Option<ReferentialAction>,
    /// `NOT FOR REPLICATION`.
    pub not_for_replication: bool,
}

/// The action on referencing rows when a referenced row is deleted or updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferentialAction {
    /// `NO ACTION`: the statement fails.
    NoAction,
    /// `CASCADE`
    Cascade,
    /// `SET NULL`
    SetNull,
    /// `SET DEFAULT`
    SetDefault,
}

/// An index in a table definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableIndex {
    /// The index's name.
    pub name: Name,
    /// `UNIQUE`.
    pub unique: bool,
    /// CLUSTERED is true, NONCLUSTERED is false, neither is `None`.
    pub clustered: Option<bool>,
    /// The columns; empty for the column that the index is declared on.
    pub columns: Vec<IndexColumn>,
    /// `INCLUDE (..)`; empty if absent.
    pub include: Vec<Name>,
    /// `WHERE`.
    pub filter: Option<Condition>,
    /// `WITH (..)`; empty if absent.
    pub options: Vec<Setting>,
    /// `ON filegroup`.
    pub filegroup: Option<Name>,
}

/// ALTER TABLE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterTable {
    /// The table.
    pub name: ObjectName,
    /// The action.
    pub action: AlterTableAction,
}

/// The action of ALTER TABLE.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "a statement has one of them")]
pub enum AlterTableAction {
    /// `[WITH CHECK | NOCHECK] ADD ..`
    Add {
        /// Whether existing rows are checked: `WITH CHECK` is true, `WITH NOCHECK` is false.
        check: Option<bool>,
        /// The added elements; at least one.
        elements: Vec<TableElement>,
    },
    /// `DROP ..`; at least one.
    Drop(Vec<DropElement>),
    /// `ALTER COLUMN ..`
    AlterColumn(AlterColumn),
    /// `[WITH CHECK | NOCHECK] CHECK | NOCHECK CONSTRAINT ..`
    Constraints(ConstraintChange),
    /// `ENABLE | DISABLE TRIGGER ..`
    Triggers(TableTriggerSwitch),
    /// `REBUILD [WITH (..)]`
    Rebuild(Vec<Setting>),
}

/// One element of ALTER TABLE DROP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropElement {
    /// Whether it is a column; otherwise a constraint.
    pub column: bool,
    /// `IF EXISTS`.
    pub if_exists: bool,
    /// The name of the column or constraint.
    pub name: Name,
    /// `WITH (..)` of a constraint; empty if absent.
    pub options: Vec<Setting>,
}

/// `ALTER COLUMN name type ..`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterColumn {
    /// The column.
    pub name: Name,
    /// The new type.
    pub type_name: TypeName,
    /// `COLLATE`.
    pub collation: Option<Name>,
    /// `NULL` is true, `NOT NULL` is false, neither is `None`.
    pub nullable: Option<bool>,
}

/// `CHECK CONSTRAINT` or `NOCHECK CONSTRAINT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstraintChange {
    /// Whether existing rows are checked: `WITH CHECK` is true, `WITH NOCHECK` is false.
    pub check: Option<bool>,
    /// Whether it is CHECK; otherwise NOCHECK.
    pub enable: bool,
    /// The constraints; empty for ALL.
    pub names: Vec<Name>,
}
