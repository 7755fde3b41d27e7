//! Binds SELECT: rows, assignments, or a new table.

use std::sync::Arc;

use selenite_tsql::ast;
use selenite_types::{DataType, Value};

use super::rows::ComputedColumns;
use super::{Assign, Rows, Statement};
use crate::binding::{Binding, InputColumn, ResultColumn, SlotValue, compound, take_inputs};
use crate::catalog::{Column, IdentityRule, SqliteName};
use crate::compiled::Compiled;
use crate::query::tree::{Body, From, Query, QueryColumn, Rows as SourceRows, Select};
use crate::query::{Clause, Item, QueryBinder, SELECT_COUNT_MAX, check_not_for};
use crate::writer::{SqlText, Writer, quoted};
use crate::{Collation, ColumnRef, Expr, ExprKind, Predicate, SqlError, same_name};

/// `SELECT .. INTO t`: the server creates the table, then inserts the rows.
#[derive(Clone, Debug)]
pub struct Into {
    /// The new table.
    pub name: ast::ObjectName,
    /// Its columns.
    pub columns: Vec<IntoColumn>,
    /// The SQL after `INSERT INTO table (columns)`: [`Into::insert`] puts it there.
    pub text: SqlText,
    /// The operations and aggregates of its SQL.
    pub compiled: Arc<Compiled>,
}

/// A column of the table that SELECT INTO creates.
#[derive(Clone, PartialEq, Debug)]
pub struct IntoColumn {
    /// Its name.
    pub name: String,
    /// Its type.
    pub data_type: DataType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// The collation of its text.
    pub collation: Collation,
    /// IDENTITY, copied from the column that it selects.
    pub identity: Option<IdentityRule>,
}

impl Into {
    /// The SQL that fills the table, with the parameters of [`Into::text`].
    ///
    /// Errors: 40510 for a name that SQLite does not support.
    pub fn insert(&self, table: &SqliteName) -> Result<String, SqlError> {
        let names: Result<Vec<String>, SqlError> = self.columns.iter().map(|column| quoted(&column.name)).collect();
        let table = super::table_sql(table)?;
        Ok(format!("INSERT INTO {table} ({}) {}", names?.join(", "), self.text.sql))
    }
}

impl Binding<'_> {
    /// Binds a SELECT.
    ///
    /// Errors: any error of the statement.
    pub(super) fn select(&self, select: &ast::SelectStatement) -> Result<Statement, SqlError> {
        let mut binder = QueryBinder::new(self.catalog, self.variables);
        binder.options(&select.options)?;
        if let Some(first) = assigning(&select.query)? {
            if let Some(clause) = &select.query.for_clause {
                return Err(SqlError::for_xml_not_allowed("ASSIGNMENT", 3).on_line(clause.position.line));
            }
            let (query, targets) =
                binder.with_commons(&select.with, |binder| binder.bind_assignments(first, &select.query))?;
            return self.assign(binder, query, targets);
        }
        let into = into_of(&select.query.body);
        if into.is_some() {
            check_not_for(&select.query, "SELECT INTO")?;
        }
        let query = binder.with_commons(&select.with, |binder| binder.bind_statement(&select.query))?;
        match into {
            Some(name) => into_statement(binder, query, name.clone()),
            None => rows_statement(binder, query).map(Statement::Rows),
        }
    }

    /// Binds a value that may contain subqueries, outside queries: SET, PRINT, an argument of a procedure.
    ///
    /// Errors: any error of the value.
    pub fn value(&self, expr: &ast::Expr, data_type: Option<&DataType>) -> Result<Rows, SqlError> {
        self.single(|binder| {
            let value = binder.value(Clause::Where, expr)?;
            match data_type {
                Some(data_type) => value.converted_to(data_type),
                None => Ok(value),
            }
        })
    }

    /// Binds a condition that may contain subqueries, outside queries: its value is a bit, 1 if it is true, else 0.
    ///
    /// Errors: any error of the condition.
    pub fn test(&self, condition: &ast::Condition) -> Result<Rows, SqlError> {
        self.single(|binder| {
            let condition: Predicate = binder.condition(Clause::Where, condition)?;
            let bit = |bit| Expr::literal(Value::Bit(bit), DataType::Bit);
            let otherwise = Some(Box::new(bit(false)));
            Ok(Expr::new(
                ExprKind::Case {
                    branches: vec![(condition, bit(true))],
                    otherwise,
                },
                DataType::Bit,
            ))
        })
    }

    fn single(&self, bind: impl FnOnce(&mut QueryBinder<'_>) -> Result<Expr, SqlError>) -> Result<Rows, SqlError> {
        let mut binder = QueryBinder::new(self.catalog, self.variables);
        let value = binder.scoped(Vec::new(), bind)?;
        let column = QueryColumn::of(String::new(), &value);
        let query = Query::of_select(
            Select {
                items: vec![value],
                ..Select::default()
            },
            vec![column],
        );
        rows_statement(binder, query)
    }

    fn assign(
        &self,
        binder: QueryBinder<'_>,
        mut query: Query,
        targets: Vec<crate::Variable>,
    ) -> Result<Statement, SqlError> {
        let mut values = Vec::with_capacity(targets.len());
        let inputs = take_inputs(&mut query);
        for (target, value) in targets.into_iter().zip(inputs) {
            values.push(SlotValue {
                slot: target.slot,
                value,
            });
        }
        let inputs = InputColumn::all(&binder.parts, &query);
        let (text, compiled) = written(binder, &query)?;
        Ok(Statement::Assign(Assign {
            text,
            inputs,
            values,
            compiled,
        }))
    }
}

