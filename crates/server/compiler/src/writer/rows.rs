//! Writes queries as SQL, with columns `c0`, `c1` and so on.

use selenite_tsql::ast::SetOperator;
use selenite_types::DataType;

use super::parameter::ParameterValue;
use super::value::{check_ordered, collated};
use super::{Form, SqlText, Writer};
use crate::query::tree::{Body, Common, Limit, OrderKey, OrderTerm, Query, QueryColumn, Select};
use crate::{Expr, SqlError};

/// How a SELECT's columns are written.
#[derive(Clone, Copy, Default)]
struct Columns<'a> {
    /// Whether rows are compared by them, so that text needs its collation.
    compared: bool,
    /// Additional columns after them.
    more: &'a [String],
}

impl Writer {
    /// A whole statement: its common table expressions before its query.
    ///
    /// Errors: as [`Writer::value`].
    pub fn statement(&mut self, query: &Query) -> Result<SqlText, SqlError> {
        let sql = self.query(query)?;
        let with = self.commons()?;
        self.finish(format!("{with}{sql}"))
    }

    /// A query.
    ///
    /// Errors: as [`Writer::value`].
    pub fn query(&mut self, query: &Query) -> Result<String, SqlError> {
        self.with_windows(query.columns.len(), |writer| writer.query_of_windows(query))
    }

    fn query_of_windows(&mut self, query: &Query) -> Result<String, SqlError> {
        match &query.limit {
            Some(Limit::Top { count, ties: true }) => {
                let bound = self.row_count(count)?;
                self.ranked(query, "rank()", &format!("r <= {bound}"))
            }
            Some(Limit::Percent { count, ties }) => {
                let value = ParameterValue::Percent(count.clone());
                let data_type = count.data_type;
                let percent = match count.holds_query() {
                    true => self.value(count)?,
                    false => self.parameter(super::Parameter { value, data_type }),
                };
                let function = if *ties { "rank()" } else { "row_number()" };
                self.ranked(query, function, &format!("(r - 1) * 100.0 < n * {percent}"))
            }
            Some(Limit::Top { ties: false, .. } | Limit::Offset { .. }) | None if sorts_by_instant(query) => {
                let (keys, base) = self.keyed(query)?;
                let columns = column_names(query.columns.len());
                let limit = self.limit(query.limit.as_ref())?;
                Ok(format!(
                    "SELECT {columns} FROM ({base}) ORDER BY {}{limit}",
                    keys.join(", ")
                ))
            }
            Some(Limit::Top { ties: false, .. } | Limit::Offset { .. }) | None => {
                let mut sql = self.body(query, Columns::default())?;
                let single = matches!(&query.body, Body::Select(select) if select.is_one_group());
                if !query.order.is_empty() && !single {
                    sql.push_str(&format!(" ORDER BY {}", self.order(&query.columns, &query.order)?));
                }
                sql.push_str(&self.limit(query.limit.as_ref())?);
                Ok(sql)
            }
        }
    }

    fn limit(&mut self, limit: Option<&Limit>) -> Result<String, SqlError> {
        Ok(match limit {
            Some(Limit::Top { count, .. }) => {
                format!(" LIMIT {}", self.row_count(count)?)
            }
            Some(Limit::Offset { skip, fetch }) => {
                let fetch = match fetch {
                    Some(fetch) => self.checked(ParameterValue::Fetch(fetch.clone())),
                    None => "-1".to_owned(),
                };
                format!(
                    " LIMIT {fetch} OFFSET {}",
                    self.checked(ParameterValue::Skip(skip.clone()))
                )
            }
            Some(Limit::Percent { .. }) | None => String::new(),
        })
    }

    /// TOP's count: a parameter, or the result of a query.
    fn row_count(&mut self, count: &Expr) -> Result<String, SqlError> {
        match count.holds_query() {
            true => self.value(count),
            false => Ok(self.checked(ParameterValue::RowCount(count.clone()))),
        }
    }

    /// The rows whose rank satisfies a condition.
    fn ranked(&mut self, query: &Query, function: &str, condition: &str) -> Result<String, SqlError> {
        let (keys, base) = self.keyed(query)?;
        let over = if keys.is_empty() {
            String::new()
        } else {
            format!("ORDER BY {}", keys.join(", "))
        };
        let columns = column_names(query.columns.len());
        Ok(format!(
            "SELECT {columns} FROM (SELECT *, {function} OVER ({over}) AS r, count(*) OVER () AS n FROM ({base})) \
             WHERE {condition} ORDER BY r"
        ))
    }

