//! Authenticates the frames of a write-ahead log (FORMAT 6).
//!
//! W1. The log ends where SQLite's recovery would end it (FORMAT 6.4). What is behind is of an older log, or of a
//!     transaction that was rolled back or cut off: no fault.
//! W2. But where a commit that is authentic follows, the frame at which the log would end is bad: transactions that
//!     were committed would be lost.

use std::path::Path;
use std::time::Duration;

use selenite_format::FormatError;
use selenite_format::wal::{FRAME_HEADER_SIZE, FrameHeader, HEADER_SIZE, Header, checksum, frame_count, frame_offset};
use selenite_page::PageCipher;
use selenite_vfs::view::View;

use super::{BadPage, Findings, Origin};
use crate::raw_file::RawFile;
use crate::storage::Storage;
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

/// Authenticates a log, if there is one.
pub fn check(
    storage: &dyn Storage,
    path: &Path,
    view: &View,
    watch: &Watch,
    findings: &mut Findings,
) -> Result<Option<WalReport>, EngineError> {
    let mut looked = Reading::default();
    for attempt in 0..LOOK_COUNT {
        std::thread::sleep(LOOK_PAUSE * attempt);
        let Some(file) = RawFile::open_if_there(storage, path)? else {
            return Ok(None);
        };
        looked = read(&file, view, watch)?;
        if looked.bad.is_none() {
            break;
        }
    }
    if let Some(bad) = looked.bad {
        findings.add(bad);
    }
    Ok(Some(looked.report))
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
}

/// Where a page is in a log.
#[derive(Clone, Copy, Debug)]
pub struct FrameAt {
    /// Which page it is.
    pub page_no: u32,
    /// Where its image begins.
    pub offset: u64,
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
    Good {
        page_no: u32,
        /// Zero where it ends no transaction.
        commit_size: u32,
        checksum: [u32; 2],
    },
    /// It is of this log, and not authentic.
    Bad(BadPage),
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
            let offset = frame_offset(index, page_size).0 + FRAME_HEADER_SIZE_U64;
            let (commit_size, at) = match reader.frame(index, sum)? {
                Frame::Other => break,
                Frame::Good {
                    page_no,
                    commit_size,
                    checksum,
                } => {
                    sum = checksum;
                    (commit_size, FrameAt { page_no, offset })
                }
                Frame::Bad(bad) => {
                    open_bad.push(FrameAt {
                        page_no: bad.page_no,
                        offset,
                    });
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
            if commit_size == 0 {
                continue;
            }
            if suspect.is_none() {
                reading.frames.append(&mut open);
                reading.page_counts.0 = commit_size;
            } else {
                reading.behind.append(&mut open);
                reading.bad_frames.append(&mut open_bad);
                reading.page_counts.1 = commit_size;
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
        let bad = |why: String| {
            Frame::Bad(BadPage {
                origin: Origin::Wal,
                page_no: frame.page_no.0,
                index: Some(index),
                why,
            })
        };
        if let Err(error) = self.cipher.open(frame.page_no, &self.image, &mut self.plain) {
            return Ok(bad(error.to_string()));
        }
        let order = self.header.order;
        let next = checksum(order, checksum(order, sum, &bytes[..8]), &self.plain);
        if self.follows_chain && next != frame.checksum() {
            return Ok(bad("it does not follow the frame before it".to_owned()));
        }
        Ok(Frame::Good {
            page_no: frame.page_no.0,
            commit_size: frame.commit_size,
            checksum: next,
        })
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
    BadPage {
        origin: Origin::Wal,
        page_no: 0,
        index: None,
        why,
    }
}

const FRAME_HEADER_SIZE_U64: u64 = 24;
/// As for pages: somebody may be writing to the log.
const LOOK_COUNT: u32 = 3;
const LOOK_PAUSE: Duration = Duration::from_millis(20);
