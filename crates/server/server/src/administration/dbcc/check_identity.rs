//! DBCC CHECKIDENT: what is the current number of a table, and another one.

use selenite_compiler::catalog::Table;
use selenite_compiler::{Ends, SqlError};
use selenite_runtime::machine::{Affected, Failure};
use selenite_runtime::sqlite::Identities;
use selenite_types::DataType;

use super::argument::Argument;
use super::{COMPLETED, Request};
use crate::administration::Administration;
use crate::catalog::schema::is_temporary;
use crate::execution_context::ExecutionContext;

/// What is to be done with the number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reseed {
    /// It is shown.
    No,
    /// It becomes the highest of the column, if it is lower.
    IfLower,
    /// It becomes this.
    To(i128),
}

impl Administration<'_, '_> {
    /// `CHECKIDENT (table [, NORESEED | RESEED [, number]])`
    pub(super) fn check_identity(
        &mut self,
        request: &Request,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        let (name, reseed) = asked(request)?;
        let table = self.table_of_name(name)?;
        let Some(column) = table.identity().and_then(|at| table.columns.get(at)) else {
            // 7997: a table without an identity.
            let text = format!("'{}' does not contain an identity column.", table.name);
            return Err(SqlError::new(7997, Ends::Statement, text).into());
        };
        if let Reseed::To(number) = reseed
            && !range(column.data_type).contains(&number)
        {
            return Err(wrong(3));
        }
        let rule = column
            .identity
            .ok_or_else(|| SqlError::internal("an identity without a rule"))?;
        let mut told = String::new();
        self.transactions.change_database(execution, |database| {
            let identities = &database.shared.identities;
            let last = identities.last(&database.connection, &table)?;
            let used = Identities::extreme(&database.connection, &table)?;
            let shown = |number: Option<i128>| number.map_or("NULL".to_owned(), |number| number.to_string());
            told = format!(
                "Checking identity information: current identity value '{}', current column value '{}'.",
                shown(last),
                shown(used)
            );
            let is_lower = |used: i128| last.is_none_or(|last| (used - last) * rule.increment > 0);
            let next = match reseed {
                Reseed::No => None,
                Reseed::IfLower => used.filter(|used| is_lower(*used)).map(|used| used + rule.increment),
                Reseed::To(number) => {
                    told = format!(
                        "Checking identity information: current identity value '{}'.",
                        shown(last)
                    );
                    // The first row of a table that never had one gets the number itself.
                    Some(if last.is_none() {
                        number
                    } else {
                        number + rule.increment
                    })
                }
            };
            match next {
                Some(next) => identities.restart_at(&database.connection, (&table, next), &database.identity_journal),
                None => Ok(()),
            }
        })?;
        // 7998: the numbers that there are.
        request.info(7998, &told, execution)?;
        if !request.options.no_messages {
            request.info(2528, COMPLETED, execution)?;
        }
        Ok(Affected::Nothing)
    }

    fn table_of_name(&mut self, name: &str) -> Result<std::sync::Arc<Table>, SqlError> {
        let bare = |part: &str| part.trim().trim_matches(['[', ']', '"']).to_owned();
        let mut parts = name.rsplitn(3, '.').map(bare);
        let own = parts.next().unwrap_or_default();
        let schema = parts.next().filter(|schema| !schema.is_empty());
        let database = parts.next();
        self.transactions.connect()?;
        let used = self.transactions.connected()?;
        let (_, schemas) = used.database.definitions()?;
        if database.is_some_and(|database| !selenite_compiler::same_name(&database, &used.database.shared.record.name))
        {
            return Err(SqlError::unsupported("DBCC CHECKIDENT of a table of another database"));
        }
        let found = if is_temporary(&own) {
            used.database.temporary().temporary_table(&own).cloned()
        } else {
            let default = &self.permissions.default_schema;
            match &schema {
                Some(schema) => schemas.table(schema, &own).cloned(),
                None => schemas
                    .table(default, &own)
                    .or_else(|| schemas.table("dbo", &own))
                    .cloned(),
            }
        };
        let found = found.map(|table| table.table.clone());
        found.ok_or_else(|| {
            // 2501: DBCC of an unknown table.
            let text = format!("Cannot find a table or object with the name \"{name}\". Check the system catalog.");
            SqlError::new(2501, Ends::Statement, text).with_state(45)
        })
    }
}

/// The table, and what is to be done.
fn asked(request: &Request) -> Result<(&str, Reseed), Failure> {
    match request.arguments.as_slice() {
        [Argument::Text(name)] => Ok((name, Reseed::IfLower)),
        [Argument::Text(name), how] if how.is("NORESEED") => Ok((name, Reseed::No)),
        [Argument::Text(name), how] if how.is("RESEED") => Ok((name, Reseed::IfLower)),
        [Argument::Text(name), how, Argument::Number(number)] if how.is("RESEED") => {
            Ok((name, Reseed::To(i128::from(*number))))
        }
        [Argument::Text(_), how, _] if how.is("RESEED") => Err(wrong(3)),
        _ => Err(request.incorrect()),
    }
}

/// 2560: an argument that is no number of the column's type.
fn wrong(number: u32) -> Failure {
    let text = format!("Parameter {number} is incorrect for this DBCC statement.");
    SqlError::new(2560, Ends::Statement, text).with_state(9).into()
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "decimals of scale 0 have room for any number that is read"
)]
fn range(data_type: DataType) -> std::ops::RangeInclusive<i128> {
    match data_type {
        DataType::TinyInt => 0..=255,
        DataType::SmallInt => i128::from(i16::MIN)..=i128::from(i16::MAX),
        DataType::Int => i128::from(i32::MIN)..=i128::from(i32::MAX),
        _ => i128::from(i64::MIN)..=i128::from(i64::MAX),
    }
}
