//! The prediction: costs of operations times their rates, with the uncertainty.
//!
//! The added CPU time of a second is the sum over operations of their number times the difference between their cost
//! encrypted and in clear. Intervals come from draws of everything that is not known exactly:
//!
//! - *coefficients*: Student's t over the sessions of the calibration;
//! - *rates*: intervals of the observation, drawn in blocks with replacement;
//! - *model*: a factor for each operation and draw ([`Misfit`]), since an operation of production is not the one that
//!   was calibrated.
//!
//! Values are those without the model's factor, all of them, so that they fit each other: a sum of skewed factors has
//! another median than its parts, and another engine's factor goes upwards alone.
//!
//! Response times are those of a queue ([`crate::queue`]); a section that only one thread can enter
//! is a queue of its own. Beyond [`UTILIZATION_MAX`] of either there is no prediction of times.

use std::slice;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::PlanError;
use crate::bounds::check_cores;
use crate::calibration::{Calibration, Cipher, Costs, Measured, TLS_1_3, measured_for, nanoseconds, normal};
use crate::observation::{Engine, Observation};
use crate::operation::{Amount, KIB, Load, Operation};

mod estimate;
mod formula;
mod misfit;
mod notes;
mod response_time;
mod saturation;
mod serialized;
mod what_if;
mod whole_database;

pub use estimate::Estimate;
pub use formula::{Formula, formula_percent};
pub use misfit::Misfit;
pub use response_time::Latency;
use response_time::latency;
pub use saturation::Saturation;
pub use serialized::Serialized;
use serialized::serialized;
pub use what_if::WhatIf;
pub use whole_database::{Conversion, FullBackup};

/// The question of a prediction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// The suite of the database.
    pub cipher: Cipher,
    /// TLS, if the network is to be encrypted and is not yet.
    pub tls: Option<Cipher>,
    /// Cores of the machine that will do it, if they are not those that were observed.
    pub cores: Option<f64>,
    /// Further changes.
    pub what_if: WhatIf,
    /// The error of the model; by default that of the validation.
    pub misfit: Option<Misfit>,
    /// MB that a core decrypts in a second, for the formula; by default what was calibrated.
    pub decrypted_mb: Option<f64>,
}

impl Question {
    /// One suite, with AES instructions, and nothing else changed.
    #[must_use]
    pub fn of(cipher: Cipher) -> Self {
        Self {
            cipher,
            tls: None,
            cores: None,
            what_if: WhatIf::default(),
            misfit: None,
            decrypted_mb: None,
        }
    }
}

/// The cost that encryption adds to one operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperationCost {
    /// The operation.
    pub operation: Operation,
    /// How many in a second.
    pub amount: Amount,
    /// Nanoseconds that each takes in addition.
    pub each_ns: Estimate,
    /// Cores that it keeps busy in addition.
    pub cores: Estimate,
}

/// A prediction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// What was asked.
    pub question: Question,
    /// A description of the observation, for display.
    pub observed: Vec<String>,
    /// What the question makes of it, for display.
    #[serde(default)]
    pub assumed: Vec<String>,
    /// The machine.
    pub cores: f64,
    /// Cores that are kept busy in addition.
    pub added_cores: Estimate,
    /// The same as a share of the machine, which has no more than all of it.
    pub added_share: Estimate,
    /// The same as a share of the CPU time that the system uses now, if that is known.
    pub added_to_usage: Option<Estimate>,
    /// The parts of it, the most expensive first.
    pub parts: Vec<OperationCost>,
    /// At the observed rate of requests.
    pub latency: Option<Latency>,
    /// Whether the machine serves the load.
    #[serde(default)]
    pub saturation: Option<Saturation>,
    /// The greatest throughput after encryption, where the cores limit it, as a share of the greatest now.
    pub throughput: Option<Estimate>,
    /// The section that serializes commits.
    pub serialized: Option<Serialized>,
    /// Encrypting the database once.
    pub conversion: Option<Conversion>,
    /// Copying all of it.
    #[serde(default)]
    pub backup: Option<FullBackup>,
    /// KiB on the network that TLS adds in a second.
    pub network_kib: Option<f64>,
    /// The formula of reads alone.
    pub formula: Option<Formula>,
    /// The sources of uncertainty, as shares of the variance, the largest first.
    pub uncertainty: Vec<(String, f64)>,
    /// Omissions with their reasons, and assumptions.
    pub warnings: Vec<String>,
}