    /// The sort keys of a query as expressions over its rows, and its rows with what the keys need.
    fn keyed(&mut self, query: &Query) -> Result<(Vec<String>, String), SqlError> {
        let mut more = Vec::new();
        let mut keys = Vec::new();
        for term in &query.order {
            let direction = if term.descending { " DESC" } else { "" };
            match &term.key {
                OrderKey::Output(at) => {
                    let Some(column) = query.columns.get(*at) else { continue };
                    keys.push(format!("{}{direction}", output_key(column, format!("c{at}"))));
                }
                OrderKey::Value(value) => {
                    let name = format!("k{}", more.len());
                    let sql = self.value(value)?;
                    keys.push(format!(
                        "{}{direction}",
                        collated(Form::of(&value.data_type), name.clone(), value.collation)
                    ));
                    more.push(format!("{sql} AS {name}"));
                }
            }
        }
        let columns = Columns {
            compared: false,
            more: &more,
        };
        let base = self.body(query, columns)?;
        Ok((keys, base))
    }

    fn order(&mut self, columns: &[QueryColumn], terms: &[OrderTerm]) -> Result<String, SqlError> {
        let mut keys = Vec::with_capacity(terms.len());
        for term in terms {
            let key = match &term.key {
                OrderKey::Output(at) => match columns.get(*at) {
                    // A datetimeoffset's key is not a column of the query: the column itself sorts by instant first, and
                    // then by offset, which is as good as any order where no key follows.
                    Some(column) => {
                        let position = (at + 1).to_string();
                        check_ordered(&column.data_type)?;
                        let form = Form::of(&column.data_type);
                        if form.is_collated() {
                            collated(form, position, column.collation)
                        } else {
                            position
                        }
                    }
                    None => return Err(SqlError::internal("an order by no column")),
                },
                OrderKey::Value(value) => self.key(value)?,
            };
            keys.push(if term.descending { format!("{key} DESC") } else { key });
        }
        Ok(keys.join(", "))
    }

    fn body(&mut self, query: &Query, columns: Columns<'_>) -> Result<String, SqlError> {
        match &query.body {
            Body::Select(select) => self.select(select, columns),
            Body::Values(rows) => {
                let mut written = Vec::with_capacity(rows.len());
                for row in rows {
                    let mut values = Vec::with_capacity(row.len());
                    for value in row {
                        values.push(self.value(value)?);
                    }
                    written.push(format!("({})", values.join(", ")));
                }
                let mut names: Vec<String> = (0..query.columns.len())
                    .map(|at| format!("column{} AS c{at}", at + 1))
                    .collect();
                names.extend_from_slice(columns.more);
                Ok(format!(
                    "SELECT {} FROM (VALUES {})",
                    names.join(", "),
                    written.join(", ")
                ))
            }
            Body::Combined(first, rest) => {
                let sql = self.combined(first, rest)?;
                if columns.more.is_empty() {
                    return Ok(sql);
                }
                let names = column_names(query.columns.len());
                Ok(format!("SELECT {names}, {} FROM ({sql})", columns.more.join(", ")))
            }
        }
    }

    fn combined(&mut self, first: &Query, rest: &[(SetOperator, Query)]) -> Result<String, SqlError> {
        if rest.len() >= TERM_COUNT_MAX {
            return Err(SqlError::unsupported(&format!(
                "A combination of more than {TERM_COUNT_MAX} queries"
            )));
        }
        let compared = rest.iter().any(|(operator, _)| *operator != SetOperator::UnionAll);
        let by_instant = compared && has_offset(&first.columns);
        let mut sql = self.member(first, Columns { compared, more: &[] })?;
        for (operator, query) in rest {
            let word = match operator {
                SetOperator::Union => "UNION",
                SetOperator::UnionAll => "UNION ALL",
                SetOperator::Except => "EXCEPT",
                SetOperator::Intersect => "INTERSECT",
            };
            let member = self.member(query, Columns { compared, more: &[] })?;
            sql = match by_instant && *operator != SetOperator::UnionAll {
                true => combined_by_instant(&first.columns, *operator, (&sql, &member)),
                false => format!("{sql} {word} {member}"),
            };
        }
        Ok(sql)
    }

