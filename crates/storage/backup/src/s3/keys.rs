//! Services that provide keys, if the settings contain none.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use object_store::CredentialProvider;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, AwsCredential, AwsCredentialProvider};

use super::answer::{self, KeyServiceKind};
use super::settings::Settings;
use super::wire::Wire;

/// A service that provides keys.
#[derive(Debug)]
pub struct Service {
    service: AwsCredentialProvider,
    asks_the_machine: bool,
    has_given: AtomicBool,
}

impl Service {
    /// The service in the settings, or that of the machine.
    ///
    /// # Errors
    /// Invalid settings.
    pub fn new(settings: &Settings, region: &str, wire: Wire) -> Result<Self, String> {
        let asks_the_machine = settings.asks_the_machine();
        if asks_the_machine && settings.is_true("AWS_EC2_METADATA_DISABLED") {
            return Err("no keys, and AWS_EC2_METADATA_DISABLED forbids asking the machine for them".to_owned());
        }
        let mut builder = AmazonS3Builder::new()
            // This client sends no requests to a bucket.
            .with_bucket_name("keys")
            .with_region(region)
            .with_retry(super::wire::one_attempt())
            .with_http_connector(wire);
        for (variable, key) in VARIABLES {
            if let Some(value) = settings.variable(variable) {
                builder = builder.with_config(key, value);
            }
        }
        let built = builder
            .build()
            .map_err(|_| "inconsistent credentials in the environment".to_owned())?;
        Ok(Self {
            service: Arc::clone(built.credentials()),
            asks_the_machine,
            has_given: AtomicBool::new(false),
        })
    }
}

#[async_trait]
impl CredentialProvider for Service {
    type Credential = AwsCredential;

    async fn get_credential(&self) -> object_store::Result<Arc<AwsCredential>> {
        let given = self.service.get_credential().await;
        if given.is_ok() {
            self.has_given.store(true, Ordering::Relaxed);
        } else {
            let is_machine = self.asks_the_machine && !self.has_given.load(Ordering::Relaxed);
            let asked = if is_machine {
                KeyServiceKind::Machine
            } else {
                KeyServiceKind::Service
            };
            answer::update_record(|seen| seen.without_keys(asked));
        }
        given
    }
}

const VARIABLES: [(&str, AmazonS3ConfigKey); 9] = [
    ("AWS_WEB_IDENTITY_TOKEN_FILE", AmazonS3ConfigKey::WebIdentityTokenFile),
    ("AWS_ROLE_ARN", AmazonS3ConfigKey::RoleArn),
    ("AWS_ROLE_SESSION_NAME", AmazonS3ConfigKey::RoleSessionName),
    ("AWS_ENDPOINT_URL_STS", AmazonS3ConfigKey::StsEndpoint),
    (
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        AmazonS3ConfigKey::ContainerCredentialsRelativeUri,
    ),
    (
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        AmazonS3ConfigKey::ContainerCredentialsFullUri,
    ),
    (
        "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
        AmazonS3ConfigKey::ContainerAuthorizationTokenFile,
    ),
    ("AWS_EC2_METADATA_SERVICE_ENDPOINT", AmazonS3ConfigKey::MetadataEndpoint),
    ("AWS_IMDSV1_FALLBACK", AmazonS3ConfigKey::ImdsV1Fallback),
];
