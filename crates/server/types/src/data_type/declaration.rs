//! Parses a declared type: a name with arguments.

use crate::{DataType, DeclarationError, Width};

/// An argument of a declared type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Argument {
    /// An unsigned number.
    Number(u64),
    /// `max`.
    Max,
}

/// The place of a declaration, which determines defaults and messages.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Site<'a> {
    /// The kind of declaration.
    pub place: DeclarationContext<'a>,
    /// The line of the batch, from 1, which messages 1001 and 1002 contain.
    pub line: u32,
}

/// The kind of declaration.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DeclarationContext<'a> {
    /// A column of a table.
    Column {
        /// The column's number in the statement, from 1.
        number: u32,
        /// The column's name.
        name: &'a str,
    },
    /// A variable, or a procedure's parameter.
    Variable {
        /// The variable's number in the statement, from 1.
        number: u32,
        /// The variable's name with the `@`.
        name: &'a str,
    },
    /// CAST, CONVERT and their TRY_ forms, where text without a length has 30 characters.
    Cast,
}

impl DataType {
    /// The type that `name` and `arguments` declare at `site`.
    ///
    /// `name` has no schema or brackets; its words are separated by one space (`double precision`); its case is
    /// ignored. Omitted arguments have SQL Server's defaults: length 1, or 30 in a CAST; `decimal(18,0)`; `float(53)`;
    /// 7 fractional second digits.
    ///
    /// Errors: an invalid name or argument, as SQL Server reports it.
    pub fn from_name(name: &str, arguments: &[Argument], site: &Site<'_>) -> Result<Self, DeclarationError> {
        // Trailing blanks of a name do not count.
        let name_lower = name.trim_end_matches(' ').to_ascii_lowercase();
        let Some(word) = Word::find(&name_lower) else {
            return Err(site.unknown(name, &name_lower));
        };
        if matches!(arguments, [Argument::Number(0), ..]) && !matches!(word, Word::Scaled(..)) {
            return Err(DeclarationError::LengthInvalid {
                line: site.line,
                given: 0,
            });
        }
        match word {
            Word::Plain(data_type) => match arguments {
                [] => Ok(data_type),
                [_, ..] => Err(site.width_not_allowed(data_type.keyword())),
            },
            Word::Named(data_type, keyword) => match arguments {
                [] => Ok(data_type),
                [_, ..] => Err(site.width_not_allowed(keyword)),
            },
            Word::Sized(kind) => site.sized(kind, arguments),
            Word::Exact(make, keyword) => site.exact(make, keyword, arguments),
            Word::Float => site.float(arguments),
            Word::Scaled(make, keyword) => site.scaled(make, keyword, arguments),
        }
    }
}

