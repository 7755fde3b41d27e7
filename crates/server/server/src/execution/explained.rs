//! Plans of statements on tables, as SQLite would run them now.

use std::sync::Arc;

use rusqlite::Connection;
use selenite_compiler::catalog::Table;
use selenite_compiler::definition::file_name;
use selenite_compiler::statement::Statement;
use selenite_compiler::{SqlError, same_name};
use selenite_runtime::machine::{Failure, TableStatement};
use selenite_runtime::sqlite::tsql_error;
use selenite_tsql::ast::{self, QueryBody, StatementKind, TableSourceKind};

use crate::catalog::permission::check_plans;
use crate::execution::session_executor::SessionExecutor;
use crate::execution_context::ExecutionContext;
use crate::names::session_catalog::SessionCatalog;
use crate::plan::{Operator, Outline, PlanLine, PlanObject, PlanSources, operators};

impl SessionExecutor<'_> {
    /// The plan of a statement, which is not run; `None` if it is not one on tables.
    ///
    /// # Errors
    /// 262; what is wrong with the statement.
    pub fn explain(
        &mut self,
        statement: &TableStatement<'_>,
        execution: ExecutionContext<'_>,
    ) -> Result<Option<Operator>, Failure> {
        self.explained.is_wanted = true;
        let done = self.describe(statement, execution);
        self.explained.is_wanted = false;
        let operator = self.take_plan(statement);
        done.map(|_| operator)
    }

    /// The plan of the statement that was explained last.
    pub(crate) fn take_plan(&mut self, statement: &TableStatement<'_>) -> Option<Operator> {
        let mut operator = self.explained.operator.take()?;
        if let Some((table, filter)) = filter(statement.statement, statement.program.source()) {
            operator.set_filter(table, filter);
        }
        Some(operator)
    }

    /// Notes the plan of a bound statement, if it is wanted. Returns whether that is all that is wanted.
    ///
    /// # Errors
    /// 262 in the database where it runs; SQLite's error.
    pub(crate) fn note_plan(&mut self, bound: &Statement) -> Result<bool, SqlError> {
        if !self.explained.is_wanted {
            return Ok(false);
        }
        let catalog = &self.scope.objects.catalog;
        check_plans(&self.permissions, &catalog.database)?;
        let connection = &self.transactions.connected()?.database.connection;
        let operator = plan(bound, connection, catalog).map_err(|error| tsql_error(&error))?;
        self.explained.operator = operator;
        Ok(self.describes)
    }
}

/// The table that a SELECT from one table reads, and its condition as it was written.
fn filter<'a>(statement: &'a ast::Statement, source: &'a str) -> Option<(&'a str, &'a str)> {
    let StatementKind::Select(select) = &statement.kind else {
        return None;
    };
    let QueryBody::Select(select) = &select.query.body else {
        return None;
    };
    let [one] = select.from.as_slice() else { return None };
    let TableSourceKind::Table { name, .. } = &one.kind else {
        return None;
    };
    let filter = select.filter.as_ref()?;
    Some((&name.name.text, filter.position.text(source)))
}

fn plan(bound: &Statement, connection: &Connection, catalog: &SessionCatalog) -> rusqlite::Result<Option<Operator>> {
    let mut inputs = Vec::new();
    for sql in bound.queries() {
        let sources = SqlSources {
            sql,
            connection,
            catalog,
        };
        let outline = match bound {
            Statement::Rows(_) | Statement::Assign(_) | Statement::Into(_) | Statement::Insert(_) => Outline::of(sql),
            Statement::Update(_) | Statement::Delete(_) | Statement::Merge(_) | Statement::Truncate(_) => {
                Outline::default()
            }
        };
        let lines = lines(sql, connection)?;
        let operator = operators(&lines, &sources, outline);
        inputs.push(operator.unwrap_or_else(|| Operator::new("Constant Scan", Vec::new())));
    }
    Ok(match bound {
        Statement::Rows(rows) if rows.computed.is_some() => Some(Operator::new("Compute Scalar", inputs)),
        Statement::Rows(_) | Statement::Assign(_) => inputs.pop(),
        Statement::Into(into) => {
            let object = PlanObject {
                table: into.name.name.text.clone(),
                ..PlanObject::default()
            };
            Some(Operator::of("Table Insert", "Insert", inputs).with_object(object))
        }
        Statement::Insert(insert) => {
            if inputs.is_empty() {
                inputs.push(Operator::new("Constant Scan", Vec::new()));
            }
            Some(change("Insert", insert.table(), inputs))
        }
        Statement::Update(update) => Some(change("Update", update.table(), inputs)),
        Statement::Delete(delete) => Some(change("Delete", delete.table(), inputs)),
        Statement::Merge(merge) => Some(change("Merge", &merge.table, inputs)),
        Statement::Truncate(truncate) => Some(change("Delete", &truncate.table, inputs)),
    })
}

/// The operator that writes to a table.
fn change(what: &str, table: &Table, inputs: Vec<Operator>) -> Operator {
    let object = object_of(table);
    let on = if object.index.is_some() {
        "Clustered Index"
    } else {
        "Table"
    };
    Operator::of(&format!("{on} {what}"), what, inputs).with_object(object)
}

