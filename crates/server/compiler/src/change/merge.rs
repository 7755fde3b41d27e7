//! MERGE.
//!
//! - `pairs-then-the-rest`: the rows of the source, each with the target's rows for which ON is true, are one query;
//!   the target's rows are a second, whose rows that the first has returned are left out.

use std::sync::Arc;

use selenite_tsql::ast;
use selenite_types::{Comparison, DataType, Width};

use super::delete::delete_sql;
use super::insert::{GivenExpr, InsertLimit, check_row_version, check_values, view_targets};
use super::output::{Layout, Outputs, check_client_output, place_columns, result_columns};
use super::row::RowRules;
use super::row_writer::{RowWriter, targets};
use super::target::Target;
use super::update::{RowUpdate, SetValue, row_query};
use crate::binding::{Binding, InputColumn, Inputs, ResultColumn};
use crate::catalog::{ChangeVerb, Table, View};
use crate::compiled::Compiled;
use crate::query::source::{Bound, join};
use crate::query::tree::{From, Join, JoinKind, Query, QueryColumn, ROW_ID, Select};
use crate::query::{Clause, QueryBinder, advances};
use crate::writer::{SqlText, Writer};
use crate::{ColumnRef, Expr, ExprKind, Predicate, Source, SqlError, WholeOperand};

/// MERGE. Expressions are over the rowid, the old row, the new row, the action's word and further inputs.
#[derive(Clone, Debug)]
pub struct Merge {
    /// The target.
    pub table: Arc<Table>,
    /// Its rows with those of the source, and rows of the source alone.
    pub pairs: MergeRows,
    /// Its rows, for `WHEN NOT MATCHED BY SOURCE`.
    pub others: Option<MergeRows>,
    /// Writes rows that UPDATE changes.
    pub update: Option<(RowRules, RowUpdate)>,
    /// Deletes rows: the SQL's parameter is the JSON array of their rowids.
    pub delete: Option<(RowRules, String)>,
    /// Writes new rows.
    pub insert: Option<RowWriter>,
    /// TOP.
    pub limit: Option<Box<InsertLimit>>,
    /// Its OUTPUT clauses.
    pub outputs: Vec<Outputs>,
    views: Box<[Arc<View>]>,
}

/// A query of a MERGE, and the clauses for its rows.
#[derive(Clone, Debug)]
pub struct MergeRows {
    /// The query: the rowid, the target's columns and further inputs.
    pub text: SqlText,
    /// The operations and aggregates of its SQL.
    pub compiled: Arc<Compiled>,
    /// The query's columns.
    pub inputs: Vec<InputColumn>,
    /// The clauses for rows of the target.
    pub present: Vec<MergeClause>,
    /// The clauses for rows without one of the target.
    pub absent: Vec<MergeClause>,
}

/// A clause of MERGE: the first whose condition is true applies.
#[derive(Clone, Debug)]
pub struct MergeClause {
    /// AND.
    pub filter: Option<Predicate>,
    /// The change of a row.
    pub action: MergeAction,
}

/// The change of a row by MERGE.
#[derive(Clone, Debug)]
pub enum MergeAction {
    /// UPDATE.
    Update(Vec<SetValue>),
    /// DELETE.
    Delete,
    /// INSERT.
    Insert(Vec<GivenExpr>),
}

