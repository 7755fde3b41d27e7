//! TLS in memory: the server's side of packets and handshakes, as `selenite serve` speaks it.
//!
//! The client runs in the same process, outside of the clock. There is no socket: system calls are the same with TLS
//! and without.

use std::hint::black_box;
use std::io::{self, Read as _, Write as _};
use std::sync::Arc;

use rcgen::{CertificateParams, ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose, PKCS_RSA_SHA256};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::server::NoServerSessionStorage;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, SupportedProtocolVersion};
use selenite_plan::calibration::{TLS_1_2, TLS_1_3};
use selenite_worker::WorkerError;
use selenite_worker::meter::WorkTimer;

use super::arm_database::mean_ns;

/// Both ends of one version of TLS, with a certificate of RSA as the server makes one for itself.
pub struct TlsEndpoint {
    server: Arc<ServerConfig>,
    client: Arc<ClientConfig>,
}

/// The versions, by the names that a calibration gives them.
pub const VERSIONS: [&str; 2] = [TLS_1_2, TLS_1_3];

/// Sizes of packets: a short request, SQL Server's default size, and the largest of TDS.
pub const PACKET_BYTES: [u32; 3] = [128, 4096, 32_767];

impl TlsEndpoint {
    /// All versions, with one certificate.
    ///
    /// # Errors
    /// [`WorkerError::Engine`] for errors of the libraries.
    pub fn all() -> Result<Vec<(&'static str, Self)>, WorkerError> {
        let key = KeyPair::generate_for(&PKCS_RSA_SHA256).map_err(engine_error)?;
        let mut params = CertificateParams::new([HOST.to_owned()]).map_err(engine_error)?;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let certificate = params.self_signed(&key).map_err(engine_error)?.der().clone();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let versions = [(TLS_1_2, &TLS12), (TLS_1_3, &TLS13)];
        versions
            .into_iter()
            .map(|(name, version)| Ok((name, Self::new(version, &certificate, &key)?)))
            .collect()
    }

    fn new(
        version: &'static SupportedProtocolVersion,
        certificate: &CertificateDer<'static>,
        key: &PrivateKeyDer<'static>,
    ) -> Result<Self, WorkerError> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut server = ServerConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&[version])
            .map_err(engine_error)?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], key.clone_key())
            .map_err(engine_error)?;
        // The same setting as in the server.
        server.session_storage = Arc::new(NoServerSessionStorage {});
        server.send_tls13_tickets = 0;
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone()).map_err(engine_error)?;
        let client = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[version])
            .map_err(engine_error)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self {
            server: Arc::new(server),
            client: Arc::new(client),
        })
    }

    /// CPU nanoseconds of the server's side of a handshake.
    ///
    /// # Errors
    /// Errors of rustls.
    pub fn handshake(&self) -> Result<f64, WorkerError> {
        let mut sum = 0.0;
        for _ in 0..HANDSHAKES {
            sum += self.connect()?.2;
        }
        Ok(sum / f64::from(HANDSHAKES))
    }

    /// CPU nanoseconds of a packet of `bytes` bytes on the server's side: the mean of one that is sent and one that is
    /// received.
    ///
    /// # Errors
    /// Errors of rustls.
    pub fn packet(&self, bytes: u32) -> Result<f64, WorkerError> {
        let (mut server, mut client, _) = self.connect()?;
        let packet = vec![0x5a; bytes as usize];
        let count = PACKETS_KIB * 1024 / bytes;
        let mut wire = Vec::with_capacity((packet.len() + WIRE_SPARE) * count as usize);
        for _ in 0..count {
            client.writer().write_all(&packet).map_err(tls_error)?;
            while client.wants_write() {
                client.write_tls(&mut wire).map_err(tls_error)?;
            }
        }
        let mut buffer = packet.clone();
        // One clock reading for all packets of a direction, because it takes as long as a small packet.
        let part = WorkTimer::start();
        let received = receive(&mut server, &wire, &mut buffer)?;
        let receive_ns = mean_ns(part, count)?;
        if received != packet.len() * count as usize {
            return Err(WorkerError::Wrong(format!(
                "{received} bytes of {count} packets were received"
            )));
        }
        let part = WorkTimer::start();
        for _ in 0..count {
            wire.clear();
            server.writer().write_all(black_box(&packet)).map_err(tls_error)?;
            while server.wants_write() {
                server.write_tls(&mut wire).map_err(tls_error)?;
            }
        }
        Ok(f64::midpoint(receive_ns, mean_ns(part, count)?))
    }

    /// Both ends after their handshake, and CPU nanoseconds of the server's side of it.
    fn connect(&self) -> Result<(ServerConnection, ClientConnection, f64), WorkerError> {
        let name = ServerName::try_from(HOST).map_err(engine_error)?;
        let mut client = ClientConnection::new(self.client.clone(), name).map_err(engine_error)?;
        let part = WorkTimer::start();
        let mut server = ServerConnection::new(self.server.clone()).map_err(engine_error)?;
        let mut ns = mean_ns(part, 1)?;
        let mut wire = Vec::new();
        for _ in 0..FLIGHTS_MAX {
            if !client.is_handshaking() && !server.is_handshaking() && !server.wants_write() {
                return Ok((server, client, ns));
            }
            wire.clear();
            while client.wants_write() {
                client.write_tls(&mut wire).map_err(tls_error)?;
            }
            let part = WorkTimer::start();
            let mut rest = wire.as_slice();
            while !rest.is_empty() {
                server.read_tls(&mut rest).map_err(tls_error)?;
                server.process_new_packets().map_err(engine_error)?;
            }
            let mut answer = Vec::new();
            while server.wants_write() {
                server.write_tls(&mut answer).map_err(tls_error)?;
            }
            ns += mean_ns(part, 1)?;
            let mut rest = answer.as_slice();
            while !rest.is_empty() {
                client.read_tls(&mut rest).map_err(tls_error)?;
                client.process_new_packets().map_err(engine_error)?;
            }
        }
        Err(WorkerError::Wrong("a TLS handshake does not end".to_owned()))
    }
}

