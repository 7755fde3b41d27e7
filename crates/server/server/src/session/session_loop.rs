//! One session from its login to its end.

use std::sync::Arc;

use selenite_compiler::program::Program;
use selenite_compiler::{Ends, SqlError};
use selenite_runtime::machine::{self, CallArgument, Entry, Machine, Request as Run, TransactionStep};
use selenite_tds::{
    BulkPiece, Done, DoneKind, EnvChange, Feature, Incoming, Isolation, Message, Request, Reset, TdsError,
    TransactionRequest, TransactionStep as Asked,
};
use selenite_tsql::ast::IsolationLevel;

use super::SharedState;
use super::facts::new_state;
use super::host::SessionHost;
use super::plans;
use super::rpc::{Prepared, answer_call};
use super::statistics::Stopwatch;
use crate::bulk_load::{BulkFeed, BulkStream};
use crate::database::database_registry::DatabaseRegistry;
use crate::execution::session_executor::SessionExecutor;
use crate::execution_context::SessionInfo;
use crate::registry::own;
use crate::reply::Reply;
use crate::session_state::SessionState;
use crate::{Ended, Session, Wire, WireError, memory};

/// A session that runs.
pub(super) struct SessionLoop<'a> {
    wire: &'a mut Wire,
    machine: Machine,
    host: SessionHost<'a>,
    prepared: Prepared,
    /// What the state was after the login, for RESETCONNECTION.
    first_state: SessionState,
}

/// How a request ended, if the session ends with it.
type Served = Result<(), Ended>;

impl<'a> SessionLoop<'a> {
    /// Serves a session to its end.
    pub fn serve(session: Session<'_>, databases: &DatabaseRegistry, shared: &SharedState) -> Ended {
        let Session {
            instance,
            login_info,
            mut wire,
            entry,
        } = session;
        let interrupts = wire.interrupts();
        let reads_utf8 = login_info.features.iter().any(|feature| feature.id == Feature::UTF8);
        let mut reply = Reply::new(
            wire.answers(),
            interrupts.clone(),
            instance.name(),
            instance.log(),
            reads_utf8,
        );
        let state = new_state(instance, &login_info, &entry, shared.clock.now());
        reply.set_text_size(state.session.text_size);
        let opened = SessionExecutor::open(
            databases,
            SessionInfo {
                instance,
                login_info: &login_info,
                entry: &entry,
                interrupts,
            },
        );
        let executor = match opened {
            Ok(executor) => executor,
            Err(error) => {
                send_error(&mut reply, &error);
                return reply.ended().unwrap_or(Ended::Refused);
            }
        };
        let mut visit = SessionLoop {
            wire: &mut wire,
            machine: Machine::new(),
            first_state: state.clone(),
            host: SessionHost {
                shared,
                state,
                reply,
                executor,
                limits: instance.config().limits,
                stopwatch: None,
                transaction: 0,
                swallows_done: false,
                suppresses_env_change: false,
                handle: None,
                cursor_outputs: None,
                batch_text: None,
                announced: None,
                bulk: None,
                plans: Vec::new(),
            },
            prepared: Prepared::new(memory::kept_max(&instance.config().limits)),
        };
        loop {
            if let Err(ended) = visit.serve_one() {
                return ended;
            }
        }
    }

