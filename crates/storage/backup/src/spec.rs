//! Opens destinations by their specification: a folder, or an object store.

use std::path::PathBuf;

use url::Url;

use crate::destination::{Destination, StoreError};
use crate::folder::Folder;
#[cfg(feature = "s3")]
use crate::s3;

/// Opens a destination with the settings of the process: `s3://BUCKET/PREFIX`, a path, or a `file:`
/// URL. No request is sent yet.
///
/// Operations of the destination block, and must not be called by a task of an asynchronous runtime.
///
/// # Errors
/// `Usage` for any other form, for invalid settings, and for a bucket if the feature `s3` is not
/// built in; `Denied` if a file of settings cannot be read.
pub fn open(spec: &str) -> Result<Box<dyn Destination>, StoreError> {
    match Spec::parse(spec)? {
        Spec::Folder(path) => Ok(Box::new(Folder::new(&path))),
        #[cfg(feature = "s3")]
        Spec::Bucket { bucket, prefix } => s3::open(bucket, prefix, &s3::Settings::of_the_process()),
        #[cfg(not(feature = "s3"))]
        Spec::Bucket { bucket, prefix } => Err(StoreError::usage(
            &format!("s3://{bucket}/{prefix}"),
            "this build has no object stores: it was built without the feature s3",
        )),
    }
}

/// As [`open`], with the caller's settings.
///
/// # Errors
/// Those of [`open`].
#[cfg(feature = "s3")]
pub fn open_with(spec: &str, settings: &s3::Settings) -> Result<Box<dyn Destination>, StoreError> {
    match Spec::parse(spec)? {
        Spec::Folder(path) => Ok(Box::new(Folder::new(&path))),
        Spec::Bucket { bucket, prefix } => s3::open(bucket, prefix, settings),
    }
}

/// Whether the destination is remote, so that a cache is useful.
#[must_use]
pub fn is_far(spec: &str) -> bool {
    matches!(Spec::parse(spec), Ok(Spec::Bucket { .. }))
}

/// A parsed destination.
#[derive(PartialEq, Eq, Debug)]
enum Spec {
    /// A folder.
    Folder(PathBuf),
    /// Objects of a bucket.
    Bucket {
        /// The bucket.
        bucket: String,
        /// The prefix of names: components between slashes, none at the ends; or empty.
        prefix: String,
    },
}

impl Spec {
    /// Parses the user's text.
    ///
    /// # Errors
    /// `Usage`, with a message that repeats no password.
    fn parse(text: &str) -> Result<Self, StoreError> {
        let Some((scheme, rest)) = scheme(text) else {
            return match text {
                "" => Err(StoreError::usage("the destination", "it has no name")),
                _ => Ok(Self::Folder(PathBuf::from(text))),
            };
        };
        match scheme.as_str() {
            "s3" => bucket(rest),
            "file" => file(text),
            _ => Err(StoreError::usage(
                &format!("{scheme}:..."),
                "a destination is a folder or s3://BUCKET/PREFIX",
            )),
        }
    }
}

/// The lower-case scheme, and the text after its colon. Any other colon belongs to a path.
fn scheme(text: &str) -> Option<(String, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let is_scheme = scheme.bytes().next().is_some_and(|sign| sign.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|sign| sign.is_ascii_alphanumeric() || b"+-.".contains(&sign));
    let scheme = scheme.to_ascii_lowercase();
    // With at most one slash it is a path, unless the scheme is a known one and the slashes are a typing error.
    let is_known = matches!(scheme.as_str(), "s3" | "file");
    (is_scheme && (is_known || rest.starts_with("//"))).then_some((scheme, rest))
}

fn bucket(rest: &str) -> Result<Spec, StoreError> {
    let Some(rest) = rest.strip_prefix("//") else {
        return Err(StoreError::usage(
            "s3:...",
            "an object store is written s3://BUCKET/PREFIX; a folder of that name ./s3:...",
        ));
    };
    let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    if bucket.contains('@') {
        let why = "a destination has no user name or password; keys are taken from the environment and from ~/.aws";
        return Err(StoreError::usage("s3://...@...", why));
    }
    let is_bucket = (3..=63).contains(&bucket.len())
        && bucket
            .bytes()
            .all(|sign| sign.is_ascii_alphanumeric() || b"-._".contains(&sign))
        && bucket.starts_with(|sign: char| sign.is_ascii_alphanumeric());
    if !is_bucket {
        let why = "a bucket's name has 3 to 63 letters, digits, hyphens and dots, and begins with a letter or digit";
        return Err(StoreError::usage("s3://...", why));
    }
    let prefix = prefix.trim_end_matches('/');
    let is_part = |part: &str| {
        !matches!(part, "" | "." | "..")
            && part
                .bytes()
                .all(|sign| sign.is_ascii_alphanumeric() || b"-._=+,".contains(&sign))
    };
    if prefix.len() > PREFIX_SIZE_MAX || !(prefix.is_empty() || prefix.split('/').all(is_part)) {
        let why =
            "a prefix has parts between single slashes, of letters, digits and -._=+, only, and at most 512 bytes";
        return Err(StoreError::usage(&format!("s3://{bucket}/..."), why));
    }
    Ok(Spec::Bucket {
        bucket: bucket.to_owned(),
        prefix: prefix.to_owned(),
    })
}

