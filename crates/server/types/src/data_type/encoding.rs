//! Encodings of text types.

use super::{LENGTH_MAX, NATIONAL_LENGTH_MAX};
use crate::text_length::utf16_of;
use crate::{DataType, Width, encode_code_page, narrow_length, utf16_length, utf16_prefix};

/// The encoding of a text type, which its lengths count; the later one takes precedence in a combination.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Encoding {
    /// Code page 1252: char and varchar.
    CodePage,
    /// UTF-8: char and varchar under a collation of `_UTF8`.
    Utf8,
    /// UTF-16: nchar and nvarchar.
    Utf16,
}

impl Encoding {
    /// varchar or nvarchar of a width, which is limited to the maximum below `max`.
    #[must_use]
    pub fn varying(self, width: Width) -> DataType {
        let width = self.limited(width);
        match self {
            Self::CodePage => DataType::VarChar(width),
            Self::Utf8 => DataType::Utf8VarChar(width),
            Self::Utf16 => DataType::NVarChar(width),
        }
    }

    /// char or nchar of a length, which is limited to the maximum.
    #[must_use]
    pub fn padded(self, length: u16) -> DataType {
        let Width::Limited(length) = self.limited(Width::Limited(length)) else {
            return self.varying(Width::Max);
        };
        match self {
            Self::CodePage => DataType::Char(length),
            Self::Utf8 => DataType::Utf8Char(length),
            Self::Utf16 => DataType::NChar(length),
        }
    }

    fn limited(self, width: Width) -> Width {
        let length_max = match self {
            Self::CodePage | Self::Utf8 => LENGTH_MAX,
            Self::Utf16 => NATIONAL_LENGTH_MAX,
        };
        match width {
            Width::Limited(length) => Width::Limited(length.clamp(1, length_max)),
            Width::Max => Width::Max,
        }
    }

    /// The width that holds in this encoding what another type of text holds in `width`.
    #[must_use]
    pub fn width_of(self, width: Width, from: Self) -> Width {
        match width {
            Width::Limited(length) if self == Self::Utf8 && from != Self::Utf8 => {
                Width::Limited(length.saturating_mul(UNIT_SIZE_MAX).min(LENGTH_MAX))
            }
            Width::Limited(_) | Width::Max => width,
        }
    }
}

impl DataType {
    /// The encoding; that of char for a type other than text.
    #[must_use]
    pub fn encoding(&self) -> Encoding {
        if self.is_national() {
            Encoding::Utf16
        } else if matches!(self, Self::Utf8Char(_) | Self::Utf8VarChar(_)) {
            Encoding::Utf8
        } else {
            Encoding::CodePage
        }
    }

    /// The type under a collation: char and varchar of the same length are in UTF-8 if the collation is.
    #[must_use]
    pub fn under(self, collation: crate::Collation) -> Self {
        if collation.is_utf8() {
            self.in_utf8()
        } else if let Self::Utf8Char(length) = self {
            Self::Char(length)
        } else if let Self::Utf8VarChar(width) = self {
            Self::VarChar(width)
        } else {
            self
        }
    }

    /// char and varchar in UTF-8.
    #[must_use]
    pub fn in_utf8(self) -> Self {
        if let Self::Char(length) = self {
            Self::Utf8Char(length)
        } else if let Self::VarChar(width) = self {
            Self::Utf8VarChar(width)
        } else {
            self
        }
    }

    /// The bytes of a text of this type: SQL Server's storage of it.
    #[must_use]
    pub fn encoded(&self, text: &str) -> Vec<u8> {
        match self.encoding() {
            Encoding::CodePage => encode_code_page(text),
            Encoding::Utf8 => text.as_bytes().to_vec(),
            Encoding::Utf16 => utf16_of(text),
        }
    }

    /// The length of `text` in the type's unit: UTF-16 units for nchar and nvarchar, otherwise bytes.
    #[must_use]
    pub fn text_length(&self, text: &str) -> usize {
        match self.encoding() {
            Encoding::CodePage => narrow_length(text),
            Encoding::Utf8 => text.len(),
            Encoding::Utf16 => utf16_length(text),
        }
    }

    /// The longest prefix of `text` with at most `length` of the type's units, in whole characters.
    #[must_use]
    pub fn text_prefix<'a>(&self, text: &'a str, length: usize) -> &'a str {
        match self.encoding() {
            Encoding::CodePage | Encoding::Utf16 => utf16_prefix(text, length),
            Encoding::Utf8 => {
                let end = (0..=length.min(text.len()))
                    .rev()
                    .find(|end| text.is_char_boundary(*end));
                text.get(..end.unwrap_or(0)).unwrap_or_default()
            }
        }
    }
}

/// A unit of UTF-16, or a character of code page 1252, has at most three bytes in UTF-8.
const UNIT_SIZE_MAX: u16 = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Collation;

    #[test]
    fn a_type_has_the_encoding_of_its_collation() {
        let utf8 = Collation::from_name("Latin1_General_100_CI_AS_SC_UTF8").unwrap();
        let narrow = DataType::VarChar(Width::Limited(9));
        assert_eq!(narrow.under(utf8), DataType::Utf8VarChar(Width::Limited(9)));
        assert_eq!(narrow.under(utf8).under(Collation::DEFAULT), narrow);
        assert_eq!(DataType::NChar(3).under(utf8), DataType::NChar(3));
        assert_eq!(DataType::Char(3).under(utf8).encoding(), Encoding::Utf8);
        assert_eq!(narrow.under(utf8).to_string(), "varchar(9)");
    }

    #[test]
    fn lengths_of_utf_8_are_bytes() {
        let utf8 = DataType::Utf8VarChar(Width::Limited(5));
        assert_eq!(utf8.text_length("\u{e9}\u{1f600}"), 6);
        assert_eq!(utf8.text_prefix("\u{e9}\u{1f600}", 5), "\u{e9}");
        assert_eq!(utf8.text_prefix("\u{e9}\u{1f600}", 6), "\u{e9}\u{1f600}");
        assert_eq!(utf8.text_prefix("ab", 99), "ab");
        assert_eq!(utf8.encoded("\u{e9}"), b"\xc3\xa9");
        assert_eq!(DataType::Char(1).encoded("\u{e9}"), b"\xe9");
        assert_eq!(DataType::NChar(1).encoded("\u{e9}"), b"\xe9\0");
    }

    #[test]
    fn a_combination_holds_the_text_of_both() {
        let utf8 = DataType::Utf8VarChar(Width::Limited(5));
        let united = |other: DataType| utf8.unify(&other).unwrap();
        assert_eq!(united(DataType::Char(4)), DataType::Utf8VarChar(Width::Limited(12)));
        assert_eq!(
            united(DataType::VarChar(Width::Limited(4000))),
            DataType::Utf8VarChar(Width::Limited(8000))
        );
        assert_eq!(united(DataType::NChar(4)), DataType::NVarChar(Width::Limited(5)));
        assert_eq!(united(DataType::VarChar(Width::Max)), DataType::Utf8VarChar(Width::Max));
        assert_eq!(
            DataType::Utf8Char(5).unify(&DataType::Utf8Char(6)).unwrap(),
            DataType::Utf8Char(6)
        );
    }
}
