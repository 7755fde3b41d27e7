//! Parses text as nodes.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use quick_xml::Reader;
use quick_xml::errors::{Error, IllFormedError, SyntaxError};
use quick_xml::events::Event;

use super::characters::{is_space, is_xml_character};
use super::error::DEPTH_MAX;
use super::tag::{self, Tag};
use super::{XmlError, XmlFault};
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

/// Parses a text. White space alone is no text, unless `keeps_space`. `poll` is told of the bytes that were parsed since
/// its last call, and says whether to go on.
///
/// Errors: text that is not well-formed; more than 128 levels; a document type; an interruption.
pub(super) fn parse(
    text: &str,
    encoding: TextEncoding,
    keeps_space: bool,
    sink: &mut impl XmlSink,
    poll: &mut dyn FnMut(usize) -> bool,
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
        poll,
        open: Vec::new(),
        keeps_space,
        namespaces: HashMap::new(),
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
/// Encodings of texts of two bytes a character.
const WIDE: [&str; 3] = ["utf-16", "ucs-2", "iso-10646-ucs-2"];
/// The beginnings of the names of other encodings that there are.
const OTHERS: [&str; 10] = [
    "utf-8",
    "iso-8859-",
    "windows-",
    "ucs-",
    "utf-",
    "shift_jis",
    "gb",
    "big5",
    "euc-",
    "koi8-",
];
/// A declaration is shorter.
const DECLARATION_SIZE_MAX: usize = 256;

/// Where in the text, and what.
type Fault = (usize, XmlFault);

struct Parser<'a, S> {
    text: &'a str,
    encoding: TextEncoding,
    sink: &'a mut S,
    poll: &'a mut dyn FnMut(usize) -> bool,
    open: Vec<Open>,
    keeps_space: bool,
    /// The namespaces of each declared prefix, empty for the default, the innermost last.
    namespaces: HashMap<String, Vec<String>>,
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
            if !(self.poll)(end.saturating_sub(start)) {
                return Err((start, XmlFault::Interrupted));
            }
            match event {
                Event::Text(content) => self.text(&content, start)?,
                Event::GeneralRef(name) => {
                    let name = self.utf8(&name, start)?;
                    let placed = |fault| (start + 1 + tag::fault_in(name, fault), fault);
                    self.pending.push(tag::referenced_character(name).map_err(placed)?);
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
                    self.instruction(target, content, start)?;
                }
                Event::Decl(declaration) if start == 0 => {
                    let declaration = self.utf8(&declaration, start)?;
                    self.declaration(declaration, start)?;
                }
                Event::Decl(_) => return Err((start + "<?xml".len(), XmlFault::Declaration)),
                Event::DocType(_) if self.open.is_empty() => return Err((start, XmlFault::DocumentType)),
                Event::DocType(_) => return Err((start + "<!".len(), XmlFault::Syntax)),
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
            return Err((start + at, XmlFault::CDataEnd));
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
        let mut keeps_space = self.open.last().map_or(self.keeps_space, |open| open.keeps_space);
        for (name, value) in &tag.attributes {
            match (*name, value.as_str()) {
                ("xml:space", "preserve") => keeps_space = true,
                ("xml:space", "default") => keeps_space = self.keeps_space,
                (_, _) => {}
            }
        }
        let placed = |fault| (end.saturating_sub(1), fault);
        let prefixes = self.declare(&tag).map_err(placed)?;
        self.check_names(&tag).map_err(placed)?;
        self.open.push(Open { keeps_space, prefixes });
        self.sink.start(tag.name, tag.attributes);
        Ok(())
    }

    /// Declares the prefixes of a tag, and returns them.
    fn declare(&mut self, tag: &Tag<'_>) -> Result<Vec<String>, XmlFault> {
        let mut declared = Vec::new();
        let mut known = HashSet::new();
        for (name, namespace) in &tag.attributes {
            let Some(prefix) = tag::declared_prefix(name) else {
                continue;
            };
            if !known.insert(prefix) {
                return Err(XmlFault::Redeclared);
            }
            match (prefix, namespace.as_str()) {
                ("xmlns", _) => return Err(XmlFault::XmlnsPrefix),
                ("xml", XML_NAMESPACE) => continue,
                ("xml", _) => return Err(XmlFault::XmlPrefix),
                (_, XML_NAMESPACE) => return Err(XmlFault::XmlNamespace),
                (_, XMLNS_NAMESPACE) => return Err(XmlFault::XmlnsNamespace),
                (prefix, "") if !prefix.is_empty() => return Err(XmlFault::EmptyNamespace),
                (_, _) => {}
            }
            let namespaces = self.namespaces.entry(prefix.to_owned()).or_default();
            namespaces.push(namespace.clone());
            declared.push(prefix.to_owned());
        }
        Ok(declared)
    }

    /// Checks that prefixes are declared, and that no two attributes have one name.
    fn check_names(&self, tag: &Tag<'_>) -> Result<(), XmlFault> {
        let mut known = HashSet::new();
        let attributes = tag.attributes.iter().map(|(name, _)| *name);
        let attributes = attributes.filter(|name| tag::declared_prefix(name).is_none());
        let named: Vec<_> = attributes.map(|name| self.named(name)).collect::<Result<_, _>>()?;
        self.named(tag.name)?;
        match named.into_iter().all(|name| known.insert(name)) {
            true => Ok(()),
            false => Err(XmlFault::Duplicate),
        }
    }

    /// The namespace of a name's prefix, and the name without it.
    fn named<'n>(&self, name: &'n str) -> Result<(&str, &'n str), XmlFault> {
        let Some((prefix, local)) = name.split_once(':') else {
            return Ok(("", name));
        };
        let known = self.namespaces.get(prefix).and_then(|known| known.last());
        match (prefix, known) {
            ("xml", _) => Ok((XML_NAMESPACE, local)),
            ("xmlns", _) => Err(XmlFault::XmlnsPrefix),
            (_, Some(namespace)) => Ok((namespace, local)),
            (_, None) => Err(XmlFault::Prefix),
        }
    }

    fn instruction(&mut self, target: &str, content: &str, start: usize) -> Result<(), Fault> {
        self.check(content, start)?;
        tag::whole_name(target).map_err(|(at, fault)| (start + 2 + at, fault))?;
        if target.eq_ignore_ascii_case("xml") {
            return Err((start + "<?xml".len(), XmlFault::XmlTarget));
        }
        self.flush();
        self.sink.instruction(target, content.trim_start_matches(is_space));
        Ok(())
    }

    fn end(&mut self) {
        let Some(open) = self.open.pop() else { return };
        for prefix in open.prefixes {
            if let Some(namespaces) = self.namespaces.get_mut(&prefix) {
                namespaces.pop();
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
        let end = start + "<?".len() + inside.len() + 1;
        let syntax = (end, XmlFault::DeclarationSyntax);
        let tag = tag::parse(inside.trim_end_matches(is_space)).map_err(|_| syntax)?;
        let mut attributes = tag
            .attributes
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .peekable();
        let Some((_, version)) = attributes.next_if(|(name, _)| *name == "version") else {
            return Err(syntax);
        };
        if !version.starts_with("1.") {
            let quote = inside.find(version).unwrap_or_default() + version.len();
            return Err((start + "<?".len() + quote, XmlFault::DeclarationSyntax));
        }
        if let Some((_, encoding)) = attributes.next_if(|(name, _)| *name == "encoding") {
            let encoding = encoding.to_ascii_lowercase();
            let fits = match self.encoding {
                TextEncoding::Wide => WIDE.contains(&encoding.as_str()),
                TextEncoding::Narrow => encoding == "utf-8" || NARROW.contains(&encoding.as_str()),
                TextEncoding::Decoded => true,
            };
            let mut known = OTHERS.iter().chain(&NARROW).chain(&WIDE);
            let is_known = known.any(|known| encoding.starts_with(known));
            match (fits, is_known) {
                (true, _) => {}
                (false, true) => return Err((end, XmlFault::Encoding)),
                (false, false) => return Err((end, XmlFault::UnknownEncoding)),
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
        match content
            .char_indices()
            .find(|(_, character)| !is_xml_character(*character))
        {
            Some((at, _)) => Err((start + at, XmlFault::Character)),
            None => Ok(()),
        }
    }

    fn fault(&self, error: &Error, start: usize, at: usize) -> Fault {
        let rest = self.text.get(at..).unwrap_or_default();
        match error {
            Error::Syntax(SyntaxError::InvalidBangMarkup) => (start + "<!".len(), XmlFault::Syntax),
            Error::Syntax(SyntaxError::UnclosedCData) => (self.text.len(), XmlFault::CData),
            Error::Syntax(SyntaxError::UnclosedComment) => (self.text.len(), XmlFault::Comment),
            Error::Syntax(SyntaxError::UnclosedPI) => (self.text.len(), XmlFault::Instruction),
            Error::Syntax(_) => self.unclosed_tag(start),
            Error::IllFormed(IllFormedError::UnmatchedEndTag(_))
                if self
                    .text
                    .get(..start)
                    .is_some_and(|before| before.chars().all(is_space)) =>
            {
                (start + 1, XmlFault::Name)
            }
            Error::IllFormed(IllFormedError::MismatchedEndTag { .. } | IllFormedError::UnmatchedEndTag(_)) => {
                (at + rest.find('>').unwrap_or(rest.len()), XmlFault::EndTag)
            }
            Error::IllFormed(IllFormedError::DoubleHyphenInComment) => {
                let inside = start + "<!--".len();
                let hyphens = self.text.get(inside..).and_then(|rest| rest.find("--"));
                (inside + hyphens.unwrap_or_default() + "--".len(), XmlFault::TagEnd)
            }
            Error::IllFormed(IllFormedError::UnclosedReference) => {
                let behind = rest.strip_prefix('&').unwrap_or(rest);
                let (place, fault) = tag::unclosed(behind);
                (at + 1 + place, fault)
            }
            Error::IllFormed(_) => (at, XmlFault::DeclarationSyntax),
            Error::Io(_) | Error::InvalidAttr(_) | Error::Encoding(_) | Error::Escape(_) | Error::Namespace(_) => {
                (at, XmlFault::Syntax)
            }
        }
    }

    /// What a tag without its end lacks.
    fn unclosed_tag(&self, start: usize) -> Fault {
        let end = self.text.len();
        let inside = self.text.get(start + 1..).unwrap_or_default();
        if let Some(name) = inside.strip_prefix('/') {
            let is_whole = tag::whole_name(name).is_ok();
            return (end, if is_whole { XmlFault::TagEnd } else { XmlFault::End });
        }
        match tag::parse(inside) {
            Err((at, fault)) if !inside.is_empty() && !inside.starts_with(['?', '!']) => (start + 1 + at, fault),
            Ok(_) | Err(_) => (end, XmlFault::End),
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

/// An error at the character of a place of the text, at the last one behind its end. A line ends with a line feed, a
/// carriage return, or both.
fn placed(text: &str, at: usize, fault: XmlFault) -> XmlError {
    let last = text.char_indices().next_back().map_or(0, |(at, _)| at);
    let mut at = at.min(last);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let before = text.get(..at).unwrap_or_default();
    let (mut line, mut line_start) = (1, 0);
    for (end, sign) in before.match_indices(['\n', '\r']) {
        if sign == "\n" || text.as_bytes().get(end + 1) != Some(&b'\n') {
            (line, line_start) = (line + 1, end + 1);
        }
    }
    XmlError {
        fault,
        line,
        character: before.get(line_start..).map_or(0, |line| line.chars().count()) + 1,
    }
}

/// The namespace of the prefix `xml`.
pub(super) const XML_NAMESPACE: &str = "http://www.w3.org/XML/1998/namespace";
/// The namespace of declarations.
const XMLNS_NAMESPACE: &str = "http://www.w3.org/2000/xmlns/";
