//! `selenite serve`: its output, and how it ends.

use std::io::{BufRead, BufReader, Read};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdout, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::fixture::Fixture;

/// A listening server.
pub struct Served {
    child: Child,
    out: BufReader<ChildStdout>,
    /// The lines that it printed before it listened.
    pub lines: Vec<String>,
}

impl Served {
    fn start(fixture: &Fixture, port: u16, words: &[&str]) -> Option<Self> {
        let listen = format!("127.0.0.1:{port}");
        let words = [&["serve", "--data", "data", "--listen", &listen], words].concat();
        let mut child = without_umask(&fixture.command(&words))
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
                assert!(err.contains("another program is using this port"), "{err}");
                return None;
            }
            if line.trim_end() == format!("listening on {listen}") {
                return Some(served);
            }
            served.lines.push(line);
        }
    }

    /// A line about the process in a file of /proc.
    fn proc_line(&self, file: &str, line: &str) -> String {
        let path = format!("/proc/{}/{file}", self.child.id());
        let text = std::fs::read_to_string(path).unwrap();
        let found = text.lines().find(|told| told.starts_with(line)).unwrap();
        found.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Ends it. Returns its exit status, and the rest of its standard output and standard error.
    pub fn end(mut self, signal: Signal) -> (i32, String, String) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        let (mut out, mut err) = (String::new(), String::new());
        self.out.read_to_string(&mut out).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        (self.child.wait().unwrap().code().unwrap(), out, err)
    }
}

/// A test that fails leaves no server.
impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The same command with umask 0.
fn without_umask(command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "umask 0; exec \"$0\" \"$@\""])
        .arg(command.get_program())
        .args(command.get_args());
    shell.env_clear();
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(path) = std::env::var_os("PATH") {
        shell.env("PATH", path);
    }
    if let Some(folder) = command.get_current_dir() {
        shell.current_dir(folder);
    }
    shell
}

/// Starts a server on a port below the ephemeral ones.
pub fn start(fixture: &Fixture, words: &[&str]) -> (Served, u16) {
    let first = u16::try_from(std::process::id() % 4000).unwrap() + 16_000;
    let found = (first..first + 200).find_map(|port| Some((Served::start(fixture, port, words)?, port)));
    found.unwrap()
}

#[test]
fn the_first_start_prints_a_password_and_every_start_where_it_listens() {
    let fixture = Fixture::new();
    let (served, port) = start(&fixture, &[]);
    let lines = served.lines.clone();
    let [password] = lines.as_slice() else {
        panic!("{lines:?}");
    };
    let secret = password.strip_prefix("password of login sa: ").unwrap();
    assert_eq!(secret.trim_end().len(), 22);
    assert!(TcpStream::connect(("127.0.0.1", port)).is_ok());
    fixture
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
        err.contains("server-key.txt") && err.contains("server-certificate.pem") && !err.contains("not counted"),
        "{err}"
    );
    assert!(!err.contains("warning"), "{err}");
    assert!(err.starts_with("data folder: data (new)\n"), "{err}");
    assert!(!err.contains(secret.trim_end()), "{err}");

    let again = Served::start(&fixture, port, &[]).unwrap();
    assert_eq!(again.lines, Vec::<String>::new());
    let (status, _, _) = again.end(Signal::INT);
    assert_eq!(status, 0);
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}

#[test]
fn a_password_file_receives_the_password_and_is_never_overwritten() {
    use std::os::unix::fs::PermissionsExt;

    let fixture = Fixture::new();
    let file = fixture.path("sa.txt");
    std::fs::write(&file, "something else").unwrap();
    fixture
        .run(&[
            "serve",
            "--data",
            "data",
            "--listen",
            "127.0.0.1:0",
            "--password-file",
            "sa.txt",
        ])
        .failed(1, "sa.txt: File exists");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "something else");
    std::fs::remove_file(&file).unwrap();

    std::fs::write(fixture.path("server.toml"), "password-file = \"sa.txt\"\n").unwrap();
    let (served, port) = start(&fixture, &["--config", "server.toml"]);
    assert_eq!(served.lines, Vec::<String>::new());
    let password = std::fs::read_to_string(&file).unwrap();
    assert_eq!(password.trim_end().len(), 22);
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let (_, _, err) = served.end(Signal::TERM);
    assert!(
        err.contains("password of login sa: in ") && !err.contains(password.trim_end()),
        "{err}"
    );

    // It belongs to the first start alone.
    std::fs::remove_file(&file).unwrap();
    let again = Served::start(&fixture, port, &["--password-file", "sa.txt"]).unwrap();
    again.end(Signal::TERM);
    assert!(!file.exists());
}

