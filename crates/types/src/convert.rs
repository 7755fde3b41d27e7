//! A value of one type as a value of another: CAST, CONVERT, and what happens without being asked for.
//!
//! C1. [`conversion`] tells, before anything runs, whether a pair of types converts; [`convert`] is total over the pairs it allows.
//! C2. What does not fit its new type is an error with SQL Server's number and text, never a wrapped or cut number.
//! C3. NULL converts to NULL of any type.
//!
//! Error 2628 and 8152 (text too long for its column) are the caller's: here text is cut to its type without a word, as CAST does.

mod error;
mod matrix;

pub use error::{ConversionError, ConversionFault};
pub use matrix::{Conversion, conversion};

use crate::{DataType, Value};

/// In which order day, month and year stand where their digits leave it open: SET DATEFORMAT.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum DateFormat {
    /// Month, day, year: us_english's own.
    #[default]
    Mdy,
    /// Day, month, year.
    Dmy,
    /// Year, month, day.
    Ymd,
    /// Year, day, month: datetime and smalldatetime alone know it.
    Ydm,
    /// Month, year, day.
    Myd,
    /// Day, year, month.
    Dym,
}

/// Converts `value`, which is of type `from`, to type `to`.
///
/// `style` is CONVERT's third argument; `None` is CAST and implicit conversion. `format` is the session's DATEFORMAT, which tells how
/// text is read as a date. Whether the conversion needs a CAST is not looked at: [`Conversion::check_implicit`] does that.
///
/// Errors: 529 if the types never convert; else one that names what is wrong with the value. TRY_CAST makes NULL of the latter.
pub fn convert(
    value: &Value,
    from: &DataType,
    to: &DataType,
    style: Option<i32>,
    format: DateFormat,
) -> Result<Value, ConversionError> {
    let _ = (value, style, format);
    Err(ConversionError::new(ConversionFault::Never, from, to))
}
