//! Paths into JSON documents: `[append] [lax | strict] $.name."name"[index]`.

use std::borrow::Cow;

use super::document::{Document, Kind, NodeIndex};
use crate::SqlError;

/// A path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Path {
    /// `append`, of JSON_MODIFY.
    pub append: bool,
    /// `strict`.
    pub strict: bool,
    /// The steps from the root.
    pub steps: Vec<Step>,
}

/// A step of a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// A member of an object: the name with its escapes as written, but `\u` decoded.
    Name(String),
    /// An element of an array, from 0.
    Index(u32),
}

/// What a path names in a document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    /// This value.
    Value(NodeIndex),
    /// Nothing.
    Nothing,
}

impl Path {
    /// Parses a path; `append` says whether that word is allowed.
    ///
    /// Errors: 13607, 13606.
    pub fn parse(text: &str, append: bool) -> Result<Self, SqlError> {
        let mut parser = PathParser {
            characters: text.encode_utf16().collect(),
            at: 0,
        };
        parser.path(append)
    }

    /// What the path names in a document; a lax path may name nothing.
    ///
    /// Errors: 13609 in `text_state` if the document's fault comes before; 13608 in `missing_state` for a strict path to
    /// nothing.
    pub fn find(&self, document: &Document<'_>, text_state: u8, missing_state: u8) -> Result<Found, SqlError> {
        match self.walk(document, text_state)? {
            Found::Nothing if self.strict => Err(SqlError::json_property_missing(missing_state)),
            found @ (Found::Value(_) | Found::Nothing) => Ok(found),
        }
    }

    /// What the path names in a complete value of a document.
    ///
    /// Errors: 13608 in `missing_state` for a strict path to nothing.
    pub fn find_in(&self, document: &Document<'_>, value: NodeIndex, missing_state: u8) -> Result<Found, SqlError> {
        match self.walk_from(document, value, None)? {
            Found::Nothing if self.strict => Err(SqlError::json_property_missing(missing_state)),
            found @ (Found::Value(_) | Found::Nothing) => Ok(found),
        }
    }

    /// As [`Path::find`], where a strict path to nothing is no error.
    pub fn walk(&self, document: &Document<'_>, text_state: u8) -> Result<Found, SqlError> {
        self.walk_from(document, 0, Some(text_state))
    }

    fn walk_from(&self, document: &Document<'_>, start: NodeIndex, text_state: Option<u8>) -> Result<Found, SqlError> {
        let fault = || {
            let error = text_state.and_then(|state| document.error(state));
            error.map_or(Ok(Found::Nothing), Err)
        };
        if !document.has_root() {
            return fault();
        }
        let mut node = start;
        for step in &self.steps {
            let kind = document.kind(node);
            let fits = match step {
                Step::Name(_) => kind == Kind::Object,
                Step::Index(_) => kind == Kind::Array,
            };
            if !fits && kind.is_container() && document.children(node).next().is_some() {
                // The container's first member settles that there is no such step.
                return Ok(Found::Nothing);
            }
            let mut children = document.children(node);
            let child = match step {
                Step::Name(name) if fits => children.find(|child| name_form(document.name(*child)) == *name),
                Step::Index(index) if fits => usize::try_from(*index).ok().and_then(|index| children.nth(index)),
                Step::Name(_) | Step::Index(_) => None,
            };
            match child {
                Some(child) => node = child,
                None => return fault(),
            }
        }
        match document.is_complete(node) {
            true => Ok(Found::Value(node)),
            false => fault(),
        }
    }
}

/// The form in which names are compared: `\u` escapes decoded, all others as written.
pub(super) fn name_form(written: &str) -> Cow<'_, str> {
    if !written.contains("\\u") {
        return Cow::Borrowed(written);
    }
    let mut form = String::with_capacity(written.len());
    let mut units = Vec::new();
    let mut rest = written;
    while let Some(character) = rest.chars().next() {
        let escape = rest.strip_prefix("\\u").and_then(|rest| rest.get(..4));
        if let Some(unit) = escape.and_then(|digits| u16::from_str_radix(digits, 16).ok()) {
            units.push(unit);
            rest = rest.get(6..).unwrap_or_default();
            continue;
        }
        form.push_str(&String::from_utf16_lossy(&units));
        units.clear();
        // The character behind a backslash is no backslash of its own.
        let size = match rest.strip_prefix('\\').and_then(|rest| rest.chars().next()) {
            Some(escaped) => 1 + escaped.len_utf8(),
            None => character.len_utf8(),
        };
        form.push_str(rest.get(..size).unwrap_or_default());
        rest = rest.get(size..).unwrap_or_default();
    }
    form.push_str(&String::from_utf16_lossy(&units));
    Cow::Owned(form)
}

