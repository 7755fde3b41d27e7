//! UPDATE.

use std::sync::Arc;

use selenite_tsql::ast;
use selenite_types::DataType;

use super::output::{Layout, Outputs, check_client_output, place_columns, result_columns};
use super::row::RowRules;
use super::row_writer::default_of;
use super::shift::Shift;
use super::target::Target;
use crate::binding::{Binding, InputColumn, Inputs, ResultColumn, compound, compound_of};
use crate::catalog::{ChangeVerb, Table, View};
use crate::compiled::{CHECK_CANCELLED_FUNCTION, Compiled};
use crate::functions::next_row_version;
use crate::query::tree::{Limit, Query, QueryColumn, ROW_ID, Select};
use crate::query::{Clause, QueryBinder, advances, check_always_evaluated};
use crate::writer::{SqlText, Writer, keeps_form, qualified, quoted};
use crate::{ColumnRef, Expr, ExprKind, Predicate, Slot, SqlError, same_name};

/// UPDATE.
#[derive(Clone, Debug)]
pub struct Update {
    /// The table's rules.
    pub rules: RowRules,
    /// How to execute it.
    pub strategy: UpdateStrategy,
    /// The operations and aggregates of its SQL.
    pub compiled: Arc<Compiled>,
    /// Its OUTPUT clauses.
    pub outputs: Vec<Outputs>,
    /// Whether it takes values of a sequence.
    pub advances: bool,
}

/// How to execute an UPDATE.
#[derive(Clone, Debug)]
pub enum UpdateStrategy {
    /// As one statement of SQLite's.
    Whole(SqlText),
    /// Row by row.
    Rows(Box<UpdateRows>),
}

/// An UPDATE row by row.
#[derive(Clone, Debug)]
pub struct UpdateRows {
    /// The query: the rowid, the table's columns and further inputs.
    pub text: SqlText,
    /// The query's columns.
    pub inputs: Vec<InputColumn>,
    /// The assignments, in order.
    pub sets: Vec<SetValue>,
    /// How rows are written.
    pub write: RowUpdate,
}

/// How changed rows are written.
#[derive(Clone, Debug)]
pub struct RowUpdate {
    /// The columns that change.
    pub changed: Vec<usize>,
    /// The SQL that writes one row; its parameters are the changed columns, then the rowid.
    pub sql: String,
    /// How rows are moved aside; `None` if no key changes.
    pub shift: Option<Shift>,
}

/// One assignment of SET. Expressions are over the rowid, the old row, the new row and further inputs.
#[derive(Clone, Debug)]
pub struct SetValue {
    /// The assigned column.
    pub column: Option<usize>,
    /// The assigned variable, and its type.
    pub slot: Option<(Slot, DataType)>,
    /// The new value; `None` is NULL, the default of a column without DEFAULT.
    pub value: Option<Expr>,
}

/// The bound parts of an UPDATE, before its SQL is written.
struct Parts {
    target: Target,
    sets: Vec<SetValue>,
    filter: Option<Predicate>,
    limit: Option<Limit>,
}

