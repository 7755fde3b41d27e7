//! The parameters of a conversion.

use crate::{
    DataType, Family,
    convert::{ConversionError, ConversionFault, DateFormat},
};

/// The source type, the target type and the settings of a conversion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    /// The value's type.
    pub from: &'a DataType,
    /// The target type.
    pub to: &'a DataType,
    /// CONVERT's third argument, the style.
    pub style: Option<i32>,
    /// SET DATEFORMAT.
    pub format: DateFormat,
}

impl Request<'_> {
    pub fn fail(&self, fault: ConversionFault) -> ConversionError {
        ConversionError::new(fault, self.from, self.to)
    }

    pub fn fail_with(&self, fault: ConversionFault, detail: impl Into<String>) -> ConversionError {
        ConversionError::with(fault, self.from, self.to, detail)
    }

    /// 9809: the style does not exist for these types.
    pub fn no_style(&self) -> ConversionError {
        self.fail_with(ConversionFault::NoStyle, self.style.unwrap_or(0).to_string())
    }

    /// 40510: a style of the Hijri calendar.
    pub fn hijri(&self, style: i32) -> ConversionError {
        self.fail_with(
            ConversionFault::Unsupported,
            format!("CONVERT style {style} (Hijri calendar)"),
        )
    }

    /// The value does not have its declared type, which is a bug in the caller.
    pub fn misfit(&self) -> ConversionError {
        self.fail(ConversionFault::Unreadable)
    }

    /// Whether the source type belongs to a family.
    pub fn is_from(&self, family: Family) -> bool {
        self.from.family() == family
    }

    /// Precision and scale of the target decimal.
    pub fn decimal_digits(&self) -> (u8, u8) {
        self.to.decimal_digits().unwrap_or((38, 0))
    }
}
