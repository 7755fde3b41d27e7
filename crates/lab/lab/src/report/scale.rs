//! The position of a ratio on an axis.
//!
//! Effects of one study may be 0.3 % and 600 %. The axis is then linear near 0 and logarithmic far
//! from it (the inverse hyperbolic sine), so that both the limit and the most expensive cell are
//! visible.

/// An axis from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    low: f64,
    high: f64,
    bend: Option<f64>,
}

impl Scale {
    /// An axis of ratios that includes 0, the limit and all finite values.
    pub fn ratios(values: impl Iterator<Item = f64>, limit: f64) -> Self {
        let bend = limit.max(0.005);
        let (low, high) = span(values.chain([0.0, limit * 1.5, -limit * 0.5]));
        let bend = (high.max(-low) > 8.0 * bend).then_some(bend);
        // A limit of 0 and no effect at all still need an axis.
        let (low, high) = if high - low < 1e-6 {
            (low - 0.01, high + 0.01)
        } else {
            (low, high)
        };
        let margin = Self { low, high, bend };
        Self {
            low: margin.value(-0.03),
            high: margin.value(1.03),
            bend,
        }
    }

    /// A linear axis that includes all finite values.
    pub fn linear(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = span(values);
        let margin = (high - low).abs().max(1e-9) * 0.05;
        Self {
            low: low - margin,
            high: high + margin,
            bend: None,
        }
    }

    /// The position from 0 to 1; values outside are at the ends.
    pub fn at(&self, value: f64) -> f64 {
        let (low, high) = (self.bent(self.low), self.bent(self.high));
        ((self.bent(value) - low) / (high - low)).clamp(0.0, 1.0)
    }

    /// Whether the axis is not linear everywhere.
    pub fn is_bent(&self) -> bool {
        self.bend.is_some()
    }

    /// Round values for labels, in order, at least `apart` (a share of the axis) from each other.
    pub fn ticks(&self, apart: f64, first: &[f64]) -> Vec<f64> {
        let steps = self.steps();
        let mut ticks: Vec<f64> = Vec::new();
        for value in first.iter().copied().chain(steps) {
            let inside = value >= self.low && value <= self.high;
            if inside
                && ticks
                    .iter()
                    .all(|tick| (self.at(*tick) - self.at(value)).abs() >= apart)
            {
                ticks.push(value);
            }
        }
        ticks.sort_by(f64::total_cmp);
        ticks
    }

    fn steps(&self) -> Vec<f64> {
        if self.is_bent() {
            let sizes = [1.0, 0.1, 10.0, 0.5, 5.0, 2.0, 0.25, 20.0, 50.0, 100.0];
            return sizes.into_iter().flat_map(|size| [size, -size]).collect();
        }
        let span = (self.high - self.low).max(1e-12);
        let power = 10f64.powf((span / 5.0).log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .map(|size| size * power)
            .into_iter()
            .find(|step| span / step <= 6.0);
        let step = step.unwrap_or(span);
        let first = (self.low / step).ceil();
        (0..12u32).map(|index| (first + f64::from(index)) * step).collect()
    }

    fn bent(&self, value: f64) -> f64 {
        self.bend.map_or(value, |bend| (value / bend).asinh())
    }

    fn value(&self, at: f64) -> f64 {
        let (low, high) = (self.bent(self.low), self.bent(self.high));
        let bent = low + at * (high - low);
        self.bend.map_or(bent, |bend| bent.sinh() * bend)
    }
}

fn span(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let ends = values
        .filter(|value| value.is_finite())
        .fold(None, |ends, value| match ends {
            None => Some((value, value)),
            Some((low, high)) => Some((value.min(low), value.max(high))),
        });
    ends.unwrap_or((0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_effects_have_a_linear_axis() {
        let scale = Scale::ratios([-0.02, 0.1].into_iter(), 0.03);
        assert!(!scale.is_bent());
        let middle = (scale.at(0.0) + scale.at(0.06)) / 2.0;
        assert!((scale.at(0.03) - middle).abs() < 1e-12);
    }

    #[test]
    fn wide_effects_leave_room_for_the_limit() {
        let scale = Scale::ratios([-0.02, 6.15].into_iter(), 0.03);
        assert!(scale.is_bent());
        assert!(scale.at(0.03) - scale.at(0.0) > 0.08);
        assert!(scale.at(6.15) < 1.0 && scale.at(-0.02) > 0.0);
        assert_eq!(scale.at(f64::INFINITY), 1.0);
    }

    #[test]
    fn ticks_keep_apart_and_the_wanted_ones_stay() {
        let scale = Scale::ratios([6.15].into_iter(), 0.03);
        let ticks = scale.ticks(0.1, &[0.0, 0.03]);
        assert!(ticks.contains(&0.0) && ticks.contains(&1.0), "{ticks:?}");
        assert!(
            ticks
                .windows(2)
                .all(|two| scale.at(two[1]) - scale.at(two[0]) >= 0.0999),
            "{ticks:?}"
        );
    }

    #[test]
    fn an_axis_without_effects_and_limit_is_valid() {
        assert!(Scale::linear(std::iter::empty()).at(0.5).is_finite());
        assert!(Scale::linear([2.0].into_iter()).at(2.0).is_finite());
        assert!(Scale::ratios([f64::NAN].into_iter(), 0.0).at(0.0).is_finite());
    }
}