impl Binding<'_> {
    /// Binds a MERGE.
    ///
    /// Errors: any error of the statement.
    pub(crate) fn merge(&self, merge: &ast::Merge) -> Result<Merge, SqlError> {
        let mut binder = QueryBinder::new(self.catalog, self.variables);
        binder.options(&merge.options)?;
        let limit = self.insert_limit(merge.top.as_ref(), &merge.with)?;
        binder.with_commons(&merge.with, |binder| self.merge_parts(binder, merge, limit))
    }

    fn merge_parts(
        &self,
        binder: &mut QueryBinder<'_>,
        merge: &ast::Merge,
        limit: Option<Box<InsertLimit>>,
    ) -> Result<Merge, SqlError> {
        let source = binder
            .bind_from(std::slice::from_ref(&merge.source))?
            .ok_or_else(|| SqlError::internal("a MERGE without a source"))?;
        let mut target = binder.bind_merge_target(&merge.target, merge.alias.as_ref(), &verbs(merge))?;
        let names = Names::of(&source, &target)?;
        let table = Arc::clone(&target.table);
        check_triggers(&table, merge)?;
        let on = binder.scoped(names.both.clone(), |binder| binder.condition(Clause::On, &merge.on))?;
        let mut clauses = Vec::with_capacity(merge.clauses.len());
        let mut insert_targets = None;
        for clause in &merge.clauses {
            let bound = self.merge_clause(binder, (&target, &names), clause, &mut insert_targets);
            clauses.push((clause.rows, bound.map_err(|error| error.on_line(clause.position.line))?));
        }
        if binder.advances() {
            return Err(SqlError::merge_next_value());
        }
        let count = table.columns.len();
        let mut inputs = Inputs::from(2 + 2 * count);
        let outputs = self.merge_outputs(binder, merge, (&target, &names), &mut inputs)?;
        let (update, delete, insert) = self.merge_writers(&target, &clauses, insert_targets)?;
        let others = rest(binder, &target, &clauses, &inputs)?;
        let pairs = pairs(binder, &mut target, (source, on), clauses, inputs)?;
        Ok(Merge {
            table,
            pairs,
            others,
            update,
            delete,
            insert,
            limit,
            outputs,
            views: target.views.into(),
        })
    }

    /// One clause, over columns of the sources.
    fn merge_clause(
        &self,
        binder: &mut QueryBinder<'_>,
        (target, names): (&Target, &Names),
        clause: &ast::MergeClause,
        insert_targets: &mut Option<(Vec<usize>, Vec<DataType>)>,
    ) -> Result<MergeClause, SqlError> {
        let sources = match clause.rows {
            ast::MergeMatch::Matched => names.both.clone(),
            ast::MergeMatch::NotMatched => names.source.clone(),
            ast::MergeMatch::NotMatchedBySource => names.target.clone(),
        };
        binder.scoped(sources, |binder| {
            let filter = match &clause.filter {
                Some(filter) => {
                    let bound = binder.condition(Clause::Where, filter);
                    Some(bound.map_err(|error| beyond_scope(error, clause.rows))?)
                }
                None => None,
            };
            let action = match &clause.action {
                ast::MergeAction::Update(assignments) => {
                    let mut sets = Vec::with_capacity(assignments.len());
                    for assignment in assignments {
                        let set = self.set(binder, target, assignment, &sets);
                        sets.push(set.map_err(|error| error.on_line(assignment.position.line))?);
                    }
                    sets.extend(SetValue::of_row_version(&target.table, &sets));
                    MergeAction::Update(sets)
                }
                ast::MergeAction::Delete => MergeAction::Delete,
                ast::MergeAction::Insert { columns, values } => {
                    let (given, filled) = merge_insert(binder, target, columns, values.as_deref())?;
                    *insert_targets = Some(filled);
                    MergeAction::Insert(given)
                }
            };
            Ok(MergeClause { filter, action })
        })
    }

    fn merge_outputs(
        &self,
        binder: &mut QueryBinder<'_>,
        merge: &ast::Merge,
        (target, names): (&Target, &Names),
        inputs: &mut Inputs,
    ) -> Result<Vec<Outputs>, SqlError> {
        let table = &target.table;
        let count = table.columns.len();
        let layout = Layout {
            deleted: Some(1),
            inserted: Some(1 + count),
            is_partial: true,
        };
        let mut sources = names.source.clone();
        let columns = sources.iter_mut().flat_map(|source| &mut source.columns);
        columns.for_each(|column| column.nullable = true);
        let place = u32::try_from(1 + 2 * count).unwrap_or(u32::MAX);
        binder.merge_action = Some(Expr::new(
            ExprKind::Input(place),
            DataType::NVarChar(Width::Limited(10)),
        ));
        let noted = binder.parts.noted.get(&target.exposed).copied();
        let changed = (table, target.through.as_deref(), noted);
        let bound = Outputs::bind(self, binder, &merge.output, changed, layout, &sources, inputs);
        binder.merge_action = None;
        let outputs = bound?;
        if inputs
            .items
            .iter()
            .any(|item| !matches!(item.kind, ExprKind::Column(_)))
        {
            return Err(SqlError::unsupported("A subquery in OUTPUT"));
        }
        for verb in verbs(merge) {
            check_client_output(table, verb, &outputs)?;
        }
        Ok(outputs)
    }

    /// How rows are updated, deleted and inserted.
    #[expect(clippy::type_complexity, reason = "one for each action, in order")]
    fn merge_writers(
        &self,
        target: &Target,
        clauses: &[(ast::MergeMatch, MergeClause)],
        insert_targets: Option<(Vec<usize>, Vec<DataType>)>,
    ) -> Result<
        (
            Option<(RowRules, RowUpdate)>,
            Option<(RowRules, String)>,
            Option<RowWriter>,
        ),
        SqlError,
    > {
        let table = &target.table;
        let mut changed: Vec<usize> = Vec::new();
        let (mut updates, mut deletes) = (false, false);
        for (_, clause) in clauses {
            match &clause.action {
                MergeAction::Update(sets) => {
                    updates = true;
                    for at in sets.iter().filter_map(|set| set.column) {
                        if !changed.contains(&at) {
                            changed.push(at);
                        }
                    }
                }
                MergeAction::Delete => deletes = true,
                MergeAction::Insert(_) => {}
            }
        }
        let update = match updates {
            true => {
                let mut rules = RowRules::bind(self, table, ChangeVerb::Update, &|column| changed.contains(&column))?;
                rules.add_views(self, &target.views)?;
                Some((rules, RowUpdate::bind(changed, table)?))
            }
            false => None,
        };
        let delete = match deletes {
            true => {
                let mut rules = RowRules::bind(self, table, ChangeVerb::Delete, &|_| false)?;
                rules.through(&target.views);
                Some((rules, delete_sql(table)?))
            }
            false => None,
        };
        let insert = match insert_targets {
            Some((targets, types)) => {
                let mut writer = RowWriter::of_targets(self, table, targets, types)?;
                writer.rules.add_views(self, &target.views)?;
                Some(writer)
            }
            None => None,
        };
        Ok((update, delete, insert))
    }
}

