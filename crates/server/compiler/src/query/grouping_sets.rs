//! ROLLUP, CUBE and GROUPING SETS.
//!
//! - `a-query-for-each-set`: the rows of each set are one grouped query; UNION ALL of them is a derived table of the
//!   group keys and the aggregates, over which the select list, HAVING and ORDER BY are computed.

use selenite_tsql::ast;
use selenite_types::{DataType, Value};

use super::QueryBinder;
use super::tree::{
    AggregateCall, Body, From, Leaf, OrderKey, OrderTerm, Query, QueryColumn, QueryNode, Rows, Select, SqliteColumn,
    WindowCall, WindowFunction,
};
use crate::{Aggregate, AggregateKind, ColumnRef, Expr, ExprKind, NodeMut, Predicate, QueryNodeRef, SqlError};

/// GROUP BY.
pub(super) struct Groups {
    /// All expressions, each once.
    pub exprs: Vec<Expr>,
    /// The sets of indexes into them; `None` without ROLLUP, CUBE, GROUPING SETS and `()`.
    pub sets: Option<Vec<Vec<usize>>>,
    /// The source of GROUPING: for each expression a column that is 1 where it is not in the row's set.
    pub marks: Option<u32>,
}

impl QueryBinder<'_> {
    /// Binds GROUP BY.
    ///
    /// Errors: 144, 164 and errors of the expressions; 10702 for too many sets.
    pub(super) fn bind_groups(&mut self, items: &[ast::GroupItem]) -> Result<Groups, SqlError> {
        let mut exprs = Vec::new();
        let mut sets = vec![Vec::new()];
        let is_plain = items.iter().all(|item| matches!(item, ast::GroupItem::Value(_)));
        for item in items {
            let alternatives = self.sets_of(item, &mut exprs)?;
            if sets.len().saturating_mul(alternatives.len()) > SET_COUNT_MAX {
                return Err(SqlError::too_many_grouping_sets());
            }
            sets = sets
                .iter()
                .flat_map(|set| alternatives.iter().map(move |other| union(set, other)))
                .collect();
        }
        let marks = (!exprs.is_empty()).then(|| {
            let none = Expr::literal(Value::TinyInt(0), DataType::TinyInt);
            let places = exprs.iter().map(|_| SqliteColumn::Inlined(none.clone()));
            self.parts.add_source(places.collect())
        });
        Ok(Groups {
            exprs,
            sets: (!is_plain).then_some(sets),
            marks,
        })
    }

    /// The sets of an item.
    fn sets_of(&mut self, item: &ast::GroupItem, exprs: &mut Vec<Expr>) -> Result<Vec<Vec<usize>>, SqlError> {
        Ok(match item {
            ast::GroupItem::Value(value) => vec![vec![self.group(value, exprs)?]],
            ast::GroupItem::Tuple(values) => {
                let mut set = Vec::with_capacity(values.len());
                for value in values {
                    let group = self.group(value, exprs)?;
                    set = union(&set, &[group]);
                }
                vec![set]
            }
            ast::GroupItem::Rollup(items) => {
                let units = self.units(items, exprs)?;
                let prefix = |count: usize| units.iter().take(count).fold(Vec::new(), |set, unit| union(&set, unit));
                (0..=units.len()).rev().map(prefix).collect()
            }
            ast::GroupItem::Cube(items) => {
                let units = self.units(items, exprs)?;
                if units.len() > CUBE_COUNT_MAX {
                    return Err(SqlError::too_many_grouping_sets());
                }
                let subset = |bits: usize| {
                    let chosen = units.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1);
                    chosen.fold(Vec::new(), |set, (_, unit)| union(&set, unit))
                };
                (0..1_usize << units.len()).rev().map(subset).collect()
            }
            ast::GroupItem::Sets(items) => {
                let mut sets = Vec::new();
                for item in items {
                    sets.extend(self.sets_of(item, exprs)?);
                }
                sets
            }
        })
    }

    /// The operands of ROLLUP or CUBE: expressions, and lists in parentheses.
    fn units(&mut self, items: &[ast::GroupItem], exprs: &mut Vec<Expr>) -> Result<Vec<Vec<usize>>, SqlError> {
        let mut units = Vec::with_capacity(items.len());
        for item in items {
            match item {
                ast::GroupItem::Value(_) | ast::GroupItem::Tuple(_) => units.extend(self.sets_of(item, exprs)?),
                ast::GroupItem::Rollup(_) | ast::GroupItem::Cube(_) | ast::GroupItem::Sets(_) => {
                    return Err(SqlError::unsupported("ROLLUP or CUBE of a grouping set"));
                }
            }
        }
        Ok(units)
    }

    fn group(&mut self, value: &ast::Expr, exprs: &mut Vec<Expr>) -> Result<usize, SqlError> {
        let group = self.bind_group(value)?;
        match exprs.iter().position(|known| *known == group) {
            Some(at) => Ok(at),
            None => {
                exprs.push(group);
                Ok(exprs.len() - 1)
            }
        }
    }

    /// GROUPING and GROUPING_ID.
    ///
    /// Errors: 8161 for an argument that is not in GROUP BY.
    pub(super) fn bind_grouping(&mut self, call: &ast::FunctionCall) -> Result<Expr, SqlError> {
        let name = call.name.name.text.to_ascii_uppercase();
        let is_id = name == "GROUPING_ID";
        let ast::Arguments::List(arguments) = &call.arguments else {
            return Err(SqlError::argument_count(&name.to_ascii_lowercase(), 1));
        };
        if arguments.is_empty() || !is_id && arguments.len() > 1 {
            return Err(SqlError::argument_count(&name.to_ascii_lowercase(), 1));
        }
        let mut id: Option<Expr> = None;
        for (at, argument) in arguments.iter().enumerate() {
            let value = self.value(super::Clause::Argument, argument)?;
            let scope = self.scope();
            let found = scope.and_then(|scope| {
                let column = scope.groups.iter().position(|group| *group == value)?;
                Some((scope.marks?, column))
            });
            let (source, column) = found.ok_or_else(|| SqlError::not_in_groups(at + 1, &name))?;
            let column = ColumnRef {
                source,
                column: u32::try_from(column).unwrap_or(u32::MAX),
            };
            let mark = Expr::new(ExprKind::Column(column), DataType::TinyInt).with_nullable(false);
            if !is_id {
                return Ok(mark);
            }
            let mark = mark.converted_to(&DataType::Int)?;
            id = Some(match id {
                None => mark,
                Some(id) => {
                    let two = Expr::literal(Value::Int(2), DataType::Int);
                    let doubled = sum_of(selenite_types::Operator::Multiply, id, two);
                    sum_of(selenite_types::Operator::Add, doubled, mark)
                }
            });
        }
        id.ok_or_else(|| SqlError::argument_count("grouping_id", 1))
    }

    /// A grouped SELECT of several sets as one over the rows of all sets.
    ///
    /// Errors: 40510 for a subquery that uses a grouped column.
    pub(super) fn group_by_sets(
        &mut self,
        select: Select,
        order: &mut [OrderTerm],
        groups: &Groups,
    ) -> Result<Select, SqlError> {
        let Some(sets) = &groups.sets else { return Ok(select) };
        let number = self.parts.add_source(Vec::new());
        let mut rewrite = SetRewrite {
            number,
            groups: &groups.exprs,
            aggregates: Vec::new(),
            key_count: 0,
            error: None,
        };
        let mut outer = select.clone();
        for item in &mut outer.items {
            rewrite.key_count = 0;
            rewrite.expr(self, item);
            // A key is NULL where it is not in the row's set, whatever its column is.
            item.nullable |= rewrite.key_count > 0;
        }
        for term in order {
            if let OrderKey::Value(value) = &mut term.key {
                rewrite.expr(self, value);
            }
        }
        if let Some(having) = &mut outer.having {
            rewrite.predicate(self, having);
        }
        if let Some(error) = rewrite.error {
            return Err(error);
        }
        let mut aggregates = rewrite.aggregates;
        if aggregates.is_empty() {
            // The set of no columns has one row only where there is an aggregate.
            aggregates.push(self.count_of_rows()?);
        }
        let mut members = Vec::with_capacity(sets.len());
        for set in sets {
            members.push(member(&select, groups, set, &aggregates));
        }
        let mut members = members.into_iter();
        let first = members.next().ok_or_else(|| SqlError::internal("GROUP BY of no set"))?;
        let columns = first.columns.clone();
        let rest: Vec<_> = members.map(|query| (ast::SetOperator::UnionAll, query)).collect();
        let query = match rest.is_empty() {
            true => first,
            false => Query {
                body: Body::Combined(Box::new(first), rest),
                columns: columns.clone(),
                order: Vec::new(),
                limit: None,
            },
        };
        self.place_sets(number, columns.len(), groups);
        outer.from = Some(From::Leaf(Leaf {
            source: number,
            rows: Rows::Query(Box::new(query)),
        }));
        outer.filter = outer.having.take();
        outer.group_by = Vec::new();
        outer.grouped = false;
        Ok(outer)
    }

    /// The places of the derived table's columns, and of the columns that GROUPING reads.
    fn place_sets(&mut self, number: u32, count: usize, groups: &Groups) {
        let set = |parts: &mut super::tree::Parts, source: u32, places: Vec<SqliteColumn>| {
            let at = usize::try_from(source).unwrap_or(usize::MAX);
            if let Some(known) = parts.sources.get_mut(at) {
                *known = places;
            }
        };
        set(
            &mut self.parts,
            number,
            (0..count).map(SqliteColumn::Numbered).collect(),
        );
        if let Some(marks) = groups.marks {
            let size = groups.exprs.len();
            let places = (0..size).map(|at| SqliteColumn::Inlined(column(number, size + at, DataType::TinyInt)));
            set(&mut self.parts, marks, places.collect());
        }
    }

    pub(super) fn count_of_rows(&mut self) -> Result<Expr, SqlError> {
        let aggregate = Aggregate::bind(AggregateKind::CountBig, Vec::new())?;
        let node = QueryNode::Aggregate(Box::new(AggregateCall {
            aggregate,
            distinct: false,
            order: Vec::new(),
        }));
        Ok(self.query_node(node, DataType::BigInt, false))
    }
}

