//! A server of a test's own, in a folder of its own.

use std::net::SocketAddr;
use std::sync::Arc;

use selenite_engine::Access;
use selenite_server::password::PasswordCost;
use selenite_server::workbench::Bare;
use selenite_server::{Announcement, Config, Log, Running, Server, SqlFront, TlsFiles};
use selenite_tds::{EncryptionMode, PacketSize};
use tempfile::TempDir;

use crate::client::Client;

/// A server that runs.
pub struct Bench {
    pub running: Running,
    password: String,
    _place: TempDir,
}

impl Bench {
    pub fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let key = place.path().join("key");
        std::fs::write(&key, [7; 32]).unwrap();
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let files = TlsFiles {
            certificate: place.path().join("certificate.pem"),
            key: place.path().join("key.pem"),
        };
        std::fs::write(&files.certificate, made.cert.pem()).unwrap();
        std::fs::write(&files.key, made.signing_key.serialize_pem()).unwrap();
        let mut config = Config::new(place.path().join("data"));
        config.access = Access {
            identity: Some(format!("raw:{}", key.display()).parse().unwrap()),
            ..Access::default()
        };
        config.listen = SocketAddr::from(([127, 0, 0, 1], 0));
        config.tls_files = Some(files);
        config.encryption = EncryptionMode::Optional;
        config.password_cost = PasswordCost::LEAST;
        config.log = Log::silent();
        let mut password = String::new();
        let mut announce = |announcement: Announcement<'_>| {
            if let Announcement::Password(first) = announcement {
                first.clone_into(&mut password);
            }
            Ok(())
        };
        let open = |_: &Arc<_>| Ok(Arc::new(SqlFront::new(Arc::new(Bare))) as Arc<dyn selenite_server::Front>);
        let running = Server::start(config, &mut announce, open).unwrap();
        Self {
            running,
            password,
            _place: place,
        }
    }

    /// A client that has logged in as sa.
    pub fn client(&self) -> Client {
        self.client_of(PacketSize::DEFAULT)
    }

    pub fn client_of(&self, size: PacketSize) -> Client {
        Client::new(self.running.address(), &self.password, size).unwrap()
    }
}
