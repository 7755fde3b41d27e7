//! The programs of this machine that can load the extension: Pythons, Nodes, the sqlite3 shell.
//!
//! - asked-not-assumed: each program is run with a short script, which loads the extension. Python
//!   runs isolated (`-I`), so that no module of the current folder is imported.
//! - own-programs-only: a program that another user owns or can change is not run: this process
//!   may have more rights.

mod search;

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use selenite_keyring::child::{self, Stderr};
use serde::Deserialize;

use crate::{Check, extension};

pub use search::find;

/// A program that has SQLite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// What it is.
    pub kind: HostKind,
    /// Its executable.
    pub path: PathBuf,
}

/// The kinds of programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "their own names")]
pub enum HostKind {
    Python,
    Node,
    Shell,
}

/// What a program says of itself.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Answer {
    /// Its version.
    program: String,
    /// The version of its SQLite; none if it has none.
    sqlite: Option<String>,
    /// Whether it can load extensions.
    can_load: bool,
    /// The version of the extension that it loaded.
    loaded: Option<String>,
    /// Why it did not load it.
    error: Option<String>,
    /// The version of the Python package `selenite`.
    package: Option<String>,
}

impl Answer {
    /// A program may print anything: only the start of it is shown.
    fn shortened(self) -> Self {
        Self {
            program: start(&self.program),
            sqlite: self.sqlite.as_deref().map(start),
            loaded: self.loaded.as_deref().map(start),
            error: self.error.as_deref().map(start),
            ..self
        }
    }
}

impl Host {
    /// Runs the program, which tries to load the extension, and compares the version of that with
    /// `version`, the command's.
    #[must_use]
    pub fn check(&self, extension: Option<&Path>, version: &str) -> Check {
        let name = self.path.display().to_string();
        if let Some(why) = distrust(&self.path, rustix::process::geteuid().as_raw()) {
            return Check::advice(
                &name,
                why,
                "it was not run: check what it is, or take its folder out of PATH",
            );
        }
        let printed = child::run(self.command(extension), Stderr::Answer, &[], TIME_LIMIT);
        let printed = printed.map_err(|failure| failure.to_string());
        let answer = printed.and_then(|answer| self.parse(String::from_utf8_lossy(&answer.output).trim()));
        self.judge(answer, extension, version)
    }

    fn command(&self, extension: Option<&Path>) -> Command {
        let mut command = Command::new(&self.path);
        match self.kind {
            HostKind::Python => {
                command
                    .args(["-I", "-c", include_str!("host/probe.py")])
                    .args(extension);
            }
            HostKind::Node => {
                command
                    .args(["-e", include_str!("host/probe.js"), "--"])
                    .args(extension);
                command.env("NODE_NO_WARNINGS", "1").env_remove("NODE_OPTIONS");
            }
            HostKind::Shell => {
                command.args([
                    "-bail",
                    "-batch",
                    "-init",
                    "/dev/null",
                    ":memory:",
                    "SELECT sqlite_version()",
                ]);
                if let Some(file) = extension {
                    command.arg(load_statement(file)).arg("SELECT selenite_version()");
                }
            }
        }
        command
    }

    fn parse(&self, printed: &str) -> Result<Answer, String> {
        if self.kind != HostKind::Shell {
            let found = printed
                .lines()
                .find_map(|line| serde_json::from_str::<Answer>(line).ok());
            return found.map(Answer::shortened).ok_or_else(|| unclear(printed));
        }
        // Errors are not buffered: they may stand before the results.
        let (versions, rest): (Vec<&str>, Vec<&str>) = printed.lines().partition(|line| number(line).is_some());
        let sqlite = *versions.first().ok_or_else(|| unclear(printed))?;
        let cannot_load = rest.iter().any(|line| line.contains("unknown command"));
        let answer = Answer {
            program: sqlite.to_owned(),
            sqlite: Some(sqlite.to_owned()),
            can_load: !cannot_load,
            loaded: versions.get(1).map(|&line| line.to_owned()),
            error: rest.first().filter(|_| !cannot_load).map(|&line| line.to_owned()),
            package: None,
        };
        Ok(answer.shortened())
    }

