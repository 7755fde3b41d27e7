//! A key of the transit engine of HashiCorp Vault or OpenBao, over HTTPS.
//!
//! - key-stays-inside: the engine encrypts and decrypts under a key that it never gives.
//! - https-or-this-machine: without TLS only an agent on this machine is asked.
//! - no-redirects: a token goes to the address that was configured and to no other.
//! - known-texts-only: of what a server says in an error, only the texts below are shown: it may repeat what it was sent.
//! - within-the-limit: everything is over before the key provider of the application gives up.

use std::net::IpAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Certificate, Client, Url};
use selenite::EngineError;
use selenite_keyring::{read_trusted, read_trusted_text};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::{PLAIN_SIZE, input, input_to_wrap, output, refused, unavailable};
use crate::arguments::key_service::{Task, Vault};
use crate::cli_error::CliError;
use crate::output::print;
use crate::printable;

pub fn run(arguments: &Vault) -> Result<(), CliError> {
    let given = match arguments.task {
        Task::Wrap => input_to_wrap()?,
        Task::Unwrap => input()?,
        Task::Check => Zeroizing::default(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| unavailable(format!("can't begin: {error}"), ""))?;
    runtime.block_on(async {
        let service = Transit::log_in(arguments).await?;
        match arguments.task {
            Task::Wrap => output(service.encrypt(&given).await?.as_bytes()),
            Task::Unwrap => output(&service.decrypt(&given).await?),
            Task::Check => {
                let plain = [7; PLAIN_SIZE];
                let wrapped = service.encrypt(&plain).await?;
                if *service.decrypt(wrapped.as_bytes()).await? != plain {
                    let what = "the service returned other bytes than it was given";
                    return Err(refused(what, "do not use this key"));
                }
                let version = wrapped.split(':').nth(1).unwrap_or_default();
                Ok(print(&format!(
                    "service    {}\nkey        {}, version {}: encrypts and decrypts\n",
                    printable::line(&arguments.address),
                    printable::line(&arguments.key),
                    printable::line(version)
                ))?)
            }
        }
    })
}

/// The engine, with a token.
struct Transit<'a> {
    client: Client,
    address: Url,
    token: Option<HeaderValue>,
    arguments: &'a Vault,
    ends: Instant,
}

