//! How far a measurement may be wrong that runs one arm first and the other one later: simulated
//! from the noise of a study that interleaved both.
//!
//! - resampled-in-blocks: successive measurements stay successive: noise that lasts for minutes is
//!   drawn in stretches, noise of an instance once for all runs on it.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::moments::{mean, quantile};

/// The method of a published measurement: all runs of one arm, then all of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequentialMethod {
    /// Runs of each arm; their mean is compared.
    pub runs: u32,
    /// Whether the database was made again or the server restarted between both arms: they then
    /// differ as two sessions do. Otherwise the second arm follows at once in the same session.
    pub restarted: bool,
}

/// The measurements of a session in one cell: logarithms, in order of time. Both arms have the same
/// number of them, taken in turn.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionCourse {
    /// The arm that is measured first.
    pub first: Vec<f64>,
    /// The other arm.
    pub second: Vec<f64>,
}

/// The errors of many simulated measurements, sorted: the logarithm of the ratio that would be
/// published, minus that of the true one.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodErrors(Vec<f64>);

/// Simulates a method on the noise of a study's cells. A figure that is a mean over several cells
/// has all of them; they share the sessions of a simulated measurement.
///
/// Each arm is first centred on its own mean, so that no effect is left. A simulated run is the
/// deviation of an instance (the mean of a session) plus the deviations of successive measurements;
/// a stretch that reaches the end of a session goes on in another one. Deviations of instances are
/// enlarged by the root of S / (S - 1), because S sessions were centred on their own mean.
///
/// None with fewer than two sessions in a cell, if both arms of a session have different numbers of
/// measurements or none, if one is not finite, and without cells, runs or replicates.
#[must_use]
pub fn sequential_errors(
    cells: &[Vec<SessionCourse>],
    method: SequentialMethod,
    replicates: u32,
    seed: u64,
) -> Option<MethodErrors> {
    if cells.is_empty() || method.runs == 0 || replicates == 0 {
        return None;
    }
    let cells: Vec<CellNoise> = cells.iter().map(|cell| CellNoise::new(cell)).collect::<Option<_>>()?;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut errors = Vec::new();
    for _ in 0..replicates {
        let places = (random.random::<f64>(), random.random::<f64>());
        let each: Vec<f64> = cells
            .iter()
            .map(|cell| cell.error(method, places, &mut random))
            .collect();
        errors.push(mean(&each)?);
    }
    errors.sort_unstable_by(f64::total_cmp);
    Some(MethodErrors(errors))
}

impl MethodErrors {
    /// The share of measurements that show at least `size` if there is no effect. `size` is a
    /// logarithm; for a negative one the share of those that show at most that.
    #[must_use]
    pub fn false_alarms(&self, size: f64) -> f64 {
        match size < 0.0 {
            true => self.share(|error| error <= size),
            false => self.share(|error| error >= size),
        }
    }

    /// The share of measurements that show the other sign than the true effect, which is a
    /// logarithm. None if the effect is 0.
    #[must_use]
    pub fn wrong_signs(&self, effect: f64) -> Option<f64> {
        if effect > 0.0 {
            Some(self.share(|error| error + effect < 0.0))
        } else if effect < 0.0 {
            Some(self.share(|error| error + effect > 0.0))
        } else {
            None
        }
    }

    /// The error below which `share` of the measurements lie.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<f64> {
        quantile(&self.0, share)
    }

    fn share(&self, is_one: impl Fn(f64) -> bool) -> f64 {
        let count = self.0.iter().filter(|error| is_one(**error)).count();
        count as f64 / self.0.len() as f64
    }
}

/// The noise of one cell, by session.
struct CellNoise(Vec<SessionNoise>);

struct SessionNoise {
    /// The deviation of each arm's instance.
    instances: [f64; 2],
    /// The deviations of measurements from the mean of their instance.
    courses: [Vec<f64>; 2],
}

