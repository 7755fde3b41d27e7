//! A test session: T-SQL in, text out.

use std::ops::ControlFlow;

use selenite_compiler::catalog::SqliteName;
use selenite_compiler::statement::{Binding, Into, Statement};
use selenite_compiler::{Binder, Frame, NoQuery, SqlError, Variables, declared_type};
use selenite_tsql::ast::{StatementKind, Tree, VariableType};
use selenite_tsql::{Options, parse};
use selenite_types::{DataType, DeclarationContext, Value, text_of};

use super::TestEnvironment;
use super::database::Database;
use super::tables::Tables;
use crate::statement::Run;

/// A session on SQLite.
pub(crate) struct Session {
    pub database: Database,
    pub tables: Tables,
    world: TestEnvironment,
}

/// The results of a batch.
#[derive(Debug, Default)]
pub(crate) struct BatchResult {
    /// The last result's columns as `name type`, with `null` if they are nullable.
    pub columns: Vec<String>,
    /// The rows of all results: values separated by `|`.
    pub rows: Vec<String>,
    /// The number of rows of each statement.
    pub counts: Vec<u64>,
    /// The variables at the end.
    pub slots: Vec<Value>,
    /// The SQL of each SELECT.
    pub sql: Vec<String>,
}

impl Session {
    /// A session with the tables and rows of a script.
    pub fn new(script: &str) -> Self {
        let mut session = Self {
            database: Database::new(),
            tables: Tables::default(),
            world: TestEnvironment::default(),
        };
        let numbers = "CREATE TABLE numbers (n INTEGER); INSERT INTO numbers VALUES (1), (2), (3)";
        session.database.connection.execute_batch(numbers).unwrap();
        session.define(script);
        session
    }

    /// Runs definitions and statements.
    pub fn define(&mut self, script: &str) {
        for batch in script.split("GO\n") {
            for statement in tree(batch).statements {
                if let StatementKind::CreateTable(table) = &statement.kind {
                    let sql = self.tables.create(table);
                    let made = self.database.connection.execute_batch(&sql);
                    made.unwrap_or_else(|error| panic!("{error}: {sql}"));
                } else if let StatementKind::View(view) = &statement.kind {
                    self.tables.view(view);
                } else if let StatementKind::CreateIndex(index) = &statement.kind {
                    self.create_index(index);
                } else {
                    let tree = Tree {
                        statements: vec![statement],
                        ..Tree::default()
                    };
                    self.run_tree(&tree).unwrap_or_else(|error| panic!("{error:?}"));
                }
            }
        }
    }

    fn create_index(&mut self, index: &selenite_tsql::ast::CreateIndex) {
        let table = &index.table.name.text;
        let names: Vec<_> = index.columns.iter().map(|column| column.name.clone()).collect();
        let listed: Vec<String> = names.iter().map(|name| format!("\"{}\"", name.text)).collect();
        let unique = if index.unique { "UNIQUE " } else { "" };
        let filter = if index.filter.is_some() {
            " WHERE a IS NOT NULL"
        } else {
            ""
        };
        let sql = format!(
            "CREATE {unique}INDEX \"{}\" ON \"{table}\" ({}){filter}",
            index.name.text,
            listed.join(", ")
        );
        self.database.connection.execute_batch(&sql).unwrap();
        if index.unique {
            self.tables
                .unique_index(&index.name.text, table, &names, index.filter.is_some());
        }
    }

    /// Runs a batch.
    pub fn run(&self, batch: &str) -> Result<BatchResult, SqlError> {
        self.run_tree(&tree(batch))
    }

    /// The rows of a batch, one per line.
    pub fn rows(&self, batch: &str) -> String {
        self.answer(batch).rows.join("\n")
    }

    /// The results of a batch.
    pub fn answer(&self, batch: &str) -> BatchResult {
        self.run(batch).unwrap_or_else(|error| panic!("{batch}: {error:?}"))
    }

    /// Number and text of a batch's error.
    pub fn fault(&self, batch: &str) -> (i32, String) {
        match self.run(batch) {
            Ok(answer) => panic!("{batch} gave {:?}", answer.rows),
            Err(error) => (error.number(), error.text().to_owned()),
        }
    }

    /// The number of a batch's error.
    pub fn number(&self, batch: &str) -> i32 {
        self.fault(batch).0
    }