/// Makes a prediction.
///
/// # Errors
/// [`PlanError::Input`] for an observation that no system can have; [`PlanError::Calibration`] for a cipher or an
/// operation that was not calibrated; [`PlanError::OutOfRange`]; [`PlanError::Saturated`].
pub fn predict(
    observation: &Observation,
    calibration: &Calibration,
    question: &Question,
) -> Result<Prediction, PlanError> {
    observation.check()?;
    observation.check_load()?;
    let as_observed = observation;
    let observation = &question.what_if.apply(observation)?.coalesced();
    let model = Model::new(observation, calibration, question)?;
    model.check_operations()?;
    let draws = model.draws(Varied::ALL, DRAWS);
    let mut warnings = observation.notes.clone();
    warnings.extend(model.warnings());
    let cores = model.cores;
    let busy = observation.busy_cores();
    let central = model.central();
    let added = model.added(&draws);
    let added_cores = Estimate::of(added.clone()).around(&model.added(&central));
    if !added_cores.is_finite() {
        return Err(PlanError::OutOfRange(
            "the load is beyond what can be computed".to_owned(),
        ));
    }
    let saturation = Saturation::of(observation, cores, &added, added_cores.value)?;
    if added_cores.value > cores {
        return Err(PlanError::OutOfRange(format!(
            "encryption alone would keep {:.1} cores busy, and the machine has {cores}",
            added_cores.value
        )));
    }
    if added_cores.low <= model.least() {
        warnings.push(
            "the calibrated operations take more CPU time without encryption than the system uses: is the CPU time \
             in use right?"
                .to_owned(),
        );
    }
    let latency = latency(observation, cores, (&added, added_cores.value), &mut warnings);
    let serialized = serialized(observation, (&draws, &central), &mut warnings);
    Ok(Prediction {
        question: question.clone(),
        observed: notes::observed(as_observed),
        assumed: notes::assumed(as_observed, observation),
        cores,
        added_cores,
        added_share: added_cores.times(1.0 / cores).at_most(1.0),
        added_to_usage: busy
            .filter(|busy| *busy > 0.0)
            .map(|busy| added_cores.times(1.0 / busy)),
        parts: model.parts(&draws, &central),
        latency,
        saturation,
        throughput: busy.filter(|busy| *busy > 0.0).map(|busy| {
            let share = |added: f64| busy / (busy + added).max(f64::MIN_POSITIVE);
            Estimate::of(added.iter().copied().map(share).collect())
                .with(share(added_cores.value))
                .times(cores / observation.cores.unwrap_or(cores))
        }),
        serialized,
        conversion: Conversion::of(observation, calibration, question, model.misfit),
        backup: FullBackup::of(observation, calibration, question, model.misfit),
        network_kib: model.network_kib(),
        formula: model.formula(added_cores.value),
        uncertainty: model.uncertainty(),
        warnings,
    })
}

/// Predicts the CPU time that is added, as a share of that in use now, and nothing else; none if the latter is not known.
///
/// # Errors
/// As of [`predict()`].
pub fn predict_added(
    observation: &Observation,
    calibration: &Calibration,
    question: &Question,
) -> Result<Option<Estimate>, PlanError> {
    observation.check()?;
    let observation = &question.what_if.apply(observation)?.coalesced();
    let busy = observation.busy_cores().filter(|busy| *busy > 0.0);
    let model = Model::new(observation, calibration, question)?;
    let added = || Estimate::of(model.added(&model.draws(Varied::ALL, DRAWS))).around(&model.added(&model.central()));
    Ok(busy.map(|busy| added().times(1.0 / busy)))
}

