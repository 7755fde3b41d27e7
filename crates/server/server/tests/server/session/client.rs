//! A client that encrypts nothing.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use selenite_tds::client::{
    ServerMessage, Token, attention, batch, bulk_load, login, new_login, prelogin, rpc, split_message, tokens,
};
use selenite_tds::{
    Collation, Column, Done, DoneKind, Encryption, Headers, Login, PacketSize, Parameter, Password, Prelogin,
    Procedure, ProcedureId, Reset, RpcCall, RpcRequest, TransactionRequest, TransactionStep, TypeInfo,
};
use selenite_types::{DataType, Value, Width};

/// A connection to a server.
pub struct Client {
    pub socket: TcpStream,
    inbound: Vec<u8>,
    size: PacketSize,
    pub login: Answer,
}

/// The tokens of an answer.
#[derive(Debug, PartialEq)]
pub struct Answer(pub Vec<Token>);

impl Client {
    pub fn new(address: SocketAddr, password: &str, size: PacketSize) -> io::Result<Self> {
        let client = Self::of(address, ("sa", password), ("", None), size)?;
        assert_eq!(client.login.errors(), []);
        Ok(client)
    }

    /// A client that may have been refused: its login says so. It may request a database and another password.
    pub fn of(
        address: SocketAddr,
        (user, password): (&str, &str),
        (database, new_password): (&str, Option<&str>),
        size: PacketSize,
    ) -> io::Result<Self> {
        let mut wanted = new_login(user, password);
        wanted.database = database.to_owned();
        wanted.new_password = new_password.map(Password::new);
        wanted.packet_size = size.bytes().into();
        Self::by(address, &wanted, size)
    }

