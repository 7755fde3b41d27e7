//! Text search.
//!
//! - `fold-then-find-bytes`: characters that are equal under the collation fold to the same character.
//!   So text is folded, and then searched as bytes, in linear time.

use std::borrow::Cow;
use std::str::Chars;

use memchr::memmem;
use selenite_types::{LikePattern, Value};

use crate::SqlError;
use crate::expr::HEAVY_SIZE;
use crate::functions::Arguments;

/// A text to search in.
pub(super) struct Haystack<'a> {
    text: &'a str,
    folded: Cow<'a, str>,
    order: selenite_types::Collation,
}

impl<'a> Haystack<'a> {
    /// Folds a text.
    ///
    /// Errors: 701; the error of cancellation.
    pub fn new(text: &'a str, call: &Arguments<'_>) -> Result<Self, SqlError> {
        Ok(Self {
            text,
            folded: folded(text, call)?,
            order: call.collation.named,
        })
    }

    /// The occurrences of `needle`, which is not empty: ranges of the text's bytes that do not overlap.
    ///
    /// Errors: as [`Haystack::new`].
    pub fn find_all(&'a self, needle: &str, call: &Arguments<'_>) -> Result<Occurrences<'a>, SqlError> {
        let needle = folded(needle, call)?;
        let size = needle.len();
        let finder = memmem::Finder::new(needle.as_bytes()).into_owned();
        // If folding keeps each character's size, positions in both texts are equal.
        let is_in_place = matches!(self.folded, Cow::Borrowed(_)) || self.text.is_ascii();
        Ok(Occurrences {
            finder,
            size,
            folded: self.folded.as_bytes(),
            rest: (!is_in_place).then(|| self.text.chars()),
            order: self.order,
            folded_at: 0,
            at: 0,
            found_end: 0,
        })
    }
}

/// The iterator of [`Haystack::find_all`].
pub(super) struct Occurrences<'a> {
    finder: memmem::Finder<'static>,
    size: usize,
    folded: &'a [u8],
    /// The characters after `at`; `None` if positions in the folded text are those of the text.
    rest: Option<Chars<'a>>,
    order: selenite_types::Collation,
    folded_at: usize,
    at: usize,
    found_end: usize,
}

impl Iterator for Occurrences<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        let from = self.found_end;
        let found = from + self.finder.find(self.folded.get(from..)?)?;
        self.found_end = found + self.size;
        let start = self.place(found);
        Some((start, self.place(self.found_end)))
    }
}

impl Occurrences<'_> {
    /// Maps a position in the folded text to one in the text. Positions must increase.
    fn place(&mut self, folded_at: usize) -> usize {
        let Some(rest) = &mut self.rest else {
            return folded_at;
        };
        while self.folded_at < folded_at {
            let Some(character) = rest.next() else { break };
            self.at += character.len_utf8();
            self.folded_at += self.order.fold(character).len_utf8();
        }
        self.at
    }
}

/// The text folded: characters that are equal under the collation become one.
fn folded<'a>(text: &'a str, call: &Arguments<'_>) -> Result<Cow<'a, str>, SqlError> {
    let order = call.collation.named;
    if order.order().is_exact() {
        return Ok(Cow::Borrowed(text));
    }
    if text.len() > HEAVY_SIZE {
        // A folded character has at most twice the bytes.
        call.environment.reserve(text.len().saturating_mul(2))?;
    }
    if text.is_ascii() {
        return Ok(Cow::Owned(text.to_ascii_lowercase()));
    }
    let mut folded = String::with_capacity(text.len());
    let mut polls = call.polls();
    for character in text.chars() {
        polls.step()?;
        folded.push(order.fold(character));
    }
    Ok(Cow::Owned(folded))
}

/// PATINDEX: the position of the first match, from 1; 0 if there is none.
pub(super) fn pattern_index(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let (pattern, text) = (call.text(0)?, call.text(1)?);
    let is_national = call.data_type(0).is_national() || call.data_type(1).is_national();
    let order = call.collation.named;
    let size = LikePattern::memory_size(pattern, text);
    if size > HEAVY_SIZE {
        call.environment.reserve(size)?;
    }
    let poll = &mut || call.environment.poll();
    let Some(tail) = pattern.strip_prefix('%') else {
        let is_match = LikePattern::new(pattern, None, order).matches_polling(text, is_national, poll)?;
        return call.length_result(usize::from(is_match));
    };
    let tail = LikePattern::new(tail.trim_start_matches('%'), None, order);
    call.length_result(tail.find(text, is_national, poll)?.map_or(0, |at| at + 1))
}
