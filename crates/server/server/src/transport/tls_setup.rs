//! The server's certificate, and the two ways in which it is shown.

use std::fmt;
use std::sync::Arc;

use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::NoServerSessionStorage;
use rustls::version::{TLS12, TLS13};
use rustls::{ServerConfig, SupportedProtocolVersion};

/// How TLS is spoken.
#[derive(Clone)]
pub struct TlsSetup {
    /// Inside PRELOGIN: TLS 1.2 alone.
    pub in_prelogin: Arc<ServerConfig>,
    /// Before the first packet: TLS 1.3, or 1.2, and the protocol `tds/8.0` (MS-TDS 3.2.5.1).
    pub strict: Arc<ServerConfig>,
}

/// A certificate or key that TLS can't use.
#[derive(Debug)]
pub struct TlsSetupError(rustls::Error);

impl TlsSetup {
    /// The setup for a certificate, followed by its chain, and its key.
    ///
    /// # Errors
    /// [`TlsSetupError`] if the key is of no known kind, or not the certificate's.
    pub fn new(chain: &[CertificateDer<'static>], key: &PrivateKeyDer<'static>) -> Result<Self, TlsSetupError> {
        let in_prelogin = config(&[&TLS12], chain, key)?;
        let mut strict = config(&[&TLS13, &TLS12], chain, key)?;
        strict.alpn_protocols = vec![b"tds/8.0".to_vec()];
        // Several clients take a ticket for the answer that they wait for.
        strict.send_tls13_tickets = 0;
        Ok(Self {
            in_prelogin: Arc::new(in_prelogin),
            strict: Arc::new(strict),
        })
    }
}

fn config(
    versions: &[&'static SupportedProtocolVersion],
    chain: &[CertificateDer<'static>],
    key: &PrivateKeyDer<'static>,
) -> Result<ServerConfig, TlsSetupError> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .map_err(TlsSetupError)?
        .with_no_client_auth()
        .with_single_cert(chain.to_vec(), key.clone_key())
        .map_err(TlsSetupError)?;
    // A resumed handshake has its turns in another order, which was never tried inside PRELOGIN; and nothing is kept
    // then.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    Ok(config)
}

impl fmt::Display for TlsSetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl std::error::Error for TlsSetupError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}
