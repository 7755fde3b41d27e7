//! A front of a few words, each a batch.
//!
//! - `row`: a row with a number.
//! - `done N`: N tokens DONE.
//! - `endless`: tokens DONE until something interrupts it.
//! - `wait`: nothing until something interrupts it.
//! - `size`: a row with how many bytes the batch had.
//! - `fatal`: ends the session.
//! - `panic`: a fault of the front's own.
//!
//! The logins `dropped`, `replaced` and `disabled` are that after their passwords were found right, as another
//! session may do it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use selenite_server::master::{DatabaseRecord, LoginRecord, NewLogin};
use selenite_server::password::{PasswordCost, PasswordHash};
use selenite_server::{Ended, Front, Instance, Interrupt, Outlet, Session, Wire, WireError};
use selenite_tds::{Collation, Column, Done, DoneKind, Incoming, Notice, Request, RowShape, TdsError, TokenWriter};
use selenite_types::{DataType, Value};

#[derive(Default)]
pub struct TestFront {
    pub served: AtomicUsize,
    pub is_closed: AtomicBool,
}

impl Front for TestFront {
    fn admits(&self, instance: &Instance, login: &LoginRecord, database: &DatabaseRecord) -> bool {
        let (master, name) = (instance.master(), login.name.as_str());
        if ["dropped", "replaced"].contains(&name) {
            master.remove_login(name).unwrap();
        }
        if name == "replaced" {
            let password = PasswordHash::new("another", PasswordCost::LEAST).unwrap();
            let new = NewLogin {
                name,
                sid: None,
                password: &password,
                must_change: false,
                default_database: "master",
            };
            master.add_login(&new).unwrap();
        }
        if name == "disabled" {
            master.set_disabled(name, true).unwrap();
        }
        database.name != "model"
    }

    fn serve(&self, session: Session<'_>) -> Ended {
        assert!(!self.is_closed.load(Ordering::Acquire));
        self.served.fetch_add(1, Ordering::AcqRel);
        session.entry.attach(Arc::new(session.login_info.clone()));
        Talk {
            answers: session.wire.answers(),
            wire: session.wire,
        }
        .run()
    }

    fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
    }
}

struct Talk {
    wire: Wire,
    answers: TokenWriter<Outlet>,
}

impl Talk {
    fn run(mut self) -> Ended {
        loop {
            let ended = match self.wire.receive() {
                Ok(incoming) => self.answer(&incoming),
                Err(WireError::Left) => Err(Ended::Left),
                Err(WireError::Killed | WireError::Stopping) => Err(Ended::Terminated),
                Err(WireError::Peer(_)) => Err(Ended::Refused),
                Err(_) => Err(Ended::Broken),
            };
            if let Err(ended) = ended {
                return ended;
            }
        }
    }

    fn answer(&mut self, incoming: &Incoming) -> Result<(), Ended> {
        let message = match incoming {
            Incoming::Message(message) => message,
            Incoming::Attention => {
                return self.finish(Done::ATTENTION).map_err(|_| Ended::Broken);
            }
            Incoming::BulkLoad(_) | Incoming::Ignored(_) => return self.finish(Done::ERROR).map_err(|_| Ended::Broken),
        };
        let text = match Request::parse(message) {
            Ok(Request::Batch(batch)) => batch.text,
            Ok(_) => "row".to_owned(),
            Err(error) => format!("{error}"),
        };
        let mut words = text.split_whitespace();
        match words.next() {
            Some("row") => self.row(1).map_err(|_| Ended::Broken),
            Some("size") => self.row(text.len()).map_err(|_| Ended::Broken),
            Some("done") => self.done(words.next().unwrap().parse().unwrap()),
            Some("endless") => self.done(u64::MAX),
            Some("wait") => self.wait(),
            Some("fatal") => Err(Ended::Refused),
            Some("panic") => panic!("as it was told to"),
            _ => self.error(&text).map_err(|_| Ended::Broken),
        }
    }

    fn row(&mut self, number: usize) -> Result<(), TdsError> {
        let columns = [Column {
            name: "n".to_owned(),
            data_type: DataType::Int,
            is_nullable: false,
            is_identity: false,
            is_computed: true,
            collation: Collation::DEFAULT,
        }];
        let shape = RowShape::new(&columns)?;
        self.answers.columns(&shape)?;
        self.answers.row(&shape, &[Value::Int(number.try_into().unwrap())])?;
        self.finish(Done::FINAL)
    }

    fn done(&mut self, count: u64) -> Result<(), Ended> {
        let interrupts = self.wire.interrupts();
        for _ in 0..count {
            if let Some(interrupt) = interrupts.poll() {
                return self.interrupted(interrupt);
            }
            self.answers.done(done(Done::MORE)).map_err(|_| Ended::Broken)?;
        }
        self.finish(Done::FINAL).map_err(|_| Ended::Broken)
    }

    fn wait(&mut self) -> Result<(), Ended> {
        let interrupts = self.wire.interrupts();
        loop {
            if let Some(interrupt) = interrupts.poll() {
                return self.interrupted(interrupt);
            }
            std::thread::yield_now();
        }
    }

    fn interrupted(&mut self, interrupt: Interrupt) -> Result<(), Ended> {
        match interrupt {
            Interrupt::Attention => {
                assert!(self.wire.take_attention());
                assert!(!self.wire.take_attention());
                self.finish(Done::ATTENTION).map_err(|_| Ended::Broken)
            }
            Interrupt::TimedOut | Interrupt::Killed | Interrupt::Stopping => Err(Ended::Terminated),
            Interrupt::Gone => Err(Ended::Left),
        }
    }

    fn error(&mut self, text: &str) -> Result<(), TdsError> {
        let notice = Notice {
            number: 50000,
            state: 1,
            severity: 16,
            text,
            server: "test",
            procedure: "",
            line: 1,
        };
        self.answers.error(&notice)?;
        self.finish(Done::ERROR)
    }

    fn finish(&mut self, status: u16) -> Result<(), TdsError> {
        self.answers.done(done(status))?;
        self.answers.packets_mut().finish()
    }
}

fn done(status: u16) -> Done {
    Done {
        kind: DoneKind::Statement,
        status,
        command: 0,
        row_count: 0,
    }
}
