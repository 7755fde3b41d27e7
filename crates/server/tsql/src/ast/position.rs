//! The position of a node in the text of its batch.

use core::fmt;
use core::ops::Range;

/// A node's position in the batch: the line of its first character, and its byte range.
///
/// The parser rejects texts longer than `u32::MAX` bytes, so a range always fits.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Position {
    /// The line of the batch, from 1, on which the node begins.
    pub line: u32,
    /// The offset of the node's first byte in the batch's UTF-8 text.
    pub start: u32,
    /// The offset after the node's last byte.
    pub end: u32,
}

impl Position {
    /// The byte range in the batch's text.
    #[must_use]
    pub fn range(self) -> Range<usize> {
        let index = |at: u32| usize::try_from(at).unwrap_or(usize::MAX);
        index(self.start)..index(self.end)
    }

    /// The node's text in `source`, which must be the parsed text; for any other text the result may be empty.
    #[must_use]
    pub fn text(self, source: &str) -> &str {
        source.get(self.range()).unwrap_or("")
    }

    /// The range from the start of this node to the end of `last`.
    #[must_use]
    pub fn to(self, last: Self) -> Self {
        Self {
            end: last.end.max(self.end),
            ..self
        }
    }
}

/// `@line:start..end`; short, because a debug-printed tree contains many positions.
impl fmt::Debug for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}:{}..{}", self.line, self.start, self.end)
    }
}
