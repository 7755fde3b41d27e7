//! String functions.
//!
//! - `characters-by-collation`: positions and lengths count UTF-16 code units, or code points if the
//!   collation does (`_SC`, `_UTF8`). A surrogate pair is never split.
//! - `found-by-collation`: searches compare by the collation, character by character.

use selenite_types::{DataType, Width};

use super::typing::{Typing, position_type, same_varying, widest};
use super::{Function, Rule, SYSNAME};

mod compose;
mod format;
mod measure;
mod number_text;
mod piece;
mod replace;
mod search;
mod soundex;

use Rule::{Any, AnyButXml, BigInt, Float, Formatted, Int, National, Text, TextOnly, TextOrBinaryOnly};
pub(crate) use compose::name_parts;
pub(crate) use number_text::fixed;

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("ascii", &[Text], INT, measure::ascii).making_nulls(),
    Function::new("char", &[Int], Typing::Is(DataType::Char(1)), compose::character).making_nulls(),
    Function::new(
        "charindex",
        &[Text, Text, BigInt],
        Typing::By(measure::index_type),
        measure::char_index,
    )
    .optional(1),
    Function::new(
        "concat",
        &[AnyButXml, AnyButXml],
        Typing::By(compose::concat_type),
        compose::concat,
    )
    .repeated(254)
    .never_null(),
    Function::new(
        "concat_ws",
        &[Text, AnyButXml, AnyButXml],
        Typing::By(compose::concat_type),
        compose::concat_with_separator,
    )
    .repeated(254)
    .never_null(),
    Function::new("datalength", &[Any], Typing::By(position_type), measure::data_length),
    Function::new("difference", &[Text, Text], INT, soundex::difference),
    Function::new(
        "format",
        &[Formatted, National, National],
        Typing::Is(DataType::NVarChar(Width::Limited(4000))),
        format::format,
    )
    .optional(1)
    .making_nulls(),
    Function::refused("formatmessage"),
    Function::new("left", &[Text, Int], Typing::By(piece::end_type), piece::left),
    Function::new("len", &[Text], Typing::By(position_type), measure::len),
    Function::new("lower", &[Text], SAME, replace::lower),
    Function::new("ltrim", &[Text, Text], SAME, piece::left_trim).optional(1),
    Function::new(
        "nchar",
        &[Int],
        Typing::Is(DataType::NChar(1)),
        compose::national_character,
    )
    .making_nulls(),
    Function::new("parsename", &[National, Int], Typing::Is(SYSNAME), compose::parse_name).making_nulls(),
    Function::new(
        "patindex",
        &[Text, TextOnly],
        Typing::By(measure::index_type),
        search::pattern_index,
    ),
    Function::new(
        "quotename",
        &[National, National],
        Typing::Is(QUOTED_NAME),
        compose::quote_name,
    )
    .optional(1)
    .making_nulls(),
    Function::new(
        "replace",
        &[Text, Text, Text],
        Typing::By(replace::replaced_type),
        replace::replace,
    ),
    Function::new("replicate", &[Text, BigInt], WIDEST, replace::replicate).making_nulls(),
    Function::new("reverse", &[Text], SAME, replace::reverse),
    Function::new("right", &[Text, Int], Typing::By(piece::end_type), piece::right),
    Function::new("rtrim", &[Text, Text], SAME, piece::right_trim).optional(1),
    Function::new(
        "soundex",
        &[Text],
        Typing::Is(DataType::VarChar(Width::Limited(4))),
        soundex::soundex,
    ),
    Function::new("space", &[Int], Typing::By(replace::space_type), replace::space).making_nulls(),
    Function::new(
        "str",
        &[Float, Int, Int],
        Typing::By(number_text::str_type),
        number_text::str,
    )
    .optional(2)
    .making_nulls(),
    Function::new("string_escape", &[National, National], ESCAPED, compose::string_escape),
    Function::new(
        "stuff",
        &[Text, BigInt, BigInt, Text],
        Typing::By(piece::stuff_type),
        piece::stuff,
    )
    .taking_nulls(),
    Function::new(
        "substring",
        &[TextOrBinaryOnly, BigInt, BigInt],
        Typing::By(piece::substring_type),
        piece::substring,
    ),
    Function::new("translate", &[Text, Text, Text], WIDEST, replace::translate),
    Function::new("trim", &[TextOnly], SAME, piece::trim),
    Function::new("unicode", &[National], INT, measure::unicode).making_nulls(),
    Function::new("upper", &[Text], SAME, replace::upper),
];

const INT: Typing = Typing::Is(DataType::Int);
const SAME: Typing = Typing::By(same_varying);
const WIDEST: Typing = Typing::By(|arguments| widest(arguments.first()));
const ESCAPED: Typing = Typing::Is(DataType::NVarChar(Width::Max));

/// Each character of a name may be doubled, plus the quotes.
const QUOTED_NAME: DataType = DataType::NVarChar(Width::Limited(258));

#[cfg(test)]
mod tests;
