//! Dates and times by standard patterns (`d`) and by custom ones (`yyyy-MM-dd`).

use selenite_types::{DateTime2, TimeOfDay};

use super::Culture;

/// A date and time in a pattern, with its offset from UTC if it has one; `None` for a pattern that is not one.
pub(crate) fn format_moment(
    moment: DateTime2,
    offset_minutes: Option<i16>,
    pattern: &str,
    culture: Culture,
) -> Option<String> {
    let mut characters = pattern.chars();
    let pattern = match (characters.next(), characters.next()) {
        (None, _) => return format_moment(moment, offset_minutes, "G", culture),
        (Some(letter), None) => {
            if matches!(letter, 'U') {
                return None;
            }
            let moment = match (letter, offset_minutes) {
                // The pattern is of UTC.
                ('u' | 'r' | 'R', Some(offset)) => moment.checked_add_units(-i64::from(offset) * 600_000_000)?,
                _ => moment,
            };
            let custom = standard(letter, culture, offset_minutes.is_some())?;
            return write(moment, offset_minutes, custom);
        }
        (Some(_), Some(_)) => pattern,
    };
    write(moment, offset_minutes, pattern)
}

/// The custom pattern of a standard one.
fn standard(letter: char, culture: Culture, has_offset: bool) -> Option<&'static str> {
    let is_english = culture == Culture::English;
    let of = |english: &'static str, invariant: &'static str| if is_english { english } else { invariant };
    Some(match letter {
        'd' => of("M/d/yyyy", "MM/dd/yyyy"),
        'D' => of("dddd, MMMM d, yyyy", "dddd, dd MMMM yyyy"),
        'f' => of("dddd, MMMM d, yyyy h:mm tt", "dddd, dd MMMM yyyy HH:mm"),
        'F' => of("dddd, MMMM d, yyyy h:mm:ss tt", "dddd, dd MMMM yyyy HH:mm:ss"),
        'g' => of("M/d/yyyy h:mm tt", "MM/dd/yyyy HH:mm"),
        'G' if has_offset => of("M/d/yyyy h:mm:ss tt zzz", "MM/dd/yyyy HH:mm:ss zzz"),
        'G' => of("M/d/yyyy h:mm:ss tt", "MM/dd/yyyy HH:mm:ss"),
        'm' | 'M' => of("MMMM d", "MMMM dd"),
        'o' | 'O' if has_offset => "yyyy'-'MM'-'dd'T'HH':'mm':'ss'.'fffffffzzz",
        'o' | 'O' => "yyyy'-'MM'-'dd'T'HH':'mm':'ss'.'fffffff",
        'r' | 'R' => "ddd, dd MMM yyyy HH':'mm':'ss 'GMT'",
        's' => "yyyy'-'MM'-'dd'T'HH':'mm':'ss",
        't' => of("h:mm tt", "HH:mm"),
        'T' => of("h:mm:ss tt", "HH:mm:ss"),
        'u' => "yyyy'-'MM'-'dd HH':'mm':'ss'Z'",
        'y' | 'Y' => of("MMMM yyyy", "yyyy MMMM"),
        _ => return None,
    })
}

fn write(moment: DateTime2, offset_minutes: Option<i16>, pattern: &str) -> Option<String> {
    let mut out = String::new();
    let characters: Vec<char> = pattern.chars().collect();
    let mut at = 0;
    while let Some(letter) = characters.get(at).copied() {
        let run = characters.iter().skip(at).take_while(|other| **other == letter).count();
        match letter {
            '\'' | '"' => {
                let quoted = characters.get(at + 1..)?;
                let size = quoted.iter().position(|other| *other == letter)?;
                out.extend(quoted.get(..size)?);
                at += size + 2;
                continue;
            }
            '\\' => {
                out.push(*characters.get(at + 1)?);
                at += 2;
                continue;
            }
            '%' => {
                // The next letter is a pattern of its own.
                let next = *characters.get(at + 1).filter(|next| !matches!(next, '%' | '\\'))?;
                field(&mut out, moment, offset_minutes, next, 1)?;
                at += 2;
                continue;
            }
            _ => field(&mut out, moment, offset_minutes, letter, run)?,
        }
        at += run;
    }
    Some(out)
}

