//! External commands, the interface to key services without built-in support.
//!
//! `COMMAND wrap` reads 64 bytes on stdin and outputs up to 8 KiB that only the service can unwrap;
//! `COMMAND unwrap` reads that output and outputs the 64 bytes.
//!
//! - words-from-configuration: the command line comes from the configuration; of the slot, only
//!   the name is used, for comparison.
//! - unwrap-checks-wrap: the output of `wrap` is accepted only after `unwrap` has returned the same
//!   bytes: a slot that can never be opened may be the only one.
//! - output-is-not-shown: neither stdout nor stderr of a command is ever part of an error.
//! - answer-proves-itself: an answer counts without an exit status, where SIGCHLD is ignored: what `wrap` said is
//!   unwrapped again, and what `unwrap` said names the database and the slot.

use std::io;
use std::process::Command;
use std::time::Duration;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use selenite_cipher::{DatabaseId, Secret, SlotId, sha256};
use selenite_format::{SLOT_WRAPPED_SIZE_MAX, Slot, SlotKind};
use zeroize::Zeroizing;

use super::{Effort, Identity, Recipient, SlotBody, bound, unbound};
use crate::child::{self, Stderr};
use crate::key_error::{Refusal, ServiceFailure};
use crate::{KeyError, OriginProof, os_random};

/// An identity held by a command of the configuration.
pub struct CommandIdentity {
    name: String,
    argv: Vec<String>,
    time_limit: Duration,
}

impl CommandIdentity {
    /// An identity of the named command with its words.
    pub fn new(name: &str, argv: &[String]) -> Self {
        Self {
            name: name.to_owned(),
            argv: argv.to_vec(),
            time_limit: TIME_LIMIT,
        }
    }

    /// Sets the time limit, which is 10 seconds by default.
    #[must_use]
    pub fn with_time_limit(self, time_limit: Duration) -> Self {
        Self { time_limit, ..self }
    }

    /// Wraps a random key, and unwraps it.
    ///
    /// `KeyServiceUnavailable` if that does not return the key.
    pub fn check(&self) -> Result<(), KeyError> {
        let (mut database_id, mut slot_id) = ([0; 16], [0; 16]);
        os_random(&mut database_id);
        os_random(&mut slot_id);
        let master = Secret::fill(|bytes| os_random(bytes));
        self.wrap(DatabaseId(database_id), SlotId(slot_id), &master).map(drop)
    }

    fn ask(&self, verb: &str, input: &[u8]) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        self.run(verb, input).map_err(|failure| self.away(failure))
    }

    /// Runs `argv... verb`, and returns its stdout if it exits with status 0.
    fn run(&self, verb: &str, input: &[u8]) -> Result<Zeroizing<Vec<u8>>, ServiceFailure> {
        let program = self.argv.split_first();
        let (program, words) = program.ok_or_else(|| ServiceFailure::Io(io::ErrorKind::InvalidInput.into()))?;
        let mut command = Command::new(program);
        command.args(words).arg(verb);
        let answer = child::run(command, Stderr::Ignored, input, self.time_limit)?;
        match answer.status {
            Some(status) if !status.success() => Err(ServiceFailure::Exited(status)),
            None if answer.output.is_empty() => Err(ServiceFailure::StatusLost),
            Some(_) | None => Ok(answer.output),
        }
    }

    fn away(&self, failure: ServiceFailure) -> KeyError {
        KeyError::KeyServiceUnavailable {
            service: self.name.clone(),
            failure,
        }
    }
}

impl Recipient for CommandIdentity {
    fn kind(&self) -> SlotKind {
        SlotKind::Command
    }

    fn describe(&self) -> String {
        format!("command {}", self.name)
    }

    fn wrap(&self, database_id: DatabaseId, slot_id: SlotId, master: &Secret<32>) -> Result<SlotBody, KeyError> {
        let plain = bound(database_id, slot_id, master);
        let wrapped = self.ask("wrap", plain.expose())?;
        if wrapped.is_empty() || wrapped.len() > SLOT_WRAPPED_SIZE_MAX {
            return Err(self.away(ServiceFailure::AnswerSize(wrapped.len())));
        }
        let is_in_clear = wrapped.windows(32).any(|part| part == master.expose());
        if is_in_clear {
            return Err(self.away(ServiceFailure::RoundTripFailed));
        }
        let again = self.ask("unwrap", &wrapped)?;
        if verify_slices_are_equal(&again, plain.expose()).is_err() {
            return Err(self.away(ServiceFailure::RoundTripFailed));
        }
        Ok(SlotBody {
            identifier: self.name.clone().into_bytes(),
            parameters: Vec::new(),
            wrapped: wrapped.to_vec(),
        })
    }

    fn owns(&self, _: DatabaseId, slot: &Slot) -> Result<bool, KeyError> {
        Ok(self.can_open(slot))
    }
}

impl Identity for CommandIdentity {
    fn can_open(&self, slot: &Slot) -> bool {
        slot.kind == SlotKind::Command && slot.identifier == self.name.as_bytes()
    }

    fn effort(&self, _: &Slot) -> Effort {
        Effort::Service
    }

    fn fingerprint(&self) -> [u8; 32] {
        let mut text = b"command".to_vec();
        for word in std::iter::once(&self.name).chain(&self.argv) {
            text.extend(sha256(word.as_bytes()));
        }
        sha256(&text)
    }

    fn origin_proof(&self) -> OriginProof {
        OriginProof::None
    }

    fn unwrap(&self, database_id: DatabaseId, slot: &Slot) -> Result<Secret<32>, KeyError> {
        let answer = self.ask("unwrap", &slot.wrapped)?;
        let plain: &[u8; 64] = answer
            .as_slice()
            .try_into()
            .map_err(|_| self.away(ServiceFailure::AnswerSize(answer.len())))?;
        unbound(database_id, slot.id, plain).map_err(|_| KeyError::KeyRefused {
            slot: slot.id,
            refusal: Refusal::OtherKey,
        })
    }
}

/// 10 seconds: a distant key service responds in one, and an application waits for its database.
const TIME_LIMIT: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests;