/// A type name and the arguments that it accepts.
#[derive(Clone, Copy)]
enum Word {
    /// No arguments.
    Plain(DataType),
    /// No arguments, and another name in messages.
    Named(DataType, &'static str),
    /// A length.
    Sized(SizedKind),
    /// Precision and scale.
    Exact(fn(u8, u8) -> DataType, &'static str),
    /// The number of mantissa bits.
    Float,
    /// The number of fractional second digits.
    Scaled(fn(u8) -> DataType, &'static str),
}

/// A text or binary type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SizedKind {
    Char,
    VarChar,
    NChar,
    NVarChar,
    Binary,
    VarBinary,
}

impl Word {
    /// The entry for a lower-case name.
    fn find(name: &str) -> Option<Self> {
        let word = match name {
            "bit" => Self::Plain(DataType::Bit),
            "tinyint" => Self::Plain(DataType::TinyInt),
            "smallint" => Self::Plain(DataType::SmallInt),
            "int" | "integer" => Self::Plain(DataType::Int),
            "bigint" => Self::Plain(DataType::BigInt),
            "decimal" | "dec" => Self::Exact(|precision, scale| DataType::Decimal { precision, scale }, "decimal"),
            "numeric" => Self::Exact(|precision, scale| DataType::Numeric { precision, scale }, "numeric"),
            "smallmoney" => Self::Plain(DataType::SmallMoney),
            "money" => Self::Plain(DataType::Money),
            "real" => Self::Plain(DataType::Real),
            "float" => Self::Float,
            "double precision" => Self::Plain(DataType::Float),
            "char" | "character" => Self::Sized(SizedKind::Char),
            "varchar" | "char varying" | "character varying" => Self::Sized(SizedKind::VarChar),
            "nchar" | "national char" | "national character" => Self::Sized(SizedKind::NChar),
            "nvarchar" | "national char varying" | "national character varying" => Self::Sized(SizedKind::NVarChar),
            "binary" => Self::Sized(SizedKind::Binary),
            "varbinary" | "binary varying" => Self::Sized(SizedKind::VarBinary),
            "text" => Self::Named(DataType::VarChar(Width::Max), "text"),
            "ntext" | "national text" => Self::Named(DataType::NVarChar(Width::Max), "ntext"),
            "image" => Self::Named(DataType::VarBinary(Width::Max), "image"),
            "sysname" => Self::Named(DataType::NVarChar(Width::Limited(SYSNAME_LENGTH)), "sysname"),
            "date" => Self::Plain(DataType::Date),
            "time" => Self::Scaled(DataType::Time, "time"),
            "smalldatetime" => Self::Plain(DataType::SmallDateTime),
            "datetime" => Self::Plain(DataType::DateTime),
            "datetime2" => Self::Scaled(DataType::DateTime2, "datetime2"),
            "datetimeoffset" => Self::Scaled(DataType::DateTimeOffset, "datetimeoffset"),
            "uniqueidentifier" => Self::Plain(DataType::UniqueIdentifier),
            "timestamp" | "rowversion" => Self::Plain(DataType::RowVersion),
            "sql_variant" => Self::Plain(DataType::SqlVariant),
            "xml" => Self::Plain(DataType::Xml),
            _ => return None,
        };
        Some(word)
    }
}

impl SizedKind {
    fn keyword(self) -> &'static str {
        match self {
            Self::Char => "char",
            Self::VarChar => "varchar",
            Self::NChar => "nchar",
            Self::NVarChar => "nvarchar",
            Self::Binary => "binary",
            Self::VarBinary => "varbinary",
        }
    }

    fn length_max(self) -> u16 {
        match self {
            Self::NChar | Self::NVarChar => NATIONAL_LENGTH_MAX,
            Self::Char | Self::VarChar | Self::Binary | Self::VarBinary => LENGTH_MAX,
        }
    }

    fn of_length(self, length: u16) -> DataType {
        match self {
            Self::Char => DataType::Char(length),
            Self::VarChar => DataType::VarChar(Width::Limited(length)),
            Self::NChar => DataType::NChar(length),
            Self::NVarChar => DataType::NVarChar(Width::Limited(length)),
            Self::Binary => DataType::Binary(length),
            Self::VarBinary => DataType::VarBinary(Width::Limited(length)),
        }
    }

    /// The type with `(max)`; `None` for char, nchar and binary.
    fn of_max(self) -> Option<DataType> {
        match self {
            Self::VarChar => Some(DataType::VarChar(Width::Max)),
            Self::NVarChar => Some(DataType::NVarChar(Width::Max)),
            Self::VarBinary => Some(DataType::VarBinary(Width::Max)),
            Self::Char | Self::NChar | Self::Binary => None,
        }
    }
}

impl Site<'_> {
    /// A text or binary type.
    fn sized(&self, kind: SizedKind, arguments: &[Argument]) -> Result<DataType, DeclarationError> {
        match *arguments {
            [] => Ok(kind.of_length(match self.place {
                DeclarationContext::Cast => CAST_LENGTH,
                DeclarationContext::Column { .. } | DeclarationContext::Variable { .. } => 1,
            })),
            [Argument::Max] => kind.of_max().ok_or(DeclarationError::MaxNotAllowed),
            [Argument::Number(size)] => match u16::try_from(size) {
                Ok(length) if length <= kind.length_max() => Ok(kind.of_length(length)),
                Ok(length) if length <= LENGTH_MAX => Err(self.national_too_wide(kind, size)),
                Ok(_) | Err(_) => Err(self.too_wide(kind, size)),
            },
            [_, _, ..] => Err(self.width_not_allowed(kind.keyword())),
        }
    }

    /// decimal and numeric.
    fn exact(
        &self,
        make: fn(u8, u8) -> DataType,
        keyword: &'static str,
        arguments: &[Argument],
    ) -> Result<DataType, DeclarationError> {
        let (precision, scale) = match *arguments {
            [] => return Ok(make(18, 0)),
            [Argument::Number(precision)] => (precision, None),
            [Argument::Number(precision), Argument::Number(scale)] => (precision, Some(scale)),
            [Argument::Max, ..] | [_, Argument::Max, ..] => return Err(DeclarationError::MaxNotAllowed),
            [_, _, ..] => return Err(self.width_not_allowed(keyword)),
        };
        let small = match (u8::try_from(precision), self.place, scale) {
            (Ok(small), ..) if small <= PRECISION_MAX => small,
            // Observed in SQL Server: in CAST a precision alone is reduced to the maximum without an error.
            (_, DeclarationContext::Cast, None) => PRECISION_MAX,
            (_, DeclarationContext::Cast | DeclarationContext::Variable { .. }, Some(_)) => {
                return Err(DeclarationError::PrecisionTooWide {
                    name: keyword,
                    precision,
                });
            }
            (_, DeclarationContext::Column { number, .. } | DeclarationContext::Variable { number, .. }, _) => {
                return Err(DeclarationError::PrecisionTooHigh {
                    number,
                    precision,
                    precision_max: PRECISION_MAX,
                });
            }
        };
        let scale = scale.unwrap_or(0);
        match (u8::try_from(scale), self.place) {
            (Ok(scale), _) if scale <= small => Ok(make(small, scale)),
            (_, DeclarationContext::Column { name, .. }) => Err(DeclarationError::ColumnScale {
                column: name.into(),
                scale,
                scale_max: small,
            }),
            (_, DeclarationContext::Variable { .. } | DeclarationContext::Cast) => {
                Err(DeclarationError::ScaleAbovePrecision)
            }
        }
    }

