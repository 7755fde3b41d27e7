//! Names and values, one per line, with aligned values. A value never contains a line break.

use std::time::Duration;

use crate::printable;

/// A text of lines.
#[derive(Default)]
pub struct Lines(Vec<(String, String)>);

impl Lines {
    /// Adds a name and its value.
    pub fn add(&mut self, name: &str, value: impl Into<String>) {
        self.0.push((name.to_owned(), value.into()));
    }

    /// Adds a name and its values, one below the other.
    pub fn add_all(&mut self, name: &str, values: impl IntoIterator<Item = String>) {
        let mut name = name;
        for value in values {
            self.add(name, value);
            name = "";
        }
    }

    /// The text.
    pub fn text(&self) -> String {
        let width = self.0.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        let mut text = String::new();
        for (name, value) in &self.0 {
            text.push_str(printable::line(&format!("{name:width$}  {value}")).trim_end());
            text.push('\n');
        }
        text
    }
}

/// A count with thousands separators.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: `1 table`, `1,234 rows`.
pub fn counted(number: u64, one: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {one}{plural}", count(number))
}

/// Bytes, in a suitable unit.
pub fn bytes(size: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut tenths = u128::from(size) * 10;
    let mut unit = "bytes";
    for larger in UNITS {
        if tenths < 10_240 {
            break;
        }
        tenths = (tenths + 512) / 1024;
        unit = larger;
    }
    if unit == "bytes" {
        return counted(size, "byte");
    }
    format!("{}.{} {unit}", tenths / 10, tenths % 10)
}

/// The origin of a backup as a JSON value.
pub fn origin(is_own: bool) -> &'static str {
    if is_own { "own" } else { "unknown" }
}

/// The origin of a backup as text.
pub fn origin_said(is_own: bool) -> &'static str {
    if is_own {
        "own: all that was read was made by holders of the database's master key"
    } else {
        "UNKNOWN: nothing shows who made it (a backup from before origin MACs, one of a recipient's, or a forged one)"
    }
}

/// A time, in milliseconds or seconds.
pub fn elapsed(elapsed: Duration) -> String {
    if elapsed < Duration::from_secs(10) {
        return format!("{} ms", count(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)));
    }
    format!("{:.1} s", elapsed.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_below_each_other() {
        let mut lines = Lines::default();
        lines.add("suite", "AES_256");
        lines.add_all("key slots", ["one".to_owned(), "two".to_owned()]);
        assert_eq!(lines.text(), "suite      AES_256\nkey slots  one\n           two\n");
    }

    #[test]
    fn a_value_forges_no_line() {
        let mut lines = Lines::default();
        lines.add("left over", "a\nlost  nothing\u{1b}[2J");
        assert_eq!(lines.text(), "left over  a?lost  nothing?[2J\n");
    }

    #[test]
    fn numbers_are_short_and_divided() {
        assert_eq!(
            (count(0), count(999), count(15607)),
            ("0".into(), "999".into(), "15,607".into())
        );
        assert_eq!(
            (counted(1, "row"), counted(2000, "row")),
            ("1 row".into(), "2,000 rows".into())
        );
        assert_eq!(
            (bytes(1), bytes(1023), bytes(1024)),
            ("1 byte".into(), "1,023 bytes".into(), "1.0 KiB".into())
        );
        assert_eq!(
            (bytes(1_073_741_824), bytes(1_048_576 * 3 / 2)),
            ("1.0 GiB".into(), "1.5 MiB".into())
        );
        assert!(bytes(u64::MAX).ends_with(" PiB"));
        assert_eq!(elapsed(Duration::from_millis(1234)), "1,234 ms");
    }
}
