//! SET SHOWPLAN_ALL, SHOWPLAN_TEXT and SHOWPLAN_XML, and STATISTICS PROFILE and STATISTICS XML.
//!
//! - `nothing-is-run`: while plans are shown no statement is run but SET of these options, alone in its batch.
//! - `calls-are-not-entered`: EXECUTE is listed, with no plan of what it calls.
//! - `plans-are-measured`: a short statement on a view may have a long plan, and a batch many such statements: memory is
//!   requested after each plan, and before all are written.

use std::sync::Arc;

use selenite::thread_memory;
use selenite_compiler::SqlError;
use selenite_compiler::program::step::{Role, Step};
use selenite_compiler::program::{PlanForm, Program, StatementSpan, index};
use selenite_runtime::machine::{Affected, Ended, Entry, Failure, FrameKind, Host, Machine, Stop, TableStatement};
use selenite_tds::{Done, DoneKind};
use selenite_types::Value;

use super::command::words;
use super::host::SessionHost;
use crate::execution::session_executor::is_on_rows;
use crate::memory;
use crate::plan::{PlanSet, PlannedStatement, all, document, profile, texts};

/// Answers a request with the plans of its statements.
pub(super) fn answer(machine: &mut Machine, host: &mut SessionHost<'_>, program: &Arc<Program>, entry: Entry) -> Ended {
    let form = host.state.plan_form.unwrap_or(PlanForm::All);
    let (explained, size) = thread_memory::measured(|| host.explain(program));
    let done = explained.and_then(|statements| {
        memory::reserve(usize::try_from(size).unwrap_or(usize::MAX).saturating_mul(WRITTEN_SIZE))?;
        let sets = match form {
            PlanForm::Text => texts(&statements),
            PlanForm::All => vec![all(&statements)],
            PlanForm::Xml => vec![as_document(&statements)],
        };
        host.send_plans(&sets, entry)
    });
    match done {
        Ok(()) => Ended::Finished,
        Err(Failure::Error(error)) => machine.refuse(&[error], entry, host),
        Err(Failure::Stop(Stop::Attention)) => Ended::Attention,
        Err(Failure::Stop(Stop::Gone)) => Ended::Gone,
    }
}

/// The refusal of what can't be explained.
pub(super) fn refused(what: &str) -> SqlError {
    SqlError::unsupported(&format!("{what} with SET SHOWPLAN ON"))
}

impl SessionHost<'_> {
    /// Whether a program is explained, and not run.
    pub(super) fn explains(&self, program: &Program) -> bool {
        self.state.plan_form.is_some() && !program.sets_plans()
    }

    /// The statements of a program with their plans.
    fn explain(&mut self, program: &Arc<Program>) -> Result<Vec<PlannedStatement>, Failure> {
        if self.cursor_outputs.is_some() || self.bulk.is_some() {
            return Err(refused("A cursor or bulk load of a client").into());
        }
        self.enter(program, FrameKind::Batch)?;
        let statements = self.explain_entered(program);
        self.leave();
        statements
    }

    fn explain_entered(&mut self, program: &Arc<Program>) -> Result<Vec<PlannedStatement>, Failure> {
        let spans = program.spans();
        let mut statements = Vec::with_capacity(spans.len());
        for (at, span) in spans.iter().enumerate() {
            let next = spans.get(at + 1);
            let end = next.map_or(program.steps().len(), |next| index(next.step));
            // A block has no step of its own.
            let Some(steps) = program
                .steps()
                .get(index(span.step)..end)
                .filter(|steps| !steps.is_empty())
            else {
                continue;
            };
            self.poll()?;
            memory::reserve(0)?;
            let mut planned = PlannedStatement {
                text: own_text(span, next, program.source()),
                kind: kind_of(program, steps)?,
                operator: None,
                row_count: None,
            };
            for step in steps {
                let Step::Statement { id, role, .. } = step else {
                    continue;
                };
                let Some(statement) = program.statement(*id).filter(|_| *role != Role::Declare) else {
                    continue;
                };
                let statement = TableStatement {
                    program,
                    id: *id,
                    statement,
                };
                let (executor, execution) = self.execution();
                planned.operator = executor.explain(&statement, execution)?;
            }
            statements.push(planned);
        }
        Ok(statements)
    }

    fn send_plans(&mut self, sets: &[PlanSet], entry: Entry) -> Result<(), Failure> {
        let kind = match entry {
            Entry::Batch => DoneKind::Statement,
            Entry::Call { .. } => DoneKind::InProcedure,
        };
        for (at, set) in (1..).zip(sets) {
            let is_last = at == sets.len() && entry == Entry::Batch;
            let more = if is_last { 0 } else { Done::MORE };
            self.send_plan(set, kind, more)?;
        }
        match entry {
            Entry::Batch if !sets.is_empty() => {}
            Entry::Batch => self.reply.bare_done(DoneKind::Statement, Done::FINAL)?,
            Entry::Call { more, .. } => {
                self.return_status(0)?;
                let status = if more { Done::MORE } else { Done::FINAL };
                self.reply.bare_done(DoneKind::Procedure, status)?;
            }
        }
        Ok(())
    }

    fn send_plan(&mut self, set: &PlanSet, kind: DoneKind, more: u16) -> Result<(), Failure> {
        self.reply.columns(&set.columns)?;
        for row in &set.rows {
            self.reply.row(row)?;
        }
        self.reply.forget_rows();
        Ok(self.reply.done(Done {
            kind,
            status: Done::COUNT | more,
            command: Done::SELECT,
            row_count: u64::try_from(set.rows.len()).unwrap_or(u64::MAX),
        })?)
    }

    /// Keeps the plan of a statement that was run until its DONE.
    pub(super) fn keep_plan(&mut self, statement: &TableStatement<'_>, done: &Result<Affected, Failure>) {
        self.executor.explained.is_wanted = false;
        let Some(operator) = self.executor.take_plan(statement) else {
            return;
        };
        let Ok(Affected::Rows(count) | Affected::Fires(count)) = done else {
            return;
        };
        // FETCH, and the API cursors of a client, have answers of their own form.
        if is_on_rows(&statement.statement.kind) && !self.reply.is_captured() {
            self.plans.push(PlannedStatement {
                text: statement.statement.position.text(statement.program.source()).to_owned(),
                kind: words(&statement.statement.kind).unwrap_or("SELECT"),
                operator: Some(operator),
                row_count: Some(*count),
            });
        }
    }

    /// The DONE of a statement, and the plan by which it was run, which has a DONE of its own.
    pub(super) fn done_with_plan(&mut self, done: Done) -> Result<(), Stop> {
        if done.kind == DoneKind::Procedure {
            return self.reply.done(done);
        }
        let Some(planned) = self.plans.pop() else {
            return self.reply.done(done);
        };
        if done.status & Done::ERROR != 0 {
            return self.reply.done(done);
        }
        self.reply.done(Done {
            status: done.status | Done::MORE,
            ..done
        })?;
        let mut sets = Vec::new();
        if self.state.statistics_profile {
            sets.push(profile(&planned));
        }
        if self.state.statistics_xml {
            sets.push(as_document(&[planned]));
        }
        let count = sets.len();
        for (at, set) in (1..).zip(&sets) {
            let more = if at == count {
                done.status & Done::MORE
            } else {
                Done::MORE
            };
            match self.send_plan(set, done.kind, more) {
                Ok(()) => {}
                Err(Failure::Stop(stop)) => return Err(stop),
                Err(Failure::Error(_)) => return Err(Stop::Gone),
            }
        }
        Ok(())
    }
}

