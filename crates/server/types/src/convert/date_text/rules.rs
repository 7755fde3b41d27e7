//! The parsing rules that follow from DATEFORMAT and CONVERT's style.

use crate::convert::DateFormat;

/// The parsing rules of a date or time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rules {
    /// Whether the target is datetime or smalldatetime.
    pub is_old: bool,
    /// The rule for three numbers.
    pub numeric: NumericRule,
    /// Whether dates without separators, dates with a month name, and times alone are allowed.
    pub shared_forms: bool,
    /// Whether a T between date and time is allowed.
    pub iso_t: bool,
    /// Whether a Z is allowed after a date and time with T, or after `yyyy-mm-dd`.
    pub iso_z: bool,
    /// Whether blanks between date and time are allowed.
    pub spaced_clock: bool,
}

/// The rule for a date of three numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NumericRule {
    /// By SET DATEFORMAT.
    Session(DateFormat),
    /// By the style's order, with a year of 2 or 4 digits.
    Style {
        /// mdy, dmy or ymd.
        order: DateFormat,
        /// 2 or 4.
        year_digits: usize,
    },
    /// Only as `yyyy-mm-dd`.
    Iso,
    /// Not allowed.
    None,
}

/// Why a style does not apply to text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StyleFault {
    /// The style does not exist.
    NoStyle,
    /// The style uses the Hijri calendar.
    Hijri,
}

impl Rules {
    /// The rules of a style, or of CAST if there is no style.
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

/// The rule of datetime and smalldatetime for a style; 20, 102, 111, 120 and 121 begin with a four-digit year.
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

/// The rule of the newer types for a style: only the style's own form.
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