impl CellNoise {
    fn new(sessions: &[SessionCourse]) -> Option<Self> {
        let count = sessions.len();
        if count < 2 {
            return None;
        }
        let arms = [
            sessions
                .iter()
                .map(|session| session.first.as_slice())
                .collect::<Vec<_>>(),
            sessions.iter().map(|session| session.second.as_slice()).collect(),
        ];
        let same_length = sessions
            .iter()
            .all(|session| session.first.len() == session.second.len());
        let finite = arms.iter().flatten().copied().flatten().all(|value| value.is_finite());
        if !same_length || !finite {
            return None;
        }
        let of_arm = |runs: &[&[f64]]| -> Option<(Vec<f64>, Vec<Vec<f64>>)> {
            let means: Vec<f64> = runs.iter().map(|runs| mean(runs)).collect::<Option<_>>()?;
            let center = mean(&means)?;
            let enlarged = (count as f64 / (count - 1) as f64).sqrt();
            let instances = means.iter().map(|mean| (mean - center) * enlarged).collect();
            let courses = runs.iter().zip(&means);
            let courses = courses.map(|(runs, mean)| runs.iter().map(|value| value - mean).collect());
            Some((instances, courses.collect()))
        };
        let [first, second] = [of_arm(&arms[0])?, of_arm(&arms[1])?];
        let sessions = first.0.into_iter().zip(second.0).zip(first.1.into_iter().zip(second.1));
        let sessions = sessions.map(|((a, b), (course_a, course_b))| SessionNoise {
            instances: [a, b],
            courses: [course_a, course_b],
        });
        Some(Self(sessions.collect()))
    }

    /// The error of one measurement. `places` choose the sessions, alike in all cells.
    fn error(&self, method: SequentialMethod, places: (f64, f64), random: &mut ChaCha8Rng) -> f64 {
        let count = self.0.len();
        let first = index(places.0, count);
        let second = match method.restarted {
            // Another session than the first.
            true => (first + 1 + index(places.1, count - 1)) % count,
            false => first,
        };
        let start = random.random_range(0..self.0[first].courses[0].len());
        let mut place = (first, start);
        let before = self.runs(0, method.runs, &mut place, random);
        if method.restarted {
            place = (second, random.random_range(0..self.0[second].courses[1].len()));
        }
        let after = self.runs(1, method.runs, &mut place, random);
        let instances = self.0[second].instances[1] - self.0[first].instances[0];
        instances + after - before
    }

    /// The logarithm of the mean of successive measurements of an arm from `place` on, without its
    /// instance.
    fn runs(&self, arm: usize, runs: u32, place: &mut (usize, usize), random: &mut ChaCha8Rng) -> f64 {
        let mut sum = 0.0;
        for _ in 0..runs {
            if place.1 >= self.0[place.0].courses[arm].len() {
                *place = (random.random_range(0..self.0.len()), 0);
            }
            sum += self.0[place.0].courses[arm][place.1].exp();
            place.1 += 1;
        }
        (sum / f64::from(runs)).ln()
    }
}