impl Merge {
    /// The views that rows are changed through, the one that was named as the target last.
    #[must_use]
    pub fn views(&self) -> &[Arc<View>] {
        &self.views
    }

    /// All tables that the statement writes to.
    #[must_use]
    pub fn written(&self) -> Vec<&Arc<Table>> {
        let outputs = self.outputs.iter().filter_map(Outputs::filled);
        std::iter::once(&self.table).chain(outputs).collect()
    }

    /// The columns of OUTPUT's rows; empty without OUTPUT.
    #[must_use]
    pub fn columns(&self) -> &[ResultColumn] {
        result_columns(&self.outputs)
    }

    /// Its actions, in the order in which triggers fire.
    #[must_use]
    pub fn verbs(&self) -> Vec<ChangeVerb> {
        let actions = [
            (ChangeVerb::Insert, self.insert.is_some()),
            (ChangeVerb::Update, self.update.is_some()),
            (ChangeVerb::Delete, self.delete.is_some()),
        ];
        let given = actions.into_iter().filter(|(_, is_given)| *is_given);
        given.map(|(verb, _)| verb).collect()
    }

    /// Whether it takes values of a sequence: by a default.
    #[must_use]
    pub fn advances(&self) -> bool {
        let defaults = self.insert.iter().flat_map(|writer| writer.defaults.iter().flatten());
        defaults.into_iter().any(advances)
    }

    /// Whether a hint requires that rows that are read be held until the transaction ends.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.pairs.compiled.holds() || self.others.as_ref().is_some_and(|others| others.compiled.holds())
    }
}

/// The names of the sources in the clauses.
struct Names {
    both: Vec<Source>,
    source: Vec<Source>,
    target: Vec<Source>,
}

impl Names {
    /// Errors: 5318.
    fn of(source: &Bound, target: &Target) -> Result<Self, SqlError> {
        let left = Bound {
            from: source.from.clone(),
            sources: source.sources.clone(),
        };
        let right = Bound {
            from: target.bound.from.clone(),
            sources: target.bound.sources.clone(),
        };
        let both = join(JoinKind::Inner, left, right, None).map_err(|_| SqlError::merge_names())?;
        Ok(Self {
            both: both.sources,
            source: source.sources.clone(),
            target: target.bound.sources.clone(),
        })
    }
}

/// The values of an INSERT, the columns that they fill, and their types.
type MergeInsert = (Vec<GivenExpr>, (Vec<usize>, Vec<DataType>));

