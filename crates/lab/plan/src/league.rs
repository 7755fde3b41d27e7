//! The league: predictions beside what was measured afterwards, and how wide intervals have to be.
//!
//! - `predicted-before-measured`: a [`Forecast`] is made, written down and hashed before its workload runs encrypted.
//! - `leave-one-workload-out`: the misfit of a forecast's interval comes from the results of the other workloads alone
//!   (split conformal prediction: Lei et al., 2018). No result has a part in its own interval.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::predict::{Estimate, Misfit, Z_90, predict_added};
use crate::{Calibration, Cipher, Observation, PlanError, Question};

/// A workload that was observed in clear.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObservedWorkload {
    /// The study and the cell of the lab.
    pub study: String,
    /// The cell's name.
    pub cell: String,
    /// The cell's name for people.
    pub label: String,
    /// The workload: cells that differ by caches, sizes or processes alone have the same.
    pub workload: String,
    /// The kind of work: `hummer`, `like`.
    pub kind: String,
    /// What it does.
    pub observation: Observation,
}

/// What was predicted of a workload in a suite: CPU time that encryption adds, as a share of that in clear.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// An index of [`Predictions::workloads`].
    pub workload: usize,
    /// The arm of the lab.
    pub arm: String,
    /// The suite.
    pub cipher: Cipher,
    /// Whether the arm has a page pool, which the model does not know: the prediction is then an upper bound.
    pub has_pool: bool,
    /// The prediction, with [`Misfit::CALIBRATED`].
    pub added: Estimate,
    /// The variance that the coefficients and rates alone give.
    pub variance_of_inputs: f64,
    /// The variance that [`Misfit::UNIT`] alone gives.
    pub variance_of_model: f64,
}

/// An arm of a study: its name, its cipher, and whether it has a page pool.
pub type PredictedArm = (String, Cipher, bool);

/// All that was written down before anything was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Predictions {
    /// When: UTC.
    pub made: String,
    /// The studies, in order: name, and SHA-256 of the configuration, in hexadecimal digits.
    pub studies: Vec<(String, String)>,
    /// The costs on this machine.
    pub calibration: Calibration,
    /// What was observed in clear.
    pub workloads: Vec<ObservedWorkload>,
    /// What was predicted.
    pub forecasts: Vec<Forecast>,
}

/// What the lab measured: CPU time that encryption added, as a share of that in clear.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// The estimate.
    pub added: f64,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
}

/// A forecast beside its measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct LeagueRow<'a> {
    /// What was observed.
    pub workload: &'a ObservedWorkload,
    /// What was predicted.
    pub forecast: &'a Forecast,
    /// What was measured.
    pub measured: Measurement,
    /// The 90 % interval with the misfit that the other workloads have.
    pub without_own: Estimate,
}

/// What follows from all rows.
#[derive(Clone, Debug, PartialEq)]
pub struct League<'a> {
    /// In the order of the forecasts.
    pub rows: Vec<LeagueRow<'a>>,
    /// [`Misfit::UNIT`] times so much covers 90 % of all rows without a pool.
    pub factor: f64,
}

/// Errors of some rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeagueErrors {
    /// How many rows.
    pub count: usize,
    /// How many were within the interval that was written down.
    pub covered: usize,
    /// How many are within the interval with the misfit of the other workloads.
    pub covered_without_own: usize,
    /// The mean absolute error of the CPU's ratio, in percentage points.
    pub mean_points: f64,
    /// The median absolute error, in percentage points.
    pub median_points: f64,
    /// The mean error with its sign, in percentage points: above 0 the prediction was too high.
    pub bias_points: f64,
}

impl Predictions {
    /// The forecasts of these workloads: those of each workload's study, in order.
    ///
    /// # Errors
    /// As of [`Forecast::new`].
    pub fn forecasts_of(
        workloads: &[ObservedWorkload],
        calibration: &Calibration,
        arms_of: &dyn Fn(&str) -> Vec<PredictedArm>,
    ) -> Result<Vec<Forecast>, PlanError> {
        let mut forecasts = Vec::new();
        for (index, workload) in workloads.iter().enumerate() {
            for (arm, cipher, has_pool) in arms_of(&workload.study) {
                let of_arm = (arm.as_str(), cipher, has_pool);
                forecasts.push(Forecast::new((index, workload), calibration, of_arm)?);
            }
        }
        Ok(forecasts)
    }
}

impl ObservedWorkload {
    /// Predicts what a suite adds.
    ///
    /// # Errors
    /// As of [`predict_added()`]; [`PlanError::Input`] if the CPU time in clear is not known.
    pub fn forecast(
        &self,
        calibration: &Calibration,
        (cipher, misfit): (&Cipher, Misfit),
    ) -> Result<Estimate, PlanError> {
        let question = Question {
            misfit: Some(misfit),
            ..Question::of(cipher.clone())
        };
        predict_added(&self.observation, calibration, &question)?
            .ok_or_else(|| PlanError::input(&self.cell, "the CPU time in clear is not known"))
    }
}

