//! The conversion matrix: which types convert to which.

use crate::{
    Collation, DataType, Family, SqlVariant,
    convert::{ConversionError, ConversionFault},
};

/// The kind of conversion between two types.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Conversion {
    /// Implicit conversion is allowed.
    Implicit,
    /// CAST or CONVERT is required.
    Explicit,
    /// The types never convert.
    Never,
}

/// The kind of conversion from `from` to `to`, by the table in SQL Server's documentation of CAST.
#[must_use]
pub fn conversion(from: &DataType, to: &DataType) -> Conversion {
    let (implicit, explicit, never) = (Conversion::Implicit, Conversion::Explicit, Conversion::Never);
    let special = with_variant(from, to).or_else(|| with_xml(from, to));
    if let Some(conversion) = special.or_else(|| with_row_version(from, to)) {
        return conversion;
    }
    let ([of_numbers, of_text, of_bytes, of_old_dates, of_new_dates, of_guid], of_floats) = match from.family() {
        //                 numbers   text      bytes     old dates new dates guid
        Family::Text => ([implicit, implicit, explicit, implicit, implicit, implicit], implicit),
        Family::Binary => ([implicit, implicit, implicit, implicit, explicit, implicit], never),
        Family::Guid => ([never, implicit, implicit, never, never, implicit], never),
        Family::Variant => ([explicit; 6], explicit),
        Family::Xml => ([never; 6], never),
        Family::Bit | Family::Integer | Family::Decimal | Family::Money | Family::Approximate => {
            ([implicit, implicit, implicit, implicit, never, never], implicit)
        }
        Family::OldDate => ([explicit, implicit, explicit, implicit, implicit, never], explicit),
        Family::NewDate | Family::Time => ([never, implicit, explicit, implicit, implicit, never], never),
    };
    match to.family() {
        Family::Bit | Family::Integer | Family::Decimal | Family::Money => of_numbers,
        Family::Approximate => of_floats,
        Family::Text => of_text,
        Family::Binary => of_bytes,
        Family::OldDate => of_old_dates,
        Family::NewDate | Family::Time if is_date_with_time(from, to) => never,
        Family::NewDate | Family::Time => of_new_dates,
        Family::Guid => of_guid,
        Family::Variant => implicit,
        Family::Xml => never,
    }
}

/// The kind of conversion to a sql_variant, which holds neither a `max` value nor a rowversion, and from one.
fn with_variant(from: &DataType, to: &DataType) -> Option<Conversion> {
    match (from.family(), to.family()) {
        (Family::Variant, Family::Variant) => Some(Conversion::Implicit),
        // Text in UTF-8 converts by its type, and is refused by its collation.
        (_, Family::Variant) if SqlVariant::holds(&from.under(Collation::DEFAULT)) => Some(Conversion::Implicit),
        (_, Family::Variant) => Some(Conversion::Never),
        (Family::Variant, _) if matches!(to, DataType::RowVersion | DataType::Xml) => Some(Conversion::Never),
        (Family::Variant, _) => Some(Conversion::Explicit),
        (_, _) => None,
    }
}

/// The kind of conversion from or to xml: texts and bytes become xml, and are made of it by CAST.
fn with_xml(from: &DataType, to: &DataType) -> Option<Conversion> {
    let converts = |of: &DataType| matches!(of.family(), Family::Text | Family::Binary) && *of != DataType::RowVersion;
    match (from.family(), to.family()) {
        (Family::Xml, Family::Xml) => Some(Conversion::Implicit),
        (_, Family::Xml) if converts(from) => Some(Conversion::Implicit),
        (Family::Xml, _) if converts(to) => Some(Conversion::Explicit),
        (Family::Xml, _) | (_, Family::Xml) => Some(Conversion::Never),
        (_, _) => None,
    }
}

/// The kind of conversion from or to a rowversion, where it is not that of binary.
fn with_row_version(from: &DataType, to: &DataType) -> Option<Conversion> {
    let (is_from, is_to) = (*from == DataType::RowVersion, *to == DataType::RowVersion);
    match (from.family(), to.family()) {
        (_, Family::Text) if is_from && to.is_national() => Some(Conversion::Never),
        (_, Family::NewDate | Family::Time | Family::Guid) if is_from => Some(Conversion::Never),
        (Family::NewDate | Family::Time | Family::Guid | Family::Approximate, _) if is_to => Some(Conversion::Never),
        (_, _) => None,
    }
}

impl Conversion {
    /// Checks that `from` converts implicitly to `to`.
    ///
    /// Errors: 257 if CAST converts, 206 if the types never convert.
    pub fn check_implicit(from: &DataType, to: &DataType) -> Result<(), ConversionError> {
        match conversion(from, to) {
            Self::Implicit => Ok(()),
            Self::Explicit => Err(ConversionError::new(ConversionFault::NotImplicit, from, to)),
            Self::Never => Err(ConversionError::new(ConversionFault::Clash, from, to)),
        }
    }

