//! BACKUP and RESTORE, carried out by the engine.
//!
//! - `device-is-a-folder-of-archives`: `DISK = 'path'` is a folder of the engine's archives. Each
//!   finished archive is a backup set, and `FILE = n` counts them by the time at which they were
//!   begun. An archive is encrypted to those who can open the database, whether the database is
//!   encrypted or in clear.
//! - `engine-has-its-own-thread`: the engine works on a thread of its own ([`attended`]). The
//!   session's thread reports the progress and receives ATTENTION.
//! - `restored-database-is-exclusive`: while a database is restored to, no other session can use it
//!   (`no-access-during-restore` of `crate::database::database_registry`). It gets its name only
//!   when it is complete.
//! - `reason-before-3013`: a failure is reported as SQL Server reports it: the reason first, then
//!   3013, which is the statement's own error.

mod attended;
mod backup_error;
mod device;
mod header;
mod making;
mod option;
mod restoring;

use selenite_compiler::{Ends, SqlError, Variables};
use selenite_runtime::machine::{Affected, Failure, Message, TableStatement};
use selenite_tsql::ast::{self, BackupKind, ExprKind, Literal, NameOrVariable, RestoreKind};
use selenite_types::Value;

use crate::administration::Administration;
use crate::execution_context::ExecutionContext;

/// What constants and variables of the statement are.
#[derive(Clone, Copy)]
pub(crate) struct Words<'a> {
    variables: &'a Variables,
    slots: &'a [Value],
}

/// A statement that failed, with its errors in the order in which they are reported.
pub(crate) struct Refused {
    /// The reason, if there is more than the statement's own error.
    why: Option<SqlError>,
    /// Whether the statement's own error is 3013.
    is_terminating: bool,
}

/// How an operation ended that was not done.
pub(crate) enum Ended {
    /// With an error.
    Refused(Refused),
    /// The request is to stop.
    Stopped(Failure),
}

impl Administration<'_, '_> {
    /// BACKUP DATABASE and BACKUP LOG.
    pub(crate) fn back_up(
        &mut self,
        backup: &ast::Backup,
        statement: &TableStatement<'_>,
        slots: &[Value],
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        let words = Words {
            variables: statement.program.variables(),
            slots,
        };
        let line = statement.line();
        let (what, done) = match backup.kind {
            BackupKind::Database => (
                "BACKUP DATABASE",
                self.back_up_database(backup, words, (line, execution)),
            ),
            BackupKind::Log => (
                "BACKUP LOG",
                Err(Refused::because(backup_error::simple_recovery()).into()),
            ),
        };
        conclude(what, done, (line, execution))
    }

    /// All kinds of RESTORE.
    pub(crate) fn restore(
        &mut self,
        restore: &ast::Restore,
        statement: &TableStatement<'_>,
        slots: &[Value],
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        let words = Words {
            variables: statement.program.variables(),
            slots,
        };
        let told = (statement.line(), &mut *execution);
        let (what, done) = match restore.kind {
            RestoreKind::Database => ("RESTORE DATABASE", self.restore_database(restore, words, told)),
            RestoreKind::Log => ("RESTORE LOG", Err(SqlError::unsupported("RESTORE LOG").into())),
            RestoreKind::VerifyOnly => ("VERIFY DATABASE", self.verify_only(restore, words, told)),
            RestoreKind::HeaderOnly => ("RESTORE HEADERONLY", self.header_only(restore, words, told)),
            RestoreKind::FileListOnly => ("RESTORE FILELIST", self.file_list_only(restore, words, told)),
            RestoreKind::LabelOnly => ("RESTORE LABELONLY", self.label_only(restore, words, told)),
        };
        conclude(what, done, (statement.line(), execution))
    }
}

