//! The position of a node in the text of its batch.

use core::fmt;
use core::ops::Range;

/// A node's place in the batch: the line of its first character, and its range of bytes.
///
/// The parser refuses texts longer than `u32` counts, so a range always fits.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Position {
    /// The line in the batch, from 1, on which the node begins.
    pub line: u32,
    /// The byte of the batch's UTF-8 text at which the node begins.
    pub start: u32,
    /// The byte after the node's last one.
    pub end: u32,
}

impl Position {
    /// The range of bytes in the batch's text.
    #[must_use]
    pub fn range(self) -> Range<usize> {
        let index = |at: u32| usize::try_from(at).unwrap_or(usize::MAX);
        index(self.start)..index(self.end)
    }

    /// The node's own text in `source`, which must be the text that was parsed; of any other it may be empty.
    #[must_use]
    pub fn text(self, source: &str) -> &str {
        source.get(self.range()).unwrap_or("")
    }

    /// From this node's beginning to the end of `last`.
    #[must_use]
    pub fn to(self, last: Self) -> Self {
        Self {
            end: last.end.max(self.end),
            ..self
        }
    }
}

/// `@line:start..end`, short because a printed tree is full of them.
impl fmt::Debug for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}:{}..{}", self.line, self.start, self.end)
    }
}