impl Binding<'_> {
    /// Binds an UPDATE.
    ///
    /// Errors: any error of the statement.
    pub(crate) fn update(&self, update: &ast::Update) -> Result<Update, SqlError> {
        let mut binder = QueryBinder::new(self.catalog, self.variables);
        binder.options(&update.options)?;
        let parts = binder.with_commons(&update.with, |binder| self.update_parts(binder, update))?;
        let table = Arc::clone(&parts.target.table);
        let changed: Vec<usize> = parts.sets.iter().filter_map(|set| set.column).collect();
        let mut rules = RowRules::bind(self, &table, ChangeVerb::Update, &|column| changed.contains(&column))?;
        rules.add_views(self, &parts.target.views)?;
        check_sets(&parts)?;
        if let Some(update) = whole(&mut binder, &parts, &rules, update)? {
            return Ok(update);
        }
        self.update_rows(binder, parts, rules, changed, update)
    }

    fn update_parts(&self, binder: &mut QueryBinder<'_>, update: &ast::Update) -> Result<Parts, SqlError> {
        let limit = binder.bind_limit(update.top.as_ref(), None, false)?;
        let assigned: Vec<&str> = update.assignments.iter().filter_map(assigned_column).collect();
        let how = (&[ChangeVerb::Update][..], Some(assigned.as_slice()));
        let target = binder.bind_target(&update.target, &update.from, how)?;
        let sources = target.bound.sources.clone();
        let (sets, filter) = binder.scoped(sources, |binder| {
            let mut sets = Vec::with_capacity(update.assignments.len());
            for assignment in &update.assignments {
                let set = self.set(binder, &target, assignment, &sets);
                sets.push(set.map_err(|error| error.on_line(assignment.position.line))?);
            }
            sets.extend(SetValue::of_row_version(&target.table, &sets));
            let filter = match &update.filter {
                Some(filter) => Some(binder.condition(Clause::Where, filter)?),
                None => self.current_row(&target, update.current_of.as_ref())?,
            };
            Ok((sets, filter))
        })?;
        Ok(Parts {
            target,
            sets,
            filter,
            limit,
        })
    }

    pub(super) fn set(
        &self,
        binder: &mut QueryBinder<'_>,
        target: &Target,
        assignment: &ast::Assignment,
        before: &[SetValue],
    ) -> Result<SetValue, SqlError> {
        let (column, variable) = match &assignment.target {
            ast::AssignmentTarget::Column(name) => (Some(name), None),
            ast::AssignmentTarget::Variable(variable) => (None, Some(variable)),
            ast::AssignmentTarget::VariableAndColumn(variable, name) => (Some(name), Some(variable)),
        };
        let at = match column {
            Some(name) => Some(set_column(target, name, before)?),
            None => None,
        };
        let slot = match variable {
            Some(variable) => {
                let variable = self.variables.find(variable)?;
                Some((variable.slot, variable.data_type))
            }
            None => None,
        };
        let value = match (&assignment.value, at) {
            (ast::ValueOrDefault::Default(_), Some(at)) => default_of(self, &target.table, at)?,
            (ast::ValueOrDefault::Default(_), None) => return Err(SqlError::syntax_near("DEFAULT")),
            (ast::ValueOrDefault::Value(value), _) => {
                let value = match (column, variable) {
                    (Some(name), _) => {
                        let position = name.name.position;
                        let column = ast::Expr {
                            kind: ast::ExprKind::Column(Box::new(own_column(target, name))),
                            position,
                        };
                        compound_of(column, assignment.operator, value)
                    }
                    (None, Some(variable)) => compound(variable, assignment.operator, value),
                    (None, None) => value.clone(),
                };
                Some(binder.value(Clause::Set, &value)?)
            }
        };
        if let (Some(value), Some(at)) = (&value, at) {
            let to = target
                .table
                .columns
                .get(at)
                .map_or(DataType::Int, |column| column.data_type);
            value.clone().converted_to(&to)?;
        }
        if let (Some(value), Some((_, to)), None) = (&value, slot, at) {
            value.clone().converted_to(&to)?;
        }
        Ok(SetValue {
            column: at,
            slot,
            value,
        })
    }

    fn update_rows(
        &self,
        mut binder: QueryBinder<'_>,
        parts: Parts,
        rules: RowRules,
        changed: Vec<usize>,
        update: &ast::Update,
    ) -> Result<Update, SqlError> {
        let Parts {
            target,
            mut sets,
            filter,
            limit,
        } = parts;
        let count = target.table.columns.len();
        // Rowid, old row, new row and further inputs.
        let mut inputs = Inputs::from(1 + 2 * count);
        for set in &mut sets {
            if let Some(value) = &mut set.value {
                value.rewrite(&mut |node| place_columns(node, target.source, 1));
                inputs.take(value);
            }
        }
        let layout = Layout {
            deleted: Some(1),
            inserted: Some(1 + count),
            is_partial: false,
        };
        let others = others(&target);
        let noted = binder.parts.noted.get(&target.exposed).copied();
        let outputs = binder.with_commons(&update.with, |binder| {
            Outputs::bind(
                self,
                binder,
                &update.output,
                (&target.table, target.through.as_deref(), noted),
                layout,
                &others,
                &mut inputs,
            )
        })?;
        check_client_output(&target.table, ChangeVerb::Update, &outputs)?;
        let advances = sets.iter().any(takes_value);
        let query = row_query(&target, filter, limit, inputs.items);
        let inputs = InputColumn::all(&binder.parts, &query);
        let mut writer = Writer::new(binder.parts);
        let text = writer.statement(&query)?;
        let rows = UpdateRows {
            text,
            inputs,
            sets,
            write: RowUpdate::bind(changed, &target.table)?,
        };
        let compiled = Arc::new(writer.compiled());
        Ok(Update {
            rules,
            strategy: UpdateStrategy::Rows(Box::new(rows)),
            compiled,
            outputs,
            advances,
        })
    }
}

impl SetValue {
    /// The new value of the rowversion column, which each change of a row changes; none if there is no such column, or if
    /// no column is assigned.
    pub(super) fn of_row_version(table: &Table, sets: &[Self]) -> Option<Self> {
        let at = table.row_version()?;
        sets.iter().any(|set| set.column.is_some()).then(|| Self {
            column: Some(at),
            slot: None,
            value: Some(next_row_version(table.is_temporary())),
        })
    }
}

