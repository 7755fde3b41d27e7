//! Sizes, times and percentages in a configuration.

use std::fmt;
use std::time::Duration;

use serde::de::{self, Deserialize, Deserializer, Visitor};

/// Bytes, from `"4096"`, `"16MiB"`, `"16M"`, `"1GiB"` or a number, as the extension's `pool_size` takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

/// A time, from `"250ms"`, `"10s"`, `"2m"` or `"1h"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub Duration);

/// A share between 0 and 1, from `"3%"`: 0.03.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Percent(pub f64);

impl Size {
    /// Parses it; none if it is not a size.
    #[must_use]
    pub fn parse(text: &str) -> Option<Size> {
        let (number, unit) = split(text)?;
        let shift = match unit.strip_suffix("iB").unwrap_or(unit) {
            "" if !unit.ends_with("iB") => 0,
            "B" => 0,
            "k" | "K" => 10,
            "m" | "M" => 20,
            "g" | "G" => 30,
            "t" | "T" => 40,
            _ => return None,
        };
        number.parse::<u64>().ok()?.checked_mul(1 << shift).map(Size)
    }
}

impl Time {
    /// Parses it; none if it is not a time.
    #[must_use]
    pub fn parse(text: &str) -> Option<Time> {
        let (number, unit) = split(text)?;
        let ms = match unit {
            "ms" => 1,
            "s" => 1000,
            "m" | "min" => 60_000,
            "h" => 3_600_000,
            _ => return None,
        };
        number
            .parse::<u64>()
            .ok()?
            .checked_mul(ms)
            .map(|ms| Time(Duration::from_millis(ms)))
    }
}

impl Percent {
    /// Parses it; none if it is not a percentage.
    #[must_use]
    pub fn parse(text: &str) -> Option<Percent> {
        let number: f64 = text.strip_suffix('%')?.trim_end().parse().ok()?;
        (number.is_finite() && number > 0.0 && number <= PERCENT_MAX).then_some(Percent(number / 100.0))
    }
}

fn split(text: &str) -> Option<(&str, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits)?;
    (!number.is_empty()).then_some((number, unit.trim_start()))
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Size, D::Error> {
        from.deserialize_any(Text {
            parse: Size::parse,
            expected: "a size such as \"16MiB\", \"16M\", \"1GiB\" or 4096",
        })
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Time, D::Error> {
        from.deserialize_str(Text {
            parse: Time::parse,
            expected: "a time such as \"10s\", \"2m\" or \"1h\"",
        })
    }
}

impl<'de> Deserialize<'de> for Percent {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Percent, D::Error> {
        from.deserialize_str(Text {
            parse: Percent::parse,
            expected: "a share such as \"3%\", above 0 %",
        })
    }
}

struct Text<T> {
    parse: fn(&str) -> Option<T>,
    expected: &'static str,
}

impl<T> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.expected)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        (self.parse)(text).ok_or_else(|| E::custom(format!("`{text}` is not {}", self.expected)))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }
}

/// A larger effect is a mistake.
const PERCENT_MAX: f64 = 10_000.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_powers_of_two() {
        assert_eq!(Size::parse("4096"), Some(Size(4096)));
        assert_eq!(Size::parse("16MiB"), Some(Size(16 << 20)));
        assert_eq!(Size::parse("1 GiB"), Some(Size(1 << 30)));
        for (text, shift) in [
            ("64K", 10),
            ("64k", 10),
            ("64M", 20),
            ("64m", 20),
            ("64G", 30),
            ("64T", 40),
            ("64TiB", 40),
        ] {
            assert_eq!(Size::parse(text), Some(Size(64 << shift)), "{text}");
        }
        for bad in ["", "MiB", "1GB", "1iB", "1MM", "1MB", "-1", "1.5GiB", "99999999999TiB"] {
            assert_eq!(Size::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn times_have_units() {
        assert_eq!(Time::parse("250ms"), Some(Time(Duration::from_millis(250))));
        assert_eq!(Time::parse("2m"), Some(Time(Duration::from_secs(120))));
        assert_eq!(Time::parse("1h"), Some(Time(Duration::from_secs(3600))));
        for bad in [
            "",
            "10",
            "s",
            "-1s",
            "1d",
            "99999999999999999999s",
            "18446744073709551615h",
        ] {
            assert_eq!(Time::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn percentages_are_above_zero() {
        assert_eq!(Percent::parse("3%"), Some(Percent(0.03)));
        assert_eq!(Percent::parse("0.5 %"), Some(Percent(0.005)));
        for bad in ["3", "0%", "-1%", "NaN%", "inf%", "%"] {
            assert_eq!(Percent::parse(bad), None, "{bad}");
        }
    }
}
