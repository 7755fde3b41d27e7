//! A page of a b-tree, parsed as far as it refers to other pages (sqlite.org/fileformat.html,
//! 1.6).

/// A page of a b-tree.
pub(super) struct Node<'a> {
    page: &'a [u8],
    kind: Kind,
    /// The offset of its header: after the database's on page 1.
    start: usize,
    cell_count: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    InteriorIndex,
    InteriorTable,
    LeafIndex,
    LeafTable,
}

/// The payload of a cell: its size and location.
pub(super) struct Payload {
    /// Its whole size.
    pub(super) size: usize,
    /// The offset of the part on this page.
    pub(super) at: usize,
    /// The size of that part.
    pub(super) local_size: usize,
    /// The page with the next part; 0 if there is none.
    pub(super) overflow: u32,
}

impl<'a> Node<'a> {
    /// Parses a page; `None` if it is not a page of a b-tree.
    pub(super) fn parse(page: &'a [u8], page_no: u32) -> Option<Self> {
        let start = if page_no == 1 { DATABASE_HEADER_SIZE } else { 0 };
        let kind = match page.get(start)? {
            2 => Kind::InteriorIndex,
            5 => Kind::InteriorTable,
            10 => Kind::LeafIndex,
            13 => Kind::LeafTable,
            _ => return None,
        };
        let cell_count = usize::from(short_at(page, start + 3));
        Some(Self {
            page,
            kind,
            start,
            cell_count,
        })
    }

    /// Whether it is a leaf of a table.
    pub(super) fn is_table_leaf(&self) -> bool {
        self.kind == Kind::LeafTable
    }

    fn is_interior(&self) -> bool {
        matches!(self.kind, Kind::InteriorIndex | Kind::InteriorTable)
    }

    /// Its child pages.
    pub(super) fn children(&self) -> impl Iterator<Item = u32> + '_ {
        let rightmost = self.is_interior().then(|| number_at(self.page, self.start + 8));
        let of_cells = self
            .cells()
            .filter(|_| self.is_interior())
            .map(|at| number_at(self.page, at));
        rightmost.into_iter().chain(of_cells)
    }

    /// The first overflow pages of its cells.
    pub(super) fn overflows(&self) -> impl Iterator<Item = u32> + '_ {
        self.payloads()
            .map(|payload| payload.overflow)
            .filter(|&overflow| overflow != 0)
    }

    /// The payloads of its cells.
    pub(super) fn payloads(&self) -> impl Iterator<Item = Payload> + '_ {
        self.cells().filter_map(|at| self.payload(at))
    }

    /// The offsets of its cells.
    fn cells(&self) -> impl Iterator<Item = usize> + '_ {
        let pointers = self.start + if self.is_interior() { 12 } else { 8 };
        (0..self.cell_count.min(self.page.len() / 2))
            .map(move |index| usize::from(short_at(self.page, pointers + 2 * index)))
    }

    fn payload(&self, cell: usize) -> Option<Payload> {
        let (is_table, skipped) = match self.kind {
            Kind::InteriorTable => return None,
            Kind::InteriorIndex => (false, 4),
            Kind::LeafIndex => (false, 0),
            Kind::LeafTable => (true, 0),
        };
        let (size, mut at) = varint(self.page, cell + skipped)?;
        if is_table {
            // The rowid.
            (_, at) = varint(self.page, at)?;
        }
        let size = usize::try_from(size).ok()?;
        let usable = self.page.len().checked_sub(RESERVE)?;
        // The names are those of the document (1.6, "the amount of payload").
        let x = if is_table {
            usable - 35
        } else {
            (usable - 12) * 64 / 255 - 23
        };
        let m = (usable - 12) * 32 / 255 - 23;
        if size <= x {
            return Some(Payload {
                size,
                at,
                local_size: size,
                overflow: 0,
            });
        }
        let k = m + (size - m) % (usable - 4);
        let local_size = if k <= x { k } else { m };
        Some(Payload {
            size,
            at,
            local_size,
            overflow: number_at(self.page, at + local_size),
        })
    }
}

/// The page after an overflow page; 0 if it is the last.
pub(super) fn overflow_next(page: &[u8]) -> u32 {
    number_at(page, 0)
}

/// Four bytes as a number; 0 beyond the end.
pub(super) fn number_at(page: &[u8], at: usize) -> u32 {
    page.get(at..)
        .and_then(|rest| rest.first_chunk())
        .map_or(0, |bytes| u32::from_be_bytes(*bytes))
}

fn short_at(page: &[u8], at: usize) -> u16 {
    page.get(at..)
        .and_then(|rest| rest.first_chunk())
        .map_or(0, |bytes| u16::from_be_bytes(*bytes))
}

/// A number of one to nine bytes, and the offset after it.
pub(super) fn varint(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let mut number = 0;
    for index in 0..8 {
        let byte = *bytes.get(at + index)?;
        number = number << 7 | u64::from(byte & 0x7f);
        if byte < 0x80 {
            return Some((number, at + index + 1));
        }
    }
    let byte = *bytes.get(at + 8)?;
    Some((number << 8 | u64::from(byte), at + 9))
}

const DATABASE_HEADER_SIZE: usize = 100;
/// The reserved bytes of every sealed page (FORMAT 3.1).
const RESERVE: usize = 48;

#[cfg(test)]
mod tests {
    use super::*;

    /// sqlite.org/fileformat.html, 1.6: seven bits per byte, eight in the ninth.
    #[test]
    fn varint_reads_what_sqlite_writes() {
        assert_eq!(varint(&[0x7f], 0), Some((127, 1)));
        assert_eq!(varint(&[0, 0x81, 0x00], 1), Some((128, 3)));
        assert_eq!(varint(&[0xff; 9], 0), Some((u64::MAX, 9)));
        assert_eq!(varint(&[0xff; 8], 0), None);
        assert_eq!(varint(&[], 0), None);
    }

    #[test]
    fn no_page_panics() {
        let mut state = 0x5eed_u32;
        println!("seed {state:#x}");
        for round in 0_usize..2000 {
            let mut page = vec![0; 1024];
            for byte in &mut page {
                state ^= state << 13;
                state ^= state >> 17;
                state ^= state << 5;
                *byte = state.to_be_bytes()[0];
            }
            for page_no in [1, 2] {
                let start = if page_no == 1 { 100 } else { 0 };
                page[start] = [2, 5, 10, 13][round % 4];
                let node = Node::parse(&page, page_no).unwrap();
                let found = node.children().count() + node.overflows().count() + node.payloads().count();
                assert!(found <= 3 * 512);
            }
        }
    }
}