impl Forecast {
    /// Predicts for the league.
    ///
    /// # Errors
    /// As of [`ObservedWorkload::forecast`].
    pub fn new(
        (index, workload): (usize, &ObservedWorkload),
        calibration: &Calibration,
        (arm, cipher, has_pool): (&str, Cipher, bool),
    ) -> Result<Self, PlanError> {
        let added = workload.forecast(calibration, (&cipher, Misfit::CALIBRATED))?;
        let of_inputs = workload.forecast(calibration, (&cipher, Misfit::NONE))?;
        let of_unit = workload.forecast(calibration, (&cipher, Misfit::UNIT))?;
        let variance_of_inputs = variance(of_inputs);
        Ok(Self {
            workload: index,
            arm: arm.to_owned(),
            cipher,
            has_pool,
            added,
            variance_of_inputs,
            variance_of_model: (variance(of_unit) - variance_of_inputs).max(0.0),
        })
    }

    /// The factor of [`Misfit::UNIT`] with which the 90 % interval reaches just to `measured`.
    fn factor(&self, measured: f64) -> f64 {
        let wanted = ((measured - self.added.value) / Z_90).powi(2) - self.variance_of_inputs;
        match self.variance_of_model > 0.0 {
            true => (wanted.max(0.0) / self.variance_of_model).sqrt(),
            // Nothing is encrypted: only a measurement of zero fits.
            false => 0.0,
        }
    }
}

/// Compares predictions with what was measured, by workload (as of [`Forecast::workload`]) and arm. Forecasts without a
/// measurement are left out.
///
/// # Errors
/// As of [`predict_added()`].
pub fn league<'a>(
    predictions: &'a Predictions,
    measured: &BTreeMap<(usize, String), Measurement>,
) -> Result<League<'a>, PlanError> {
    let results: Vec<(&Forecast, &ObservedWorkload, Measurement)> = predictions
        .forecasts
        .iter()
        .filter_map(|forecast| {
            let workload = predictions.workloads.get(forecast.workload)?;
            let found = measured.get(&(forecast.workload, forecast.arm.clone()))?;
            Some((forecast, workload, *found))
        })
        .collect();
    // What the model does not know has no part in its misfit.
    let factors = |without: Option<&str>| -> Vec<f64> {
        results
            .iter()
            .filter(|(forecast, workload, _)| !forecast.has_pool && Some(workload.workload.as_str()) != without)
            .map(|(forecast, _, found)| forecast.factor(found.added))
            .collect()
    };
    let mut rows = Vec::new();
    for (forecast, workload, found) in &results {
        let factor = quantile_90(factors(Some(&workload.workload)));
        let misfit = Misfit::UNIT.times(factor);
        let without_own = workload.forecast(&predictions.calibration, (&forecast.cipher, misfit))?;
        rows.push(LeagueRow {
            workload,
            forecast,
            measured: *found,
            without_own,
        });
    }
    Ok(League {
        rows,
        factor: quantile_90(factors(None)),
    })
}

impl LeagueRow<'_> {
    /// Whether the measurement is within the interval that was written down.
    #[must_use]
    pub fn is_covered(&self) -> bool {
        self.forecast.added.contains(self.measured.added)
    }

    /// Whether it is within the interval with the misfit of the other workloads.
    #[must_use]
    pub fn is_covered_without_own(&self) -> bool {
        self.without_own.contains(self.measured.added)
    }

    /// Whether the prediction is within the measurement's own interval.
    #[must_use]
    pub fn is_reached(&self) -> bool {
        let added = self.forecast.added.value;
        self.measured
            .interval
            .is_some_and(|(low, high)| (low..=high).contains(&added))
    }

    /// Half the width of the measurement's own interval, in percentage points; infinite if it has none.
    #[must_use]
    pub fn half_width_points(&self) -> f64 {
        let interval = self.measured.interval;
        interval.map_or(f64::INFINITY, |(low, high)| (high - low) * 50.0)
    }

    /// Prediction less measurement, in percentage points.
    #[must_use]
    pub fn error_points(&self) -> f64 {
        (self.forecast.added.value - self.measured.added) * 100.0
    }
}

impl LeagueErrors {
    /// Of some rows; none if there are none.
    #[must_use]
    pub fn of<'a>(rows: impl Iterator<Item = &'a LeagueRow<'a>> + Clone) -> Option<Self> {
        let mut absolute: Vec<f64> = rows.clone().map(|row| row.error_points().abs()).collect();
        let count = absolute.len();
        if count == 0 {
            return None;
        }
        absolute.sort_by(f64::total_cmp);
        Some(Self {
            count,
            covered: rows.clone().filter(|row| row.is_covered()).count(),
            covered_without_own: rows.clone().filter(|row| row.is_covered_without_own()).count(),
            mean_points: absolute.iter().sum::<f64>() / count as f64,
            median_points: (absolute[(count - 1) / 2] + absolute[count / 2]) / 2.0,
            bias_points: rows.map(LeagueRow::error_points).sum::<f64>() / count as f64,
        })
    }
}

/// The value that a share of 90 % of a further one's like does not exceed: the ceil(0.9 (n + 1))-th smallest, or the
/// largest if there are fewer.
fn quantile_90(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let place = ((values.len() + 1) * 9).div_ceil(10);
    match values.len() {
        0 => 1.0,
        count => values[place.min(count) - 1],
    }
}

fn variance(estimate: Estimate) -> f64 {
    ((estimate.high - estimate.low) / (2.0 * Z_90)).powi(2)
}

#[cfg(test)]
mod tests;
