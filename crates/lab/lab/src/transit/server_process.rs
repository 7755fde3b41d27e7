//! A server in a process of its own.

use std::io::{self, BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::mode::Mode;

/// A listening server; killed on drop.
pub struct ServerProcess {
    child: Child,
    /// Kept open because the server may still write to it.
    _stdout: BufReader<ChildStdout>,
    address: SocketAddr,
    /// The password of `sa`, if the server printed one.
    password: Option<String>,
}

impl ServerProcess {
    /// Starts `program serve` on any free port of the loopback interface.
    ///
    /// # Errors
    /// It cannot be started, or ends before it listens.
    pub fn start(program: &Path, folder: &Path, identity: &Path, mode: Mode) -> io::Result<Self> {
        let mut child = Command::new(program)
            .arg("--identity")
            .arg(format!("raw:{}", identity.display()))
            .arg("serve")
            .arg("--data")
            .arg(folder)
            .args(["--listen", "127.0.0.1:0"])
            .args(["--encryption", mode.of_server(), "--tls-offload", mode.offload()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let listening = said(&mut child);
        match listening {
            Ok((stdout, address, password)) => Ok(Self {
                child,
                _stdout: stdout,
                address,
                password,
            }),
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(error)
            }
        }
    }

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The password of `sa`, which the server prints only at its first start.
    pub fn password(&self) -> Option<&str> {
        self.password.as_deref()
    }

    /// Ends it gracefully.
    ///
    /// # Errors
    /// It does not end.
    pub fn stop(mut self) -> io::Result<()> {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid {
            kill_process(pid, Signal::TERM)?;
        }
        let asked = Instant::now();
        while asked.elapsed() < END {
            if self.child.try_wait()?.is_some() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Err(io::Error::new(io::ErrorKind::TimedOut, "the server does not end"))
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads the server's output until it listens.
fn said(child: &mut Child) -> io::Result<(BufReader<ChildStdout>, SocketAddr, Option<String>)> {
    let stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let mut stdout = BufReader::new(stdout);
    let mut password = None;
    loop {
        let mut line = String::new();
        if stdout.read_line(&mut line)? == 0 {
            return Err(io::Error::other("the server ended before it listened"));
        }
        let line = line.trim_end();
        if let Some(said) = line.strip_prefix("password of login sa: ") {
            password = Some(said.to_owned());
        } else if let Some(address) = line.strip_prefix("listening on ") {
            let address = address.parse().map_err(io::Error::other)?;
            return Ok((stdout, address, password));
        }
    }
}

/// The path of the server's own certificate.
pub fn certificate(folder: &Path) -> PathBuf {
    folder.join("server-certificate.pem")
}

/// A server without sessions ends at once.
const END: Duration = Duration::from_secs(10);
