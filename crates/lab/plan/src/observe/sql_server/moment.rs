//! Moments, as seconds on one scale: those of performance counters and of SQL Server's views.

/// `MM/DD/YYYY hh:mm:ss.mmm`, as counters have it.
pub(super) fn of_counters(text: &str) -> Option<f64> {
    let (date, time) = text.split_once(' ')?;
    let [month, day, year] = three(date, '/')?;
    seconds([year, month, day], three(time, ':')?)
}

/// `YYYY-MM-DDThh:mm:ss.mmm`, as style 126 of CONVERT writes it.
pub(super) fn of_view(text: &str) -> Option<f64> {
    let (date, time) = text.split_once('T')?;
    seconds(three(date, '-')?, three(time, ':')?)
}

fn seconds([year, month, day]: [f64; 3], [hour, minute, second]: [f64; 3]) -> Option<f64> {
    let is_date = (1.0..=12.0).contains(&month) && (1.0..=31.0).contains(&day);
    if !is_date || hour >= 24.0 || minute >= 60.0 || second >= 61.0 || !(1970.0..=9999.0).contains(&year) {
        return None;
    }
    // With years that begin in March, the leap day is the last day of a year.
    let (year, month) = if month > 2.0 {
        (year, month - 3.0)
    } else {
        (year - 1.0, month + 9.0)
    };
    let leap_days = (year / 4.0).floor() - (year / 100.0).floor() + (year / 400.0).floor();
    let days = year * 365.0 + leap_days + ((153.0 * month + 2.0) / 5.0).floor() + day;
    Some(((days * 24.0 + hour) * 60.0 + minute) * 60.0 + second)
}

fn three(text: &str, separator: char) -> Option<[f64; 3]> {
    let mut parts = text.split(separator).map(|part| {
        let is_plain = part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        if is_plain { part.parse::<f64>().ok() } else { None }
    });
    let numbers = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(numbers)
}
