//! A bucket of an object store as a destination.
//!
//! - write-once-is-tested: before the first object is written, a probe with a fixed name is written
//!   twice, or once if it exists: the store must refuse the second write. The probe is not removed,
//!   so that no permission to delete is needed, and is not listed.
//! - lost-answer-is-reread: if a write reports that the object exists, after an attempt with an
//!   unknown outcome, the object is read back: if its bytes are equal, this write succeeded.

use std::future::Future;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use bytes::Bytes;
use futures_util::StreamExt;
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey, Checksum, S3ConditionalPut};
use object_store::client::ClientOptions;
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Path;
use object_store::{
    GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload,
    StaticCredentialProvider,
};
use tokio::runtime::{Builder, Runtime};

use super::answer::{Failure, record_attempt};
use super::endpoint::Endpoint;
use super::keys::Service;
use super::retry_policy::RetryPolicy;
use super::settings::Settings;
use super::wire::{Counters, RequestTarget, Wire, one_attempt};
use crate::destination::{Destination, Object, StoreError, StoreErrorKind, Traffic};

/// A destination in a bucket.
pub struct Bucket {
    bucket: String,
    /// The prefix of names: empty, or ending with a slash.
    prefix: String,
    store: AmazonS3,
    /// `None` only during drop.
    runtime: Option<Runtime>,
    counters: Arc<Counters>,
    policy: RetryPolicy,
    /// write-once-is-tested: whether the store passed the test.
    keeps_objects: Mutex<bool>,
}

impl Bucket {
    /// Prepares the client. No request is sent yet.
    ///
    /// # Errors
    /// Invalid settings.
    pub fn open(bucket: String, prefix: String, settings: &Settings) -> Result<Self, StoreError> {
        let place = place(&bucket, &prefix);
        let wrong = |what: &str| StoreError::usage(&place, what);
        let found = settings.find(&place)?;
        let counters = Arc::new(Counters::default());
        let wire = |target, is_direct| Wire {
            counters: Arc::clone(&counters),
            policy: settings.policy,
            target,
            is_direct,
            certificates: found.certificates.clone(),
        };
        let endpoint = found.endpoint.as_ref();
        let in_clear = endpoint.is_some_and(|endpoint| endpoint.in_clear);
        let is_loopback = endpoint.is_some_and(|endpoint| endpoint.is_loopback);
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(&bucket)
            .with_region(&found.region)
            .with_retry(one_attempt())
            .with_client_options(ClientOptions::new().with_allow_http(in_clear))
            .with_http_connector(wire(RequestTarget::Bucket, is_loopback))
            .with_checksum_algorithm(Checksum::SHA256)
            .with_conditional_put(S3ConditionalPut::ETagMatch)
            // One request per object, which every store supports.
            .with_disable_bulk_delete(true);
        if let Some(Endpoint { url, .. }) = endpoint {
            builder = builder.with_endpoint(url);
        }
        for (variable, key) in VARIABLES {
            if let Some(value) = settings.variable(variable) {
                builder = builder.with_config(key, value);
            }
        }
        builder = builder.with_credentials(match found.keys {
            Some(keys) => Arc::new(StaticCredentialProvider::new(keys)),
            None => {
                let wire = wire(RequestTarget::Keys, !settings.asks_by_web_identity());
                Arc::new(Service::new(settings, &found.region, wire).map_err(|what| wrong(&what))?)
            }
        });
        let store = builder
            .build()
            .map_err(|_| wrong("inconsistent settings: see AWS_CA_BUNDLE and the other AWS_* variables"))?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("selenite-store")
            .enable_all()
            .build();
        let runtime = runtime.map_err(|error| StoreError {
            kind: StoreErrorKind::Other,
            verb: "open",
            name: place.clone(),
            what: error.to_string(),
        })?;
        Ok(Self {
            bucket,
            prefix: if prefix.is_empty() { prefix } else { prefix + "/" },
            store,
            runtime: Some(runtime),
            counters,
            policy: settings.policy,
            keeps_objects: Mutex::new(false),
        })
    }

