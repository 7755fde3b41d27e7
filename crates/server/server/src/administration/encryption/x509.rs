//! X.509 certificates around age recipients.
//!
//! A certificate is signed by a key of its own (ECDSA on P-256), which is forgotten as soon as it has signed: what
//! the certificate is for is the age recipient that it names as a URI, `age:age1...`.

use std::time::Duration;

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use rcgen::string::Ia5String;
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, PKCS_ECDSA_P256_SHA256, SanType, SerialNumber};
use selenite_keyring::{keygen, os_random};
use zeroize::Zeroizing;

use super::private_part::PrivatePart;

/// A certificate and what belongs to it.
pub struct Issued {
    /// The certificate, as DER.
    pub certificate: Vec<u8>,
    /// The recipient for key slots.
    pub recipient: String,
    /// Its private part.
    pub private_part: PrivatePart,
}

/// Makes a certificate for a new age identity. Moments are seconds since 1970-01-01 UTC; what is before that is taken
/// for it.
///
/// # Errors
/// What is wrong, in words.
pub fn issue(subject: &str, not_before: i64, not_after: i64) -> Result<Issued, String> {
    let made = keygen(selenite::now());
    let secret = made.text.lines().find(|line| line.starts_with("AGE-SECRET-KEY-"));
    let identity = Zeroizing::new(secret.ok_or("no age key was made")?.to_owned());
    let mut serial = [0; 16];
    os_random(&mut serial);
    // A positive number whose first byte is not left out.
    serial[0] = serial[0] & 0x3f | 0x40;
    let bad = |error: rcgen::Error| error.to_string();
    let uri = Ia5String::try_from(format!("age:{}", made.recipient)).map_err(bad)?;
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, subject);
    params.subject_alt_names = vec![SanType::URI(uri)];
    params.serial_number = Some(SerialNumber::from_slice(&serial));
    let epoch = rcgen::date_time_ymd(1970, 1, 1);
    let moment = |seconds: i64| epoch + Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
    params.not_before = moment(not_before);
    params.not_after = moment(not_after);
    let signer = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(bad)?;
    let certificate = params.self_signed(&signer).map_err(bad)?.der().to_vec();
    let private_part = PrivatePart {
        thumbprint: thumbprint(&certificate),
        serial: serial.to_vec(),
        subject: subject.to_owned(),
        not_before,
        not_after,
        identity,
    };
    Ok(Issued {
        certificate,
        recipient: made.recipient,
        private_part,
    })
}

/// SHA-1 of a certificate, by which SQL Server distinguishes certificates. Nothing is trusted because of it.
pub fn thumbprint(certificate: &[u8]) -> Vec<u8> {
    digest(&SHA1_FOR_LEGACY_USE_ONLY, certificate).as_ref().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_names_its_subject_and_its_recipient() {
        let issued = issue("TestDB_Encryption", 0, 253_402_300_799).unwrap();
        let has = |text: &str| {
            issued
                .certificate
                .windows(text.len())
                .any(|window| window == text.as_bytes())
        };
        assert!(has("TestDB_Encryption") && has(&format!("age:{}", issued.recipient)));
        assert_eq!(issued.private_part.recipient().unwrap(), issued.recipient);
        assert_eq!(issued.private_part.thumbprint, thumbprint(&issued.certificate));
        assert_eq!(issued.private_part.thumbprint.len(), 20);
        // The year 9999 ends as RFC 5280 has it.
        assert!(has("99991231235959Z"));
        let other = issue("TestDB_Encryption", 0, 1).unwrap();
        assert_ne!(other.recipient, issued.recipient);
        assert_ne!(other.private_part.serial, issued.private_part.serial);
    }
}
