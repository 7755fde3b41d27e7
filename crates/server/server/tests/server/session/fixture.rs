//! A server of a test's own, in a folder of its own.

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use selenite::Access;
use selenite_server::password::PasswordCost;
use selenite_server::{
    Announcement, Config, DatabaseRegistry, Log, Running, Server, ServerError, ServerLimits, SqlFront, TlsFiles,
};
use selenite_tds::client::new_login;
use selenite_tds::{EncryptionMode, Feature, PacketSize};
use tempfile::TempDir;

use super::client::Client;

/// A server that runs.
pub struct Fixture {
    pub running: Running,
    pub database_registry: Arc<DatabaseRegistry>,
    password: String,
    place: TempDir,
    change: Change,
}

/// What is configured of a server besides what all tests' servers have.
type Change = Arc<dyn Fn(&mut Config) + Send + Sync>;

impl Fixture {
    pub fn new() -> Self {
        Self::of_key(7)
    }

    /// One with other limits.
    pub fn limited(limits: ServerLimits) -> Self {
        Self::with(move |config| config.limits = limits)
    }

    /// One with an identity of its own, whose key is 32 of these bytes.
    pub fn of_key(key: u8) -> Self {
        Self::start(place_of_key(key), String::new(), Arc::new(|_| {}))
    }

    /// One that is started otherwise.
    pub fn with(change: impl Fn(&mut Config) + Send + Sync + 'static) -> Self {
        Self::start(place_of_key(7), String::new(), Arc::new(change))
    }

    /// Ends the server, and starts another one in its place.
    pub fn restarted(self) -> Self {
        self.restarted_after(|| {})
    }

    /// The same, with something done in between.
    pub fn restarted_after(self, between: impl FnOnce()) -> Self {
        let Self {
            running,
            database_registry,
            password,
            place,
            change,
        } = self;
        running.stop();
        // It has the server's files open.
        drop(database_registry);
        between();
        Self::start(place, password, change)
    }

    /// Ends the server, and starts another one in its place, otherwise.
    pub fn restarted_as(self, change: impl Fn(&mut Config) + Send + Sync + 'static) -> Self {
        let change = Arc::new(change);
        Self { change, ..self }.restarted()
    }

    /// Ends the server; its folder goes.
    pub fn stop(self) {
        self.running.stop();
    }

    /// Where the databases are.
    pub fn data_folder(&self) -> PathBuf {
        self.place.path().join("data")
    }

    /// Whose identity opens them.
    pub fn access(&self) -> Access {
        access(&self.place)
    }

    fn start(place: TempDir, mut password: String, change: Change) -> Self {
        let (running, database_registry) = launch_with(place.path(), &mut password, &*change);
        Self {
            running,
            database_registry,
            password,
            place,
            change,
        }
    }

    /// The password of sa.
    pub fn password(&self) -> &str {
        &self.password
    }

    /// A file of the server's, opened by SQLite as another process would.
    pub fn in_sqlite(&self, database: &str) -> Connection {
        in_sqlite(self.place.path(), database)
    }

    /// A client that has logged in as sa.
    pub fn client(&self) -> Client {
        self.client_of(PacketSize::DEFAULT)
    }

    /// A client of another login, whether or not it is admitted.
    pub fn client_as(&self, user: &str, password: &str, database: &str) -> Client {
        let wishes = (database, None);
        Client::of(self.running.address(), (user, password), wishes, PacketSize::DEFAULT).unwrap()
    }

    /// A client that reads UTF-8, as it says when it logs in.
    pub fn client_of_utf8(&self) -> Client {
        let mut login = new_login("sa", &self.password);
        login.features = vec![Feature {
            id: Feature::UTF8,
            data: vec![1],
        }];
        Client::by(self.running.address(), &login, PacketSize::DEFAULT).unwrap()
    }

    pub fn client_of(&self, size: PacketSize) -> Client {
        Client::new(self.running.address(), &self.password, size).unwrap()
    }
}

/// A place with a key and a certificate.
pub fn place_of_key(key: u8) -> TempDir {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("key"), [key; 32]).unwrap();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(place.path().join("certificate.pem"), made.cert.pem()).unwrap();
    std::fs::write(place.path().join("key.pem"), made.signing_key.serialize_pem()).unwrap();
    place
}

/// Starts a server in a place that has a key and a certificate.
pub fn launch(place: &Path, password: &mut String) -> (Running, Arc<DatabaseRegistry>) {
    launch_with(place, password, &|_| {})
}

fn launch_with(place: &Path, password: &mut String, change: &dyn Fn(&mut Config)) -> (Running, Arc<DatabaseRegistry>) {
    let mut announce = |announcement: Announcement<'_>| {
        if let Announcement::Password(first) = announcement {
            first.clone_into(password);
        }
        Ok(())
    };
    for _ in 0..TRIES_MAX {
        let mut config = config_in(place);
        change(&mut config);
        let database_registry = Arc::new(DatabaseRegistry::default());
        let databases = database_registry.clone();
        let open = move |_: &Arc<_>| Ok(Arc::new(SqlFront::new(databases)) as Arc<dyn selenite_server::Front>);
        match Server::start(config, &mut announce, open) {
            // Another process took the port since it was free.
            Err(ServerError::Listen { .. }) => {}
            started => return (started.unwrap(), database_registry),
        }
    }
    panic!("no port is free");
}

/// How a server is started in a place.
fn config_in(place: &Path) -> Config {
    let mut config = Config::new(place.join("data"));
    config.access = access_in(place);
    config.listen = SocketAddr::from(([127, 0, 0, 1], free_port()));
    config.tls_files = Some(TlsFiles {
        certificate: place.join("certificate.pem"),
        key: place.join("key.pem"),
    });
    config.encryption = EncryptionMode::Optional;
    config.password_cost = PasswordCost::LEAST;
    // A busy machine may take its time.
    config.limits.login_time = Duration::from_secs(60);
    config.log = Log::silent();
    config
}

fn access(place: &TempDir) -> Access {
    access_in(place.path())
}

fn access_in(place: &Path) -> Access {
    let key = place.join("key");
    Access {
        identity: Some(format!("raw:{}", key.display()).parse().unwrap()),
        ..Access::default()
    }
}

/// A file of the server in this place.
pub fn in_sqlite(place: &Path, database: &str) -> Connection {
    let access = Access {
        allow_plain: true,
        ..access_in(place)
    };
    let path = place.join("data").join(format!("{database}.db"));
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(access.uri(&path).as_str(), flags).unwrap()
}

/// How often a server is started that finds its port taken.
const TRIES_MAX: u32 = 20;

/// A port that is free, below those that the system gives to clients, and another for each fixture.
fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    for _ in 0..10_000 {
        let number = std::process::id().wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % 10_000;
        let port = 20_000 + u16::try_from(number).unwrap();
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
    panic!("no port is free");
}
