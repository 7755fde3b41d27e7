//! What DATEFORMAT and CONVERT's style say of text that is to be a date.

use crate::convert::DateFormat;

/// How text is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rules {
    /// For datetime or smalldatetime.
    pub is_old: bool,
    /// How three numbers are read.
    pub numeric: NumericRule,
    /// Whether dates without separators, with a month's name, and times alone are read.
    pub shared_forms: bool,
    /// Whether a T is allowed between date and time.
    pub iso_t: bool,
    /// Whether a Z is allowed at the end of what has a T, or of `yyyy-mm-dd`.
    pub iso_z: bool,
    /// Whether blanks are allowed between date and time.
    pub spaced_clock: bool,
}

/// How three numbers are read as a date.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NumericRule {
    /// As SET DATEFORMAT says.
    Session(DateFormat),
    /// In the style's order, the year of 2 or 4 digits.
    Style {
        /// mdy, dmy or ymd.
        order: DateFormat,
        /// 2 or 4.
        year_digits: usize,
    },
    /// As `yyyy-mm-dd` alone.
    Iso,
    /// Not at all.
    None,
}

/// Why a style reads nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StyleFault {
    /// There is no such style.
    NoStyle,
    /// The style is of the Hijri calendar.
    Hijri,
}

impl Rules {
    /// The rules of a style, or of CAST without one.
    pub fn of(style: Option<i32>, format: DateFormat, is_old: bool) -> Result<Self, StyleFault> {
        let style = style.unwrap_or(0);
        let numeric = if is_old {
            old_numeric(style, format)
        } else {
            new_numeric(style, format)
        };
        let numeric = numeric.ok_or(if matches!(style, 130 | 131) {
            StyleFault::Hijri
        } else {
            StyleFault::NoStyle
        })?;
        let iso_style = matches!(style, 126 | 127);
        Ok(Self {
            is_old,
            numeric,
            shared_forms: !(is_old && style == 127),
            iso_t: !is_old || style == 0 || iso_style,
            iso_z: !is_old || matches!(style, 0 | 127),
            spaced_clock: !(is_old && iso_style),
        })
    }
}

/// What datetime and smalldatetime read in a style: 20, 102, 111, 120 and 121 put the year first by their four digits.
fn old_numeric(style: i32, format: DateFormat) -> Option<NumericRule> {
    Some(match style {
        0 => NumericRule::Session(format),
        1 | 10 => of_style(DateFormat::Mdy, 2),
        20 | 21 | 101 | 102 | 110 | 111 | 120 | 121 => of_style(DateFormat::Mdy, 4),
        3..=5 => of_style(DateFormat::Dmy, 2),
        103..=105 => of_style(DateFormat::Dmy, 4),
        2 | 11 => of_style(DateFormat::Ymd, 2),
        126 | 127 => NumericRule::Iso,
        6..=9 | 12..=14 | 22..=25 | 100 | 106..=109 | 112..=114 => NumericRule::None,
        _ => return None,
    })
}

/// What the newer types read in a style: its own form alone.
fn new_numeric(style: i32, format: DateFormat) -> Option<NumericRule> {
    Some(match style {
        0 => NumericRule::Session(format),
        1 | 10 | 22 => of_style(DateFormat::Mdy, 2),
        101 | 110 => of_style(DateFormat::Mdy, 4),
        3..=5 => of_style(DateFormat::Dmy, 2),
        103..=105 => of_style(DateFormat::Dmy, 4),
        2 | 11 => of_style(DateFormat::Ymd, 2),
        20 | 21 | 23 | 25 | 102 | 111 | 120 | 121 | 126 | 127 => of_style(DateFormat::Ymd, 4),
        6..=9 | 12..=14 | 24 | 100 | 106..=109 | 112..=114 => NumericRule::None,
        _ => return None,
    })
}

fn of_style(order: DateFormat, year_digits: usize) -> NumericRule {
    NumericRule::Style { order, year_digits }
}
