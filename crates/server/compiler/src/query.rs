//! Binds queries: from the syntax tree to typed columns.
//!
//! - `innermost-scope-first`: scopes are a stack: a name is resolved in the innermost query first,
//!   and the sources of FROM are visible to one another only through ON and APPLY.
//! - `refused-by-name`: a form that has no SQL for SQLite with T-SQL's meaning is refused here, by
//!   name.

mod apply;
mod call;
mod combine;
mod common_table;
mod grouping;
mod grouping_sets;
mod hint;
mod limit;
mod named_window;
mod next_value;
mod open_json;
mod order;
mod output;
mod output_xml;
mod pivot;
mod refusal;
mod relation;
mod select;
pub(crate) mod source;
mod subquery;
pub(crate) mod tree;
mod user_function;
pub(crate) mod walk;
mod xml_namespaces;
mod xml_nodes;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use common_table::CommonScope;
pub(crate) use next_value::{advances, check_always_evaluated};
pub(crate) use output::check_not_for;
pub(crate) use relation::exposed;
pub(crate) use select::Item;
use selenite_tsql::ast;
use selenite_types::{Comparison, DataType};
use tree::{Parts, QueryNode};

use crate::catalog::{Catalog, Relation};
use crate::{Binder, ColumnRef, Columns, Expr, Predicate, QueryHook, Source, SqlError, Variables};

/// The maximum nesting of queries, including views: SQL Server's limit for views and subqueries.
const NESTING_MAX: usize = 32;

/// Binds the queries of one statement.
pub(crate) struct QueryBinder<'c> {
    /// Resolves names of tables.
    pub catalog: &'c dyn Catalog,
    /// The batch's variables.
    pub variables: &'c Variables,
    /// The bound parts.
    pub parts: Parts,
    scopes: Vec<Scope>,
    commons: Vec<CommonScope>,
    inline_parameters: user_function::InlineParameters,
    recursion_max: u32,
    depth: usize,
    join_depth: usize,
    nodes_to_poll: u32,
    /// The columns of sources that are JSON.
    json_columns: HashSet<ColumnRef>,
    /// The documents of sources that are nodes().
    xml_nodes: HashMap<u32, Expr>,
    /// The columns of sources that are XML.
    xml_columns: HashSet<ColumnRef>,
    /// The sources of the last SELECT, where FOR needs them.
    output_sources: Option<Vec<Source>>,
    /// The value of `$action`, in OUTPUT of MERGE.
    pub merge_action: Option<Expr>,
}

/// The names of one query.
#[derive(Debug)]
pub(crate) struct Scope {
    /// The sources.
    pub columns: Columns<'static>,
    /// The clause that is being bound.
    pub clause: Clause,
    /// Whether an aggregate of this query was bound.
    pub has_aggregate: bool,
    /// The expressions of GROUP BY.
    pub groups: Vec<Expr>,
    /// The source of GROUPING's columns.
    pub marks: Option<u32>,
    /// WINDOW.
    pub windows: Arc<[ast::NamedWindow]>,
}

/// The clause in which an expression occurs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Clause {
    /// The select list.
    Items,
    /// ON.
    On,
    /// WHERE.
    Where,
    /// GROUP BY.
    GroupBy,
    /// HAVING.
    Having,
    /// ORDER BY.
    OrderBy,
    /// An argument of an aggregate, or of a table-valued function.
    Argument,
    /// SET of UPDATE.
    Set,
    /// Values to insert, the count of TOP, a check or default: no rows are in scope.
    Values,
    /// OUTPUT.
    Output,
}

impl<'c> QueryBinder<'c> {
    /// A binder for one statement.
    pub fn new(catalog: &'c dyn Catalog, variables: &'c Variables) -> Self {
        Self {
            catalog,
            variables,
            parts: Parts::default(),
            scopes: Vec::new(),
            commons: Vec::new(),
            inline_parameters: user_function::InlineParameters::default(),
            recursion_max: RECURSION_MAX,
            depth: 0,
            join_depth: 0,
            nodes_to_poll: NODES_BETWEEN_POLLS,
            json_columns: HashSet::new(),
            xml_nodes: HashMap::new(),
            xml_columns: HashSet::new(),
            output_sources: None,
            merge_action: None,
        }
    }

    /// Counts nodes that are bound or copied.
    ///
    /// Errors: 8623 if there are too many; the error of cancellation.
    pub fn spend(&mut self, nodes: usize) -> Result<(), SqlError> {
        self.parts.budget.spend_items(nodes)?;
        let nodes = u32::try_from(nodes).unwrap_or(u32::MAX);
        if let Some(left) = self.nodes_to_poll.checked_sub(nodes) {
            self.nodes_to_poll = left;
            return Ok(());
        }
        self.nodes_to_poll = NODES_BETWEEN_POLLS;
        self.catalog.poll()
    }

