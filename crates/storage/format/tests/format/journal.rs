//! The rollback journal of a vector (FORMAT 7).

use selenite_cipher::PageNo;
use selenite_format::{
    journal::{
        HEADER_SIZE, Header, RECORD_COUNT_UNKNOWN, Record, checksum, magic_from_disk, record_size, unmask_checksum,
    },
    trailer,
};

use crate::{
    database::{Class, Database, class_of_page},
    overlay::Overlay,
    vector::Sparse,
};

/// A journal that is rolled back, and the number of records so far.
#[derive(Default)]
pub struct Journal {
    pub record_count: u32,
}

impl Journal {
    /// As pager_playback in SQLite's pager.c.
    pub fn roll_back(&mut self, database: &mut Database<'_>, file: &Sparse) -> Result<Overlay, Class> {
        let mut overlay = Overlay::default();
        let (mut offset, mut sector_size) = (0_u64, 512);
        loop {
            offset = offset.next_multiple_of(sector_size);
            let Some(header) = header(file, offset) else {
                return Ok(overlay);
            };
            if offset == 0 {
                if !header.sizes_are_good() {
                    return Ok(overlay);
                }
                overlay.page_count = Some(header.page_count);
                sector_size = u64::from(header.sector_size);
            }
            offset += sector_size;
            let size = record_size(database.superblock.page_size);
            let count = match header.record_count {
                RECORD_COUNT_UNKNOWN => file.size.saturating_sub(offset) / size as u64,
                count => u64::from(count),
            };
            for _ in 0..count {
                let bytes = file.read(offset, size);
                let Some((number, page)) = take(database, &header, &bytes)? else {
                    return Ok(overlay);
                };
                if Some(number) <= overlay.page_count {
                    overlay.pages.entry(number).or_insert(page);
                }
                self.record_count += 1;
                offset += size as u64;
            }
        }
    }
}

fn header(file: &Sparse, offset: u64) -> Option<Header> {
    let mut bytes: [u8; HEADER_SIZE] = file.read(offset, HEADER_SIZE).try_into().ok()?;
    if offset == 0 {
        let magic = magic_from_disk(*bytes.first_chunk()?);
        bytes[..8].copy_from_slice(&magic);
    }
    Header::parse(&bytes)
}

/// Number and page of a record; `None` at the end of the journal.
fn take(database: &mut Database<'_>, header: &Header, bytes: &[u8]) -> Result<Option<(u32, Vec<u8>)>, Class> {
    let Some(record) = Record::parse(bytes, database.superblock.page_size) else {
        return Ok(None);
    };
    let number = record.page_no;
    if number == PageNo(0) || number == database.geometry.lock_page() {
        return Ok(None);
    }
    let page = match database.open_page(number, record.image) {
        Ok(page) => page,
        Err(_) if header.record_count == RECORD_COUNT_UNKNOWN => return Ok(None),
        Err(error) => return Err(class_of_page(number, error)),
    };
    let (_, trailer) = trailer::split_image(record.image).unwrap();
    let sum = unmask_checksum(record.checksum, database.log_key.journal_mask(trailer));
    Ok((sum == checksum(header.nonce, &page)).then_some((number.0, page)))
}
