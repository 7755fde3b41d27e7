//! XML names.

use selenite_types::{is_xml_name_part, is_xml_name_start};

/// A name as RAW and AUTO write it: what no XML name can have is `_xHHHH_`.
pub(crate) fn encoded(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name.chars().peekable();
    let mut is_first = true;
    while let Some(character) = rest.next() {
        let escapes_itself = character == '_' && rest.peek() == Some(&'x');
        if is_allowed(character, is_first) && !escapes_itself {
            out.push(character);
        } else {
            let code = u32::from(character);
            let digits = if code > 0xffff { 6 } else { 4 };
            out.push_str(&format!("_x{code:0digits$X}_"));
        }
        is_first = false;
    }
    out
}

/// The first character that an XML name can't have in its place.
pub(crate) fn first_invalid(name: &str) -> Option<char> {
    let mut characters = name.chars().enumerate();
    let found = characters.find(|(at, character)| !is_allowed(*character, *at == 0));
    found.map(|(_, character)| character)
}

/// As [`first_invalid`], of a name without a prefix.
pub(crate) fn first_invalid_part(name: &str) -> Option<char> {
    let mut characters = name.chars().enumerate();
    let found = characters.find(|(at, character)| *character == ':' || !is_allowed(*character, *at == 0));
    found.map(|(_, character)| character)
}

fn is_allowed(character: char, is_first: bool) -> bool {
    match is_first {
        true => is_xml_name_start(character),
        false => character == ':' || is_xml_name_part(character),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_encoded_as_for_raw() {
        for (name, written) in [
            ("a b", "a_x0020_b"),
            ("a#b", "a_x0023_b"),
            ("1a", "_x0031_a"),
            ("-a", "_x002D_a"),
            (":a", "_x003A_a"),
            ("a-b", "a-b"),
            ("a.b", "a.b"),
            ("a:b", "a:b"),
            ("_a", "_a"),
            ("a_x0020_b", "a_x005F_x0020_b"),
            ("_x", "_x005F_x"),
            ("a_Xb", "a_Xb"),
            ("#tmp", "_x0023_tmp"),
            ("a\u{e9}", "a\u{e9}"),
            ("a\u{ab}b", "a_x00AB_b"),
            ("a\u{1d400}b", "a_x01D400_b"),
            ("a\u{b7}\u{345}", "a\u{b7}\u{345}"),
            ("\u{b7}a", "_x00B7_a"),
            ("a\u{ff21}b", "a_xFF21_b"),
            ("a\u{365}b", "a_x0365_b"),
        ] {
            assert_eq!(encoded(name), written, "{name}");
        }
    }
}
