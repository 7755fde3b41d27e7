//! The characters of XML 1.0 and of its names.

/// Whether a character may occur in XML.
pub(super) fn is_character(character: char) -> bool {
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
    characters.next().is_some_and(is_name_start) && characters.all(is_name_part)
}

/// Whether a name without a colon may begin with a character.
pub(super) fn is_name_start(character: char) -> bool {
    match character {
        '_' => true,
        _ if character.is_ascii() => character.is_ascii_alphabetic(),
        // The letters of Unicode, which contain those of XML 1.0.
        _ => character.is_alphabetic() && u32::from(character) <= 0xffff,
    }
}

/// Whether a character may be in a name without a colon, behind the first.
pub(super) fn is_name_part(character: char) -> bool {
    match character {
        '-' | '.' | '\u{b7}' => true,
        _ if character.is_ascii_digit() => true,
        // Combining characters and digits.
        '\u{300}'..='\u{36f}' => true,
        _ => is_name_start(character) || !character.is_ascii() && character.is_numeric() && character.is_alphanumeric(),
    }
}