fn merge_insert(
    binder: &mut QueryBinder<'_>,
    target: &Target,
    columns: &[ast::Name],
    values: Option<&[ast::ValueOrDefault]>,
) -> Result<MergeInsert, SqlError> {
    let table = &target.table;
    let Some(values) = values else {
        return Ok((Vec::new(), (Vec::new(), Vec::new())));
    };
    let exposed = target
        .bound
        .sources
        .iter()
        .find(|source| source.number == target.exposed);
    let alias = exposed.map_or("", |source| source.alias.as_str());
    let filled = match &target.through {
        None => targets(table, columns)?,
        Some(through) => view_targets(table, (alias, through), columns)?,
    };
    check_values(table, &filled, !columns.is_empty(), values.len())?;
    let is_given = |value: &ast::ValueOrDefault| matches!(value, ast::ValueOrDefault::Value(_));
    check_row_version(table, &filled, |place| values.get(place).is_some_and(is_given))?;
    let (mut given, mut types) = (Vec::with_capacity(values.len()), Vec::with_capacity(values.len()));
    for (value, at) in values.iter().zip(&filled) {
        let column = table.columns.get(*at);
        let own_type = column.map_or(DataType::Int, |column| column.data_type);
        match value {
            ast::ValueOrDefault::Value(value) => {
                let value = binder.value(Clause::Set, value)?;
                types.push(if value.is_null_word() {
                    own_type
                } else {
                    value.data_type
                });
                given.push(GivenExpr::Value(value));
            }
            ast::ValueOrDefault::Default(position) => {
                if column.is_some_and(|column| column.identity.is_some()) {
                    return Err(SqlError::default_identity().on_line(position.line));
                }
                types.push(own_type);
                given.push(GivenExpr::Default);
            }
        }
    }
    Ok((given, (filled, types)))
}

/// The query of the target's rows, for the clauses BY SOURCE. OUTPUT's inputs, columns of the source, are NULL.
fn rest(
    binder: &mut QueryBinder<'_>,
    target: &Target,
    clauses: &[(ast::MergeMatch, MergeClause)],
    outputs: &Inputs,
) -> Result<Option<MergeRows>, SqlError> {
    let mut present = of(clauses, ast::MergeMatch::NotMatchedBySource);
    if present.is_empty() {
        return Ok(None);
    }
    let mut inputs = outputs.clone();
    let given = inputs.items.len();
    take_inputs_of(&mut present, target, &row_id_is_null(target, false), &mut inputs);
    for item in inputs.items.iter_mut().take(given) {
        item.kind = ExprKind::Null;
    }
    let query = row_query(target, None, None, inputs.items);
    rows_of(binder, &query, (present, Vec::new())).map(Some)
}

/// The query of the source's rows with the target's.
fn pairs(
    binder: &mut QueryBinder<'_>,
    target: &mut Target,
    (source, on): (Bound, Predicate),
    clauses: Vec<(ast::MergeMatch, MergeClause)>,
    mut inputs: Inputs,
) -> Result<MergeRows, SqlError> {
    let mut present = of(&clauses, ast::MergeMatch::Matched);
    let mut absent = of(&clauses, ast::MergeMatch::NotMatched);
    if is_never(&on) {
        // SQLite would look at all pairs.
        let null = |data_type| Expr::new(ExprKind::Null, data_type);
        let always = Predicate::IsNull(Box::new(null(DataType::BigInt)));
        take_inputs_of(&mut absent, target, &always, &mut inputs);
        let mut items = vec![null(DataType::BigInt)];
        items.extend(target.table.columns.iter().map(|column| null(column.data_type)));
        items.extend(inputs.items);
        let columns = items.iter().map(|item| QueryColumn::of(String::new(), item)).collect();
        let select = Select {
            items,
            from: Some(source.from),
            ..Select::default()
        };
        return rows_of(binder, &Query::of_select(select, columns), (Vec::new(), absent));
    }
    take_inputs_of(&mut absent, target, &row_id_is_null(target, true), &mut inputs);
    take_inputs_of(&mut present, target, &row_id_is_null(target, false), &mut inputs);
    let kind = if absent.is_empty() {
        JoinKind::Inner
    } else {
        JoinKind::Left
    };
    target.bound.from = From::Join(Box::new(Join {
        kind,
        left: source.from,
        right: target.bound.from.clone(),
        on: Some(on),
    }));
    let query = row_query(target, None, None, inputs.items);
    rows_of(binder, &query, (present, absent))
}

fn rows_of(
    binder: &QueryBinder<'_>,
    query: &Query,
    (present, absent): (Vec<MergeClause>, Vec<MergeClause>),
) -> Result<MergeRows, SqlError> {
    let inputs = InputColumn::all(&binder.parts, query);
    let mut writer = Writer::new(binder.parts.clone());
    let text = writer.statement(query)?;
    Ok(MergeRows {
        text,
        compiled: Arc::new(writer.compiled()),
        inputs,
        present,
        absent,
    })
}

