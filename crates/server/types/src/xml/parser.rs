//! Parses text as nodes.

use std::borrow::Cow;
use std::collections::HashMap;

use quick_xml::Reader;
use quick_xml::errors::{Error, IllFormedError, SyntaxError};
use quick_xml::events::Event;

use super::characters::{is_character, is_space};
use super::error::DEPTH_MAX;
use super::{XmlError, XmlFault, tag};
use crate::{code_page_byte, decode_code_page};

/// Receives nodes in document order.
pub(super) trait XmlSink {
    /// A start tag, with its attributes and declarations of namespaces.
    fn start(&mut self, name: &str, attributes: Vec<(&str, String)>);
    /// The end of the innermost element.
    fn end(&mut self);
    /// A text, which is not empty.
    fn text(&mut self, text: &str);
    /// A comment.
    fn comment(&mut self, text: &str);
    /// A processing instruction.
    fn instruction(&mut self, target: &str, content: &str);
}

/// The encoding that a text had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TextEncoding {
    /// UTF-16: nchar and nvarchar.
    Wide,
    /// Code page 1252: char and varchar.
    Narrow,
    /// Bytes, which were decoded as they declare.
    Decoded,
}

/// Parses a text. White space alone is no text, unless `keeps_space`.
///
/// Errors: text that is not well-formed; more than 128 levels; a document type.
pub(super) fn parse(
    text: &str,
    encoding: TextEncoding,
    keeps_space: bool,
    sink: &mut impl XmlSink,
) -> Result<(), XmlError> {
    let text = match encoding {
        TextEncoding::Narrow => Cow::Owned(narrow(text)?),
        TextEncoding::Wide | TextEncoding::Decoded => Cow::Borrowed(text),
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut parser = Parser {
        text,
        encoding,
        sink,
        open: Vec::new(),
        keeps_space,
        prefixes: HashMap::new(),
        pending: String::new(),
        is_protected: false,
    };
    parser.run().map_err(|(at, fault)| placed(text, at, fault))
}

/// The text of bytes: UTF-16 by a byte order mark, code page 1252 by a declaration, else UTF-8.
///
/// Errors: bytes that are not in their encoding.
pub(super) fn decoded(bytes: &[u8]) -> Result<String, XmlError> {
    let illegal = || placed("", 0, XmlFault::Character);
    let wide = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let (units, rest) = bytes.as_chunks();
        let text: Result<String, _> = char::decode_utf16(units.iter().map(|pair| unit(*pair))).collect();
        text.ok().filter(|_| rest.is_empty()).ok_or_else(illegal)
    };
    match bytes {
        [0xFF, 0xFE, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => wide(rest, u16::from_be_bytes),
        [b'<', 0, ..] => wide(bytes, u16::from_le_bytes),
        [0xEF, 0xBB, 0xBF, rest @ ..] => String::from_utf8(rest.to_vec()).map_err(|_| illegal()),
        _ => {
            let head = bytes.get(..DECLARATION_SIZE_MAX.min(bytes.len())).unwrap_or(bytes);
            match declared_encoding(&String::from_utf8_lossy(head)).as_deref() {
                None | Some("utf-8") => String::from_utf8(bytes.to_vec()).map_err(|_| illegal()),
                Some(name) if NARROW.contains(&name) => Ok(decode_code_page(bytes)),
                Some(_) => Err(placed("", 0, XmlFault::Encoding)),
            }
        }
    }
}

/// Encodings that have the characters of code page 1252.
const NARROW: [&str; 4] = ["windows-1252", "iso-8859-1", "us-ascii", "ascii"];
/// A declaration is shorter.
const DECLARATION_SIZE_MAX: usize = 256;

/// Where in the text, and what.
type Fault = (usize, XmlFault);

struct Parser<'a, S> {
    text: &'a str,
    encoding: TextEncoding,
    sink: &'a mut S,
    open: Vec<Open>,
    keeps_space: bool,
    /// The declared prefixes, each with the number of open elements that declare it.
    prefixes: HashMap<String, usize>,
    /// The text since the last tag.
    pending: String,
    /// Whether a reference or a CDATA section is a part of it.
    is_protected: bool,
}

/// An open element.
struct Open {
    keeps_space: bool,
    /// The prefixes that it declares.
    prefixes: Vec<String>,
}

