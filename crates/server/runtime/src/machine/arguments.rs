//! Binds the arguments of a call to parameters.

use std::sync::Arc;

use selenite_compiler::program::{Body, Parameter, Program};
use selenite_compiler::{Ends, Environment, Frame as Values, SqlError, same_name};
use selenite_tsql::ast::TableType;
use selenite_types::{Conversion, DataType, DateFormat, Value, convert};

use super::frame::OutputSlot;
use super::{CallArgument, PassedCursor, PassedTable, TableArgument};

/// The variables of a new frame, and its output parameters.
pub(super) struct Bound {
    pub(super) slots: Vec<Value>,
    /// The caller sets `to`.
    pub(super) outputs: Vec<OutputSlot>,
    pub(super) tables: Vec<PassedTable>,
    pub(super) cursors: Vec<PassedCursor>,
}

/// Assigns each parameter its argument, or its default.
///
/// Errors: 201 or 8178 for a missing argument, 8114 and 206 for a value that does not convert, 8143 for a parameter
/// that occurs twice, 8144 for too many arguments, 8145 for an unknown parameter, 8162 for OUTPUT of a parameter that
/// is not an OUTPUT parameter, 16948 and 16949 for a value in place of a cursor, and the reverse.
pub(super) fn bind(
    program: &Program,
    arguments: &[CallArgument],
    environment: &dyn Environment,
) -> Result<Bound, SqlError> {
    let parameters = program.parameters();
    let chosen = choose(program, arguments)?;
    let mut bound = Bound {
        slots: vec![Value::Null; program.variables().slot_count()],
        outputs: Vec::new(),
        tables: Vec::new(),
        cursors: Vec::new(),
    };
    let format = environment.session().date_format;
    for ((number, parameter), argument) in parameters.iter().enumerate().zip(chosen) {
        let given = argument.and_then(|at| arguments.get(at));
        if let Some(table_type) = &parameter.table {
            bound.tables.push(PassedTable {
                name: Arc::from(parameter.name.as_str()),
                table_type: Arc::clone(table_type),
                from: passed_table(table_type, given)?,
            });
            if given.is_some_and(|argument| argument.is_output) {
                return Err(SqlError::parameter_not_output(&parameter.name));
            }
            continue;
        }
        if parameter.is_cursor {
            bound.cursors.push(passed_cursor(program, parameter, given)?);
            continue;
        }
        if let Some(cursor) = given.and_then(|argument| argument.cursor.as_ref()) {
            return Err(SqlError::cursor_variable(cursor));
        }
        if let Some(table) = given.and_then(|argument| argument.table.as_ref()) {
            return Err(SqlError::table_clash(
                table_name(table),
                parameter.data_type.bare_name(),
            ));
        }
        let given = given.and_then(|argument| argument.value.as_ref());
        let value = match (given, &parameter.default) {
            (Some((value, data_type)), _) => converted(value, data_type, &parameter.data_type, format)?,
            (None, Some(default)) => default.evaluate(&Values {
                slots: &[],
                row: &[],
                local: None,
                environment,
            })?,
            (None, None) => return Err(missing(program, parameter)),
        };
        if let Some(slot) = bound.slots.get_mut(parameter.slot.index()) {
            *slot = value;
        }
        let Some(argument) = argument.filter(|at| arguments.get(*at).is_some_and(|argument| argument.is_output)) else {
            continue;
        };
        if !parameter.is_output {
            return Err(SqlError::parameter_not_output(&parameter.name));
        }
        bound.outputs.push(OutputSlot {
            parameter: number,
            argument,
            to: None,
            given: given.map(|(_, data_type)| *data_type),
        });
    }
    Ok(bound)
}

/// The cursor of a cursor parameter.
///
/// Errors: 201 without one, 16948 for a value.
fn passed_cursor(
    program: &Program,
    parameter: &Parameter,
    given: Option<&CallArgument>,
) -> Result<PassedCursor, SqlError> {
    match given.map(|argument| (&argument.cursor, &argument.value)) {
        Some((Some(to), _)) => Ok(PassedCursor {
            name: Arc::from(parameter.name.as_str()),
            to: Arc::clone(to),
        }),
        Some((None, Some(_))) => Err(SqlError::not_a_cursor_variable(&parameter.name)),
        Some((None, None)) | None => Err(missing(program, parameter)),
    }
}

/// The table of a table-valued parameter; `None` is an empty one.
///
/// Errors: 206 for a value, or a table of another type.
fn passed_table(wanted: &TableType, given: Option<&CallArgument>) -> Result<Option<TableArgument>, SqlError> {
    let Some(given) = given else { return Ok(None) };
    let Some(table) = &given.table else {
        return match &given.value {
            Some((_, data_type)) => Err(SqlError::table_clash(data_type.bare_name(), &wanted.name)),
            None => Ok(None),
        };
    };
    let is_it = match table {
        TableArgument::Variable(source) => source.table_type.as_ref().is_some_and(|known| known.is_same(wanted)),
        TableArgument::Rows(rows) => {
            (rows.schema.is_empty() || same_name(&rows.schema, &wanted.schema))
                && (rows.name.is_empty() || same_name(&rows.name, &wanted.name))
        }
    };
    match is_it {
        true => Ok(Some(table.clone())),
        false => Err(SqlError::table_clash(table_name(table), &wanted.name)),
    }
}

/// The name of a table's type.
fn table_name(table: &TableArgument) -> &str {
    match table {
        TableArgument::Variable(source) => source.table_type.as_ref().map_or("table", |known| &known.name),
        TableArgument::Rows(rows) => &rows.name,
    }
}

/// The index of each parameter's argument.
fn choose(program: &Program, arguments: &[CallArgument]) -> Result<Vec<Option<usize>>, SqlError> {
    let parameters = program.parameters();
    let mut chosen: Vec<Option<usize>> = vec![None; parameters.len()];
    for (at, argument) in arguments.iter().enumerate() {
        let number = match &argument.name {
            None => at,
            Some(name) => parameters
                .iter()
                .position(|parameter| same_name(&parameter.name, name))
                .ok_or_else(|| SqlError::unknown_parameter(name, called(program)))?,
        };
        let Some(place) = chosen.get_mut(number) else {
            return Err(SqlError::too_many_arguments(called(program)));
        };
        if place.replace(at).is_some() {
            return Err(SqlError::parameter_twice(&parameters[number].name));
        }
    }
    Ok(chosen)
}

/// Converts a value to another type, for a call or an assignment of its results.
///
/// Errors: 8114, or 206 and 257 for types without a conversion.
pub(super) fn converted(value: &Value, from: &DataType, to: &DataType, format: DateFormat) -> Result<Value, SqlError> {
    if *value == Value::Null || from == to {
        return Ok(value.clone());
    }
    Conversion::check_implicit(from, to).map_err(|error| SqlError::from(error).with_ends(Ends::Statement))?;
    convert(value, from, to, None, format).map_err(|_| SqlError::argument_conversion(from.bare_name(), to.bare_name()))
}

fn missing(program: &Program, parameter: &Parameter) -> SqlError {
    match program.body() {
        Body::Procedure { name, .. } => SqlError::parameter_missing(name, &parameter.name),
        Body::Batch => SqlError::text_parameter_missing(program.source(), &parameter.name),
    }
}

fn called(program: &Program) -> &str {
    program.procedure_name().map_or("", |name| name)
}
