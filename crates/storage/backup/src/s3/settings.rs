//! Settings from the environment and the files in `~/.aws`.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use object_store::aws::AwsCredential;
use reqwest::tls::Certificate;

use super::endpoint::Endpoint;
use super::profile::{Profiles, Properties};
use super::retry_policy::RetryPolicy;
use crate::destination::{StoreError, StoreErrorKind};

/// The settings of an object store. They may contain a secret, and must not be displayed.
#[derive(Clone, Default)]
pub struct Settings {
    /// The relevant environment variables: `AWS_*`, and `HOME`.
    pub environment: BTreeMap<String, String>,
    /// Time limits and retries.
    pub policy: RetryPolicy,
}

/// The settings that apply to one place.
pub struct PlaceSettings {
    /// The keys in the settings; `None` if a service provides them.
    pub keys: Option<AwsCredential>,
    /// The region.
    pub region: String,
    /// The endpoint, if it is not that of AWS for the region.
    pub endpoint: Option<Endpoint>,
    /// Certificates that are trusted in addition to the system's.
    pub certificates: Vec<Certificate>,
}

/// Refuses a region that would change a host's name.
pub fn check_region(place: &str, region: &str) -> Result<(), StoreError> {
    let is_region = |sign: u8| sign.is_ascii_alphanumeric() || b"-_".contains(&sign);
    match region.bytes().all(is_region) {
        true => Ok(()),
        false => Err(StoreError::usage(
            place,
            "the region may only contain letters, digits and hyphens",
        )),
    }
}

impl Settings {
    /// The settings of this process.
    #[must_use]
    pub fn of_the_process() -> Self {
        let texts =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        Self {
            environment: texts
                .filter(|(name, _)| name.starts_with("AWS_") || name == "HOME")
                .collect(),
            policy: RetryPolicy::default(),
        }
    }

    /// A variable that is set and not empty.
    pub fn variable(&self, name: &str) -> Option<&str> {
        let value = self.environment.get(name).map(String::as_str);
        value.filter(|value| !value.is_empty())
    }

    /// Determines the settings for a place.
    ///
    /// # Errors
    /// `Usage` and `Denied`.
    pub fn find(&self, place: &str) -> Result<PlaceSettings, StoreError> {
        let wrong = |what: String| StoreError::usage(place, &what);
        let load = |variable, name| {
            Profiles::load(&self.file(variable, name)).map_err(|(kind, what)| unreadable(place, kind, &what))
        };
        let credentials = load("AWS_SHARED_CREDENTIALS_FILE", "credentials")?;
        let configuration = load("AWS_CONFIG_FILE", "config")?;
        let profile = self.variable("AWS_PROFILE").unwrap_or("default");
        let from_credentials = credentials.credentials(profile);
        let from_configuration = configuration.configuration(profile);
        if self.variable("AWS_PROFILE").is_some() && from_credentials.is_none() && from_configuration.is_none() {
            return Err(wrong(format!(
                "AWS_PROFILE names the profile {profile}, which does not exist"
            )));
        }
        let property = |name: &str| -> Option<&str> {
            let mut both = [from_credentials, from_configuration].into_iter().flatten();
            both.find_map(|properties| properties.get(name))
                .map(String::as_str)
                .filter(|value| !value.is_empty())
        };
        let services = property("services").and_then(|name| configuration.services(name));

        let region = self.variable("AWS_REGION").or(self.variable("AWS_DEFAULT_REGION"));
        let region = region.or(property("region")).unwrap_or("us-east-1");
        check_region(place, region)?;
        let certificates = self.variable("AWS_CA_BUNDLE").or(property("ca_bundle"));
        let certificates = certificates.map_or(Ok(Vec::new()), |path| certificates_of(place, path))?;
        Ok(PlaceSettings {
            keys: self.keys(place, profile, [from_credentials, from_configuration])?,
            region: region.to_owned(),
            endpoint: self.endpoint(services, &property).map_err(wrong)?,
            certificates,
        })
    }

