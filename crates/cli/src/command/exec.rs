//! `selenite exec`: SQL.

use std::io::{self, IsTerminal};
use std::path::Path;

use selenite::storage::Disk;
use selenite::{Access, AutoVacuum, Cell, Database, EngineError, Layout, Rows};
use serde_json::{Value, json};

use crate::arguments::Exec;
use crate::cli_error::CliError;
use crate::meter::Meter;
use crate::output::Output;
use crate::printable;

pub fn run(arguments: &Exec, access: Access) -> Result<(), CliError> {
    let meter = Meter::start();
    let mut database = open(arguments, &access)?;
    database.watch(&meter.watch())?;
    let shape = match (arguments.json, io::stdout().is_terminal()) {
        (true, _) => Shape::Json,
        (false, true) => Shape::Columns,
        (false, false) => Shape::Tabs,
    };
    let mut printer = Printer {
        output: Output::take(),
        shape,
        columns: Vec::new(),
        held: Vec::new(),
        widths: None,
        error: None,
    };
    let done = database.run(&arguments.sql, &mut printer);
    if let Some(error) = printer.error {
        return Err(error.into());
    }
    printer.output.finish()?;
    Ok(done?)
}

fn open(arguments: &Exec, access: &Access) -> Result<Database, EngineError> {
    let path: &Path = &arguments.database;
    if arguments.create {
        let layout = Layout {
            suite: arguments.cipher,
            page_size: arguments.page_size,
            auto_vacuum: AutoVacuum::None,
        };
        return Database::create(&Disk, path, access, &layout);
    }
    match Database::open(&Disk, path, access) {
        Err(EngineError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Err(EngineError::Sqlite {
            class: selenite::Class::Io,
            what: format!("{}: no such file", path.display()),
            next: "check the path; to create a new database, add --create".to_owned(),
        }),
        opened => opened,
    }
}

#[derive(Clone, Copy)]
enum Shape {
    /// Aligned columns under their names.
    Columns,
    /// Values separated by tabs, for programs.
    Tabs,
    /// A JSON object for each statement.
    Json,
}

/// Prints rows as they arrive.
struct Printer {
    output: Output,
    shape: Shape,
    columns: Vec<String>,
    /// Buffered rows: until the column widths are known, or until the end of an object.
    held: Vec<Vec<Cell>>,
    widths: Option<Vec<usize>>,
    error: Option<io::Error>,
}

impl Printer {
    fn keep(&mut self, written: io::Result<()>) -> bool {
        let is_written = written.is_ok();
        self.error = self.error.take().or(written.err());
        is_written
    }

    /// Determines the widths from the buffered rows, and prints them.
    fn settle(&mut self) -> io::Result<()> {
        let rows: Vec<Vec<String>> = self.held.drain(..).map(|row| row.iter().map(text).collect()).collect();
        let columns: Vec<String> = self.columns.iter().map(|name| printable::line(name)).collect();
        let mut widths: Vec<usize> = columns.iter().map(|name| name.chars().count()).collect();
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        for width in &mut widths {
            *width = (*width).min(WIDTH_MAX);
        }
        let rules: Vec<String> = widths.iter().map(|&width| "-".repeat(width)).collect();
        self.output.line(&aligned(&columns, &widths))?;
        self.output.line(&aligned(&rules, &widths))?;
        for row in &rows {
            self.output.line(&aligned(row, &widths))?;
        }
        self.widths = Some(widths);
        Ok(())
    }

    fn column_row(&mut self, cells: Vec<Cell>) -> io::Result<()> {
        if let Some(widths) = &self.widths {
            let row: Vec<String> = cells.iter().map(text).collect();
            return self.output.line(&aligned(&row, widths));
        }
        self.held.push(cells);
        if self.held.len() < SETTLE_ROWS {
            return Ok(());
        }
        self.settle()
    }

    fn finish_statement(&mut self) -> io::Result<()> {
        match self.shape {
            Shape::Tabs => Ok(()),
            Shape::Columns if self.widths.is_some() => Ok(()),
            Shape::Columns => self.settle(),
            Shape::Json => {
                let rows: Vec<Value> = self
                    .held
                    .drain(..)
                    .map(|row| row.iter().map(json_of).collect())
                    .collect();
                let object = json!({ "columns": self.columns, "rows": rows });
                self.output.line(&printable::json(&object))
            }
        }
    }
}

impl Rows for Printer {
    fn begin(&mut self, columns: &[String]) {
        self.columns = columns.to_vec();
        self.widths = None;
        self.held.clear();
    }

    fn row(&mut self, cells: Vec<Cell>) -> bool {
        let written = match self.shape {
            Shape::Tabs => {
                let row: Vec<String> = cells.iter().map(text).collect();
                self.output.line(&row.join("\t"))
            }
            Shape::Columns => self.column_row(cells),
            Shape::Json => {
                self.held.push(cells);
                Ok(())
            }
        };
        self.keep(written)
    }

    fn end(&mut self) {
        let written = self.finish_statement();
        self.keep(written);
    }
}

/// A value in a line: characters that would break the line or move the cursor are escaped.
fn text(cell: &Cell) -> String {
    match cell {
        Cell::Null => String::new(),
        Cell::Integer(number) => number.to_string(),
        Cell::Real(number) => number.to_string(),
        Cell::Text(text) => {
            let mut out = String::with_capacity(text.len());
            for letter in text.chars() {
                if !printable::is_harmless(letter) || letter == '\\' {
                    out.extend(letter.escape_default());
                } else {
                    out.push(letter);
                }
            }
            out
        }
        Cell::Blob(bytes) => hex(bytes),
    }
}

fn json_of(cell: &Cell) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Integer(number) => json!(number),
        // JSON cannot represent infinity.
        Cell::Real(number) if !number.is_finite() => json!(number.to_string()),
        Cell::Real(number) => json!(number),
        Cell::Text(text) => json!(text),
        Cell::Blob(bytes) => json!({ "blob": hex(bytes) }),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn aligned(cells: &[String], widths: &[usize]) -> String {
    let cells: Vec<String> = cells
        .iter()
        .zip(widths)
        .map(|(cell, &width)| format!("{cell:width$}"))
        .collect();
    cells.join("  ").trim_end().to_owned()
}

/// A wider value extends beyond its column, and does not move the other rows.
const WIDTH_MAX: usize = 60;
/// Column widths are those of the first rows, so that a result of any size is printed as it arrives.
const SETTLE_ROWS: usize = 200;