    fn serve_one(&mut self) -> Served {
        own::note_state(|| self.host.context());
        let kept = self.prepared.size().saturating_add(self.host.executor.kept_memory());
        memory::begin_request(&self.host.limits, kept);
        let message = match self.wire.receive() {
            Ok(Incoming::Message(message)) => message,
            Ok(Incoming::BulkLoad(piece)) => return self.bulk_load(piece),
            Ok(Incoming::Attention) => return self.answer_attention(),
            Ok(Incoming::Ignored(_)) => {
                let done = self.host.reply.bare_done(DoneKind::Statement, Done::ERROR);
                return self.finished(done);
            }
            Err(error) => return Err(self.broken(&error)),
        };
        self.host.reply.begin_request();
        self.host.announced = None;
        self.host.plans.clear();
        self.reset(message.reset())?;
        match Request::parse(&message) {
            Ok(Request::Batch(batch)) => self.batch(&batch.text),
            Ok(Request::Rpc(request)) => {
                let last = request.calls.len().saturating_sub(1);
                for (index, call) in request.calls.iter().enumerate() {
                    let SessionLoop {
                        machine,
                        host,
                        prepared,
                        ..
                    } = self;
                    let ended = answer_call(machine, host, prepared, call, index < last);
                    self.host.handle = None;
                    if ended != machine::Ended::Finished {
                        return self.ended(ended);
                    }
                }
                self.ended(machine::Ended::Finished)
            }
            Ok(Request::Transaction(request)) => self.transaction(&request),
            Err(error) => self.misunderstood(&error, &message),
        }
    }

    fn batch(&mut self, text: &str) -> Served {
        if let Some(stopwatch) = &mut self.host.stopwatch {
            *stopwatch = Stopwatch::start();
        }
        let compiled = self.host.batch_program(text);
        if let Some(mut stopwatch) = self.host.stopwatch.take() {
            let told = stopwatch.send_compiled(&mut self.host.reply);
            self.host.stopwatch = Some(stopwatch);
            if told.is_err() {
                return self.ended(machine::Ended::Gone);
            }
        }
        let ended = match compiled {
            Ok((program, arguments)) => self.run_batch(program, arguments),
            Err(errors) => {
                // A text that takes long to read may have been given up.
                match machine::Host::poll(&mut self.host) {
                    Ok(()) => {}
                    Err(machine::Stop::Attention) => return self.ended(machine::Ended::Attention),
                    Err(machine::Stop::Gone) => return self.ended(machine::Ended::Gone),
                }
                // Nothing ran: there are no execution times to report.
                let stopwatch = self.host.stopwatch.take();
                let ended = self.machine.refuse(&errors, Entry::Batch, &mut self.host);
                self.host.stopwatch = stopwatch;
                ended
            }
        };
        self.ended(ended)
    }

    fn run_batch(&mut self, program: Arc<Program>, arguments: Vec<CallArgument>) -> machine::Ended {
        if self.host.explains(&program) {
            return plans::answer(&mut self.machine, &mut self.host, &program, Entry::Batch);
        }
        let run = Run {
            program,
            arguments,
            entry: Entry::Batch,
        };
        self.machine.run(run, &mut self.host)
    }

    /// The rows of the INSERT BULK of the last request. What remains of them after an error is skipped: most clients
    /// read no answer before they have sent all.
    fn bulk_load(&mut self, first: BulkPiece) -> Served {
        self.host.reply.begin_request();
        let row_size_max = usize::try_from(self.host.limits.message_size_max).unwrap_or(usize::MAX);
        let stream = BulkStream::new(self.wire.inlet(), first, row_size_max);
        self.host.bulk = Some(BulkFeed::Stream(stream));
        let program = match self.host.announced.take() {
            Some(text) => self.host.program(&text, ""),
            None => Err(vec![unannounced()]),
        };
        let ended = match program {
            Ok(program) => self.run_batch(program, Vec::new()),
            Err(errors) => self.machine.refuse(&errors, Entry::Batch, &mut self.host),
        };
        let Some(BulkFeed::Stream(mut stream)) = self.host.bulk.take() else {
            return self.ended(ended);
        };
        // ATTENTION within a message ends the message.
        let is_abandoned = |wire: &mut Wire, stream: &BulkStream| !stream.is_read() && wire.take_attention();
        match ended {
            machine::Ended::Gone => {}
            machine::Ended::Attention if is_abandoned(self.wire, &stream) => return self.answer_attention(),
            machine::Ended::Attention | machine::Ended::Finished | machine::Ended::Connection => {
                stream.skip_rest();
                if is_abandoned(self.wire, &stream) {
                    return self.answer_attention();
                }
                if !stream.is_read() {
                    let _ = machine::Host::poll(&mut self.host);
                    return Err(self.host.reply.ended().unwrap_or(Ended::Broken));
                }
            }
        }
        self.ended(ended)
    }