/// One field, `letter` written `run` times; any other letter stands for itself.
fn field(out: &mut String, moment: DateTime2, offset_minutes: Option<i16>, letter: char, run: usize) -> Option<()> {
    let (year, month, day) = moment.date.civil();
    let time = moment.time;
    let number = |out: &mut String, number: u32| out.push_str(&format!("{number:00$}", run.min(2)));
    match letter {
        'd' if run > 2 => out.push_str(name(&WEEKDAYS, moment.date.days_since_monday(), run)),
        'd' => number(out, day),
        'M' if run > 2 => out.push_str(name(&MONTHS, month - 1, run)),
        'M' => number(out, month),
        'y' => match run {
            1 | 2 => number(out, u32::try_from(year).ok()? % 100),
            _ => out.push_str(&format!("{year:0run$}")),
        },
        'h' => number(out, (time.hour() + 11) % 12 + 1),
        'H' => number(out, time.hour()),
        'm' => number(out, time.minute()),
        's' => number(out, time.second()),
        'f' | 'F' => fraction(out, time, letter, run)?,
        't' => {
            let half = if time.hour() < 12 { "AM" } else { "PM" };
            out.push_str(half.get(..run.min(2))?);
        }
        'g' => out.push_str("A.D."),
        'K' => {
            if let Some(minutes) = offset_minutes {
                (0..run).for_each(|_| offset(out, minutes, 3));
            }
        }
        'z' => offset(out, offset_minutes?, run),
        ':' | '/' => (0..run).for_each(|_| out.push(letter)),
        other => (0..run).for_each(|_| out.push(other)),
    }
    Some(())
}

/// Digits of the second; with `F` without zeros at the end, and then without the point before them.
fn fraction(out: &mut String, time: TimeOfDay, letter: char, run: usize) -> Option<()> {
    let digits = format!("{:07}", time.fraction());
    let digits = digits.get(..run)?;
    if letter == 'f' {
        out.push_str(digits);
        return Some(());
    }
    let digits = digits.trim_end_matches('0');
    if digits.is_empty() && out.ends_with('.') {
        out.pop();
    }
    out.push_str(digits);
    Some(())
}

fn offset(out: &mut String, minutes: i16, run: usize) {
    let sign = if minutes < 0 { '-' } else { '+' };
    let minutes = minutes.unsigned_abs();
    let (hours, minutes) = (minutes / 60, minutes % 60);
    out.push_str(&match run {
        1 => format!("{sign}{hours}"),
        2 => format!("{sign}{hours:02}"),
        _ => format!("{sign}{hours:02}:{minutes:02}"),
    });
}

