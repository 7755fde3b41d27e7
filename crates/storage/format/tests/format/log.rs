//! The WAL of a vector (FORMAT 6).

use std::collections::HashMap;

use selenite_cipher::{PageError, PageNo, TRAILER_SIZE};
use selenite_format::{
    trailer,
    wal::{FRAME_HEADER_SIZE, FrameHeader, HEADER_SIZE, Header, checksum, frame_count, frame_offset},
};

use crate::{
    database::{Class, Database},
    overlay::Overlay,
    vector::Sparse,
};

/// A log, and the number of its valid frames so far.
pub struct Log<'a> {
    pub frame_count: u64,
    pub committed_count: u64,
    pub end: &'static str,
    file: &'a Sparse,
    header: Option<Header>,
}

struct Frame {
    header: FrameHeader,
    image: Vec<u8>,
}

impl<'a> Log<'a> {
    pub fn new(database: &Database<'_>, file: &'a Sparse) -> Self {
        let bytes: Option<[u8; HEADER_SIZE]> = file.read(0, HEADER_SIZE).try_into().ok();
        let header = bytes.and_then(|bytes| Header::parse(&bytes).ok());
        let header = header.filter(|header| header.page_size == database.superblock.page_size.as_u32());
        Self {
            frame_count: 0,
            committed_count: 0,
            end: "header",
            file,
            header,
        }
    }

    /// FORMAT 6.4.
    pub fn recover(&mut self, database: &mut Database<'_>) -> Result<Overlay, Class> {
        let mut overlay = Overlay::default();
        let Some(header) = self.header else {
            return Ok(overlay);
        };
        let mut gathered = HashMap::new();
        let mut sum = header.checksum;
        while self.frame_count < frame_count(self.file.size, database.superblock.page_size) {
            let frame = self.frame(database, self.frame_count);
            let page = match self.take(database, &header, &frame, &mut sum)? {
                Ok(page) => page,
                Err(end) => {
                    self.end = end;
                    return Ok(overlay);
                }
            };
            self.frame_count += 1;
            gathered.insert(frame.header.page_no.0, page);
            if frame.header.commit_size != 0 {
                overlay.pages.extend(gathered.drain());
                overlay.page_count = Some(frame.header.commit_size);
                self.committed_count = self.frame_count;
            }
        }
        self.end = "file";
        Ok(overlay)
    }

    /// The page of a frame, or the reason why the log ends before it, or an error.
    fn take(
        &self,
        database: &mut Database<'_>,
        header: &Header,
        frame: &Frame,
        sum: &mut [u32; 2],
    ) -> Result<Result<Vec<u8>, &'static str>, Class> {
        let number = frame.header.page_no;
        if frame.header.salts() != header.salts {
            return Ok(Err("salts"));
        }
        let (_, trailer) = trailer::split_image(&frame.image).unwrap();
        let page = match database.open_page(number, &frame.image) {
            Ok(page) => page,
            Err(PageError::UnknownEpoch {
                above_highest: true, ..
            }) if self.goes_on_in_epoch(database, header, trailer) => {
                return Err("wal of another time".to_owned());
            }
            Err(PageError::UnknownEpoch { .. }) => return Ok(Err("epoch")),
            Err(PageError::DeprecatedSuite) => return Err("deprecated suite".to_owned()),
            // Rule 2 of FORMAT 6.4: epoch 0 is not listed, and not above the highest.
            Err(_) if trailer[..4] == [0; 4] => return Ok(Err("epoch")),
            Err(_) => return Ok(Err("unauthentic")),
        };
        *sum = checksum(header.order, *sum, &frame.header.encode()[..8]);
        *sum = checksum(header.order, *sum, &page);
        let good = *sum == frame.header.checksum() && number != PageNo(0);
        Ok(if good { Ok(page) } else { Err("checksum") })
    }

    /// Rule 2 of FORMAT 6.4: whether the next frame is of this log and of the same epoch, with another trailer.
    fn goes_on_in_epoch(&self, database: &Database<'_>, header: &Header, trailer: &[u8; TRAILER_SIZE]) -> bool {
        let next = self.frame_count + 1;
        if next >= frame_count(self.file.size, database.superblock.page_size) {
            return false;
        }
        let frame = self.frame(database, next);
        let (_, behind) = trailer::split_image(&frame.image).unwrap();
        frame.header.salts() == header.salts && behind[..4] == trailer[..4] && behind != trailer
    }

    /// FORMAT 6.5: number and page of a frame that recovery has accepted.
    pub fn read(&self, database: &mut Database<'_>, index: u64) -> Result<(u32, Vec<u8>), Class> {
        let frame = self.frame(database, index);
        let opened = database.open_page(frame.header.page_no, &frame.image);
        match opened {
            Ok(page) if Some(frame.header.salts()) == self.header.map(|header| header.salts) => {
                Ok((frame.header.page_no.0, page))
            }
            _ => Err(format!("unauthentic frame {index}")),
        }
    }

    /// A frame with its block opened.
    fn frame(&self, database: &Database<'_>, index: u64) -> Frame {
        let offset = frame_offset(index, database.superblock.page_size).0;
        let bytes = self.file.read(offset, FRAME_HEADER_SIZE + database.page_size());
        let (header, image) = bytes.split_first_chunk().unwrap();
        let mut header = FrameHeader::parse(header);
        database
            .log_key
            .open_frame_block(index, header.page_no.0, header.commit_size, &mut header.block);
        Frame {
            header,
            image: image.to_vec(),
        }
    }
}
