//! FOR JSON and FOR XML: a query whose rows become one text.
//!
//! - `one-text`: the rows are a derived table in their order, and the text is an aggregate of its rows: NULL of no
//!   rows, and then no row, but for FOR XML with TYPE, whose row is NULL.
//! - `statements-send-pieces`: the text of a statement's own clause is sent in rows of 2,033 characters; xml of TYPE is a
//!   value.

use selenite_tsql::ast::{self, ForClause, ForFormat, ForMode};
use selenite_types::{DataType, Value, Width};

use super::QueryBinder;
use super::tree::{AggregateCall, Body, From, Leaf, Query, QueryColumn, QueryNode, Rows, Select, SqliteColumn};
use crate::functions::{FOR_JSON, FOR_JSON_LEVELS, FOR_JSON_ROW, FOR_JSON_VALUES, FOR_ROWS, XML_TEXT};
use crate::json::{is_json_call, marked};
use crate::{
    Aggregate, AggregateKind, ColumnRef, Expr, ExprKind, Function, FunctionCall, Predicate, Source, SqlError,
    same_name, written_object,
};

/// A column of the rows.
pub(super) struct OutputColumn {
    /// Its name.
    pub name: String,
    /// Its value, in the derived table; a text that is JSON is marked.
    pub value: Expr,
    /// The source of which it is a column; `None` for a computed one.
    pub source: Option<u32>,
}

/// The rows of a FOR clause.
pub(super) struct OutputRows {
    /// The derived table.
    pub from: From,
    /// Its columns.
    pub columns: Vec<OutputColumn>,
    /// The sources of the query, in the order of FROM; empty for a combination of queries.
    pub sources: Vec<Source>,
}

