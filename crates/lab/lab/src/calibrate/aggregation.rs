//! Blocks of sessions to coefficients.
//!
//! - paired-in-rounds: within a session, an arm's coefficient is the median over rounds of its difference from the
//!   database in clear in the same round. Slow drift is in both, and single outliers do not move a median.
//! - sessions-are-the-sample: a session gives one value. What is particular to its files and process is in all its
//!   rounds, so more rounds do not make up for fewer sessions.
//! - clear-costs-are-native: costs in clear come from sessions with AES instructions, if there are any. Those without
//!   spend most of their time in slow ciphers, which leave less in the processor's caches for what is in clear.

use std::collections::BTreeMap;

use selenite_cipher::Suite;
use selenite_plan::calibration::{Costs, Measured};
use selenite_plan::operation::KIB;
use selenite_plan::{Cipher, Load, Operation};
use selenite_stats::median;
use selenite_worker::protocol::PLAIN;

use super::sample::{BlockSample, COUNTED, PLAIN2, SessionSamples};
use super::session::PAGE_SIZES;

/// Coefficients of a machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coefficients {
    /// Costs in clear.
    pub plain: Costs,
    /// Differences from `plain`, under each cipher.
    pub ciphers: BTreeMap<Cipher, Costs>,
    /// Differences of the second copy in clear from the first.
    pub floor: Costs,
    /// Differences of the copy in clear whose calls the extension counts.
    pub counted: Costs,
    /// What operations cost more in a mix than alone when they are encrypted, as a share of their costs in clear.
    pub among_others: Option<Measured>,
    /// Nanoseconds of elapsed time in which a MiB is converted under each cipher.
    pub conversion_ns_per_mib: BTreeMap<Cipher, Measured>,
}

/// Coefficients from the blocks of all sessions.
#[must_use]
pub fn coefficients(sessions: &[SessionSamples]) -> Coefficients {
    let mut values = Values::default();
    let mut conversions: BTreeMap<Cipher, Vec<f64>> = BTreeMap::new();
    let mut surcharges = Vec::new();
    let has_native = sessions.iter().any(|session| session.aes_instructions);
    for session in sessions {
        let is_native = session.aes_instructions == has_native;
        for ((operation, bytes), arms) in by_operation(&session.blocks) {
            let plain = arms.get(PLAIN);
            for (arm, rounds) in &arms {
                let set = coefficient_set(arm, session.aes_instructions);
                let is_of_cipher = matches!(set, CoefficientSet::Cipher(_));
                if let Some(value) = of_session(arm, rounds, plain)
                    && (is_native || is_of_cipher)
                {
                    values.entry((set, operation, bytes)).or_default().push(value);
                }
            }
            if has_no_plain_cost(operation) && is_native {
                let key = (CoefficientSet::Plain, operation, bytes);
                values.entry(key).or_default().push(0.0);
            }
        }
        surcharges.extend(surcharge_of(session).filter(|_| is_native));
        for conversion in &session.conversions {
            let cipher = cipher(&conversion.suite, session.aes_instructions);
            conversions.entry(cipher).or_default().push(conversion.ns_per_mib);
        }
    }
    let mut found = Coefficients {
        among_others: (!surcharges.is_empty()).then_some(Measured {
            kib: 0.0,
            sessions: surcharges,
        }),
        conversion_ns_per_mib: conversions
            .into_iter()
            .map(|(cipher, sessions)| (cipher, Measured { kib: 0.0, sessions }))
            .collect(),
        ..Coefficients::default()
    };
    // In the order of the keys: the sizes of an operation ascend.
    for ((place, operation, bytes), sessions) in values {
        let costs = match place {
            CoefficientSet::Plain => &mut found.plain,
            CoefficientSet::Floor => &mut found.floor,
            CoefficientSet::Counted => &mut found.counted,
            CoefficientSet::Cipher(cipher) => found.ciphers.entry(cipher).or_default(),
        };
        let kib = f64::from(bytes) / KIB;
        costs.entry(operation).or_default().push(Measured { kib, sessions });
    }
    found
}

/// The set that a coefficient belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CoefficientSet {
    Plain,
    Floor,
    Counted,
    Cipher(Cipher),
}

