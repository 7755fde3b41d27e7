//! Authenticates the frames of a write-ahead log (FORMAT 6).
//!
//! W1. The log ends where SQLite's recovery would end it (FORMAT 6.4). What is behind is of an older log, or of a
//!     transaction that was rolled back or cut off: no fault.
//! W2. But where a commit that is authentic follows, the frame at which the log would end is bad: transactions that
//!     were committed would be lost.

use std::collections::BTreeMap;

use selenite_cipher::TRAILER_SIZE;
use selenite_format::FormatError;
use selenite_format::wal::{FRAME_HEADER_SIZE, FrameHeader, HEADER_SIZE, Header, checksum, frame_count, frame_offset};
use selenite_page::PageCipher;
use selenite_vfs::view::View;

use super::keys::look_again;
use super::{BadPage, Findings, Origin, Subject};
use crate::draft::beside;
use crate::raw_file::RawFile;
use crate::{EngineError, Watch};

/// What a log holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WalReport {
    /// How many frames belong to committed transactions.
    pub committed_count: u64,
    /// How many more authentic frames follow them, of a transaction that is not committed.
    pub uncommitted_count: u64,
    /// Its size in bytes.
    pub size: u64,
}

/// A log, and the frames that a reader would be given.
pub(super) struct Found {
    /// What it holds.
    pub(super) report: WalReport,
    /// The last committed frame of each page.
    pub(super) frames: BTreeMap<u32, FrameAt>,
    /// Both salts of its header; nothing where that is none.
    pub(super) salts: Option<[u8; 8]>,
    /// The file.
    pub(super) file: RawFile,
}

/// Authenticates a log, if there is one.
pub(super) fn check(
    subject: &Subject<'_>,
    view: &mut View,
    findings: &mut Findings,
) -> Result<Option<Found>, EngineError> {
    let path = beside(subject.path, "-wal");
    let looked = look_again((subject.keys, subject.file), view, subject.watch, |view| {
        let Some(file) = RawFile::open_if_there(subject.storage, &path)? else {
            return Ok((None, true));
        };
        let reading = read(&file, view, subject.watch)?;
        let is_good = reading.bad.is_none();
        Ok((Some((file, reading)), is_good))
    })?;
    let Some((file, reading)) = looked else {
        return Ok(None);
    };
    let frames = newest(&reading.frames);
    if let Some(bad) = reading.bad {
        findings.add(bad);
    }
    Ok(Some(Found {
        report: reading.report,
        frames,
        salts: reading.salts,
        file,
    }))
}

/// The last frame of each page.
fn newest(committed: &[FrameAt]) -> BTreeMap<u32, FrameAt> {
    let mut newest = BTreeMap::new();
    for frame in committed {
        newest.insert(frame.page_no, *frame);
        if frame.commit_size != 0 {
            // What a transaction cut off is no page any more.
            let _cut = newest.split_off(&frame.commit_size.saturating_add(1));
        }
    }
    newest
}

/// A log that was read to its end.
#[derive(Default)]
pub struct Reading {
    /// What it holds.
    pub report: WalReport,
    /// The frame at which it ends though commits follow (W2), or its header.
    pub bad: Option<BadPage>,
    /// The frames of committed transactions, in their order.
    pub frames: Vec<FrameAt>,
    /// Authentic frames behind the bad one, in their order, up to the last commit.
    pub behind: Vec<FrameAt>,
    /// The frames up to that commit that are bad.
    pub bad_frames: Vec<FrameAt>,
    /// How many pages the database has after the last of `frames`; and after the last of `behind`.
    pub page_counts: (u32, u32),
    /// The header's bytes.
    pub header: [u8; HEADER_SIZE],
    /// Both salts of the header; nothing where it is none.
    pub salts: Option<[u8; 8]>,
}

/// A frame in a log.
#[derive(Clone, Copy, Debug)]
pub struct FrameAt {
    /// Which, from 0.
    pub index: u64,
    /// Which page it is.
    pub page_no: u32,
    /// Where its image begins.
    pub offset: u64,
    /// How many pages the database has after its commit; 0 where it ends no transaction.
    pub commit_size: u32,
    /// The trailer of its page.
    pub trailer: [u8; TRAILER_SIZE],
}

/// Reads a log.
pub fn read(file: &RawFile, view: &View, watch: &Watch) -> Result<Reading, EngineError> {
    Log { file, view, watch }.read()
}

struct Log<'a> {
    file: &'a RawFile,
    view: &'a View,
    watch: &'a Watch,
}

/// What became of a frame.
enum Frame {
    /// The log ends before it: it is of another one.
    Other,
    /// It is authentic.
    Good { at: FrameAt, checksum: [u32; 2] },
    /// It is of this log, and not authentic.
    Bad { at: FrameAt, bad: BadPage },
}