    /// A member of a compound SELECT: one SELECT of SQLite's.
    fn member(&mut self, query: &Query, columns: Columns<'_>) -> Result<String, SqlError> {
        let bare = query.order.is_empty() && query.limit.is_none();
        if let (true, Body::Select(select)) = (bare, &query.body) {
            return self.with_windows(query.columns.len(), |writer| writer.select(select, columns));
        }
        let rows = self.query(query)?;
        let mut names: Vec<String> = Vec::with_capacity(query.columns.len());
        for (at, column) in query.columns.iter().enumerate() {
            let name = format!("c{at}");
            let form = Form::of(&column.data_type);
            let compared = columns.compared && form.is_collated();
            names.push(if compared {
                collated(form, name, column.collation)
            } else {
                name
            });
            if let (true, Some(last)) = (compared, names.last_mut()) {
                last.push_str(&format!(" AS c{at}"));
            }
        }
        names.extend_from_slice(columns.more);
        Ok(format!("SELECT {} FROM ({rows})", names.join(", ")))
    }

    fn select(&mut self, select: &Select, columns: Columns<'_>) -> Result<String, SqlError> {
        if let Some(from) = &select.from {
            self.weigh_from(from)?;
        }
        let mut items = Vec::with_capacity(select.items.len());
        let mut by_key = false;
        for (at, item) in select.items.iter().enumerate() {
            let form = Form::of(&item.data_type);
            let sql = self.value(item)?;
            let compared = columns.compared || select.distinct;
            if compared && item.data_type == DataType::Xml {
                return Err(SqlError::xml_not_distinct(columns.compared));
            }
            by_key |= compared && matches!(form, Form::Offset(_));
            let sql = if compared && form.is_collated() {
                collated(form, sql, item.collation)
            } else {
                sql
            };
            items.push(format!("{sql} AS c{at}"));
        }
        items.extend_from_slice(columns.more);
        if select.is_one_group() && select.having.is_some() {
            // SQLite groups all rows only if a column is an aggregate.
            items.push("count(*)".to_owned());
        }
        if by_key && (select.grouped || select.items.iter().any(|item| self.parts.has_window(item))) {
            return Err(SqlError::unsupported("DISTINCT of a datetimeoffset in such a query"));
        }
        let distinct = select.distinct && !by_key;
        let word = if distinct { "SELECT DISTINCT" } else { "SELECT" };
        let mut sql = format!("{word} {}", items.join(", "));
        if let Some(from) = &select.from {
            sql.push_str(&format!(" FROM {}", self.from(from)?));
        }
        if let Some(filter) = &select.filter {
            sql.push_str(&format!(" WHERE {}", self.condition(filter)?));
        }
        // DISTINCT ignores offsets: rows are grouped by the comparison keys.
        let groups = if by_key { &select.items } else { &select.group_by };
        if !groups.is_empty() {
            let mut keys = Vec::with_capacity(groups.len());
            for group in groups {
                keys.push(self.key(group)?);
            }
            sql.push_str(&format!(" GROUP BY {}", keys.join(", ")));
        }
        if let Some(having) = &select.having {
            sql.push_str(&format!(" HAVING {}", self.condition(having)?));
        }
        if select.is_one_group() && select.having.is_some() {
            let mut names = column_names(select.items.len());
            columns
                .more
                .iter()
                .for_each(|more| names.push_str(&format!(", {}", alias_of(more))));
            sql = format!("SELECT {names} FROM ({sql})");
        }
        Ok(sql)
    }

    /// `WITH q0(c0) AS (..), ..`; empty if there are no common table expressions.
    ///
    /// Errors: as [`Writer::value`].
    pub fn commons(&mut self) -> Result<String, SqlError> {
        let commons = self.parts.commons.clone();
        let mut written = Vec::with_capacity(commons.len());
        for (index, common) in commons.iter().enumerate() {
            let Some(query) = &common.query else { continue };
            self.weights.common = Some(index);
            let (count, rows) = match &common.recursion {
                Some(_) => (query.columns.len() + 1, self.recursive(query, common)?),
                None => (query.columns.len(), self.query(query)?),
            };
            let kept = if query.is_volatile() || self.is_materialized(index)? {
                "MATERIALIZED "
            } else {
                ""
            };
            written.push(format!("q{index}({}) AS {kept}({rows})", column_names(count)));
        }
        self.weights.common = None;
        Ok(if written.is_empty() {
            String::new()
        } else {
            format!("WITH RECURSIVE {} ", written.join(", "))
        })
    }

