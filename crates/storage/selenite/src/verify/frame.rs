//! One frame of a write-ahead log (FORMAT 6.2, 6.3).

use selenite_cipher::{PageCipher, TRAILER_SIZE};
use selenite_format::wal::{FRAME_HEADER_SIZE, FrameHeader, WordOrder, checksum, frame_offset};
use selenite_vfs::view::View;

use crate::raw_file::RawFile;

/// A frame in a log.
#[derive(Clone, Copy, Debug)]
pub struct FrameAt {
    /// Its index in the log, from 0.
    pub index: u64,
    /// Its page number.
    pub page_no: u32,
    /// The offset of its image.
    pub offset: u64,
    /// How many pages the database has after its commit; 0 if it does not end a transaction.
    pub commit_size: u32,
    /// The trailer of its page.
    pub trailer: [u8; TRAILER_SIZE],
}

impl FrameAt {
    /// The key epoch in its trailer.
    pub(super) fn epoch(&self) -> u32 {
        let [a, b, c, d, ..] = self.trailer;
        u32::from_be_bytes([a, b, c, d])
    }
}

/// The result of reading a frame.
pub(super) enum Frame {
    /// Its salts are not those of the log: it is of another log, or its header is damaged.
    Other { why: String },
    /// It is of this log, and does not open. The checksum is from its header.
    Bad {
        at: FrameAt,
        checksum: [u32; 2],
        why: String,
    },
    /// It opens.
    Opened {
        at: FrameAt,
        salts: [u8; 8],
        checksum: [u32; 2],
        /// Whether its checksum continues that of the frame before.
        follows: bool,
    },
}

/// Reads frames one by one.
pub(super) struct FrameReader<'a> {
    file: &'a RawFile,
    view: &'a View,
    /// `None`: any salts.
    salts: Option<[u8; 8]>,
    order: WordOrder,
    cipher: PageCipher,
    header: [u8; FRAME_HEADER_SIZE],
    image: Vec<u8>,
    plain: Vec<u8>,
}

impl<'a> FrameReader<'a> {
    pub(super) fn new(file: &'a RawFile, view: &'a View, salts: Option<[u8; 8]>, order: WordOrder) -> Self {
        let page_bytes = view.page_bytes();
        Self {
            file,
            view,
            salts,
            order,
            cipher: PageCipher::new(view.page_keys.clone()),
            header: [0; FRAME_HEADER_SIZE],
            image: vec![0; page_bytes],
            plain: vec![0; page_bytes],
        }
    }

    /// Reads a frame. `sum` is the checksum that it has to continue, if that is known. A frame
    /// that can't be read counts as one that does not open.
    pub(super) fn frame(&mut self, index: u64, sum: Option<[u32; 2]>) -> Frame {
        let view = self.view;
        let at = frame_offset(index, view.geometry.page_size()).0;
        self.header.fill(0);
        self.image.fill(0);
        if let Err(error) = self.file.read_at(&mut self.header, at) {
            return Frame::Other { why: error.to_string() };
        }
        let mut frame = FrameHeader::parse(&self.header);
        view.log_key
            .open_frame_block(index, frame.page_no.0, frame.commit_size, &mut frame.block);
        if self.salts.is_some_and(|salts| salts != frame.salts()) {
            let why = "its header is not that of a frame of this log".to_owned();
            return Frame::Other { why };
        }
        let was_read = self.file.read_at(&mut self.image, at + FRAME_HEADER_SIZE_U64);
        let at = FrameAt {
            index,
            page_no: frame.page_no.0,
            offset: at + FRAME_HEADER_SIZE_U64,
            commit_size: frame.commit_size,
            trailer: PageCipher::trailer_of(&self.image)
                .copied()
                .unwrap_or([0; TRAILER_SIZE]),
        };
        let opened = match was_read {
            Ok(_) => self
                .cipher
                .open(frame.page_no, &self.image, &mut self.plain)
                .map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        let stored = frame.checksum();
        if let Err(why) = opened {
            return Frame::Bad {
                at,
                checksum: stored,
                why,
            };
        }
        let follows = |sum| checksum(self.order, checksum(self.order, sum, &self.header[..8]), &self.plain) == stored;
        Frame::Opened {
            at,
            salts: frame.salts(),
            checksum: stored,
            follows: sum.is_none_or(follows),
        }
    }

    /// The highest epoch ever used, from the superblock.
    pub(super) fn epoch_max(&self) -> u32 {
        self.view.page_keys.epoch_max().0
    }

    /// The bytes of the last frame read.
    pub(super) fn bytes(&self) -> Vec<u8> {
        [&self.header[..], &self.image].concat()
    }
}

impl Drop for FrameReader<'_> {
    fn drop(&mut self) {
        self.plain.fill(0);
    }
}

const FRAME_HEADER_SIZE_U64: u64 = 24;
