//! The formula of reads alone, as the weblog "Thoughts on Query Performance with TDE enabled" has it.

use serde::{Deserialize, Serialize};

use crate::operation::{KIB, Load, Operation};

/// MB read in a second, divided by the MB that a core decrypts in a second and by the cores, in percent.
///
/// The weblog's example: 25 MB read in a second, 100 MB decrypted, 4 cores: 6.25 %.
#[must_use]
pub fn formula_percent(read_mb: f64, decrypted_mb: f64, cores: f64) -> f64 {
    read_mb * 100.0 / (decrypted_mb * cores)
}

/// The result of the formula, compared with the prediction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Formula {
    /// MB (of 1,000,000 bytes) that are read in a second.
    pub read_mb: f64,
    /// MB that a core decrypts in a second.
    pub decrypted_mb: f64,
    /// Its result: percent of the machine.
    pub percent: f64,
    /// The prediction minus the formula, in percent of the machine. May be negative.
    pub left_out_percent: f64,
    /// Parts of the load that the formula omits.
    pub left_out: Vec<String>,
}

impl Formula {
    pub(super) fn new(load: &Load, decrypted_mb: f64, cores: f64, added_cores: f64) -> Self {
        let reads = [Operation::ReadSequential, Operation::ReadRandom, Operation::ReadLog];
        let read_mb = reads.iter().map(|read| load.amount(*read).kib).sum::<f64>() * KIB / 1e6;
        let percent = formula_percent(read_mb, decrypted_mb, cores);
        let others = Operation::ALL
            .into_iter()
            .filter(|operation| !reads.contains(operation) && load.amount(*operation).count > 0.0);
        let mut left_out: Vec<String> = others.map(|operation| operation.name().to_owned()).collect();
        left_out.extend(
            [
                "the cost of an operation beside that of a byte",
                "queueing",
                "uncertainty",
            ]
            .map(str::to_owned),
        );
        Self {
            read_mb,
            decrypted_mb,
            percent,
            left_out_percent: added_cores / cores * 100.0 - percent,
            left_out,
        }
    }
}