    /// The client of a login.
    pub fn by(address: SocketAddr, wanted: &Login, size: PacketSize) -> io::Result<Self> {
        let socket = TcpStream::connect(address)?;
        socket.set_nodelay(true)?;
        // A server that does not answer is a test that fails, not one that hangs.
        socket.set_read_timeout(Some(Duration::from_secs(60)))?;
        let mut client = Self {
            socket,
            inbound: Vec::new(),
            size: PacketSize::DEFAULT,
            login: Answer(Vec::new()),
        };
        let hello = Prelogin {
            encryption: Encryption::NotSupported,
            ..Prelogin::default()
        };
        client.send(&prelogin(&hello).unwrap())?;
        client.message()?;
        client.send(&login(wanted).unwrap())?;
        client.login = client.answer()?;
        client.size = size;
        Ok(client)
    }

    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.socket.write_all(bytes)
    }

    /// The data of the next message.
    pub fn message(&mut self) -> io::Result<Vec<u8>> {
        let mut room = vec![0; 64 * 1024];
        loop {
            let mut rest = self.inbound.as_slice();
            if let Some(message) = split_message(&mut rest).map_err(io::Error::other)? {
                self.inbound = rest.to_vec();
                return Ok(message);
            }
            match read_some(&mut self.socket, &mut room)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                size => self.inbound.extend_from_slice(&room[..size]),
            }
        }
    }

    /// Waits until the server has sent something.
    pub fn wait_for_data(&self) {
        while let Err(error) = self.socket.peek(&mut [0]) {
            assert_eq!(error.kind(), io::ErrorKind::Interrupted, "{error}");
        }
    }

    pub fn answer(&mut self) -> io::Result<Answer> {
        let message = self.message()?;
        Ok(Answer(tokens(&message).map_err(io::Error::other)?))
    }

    /// Sends a batch.
    pub fn ask(&mut self, text: &str) {
        self.ask_after(text, Reset::None);
    }

    /// Sends a batch that the server may not take.
    pub fn try_ask(&mut self, text: &str) -> io::Result<()> {
        let bytes = batch(&HEADERS, text, self.size, Reset::None).unwrap();
        self.send(&bytes)
    }

    fn ask_after(&mut self, text: &str, reset: Reset) {
        let bytes = batch(&HEADERS, text, self.size, reset).unwrap();
        self.send(&bytes).unwrap();
    }

    /// Runs a batch.
    pub fn batch(&mut self, text: &str) -> Answer {
        self.ask(text);
        self.answer().unwrap()
    }

    /// Runs a batch in a session that is set back.
    pub fn batch_after_reset(&mut self, text: &str) -> Answer {
        self.ask_after(text, Reset::Session);
        self.answer().unwrap()
    }

    /// Announces a bulk load, and sends its rows.
    pub fn bulk(&mut self, announcement: &str, columns: &[(&str, DataType)], rows: &[Vec<Value>]) -> Answer {
        succeed(self, announcement);
        let bytes = bulk(columns, rows, self.size);
        self.send(&bytes).unwrap();
        self.answer().unwrap()
    }

    /// The one value of a batch's one row.
    pub fn value(&mut self, text: &str) -> Value {
        let answer = self.batch(text);
        assert_eq!(answer.errors(), [], "{text}");
        let rows = answer.rows();
        assert_eq!((rows.len(), rows[0].len()), (1, 1), "{text}");
        rows[0][0].clone()
    }

    pub fn text(&mut self, text: &str) -> String {
        match self.value(text) {
            Value::Text(value) => value.to_string(),
            other => panic!("{text}: {other:?}"),
        }
    }

    pub fn int(&mut self, text: &str) -> i32 {
        match self.value(text) {
            Value::Int(value) => value,
            other => panic!("{text}: {other:?}"),
        }
    }

    /// Calls procedures in one message.
    pub fn calls(&mut self, calls: Vec<RpcCall>) -> Answer {
        self.ask_calls(calls);
        self.answer().unwrap()
    }

    /// Sends a call.
    pub fn ask_call(&mut self, procedure: ProcedureId, parameters: Vec<Parameter>) {
        self.ask_calls(vec![call(Procedure::Id(procedure), parameters)]);
    }

    fn ask_calls(&mut self, calls: Vec<RpcCall>) {
        let request = RpcRequest {
            headers: HEADERS,
            calls,
        };
        let bytes = rpc(&request, self.size, Reset::None).unwrap();
        self.send(&bytes).unwrap();
    }

    pub fn call(&mut self, procedure: ProcedureId, parameters: Vec<Parameter>) -> Answer {
        self.calls(vec![call(Procedure::Id(procedure), parameters)])
    }

    pub fn call_by_name(&mut self, name: &str, parameters: Vec<Parameter>) -> Answer {
        self.calls(vec![call(Procedure::Name(name.to_owned()), parameters)])
    }

    pub fn transaction(&mut self, step: TransactionStep) -> Answer {
        let request = TransactionRequest { headers: HEADERS, step };
        let bytes = selenite_tds::client::transaction(&request, Reset::None).unwrap();
        self.send(&bytes).unwrap();
        self.answer().unwrap()
    }

    /// Sends ATTENTION.
    pub fn cancel(&mut self) {
        self.send(&attention().unwrap()).unwrap();
    }

    /// Reads until a DONE answers an ATTENTION.
    pub fn wait_for_attention(&mut self) {
        loop {
            let answer = self.answer().unwrap();
            if answer.dones().last().unwrap().status & Done::ATTENTION != 0 {
                return;
            }
        }
    }
}

impl Answer {
    pub fn dones(&self) -> Vec<Done> {
        let dones = self.0.iter().filter_map(|token| match token {
            Token::Done(done) => Some(*done),
            _ => None,
        });
        dones.collect()
    }

    /// Kind, status and count of each DONE.
    pub fn statuses(&self) -> Vec<(DoneKind, u16, u64)> {
        let dones = self.dones().into_iter();
        dones.map(|done| (done.kind, done.status, done.row_count)).collect()
    }

    pub fn said(&self) -> Vec<&ServerMessage> {
        let said = self.0.iter().filter_map(|token| match token {
            Token::Error(said) | Token::Info(said) => Some(said),
            _ => None,
        });
        said.collect()
    }

    /// Numbers and lines of its errors.
    pub fn errors(&self) -> Vec<(i32, u32)> {
        let errors = self.0.iter().filter_map(|token| match token {
            Token::Error(said) => Some((said.number, said.line)),
            _ => None,
        });
        errors.collect()
    }

    pub fn infos(&self) -> Vec<&str> {
        let infos = self.0.iter().filter_map(|token| match token {
            Token::Info(said) => Some(said.text.as_str()),
            _ => None,
        });
        infos.collect()
    }

    pub fn rows(&self) -> Vec<Vec<Value>> {
        let rows = self.0.iter().filter_map(|token| match token {
            Token::Row(row) => Some(row.clone()),
            _ => None,
        });
        rows.collect()
    }