/// A table, with the key that is its rowid.
fn object_of(table: &Table) -> PlanObject {
    let of_row_id =
        |key: &&selenite_compiler::catalog::Key| table.row_id_column.is_some_and(|column| key.columns == [column]);
    PlanObject {
        database: Some(table.database.clone()),
        schema: Some(table.schema.clone()),
        table: table.name.clone(),
        index: table.keys.iter().find(of_row_id).map(|key| key.name.clone()),
    }
}

fn lines(sql: &str, connection: &Connection) -> rusqlite::Result<Vec<PlanLine>> {
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
    let mut rows = statement.raw_query();
    let mut lines = Vec::new();
    while let Some(row) = rows.next()? {
        lines.push(PlanLine {
            id: row.get(0)?,
            parent: row.get(1)?,
            detail: row.get(3)?,
        });
    }
    Ok(lines)
}

/// What the aliases of an SQL text of the compiler's mean.
struct SqlSources<'a> {
    sql: &'a str,
    connection: &'a Connection,
    catalog: &'a SessionCatalog,
}

impl SqlSources<'_> {
    fn known(&self, alias: &str) -> Option<Arc<Table>> {
        let written = self.written(alias)?;
        let parts = unquoted(&written);
        let [schema, name] = parts.as_slice() else { return None };
        let is_it = |table: &Table| table.sqlite.schema == *schema && table.sqlite.name == *name;
        let of = |schema: &crate::catalog::schema::Schema| {
            let mut tables = schema.tables().map(|table| &table.table);
            tables.find(|table| is_it(table)).cloned()
        };
        let variables = || {
            let mut variables = self.catalog.variables.values().map(|variable| &variable.table);
            variables.find(|table| is_it(table)).cloned()
        };
        of(&self.catalog.schema)
            .or_else(|| of(&self.catalog.temporary))
            .or_else(variables)
    }
}

impl PlanSources for SqlSources<'_> {
    fn written(&self, alias: &str) -> Option<String> {
        let marker = format!(" AS {alias}");
        let found = self.sql.match_indices(&marker).find(|(at, _)| {
            let next = self.sql[at + marker.len()..].chars().next();
            // A name in quotation marks may contain the words.
            let is_within = self.sql[..*at].matches('"').count() % 2 == 1;
            !is_within && !next.is_some_and(|next| next.is_ascii_alphanumeric() || next == '_')
        });
        let before = &self.sql[..found?.0];
        let (mut start, mut is_quoted) = (before.len(), false);
        for (at, character) in before.char_indices().rev() {
            match character {
                '"' => is_quoted = !is_quoted,
                _ if is_quoted || character.is_ascii_alphanumeric() || character == '.' || character == '_' => {}
                _ => break,
            }
            start = at;
        }
        Some(before[start..].to_owned()).filter(|written| !written.is_empty())
    }

    fn table(&self, alias: &str) -> Option<PlanObject> {
        if let Some(table) = self.known(alias) {
            return Some(object_of(&table));
        }
        let written = self.written(alias)?;
        let name = unquoted(&written).pop()?;
        Some(PlanObject {
            table: name,
            ..PlanObject::default()
        })
    }

    fn index(&self, alias: &str, name: &str) -> String {
        let Some(table) = self.known(alias) else {
            return name.to_owned();
        };
        if name.starts_with("sqlite_autoindex_") {
            let columns = index_columns(self.connection, name).unwrap_or_default();
            let is_of = |key: &&selenite_compiler::catalog::Key| {
                let names = key.columns.iter().filter_map(|at| table.columns.get(*at));
                let names: Vec<&str> = names.map(|column| column.name.as_str()).collect();
                names.len() == columns.len() && names.iter().zip(&columns).all(|(a, b)| same_name(a, b))
            };
            let key = table.keys.iter().find(is_of);
            return key.map_or_else(|| name.to_owned(), |key| key.name.clone());
        }
        let in_file = file_name(&table.schema, &table.name);
        let own = [table.sqlite.name.as_str(), &in_file].into_iter().find_map(|table| {
            let rest = name.strip_prefix(table)?;
            rest.strip_prefix('.')
        });
        let own = own.unwrap_or(name);
        own.strip_suffix("$null").unwrap_or(own).to_owned()
    }
}

fn index_columns(connection: &Connection, name: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("SELECT name FROM pragma_index_info(?1) ORDER BY seqno")?;
    let names = statement.query_map([name], |row| row.get(0))?;
    names.collect()
}

/// The parts of a name in quotation marks; of any other name it is the only one.
fn unquoted(written: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut is_quoted = false;
    let mut characters = written.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                characters.next();
                push(&mut parts, '"');
            }
            '"' => is_quoted = !is_quoted,
            '.' if !is_quoted => parts.push(String::new()),
            other => push(&mut parts, other),
        }
    }
    parts
}

fn push(parts: &mut [String], character: char) {
    if let Some(last) = parts.last_mut() {
        last.push(character);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_quotation_marks_are_read() {
        assert_eq!(unquoted("\"main\".\"@s.a\"\"b\""), ["main", "@s.a\"b"]);
        assert_eq!(unquoted("q0"), ["q0"]);
    }
}
