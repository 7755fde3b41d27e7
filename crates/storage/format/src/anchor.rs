//! An anchor: the state of a database at one time, as text, to be kept elsewhere (FORMAT 10).
//!
//! - one-text-per-value: [`Anchor::encode`] has one text for each value, and [`Anchor::parse`]
//!   accepts no other.
//! - mac-before-use: [`Seal::find`] needs no key. Its results may be trusted only after the MAC has
//!   been checked.

mod short;

use std::collections::BTreeMap;
use std::fmt::Write;

use selenite_cipher::{DatabaseId, SessionId};

use crate::{FormatError, PageSize};

pub use short::{NamedPage, SealingEpoch, ShortAnchor};

/// The first eight bytes of a page's tag: they identify this image of the page among all that were ever sealed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mark(pub [u8; 8]);

/// The state of a database.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Anchor {
    /// The database.
    pub database_id: DatabaseId,
    /// The identifier of the key that authenticates the text.
    pub key_id: [u8; 16],
    /// The creation time: seconds since 1970-01-01 UTC.
    pub made: u64,
    /// The superblock's generation.
    pub generation: u64,
    /// The size of a page.
    pub page_size: PageSize,
    /// The change counter in SQLite's header.
    pub change_counter: u32,
    /// The root hash over the numbers and trailers of all pages (FORMAT 10.4).
    pub root: [u8; 32],
    /// The highest counter of each known session.
    pub sessions: BTreeMap<SessionId, u32>,
    /// The mark of every page, from page 1 on; zeros for the lock page.
    pub marks: Vec<Mark>,
}

/// The authenticated bytes, their MAC, and the key and state that the first lines state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seal<'a> {
    /// All but the last line.
    pub maced: &'a [u8],
    /// The MAC in the last line.
    pub mac: [u8; 32],
    /// The database id in the text.
    pub database_id: DatabaseId,
    /// The key id in the text.
    pub key_id: [u8; 16],
    /// The generation in the text.
    pub generation: u64,
}

/// The number of pages on one line and in one leaf of the root: 256 KiB of the file.
#[must_use]
pub fn run_page_count(page_size: PageSize) -> u32 {
    RUN_SIZE / page_size.as_u32()
}

/// Whether bytes begin like an anchor of any version.
#[must_use]
pub fn is_anchor(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC.as_bytes())
}

impl<'a> Seal<'a> {
    /// Finds the MAC in an anchor's bytes, and parses the first lines.
    ///
    /// # Errors
    /// [`FormatError::AnchorMagic`], [`FormatError::AnchorVersion`], [`FormatError::AnchorCut`];
    /// [`FormatError::AnchorLine`] for one of the first lines.
    pub fn find(bytes: &'a [u8]) -> Result<Self, FormatError> {
        Self::find_under(bytes, MAGIC)
    }

    /// As [`Seal::find`], of a text with this first line up to its version.
    fn find_under(bytes: &'a [u8], magic: &str) -> Result<Self, FormatError> {
        let mut lines = Lines::new(bytes);
        lines.heading(magic)?;
        let maced_size = bytes.len().checked_sub(MAC_LINE_SIZE).ok_or(FormatError::AnchorCut)?;
        let (maced, last) = bytes.split_at(maced_size);
        let mac = std::str::from_utf8(last)
            .ok()
            .and_then(|line| line.strip_suffix('\n')?.strip_prefix("mac "))
            .and_then(unhex)
            .filter(|_| maced.last() == Some(&b'\n'))
            .ok_or(FormatError::AnchorCut)?;
        Ok(Self {
            maced,
            mac,
            database_id: DatabaseId(lines.digits("database")?),
            key_id: lines.digits("key")?,
            generation: {
                lines.number::<u64>("made")?;
                lines.number("generation")?
            },
        })
    }
}

