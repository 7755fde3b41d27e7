//! The binder's interface to tables, views and table-valued functions.
//!
//! - `current-database-by-default`: a catalog resolves names in the session's current database
//!   unless a name specifies its own database: the catalog maps that to an attached file, and
//!   refuses by name an unreachable one.
//! - `answers-are-immutable`: results are shared and never change: a changed schema returns new
//!   values, and bound statements of the old ones are discarded by their owner.
//! - `names-as-same-name`: names are compared as [`crate::same_name`] does; a name without a schema
//!   is in `dbo`.

use std::sync::Arc;

use selenite_tsql::ast::ObjectName;

use crate::{SourceColumn, SqlError};

mod change_verb;
mod fires;
mod sequence;
mod table;
mod user_function;
mod view;
mod violation;

pub use change_verb::ChangeVerb;
pub use fires::{Fires, is_of};
pub use sequence::{Sequence, SequenceCache, SequenceRule};
pub use table::{
    Check, Column, ColumnDefault, Computed, ForeignKey, IdentityRule, Key, KeyKind, Reference, ReferencedAction,
    SqliteName, Table,
};
pub use user_function::{FunctionParameter, FunctionResult, UserFunction};
pub use view::{SystemColumn, SystemFunction, SystemRows, SystemView, View};
pub use violation::Violation;

/// Resolves names of tables, views and table-valued functions.
pub trait Catalog {
    /// The table or view that `name` refers to; `None` makes error 208.
    ///
    /// A name of one part that begins with `#` is a temporary table's; `sysprocesses` and related ones are found with
    /// or without `sys.`; `INFORMATION_SCHEMA` is a schema as `sys` is.
    ///
    /// Errors: a database that does not exist (911), is not reachable here (40510), or can't be opened.
    fn relation(&self, name: &ObjectName) -> Result<Option<Relation>, SqlError>;

    /// The table-valued function that `name` refers to, such as `sys.dm_exec_sql_text`; `None` makes error 208.
    ///
    /// Errors: as [`Catalog::relation`].
    fn function(&self, name: &ObjectName) -> Result<Option<Arc<SystemFunction>>, SqlError>;

    /// The sequence that `name` refers to; `None` makes error 208.
    ///
    /// Errors: as [`Catalog::relation`].
    fn sequence(&self, _name: &ObjectName) -> Result<Option<Arc<Sequence>>, SqlError> {
        Ok(None)
    }

    /// The function of a user that `name` refers to; `None` makes error 4121 of a value, and 208 of rows.
    ///
    /// Errors: as [`Catalog::relation`].
    fn user_function(&self, _name: &ObjectName) -> Result<Option<Arc<UserFunction>>, SqlError> {
        Ok(None)
    }

    /// Begins the names of the text of a view or inline function of a database and schema, which end with
    /// [`Catalog::leave_view`]: a user with permission to read the view needs no permission on what has its owner.
    fn enter_view(&self, _home: (&str, &str)) {}

    /// Ends a view's text.
    fn leave_view(&self) {}

    /// A `*` of a select list was bound.
    ///
    /// Errors: 1054 where it is not allowed.
    fn note_star(&self) -> Result<(), SqlError> {
        Ok(())
    }

    /// A table or view became a source with these columns, or a change names it in OUTPUT. Returns the number by which
    /// [`Catalog::note_column`] tells of its columns; `None` if it need not.
    fn note_source(&self, _relation: &Relation, _columns: &[SourceColumn]) -> Option<usize> {
        None
    }

    /// A column of a source, by its index, is read.
    fn note_column(&self, _source: usize, _column: usize) {}

    /// Polled every few thousand bound nodes for cancellation.
    ///
    /// Errors: the error of cancellation.
    fn poll(&self) -> Result<(), SqlError> {
        Ok(())
    }

    /// The table of a table variable; `name` includes the `@`; `None` makes error 1087.
    ///
    /// Errors: as [`Catalog::relation`].
    fn table_variable(&self, name: &str) -> Result<Option<Arc<Table>>, SqlError>;
}

/// The object that a name in FROM refers to.
#[derive(Clone, Debug)]
pub enum Relation {
    /// A table or temporary table.
    Table(Arc<Table>),
    /// A user-defined view.
    View(Arc<View>),
    /// A system view: a virtual table.
    System(Arc<SystemView>),
}
