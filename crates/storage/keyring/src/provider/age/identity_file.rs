//! Files of age identities, as `age-keygen` and age's plugins write them.
//!
//! A line is empty, a comment, a secret key or a plugin's identity. A plugin's recipient cannot be
//! computed from its identity, but plugins write it into a comment above, as `age-keygen` does (`#
//! public key: age1...`), from which it is read.

use std::path::Path;

use age::secrecy::ExposeSecret;
use age::x25519;
use zeroize::Zeroizing;

use super::AgeIdentity;
use super::plugin::PluginIdentity;
use crate::civil_time::rfc3339;
use crate::{Identity, KeyError};

/// The content of an age identity file.
#[derive(Debug)]
pub(crate) struct Parsed {
    /// The identities in file order.
    pub identities: Vec<Box<dyn Identity>>,
    /// Whether one of them is held by a plugin.
    pub has_plugin: bool,
}

/// Parses the contents of an age identity file.
///
/// `BadFile` for an invalid line, with its number and without its text, and for a file without identities.
pub(crate) fn parse(path: &Path, contents: &[u8]) -> Result<Parsed, KeyError> {
    KeyError::refuse_in_fips("an age identity")?;
    let bad = |line, problem: &'static str| KeyError::BadFile {
        path: path.to_owned(),
        line,
        problem: problem.into(),
    };
    let text = std::str::from_utf8(contents).map_err(|_| bad(None, "not UTF-8, so not an age identity file"))?;
    let mut identities: Vec<Box<dyn Identity>> = Vec::new();
    let mut has_plugin = false;
    let mut comment_recipient = None;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(comment) = line.strip_prefix('#') {
            comment_recipient = recipient_in(comment).or(comment_recipient);
        } else if let Ok(key) = line.parse::<x25519::Identity>() {
            identities.push(Box::new(AgeIdentity::new(key)));
        } else if let Some(plugin) = PluginIdentity::parse(line, comment_recipient) {
            has_plugin = true;
            identities.push(Box::new(plugin));
        } else if !line.is_empty() {
            return Err(bad(Some(index + 1), what_is(line)));
        }
    }
    if identities.is_empty() {
        return Err(bad(None, "contains no age identity"));
    }
    Ok(Parsed { identities, has_plugin })
}

/// The text of a new age identity file: a secret key, its public key and the creation time.
pub struct NewIdentity {
    /// The content of the file; zeroed on drop.
    pub text: Zeroizing<String>,
    /// The public key, which is not secret: `age1...`.
    pub recipient: String,
}

/// Makes an age key. `now` is in seconds since 1970-01-01 UTC. Crate `age` draws the randomness from the system.
pub fn keygen(now: u64) -> NewIdentity {
    let key = x25519::Identity::generate();
    let recipient = key.to_public().to_string();
    let secret = key.to_string();
    let created = rfc3339(now);
    // The full capacity is allocated at once: a string that grows leaves copies behind.
    let mut text = Zeroizing::new(String::with_capacity(512));
    for part in [
        "# created: ",
        &created,
        "\n# public key: ",
        &recipient,
        "\n",
        secret.expose_secret(),
        "\n",
    ] {
        text.push_str(part);
    }
    NewIdentity { text, recipient }
}

/// A recipient that a comment mentions: `# public key: age1...`, `#    Recipient: age1yubikey1...`.
fn recipient_in(comment: &str) -> Option<&str> {
    comment.split_whitespace().find(|word| word.starts_with("age1"))
}

/// Describes a line that is not an identity. The line may be part of a secret and is not repeated.
fn what_is(line: &str) -> &'static str {
    if line.starts_with("age-encryption.org/") || line.starts_with("-----BEGIN AGE") {
        "encrypted: decrypt it with age first"
    } else if line.starts_with("age1") {
        "a recipient (public key), not an identity (secret key)"
    } else if line.to_ascii_uppercase().starts_with("AGE-") {
        "a damaged age identity, or an unsupported kind"
    } else {
        "not an age identity"
    }
}