struct PathParser {
    characters: Vec<u16>,
    at: usize,
}

impl PathParser {
    fn path(&mut self, append: bool) -> Result<Path, SqlError> {
        self.skip_spaces();
        let start = self.at;
        let is_append = self.word("append");
        if is_append && !append {
            return Err(SqlError::json_path_syntax('a', start, PUNCTUATION));
        }
        self.skip_spaces();
        let strict = self.word("strict");
        if !strict {
            self.word("lax");
        }
        self.skip_spaces();
        if !self.eat('$') {
            return Err(self.unexpected(START));
        }
        let mut steps = Vec::new();
        let mut state = START;
        loop {
            self.skip_spaces();
            if self.at == self.characters.len() {
                return Ok(Path {
                    append: is_append,
                    strict,
                    steps,
                });
            }
            if steps.len() == STEP_COUNT_MAX {
                return Err(SqlError::json_too_deep(4));
            }
            if self.eat('.') {
                self.skip_spaces();
                state = match self.is('"') {
                    true => {
                        steps.push(Step::Name(self.quoted()?));
                        PUNCTUATION
                    }
                    false => {
                        steps.push(Step::Name(self.bare()?));
                        START
                    }
                };
            } else if self.eat('[') {
                steps.push(Step::Index(self.index()?));
                state = START;
            } else {
                return Err(self.unexpected(state));
            }
        }
    }