/// The clauses for rows of a kind.
fn of(clauses: &[(ast::MergeMatch, MergeClause)], rows: ast::MergeMatch) -> Vec<MergeClause> {
    let own = clauses.iter().filter(|(other, _)| *other == rows);
    own.map(|(_, clause)| clause.clone()).collect()
}

/// Replaces columns and query nodes of clauses by inputs. A query node is evaluated only for the rows that its clause
/// is about: it may fail for others.
fn take_inputs_of(clauses: &mut [MergeClause], target: &Target, are_such: &Predicate, inputs: &mut Inputs) {
    for clause in clauses {
        let mut applies = are_such.clone();
        if let Some(filter) = &mut clause.filter {
            applies = Predicate::And(vec![applies, filter.clone()]);
            filter.rewrite(&mut |node| place_columns(node, target.source, 1));
            inputs.take_condition_where(filter, are_such);
        }
        let values: Vec<&mut Expr> = match &mut clause.action {
            MergeAction::Update(sets) => sets.iter_mut().filter_map(|set| set.value.as_mut()).collect(),
            MergeAction::Delete => Vec::new(),
            MergeAction::Insert(given) => given.iter_mut().filter_map(GivenExpr::value_mut).collect(),
        };
        for value in values {
            value.rewrite(&mut |node| place_columns(node, target.source, 1));
            inputs.take_where(value, &applies);
        }
    }
}

/// Whether the target has no row, or has one.
fn row_id_is_null(target: &Target, is_null: bool) -> Predicate {
    let row_id = ExprKind::Column(ColumnRef {
        source: target.source,
        column: ROW_ID,
    });
    let test = Predicate::IsNull(Box::new(Expr::new(row_id, DataType::BigInt).with_nullable(true)));
    match is_null {
        true => test,
        false => test.negate(),
    }
}

/// Whether ON is never true, as `1 = 0`: rows are to be inserted only.
fn is_never(on: &Predicate) -> bool {
    match on {
        Predicate::Whole(whole) => match (&whole.left, &whole.right) {
            (WholeOperand::Literal(left, _), WholeOperand::Literal(right, _)) => {
                whole.comparison == Comparison::Equal && left != right
            }
            (_, _) => false,
        },
        Predicate::Compare(_)
        | Predicate::And(_)
        | Predicate::Or(_)
        | Predicate::Not(_)
        | Predicate::IsNull(_)
        | Predicate::Same(_)
        | Predicate::Between { .. }
        | Predicate::InList { .. }
        | Predicate::Like(_)
        | Predicate::QueryNode(_)
        | Predicate::Let(_)
        | Predicate::Input(_) => false,
    }
}

fn verbs(merge: &ast::Merge) -> Vec<ChangeVerb> {
    let verb = |clause: &ast::MergeClause| match clause.action {
        ast::MergeAction::Update(_) => ChangeVerb::Update,
        ast::MergeAction::Delete => ChangeVerb::Delete,
        ast::MergeAction::Insert { .. } => ChangeVerb::Insert,
    };
    merge.clauses.iter().map(verb).collect()
}

/// Errors: 5316.
fn check_triggers(table: &Table, merge: &ast::Merge) -> Result<(), SqlError> {
    let verbs = verbs(merge);
    let is_instead_of = |verb: &ChangeVerb| table.fires.is_instead_of(*verb);
    match verbs.iter().any(is_instead_of) && !verbs.iter().all(is_instead_of) {
        true => Err(SqlError::merge_instead_of_some(&table.name)),
        false => Ok(()),
    }
}

/// The error of a name in a clause's condition that only another side has.
fn beyond_scope(error: SqlError, rows: ast::MergeMatch) -> SqlError {
    let text = error.text();
    let bare = text
        .strip_prefix("Invalid column name '")
        .and_then(|name| name.strip_suffix("'."));
    let qualified = text.strip_prefix("The multi-part identifier \"");
    let qualified = qualified.and_then(|name| name.strip_suffix("\" could not be bound."));
    match (rows, bare.or(qualified)) {
        (ast::MergeMatch::NotMatched, Some(name)) => SqlError::merge_not_of_source(name),
        (ast::MergeMatch::NotMatchedBySource, Some(name)) => SqlError::merge_not_of_target(name),
        (ast::MergeMatch::Matched, _) | (_, None) => error,
    }
}
