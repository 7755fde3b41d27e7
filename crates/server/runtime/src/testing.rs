//! Test support: a session on SQLite, and an environment without names.

use std::cell::Cell;
use std::sync::Arc;

use selenite_compiler::{CaughtError, Connection, Environment, RandomState, Server, Session as SessionOptions};
use selenite_tsql::ast::{Expr, QueryBody, SelectItem, StatementKind};
use selenite_tsql::{Options, parse};
use selenite_types::{Guid, Moment};

mod database;
mod session;
mod tables;

pub(crate) use session::Session;

/// An environment at a fixed time, in which no names exist.
pub(crate) struct TestEnvironment {
    pub session: SessionOptions,
    pub caught: Option<Arc<CaughtError>>,
    pub now: Moment,
    connection: Connection,
    server: Server,
    random: Cell<RandomState>,
}

impl Default for TestEnvironment {
    fn default() -> Self {
        Self {
            session: SessionOptions::default(),
            caught: None,
            // 2024-02-29 13:14:15.1234567 UTC, in a time zone one hour ahead.
            now: Moment {
                unix_ns: 1_709_212_455_123_456_700,
                offset_minutes: 60,
            },
            connection: connection(),
            server: server(),
            random: Cell::new(RandomState::new(1)),
        }
    }
}

fn connection() -> Connection {
    let word = || Arc::from("x");
    Connection {
        login: word(),
        original_login: word(),
        user: word(),
        host: word(),
        host_id: word(),
        application: word(),
        net_transport: word(),
        protocol_type: word(),
        auth_scheme: word(),
        local_net_address: None,
        local_tcp_port: None,
        client_net_address: None,
    }
}

fn server() -> Server {
    let word = || Arc::from("x");
    Server {
        name: word(),
        service_name: word(),
        machine_name: word(),
        instance_name: None,
        version: Arc::from("Selenite"),
        product_version: [0; 4],
        product_level: word(),
        edition: word(),
        engine_edition: 3,
        process_id: 1,
        data_path: word(),
        connection_count_max: 1,
    }
}

impl Environment for TestEnvironment {
    fn now(&self) -> Moment {
        self.now
    }

    fn session(&self) -> &SessionOptions {
        &self.session
    }

    fn connection(&self) -> &Connection {
        &self.connection
    }

    fn server(&self) -> &Server {
        &self.server
    }

    fn caught(&self) -> Option<&CaughtError> {
        self.caught.as_deref()
    }

    fn random(&self) -> &Cell<RandomState> {
        &self.random
    }

    fn random_bytes(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }

    fn new_guid(&self) -> Guid {
        Guid([7; 16])
    }
}

/// The tree of an expression.
pub(crate) fn expr_of(text: &str) -> Expr {
    let tree = parse(&format!("SELECT {text}"), Options::default()).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    let Some(StatementKind::Select(select)) = tree.statements.into_iter().next().map(|statement| statement.kind) else {
        panic!("{text} is no SELECT")
    };
    let QueryBody::Select(select) = select.query.body else {
        panic!("{text} is combined")
    };
    match select.items.into_iter().next() {
        Some(SelectItem::Value { value, alias: None }) => value,
        other => panic!("{text} is no expression: {other:?}"),
    }
}