    /// float, which is real with up to 24 bits.
    fn float(&self, arguments: &[Argument]) -> Result<DataType, DeclarationError> {
        let (bits, extra) = match *arguments {
            [] => return Ok(DataType::Float),
            [Argument::Number(bits), ref extra @ ..] => (bits, extra),
            [Argument::Max, ..] => return Err(DeclarationError::MaxNotAllowed),
        };
        let data_type = match (bits, self.place) {
            (0..=24, _) => DataType::Real,
            (25..=53, _) | (_, DeclarationContext::Cast) => DataType::Float,
            (_, DeclarationContext::Column { number, .. } | DeclarationContext::Variable { number, .. }) => {
                return Err(DeclarationError::PrecisionTooHigh {
                    number,
                    precision: bits,
                    precision_max: 53,
                });
            }
        };
        if extra.is_empty() {
            Ok(data_type)
        } else {
            Err(self.width_not_allowed(data_type.keyword()))
        }
    }

    /// time, datetime2 and datetimeoffset.
    fn scaled(
        &self,
        make: fn(u8) -> DataType,
        keyword: &'static str,
        arguments: &[Argument],
    ) -> Result<DataType, DeclarationError> {
        match *arguments {
            [] => Ok(make(SCALE_MAX)),
            [Argument::Number(given)] => match u8::try_from(given) {
                Ok(scale) if scale <= SCALE_MAX => Ok(make(scale)),
                Ok(_) | Err(_) => Err(DeclarationError::ScaleInvalid { line: self.line, given }),
            },
            [Argument::Max, ..] => Err(DeclarationError::MaxNotAllowed),
            [_, _, ..] => Err(self.width_not_allowed(keyword)),
        }
    }

    fn width_not_allowed(&self, name: &'static str) -> DeclarationError {
        match self.place {
            DeclarationContext::Column { number, .. } | DeclarationContext::Variable { number, .. } => {
                DeclarationError::WidthNotAllowed { number, name }
            }
            DeclarationContext::Cast => DeclarationError::CastWidthNotAllowed { name },
        }
    }

    /// The error for a length above the maximum of every type.
    fn too_wide(&self, kind: SizedKind, size: u64) -> DeclarationError {
        match self.place {
            DeclarationContext::Column { name, .. } => DeclarationError::ColumnTooWide {
                column: name.into(),
                size,
            },
            DeclarationContext::Variable { .. } | DeclarationContext::Cast => DeclarationError::TypeTooWide {
                name: kind.keyword(),
                size,
            },
        }
    }

    /// The error for a length above the maximum of nchar and nvarchar, but not of the other types.
    fn national_too_wide(&self, kind: SizedKind, size: u64) -> DeclarationError {
        match self.place {
            DeclarationContext::Column { name, .. } | DeclarationContext::Variable { name, .. } => {
                DeclarationError::ParameterTooWide {
                    parameter: name.into(),
                    size,
                }
            }
            DeclarationContext::Cast => DeclarationError::CastTooWide {
                name: kind.keyword(),
                size,
            },
        }
    }

    /// The error for an unsupported type of SQL Server, or an unknown name.
    fn unknown(&self, name: &str, name_lower: &str) -> DeclarationError {
        if let Some(name) = UNSUPPORTED
            .iter()
            .copied()
            .find(|unsupported| *unsupported == name_lower)
        {
            return DeclarationError::Unsupported { name };
        }
        match self.place {
            DeclarationContext::Column { number, .. } | DeclarationContext::Variable { number, .. } => {
                DeclarationError::UnknownType {
                    number,
                    name: name.into(),
                }
            }
            DeclarationContext::Cast => DeclarationError::UnknownCastType { name: name.into() },
        }
    }
}

/// Types of SQL Server that are not supported.
const UNSUPPORTED: &[&str] = &[
    "cursor",
    "geography",
    "geometry",
    "hierarchyid",
    "json",
    "table",
    "vector",
];

/// The maximum length of char, varchar, binary and varbinary, which fits a page in SQL Server.
pub(crate) const LENGTH_MAX: u16 = 8000;

/// The maximum length of nchar and nvarchar, in two-byte units.
pub(crate) const NATIONAL_LENGTH_MAX: u16 = 4000;

/// The maximum precision of decimal and numeric, which fits 16 bytes.
pub(crate) const PRECISION_MAX: u8 = 38;

/// The maximum number of fractional second digits: 100 ns.
pub(crate) const SCALE_MAX: u8 = 7;

/// The length of `varchar` without an argument in CAST.
const CAST_LENGTH: u16 = 30;

/// The length of a SQL Server identifier (sysname).
const SYSNAME_LENGTH: u16 = 128;

#[cfg(test)]
mod tests;