impl QueryBinder<'_> {
    /// Binds the query of a statement.
    ///
    /// Errors: any error of the query.
    pub(crate) fn bind_statement(&mut self, query: &ast::Query) -> Result<Query, SqlError> {
        match &query.for_clause {
            None => self.bind_query(query),
            Some(clause) => {
                let text = self.bind_for(query, clause)?;
                match clause.typed {
                    true => Ok(text),
                    false => self.in_pieces(text, clause),
                }
            }
        }
    }

    /// Binds a query with FOR: one row of one text, or none of no rows without TYPE.
    ///
    /// Errors: 13600 to 13620, 6800 to 6879.
    pub(super) fn bind_for(&mut self, query: &ast::Query, clause: &ForClause) -> Result<Query, SqlError> {
        let line = clause.position.line;
        let mut rows = self.output_rows(query)?;
        let text = match clause.format {
            ForFormat::Json => self.for_json(query, clause, &rows),
            ForFormat::Xml => self.for_xml(query, clause, &mut rows),
        };
        let text = text.map_err(|error| error.on_line(line))?;
        let column = QueryColumn::of(String::new(), &text);
        let has_text = Predicate::IsNull(Box::new(text.clone())).negate();
        let select = Select {
            items: vec![text],
            from: Some(rows.from),
            having: (!clause.typed).then_some(has_text),
            grouped: true,
            ..Select::default()
        };
        Ok(Query::of_select(select, vec![column]))
    }

    /// The rows of the query without its clause, as a derived table.
    fn output_rows(&mut self, query: &ast::Query) -> Result<OutputRows, SqlError> {
        let around = self.output_sources.replace(Vec::new());
        let bound = self.bind_bare_query(query);
        let sources = std::mem::replace(&mut self.output_sources, around).unwrap_or_default();
        let bound = bound?;
        let items: Vec<Expr> = match &bound.body {
            Body::Select(select) => select.items.clone(),
            Body::Values(_) | Body::Combined(..) => Vec::new(),
        };
        let names = bound.columns.clone();
        let leaf = self.leaf(bound, String::new());
        let number = leaf.sources.first().map_or(0, |source| source.number);
        let mut columns = Vec::with_capacity(names.len());
        for (at, column) in names.into_iter().enumerate() {
            let reference = ColumnRef {
                source: number,
                column: u32::try_from(at).unwrap_or(u32::MAX),
            };
            let value = column.read(reference);
            let item = items.get(at);
            let value = match item {
                Some(item) if self.is_json_text(item) => marked(value),
                Some(item) if self.is_typed_xml(item) => xml_marked(value),
                Some(_) | None => value,
            };
            let source = item.and_then(super::pivot::reference_of).map(|column| column.source);
            let source = source.filter(|number| sources.iter().any(|source| source.number == *number));
            columns.push(OutputColumn {
                name: column.name,
                value,
                source,
            });
        }
        Ok(OutputRows {
            from: leaf.from,
            columns,
            sources,
        })
    }

    fn for_json(&mut self, query: &ast::Query, clause: &ForClause, rows: &OutputRows) -> Result<Expr, SqlError> {
        let is_path = clause.mode == ForMode::Path;
        if clause.root.is_some() && clause.without_array_wrapper {
            return Err(SqlError::for_json_root_without_wrapper());
        }
        if rows.columns.iter().any(|column| column.name.is_empty()) {
            return Err(SqlError::for_json_unnamed());
        }
        let levels = match is_path {
            true => {
                check_paths(&rows.columns)?;
                Vec::new()
            }
            false => {
                if !has_table(&query.body) {
                    return Err(SqlError::for_json_without_table());
                }
                levels_of(rows)
            }
        };
        let first = levels.first().or(rows.sources.first());
        let root = match (&clause.root, is_path) {
            (None, _) => None,
            (Some(Some(name)), _) => Some(name.clone()),
            (Some(None), true) => Some(String::from("root")),
            (Some(None), false) => Some(first.map_or_else(String::new, |source| level_name(&query.body, source))),
        };
        let objects = match levels.len() > 1 {
            true => self.json_levels(&query.body, clause, rows, &levels)?,
            false => {
                let mut arguments = vec![bit(clause.include_null_values), bit(is_path)];
                for column in &rows.columns {
                    arguments.push(text(&column.name));
                    arguments.push(column.value.clone());
                }
                self.joined_rows(call(&FOR_JSON_ROW, arguments), ",")?
            }
        };
        let root = root.map_or_else(null, |root| text(&root));
        let has_array = !clause.without_array_wrapper;
        Ok(call(&FOR_JSON, vec![objects, root, bit(has_array)]))
    }

    /// Objects in objects, one level for each table.
    fn json_levels(
        &mut self,
        body: &ast::QueryBody,
        clause: &ForClause,
        rows: &OutputRows,
        levels: &[Source],
    ) -> Result<Expr, SqlError> {
        let values = rows.columns.iter().map(|column| column.value.clone()).collect();
        let joined = self.joined_rows(call(&FOR_JSON_VALUES, values), ",")?;
        let number = |at: usize| Expr::literal(Value::Int(i32::try_from(at).unwrap_or(i32::MAX)), DataType::Int);
        let mut arguments = vec![joined, bit(clause.include_null_values), number(levels.len())];
        arguments.extend(levels.iter().skip(1).map(|level| text(&level_name(body, level))));
        let mut nearest = 0;
        for column in &rows.columns {
            let level = levels.iter().position(|level| Some(level.number) == column.source);
            nearest = level.unwrap_or(nearest);
            arguments.extend([text(&column.name), number(nearest), bit(level.is_some())]);
        }
        Ok(call(&FOR_JSON_LEVELS, arguments))
    }

    /// The texts of all rows in their order; NULL of no rows.
    pub(super) fn joined_rows(&mut self, row: Expr, separator: &str) -> Result<Expr, SqlError> {
        let aggregate = Aggregate::bind(AggregateKind::StringAgg, vec![row, text(separator)])?;
        let data_type = aggregate.data_type;
        let node = QueryNode::Aggregate(Box::new(AggregateCall {
            aggregate,
            distinct: false,
            order: Vec::new(),
        }));
        Ok(self.query_node(node, data_type, true))
    }

    /// The text of a statement in the rows that SQL Server sends.
    fn in_pieces(&mut self, query: Query, clause: &ForClause) -> Result<Query, SqlError> {
        let name = match clause.format {
            ForFormat::Json => "JSON_F52E2B61-18A1-11d1-B105-00805F49916B",
            ForFormat::Xml => "XML_F52E2B61-18A1-11d1-B105-00805F49916B",
        };
        let whole = self.query_node(QueryNode::Scalar(Box::new(query)), LONG_TEXT, true);
        let source = self
            .parts
            .add_source(vec![SqliteColumn::Element(0, LONG_TEXT.storage_class())]);
        let piece = Expr::new(ExprKind::Column(ColumnRef { source, column: 0 }), LONG_TEXT);
        let column = QueryColumn::of(name.to_owned(), &piece);
        let from = From::Leaf(Leaf {
            source,
            rows: Rows::Computed(Box::new(call(&FOR_ROWS, vec![whole]))),
        });
        let select = Select {
            items: vec![piece],
            from: Some(from),
            ..Select::default()
        };
        Ok(Query::of_select(select, vec![column]))
    }

    /// Whether a value is JSON, so that JSON is composed of it without quotes.
    pub(super) fn is_json_text(&self, expr: &Expr) -> bool {
        if let Some(column) = super::pivot::reference_of(expr) {
            return match self.parts.place(column) {
                Some(SqliteColumn::Inlined(inlined)) => self.is_json_text(inlined),
                Some(SqliteColumn::Named(_) | SqliteColumn::Element(..) | SqliteColumn::Numbered(_)) | None => {
                    self.json_columns.contains(&column)
                }
            };
        }
        if let ExprKind::Coalesce(values) = &expr.kind {
            return values.iter().any(|value| self.is_json_text(value));
        }
        if let ExprKind::Case { branches, otherwise } = &expr.kind {
            let mut results = branches.iter().map(|(_, result)| result).chain(otherwise.as_deref());
            return results.any(|result| self.is_json_text(result));
        }
        match self.only_item(expr) {
            Some(item) => self.is_json_text(item),
            None => is_json_call(expr),
        }
    }

    /// The column of a scalar subquery of one SELECT.
    fn only_item(&self, expr: &Expr) -> Option<&Expr> {
        let ExprKind::QueryNode(reference) = expr.kind else {
            return None;
        };
        let Some(QueryNode::Scalar(query)) = self.parts.query_node(reference) else {
            return None;
        };
        match &query.body {
            Body::Select(select) => select.items.first(),
            Body::Values(_) | Body::Combined(..) => None,
        }
    }

    /// Whether a value is the XML of a subquery with TYPE, or a column of one.
    pub(super) fn is_typed_xml(&self, expr: &Expr) -> bool {
        if let Some(column) = super::pivot::reference_of(expr) {
            return match self.parts.place(column) {
                Some(SqliteColumn::Inlined(inlined)) => self.is_typed_xml(inlined),
                Some(SqliteColumn::Named(_) | SqliteColumn::Element(..) | SqliteColumn::Numbered(_)) | None => {
                    self.xml_columns.contains(&column)
                }
            };
        }
        match self.only_item(expr) {
            Some(item) => self.is_typed_xml(item),
            None => self.is_xml_text(expr),
        }
    }

    /// Remembers the sources of the SELECT that is bound, where FOR needs them.
    pub(super) fn note_output_sources(&mut self) {
        if self.output_sources.is_some() {
            let sources = self.scopes.last().map(|scope| scope.columns.sources.clone());
            self.output_sources = sources;
        }
    }

    /// Remembers which columns of a query are JSON or XML.
    pub(super) fn note_json_columns(&mut self, query: &Query, source: u32) {
        let Body::Select(select) = &query.body else { return };
        for (column, item) in (0..).zip(&select.items) {
            if self.is_json_text(item) {
                self.json_columns.insert(ColumnRef { source, column });
            }
            if self.is_typed_xml(item) {
                self.xml_columns.insert(ColumnRef { source, column });
            }
        }
    }
}