    /// The first keys in this order: variables; a profile, in the first file that has its keys.
    fn keys(
        &self,
        place: &str,
        profile: &str,
        files: [Option<&Properties>; 2],
    ) -> Result<Option<AwsCredential>, StoreError> {
        let variables = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];
        let pair = keys(variables, |name| self.variable(name)).map_err(|what| StoreError::usage(place, &what))?;
        if pair.is_some() || self.asks_by_web_identity() {
            return Ok(pair);
        }
        let names = ["aws_access_key_id", "aws_secret_access_key", "aws_session_token"];
        for properties in files.into_iter().flatten() {
            let property = |name: &str| {
                properties
                    .get(name)
                    .map(String::as_str)
                    .filter(|value| !value.is_empty())
            };
            let pair = keys(names, property)
                .map_err(|what| StoreError::usage(place, &format!("{what} in the profile {profile}")))?;
            if pair.is_some() {
                return Ok(pair);
            }
        }
        let mut elsewhere = files.into_iter().flatten().flat_map(BTreeMap::keys);
        match elsewhere.find(|name| ELSEWHERE.contains(&name.as_str())) {
            None => Ok(None),
            Some(name) => Err(StoreError::usage(
                place,
                &format!(
                    "the profile {profile} uses {name}, which is not supported: run eval \"$(aws configure \
                        export-credentials --format env)\" to pass its keys on"
                ),
            )),
        }
    }

    fn endpoint<'a>(
        &'a self,
        services: Option<&'a Properties>,
        property: &dyn Fn(&str) -> Option<&'a str>,
    ) -> Result<Option<Endpoint>, String> {
        let may_be_in_clear = self.is_true("AWS_ALLOW_HTTP");
        let of_services = || services.and_then(|services| services.get("s3.endpoint_url").map(String::as_str));
        let mut found = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"]
            .into_iter()
            .filter_map(|name| Some((name, self.variable(name)?)));
        let found = found.next();
        let configured = || {
            Some((
                "endpoint_url of the profile",
                of_services().or(property("endpoint_url"))?,
            ))
        };
        let found = found.or_else(|| configured().filter(|_| !self.is_true("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS")));
        found
            .map(|(name, text)| Endpoint::parse(name, text, may_be_in_clear))
            .transpose()
    }

    /// Whether a web identity token is exchanged for keys.
    pub fn asks_by_web_identity(&self) -> bool {
        self.variable("AWS_WEB_IDENTITY_TOKEN_FILE").is_some() && self.variable("AWS_ROLE_ARN").is_some()
    }

    /// Whether the machine's metadata service is the only remaining source of keys.
    pub fn asks_the_machine(&self) -> bool {
        let container = [
            "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
            "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        ];
        !self.asks_by_web_identity() && container.iter().all(|name| self.variable(name).is_none())
    }

    /// Whether a variable is set to `true`.
    pub fn is_true(&self, name: &str) -> bool {
        self.variable(name)
            .is_some_and(|value| value.eq_ignore_ascii_case("true") || value == "1")
    }

    fn file(&self, variable: &str, name: &str) -> PathBuf {
        let home = PathBuf::from(self.variable("HOME").unwrap_or("/nonexistent"));
        match self.variable(variable) {
            None => home.join(".aws").join(name),
            Some(path) => match path.strip_prefix("~/") {
                Some(below) => home.join(below),
                None => PathBuf::from(path),
            },
        }
    }
}

/// The certificates of a PEM file, at least one.
fn certificates_of(place: &str, path: &str) -> Result<Vec<Certificate>, StoreError> {
    let bytes = std::fs::read(path)
        .map_err(|error| unreadable(place, error.kind(), &format!("can't read AWS_CA_BUNDLE: {error}")))?;
    let certificates = Certificate::from_pem_bundle(&bytes).unwrap_or_default();
    if certificates.is_empty() {
        return Err(StoreError::usage(
            place,
            "AWS_CA_BUNDLE names a file without certificates",
        ));
    }
    Ok(certificates)
}

/// A pair of keys, with the token if there is one. It is an error if only one key of a pair is set.
fn keys<'a>(names: [&str; 3], value: impl Fn(&str) -> Option<&'a str>) -> Result<Option<AwsCredential>, String> {
    match (value(names[0]), value(names[1])) {
        (None, None) => Ok(None),
        (Some(key_id), Some(secret_key)) => Ok(Some(AwsCredential {
            key_id: key_id.to_owned(),
            secret_key: secret_key.to_owned(),
            token: value(names[2]).map(str::to_owned),
        })),
        (Some(_), None) => Err(format!("{} is set, and {} is not", names[0], names[1])),
        (None, Some(_)) => Err(format!("{} is set, and {} is not", names[1], names[0])),
    }
}

fn unreadable(place: &str, kind: io::ErrorKind, what: &str) -> StoreError {
    let mut error = StoreError::usage(place, what);
    if kind == io::ErrorKind::PermissionDenied {
        error.kind = StoreErrorKind::Denied;
    }
    error
}

/// Other sources of keys in a profile, which are left to AWS's own tools.
const ELSEWHERE: [&str; 6] = [
    "credential_process",
    "credential_source",
    "login_session",
    "role_arn",
    "sso_session",
    "sso_start_url",
];

#[cfg(test)]
mod tests;