impl Words<'_> {
    /// A string, or the text of a variable; NULL is no value.
    ///
    /// # Errors
    /// 137 for an unknown variable; 40510 for what is no text.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what is no text has no other meaning here"
    )]
    fn text(&self, expr: &ast::Expr) -> Result<Option<String>, SqlError> {
        match self.value(expr)? {
            Value::Text(text) => Ok(Some(text.trim_end_matches(' ').to_owned())),
            Value::Null => Ok(None),
            _ => Err(SqlError::unsupported("A value of this type here")),
        }
    }

    /// A whole number of a constant or variable.
    ///
    /// # Errors
    /// As [`Words::text`].
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what is no number has no other meaning here"
    )]
    fn number(&self, expr: &ast::Expr) -> Result<i64, SqlError> {
        match self.value(expr)? {
            Value::TinyInt(number) => Ok(number.into()),
            Value::SmallInt(number) => Ok(number.into()),
            Value::Int(number) => Ok(number.into()),
            Value::BigInt(number) => Ok(number),
            _ => Err(SqlError::unsupported("A value of this type here")),
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the parser takes constants and variables only"
    )]
    fn value(&self, expr: &ast::Expr) -> Result<Value, SqlError> {
        match &expr.kind {
            ExprKind::Literal(Literal::String(text) | Literal::National(text)) => Ok(Value::Text(text.as_str().into())),
            ExprKind::Literal(Literal::Integer(digits)) => {
                let number = digits.parse::<i64>();
                number
                    .map(Value::BigInt)
                    .map_err(|_| SqlError::unsupported("A number of this size here"))
            }
            ExprKind::Literal(Literal::Null) => Ok(Value::Null),
            ExprKind::Variable(name) => self.variable(name),
            _ => Err(SqlError::unsupported("An expression of this kind here")),
        }
    }

    fn variable(&self, name: &str) -> Result<Value, SqlError> {
        let slot = self.variables.find(name)?.slot;
        Ok(self.slots.get(slot.index()).cloned().unwrap_or(Value::Null))
    }

    /// A name, or what a variable has.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is no text is no name")]
    fn name(&self, name: &NameOrVariable) -> Result<String, SqlError> {
        match name {
            NameOrVariable::Name(name) => Ok(name.text.clone()),
            NameOrVariable::Variable(variable) => match self.variable(variable)? {
                Value::Text(text) => Ok(text.to_string()),
                other => Err(SqlError::unsupported(&format!("A name that is {other:?}"))),
            },
        }
    }
}

impl Refused {
    /// The reason is reported first, and 3013 is the statement's error.
    fn because(why: SqlError) -> Self {
        Self {
            why: Some(why),
            is_terminating: true,
        }
    }
}

impl From<Refused> for Ended {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl From<SqlError> for Ended {
    /// An error by itself, without 3013.
    fn from(error: SqlError) -> Self {
        Self::Refused(Refused {
            why: Some(error),
            is_terminating: false,
        })
    }
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Self {
        Self::Stopped(failure)
    }
}

impl From<selenite_runtime::machine::Stop> for Ended {
    fn from(stop: selenite_runtime::machine::Stop) -> Self {
        Self::Stopped(stop.into())
    }
}

/// `reason-before-3013`: reports how the statement ended.
fn conclude(
    what: &str,
    done: Result<Affected, Ended>,
    (line, execution): (u32, &mut ExecutionContext<'_>),
) -> Result<Affected, Failure> {
    let refused = match done {
        Ok(affected) => return Ok(affected),
        Err(Ended::Stopped(failure)) => return Err(failure),
        Err(Ended::Refused(refused)) => refused,
    };
    match (refused.why, refused.is_terminating) {
        (Some(why), false) => Err(why.with_ends(Ends::Statement).into()),
        (why, _) => {
            if let Some(why) = why {
                execution.reply.message(&Message {
                    number: why.number(),
                    severity: why.severity(),
                    state: why.state(),
                    line,
                    procedure: "",
                    text: why.text(),
                    to_log: false,
                })?;
            }
            // 3013: a backup or restore that ends with an error.
            Err(SqlError::new(3013, Ends::Statement, format!("{what} is terminating abnormally.")).into())
        }
    }
}

/// Sends a message of severity 10.
fn send_information(number: i32, text: &str, (line, execution): (u32, &mut ExecutionContext<'_>)) -> Result<(), Ended> {
    let told = execution.reply.message(&Message {
        number,
        severity: 10,
        state: 1,
        line,
        procedure: "",
        text,
        to_log: false,
    });
    Ok(told?)
}
