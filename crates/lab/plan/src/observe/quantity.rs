//! Numbers with units, as people write them: `25MB/s`, `25 MiB/s`, `400/s`, `1/d`, `8KiB`, `6.25%`.
//!
//! Units of bytes are `B`, the decimal `kB` or `KB`, `MB`, `GB`, `TB`, and the binary `KiB`, `MiB`, `GiB`, `TiB`.
//! Units of time are `s`, `min`, `h` and `d`.

use std::fmt;

use crate::PlanError;
use crate::bounds::{check_database, check_rate};

/// An amount in a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// Bytes in a second.
    Bytes(f64),
    /// Operations in a second.
    Count(f64),
}

impl Rate {
    /// Parses a rate; `place` is the option that has it.
    ///
    /// # Errors
    /// [`PlanError::Input`] where it is none, or more than any machine does.
    pub fn parse(place: &str, text: &str) -> Result<Self, PlanError> {
        let refuse = || {
            let reason = format!("{text:?} is not a rate (examples: 25MB/s, 25 MiB/s, 400/s)");
            PlanError::input(place, reason)
        };
        let (amount, time) = text.split_once('/').ok_or_else(refuse)?;
        let seconds = TIMES
            .iter()
            .find(|(unit, _)| *unit == time.trim())
            .map(|(_, seconds)| *seconds)
            .ok_or_else(refuse)?;
        let (number, unit) = number_and_unit(amount).ok_or_else(refuse)?;
        let rate = match unit {
            "" => Self::Count(number / seconds),
            unit => Self::Bytes(number * bytes_of(unit).ok_or_else(refuse)? / seconds),
        };
        match rate {
            Self::Count(count) => check_rate(place, count, 0.0)?,
            Self::Bytes(bytes) => check_rate(place, 0.0, bytes)?,
        }
        Ok(rate)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(out, "{bytes}B/s"),
            Self::Count(count) => write!(out, "{count}/s"),
        }
    }
}

/// Bytes of a size. A number without a unit is in bytes.
///
/// # Errors
/// [`PlanError::Input`] where it is none, or more than any database has.
pub fn parse_size(place: &str, text: &str) -> Result<f64, PlanError> {
    let parsed = number_and_unit(text).and_then(|(number, unit)| match unit {
        "" => Some(number),
        unit => Some(number * bytes_of(unit)?),
    });
    let bytes = parsed
        .ok_or_else(|| PlanError::input(place, format!("{text:?} is not a size (examples: 8KiB, 40 GB, 8192)")))?;
    check_database(place, bytes)?;
    Ok(bytes)
}

/// A number without a unit.
///
/// # Errors
/// [`PlanError::Input`] where it is none.
pub fn parse_number(place: &str, text: &str) -> Result<f64, PlanError> {
    match number_and_unit(text) {
        Some((number, "")) => Ok(number),
        Some(_) | None => Err(PlanError::input(
            place,
            format!("{text:?} is not a number (examples: 4, 0.25)"),
        )),
    }
}

/// A part of `whole`: a number, or a percentage of it.
///
/// # Errors
/// [`PlanError::Input`] where it is neither, or a percentage of a whole that is not known.
pub fn parse_part(place: &str, text: &str, whole: Option<f64>) -> Result<f64, PlanError> {
    match (number_and_unit(text), whole) {
        (Some((number, "")), _) => Ok(number),
        (Some((percent, "%")), Some(whole)) => Ok(percent / 100.0 * whole),
        (Some((_, "%")), None) => Err(PlanError::input(
            place,
            format!("{text} of what is not known: say the cores by --cores"),
        )),
        (Some(_) | None, _) => {
            let reason = format!("{text:?} is not a number or percentage (examples: 0.25, 6.25%)");
            Err(PlanError::input(place, reason))
        }
    }
}

/// The number at the beginning of a text, and the unit behind it.
fn number_and_unit(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text
        .find(|character: char| !character.is_ascii_digit() && character != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: f64 = number.parse().ok()?;
    (number <= NUMBER_MAX).then(|| (number, unit.trim()))
}

fn bytes_of(unit: &str) -> Option<f64> {
    let known = BYTES.iter().find(|(name, _)| *name == unit);
    known.map(|(_, bytes)| *bytes)
}

const BYTES: [(&str, f64); 10] = [
    ("B", 1.0),
    ("kB", 1e3),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
];
const TIMES: [(&str, f64); 4] = [("s", 1.0), ("min", 60.0), ("h", 3600.0), ("d", 86_400.0)];
/// An exabyte, or as many operations: more is an error of typing.
const NUMBER_MAX: f64 = 1e18;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_parsed_with_their_units() {
        let cases = [
            ("25MB/s", Rate::Bytes(25e6)),
            ("25 MiB/s", Rate::Bytes(25.0 * 1_048_576.0)),
            ("1.5 kB / s", Rate::Bytes(1500.0)),
            ("400/s", Rate::Count(400.0)),
            ("60/min", Rate::Count(1.0)),
            ("1/d", Rate::Count(1.0 / 86_400.0)),
            ("3600 GiB/h", Rate::Bytes(1_073_741_824.0)),
        ];
        for (text, expected) in cases {
            assert_eq!(Rate::parse("--reads", text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_quantity_is_refused_with_its_option() {
        for text in [
            "",
            "/s",
            "25",
            "25MB",
            "-25MB/s",
            "NaN/s",
            "inf/s",
            "25Mb/s",
            "25MB/w",
            "1e3/s",
            "1..2/s",
            "1,000/s",
            "9999999999999999999/s",
            "%/s",
            "5%/s",
        ] {
            let error = Rate::parse("--reads", text).unwrap_err().to_string();
            assert!(error.starts_with("--reads: "), "{error}");
        }
        assert!(parse_size("--page-size", "8 pages").is_err());
        assert!(parse_number("--cores", "4 cores").is_err());
        assert!(parse_part("--busy-cores", "50%", None).is_err());
        assert!(parse_part("--busy-cores", "50MB", Some(4.0)).is_err());
    }

    #[test]
    fn sizes_and_parts_are_parsed() {
        assert_eq!(parse_size("p", "8KiB").unwrap(), 8192.0);
        assert_eq!(parse_size("p", "8192").unwrap(), 8192.0);
        assert_eq!(parse_size("p", "40 GB").unwrap(), 40e9);
        assert_eq!(parse_part("p", "6.25%", Some(4.0)).unwrap(), 0.25);
        assert_eq!(parse_part("p", "0.25", None).unwrap(), 0.25);
    }
}
