//! A short anchor: what the newest commits wrote, for a check whenever a database is opened (FORMAT 10.8).

use std::collections::BTreeMap;
use std::fmt::Write;

use selenite_cipher::{DatabaseId, Epoch, SessionId};

use super::{Hex, Lines, MAC_LINE_SIZE, Mark, Seal, VERSION, number, sign, unhex, write_sessions};
use crate::archive::{LogEnd, LogPosition};
use crate::{FormatError, PageSize};

/// The newest state of a database, as far as a check in a moment needs it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShortAnchor {
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
    /// Counts the short anchors of a database; one more in each.
    pub number: u64,
    /// The epoch that pages are sealed under. Missing in anchors from before it was written.
    pub sealing: Option<SealingEpoch>,
    /// The end of the log, if it had frames.
    pub log: Option<LogEnd>,
    /// The highest counter of each known session, [`ShortAnchor::SESSIONS_MAX`] at most.
    pub sessions: BTreeMap<SessionId, u32>,
    /// Page 1 and pages that the newest commits wrote, [`ShortAnchor::PAGES_MAX`] at most.
    pub pages: BTreeMap<u32, NamedPage>,
}

/// The epoch that pages are sealed under.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SealingEpoch {
    /// Its number.
    pub epoch: Epoch,
    /// The identifier of its data key: histories that part have epochs of the same number.
    pub key_id: [u8; 16],
}

/// The image of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NamedPage {
    /// The epoch that it is sealed under.
    pub epoch: Epoch,
    /// Its mark.
    pub mark: Mark,
}

impl ShortAnchor {
    /// The highest number of sessions.
    pub const SESSIONS_MAX: usize = 1024;
    /// The highest number of pages.
    pub const PAGES_MAX: usize = 257;

    /// The text, with the MAC that `mac` computes over all preceding lines.
    pub fn encode(&self, mac: impl FnOnce(&[u8]) -> [u8; 32]) -> String {
        let mut text = format!(
            "{MAGIC}{VERSION}\ndatabase {}\nkey {}\nmade {}\ngeneration {}\npage-size {}\nnumber {}\n",
            Hex(&self.database_id.0),
            Hex(&self.key_id),
            self.made,
            self.generation,
            self.page_size.as_u32(),
            self.number,
        );
        if let Some(SealingEpoch { epoch, key_id }) = &self.sealing {
            writeln!(text, "epoch {} {}", epoch.0, Hex(key_id)).expect("a string takes any text");
        }
        if let Some(LogEnd { position, checksum }) = &self.log {
            let (salts, checksum) = (Hex(&position.salts), Hex(checksum));
            writeln!(text, "log {salts} {} {checksum}", position.frames).expect("a string takes any text");
        }
        write_sessions(&mut text, &self.sessions);
        for (page_no, NamedPage { epoch, mark }) in &self.pages {
            writeln!(text, "page {page_no} {} {}", epoch.0, Hex(&mark.0)).expect("a string takes any text");
        }
        sign(text, mac)
    }