    fn peek(&self) -> Option<char> {
        let unit = *self.characters.get(self.at)?;
        Some(char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn is(&self, character: char) -> bool {
        self.peek() == Some(character)
    }

    fn eat(&mut self, character: char) -> bool {
        let found = self.is(character);
        self.at += usize::from(found);
        found
    }

    fn skip_spaces(&mut self) {
        while let Some(' ' | '\t' | '\n' | '\u{c}' | '\r') = self.peek() {
            self.at += 1;
        }
    }

    /// A keyword, which must end there.
    fn word(&mut self, word: &str) -> bool {
        let end = self.at + word.len();
        let found = self.characters.get(self.at..end);
        let is_word = found.is_some_and(|found| found.iter().copied().eq(word.encode_utf16()));
        let next = self
            .characters
            .get(end)
            .and_then(|unit| char::from_u32(u32::from(*unit)));
        let is_whole = is_word && !next.is_some_and(is_name_character);
        if is_whole {
            self.at = end;
        }
        is_whole
    }

    /// 13607 at the next character; punctuation, digits and the end have a state of their own.
    fn unexpected(&self, state: u8) -> SqlError {
        let character = self.peek();
        let state = match character {
            None | Some('$' | '"' | '[' | ']' | '.' | '0'..='9') => PUNCTUATION,
            Some(_) => state,
        };
        SqlError::json_path_syntax(character.unwrap_or('.'), self.at, state)
    }

    fn bare(&mut self) -> Result<String, SqlError> {
        let mut name = String::new();
        while let Some(character) = self.peek().filter(|character| is_name_character(*character)) {
            if name.is_empty() && character.is_ascii_digit() {
                break;
            }
            name.push(character);
            self.at += 1;
        }
        match name.is_empty() {
            true => Err(self.unexpected(START)),
            false => Ok(name),
        }
    }

    fn quoted(&mut self) -> Result<String, SqlError> {
        self.at += 1;
        let start = self.at;
        loop {
            match self.peek() {
                None => return Err(SqlError::json_path_syntax('.', self.at, UNCLOSED)),
                Some('"') => break,
                Some('\\') => {
                    self.at += 1;
                    match self.peek() {
                        Some('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't') => self.at += 1,
                        Some('u') => {
                            let hex = |at: usize| {
                                let unit = self
                                    .characters
                                    .get(at)
                                    .and_then(|unit| char::from_u32(u32::from(*unit)));
                                unit.is_some_and(|character| character.is_ascii_hexdigit())
                            };
                            if !(1..=4).all(|offset| hex(self.at + offset)) {
                                self.at = (self.at + 4).min(self.characters.len());
                                return Err(SqlError::json_path_syntax(self.peek().unwrap_or('.'), self.at, ESCAPE));
                            }
                            self.at += 5;
                        }
                        other => return Err(SqlError::json_path_syntax(other.unwrap_or('.'), self.at, ESCAPE)),
                    }
                }
                Some(_) => self.at += 1,
            }
        }
        let written = self.characters.get(start..self.at).unwrap_or_default();
        self.at += 1;
        let written = String::from_utf16_lossy(written);
        Ok(name_form(&written).into_owned())
    }

    /// The digits of an index, and the closing bracket.
    fn index(&mut self) -> Result<u32, SqlError> {
        self.skip_spaces();
        let mut index: Option<u64> = None;
        while let Some(digit) = self.peek().and_then(|character| character.to_digit(10)) {
            let next = index.unwrap_or(0) * 10 + u64::from(digit);
            if next > u64::from(u32::MAX) {
                return Err(SqlError::json_path_syntax(
                    self.peek().unwrap_or('.'),
                    self.at,
                    INDEX_RANGE,
                ));
            }
            index = Some(next);
            self.at += 1;
        }
        let Some(index) = index else {
            return Err(self.unexpected(INDEX));
        };
        self.skip_spaces();
        if !self.eat(']') {
            return Err(self.unexpected(AFTER_INDEX));
        }
        Ok(u32::try_from(index).unwrap_or(u32::MAX))
    }
}

fn is_name_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

/// The states of 13607: where the parser was.
const PUNCTUATION: u8 = 14;
const AFTER_INDEX: u8 = 15;
const INDEX_RANGE: u8 = 16;
const ESCAPE: u8 = 17;
const UNCLOSED: u8 = 20;
const INDEX: u8 = 21;
const START: u8 = 22;

/// SQL Server's limit of steps.
const STEP_COUNT_MAX: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_names_and_indexes() {
        let path = Path::parse("  strict  $ . a [ 0 ] .\"b c\" ", false).unwrap();
        assert!(path.strict);
        let name = |text: &str| Step::Name(text.to_owned());
        assert_eq!(path.steps, [name("a"), Step::Index(0), name("b c")]);
        assert_eq!(Path::parse("lax$.a", false).unwrap().steps, [name("a")]);
        assert!(Path::parse("append lax $.a", true).unwrap().append);
        assert_eq!(Path::parse("$", false).unwrap().steps, []);
        assert_eq!(Path::parse("$.\"a\\u0041\"", false).unwrap().steps, [name("aA")]);
        assert_eq!(Path::parse("$.\"a\\/b\"", false).unwrap().steps, [name("a\\/b")]);
    }

    #[test]
    fn a_malformed_path_is_reported_at_its_character() {
        for (text, character, position, state) in [
            ("xyz", 'x', 0, 22),
            ("$.a b", 'b', 4, 22),
            ("$.\"a\"x", 'x', 5, 14),
            ("$.", '.', 2, 14),
            ("$[a]", 'a', 2, 21),
            ("$[1x]", 'x', 3, 15),
            ("$[4294967296]", '6', 11, 16),
            ("$.\"a", '.', 4, 20),
            ("$.a$b", '$', 3, 14),
            ("$.a-b", '-', 3, 22),
            ("LAX $.a", 'L', 0, 22),
            ("laxx$.a", 'l', 0, 22),
            ("append $.a", 'a', 0, 14),
            ("", '.', 0, 14),
            ("$[*]", '*', 2, 21),
        ] {
            let error = Path::parse(text, false).expect_err(text);
            let expected = format!(
                "JSON path is not properly formatted. Unexpected character '{character}' is found at position {position}."
            );
            assert_eq!((error.text(), error.state()), (expected.as_str(), state), "{text}");
        }
    }

    #[test]
    fn a_path_names_the_first_of_equal_members() {
        let document = Document::read("{\"a\":{\"z\":1},\"a\":2}");
        let found = |text: &str| Path::parse(text, false).unwrap().walk(&document, 1).unwrap();
        assert_eq!(found("$.a.z"), Found::Value(2));
        assert_eq!(found("$.b"), Found::Nothing);
        assert_eq!(found("$[0]"), Found::Nothing);
    }

    #[test]
    fn a_fault_behind_the_value_is_not_read() {
        let walk = |text: &str, path: &str| {
            let document = Document::read(text);
            Path::parse(path, false)
                .unwrap()
                .walk(&document, 1)
                .map_err(|error| error.number())
        };
        assert_eq!(walk("{\"a\":1}extra", "$.a"), Ok(Found::Value(1)));
        assert_eq!(walk("{\"a\":1", "$.a"), Ok(Found::Value(1)));
        assert_eq!(walk("{\"a\":1", "$[0]"), Ok(Found::Nothing));
        assert_eq!(walk("{\"a\":1", "$.b"), Err(13609));
        assert_eq!(walk("{x}", "$[0]"), Err(13609));
        assert_eq!(walk("{\"a\":1}extra", "$[0]"), Ok(Found::Nothing));
    }
}
