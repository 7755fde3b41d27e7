//! The cost of an arm over several cells, and the heterogeneity of the cells.

use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::session_interval::SessionInterval;
use crate::summary::{CellSummary, Effect, Metric, Overall, Pooled, Verdict};

/// The cost of `arm` over these cells; none if it has no effect in any.
pub fn overall<'a>(
    cells: impl Iterator<Item = &'a CellSummary>,
    arm: &str,
    metric: Metric,
    interval: SessionInterval,
) -> Option<Overall> {
    let of_arm = |effect: &&Effect| effect.arm == arm && effect.metric == metric;
    let found: Vec<(&CellSummary, &Effect)> = cells
        .filter_map(|cell| Some((cell, cell.effects.iter().find(of_arm)?)))
        .collect();
    let by_ratio = |a: &&(&CellSummary, &Effect), b: &&(&CellSummary, &Effect)| a.1.ratio.total_cmp(&b.1.ratio);
    let cheapest = found.iter().min_by(by_ratio)?;
    let dearest = found.iter().max_by(by_ratio)?;
    let effects: Vec<&Effect> = found.iter().map(|(_, effect)| *effect).collect();
    Some(Overall {
        arm: arm.to_owned(),
        control: dearest.1.control.clone(),
        metric,
        cells: found.iter().map(|(cell, _)| cell.name.clone()).collect(),
        cheapest: (cheapest.0.name.clone(), cheapest.1.ratio),
        dearest: (dearest.0.name.clone(), dearest.1.ratio),
        pooled: pooled(&effects, interval),
        verdict: verdict(&effects),
    })
}

/// Above if one is above, within if all are within, otherwise not resolved.
fn verdict(effects: &[&Effect]) -> Verdict {
    let mut inside = true;
    let mut open = false;
    let mut minutes = Some(0.0f64);
    for effect in effects {
        match effect.verdict {
            Verdict::Above => return Verdict::Above,
            Verdict::Within { inside_floor } => inside &= inside_floor,
            Verdict::NotResolved { minutes_more } => {
                open = true;
                // Sessions measure all cells, so the slowest cell determines the time.
                minutes = minutes.zip(minutes_more).map(|(a, b)| a.max(b));
            }
        }
    }
    if open {
        Verdict::NotResolved { minutes_more: minutes }
    } else {
        Verdict::Within { inside_floor: inside }
    }
}

/// The mean of several effects. Cells of one session share its copies; this makes `p_same` too
/// large at times, never too small, and does not affect the interval, which is across sessions.
pub fn pooled(effects: &[&Effect], interval: SessionInterval) -> Option<Pooled> {
    let logs: Vec<f64> = effects.iter().map(|effect| effect.ratio.ln_1p()).collect();
    let count = f64::from(u32::try_from(logs.len()).ok()?);
    if logs.len() < 2 || logs.iter().any(|log| !log.is_finite()) {
        return None;
    }
    let sessions = session_means(effects);
    let interval = interval.around(&sessions)?;
    let center_of_sessions = f64::midpoint(interval.low, interval.high);
    let errors = effects.iter().map(|effect| {
        let values: Vec<f64> = effect.by_session.iter().map(|(_, ratio)| ratio.ln_1p()).collect();
        error(&values)
    });
    let weights: Vec<f64> = errors
        .map(|error| error.map(|error| error.powi(-2)))
        .collect::<Option<_>>()?;
    let total: f64 = weights.iter().sum();
    let center = weights.iter().zip(&logs).map(|(weight, log)| weight * log).sum::<f64>() / total;
    let q: f64 = weights
        .iter()
        .zip(&logs)
        .map(|(weight, log)| weight * (log - center).powi(2))
        .sum();
    let freedom = count - 1.0;
    let scale = total - weights.iter().map(|weight| weight * weight).sum::<f64>() / total;
    Some(Pooled {
        ratio: center_of_sessions.exp_m1(),
        interval: Some((interval.low.exp_m1(), interval.high.exp_m1())),
        spread: ((q - freedom) / scale).max(0.0).sqrt(),
        heterogeneity: if q > 0.0 { ((q - freedom) / q).max(0.0) } else { 0.0 },
        p_same: ChiSquared::new(freedom).map_or(1.0, |chi| chi.sf(q)),
    })
}

