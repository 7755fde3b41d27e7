//! Authenticates the frames of a write-ahead log (FORMAT 6).
//!
//! - ends-as-recovery: the log ends where SQLite's recovery would end it (FORMAT 6.4). The frames
//!   after that are of an older log, or of a transaction that was rolled back or interrupted: no
//!   fault.
//! - bad-before-a-commit: but if an authentic commit of this log follows, the frame at which the
//!   log would end is bad, since committed transactions would be lost. This includes a frame with
//!   a damaged header, which looks like one of another log: so all headers are read, to the end of
//!   the file.
//! - given-up-frames: frames of this log that continue each other, but not the last good frame,
//!   were abandoned: a recovery ended the log before them, and writers continued from there with
//!   the same salts (walIndexRecover in wal.c keeps them). No fault.
//! - damaged-header: a log whose header is damaged is empty to SQLite. If frames in it open and
//!   end a transaction, the header is bad.
//! - overwritten-is-reread: if others overwrote the log while it was read, it is read again: a
//!   fault is one of the present log.
//! - later-epoch-twice: if the frame at which the log would end and the next one are both of an
//!   epoch above the highest (FORMAT 6.4 number 2), it is bad, too: no connection can open that
//!   log.

use std::collections::BTreeMap;

use selenite_format::FormatError;
use selenite_format::wal::{HEADER_SIZE, Header, WordOrder, frame_count};
use selenite_vfs::view::View;

use super::frame::{Frame, FrameAt, FrameReader};
use super::keys::look_again;
use super::{BadPage, Findings, Origin, Subject};
use crate::draft::beside;
use crate::raw_file::RawFile;
use crate::{EngineError, Watch};

/// The sizes of a log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WalReport {
    /// How many frames belong to committed transactions.
    pub committed_count: u64,
    /// How many more authentic frames follow them, of a transaction that is not committed.
    pub uncommitted_count: u64,
    /// Its size in bytes.
    pub size: u64,
}

/// A log, and the frames that a reader would get.
pub(super) struct LogFrames {
    /// Its sizes.
    pub(super) report: WalReport,
    /// The last committed frame of each page.
    pub(super) frames: BTreeMap<u32, FrameAt>,
    /// How many pages the database has after the last of its commits; 0 if it has none.
    pub(super) page_count: u32,
    /// Both salts of its header; `None` if that is invalid.
    pub(super) salts: Option<[u8; 8]>,
    /// The file.
    pub(super) file: RawFile,
}

/// Authenticates a log, if there is one.
pub(super) fn check(
    subject: &Subject<'_>,
    view: &mut View,
    findings: &mut Findings,
) -> Result<Option<LogFrames>, EngineError> {
    let looked = look_again((subject.keys, subject.file), view, subject.watch, |view| {
        let loaded = load(subject, view)?;
        let is_good = loaded.as_ref().is_none_or(|(_, bad)| bad.is_none());
        Ok((loaded, is_good))
    })?;
    Ok(looked.map(|(found, bad)| {
        if let Some(bad) = bad {
            findings.add(bad);
        }
        found
    }))
}

/// Reads a log, if there is one; returns its fault, too.
pub(super) fn load(subject: &Subject<'_>, view: &View) -> Result<Option<(LogFrames, Option<BadPage>)>, EngineError> {
    let path = beside(subject.path, "-wal");
    let Some(file) = RawFile::open_if_there(subject.storage, &path)? else {
        return Ok(None);
    };
    let reading = read(&file, view, subject.watch)?;
    // A log with an invalid header has no frames for a reader.
    let is_read = reading.salts.is_some();
    let found = LogFrames {
        report: reading.report,
        frames: if is_read {
            newest(&reading.frames)
        } else {
            BTreeMap::new()
        },
        page_count: if is_read { reading.page_counts.0 } else { 0 },
        salts: reading.salts,
        file,
    };
    Ok(Some((found, reading.bad)))
}

/// The last frame of each page.
fn newest(committed: &[FrameAt]) -> BTreeMap<u32, FrameAt> {
    let mut newest = BTreeMap::new();
    for frame in committed {
        newest.insert(frame.page_no, *frame);
        if frame.commit_size != 0 {
            // Pages beyond the size after a commit no longer exist.
            let _cut = newest.split_off(&frame.commit_size.saturating_add(1));
        }
    }
    newest
}

/// The result of reading a whole log.
#[derive(Default)]
pub struct Reading {
    /// Its sizes.
    pub report: WalReport,
    /// The frame at which the log ends although commits follow (bad-before-a-commit), or its
    /// header.
    pub bad: Option<BadPage>,
    /// The frames of committed transactions, in order.
    pub frames: Vec<FrameAt>,
    /// Authentic frames after the bad one, in order, up to the last commit.
    pub behind: Vec<FrameAt>,
    /// The bad frames up to that commit.
    pub bad_frames: Vec<FrameAt>,
    /// The last frame before that commit whose page is unknown.
    pub last_unknown: Option<u64>,
    /// How many pages the database has after the last of `frames`, and after the last of `behind`.
    pub page_counts: (u32, u32),
    /// The header's bytes.
    pub header: [u8; HEADER_SIZE],
    /// Both salts of the header; `None` if that is invalid. The frames may then have been found
    /// with their own salts (damaged-header).
    pub salts: Option<[u8; 8]>,
    /// `overwritten-is-reread`: the frame at which the log ends, with its bytes as they were read.
    end: Option<(u64, Vec<u8>)>,
}

