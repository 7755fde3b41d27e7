//! Formats of numbers: in ASCII, with as many digits as a reader needs.

/// A ratio minus one as a signed percentage: `+12.3 %`.
pub fn percent(ratio: f64) -> String {
    format!("{} %", signed(ratio * 100.0))
}

/// A share between 0 and 1 as a percentage without a sign: `3 %`, `0.5 %`.
pub fn share(ratio: f64) -> String {
    let text = format!("{:.1}", ratio * 100.0);
    format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
}

/// An interval of ratios minus one, in percent: `[10.1, 14.5]`.
pub fn interval(ends: (f64, f64)) -> String {
    let digits = if ends.0.abs().max(ends.1.abs()) < 1.0 { 1 } else { 0 };
    format!("[{}, {}]", fixed(ends.0 * 100.0, digits), fixed(ends.1 * 100.0, digits))
}

/// A ratio with its interval, if it has one: `+12.3 % [10.1, 14.5]`.
pub fn estimate(ratio: f64, ends: Option<(f64, f64)>) -> String {
    match ends {
        Some(ends) => format!("{} {}", percent(ratio), interval(ends)),
        None => format!("{}, no interval", percent(ratio)),
    }
}

/// Nanoseconds in a suitable unit: `1.40 us`.
pub fn duration(ns: f64) -> String {
    let size = ns.abs();
    let (value, unit) = match size {
        _ if size < 1e3 => return format!("{} ns", fixed(ns, 0)),
        _ if size < 1e6 => (ns / 1e3, "us"),
        _ if size < 1e9 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    format!("{} {unit}", significant(value))
}

/// Nanoseconds as microseconds: `1.40`.
pub fn microseconds(ns: f64) -> String {
    let value = ns / 1e3;
    fixed(value, if value.abs() < 10.0 { 2 } else { 1 })
}

/// Bytes in a suitable binary unit: `29.4 MiB`.
pub fn bytes(count: f64) -> String {
    let mut value = count;
    let mut unit = "B";
    for next in ["KiB", "MiB", "GiB", "TiB"] {
        if value.abs() < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = next;
    }
    if unit == "B" {
        format!("{value:.0} B")
    } else {
        format!("{} {unit}", significant(value))
    }
}

/// A count with separated thousands: `12,345`.
pub fn count(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if value <= -0.5 { format!("-{text}") } else { text }
}

/// Seconds in words: `45 s`, `18 min`, `2 h 5 min`.
pub fn time(seconds: f64) -> String {
    let minutes = (seconds / 60.0).round();
    match seconds {
        _ if seconds < 90.0 => format!("{seconds:.0} s"),
        _ if minutes < 100.0 => format!("{minutes:.0} min"),
        _ => format!("{:.0} h {:.0} min", (minutes / 60.0).floor(), minutes % 60.0),
    }
}

/// Minutes that are still needed, rounded up so that the figure is sufficient.
pub fn minutes(minutes: f64) -> String {
    time(minutes.ceil().max(1.0) * 60.0)
}

fn signed(value: f64) -> String {
    let text = fixed(value, if value.abs() < 100.0 { 1 } else { 0 });
    if text.starts_with('-') || text.chars().all(|c| matches!(c, '0' | '.')) {
        text
    } else {
        format!("+{text}")
    }
}

/// Omits the sign of zero.
pub fn fixed(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| matches!(c, '0' | '.')) => rest.to_owned(),
        _ => text,
    }
}

/// Three digits.
fn significant(value: f64) -> String {
    let digits = match value.abs() {
        size if size < 10.0 => 2,
        size if size < 100.0 => 1,
        _ => 0,
    };
    fixed(value, digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_have_a_sign_and_at_most_four_digits() {
        assert_eq!(percent(0.1234), "+12.3 %");
        assert_eq!(percent(-0.0004), "0.0 %");
        assert_eq!(percent(-0.021), "-2.1 %");
        assert_eq!(percent(6.154), "+615 %");
        assert_eq!(share(0.03), "3 %");
        assert_eq!(share(0.005), "0.5 %");
    }

    #[test]
    fn an_interval_has_digits_as_its_wider_end_needs() {
        assert_eq!(interval((0.101, 0.1449)), "[10.1, 14.5]");
        assert_eq!(interval((0.9, 6.2)), "[90, 620]");
        assert_eq!(estimate(0.12, None), "+12.0 %, no interval");
    }

    #[test]
    fn units_fit() {
        assert_eq!(duration(1_400.0), "1.40 us");
        assert_eq!(duration(-38_200_000.0), "-38.2 ms");
        assert_eq!(bytes(4096.0), "4.00 KiB");
        assert_eq!(bytes(5.0), "5 B");
        assert_eq!(bytes(30_800_000.0), "29.4 MiB");
        assert_eq!(count(-1_234_567.0), "-1,234,567");
        assert_eq!(time(5.0 * 60.0), "5 min");
        assert_eq!(minutes(17.2), "18 min");
        assert_eq!(time(7500.0), "2 h 5 min");
    }
}
