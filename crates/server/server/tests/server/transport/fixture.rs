//! A server of a test's own, in a folder of its own.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use selenite::Access;
use selenite_server::password::PasswordCost;
use selenite_server::{Announcement, Config, Log, Running, Server, ServerError, SessionEntry, Status, TlsFiles};
use selenite_tds::EncryptionMode;
use tempfile::TempDir;

use super::client::{Client, Mode};
use super::front::TestFront;

/// A server that runs, and what it has logged.
pub struct Fixture {
    pub running: Option<Running>,
    pub place: TempDir,
    /// sa's.
    pub password: String,
    pub said: Arc<Mutex<Vec<String>>>,
    pub certificate: PathBuf,
}

impl Fixture {
    /// A server with nothing special.
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    pub fn of(encryption: EncryptionMode) -> Self {
        Self::with(|config| config.encryption = encryption)
    }

    /// A server that is started otherwise.
    pub fn with(change: impl Fn(&mut Config)) -> Self {
        let place = tempfile::tempdir().unwrap();
        let mut fixture = Self {
            certificate: files(place.path()).certificate,
            running: None,
            place,
            password: String::new(),
            said: Arc::default(),
        };
        fixture.start(change).unwrap();
        assert!(!fixture.password.is_empty());
        fixture
    }

    /// How its server is started.
    pub fn config(&self, port: u16) -> Config {
        let mut config = Config::new(self.place.path().join("data"));
        let key = self.place.path().join("key");
        if !key.exists() {
            std::fs::write(&key, [7; 32]).unwrap();
        }
        let said = self.said.clone();
        config.access = Access {
            identity: Some(format!("raw:{}", key.display()).parse().unwrap()),
            ..Access::default()
        };
        config.listen = SocketAddr::from(([127, 0, 0, 1], port));
        config.tls_files = Some(files(self.place.path()));
        config.password_cost = PasswordCost::LEAST;
        config.limits.login_time = Duration::from_secs(60);
        config.log = Log::new(move |line| said.lock().unwrap().push(line.to_owned()));
        config
    }

    /// Starts it, or starts it again.
    pub fn start(&mut self, change: impl Fn(&mut Config)) -> Result<(), ServerError> {
        for _ in 0..TRIES_MAX {
            let mut config = self.config(next_port());
            change(&mut config);
            let password = &mut self.password;
            let mut announce = |announcement: Announcement<'_>| {
                if let Announcement::Password(first) = announcement {
                    first.clone_into(password);
                }
                Ok(())
            };
            match Server::start(config, &mut announce, |_| Ok(Arc::new(TestFront::default()))) {
                Err(ServerError::Listen { .. }) => {}
                started => {
                    self.running = Some(started?);
                    return Ok(());
                }
            }
        }
        panic!("no port is free");
    }

    pub fn running(&self) -> &Running {
        self.running.as_ref().unwrap()
    }

    pub fn address(&self) -> SocketAddr {
        self.running().address()
    }

    pub fn stop(&mut self) {
        self.running.take().unwrap().stop();
    }

    /// A client that has shaken hands, but not logged in.
    pub fn connect(&self, mode: Mode) -> Client {
        Client::connect(self.address(), mode, &self.certificate).unwrap()
    }

    /// A client that has logged in as sa.
    pub fn client(&self, mode: Mode) -> Client {
        let mut client = self.connect(mode);
        let answer = client.log_in("sa", &self.password);
        assert_eq!(answer.errors(), [], "{mode:?}");
        client
    }

    /// Whether the server has logged something that contains this.
    pub fn has_said(&self, what: &str) -> bool {
        self.said.lock().unwrap().iter().any(|line| line.contains(what))
    }
}

/// Waits until a session has done all that belongs to its last request: its client may know the answer before.
pub fn settle(session: &SessionEntry) {
    while session.status() == Status::Running {
        std::thread::yield_now();
    }
}

/// A certificate of RSA takes long to make: all tests but those of the server's own have this one.
fn files(place: &Path) -> TlsFiles {
    static MADE: OnceLock<(String, String)> = OnceLock::new();
    let (certificate, key) = MADE.get_or_init(|| {
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let made = rcgen::generate_simple_self_signed(names).unwrap();
        (made.cert.pem(), made.signing_key.serialize_pem())
    });
    let files = TlsFiles {
        certificate: place.join("certificate.pem"),
        key: place.join("key.pem"),
    };
    std::fs::write(&files.certificate, certificate).unwrap();
    std::fs::write(&files.key, key).unwrap();
    files
}

/// Below the ports that the system gives to clients: none is taken by chance.
pub fn next_port() -> u16 {
    static NEXT: OnceLock<AtomicU16> = OnceLock::new();
    let next = NEXT.get_or_init(|| {
        // Processes that run side by side begin in different places.
        let start = u16::try_from(std::process::id() * 97 % 12_000).unwrap();
        AtomicU16::new(start)
    });
    20_000 + next.fetch_add(1, Ordering::Relaxed) % 12_000
}

const TRIES_MAX: usize = 200;