/// A name, or its first three letters.
fn name(names: &[&'static str], at: u32, run: usize) -> &'static str {
    let name = usize::try_from(at)
        .ok()
        .and_then(|at| names.get(at))
        .copied()
        .unwrap_or_default();
    match run {
        3 => name.get(..3).unwrap_or(name),
        _ => name,
    }
}

/// A time of day as a TimeSpan: `c`, `g`, `G`, or a custom pattern whose separators are escaped; `None` for any other.
pub(crate) fn format_time(time: TimeOfDay, pattern: &str) -> Option<String> {
    let fraction = format!("{:07}", time.fraction());
    let clock = format!("{:02}:{:02}:{:02}", time.hour(), time.minute(), time.second());
    match pattern {
        "" | "c" | "t" | "T" if time.fraction() == 0 => return Some(clock),
        "" | "c" | "t" | "T" => return Some(format!("{clock}.{fraction}")),
        "g" => {
            let clock = format!("{}:{:02}:{:02}", time.hour(), time.minute(), time.second());
            let digits = fraction.trim_end_matches('0');
            let point = if digits.is_empty() { "" } else { "." };
            return Some(format!("{clock}{point}{digits}"));
        }
        "G" => return Some(format!("0:{clock}.{fraction}")),
        _ => {}
    }
    let mut out = String::new();
    let characters: Vec<char> = pattern.chars().collect();
    let mut at = 0;
    while let Some(letter) = characters.get(at).copied() {
        let run = characters.iter().skip(at).take_while(|other| **other == letter).count();
        let number = |number: u32| format!("{number:0run$}");
        match letter {
            '\'' | '"' => {
                let quoted = characters.get(at + 1..)?;
                let size = quoted.iter().position(|other| *other == letter)?;
                out.extend(quoted.get(..size)?);
                at += size + 2;
                continue;
            }
            '\\' => {
                out.push(*characters.get(at + 1)?);
                at += 2;
                continue;
            }
            'd' if run <= 8 => out.push_str(&number(0)),
            'h' if run <= 2 => out.push_str(&number(time.hour())),
            'm' if run <= 2 => out.push_str(&number(time.minute())),
            's' if run <= 2 => out.push_str(&number(time.second())),
            'f' => out.push_str(fraction.get(..run)?),
            'F' => out.push_str(fraction.get(..run)?.trim_end_matches('0')),
            _ => return None,
        }
        at += run;
    }
    Some(out)
}

pub(super) const WEEKDAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];

pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

#[cfg(test)]
mod tests {
    use selenite_types::Date;

    use super::*;

    #[test]
    fn moments_have_the_patterns_of_the_documentation() {
        let moment = DateTime2 {
            date: Date::from_civil(2009, 6, 15).unwrap(),
            time: TimeOfDay::from_clock(13, 45, 30, 6_170_000).unwrap(),
        };
        for (pattern, text) in [
            ("d", "6/15/2009"),
            ("D", "Monday, June 15, 2009"),
            ("f", "Monday, June 15, 2009 1:45 PM"),
            ("F", "Monday, June 15, 2009 1:45:30 PM"),
            ("g", "6/15/2009 1:45 PM"),
            ("G", "6/15/2009 1:45:30 PM"),
            ("M", "June 15"),
            ("O", "2009-06-15T13:45:30.6170000"),
            ("R", "Mon, 15 Jun 2009 13:45:30 GMT"),
            ("s", "2009-06-15T13:45:30"),
            ("t", "1:45 PM"),
            ("T", "1:45:30 PM"),
            ("u", "2009-06-15 13:45:30Z"),
            ("Y", "June 2009"),
            ("yyyy-MM-dd", "2009-06-15"),
            ("dd/MM/yyyy HH:mm:ss.fff", "15/06/2009 13:45:30.617"),
            ("ddd d MMM yy h:m:s tt", "Mon 15 Jun 09 1:45:30 PM"),
            ("%h", "1"),
            ("hh 'o''clock'", "01 oclock"),
            ("ss.FFFFFFF", "30.617"),
            ("yyyyy y", "02009 9"),
            ("H\\h", "13h"),
        ] {
            assert_eq!(
                format_moment(moment, None, pattern, Culture::English).as_deref(),
                Some(text),
                "{pattern}"
            );
        }
        assert_eq!(
            format_moment(moment, Some(-420), "zzz z", Culture::English).as_deref(),
            Some("-07:00 -7")
        );
        assert_eq!(format_moment(moment, None, "q", Culture::English), None);
        assert_eq!(
            format_moment(moment, None, "d", Culture::Invariant).as_deref(),
            Some("06/15/2009")
        );
    }

    #[test]
    fn times_need_escaped_separators() {
        let time = TimeOfDay::from_clock(7, 35, 0, 0).unwrap();
        assert_eq!(format_time(time, "hh\\.mm").as_deref(), Some("07.35"));
        assert_eq!(format_time(time, "hh\\:mm").as_deref(), Some("07:35"));
        assert_eq!(format_time(time, "hh:mm"), None);
        assert_eq!(format_time(time, "hh.mm"), None);
        assert_eq!(format_time(time, "c").as_deref(), Some("07:35:00"));
    }
}
