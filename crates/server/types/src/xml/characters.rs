//! The characters of XML 1.0 and of its names.

use super::name_characters::{is_letter, is_mark};

/// Whether a character may occur in XML.
#[must_use]
pub fn is_xml_character(character: char) -> bool {
    match character {
        '\t' | '\n' | '\r' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        _ => character >= ' ',
    }
}

/// Whether a character is white space.
pub(super) fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r')
}

/// Whether a text is a name without a colon.
#[must_use]
pub fn is_xml_name(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(is_xml_name_start) && characters.all(is_xml_name_part)
}

/// Whether a name without a colon may begin with a character.
#[must_use]
pub fn is_xml_name_start(character: char) -> bool {
    match character {
        '_' => true,
        _ if character.is_ascii() => character.is_ascii_alphabetic(),
        _ => is_letter(character),
    }
}

/// Whether a character may be in a name without a colon, behind the first.
#[must_use]
pub fn is_xml_name_part(character: char) -> bool {
    match character {
        '-' | '.' => true,
        _ if character.is_ascii_digit() => true,
        _ => is_xml_name_start(character) || is_mark(character),
    }
}