/// The inputs of a prediction, checked.
struct Model<'a> {
    observation: &'a Observation,
    calibration: &'a Calibration,
    question: &'a Question,
    cores: f64,
    misfit: Misfit,
    /// What operations among others cost more, as a share of their costs in clear, if the misfit has that.
    surcharge: Option<Measured>,
    /// The operations of the load, with their unencrypted costs and the differences.
    operations: Vec<(Operation, &'a [Measured], &'a [Measured])>,
}

/// The inputs that are drawn; all others stay at their means.
#[derive(Clone, Copy)]
struct Varied {
    coefficients: bool,
    rates: bool,
    model: bool,
}

impl Varied {
    const ALL: Self = Self {
        coefficients: true,
        rates: true,
        model: true,
    };
}

/// One draw: for each operation of the model its amount per second, and the added nanoseconds per operation.
struct Drawn(Vec<(Operation, Amount, f64)>);

impl Drawn {
    /// Cores that are kept busy in addition.
    fn added(&self) -> f64 {
        self.0
            .iter()
            .map(|(_, amount, each_ns)| amount.count * each_ns / 1e9)
            .sum()
    }

    fn of(&self, operation: Operation) -> Option<(Amount, f64)> {
        let found = self.0.iter().find(|(known, _, _)| *known == operation)?;
        Some((found.1, found.2))
    }
}

impl<'a> Model<'a> {
    fn new(
        observation: &'a Observation,
        calibration: &'a Calibration,
        question: &'a Question,
    ) -> Result<Self, PlanError> {
        let cores = question
            .cores
            .or(observation.cores)
            .ok_or_else(|| PlanError::input("cores", "unknown number of cores: give --cores NUMBER"))?;
        check_cores("--cores", cores)?;
        if question.decrypted_mb.is_some_and(|mb| !(mb > 0.0 && mb.is_finite())) {
            return Err(PlanError::input("--decrypted-mb", "it is not a number above 0"));
        }
        let load = observation.load_per_second();
        let mut operations = Vec::new();
        for operation in Operation::ALL {
            let amount = load.amount(operation);
            if amount.count == 0.0 {
                continue;
            }
            let cipher = match (operation.is_network(), &question.tls) {
                (true, Some(tls)) => tls,
                // The network stays as it is.
                (true, None) => continue,
                (false, _) => &question.cipher,
            };
            let Some(calibrated) = calibrated_as(operation, observation.engine) else {
                continue;
            };
            let calibrated = match calibration.plain.contains_key(&calibrated) {
                true => calibrated,
                false => formerly_calibrated_as(calibrated),
            };
            let plain = measured_for(&calibration.plain, calibrated, amount)?;
            let costs = calibration.costs(cipher)?;
            let mut difference = measured_for(costs, calibrated, amount)?;
            if !observation.engine.is_calibrated() && operation.is_read() {
                difference = no_less_than_the_cipher(difference, costs, amount);
            }
            operations.push((operation, plain, difference));
        }
        let misfit = question.misfit.unwrap_or(match observation.engine.is_calibrated() {
            true => Misfit::CALIBRATED,
            false => Misfit::OTHER_ENGINE,
        });
        Ok(Self {
            observation,
            calibration,
            question,
            cores,
            surcharge: misfit.among_others.then(|| misfit::surcharge(calibration).0),
            misfit,
            operations,
        })
    }

    /// Refuses a load without an operation that encryption changes: an answer of 0 would say that it was observed.
    fn check_operations(&self) -> Result<(), PlanError> {
        if !self.operations.is_empty() {
            return Ok(());
        }
        let load = self.observation.load_per_second();
        let found = load.0.iter().filter(|(_, amount)| amount.count > 0.0);
        let found: Vec<&str> = found.map(|(operation, _)| operation.name()).collect();
        let reason = match found.as_slice() {
            [] => "no operation is left of it".to_owned(),
            found => format!("it has {} alone", found.join(", ")),
        };
        Err(PlanError::input(
            "observation",
            format!("nothing was observed that this encryption makes dearer: {reason}"),
        ))
    }