impl Anchor {
    /// The text, with the MAC that `mac` computes over all preceding lines.
    pub fn encode(&self, mac: impl FnOnce(&[u8]) -> [u8; 32]) -> String {
        let mut text = String::with_capacity(self.marks.len() * 17 + self.sessions.len() * 52 + 512);
        let head = [
            format!("{MAGIC}{VERSION}"),
            format!("database {}", Hex(&self.database_id.0)),
            format!("key {}", Hex(&self.key_id)),
            format!("made {}", self.made),
            format!("generation {}", self.generation),
            format!("page-size {}", self.page_size.as_u32()),
            format!("pages {}", self.marks.len()),
            format!("change-counter {}", self.change_counter),
            format!("root {}", Hex(&self.root)),
        ];
        for line in head {
            text.push_str(&line);
            text.push('\n');
        }
        write_sessions(&mut text, &self.sessions);
        let run = usize::try_from(run_page_count(self.page_size)).unwrap_or(1);
        for (index, marks) in self.marks.chunks(run).enumerate() {
            write!(text, "run {} ", index * run + 1).expect("a string takes any text");
            for mark in marks {
                write!(text, "{}", Hex(&mark.0)).expect("a string takes any text");
            }
            text.push('\n');
        }
        sign(text, mac)
    }

    /// Parses an anchor's text. The caller has checked the MAC ([`Seal`]).
    ///
    /// # Errors
    /// As [`Seal::find`]; [`FormatError::AnchorLine`].
    pub fn parse(bytes: &[u8]) -> Result<Self, FormatError> {
        let seal = Seal::find(bytes)?;
        let mut lines = Lines::new(seal.maced);
        lines.heading(MAGIC)?;
        let (database_id, key_id, made, generation, page_size) = lines.head()?;
        let page_count: u32 = lines.number("pages")?;
        let change_counter = lines.number("change-counter")?;
        let root = lines.digits("root")?;
        let sessions = lines.sessions()?;
        let marks = marks(&mut lines, page_size, page_count)?;
        lines.end()?;
        Ok(Self {
            database_id,
            key_id,
            made,
            generation,
            page_size,
            change_counter,
            root,
            sessions,
            marks,
        })
    }

    /// The number of pages in the anchor.
    #[must_use]
    pub fn page_count(&self) -> u32 {
        u32::try_from(self.marks.len()).unwrap_or(u32::MAX)
    }
}

fn write_sessions(text: &mut String, sessions: &BTreeMap<SessionId, u32>) {
    for (session, counter) in sessions {
        writeln!(text, "session {} {counter}", Hex(&session.0)).expect("a string takes any text");
    }
}

/// Appends the line with the MAC of all lines.
fn sign(mut text: String, mac: impl FnOnce(&[u8]) -> [u8; 32]) -> String {
    let mac = mac(text.as_bytes());
    writeln!(text, "mac {}", Hex(&mac)).expect("a string takes any text");
    text
}

/// Parses the lines of runs for `page_count` pages.
fn marks(lines: &mut Lines<'_>, page_size: PageSize, page_count: u32) -> Result<Vec<Mark>, FormatError> {
    let run = run_page_count(page_size);
    // The vector grows with the input: with a capacity of `page_count`, one line of text could request gigabytes.
    let mut marks = Vec::new();
    let mut first = 1;
    while first <= page_count {
        let rest = lines
            .next_if("run")
            .ok_or(FormatError::AnchorLine { line: lines.line + 1 })?;
        let (number_text, digits) = rest.split_once(' ').ok_or(lines.fault())?;
        let count = run.min(page_count - first + 1);
        let size = usize::try_from(count).unwrap_or(0) * 16;
        if number::<u32>(number_text) != Some(first) || digits.len() != size || !digits.is_ascii() {
            return Err(lines.fault());
        }
        for at in (0..size).step_by(16) {
            marks.push(Mark(unhex(&digits[at..at + 16]).ok_or(lines.fault())?));
        }
        let Some(next) = first.checked_add(count) else { break };
        first = next;
    }
    Ok(marks)
}

/// An iterator over the lines of a text.
struct Lines<'a> {
    rest: &'a [u8],
    line: u64,
}