    /// The kinds of its ENVCHANGEs.
    pub fn changes(&self) -> Vec<u8> {
        let changes = self.0.iter().filter_map(|token| match token {
            Token::EnvChange(change) => Some(change.kind),
            _ => None,
        });
        changes.collect()
    }

    pub fn return_status(&self) -> Option<i32> {
        self.0.iter().find_map(|token| match token {
            Token::ReturnStatus(status) => Some(*status),
            _ => None,
        })
    }

    /// Place, name and value of each RETURNVALUE.
    pub fn outputs(&self) -> Vec<(u16, &str, &Value)> {
        let outputs = self.0.iter().filter_map(|token| match token {
            Token::ReturnValue {
                ordinal, name, value, ..
            } => Some((*ordinal, name.as_str(), value)),
            _ => None,
        });
        outputs.collect()
    }
}

pub fn call(procedure: Procedure, parameters: Vec<Parameter>) -> RpcCall {
    RpcCall {
        procedure,
        with_recompile: false,
        no_metadata: false,
        reuse_metadata: false,
        parameters,
    }
}

pub fn parameter(name: &str, data_type: DataType, value: Value) -> Parameter {
    Parameter {
        name: name.to_owned(),
        is_output: false,
        is_default: false,
        type_info: TypeInfo {
            data_type,
            collation: None,
        },
        value,
        table: None,
    }
}

pub fn output(name: &str, data_type: DataType, value: Value) -> Parameter {
    Parameter {
        is_output: true,
        ..parameter(name, data_type, value)
    }
}

/// A parameter of nvarchar(4000).
pub fn text(value: &str) -> Parameter {
    parameter("", DataType::NVarChar(Width::Limited(4000)), Value::Text(value.into()))
}

pub fn int(name: &str, value: i32) -> Parameter {
    parameter(name, DataType::Int, Value::Int(value))
}

/// A bulk load of nullable columns.
pub fn bulk(columns: &[(&str, DataType)], rows: &[Vec<Value>], size: PacketSize) -> Vec<u8> {
    let column = |(name, data_type): &(&str, DataType)| Column {
        name: (*name).to_owned(),
        data_type: *data_type,
        is_nullable: true,
        is_identity: false,
        is_computed: false,
        collation: Collation::DEFAULT,
    };
    let columns: Vec<Column> = columns.iter().map(column).collect();
    bulk_load(&columns, rows, size).unwrap()
}

pub const HEADERS: Headers = Headers {
    transaction: 0,
    outstanding_count: 1,
    activity: None,
};

/// The rows as a text: values separated by commas, rows by semicolons, NULL a dash.
pub fn shown(answer: &Answer) -> String {
    let value = |value: &Value| match value {
        Value::Null => "-".to_owned(),
        Value::Int(number) => number.to_string(),
        Value::BigInt(number) => number.to_string(),
        Value::Bit(bit) => u8::from(*bit).to_string(),
        Value::Text(text) => text.to_string(),
        other => format!("{other:?}"),
    };
    let row = |row: &Vec<Value>| row.iter().map(value).collect::<Vec<String>>().join(",");
    answer.rows().iter().map(row).collect::<Vec<String>>().join("; ")
}

/// Runs batches, of each of which the first error has its number.
#[track_caller]
pub fn all_fail(client: &mut Client, cases: &[(i32, &str)]) {
    for (number, sql) in cases {
        fails(client, *number, sql);
    }
}

/// Runs a batch whose first error has this number.
#[track_caller]
pub fn fails(client: &mut Client, number: i32, sql: &str) {
    let answer = client.batch(sql);
    assert_eq!(numbers(&answer).first(), Some(&number), "{sql}: {answer:?}");
}

/// The numbers of an answer's errors, in order.
pub fn numbers(answer: &Answer) -> Vec<i32> {
    answer.errors().iter().map(|(number, _)| *number).collect()
}

/// Runs what has to succeed.
#[track_caller]
pub fn succeed(client: &mut Client, sql: &str) -> Answer {
    let answer = client.batch(sql);
    assert_eq!(numbers(&answer), [0_i32; 0], "{sql}: {answer:?}");
    answer
}

/// Reads what there is. A signal for another test of this process may interrupt a read that has a timeout.
pub fn read_some(socket: &mut TcpStream, room: &mut [u8]) -> io::Result<usize> {
    loop {
        match socket.read(room) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}
