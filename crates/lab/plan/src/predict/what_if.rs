//! The same system with something changed.

use serde::{Deserialize, Serialize};

use crate::PlanError;
use crate::observation::Observation;
use crate::operation::{Amount, KIB, Operation};

/// What changes beside the encryption. The default changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WhatIf {
    /// Physical reads are multiplied by it: less than 1 for more memory.
    pub reads: f64,
    /// Everything is multiplied by it.
    pub load: f64,
    /// Another page size.
    pub page_size: Option<u32>,
}

impl Default for WhatIf {
    fn default() -> Self {
        Self {
            reads: 1.0,
            load: 1.0,
            page_size: None,
        }
    }
}

impl WhatIf {
    /// The system as it would be.
    ///
    /// # Errors
    /// [`PlanError::Input`] for an invalid factor or page size.
    pub fn apply(&self, observation: &Observation) -> Result<Observation, PlanError> {
        for (option, factor) in [("--physical-reads", self.reads), ("--load", self.load)] {
            // A system without a load has no answer; one with enough memory reads nothing.
            let is_factor = (0.0..=FACTOR_MAX).contains(&factor) && !(option == "--load" && factor == 0.0);
            if !is_factor {
                let reason = format!("{factor} is no factor between 0 and {FACTOR_MAX}");
                return Err(PlanError::input(option, reason));
            }
        }
        if let Some(size) = self
            .page_size
            .filter(|size| !size.is_power_of_two() || !(512..=65_536).contains(size))
        {
            let reason = format!("{size} is not a power of two from 512 to 65536");
            return Err(PlanError::input("--other-page-size", reason));
        }
        let mut changed = observation.clone();
        changed.page_size = self.page_size.unwrap_or(observation.page_size);
        for interval in &mut changed.intervals {
            interval.load = interval.load.scaled(self.load);
            interval.requests = interval.requests.map(|count| count * self.load);
            interval.cpu_seconds = interval.cpu_seconds.map(|seconds| seconds * self.load);
            for (operation, amount) in &mut interval.load.0 {
                self.change(*operation, amount);
            }
        }
        // The section is held as many times as much.
        changed.serialized_share = observation.serialized_share.map(|share| share * self.load);
        // A load that the cores cannot serve is an answer, not a mistake in the observation.
        changed.check_for(None)?;
        Ok(changed)
    }

    fn change(&self, operation: Operation, amount: &mut Amount) {
        if operation.is_read() {
            amount.count *= self.reads;
            amount.kib *= self.reads;
        }
        let Some(page_size) = self.page_size.map(f64::from) else {
            return;
        };
        match operation {
            // The same bytes in other pages.
            Operation::ReadSequential => amount.count = amount.kib * KIB / page_size,
            // As many pages as before, of another size.
            Operation::ReadRandom
            | Operation::ReadLog
            | Operation::Write
            | Operation::Append
            | Operation::RollbackWrite
            | Operation::Checkpoint => {
                *amount = Amount::of_size(amount.count, page_size);
            }
            Operation::Commit
            | Operation::RollbackCommit
            | Operation::Transaction
            | Operation::RollbackTransaction
            | Operation::LogRecord
            | Operation::Open
            | Operation::Backup
            | Operation::Packet
            | Operation::Handshake => {}
        }
    }
}

/// With a larger factor, the observation is not meaningful.
const FACTOR_MAX: f64 = 1000.0;
