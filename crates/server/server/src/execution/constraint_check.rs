//! DBCC CHECKCONSTRAINTS: the rows that violate constraints, also of those that were not checked when they were written.

use std::sync::Arc;

use selenite_compiler::catalog::{ForeignKey, Table};
use selenite_compiler::definition::{CheckDefinition, bracketed};
use selenite_compiler::{Ends, SqlError, same_name};
use selenite_runtime::machine::{Affected, Failure, TableStatement};
use selenite_tsql::ast::Dbcc;
use selenite_types::{DataType, Value, Width, text_of};

use crate::administration::dbcc::{Argument, Request, send_rows};
use crate::catalog::schema::{Schema, SchemaTable, is_temporary};
use crate::catalog::written_name::name_parts;
use crate::execution::definition::DefinitionContext;
use crate::execution::session_executor::SessionExecutor;
use crate::execution_context::ExecutionContext;

/// A constraint.
enum Constraint<'a> {
    Check(&'a CheckDefinition),
    Key(&'a ForeignKey),
}

impl SessionExecutor<'_> {
    /// DBCC.
    pub(crate) fn dbcc(
        &mut self,
        dbcc: &Dbcc,
        program: (&TableStatement<'_>, &[Value]),
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        if !dbcc.command.is("CHECKCONSTRAINTS") {
            return self.administration().dbcc(dbcc, program, execution);
        }
        let request = Request::of(dbcc, program, execution.state)?;
        self.refresh()?;
        let affected = self.check_constraints(&request, execution)?;
        request.complete(execution)?;
        Ok(affected)
    }

    /// `CHECKCONSTRAINTS [(table | constraint)]`
    fn check_constraints(
        &mut self,
        request: &Request,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        if request.arguments.len() > 1 {
            return Err(request.incorrect());
        }
        let objects = &self.scope.objects;
        let schema = Arc::clone(&objects.catalog.schema);
        let asked = asked(&schema, &objects.catalog.default_schema, request)?;
        let used = self.transactions.connected()?;
        let work = DefinitionContext::of_rows(&used.database, objects, execution.state);
        // All rows are those of one moment.
        let found = used.database.in_snapshot(|| {
            let mut rows = Vec::new();
            for (table, constraint) in &asked {
                violations(
                    &work,
                    &schema,
                    table,
                    (constraint, request.options.all_errors),
                    &mut rows,
                )?;
            }
            Ok(rows)
        });
        execution.reply.poll()?;
        send_rows(COLUMNS, &found?, execution)
    }
}

impl Constraint<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Check(check) => &check.name,
            Self::Key(key) => &key.name,
        }
    }

    fn is_enabled(&self) -> bool {
        match self {
            Self::Check(check) => check.is_enabled,
            Self::Key(key) => key.is_enabled,
        }
    }
}

/// The constraints that are to be checked, with their tables: those that are enabled, unless one is named or all are
/// asked for.
///
/// Errors: 2501, 2526.
fn asked<'a>(
    schema: &'a Schema,
    default_schema: &str,
    request: &Request,
) -> Result<Vec<(&'a Arc<SchemaTable>, Constraint<'a>)>, Failure> {
    let all = schema.sorted_tables().into_iter().flat_map(|table| {
        let checks = table.definition.checks.iter().map(Constraint::Check);
        let keys = table.definition.foreign_keys.iter().map(Constraint::Key);
        checks.chain(keys).map(move |constraint| (table, constraint))
    });
    let is_due = |constraint: &Constraint<'_>| request.options.all_constraints || constraint.is_enabled();
    let (of, name) = match request.arguments.first() {
        None | Some(Argument::Null) => return Ok(all.filter(|(_, constraint)| is_due(constraint)).collect()),
        Some(Argument::Number(id)) => {
            let id = i32::try_from(*id).unwrap_or_default();
            let found = schema.objects().into_iter().find(|object| object.id == id);
            let found = found.ok_or_else(|| unknown(&id.to_string()))?;
            (found.schema, found.name)
        }
        Some(Argument::Text(written)) => match name_parts(written).as_deref() {
            Some([name]) => (default_schema.to_owned(), name.clone()),
            Some([of, name]) => (of.clone(), name.clone()),
            Some(_) => {
                return Err(SqlError::unsupported("DBCC CHECKCONSTRAINTS in another database")
                    .with_ends(Ends::Statement)
                    .into());
            }
            None => return Err(request.incorrect()),
        },
    };
    if is_temporary(&name) {
        return Err(SqlError::unsupported("DBCC CHECKCONSTRAINTS of a temporary table")
            .with_ends(Ends::Statement)
            .into());
    }
    if let Some(table) = schema.table(&of, &name).or_else(|| schema.table("dbo", &name)) {
        let id = table.table.object_id;
        let is_its = |(other, constraint): &(&Arc<SchemaTable>, Constraint<'_>)| {
            other.table.object_id == id && is_due(constraint)
        };
        return Ok(all.filter(is_its).collect());
    }
    let is_it = |(table, constraint): &(&Arc<SchemaTable>, Constraint<'_>)| {
        let is_there = [of.as_str(), "dbo"]
            .iter()
            .any(|of| same_name(&table.definition.schema, of));
        is_there && same_name(constraint.name(), &name)
    };
    let found: Vec<_> = all.filter(is_it).collect();
    match found.is_empty() {
        true => Err(unknown(&name)),
        false => Ok(found),
    }
}

