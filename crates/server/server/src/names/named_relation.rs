//! What a statement names, each time that it does, and which columns it reads of it.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use selenite_compiler::catalog::{FunctionResult, Relation, Sequence, Table, UserFunction};
use selenite_compiler::{SourceColumn, SqlError};

use crate::catalog::effective_permissions::Permissions;
use crate::catalog::permission::{check_columns, check_computed, denied_on};
use crate::catalog::permission_kind::PermissionKind;
use crate::catalog::schema::is_global;

/// What was requested from a catalog.
#[derive(Clone)]
pub enum NamedRelation {
    /// A table, by its database and name.
    Table(Arc<Table>),
    /// A view: its database, schema and name.
    View([String; 3]),
    /// A function of a user, and whether it returns rows.
    Function(Arc<UserFunction>, bool),
    /// What the server shows: its name.
    System(String),
    /// A sequence whose values are taken: its database, schema and name.
    Sequence([String; 3]),
}

/// One use of something in a statement.
#[derive(Clone)]
pub struct NamedUse {
    /// What it is.
    pub relation: NamedRelation,
    /// The database that it is in.
    pub database_id: i32,
    /// Whether the text that names it has the same owner, so that no permission is needed.
    pub is_chained: bool,
    /// Its columns, once it is a source of rows. A name that is no source is the target of a change, or of a source
    /// that was noted before.
    columns: Option<ReadColumns>,
}

/// The columns of a source, and which of them are read.
#[derive(Clone)]
struct ReadColumns {
    names: Vec<String>,
    read: BTreeSet<usize>,
}

/// All uses of a statement, in order.
#[derive(Default)]
pub struct NamedUses(RefCell<Vec<NamedUse>>);

impl NamedRelation {
    /// The schema of a table or view. What the server shows has no owner.
    #[must_use]
    pub fn schema(&self) -> Option<&str> {
        match self {
            Self::Table(table) => Some(&table.schema),
            Self::View([_, schema, _]) | Self::Sequence([_, schema, _]) => Some(schema),
            Self::Function(function, _) => Some(&function.schema),
            Self::System(_) => None,
        }
    }

    /// A function of a user.
    #[must_use]
    pub fn function(found: &Arc<UserFunction>) -> Self {
        let returns_rows = !matches!(found.result, FunctionResult::Scalar(_));
        Self::Function(Arc::clone(found), returns_rows)
    }

    /// A sequence of a database.
    #[must_use]
    pub fn sequence(database: &str, found: &Sequence) -> Self {
        Self::Sequence([database, &found.schema, &found.name].map(str::to_owned))
    }

    /// What a catalog answered.
    #[must_use]
    pub fn of(found: &Relation) -> Self {
        match found {
            Relation::Table(table) => Self::Table(table.clone()),
            Relation::View(view) => Self::View([view.database.clone(), view.schema.clone(), view.name.clone()]),
            Relation::System(view) => Self::System(view.name.clone()),
        }
    }

    /// Whether it is that table or view.
    fn is(&self, relation: &Relation) -> bool {
        match (self, relation) {
            (Self::Table(own), Relation::Table(table)) => {
                let place = |table: &Table| [table.database.clone(), table.schema.clone(), table.name.clone()];
                own.object_id == table.object_id && place(own) == place(table)
            }
            (Self::View(own), Relation::View(view)) => *own == [&*view.database, &view.schema, &view.name],
            (
                Self::Table(_) | Self::View(_) | Self::Function(..) | Self::System(_) | Self::Sequence(_),
                Relation::Table(_) | Relation::View(_) | Relation::System(_),
            ) => false,
        }
    }

    /// Whether both are the same table or view.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Table(_), Self::Table(table)) => self.is(&Relation::Table(Arc::clone(table))),
            (Self::View(own), Self::View(view)) => own == view,
            (
                Self::Table(_) | Self::View(_) | Self::Function(..) | Self::System(_) | Self::Sequence(_),
                Self::Table(_) | Self::View(_) | Self::Function(..) | Self::System(_) | Self::Sequence(_),
            ) => false,
        }
    }
}

impl NamedUses {
    /// Something was named.
    pub fn push(&self, relation: NamedRelation, database_id: i32, is_chained: bool) {
        self.0.borrow_mut().push(NamedUse {
            relation,
            database_id,
            is_chained,
            columns: None,
        });
    }

