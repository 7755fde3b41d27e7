//! sp_sequence_get_range.

use selenite_compiler::catalog::Sequence;
use selenite_compiler::{Ends, SqlError};
use selenite_runtime::machine::{Call, CallArgument, Callee, Failure};
use selenite_runtime::sqlite::SequenceRange;
use selenite_tsql::ast::{ObjectName, StatementKind};
use selenite_types::{DataType, Decimal, Value, convert};

use crate::catalog::permission::denied_on;
use crate::catalog::permission_kind::PermissionKind;
use crate::catalog::schema::parsed;
use crate::execution::session_executor::SessionExecutor;
use crate::execution_context::ExecutionContext;

impl SessionExecutor<'_> {
    /// Runs the procedure; none if it is another.
    ///
    /// # Errors
    /// 208, 11726 for what is no sequence; 11732 beyond its end, 11733 for no positive size; 229.
    pub(crate) fn call_sequence_range(
        &mut self,
        call: &Call<'_>,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Option<Callee>, Failure> {
        let schema = call.procedure.schema.as_ref();
        let is_system = schema.is_none_or(|schema| schema.is("sys") || schema.is("dbo"));
        if !is_system || !call.procedure.name.is("sp_sequence_get_range") {
            return Ok(None);
        }
        let name = match argument(call, 0).and_then(|argument| argument.value.as_ref()) {
            Some((Value::Text(name), _)) => name.clone(),
            Some(_) | None => return Err(missing(0).into()),
        };
        let size = match argument(call, 1).and_then(|argument| argument.value.as_ref()) {
            Some((value, from)) => whole(value, from, execution)?,
            None => return Err(missing(1).into()),
        };
        if size <= 0 {
            // 11733: a range of no value.
            let text = "Parameter '@range_size' must be a positive value.";
            return Err(SqlError::new(11733, Ends::Statement, text).into());
        }
        self.refresh()?;
        let catalog = &self.scope.objects.catalog;
        let written = name_of(&name)?;
        catalog.check_place(&written)?;
        let Some(found) = catalog.own_sequence(&written) else {
            return Err(match catalog.schema_of(&written) {
                Some(_) => SqlError::not_a_sequence(&name).into(),
                None => SqlError::unknown_object(&name).into(),
            });
        };
        let sequence = found.sequence.clone();
        if !self
            .permissions
            .may_on(PermissionKind::Update, (&sequence.schema, &sequence.name))
        {
            let name = [&*catalog.database, &sequence.schema, &sequence.name];
            return Err(denied_on("UPDATE", name).into());
        }
        let mut taken: Option<SequenceRange> = None;
        self.transactions.change_database(execution, |database| {
            let range = database.shared.identities.range_of(&database.connection, &sequence, size)?;
            taken = Some(range.ok_or_else(|| {
                // 11732: a range beyond the end of a sequence.
                let text = format!(
                    "The requested range for sequence object '{name}' exceeds the maximum or minimum limit. Retry with a \
                     smaller range."
                );
                SqlError::new(11732, Ends::Statement, text)
            })?);
            Ok(())
        })?;
        let range = taken.ok_or_else(|| SqlError::internal("a range that was not taken"))?;
        let outputs = outputs(call, &range, &sequence, execution)?;
        Ok(Some(Callee::Done { status: 0, outputs }))
    }
}

/// The values of the output arguments.
fn outputs(
    call: &Call<'_>,
    range: &SequenceRange,
    sequence: &Sequence,
    execution: &ExecutionContext<'_>,
) -> Result<Vec<Value>, SqlError> {
    let (rule, own) = (&sequence.rule, sequence.data_type);
    let results = [
        (range.first, own),
        (range.last, own),
        (range.cycle_count.into(), DataType::Int),
        (rule.increment, own),
        (rule.minimum, own),
        (rule.maximum, own),
    ];
    let mut outputs = Vec::new();
    for (at, argument) in call
        .arguments
        .iter()
        .enumerate()
        .filter(|(_, argument)| argument.is_output)
    {
        let result = parameter_of(call, at).and_then(|at| results.get(at.checked_sub(2)?));
        outputs.push(match (result, &argument.value) {
            (Some((result, own)), Some((_, to))) => {
                let value = Value::Decimal(Decimal {
                    unscaled: *result,
                    scale: 0,
                });
                let format = execution.state.session.date_format;
                let value = convert(&value, &WIDEST, own, None, format)?;
                convert(&value, own, to, None, format)?
            }
            (_, _) => Value::Null,
        });
    }
    Ok(outputs)
}

fn whole(value: &Value, from: &DataType, execution: &ExecutionContext<'_>) -> Result<i64, SqlError> {
    let format = execution.state.session.date_format;
    let Value::BigInt(size) = convert(value, from, &DataType::BigInt, None, format)? else {
        return Ok(0);
    };
    Ok(size)
}

/// The argument for a parameter.
fn argument<'c>(call: &'c Call<'_>, parameter: usize) -> Option<&'c CallArgument> {
    let mut found = call.arguments.iter().enumerate();
    found.find_map(|(at, argument)| (parameter_of(call, at) == Some(parameter)).then_some(argument))
}

/// The parameter that an argument is for.
fn parameter_of(call: &Call<'_>, argument: usize) -> Option<usize> {
    match &call.arguments.get(argument)?.name {
        Some(name) => PARAMETERS.iter().position(|known| known.eq_ignore_ascii_case(name)),
        None => Some(argument),
    }
}

fn missing(parameter: usize) -> SqlError {
    let name = PARAMETERS.get(parameter).copied().unwrap_or_default();
    let text =
        format!("Procedure or function 'sp_sequence_get_range' expects parameter '{name}', which was not supplied.");
    SqlError::new(201, Ends::Batch, text).with_state(4)
}

/// A name of several parts in a text.
fn name_of(text: &str) -> Result<ObjectName, SqlError> {
    let unknown = || SqlError::unknown_object(text);
    let tree = parsed(&format!("DROP SEQUENCE {text}")).map_err(|_| unknown())?;
    let mut statements = tree.statements.into_iter();
    let (Some(first), None) = (statements.next(), statements.next()) else {
        return Err(unknown());
    };
    let StatementKind::Drop(drop) = first.kind else {
        return Err(unknown());
    };
    let mut names = drop.names.into_iter();
    match (names.next(), names.next()) {
        (Some(name), None) if !drop.if_exists => Ok(name),
        (_, _) => Err(unknown()),
    }
}

const PARAMETERS: [&str; 8] = [
    "@sequence_name",
    "@range_size",
    "@range_first_value",
    "@range_last_value",
    "@range_cycle_count",
    "@sequence_increment",
    "@sequence_min_value",
    "@sequence_max_value",
];

/// Holds the values of every sequence.
const WIDEST: DataType = DataType::Decimal {
    precision: 38,
    scale: 0,
};