/// Checks that a query whose rows a statement writes has no FOR clause.
///
/// Errors: 6819, 13602.
pub(crate) fn check_not_for(query: &ast::Query, statement: &str) -> Result<(), SqlError> {
    let Some(clause) = &query.for_clause else { return Ok(()) };
    let error = match clause.format {
        ast::ForFormat::Json => SqlError::for_json_not_allowed(statement),
        ast::ForFormat::Xml => SqlError::for_xml_not_allowed(statement, 1),
    };
    Err(error.on_line(clause.position.line))
}

/// The sources that have a column in the select list, in the order of their first columns.
pub(super) fn levels_of(rows: &OutputRows) -> Vec<Source> {
    let mut levels: Vec<Source> = Vec::new();
    for number in rows.columns.iter().filter_map(|column| column.source) {
        let found = rows.sources.iter().find(|source| source.number == number);
        if let Some(source) = found.filter(|_| levels.iter().all(|level| level.number != number)) {
            levels.push(source.clone());
        }
    }
    levels
}

/// Whether the first SELECT has a FROM.
pub(super) fn has_table(body: &ast::QueryBody) -> bool {
    match body {
        ast::QueryBody::Select(select) => !select.from.is_empty(),
        ast::QueryBody::Combined(combined) => has_table(&combined.first),
        ast::QueryBody::Nested(query) => has_table(&query.body),
    }
}

