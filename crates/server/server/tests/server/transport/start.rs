//! How a server starts and stops.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use selenite::Class;
use selenite_server::{Announcement, Config, Front, Instance, Running, Server, ServerError};
use selenite_tds::client::prelogin;
use selenite_tds::{Encryption, EncryptionMode};

use super::client::{Client, Mode, new_prelogin};
use super::fixture::{Fixture, next_port};
use super::front::TestFront;

#[derive(Default)]
pub struct Said {
    pub password: Option<String>,
    certificate: Option<(PathBuf, bool)>,
    identity: Option<(PathBuf, bool)>,
    others: Vec<String>,
}

pub fn start(config: &Config) -> (Result<Running, ServerError>, Said) {
    let mut said = Said::default();
    let mut announce = |announcement: Announcement<'_>| {
        match announcement {
            Announcement::Password(password) => said.password = Some(password.to_owned()),
            Announcement::Certificate { path, is_new, .. } => said.certificate = Some((path.to_owned(), is_new)),
            Announcement::Identity { path, is_new } => said.identity = Some((path.to_owned(), is_new)),
            Announcement::NotLoopback(_) | Announcement::InClear(_) => said.others.push(format!("{announcement:?}")),
            // Of the machine that tests.
            Announcement::FewerSessions { .. } => {}
        }
        Ok(())
    };
    let started = loop {
        let mut config = config.clone();
        config.listen.set_port(next_port());
        match Server::start(config, &mut announce, front) {
            Err(ServerError::Listen { source, .. }) if source.kind() == std::io::ErrorKind::AddrInUse => {}
            started => break started,
        }
    };
    (started, said)
}

fn front(_: &Arc<Instance>) -> Result<Arc<dyn Front>, ServerError> {
    Ok(Arc::new(TestFront::default()))
}

fn own(place: &Path) -> Config {
    let mut config = Config::new(place.join("data"));
    config.new_identity = Some(place.join("keys").join("server-key.txt"));
    config
}

#[test]
fn the_first_start_creates_all_files_and_announces_the_password_once() {
    let place = tempfile::tempdir().unwrap();
    let config = own(place.path());
    let (running, said) = start(&config);
    let running = running.unwrap();
    let password = said.password.unwrap();
    let (certificate, is_new) = said.certificate.unwrap();
    assert!(is_new);
    assert_eq!(said.identity, Some((config.new_identity.clone().unwrap(), true)));
    assert_eq!(said.others, Vec::<String>::new());
    let mode = std::fs::metadata(&config.data).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o700);
    // Its own certificate is of RSA, and good for a client that checks it.
    for mode in [Mode::On, Mode::Strict] {
        let mut client = Client::connect(running.address(), mode, &certificate).unwrap();
        assert_eq!(client.log_in("sa", &password).errors(), []);
    }
    running.stop();
    let bytes = std::fs::read(config.data.join("master.db")).unwrap();
    for clear in [&b"SQLite format 3"[..], b"selenite_login", b"PRIVATE KEY"] {
        assert!(!bytes.windows(clear.len()).any(|window| window == clear));
    }

    let pem = std::fs::read(&certificate).unwrap();
    let (running, said) = start(&config);
    let running = running.unwrap();
    assert_eq!(said.password, None);
    assert_eq!(said.certificate.map(|(_, is_new)| is_new), Some(false));
    assert_eq!(said.identity.map(|(_, is_new)| is_new), Some(false));
    assert_eq!(std::fs::read(&certificate).unwrap(), pem);
    let mut client = Client::connect(running.address(), Mode::On, &certificate).unwrap();
    assert_eq!(client.log_in("sa", &password).errors(), []);
}

