//! A table variable: a table of SQLite's temporary schema that belongs to a frame, and to no transaction.
//!
//! - `lives-with-its-frame`: a table variable is created when its frame begins, wherever its
//!   DECLARE is, and dropped when the frame ends.
//! - `rollback-keeps-rows`: ROLLBACK leaves its rows as they are: they are saved before it, and put
//!   back after it. A statement that fails is undone in a table variable as in any other table.
//! - `name-has-frame-depth`: its name in SQLite contains the depth of its frame, so that a
//!   recursive procedure has one for each call.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::types::Value as SqliteValue;
use rusqlite::{Connection, params_from_iter};
use selenite_compiler::catalog::{Column, KeyKind, SqliteName, Table};
use selenite_compiler::definition::{ColumnDefinition, SCHEMA as DBO, TableDefinition, TableLocation, quoted};
use selenite_compiler::program::{Program, StatementId};
use selenite_compiler::{NameKey, SqlError};
use selenite_runtime::sqlite::tsql_error;
use selenite_tsql::ast::{StatementKind, TableElement, TableType, VariableType};
use selenite_types::Value;
use selenite_types::storage::{Stored, to_stored};

use crate::catalog::catalog_rows::{check_name, new_temporary_id, salt};
use crate::catalog::schema::computed_type;

/// Table variables by their names.
pub type Variables = HashMap<NameKey, Arc<TableVariable>>;

/// A table variable of a running frame.
pub struct TableVariable {
    /// As statements see it: its name begins with `@`.
    pub table: Arc<Table>,
    statements: Vec<String>,
    /// Whether it is a table-valued parameter, and another frame's.
    pub is_passed: bool,
}

/// The rows of one, as SQLite stores them.
pub struct KeptRows {
    variable: Arc<TableVariable>,
    rows: Vec<Vec<SqliteValue>>,
}

impl TableVariable {
    /// Creates it, empty, in a connection's temporary schema.
    ///
    /// # Errors
    /// What is wrong with its definition; SQLite's error.
    pub fn make(connection: &Connection, declared: &DeclaredTable<'_>, depth: usize) -> Result<Self, SqlError> {
        Self::make_as(connection, declared, format!("@{depth}{}", declared.name))
    }

    /// The same table under the name of a table-valued parameter, to which it is passed.
    #[must_use]
    pub fn as_parameter(&self, name: &str) -> Self {
        let mut table = (*self.table).clone();
        name.clone_into(&mut table.name);
        table.is_read_only = true;
        Self {
            table: Arc::new(table),
            statements: self.statements.clone(),
            is_passed: true,
        }
    }

    /// The same one, which nothing changes any more.
    #[must_use]
    pub fn protected(&self) -> Self {
        let mut table = (*self.table).clone();
        table.is_read_only = true;
        Self {
            table: Arc::new(table),
            statements: self.statements.clone(),
            is_passed: self.is_passed,
        }
    }

    /// As [`TableVariable::make`], with this name in SQLite, which begins with `@`.
    ///
    /// # Errors
    /// As [`TableVariable::make`].
    pub fn make_as(connection: &Connection, declared: &DeclaredTable<'_>, in_sqlite: String) -> Result<Self, SqlError> {
        let mut definition = TableDefinition::of_elements((DBO, &in_sqlite), declared.elements, salt())?;
        if !definition.foreign_keys.is_empty() {
            return Err(SqlError::unsupported("A foreign key of a table variable"));
        }
        for column in &definition.columns {
            check_name(&column.name)?;
        }
        let mut statements = definition.sqlite(SCHEMA);
        let indexes = std::mem::take(&mut definition.indexes);
        for index in &indexes {
            statements.extend(index.sqlite(&definition)?);
        }
        let place = TableLocation {
            database: "tempdb".to_owned(),
            sqlite: SqliteName {
                schema: SCHEMA.to_owned(),
                name: in_sqlite,
            },
            object_id: new_temporary_id(),
        };
        let mut table = definition.table(&place, &indexes, |value| computed_type(value, &definition, &place))?;
        declared.name.clone_into(&mut table.name);
        table.table_type.clone_from(&declared.table_type);
        let made = Self {
            table: Arc::new(table),
            statements,
            is_passed: false,
        };
        made.create(connection)?;
        Ok(made)
    }