    fn draws(&self, varied: Varied, count: usize) -> Vec<Drawn> {
        // A stream for the rates and for each operation: one more operation changes no draw of another.
        let stream = |number: u64| {
            let mut random = ChaCha8Rng::seed_from_u64(SEED);
            random.set_stream(number);
            random
        };
        let mut rates = stream(0);
        let mut surcharges = stream(1 + Operation::ALL.len() as u64);
        let mut operations: Vec<ChaCha8Rng> = self
            .operations
            .iter()
            .map(|(operation, _, _)| stream(1 + *operation as u64))
            .collect();
        (0..count)
            .map(|_| {
                let random = varied.coefficients.then_some(&mut surcharges);
                // A share, drawn as costs are.
                let surcharge = self
                    .surcharge
                    .as_ref()
                    .map_or(0.0, |share| nanoseconds(slice::from_ref(share), 0.0, random));
                self.draw(varied, &mut rates, &mut operations, surcharge)
            })
            .collect()
    }

    fn draw(&self, varied: Varied, rates: &mut ChaCha8Rng, operations: &mut [ChaCha8Rng], surcharge: f64) -> Drawn {
        let observed = self.observation.load_per_second();
        let load = match varied.rates {
            true => resampled(self.observation, rates),
            false => observed.clone(),
        };
        let mut drawn = Vec::with_capacity(self.operations.len());
        for ((operation, plain, difference), random) in self.operations.iter().zip(operations) {
            let amount = load.amount(*operation);
            // Intervals that are drawn may have none of it: its size is that of the others.
            let size = if amount.count > 0.0 {
                amount
            } else {
                observed.amount(*operation)
            };
            let (kib, error) = (
                size.mean_kib(),
                match varied.coefficients {
                    true => Some(&mut *random),
                    false => None,
                },
            );
            let plain = nanoseconds(plain, kib, None).max(0.0);
            let more = if operation.is_among_others() {
                plain * surcharge
            } else {
                0.0
            };
            let difference = nanoseconds(difference, kib, error) + more;
            let (factor, share) = match varied.model {
                true => (
                    (normal(random) * self.misfit.of_difference).exp(),
                    normal(random) * self.misfit.of_cost,
                ),
                false => (1.0, 0.0),
            };
            // monotone: an encrypted operation takes no less than nothing. What Selenite saves is its own: another
            // engine spends more around the cipher, and never takes time from it.
            let (share, least) = match self.observation.engine.is_calibrated() {
                true => (share, -plain),
                false => (share.abs(), 0.0),
            };
            let difference = difference * factor + (plain + difference).max(0.0) * share;
            drawn.push((*operation, amount, difference.max(least)));
        }
        Drawn(drawn)
    }

    /// The added cores below which more would be saved than is in use.
    fn least(&self) -> f64 {
        let busy = self.observation.busy_cores();
        busy.map_or(f64::NEG_INFINITY, |busy| -busy * SAVED_MAX)
    }

    /// Cores that are kept busy in addition, by draw.
    fn added(&self, draws: &[Drawn]) -> Vec<f64> {
        let least = self.least();
        draws.iter().map(|draw| draw.added().max(least)).collect()
    }

    /// Draws without a misfit, whose medians are the values.
    fn central(&self) -> Vec<Drawn> {
        let varied = Varied {
            model: false,
            ..Varied::ALL
        };
        self.draws(varied, UNCERTAINTY_DRAWS)
    }

