//! A load that the machine does not serve.

use serde::{Deserialize, Serialize};

use super::Estimate;
use crate::PlanError;
use crate::observation::Observation;

/// How much of the load a machine serves that encryption may saturate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Saturation {
    /// The share of the load that the cores serve when it is encrypted.
    pub served: Estimate,
    /// Requests in a second at which they are saturated, if their rate is known.
    pub requests: Option<Estimate>,
}

impl Saturation {
    /// None if the cores serve the load in every draw, or their use is not known. `value` is what is added without a
    /// misfit.
    ///
    /// # Errors
    /// [`PlanError::Saturated`] for a load that is not served without encryption either.
    pub(super) fn of(
        observation: &Observation,
        cores: f64,
        added: &[f64],
        value: f64,
    ) -> Result<Option<Self>, PlanError> {
        if let Some(share) = observation.serialized_share.filter(|share| *share > 1.0) {
            return Err(PlanError::Saturated(format!(
                "the section that serializes commits is in demand for {:.0} % of the time without encryption, and \
                 serves {:.0} % of this load",
                share * 100.0,
                100.0 / share
            )));
        }
        let Some(busy) = observation.busy_cores() else {
            return Ok(None);
        };
        let requests = observation.requests_per_second();
        let share = |added: f64| (cores / (busy + added)).min(1.0);
        let served = Estimate::of(added.iter().copied().map(share).collect()).with(share(value));
        // A sample may end a little late, as where an observation is checked.
        if busy > cores * 1.05 {
            let clear = cores / busy;
            let mut reason = format!(
                "without encryption, this load takes {busy:.2} cores of {cores}, which serve {:.0} % of it; encrypted, \
                 they serve {:.0} %",
                clear * 100.0,
                served.value * 100.0
            );
            if let Some(requests) = requests {
                let (clear, encrypted) = (requests * clear, requests * served.value);
                reason.push_str(&format!(": {clear:.1} and {encrypted:.1} requests a second"));
            }
            return Err(PlanError::Saturated(reason));
        }
        Ok((served.low < 1.0).then(|| Self {
            served,
            requests: requests.map(|requests| served.times(requests)),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Operation;
    use crate::predict::tests::{calibration, cipher, load, observation};
    use crate::predict::{Prediction, Question, predict};

    /// Four cores, 3.6 of them busy, and 400 requests a second.
    fn asked(change: impl FnOnce(&mut Question)) -> Result<Prediction, PlanError> {
        let mut observed = observation(vec![load(&[(Operation::Checkpoint, 4_000_000.0)])]);
        observed.intervals[0].cpu_seconds = Some(36.0);
        let mut question = Question::of(cipher());
        change(&mut question);
        predict(&observed, &calibration(0.0), &question)
    }

    #[test]
    fn a_load_that_the_cores_do_not_serve_in_clear_has_no_answer_but_what_they_serve() {
        for (answer, clear) in [
            (asked(|question| question.what_if.load = 2.0), "56 %"),
            (asked(|question| question.cores = Some(2.0)), "56 %"),
        ] {
            let Err(PlanError::Saturated(reason)) = answer else {
                panic!("{answer:?}");
            };
            assert!(
                reason.contains(clear) && reason.contains("requests a second"),
                "{reason}"
            );
        }
    }

    #[test]
    fn a_load_that_encryption_saturates_says_what_is_served() {
        let prediction = asked(|_| ()).unwrap();
        let saturation = prediction.saturation.unwrap();
        assert!(
            saturation.served.value < 1.0 && saturation.served.value > 0.8,
            "{saturation:?}"
        );
        let requests = saturation.requests.unwrap();
        assert!((requests.value - 400.0 * saturation.served.value).abs() < 1e-9);
        assert!(prediction.added_share.high <= 1.0);
        // A load that leaves room has nothing of it.
        assert_eq!(asked(|question| question.what_if.load = 0.5).unwrap().saturation, None);
    }

    #[test]
    fn what_is_assumed_is_not_observed() {
        let changed = asked(|question| question.what_if.load = 0.5).unwrap();
        let as_it_is = asked(|_| ()).unwrap();
        assert_eq!(changed.observed, as_it_is.observed);
        assert!(as_it_is.assumed.is_empty() && as_it_is.observed.contains(&"3.60 cores busy".to_owned()));
        assert_eq!(changed.assumed, ["1.80 cores busy", "200.0 requests a second"]);
    }

    #[test]
    fn a_section_in_demand_for_more_than_all_of_the_time_is_saturated() {
        let mut observed = observation(vec![load(&[(Operation::Commit, 10.0)])]);
        observed.intervals[0].cpu_seconds = Some(1.0);
        let mut question = Question::of(cipher());
        question.what_if.load = 4.0;
        let refused = predict(&observed, &calibration(0.0), &question);
        let Err(PlanError::Saturated(reason)) = &refused else {
            panic!("{refused:?}");
        };
        assert!(reason.contains("120 %") && reason.contains("83 %"), "{reason}");
    }
}
