//! Writes FROM as SQL.

use selenite_types::storage::StorageClass;

use super::Writer;
use super::name::{qualified, quoted};
use crate::SqlError;
use crate::catalog::{SystemRows, SystemView};
use crate::compiled::ROWS_FUNCTION;
use crate::query::tree::{From, Join, JoinKind, Leaf, Rows};

impl Writer {
    /// The sources and joins after FROM.
    ///
    /// Errors: as [`Writer::value`].
    pub fn from(&mut self, from: &From) -> Result<String, SqlError> {
        match from {
            From::Leaf(leaf) => self.leaf(leaf),
            From::Join(join) => self.join(join),
        }
    }

    fn join(&mut self, join: &Join) -> Result<String, SqlError> {
        // A chain of joins is nested on the left: it is written from its first source.
        let mut chain = vec![join];
        let mut first = &join.left;
        while let From::Join(inner) = first {
            chain.push(inner);
            first = &inner.left;
        }
        let mut sql = self.from(first)?;
        for link in chain.into_iter().rev() {
            let right = self.from(&link.right)?;
            let right = match &link.right {
                // SQLite has no nested ON clauses.
                From::Join(_) if link.on.is_some() => format!("({right})"),
                From::Join(inner) if !(link.kind == JoinKind::Inner && needs_no_parentheses(inner)) => {
                    format!("({right})")
                }
                From::Join(_) | From::Leaf(_) => right,
            };
            let word = match link.kind {
                JoinKind::Inner => "JOIN",
                JoinKind::Left => "LEFT JOIN",
                JoinKind::Right => "RIGHT JOIN",
                JoinKind::Full => "FULL JOIN",
            };
            sql = format!("{sql} {word} {right}");
            match &link.on {
                Some(on) => sql = format!("{sql} ON {}", self.condition(on)?),
                None if link.kind == JoinKind::Inner => {}
                None => sql.push_str(" ON 1"),
            }
        }
        Ok(sql)
    }

    fn leaf(&mut self, leaf: &Leaf) -> Result<String, SqlError> {
        let source = leaf.source;
        self.note_source(match &leaf.rows {
            Rows::Common(index) => Some(*index),
            Rows::Table(_)
            | Rows::System(_)
            | Rows::Function(..)
            | Rows::Query(_)
            | Rows::Lateral(_)
            | Rows::Computed(_) => None,
        });
        Ok(match &leaf.rows {
            Rows::Table(table) => format!("{} AS t{source}", qualified(&table.sqlite)?),
            Rows::System(view) => format!("{} AS t{source}", system(view)?),
            Rows::Function(rows, arguments) => {
                let mut written = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    written.push(self.value(argument)?);
                }
                match rows {
                    SystemRows::Table(name) => format!("{}({}) AS t{source}", qualified(name)?, written.join(", ")),
                    SystemRows::Json(name) => format!("{} AS t{source}", json_rows(name, &written)),
                    SystemRows::Argument => format!("json_each({}) AS t{source}", written.join(", ")),
                }
            }
            Rows::Query(query) => {
                // SQLite may evaluate a column once for each of its uses, but not below an OFFSET.
                let is_ordered = !query.order.is_empty();
                let is_fenced = query.is_volatile() || is_ordered || self.is_fenced(source);
                let fence = match (is_fenced, &query.limit) {
                    (true, None) => " LIMIT -1 OFFSET 0",
                    // SQLite does not flatten a query with a limit.
                    (true, Some(_)) | (false, _) => "",
                };
                format!("({}{fence}) AS t{source}", self.query(query)?)
            }
            Rows::Computed(rows) => format!("json_each({}) AS t{source}", self.value(rows)?),
            Rows::Common(index) => format!("q{index} AS t{source}"),
            Rows::Lateral(query) => {
                let columns = query.columns.iter().enumerate();
                let elements = columns.map(|(at, column)| as_element(at, column.data_type.storage_class()));
                let elements: Vec<String> = elements.collect();
                let elements = elements.join(", ");
                let rows = self.query(query)?;
                format!("json_each((SELECT json_group_array(json_array({elements})) FROM ({rows}))) AS t{source}")
            }
        })
    }
}

/// Whether joins can be written after an inner join without parentheses: they do not extend its left side.
fn needs_no_parentheses(join: &Join) -> bool {
    let mut is_flat = true;
    let whole = |join: &Join| matches!(join.kind, JoinKind::Inner | JoinKind::Left);
    is_flat &= whole(join);
    for side in [&join.left, &join.right] {
        side.visit_joins(&mut |inner| is_flat &= whole(inner));
    }
    is_flat
}

/// The rows of a system view. Rows in JSON are read once, whatever they are joined with: LIMIT keeps SQLite from
/// flattening the query (sqlite.org/optoverview.html#flattening).
fn system(view: &SystemView) -> Result<String, SqlError> {
    let name = match &view.rows {
        SystemRows::Table(name) => return qualified(name),
        SystemRows::Json(name) => name,
        SystemRows::Argument => return Err(SqlError::internal("a view without rows")),
    };
    let mut columns = Vec::with_capacity(view.columns.len());
    for (at, column) in view.columns.iter().enumerate() {
        columns.push(format!(
            "{} AS {}",
            element("value", at, column.data_type.storage_class()),
            quoted(&column.name)?
        ));
    }
    Ok(format!(
        "(SELECT {} FROM {} LIMIT -1)",
        columns.join(", "),
        json_rows(name, &[])
    ))
}

/// A call of the function that returns rows as JSON.
fn json_rows(name: &str, arguments: &[String]) -> String {
    let name = name.replace('\'', "''");
    let arguments: String = arguments.iter().map(|argument| format!(", {argument}")).collect();
    format!("json_each({ROWS_FUNCTION}('{name}'{arguments}))")
}

/// An element of a row that is a JSON array.
pub(super) fn element(row: &str, at: usize, class: StorageClass) -> String {
    let element = format!("({row} ->> '$[{at}]')");
    match class {
        StorageClass::Blob => format!("unhex{element}"),
        StorageClass::Real => format!("CAST({element} AS REAL)"),
        StorageClass::Null | StorageClass::Integer | StorageClass::Text => element,
    }
}

/// A column of a query in the form that [`element`] reads: JSON has no bytes, and SQLite writes 15 digits of a float.
fn as_element(at: usize, class: StorageClass) -> String {
    match class {
        StorageClass::Blob => format!("iif(c{at} IS NULL, NULL, hex(c{at}))"),
        StorageClass::Real => format!("iif(c{at} IS NULL, NULL, printf('%!.17g', c{at}))"),
        StorageClass::Null | StorageClass::Integer | StorageClass::Text => format!("c{at}"),
    }
}