impl<S: XmlSink> Parser<'_, S> {
    fn run(&mut self) -> Result<(), Fault> {
        let text = self.text;
        let mut reader = Reader::from_str(text);
        reader.config_mut().check_comments = true;
        loop {
            let start = place(reader.buffer_position());
            let event = reader
                .read_event()
                .map_err(|error| self.fault(&error, start, place(reader.error_position())))?;
            let end = place(reader.buffer_position());
            match event {
                Event::Text(content) => self.text(&content, start)?,
                Event::GeneralRef(name) => {
                    let name = self.utf8(&name, start)?;
                    self.pending
                        .push(tag::referenced_character(name).map_err(|fault| (start, fault))?);
                    self.is_protected = true;
                }
                Event::CData(content) => {
                    let content = self.utf8(&content, start)?;
                    self.check(content, start)?;
                    self.pending
                        .push_str(&content.replace("\r\n", "\n").replace('\r', "\n"));
                    self.is_protected |= !content.is_empty();
                }
                Event::Start(inside) => self.start(&inside, (start, end))?,
                Event::Empty(inside) => {
                    self.start(&inside, (start, end))?;
                    self.end();
                }
                Event::End(_) => {
                    self.flush();
                    self.end();
                }
                Event::Comment(content) => {
                    let content = self.utf8(&content, start)?;
                    self.check(content, start)?;
                    self.flush();
                    self.sink.comment(content);
                }
                Event::PI(instruction) => {
                    let target = self.utf8(instruction.target(), start)?;
                    let content = self.utf8(instruction.content(), start)?;
                    self.check(content, start)?;
                    tag::whole_name(target).map_err(|(at, fault)| (start + 2 + at, fault))?;
                    if target.eq_ignore_ascii_case("xml") {
                        return Err((start, XmlFault::Declaration));
                    }
                    self.flush();
                    self.sink.instruction(target, content.trim_start_matches(is_space));
                }
                Event::Decl(declaration) if start == 0 => {
                    let declaration = self.utf8(&declaration, start)?;
                    self.declaration(declaration, start)?;
                }
                Event::Decl(_) => return Err((start, XmlFault::Declaration)),
                Event::DocType(_) => return Err((start, XmlFault::DocumentType)),
                Event::Eof if !self.open.is_empty() => return Err((end, XmlFault::End)),
                Event::Eof => {
                    self.flush();
                    return Ok(());
                }
            }
        }
    }

    fn text(&mut self, content: &[u8], start: usize) -> Result<(), Fault> {
        let content = self.utf8(content, start)?;
        self.check(content, start)?;
        if let Some(at) = content.find("]]>") {
            return Err((start + at, XmlFault::Syntax));
        }
        match content.contains('\r') {
            true => self
                .pending
                .push_str(&content.replace("\r\n", "\n").replace('\r', "\n")),
            false => self.pending.push_str(content),
        }
        Ok(())
    }

    fn start(&mut self, inside: &[u8], (start, end): (usize, usize)) -> Result<(), Fault> {
        let inside = self.utf8(inside, start)?;
        let tag = tag::parse(inside).map_err(|(at, fault)| (start + 1 + at, fault))?;
        self.flush();
        if self.open.len() >= DEPTH_MAX {
            return Err((start, XmlFault::Depth));
        }
        let mut prefixes = Vec::new();
        let mut keeps_space = self.open.last().map_or(self.keeps_space, |open| open.keeps_space);
        for (name, value) in &tag.attributes {
            if let Some(prefix) = name.strip_prefix("xmlns:") {
                if value.is_empty() {
                    return Err((end, XmlFault::EmptyNamespace));
                }
                *self.prefixes.entry(prefix.to_owned()).or_default() += 1;
                prefixes.push(prefix.to_owned());
            }
            match (*name, value.as_str()) {
                ("xml:space", "preserve") => keeps_space = true,
                ("xml:space", "default") => keeps_space = self.keeps_space,
                (_, _) => {}
            }
        }
        let names = tag.attributes.iter().map(|(name, _)| *name);
        for name in names.chain(std::iter::once(tag.name)) {
            let prefix = name.split_once(':').map(|(prefix, _)| prefix);
            let is_known = |prefix: &str| prefix == "xml" || prefix == "xmlns" || self.prefixes.contains_key(prefix);
            if prefix.is_some_and(|prefix| !is_known(prefix)) {
                return Err((end, XmlFault::Prefix));
            }
        }
        self.open.push(Open { keeps_space, prefixes });
        self.sink.start(tag.name, tag.attributes);
        Ok(())
    }

    fn end(&mut self) {
        let Some(open) = self.open.pop() else { return };
        for prefix in open.prefixes {
            if let Some(count) = self.prefixes.get_mut(&prefix) {
                *count -= 1;
                if *count == 0 {
                    self.prefixes.remove(&prefix);
                }
            }
        }
        self.sink.end();
    }

    /// Gives the text since the last tag, unless it is white space that does not count.
    fn flush(&mut self) {
        let keeps_space = self.open.last().map_or(self.keeps_space, |open| open.keeps_space);
        let counts = keeps_space || self.is_protected || !self.pending.chars().all(is_space);
        if counts && !self.pending.is_empty() {
            self.sink.text(&self.pending);
        }
        self.pending.clear();
        self.is_protected = false;
    }

    /// `xml version="1.0" encoding=".."`.
    fn declaration(&self, inside: &str, start: usize) -> Result<(), Fault> {
        let syntax = (start, XmlFault::DeclarationSyntax);
        let tag = tag::parse(inside.trim_end_matches(is_space)).map_err(|_| syntax)?;
        let mut attributes = tag
            .attributes
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .peekable();
        if attributes
            .next()
            .is_none_or(|(name, value)| name != "version" || !value.starts_with("1."))
        {
            return Err(syntax);
        }
        if let Some((_, encoding)) = attributes.next_if(|(name, _)| *name == "encoding") {
            let encoding = encoding.to_ascii_lowercase();
            let fits = match self.encoding {
                TextEncoding::Wide => matches!(encoding.as_str(), "utf-16" | "ucs-2" | "iso-10646-ucs-2"),
                TextEncoding::Narrow => encoding == "utf-8" || NARROW.contains(&encoding.as_str()),
                TextEncoding::Decoded => true,
            };
            if !fits {
                return Err((start + inside.len(), XmlFault::Encoding));
            }
        }
        let standalone = attributes.next_if(|(name, _)| *name == "standalone");
        let is_right = standalone.is_none_or(|(_, value)| matches!(value, "yes" | "no"));
        match is_right && attributes.next().is_none() {
            true => Ok(()),
            false => Err(syntax),
        }
    }

    /// What a slice of the text is; the text is UTF-8.
    fn utf8<'b>(&self, bytes: &'b [u8], start: usize) -> Result<&'b str, Fault> {
        std::str::from_utf8(bytes).map_err(|_| (start, XmlFault::Character))
    }

    fn check(&self, content: &str, start: usize) -> Result<(), Fault> {
        match content.char_indices().find(|(_, character)| !is_character(*character)) {
            Some((at, _)) => Err((start + at, XmlFault::Character)),
            None => Ok(()),
        }
    }

    fn fault(&self, error: &Error, start: usize, at: usize) -> Fault {
        let rest = self.text.get(at..).unwrap_or_default();
        match error {
            Error::Syntax(SyntaxError::InvalidBangMarkup) => (start, XmlFault::Syntax),
            Error::Syntax(SyntaxError::UnclosedCData) => (self.text.len(), XmlFault::CData),
            Error::Syntax(_) => (self.text.len(), XmlFault::End),
            Error::IllFormed(IllFormedError::MismatchedEndTag { .. } | IllFormedError::UnmatchedEndTag(_)) => {
                let length = rest.find('>').map_or(rest.len(), |end| end + 1);
                (at + length, XmlFault::EndTag)
            }
            Error::IllFormed(IllFormedError::DoubleHyphenInComment) => (at, XmlFault::Comment),
            Error::IllFormed(IllFormedError::UnclosedReference) => {
                let behind = rest.strip_prefix('&').unwrap_or(rest);
                (at + 1, tag::unclosed(behind))
            }
            Error::IllFormed(_) => (at, XmlFault::DeclarationSyntax),
            Error::Io(_) | Error::InvalidAttr(_) | Error::Encoding(_) | Error::Escape(_) | Error::Namespace(_) => {
                (at, XmlFault::Syntax)
            }
        }
    }
}

