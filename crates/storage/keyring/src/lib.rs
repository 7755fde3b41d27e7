//! Key hierarchy, key slots and the providers of identities.
//!
//! An identity (an age key, a passphrase, a raw key, a command) opens a key slot of a superblock,
//! which contains the database's master key. The master key unwraps the data keys and the log key,
//! and authenticates the superblock.
//!
//! - no-secret-in-text: no secret occurs in an error, in `Debug`, in `Display` or in a log. Paths,
//!   names and key ids may occur.
//! - claims-are-not-trusted: the content of a database is not trusted before its MAC is checked,
//!   and never determines a program to run (FORMAT 3.4, 3.5).
//! - inputs-are-explicit: only [`Config::load`] reads the environment, and not in a process with
//!   elevated rights ([`Config::elevated`]); time, and the randomness of new keys, are parameters.
//!
//! `selenite-vfs` chooses the superblock, and reads and writes it under SQLite's locks.
//! `selenite-cipher` seals pages with the data keys.
#![forbid(unsafe_code)]

pub mod archive_recipient;
mod argv;
mod cache;
pub mod change;
pub mod child;
mod civil_time;
mod config;
mod create;
pub mod epoch_change;
mod exported_key;
#[cfg(test)]
mod fixture;
mod hex;
mod key_error;
mod keyring;
mod load;
mod origin;
mod password_file;
pub mod platform;
mod provider;
mod random;
mod secret_file;
mod shell_word;
mod slot;
pub mod sole_epoch;
mod spec;
mod thread;
mod toml_text;
mod trust;
mod unlock;
mod unlocked;

pub use cache::Cache;
pub use civil_time::rfc3339;
pub use config::Config;
pub use create::create;
pub use exported_key::ExportedKey;
pub use key_error::{Distrust, KeyError, Refusal, ServiceFailure};
pub use keyring::{Keyring, Pin};
pub use load::{load, load_identity, parse_recipient, parse_recipient_of, readable_by_others};
pub use origin::{Origin, OriginPolicy};
pub use password_file::{PasswordFileError, open_by_password, seal_by_password};
pub use provider::age::identity_file::{NewIdentity, keygen};
pub use provider::age::{AgeIdentity, AgeRecipient};
pub use provider::command::CommandIdentity;
pub use provider::held::{HeldAge, HeldMaster};
pub use provider::passphrase::{Cost, PassphraseIdentity};
pub use provider::raw::RawIdentity;
pub use provider::{EXPORTED_KEY_SIZE, Effort, Identity, OriginProof, Recipient, SlotBody};
pub use random::{Random, os_random};
pub use secret_file::{check_trusted, read_trusted, read_trusted_text, write_key_file};
pub use shell_word::shell_word;
pub use slot::{SlotSummary, find_slot};
pub use spec::Spec;
pub use trust::{Trust, absolute, passes_link, pin_path, replace_path_pin};
pub use unlock::unlock;
pub use unlocked::Unlocked;