impl QueryBinder<'_> {
    /// Reads OPTION (..): MAXRECURSION has an effect, other options have none.
    ///
    /// Errors: 310 for MAXRECURSION out of range.
    pub(crate) fn options(&mut self, options: &[ast::Setting]) -> Result<(), SqlError> {
        for option in options.iter().filter(|option| option.name.is_word("MAXRECURSION")) {
            let Some(ast::Expr {
                kind: ast::ExprKind::Literal(ast::Literal::Integer(digits)),
                ..
            }) = option.expr()
            else {
                return Err(SqlError::unsupported("MAXRECURSION of what is no constant").on_line(option.position.line));
            };
            match digits.parse::<u32>() {
                Ok(level_max) if level_max <= RECURSION_OPTION_MAX => self.limit_recursion(level_max),
                Ok(_) | Err(_) => return Err(SqlError::recursion_option(digits).on_line(option.position.line)),
            }
        }
        Ok(())
    }

    fn bind_assignments(
        &mut self,
        select: &ast::Select,
        query: &ast::Query,
    ) -> Result<(Query, Vec<crate::Variable>), SqlError> {
        let mut targets = Vec::with_capacity(select.items.len());
        let variables = self.variables;
        let bound = self.bind_select_of(select, &query.order_by, query.offset.as_ref(), |binder| {
            let mut items = Vec::with_capacity(select.items.len());
            for item in &select.items {
                let ast::SelectItem::Assign {
                    variable,
                    operator,
                    value,
                    position,
                } = item
                else {
                    return Err(SqlError::assignment_and_rows());
                };
                let target = variables.find(variable).map_err(|error| error.on_line(position.line))?;
                let value = compound(variable, *operator, value);
                let value = binder.value(Clause::Items, &value)?;
                let value = value
                    .converted_to(&target.data_type)
                    .map_err(|error| error.on_line(position.line))?;
                items.push(Item {
                    value,
                    name: String::new(),
                });
                targets.push(target);
            }
            Ok(items)
        })?;
        Ok((bound, targets))
    }
}

/// The SELECT that assigns variables; `None` if the query returns rows.
///
/// Errors: 141 for a mixture of both.
fn assigning(query: &ast::Query) -> Result<Option<&ast::Select>, SqlError> {
    let ast::QueryBody::Select(select) = &query.body else {
        return Ok(None);
    };
    let assigns = |item: &ast::SelectItem| matches!(item, ast::SelectItem::Assign { .. });
    if !select.items.iter().any(assigns) {
        return Ok(None);
    }
    if select.items.iter().all(assigns) && select.into.is_none() {
        return Ok(Some(select));
    }
    Err(SqlError::assignment_and_rows().on_line(select.position.line))
}

fn into_of(body: &ast::QueryBody) -> Option<&ast::ObjectName> {
    match body {
        ast::QueryBody::Select(select) => select.into.as_ref(),
        ast::QueryBody::Combined(combined) => into_of(&combined.first),
        ast::QueryBody::Nested(_) => None,
    }
}