    /// Creates `inserted` or `deleted` of a trigger, with these rows: all columns of a table, and none of its rules.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn make_logical<'r>(
        connection: &Connection,
        (name, of): (&str, &Table),
        depth: usize,
        rows: impl Iterator<Item = &'r [Value]>,
    ) -> Result<Self, SqlError> {
        let in_sqlite = format!("@{depth}{name}");
        let column = |column: &Column| ColumnDefinition {
            name: column.name.clone(),
            data_type: Some(column.data_type),
            user_type: None,
            nullable: true,
            collation: column.collation.named,
            identity: None,
            default: None,
            computed: None,
        };
        let definition = TableDefinition {
            schema: DBO.to_owned(),
            name: in_sqlite.clone(),
            columns: of.columns.iter().map(column).collect(),
            keys: Vec::new(),
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            indexes: Vec::new(),
        };
        let place = TableLocation {
            database: of.database.clone(),
            sqlite: SqliteName {
                schema: SCHEMA.to_owned(),
                name: in_sqlite,
            },
            object_id: new_temporary_id(),
        };
        let mut table = definition.table(&place, &[], |_| Err(SqlError::internal("a computed column")))?;
        name.clone_into(&mut table.name);
        let made = Self {
            statements: definition.sqlite(SCHEMA),
            table: Arc::new(table),
            is_passed: false,
        };
        made.create(connection)?;
        let places = vec!["?"; of.columns.len()].join(", ");
        let sql = format!("INSERT INTO {} VALUES ({places})", made.in_sqlite());
        let mut statement = connection.prepare(&sql).map_err(|error| tsql_error(&error))?;
        let mut count = 0;
        for row in rows {
            count += 1;
            let mut values = Vec::with_capacity(row.len());
            for (value, column) in row.iter().zip(&of.columns) {
                let stored = to_stored(value, &column.data_type);
                values.push(sqlite_value(
                    stored.map_err(|misfit| SqlError::internal(&misfit.to_string()))?,
                ));
            }
            statement
                .execute(params_from_iter(values))
                .map_err(|error| tsql_error(&error))?;
        }
        drop(statement);
        if count >= INDEXED_COUNT_MIN {
            made.index_key(connection, of)?;
        }
        Ok(made)
    }

    /// Indexes its rows by the primary key: SQLite makes no index of its own for RIGHT JOIN, nor for a subquery that
    /// names columns around it.
    fn index_key(&self, connection: &Connection, of: &Table) -> Result<(), SqlError> {
        let Some(key) = of.keys.iter().find(|key| key.kind == KeyKind::Primary) else {
            return Ok(());
        };
        let columns = key.columns.iter().filter_map(|at| of.columns.get(*at));
        let columns: Vec<String> = columns.map(|column| quoted(&column.name)).collect();
        let name = &self.table.sqlite.name;
        let index = quoted(&format!("{name}$key"));
        let sql = format!(
            "CREATE INDEX {SCHEMA}.{index} ON {} ({})",
            quoted(name),
            columns.join(", ")
        );
        connection.execute_batch(&sql).map_err(|error| tsql_error(&error))
    }

    fn create(&self, connection: &Connection) -> Result<(), SqlError> {
        self.drop_in(connection)?;
        for sql in &self.statements {
            connection.execute_batch(sql).map_err(|error| tsql_error(&error))?;
        }
        Ok(())
    }

    /// Drops it.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn drop_in(&self, connection: &Connection) -> Result<(), SqlError> {
        let sql = format!("DROP TABLE IF EXISTS {}", self.in_sqlite());
        connection.execute_batch(&sql).map_err(|error| tsql_error(&error))
    }

    /// Copies the rows of another table of the same type, which has this name in SQLite.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn copy_from(&self, connection: &Connection, in_sqlite: &str) -> Result<(), SqlError> {
        let from = quoted(in_sqlite);
        let sql = format!("INSERT INTO {} SELECT * FROM {SCHEMA}.{from}", self.in_sqlite());
        let done = connection
            .prepare_cached(&sql)
            .and_then(|mut statement| statement.raw_execute());
        done.map(drop).map_err(|error| tsql_error(&error))
    }

    /// Deletes its rows.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn clear(&self, connection: &Connection) -> Result<(), SqlError> {
        let sql = format!("DELETE FROM {}", self.in_sqlite());
        let done = connection
            .prepare_cached(&sql)
            .and_then(|mut statement| statement.raw_execute());
        done.map(drop).map_err(|error| tsql_error(&error))
    }

    /// `rollback-keeps-rows`: removes and returns its rows.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn keep(self: &Arc<Self>, connection: &Connection) -> Result<KeptRows, SqlError> {
        let read = || -> rusqlite::Result<Vec<Vec<SqliteValue>>> {
            let mut statement = connection.prepare(&format!("SELECT * FROM {}", self.in_sqlite()))?;
            let count = statement.column_count();
            let rows = statement.query_map([], |row| (0..count).map(|at| row.get(at)).collect())?;
            rows.collect()
        };
        Ok(KeptRows {
            variable: self.clone(),
            rows: read().map_err(|error| tsql_error(&error))?,
        })
    }

    fn in_sqlite(&self) -> String {
        format!("{SCHEMA}.{}", quoted(&self.table.sqlite.name))
    }
}

