//! A key of the transit engine of HashiCorp Vault or OpenBao, over HTTPS.
//!
//! - key-stays-inside: the engine encrypts and decrypts under a key that it never gives.
//! - https-or-this-machine: without TLS only an agent on this machine is asked.
//! - others: see `http.rs`.

use std::net::IpAddr;
use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Certificate, Url};
use selenite::EngineError;
use selenite_keyring::read_trusted_text;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::http::{Answer, Caller, Failure, block_on, no_answer};
use super::{PLAIN_SIZE, input, input_to_wrap, output, read_secret, refused, unavailable};
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
    block_on(async {
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
    caller: Caller,
    address: Url,
    headers: HeaderMap,
    arguments: &'a Vault,
}

impl<'a> Transit<'a> {
    async fn log_in(arguments: &'a Vault) -> Result<Self, CliError> {
        let address = address(&arguments.address)?;
        let mut headers = HeaderMap::new();
        headers.insert(
            HeaderName::from_static("x-vault-request"),
            HeaderValue::from_static("true"),
        );
        if let Some(namespace) = &arguments.namespace {
            let value = HeaderValue::from_str(namespace).map_err(|_| usage("--namespace is not a namespace"))?;
            headers.insert(HeaderName::from_static("x-vault-namespace"), value);
        }
        let mut certificates = Vec::new();
        if let Some(path) = &arguments.ca_file {
            let text = read_trusted_text(path).map_err(EngineError::Key)?;
            certificates = Certificate::from_pem_bundle(text.as_bytes()).unwrap_or_default();
            if certificates.is_empty() {
                return Err(usage("--ca-file has no certificate"));
            }
        }
        let mut service = Self {
            caller: Caller::new(is_this_machine(&address), certificates)?,
            address,
            headers,
            arguments,
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
        service.headers.insert(HeaderName::from_static("x-vault-token"), token);
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

    async fn ask(&self, path: &[&str], body: &Value) -> Result<Value, CliError> {
        let mut url = self.address.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().push("v1");
            for part in path.iter().flat_map(|part| part.split('/')) {
                segments.push(part);
            }
        }
        let body = Zeroizing::new(body.to_string());
        self.caller.post(&url, &self.headers, &body, judge).await
    }
}

fn judge(answer: &Answer) -> Result<(), Failure> {
    let said = String::from_utf8_lossy(&answer.body);
    let known = KNOWN.iter().find(|known| said.contains(**known));
    let reason = known.map_or(String::new(), |known| format!(": {known}"));
    let what = format!("the service answered {}{reason}", answer.status);
    Err(match answer.status {
        200..=299 => return Ok(()),
        // https://developer.hashicorp.com/vault/api-docs#http-status-codes
        429 => Failure::Perhaps(unavailable(
            what,
            "name the active node in --address, or raise its rate limit quota",
        )),
        412 | 472 | 473 => Failure::Perhaps(unavailable(what, "name the active node in --address")),
        503 => Failure::Perhaps(unavailable(what, "unseal it, or wait until it runs")),
        500 | 502 | 504 => Failure::Perhaps(unavailable(what, "see its log")),
        403 => Failure::ForGood(refused(what, "check the token's policy, and that it has not expired")),
        404 => Failure::ForGood(refused(what, "check the names of the engine (--mount) and the key")),
        300..=399 => Failure::ForGood(refused(what, "state the address that it redirects to")),
        _ => Failure::ForGood(refused(what, "check the key, and that it was this one that wrapped")),
    })
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
    let bytes = read_secret(path, SECRET_SIZE_MAX)?;
    let text =
        std::str::from_utf8(&bytes).map_err(|_| refused(format!("{} is not text", path.display()), "correct it"));
    text.map(|text| Zeroizing::new(text.trim().to_owned()))
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
const SECRET_SIZE_MAX: usize = 1 << 16;