    /// Finds the MAC, and parses the first lines.
    ///
    /// # Errors
    /// As [`Seal::find`].
    pub fn seal(bytes: &[u8]) -> Result<Seal<'_>, FormatError> {
        Seal::find_under(bytes, MAGIC)
    }

    /// Parses a text. The caller has checked the MAC ([`ShortAnchor::seal`]).
    ///
    /// # Errors
    /// As [`Seal::find`]; [`FormatError::AnchorLine`].
    pub fn parse(bytes: &[u8]) -> Result<Self, FormatError> {
        let seal = Self::seal(bytes)?;
        let mut lines = Lines::new(seal.maced);
        lines.heading(MAGIC)?;
        let (database_id, key_id, made, generation, page_size) = lines.head()?;
        let number = lines.number("number")?;
        let sealing = sealing(&mut lines)?;
        let log = log(&mut lines)?;
        let sessions = lines.sessions()?;
        let pages = pages(&mut lines)?;
        lines.end()?;
        if sessions.len() > Self::SESSIONS_MAX || pages.len() > Self::PAGES_MAX {
            return Err(lines.fault());
        }
        Ok(Self {
            database_id,
            key_id,
            made,
            generation,
            page_size,
            number,
            sealing,
            log,
            sessions,
            pages,
        })
    }

    /// The complete ones among several in a row, the last one first. The last may be cut, by a writer that was killed.
    pub fn last_of(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
        let begins = move |at: usize| bytes[at..].starts_with(MAGIC.as_bytes()) && (at == 0 || bytes[at - 1] == b'\n');
        let mut end = bytes.len();
        let starts = (0..bytes.len()).rev().filter(move |&at| begins(at));
        // One that was altered does not hide those before it for long.
        starts
            .take(LOOKED_AT_MAX)
            .filter_map(move |start| {
                let one = &bytes[start..std::mem::replace(&mut end, start)];
                let mac = one.windows(MAC_LINE.len()).position(|part| part == MAC_LINE)?;
                one.get(..mac + 1 + MAC_LINE_SIZE)
            })
            .filter(|one| Self::seal(one).is_ok())
    }
}

fn sealing(lines: &mut Lines<'_>) -> Result<Option<SealingEpoch>, FormatError> {
    let Some(rest) = lines.next_if("epoch") else {
        return Ok(None);
    };
    let (epoch, key_id) = rest.split_once(' ').ok_or(lines.fault())?;
    let epoch = Epoch(number(epoch).ok_or(lines.fault())?);
    let key_id = unhex(key_id).ok_or(lines.fault())?;
    Ok(Some(SealingEpoch { epoch, key_id }))
}

fn log(lines: &mut Lines<'_>) -> Result<Option<LogEnd>, FormatError> {
    let Some(rest) = lines.next_if("log") else {
        return Ok(None);
    };
    let mut words = rest.split(' ');
    let mut end = || {
        let salts = unhex(words.next()?)?;
        let frames = number(words.next()?).filter(|&frames| frames > 0)?;
        let checksum = unhex(words.next()?)?;
        let position = LogPosition { salts, frames };
        words.next().is_none().then_some(LogEnd { position, checksum })
    };
    end().ok_or(lines.fault()).map(Some)
}

fn pages(lines: &mut Lines<'_>) -> Result<BTreeMap<u32, NamedPage>, FormatError> {
    let mut pages: BTreeMap<u32, NamedPage> = BTreeMap::new();
    while let Some(rest) = lines.next_if("page") {
        let (page_no, image) = rest.split_once(' ').ok_or(lines.fault())?;
        let (epoch, mark) = image.split_once(' ').ok_or(lines.fault())?;
        let epoch = Epoch(number(epoch).ok_or(lines.fault())?);
        let page_no: u32 = number(page_no).filter(|&page_no| page_no > 0).ok_or(lines.fault())?;
        let is_next = pages.last_key_value().is_none_or(|(&last, _)| last < page_no);
        let mark = unhex(mark).filter(|_| is_next).ok_or(lines.fault())?;
        let mark = Mark(mark);
        pages.insert(page_no, NamedPage { epoch, mark });
    }
    Ok(pages)
}

/// Whether bytes begin like a short anchor of any version.
pub(super) fn is_short(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC.as_bytes())
}

const MAGIC: &str = "selenite short anchor ";
const LOOKED_AT_MAX: usize = 64;
const MAC_LINE: &[u8] = b"\nmac ";

#[cfg(test)]
mod tests {
    use super::*;

    fn one(number: u64) -> ShortAnchor {
        ShortAnchor {
            database_id: DatabaseId([1; 16]),
            key_id: [2; 16],
            made: 1_767_225_600,
            generation: 7,
            page_size: PageSize::DEFAULT,
            number,
            sealing: Some(SealingEpoch {
                epoch: Epoch(12),
                key_id: [9; 16],
            }),
            log: Some(LogEnd {
                position: LogPosition {
                    salts: [7; 8],
                    frames: 11,
                },
                checksum: [8; 8],
            }),
            sessions: BTreeMap::from([(SessionId([3; 16]), 9), (SessionId([4; 16]), 0)]),
            pages: BTreeMap::from([(1, named(1, 5)), (70_000, named(12, 6))]),
        }
    }