/// Reads a log.
pub fn read(file: &RawFile, view: &View, watch: &Watch) -> Result<Reading, EngineError> {
    let log = Log { file, view, watch };
    let mut read_count = 0;
    loop {
        let reading = log.read()?;
        read_count += 1;
        // overwritten-is-reread.
        if reading.bad.is_none() || read_count == READ_COUNT_MAX || !log.has_changed(&reading)? {
            return Ok(reading);
        }
    }
}

pub(super) struct Log<'a> {
    pub(super) file: &'a RawFile,
    pub(super) view: &'a View,
    pub(super) watch: &'a Watch,
}

/// The state that the first frame continues.
#[derive(Clone, Copy)]
struct Start {
    order: WordOrder,
    salts: [u8; 8],
    /// `None` if the header is damaged.
    checksum: Option<[u32; 2]>,
}

impl Log<'_> {
    fn read(&self) -> Result<Reading, EngineError> {
        let page_size = self.view.geometry.page_size();
        let mut reading = self.empty()?;
        let header = match self.file.read_at(&mut reading.header, 0) {
            Ok(_) => Header::parse(&reading.header),
            Err(error) => return self.without_header(&error.to_string()),
        };
        let header = match header {
            Ok(header) if header.page_size == page_size.as_u32() => header,
            Ok(_) => {
                reading.bad = Some(bad_header("its page size is not the database's".to_owned()));
                return Ok(reading);
            }
            Err(error @ (FormatError::WalMagic | FormatError::WalChecksum)) => {
                return self.without_header(&error.to_string());
            }
            Err(error) => {
                reading.bad = Some(bad_header(error.to_string()));
                return Ok(reading);
            }
        };
        reading.salts = Some(header.salts);
        let start = Start {
            order: header.order,
            salts: header.salts,
            checksum: Some(header.checksum),
        };
        self.frames(start, &mut reading)?;
        Ok(reading)
    }

    fn empty(&self) -> Result<Reading, EngineError> {
        let mut reading = Reading::default();
        reading.report.size = self.file.size()?;
        Ok(reading)
    }

    /// `damaged-header`: the salts are those of the first two consecutive frames that open and
    /// have the same ones, or else of the first frame that opens; the word order is the one in
    /// which more frames continue each other.
    fn without_header(&self, why: &str) -> Result<Reading, EngineError> {
        let mut found = self.empty()?;
        // Its present bytes, if they can be read, for overwritten-is-reread.
        let _unread = self.file.read_at(&mut found.header, 0);
        let Some(salts) = self.first_salts(found.report.size)? else {
            return Ok(found);
        };
        for order in [WordOrder::LittleEndian, WordOrder::BigEndian] {
            let mut reading = self.empty()?;
            reading.header = found.header;
            let start = Start {
                order,
                salts,
                checksum: None,
            };
            self.frames(start, &mut reading)?;
            if reading.frames.len() + reading.behind.len() > found.frames.len() + found.behind.len() {
                found = reading;
            }
        }
        found.bad = None;
        if !found.frames.is_empty() || !found.behind.is_empty() {
            let why = format!("{why}, and committed transactions follow it");
            found.bad = Some(bad_header(why));
        }
        Ok(found)
    }

    fn first_salts(&self, size: u64) -> Result<Option<[u8; 8]>, EngineError> {
        let mut reader = FrameReader::new(self.file, self.view, None, WordOrder::LittleEndian);
        let mut first = None;
        let mut last = None;
        for index in 0..frame_count(size, self.view.geometry.page_size()) {
            self.watch.check()?;
            if let Frame::Opened { salts, .. } = reader.frame(index, None) {
                if last.replace(salts) == Some(salts) {
                    return Ok(last);
                }
                first.get_or_insert(salts);
            }
        }
        Ok(first)
    }

    fn frames(&self, start: Start, reading: &mut Reading) -> Result<(), EngineError> {
        let mut reader = FrameReader::new(self.file, self.view, Some(start.salts), start.order);
        let mut walk = Walk::default();
        let mut sum = start.checksum;
        for index in 0..frame_count(reading.report.size, self.view.geometry.page_size()) {
            self.watch.check()?;
            let is_on = match reader.frame(index, sum) {
                Frame::Other { why } => {
                    sum = None;
                    walk.other(index, why, reading, &reader)
                }
                Frame::Bad { at, checksum, why } => {
                    sum = Some(checksum);
                    walk.bad(at, why, reading, &reader);
                    true
                }
                Frame::Opened {
                    at, checksum, follows, ..
                } => {
                    sum = Some(checksum);
                    (follows || walk.gap(at, reading, &reader)) && walk.opened(at, reading)
                }
            };
            if !is_on {
                break;
            }
        }
        walk.finish(reading);
        Ok(())
    }

    /// `overwritten-is-reread`: whether the header, or the frame at which the log ends, has
    /// changed since it was read.
    fn has_changed(&self, reading: &Reading) -> Result<bool, EngineError> {
        self.watch.check()?;
        let mut header = [0; HEADER_SIZE];
        if self.file.read_at(&mut header, 0).is_ok() && header != reading.header {
            return Ok(true);
        }
        let Some((index, bytes)) = &reading.end else {
            return Ok(false);
        };
        let mut reader = FrameReader::new(self.file, self.view, None, WordOrder::LittleEndian);
        let _frame = reader.frame(*index, None);
        Ok(reader.bytes() != *bytes)
    }
}