impl KeptRows {
    /// `rollback-keeps-rows`: puts them back; the table itself may be gone.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn put_back(&self, connection: &Connection) -> Result<(), SqlError> {
        self.variable.create(connection)?;
        let Some(first) = self.rows.first() else {
            return Ok(());
        };
        let places = vec!["?"; first.len()].join(", ");
        let sql = format!("INSERT INTO {} VALUES ({places})", self.variable.in_sqlite());
        let write = || -> rusqlite::Result<()> {
            let mut statement = connection.prepare(&sql)?;
            for row in &self.rows {
                statement.execute(params_from_iter(row))?;
            }
            Ok(())
        };
        write().map_err(|error| tsql_error(&error))
    }
}

/// A table variable that a program declares.
pub struct DeclaredTable<'a> {
    /// Its name with its `@`.
    pub name: &'a str,
    /// Its columns and constraints.
    pub elements: &'a [TableElement],
    /// Its type, if it is one of a user.
    pub table_type: Option<Arc<TableType>>,
    /// Where it is declared.
    pub line: u32,
}

/// The table variables that a program declares.
pub fn declared(program: &Program) -> Vec<DeclaredTable<'_>> {
    let count = u32::try_from(program.statement_count()).unwrap_or(u32::MAX);
    let statements = (0..count).filter_map(|number| program.statement(StatementId(number)));
    let mut declared = Vec::new();
    for statement in statements {
        let StatementKind::Declare(declarations) = &statement.kind else {
            continue;
        };
        for declaration in declarations {
            let (elements, table_type) = match &declaration.variable_type {
                VariableType::Table(elements) => (Some(elements.as_slice()), None),
                VariableType::TableType(_, table) => (Some(table.elements.as_slice()), Some(Arc::clone(table))),
                VariableType::Scalar(_) | VariableType::Cursor => (None, None),
            };
            if let Some(elements) = elements {
                declared.push(DeclaredTable {
                    name: &declaration.name,
                    elements,
                    table_type,
                    line: declaration.position.line,
                });
            }
        }
    }
    declared
}

/// The table-valued parameters of a program.
pub fn parameters(program: &Program) -> impl Iterator<Item = DeclaredTable<'_>> {
    program.parameters().iter().filter_map(|parameter| {
        let table = parameter.table.as_ref()?;
        Some(parameter_table(&parameter.name, table))
    })
}

/// A table-valued parameter as a table variable.
pub fn parameter_table<'a>(name: &'a str, table_type: &'a Arc<TableType>) -> DeclaredTable<'a> {
    DeclaredTable {
        name,
        elements: &table_type.elements,
        table_type: Some(Arc::clone(table_type)),
        line: 0,
    }
}

const SCHEMA: &str = "temp";

/// Fewer rows are compared one by one in less time than an index is made in.
const INDEXED_COUNT_MIN: usize = 64;

fn sqlite_value(stored: Stored<'_>) -> SqliteValue {
    match stored {
        Stored::Null => SqliteValue::Null,
        Stored::Integer(number) => SqliteValue::Integer(number),
        Stored::Real(number) => SqliteValue::Real(number),
        Stored::Text(text) => SqliteValue::Text(text.into_owned()),
        Stored::Blob(bytes) => SqliteValue::Blob(bytes.into_owned()),
    }
}