/// The grouped query of one set: the keys, their marks, and the aggregates.
fn member(select: &Select, groups: &Groups, set: &[usize], aggregates: &[Expr]) -> Query {
    let mut items = Vec::with_capacity(groups.exprs.len() * 2 + aggregates.len());
    for (at, group) in groups.exprs.iter().enumerate() {
        items.push(match set.contains(&at) {
            true => group.clone().with_nullable(true),
            false => Expr::literal(Value::Null, group.data_type).with_collation(group.collation),
        });
    }
    for at in 0..groups.exprs.len() {
        let mark = u8::from(!set.contains(&at));
        items.push(Expr::literal(Value::TinyInt(mark), DataType::TinyInt));
    }
    items.extend_from_slice(aggregates);
    let columns = items.iter().map(|item| QueryColumn::of(String::new(), item)).collect();
    let member = Select {
        distinct: false,
        items,
        from: select.from.clone(),
        filter: select.filter.clone(),
        group_by: set.iter().filter_map(|at| groups.exprs.get(*at).cloned()).collect(),
        having: None,
        grouped: true,
    };
    Query::of_select(member, columns)
}

/// Replaces group keys and aggregates by columns of the derived table.
struct SetRewrite<'a> {
    number: u32,
    groups: &'a [Expr],
    aggregates: Vec<Expr>,
    /// The number of keys that were replaced.
    key_count: usize,
    error: Option<SqlError>,
}

