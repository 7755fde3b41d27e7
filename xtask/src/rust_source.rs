//! A Rust source without its comments and strings, for finding words, attributes and functions by
//! counting brackets.
//!
//! - same-offsets: the masked code has the length and the line ends of the text, so an offset is
//!   valid in both.
//! - comments-are-blank: a comment is blank in the masked code; the content of a string or
//!   character literal is replaced by `_`.
//!
//! This is no parser: source that does not compile may be misread, and rustc reports it first.

use std::ops::Range;

mod mask;

/// A Rust source in its masked form.
pub struct RustSource {
    code: String,
    line_starts: Vec<usize>,
}

/// One attribute, `#[..]` or `#![..]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    /// The range from `#` to the end of `]`.
    pub span: Range<usize>,
    /// The text between the brackets, without white space and with masked strings.
    pub content: String,
    /// Whether it applies to the enclosing item: `#![..]`.
    pub is_inner: bool,
}

/// One function that has a body.
#[derive(Debug, PartialEq, Eq)]
pub struct Function<'a> {
    /// The name of the function.
    pub name: &'a str,
    /// The offset of the word `fn`.
    pub start: usize,
    /// The range between the braces.
    pub body: Range<usize>,
}

impl RustSource {
    /// Masks and indexes a source.
    pub fn new(text: &str) -> Self {
        let code = mask::mask(text);
        let line_starts = std::iter::once(0)
            .chain(code.match_indices('\n').map(|(at, _)| at + 1))
            .collect();
        Self { code, line_starts }
    }

    /// The masked code.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// The line of an offset, counted from 1.
    pub fn line(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= offset)
    }

    /// Every identifier, keyword and number of the code, with its offset.
    pub fn words(&self) -> impl Iterator<Item = (usize, &str)> {
        words(&self.code)
    }

    /// Every attribute.
    pub fn attributes(&self) -> Vec<Attribute> {
        let mut found = Vec::new();
        for (start, _) in self.code.match_indices('#') {
            let after = &self.code[start + 1..];
            let is_inner = after.starts_with('!');
            let open = start + 1 + usize::from(is_inner);
            if !self.code[open..].starts_with('[') {
                continue;
            }
            let Some(end) = self.closing(open) else {
                continue;
            };
            found.push(Attribute {
                span: start..end + 1,
                content: self.code[open + 1..end].split_whitespace().collect(),
                is_inner,
            });
        }
        found
    }

    /// Every function that has a body, nested ones too.
    pub fn functions(&self) -> Vec<Function<'_>> {
        let mut found = Vec::new();
        let mut words = self.words().peekable();
        while let Some((start, word)) = words.next() {
            if word != "fn" {
                continue;
            }
            let Some(&(name_at, name)) = words.peek() else {
                break;
            };
            // A function pointer type has no name: `fn(` or `fn (`.
            if self.code[start + 2..name_at].contains('(') {
                continue;
            }
            if let Some(body) = self.block_after(name_at) {
                found.push(Function { name, start, body });
            }
        }
        found
    }

    /// The parts that are compiled for tests only: items under `#[cfg(test)]` or `#[test]`.
    pub fn test_parts(&self) -> Vec<Range<usize>> {
        let mut parts = Vec::new();
        for attribute in self.attributes().iter().filter(|a| is_test_only(a)) {
            if attribute.is_inner {
                return std::iter::once(0..self.code.len()).collect();
            }
            let end = match self.item_end(attribute.span.end) {
                Some(ItemEnd::Block(body)) => body.end + 1,
                Some(ItemEnd::Semicolon(at)) => at + 1,
                None => self.code.len(),
            };
            parts.push(attribute.span.start..end);
        }
        parts
    }

    /// The names of modules declared here for tests only whose content is in other files.
    pub fn test_module_names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for attribute in self.attributes().iter().filter(|a| is_test_only(a)) {
            if let Some(ItemEnd::Semicolon(end)) = self.item_end(attribute.span.end) {
                let item: Vec<_> = words(&self.code[attribute.span.end..end]).collect();
                if let Some(at) = item.iter().position(|(_, word)| *word == "mod") {
                    names.extend(item.get(at + 1).map(|(_, name)| *name));
                }
            }
        }
        names
    }

    /// The range between the braces of the item that continues at `from`; `None` if it ends in `;`.
    fn block_after(&self, from: usize) -> Option<Range<usize>> {
        match self.item_end(from)? {
            ItemEnd::Block(body) => Some(body),
            ItemEnd::Semicolon(_) => None,
        }
    }

    /// The first `{..}` or `;` at or after `from` outside all other brackets.
    fn item_end(&self, from: usize) -> Option<ItemEnd> {
        let bytes = self.code.as_bytes();
        let mut at = from;
        while at < bytes.len() {
            match bytes[at] {
                b'(' | b'[' => at = self.closing(at)?,
                b'{' => return Some(ItemEnd::Block(at + 1..self.closing(at)?)),
                b';' => return Some(ItemEnd::Semicolon(at)),
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// The offset of the bracket that closes the one at `open`.
    fn closing(&self, open: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for (at, byte) in self.code.bytes().enumerate().skip(open) {
            match byte {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(at);
                    }
                }
                _ => {}
            }
        }
        None
    }
}

enum ItemEnd {
    Block(Range<usize>),
    Semicolon(usize),
}

fn is_test_only(attribute: &Attribute) -> bool {
    let content = attribute.content.as_str();
    // Code under `any(test, ..)` is compiled for other configurations, too.
    content == "test" || content == "cfg(test)" || content.starts_with("cfg(all(test,")
}

fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let base = code.as_ptr().addr();
    code.split(move |c| !is_word(c))
        .filter(|word| !word.is_empty())
        .map(move |word| (word.as_ptr().addr() - base, word))
}

#[cfg(test)]
mod tests;
