//! The conformance check of a worker: every request, every kind of work, every cipher, compared
//! with SQLite in this process.
//!
//! - compared-with-reference: a worker's answers are compared with this crate's own answers to the
//!   same requests.
//! - encryption-is-checked: whether the file is encrypted is checked on its bytes, not taken from
//!   the worker's answer.
//! - no-key-without-encryption: for a cipher that a worker itself does not report as encryption, no
//!   change of key is checked.

mod client;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::conversation::RequestHandler;
use crate::conversation::session::{Answered, Session};
use crate::protocol::{
    Control, DatabaseSpec, Dataset, Digest, Hello, Hummer, Loaded, OpenedDatabase, PLAIN, PROTOCOL, Request, Sample,
    Share, Workload,
};
use crate::stock::{Stock, spec};

use client::{ContractClient, ContractViolation};

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was checked, for example `AES_256: backup`.
    pub name: String,
    /// Whether the check passed.
    pub passed: bool,
    /// The reason of a failure, or a detail; empty if there is none.
    pub detail: String,
}

/// Runs all checks of a worker. `start` makes the command that starts it; `folder` is for files,
/// some MiB, which are deleted afterwards.
pub fn check(start: &dyn Fn() -> Command, folder: &Path) -> Vec<Finding> {
    let mut contract = Contract {
        start,
        folder: folder.join(format!("contract-{}", std::process::id())),
        findings: Vec::new(),
    };
    if let Err(ContractViolation(what)) = contract.all() {
        contract.note("conversation", Err(what));
    }
    if contract.folder.exists() {
        let removed = fs::remove_dir_all(&contract.folder).map_err(|error| error.to_string());
        if removed.is_err() {
            contract.note("files are removed", removed);
        }
    }
    contract.findings
}

struct Contract<'a> {
    start: &'a dyn Fn() -> Command,
    folder: PathBuf,
    findings: Vec<Finding>,
}