/// The index below `count` at a share from 0 to 1.
fn index(share: f64, count: usize) -> usize {
    crate::moments::whole(share * count as f64, count.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(first: &[f64], second: &[f64]) -> SessionCourse {
        SessionCourse {
            first: first.to_vec(),
            second: second.to_vec(),
        }
    }

    const ONE_RUN: SequentialMethod = SequentialMethod {
        runs: 1,
        restarted: false,
    };

    #[test]
    fn an_effect_of_the_study_itself_is_no_error() {
        let cell = vec![course(&[1.0; 4], &[1.5; 4]), course(&[1.0; 4], &[1.5; 4])];
        let errors = sequential_errors(&[cell], ONE_RUN, 50, 1).unwrap();
        assert!(errors.0.iter().all(|error| error.abs() < 1e-12), "{errors:?}");
        assert_eq!((errors.false_alarms(0.01), errors.false_alarms(-0.01)), (0.0, 0.0));
        assert_eq!(errors.wrong_signs(0.01), Some(0.0));
        assert_eq!(errors.wrong_signs(0.0), None);
    }

    #[test]
    fn a_drift_within_a_session_counts_for_the_arm_that_comes_later() {
        // Both arms slow down by 0.1 from measurement to measurement: two runs each are 0.2 apart
        // unless a session's end lies between them.
        let steep: Vec<f64> = (0..40).map(|step| 0.1 * f64::from(step)).collect();
        let cell = vec![course(&steep, &steep), course(&steep, &steep)];
        let method = SequentialMethod { runs: 2, ..ONE_RUN };
        let errors = sequential_errors(&[cell], method, 4000, 2).unwrap();
        assert!(
            (errors.quantile(0.5).unwrap() - 0.2).abs() < 1e-9,
            "{:?}",
            errors.quantile(0.5)
        );
        assert!(errors.false_alarms(0.19) > 0.85);
    }

    #[test]
    fn a_restart_adds_the_difference_of_sessions() {
        // Sessions differ, and both arms of one alike.
        let cell = vec![course(&[0.0; 4], &[0.0; 4]), course(&[0.2; 4], &[0.2; 4])];
        let same = sequential_errors(std::slice::from_ref(&cell), ONE_RUN, 500, 3).unwrap();
        assert_eq!((same.quantile(0.0), same.quantile(1.0)), (Some(0.0), Some(0.0)));
        let restarted = SequentialMethod {
            restarted: true,
            ..ONE_RUN
        };
        let other = sequential_errors(&[cell], restarted, 500, 3).unwrap();
        let most = 0.2 * 2.0_f64.sqrt();
        assert!((other.quantile(1.0).unwrap() - most).abs() < 1e-12);
        assert!((other.quantile(0.0).unwrap() + most).abs() < 1e-12);
    }

    #[test]
    fn cells_of_a_mean_share_their_sessions() {
        let cell = vec![course(&[0.0; 2], &[0.0; 2]), course(&[0.0; 2], &[0.4; 2])];
        let one = sequential_errors(std::slice::from_ref(&cell), ONE_RUN, 400, 4).unwrap();
        let three = sequential_errors(&[cell.clone(), cell.clone(), cell], ONE_RUN, 400, 4).unwrap();
        let reach = |errors: &MethodErrors| errors.quantile(1.0).unwrap() - errors.quantile(0.0).unwrap();
        assert!((reach(&one) - reach(&three)).abs() < 1e-12);
    }

    #[test]
    fn too_little_to_draw_from_gives_none() {
        let good = vec![course(&[0.1], &[0.2]), course(&[0.1], &[0.2])];
        assert!(sequential_errors(std::slice::from_ref(&good), ONE_RUN, 10, 1).is_some());
        assert_eq!(sequential_errors(&[], ONE_RUN, 10, 1), None);
        assert_eq!(sequential_errors(std::slice::from_ref(&good), ONE_RUN, 0, 1), None);
        let none = SequentialMethod { runs: 0, ..ONE_RUN };
        assert_eq!(sequential_errors(std::slice::from_ref(&good), none, 10, 1), None);
        for bad in [
            vec![course(&[0.1], &[0.2])],
            vec![course(&[0.1], &[0.2]), course(&[], &[])],
            vec![course(&[0.1], &[0.2]), course(&[0.1, 0.2], &[0.1])],
            vec![course(&[0.1], &[0.2]), course(&[f64::NAN], &[0.1])],
        ] {
            assert_eq!(sequential_errors(&[bad], ONE_RUN, 10, 1), None);
        }
    }

    #[test]
    fn the_seed_decides() {
        let cell = vec![course(&[0.1, 0.3], &[0.2, 0.1]), course(&[0.2, 0.0], &[0.4, 0.3])];
        let of = |seed| sequential_errors(std::slice::from_ref(&cell), ONE_RUN, 30, seed);
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }
}
