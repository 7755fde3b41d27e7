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
    let mut looked = None;
    for attempt in 0..LOOK_COUNT {
        std::thread::sleep(LOOK_PAUSE * attempt);
        let Some(file) = RawFile::open_if_there(storage, path)? else {
            return Ok(None);
        };
        let (report, bad) = Log { file, view, watch }.read()?;
        let is_good = bad.is_none();
        looked = Some((report, bad));
        if is_good {
            break;
        }
    }
    let (report, bad) = looked.unwrap_or_default();
    if let Some(bad) = bad {
        findings.add(bad);
    }
    Ok(Some(report))
}

struct Log<'a> {
    file: RawFile,
    view: &'a View,
    watch: &'a Watch,
}

/// What became of a frame.
enum Frame {
    /// The log ends before it: it is of another one.
    Other,
    /// It is authentic.
    Good { is_commit: bool, checksum: [u32; 2] },
    /// It is of this log, and not authentic.
    Bad(BadPage),
}

impl Log<'_> {
    fn read(&self) -> Result<(WalReport, Option<BadPage>), EngineError> {
        let page_size = self.view.geometry.page_size();
        let size = self.file.size()?;
        let mut report = WalReport {
            size,
            ..WalReport::default()
        };
        let mut header = [0; HEADER_SIZE];
        self.file.read_at(&mut header, 0)?;
        let header = match Header::parse(&header) {
            Ok(header) if header.page_size == page_size.as_u32() => header,
            Ok(_) => {
                return Ok((
                    report,
                    Some(bad_header("its page size is not the database's".to_owned())),
                ));
            }
            // As SQLite has it, such a log is empty.
            Err(FormatError::WalMagic | FormatError::WalChecksum) => return Ok((report, None)),
            Err(error) => return Ok((report, Some(bad_header(error.to_string())))),
        };
        let mut reader = FrameReader::new(self, &header);
        let mut sum = header.checksum;
        let mut suspect = None;
        for index in 0..frame_count(size, page_size) {
            self.watch.check()?;
            match (reader.frame(index, sum)?, &suspect) {
                (Frame::Other, _) => break,
                (Frame::Good { is_commit: true, .. }, Some(_)) => return Ok((report, suspect)),
                (Frame::Good { is_commit, checksum }, None) => {
                    sum = checksum;
                    report.uncommitted_count += 1;
                    if is_commit {
                        report.committed_count += report.uncommitted_count;
                        report.uncommitted_count = 0;
                    }
                }
                (Frame::Bad(bad), None) => suspect = Some(bad),
                (Frame::Good { is_commit: false, .. } | Frame::Bad(_), Some(_)) => {}
            }
            if suspect.is_some() {
                // The chain of checksums is broken: from here on only tags can tell.
                reader.follows_chain = false;
            }
        }
        Ok((report, None))
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
            is_commit: frame.commit_size != 0,
            checksum: next,
        })
    }
}

impl Drop for FrameReader<'_> {
    fn drop(&mut self) {
        self.plain.fill(0);
    }
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