    /// Checks that CAST converts `from` to `to`. Only the types matter: NULL of other types does not convert either.
    ///
    /// Errors: 529.
    pub fn check_explicit(from: &DataType, to: &DataType) -> Result<(), ConversionError> {
        match conversion(from, to) {
            Self::Implicit | Self::Explicit => Ok(()),
            Self::Never => Err(ConversionError::new(ConversionFault::Never, from, to)),
        }
    }
}

/// Whether one type is date and the other is time.
fn is_date_with_time(from: &DataType, to: &DataType) -> bool {
    let is_time = |of: &DataType| of.family() == Family::Time;
    (*from == DataType::Date && is_time(to)) || (is_time(from) && *to == DataType::Date)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Width;

    const NUMBERS: [DataType; 11] = [
        DataType::Bit,
        DataType::TinyInt,
        DataType::SmallInt,
        DataType::Int,
        DataType::BigInt,
        DataType::Decimal { precision: 9, scale: 2 },
        DataType::Numeric { precision: 9, scale: 2 },
        DataType::SmallMoney,
        DataType::Money,
        DataType::Real,
        DataType::Float,
    ];
    const TEXTS: [DataType; 4] = [
        DataType::Char(9),
        DataType::VarChar(Width::Max),
        DataType::NChar(9),
        DataType::NVarChar(Width::Limited(9)),
    ];
    const BYTES: [DataType; 2] = [DataType::Binary(9), DataType::VarBinary(Width::Max)];
    const OLD_DATES: [DataType; 2] = [DataType::SmallDateTime, DataType::DateTime];
    const NEW_DATES: [DataType; 4] = [
        DataType::Date,
        DataType::Time(7),
        DataType::DateTime2(7),
        DataType::DateTimeOffset(7),
    ];
    const GUID: [DataType; 1] = [DataType::UniqueIdentifier];

    fn all(from: &[DataType], to: &[DataType], expected: Conversion) {
        for from in from {
            for to in to {
                let pair = [*from, *to];
                let apart = pair.contains(&DataType::Date) && pair.contains(&DataType::Time(7));
                let expected = if apart { Conversion::Never } else { expected };
                assert_eq!(conversion(from, to), expected, "{from} to {to}");
            }
        }
    }

    #[test]
    fn every_pair_matches_the_documented_table() {
        let (implicit, explicit, never) = (Conversion::Implicit, Conversion::Explicit, Conversion::Never);
        let rows: [(&[DataType], [Conversion; 6]); 6] = [
            //           numbers   texts     bytes     old dates new dates guid
            (&NUMBERS, [implicit, implicit, implicit, implicit, never, never]),
            (&TEXTS, [implicit, implicit, explicit, implicit, implicit, implicit]),
            (&OLD_DATES, [explicit, implicit, explicit, implicit, implicit, never]),
            (&NEW_DATES, [never, implicit, explicit, implicit, implicit, never]),
            (&GUID, [never, implicit, implicit, never, never, implicit]),
            (&BYTES, [implicit, implicit, implicit, implicit, explicit, implicit]),
        ];
        for (from, [numbers, texts, bytes, old_dates, new_dates, guid]) in rows {
            let exact = if from == BYTES { &NUMBERS[..9] } else { &NUMBERS[..] };
            all(from, exact, numbers);
            all(from, &TEXTS, texts);
            all(from, &BYTES, bytes);
            all(from, &OLD_DATES, old_dates);
            all(from, &NEW_DATES, new_dates);
            all(from, &GUID, guid);
        }
        all(&BYTES, &[DataType::Real, DataType::Float], never);
    }

    #[test]
    fn the_error_depends_on_whether_cast_would_convert() {
        let implicit = |from, to| Conversion::check_implicit(&from, &to).unwrap_err();
        let datetime = implicit(
            DataType::DateTime,
            DataType::Decimal {
                precision: 10,
                scale: 2,
            },
        );
        assert_eq!(
            datetime.to_string(),
            "Implicit conversion from data type datetime to decimal is not allowed. \
             Use the CONVERT function to run this query."
        );
        assert_eq!((datetime.number(), datetime.severity(), datetime.state()), (257, 16, 3));
        let max = implicit(DataType::NVarChar(Width::Max), DataType::VarBinary(Width::Max));
        assert!(
            max.to_string()
                .starts_with("Implicit conversion from data type nvarchar(max) to varbinary(max) ")
        );
        let clash = implicit(DataType::VarBinary(Width::Limited(10)), DataType::Float);
        assert_eq!(
            clash.to_string(),
            "Operand type clash: varbinary is incompatible with float"
        );
        assert_eq!(clash.number(), 206);
        let never = Conversion::check_explicit(&DataType::Int, &DataType::Date).unwrap_err();
        assert_eq!(
            never.to_string(),
            "Explicit conversion from data type int to date is not allowed."
        );
        assert_eq!(never.number(), 529);
        assert!(!never.is_of_value());
        assert_eq!(Conversion::check_explicit(&DataType::DateTime, &DataType::Int), Ok(()));
        assert_eq!(
            Conversion::check_implicit(&DataType::Money, &DataType::VarChar(Width::Limited(9))),
            Ok(())
        );
    }
}