    /// Makes attempts until one succeeds, or a retry cannot help. The second value of an error is
    /// whether an earlier attempt may have taken effect.
    fn attempt<T, F>(&self, writes: bool, attempt: impl Fn() -> F) -> Result<T, (Failure, bool)>
    where
        F: Future<Output = Result<T, AttemptFault>>,
    {
        let Some(runtime) = &self.runtime else {
            let failure = Failure::ours(StoreErrorKind::Other, "it is being closed");
            return Err((failure, false));
        };
        let started = Instant::now();
        let mut in_doubt = false;
        let mut tries = 0;
        loop {
            tries += 1;
            let (result, seen) = runtime.block_on(record_attempt(attempt()));
            let failure = match result {
                Ok(_) if seen.is_altered() => Failure::ours(
                    StoreErrorKind::InvalidResponse,
                    "its contents differ from what was sent",
                ),
                Ok(done) => return Ok(done),
                Err(AttemptFault::Said(kind, what)) => Failure::ours(kind, what),
                Err(AttemptFault::Store) => seen.failure(writes),
            };
            let pause = self.policy.pause(tries, jitter(), failure.pause);
            if !failure.again || tries >= self.policy.tries_max || started.elapsed() + pause > self.policy.total {
                return Err((failure, in_doubt));
            }
            in_doubt |= failure.in_doubt;
            std::thread::sleep(pause);
            self.counters.retries.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Writes an object. After a lost response, an existing equal object counts as written (lost-answer-is-reread).
    fn put(&self, name: &str, bytes: &Bytes) -> Result<(), StoreError> {
        let path = self.path("write", name)?;
        let put = || async {
            let options = PutOptions {
                mode: PutMode::Create,
                ..PutOptions::default()
            };
            let payload = PutPayload::from_bytes(bytes.clone());
            self.store
                .put_opts(&path, payload, options)
                .await
                .map_err(|_| AttemptFault::Store)
        };
        let (failure, in_doubt) = match self.attempt(true, put) {
            Ok(_) => return Ok(()),
            Err(failed) => failed,
        };
        if failure.kind == StoreErrorKind::Exists && in_doubt {
            match self.get(name, bytes.len()) {
                Ok(there) if there == **bytes => return Ok(()),
                // Another writer's object of another length or content, or one that was removed meanwhile.
                Ok(_) => {}
                Err(error) if matches!(error.kind, StoreErrorKind::InvalidResponse | StoreErrorKind::Missing) => {}
                Err(mut error) => {
                    error.verb = "write";
                    error.what = format!(
                        "the answer was lost, and the object could not be read back: {}",
                        error.what
                    );
                    return Err(error);
                }
            }
        }
        Err(self.error("write", name, failure))
    }

    /// Enforces `write-once-is-tested`.
    fn require_that_it_keeps_objects(&self) -> Result<(), StoreError> {
        let mut keeps_objects = self.keeps_objects.lock().unwrap_or_else(PoisonError::into_inner);
        if *keeps_objects {
            return Ok(());
        }
        let path = self.path("write", PROBE)?;
        for _ in 0..2 {
            let put = || async {
                let options = PutOptions {
                    mode: PutMode::Create,
                    ..PutOptions::default()
                };
                let payload = PutPayload::from_static(PROBE_TEXT.as_bytes());
                self.store
                    .put_opts(&path, payload, options)
                    .await
                    .map_err(|_| AttemptFault::Store)
            };
            match self.attempt(true, put) {
                Ok(_) => {}
                Err((failure, _)) if failure.kind == StoreErrorKind::Exists => {
                    *keeps_objects = true;
                    return Ok(());
                }
                Err((failure, _)) => return Err(self.error("write", PROBE, failure)),
            }
        }
        let what = "it overwrites existing objects (no support for If-None-Match), so concurrent backups could destroy each other";
        Err(self.error("write", PROBE, Failure::ours(StoreErrorKind::InvalidResponse, what)))
    }

    fn page(&self, prefix: &str, token: Option<&String>) -> Result<(Vec<ObjectMeta>, Option<String>), Failure> {
        let list = || async {
            let options = PaginatedListOptions {
                page_token: token.cloned(),
                ..PaginatedListOptions::default()
            };
            let prefix = (!prefix.is_empty()).then_some(prefix);
            self.store
                .list_paginated(prefix, options)
                .await
                .map_err(|_| AttemptFault::Store)
        };
        let page = self.attempt(false, list).map_err(|(failure, _)| failure)?;
        Ok((page.result.objects, page.page_token))
    }

    fn path(&self, verb: &'static str, name: &str) -> Result<Path, StoreError> {
        let whole = format!("{}{name}", self.prefix);
        Path::parse(&whole)
            .ok()
            .filter(|path| path.as_ref() == whole && !name.is_empty())
            .ok_or_else(|| self.error(verb, name, Failure::ours(StoreErrorKind::Usage, "not an object name")))
    }

    fn error(&self, verb: &'static str, name: &str, failure: Failure) -> StoreError {
        StoreError {
            kind: failure.kind,
            verb,
            name: format!("s3://{}/{}{name}", self.bucket, self.prefix),
            what: failure.what,
        }
    }
}

impl Destination for Bucket {
    fn put_new(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.require_that_it_keeps_objects()?;
        self.put(name, &Bytes::copy_from_slice(bytes))
    }

    fn get(&self, name: &str, size_max: usize) -> Result<Vec<u8>, StoreError> {
        let path = self.path("read", name)?;
        let get = || async {
            let got = self.store.get_opts(&path, GetOptions::default()).await;
            let got = got.map_err(|_| AttemptFault::Store)?;
            let size = usize::try_from(got.meta.size).unwrap_or(usize::MAX);
            if size > size_max {
                return Err(AttemptFault::Said(
                    StoreErrorKind::InvalidResponse,
                    "too large for an object of its kind",
                ));
            }
            let mut bytes = Vec::with_capacity(size);
            let mut stream = got.into_stream();
            while let Some(piece) = stream.next().await {
                let piece = piece.map_err(|_| AttemptFault::Store)?;
                if piece.len() > size - bytes.len() {
                    return Err(AttemptFault::Said(
                        StoreErrorKind::InvalidResponse,
                        "longer than announced",
                    ));
                }
                bytes.extend_from_slice(&piece);
            }
            if bytes.len() < size {
                return Err(AttemptFault::Said(
                    StoreErrorKind::InvalidResponse,
                    "shorter than announced",
                ));
            }
            Ok(bytes)
        };
        self.attempt(false, get)
            .map_err(|(failure, _)| self.error("read", name, failure))
    }

    fn beginning(&self, name: &str, size: usize) -> Result<Vec<u8>, StoreError> {
        let path = self.path("read", name)?;
        let end = u64::try_from(size).unwrap_or(u64::MAX);
        let get = || async {
            let options = GetOptions {
                range: Some(GetRange::Bounded(0..end)),
                ..GetOptions::default()
            };
            let got = self.store.get_opts(&path, options).await;
            let mut stream = got.map_err(|_| AttemptFault::Store)?.into_stream();
            let mut bytes = Vec::new();
            while let Some(piece) = stream.next().await {
                let piece = piece.map_err(|_| AttemptFault::Store)?;
                if piece.len() > size - bytes.len() {
                    return Err(AttemptFault::Said(
                        StoreErrorKind::InvalidResponse,
                        "longer than requested",
                    ));
                }
                bytes.extend_from_slice(&piece);
            }
            Ok(bytes)
        };
        let read = self.attempt(false, get);
        match read.map_err(|(failure, _)| self.error("read", name, failure)) {
            // An empty object has no such range (RFC 9110, 15.5.17), and some stores support no
            // ranges: read it whole.
            Err(error)
                if !matches!(
                    error.kind,
                    StoreErrorKind::Missing | StoreErrorKind::Unreachable | StoreErrorKind::Denied
                ) =>
            {
                let mut bytes = self.get(name, crate::archive::PART_SIZE_MAX)?;
                bytes.truncate(size);
                Ok(bytes)
            }
            read => read,
        }
    }

    fn list(&self, prefix: &str) -> Result<Vec<Object>, StoreError> {
        let lying = |what| self.error("list", prefix, Failure::ours(StoreErrorKind::InvalidResponse, what));
        let whole = format!("{}{prefix}", self.prefix);
        let mut found = Vec::new();
        let mut token: Option<String> = None;
        for _ in 0..PAGES_MAX {
            let page = self.page(&whole, token.as_ref());
            let (objects, next) = page.map_err(|failure| self.error("list", prefix, failure))?;
            for object in objects {
                let key = object.location.as_ref();
                // A marker of a folder, as consoles create it, ends with the slash that was removed here.
                if key.len() < whole.len() && whole.strip_suffix('/') == Some(key) {
                    continue;
                }
                if !key.starts_with(&whole) {
                    return Err(lying("it lists objects that were not requested"));
                }
                let name = &key[self.prefix.len()..];
                // write-once-is-tested: no object of an archive has a name that begins with a dot.
                if name.rsplit('/').next().is_some_and(|last| last.starts_with('.')) {
                    continue;
                }
                found.push(Object {
                    name: name.to_owned(),
                    size: object.size,
                    modified: u64::try_from(object.last_modified.timestamp()).unwrap_or(0),
                });
            }
            if found.len() > LISTED_MAX {
                return Err(lying("it lists too many objects"));
            }
            match next {
                None => {
                    found.sort_unstable_by(|one, two| one.name.cmp(&two.name));
                    return Ok(found);
                }
                Some(_) if next == token => break,
                Some(_) => token = next,
            }
        }
        Err(lying("its list does not end"))
    }

    fn remove(&self, name: &str) -> Result<(), StoreError> {
        let path = self.path("remove", name)?;
        let remove = || async { self.store.delete(&path).await.map_err(|_| AttemptFault::Store) };
        match self.attempt(false, remove) {
            Err((failure, _)) if failure.kind != StoreErrorKind::Missing => Err(self.error("remove", name, failure)),
            _ => Ok(()),
        }
    }

    fn traffic(&self) -> Traffic {
        let count = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
        Traffic {
            requests: count(&self.counters.requests),
            retries: count(&self.counters.retries),
            sent: count(&self.counters.sent),
            received: count(&self.counters.received),
        }
    }

    fn place(&self) -> String {
        place(&self.bucket, self.prefix.trim_end_matches('/'))
    }
}

impl Drop for Bucket {
    fn drop(&mut self) {
        // A pending name resolution cannot be cancelled, and is not waited for.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Failure {
    fn ours(kind: StoreErrorKind, what: &str) -> Self {
        Self {
            kind,
            what: what.to_owned(),
            again: false,
            in_doubt: false,
            pause: None,
        }
    }
}

/// Why an attempt failed.
enum AttemptFault {
    /// As recorded in the response.
    Store,
    /// For a local reason.
    Said(StoreErrorKind, &'static str),
}

fn place(bucket: &str, prefix: &str) -> String {
    match prefix {
        "" => format!("s3://{bucket}"),
        _ => format!("s3://{bucket}/{prefix}"),
    }
}

fn jitter() -> u16 {
    // Without randomness the pauses are merely not spread.
    getrandom::u32().map_or(0, |thrown| (thrown >> 16) as u16)
}

const VARIABLES: [(&str, AmazonS3ConfigKey); 2] = [
    (
        "AWS_VIRTUAL_HOSTED_STYLE_REQUEST",
        AmazonS3ConfigKey::VirtualHostedStyleRequest,
    ),
    ("AWS_REQUEST_PAYER", AmazonS3ConfigKey::RequestPayer),
];

const PROBE: &str = ".writes-once";
const PROBE_TEXT: &str = "Selenite wrote this to see that the store does not write over an object.\n";

/// Four million objects are 64 TiB in parts of 16 MiB.
const LISTED_MAX: usize = 1 << 22;
/// A page has up to 1,000 objects, and stores with smaller pages still return some.
const PAGES_MAX: usize = 1 << 16;