/// The standard error of the mean; none with fewer than two values.
fn error(values: &[f64]) -> Option<f64> {
    let count = f64::from(u32::try_from(values.len()).ok().filter(|count| *count > 1)?);
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (count - 1.0) / count).sqrt().max(1e-9))
}

/// The mean over the cells of each session that has all of them.
fn session_means(effects: &[&Effect]) -> Vec<f64> {
    let Some(first) = effects.first() else {
        return Vec::new();
    };
    let of_session = |session: u32| -> Option<f64> {
        let ratios = effects
            .iter()
            .map(|effect| effect.by_session.iter().find(|(number, _)| *number == session));
        let logs: Vec<f64> = ratios
            .map(|found| found.map(|(_, ratio)| ratio.ln_1p()))
            .collect::<Option<_>>()?;
        Some(logs.iter().sum::<f64>() / f64::from(u32::try_from(logs.len()).ok()?))
    };
    first
        .by_session
        .iter()
        .filter_map(|(session, _)| of_session(*session))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(ratios: &[f64], verdict: Verdict) -> Effect {
        let logs: f64 = ratios.iter().map(|ratio| ratio.ln_1p()).sum::<f64>() / ratios.len() as f64;
        Effect {
            arm: "A".into(),
            control: "plain".into(),
            metric: Metric::Cpu,
            ratio: logs.exp_m1(),
            interval: None,
            bootstrap: None,
            floor: None,
            difference: 0.0,
            per_page_ns: None,
            per_operation_ns: None,
            by_session: (1..).zip(ratios.iter().copied()).collect(),
            p_limit: None,
            sessions: 5,
            pairs: 40,
            outliers: 0,
            verdict,
            against_none: None,
        }
    }

    const OPEN: Verdict = Verdict::NotResolved {
        minutes_more: Some(3.0),
    };

    #[test]
    fn cells_of_equal_and_unequal_cost_are_distinguished() {
        let a = effect(&[0.10, 0.11, 0.12, 0.10, 0.11], OPEN);
        let b = effect(&[0.11, 0.12, 0.10, 0.11, 0.10], OPEN);
        let dear = effect(&[0.80, 0.81, 0.80, 0.82, 0.79], OPEN);
        let same = pooled(&[&a, &b], SessionInterval::T).unwrap();
        assert!(same.p_same > 0.2 && same.spread == 0.0, "{same:?}");
        assert!((same.ratio - 0.108).abs() < 0.001);
        let (low, high) = same.interval.unwrap();
        assert!(low < same.ratio && same.ratio < high && high - low < 0.02);
        let other = pooled(&[&a, &dear], SessionInterval::T).unwrap();
        assert!(
            other.p_same < 1e-6 && other.heterogeneity > 0.99 && other.spread > 0.3,
            "{other:?}"
        );
        assert_eq!(pooled(&[&a], SessionInterval::T), None);
    }

    #[test]
    fn one_cell_above_is_enough_and_all_within_are_needed() {
        let within = effect(&[0.0; 5], Verdict::Within { inside_floor: true });
        let sure = effect(&[0.0; 5], Verdict::Within { inside_floor: false });
        let open = effect(&[0.0; 5], OPEN);
        let unknown = effect(&[0.0; 5], Verdict::NotResolved { minutes_more: None });
        let above = effect(&[0.5; 5], Verdict::Above);
        assert_eq!(verdict(&[&within, &open, &above]), Verdict::Above);
        assert_eq!(verdict(&[&within, &open]), OPEN);
        assert_eq!(verdict(&[&open, &unknown]), Verdict::NotResolved { minutes_more: None });
        assert_eq!(verdict(&[&within, &sure]), Verdict::Within { inside_floor: false });
        assert_eq!(verdict(&[&within]), Verdict::Within { inside_floor: true });
    }
}