impl RowUpdate {
    /// Binds the write of these columns of a table.
    ///
    /// Errors: a name that SQLite can't take.
    pub(crate) fn bind(changed: Vec<usize>, table: &Table) -> Result<Self, SqlError> {
        let mut assignments = Vec::with_capacity(changed.len());
        for (number, at) in changed.iter().enumerate() {
            if let Some(column) = table.columns.get(*at) {
                assignments.push(format!("{} = ?{}", quoted(&column.name)?, number + 1));
            }
        }
        let row_id = table
            .row_id()
            .ok_or_else(|| SqlError::unsupported("A table whose columns hide its rowid"))?;
        let name = qualified(&table.sqlite)?;
        let set = format!("UPDATE {name} SET {} WHERE", assignments.join(", "));
        Ok(Self {
            sql: format!("{set} {row_id} = ?{}", changed.len() + 1),
            shift: Shift::bind(table, &changed, &set, row_id)?,
            changed,
        })
    }
}

impl Update {
    /// The table that is updated.
    #[must_use]
    pub fn table(&self) -> &Arc<Table> {
        &self.rules.table
    }

    /// The views that rows are changed through, the one that was named as the target last.
    #[must_use]
    pub fn views(&self) -> &[Arc<View>] {
        self.rules.views()
    }

    /// All tables that the statement writes to.
    #[must_use]
    pub fn written(&self) -> Vec<&Arc<Table>> {
        let outputs = self.outputs.iter().filter_map(Outputs::filled);
        std::iter::once(self.table()).chain(outputs).collect()
    }

    /// The columns of OUTPUT's rows; empty without OUTPUT.
    #[must_use]
    pub fn columns(&self) -> &[ResultColumn] {
        result_columns(&self.outputs)
    }

    /// Whether it is one statement of SQLite's.
    #[must_use]
    pub fn is_single(&self) -> bool {
        matches!(self.strategy, UpdateStrategy::Whole(_))
    }
}

/// The sources other than the target, which OUTPUT may name.
pub(super) fn others(target: &Target) -> Vec<crate::Source> {
    target
        .bound
        .sources
        .iter()
        .filter(|source| source.number != target.source)
        .cloned()
        .collect()
}

/// The query of the rows to change: rowid, the table's columns and `extra`.
pub(super) fn row_query(target: &Target, filter: Option<Predicate>, limit: Option<Limit>, extra: Vec<Expr>) -> Query {
    let column = |column, data_type| {
        Expr::new(
            ExprKind::Column(ColumnRef {
                source: target.source,
                column,
            }),
            data_type,
        )
    };
    let mut items = vec![column(ROW_ID, DataType::BigInt)];
    for (at, of_table) in target.table.columns.iter().enumerate() {
        items.push(column(u32::try_from(at).unwrap_or(u32::MAX), of_table.data_type));
    }
    items.extend(extra);
    let columns = items.iter().map(|item| QueryColumn::of(String::new(), item)).collect();
    let from = Some(target.bound.from.clone());
    let mut query = Query::of_select(
        Select {
            items,
            from,
            filter,
            ..Select::default()
        },
        columns,
    );
    query.limit = limit;
    query
}

/// The target's own column: `SET a += 1` reads the assigned column, even if another source of FROM has that name.
fn own_column(target: &Target, name: &ast::ColumnName) -> ast::ColumnName {
    let mut sources = target.bound.sources.iter();
    let mut name = name.clone();
    if let (None, Some(source)) = (&name.table, sources.find(|source| source.number == target.exposed))
        && !target.alone
    {
        let position = name.name.position;
        name.table = Some(ast::ObjectName {
            server: None,
            database: None,
            schema: None,
            name: ast::Name {
                text: source.alias.clone(),
                quoted: true,
                position,
            },
            position,
        });
    }
    name
}

/// The name of the column that an assignment changes.
fn assigned_column(assignment: &ast::Assignment) -> Option<&str> {
    match &assignment.target {
        ast::AssignmentTarget::Column(name) | ast::AssignmentTarget::VariableAndColumn(_, name) => {
            Some(name.name.text.as_str())
        }
        ast::AssignmentTarget::Variable(_) => None,
    }
}