/// The name of a level: the alias, or the table's name as written.
pub(super) fn level_name(body: &ast::QueryBody, source: &Source) -> String {
    let select = match body {
        ast::QueryBody::Select(select) => select,
        ast::QueryBody::Combined(combined) => return level_name(&combined.first, source),
        ast::QueryBody::Nested(query) => return level_name(&query.body, source),
    };
    let written = select.from.iter().find_map(|from| written_name(from, source));
    written.unwrap_or_else(|| source.alias.clone())
}

fn written_name(from: &ast::TableSource, source: &Source) -> Option<String> {
    match &from.kind {
        ast::TableSourceKind::Table { name, alias: None, .. } if same_name(&name.name.text, &source.alias) => {
            Some(written_object(name))
        }
        ast::TableSourceKind::Join(join) => {
            written_name(&join.left, source).or_else(|| written_name(&join.right, source))
        }
        ast::TableSourceKind::Table { .. }
        | ast::TableSourceKind::Variable { .. }
        | ast::TableSourceKind::Function { .. }
        | ast::TableSourceKind::BulkFile { .. }
        | ast::TableSourceKind::Derived { .. }
        | ast::TableSourceKind::Values { .. }
        | ast::TableSourceKind::Pivot(_)
        | ast::TableSourceKind::Unpivot(_) => None,
    }
}

/// Checks the names of FOR JSON PATH: an object's members are together, and no name is used twice.
///
/// Errors: 13601, 13603.
fn check_paths(columns: &[OutputColumn]) -> Result<(), SqlError> {
    let mut known: Vec<Vec<&str>> = Vec::new();
    let mut before: Vec<&str> = Vec::new();
    for column in columns {
        let steps: Vec<&str> = column.name.split('.').collect();
        if steps.iter().any(|step| step.is_empty()) {
            return Err(SqlError::for_json_name(&column.name));
        }
        for count in 1..=steps.len() {
            let path = steps.get(..count).unwrap_or_default();
            let is_open = count < steps.len() && before.len() > count && before.starts_with(path);
            if is_open {
                continue;
            }
            if known.iter().any(|other| other == path) {
                return Err(SqlError::for_json_conflict(&column.name));
            }
            known.push(path.to_vec());
        }
        before = steps;
    }
    Ok(())
}

/// An expression marked as XML.
fn xml_marked(expr: Expr) -> Expr {
    let (data_type, nullable, collation) = (expr.data_type, expr.nullable, expr.collation);
    let call = FunctionCall {
        function: &XML_TEXT,
        part: None,
        arguments: vec![expr],
    };
    Expr::new(ExprKind::Call(Box::new(call)), data_type)
        .with_nullable(nullable)
        .with_collation(collation)
}

/// A call of a function of this server.
pub(super) fn call(function: &'static Function, arguments: Vec<Expr>) -> Expr {
    let call = FunctionCall {
        function,
        part: None,
        arguments,
    };
    Expr::new(ExprKind::Call(Box::new(call)), LONG_TEXT)
}

pub(super) fn bit(bit: bool) -> Expr {
    Expr::literal(Value::Bit(bit), DataType::Bit)
}

pub(super) fn text(text: &str) -> Expr {
    Expr::literal(Value::Text(text.into()), LONG_TEXT)
}

pub(super) fn null() -> Expr {
    Expr::literal(Value::Null, LONG_TEXT)
}

const LONG_TEXT: DataType = DataType::NVarChar(Width::Max);