fn file(text: &str) -> Result<Spec, StoreError> {
    let refused = |why| Err(StoreError::usage("file:...", why));
    // A URL parser would change `file:backups` to `/backups`.
    if !text["file:".len()..].starts_with('/') {
        return refused("a file URL has an absolute path; a plain path also works");
    }
    let Ok(url) = Url::parse(text) else {
        return refused("not a URL");
    };
    if url.query().is_some() || url.fragment().is_some() {
        return refused("a file URL has only a path: write %3F for ?, %23 for #");
    }
    match url.to_file_path() {
        Ok(path) => Ok(Spec::Folder(path)),
        Err(()) => refused("it names another machine"),
    }
}

/// Names of objects may have 1,024 bytes, and ours have about 80.
const PREFIX_SIZE_MAX: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::destination::StoreErrorKind;

    fn bucket(bucket: &str, prefix: &str) -> Spec {
        Spec::Bucket {
            bucket: bucket.to_owned(),
            prefix: prefix.to_owned(),
        }
    }

    #[test]
    fn destinations_are_buckets_and_folders() {
        let spec = |text: &str| Spec::parse(text).unwrap();
        assert_eq!(spec("s3://backups"), bucket("backups", ""));
        assert_eq!(spec("s3://backups/"), bucket("backups", ""));
        assert_eq!(spec("S3://backups/db/main/"), bucket("backups", "db/main"));
        for path in ["/srv/backups", "backups", "./s3:x", "a:b", "12://x", "./http://x"] {
            assert_eq!(spec(path), Spec::Folder(PathBuf::from(path)));
        }
        assert_eq!(spec("file:///srv/a%20b"), Spec::Folder(PathBuf::from("/srv/a b")));
        assert_eq!(spec("file:/srv/a"), Spec::Folder(PathBuf::from("/srv/a")));
        assert_eq!(spec("FILE://localhost/srv/a"), Spec::Folder(PathBuf::from("/srv/a")));
    }

    #[test]
    fn other_destinations_are_refused_with_a_message() {
        let others = [
            "http://x/y",
            "https://x",
            "gs://b/p",
            "az://b/p",
            "S3N://b",
            "ftp://u:pass@x",
        ];
        let slips = [
            "",
            "s3:backups/x",
            "s3:/backups",
            "file:backups",
            "file://host/x",
            "file:///a?b",
            "file:///a#b",
        ];
        let buckets = [
            "s3://",
            "s3:///p",
            "s3://ab",
            "s3://a b c",
            "s3://-abc",
            "s3://b\u{fc}cher",
            "s3://abc?region=x",
        ];
        let prefixes = [
            "s3://abc//p",
            "s3://abc/p//q",
            "s3://abc/../x",
            "s3://abc/p?x",
            "s3://abc/a%20b",
            "s3://abc/a b",
        ];
        for text in [&others[..], &slips[..], &buckets[..], &prefixes[..]].concat() {
            let error = Spec::parse(text).unwrap_err();
            assert_eq!(error.kind, StoreErrorKind::Usage, "{text}");
            assert!(!error.to_string().contains("pass"), "{error}");
        }
        let long = format!("s3://abc/{}", "x".repeat(PREFIX_SIZE_MAX + 1));
        assert!(Spec::parse(&long).is_err());
    }

    #[test]
    fn a_password_is_refused_and_not_repeated() {
        for text in [
            "s3://user:hunter2@bucket/p",
            "s3://hunter2@bucket",
            "http://user:hunter2@host/p",
        ] {
            let error = Spec::parse(text).unwrap_err().to_string();
            assert!(!error.contains("hunter2") && !error.contains("user:"), "{error}");
        }
    }
}
