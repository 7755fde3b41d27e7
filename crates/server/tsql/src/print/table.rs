//! CREATE TABLE and ALTER TABLE.

use core::fmt;

use super::{List, Optional, OptionalList, word};
use crate::ast::{
    AlterColumn, AlterTable, AlterTableAction, ColumnDefinition, ColumnKind, Constraint, ConstraintChange,
    ConstraintKind, CreateTable, DropElement, ForeignKey, Identity, KeyConstraint, ReferentialAction, TableElement,
    TableIndex,
};

impl fmt::Display for CreateTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CREATE TABLE {} ({})", self.name, List(&self.elements))?;
        write!(f, "{}", Optional("ON ", self.filegroup.as_ref(), ""))?;
        write!(f, "{}", Optional("TEXTIMAGE_ON ", self.text_filegroup.as_ref(), ""))?;
        write!(f, "{}", OptionalList("WITH (", &self.options, ")"))
    }
}

impl fmt::Display for TableElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column(column) => write!(f, "{column}"),
            Self::Constraint(constraint) => write!(f, "{constraint}"),
            Self::Index(index) => write!(f, "{index}"),
        }
    }
}

impl fmt::Display for ColumnDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.kind)?;
        write!(f, "{}", Optional("COLLATE ", self.collation.as_ref(), ""))?;
        write!(f, "{}", Optional("", self.identity.as_ref(), ""))?;
        write!(f, "{}{}", word(self.row_guid, " ROWGUIDCOL"), null(self.nullable))?;
        self.constraints
            .iter()
            .try_for_each(|constraint| write!(f, " {constraint}"))?;
        write!(f, "{}", Optional("", self.index.as_ref(), ""))
    }
}

fn null(nullable: Option<bool>) -> &'static str {
    match nullable {
        Some(true) => " NULL",
        Some(false) => " NOT NULL",
        None => "",
    }
}

fn clustered(clustered: Option<bool>) -> &'static str {
    match clustered {
        Some(true) => " CLUSTERED",
        Some(false) => " NONCLUSTERED",
        None => "",
    }
}

impl fmt::Display for ColumnKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Typed(type_name) => write!(f, "{type_name}"),
            Self::Computed { value, persisted } => write!(f, "AS ({value}){}", word(*persisted, " PERSISTED")),
        }
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IDENTITY")?;
        if let Some((seed, increment)) = &self.seed_and_increment {
            write!(f, " ({seed}, {increment})")?;
        }
        f.write_str(word(self.not_for_replication, " NOT FOR REPLICATION"))
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "CONSTRAINT {name} ")?;
        }
        match &self.kind {
            ConstraintKind::PrimaryKey(key) => write!(f, "PRIMARY KEY{key}"),
            ConstraintKind::Unique(key) => write!(f, "UNIQUE{key}"),
            ConstraintKind::ForeignKey(key) => write!(f, "{key}"),
            ConstraintKind::Check {
                condition,
                not_for_replication,
            } => {
                let replication = word(*not_for_replication, " NOT FOR REPLICATION");
                write!(f, "CHECK{replication} ({condition})")
            }
            ConstraintKind::Default {
                value,
                column,
                with_values,
            } => {
                let column = Optional("FOR ", column.as_ref(), "");
                write!(f, "DEFAULT ({value}){column}{}", word(*with_values, " WITH VALUES"))
            }
        }
    }
}

/// The options after PRIMARY KEY or UNIQUE.
impl fmt::Display for KeyConstraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = OptionalList("(", &self.columns, ")");
        write!(f, "{}{columns}", clustered(self.clustered))?;
        write!(f, "{}", OptionalList("WITH (", &self.options, ")"))?;
        write!(f, "{}", Optional("ON ", self.filegroup.as_ref(), ""))
    }
}

impl fmt::Display for ForeignKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.columns.is_empty() {
            write!(f, "FOREIGN KEY ({}) ", List(&self.columns))?;
        }
        let referenced = OptionalList("(", &self.referenced, ")");
        write!(f, "REFERENCES {}{referenced}", self.table)?;
        write!(f, "{}", Optional("ON DELETE ", self.on_delete.as_ref(), ""))?;
        write!(f, "{}", Optional("ON UPDATE ", self.on_update.as_ref(), ""))?;
        f.write_str(word(self.not_for_replication, " NOT FOR REPLICATION"))
    }
}

impl fmt::Display for ReferentialAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoAction => "NO ACTION",
            Self::Cascade => "CASCADE",
            Self::SetNull => "SET NULL",
            Self::SetDefault => "SET DEFAULT",
        })
    }
}

impl fmt::Display for TableIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unique = word(self.unique, " UNIQUE");
        write!(f, "INDEX {}{unique}{}", self.name, clustered(self.clustered))?;
        write!(f, "{}", OptionalList("(", &self.columns, ")"))?;
        write!(f, "{}", OptionalList("INCLUDE (", &self.include, ")"))?;
        write!(f, "{}", Optional("WHERE ", self.filter.as_ref(), ""))?;
        write!(f, "{}", OptionalList("WITH (", &self.options, ")"))?;
        write!(f, "{}", Optional("ON ", self.filegroup.as_ref(), ""))
    }
}

impl fmt::Display for AlterTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ALTER TABLE {}{}", self.name, self.action)
    }
}

fn with_check(check: Option<bool>) -> &'static str {
    match check {
        Some(true) => " WITH CHECK",
        Some(false) => " WITH NOCHECK",
        None => "",
    }
}

/// Prints the action with a leading space.
impl fmt::Display for AlterTableAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Add { check, elements } => write!(f, "{} ADD {}", with_check(*check), List(elements)),
            Self::Drop(elements) => write!(f, " DROP {}", List(elements)),
            Self::AlterColumn(column) => write!(f, " ALTER COLUMN {column}"),
            Self::Constraints(change) => write!(f, "{change}"),
            Self::Triggers(change) => write!(f, " {change}"),
            Self::Rebuild(options) => write!(f, " REBUILD{}", OptionalList("WITH (", options, ")")),
        }
    }
}

impl fmt::Display for DropElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.column { "COLUMN" } else { "CONSTRAINT" };
        let options = OptionalList("WITH (", &self.options, ")");
        write!(f, "{kind}{} {}{options}", word(self.if_exists, " IF EXISTS"), self.name)
    }
}

impl fmt::Display for AlterColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let collation = Optional("COLLATE ", self.collation.as_ref(), "");
        write!(f, "{} {}{collation}{}", self.name, self.type_name, null(self.nullable))
    }
}

/// Prints the change with a leading space.
impl fmt::Display for ConstraintChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let enable = if self.enable { "CHECK" } else { "NOCHECK" };
        write!(f, "{} {enable} CONSTRAINT ", with_check(self.check))?;
        match self.names.as_slice() {
            [] => f.write_str("ALL"),
            names => write!(f, "{}", List(names)),
        }
    }
}