impl Log<'_> {
    fn read(&self) -> Result<Reading, EngineError> {
        let page_size = self.view.geometry.page_size();
        let mut reading = Reading::default();
        reading.report.size = self.file.size()?;
        self.file.read_at(&mut reading.header, 0)?;
        let header = match Header::parse(&reading.header) {
            Ok(header) if header.page_size == page_size.as_u32() => header,
            Ok(_) => {
                reading.bad = Some(bad_header("its page size is not the database's".to_owned()));
                return Ok(reading);
            }
            // As SQLite has it, such a log is empty.
            Err(FormatError::WalMagic | FormatError::WalChecksum) => return Ok(reading),
            Err(error) => {
                reading.bad = Some(bad_header(error.to_string()));
                return Ok(reading);
            }
        };
        reading.salts = Some(header.salts);
        self.frames(&header, &mut reading)?;
        Ok(reading)
    }

    fn frames(&self, header: &Header, reading: &mut Reading) -> Result<(), EngineError> {
        let page_size = self.view.geometry.page_size();
        let mut reader = FrameReader::new(self, header);
        let mut sum = header.checksum;
        let mut suspect = None;
        let (mut open, mut open_bad) = (Vec::new(), Vec::new());
        for index in 0..frame_count(reading.report.size, page_size) {
            self.watch.check()?;
            let at = match reader.frame(index, sum)? {
                Frame::Other => break,
                Frame::Good { at, checksum } => {
                    sum = checksum;
                    at
                }
                Frame::Bad { at, bad } => {
                    open_bad.push(at);
                    if suspect.is_none() {
                        suspect = Some(bad);
                        reading.report.uncommitted_count = count(&open);
                        open.clear();
                        // The chain of checksums is broken: from here on only tags can tell.
                        reader.follows_chain = false;
                    }
                    continue;
                }
            };
            open.push(at);
            if at.commit_size == 0 {
                continue;
            }
            if suspect.is_none() {
                reading.frames.append(&mut open);
                reading.page_counts.0 = at.commit_size;
            } else {
                reading.behind.append(&mut open);
                reading.bad_frames.append(&mut open_bad);
                reading.page_counts.1 = at.commit_size;
            }
        }
        reading.report.committed_count = count(&reading.frames);
        if suspect.is_none() {
            reading.report.uncommitted_count = count(&open);
        } else if !reading.behind.is_empty() {
            reading.bad = suspect;
        }
        Ok(())
    }
}

struct FrameReader<'a> {
    log: &'a Log<'a>,
    header: &'a Header,
    cipher: PageCipher,
    image: Vec<u8>,
    plain: Vec<u8>,
    follows_chain: bool,
}

impl<'a> FrameReader<'a> {
    fn new(log: &'a Log<'a>, header: &'a Header) -> Self {
        let page_bytes = log.view.page_bytes();
        Self {
            log,
            header,
            cipher: PageCipher::new(log.view.page_keys.clone()),
            image: vec![0; page_bytes],
            plain: vec![0; page_bytes],
            follows_chain: true,
        }
    }

    fn frame(&mut self, index: u64, sum: [u32; 2]) -> Result<Frame, EngineError> {
        let at = frame_offset(index, self.log.view.geometry.page_size()).0;
        let mut bytes = [0; FRAME_HEADER_SIZE];
        self.log.file.read_at(&mut bytes, at)?;
        self.log.file.read_at(&mut self.image, at + FRAME_HEADER_SIZE_U64)?;
        let mut frame = FrameHeader::parse(&bytes);
        self.log
            .view
            .log_key
            .open_frame_block(index, frame.page_no.0, frame.commit_size, &mut frame.block);
        if frame.salts() != self.header.salts {
            return Ok(Frame::Other);
        }
        let at = FrameAt {
            index,
            page_no: frame.page_no.0,
            offset: at + FRAME_HEADER_SIZE_U64,
            commit_size: frame.commit_size,
            trailer: PageCipher::trailer_of(&self.image)
                .copied()
                .unwrap_or([0; TRAILER_SIZE]),
        };
        let bad = |why: String| Frame::Bad {
            at,
            bad: BadPage::new(Origin::Wal, at.page_no, Some(index), why),
        };
        if let Err(error) = self.cipher.open(frame.page_no, &self.image, &mut self.plain) {
            return Ok(bad(error.to_string()));
        }
        let order = self.header.order;
        let next = checksum(order, checksum(order, sum, &bytes[..8]), &self.plain);
        if self.follows_chain && next != frame.checksum() {
            return Ok(bad("it does not follow the frame before it".to_owned()));
        }
        Ok(Frame::Good { at, checksum: next })
    }
}

impl Drop for FrameReader<'_> {
    fn drop(&mut self) {
        self.plain.fill(0);
    }
}

fn count(frames: &[FrameAt]) -> u64 {
    u64::try_from(frames.len()).unwrap_or(u64::MAX)
}

fn bad_header(why: String) -> BadPage {
    BadPage::new(Origin::Wal, 0, None, why)
}

const FRAME_HEADER_SIZE_U64: u64 = 24;
