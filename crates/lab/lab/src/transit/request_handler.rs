//! Requests of the lab on a server.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::PathBuf;

use selenite_worker::WorkerError;
use selenite_worker::conversation::{Answered, RequestHandler, check_protocol};
use selenite_worker::dataset::marker;
use selenite_worker::meter::process::ProcessMeter;
use selenite_worker::protocol::{
    DatabaseSpec, Dataset, Digest, Done, Hello, Loaded, OpenedDatabase, PROTOCOL, Request, Sample, Workload,
};
use selenite_worker::work::Controls;
use sha2::{Digest as _, Sha256};

use super::mode::{CIPHERS, Mode};
use super::peer::{ConnectOptions, Peer};
use super::server_process::{ServerProcess, certificate};
use crate::config::hex;

/// The request handler of the worker.
pub struct Transit {
    program: PathBuf,
    /// The password of `sa` for each server folder that this process created.
    passwords: BTreeMap<PathBuf, String>,
    /// Folders that have been checked. A folder of an earlier process cannot be used, because its
    /// password is lost, and is removed.
    own: BTreeSet<PathBuf>,
    open: Option<Open>,
}

/// A running server.
struct Open {
    server: ServerProcess,
    folder: PathBuf,
    mode: Mode,
}

impl RequestHandler for Transit {
    fn answer(&mut self, request: &Request, _: &Controls) -> Result<Answered, WorkerError> {
        match request {
            Request::Hello { protocol } => {
                check_protocol(*protocol)?;
                Answered::of(&hello())
            }
            Request::Load { database, dataset, .. } => Answered::of(&self.load(database, dataset)?),
            Request::Open { database } => Answered::of(&self.open(database)?),
            Request::Close => {
                self.close()?;
                Answered::of(&Done {})
            }
            Request::Digest => {
                let recorded = self.recorded()?;
                Answered::of(&Digest {
                    digest: recorded.digest,
                    rows: recorded.rows,
                })
            }
            Request::Run { work, process, .. } => match work {
                Workload::Messages { turns, packet_size } if process.count == 1 => {
                    Answered::of(&self.messages(*turns, *packet_size)?)
                }
                Workload::Messages { .. } => Err(WorkerError::Refused("one process reads from one server".to_owned())),
                other @ (Workload::Like { .. }
                | Workload::Equal { .. }
                | Workload::Insert { .. }
                | Workload::UpdateAll
                | Workload::SelectAll
                | Workload::Backup
                | Workload::Hummer { .. }
                | Workload::Convert { .. }
                | Workload::Rekey
                | Workload::Archive { .. }
                | Workload::IntegrityCheck
                | Workload::QuickCheck
                | Workload::PhysicalVerify
                | Workload::Readers { .. }
                | Workload::Open { .. }) => Err(WorkerError::Refused(format!("a server does no such work: {other:?}"))),
            },
            Request::Cipher { cipher } => Err(WorkerError::Refused(format!(
                "this engine can't tell how long {cipher} takes"
            ))),
            Request::Control(_) => Answered::of(&Done {}),
            Request::Quit => Ok(Answered::Quit),
        }
    }

    fn close(&mut self) -> Result<(), WorkerError> {
        match self.open.take() {
            Some(open) => open.server.stop().map_err(said("stop the server")),
            None => Ok(()),
        }
    }

    fn abandon(&mut self) {
        self.open = None;
    }
}

/// The recorded traffic, and the client's results.
struct Recorded {
    traffic: Vec<u8>,
    digest: String,
    rows: u64,
}

impl Transit {
    /// A handler for the program whose `serve` is measured.
    pub fn new(program: PathBuf) -> Self {
        Self {
            program,
            passwords: BTreeMap::new(),
            own: BTreeSet::new(),
            open: None,
        }
    }

    /// Records the traffic as an eavesdropper sees it (database-is-the-traffic).
    fn load(&mut self, at: &DatabaseSpec, dataset: &Dataset) -> Result<Loaded, WorkerError> {
        match dataset {
            Dataset::Wire => {}
            Dataset::Scan { .. } | Dataset::Statements { .. } | Dataset::Cards { .. } => {
                return Err(WorkerError::Refused("a server's data is of kind wire".to_owned()));
            }
        }
        self.start(at)?;
        let recorded = self.recorded();
        self.close()?;
        let recorded = recorded?;
        fs::write(&at.path, &recorded.traffic).map_err(WorkerError::io("write", &at.path))?;
        Ok(Loaded {
            digest: recorded.digest,
            rows: recorded.rows,
            marker: marker(dataset).to_owned(),
        })
    }

    fn recorded(&mut self) -> Result<Recorded, WorkerError> {
        let mode = self.running()?.mode;
        let mut peer = self.connect(PACKET_SIZE, true)?;
        // In mode `Optional` only the login is secret: everything after it is unencrypted by design.
        let login = if mode == Mode::Optional {
            peer.recorded()
        } else {
            Vec::new()
        };
        let answer = peer.answer(RECORDED).map_err(said("run what is recorded"))?;
        let traffic = if mode == Mode::Optional { login } else { peer.recorded() };
        Ok(Recorded {
            traffic,
            digest: hex(&Sha256::digest(&answer)),
            rows: RECORDED_TURNS,
        })
    }

