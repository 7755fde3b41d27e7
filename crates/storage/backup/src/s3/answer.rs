//! The response to one attempt, and its meaning.
//!
//! - code-and-message-only: of an error response only the store's code and message are shown,
//!   truncated and printable, since bodies of errors repeat headers and signed text.

use std::cell::RefCell;
use std::io;
use std::time::Duration;

use http::StatusCode;
use http::header::{HeaderMap, RETRY_AFTER};
use object_store::client::{HttpError, HttpErrorKind};

use crate::destination::StoreErrorKind;

/// What was received in one attempt.
#[derive(Default)]
pub struct ResponseRecord {
    status: Option<StatusCode>,
    code: String,
    message: String,
    region: Option<String>,
    pause: Option<Duration>,
    lost: Option<Lost>,
    is_altered: bool,
    no_keys: Option<KeyServiceKind>,
}

/// How a response was lost.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Lost {
    /// No connection was made, so that the request had no effect. Contains the system's message.
    Unreached(String),
    /// The server has no valid certificate.
    Untrusted(String),
    /// The time limit expired.
    Late,
    /// The connection ended before the response was complete.
    Cut,
}

/// The service that provided no keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyServiceKind {
    /// The machine's metadata service, which most machines do not have.
    Machine,
    /// A service that was configured, or provided keys earlier.
    Service,
}

/// The meaning of a failed attempt.
#[derive(Debug)]
pub struct Failure {
    /// The kind of the error.
    pub kind: StoreErrorKind,
    /// The description.
    pub what: String,
    /// Whether a retry may succeed.
    pub again: bool,
    /// Whether the request may have taken effect.
    pub in_doubt: bool,
    /// The pause that the server requests.
    pub pause: Option<Duration>,
}

tokio::task_local! {
    static SEEN: RefCell<ResponseRecord>;
}

/// Runs an attempt, and returns its result and what was received.
pub async fn record_attempt<T>(attempt: impl Future<Output = T>) -> (T, ResponseRecord) {
    let watched = async {
        let result = attempt.await;
        (result, SEEN.with(RefCell::take))
    };
    SEEN.scope(RefCell::default(), watched).await
}

/// Changes the record of the running attempt.
pub fn update_record(change: impl FnOnce(&mut ResponseRecord)) {
    // Outside an attempt there is no record.
    let _ = SEEN.try_with(|seen| change(&mut seen.borrow_mut()));
}

impl ResponseRecord {
    /// Records a new request, and discards the record of earlier ones.
    pub fn begin(&mut self) {
        *self = Self::default();
    }

    /// Records a response.
    pub fn answered(&mut self, status: StatusCode, headers: &HeaderMap) {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        self.status = Some(status);
        self.region = text("x-amz-bucket-region").map(shown);
        self.pause = text(RETRY_AFTER.as_str()).and_then(|seconds| seconds.parse().ok().map(Duration::from_secs));
    }

    /// Records the body of an error. Only the code is kept if the service provides keys.
    pub fn explained(&mut self, body: &[u8], with_message: bool) {
        let text = String::from_utf8_lossy(body);
        self.code = element(&text, "Code");
        if with_message {
            self.message = element(&text, "Message");
        }
    }

    /// Records that no response was received, or not a complete one.
    pub fn lost(&mut self, lost: Lost) {
        self.lost = Some(lost);
    }

    /// Records that the store received other bytes than were sent.
    pub fn altered(&mut self) {
        self.is_altered = true;
    }

    /// Records that a service provided no keys.
    pub fn without_keys(&mut self, asked: KeyServiceKind) {
        self.no_keys = Some(asked);
    }

    /// Whether the store reported other bytes than were sent.
    pub fn is_altered(&self) -> bool {
        self.is_altered
    }

    /// The meaning of the record after a failed attempt. `writes` is set if a new object was to be created.
    pub fn failure(self, writes: bool) -> Failure {
        let (kind, what, again) = self.meaning(writes);
        // A response that rejects the request shows that it had no effect.
        let in_doubt = self.no_keys.is_none()
            && match (&self.lost, self.status) {
                (Some(Lost::Unreached(_) | Lost::Untrusted(_)), _) => false,
                (Some(Lost::Late | Lost::Cut), _) => true,
                (None, Some(status)) => {
                    status.is_success() || status.is_server_error() || status == StatusCode::REQUEST_TIMEOUT
                }
                (None, None) => false,
            };
        Failure {
            kind,
            what,
            again,
            in_doubt,
            pause: self.pause,
        }
    }

