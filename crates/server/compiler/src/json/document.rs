//! A JSON document as a tree of ranges of its text.

use selenite_types::utf16_length;

use crate::SqlError;

/// The kind of a JSON value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// `null`.
    Null,
    /// A string.
    String,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Kind {
    /// Whether it is an array or an object.
    pub fn is_container(self) -> bool {
        matches!(self, Self::Array | Self::Object)
    }
}

/// A value in a document.
#[derive(Clone, Debug)]
struct Node {
    kind: Kind,
    /// The range of the value's text; `end` is 0 until the value is complete.
    start: usize,
    end: usize,
    /// The range of the member's name, without its quotes.
    name: (usize, usize),
    /// The index of the node after this one and all nodes in it.
    next: usize,
}

/// A JSON document, which may be malformed: it is read as far as it makes sense.
pub(crate) struct Document<'a> {
    text: &'a str,
    nodes: Vec<Node>,
    fault: Option<Fault>,
}

/// Where a document does not make sense.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// At this byte.
    At(usize),
    /// More than [`DEPTH_MAX`] levels.
    Depth,
}

/// The index of a value in its document: the root is 0.
pub(crate) type NodeIndex = usize;

impl<'a> Document<'a> {
    /// Reads a document, whose root is an array or an object.
    pub fn read(text: &'a str) -> Self {
        Self::read_root(text, false)
    }

    /// Reads a document whose root may be a scalar.
    pub fn read_any(text: &'a str) -> Self {
        Self::read_root(text, true)
    }

    fn read_root(text: &'a str, any: bool) -> Self {
        let mut reader = Reader {
            text,
            at: 0,
            nodes: Vec::new(),
        };
        let fault = reader.document(any).err();
        let count = reader.nodes.len();
        for node in reader.nodes.iter_mut().filter(|node| node.end == 0) {
            node.next = count;
        }
        Self {
            text,
            nodes: reader.nodes,
            fault,
        }
    }

    /// Whether the whole text is one document.
    pub fn is_valid(&self) -> bool {
        self.fault.is_none()
    }

    /// Whether it is nested too deeply.
    pub fn is_too_deep(&self) -> bool {
        matches!(self.fault, Some(Fault::Depth))
    }

    /// The error of the document's fault: 13609 in this state, or 13606.
    pub fn error(&self, state: u8) -> Option<SqlError> {
        Some(match self.fault? {
            Fault::Depth => SqlError::json_too_deep(1),
            Fault::At(at) => {
                let before = self.text.get(..at).unwrap_or_default();
                let character = self.text.get(at..).and_then(|rest| rest.chars().next());
                SqlError::json_text_syntax(character.unwrap_or('.'), utf16_length(before), state)
            }
        })
    }

    /// The kind of a value.
    pub fn kind(&self, node: NodeIndex) -> Kind {
        self.nodes.get(node).map_or(Kind::Null, |node| node.kind)
    }

    /// Whether there is a root.
    pub fn has_root(&self) -> bool {
        !self.nodes.is_empty()
    }

    /// Whether a value was read to its end.
    pub fn is_complete(&self, node: NodeIndex) -> bool {
        self.nodes.get(node).is_some_and(|node| node.end > 0)
    }

    /// The range of a value's text.
    pub fn range(&self, node: NodeIndex) -> (usize, usize) {
        self.nodes.get(node).map_or((0, 0), |node| (node.start, node.end))
    }

