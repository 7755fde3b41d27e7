//! The endpoint of an object store.

use url::{Host, Url};

/// A validated endpoint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Endpoint {
    /// The URL, without a trailing slash.
    pub url: String,
    /// Whether it has no TLS, which the settings allow.
    pub in_clear: bool,
    /// Whether it is on this machine.
    pub is_loopback: bool,
}

impl Endpoint {
    /// Parses the setting of that name.
    ///
    /// # Errors
    /// A message without any part of the input.
    pub fn parse(setting: &str, text: &str, may_be_in_clear: bool) -> Result<Self, String> {
        let url = Url::parse(text).map_err(|_| format!("{setting} is not a URL"))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(format!(
                "{setting} contains a user name or password; keys are taken from the environment and from ~/.aws"
            ));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(format!("{setting} has more than a path"));
        }
        let is_loopback = match url.host() {
            Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => return Err(format!("{setting} names no host")),
        };
        let in_clear = match url.scheme() {
            "https" => false,
            "http" => true,
            _ => return Err(format!("{setting} is neither https:// nor http://")),
        };
        if in_clear && !is_loopback && !may_be_in_clear {
            return Err(format!(
                "{setting} is http:// on another machine: anyone in between could alter requests and answers; use https://, or set AWS_ALLOW_HTTP=true"
            ));
        }
        let url = url.as_str().trim_end_matches('/').to_owned();
        Ok(Self {
            url,
            in_clear,
            is_loopback,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, may_be_in_clear: bool) -> Result<Endpoint, String> {
        Endpoint::parse("AWS_ENDPOINT_URL", text, may_be_in_clear)
    }

    #[test]
    fn plain_http_is_limited_to_loopback_unless_allowed() {
        for text in [
            "http://127.0.0.1:9000",
            "http://localhost:9000/",
            "http://[::1]:9000",
            "http://127.9.9.9",
        ] {
            let endpoint = parse(text, false).unwrap();
            assert!(endpoint.in_clear && endpoint.is_loopback, "{text}");
            assert!(!endpoint.url.ends_with('/'));
        }
        for text in [
            "http://10.0.0.1:9000",
            "http://minio:9000",
            "http://localhost.example.org",
            "http://0.0.0.0",
        ] {
            assert!(
                parse(text, false).unwrap_err().contains("AWS_ALLOW_HTTP=true"),
                "{text}"
            );
            let endpoint = parse(text, true).unwrap();
            assert!(endpoint.in_clear && !endpoint.is_loopback);
        }
        let endpoint = parse("https://minio.example.org/x/", false).unwrap();
        assert_eq!(endpoint.url, "https://minio.example.org/x");
        assert!(!endpoint.in_clear && !endpoint.is_loopback);
    }

    #[test]
    fn an_invalid_endpoint_is_refused_and_not_repeated() {
        for text in [
            "",
            "minio:9000",
            "ftp://x",
            "https://",
            "https://u:hunter2@x",
            "https://hunter2@x",
            "https://x/?hunter2",
        ] {
            let error = parse(text, true).unwrap_err();
            assert!(
                !error.contains("hunter2") && error.contains("AWS_ENDPOINT_URL"),
                "{error}"
            );
        }
    }
}