/// CPU nanoseconds of a packet in clear: a copy to a buffer.
///
/// # Errors
/// None is known.
pub fn copy(bytes: u32) -> Result<f64, WorkerError> {
    let packet = vec![0x5a; bytes as usize];
    let mut buffer = packet.clone();
    let part = WorkTimer::start();
    for _ in 0..COPIES {
        black_box(&mut buffer).copy_from_slice(black_box(&packet));
    }
    mean_ns(part, COPIES)
}

/// Receives packets from the wire, and returns their size in bytes. Plaintext is read as it
/// arrives, because rustls buffers only 16 KiB of it.
fn receive(server: &mut ServerConnection, wire: &[u8], buffer: &mut [u8]) -> Result<usize, WorkerError> {
    let (mut rest, mut received) = (wire, 0);
    while !rest.is_empty() {
        server.read_tls(&mut rest).map_err(tls_error)?;
        server.process_new_packets().map_err(engine_error)?;
        loop {
            match server.reader().read(buffer) {
                Ok(0) => break,
                Ok(count) => received += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(tls_error(error)),
            }
        }
    }
    Ok(received)
}

fn engine_error(error: impl std::fmt::Display) -> WorkerError {
    WorkerError::Engine(format!("TLS: {error}"))
}

fn tls_error(error: io::Error) -> WorkerError {
    engine_error(error)
}

const HOST: &str = "localhost";
/// A block of about 3 ms.
const HANDSHAKES: u32 = 3;
/// More flights than any handshake has.
const FLIGHTS_MAX: u32 = 10;
/// Packets of a block, in each direction.
const PACKETS_KIB: u32 = 1024;
/// What TLS adds to a packet.
const WIRE_SPARE: usize = 1024;
/// A block of more than 50 us.
const COPIES: u32 = 500;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_and_handshakes_of_every_version_take_time() {
        for (name, endpoint) in TlsEndpoint::all().unwrap() {
            assert!(VERSIONS.contains(&name));
            assert!(endpoint.handshake().unwrap() > 0.0);
            for bytes in PACKET_BYTES {
                assert!(endpoint.packet(bytes).unwrap() > 0.0);
            }
        }
        assert!(copy(4096).unwrap() > 0.0);
    }
}