    /// Binds an expression of `clause` in the innermost scope.
    ///
    /// Errors: any error of the expression, with its line.
    pub fn value(&mut self, clause: Clause, expr: &ast::Expr) -> Result<Expr, SqlError> {
        let before = self.enter_clause(clause);
        let variables = self.variables;
        let bound = Binder::new(variables, self).expr(expr);
        self.leave_clause(before);
        bound.map_err(|error| error.on_line(expr.position.line))
    }

    /// Binds the item of a select list that is the column of a number.
    ///
    /// Errors: as [`QueryBinder::value`].
    pub fn item(&mut self, expr: &ast::Expr, column: usize) -> Result<Expr, SqlError> {
        let before = self.enter_clause(Clause::Items);
        let variables = self.variables;
        let bound = Binder::new(variables, self).output(expr, column);
        self.leave_clause(before);
        bound.map_err(|error| error.on_line(expr.position.line))
    }

    /// Binds a condition of `clause` in the innermost scope.
    ///
    /// Errors: as [`QueryBinder::value`].
    pub fn condition(&mut self, clause: Clause, condition: &ast::Condition) -> Result<Predicate, SqlError> {
        let before = self.enter_clause(clause);
        let variables = self.variables;
        let bound = Binder::new(variables, self).condition(condition);
        self.leave_clause(before);
        bound.map_err(|error| error.on_line(condition.position.line))
    }

    /// Runs `bind` in a new scope with these sources.
    pub fn scoped<T>(
        &mut self,
        sources: Vec<Source>,
        bind: impl FnOnce(&mut Self) -> Result<T, SqlError>,
    ) -> Result<T, SqlError> {
        self.scopes.push(Scope {
            columns: Columns { sources, outer: None },
            clause: Clause::Items,
            has_aggregate: false,
            groups: Vec::new(),
            marks: None,
            windows: Arc::default(),
        });
        let bound = bind(self);
        self.scopes.pop();
        bound
    }

    /// Runs `bind` at one more level of queries.
    ///
    /// Errors: 191 beyond [`NESTING_MAX`].
    pub fn nested<T>(&mut self, bind: impl FnOnce(&mut Self) -> Result<T, SqlError>) -> Result<T, SqlError> {
        if self.depth >= NESTING_MAX {
            return Err(SqlError::nested_too_deeply());
        }
        self.depth += 1;
        let bound = bind(self);
        self.depth -= 1;
        bound
    }

    /// Runs `bind` at one more level of joins nested on the right.
    ///
    /// Errors: 40510 beyond [`TABLE_COUNT_MAX`].
    pub fn joined<T>(&mut self, bind: impl FnOnce(&mut Self) -> Result<T, SqlError>) -> Result<T, SqlError> {
        check_table_count(self.join_depth)?;
        self.join_depth += 1;
        let bound = bind(self);
        self.join_depth -= 1;
        bound
    }

    /// The innermost scope; without one no columns are in scope.
    pub fn scope(&mut self) -> Option<&mut Scope> {
        self.scopes.last_mut()
    }

    /// Whether a column belongs to the innermost scope.
    pub fn is_local(&self, column: ColumnRef) -> bool {
        let scope = self.scopes.last();
        scope.is_some_and(|scope| {
            scope
                .columns
                .sources
                .iter()
                .any(|source| source.number == column.source)
        })
    }

    /// Tells the catalog of a table or view that is a source.
    pub fn note_source(&mut self, relation: &Relation, source: &Source) {
        let noted = self.catalog.note_source(relation, &source.columns);
        self.parts.noted.extend(noted.map(|noted| (source.number, noted)));
    }

    /// Tells the catalog of a column that is read. Whatever makes an expression of a source's column calls it, or the
    /// column could be read without a permission.
    pub fn note_read(&self, column: ColumnRef) {
        if let (Some(noted), Ok(at)) = (self.parts.noted.get(&column.source), usize::try_from(column.column)) {
            self.catalog.note_column(*noted, at);
        }
    }

    fn enter_clause(&mut self, clause: Clause) -> Option<Clause> {
        let scope = self.scopes.last_mut()?;
        Some(std::mem::replace(&mut scope.clause, clause))
    }

    fn leave_clause(&mut self, before: Option<Clause>) {
        if let (Some(scope), Some(before)) = (self.scopes.last_mut(), before) {
            scope.clause = before;
        }
    }

    /// The clause that is being bound.
    fn clause(&self) -> Clause {
        self.scopes.last().map_or(Clause::Values, |scope| scope.clause)
    }