impl<'a> Lines<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, line: 0 }
    }

    /// Checks the first line: magic and version.
    fn heading(&mut self, magic: &str) -> Result<(), FormatError> {
        if !self.rest.starts_with(magic.as_bytes()) {
            return Err(if short::is_short(self.rest) {
                FormatError::ShortAnchor
            } else {
                FormatError::AnchorMagic
            });
        }
        match self.next() {
            Some(line) if line.strip_prefix(magic) == Some(VERSION) => Ok(()),
            Some(_) => Err(FormatError::AnchorVersion),
            None => Err(FormatError::AnchorCut),
        }
    }

    /// The next line, if it is complete and valid UTF-8.
    fn next(&mut self) -> Option<&'a str> {
        let end = self.rest.iter().position(|&byte| byte == b'\n')?;
        let line = std::str::from_utf8(&self.rest[..end]).ok()?;
        self.rest = &self.rest[end + 1..];
        self.line += 1;
        Some(line)
    }

    /// The value after `name` on the next line, if the line begins with that name.
    fn next_if(&mut self, name: &str) -> Option<&'a str> {
        let is_next = self
            .rest
            .strip_prefix(name.as_bytes())
            .is_some_and(|rest| rest.first() == Some(&b' '));
        if !is_next {
            return None;
        }
        self.next()?.get(name.len() + 1..)
    }

    fn value(&mut self, name: &str) -> Result<&'a str, FormatError> {
        let line = self.line + 1;
        self.next_if(name).ok_or(FormatError::AnchorLine { line })
    }

    fn digits<const N: usize>(&mut self, name: &str) -> Result<[u8; N], FormatError> {
        let text = self.value(name)?;
        unhex(text).ok_or(self.fault())
    }

    fn number<T: std::str::FromStr + std::fmt::Display>(&mut self, name: &str) -> Result<T, FormatError> {
        let text = self.value(name)?;
        number(text).ok_or(self.fault())
    }

    /// The lines that anchors of both kinds begin with: database, key, time, generation, page size.
    fn head(&mut self) -> Result<(DatabaseId, [u8; 16], u64, u64, PageSize), FormatError> {
        let database_id = DatabaseId(self.digits("database")?);
        let key_id = self.digits("key")?;
        let made = self.number("made")?;
        let generation = self.number("generation")?;
        let page_size = self.number::<u32>("page-size")?;
        let page_size = PageSize::try_from(page_size).map_err(|_| self.fault())?;
        Ok((database_id, key_id, made, generation, page_size))
    }

    fn sessions(&mut self) -> Result<BTreeMap<SessionId, u32>, FormatError> {
        let mut sessions = BTreeMap::new();
        while let Some(rest) = self.next_if("session") {
            let (session, counter) = rest.split_once(' ').ok_or(self.fault())?;
            let session = SessionId(unhex(session).ok_or(self.fault())?);
            let is_next = sessions.last_key_value().is_none_or(|(&last, _)| last < session);
            let counter = number(counter).filter(|_| is_next).ok_or(self.fault())?;
            sessions.insert(session, counter);
        }
        Ok(sessions)
    }

    fn end(&self) -> Result<(), FormatError> {
        let line = self.line + 1;
        self.rest
            .is_empty()
            .then_some(())
            .ok_or(FormatError::AnchorLine { line })
    }

    /// The error for the line just read.
    fn fault(&self) -> FormatError {
        FormatError::AnchorLine { line: self.line }
    }
}

/// `one-text-per-value`: a number in canonical form: no sign, no leading zero.
fn number<T: std::str::FromStr + std::fmt::Display>(text: &str) -> Option<T> {
    text.parse().ok().filter(|number: &T| number.to_string() == text)
}

/// `one-text-per-value`: lower-case hexadecimal digits, two per byte.
fn unhex<const N: usize>(digits: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let digits = digits.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
    }
    Some(bytes)
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

/// Displays bytes as lower-case hexadecimal digits.
struct Hex<'a>(&'a [u8]);

impl std::fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

const MAGIC: &str = "selenite anchor ";
const VERSION: &str = "1";
/// `mac `, 64 digits and the line ending.
const MAC_LINE_SIZE: usize = 69;
/// 256 KiB: a line of about 1000 digits, and a read whose overhead is small.
const RUN_SIZE: u32 = 262_144;

#[cfg(test)]
mod tests;