impl SetRewrite<'_> {
    fn expr(&mut self, binder: &mut QueryBinder<'_>, expr: &mut Expr) {
        expr.rewrite(&mut |node| self.node(binder, node));
    }

    fn predicate(&mut self, binder: &mut QueryBinder<'_>, predicate: &mut Predicate) {
        predicate.rewrite(&mut |node| self.node(binder, node));
    }

    fn node(&mut self, binder: &mut QueryBinder<'_>, node: NodeMut<'_>) {
        match node {
            NodeMut::Expr(expr) => {
                if let Some(at) = self.groups.iter().position(|group| group == expr) {
                    *expr = column(self.number, at, expr.data_type).with_collation(expr.collation);
                    self.key_count += 1;
                    return;
                }
                let ExprKind::QueryNode(reference) = expr.kind else {
                    return;
                };
                let is_aggregate = matches!(binder.parts.query_node(reference), Some(QueryNode::Aggregate(_)));
                if is_aggregate {
                    *expr = self.aggregate(expr);
                } else if let Some(changed) = self.query_node(binder, reference) {
                    expr.kind = ExprKind::QueryNode(changed);
                }
            }
            NodeMut::Predicate(predicate) => {
                if let Predicate::QueryNode(reference) = *predicate
                    && let Some(changed) = self.query_node(binder, reference)
                {
                    *predicate = Predicate::QueryNode(changed);
                }
            }
            NodeMut::Operand(_) => {}
        }
    }

    fn aggregate(&mut self, expr: &Expr) -> Expr {
        let known = self.aggregates.iter().position(|known| known == expr);
        let at = known.unwrap_or_else(|| {
            self.aggregates.push(expr.clone());
            self.aggregates.len() - 1
        });
        column(self.number, self.groups.len() * 2 + at, expr.data_type)
            .with_nullable(expr.nullable)
            .with_collation(expr.collation)
    }

    /// A node with its expressions replaced; `None` if it stays.
    fn query_node(&mut self, binder: &mut QueryBinder<'_>, reference: QueryNodeRef) -> Option<QueryNodeRef> {
        let mut node = binder.parts.query_node(reference)?.clone();
        let is_correlated = |binder: &QueryBinder<'_>, query: &Query| {
            let wanted = |column: ColumnRef| binder.is_local(column);
            binder
                .parts
                .mentions(&wanted, |parts, visit| parts.visit_query(query, visit))
        };
        let correlated = match &mut node {
            QueryNode::Scalar(query) | QueryNode::Exists(query) => is_correlated(binder, query),
            QueryNode::In { operand, query, .. } => {
                let is = is_correlated(binder, query);
                self.expr(binder, operand);
                is
            }
            QueryNode::Quantified(quantified) => {
                let is = is_correlated(binder, &quantified.query);
                self.expr(binder, &mut quantified.operand);
                is
            }
            QueryNode::Window(call) => {
                self.window(binder, call);
                false
            }
            QueryNode::Aggregate(_) | QueryNode::Fixed(_) => return None,
        };
        if correlated {
            self.error = Some(SqlError::unsupported(
                "A subquery of a grouped column with GROUPING SETS",
            ));
        }
        Some(binder.parts.add_query_node(node))
    }

    fn window(&mut self, binder: &mut QueryBinder<'_>, call: &mut WindowCall) {
        let terms = call.order.iter_mut().map(|(term, _)| term);
        let mut parts: Vec<&mut Expr> = call.partition.iter_mut().chain(terms).collect();
        match &mut call.function {
            WindowFunction::RowNumber
            | WindowFunction::Rank
            | WindowFunction::DenseRank
            | WindowFunction::PercentRank
            | WindowFunction::CumulativeDistribution => {}
            WindowFunction::Tile(value) | WindowFunction::First(value) | WindowFunction::Last(value) => {
                parts.push(value)
            }
            WindowFunction::Shift { value, default, .. } => {
                parts.push(value);
                parts.extend(default);
            }
            WindowFunction::Aggregate(aggregate) => parts.extend(&mut aggregate.operand),
        }
        for part in parts {
            self.expr(binder, part);
        }
    }
}

fn column(source: u32, at: usize, data_type: DataType) -> Expr {
    let column = u32::try_from(at).unwrap_or(u32::MAX);
    Expr::new(ExprKind::Column(ColumnRef { source, column }), data_type)
}

fn sum_of(operator: selenite_types::Operator, left: Expr, right: Expr) -> Expr {
    let kind = ExprKind::Binary {
        operator,
        left: Box::new(left),
        right: Box::new(right),
    };
    Expr::new(kind, DataType::Int).with_nullable(false)
}

/// The indexes of both sets, each once.
fn union(set: &[usize], other: &[usize]) -> Vec<usize> {
    let new = other.iter().filter(|at| !set.contains(at));
    set.iter().chain(new).copied().collect()
}

/// SQL Server's limit of grouping sets.
const SET_COUNT_MAX: usize = 4096;

/// SQL Server's limit of CUBE: 4,096 sets.
const CUBE_COUNT_MAX: usize = 12;