/// Adds the rows that violate a constraint: 200 of them at most unless all are asked for.
fn violations(
    work: &DefinitionContext<'_>,
    schema: &Schema,
    table: &SchemaTable,
    (constraint, all): (&Constraint<'_>, bool),
    rows: &mut Vec<Vec<Value>>,
) -> Result<(), SqlError> {
    let top = if all { "" } else { "TOP 200 " };
    let (columns, tables, rest) = match constraint {
        Constraint::Check(check) => {
            let condition = check.condition.to_string();
            let columns = table.definition.columns.iter();
            let columns: Vec<&str> = columns
                .map(|column| column.name.as_str())
                .filter(|name| selenite_compiler::definition::mentions(&condition, name))
                .collect();
            (columns, vec![plain(table)], format!("WHERE NOT ({condition})"))
        }
        Constraint::Key(key) => {
            let (of, name) = &key.referenced_table;
            let Some(referenced) = schema.table(of, name) else {
                return Ok(());
            };
            let columns: Vec<&str> = key.columns.iter().map(String::as_str).collect();
            let given = columns
                .iter()
                .map(|name| format!("{OWN}.{} IS NOT NULL", bracketed(name)));
            let same = columns
                .iter()
                .zip(&key.referenced_columns)
                .map(|(own, other)| format!("{REFERENCED}.{} = {OWN}.{}", bracketed(other), bracketed(own)));
            let rest = format!(
                "AS {OWN} WHERE {} AND NOT EXISTS (SELECT 1 FROM {REFERENCED} WHERE {})",
                given.collect::<Vec<_>>().join(" AND "),
                same.collect::<Vec<_>>().join(" AND ")
            );
            let other = Table {
                name: REFERENCED.to_owned(),
                ..(*referenced.table).clone()
            };
            (columns, vec![plain(table), Arc::new(other)], rest)
        }
    };
    let types: Vec<Option<DataType>> = columns
        .iter()
        .map(|name| Some(table.table.columns.get(table.table.column(name)?)?.data_type))
        .collect();
    let items = match columns.is_empty() {
        true => "1 AS found".to_owned(),
        false => columns
            .iter()
            .map(|name| bracketed(name))
            .collect::<Vec<_>>()
            .join(", "),
    };
    let text = format!("SELECT {top}{items} FROM {} {rest}", bracketed(&table.table.name));
    let place = format!(
        "{}.{}",
        bracketed(&table.definition.schema),
        bracketed(&table.definition.name)
    );
    for row in work.rows_of(&text, tables)? {
        let values = columns.iter().zip(&types).zip(&row);
        let shown = values.map(|((name, data_type), value)| {
            let text = data_type.as_ref().and_then(|data_type| text_of(value, data_type));
            match text {
                Some(text) => format!("{} = '{}'", bracketed(name), text.replace('\'', "''")),
                None => format!("{} IS NULL", bracketed(name)),
            }
        });
        let shown = shown.collect::<Vec<_>>().join(" AND ");
        let texts = [place.clone(), bracketed(constraint.name()), shown];
        rows.push(texts.map(|text| Value::Text(text.into())).into());
    }
    Ok(())
}

/// The table as it is read.
fn plain(table: &SchemaTable) -> Arc<Table> {
    Arc::clone(&table.table)
}

/// 2501: DBCC of an unknown object.
fn unknown(name: &str) -> Failure {
    let text = format!("Cannot find a table or object with the name \"{name}\". Check the system catalog.");
    SqlError::new(2501, Ends::Statement, text).with_state(45).into()
}

const NAME: DataType = DataType::NVarChar(Width::Limited(388));
const COLUMNS: &[(&str, DataType)] = &[
    ("Table", NAME),
    ("Constraint", NAME),
    ("Where", DataType::NVarChar(Width::Max)),
];

/// How the text names the table and the one that it refers to: a table may refer to itself, or to one with its name.
const OWN: &str = "selenite_own";
const REFERENCED: &str = "selenite_referenced";