    /// A value's text.
    pub fn text(&self, node: NodeIndex) -> &'a str {
        let (start, end) = self.range(node);
        self.text.get(start..end).unwrap_or_default()
    }

    /// The document's text.
    pub fn source(&self) -> &'a str {
        self.text
    }

    /// The text of a member's name between its quotes, as written.
    pub fn name(&self, node: NodeIndex) -> &'a str {
        let (start, end) = self.nodes.get(node).map_or((0, 0), |node| node.name);
        self.text.get(start..end).unwrap_or_default()
    }

    /// The position of the quote before a member's name.
    pub fn name_start(&self, node: NodeIndex) -> usize {
        self.nodes.get(node).map_or(0, |node| node.name.0.saturating_sub(1))
    }

    /// The values in an array or object, in order.
    pub fn children(&self, node: NodeIndex) -> impl Iterator<Item = NodeIndex> + '_ {
        let parent = self.nodes.get(node).filter(|parent| parent.kind.is_container());
        let end = parent.map_or(0, |parent| parent.next);
        let mut at = node + 1;
        std::iter::from_fn(move || {
            let child = self.nodes.get(at).filter(|_| at < end)?;
            let found = at;
            at = child.next.max(at + 1);
            Some(found)
        })
    }
}

/// Reads a document from left to right.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    nodes: Vec<Node>,
}

impl Reader<'_> {
    fn document(&mut self, any: bool) -> Result<(), Fault> {
        self.skip_spaces();
        match self.peek() {
            Some(b'{' | b'[') => {}
            Some(_) if any => {}
            Some(_) | None => return Err(Fault::At(self.at)),
        }
        self.value((0, 0), 0)?;
        self.skip_spaces();
        match self.at < self.text.len() {
            true => Err(Fault::At(self.at)),
            false => Ok(()),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_spaces(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn value(&mut self, name: (usize, usize), depth: usize) -> Result<(), Fault> {
        if depth > DEPTH_MAX {
            return Err(Fault::Depth);
        }
        let index = self.nodes.len();
        let start = self.at;
        let (kind, end) = match self.peek() {
            Some(b'{') => (Kind::Object, None),
            Some(b'[') => (Kind::Array, None),
            Some(b'"') => (Kind::String, Some(self.string()?)),
            Some(_) => {
                let kind = self.token()?;
                (kind, Some(self.at))
            }
            None => return Err(Fault::At(self.at)),
        };
        self.nodes.push(Node {
            kind,
            start,
            end: end.unwrap_or(0),
            name,
            next: index + 1,
        });
        if end.is_some() {
            return Ok(());
        }
        self.at += 1;
        self.members(kind == Kind::Object, depth)?;
        let (end, next) = (self.at, self.nodes.len());
        if let Some(node) = self.nodes.get_mut(index) {
            node.end = end;
            node.next = next;
        }
        Ok(())
    }

    /// The members of an object, or the elements of an array, and the closing bracket.
    fn members(&mut self, is_object: bool, depth: usize) -> Result<(), Fault> {
        let close = if is_object { b'}' } else { b']' };
        self.skip_spaces();
        if self.peek() == Some(close) {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.skip_spaces();
            let mut name = (0, 0);
            if is_object {
                if self.peek() != Some(b'"') {
                    return Err(Fault::At(self.at));
                }
                let start = self.at + 1;
                name = (start, self.string()? - 1);
                self.skip_spaces();
                if self.peek() != Some(b':') {
                    return Err(Fault::At(self.at));
                }
                self.at += 1;
                self.skip_spaces();
            }
            self.value(name, depth + 1)?;
            self.skip_spaces();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(byte) if byte == close => {
                    self.at += 1;
                    return Ok(());
                }
                Some(_) | None => return Err(Fault::At(self.at)),
            }
        }
    }

    /// A string; returns the position after it. A fault in it is reported at its opening quote.
    fn string(&mut self) -> Result<usize, Fault> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut at = start + 1;
        loop {
            match bytes.get(at) {
                Some(b'"') => {
                    self.at = at + 1;
                    return Ok(self.at);
                }
                Some(b'\\') => match bytes.get(at + 1) {
                    Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => at += 2,
                    Some(b'u') => {
                        let digits = bytes.get(at + 2..at + 6);
                        if !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
                            return Err(Fault::At(start));
                        }
                        at += 6;
                    }
                    Some(_) | None => return Err(Fault::At(start)),
                },
                Some(0..=0x1f) | None => return Err(Fault::At(start)),
                Some(_) => at += 1,
            }
        }
    }

    /// A word or number, up to a space or a delimiter. A fault in it is reported at its first character.
    fn token(&mut self) -> Result<Kind, Fault> {
        let start = self.at;
        let rest = self.text.as_bytes().get(start..).unwrap_or_default();
        let is_end = |byte: &u8| {
            matches!(
                byte,
                b' ' | b'\t' | b'\n' | b'\r' | b',' | b']' | b'}' | b':' | b'[' | b'{' | b'"'
            )
        };
        let size = rest.iter().position(is_end).unwrap_or(rest.len());
        let token = rest.get(..size).unwrap_or_default();
        let kind = match token {
            b"true" | b"false" => Kind::Boolean,
            b"null" => Kind::Null,
            _ if is_number(token) => Kind::Number,
            _ => return Err(Fault::At(start)),
        };
        self.at += size;
        Ok(kind)
    }
}