#[test]
fn a_file_says_what_flags_say() {
    let fixture = Fixture::new();
    let file = "identity = \"key.txt\"\nencryption = \"strict\"\nlogin-timeout = 5\n";
    std::fs::write(fixture.path("server.toml"), file).unwrap();
    let (served, _) = start(&fixture, &["--config", "server.toml"]);
    let (status, _, err) = served.end(Signal::TERM);
    assert_eq!(status, 0);
    assert!(!err.contains("server-key.txt"), "{err}");
    // The named file opens it, and nothing else does.
    fixture
        .run(&[
            "-i",
            "key.txt",
            "exec",
            "data/master.db",
            "SELECT name FROM selenite_login",
        ])
        .done();
    fixture
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
    std::fs::write(fixture.path("server.toml"), "lisen = \"127.0.0.1\"\n").unwrap();
    fixture
        .run(&["serve", "--config", "server.toml"])
        .failed(2, "unknown field");
}

#[test]
fn a_port_that_is_taken_is_said_so_before_anything_is_made() {
    let fixture = Fixture::new();
    let first = u16::try_from(std::process::id() % 4000).unwrap() + 12_000;
    let taken = (first..first + 200).find_map(|port| TcpListener::bind(("127.0.0.1", port)).ok());
    let taken = taken.unwrap();
    let listen = taken.local_addr().unwrap().to_string();
    fixture
        .run(&["serve", "--data", "data", "--listen", &listen])
        .failed(7, "cannot listen on");
    assert_eq!(fixture.names(), Vec::<String>::new());
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_dumps_no_core_and_what_it_makes_is_its_users_alone() {
    use std::os::unix::fs::PermissionsExt;

    let fixture = Fixture::new();
    let (served, _) = start(&fixture, &[]);
    let limits = served.proc_line("limits", "Max core file size");
    assert_eq!(limits, "Max core file size 0 0 bytes");
    for file in ["master.db", "master.db-wal", "server-certificate.pem", "audit.jsonl"] {
        let mode = std::fs::metadata(fixture.path("data").join(file))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o077, 0, "{file}: {mode:o}");
    }
    served.end(Signal::TERM);
}

#[cfg(target_os = "linux")]
#[test]
fn memory_is_locked_or_the_server_does_not_start() {
    let fixture = Fixture::new();
    let unlocked = start(&fixture, &[]).0;
    assert_eq!(unlocked.proc_line("status", "VmLck"), "VmLck: 0 kB");
    unlocked.end(Signal::TERM);
    if fixture.may_lock_memory() {
        let (locked, _) = start(&fixture, &["--lock-memory"]);
        assert_ne!(locked.proc_line("status", "VmLck"), "VmLck: 0 kB");
        locked.end(Signal::TERM);
    } else {
        let ran = fixture.run(&["serve", "--data", "data", "--lock-memory"]);
        ran.failed(2, "memory can't be locked");
    }
}

#[test]
fn a_signal_ends_a_server_that_waits_for_its_identity() {
    use std::time::{Duration, Instant};

    let fixture = Fixture::new();
    let pipe = fixture.path("identity");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    let first = u16::try_from(std::process::id() % 4000).unwrap() + 8_000;
    let listen = format!("127.0.0.1:{first}");
    let words = [
        "--identity",
        "age:identity",
        "serve",
        "--data",
        "data",
        "--listen",
        &listen,
    ];
    let mut child = fixture
        .command(&words)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It creates the folder before it reads the identity, which is never written.
    let lock = fixture.path("data").join(".selenite-server");
    let began = Instant::now();
    while !lock.exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended");
        assert!(began.elapsed() < Duration::from_secs(60));
        std::thread::yield_now();
    }
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
