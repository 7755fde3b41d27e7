//! Identities held by an age plugin: a program `age-plugin-NAME` in PATH, perhaps with a hardware token or an agent.
//!
//! Plugins are run without a terminal: a plugin that needs a PIN must prompt for it by other means.
//! Crate `age` starts them and provides no handle to kill or reap them: a plugin that hangs is
//! abandoned after the time limit, with the thread that communicates with it, and one that has
//! exited remains a zombie until this process ends.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use age::{DecryptError, EncryptError, NoCallbacks, plugin};
use selenite_cipher::{DatabaseId, Secret, SlotId, sha256};
use selenite_format::{Slot, SlotKind};

use super::{AgeRecipient, sealed};
use crate::key_error::ServiceFailure;
use crate::provider::{Effort, Identity, Recipient, SlotBody, unbound};
use crate::thread;
use crate::{EXPORTED_KEY_SIZE, KeyError, OriginProof};

/// A recipient of a plugin: `age1NAME1...`.
pub struct PluginRecipient(plugin::Recipient);

/// An identity of a plugin: `AGE-PLUGIN-NAME-1...`.
pub struct PluginIdentity {
    identity: plugin::Identity,
    /// The recipient from a comment in the identity file.
    recipient: Option<AgeRecipient>,
}

impl PluginRecipient {
    pub fn parse(text: &str) -> Option<Self> {
        text.parse().ok().map(Self)
    }

    pub fn seal<const N: usize>(&self, plain: &Secret<N>) -> Result<Vec<u8>, KeyError> {
        let (recipient, plain) = (self.0.clone(), plain.duplicate());
        ask(self.0.plugin(), move || {
            let name = recipient.plugin().to_owned();
            let asked = plugin::RecipientPluginV1::new(&name, &[recipient], &[], NoCallbacks)
                .map_err(EncryptError::PluginResolve)
                .and_then(|asked| sealed::seal(&asked, &plain));
            asked.map_err(|error| failed(&name, seal_failure(error)))
        })
    }
}

impl PluginIdentity {
    /// Parses a line of an identity file; `comment` is the recipient in a comment above it.
    pub fn parse(line: &str, comment: Option<&str>) -> Option<Self> {
        let identity: plugin::Identity = line.parse().ok()?;
        let is_its_own = |text: &&str| {
            text.parse::<plugin::Recipient>()
                .is_ok_and(|of| of.plugin() == identity.plugin())
        };
        let recipient = comment.filter(is_its_own).and_then(|text| text.parse().ok());
        Some(Self { identity, recipient })
    }

    fn open<const N: usize>(&self, sealed: &[u8]) -> Result<Secret<N>, KeyError> {
        let (identity, sealed) = (self.identity.clone(), sealed.to_vec());
        ask(self.identity.plugin(), move || {
            let name = identity.plugin().to_owned();
            let asked = plugin::IdentityPluginV1::new(&name, &[identity], NoCallbacks)
                .map_err(DecryptError::PluginResolve)
                .and_then(|asked| sealed::open(&asked, &sealed));
            asked.map_err(|error| match open_failure(error) {
                Some(failure) => failed(&name, failure),
                None => KeyError::WrongKey,
            })
        })
    }
}

impl Recipient for PluginIdentity {
    fn kind(&self) -> SlotKind {
        SlotKind::Age
    }

    fn describe(&self) -> String {
        match &self.recipient {
            Some(recipient) => recipient.describe(),
            None => format!("age plugin {}", self.identity.plugin()),
        }
    }

    fn wrap(&self, database_id: DatabaseId, slot_id: SlotId, master: &Secret<32>) -> Result<SlotBody, KeyError> {
        let recipient = self.recipient.as_ref().ok_or_else(|| KeyError::CannotWrap {
            recipient: self.describe(),
            problem: "its identity file does not name the recipient",
        })?;
        recipient.wrap(database_id, slot_id, master)
    }