    fn parts(&self, draws: &[Drawn], central: &[Drawn]) -> Vec<OperationCost> {
        let load = self.observation.load_per_second();
        let mut parts: Vec<OperationCost> = self
            .operations
            .iter()
            .map(|(operation, _, _)| {
                let estimate = |of: fn((Amount, f64)) -> f64| {
                    let found = |draws: &[Drawn]| -> Vec<f64> {
                        draws.iter().filter_map(|draw| draw.of(*operation)).map(of).collect()
                    };
                    Estimate::of(found(draws)).around(&found(central))
                };
                OperationCost {
                    operation: *operation,
                    amount: load.amount(*operation),
                    each_ns: estimate(|(_, each)| each),
                    cores: estimate(|(amount, each)| amount.count * each / 1e9),
                }
            })
            .collect();
        parts.sort_by(|one, other| other.cores.value.total_cmp(&one.cores.value));
        parts
    }

    /// The variance if only one of the inputs varies, as shares.
    fn uncertainty(&self) -> Vec<(String, f64)> {
        let only = [
            (
                "coefficients of the calibration",
                Varied {
                    coefficients: true,
                    rates: false,
                    model: false,
                },
            ),
            (
                RATES,
                Varied {
                    coefficients: false,
                    rates: true,
                    model: false,
                },
            ),
            (
                "the model",
                Varied {
                    coefficients: false,
                    rates: false,
                    model: true,
                },
            ),
        ];
        let mut shares: Vec<(String, f64)> = only
            .into_iter()
            .map(|(name, varied)| {
                let added: Vec<f64> = self.draws(varied, UNCERTAINTY_DRAWS).iter().map(Drawn::added).collect();
                let mean = added.iter().sum::<f64>() / added.len() as f64;
                (
                    name.to_owned(),
                    added.iter().map(|value| (value - mean).powi(2)).sum::<f64>(),
                )
            })
            .collect();
        let sum: f64 = shares.iter().map(|(_, share)| share).sum();
        if sum > 0.0 {
            shares.iter_mut().for_each(|(_, share)| *share /= sum);
        }
        // One interval says nothing of how rates vary.
        if self.observation.intervals.len() == 1 {
            shares.retain(|(name, _)| name != RATES);
        }
        shares.sort_by(|one, other| other.1.total_cmp(&one.1));
        shares
    }

    fn network_kib(&self) -> Option<f64> {
        let tls = self.question.tls.as_ref()?;
        let overhead = if tls.name == TLS_1_3 { RECORD_1_3 } else { RECORD_1_2 };
        let packets = self.observation.load_per_second().amount(Operation::Packet);
        // A record has at most 16 KiB.
        if packets.count == 0.0 {
            return None;
        }
        let records = packets.count * (packets.mean_kib() / 16.0).ceil().max(1.0);
        Some(records * overhead / KIB)
    }

    fn formula(&self, added_cores: f64) -> Option<Formula> {
        let load = self.observation.load_per_second();
        let calibrated = || {
            let costs = self.calibration.costs(&self.question.cipher).ok()?;
            let kib = f64::from(self.observation.page_size) / KIB;
            let each = nanoseconds(costs.get(&Operation::ReadRandom)?, kib, None);
            (each > 0.0).then(|| kib * KIB / each * 1e3)
        };
        let decrypted_mb = self.question.decrypted_mb.or_else(calibrated)?;
        Some(Formula::new(&load, decrypted_mb, self.cores, added_cores))
    }
}

/// The calibrated operation that represents one of an engine. Selenite writes pages and commits in
/// another way than SQLite alone, which may save more than the cipher costs; for another engine,
/// the additional work for a page is the cipher alone, and a commit is no more than its writes to
/// the log.
fn calibrated_as(operation: Operation, engine: Engine) -> Option<Operation> {
    match operation {
        Operation::Write | Operation::Append | Operation::RollbackWrite | Operation::Checkpoint
            if !engine.is_calibrated() =>
        {
            Some(Operation::LogRecord)
        }
        Operation::Commit | Operation::RollbackCommit | Operation::Transaction | Operation::RollbackTransaction
            if !engine.is_calibrated() =>
        {
            None
        }
        Operation::ReadSequential
        | Operation::ReadRandom
        | Operation::ReadLog
        | Operation::Write
        | Operation::Append
        | Operation::Checkpoint
        | Operation::Commit
        | Operation::RollbackWrite
        | Operation::RollbackCommit
        | Operation::Transaction
        | Operation::RollbackTransaction
        | Operation::LogRecord
        | Operation::Open
        | Operation::Backup
        | Operation::Packet
        | Operation::Handshake => Some(operation),
    }
}

