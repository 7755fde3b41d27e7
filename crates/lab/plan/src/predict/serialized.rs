//! The section in which commits are one after the other.

use serde::{Deserialize, Serialize};

use super::{Drawn, Estimate, SAVED_MAX, UTILIZATION_MAX};
use crate::observation::Observation;
use crate::operation::Operation;

/// The section that serializes commits. Shares above 1 are a demand that it does not serve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Serialized {
    /// The share of the time in which it is held now.
    pub share: f64,
    /// The same after encryption.
    pub share_after: Estimate,
    /// The greatest rate of commits after encryption, as a share of the greatest rate now.
    pub commits_max: Estimate,
}

/// The section, if it was observed, by all draws and by those whose medians are the values.
pub(super) fn serialized(
    observation: &Observation,
    (draws, central): (&[Drawn], &[Drawn]),
    warnings: &mut Vec<String>,
) -> Option<Serialized> {
    let share = observation.serialized_share.filter(|share| *share > 0.0)?;
    // Worst case: everything that a commit encrypts is within the section.
    let within = [
        Operation::Commit,
        Operation::RollbackCommit,
        Operation::Write,
        Operation::Append,
        Operation::RollbackWrite,
        Operation::LogRecord,
    ];
    let added = |draw: &Drawn| -> f64 {
        let parts = within.iter().filter_map(|operation| draw.of(*operation));
        parts.map(|(amount, each)| amount.count * each / 1e9).sum()
    };
    let least = share * (1.0 - SAVED_MAX);
    let after = |draws: &[Drawn]| draws.iter().map(|draw| (share + added(draw)).max(least)).collect();
    let (all, central): (Vec<f64>, Vec<f64>) = (after(draws), after(central));
    let commits_max = Estimate::of(all.iter().map(|after| share / after).collect());
    let share_after = Estimate::of(all).around(&central);
    if share_after.high > UTILIZATION_MAX {
        warnings.push(format!(
            "the demand for the section that serializes commits would be up to {:.0} % of the time: commits will queue; measure",
            share_after.high * 100.0
        ));
    }
    Some(Serialized {
        share,
        share_after,
        commits_max: commits_max.with(share / share_after.value),
    })
}
