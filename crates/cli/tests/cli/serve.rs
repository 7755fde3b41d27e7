//! `selenite serve`: what it prints, and how it ends.

use std::io::{BufRead, BufReader, Read};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdout, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::bench::Bench;

/// A server that listens.
struct Served {
    child: Child,
    out: BufReader<ChildStdout>,
    /// What it printed before, line by line.
    lines: Vec<String>,
}

impl Served {
    fn start(bench: &Bench, port: u16, words: &[&str]) -> Option<Self> {
        let listen = format!("127.0.0.1:{port}");
        let mut child = bench
            .command(&[&["serve", "--data", "data", "--listen", &listen], words].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let mut served = Self {
            child,
            out,
            lines: Vec::new(),
        };
        loop {
            let mut line = String::new();
            if served.out.read_line(&mut line).unwrap() == 0 {
                let mut err = String::new();
                served.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
                served.child.wait().unwrap();
                assert!(err.contains("another program listens there"), "{err}");
                return None;
            }
            if line.trim_end() == format!("listening on {listen}") {
                return Some(served);
            }
            served.lines.push(line);
        }
    }

    /// Ends it; answers its exit status, and what else it said to each of both.
    fn end(mut self, signal: Signal) -> (i32, String, String) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        let (mut out, mut err) = (String::new(), String::new());
        self.out.read_to_string(&mut out).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        (self.child.wait().unwrap().code().unwrap(), out, err)
    }
}

/// A server at a port below those that the system gives away.
fn start(bench: &Bench, words: &[&str]) -> (Served, u16) {
    let first = u16::try_from(std::process::id() % 4000).unwrap() + 16_000;
    let found = (first..first + 200).find_map(|port| Some((Served::start(bench, port, words)?, port)));
    found.unwrap()
}

#[test]
fn the_first_start_prints_a_password_and_every_start_where_it_listens() {
    let bench = Bench::new();
    let (served, port) = start(&bench, &[]);
    let lines = served.lines.clone();
    let [password] = lines.as_slice() else {
        panic!("{lines:?}");
    };
    assert_eq!(password.strip_prefix("password: ").unwrap().trim_end().len(), 22);
    assert!(TcpStream::connect(("127.0.0.1", port)).is_ok());
    bench
        .run(&[
            "serve",
            "--data",
            "data",
            "--listen",
            &format!("127.0.0.1:{}", port + 300),
        ])
        .failed(7, "in use by the server of process");
    let (status, out, err) = served.end(Signal::TERM);
    assert_eq!((status, out.as_str()), (0, ""));
    assert!(
        err.contains("server-key.txt") && err.contains("server-certificate.pem"),
        "{err}"
    );
    assert!(!err.contains("warning"), "{err}");
    assert!(!err.contains(password.trim_end()), "{err}");

    let again = Served::start(&bench, port, &[]).unwrap();
    assert_eq!(again.lines, Vec::<String>::new());
    let (status, _, _) = again.end(Signal::INT);
    assert_eq!(status, 0);
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}

#[test]
fn a_file_says_what_flags_say() {
    let bench = Bench::new();
    let file = "identity = \"key.txt\"\nencryption = \"strict\"\nlogin-timeout = 5\n";
    std::fs::write(bench.path("server.toml"), file).unwrap();
    let (served, _) = start(&bench, &["--config", "server.toml"]);
    let (status, _, err) = served.end(Signal::TERM);
    assert_eq!(status, 0);
    assert!(!err.contains("server-key.txt"), "{err}");
    // What the file names opens it, and nothing else does.
    bench
        .run(&[
            "-i",
            "key.txt",
            "exec",
            "data/master.db",
            "SELECT name FROM selenite_login",
        ])
        .done();
    bench
        .run(&[
            "-i",
            "other.txt",
            "serve",
            "--data",
            "data",
            "--config",
            "server.toml",
            "--listen",
            "127.0.0.1:0",
        ])
        .failed(4, "");
    std::fs::write(bench.path("server.toml"), "lisen = \"127.0.0.1\"\n").unwrap();
    bench
        .run(&["serve", "--config", "server.toml"])
        .failed(2, "unknown field");
}

#[test]
fn a_port_that_is_taken_is_said_so_before_anything_is_made() {
    let bench = Bench::new();
    let first = u16::try_from(std::process::id() % 4000).unwrap() + 12_000;
    let taken = (first..first + 200).find_map(|port| TcpListener::bind(("127.0.0.1", port)).ok());
    let taken = taken.unwrap();
    let listen = taken.local_addr().unwrap().to_string();
    bench
        .run(&["serve", "--data", "data", "--listen", &listen])
        .failed(7, "can't listen at");
    assert_eq!(bench.names(), Vec::<String>::new());
}