    fn owns(&self, database_id: DatabaseId, slot: &Slot) -> Result<bool, KeyError> {
        match &self.recipient {
            Some(recipient) => recipient.owns(database_id, slot),
            None => Ok(false),
        }
    }
}

impl Identity for PluginIdentity {
    /// A plugin may hold keys for recipients of other names than its own (`age1tag1...`).
    fn can_open(&self, slot: &Slot) -> bool {
        slot.kind == SlotKind::Age
    }

    fn is_named_by(&self, slot: &Slot) -> bool {
        let text = std::str::from_utf8(&slot.identifier).ok();
        let recipient = text.and_then(|text| text.parse::<plugin::Recipient>().ok());
        self.can_open(slot) && recipient.is_some_and(|of| of.plugin() == self.identity.plugin())
    }

    fn effort(&self, _: &Slot) -> Effort {
        Effort::Service
    }

    fn fingerprint(&self) -> [u8; 32] {
        sha256(&[b"age plugin".as_slice(), self.identity.to_string().as_bytes()].concat())
    }

    fn origin_proof(&self) -> OriginProof {
        OriginProof::None
    }

    fn unwrap(&self, database_id: DatabaseId, slot: &Slot) -> Result<Secret<32>, KeyError> {
        let plain = self.open::<64>(&slot.wrapped)?;
        unbound(database_id, slot.id, plain.expose())
    }

    fn open_exported_key(&self, file: &[u8]) -> Result<Secret<EXPORTED_KEY_SIZE>, KeyError> {
        self.open(file)
    }

    fn unwrap_archive_key(&self, file: &[u8]) -> Result<Secret<32>, KeyError> {
        self.open(file)
    }
}

/// Communicates with the plugin in a thread, within the time limit.
fn ask<T: Send + 'static>(
    name: &str,
    talk: impl FnOnce() -> Result<T, KeyError> + Send + 'static,
) -> Result<T, KeyError> {
    let (sender, answer) = mpsc::channel();
    // The receiver is gone if the plugin exceeded the time limit.
    let talk = move || drop(sender.send(talk()));
    thread::spawn(talk).map_err(|error| failed(name, ServiceFailure::Io(error)))?;
    answer.recv_timeout(TIME_LIMIT).unwrap_or_else(|error| {
        Err(failed(
            name,
            match error {
                RecvTimeoutError::Timeout => ServiceFailure::TimedOut(TIME_LIMIT),
                // The thread panicked, in crate `age`, since it runs nothing else.
                RecvTimeoutError::Disconnected => ServiceFailure::Refused,
            },
        ))
    })
}

fn failed(name: &str, failure: ServiceFailure) -> KeyError {
    KeyError::KeyServiceUnavailable {
        service: format!("age-plugin-{name}"),
        failure,
    }
}

/// The kind of a failure. The plugin's message may repeat its input and is discarded.
fn seal_failure(error: EncryptError) -> ServiceFailure {
    if let EncryptError::Io(source) = error {
        return ServiceFailure::Io(source.kind().into());
    }
    let is_missing = matches!(error, EncryptError::PluginResolve(_));
    if is_missing {
        ServiceFailure::NotInstalled
    } else {
        ServiceFailure::Refused
    }
}

/// As [`seal_failure`]; `None` if the plugin worked and the slot is just not for this identity.
fn open_failure(error: DecryptError) -> Option<ServiceFailure> {
    if let DecryptError::Io(source) = error {
        return Some(ServiceFailure::Io(source.kind().into()));
    }
    if matches!(error, DecryptError::PluginResolve(_)) {
        return Some(ServiceFailure::NotInstalled);
    }
    matches!(error, DecryptError::Plugin(_)).then_some(ServiceFailure::Refused)
}

/// A minute: a user may have to find a token and touch it.
const TIME_LIMIT: Duration = Duration::from_secs(60);