    fn judge(&self, answer: Result<Answer, String>, extension: Option<&Path>, version: &str) -> Check {
        let name = self.path.display().to_string();
        let answer = match answer {
            Ok(answer) => answer,
            Err(why) => return Check::advice(&name, why, "it was not checked: run it yourself"),
        };
        let program = match self.kind {
            HostKind::Python => format!("Python {}", answer.program),
            HostKind::Node => format!("Node.js {}", answer.program),
            HostKind::Shell => "the sqlite3 shell".to_owned(),
        };
        let Some(sqlite) = &answer.sqlite else {
            return Check::advice(
                &name,
                format!("{program} has no SQLite of its own"),
                self.other_sqlite(),
            );
        };
        let finding = format!("{program}, SQLite {sqlite}");
        if number(sqlite).is_some_and(|found| found < OLDEST) {
            return Check::problem(&name, format!("{finding}: older than 3.40"), self.other_sqlite());
        }
        match (&answer.loaded, &answer.error) {
            (Some(loaded), _) if loaded == version => Check::ok(&name, format!("{finding}: loads the extension")),
            (Some(loaded), _) => Check::problem(
                &name,
                format!("{finding}: loads selenite {loaded}, and this command is {version}"),
                "install the same version of both",
            ),
            (None, Some(error)) => {
                let file = extension.filter(|_| answer.package.is_none());
                let why = file.and_then(|file| extension::misfit(file).ok().flatten());
                let why = why.unwrap_or_else(|| error.clone());
                Check::problem(
                    &name,
                    format!("{finding}: the extension is not loaded: {why}"),
                    "install the package for this platform",
                )
            }
            (None, None) if !answer.can_load => Check::advice(
                &name,
                format!("{finding}: cannot load extensions"),
                self.other_way(&answer.program),
            ),
            (None, None) => Check::ok(&name, format!("{finding}: can load extensions")),
        }
    }

    /// What to do about a SQLite that is too old or missing.
    fn other_sqlite(&self) -> &'static str {
        match self.kind {
            HostKind::Python => "use a newer Python, or pip install apsw, which brings its own SQLite",
            HostKind::Node => "use Node.js 22.13 or later, or npm install better-sqlite3, which brings its own SQLite",
            HostKind::Shell => "install SQLite 3.40 or later",
        }
    }

    /// What to do about a program that cannot load extensions.
    fn other_way(&self, program: &str) -> &'static str {
        match self.kind {
            HostKind::Python if number(program).is_some_and(|found| found < OLDEST_PYTHON) => {
                "use Python 3.9 or later, where the Python package selenite loads it in another way (docs/HOSTS.md)"
            }
            HostKind::Python => {
                "the Python package selenite loads it in another way (docs/HOSTS.md); apsw can load extensions, too"
            }
            HostKind::Node => "npm install better-sqlite3, which can",
            HostKind::Shell => "install a shell that was compiled without SQLITE_OMIT_LOAD_EXTENSION",
        }
    }
}

/// A dot-command whose argument is in double quotes, where the shell knows C's escapes.
fn load_statement(file: &Path) -> OsString {
    let mut line = OsString::from(".load \"");
    let mut escaped = Vec::new();
    for &byte in std::os::unix::ffi::OsStrExt::as_bytes(file.as_os_str()) {
        if matches!(byte, b'"' | b'\\') {
            escaped.push(b'\\');
        }
        escaped.push(byte);
    }
    line.push(<OsString as std::os::unix::ffi::OsStringExt>::from_vec(escaped));
    line.push("\"");
    line
}

/// The first two numbers of a version.
fn number(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.trim().split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

fn unclear(printed: &str) -> String {
    let line = printed.lines().last().unwrap_or("nothing");
    format!("does not answer as expected: {}", start(line))
}

fn start(text: &str) -> String {
    text.chars().take(200).collect()
}

/// Why a program is not run by a user: another one, who is not root, could have put it there.
fn distrust(path: &Path, user_id: u32) -> Option<&'static str> {
    let real = path.canonicalize().ok()?;
    let is_own = |facts: &Metadata| [0, user_id].contains(&facts.uid());
    // Of a link, its owner counts: it has no mode.
    if !is_own(&fs::symlink_metadata(path).ok()?) {
        return Some("belongs to another user");
    }
    for path in [real.as_path(), real.parent()?, path.parent()?] {
        let facts = fs::metadata(path).ok()?;
        if !is_own(&facts) {
            return Some("belongs to another user");
        }
        // In a sticky folder, the owner of a file alone replaces it.
        let is_shared = facts.mode() & 0o002 != 0;
        if is_shared && !(facts.is_dir() && facts.mode() & 0o1000 != 0) {
            return Some("every user can change it");
        }
    }
    None
}

/// The oldest SQLite that the extension accepts.
const OLDEST: (u32, u32) = (3, 40);
/// Of the Python package: `requires-python` in packages/python/pyproject.toml.
const OLDEST_PYTHON: (u32, u32) = (3, 9);
/// Such a program answers in a tenth of a second; a busy machine or a cold disk takes longer.
const TIME_LIMIT: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests;