pub(super) fn rows_statement(binder: QueryBinder<'_>, mut query: Query) -> Result<Rows, SqlError> {
    if query.columns.len() > SELECT_COUNT_MAX {
        return Err(SqlError::too_many_columns());
    }
    let columns = (0..query.columns.len())
        .filter_map(|at| output_column(&binder, &query, at))
        .collect();
    let computed = binder.advances().then(|| {
        let values = take_inputs(&mut query);
        let inputs = InputColumn::all(&binder.parts, &query);
        Box::new(ComputedColumns { inputs, values })
    });
    let (text, compiled) = written(binder, &query)?;
    Ok(Rows {
        text,
        columns,
        compiled,
        computed,
    })
}

fn into_statement(binder: QueryBinder<'_>, query: Query, name: ast::ObjectName) -> Result<Statement, SqlError> {
    if binder.advances() {
        return Err(SqlError::unsupported("NEXT VALUE FOR in SELECT INTO"));
    }
    let mut columns: Vec<IntoColumn> = Vec::with_capacity(query.columns.len());
    for at in 0..query.columns.len() {
        let Some(ResultColumn {
            name: column,
            data_type,
            nullable,
            collation,
            identity,
            ..
        }) = output_column(&binder, &query, at)
        else {
            continue;
        };
        if column.is_empty() {
            return Err(SqlError::unnamed_into_column());
        }
        if columns.iter().any(|before| same_name(&before.name, &column)) {
            return Err(SqlError::into_column_twice(&column, &name.name.text));
        }
        // Only one column has an identity: further copies are plain columns.
        let identity = identity.filter(|_| columns.iter().all(|before| before.identity.is_none()));
        columns.push(IntoColumn {
            name: column,
            data_type,
            nullable,
            collation,
            identity,
        });
    }
    let (text, compiled) = written(binder, &query)?;
    Ok(Statement::Into(Into {
        name,
        columns,
        text,
        compiled,
    }))
}

fn output_column(binder: &QueryBinder<'_>, query: &Query, at: usize) -> Option<ResultColumn> {
    let column = query.columns.get(at)?;
    let selected = column.origin.and_then(|origin| Selected::find(query, origin));
    Some(ResultColumn {
        name: column.name.clone(),
        data_type: column.data_type,
        nullable: column.nullable,
        collation: column.collation,
        identity: selected.as_ref().and_then(Selected::identity),
        is_computed: selected.is_some_and(|selected| selected.is_computed()),
        place: column
            .origin
            .and_then(|origin| binder.parts.column_name(origin))
            .unwrap_or_default(),
    })
}

/// What a result's column is, if it is selected from one source alone.
enum Selected<'q> {
    /// A table's column, unchanged.
    Column(&'q Column),
    /// What a view, a derived table, or a computed column computes.
    Expression,
}

impl<'q> Selected<'q> {
    fn find(query: &'q Query, column: ColumnRef) -> Option<Self> {
        let Body::Select(select) = &query.body else { return None };
        let Some(From::Leaf(leaf)) = &select.from else {
            return None;
        };
        if select.grouped || select.distinct || leaf.source != column.source {
            return None;
        }
        let at = usize::try_from(column.column).ok()?;
        if let SourceRows::Table(table) = &leaf.rows {
            return table.columns.get(at).map(Self::Column);
        }
        let SourceRows::Query(inner) = &leaf.rows else {
            return None;
        };
        let Body::Select(select) = &inner.body else { return None };
        if let Some(From::Leaf(leaf)) = &select.from
            && let SourceRows::Table(table) = &leaf.rows
            && table.columns.iter().any(|column| column.computed.is_some())
        {
            // The query that stands for such a table: its items are the table's columns, in their order.
            return table.columns.get(at).map(Self::Column);
        }
        if let ExprKind::Column(column) = select.items.get(at)?.kind {
            return Self::find(inner, column);
        }
        Some(Self::Expression)
    }

    /// Only one column of one table has an identity, and no join or union keeps it.
    fn identity(&self) -> Option<IdentityRule> {
        match self {
            Self::Column(column) => column.identity,
            Self::Expression => None,
        }
    }

    fn is_computed(&self) -> bool {
        match self {
            Self::Column(column) => column.computed.is_some(),
            Self::Expression => true,
        }
    }
}

fn written(binder: QueryBinder<'_>, query: &Query) -> Result<(SqlText, Arc<Compiled>), SqlError> {
    let mut writer = Writer::new(binder.parts);
    let text = writer.statement(query)?;
    Ok((text, Arc::new(writer.compiled())))
}

/// The maximum of MAXRECURSION.
const RECURSION_OPTION_MAX: u32 = 32_767;