impl<'a> Transit<'a> {
    async fn log_in(arguments: &'a Vault) -> Result<Self, CliError> {
        let ends = Instant::now() + TIME_LIMIT;
        let address = address(&arguments.address)?;
        let mut headers = HeaderMap::from_iter([(
            reqwest::header::HeaderName::from_static("x-vault-request"),
            HeaderValue::from_static("true"),
        )]);
        if let Some(namespace) = &arguments.namespace {
            let value = HeaderValue::from_str(namespace).map_err(|_| usage("--namespace is not a namespace"))?;
            headers.insert("x-vault-namespace", value);
        }
        let mut builder = Client::builder()
            .user_agent(concat!("selenite/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .default_headers(headers)
            .connect_timeout(ATTEMPT_LIMIT)
            .timeout(ATTEMPT_LIMIT);
        if is_this_machine(&address) {
            builder = builder.no_proxy();
        }
        if let Some(path) = &arguments.ca_file {
            let text = read_trusted_text(path).map_err(EngineError::Key)?;
            let certificates = Certificate::from_pem_bundle(text.as_bytes())
                .ok()
                .filter(|certificates| !certificates.is_empty());
            let certificates = certificates.ok_or_else(|| usage("--ca-file has no certificate"))?;
            builder = builder.tls_certs_merge(certificates);
        }
        let client = builder.build().map_err(|_| unavailable("can't begin with TLS", ""))?;
        let mut service = Self {
            client,
            address,
            token: None,
            arguments,
            ends,
        };
        let token = if let Some(path) = &arguments.token_file {
            secret(path)?
        } else if let (Some(role), Some(secret_id)) = (&arguments.role_id_file, &arguments.secret_id_file) {
            let body = json!({"role_id": *secret(role)?, "secret_id": *secret(secret_id)?});
            service.token_of("approle", &body).await?
        } else if let Some(role) = &arguments.kubernetes_role {
            let body = json!({"role": role, "jwt": *secret(&arguments.jwt_file)?});
            service.token_of("kubernetes", &body).await?
        } else {
            return Err(usage(
                "no token: --token-file, --role-id-file and --secret-id-file, or --kubernetes-role",
            ));
        };
        let mut token =
            HeaderValue::from_str(&token).map_err(|_| refused("the token is not one", "correct its file"))?;
        token.set_sensitive(true);
        service.token = Some(token);
        Ok(service)
    }

    async fn token_of(&self, method: &str, body: &Value) -> Result<Zeroizing<String>, CliError> {
        let mount = self.arguments.auth_mount.as_deref().unwrap_or(method);
        let answer = self.ask(&["auth", mount, "login"], body).await?;
        let token = answer.pointer("/auth/client_token").and_then(Value::as_str);
        token
            .map(|token| Zeroizing::new(token.to_owned()))
            .ok_or_else(no_answer)
    }

    async fn encrypt(&self, plain: &[u8]) -> Result<String, CliError> {
        let text = Zeroizing::new(BASE64_STANDARD.encode(plain));
        let answer = self.transit("encrypt", &json!({"plaintext": *text})).await?;
        let wrapped = answer.pointer("/data/ciphertext").and_then(Value::as_str);
        // A proxy may answer with what it was sent.
        let is_plausible = |wrapped: &&str| wrapped.starts_with(WRAPPED) && !wrapped.contains(text.as_str());
        wrapped.filter(is_plausible).map(str::to_owned).ok_or_else(no_answer)
    }

    async fn decrypt(&self, wrapped: &[u8]) -> Result<Zeroizing<Vec<u8>>, CliError> {
        let text = std::str::from_utf8(wrapped)
            .ok()
            .filter(|text| text.starts_with(WRAPPED));
        let text = text.ok_or_else(|| refused("not wrapped by this command", "use the one that wrapped it"))?;
        let answer = self.transit("decrypt", &json!({"ciphertext": text})).await?;
        let plain = answer
            .pointer("/data/plaintext")
            .and_then(Value::as_str)
            .ok_or_else(no_answer)?;
        BASE64_STANDARD
            .decode(plain)
            .map(Zeroizing::new)
            .map_err(|_| no_answer())
    }

    async fn transit(&self, verb: &str, body: &Value) -> Result<Value, CliError> {
        self.ask(&[&self.arguments.mount, verb, &self.arguments.key], body)
            .await
    }

    /// Sends a request, again after an answer that says "later" or none at all: each of them may be repeated.
    async fn ask(&self, path: &[&str], body: &Value) -> Result<Value, CliError> {
        let mut url = self.address.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().push("v1");
            for part in path.iter().flat_map(|part| part.split('/')) {
                segments.push(part);
            }
        }
        let body = Zeroizing::new(body.to_string());
        let mut pause = PAUSE;
        loop {
            let failed = match self.attempt(&url, &body).await {
                Ok(answer) => return Ok(answer),
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

    async fn attempt(&self, url: &Url, body: &str) -> Result<Value, Failure> {
        let mut request = self.client.post(url.clone()).body(body.to_owned());
        if let Some(token) = &self.token {
            request = request.header("x-vault-token", token.clone());
        }
        let left = self.ends.saturating_duration_since(Instant::now());
        let mut answer = request.timeout(left.min(ATTEMPT_LIMIT)).send().await.map_err(|error| {
            let what = match (error.is_timeout(), error.is_connect()) {
                (true, _) => "does not answer in time",
                (_, true) => "can't be reached, or its certificate is not trusted",
                _ => "ended the connection",
            };
            Failure::Perhaps(unavailable(
                format!("the service {what}"),
                "check its address, and that it runs",
            ))
        })?;
        let status = answer.status();
        let mut text = Zeroizing::new(Vec::with_capacity(ANSWER_SIZE_MAX));
        loop {
            match answer.chunk().await {
                Ok(Some(part)) if text.len() + part.len() <= ANSWER_SIZE_MAX => text.extend_from_slice(&part),
                Ok(None) => break,
                Ok(Some(_)) => return Err(Failure::ForGood(no_answer())),
                Err(_) => {
                    let what = "the service ended the connection within its answer";
                    return Err(Failure::Perhaps(unavailable(what, "try again")));
                }
            }
        }
        if status.is_success() {
            return serde_json::from_slice(&text).map_err(|_| Failure::ForGood(no_answer()));
        }
        let said = String::from_utf8_lossy(&text);
        let known = KNOWN.iter().find(|known| said.contains(**known));
        let reason = known.map_or(String::new(), |known| format!(": {known}"));
        let what = format!("the service answered {}{reason}", status.as_u16());
        Err(match status.as_u16() {
            429 | 500 | 502..=504 | 412 | 472 | 473 => {
                Failure::Perhaps(unavailable(what, "unseal it, or wait until it runs"))
            }
            403 => Failure::ForGood(refused(what, "check the token's policy, and that it has not expired")),
            404 => Failure::ForGood(refused(what, "check the names of the engine (--mount) and the key")),
            300..=399 => Failure::ForGood(refused(what, "state the address that it redirects to")),
            _ => Failure::ForGood(refused(what, "check the key, and that it was this one that wrapped")),
        })
    }
}

enum Failure {
    /// Another attempt may succeed.
    Perhaps(CliError),
    ForGood(CliError),
}

fn address(text: &str) -> Result<Url, CliError> {
    let url = Url::parse(text).map_err(|_| usage("--address is not a URL"))?;
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
        return Err(usage("--address has a scheme, a host, a port and a path alone"));
    }
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_this_machine(&url) => Ok(url),
        _ => Err(usage(
            "--address begins with https://: http:// is for an agent on this machine alone",
        )),
    }
}

fn is_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    address.map_or(host == "localhost", |address| address.is_loopback())
}

/// The text of a file that has a secret.
fn secret(path: &Path) -> Result<Zeroizing<String>, CliError> {
    let bytes = read_trusted(path, SECRET_SIZE_MAX).map_err(EngineError::Key)?;
    let text =
        std::str::from_utf8(&bytes).map_err(|_| refused(format!("{} is not text", path.display()), "correct it"));
    text.map(|text| Zeroizing::new(text.trim().to_owned()))
}

fn no_answer() -> CliError {
    unavailable(
        "the service's answer is not one of a transit engine",
        "check its address, --mount and the key",
    )
}

fn usage(what: &str) -> CliError {
    CliError::Engine(EngineError::Usage {
        what: what.to_owned(),
        next: "see selenite key-service vault --help".to_owned(),
    })
}

/// The beginning of every ciphertext of the engine.
const WRAPPED: &str = "vault:v";
/// Texts of Vault and OpenBao that name no value.
const KNOWN: [&str; 8] = [
    "permission denied",
    "invalid token",
    "Vault is sealed",
    "encryption key not found",
    "no handler for route",
    "ciphertext or signature version is disallowed by policy",
    "invalid ciphertext",
    "message authentication failed",
];
/// Below the ten seconds of a key command.
const TIME_LIMIT: Duration = Duration::from_secs(8);
const ATTEMPT_LIMIT: Duration = Duration::from_secs(4);
const PAUSE: Duration = Duration::from_millis(200);
const ANSWER_SIZE_MAX: usize = 1 << 16;
const SECRET_SIZE_MAX: usize = 1 << 16;