    /// What was named last, and is no source yet, is one: as `Catalog::note_source`.
    pub fn note_source(&self, relation: &Relation, columns: &[SourceColumn]) -> Option<usize> {
        let mut uses = self.0.borrow_mut();
        let is_it = |one: &NamedUse| one.columns.is_none() && one.relation.is(relation);
        let at = uses.iter().rposition(is_it)?;
        let names = match relation {
            Relation::Table(table) => table.columns.iter().map(|column| column.name.clone()).collect(),
            Relation::View(_) | Relation::System(_) => columns.iter().map(|column| column.name.clone()).collect(),
        };
        if let Some(one) = uses.get_mut(at) {
            one.columns = Some(ReadColumns {
                names,
                read: BTreeSet::new(),
            });
        }
        Some(at)
    }

    /// A column of a source is read.
    pub fn note_column(&self, source: usize, column: usize) {
        let mut uses = self.0.borrow_mut();
        if let Some(columns) = uses.get_mut(source).and_then(|one| one.columns.as_mut()) {
            columns.read.insert(column);
        }
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> Vec<NamedUse> {
        self.0.borrow().clone()
    }

    /// Those that a permission is needed for.
    #[must_use]
    pub fn unchained(self) -> Vec<NamedUse> {
        let mut uses = self.0.into_inner();
        uses.retain(|one| !one.is_chained);
        uses
    }
}

impl NamedUse {
    /// Whether any of its columns is named.
    #[must_use]
    pub fn names_columns(&self) -> bool {
        self.columns.as_ref().is_some_and(|columns| !columns.read.is_empty())
    }

    /// Whether its rows are those of another use of the same statement.
    #[must_use]
    pub fn is_of_another(&self, uses: &[Self]) -> bool {
        let is_source = |one: &Self| one.columns.is_some() && one.relation.is_same(&self.relation);
        self.columns.is_none() && uses.iter().any(is_source)
    }

    /// Whether it may be read: the columns that are named, or all of them if none is.
    ///
    /// # Errors
    /// 229, 230.
    pub fn check_read(&self, permissions: &Permissions) -> Result<(), SqlError> {
        let on_object = |kind: PermissionKind, [database, schema, name]: [&str; 3]| match permissions
            .may_on(kind, (schema, name))
        {
            true => Ok(()),
            false => Err(denied_on(kind.name(), [database, schema, name])),
        };
        match &self.relation {
            NamedRelation::Table(table) if is_own(table) => Ok(()),
            NamedRelation::Table(table) => {
                let object = [&*table.database, &table.schema, &table.name];
                self.check_columns(object, permissions)?;
                self.check_computed(table, permissions)
            }
            NamedRelation::View(view) => self.check_columns(view.each_ref().map(String::as_str), permissions),
            NamedRelation::Function(function, returns_rows) => {
                let kind = match returns_rows {
                    true => PermissionKind::Select,
                    false => PermissionKind::Execute,
                };
                on_object(kind, [&function.database, &function.schema, &function.name])
            }
            NamedRelation::System(_) => Ok(()),
            NamedRelation::Sequence(sequence) => {
                on_object(PermissionKind::Update, sequence.each_ref().map(String::as_str))
            }
        }
    }

    fn check_columns(&self, object: [&str; 3], permissions: &Permissions) -> Result<(), SqlError> {
        let names: Option<Vec<&str>> = self.columns.as_ref().map(|columns| {
            let names = columns.names.iter().enumerate();
            let is_read = |at: &usize| columns.read.is_empty() || columns.read.contains(at);
            let read = names.filter(|(at, _)| is_read(at));
            read.map(|(_, name)| name.as_str()).collect()
        });
        check_columns(PermissionKind::Select, object, names.as_deref(), permissions)
    }

    fn check_computed(&self, table: &Table, permissions: &Permissions) -> Result<(), SqlError> {
        let read = self.columns.iter().flat_map(|columns| &columns.read);
        let computed = read.filter_map(|at| table.columns.get(*at)?.computed.as_ref());
        computed
            .into_iter()
            .try_for_each(|computed| check_computed(table, &computed.value.to_string(), permissions))
    }
}

/// Temporary tables are the session's own, and global ones everyone's.
#[must_use]
pub fn is_own(table: &Table) -> bool {
    table.sqlite.schema == "temp" || is_global(&table.name)
}