impl Contract<'_> {
    fn all(&mut self) -> Result<(), ContractViolation> {
        fs::create_dir_all(&self.folder)
            .and_then(|()| fs::write(self.path("key"), [0x5e; 32]))
            .and_then(|()| fs::write(self.path("other-key"), [0x5f; 32]))
            .map_err(|error| ContractViolation(format!("no files could be made: {error}")))?;
        let mut worker = ContractClient::start(&mut (self.start)())?;
        let said = worker.request(&Request::Hello { protocol: PROTOCOL })?;
        let hello: Hello = match parsed(said) {
            Ok(hello) => hello,
            Err(what) => {
                self.note("hello", Err(what));
                return Ok(());
            }
        };
        self.note("hello", same("protocol", &hello.protocol, &PROTOCOL));
        self.errors(&mut worker)?;
        for cipher in [PLAIN.to_owned()].iter().chain(&hello.ciphers) {
            for (name, dataset, works) in parts() {
                self.dataset(&mut worker, cipher, name, &dataset, &works)?;
            }
            self.control(&mut worker, cipher)?;
            if cipher != PLAIN {
                self.wrong_key(&mut worker, cipher)?;
            }
        }
        worker.request(&Request::Close)?.map_err(ContractViolation)?;
        let ended = worker.end().map_err(|ContractViolation(what)| what);
        self.note("the end of the input ends it", ended);
        let mut worker = ContractClient::start(&mut (self.start)())?;
        worker.send_line(r#"{"do":"quit"}"#)?;
        let ended = worker.end().map_err(|ContractViolation(what)| what);
        self.note("quit ends it", ended);
        Ok(())
    }

    /// A request that cannot be carried out is answered with an error, and the worker continues.
    fn errors(&mut self, worker: &mut ContractClient) -> Result<(), ContractViolation> {
        let missing = self.spec(PLAIN, "missing");
        let cases = [
            ("no JSON is an error", "rubbish".to_owned()),
            ("an unknown request is an error", r#"{"do":"dance"}"#.to_owned()),
            (
                "another protocol is an error",
                line(&Request::Hello { protocol: PROTOCOL + 1 }),
            ),
            ("run without open is an error", line(&run(Workload::SelectAll))),
            ("digest without open is an error", line(&Request::Digest)),
            ("a missing file is an error", line(&Request::Open { database: missing })),
            (
                "an unknown cipher is an error",
                line(&Request::Cipher {
                    cipher: "no such cipher".to_owned(),
                }),
            ),
        ];
        for (name, said) in cases {
            worker.send_line(&said)?;
            let refused = match worker.receive()? {
                Ok(value) => Err(format!("it answered {value}")),
                Err(_) => Ok(()),
            };
            self.note(name, refused);
        }
        Ok(())
    }

    /// Loads, opens and works, and compares the answers with SQLite's in this process.
    fn dataset(
        &mut self,
        worker: &mut ContractClient,
        cipher: &str,
        name: &str,
        dataset: &Dataset,
        works: &[Workload],
    ) -> Result<(), ContractViolation> {
        let database = self.spec(cipher, &format!("{name}-worker"));
        let twin = spec(&self.path(&format!("{name}-{cipher}-reference.db")));
        let mut reference = Session::new(&Stock);
        let about = |what: &str| format!("{cipher}: {name}: {what}");
        let load = |database: &DatabaseSpec| Request::Load {
            database: database.clone(),
            dataset: dataset.clone(),
            seed: SEED,
            rows: None,
        };
        let given: Result<Loaded, String> = parsed(worker.request(&load(&database))?);
        let expected: Loaded = expected(&mut reference, &load(&twin))?;
        let loaded = given.and_then(|given| same("what was loaded", &given, &expected));
        let is_loaded = loaded.is_ok();
        self.note(&about("load"), loaded);
        if !database.path.exists() {
            return Ok(());
        }
        self.note(&about("load leaves one file"), one_file(&database.path));
        let opened: Result<OpenedDatabase, String> = parsed(worker.request(&Request::Open {
            database: database.clone(),
        })?);
        let encrypted = opened.as_ref().is_ok_and(|opened| opened.encrypted);
        let proof = opened.and_then(|opened| proved(&opened, &database, &expected.marker));
        let is_open = proof.is_ok();
        self.note(&about("open, and what the file holds"), proof);
        if !is_loaded || !is_open {
            return Ok(());
        }
        ask(&mut reference, &Request::Open { database: twin })?;
        for work in works {
            let given: Result<Sample, String> = parsed(worker.request(&run(work.clone()))?);
            let expected: Sample = self::expected(&mut reference, &run(work.clone()))?;
            let has_no_key = *work == Workload::Rekey && cipher != PLAIN && !encrypted;
            let worked = match (given, has_no_key) {
                (Ok(_), true) => Err("it changed a key that there is not".to_owned()),
                (Err(_), true) => Ok(()),
                (given, false) => given.and_then(|given| same_work(&given, &expected)),
            };
            self.note(&about(&word(work)), worked);
        }
        let given: Result<Digest, String> = parsed(worker.request(&Request::Digest)?);
        let expected: Digest = self::expected(&mut reference, &Request::Digest)?;
        let digest = given.and_then(|given| same("the digest", &given, &expected));
        self.note(&about("the rows after all work"), digest);
        Ok(())
    }

    /// A control reaches work in progress: without it, this work would take an hour.
    fn control(&mut self, worker: &mut ContractClient, cipher: &str) -> Result<(), ContractViolation> {
        let database = self.spec(cipher, "cards-worker");
        let opened: Result<OpenedDatabase, String> = parsed(worker.request(&Request::Open { database })?);
        let name = format!("{cipher}: control ends work under way");
        if let Err(what) = opened {
            self.note(&name, Err(what));
            return Ok(());
        }
        worker.send_line(&line(&run(Workload::Hummer {
            hummer: Hummer {
                mix: [10, 0, 0],
                loops: 1_000_000,
                pause_every: 1,
                pause_ms: 3_600_000,
            },
        })))?;
        worker.send_line(&line(&Request::Control(Control {
            stop: true,
            mix: Some([8, 1, 1]),
        })))?;
        let sample: Result<Sample, String> = parsed(worker.receive()?);
        let controlled = sample.and_then(|sample| {
            same("altered", &sample.altered, &true).and_then(|()| {
                let few = sample.operations < 1_000_000;
                few.then_some(()).ok_or_else(|| "it went on to its end".to_owned())
            })
        });
        self.note(&name, controlled);
        Ok(())
    }

    fn wrong_key(&mut self, worker: &mut ContractClient, cipher: &str) -> Result<(), ContractViolation> {
        let mut database = self.spec(cipher, "cards-worker");
        database.key_file = self.path("other-key");
        let refused = match worker.request(&Request::Open { database })? {
            Ok(_) => Err("it opened the database".to_owned()),
            Err(_) => Ok(()),
        };
        self.note(&format!("{cipher}: another key does not open it"), refused);
        Ok(())
    }

    fn spec(&self, cipher: &str, name: &str) -> DatabaseSpec {
        DatabaseSpec {
            cipher: cipher.to_owned(),
            key_file: self.path("key"),
            ..spec(&self.path(&format!("{name}-{cipher}.db")))
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn note(&mut self, name: &str, result: Result<(), String>) {
        self.findings.push(Finding {
            name: name.to_owned(),
            passed: result.is_ok(),
            detail: result.err().unwrap_or_default(),
        });
    }
}

/// Small datasets, and the work for each.
fn parts() -> [(&'static str, Dataset, Vec<Workload>); 3] {
    let hummer = Hummer {
        mix: [4, 3, 3],
        loops: 100,
        pause_every: 50,
        pause_ms: 1,
    };
    [
        (
            "scan",
            Dataset::Scan { bytes: 1 << 20 },
            vec![
                Workload::Like { rehearsals: 1 },
                Workload::Equal { rehearsals: 0 },
                Workload::Readers { connections: 3 },
                Workload::Open { times: 5 },
                Workload::Equal { rehearsals: 0 },
            ],
        ),
        (
            "statements",
            Dataset::Statements { rows: 500, indexes: 2 },
            vec![
                Workload::Insert { rows: 50 },
                Workload::UpdateAll,
                Workload::SelectAll,
                Workload::Backup,
                Workload::Convert { to: PLAIN.to_owned() },
                Workload::Rekey,
                Workload::PhysicalVerify,
                Workload::SelectAll,
            ],
        ),
        (
            "cards",
            Dataset::Cards { rows: 300 },
            vec![
                Workload::Hummer { hummer },
                Workload::IntegrityCheck,
                Workload::QuickCheck,
            ],
        ),
    ]
}

fn same_work(given: &Sample, expected: &Sample) -> Result<(), String> {
    same("the answer", &given.answer, &expected.answer)?;
    same("operations", &given.operations, &expected.operations)?;
    let names = |sample: &Sample| sample.latencies.keys().cloned().collect::<Vec<_>>();
    same("latencies", &names(given), &names(expected))?;
    same("checkpoint", &(given.checkpoint_ns > 0), &(expected.checkpoint_ns > 0))?;
    if given.elapsed_ns == 0 || given.cpu_ns == 0 || given.began_ns == 0 || given.pages == 0 {
        return Err("elapsed, CPU, began or pages is 0".to_owned());
    }
    if given.database_bytes == 0 || (given.checkpoint_ns > 0 && given.wal_bytes == 0) {
        return Err("the database or its log has no bytes".to_owned());
    }
    if given.checkpoint_ns > given.elapsed_ns {
        return Err("the checkpoint took longer than all".to_owned());
    }
    Ok(())
}

/// Checks that the file contains the marker exactly if the engine reports that it is not encrypted,
/// and that an unencrypted arm is reported so.
fn proved(opened: &OpenedDatabase, database: &DatabaseSpec, marker: &str) -> Result<(), String> {
    let bytes = fs::read(&database.path).map_err(|error| error.to_string())?;
    let holds = bytes.windows(marker.len()).any(|window| window == marker.as_bytes());
    let is_plain = database.cipher == PLAIN;
    if is_plain {
        same("encrypted", &opened.encrypted, &false)?;
    }
    same("that the rows can be read in the file", &holds, &!opened.encrypted)?;
    let in_force = |name: &str| opened.layout.get(name).cloned().unwrap_or_default();
    same("page_size", &in_force("page_size"), &database.page_size.to_string())?;
    same("journal_mode", &in_force("journal_mode"), &database.journal_mode)?;
    same("synchronous", &in_force("synchronous"), &database.synchronous)
}

fn one_file(path: &Path) -> Result<(), String> {
    for ending in ["-wal", "-journal"] {
        let mut beside = path.as_os_str().to_owned();
        beside.push(ending);
        if Path::new(&beside).exists() {
            return Err(format!("a file that ends with {ending} is left"));
        }
    }
    Ok(())
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, given: &T, expected: &T) -> Result<(), String> {
    if given == expected {
        return Ok(());
    }
    Err(format!("{what}: {given:?}, not {expected:?}"))
}

fn run(work: Workload) -> Request {
    Request::Run {
        work,
        seed: SEED,
        process: Share { index: 0, count: 1 },
        start_at_ns: 0,
    }
}

fn line(request: &Request) -> String {
    serde_json::to_string(request).unwrap_or_default()
}

fn word(work: &Workload) -> String {
    let value = serde_json::to_value(work).unwrap_or_default();
    value["kind"].as_str().unwrap_or_default().to_owned()
}

fn parsed<T: DeserializeOwned>(answer: Result<Value, String>) -> Result<T, String> {
    let value = answer.map_err(|error| format!("it refused: {error}"))?;
    serde_json::from_value(value).map_err(|error| format!("the answer is not of its kind: {error}"))
}

fn ask(reference: &mut Session<'_>, request: &Request) -> Result<Value, ContractViolation> {
    let (_sender, controls) = mpsc::channel();
    match reference.answer(request, &controls) {
        Ok(Answered::Value(value)) => Ok(value),
        Ok(Answered::Quit) => Ok(Value::Null),
        Err(error) => Err(ContractViolation(format!("the reference failed: {error}"))),
    }
}

fn expected<T: DeserializeOwned>(reference: &mut Session<'_>, request: &Request) -> Result<T, ContractViolation> {
    serde_json::from_value(ask(reference, request)?).map_err(|error| ContractViolation(error.to_string()))
}

const SEED: u64 = 20_090_420;