    /// A request to the manager of transactions: one step, or two that are answered as one.
    fn transaction(&mut self, request: &TransactionRequest) -> Served {
        let (step, next) = match &request.step {
            Asked::Begin { isolation, name } => {
                self.isolate(*isolation);
                (TransactionStep::Begin { name }, None)
            }
            Asked::Commit { next, .. } => (
                TransactionStep::Commit {
                    delayed_durability: None,
                },
                next.as_ref(),
            ),
            Asked::Rollback { name, next } if name.is_empty() => (TransactionStep::Rollback, next.as_ref()),
            Asked::Rollback { name, next } => (TransactionStep::RollbackTo { name }, next.as_ref()),
            Asked::Save { name } => (TransactionStep::Save { name }, None),
        };
        self.host.swallows_done = next.is_some();
        let mut ended = self.machine.transact(step, &mut self.host);
        self.host.swallows_done = false;
        if let Some((isolation, name)) = next
            && ended == machine::Ended::Finished
            && self.host.state.session.error == 0
        {
            self.isolate(*isolation);
            ended = self.machine.transact(TransactionStep::Begin { name }, &mut self.host);
        }
        self.ended(ended)
    }

    fn isolate(&mut self, isolation: Isolation) {
        self.host.state.isolation = match isolation {
            Isolation::Unchanged => return,
            Isolation::ReadUncommitted => IsolationLevel::ReadUncommitted,
            Isolation::ReadCommitted => IsolationLevel::ReadCommitted,
            Isolation::RepeatableRead => IsolationLevel::RepeatableRead,
            Isolation::Serializable => IsolationLevel::Serializable,
            Isolation::Snapshot => IsolationLevel::Snapshot,
        };
    }

    /// RESETCONNECTION, before its request: the session is as after the login (MS-TDS 2.2.3.1.2).
    fn reset(&mut self, reset: Reset) -> Served {
        match reset {
            Reset::None => return Ok(()),
            Reset::SessionKeepingTransaction if self.host.state.session.transaction_count > 0 => {
                let error = SqlError::unsupported("RESETCONNECTIONSKIPTRAN within a transaction");
                send_error(&mut self.host.reply, &error);
                return Err(self.host.reply.ended().unwrap_or(Ended::Refused));
            }
            Reset::Session | Reset::SessionKeepingTransaction => {}
        }
        if reset_session(&mut self.machine, &mut self.host, &self.first_state, &mut self.prepared).is_err() {
            return Err(self.host.reply.ended().unwrap_or(Ended::Broken));
        }
        let told = self.host.reply.env_change(&EnvChange::ResetAcknowledged);
        told.map_err(|_| self.host.reply.ended().unwrap_or(Ended::Broken))
    }

    /// A message whose bytes are wrong.
    fn misunderstood(&mut self, error: &TdsError, message: &Message) -> Served {
        let Some(complaint) = error.complaint() else {
            return Err(Ended::Refused);
        };
        let error = SqlError::new(complaint.number, Ends::Batch, complaint.text).with_severity(complaint.severity);
        let is_rpc = message.kind() == selenite_tds::MessageKind::Rpc;
        let entry = if is_rpc { CALL } else { Entry::Batch };
        let ended = self.machine.refuse(&[error], entry, &mut self.host);
        self.ended(ended)
    }

    fn answer_attention(&mut self) -> Served {
        let done = self.host.reply.bare_done(DoneKind::Statement, Done::ATTENTION);
        self.finished(done)
    }

    /// The end of a request.
    fn ended(&mut self, ended: machine::Ended) -> Served {
        let is_timeout = self.wire.take_timeout();
        let done = match ended {
            machine::Ended::Finished => Ok(()),
            machine::Ended::Attention if is_timeout => {
                send_error(&mut self.host.reply, &statement_timeout());
                return match self.host.reply.ended() {
                    None => Ok(()),
                    Some(ended) => Err(ended),
                };
            }
            machine::Ended::Attention => {
                // Noted by what stopped the machine; a second one arrives with the next message.
                let _ = self.wire.take_attention();
                self.cut_short()
            }
            machine::Ended::Gone => return Err(self.host.reply.ended().unwrap_or(Ended::Broken)),
            machine::Ended::Connection => {
                let _ = self.host.reply.finish();
                return Err(Ended::Refused);
            }
        };
        self.finished(done)
    }