fn place(position: u64) -> usize {
    usize::try_from(position).unwrap_or(usize::MAX)
}

/// The encoding that a declaration names, in lower case.
fn declared_encoding(text: &str) -> Option<String> {
    let inside = text.strip_prefix("<?")?.split_once("?>")?.0;
    let tag = tag::parse(inside.trim_end_matches(is_space)).ok()?;
    let encoding = tag.attributes.iter().find(|(name, _)| *name == "encoding")?;
    Some(encoding.1.to_ascii_lowercase())
}

/// Text of code page 1252 whose bytes are UTF-8 by its declaration.
fn narrow(text: &str) -> Result<String, XmlError> {
    if text.is_ascii() || declared_encoding(text).as_deref() != Some("utf-8") {
        return Ok(text.to_owned());
    }
    let bytes: Option<Vec<u8>> = text.chars().map(code_page_byte).collect();
    let decoded = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    decoded.ok_or_else(|| placed(text, 0, XmlFault::Character))
}

/// An error at a place of the text.
fn placed(text: &str, at: usize, fault: XmlFault) -> XmlError {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let before = text.get(..at).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    XmlError {
        fault,
        line: before.matches('\n').count() + 1,
        character: before.get(line_start..).map_or(0, |line| line.chars().count()) + 1,
    }
}
