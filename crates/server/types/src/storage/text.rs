//! Validation of text for a text type.

use super::MisfitCause;
use crate::{DataType, Encoding, Width, code_page_byte};

/// `bytes` as valid text of the type: without trailing blanks for char and nchar.
pub(super) fn checked<'a>(bytes: &'a [u8], declared: &DataType) -> Result<&'a str, MisfitCause> {
    let bytes = if declared.is_padded() {
        without_blanks(bytes)
    } else {
        bytes
    };
    let text = std::str::from_utf8(bytes).map_err(|_| MisfitCause::Encoding)?;
    let room = match declared.width() {
        Some(Width::Limited(length)) => usize::from(length),
        Some(Width::Max) | None => usize::MAX,
    };
    // A text never has more units than bytes; ASCII has equally many, and is in the code page.
    let is_narrow = declared.encoding() == Encoding::CodePage;
    if (text.len() > room || is_narrow) && !text.is_ascii() {
        if is_narrow && !text.chars().all(|character| code_page_byte(character).is_some()) {
            return Err(MisfitCause::CodePage);
        }
        return if declared.text_length(text) <= room {
            Ok(text)
        } else {
            Err(MisfitCause::Length)
        };
    }
    if text.len() <= room {
        Ok(text)
    } else {
        Err(MisfitCause::Length)
    }
}

/// Pads `text` with blanks to the length of a char or nchar.
pub(super) fn padded(text: &str, length: u16, declared: &DataType) -> String {
    let missing = usize::from(length).saturating_sub(declared.text_length(text));
    let mut padded = String::with_capacity(text.len() + missing);
    padded.push_str(text);
    let mut left = missing;
    while left > 0 {
        let blanks = BLANKS.get(..left).unwrap_or(BLANKS);
        padded.push_str(blanks);
        left -= blanks.len();
    }
    padded
}

fn without_blanks(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
    bytes.get(..end).unwrap_or(bytes)
}

/// As many blanks as the length of most char columns.
const BLANKS: &str = "                                                                ";
