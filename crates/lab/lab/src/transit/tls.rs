//! TLS of a client that trusts only the certificate of its server.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

use super::mode::Mode;

/// TLS of a connection before its handshake.
///
/// # Errors
/// The file contains no certificate; errors of rustls.
pub fn begin(mode: Mode, certificate: &Path) -> io::Result<ClientConnection> {
    let mut roots = RootCertStore::empty();
    let der = CertificateDer::from_pem_file(certificate).map_err(io::Error::other)?;
    roots.add(der).map_err(io::Error::other)?;
    let versions = match mode {
        Mode::Strict => [&TLS13],
        Mode::Off | Mode::Optional | Mode::Require | Mode::Offload => [&TLS12],
    };
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&versions)
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    if mode == Mode::Strict {
        config.alpn_protocols = vec![b"tds/8.0".to_vec()];
    }
    let name = ServerName::try_from("localhost").map_err(io::Error::other)?;
    ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)
}
