//! Names in scope: variables of a batch, and columns of a query's sources.

use std::collections::HashMap;

use selenite_tsql::ast::{ColumnName, ObjectName};
use selenite_types::DataType;

use crate::{Collation, NameKey, SqlError, same_name};

/// The index of a variable's value in a program's frame.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Slot(pub u32);

impl Slot {
    /// The slot as an index.
    #[must_use]
    pub fn index(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

/// A column of one of a query's sources.
///
/// The query binder assigns the numbers: an expression only contains them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ColumnRef {
    /// The source, unique in the statement: a subquery's sources have numbers of their own.
    pub source: u32,
    /// The column, from 0.
    pub column: u32,
}

/// The scalar variables of a batch or a procedure's body.
#[derive(Clone, Default, Debug)]
pub struct Variables {
    by_name: HashMap<NameKey, Variable>,
    slot_count: u32,
}

/// A declared variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Variable {
    /// The slot of its value.
    pub slot: Slot,
    /// Its declared type.
    pub data_type: DataType,
}

impl Variables {
    /// No variables.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Declares a variable, whose name has its `@`.
    ///
    /// Errors: 134 if the batch has declared it already.
    pub fn declare(&mut self, name: &str, data_type: DataType) -> Result<Slot, SqlError> {
        let key = NameKey::new(name);
        if self.by_name.contains_key(&key) {
            return Err(SqlError::variable_declared_twice(name));
        }
        let slot = self.hidden();
        self.by_name.insert(key, Variable { slot, data_type });
        Ok(slot)
    }

    /// Adds a slot without a name.
    pub fn hidden(&mut self) -> Slot {
        let slot = Slot(self.slot_count);
        self.slot_count = self.slot_count.saturating_add(1);
        slot
    }

    /// The variable with this name, including its `@`.
    ///
    /// Errors: 137 if the batch has not declared it.
    pub fn find(&self, name: &str) -> Result<Variable, SqlError> {
        self.by_name
            .get(&NameKey::new(name))
            .copied()
            .ok_or_else(|| SqlError::undeclared_variable(name))
    }

    /// The number of slots in a frame.
    #[must_use]
    pub fn slot_count(&self) -> usize {
        Slot(self.slot_count).index()
    }
}

/// The sources of one FROM, and those of the outer queries.
#[derive(Clone, Default, Debug)]
pub struct Columns<'a> {
    /// The sources in order.
    pub sources: Vec<Source>,
    /// The outer query's sources: searched only for names that are not found here.
    pub outer: Option<&'a Columns<'a>>,
}

/// One table, view, derived table or function of a FROM.
#[derive(Clone, Debug)]
pub struct Source {
    /// The qualifier of the columns: the alias, or the table's name.
    pub alias: String,
    /// The database and schema of the table, if it has no alias: `dbo.t.c` then finds it too.
    pub database_and_schema: Option<(String, String)>,
    /// Its number: [`ColumnRef::source`].
    pub number: u32,
    /// The columns in order.
    pub columns: Vec<SourceColumn>,
}

/// One column of a source.
#[derive(Clone, Debug)]
pub struct SourceColumn {
    /// Its name; empty if it has none.
    pub name: String,
    /// Its type.
    pub data_type: DataType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// The collation of its text.
    pub collation: Collation,
}

/// The result of resolving a column name.
#[derive(Clone, Copy, Debug)]
pub struct FoundColumn<'a> {
    /// The reference.
    pub reference: ColumnRef,
    /// The number of query levels outward: 0 in the query itself.
    pub depth: u32,
    /// The column.
    pub column: &'a SourceColumn,
}

impl Columns<'_> {
    /// Resolves a column name, innermost query first.
    ///
    /// Errors: 207 for an unknown column, 209 if two sources have it, 4104 if its qualifier names no source.
    pub fn find(&self, name: &ColumnName) -> Result<FoundColumn<'_>, SqlError> {
        let mut scope = Some(self);
        let mut depth = 0;
        let mut qualifier_known = false;
        while let Some(columns) = scope {
            if let Some(found) = columns.find_in_scope(name, depth, &mut qualifier_known)? {
                return Ok(found);
            }
            scope = columns.outer;
            depth += 1;
        }
        let error = match &name.table {
            Some(_) if !qualifier_known => SqlError::unbound_identifier(&written_column(name)),
            Some(_) | None => SqlError::unknown_column(&name.name.text),
        };
        Err(error)
    }

    fn find_in_scope(
        &self,
        name: &ColumnName,
        depth: u32,
        known: &mut bool,
    ) -> Result<Option<FoundColumn<'_>>, SqlError> {
        let mut found: Option<FoundColumn<'_>> = None;
        for source in &self.sources {
            if name.table.as_ref().is_some_and(|table| !source.is_named(table)) {
                continue;
            }
            *known = true;
            for (at, column) in source.columns.iter().enumerate() {
                if !same_name(&column.name, &name.name.text) || column.name.is_empty() {
                    continue;
                }
                if found.is_some() {
                    return Err(SqlError::ambiguous_column(&name.name.text));
                }
                let reference = ColumnRef {
                    source: source.number,
                    column: u32::try_from(at).unwrap_or(u32::MAX),
                };
                found = Some(FoundColumn {
                    reference,
                    depth,
                    column,
                });
            }
        }
        Ok(found)
    }
}

impl Source {
    /// Whether a qualifier of one, two or three parts refers to this source.
    #[must_use]
    pub fn is_named(&self, table: &ObjectName) -> bool {
        if table.server.is_some() || !same_name(&self.alias, &table.name.text) {
            return false;
        }
        if table.schema.is_none() && table.database.is_none() {
            return true;
        }
        let Some((database, schema)) = &self.database_and_schema else {
            return false;
        };
        table
            .schema
            .as_ref()
            .is_none_or(|written| same_name(&written.text, schema))
            && table
                .database
                .as_ref()
                .is_none_or(|written| same_name(&written.text, database))
    }
}

/// A column's name in messages: its parts, separated by periods.
#[must_use]
pub fn written_column(name: &ColumnName) -> String {
    match &name.table {
        Some(table) => format!("{}.{}", written_object(table), name.name.text),
        None => name.name.text.clone(),
    }
}

/// An object's name in messages: its parts, separated by periods.
#[must_use]
pub fn written_object(name: &ObjectName) -> String {
    let parts = [&name.server, &name.database, &name.schema];
    let mut written = String::new();
    for part in parts.into_iter() {
        match part {
            Some(part) => {
                written.push_str(&part.text);
                written.push('.');
            }
            None if !written.is_empty() => written.push('.'),
            None => {}
        }
    }
    written.push_str(&name.name.text);
    written
}

#[cfg(test)]
mod tests;