    /// An expression that refers to an entry of the statement's parts.
    fn query_node(&mut self, node: QueryNode, data_type: DataType, nullable: bool) -> Expr {
        let reference = self.parts.add_query_node(node);
        Expr::new(crate::ExprKind::QueryNode(reference), data_type).with_nullable(nullable)
    }
}

impl QueryHook for QueryBinder<'_> {
    fn column(&mut self, name: &ast::ColumnName) -> Result<Expr, SqlError> {
        if let (Some(action), None) = (&self.merge_action, &name.table)
            && !name.name.quoted
            && name.name.is("$action")
        {
            return Ok(action.clone().with_nullable(false));
        }
        let mut error: Option<SqlError> = None;
        for scope in self.scopes.iter().rev() {
            match scope.columns.find(name) {
                Ok(found) => {
                    let column = found.column;
                    self.note_read(found.reference);
                    if self.xml_nodes.contains_key(&found.reference.source) {
                        return Err(SqlError::column_of_nodes(&name.name.text));
                    }
                    let expr = Expr::new(crate::ExprKind::Column(found.reference), column.data_type);
                    return Ok(expr
                        .with_nullable(column.nullable)
                        .with_collation(column.collation.of_column()));
                }
                Err(ambiguous) if ambiguous.number() == AMBIGUOUS => return Err(ambiguous),
                // 207 is more specific than 4104: the qualifier is known.
                Err(other) => match &error {
                    Some(before) if before.number() == UNKNOWN_COLUMN => {}
                    Some(_) | None => error = Some(other),
                },
            }
        }
        if self.scopes.len() == 1 && self.clause() == Clause::Values {
            let written = crate::written_column(name);
            return Err(SqlError::name_not_permitted(&written).on_line(name.name.position.line));
        }
        let error = error.unwrap_or_else(|| match &name.table {
            Some(_) => SqlError::unbound_identifier(&crate::written_column(name)),
            None => SqlError::unknown_column(&name.name.text),
        });
        Err(error.on_line(name.name.position.line))
    }

    fn xml_node(&mut self, name: &ast::ColumnName) -> Result<Option<(Expr, Expr)>, SqlError> {
        Ok(self.node_of(name))
    }

    fn xml_prolog(&self) -> &str {
        &self.namespaces().prolog
    }

    fn call(&mut self, call: &ast::FunctionCall, position: ast::Position) -> Result<Expr, SqlError> {
        self.bind_call(call).map_err(|error| error.on_line(position.line))
    }

    fn user_function(&mut self, call: &ast::FunctionCall) -> Result<Expr, SqlError> {
        self.bind_user_call(call)
    }

    fn parameter(&self, name: &str) -> Option<Expr> {
        self.inline_parameters.find(name)
    }

    fn subquery(&mut self, query: &ast::Query) -> Result<Expr, SqlError> {
        self.bind_scalar(query)
    }

    fn next_value(&mut self, next: &ast::NextValue) -> Result<Expr, SqlError> {
        self.bind_next_value(next)
    }

    fn exists(&mut self, query: &ast::Query) -> Result<Predicate, SqlError> {
        self.bind_exists(query)
    }

    fn in_query(&mut self, operand: Expr, query: &ast::Query) -> Result<Predicate, SqlError> {
        self.bind_in(operand, query)
    }

    fn quantified(
        &mut self,
        operand: Expr,
        comparison: Comparison,
        quantifier: ast::Quantifier,
        query: &ast::Query,
    ) -> Result<Predicate, SqlError> {
        self.bind_quantified(operand, comparison, quantifier, query)
    }

    fn is_json(&self, expr: &Expr) -> bool {
        self.is_json_text(expr)
    }

    fn spend(&mut self) -> Result<(), SqlError> {
        QueryBinder::spend(self, 1)
    }
}

/// Checks the number of tables in a join.
///
/// Errors: 40510 for one of more than [`TABLE_COUNT_MAX`] tables.
fn check_table_count(count: usize) -> Result<(), SqlError> {
    match count <= TABLE_COUNT_MAX {
        true => Ok(()),
        false => Err(SqlError::unsupported(&format!(
            "A join of more than {TABLE_COUNT_MAX} tables"
        ))),
    }
}

/// The default of MAXRECURSION.
const RECURSION_MAX: u32 = 100;

/// SQL Server's limit of columns in a SELECT.
pub(crate) const SELECT_COUNT_MAX: usize = 4096;

/// Binding so many nodes takes some milliseconds.
const NODES_BETWEEN_POLLS: u32 = 4096;

/// SQLite's limit of tables in a join.
const TABLE_COUNT_MAX: usize = 64;

const AMBIGUOUS: i32 = 209;
const UNKNOWN_COLUMN: i32 = 207;