/// Values of sessions by set, operation and bytes of an operation.
type Values = BTreeMap<(CoefficientSet, Operation, u32), Vec<f64>>;

/// Nanoseconds by round.
type Rounds = BTreeMap<u32, f64>;

fn by_operation(blocks: &[BlockSample]) -> BTreeMap<(Operation, u32), BTreeMap<&str, Rounds>> {
    let mut found: BTreeMap<(Operation, u32), BTreeMap<&str, Rounds>> = BTreeMap::new();
    for block in blocks.iter().filter(|block| block.ns.is_finite()) {
        let arms = found.entry((block.operation, block.bytes)).or_default();
        arms.entry(&block.arm).or_default().insert(block.round, block.ns);
    }
    found
}

/// The value of an arm in a session; none without a round with its control.
fn of_session(arm: &str, rounds: &Rounds, plain: Option<&Rounds>) -> Option<f64> {
    let values: Vec<f64> = match plain {
        Some(plain) if arm != PLAIN => rounds
            .iter()
            .filter_map(|(round, ns)| Some(ns - plain.get(round)?))
            .collect(),
        Some(_) | None => rounds.values().copied().collect(),
    };
    median(&values)
}

/// What the operations of a session's mixes cost more than alone, as a share of what those that are
/// [among others](Operation::is_among_others) cost alone in clear: the median over suites, which have it in common
/// (what is not in the processor's caches is code of the VFS, not of the cipher).
fn surcharge_of(session: &SessionSamples) -> Option<f64> {
    let mut mixes: BTreeMap<&str, Rounds> = BTreeMap::new();
    for mix in session.mixes.iter().filter(|mix| mix.ns.is_finite()) {
        mixes.entry(&mix.arm).or_default().insert(mix.round, mix.ns);
    }
    let plain = mixes.get(PLAIN)?;
    let loads: Vec<&Load> = session.mixes.iter().filter_map(|mix| mix.load.as_ref()).collect();
    // Rounds do as much, but for the rows that happen to be in the cache.
    let count = |operation| {
        median(
            &loads
                .iter()
                .map(|load| load.amount(operation).count)
                .collect::<Vec<f64>>(),
        )
    };
    let alone = by_operation(&session.blocks);
    let of_suite = |suite: &str, mix: &Rounds| {
        let (mut expected, mut base) = (0.0, 0.0);
        for operation in Operation::ALL {
            let count = count(operation).filter(|count| *count > 0.0);
            let bytes = if operation.has_size() { MIX_PAGE } else { 0 };
            let (Some(count), Some(arms)) = (count, alone.get(&(operation, bytes))) else {
                continue;
            };
            let plain = arms.get(PLAIN);
            let difference = of_session(suite, arms.get(suite)?, plain)?;
            expected += count * difference;
            if operation.is_among_others() {
                base += count * of_session(PLAIN, plain?, None)?;
            }
        }
        let measured = of_session(suite, mix, Some(plain))?;
        (base > 0.0).then(|| (measured - expected) / base)
    };
    let suites = mixes.iter().filter(|(arm, _)| Suite::from_name(arm).is_some());
    let surcharges: Vec<f64> = suites.filter_map(|(suite, mix)| of_suite(suite, mix)).collect();
    median(&surcharges)
}

/// Without encryption there is no such operation: an application of the cipher alone, a handshake of TLS.
fn has_no_plain_cost(operation: Operation) -> bool {
    matches!(operation, Operation::LogRecord | Operation::Handshake)
}

fn coefficient_set(arm: &str, aes_instructions: bool) -> CoefficientSet {
    match arm {
        PLAIN => CoefficientSet::Plain,
        PLAIN2 => CoefficientSet::Floor,
        COUNTED => CoefficientSet::Counted,
        name => CoefficientSet::Cipher(cipher(name, aes_instructions)),
    }
}

fn cipher(name: &str, aes_instructions: bool) -> Cipher {
    match Suite::from_name(name) {
        Some(suite) => Cipher::of(suite, aes_instructions),
        None => Cipher::tls(name, aes_instructions),
    }
}

/// The pages of the database that has the mix.
const MIX_PAGE: u32 = PAGE_SIZES[0];

#[cfg(test)]
mod tests;