#[test]
fn a_password_that_could_not_be_announced_is_replaced() {
    let fixture = Fixture::new();
    let mut config = fixture.config(0);
    config.data = fixture.place.path().join("other");
    let mut first = String::new();
    let mut announce = |announcement: Announcement<'_>| {
        if let Announcement::Password(password) = announcement {
            password.clone_into(&mut first);
        }
        Err(std::io::ErrorKind::BrokenPipe.into())
    };
    config.listen.set_port(0);
    assert!(Server::start(config.clone(), &mut announce, front).is_err());
    let (running, said) = start(&config);
    let running = running.unwrap();
    assert_ne!(said.password.as_deref(), Some(first.as_str()));
    let mut client = Client::connect(running.address(), Mode::On, &fixture.certificate).unwrap();
    assert_eq!(client.log_in("sa", &said.password.unwrap()).errors(), []);
}

#[test]
fn a_second_server_is_kept_out_of_a_folder_and_of_a_port() {
    let mut fixture = Fixture::new();
    let (second, _) = start(&fixture.config(0));
    match second.err() {
        Some(error @ ServerError::InUse { by: Some(by), .. }) => {
            assert_eq!((by, error.class()), (std::process::id(), Class::Busy));
        }
        other => panic!("{other:?}"),
    }
    let mut config = fixture.config(fixture.address().port());
    config.data = fixture.place.path().join("other");
    match Server::start(config, &mut |_| Ok(()), front).err() {
        Some(error @ ServerError::Listen { .. }) => {
            assert_eq!(error.class(), Class::Busy);
            assert!(error.advice().contains("another program is using this port"));
        }
        other => panic!("{other:?}"),
    }
    assert!(!fixture.place.path().join("other").exists());
    assert!(fixture.client(Mode::On).works());
    fixture.stop();
    fixture.start(|_| {}).unwrap();
    assert!(fixture.client(Mode::On).works());
}

#[test]
fn a_server_starts_again_at_once_at_the_same_port() {
    let mut fixture = Fixture::new();
    let port = fixture.address().port();
    for _ in 0..5 {
        let mut client = fixture.client(Mode::On);
        assert!(client.works());
        fixture.stop();
        fixture.start(|config| config.listen.set_port(port)).unwrap();
    }
    assert!(fixture.client(Mode::On).works());
}

#[test]
fn another_identity_opens_nothing() {
    let mut fixture = Fixture::new();
    fixture.stop();
    let other = fixture.place.path().join("other-key");
    std::fs::write(&other, [8; 32]).unwrap();
    let mut config = fixture.config(0);
    config.access.identity = Some(format!("raw:{}", other.display()).parse().unwrap());
    let (started, said) = start(&config);
    assert_eq!(started.err().map(|error| error.class()), Some(Class::Key));
    assert_eq!(said.password, None);
    assert!(start(&fixture.config(0)).0.is_ok());
}

#[test]
fn a_certificate_that_is_none_is_refused_by_its_file() {
    let mut fixture = Fixture::new();
    fixture.stop();
    let mut config = fixture.config(0);
    let files = config.tls_files.as_mut().unwrap();
    files.key = files.certificate.clone();
    let error = start(&config).0.err().unwrap();
    assert!(matches!(error, ServerError::Certificate { .. }), "{error}");
    assert!(error.to_string().contains("certificate.pem"), "{error}");
    let files = config.tls_files.as_mut().unwrap();
    files.certificate = fixture.place.path().join("missing.pem");
    assert!(start(&config).0.err().unwrap().to_string().contains("missing.pem"));
}

#[test]
fn whoever_listens_to_others_is_warned() {
    let fixture = Fixture::new();
    let mut config = fixture.config(0);
    config.data = fixture.place.path().join("open");
    config.listen = "0.0.0.0:1".parse().unwrap();
    config.encryption = EncryptionMode::Optional;
    let (running, said) = start(&config);
    let running = running.unwrap();
    assert_eq!(said.others.len(), 2);
    assert!(said.others[0].contains("NotLoopback") && said.others[1].contains("InClear"));
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], running.address().port()));
    let mut client = Client::open(address).unwrap();
    client.send(&prelogin(&new_prelogin(Encryption::Off)).unwrap()).unwrap();
    assert!(client.message().is_ok());
}