    fn open(&mut self, at: &DatabaseSpec) -> Result<OpenedDatabase, WorkerError> {
        self.start(at)?;
        let mode = self.running()?.mode;
        let peer = self.connect(PACKET_SIZE, false)?;
        let mut status = BTreeMap::from([("encrypted in transit".to_owned(), mode.says().to_owned())]);
        if let Some((version, suite)) = peer.agreed() {
            status.insert("TLS".to_owned(), version.clone());
            status.insert("cipher suite".to_owned(), suite.clone());
        }
        Ok(OpenedDatabase {
            status,
            encrypted: peer.agreed().is_some(),
            pages: 0,
            layout: BTreeMap::new(),
            encrypted_files: BTreeMap::new(),
        })
    }

    /// Starts the server in the folder of a recording, in the arm's mode.
    fn start(&mut self, at: &DatabaseSpec) -> Result<(), WorkerError> {
        self.close()?;
        if let Some(name) = at.settings.keys().next() {
            return Err(WorkerError::Refused(format!("there is no setting {name}")));
        }
        let mode =
            Mode::of(&at.cipher).ok_or_else(|| WorkerError::Refused(format!("there is no mode {}", at.cipher)))?;
        let folder = at.path.with_extension("server");
        if self.own.insert(folder.clone()) && folder.exists() {
            // Its password is lost.
            fs::remove_dir_all(&folder).map_err(WorkerError::io("remove", &folder))?;
        }
        let server =
            ServerProcess::start(&self.program, &folder, &at.key_file, mode).map_err(said("start the server"))?;
        if let Some(password) = server.password() {
            self.passwords.insert(folder.clone(), password.to_owned());
        }
        self.open = Some(Open { server, folder, mode });
        Ok(())
    }

    fn running(&self) -> Result<&Open, WorkerError> {
        self.open
            .as_ref()
            .ok_or_else(|| WorkerError::Refused("no server runs: open one first".to_owned()))
    }

    fn connect(&self, packet_size: u16, is_watched: bool) -> Result<Peer, WorkerError> {
        let open = self.running()?;
        let options = ConnectOptions {
            address: open.server.address(),
            mode: open.mode,
            certificate: &certificate(&open.folder),
            password: self.passwords.get(&open.folder).map_or("", String::as_str),
            packet_size,
            is_watched,
        };
        Peer::connect(&options).map_err(said("log in"))
    }

    /// Enforces `server-process-is-measured`.
    fn messages(&mut self, turns: u64, packet_size: u16) -> Result<Sample, WorkerError> {
        let mut peer = self.connect(packet_size, false)?;
        // Before the measurement: the session's program is compiled, and its thread has run.
        peer.run(&text(1)).map_err(said("run the loop"))?;
        let (sent, received) = peer.traffic();
        let meter = ProcessMeter::start(self.running()?.server.pid())?;
        let tally = peer.run(&text(turns)).map_err(said("run the loop"))?;
        let mut sample = meter.stop()?;
        if !tally.is_whole() || tally.done_count != turns.saturating_mul(2) + ONCE {
            let what = format!("{} tokens DONE of {turns} turns", tally.done_count);
            return Err(WorkerError::Wrong(what));
        }
        let traffic = peer.traffic();
        sample.read_chars = traffic.0 - sent;
        sample.write_chars = traffic.1 - received;
        sample.pages_written = tally.packet_count;
        sample.operations = turns;
        sample.answer = format!("{} DONE", tally.done_count);
        Ok(sample)
    }
}

fn hello() -> Hello {
    Hello {
        protocol: PROTOCOL,
        engine: crate::config::arm::TRANSIT.to_owned(),
        library: format!("selenite serve {}", env!("CARGO_PKG_VERSION")),
        sqlite_version: rusqlite::version().to_owned(),
        sqlite_source_id: String::new(),
        ciphers: CIPHERS.map(str::to_owned).to_vec(),
        without_aes: BTreeMap::new(),
        server: false,
        works: Vec::new(),
        limits: Vec::new(),
    }
}

/// The loop of the context switches article with `turns` iterations.
fn text(turns: u64) -> String {
    format!("DECLARE @cnt int = 0; BEGIN WHILE @cnt < {turns} BEGIN SET @cnt = @cnt + 1; END; END")
}

fn said(doing: &'static str) -> impl Fn(io::Error) -> WorkerError {
    move |error| WorkerError::Engine(format!("could not {doing}: {error}"))
}

/// Tokens outside of the loop: those of DECLARE and of the WHILE whose condition is false.
const ONCE: u64 = 2;
/// SQL Server's own default.
const PACKET_SIZE: u16 = 4096;
/// Contains the marker, and has an answer long enough for a test of randomness.
const RECORDED: &str =
    "SELECT N'SQLSHACK' AS a; DECLARE @cnt int = 0; WHILE @cnt < 20000 BEGIN SET @cnt = @cnt + 1; END";
const RECORDED_TURNS: u64 = 20_000;
