//! Dates and times as text, in CONVERT's styles.

use std::fmt::Write;

use crate::{
    DataType, Date, DateTime2, TimeOfDay, Value,
    dates::{MomentType, month_name, offset_name, unit_of_scale},
};

/// Why a date or time has no text in a style.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MomentTextFault {
    /// The style does not exist.
    NoStyle,
    /// The style shows no part of the value.
    NothingShown,
    /// The style uses the Hijri calendar.
    Hijri,
}

/// The style of CAST: 0 for datetime and smalldatetime, 121 for the newer types.
pub(crate) fn default_style(of: &DataType) -> i32 {
    if MomentType::of(of).is_some_and(MomentType::is_old) {
        0
    } else {
        121
    }
}

/// The text of `value`, a date or time of type `of`, in a style.
pub(crate) fn moment_text(value: &Value, of: &DataType, style: i32) -> Result<String, MomentTextFault> {
    let layout = Layout::of_style(style)?;
    let Some(shown) = Shown::of(value, of, style) else {
        return Err(MomentTextFault::NothingShown);
    };
    let (day, clock) = (
        layout.day.filter(|_| shown.has_date),
        layout.clock.filter(|_| shown.has_time),
    );
    if day.is_none() && clock.is_none() {
        // A date in style 14 or 114 has another text than in 8, 24 or 108.
        let odd = shown.has_date && layout.clock == Some(ClockForm::Fraction);
        return Err(if odd {
            MomentTextFault::NoStyle
        } else {
            MomentTextFault::NothingShown
        });
    }
    let mut text = String::with_capacity(34);
    if let Some(day) = day {
        day.write(&mut text, shown.local.date);
    }
    if day.is_some() && clock.is_some() {
        text.push(if layout.is_iso() { 'T' } else { ' ' });
    }
    if let Some(clock) = clock {
        clock.write(&mut text, &shown, layout.day.is_some());
        match shown.offset_minutes {
            Some(_) if style == 127 => text.push('Z'),
            Some(minutes) if layout.is_iso() => text.push_str(&offset_name(minutes)),
            Some(minutes) => {
                text.push(' ');
                text.push_str(&offset_name(minutes));
            }
            None => {}
        }
    }
    Ok(text)
}

/// The displayed parts of a value.
struct Shown {
    local: DateTime2,
    has_date: bool,
    has_time: bool,
    offset_minutes: Option<i16>,
    /// The number of fractional second digits.
    scale: u8,
    /// Whether it is datetime or smalldatetime, whose fraction is preceded by a colon in most styles.
    is_legacy: bool,
}

impl Shown {
    fn of(value: &Value, of: &DataType, style: i32) -> Option<Self> {
        let moment_type = MomentType::of(of)?;
        let (is_legacy, scale) = (moment_type.is_old(), moment_type.scale());
        let shown = Self {
            local: DateTime2::BASE,
            has_date: true,
            has_time: true,
            offset_minutes: None,
            scale,
            is_legacy,
        };
        Some(match value {
            Value::Date(date) => Self {
                local: DateTime2::at_midnight(*date),
                has_time: false,
                ..shown
            },
            Value::Time(time) => Self {
                local: DateTime2 {
                    date: Date::BASE,
                    time: *time,
                },
                has_date: false,
                ..shown
            },
            Value::DateTime(moment) => Self {
                local: *moment,
                ..shown
            },
            Value::DateTimeOffset(moment) => {
                let local = if style == 127 { moment.utc } else { moment.local() };
                Self {
                    local,
                    offset_minutes: Some(moment.offset_minutes),
                    ..shown
                }
            }
            Value::Null
            | Value::Bit(_)
            | Value::TinyInt(_)
            | Value::SmallInt(_)
            | Value::Int(_)
            | Value::BigInt(_)
            | Value::Decimal(_)
            | Value::Money(_)
            | Value::Real(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::Binary(_)
            | Value::Guid(_)
            | Value::SqlVariant(_) => return None,
        })
    }
}

/// The parts and forms of a style.
struct Layout {
    day: Option<DayForm>,
    clock: Option<ClockForm>,
}

impl Layout {
    fn of_style(style: i32) -> Result<Self, MomentTextFault> {
        let century = style >= 100;
        let numeric = |order, separator| {
            Some(DayForm::Numeric {
                order,
                separator,
                century,
            })
        };
        let iso = Some(DayForm::Numeric {
            order: Order::Ymd,
            separator: "-",
            century: true,
        });
        let (day, clock) = match style {
            0 | 100 => (Some(DayForm::MonthFirst), Some(ClockForm::Twelve)),
            1 | 101 => (numeric(Order::Mdy, "/"), None),
            2 | 102 => (numeric(Order::Ymd, "."), None),
            3 | 103 => (numeric(Order::Dmy, "/"), None),
            4 | 104 => (numeric(Order::Dmy, "."), None),
            5 | 105 => (numeric(Order::Dmy, "-"), None),
            6 | 106 => (Some(DayForm::DayFirst { century }), None),
            7 | 107 => (Some(DayForm::Comma { century }), None),
            8 | 24 | 108 => (None, Some(ClockForm::Plain)),
            9 | 109 => (Some(DayForm::MonthFirst), Some(ClockForm::TwelveFraction)),
            10 | 110 => (numeric(Order::Mdy, "-"), None),
            11 | 111 => (numeric(Order::Ymd, "/"), None),
            12 | 112 => (numeric(Order::Ymd, ""), None),
            13 | 113 => (Some(DayForm::DayFirst { century: true }), Some(ClockForm::Fraction)),
            14 | 114 => (None, Some(ClockForm::Fraction)),
            20 | 120 => (iso, Some(ClockForm::Plain)),
            21 | 25 | 121 => (iso, Some(ClockForm::PointFraction)),
            22 => (numeric(Order::Mdy, "/"), Some(ClockForm::TwelveSeconds)),
            23 => (iso, None),
            126 | 127 => (iso, Some(ClockForm::Iso)),
            130 | 131 => return Err(MomentTextFault::Hijri),
            _ => return Err(MomentTextFault::NoStyle),
        };
        Ok(Self { day, clock })
    }

