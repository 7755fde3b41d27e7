//! INSERT, UPDATE, DELETE.

use super::{
    AssignmentOperator, ColumnName, Condition, CursorName, Execute, Expr, ExprKind, Literal, Name, ObjectName,
    Position, Query, SelectItem, Setting, SettingValue, TableSource, Top, TypeName, With,
};

/// INSERT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Insert {
    /// `WITH`, if any.
    pub with: With,
    /// `TOP (n)`.
    pub top: Option<Top>,
    /// The table that receives the rows.
    pub target: ChangeTarget,
    /// `WITH (TABLOCK)`; empty if absent.
    pub hints: Vec<Setting>,
    /// The columns; empty for all columns.
    pub columns: Vec<Name>,
    /// `OUTPUT`, at most one with INTO and one without; empty if absent.
    pub output: Vec<Output>,
    /// The inserted rows.
    pub source: InsertSource,
    /// `OPTION (..)`; empty if absent.
    pub options: Vec<Setting>,
}

/// The rows of an INSERT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InsertSource {
    /// `VALUES (1, DEFAULT), (2, 3)`: at least one row, all of equally many values.
    Values(Vec<Vec<ValueOrDefault>>),
    /// `SELECT ..`.
    Query(Box<Query>),
    /// `EXEC ..`.
    Execute(Box<Execute>),
    /// `DEFAULT VALUES`.
    DefaultValues,
    /// `INSERT BULK t (a int)` or `BULK INSERT t FROM 'file'`.
    Bulk(Box<BulkLoad>),
}

/// The rows of a bulk load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BulkLoad {
    /// The file of BULK INSERT; `None` for INSERT BULK, whose rows are in the client's next message.
    pub file: Option<String>,
    /// The columns' types of INSERT BULK, one for each of [`Insert::columns`].
    pub types: Vec<BulkType>,
    /// `WITH (..)`; empty if absent. ORDER has its columns as values, without ASC and DESC.
    pub options: Vec<Setting>,
}

/// The type of a column of INSERT BULK.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BulkType {
    /// The type.
    pub type_name: TypeName,
    /// `NULL` or `NOT NULL`.
    pub nullable: Option<bool>,
    /// `COLLATE`.
    pub collation: Option<Name>,
}

impl BulkLoad {
    /// Whether an option without a value is given.
    #[must_use]
    pub fn is_set(&self, name: &str) -> bool {
        self.options.iter().any(|option| option.name.is(name))
    }

    /// The text or number of an option, as written.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&str> {
        let option = self.options.iter().find(|option| option.name.is(name))?;
        match option.value.as_ref()? {
            SettingValue::Value(Expr {
                kind: ExprKind::Literal(Literal::String(text) | Literal::National(text) | Literal::Integer(text)),
                ..
            }) => Some(text),
            SettingValue::Word(_) | SettingValue::Value(_) | SettingValue::Values(_) | SettingValue::Settings(_) => {
                None
            }
        }
    }
}

/// UPDATE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// `WITH`, if any.
    pub with: With,
    /// `TOP (n)`.
    pub top: Option<Top>,
    /// The target: a table, view, common table expression or an alias of FROM.
    pub target: ChangeTarget,
    /// `WITH (ROWLOCK)`; empty if absent.
    pub hints: Vec<Setting>,
    /// `SET`; at least one.
    pub assignments: Vec<Assignment>,
    /// `OUTPUT`, at most one with INTO and one without; empty if absent.
    pub output: Vec<Output>,
    /// `FROM`; empty if absent.
    pub from: Vec<TableSource>,
    /// `WHERE`.
    pub filter: Option<Condition>,
    /// `WHERE CURRENT OF`, instead of a condition.
    pub current_of: Option<CursorName>,
    /// `OPTION (..)`; empty if absent.
    pub options: Vec<Setting>,
}

/// DELETE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delete {
    /// `WITH`, if any.
    pub with: With,
    /// `TOP (n)`.
    pub top: Option<Top>,
    /// The target: a table, view, common table expression or an alias of FROM.
    pub target: ChangeTarget,
    /// `WITH (ROWLOCK)`; empty if absent.
    pub hints: Vec<Setting>,
    /// `OUTPUT`, at most one with INTO and one without; empty if absent.
    pub output: Vec<Output>,
    /// The second `FROM`; empty if absent.
    pub from: Vec<TableSource>,
    /// `WHERE`.
    pub filter: Option<Condition>,
    /// `WHERE CURRENT OF`, instead of a condition.
    pub current_of: Option<CursorName>,
    /// `OPTION (..)`; empty if absent.
    pub options: Vec<Setting>,
}

/// The target of INSERT, UPDATE, DELETE or OUTPUT INTO.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeTarget {
    /// A table, view, common table expression or alias.
    Table(ObjectName),
    /// A table variable.
    Variable {
        /// The variable's name, with its `@`.
        name: String,
        /// The position of the node.
        position: Position,
    },
}

/// An expression or `DEFAULT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueOrDefault {
    /// An expression.
    Value(Expr),
    /// `DEFAULT`.
    Default(Position),
}

/// One assignment of UPDATE's SET.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The assigned column or variable.
    pub target: AssignmentTarget,
    /// `=` or a compound assignment operator.
    pub operator: AssignmentOperator,
    /// The assigned value.
    pub value: ValueOrDefault,
    /// The position of the node.
    pub position: Position,
}

/// The target of an assignment in UPDATE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssignmentTarget {
    /// `a = 1`
    Column(ColumnName),
    /// `@v = 1`: the variable, with its `@`.
    Variable(String),
    /// `@v = a = 1`: the column, and the variable that receives the column's new value. The operator is the second one.
    VariableAndColumn(String, ColumnName),
}

/// `OUTPUT items [INTO target (columns)]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The items, with columns of `inserted` and `deleted`; at least one.
    pub items: Vec<SelectItem>,
    /// `INTO`; without it the rows are sent to the client.
    pub into: Option<OutputInto>,
}

/// The target of `OUTPUT INTO`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputInto {
    /// The target table.
    pub target: ChangeTarget,
    /// The target's columns; empty for all columns.
    pub columns: Vec<Name>,
}
