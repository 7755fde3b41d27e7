//! What the binder looks up of tables, views and functions of rows.
//!
//! - `current-database-by-default`: a catalog answers for the session's current database unless a
//!   name specifies its own database: it knows which file that is attached as, and refuses by name
//!   what it can't reach.
//! - `answers-are-immutable`: what it returns is shared and never changes: a schema that changes
//!   returns new values, and bound statements of the old ones are discarded by their owner.
//! - `names-as-same-name`: names are compared as [`crate::same_name`] does; `dbo` is the schema of
//!   a name without one.

use std::sync::Arc;

use selenite_tsql::ast::ObjectName;

use crate::SqlError;

mod table;
mod view;
mod violation;

pub use table::{
    Check, Column, ColumnDefault, Computed, ForeignKey, IdentityRule, Key, KeyKind, Reference, ReferencedAction,
    SqliteName, Table,
};
pub use view::{SystemColumn, SystemFunction, SystemRows, SystemView, View};
pub use violation::{ChangeVerb, Violation};

/// What knows the tables, views and functions of rows.
pub trait Catalog {
    /// The table or view that `name` refers to; `None` makes error 208.
    ///
    /// A name of one part that begins with `#` is a temporary table's; `sysprocesses` and related ones are found with
    /// or without `sys.`; `INFORMATION_SCHEMA` is a schema as `sys` is.
    ///
    /// Errors: a database that does not exist (911), is not reachable here (40510), or can't be opened.
    fn relation(&self, name: &ObjectName) -> Result<Option<Relation>, SqlError>;

    /// The function of rows that `name` refers to, such as `sys.dm_exec_sql_text`; `None` makes error 208.
    ///
    /// Errors: as [`Catalog::relation`].
    fn function(&self, name: &ObjectName) -> Result<Option<Arc<SystemFunction>>, SqlError>;

    /// The names that follow are those in a view's text, until [`Catalog::leave_view`]: a user who may read the view
    /// needs no permission on them.
    fn enter_view(&self) {}

    /// The end of a view's text.
    fn leave_view(&self) {}

    /// Polled every few thousand nodes that are bound: whether to continue.
    ///
    /// Errors: why not.
    fn poll(&self) -> Result<(), SqlError> {
        Ok(())
    }

    /// The table of a table variable, whose name has its `@`; `None` makes error 1087.
    ///
    /// Errors: as [`Catalog::relation`].
    fn table_variable(&self, name: &str) -> Result<Option<Arc<Table>>, SqlError>;
}

/// What a name in a FROM refers to.
#[derive(Clone, Debug)]
pub enum Relation {
    /// A table, also a temporary one.
    Table(Arc<Table>),
    /// A user-defined view.
    View(Arc<View>),
    /// A view that the server itself has: a virtual table.
    System(Arc<SystemView>),
}
