//! The inside of a start tag: a name, and attributes.

use super::XmlFault;
use super::characters::{is_space, is_xml_character, is_xml_name_part, is_xml_name_start};

/// A start tag.
pub(super) struct Tag<'a> {
    /// The name, with its prefix.
    pub name: &'a str,
    /// Names, with their prefixes, and values.
    pub attributes: Vec<(&'a str, String)>,
}

/// Parses what is between `<` and `>`, without the `/` of an empty element. An error has its place in the text. Names
/// may be there twice.
pub(super) fn parse(inside: &str) -> Result<Tag<'_>, (usize, XmlFault)> {
    let mut scanner = Scanner { text: inside, at: 0 };
    let name = scanner.name()?;
    let mut attributes: Vec<(&str, String)> = Vec::new();
    loop {
        let spaced = scanner.skip_space();
        if scanner.peek().is_none() {
            return Ok(Tag { name, attributes });
        }
        if !spaced {
            return Err((scanner.at, XmlFault::Space));
        }
        let attribute = scanner.name()?;
        scanner.skip_space();
        if !scanner.eat('=') {
            return Err((scanner.at, XmlFault::Equal));
        }
        scanner.skip_space();
        let value = scanner.value()?;
        attributes.push((attribute, value));
    }
}

/// The prefix that an attribute declares, empty for the default namespace; `None` of any other attribute.
pub(super) fn declared_prefix(name: &str) -> Option<&str> {
    match name {
        "xmlns" => Some(""),
        _ => name.strip_prefix("xmlns:"),
    }
}

/// Parses a name with an optional prefix that is the whole of a text.
pub(super) fn whole_name(text: &str) -> Result<&str, (usize, XmlFault)> {
    let mut scanner = Scanner { text, at: 0 };
    let name = scanner.name()?;
    scanner.skip_space();
    match scanner.peek() {
        None => Ok(name),
        Some(_) => Err((scanner.at, XmlFault::Name)),
    }
}

/// The character of a reference without `&` and `;`.
pub fn referenced_character(name: &str) -> Result<char, XmlFault> {
    let character = match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let digits = name.strip_prefix('#').ok_or(XmlFault::Entity)?;
            let number = match digits.strip_prefix('x') {
                Some(digits) if digits.bytes().all(|digit| digit.is_ascii_hexdigit()) && !digits.is_empty() => {
                    u32::from_str_radix(digits, 16)
                }
                Some(_) => return Err(XmlFault::HexDigit),
                None if digits.bytes().all(|digit| digit.is_ascii_digit()) && !digits.is_empty() => digits.parse(),
                None => return Err(XmlFault::Digit),
            };
            let character = number.ok().and_then(char::from_u32);
            character
                .filter(|found| is_xml_character(*found))
                .ok_or(XmlFault::Character)?
        }
    };
    Ok(character)
}

/// Why what follows `&` is no reference, and where.
pub(super) fn unclosed(rest: &str) -> (usize, XmlFault) {
    let is_part = |character: char| character == '#' || is_xml_name_part(character);
    match rest.starts_with('#') || rest.starts_with(is_xml_name_start) {
        true => (
            rest.find(|next| !is_part(next)).unwrap_or(rest.len()),
            XmlFault::Semicolon,
        ),
        false => (0, XmlFault::NameCharacter),
    }
}

/// Where a reference with this name, which stands behind `&`, has its fault: at a character that is no digit, else
/// behind it.
pub(super) fn fault_in(name: &str, fault: XmlFault) -> usize {
    let (before, radix) = if fault == XmlFault::HexDigit {
        ("#x".len(), 16)
    } else if fault == XmlFault::Digit {
        ("#".len(), 10)
    } else {
        return name.len();
    };
    let digits = name.get(before..).unwrap_or_default();
    let wrong = digits.find(|digit: char| !digit.is_digit(radix));
    before + wrong.unwrap_or(digits.len())
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn eat(&mut self, wanted: char) -> bool {
        let is_next = self.peek() == Some(wanted);
        if is_next {
            self.at += wanted.len_utf8();
        }
        is_next
    }

    /// Whether there was white space.
    fn skip_space(&mut self) -> bool {
        let start = self.at;
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches(is_space).len();
        self.at > start
    }

    /// A name with an optional prefix.
    fn name(&mut self) -> Result<&'a str, (usize, XmlFault)> {
        let start = self.at;
        let mut has_colon = false;
        loop {
            match self.peek() {
                Some(first) if is_xml_name_start(first) => self.at += first.len_utf8(),
                Some(_) | None => return Err((self.at, XmlFault::Name)),
            }
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start_matches(is_xml_name_part).len();
            if !self.eat(':') {
                return Ok(self.text.get(start..self.at).unwrap_or_default());
            }
            if has_colon {
                return Err((self.at - 1, XmlFault::Colons));
            }
            has_colon = true;
        }
    }

    /// A value in quotes, with its references resolved and its white space made blanks.
    fn value(&mut self) -> Result<String, (usize, XmlFault)> {
        let quote = match self.peek() {
            Some(quote @ ('"' | '\'')) => quote,
            Some(_) | None => return Err((self.at, XmlFault::Quote)),
        };
        self.at += 1;
        let mut value = String::new();
        loop {
            let Some(character) = self.peek() else {
                return Err((self.at, XmlFault::End));
            };
            let place = self.at;
            self.at += character.len_utf8();
            match character {
                _ if character == quote => return Ok(value),
                '<' => return Err((place, XmlFault::LessThan)),
                '&' => {
                    let rest = self.rest();
                    let length = rest
                        .find([';', '"', '\'', '&', '<', ' '])
                        .filter(|at| rest[*at..].starts_with(';'));
                    let length = length.ok_or_else(|| {
                        let (at, fault) = unclosed(rest);
                        (self.at + at, fault)
                    })?;
                    let name = &rest[..length];
                    let character =
                        referenced_character(name).map_err(|fault| (place + 1 + fault_in(name, fault), fault))?;
                    value.push(character);
                    self.at += length + 1;
                }
                '\r' => {
                    self.eat('\n');
                    value.push(' ');
                }
                '\t' | '\n' => value.push(' '),
                _ if is_xml_character(character) => value.push(character),
                _ => return Err((place, XmlFault::Character)),
            }
        }
    }
}
