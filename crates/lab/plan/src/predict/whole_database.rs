//! What is done with a database as a whole: encrypting it once, and copying all of it for a backup.

use serde::{Deserialize, Serialize};

use super::{Estimate, Misfit, Question, Z_90};
use crate::calibration::{Calibration, Costs, measured_for, nanoseconds};
use crate::observation::Observation;
use crate::operation::{Amount, KIB, Operation};

/// The encryption of the database.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conversion {
    /// Seconds, where the disk is no slower than the calibrated one.
    pub seconds: Option<Estimate>,
    /// MiB of the encrypted database.
    pub encrypted_mib: f64,
    /// MiB that are needed beside the database until it is done.
    pub needed_mib: f64,
}

/// A copy of the whole database by SQLite's backup API, encrypted as the database is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FullBackup {
    /// CPU seconds without encryption.
    pub plain_seconds: f64,
    /// CPU seconds that encryption adds; below zero, it saves.
    pub added_seconds: Estimate,
    /// MiB of the copy.
    pub mib: f64,
}

impl Conversion {
    /// None if the size of the database is not known.
    pub(super) fn of(
        observation: &Observation,
        calibration: &Calibration,
        question: &Question,
        misfit: Misfit,
    ) -> Option<Self> {
        let mib = observation.database_mib?;
        let encrypted_mib = encrypted_mib(mib, observation.page_size);
        let measured = calibration.conversion_ns_per_mib.get(&question.cipher);
        let seconds = measured.map(|measured| {
            let half = measured.interval(0.9).map_or(0.0, |interval| interval.half_width());
            // Another database is not the calibrated one. A time is above zero: its logarithm has the interval.
            let error = (half / measured.mean()).hypot(Z_90 * misfit.of_difference);
            Estimate {
                value: measured.mean(),
                low: measured.mean() * (-error).exp(),
                high: measured.mean() * error.exp(),
            }
            .times(mib / 1e9)
        });
        Some(Self {
            seconds,
            encrypted_mib,
            needed_mib: encrypted_mib,
        })
    }
}

impl FullBackup {
    /// None if the size of the database is not known, or backups of pages of that size were not calibrated.
    pub(super) fn of(
        observation: &Observation,
        calibration: &Calibration,
        question: &Question,
        misfit: Misfit,
    ) -> Option<Self> {
        let mib = observation.database_mib?;
        let page = f64::from(observation.page_size);
        let pages = mib * KIB * KIB / page;
        let amount = Amount::of_size(pages, page);
        let sizes = |costs| measured_for(costs, Operation::Backup, amount).ok();
        let costs: &Costs = calibration.costs(&question.cipher).ok()?;
        let (plain, difference) = (sizes(&calibration.plain)?, sizes(costs)?);
        let each = |measured| nanoseconds(measured, page / KIB, None);
        let (plain_ns, difference_ns) = (each(plain).max(0.0), each(difference));
        // The size that is nearest to the page's.
        let nearest = |one: &f64, other: &f64| (one - page / KIB).abs().total_cmp(&(other - page / KIB).abs());
        let measured = difference.iter().min_by(|one, other| nearest(&one.kib, &other.kib))?;
        let of_sessions = measured.interval(0.9).map_or(0.0, |interval| interval.half_width());
        let around = Z_90 * misfit.of_cost * (plain_ns + difference_ns);
        // As in the model of operations, a factor of the difference, either way.
        let times = |sign: f64| difference_ns * (sign * Z_90 * misfit.of_difference).exp();
        let (least, most) = (times(-1.0).min(times(1.0)), times(-1.0).max(times(1.0)));
        // An encrypted copy takes no less than nothing. What Selenite saves is its own: another engine spends more
        // around the cipher, and never takes time from it.
        let (less, bound) = match observation.engine.is_calibrated() {
            true => (around, -plain_ns),
            false => (0.0, 0.0),
        };
        let half = |around: f64, model: f64| of_sessions.hypot(around).hypot(model);
        Some(Self {
            plain_seconds: plain_ns * pages / 1e9,
            added_seconds: Estimate {
                value: difference_ns.max(bound),
                low: (difference_ns - half(less, difference_ns - least)).max(bound),
                high: (difference_ns + half(around, most - difference_ns)).max(bound),
            }
            .times(pages / 1e9),
            mib: encrypted_mib(mib, observation.page_size),
        })
    }
}

/// MiB of the encrypted database: each page has less room, and the first one is preceded by the superblock.
fn encrypted_mib(mib: f64, page_size: u32) -> f64 {
    let page = f64::from(page_size);
    mib * page / (page - PAGE_RESERVED) + PREFIX_KIB / KIB
}

/// FORMAT 3: bytes that a page keeps for the trailer.
const PAGE_RESERVED: f64 = 48.0;
/// FORMAT 2: in front of the first page.
const PREFIX_KIB: f64 = 64.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::Engine;
    use crate::predict::predict;
    use crate::predict::tests::{calibration, cipher, load, observation};

    #[test]
    fn a_time_is_above_zero_and_its_interval_is_one_of_ratios() {
        for engine in [Engine::Sqlite, Engine::PostgreSql] {
            let observed = Observation {
                engine,
                ..observation(vec![load(&[(Operation::ReadRandom, 10.0)])])
            };
            let prediction = predict(&observed, &calibration(0.1), &Question::of(cipher())).unwrap();
            let seconds = prediction.conversion.unwrap().seconds.unwrap();
            assert!(seconds.low > 0.1 * seconds.value, "{seconds:?}");
            let (below, above) = (seconds.value / seconds.low, seconds.high / seconds.value);
            assert!((below / above - 1.0).abs() < 1e-9 && above > 1.5, "{seconds:?}");
        }
    }

    #[test]
    fn a_backup_of_another_engine_saves_nothing() {
        let mut machine = calibration(0.0);
        for costs in machine.ciphers.values_mut() {
            let sizes = costs.get_mut(&Operation::Backup).into_iter().flatten();
            sizes.for_each(|one| one.sessions.iter_mut().for_each(|ns| *ns = -*ns));
        }
        let of = |engine| {
            let observed = Observation {
                engine,
                ..observation(vec![load(&[(Operation::ReadRandom, 10.0)])])
            };
            let prediction = predict(&observed, &machine, &Question::of(cipher())).unwrap();
            prediction.backup.unwrap().added_seconds
        };
        assert!(of(Engine::Sqlite).value < 0.0);
        let other = of(Engine::MariaDb);
        assert!(other.value >= 0.0 && other.low >= 0.0, "{other:?}");
    }
}
