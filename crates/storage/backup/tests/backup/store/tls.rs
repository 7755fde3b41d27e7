//! The server is authenticated by its certificate.

use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use selenite_backup::{StoreErrorKind, s3::Settings};
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use super::faulty_store::{Fault, FaultyStore, Habits};
use super::real_store::RealStore;
use super::{listen, open, refused, settings};

/// TLS in front of a store, with a certificate for `name`.
struct Front {
    port: u16,
    /// The folder with the trusted certificate, `ca.pem`.
    folder: TempDir,
    _runtime: Runtime,
}

impl Front {
    fn start(store_port: u16, name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.pem"), params.self_signed(&key).unwrap().pem()).unwrap();
        let issuer = Issuer::new(params, key);
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(vec![name.to_owned()])
            .unwrap()
            .signed_by(&key, &issuer)
            .unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let config = ServerConfig::builder().with_no_client_auth();
        let config = config.with_single_cert(vec![certificate.der().clone()], key).unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));

        let listener = listen();
        let port = listener.local_addr().unwrap().port();
        listener.set_nonblocking(true).unwrap();
        let runtime = Runtime::new().unwrap();
        runtime.spawn(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            while let Ok((near, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    if let Ok(mut near) = acceptor.accept(near).await {
                        let mut far = TcpStream::connect(("127.0.0.1", store_port)).await.unwrap();
                        let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
                    }
                });
            }
        });
        Self {
            port,
            folder,
            _runtime: runtime,
        }
    }

    fn settings(&self, believes: bool) -> Settings {
        let mut settings = settings(self.port);
        let endpoint = format!("https://127.0.0.1:{}", self.port);
        settings.environment.insert("AWS_ENDPOINT_URL".to_owned(), endpoint);
        if believes {
            let path: PathBuf = self.folder.path().join("ca.pem");
            let path = path.to_str().unwrap().to_owned();
            settings.environment.insert("AWS_CA_BUNDLE".to_owned(), path);
        }
        settings
    }
}

#[test]
fn a_store_with_a_trusted_certificate_is_used() {
    let store = RealStore::start();
    let front = Front::start(store.port, "127.0.0.1");
    let place = open(&front.settings(true));
    place.put_new("a", &[7; 100_000]).unwrap();
    assert_eq!(place.get("a", 100_000).unwrap(), [7; 100_000]);
    assert_eq!(place.list("").unwrap().len(), 1);
    assert_eq!(place.traffic().retries, 0);
}

#[test]
fn no_request_is_sent_to_a_server_without_a_trusted_certificate() {
    let store = FaultyStore::start(Habits::default());
    for (name, believes) in [("127.0.0.1", false), ("example.org", true)] {
        let front = Front::start(store.port, name);
        let place = open(&front.settings(believes));
        let error = refused(place.put_new("a", b"1"));
        assert_eq!(error.kind, StoreErrorKind::Unreachable);
        assert!(error.what.starts_with("cannot verify the server: "), "{error}");
        let traffic = place.traffic();
        assert_eq!((traffic.requests, traffic.retries, traffic.sent), (1, 0, 0));
    }
    assert_eq!(store.state().asked.len(), 0);
}

#[test]
fn a_redirection_to_plain_http_is_not_followed() {
    let clear = FaultyStore::start(Habits::default());
    let store = FaultyStore::start(Habits::default());
    let front = Front::start(store.port, "127.0.0.1");
    let place = open(&front.settings(true));
    store.fail([Fault::Redirects(format!("http://127.0.0.1:{}/x", clear.port))]);
    assert_eq!(refused(place.get("a", 9)).kind, StoreErrorKind::Usage);
    assert_eq!(clear.state().asked.len(), 0);
}

#[test]
fn a_file_without_certificates_is_refused() {
    let front = Front::start(1, "127.0.0.1");
    std::fs::write(front.folder.path().join("ca.pem"), "hunter2").unwrap();
    let opened = selenite_backup::open_with("s3://backups/db", &front.settings(true));
    assert_eq!(refused(opened).kind, StoreErrorKind::Usage);
}
