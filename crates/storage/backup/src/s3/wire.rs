//! Sends requests, counts them, and records the responses.
//!
//! - no-redirects: a redirection is returned as a response, and not followed: a write goes only to
//!   its original target.
//! - local-without-proxy: requests to this machine, and to a machine's metadata service, use no
//!   proxy.
//! - list-is-checked: a list is validated before it is parsed: otherwise any other page would be
//!   parsed as an empty list, and a truncated list as a complete one.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderName, Method};
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt, Limited};
use object_store::client::{
    ClientConfigKey, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
    HttpService,
};
use object_store::{ClientOptions, RetryConfig};
use reqwest::redirect::Policy;
use reqwest::tls::Certificate;

use super::answer::{Lost, update_record};
use super::retry_policy::RetryPolicy;

/// The counters of requests.
#[derive(Default, Debug)]
pub struct Counters {
    /// Requests, including those for keys.
    pub requests: AtomicU64,
    /// Retries.
    pub retries: AtomicU64,
    /// Bytes of objects in requests that reached a server.
    pub sent: AtomicU64,
    /// Bytes of objects in responses.
    pub received: AtomicU64,
}

/// Disables the retries of `object_store`: retries are made here, where they are counted and
/// unknown outcomes are known.
pub fn one_attempt() -> RetryConfig {
    RetryConfig {
        max_retries: 0,
        ..RetryConfig::default()
    }
}

/// The recipient of requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RequestTarget {
    /// The bucket.
    Bucket,
    /// A service that provides keys.
    Keys,
}

/// The settings of requests.
#[derive(Clone)]
pub struct Wire {
    /// The counters.
    pub counters: Arc<Counters>,
    /// Time limits.
    pub policy: RetryPolicy,
    /// The recipient.
    pub target: RequestTarget,
    /// Enforces `local-without-proxy`.
    pub is_direct: bool,
    /// Certificates that are trusted in addition to the system's.
    pub certificates: Vec<Certificate>,
}

impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wire")
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}

impl Wire {
    fn client(&self, in_clear: bool) -> reqwest::Result<reqwest::Client> {
        let (connect, request) = match self.target {
            RequestTarget::Bucket => (self.policy.connect, self.policy.request),
            // These services are local, or absent.
            RequestTarget::Keys => (
                self.policy.connect.min(KEYS_CONNECT),
                self.policy.request.min(KEYS_REQUEST),
            ),
        };
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("selenite/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .http1_only()
            .https_only(!in_clear)
            .connect_timeout(connect)
            .timeout(request);
        if self.is_direct {
            builder = builder.no_proxy();
        }
        builder = builder.tls_certs_merge(self.certificates.iter().cloned());
        builder.build()
    }
}

impl HttpConnector for Wire {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let in_clear = options.get_config_value(&ClientConfigKey::AllowHttp);
        let client = self.client(in_clear.as_deref() == Some("true"));
        let client = client.map_err(|error| object_store::Error::Generic {
            store: "S3",
            source: Box::new(error),
        })?;
        Ok(HttpClient::new(Line {
            client: HttpClient::new(client),
            counters: Arc::clone(&self.counters),
            target: self.target,
        }))
    }
}

#[derive(Debug)]
struct Line {
    client: HttpClient,
    counters: Arc<Counters>,
    target: RequestTarget,
}

#[async_trait]
impl HttpService for Line {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let size = match (self.target, request.method()) {
            (RequestTarget::Bucket, &Method::PUT) => request.body().content_length() as u64,
            _ => 0,
        };
        let reads = self.target == RequestTarget::Bucket && request.method() == Method::GET;
        let is_list = reads && request.uri().query().is_some();
        let checksum = request.headers().get(CHECKSUM).cloned();
        update_record(super::answer::ResponseRecord::begin);
        self.counters.requests.fetch_add(1, Ordering::Relaxed);
        let response = match self.client.execute(request).await {
            Ok(response) => response,
            Err(error) => {
                let lost = Lost::of(&error);
                if matches!(lost, Lost::Late | Lost::Cut) {
                    self.counters.sent.fetch_add(size, Ordering::Relaxed);
                }
                update_record(|seen| seen.lost(lost));
                return Err(error);
            }
        };
        self.counters.sent.fetch_add(size, Ordering::Relaxed);
        let (head, body) = response.into_parts();
        update_record(|seen| seen.answered(head.status, &head.headers));
        if !head.status.is_success() {
            let limited = Limited::new(body, ERROR_SIZE_MAX).collect().await;
            let bytes = limited.map(http_body_util::Collected::to_bytes).unwrap_or_default();
            update_record(|seen| seen.explained(&bytes, self.target == RequestTarget::Bucket));
            return Ok(HttpResponse::from_parts(head, HttpResponseBody::from(bytes)));
        }
        // Stores that support the checksum return it, computed over the bytes that they stored.
        let theirs = head.headers.get(CHECKSUM);
        if checksum.is_some() && theirs.is_some() && checksum.as_ref() != theirs {
            update_record(super::answer::ResponseRecord::altered);
        }
        let counters = (reads && !is_list).then(|| Arc::clone(&self.counters));
        let mut body = HttpResponseBody::new(Counted { body, counters });
        if is_list {
            body = HttpResponseBody::from(list(body).await?);
        }
        Ok(HttpResponse::from_parts(head, body))
    }
}

/// Enforces `list-is-checked`.
async fn list(body: HttpResponseBody) -> Result<Bytes, HttpError> {
    let no_list = || HttpError::new(HttpErrorKind::Decode, std::io::Error::other("not a list"));
    let limited = Limited::new(body, LIST_SIZE_MAX).collect().await;
    let bytes = limited.map_err(|_| no_list())?.to_bytes();
    let text = std::str::from_utf8(&bytes).map_err(|_| no_list())?;
    let is_list = text.contains("<ListBucketResult") && text.trim_end().ends_with("</ListBucketResult>");
    let goes_on = text.contains("<IsTruncated>true</IsTruncated>");
    if !is_list || goes_on && !text.contains("<NextContinuationToken>") {
        return Err(no_list());
    }
    Ok(bytes)
}

/// A body whose bytes are counted as they are received.
struct Counted {
    body: HttpResponseBody,
    counters: Option<Arc<Counters>>,
}

impl Body for Counted {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        match (&polled, &self.counters) {
            (Poll::Ready(Some(Ok(frame))), Some(counters)) => {
                let size = frame.data_ref().map_or(0, Bytes::len) as u64;
                counters.received.fetch_add(size, Ordering::Relaxed);
            }
            (Poll::Ready(Some(Err(error))), _) => update_record(|seen| seen.lost(Lost::of(error))),
            _ => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

const CHECKSUM: HeaderName = HeaderName::from_static("x-amz-checksum-sha256");

/// 64 KiB: an error of S3 has a few hundred bytes.
const ERROR_SIZE_MAX: usize = 64 << 10;

/// 16 MiB: a page has 1,000 objects at most, whose names have 1 KiB at most, each byte encoded in up to six.
const LIST_SIZE_MAX: usize = 16 << 20;

const KEYS_CONNECT: Duration = Duration::from_secs(2);
const KEYS_REQUEST: Duration = Duration::from_secs(10);