fn set_column(target: &Target, name: &ast::ColumnName, before: &[SetValue]) -> Result<usize, SqlError> {
    let exposed = target
        .bound
        .sources
        .iter()
        .find(|source| source.number == target.exposed);
    if let Some(table) = &name.table {
        let own = exposed.is_some_and(|source| source.is_named(table));
        if !own && !same_name(&target.table.name, &table.name.text) {
            return Err(SqlError::other_target(&crate::written_column(name)));
        }
    }
    let at = match &target.through {
        Some(columns) => {
            let column = columns.iter().find(|(column, _)| same_name(column, &name.name.text));
            let (_, at) = column.ok_or_else(|| SqlError::unknown_column(&name.name.text))?;
            let alias = exposed.map_or("", |source| source.alias.as_str());
            at.ok_or_else(|| SqlError::derived_column(alias))?
        }
        None => {
            let at = target.table.column(&name.name.text);
            at.ok_or_else(|| SqlError::unknown_column(&name.name.text))?
        }
    };
    let Some(column) = target.table.columns.get(at) else {
        return Err(SqlError::internal("no column"));
    };
    if before.iter().any(|set| set.column == Some(at)) {
        return Err(SqlError::column_given_twice(&column.name));
    }
    if column.computed.is_some() {
        return Err(SqlError::computed_change(&column.name));
    }
    if column.identity.is_some() {
        return Err(SqlError::identity_change(&column.name));
    }
    if column.data_type == DataType::RowVersion {
        return Err(SqlError::row_version_change());
    }
    Ok(at)
}

/// Whether an assignment takes a value of a sequence.
fn takes_value(set: &SetValue) -> bool {
    set.value.as_ref().is_some_and(advances)
}

/// Checks NEXT VALUE FOR in assignments.
///
/// Errors: 11739 with TOP, 11741 in CASE and related functions.
fn check_sets(parts: &Parts) -> Result<(), SqlError> {
    if parts.limit.is_some() && parts.sets.iter().any(takes_value) {
        return Err(SqlError::next_value_limited());
    }
    let mut values = parts.sets.iter().filter_map(|set| set.value.as_ref());
    values.try_for_each(check_always_evaluated)
}

/// The UPDATE as one statement of SQLite's, if SQLite changes the same rows to the same values with the same errors.
fn whole(
    binder: &mut QueryBinder<'_>,
    parts: &Parts,
    rules: &RowRules,
    update: &ast::Update,
) -> Result<Option<Update>, SqlError> {
    let Parts {
        target,
        sets,
        filter,
        limit,
    } = parts;
    let table = &target.table;
    let has_version = table.row_version().is_some();
    let computes = table.columns.iter().any(|column| column.computed.is_some());
    let in_key = |at: &usize| {
        let referenced = |(_, key): &(String, crate::catalog::ForeignKey)| {
            key.referenced_columns
                .iter()
                .any(|name| table.column(name) == Some(*at))
        };
        let refers = |key: &crate::catalog::ForeignKey| key.columns.iter().any(|name| table.column(name) == Some(*at));
        let is_of = |key: &crate::catalog::Key| key.columns.contains(at) || key.filter_columns.contains(at);
        table.keys.iter().any(is_of)
            || table.referenced_by.iter().any(referenced)
            || table.foreign_keys.iter().any(refers)
    };
    let plain = |set: &SetValue| match (&set.column, &set.slot, &set.value) {
        (Some(at), None, Some(value)) => {
            let column = table.columns.get(*at);
            !in_key(at) && column.is_some_and(|column| keeps_form(&value.data_type, &column.data_type))
        }
        (_, _, _) => false,
    };
    // A function that reads the table must see none of the changes.
    let simple = !binder.parts.calls_functions
        && !table.fires.on(ChangeVerb::Update)
        && !sets.iter().any(takes_value)
        && target.alone
        && !computes
        && !has_version
        && limit.is_none()
        && update.output.is_empty()
        && rules.is_plain();
    if !simple || !sets.iter().all(plain) {
        return Ok(None);
    }
    let mut writer = Writer::new(std::mem::take(&mut binder.parts));
    let mut assignments = Vec::with_capacity(sets.len());
    for set in sets {
        if let (Some(column), Some(value)) = (set.column.and_then(|at| table.columns.get(at)), &set.value) {
            assignments.push(format!("{} = {}", quoted(&column.name)?, writer.value(value)?));
        }
    }
    let name = qualified(&table.sqlite)?;
    let (source, assignments) = (target.source, assignments.join(", "));
    let mut sql = format!("UPDATE {name} AS t{source} SET {assignments} WHERE {CHECK_CANCELLED_FUNCTION}()");
    if let Some(filter) = filter {
        sql.push_str(&format!(" AND ({})", writer.condition(filter)?));
    }
    let with = writer.commons()?;
    let text = writer.finish(format!("{with}{sql}"))?;
    let compiled = Arc::new(writer.compiled());
    Ok(Some(Update {
        rules: rules.clone(),
        strategy: UpdateStrategy::Whole(text),
        compiled,
        outputs: Vec::new(),
        advances: false,
    }))
}
