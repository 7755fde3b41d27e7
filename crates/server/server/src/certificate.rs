//! The server's certificate: the user's, or one of its own.

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose, PKCS_RSA_SHA256};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use time::OffsetDateTime;
use zeroize::Zeroizing;

use crate::ServerError;
use crate::config::TlsFiles;
use crate::instance::host_name;
use crate::master::{Master, StoredCertificate};
use crate::transport::TlsSetup;

/// A certificate of the server's own, as clients find it.
pub struct OwnCertificate {
    /// Its file.
    pub path: PathBuf,
    /// SHA-256 of its DER.
    pub fingerprint: [u8; 32],
    /// Whether it was created just now.
    pub is_new: bool,
}

/// TLS with the user's certificate.
///
/// # Errors
/// [`ServerError::Certificate`].
pub fn from_files(files: &TlsFiles) -> Result<TlsSetup, ServerError> {
    let bad = |path: &Path, what: &dyn std::fmt::Display| ServerError::Certificate {
        what: format!("{}: {what}", path.display()),
    };
    let chain = CertificateDer::pem_file_iter(&files.certificate).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let chain = chain.map_err(|error| bad(&files.certificate, &error))?;
    if chain.is_empty() {
        return Err(bad(&files.certificate, &"no certificate is in it"));
    }
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|error| bad(&files.key, &error))?;
    TlsSetup::new(&chain, &key).map_err(|error| bad(&files.key, &error))
}

/// TLS with the server's own certificate: the one in master.db, or a new one if there is none, or it ends soon.
///
/// # Errors
/// [`ServerError`].
pub fn own(master: &Master, folder: &Path, listen: SocketAddr) -> Result<(TlsSetup, OwnCertificate), ServerError> {
    let now = i64::try_from(selenite::now()).unwrap_or(i64::MAX);
    let kept = master
        .certificate()?
        .filter(|kept| now < kept.not_after - RENEW_SECONDS);
    let is_new = kept.is_none();
    let stored = match kept {
        Some(stored) => stored,
        None => {
            let stored = make(&names(listen), now)?;
            master.store_certificate(&stored)?;
            stored
        }
    };
    let path = folder.join(FILE);
    let text = pem(&stored.certificate);
    if fs::read_to_string(&path).ok().as_deref() != Some(text.as_str()) {
        fs::write(&path, &text).map_err(|source| ServerError::Io {
            verb: "write",
            path: path.clone(),
            source,
        })?;
    }
    let mut fingerprint = [0; 32];
    fingerprint.copy_from_slice(digest(&SHA256, &stored.certificate).as_ref());
    let chain = [CertificateDer::from(stored.certificate)];
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(stored.key.to_vec()));
    let setup = TlsSetup::new(&chain, &key).map_err(|error| ServerError::Certificate {
        what: format!("the server's own certificate: {error}"),
    })?;
    let own = OwnCertificate {
        path,
        fingerprint,
        is_new,
    };
    Ok((setup, own))
}

/// The names under which clients of this machine and of others may reach it.
fn names(listen: SocketAddr) -> Vec<String> {
    let mut names = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
    let listened: IpAddr = listen.ip();
    names.push(host_name());
    if !listened.is_unspecified() {
        names.push(listened.to_string());
    }
    names.sort();
    names.dedup();
    names
}

/// RSA of 2048 bits, which every client accepts; and not a certificate authority, since some clients accept none as a
/// server.
fn make(names: &[String], now: i64) -> Result<StoredCertificate, ServerError> {
    let bad = |error: rcgen::Error| ServerError::Machine(format!("no certificate could be made: {error}"));
    let key = KeyPair::generate_for(&PKCS_RSA_SHA256).map_err(bad)?;
    let mut params = CertificateParams::new(names).map_err(bad)?;
    params.distinguished_name.push(DnType::CommonName, "Selenite");
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let not_after = now + GOOD_SECONDS;
    // Clocks differ.
    params.not_before = moment(now - DAY_SECONDS);
    params.not_after = moment(not_after);
    let certificate = params.self_signed(&key).map_err(bad)?;
    Ok(StoredCertificate {
        certificate: certificate.der().to_vec(),
        key: Zeroizing::new(key.serialize_der()),
        not_after,
    })
}

/// A moment between 1970 and 9999, which a wrong clock is not.
fn moment(seconds: i64) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(seconds.clamp(0, LAST_SECOND)).unwrap_or(OffsetDateTime::UNIX_EPOCH)
}

fn pem(der: &[u8]) -> String {
    let encoded = STANDARD.encode(der);
    let mut text = "-----BEGIN CERTIFICATE-----\n".to_owned();
    let mut rest = encoded.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(PEM_LINE_SIZE));
        text.push_str(line);
        text.push('\n');
        rest = after;
    }
    text.push_str("-----END CERTIFICATE-----\n");
    text
}

/// The end of the year 9999.
const LAST_SECOND: i64 = 253_402_300_799;
const FILE: &str = "server-certificate.pem";
const DAY_SECONDS: i64 = 86_400;
/// Ten years: a client that pins it should rarely have to change that.
const GOOD_SECONDS: i64 = 3650 * DAY_SECONDS;
/// It is replaced 30 days before its end.
const RENEW_SECONDS: i64 = 30 * DAY_SECONDS;
/// RFC 7468.
const PEM_LINE_SIZE: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_one_that_a_certificate_can_name() {
        for (seconds, named) in [(0, 0), (951_782_400, 951_782_400), (i64::MAX, LAST_SECOND), (-1, 0)] {
            assert_eq!(moment(seconds).unix_timestamp(), named, "{seconds}");
        }
    }

    #[test]
    fn a_certificate_is_for_where_the_server_listens() {
        let given = names("192.0.2.1:1433".parse().unwrap());
        assert!(given.contains(&"192.0.2.1".to_owned()) && given.contains(&"localhost".to_owned()));
        assert!(!names("0.0.0.0:1433".parse().unwrap()).contains(&"0.0.0.0".to_owned()));
    }
}