/// A plan is written in fewer than four times the memory that it is kept in.
const WRITTEN_SIZE: usize = 4;

fn as_document(statements: &[PlannedStatement]) -> PlanSet {
    let (column, text) = document(statements);
    PlanSet {
        columns: vec![column],
        rows: vec![vec![Value::Text(Arc::from(text))]],
    }
}

/// The text of a statement, without the statements that it contains.
fn own_text(span: &StatementSpan, next: Option<&StatementSpan>, source: &str) -> String {
    let mut position = span.position;
    if let Some(next) = next {
        position.end = position.end.min(next.position.start);
    }
    position.text(source).trim_end().to_owned()
}

/// SQL Server's words for the kind of a statement.
fn kind_of(program: &Program, steps: &[Step]) -> Result<&'static str, SqlError> {
    let is_query = |step: &Step| matches!(step, Step::Statement { role, .. } if *role != Role::Declare);
    let has_query = steps.iter().any(is_query);
    let with_query = |plain, with| if has_query { with } else { plain };
    let Some(first) = steps.first() else { return Ok("") };
    Ok(match first {
        Step::SetInt(_) | Step::Set(_) => with_query("ASSIGN", "ASSIGN WITH QUERY"),
        Step::BranchInt(_) | Step::Branch(_) => with_query("COND", "COND WITH QUERY"),
        Step::SelectValues(_) | Step::SelectAssign(_) => "SELECT WITHOUT QUERY",
        Step::Jump(_) | Step::Goto { .. } => "GOTO",
        Step::BeginTry => "BEGIN TRY",
        Step::EndTry(_) | Step::EndCatch { .. } => "END TRY",
        Step::Print(_) => "PRINT",
        Step::RaiseError(_) => "RAISERROR",
        Step::Throw(_) | Step::Rethrow => "THROW",
        Step::WaitFor { .. } => "WAITFOR",
        Step::Return(_) | Step::ReturnSlot(_) | Step::End => "RETURN",
        Step::Transaction(_) => "TRANSACTION",
        Step::SetSwitch { .. } | Step::SetOption { .. } => "SET ON/OFF",
        Step::Use(_) => return Err(refused("USE")),
        Step::Call(_) => "EXECUTE PROC",
        Step::Text(..) => "EXECUTE STRING",
        Step::BeginCapture(_) | Step::EndCapture(_) => "INSERT",
        Step::Statement { id, role, .. } => match role {
            Role::Assign => "ASSIGN WITH QUERY",
            Role::Condition { .. } => "COND WITH QUERY",
            Role::Value => "RETURN WITH QUERY",
            Role::Declare => "DECLARE",
            Role::Plain => {
                let statement = program.statement(*id);
                statement
                    .and_then(|statement| words(&statement.kind))
                    .unwrap_or("OTHER")
            }
        },
    })
}
