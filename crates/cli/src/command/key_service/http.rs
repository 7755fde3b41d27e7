//! Requests to a key service over HTTPS.
//!
//! - no-redirects: a token goes to the address that was configured and to no other.
//! - known-texts-only: of what a server says in an error, only known texts are shown: it may repeat what it was sent.
//! - within-the-limit: everything is over before the key provider of the application gives up.
//! - repeated-while-temporary: what the service refuses for a moment is asked again, with pauses that double.

use std::error::Error;
use std::time::{Duration, Instant};

use reqwest::header::HeaderMap;
use reqwest::{Certificate, Client, Url};
use rustls::{CertificateError, Error as TlsError};
use serde_json::Value;
use zeroize::Zeroizing;

use super::unavailable;
use crate::cli_error::CliError;

/// Sends requests until its time is over.
pub struct Caller {
    client: Client,
    ends: Instant,
}

/// An answer.
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The body, at most 64 KiB.
    pub body: Zeroizing<Vec<u8>>,
}

/// What an answer is worth.
pub enum Failure {
    /// Another attempt may succeed.
    Perhaps(CliError),
    /// It won't.
    ForGood(CliError),
}

impl Caller {
    /// With certificates that are trusted besides the system's. A service of this machine is asked without a proxy.
    pub fn new(is_this_machine: bool, certificates: impl IntoIterator<Item = Certificate>) -> Result<Self, CliError> {
        let mut builder = Client::builder()
            .user_agent(concat!("selenite/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .http1_only()
            .connect_timeout(ATTEMPT_LIMIT)
            .tls_certs_merge(certificates);
        if is_this_machine {
            builder = builder.no_proxy();
        }
        Ok(Self {
            client: builder.build().map_err(|_| unavailable("can't begin with TLS", ""))?,
            ends: Instant::now() + TIME_LIMIT,
        })
    }

    /// Posts a body; `judge` says what an answer is worth.
    pub async fn post(
        &self,
        url: &Url,
        headers: &HeaderMap,
        body: &str,
        judge: impl Fn(&Answer) -> Result<(), Failure>,
    ) -> Result<Value, CliError> {
        let mut pause = PAUSE;
        loop {
            let answer = match self.attempt(url, headers, body).await {
                Ok(answer) => judge(&answer).map(|()| answer),
                Err(error) => Err(Failure::Perhaps(error)),
            };
            let failed = match answer {
                Ok(answer) => return serde_json::from_slice(&answer.body).map_err(|_| no_answer()),
                Err(Failure::ForGood(error)) => return Err(error),
                Err(Failure::Perhaps(error)) => error,
            };
            if Instant::now() + pause >= self.ends {
                return Err(failed);
            }
            tokio::time::sleep(pause).await;
            pause *= 2;
        }
    }

    async fn attempt(&self, url: &Url, headers: &HeaderMap, body: &str) -> Result<Answer, CliError> {
        let left = self.ends.saturating_duration_since(Instant::now());
        let request = self
            .client
            .post(url.clone())
            .headers(headers.clone())
            .body(body.to_owned());
        let sent = request.timeout(left.min(ATTEMPT_LIMIT)).send().await;
        let mut answer = sent.map_err(|error| {
            let (what, hint) = reason(&error);
            unavailable(format!("the service{what}"), hint)
        })?;
        let mut bytes = Zeroizing::new(Vec::with_capacity(ANSWER_SIZE_MAX));
        loop {
            match answer.chunk().await {
                Ok(Some(part)) if bytes.len() + part.len() <= ANSWER_SIZE_MAX => bytes.extend_from_slice(&part),
                Ok(None) => break,
                Ok(Some(_)) => return Err(no_answer()),
                Err(_) => {
                    return Err(unavailable(
                        "the service ended the connection within its answer",
                        "try again",
                    ));
                }
            }
        }
        Ok(Answer {
            status: answer.status().as_u16(),
            body: bytes,
        })
    }
}

/// Why a service can't be asked, and what to do.
fn reason(error: &reqwest::Error) -> (&'static str, &'static str) {
    let is_it = "check its address, and that it runs";
    if error.is_timeout() {
        return (" does not answer in time", is_it);
    }
    if !error.is_connect() {
        return (" ended the connection", is_it);
    }
    match tls_error(error) {
        Some(TlsError::InvalidCertificate(CertificateError::Expired | CertificateError::ExpiredContext { .. })) => (
            "'s certificate has expired",
            "renew it, or set the clock of this machine",
        ),
        Some(TlsError::InvalidCertificate(
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. },
        )) => (
            "'s certificate is not valid yet",
            "set the clock of this machine, or of the one that made the certificate",
        ),
        Some(TlsError::InvalidCertificate(_)) => (
            "'s certificate is not trusted",
            "check its address, and the certificates that this machine trusts",
        ),
        Some(_) => (" and this machine do not agree on TLS", "check its address"),
        None => (" can't be reached, or ended the connection", is_it),
    }
}

/// The error of TLS that is the cause of another.
fn tls_error(error: &reqwest::Error) -> Option<&TlsError> {
    let mut next: Option<&(dyn Error + 'static)> = error.source();
    while let Some(cause) = next {
        let inner = cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        let inner: Option<&(dyn Error + 'static)> = inner.map(|inner| inner as _);
        let found = inner.unwrap_or(cause).downcast_ref();
        if found.is_some() {
            return found;
        }
        next = inner.or_else(|| cause.source());
    }
    None
}

/// Runs one key's requests.
pub fn block_on<T>(work: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| unavailable(format!("can't begin: {error}"), ""))?;
    runtime.block_on(work)
}

pub fn no_answer() -> CliError {
    unavailable(
        "the service's answer is not one of such a service",
        "check its address and the name of the key",
    )
}

/// Below the ten seconds of a key command.
const TIME_LIMIT: Duration = Duration::from_secs(8);
const ATTEMPT_LIMIT: Duration = Duration::from_secs(4);
const PAUSE: Duration = Duration::from_millis(200);
const ANSWER_SIZE_MAX: usize = 1 << 16;
