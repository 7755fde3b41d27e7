//! Errors of values, found while a statement runs.

use selenite_types::{ConversionError, ConversionFault, DateError, OperationError};

use super::{Ends, SqlError};

impl SqlError {
    /// 537: SUBSTRING or LEFT with a negative length.
    #[must_use]
    pub fn invalid_length() -> Self {
        let text = "Invalid length parameter passed to the LEFT or SUBSTRING function.";
        Self::new(537, Ends::Statement, text).with_state(2)
    }

    /// 536: RIGHT and other functions with a negative length.
    #[must_use]
    pub fn invalid_length_of(function: &str) -> Self {
        let text = format!("Invalid length parameter passed to the {function} function.");
        Self::new(536, Ends::Statement, text).with_state(4)
    }

    /// 3623: SQRT of a negative number, LOG of a number that is not positive.
    #[must_use]
    pub fn invalid_floating_point() -> Self {
        Self::new(3623, Ends::Statement, "An invalid floating point operation occurred.")
    }

    /// 8115: a result that overflows its type.
    #[must_use]
    pub fn overflow(type_name: &str) -> Self {
        let text = format!("Arithmetic overflow error converting expression to data type {type_name}.");
        Self::new(8115, Ends::Statement, text).with_state(2)
    }

    /// 232: a float out of the range of a type.
    #[must_use]
    pub fn float_overflow(type_name: &str, value: f64) -> Self {
        let text = format!("Arithmetic overflow error for type {type_name}, value = {value:.6}.");
        Self::new(232, Ends::Statement, text).with_state(3)
    }

    /// 8134: a division by zero.
    #[must_use]
    pub fn divide_by_zero() -> Self {
        Self::new(8134, Ends::Statement, "Divide by zero error encountered.")
    }

    /// 9829: STRING_AGG of more than 8,000 bytes without a value of a `max` type.
    #[must_use]
    pub fn string_agg_too_large() -> Self {
        let text =
            "STRING_AGG aggregation result exceeded the limit of 8000 bytes. Use LOB types to avoid result truncation.";
        Self::new(9829, Ends::Statement, text)
    }

    /// 13611: an unknown type of STRING_ESCAPE.
    #[must_use]
    pub fn invalid_escape_type(kind: &str) -> Self {
        let text = format!("An invalid value for parameter 'type' was specified: '{kind}'.");
        Self::new(13611, Ends::Statement, text)
    }

    /// 506: an escape that is not one character.
    #[must_use]
    pub fn invalid_escape(escape: &str) -> Self {
        let text = format!("The invalid escape character \"{escape}\" was specified in a LIKE predicate.");
        Self::new(506, Ends::Statement, text)
    }

    /// 8152: the result of a function that encrypts has more than 8000 bytes.
    pub fn encrypted_value_too_large() -> Self {
        Self::new(8152, Ends::Statement, "String or binary data would be truncated.")
    }

    /// 7119: text or bytes of a `max` type that exceed the maximum size.
    #[must_use]
    pub fn text_too_large(size_max: usize) -> Self {
        let text = format!("Attempting to grow LOB beyond maximum allowed size of {size_max} bytes.");
        Self::new(7119, Ends::Statement, text)
    }

    /// 9819: PARSE of a text that is not a value of the type.
    #[must_use]
    pub fn not_parsed(text: &str, type_name: &str, culture: &str) -> Self {
        let text =
            format!("Error converting string value '{text}' into data type {type_name} using culture '{culture}'.");
        Self::new(9819, Ends::Statement, text)
    }

    /// 9820: AT TIME ZONE with an unknown time zone.
    #[must_use]
    pub fn unknown_time_zone(name: &str) -> Self {
        let text = format!("The time zone parameter '{name}' provided to AT TIME ZONE clause is invalid.");
        Self::new(9820, Ends::Statement, text)
    }

    /// 9828: TRANSLATE with sets of different sizes.
    #[must_use]
    pub fn translate_sets() -> Self {
        let text = "The second and third arguments of the TRANSLATE built-in function must contain an equal number of \
                    characters.";
        Self::new(9828, Ends::Statement, text)
    }
}

impl From<OperationError> for SqlError {
    /// Errors of types end the batch, errors of values the statement.
    fn from(error: OperationError) -> Self {
        let ends = match error {
            OperationError::Overflow { .. } | OperationError::DivideByZero => Ends::Statement,
            OperationError::Clash { .. }
            | OperationError::Incompatible { .. }
            | OperationError::Operand { .. }
            | OperationError::NotPromoted { .. }
            | _ => Ends::Batch,
        };
        Self::new(i32::from(error.number()), ends, error.to_string())
            .with_severity(error.severity())
            .with_state(error.state())
    }
}

impl From<ConversionError> for SqlError {
    /// Types without a conversion end the batch. Text that is not a value of the new type also ends the batch, and
    /// rolls the transaction back; a number out of range ends only the statement.
    fn from(error: ConversionError) -> Self {
        let ends = match error.fault {
            ConversionFault::Clash
            | ConversionFault::NotImplicit
            | ConversionFault::Never
            | ConversionFault::Unsupported => Ends::Batch,
            ConversionFault::Syntax
            | ConversionFault::DateSyntax
            | ConversionFault::DateRange
            | ConversionFault::MoneySyntax
            | ConversionFault::IntDigits
            | ConversionFault::NarrowDigits
            | ConversionFault::Unreadable
            | ConversionFault::GuidSyntax
            | ConversionFault::BinaryDateTime
            | ConversionFault::OtherStyle
            | ConversionFault::Xml(_) => Ends::Transaction,
            ConversionFault::IntegerRange
            | ConversionFault::FloatRange
            | ConversionFault::MoneyRange
            | ConversionFault::MoneyText
            | ConversionFault::Style
            | ConversionFault::Overflow
            | ConversionFault::ExpressionOverflow
            | ConversionFault::Truncated
            | ConversionFault::GuidText
            | ConversionFault::NoStyle
            | _ => Ends::Statement,
        };
        Self::new(i32::from(error.number()), ends, error.to_string())
            .with_severity(error.severity())
            .with_state(error.state())
    }
}

impl From<DateError> for SqlError {
    /// An unsupported part or type ends the batch; a date out of range ends only the statement.
    fn from(error: DateError) -> Self {
        let ends = match error {
            DateError::Argument { .. }
            | DateError::NoPart { .. }
            | DateError::NoPartOfType { .. }
            | DateError::Scale { .. } => Ends::Batch,
            DateError::Parts { .. }
            | DateError::AddOverflow { .. }
            | DateError::DiffOverflow { .. }
            | DateError::Offset { .. }
            | DateError::OffsetOverflow { .. }
            | _ => Ends::Statement,
        };
        Self::new(i32::from(error.number()), ends, error.to_string())
            .with_severity(error.severity())
            .with_state(error.state())
    }
}