/// The state of a walk through the frames.
#[derive(Default)]
struct Walk {
    /// Frames since the last commit.
    open: Vec<FrameAt>,
    open_bad: Vec<FrameAt>,
    open_unknown: Option<u64>,
    /// The frame at which the log ends (bad-before-a-commit, if commits follow).
    suspect: Option<BadPage>,
    /// `given-up-frames`: the same, while frames continue each other but not the last good one.
    given_up: Option<(BadPage, FrameAt)>,
    /// `later-epoch-twice`: the last frame of an epoch above the highest.
    newer: Option<FrameAt>,
    /// `later-epoch-twice`: whether another frame of that epoch follows it.
    is_of_newer: bool,
}

impl Walk {
    fn suspect(&mut self, bad: BadPage, reading: &mut Reading, reader: &FrameReader<'_>) {
        if self.suspect.is_some() {
            return;
        }
        if reading.end.is_none() {
            reading.report.uncommitted_count = count(&self.open);
            self.open.clear();
            reading.end = bad.index.map(|index| (index, reader.bytes()));
        }
        self.suspect = Some(bad);
    }

    /// A frame with other salts. Returns whether to continue.
    fn other(&mut self, index: u64, why: String, reading: &mut Reading, reader: &FrameReader<'_>) -> bool {
        if self.given_up.is_some() {
            return false;
        }
        self.open_unknown = Some(index);
        self.suspect(BadPage::new(Origin::Wal, 0, Some(index), why), reading, reader);
        true
    }

    /// A frame with the right salts that does not open.
    fn bad(&mut self, at: FrameAt, why: String, reading: &mut Reading, reader: &FrameReader<'_>) {
        if self.given_up.is_some() {
            return;
        }
        if self.suspect.is_none() || self.newer.is_some_and(|before| before.index + 1 == at.index) {
            let newer = (at.epoch() > reader.epoch_max()).then_some(at);
            self.is_of_newer |= self
                .newer
                .zip(newer)
                .is_some_and(|(before, at)| before.epoch() == at.epoch() && before.trailer != at.trailer);
            self.newer = newer;
        }
        self.open_bad.push(at);
        self.suspect(
            BadPage::new(Origin::Wal, at.page_no, Some(at.index), why),
            reading,
            reader,
        );
    }

    /// A frame that opens, but does not continue the frame before it. Returns whether to continue.
    fn gap(&mut self, at: FrameAt, reading: &mut Reading, reader: &FrameReader<'_>) -> bool {
        let why = "it does not follow the frame before it".to_owned();
        let bad = BadPage::new(Origin::Wal, at.page_no, Some(at.index), why);
        if let Some((first, first_at)) = self.given_up.take() {
            // An abandoned part of a log has no second gap: a frame was replaced by another.
            self.suspect = Some(first);
            self.open_bad.push(first_at);
        } else if self.suspect.is_none() {
            self.suspect(bad, reading, reader);
            self.given_up = self.suspect.take().map(|bad| (bad, at));
        }
        // After a bad frame and later commits the log ends as it does after good ones.
        reading.behind.is_empty()
    }

    /// A frame that opens. Returns whether to continue.
    fn opened(&mut self, at: FrameAt, reading: &mut Reading) -> bool {
        if self.given_up.is_some() {
            return true;
        }
        self.open.push(at);
        if at.commit_size == 0 {
            return true;
        }
        if self.suspect.is_none() {
            reading.frames.append(&mut self.open);
            reading.page_counts.0 = at.commit_size;
        } else {
            reading.behind.append(&mut self.open);
            reading.bad_frames.append(&mut self.open_bad);
            reading.last_unknown = self.open_unknown;
            reading.page_counts.1 = at.commit_size;
        }
        true
    }

    fn finish(self, reading: &mut Reading) {
        reading.report.committed_count = count(&reading.frames);
        if reading.end.is_none() {
            reading.report.uncommitted_count = count(&self.open);
        }
        if !reading.behind.is_empty() || self.is_of_newer {
            reading.bad = self.suspect;
        }
    }
}

fn count(frames: &[FrameAt]) -> u64 {
    u64::try_from(frames.len()).unwrap_or(u64::MAX)
}

fn bad_header(why: String) -> BadPage {
    BadPage::new(Origin::Wal, 0, None, why)
}

/// 100: a writer restarts a log only once in many frames, and reading is faster than writing.
const READ_COUNT_MAX: u32 = 100;