/// The cost of a read, or of the cipher alone where that is greater: Selenite's reads ahead save calls, which another
/// engine does not.
fn no_less_than_the_cipher<'a>(read: &'a [Measured], costs: &'a Costs, amount: Amount) -> &'a [Measured] {
    let cost = |measured| nanoseconds(measured, amount.mean_kib(), None);
    match measured_for(costs, Operation::LogRecord, amount) {
        Ok(cipher) if cost(cipher) > cost(read) => cipher,
        Ok(_) | Err(_) => read,
    }
}

/// The operation that has represented another one in calibrations which lack that.
fn formerly_calibrated_as(operation: Operation) -> Operation {
    match operation {
        Operation::Append => Operation::Write,
        Operation::ReadLog => Operation::ReadRandom,
        Operation::RollbackTransaction => Operation::Transaction,
        Operation::ReadSequential
        | Operation::ReadRandom
        | Operation::Write
        | Operation::Checkpoint
        | Operation::Commit
        | Operation::RollbackWrite
        | Operation::RollbackCommit
        | Operation::Transaction
        | Operation::LogRecord
        | Operation::Open
        | Operation::Backup
        | Operation::Packet
        | Operation::Handshake => operation,
    }
}

/// The load of a second, of intervals that are drawn with replacement in blocks of neighbours.
fn resampled(observation: &Observation, random: &mut ChaCha8Rng) -> Load {
    let count = observation.intervals.len();
    if count == 1 {
        return observation.load_per_second();
    }
    // The cube root of the number of values, rounded down: the usual length of blocks for a mean (Politis and White,
    // 2004). A block of all values would show no variation.
    let block = (1..=count)
        .take_while(|length: &usize| length.pow(3) <= count)
        .last()
        .unwrap_or(1);
    let (mut load, mut seconds, mut drawn) = (Load::default(), 0.0, 0);
    while drawn < count {
        let first = random.random_range(0..count);
        for at in 0..block.min(count - drawn) {
            let interval = &observation.intervals[(first + at) % count];
            seconds += interval.seconds;
            for (operation, amount) in &interval.load.0 {
                load.add(*operation, *amount);
            }
            drawn += 1;
        }
    }
    load.scaled(1.0 / seconds)
}

/// Beyond it, waiting times are too sensitive to the uncertainty of the inputs.
pub const UTILIZATION_MAX: f64 = 0.85;
/// An input of a prediction.
const RATES: &str = "rates between intervals";
/// The 95th percentile of the normal distribution.
pub(crate) const Z_90: f64 = 1.644_853_626_951;
/// Encryption may save this share of the CPU time in use at most.
const SAVED_MAX: f64 = 0.99;
/// The 5th and 95th percentile of so many draws are known to about 1 % of their distance.
const DRAWS: usize = 4000;
/// Shares of a variance are shown without decimals.
const UNCERTAINTY_DRAWS: usize = 500;
/// reproducible: the same for all.
const SEED: u64 = 0x5e1e_417e;
/// RFC 5246, 6.2.3.3 with AES-GCM: a header of 5 bytes, a nonce of 8, a tag of 16.
const RECORD_1_2: f64 = 29.0;
/// RFC 8446, 5.2: a header of 5 bytes, the type, a tag of 16.
const RECORD_1_3: f64 = 22.0;

#[cfg(test)]
pub(crate) mod tests;
#[cfg(test)]
mod value_tests;
