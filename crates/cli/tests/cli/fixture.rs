//! A folder with keys, in which tests run the command.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use selenite::{Access, Cell, Rows};

/// A folder with two identities: `key.txt` and `other.txt`.
pub struct Fixture {
    folder: tempfile::TempDir,
    /// Variables of the command's environment.
    pub variables: Vec<(&'static str, String)>,
}

/// The result of a run of the command.
#[derive(Debug)]
pub struct Ran {
    pub status: i32,
    pub out: String,
    pub err: String,
}

pub const NOTES: &str = "CREATE TABLE note (id INTEGER PRIMARY KEY, text);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
    INSERT INTO note SELECT i, 'a secret of ours ' || i FROM n;";

impl Fixture {
    pub fn new() -> Self {
        let fixture = Self {
            folder: tempfile::tempdir().unwrap(),
            variables: Vec::new(),
        };
        for name in ["key.txt", "other.txt"] {
            fixture.run(&["keygen", "-o", name]).done();
        }
        fixture
    }

    /// A fixture with an encrypted database.
    pub fn encrypted() -> (Self, PathBuf) {
        let fixture = Self::new();
        let path = fixture.plain("app.db", NOTES);
        fixture.run(&["-i", "key.txt", "encrypt", "app.db"]).done();
        (fixture, path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn plain(&self, name: &str, sql: &str) -> PathBuf {
        let path = self.path(name);
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.execute_batch(sql).unwrap();
        connection.close().unwrap();
        path
    }

    /// The command, in this folder, without the caller's environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_selenite"));
        // As in `lab.rs`.
        command.env_remove("LD_PRELOAD");
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .env("HOME", self.folder.path())
            .envs(self.variables.iter().map(|(name, value)| (*name, value)))
            .stdin(Stdio::null());
        command
    }

    /// Exit status, answer and messages to bytes of standard input.
    pub fn ask(&self, arguments: &[&str], input: &[u8]) -> (Option<i32>, Vec<u8>, String) {
        let mut command = self.command(arguments);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        let ended = child.wait_with_output().unwrap();
        (
            ended.status.code(),
            ended.stdout,
            String::from_utf8(ended.stderr).unwrap(),
        )
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        run(&mut self.command(arguments))
    }

    /// The access with which this process opens the command's databases.
    pub fn access(&self) -> Access {
        Access {
            identity: Some(format!("age:{}", self.path("key.txt").display()).parse().unwrap()),
            ..Access::default()
        }
    }

    /// Whether a process may lock all of its memory: it runs as root, or has no limit.
    pub fn may_lock_memory(&self) -> bool {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Memlock).maximum;
        let capabilities = rustix::thread::capabilities(None).unwrap();
        limit.is_none() || capabilities.effective.contains(rustix::thread::CapabilitySet::IPC_LOCK)
    }

    /// The names in the folder, except those of keys, configuration and state.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| !name.ends_with(".txt") && name != ".config" && name != ".local")
            .collect();
        names.sort();
        names
    }

    /// The recipient of an identity.
    pub fn recipient(&self, name: &str) -> String {
        let text = std::fs::read_to_string(self.path(name)).unwrap();
        let line = text.lines().find(|line| line.starts_with("# public key: ")).unwrap();
        line["# public key: ".len()..].to_owned()
    }
}

pub fn run(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    let ran = Ran {
        status: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    };
    for text in [&ran.out, &ran.err] {
        assert!(!text.contains('\x1b'), "no colours where no terminal is: {text}");
        assert!(!text.contains("AGE-SECRET-KEY") || command.get_args().any(|word| word == "keygen"));
    }
    ran
}

impl Ran {
    /// Asserts success.
    pub fn done(self) -> Self {
        assert_eq!(self.status, 0, "{self:?}");
        self
    }

    /// Asserts a failure with this status, and with a message of what happened and what to do.
    pub fn failed(self, status: i32, what: &str) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        assert!(self.err.contains("error: ") && self.err.contains(what), "{self:?}");
        assert!(self.err.contains(" next: "), "{self:?}");
        self
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap()
    }
}

/// Flips a bit of page `page_no` of a database with pages of 4096 bytes.
pub fn flip_page(path: &Path, page_no: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[65536 + (page_no - 1) * 4096 + 100] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

/// For statements whose rows are not needed.
pub struct Ignored;

impl Rows for Ignored {
    fn begin(&mut self, _: &[String]) {}

    fn row(&mut self, _: Vec<Cell>) -> bool {
        true
    }

    fn end(&mut self) {}
}