    fn meaning(&self, writes: bool) -> (StoreErrorKind, String, bool) {
        if let Some(asked) = self.no_keys {
            return self.meaning_without_keys(asked);
        }
        if let Some(lost) = &self.lost {
            return match lost {
                Lost::Unreached(why) => (StoreErrorKind::Unreachable, format!("cannot connect: {why}"), true),
                Lost::Untrusted(why) => (
                    StoreErrorKind::Unreachable,
                    format!("cannot verify the server: {why} (AWS_CA_BUNDLE names trusted certificates)"),
                    false,
                ),
                Lost::Late => (StoreErrorKind::Unreachable, "timed out".to_owned(), true),
                Lost::Cut => match self.status {
                    Some(_) => (
                        StoreErrorKind::InvalidResponse,
                        "the answer was cut off".to_owned(),
                        true,
                    ),
                    None => (
                        StoreErrorKind::Unreachable,
                        "the connection was closed before an answer".to_owned(),
                        true,
                    ),
                },
            };
        }
        match self.status {
            Some(status) => self.meaning_of(status, writes),
            None => (StoreErrorKind::Other, "the request could not be sent".to_owned(), false),
        }
    }

    fn meaning_without_keys(&self, asked: KeyServiceKind) -> (StoreErrorKind, String, bool) {
        match (asked, self.status) {
            (KeyServiceKind::Machine, _) => (StoreErrorKind::Denied, NO_KEYS.to_owned(), false),
            (KeyServiceKind::Service, Some(status)) if !status.is_success() => {
                let again = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
                let kind = if again {
                    StoreErrorKind::Unreachable
                } else {
                    StoreErrorKind::Denied
                };
                let code = if self.code.is_empty() { "" } else { " " };
                let what = format!(
                    "the credentials service answered {}{code}{}",
                    status.as_u16(),
                    self.code
                );
                (kind, what, again)
            }
            (KeyServiceKind::Service, _) if self.lost.is_some() => (
                StoreErrorKind::Unreachable,
                "the credentials service does not answer".to_owned(),
                true,
            ),
            (KeyServiceKind::Service, _) => {
                let what = "the credentials service is unavailable or gave no keys".to_owned();
                (StoreErrorKind::Denied, what, false)
            }
        }
    }

    fn meaning_of(&self, status: StatusCode, writes: bool) -> (StoreErrorKind, String, bool) {
        let code = self.code.as_str();
        let said = self.said(status);
        // Some stores use 400 or 403 for a lack of space.
        if code.contains("Quota") || code.contains("StorageFull") || status == StatusCode::INSUFFICIENT_STORAGE {
            return (StoreErrorKind::Full, said, false);
        }
        match (status.as_u16(), code) {
            (200..=299, _) => (
                StoreErrorKind::InvalidResponse,
                "the answer is not that of an object store".to_owned(),
                false,
            ),
            (304 | 412, _) if writes => (
                StoreErrorKind::Exists,
                "an object of that name already exists".to_owned(),
                false,
            ),
            (300..=399, _) | (400, "AuthorizationHeaderMalformed" | "IllegalLocationConstraintException") => {
                let advice = match &self.region {
                    Some(region) => format!("{said}: the bucket is in the region {region} (AWS_REGION)"),
                    None => format!("{said}: the bucket seems to be in another region (AWS_REGION)"),
                };
                (StoreErrorKind::Usage, advice, false)
            }
            (401 | 403, _) | (400, "ExpiredToken" | "InvalidToken" | "TokenRefreshRequired") => {
                (StoreErrorKind::Denied, said, false)
            }
            (404, "NoSuchBucket") => (StoreErrorKind::Usage, said, false),
            (404, _) => (StoreErrorKind::Missing, said, false),
            // Other writers are creating the same object, and the outcome is not known yet.
            (409, "ConditionalRequestConflict" | "OperationAborted") => (StoreErrorKind::Unreachable, said, true),
            (409, _) if writes => (StoreErrorKind::Exists, said, false),
            // The bytes arrived altered.
            (
                400,
                "BadDigest" | "InvalidDigest" | "IncompleteBody" | "XAmzContentSHA256Mismatch" | "RequestTimeout",
            ) => (StoreErrorKind::InvalidResponse, said, true),
            (501, _) => (StoreErrorKind::Other, said, false),
            (408 | 429 | 500..=599, _) => (StoreErrorKind::Unreachable, said, true),
            _ => (StoreErrorKind::Other, said, false),
        }
    }

