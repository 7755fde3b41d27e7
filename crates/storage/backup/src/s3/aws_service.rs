//! Signed requests to another service of AWS, with the keys, the region and the certificates of object stores.

use std::sync::Arc;

use http::{HeaderMap, Method, Request};
use object_store::StaticCredentialProvider;
use object_store::aws::{AwsAuthorizer, AwsCredential, AwsCredentialProvider};
use object_store::client::HttpRequestBody;
use reqwest::tls::Certificate;

use super::endpoint::Endpoint;
use super::keys::Service;
use super::settings::{Settings, check_region};
use super::wire::{Counters, RequestTarget, Wire};
use crate::destination::{StoreError, StoreErrorKind};

/// A service of AWS, such as `kms`.
pub struct AwsService {
    service: &'static str,
    region: String,
    endpoint: Endpoint,
    certificates: Vec<Certificate>,
    credentials: AwsCredentialProvider,
}

impl AwsService {
    /// Prepares requests. None is sent yet.
    ///
    /// The endpoint is the first of `endpoint`, `AWS_ENDPOINT_URL_` with the service's name, `AWS_ENDPOINT_URL`, and
    /// that of AWS in the region; the region is `region`, or that of the settings.
    ///
    /// # Errors
    /// Invalid settings.
    pub fn open(
        service: &'static str,
        (endpoint, region): (Option<&str>, Option<&str>),
        settings: &Settings,
    ) -> Result<Self, StoreError> {
        let found = settings.find(service)?;
        let region = region.map_or(found.region, str::to_owned);
        let wrong = |what: String| StoreError::usage(service, &what);
        check_region(service, &region)?;
        let variable = format!("AWS_ENDPOINT_URL_{}", service.to_ascii_uppercase());
        let stated = [
            ("the endpoint", endpoint),
            (variable.as_str(), settings.variable(&variable)),
            ("AWS_ENDPOINT_URL", settings.variable("AWS_ENDPOINT_URL")),
        ];
        let stated = stated.into_iter().find_map(|(name, value)| Some((name, value?)));
        let domain = if region.starts_with("cn-") {
            "amazonaws.com.cn"
        } else {
            "amazonaws.com"
        };
        let own = format!("https://{service}.{region}.{domain}");
        let (name, url) = stated.unwrap_or(("the endpoint", &own));
        let endpoint = Endpoint::parse(name, url, true).map_err(wrong)?;
        // AWS_ALLOW_HTTP is for backups, which are encrypted.
        if endpoint.in_clear && !endpoint.is_loopback {
            return Err(wrong(format!(
                "{name} is http:// on another machine: keys would be sent in clear; use https://"
            )));
        }
        let credentials: AwsCredentialProvider = match found.keys {
            Some(keys) => Arc::new(StaticCredentialProvider::new(keys)),
            None => {
                let wire = Wire {
                    counters: Arc::new(Counters::default()),
                    policy: settings.policy,
                    target: RequestTarget::Keys,
                    is_direct: !settings.asks_by_web_identity(),
                    certificates: found.certificates.clone(),
                };
                Arc::new(Service::new(settings, &region, wire).map_err(wrong)?)
            }
        };
        Ok(Self {
            service,
            region,
            endpoint,
            certificates: found.certificates,
            credentials,
        })
    }

    /// Where requests go.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.endpoint.url
    }

    /// Whether that is this machine, which is asked without a proxy.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        self.endpoint.is_loopback
    }

    /// Certificates that are trusted in addition to the system's.
    #[must_use]
    pub fn certificates(&self) -> &[Certificate] {
        &self.certificates
    }

    /// The keys in force.
    ///
    /// # Errors
    /// `Denied`: there are none.
    pub async fn credential(&self) -> Result<Arc<AwsCredential>, StoreError> {
        self.credentials.get_credential().await.map_err(|_| StoreError {
            kind: StoreErrorKind::Denied,
            verb: "ask",
            name: self.service.to_owned(),
            what: "no keys: neither the environment, ~/.aws nor this machine has any".to_owned(),
        })
    }

    /// The headers of a request with this body, signed by Signature Version 4.
    ///
    /// # Errors
    /// `Usage`: a header that is none.
    pub fn signed(&self, credential: &AwsCredential, headers: HeaderMap, body: &[u8]) -> Result<HeaderMap, StoreError> {
        let unsigned = Request::builder().method(Method::POST).uri(self.url());
        let unsigned = unsigned.body(HttpRequestBody::from(body.to_vec()));
        let mut request = unsigned.map_err(|_| StoreError::usage(self.service, "the endpoint is not a URL"))?;
        *request.headers_mut() = headers;
        let signer = AwsAuthorizer::new(credential, self.service, &self.region);
        let signed = signer.try_authorize(&mut request, None);
        signed.map_err(|_| StoreError::usage(self.service, "keys that can't be sent in a header"))?;
        Ok(std::mem::take(request.headers_mut()))
    }
}
