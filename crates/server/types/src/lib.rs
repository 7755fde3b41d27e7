//! T-SQL's types and values: declaration, arithmetic, conversion, and storage in SQLite.
//!
//! - `type-is-beside-the-value`: a value has no declared type, only a variant; its holder keeps the
//!   [`DataType`] with it.
//! - `no-io-no-clock`: no I/O, no clock: the caller provides the current time.
//! - `computations-are-checked`: every computation is checked: an out-of-range result is an error,
//!   never a wrapped number.
#![forbid(unsafe_code)]

mod data_type;
mod value;
mod variant;
mod xml;

mod arithmetic;
mod code_page;
mod combination;
mod comparison;
mod convert;
mod data_length;
mod dates;
mod decimal;
mod format;
mod like;
pub mod storage;
mod text_length;

pub use data_type::{DataType, Encoding, Width};
pub use value::{Date, DateTime2, DateTimeOffset, Decimal, Guid, SqlVariant, TimeOfDay, Value};

pub use arithmetic::{Comparison, Integer, OperationError, Operator, Signature, UnaryOperator};
pub use code_page::{code_page_byte, code_page_char, decode_code_page, encode_code_page, in_code_page, narrow};
pub use comparison::{compare, decimals_equal, guid_from_ordered, guid_ordered, order};
pub use data_type::{Argument, DeclarationContext, DeclarationError, Family, Site, SystemType};
pub use selenite_collation::{Collation, Order, collate};

pub use like::{LikePattern, STEPS_BETWEEN_POLLS};
pub use text_length::{narrow_length, utf16_length, utf16_prefix};
pub use xml::{
    XmlAttribute, XmlDocument, XmlEdit, XmlError, XmlFault, XmlNode, XmlNodeId, XmlNodeKind, XmlNodeWriter, XmlPlace,
    XmlSource, is_xml_character, is_xml_name, is_xml_name_part, is_xml_name_start, local_name, normalized,
    normalized_bytes, normalized_narrow, normalized_while, push_attribute_value, push_text, referenced_character,
};

pub use convert::{
    Conversion, ConversionError, ConversionFault, DateFormat, conversion, convert, convert_while, is_date,
};
pub use dates::{
    CivilParts, ClockParts, DateError, DateFirst, DatePart, DateTimeMinutes, DateTimeTicks, Moment, date_add,
    date_bucket, date_diff, date_diff_big, date_from_parts, date_name, date_part, date_trunc, datetime_from_parts,
    datetime2_from_parts, datetimeoffset_from_parts, end_of_month, offset_from_minutes, offset_from_text,
    smalldatetime_from_parts, switch_offset, time_from_parts, to_date_time_offset,
};
pub use format::text_of;