    fn said(&self, status: StatusCode) -> String {
        let mut said = format!("the store answered {}", status.as_u16());
        if !self.code.is_empty() {
            said = format!("{said} {}", self.code);
        }
        if !self.message.is_empty() {
            said = format!("{said} ({})", self.message);
        }
        said
    }
}

impl Lost {
    /// How a request, or reading its response, failed.
    pub fn of(error: &HttpError) -> Self {
        let mut source = std::error::Error::source(error);
        let mut is_unreached = error.kind() == HttpErrorKind::Connect;
        let mut is_untrusted = false;
        let mut words = error.to_string();
        while let Some(inner) = source {
            let of_client = inner.downcast_ref::<reqwest::Error>();
            is_unreached |= of_client.is_some_and(reqwest::Error::is_connect);
            is_untrusted |= inner.downcast_ref().is_some_and(is_of_tls);
            words = inner.to_string();
            source = inner.source();
        }
        if is_unreached && is_untrusted {
            Self::Untrusted(shown(&words))
        } else if is_unreached {
            Self::Unreached(shown(&words))
        } else if error.kind() == HttpErrorKind::Timeout {
            Self::Late
        } else {
            Self::Cut
        }
    }
}

/// Whether TLS caused the error. Such an error has the kind `InvalidData`, and is wrapped in an
/// error whose source is that of the wrapped error.
fn is_of_tls(error: &io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    error.kind() == io::ErrorKind::InvalidData || inner.is_some_and(is_of_tls)
}

/// The text of the first element of that name, with XML escapes decoded.
fn element(text: &str, name: &str) -> String {
    let inside = text
        .split_once(&format!("<{name}>"))
        .and_then(|(_, rest)| rest.split_once(&format!("</{name}>")));
    let text = inside.map_or("", |(text, _)| text);
    let plain = text
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&#39;", "'")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&");
    shown(&plain)
}

/// Enforces `code-and-message-only`.
fn shown(text: &str) -> String {
    let printable = text.chars().map(|sign| {
        if sign.is_ascii_graphic() || sign == ' ' {
            sign
        } else {
            '?'
        }
    });
    printable.take(SHOWN_MAX).collect()
}

/// 300 characters: the longest messages of S3 have about 200.
const SHOWN_MAX: usize = 300;