    /// Answers a request that an ATTENTION has ended: by what was sent so far, and by a message of its own for the
    /// ATTENTION.
    ///
    /// SQL Server sends two. Most clients read tokens until one has the bit, but tedious waits for the second message.
    fn cut_short(&mut self) -> Result<(), machine::Stop> {
        let reply = &mut self.host.reply;
        reply.bare_done(DoneKind::Statement, Done::FINAL)?;
        reply.finish()?;
        reply.bare_done(DoneKind::Statement, Done::ATTENTION)
    }

    fn finished(&mut self, done: Result<(), machine::Stop>) -> Served {
        let done = done.and_then(|()| self.host.reply.finish());
        done.map_err(|_| self.host.reply.ended().unwrap_or(Ended::Broken))
    }

    fn broken(&mut self, error: &WireError) -> Ended {
        match error {
            WireError::Left => Ended::Left,
            WireError::Killed | WireError::Stopping => Ended::Terminated,
            WireError::Peer(error) => {
                if let Some(complaint) = error.complaint() {
                    let error = SqlError::new(complaint.number, Ends::Connection, complaint.text);
                    send_error(&mut self.host.reply, &error.with_severity(complaint.severity));
                }
                Ended::Refused
            }
            WireError::NoMemory => {
                send_error(&mut self.host.reply, &SqlError::out_of_memory());
                Ended::Refused
            }
            WireError::Cut | WireError::Tls(_) | WireError::Io(_) => Ended::Broken,
        }
    }
}

/// The session as after its login.
///
/// # Errors
/// The client is gone, or the executor can't continue: that was reported.
pub(crate) fn reset_session(
    machine: &mut Machine,
    host: &mut SessionHost<'_>,
    first: &SessionState,
    prepared: &mut Prepared,
) -> Result<(), machine::Stop> {
    machine.reset(host)?;
    let now = host.state.now;
    host.state = SessionState {
        now,
        random: host.state.random.clone(),
        ..first.clone()
    };
    host.stopwatch = None;
    host.reply.set_text_size(host.state.session.text_size);
    prepared.clear();
    match host.executor.reset() {
        Ok(database) => {
            host.state.database = database;
            Ok(())
        }
        Err(machine::Failure::Stop(stop)) => Err(stop),
        Err(machine::Failure::Error(error)) => {
            send_error(&mut host.reply, &error);
            Err(machine::Stop::Gone)
        }
    }
}

/// Sends the error that ends the session. If it can't be sent, nothing more is.
fn send_error(reply: &mut Reply, error: &SqlError) {
    let told = reply.message(&machine::Message {
        number: error.number(),
        severity: error.severity(),
        state: error.state(),
        line: error.line(),
        procedure: "",
        text: error.text(),
        to_log: false,
    });
    let told = told.and_then(|()| reply.bare_done(DoneKind::Statement, Done::ERROR));
    let _ = told.and_then(|()| reply.finish());
}

/// 4002: rows that no INSERT BULK has announced.
fn unannounced() -> SqlError {
    let error = TdsError::Malformed {
        part: selenite_tds::MessagePart::BulkLoad,
        what: "rows without INSERT BULK",
    };
    crate::bulk_load::stream_error(&error).with_ends(Ends::Batch)
}

/// 8649: the error of SQL Server's query governor.
fn statement_timeout() -> SqlError {
    let text = "The query has been canceled because it ran for longer than the configured threshold. Contact the system \
        administrator.";
    SqlError::new(8649, Ends::Batch, text).with_severity(17)
}

/// How a call that is not understood is answered.
const CALL: Entry = Entry::Call {
    first_ordinal: 0,
    more: false,
};