/// Whether a token is a number by RFC 8259.
fn is_number(token: &[u8]) -> bool {
    let unsigned = token.strip_prefix(b"-").unwrap_or(token);
    let digits = |bytes: &[u8]| bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = digits(unsigned);
    if whole == 0 || whole > 1 && unsigned.first() == Some(&b'0') {
        return false;
    }
    let mut rest = unsigned.get(whole..).unwrap_or_default();
    if let Some(fraction) = rest.strip_prefix(b".") {
        let count = digits(fraction);
        if count == 0 {
            return false;
        }
        rest = fraction.get(count..).unwrap_or_default();
    }
    if let Some(exponent) = rest.strip_prefix(b"e").or_else(|| rest.strip_prefix(b"E")) {
        let exponent = exponent
            .strip_prefix(b"+")
            .or_else(|| exponent.strip_prefix(b"-"))
            .unwrap_or(exponent);
        let count = digits(exponent);
        return count > 0 && count == exponent.len();
    }
    rest.is_empty()
}

/// SQL Server's limit of nested containers.
const DEPTH_MAX: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_keeps_its_text() {
        let document = Document::read(" {\"a\" : [1, {\"b\":null}], \"c\":\"x\"} ");
        assert!(document.is_valid());
        let members: Vec<(&str, &str)> = document
            .children(0)
            .map(|child| (document.name(child), document.text(child)))
            .collect();
        assert_eq!(members, [("a", "[1, {\"b\":null}]"), ("c", "\"x\"")]);
        assert_eq!(document.text(0), "{\"a\" : [1, {\"b\":null}], \"c\":\"x\"}");
    }

    #[test]
    fn a_fault_is_reported_where_its_token_begins() {
        for (text, character, position) in [
            ("{\"a\":1x}", '1', 5),
            ("{\"a\":01}", '0', 5),
            ("{\"a\":\"x}", '"', 5),
            ("{x}", 'x', 1),
            ("{not valid}", 'n', 1),
            ("{\"a\":1", '.', 6),
            ("", '.', 0),
            ("1", '1', 0),
            ("{\"\u{1f600}\":1}x", 'x', 8),
            ("[1,]", ']', 3),
            ("[1 2]", '2', 3),
        ] {
            let document = Document::read(text);
            let error = document.error(1).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(
                error.text(),
                format!(
                    "JSON text is not properly formatted. Unexpected character '{character}' is found at position {position}."
                ),
                "{text}"
            );
        }
    }

    #[test]
    fn numbers_are_those_of_the_standard() {
        for good in ["0", "-0", "10.5", "1e5", "-1.25E-10", "1E+3"] {
            assert!(is_number(good.as_bytes()), "{good}");
        }
        for bad in ["", "-", "01", "1.", ".5", "1e", "1e+", "+1", "0x1", "NaN", "1.5.5"] {
            assert!(!is_number(bad.as_bytes()), "{bad}");
        }
    }

    #[test]
    fn nesting_is_limited() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(Document::read(&nested(129)).is_valid());
        assert_eq!(Document::read(&nested(130)).error(1).unwrap().number(), 13606);
        assert_eq!(Document::read(&"[".repeat(1_000_000)).error(1).unwrap().number(), 13606);
    }
}