const NO_KEYS: &str = "no keys: not in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, not in ~/.aws/credentials, and \
    no credentials service on this machine";

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(status: u16, code: &str) -> ResponseRecord {
        ResponseRecord {
            status: Some(StatusCode::from_u16(status).unwrap()),
            code: code.to_owned(),
            ..ResponseRecord::default()
        }
    }

    #[test]
    fn each_response_has_one_error_kind() {
        for (status, code, kind, again) in [
            (200, "", StoreErrorKind::InvalidResponse, false),
            (301, "PermanentRedirect", StoreErrorKind::Usage, false),
            (307, "TemporaryRedirect", StoreErrorKind::Usage, false),
            (400, "AuthorizationHeaderMalformed", StoreErrorKind::Usage, false),
            (400, "ExpiredToken", StoreErrorKind::Denied, false),
            (400, "BadDigest", StoreErrorKind::InvalidResponse, true),
            (400, "XMinioAdminBucketQuotaExceeded", StoreErrorKind::Full, false),
            (400, "InvalidArgument", StoreErrorKind::Other, false),
            (401, "", StoreErrorKind::Denied, false),
            (403, "SignatureDoesNotMatch", StoreErrorKind::Denied, false),
            (403, "QuotaExceeded", StoreErrorKind::Full, false),
            (404, "NoSuchBucket", StoreErrorKind::Usage, false),
            (404, "NoSuchKey", StoreErrorKind::Missing, false),
            (404, "", StoreErrorKind::Missing, false),
            (409, "ConditionalRequestConflict", StoreErrorKind::Unreachable, true),
            (409, "ObjectAlreadyExists", StoreErrorKind::Exists, false),
            (412, "PreconditionFailed", StoreErrorKind::Exists, false),
            (429, "SlowDown", StoreErrorKind::Unreachable, true),
            (500, "InternalError", StoreErrorKind::Unreachable, true),
            (501, "NotImplemented", StoreErrorKind::Other, false),
            (503, "SlowDown", StoreErrorKind::Unreachable, true),
            (507, "", StoreErrorKind::Full, false),
            (507, "XMinioStorageFull", StoreErrorKind::Full, false),
        ] {
            let failure = seen(status, code).failure(true);
            assert_eq!((failure.kind, failure.again), (kind, again), "{status} {code}");
        }
        assert_eq!(seen(412, "").failure(false).kind, StoreErrorKind::Other);
    }

    #[test]
    fn a_write_is_in_doubt_if_it_may_have_taken_effect() {
        for (status, in_doubt) in [
            (200, true),
            (403, false),
            (404, false),
            (408, true),
            (412, false),
            (500, true),
            (503, true),
        ] {
            assert_eq!(seen(status, "").failure(true).in_doubt, in_doubt, "{status}");
        }
        for (lost, in_doubt, again) in [
            (Lost::Unreached(String::new()), false, true),
            (Lost::Untrusted(String::new()), false, false),
            (Lost::Late, true, true),
            (Lost::Cut, true, true),
        ] {
            let mut seen = ResponseRecord::default();
            seen.lost(lost);
            let failure = seen.failure(true);
            assert_eq!(
                (failure.in_doubt, failure.again, failure.kind),
                (in_doubt, again, StoreErrorKind::Unreachable)
            );
        }
    }

    #[test]
    fn an_error_contains_only_code_and_message() {
        let body = "<Error><Code>SignatureDoesNotMatch</Code><Message>A &amp; B\u{1b}[2J</Message>\
            <StringToSign>hunter2</StringToSign></Error>";
        let mut seen = seen(403, "");
        seen.explained(body.as_bytes(), true);
        let what = seen.failure(true).what;
        assert_eq!(what, "the store answered 403 SignatureDoesNotMatch (A & B?[2J)");
        let mut seen = ResponseRecord::default();
        seen.explained(format!("<Message>{}</Message>", "x".repeat(9000)).as_bytes(), true);
        assert_eq!(seen.message.len(), SHOWN_MAX);
        for body in ["", "<Code>", "</Code><Code>", "\u{0}\u{ff}"] {
            seen.explained(body.as_bytes(), true);
            assert_eq!(seen.code, "");
        }
    }

    #[test]
    fn missing_keys_are_not_retried_and_an_unreachable_service_is() {
        let without = |asked, status: Option<u16>, lost: Option<Lost>| {
            let mut seen = ResponseRecord {
                status: status.map(|status| StatusCode::from_u16(status).unwrap()),
                lost,
                ..ResponseRecord::default()
            };
            seen.without_keys(asked);
            let failure = seen.failure(true);
            assert!(!failure.in_doubt);
            (failure.kind, failure.again)
        };
        assert_eq!(
            without(KeyServiceKind::Machine, None, Some(Lost::Late)),
            (StoreErrorKind::Denied, false)
        );
        assert_eq!(
            without(KeyServiceKind::Service, None, Some(Lost::Late)),
            (StoreErrorKind::Unreachable, true)
        );
        assert_eq!(
            without(KeyServiceKind::Service, Some(503), None),
            (StoreErrorKind::Unreachable, true)
        );
        assert_eq!(
            without(KeyServiceKind::Service, Some(403), None),
            (StoreErrorKind::Denied, false)
        );
        assert_eq!(
            without(KeyServiceKind::Service, None, None),
            (StoreErrorKind::Denied, false)
        );
    }
}