    /// SQLite's plan of a SELECT, and its SQL.
    pub fn plan(&self, batch: &str) -> (String, String) {
        let sql = self.answer(batch).sql.pop().expect("a SELECT");
        let mut statement = self
            .database
            .connection
            .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
            .unwrap();
        let details = statement.raw_query().mapped(|row| row.get::<_, String>(3));
        let details: Vec<String> = details.map(Result::unwrap).collect();
        (details.join("; "), sql)
    }

    fn run_tree(&self, tree: &Tree) -> Result<BatchResult, SqlError> {
        let mut variables = Variables::new();
        let mut answer = BatchResult::default();
        for statement in &tree.statements {
            if let StatementKind::Declare(declarations) = &statement.kind {
                for declaration in declarations {
                    let VariableType::Scalar(type_name) = &declaration.variable_type else {
                        panic!("a table")
                    };
                    let place = DeclarationContext::Variable {
                        number: 1,
                        name: &declaration.name,
                    };
                    let data_type = declared_type(type_name, place)?;
                    let value = match &declaration.initial {
                        Some(initial) => {
                            let expr = Binder::new(&variables, &mut NoQuery).expr_as(initial, &data_type)?;
                            expr.evaluate(&Frame {
                                slots: &answer.slots,
                                row: &[],
                                local: None,
                                environment: &self.world,
                            })?
                        }
                        None => Value::Null,
                    };
                    variables.declare(&declaration.name, data_type)?;
                    answer.slots.push(value);
                }
                continue;
            }
            let bound = Binding {
                catalog: &self.tables,
                variables: &variables,
            }
            .statement(statement)?;
            self.database.connection.execute_batch("SAVEPOINT one").unwrap();
            match self.run_statement(&bound, &mut answer) {
                Ok(count) => {
                    self.database.connection.execute_batch("RELEASE one").unwrap();
                    answer.counts.push(count);
                }
                Err(error) => {
                    self.database
                        .connection
                        .execute_batch("ROLLBACK TO one; RELEASE one")
                        .unwrap();
                    return Err(error);
                }
            }
        }
        Ok(answer)
    }

    fn run_statement(&self, statement: &Statement, answer: &mut BatchResult) -> Result<u64, SqlError> {
        let columns = statement.columns().to_vec();
        if !columns.is_empty() {
            answer.columns = columns
                .iter()
                .map(|column| {
                    let null = if column.nullable { " null" } else { "" };
                    format!("{} {}{null}", column.name, column.data_type)
                })
                .collect();
        }
        let mut shown = Vec::new();
        let mut rows = |row: &[Value]| {
            let types = columns.iter().map(|column| &column.data_type);
            let values = row
                .iter()
                .zip(types)
                .map(|(value, data_type)| shown_value(value, data_type));
            shown.push(values.collect::<Vec<_>>().join("|"));
            Ok(ControlFlow::Continue(()))
        };
        let executor = self.database.executor();
        let mut run = Run {
            executor: &executor,
            slots: &mut answer.slots,
            environment: &self.world,
            rows: &mut rows,
            changed: None,
        };
        let count = match statement {
            Statement::Rows(rows) => {
                answer.sql.push(rows.text.sql.clone());
                run.rows(rows)?
            }
            Statement::Assign(assign) => run.assign(assign)?,
            Statement::Insert(insert) => run.insert(insert)?,
            Statement::Update(update) => run.update(update)?,
            Statement::Delete(delete) => run.delete(delete)?,
            Statement::Merge(merge) => run.merge(merge)?,
            Statement::Truncate(truncate) => run.truncate(truncate)?,
            Statement::Into(into) => self.run_into(into, &mut run)?,
        };
        answer.rows.append(&mut shown);
        Ok(count)
    }

    fn run_into(&self, into: &Into, run: &mut Run<'_>) -> Result<u64, SqlError> {
        let columns: Vec<String> = into
            .columns
            .iter()
            .map(|column| {
                format!(
                    "\"{}\" {}",
                    column.name,
                    selenite_types::storage::declared_name(&column.data_type)
                )
            })
            .collect();
        let name = SqliteName {
            schema: "main".to_owned(),
            name: into.name.name.text.clone(),
        };
        let create = format!("CREATE TABLE \"{}\" ({})", name.name, columns.join(", "));
        self.database.connection.execute_batch(&create).unwrap();
        run.fill(into, &name)
    }
}

fn shown_value(value: &Value, data_type: &DataType) -> String {
    text_of(value, data_type).unwrap_or_else(|| "NULL".to_owned())
}

fn tree(batch: &str) -> Tree {
    parse(batch, Options::default()).unwrap_or_else(|error| panic!("{batch}: {error:?}"))
}