    /// Adds the level to each member: an anchor's is 0, and `tsql_level` refuses one beyond the limit (530).
    fn recursive(&mut self, query: &Query, common: &Common) -> Result<String, SqlError> {
        let (Body::Combined(first, rest), Some(recursion)) = (&query.body, &common.recursion) else {
            return Err(SqlError::internal("a recursion of one member"));
        };
        let compared = rest.iter().any(|(operator, _)| *operator != SetOperator::UnionAll);
        if compared && has_offset(&query.columns) {
            return Err(SqlError::unsupported("UNION of a datetimeoffset in a recursion"));
        }
        let count = query.columns.len();
        let mut sql = String::new();
        let operators = std::iter::once(None).chain(rest.iter().map(|(operator, _)| Some(*operator)));
        let members = std::iter::once(&**first).chain(rest.iter().map(|(_, member)| member));
        for ((operator, member), source) in operators.zip(members).zip(&recursion.members) {
            let level = match source {
                Some(source) => format!("tsql_level(t{source}.c{count}, {})", recursion.level_max),
                None => "0".to_owned(),
            };
            sql.push_str(match operator {
                None => "",
                Some(SetOperator::Union) => " UNION ",
                Some(SetOperator::UnionAll) => " UNION ALL ",
                Some(SetOperator::Except) => " EXCEPT ",
                Some(SetOperator::Intersect) => " INTERSECT ",
            });
            sql.push_str(&self.member(
                member,
                Columns {
                    compared,
                    more: &[level],
                },
            )?);
        }
        Ok(sql)
    }
}

/// The names of a query's columns in its own SQL.
pub(super) fn column_names(count: usize) -> String {
    let names: Vec<String> = (0..count).map(|at| format!("c{at}")).collect();
    names.join(", ")
}

/// The alias of an additional column: the text after its last AS.
fn alias_of(column: &str) -> &str {
    column.rsplit(' ').next().unwrap_or(column)
}

/// Whether keys follow one that is a datetimeoffset of the output, of which the instant alone is compared.
fn sorts_by_instant(query: &Query) -> bool {
    let is_instant = |term: &OrderTerm| {
        let OrderKey::Output(at) = term.key else { return false };
        let column = query.columns.get(at);
        column.is_some_and(|column| matches!(Form::of(&column.data_type), Form::Offset(_)))
    };
    query
        .order
        .split_last()
        .is_some_and(|(_, before)| before.iter().any(is_instant))
}

fn output_key(column: &QueryColumn, sql: String) -> String {
    collated(Form::of(&column.data_type), sql, column.collation)
}

fn has_offset(columns: &[QueryColumn]) -> bool {
    columns
        .iter()
        .any(|column| matches!(Form::of(&column.data_type), Form::Offset(_)))
}

/// UNION and similar of rows with a datetimeoffset: SQLite's operators compare the whole text, T-SQL's the instant
/// alone. Of rows with one instant and several offsets any is taken.
fn combined_by_instant(columns: &[QueryColumn], operator: SetOperator, (first, second): (&str, &str)) -> String {
    let names = column_names(columns.len());
    let key = |prefix: &str| -> Vec<String> {
        let columns = columns.iter().enumerate();
        columns
            .map(|(at, column)| output_key(column, format!("{prefix}c{at}")))
            .collect()
    };
    let groups = key("").join(", ");
    let there = match operator {
        SetOperator::Union | SetOperator::UnionAll => {
            return format!("SELECT {names} FROM ({first} UNION ALL {second}) GROUP BY {groups}");
        }
        SetOperator::Except => "NOT EXISTS",
        SetOperator::Intersect => "EXISTS",
    };
    let pairs = key("x.").into_iter().zip(key("y."));
    let same: Vec<String> = pairs.map(|(mine, other)| format!("{mine} IS {other}")).collect();
    let same = same.join(" AND ");
    format!(
        "SELECT {names} FROM ({first}) AS x WHERE {there} (SELECT 1 FROM ({second}) AS y WHERE {same}) GROUP BY {groups}"
    )
}

/// SQLITE_MAX_COMPOUND_SELECT's default.
const TERM_COUNT_MAX: usize = 500;