    fn is_iso(&self) -> bool {
        self.clock == Some(ClockForm::Iso)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Mdy,
    Dmy,
    Ymd,
}

/// The form of a date in a style.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DayForm {
    /// `Jan  2 2006`.
    MonthFirst,
    /// `02 Jan 2006`.
    DayFirst { century: bool },
    /// `Jan 02, 2006`.
    Comma { century: bool },
    /// `01/02/2006`.
    Numeric {
        order: Order,
        separator: &'static str,
        century: bool,
    },
}

impl DayForm {
    fn write(self, text: &mut String, date: Date) {
        let (year, month, day) = date.civil();
        let name = month_name(month).get(..3).unwrap_or_default();
        let year_of = |century: bool| {
            if century {
                format!("{year:04}")
            } else {
                format!("{:02}", year % 100)
            }
        };
        // Writing to a String never fails.
        let _written = match self {
            Self::MonthFirst => write!(text, "{name} {day:2} {year:04}"),
            Self::DayFirst { century } => write!(text, "{day:02} {name} {}", year_of(century)),
            Self::Comma { century } => write!(text, "{name} {day:02}, {}", year_of(century)),
            Self::Numeric {
                order,
                separator,
                century,
            } => {
                let year = year_of(century);
                match order {
                    Order::Mdy => write!(text, "{month:02}{separator}{day:02}{separator}{year}"),
                    Order::Dmy => write!(text, "{day:02}{separator}{month:02}{separator}{year}"),
                    Order::Ymd => write!(text, "{year}{separator}{month:02}{separator}{day:02}"),
                }
            }
        };
    }
}

/// The form of a time in a style.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ClockForm {
    /// ` 3:04PM`.
    Twelve,
    /// ` 3:04:05:007PM`.
    TwelveFraction,
    /// ` 3:04:05 PM`.
    TwelveSeconds,
    /// `15:04:05`.
    Plain,
    /// `15:04:05:007`, for the newer types `15:04:05.007`.
    Fraction,
    /// `15:04:05.007`.
    PointFraction,
    /// `15:04:05.007`, without the fraction if it is 0.
    Iso,
}

impl ClockForm {
    fn write(self, text: &mut String, shown: &Shown, style_has_day: bool) {
        let time = shown.local.time;
        let (hour, minute, second) = (time.hour(), time.minute(), time.second());
        let half = if hour < 12 { "AM" } else { "PM" };
        let twelve = (hour + 11) % 12 + 1;
        // A time without a date is only padded in style 22.
        let padded = shown.has_date && style_has_day || self == Self::TwelveSeconds;
        let width = if padded { 2 } else { 1 };
        let _written = match self {
            Self::Twelve => write!(text, "{twelve:width$}:{minute:02}{half}"),
            Self::TwelveFraction => {
                let fraction = fraction_text(time, shown, ':');
                write!(text, "{twelve:width$}:{minute:02}:{second:02}{fraction}{half}")
            }
            Self::TwelveSeconds => write!(text, "{twelve:width$}:{minute:02}:{second:02} {half}"),
            Self::Plain => write!(text, "{hour:02}:{minute:02}:{second:02}"),
            Self::Fraction => write!(
                text,
                "{hour:02}:{minute:02}:{second:02}{}",
                fraction_text(time, shown, ':')
            ),
            Self::PointFraction => write!(
                text,
                "{hour:02}:{minute:02}:{second:02}{}",
                fraction_text(time, shown, '.')
            ),
            Self::Iso if time.fraction() == 0 => write!(text, "{hour:02}:{minute:02}:{second:02}"),
            Self::Iso => write!(
                text,
                "{hour:02}:{minute:02}:{second:02}{}",
                fraction_text(time, shown, '.')
            ),
        };
    }
}

/// The separator and the fractional second digits; empty if the type has none.
fn fraction_text(time: TimeOfDay, shown: &Shown, legacy_separator: char) -> String {
    if shown.scale == 0 {
        return String::new();
    }
    let separator = if shown.is_legacy { legacy_separator } else { '.' };
    let digits = u64::from(time.fraction()) / unit_of_scale(shown.scale);
    format!("{separator}{digits:0width$}", width = usize::from(shown.scale))
}

#[cfg(test)]
mod tests;