    fn named(epoch: u32, mark: u8) -> NamedPage {
        let mark = Mark([mark; 8]);
        NamedPage {
            epoch: Epoch(epoch),
            mark,
        }
    }

    fn text(number: u64) -> String {
        one(number).encode(selenite_cipher::sha256)
    }

    #[test]
    fn a_text_is_read_back_and_no_altered_byte_gives_the_same() {
        let text = text(3);
        assert_eq!(ShortAnchor::parse(text.as_bytes()).unwrap(), one(3));
        let parsed = |bytes: &[u8]| {
            ShortAnchor::parse(bytes)
                .ok()
                .map(|found| (found, ShortAnchor::seal(bytes).unwrap().mac))
        };
        for at in 0..text.len() {
            assert!(ShortAnchor::parse(&text.as_bytes()[..at]).is_err(), "{at}");
            let mut altered = text.clone().into_bytes();
            altered[at] ^= 1;
            assert_ne!(parsed(&altered), parsed(text.as_bytes()), "{at}");
        }
    }

    #[test]
    fn it_is_written_as_the_format_says() {
        let text = text(3);
        let mac = text.split_once("mac ").unwrap().1;
        let expected = format!(
            "selenite short anchor 1\ndatabase {}\nkey {}\nmade 1767225600\ngeneration 7\npage-size 4096\nnumber 3\n\
             epoch 12 {}\nlog {} 11 {}\nsession {} 9\nsession {} 0\npage 1 1 {}\npage 70000 12 {}\nmac {mac}",
            "01".repeat(16),
            "02".repeat(16),
            "09".repeat(16),
            "07".repeat(8),
            "08".repeat(8),
            "03".repeat(16),
            "04".repeat(16),
            "05".repeat(8),
            "06".repeat(8),
        );
        assert_eq!((text.as_str(), mac.len()), (expected.as_str(), 65));
    }

    #[test]
    fn one_without_an_epoch_is_read() {
        let without = ShortAnchor {
            sealing: None,
            ..one(3)
        };
        let text = without.encode(selenite_cipher::sha256);
        assert!(!text.contains("epoch"));
        assert_eq!(ShortAnchor::parse(text.as_bytes()).unwrap(), without);
    }

    #[test]
    fn more_than_are_written_are_refused() {
        let mut many = one(1);
        many.pages = (1..=258).map(|page_no| (page_no, named(1, 0))).collect();
        assert!(ShortAnchor::parse(many.encode(|_| [0; 32]).as_bytes()).is_err());
        let mut many = one(1);
        many.sessions = (0..=1024_u32)
            .map(|number| {
                (
                    SessionId([[0; 12].as_slice(), &number.to_be_bytes()].concat().try_into().unwrap()),
                    1,
                )
            })
            .collect();
        assert!(ShortAnchor::parse(many.encode(|_| [0; 32]).as_bytes()).is_err());
    }

    fn last(bytes: &str) -> Vec<String> {
        let found = ShortAnchor::last_of(bytes.as_bytes());
        found.map(|one| String::from_utf8(one.to_vec()).unwrap()).collect()
    }

    #[test]
    fn the_last_complete_one_is_found_however_the_next_is_cut() {
        let whole = text(1) + &text(2);
        let next = text(3);
        for cut in 0..next.len() {
            let bytes = whole.clone() + &next[..cut];
            assert_eq!(last(&bytes), [text(2), text(1)], "{cut}");
        }
        assert_eq!(last(&(whole + &next)), [text(3), text(2), text(1)]);
        assert!(last("").is_empty());
        assert!(last(&next[..next.len() - 1]).is_empty());
        // What follows a cut one is found, too: another process goes on with the file.
        let after_cut = format!("{}{}\n{}", text(1), &next[..50], text(4));
        assert_eq!(last(&after_cut), [text(4), text(1)]);
    }
}
