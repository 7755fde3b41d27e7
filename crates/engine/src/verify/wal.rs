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

/// A frame in the log.
#[derive(Clone, Copy)]
pub(super) struct FrameAt {
    /// Which, from 0.
    pub(super) index: u64,
    /// The trailer of its page.
    pub(super) trailer: [u8; TRAILER_SIZE],
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
        let mut log = Log::new(&file, view, subject.watch)?;
        let bad = log.read()?;
        let (report, frames, salts) = (log.report, log.frames, log.salts);
        let is_good = bad.is_none();
        let found = Found {
            report,
            frames,
            salts,
            file,
        };
        Ok((Some((found, bad)), is_good))
    })?;
    let Some((found, bad)) = looked else { return Ok(None) };
    if let Some(bad) = bad {
        findings.add(bad);
    }
    Ok(Some(found))
}

struct Log<'a> {
    file: &'a RawFile,
    view: &'a View,
    watch: &'a Watch,
    report: WalReport,
    frames: BTreeMap<u32, FrameAt>,
    /// Of the transaction under way.
    begun: Vec<(u32, FrameAt)>,
    salts: Option<[u8; 8]>,
}

/// What became of a frame.
enum Frame {
    /// The log ends before it: it is of another one.
    Other,
    /// It is authentic.
    Good(Good),
    /// It is of this log, and not authentic.
    Bad(BadPage),
}

/// An authentic frame.
struct Good {
    page_no: u32,
    /// How many pages the database has after its commit; 0 where it ends no transaction.
    commit_size: u32,
    checksum: [u32; 2],
    trailer: [u8; TRAILER_SIZE],
}

impl<'a> Log<'a> {
    fn new(file: &'a RawFile, view: &'a View, watch: &'a Watch) -> Result<Self, EngineError> {
        let report = WalReport {
            size: file.size()?,
            ..WalReport::default()
        };
        Ok(Self {
            file,
            view,
            watch,
            report,
            frames: BTreeMap::new(),
            begun: Vec::new(),
            salts: None,
        })
    }

    /// Reads it all, and answers the frame that is bad, if one is.
    fn read(&mut self) -> Result<Option<BadPage>, EngineError> {
        let page_size = self.view.geometry.page_size();
        let mut header = [0; HEADER_SIZE];
        self.file.read_at(&mut header, 0)?;
        let header = match Header::parse(&header) {
            Ok(header) if header.page_size == page_size.as_u32() => header,
            Ok(_) => return Ok(Some(bad_header("its page size is not the database's".to_owned()))),
            // As SQLite has it, such a log is empty.
            Err(FormatError::WalMagic | FormatError::WalChecksum) => return Ok(None),
            Err(error) => return Ok(Some(bad_header(error.to_string()))),
        };
        self.salts = Some(header.salts);
        let mut reader = FrameReader::new((self.file, self.view), &header);
        let mut sum = header.checksum;
        let mut suspect = None;
        for index in 0..frame_count(self.report.size, page_size) {
            self.watch.check()?;
            match (reader.frame(index, sum)?, &suspect) {
                (Frame::Other, _) => break,
                (Frame::Good(good), Some(_)) if good.commit_size != 0 => return Ok(suspect),
                (Frame::Good(good), None) => {
                    sum = good.checksum;
                    self.take(index, &good);
                }
                (Frame::Bad(bad), None) => suspect = Some(bad),
                (Frame::Good(_) | Frame::Bad(_), Some(_)) => {}
            }
            if suspect.is_some() {
                // The chain of checksums is broken: from here on only tags can tell.
                reader.follows_chain = false;
            }
        }
        Ok(None)
    }

    fn take(&mut self, index: u64, good: &Good) {
        let trailer = good.trailer;
        self.begun.push((good.page_no, FrameAt { index, trailer }));
        self.report.uncommitted_count += 1;
        if good.commit_size == 0 {
            return;
        }
        self.report.committed_count += self.report.uncommitted_count;
        self.report.uncommitted_count = 0;
        self.frames.extend(self.begun.drain(..));
        // What a transaction cut off is no page any more.
        let _cut = self.frames.split_off(&good.commit_size.saturating_add(1));
    }
}

struct FrameReader<'a> {
    file: &'a RawFile,
    view: &'a View,
    header: &'a Header,
    cipher: PageCipher,
    image: Vec<u8>,
    plain: Vec<u8>,
    follows_chain: bool,
}

impl<'a> FrameReader<'a> {
    fn new((file, view): (&'a RawFile, &'a View), header: &'a Header) -> Self {
        let page_bytes = view.page_bytes();
        Self {
            file,
            view,
            header,
            cipher: PageCipher::new(view.page_keys.clone()),
            image: vec![0; page_bytes],
            plain: vec![0; page_bytes],
            follows_chain: true,
        }
    }

    fn frame(&mut self, index: u64, sum: [u32; 2]) -> Result<Frame, EngineError> {
        let at = frame_offset(index, self.view.geometry.page_size()).0;
        let mut bytes = [0; FRAME_HEADER_SIZE];
        self.file.read_at(&mut bytes, at)?;
        self.file.read_at(&mut self.image, at + FRAME_HEADER_SIZE_U64)?;
        let mut frame = FrameHeader::parse(&bytes);
        self.view
            .log_key
            .open_frame_block(index, frame.page_no.0, frame.commit_size, &mut frame.block);
        if frame.salts() != self.header.salts {
            return Ok(Frame::Other);
        }
        let bad = |why: String| Frame::Bad(BadPage::new(Origin::Wal, frame.page_no.0, Some(index), why));
        if let Err(error) = self.cipher.open(frame.page_no, &self.image, &mut self.plain) {
            return Ok(bad(error.to_string()));
        }
        let order = self.header.order;
        let next = checksum(order, checksum(order, sum, &bytes[..8]), &self.plain);
        if self.follows_chain && next != frame.checksum() {
            return Ok(bad("it does not follow the frame before it".to_owned()));
        }
        Ok(Frame::Good(Good {
            page_no: frame.page_no.0,
            commit_size: frame.commit_size,
            checksum: next,
            trailer: PageCipher::trailer_of(&self.image)
                .copied()
                .unwrap_or([0; TRAILER_SIZE]),
        }))
    }
}

impl Drop for FrameReader<'_> {
    fn drop(&mut self) {
        self.plain.fill(0);
    }
}

fn bad_header(why: String) -> BadPage {
    BadPage::new(Origin::Wal, 0, None, why)
}

const FRAME_HEADER_SIZE_U64: u64 = 24;
