//! A key of AWS KMS, or of a service that speaks its protocol. Region, keys and certificates are those of object
//! stores as destinations of backups (CONFIGURATION, "Backup destinations").

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use selenite::EngineError;
use selenite_backup::s3::{AwsService, Settings};
use selenite_backup::{StoreError, StoreErrorKind};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::http::{Answer, Caller, Failure, block_on, no_answer};
use super::{PLAIN_SIZE, input, input_to_wrap, output, refused, unavailable};
use crate::arguments::key_service::{AwsKms, Task};
use crate::cli_error::CliError;
use crate::output::print;
use crate::printable;

pub fn run(arguments: &AwsKms) -> Result<(), CliError> {
    let given = match arguments.task {
        Task::Wrap => input_to_wrap()?,
        Task::Unwrap => input()?,
        Task::Check => Zeroizing::default(),
    };
    let place = (arguments.endpoint.as_deref(), arguments.region.as_deref());
    let service = AwsService::open("kms", place, &Settings::of_the_process()).map_err(of_settings)?;
    let kms = Kms {
        caller: Caller::new(service.is_loopback(), service.certificates().iter().cloned())?,
        key: &arguments.key,
        service,
    };
    block_on(async {
        match arguments.task {
            Task::Wrap => output(&kms.encrypt(&given).await?),
            Task::Unwrap => output(&kms.decrypt(&given).await?),
            Task::Check => {
                let plain = [7; PLAIN_SIZE];
                if *kms.decrypt(&kms.encrypt(&plain).await?).await? != plain {
                    let what = "the service returned other bytes than it was given";
                    return Err(refused(what, "do not use this key"));
                }
                Ok(print(&format!(
                    "service    {}\nkey        {}: encrypts and decrypts\n",
                    printable::line(kms.service.url()),
                    printable::line(&arguments.key)
                ))?)
            }
        }
    })
}

struct Kms<'a> {
    caller: Caller,
    service: AwsService,
    key: &'a str,
}

impl Kms<'_> {
    async fn encrypt(&self, plain: &[u8]) -> Result<Vec<u8>, CliError> {
        let text = Zeroizing::new(BASE64_STANDARD.encode(plain));
        let body = json!({"KeyId": self.key, "Plaintext": *text});
        let answer = self.ask("Encrypt", &body).await?;
        let wrapped = answer
            .get("CiphertextBlob")
            .and_then(Value::as_str)
            .ok_or_else(no_answer)?;
        let wrapped = BASE64_STANDARD.decode(wrapped).map_err(|_| no_answer())?;
        // A proxy may answer with what it was sent.
        if wrapped.windows(plain.len()).any(|part| part == plain) {
            return Err(no_answer());
        }
        Ok([MAGIC, wrapped.as_slice()].concat())
    }

    /// Under this key alone: without its name KMS takes the one that the ciphertext names.
    async fn decrypt(&self, wrapped: &[u8]) -> Result<Zeroizing<Vec<u8>>, CliError> {
        let blob = wrapped.strip_prefix(MAGIC);
        let blob = blob.ok_or_else(|| refused("not wrapped by this command", "use the one that wrapped it"))?;
        let body = json!({"KeyId": self.key, "CiphertextBlob": BASE64_STANDARD.encode(blob)});
        let answer = self.ask("Decrypt", &body).await?;
        let plain = answer.get("Plaintext").and_then(Value::as_str).ok_or_else(no_answer)?;
        BASE64_STANDARD
            .decode(plain)
            .map(Zeroizing::new)
            .map_err(|_| no_answer())
    }

    async fn ask(&self, action: &str, body: &Value) -> Result<Value, CliError> {
        let url = Url::parse(self.service.url()).map_err(|_| no_answer())?;
        let body = Zeroizing::new(body.to_string());
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-amz-json-1.1"));
        let target = HeaderValue::from_str(&format!("TrentService.{action}")).map_err(|_| no_answer())?;
        headers.insert(HeaderName::from_static("x-amz-target"), target);
        let credential = self.service.credential().await.map_err(of_settings)?;
        // It is signed for some minutes, and so for every attempt.
        let headers = self
            .service
            .signed(&credential, headers, body.as_bytes())
            .map_err(of_settings)?;
        self.caller.post(&url, &headers, &body, judge).await
    }
}

fn judge(answer: &Answer) -> Result<(), Failure> {
    if (200..=299).contains(&answer.status) {
        return Ok(());
    }
    let found: Option<Value> = serde_json::from_slice(&answer.body).ok();
    let name = found
        .as_ref()
        .and_then(|found| found.get("__type"))
        .and_then(Value::as_str);
    let name = name.map(|name| name.rsplit('#').next().unwrap_or(name));
    let known = ERRORS.iter().find(|(known, ..)| Some(*known) == name);
    let reason = known.map_or(String::new(), |(known, ..)| format!(": {known}"));
    let what = format!("the service answered {}{reason}", answer.status);
    Err(match known {
        Some((_, false, next)) => Failure::ForGood(refused(what, next)),
        Some((_, true, next)) => Failure::Perhaps(unavailable(what, next)),
        None if answer.status == 429 || answer.status >= 500 => {
            Failure::Perhaps(unavailable(what, "wait until it runs"))
        }
        None => Failure::ForGood(refused(what, "check the endpoint, the region and the key")),
    })
}

fn of_settings(error: StoreError) -> CliError {
    if error.kind == StoreErrorKind::Denied {
        return refused(error.what, "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and the others");
    }
    CliError::Engine(EngineError::Usage {
        what: error.what,
        next: "see selenite key-service aws-kms --help".to_owned(),
    })
}

/// The beginning of what this command wraps, with a version.
const MAGIC: &[u8] = b"SelKMS\x01";
/// Names of errors (KMS API Reference, "Common Errors", Encrypt, Decrypt), whether another attempt may succeed, advice.
const ERRORS: [(&str, bool, &str); 16] = [
    (
        "AccessDeniedException",
        false,
        "the key's policy has to allow kms:Encrypt and kms:Decrypt",
    ),
    ("DisabledException", false, "enable the key"),
    ("DependencyTimeoutException", true, "try again"),
    ("ExpiredTokenException", false, "renew the keys of the session"),
    ("IncorrectKeyException", false, "name the key that wrapped"),
    ("IncompleteSignature", false, "check the keys"),
    (
        "InvalidCiphertextException",
        false,
        "it was altered, or wrapped by another key",
    ),
    ("InvalidKeyUsageException", false, "use a key for ENCRYPT_DECRYPT"),
    (
        "InvalidSignatureException",
        false,
        "check the keys, and the clock of this machine",
    ),
    ("KMSInternalException", true, "try again"),
    (
        "KMSInvalidStateException",
        false,
        "the key is to be deleted, or not there yet",
    ),
    ("KeyUnavailableException", true, "try again"),
    ("NotFoundException", false, "check the key and the region"),
    ("ServiceUnavailable", true, "try again"),
    ("ThrottlingException", true, "try again later"),
    ("UnrecognizedClientException", false, "check the keys"),
];
