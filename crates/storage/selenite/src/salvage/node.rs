//! One page of a b-tree (sqlite.org/fileformat.html, 1.6). Its content is checked: the page is
//! authentic, but may be an older one or the result of a fault in SQLite.

use super::record::varint;

/// The kind of a b-tree page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodeKind {
    /// Entries of an index, or rows of a table without rowids, and child pages.
    IndexInner,
    /// Child pages of a table.
    TableInner,
    /// Entries of an index, or rows of a table without rowids.
    IndexLeaf,
    /// Rows.
    TableLeaf,
}

/// A parsed page.
pub struct Node {
    /// Its kind.
    pub kind: NodeKind,
    /// Its cells.
    pub cells: Vec<Cell>,
    /// The last child of an inner page.
    pub last_child: Option<u32>,
}

/// A parsed cell.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// The child page, of an inner page.
    pub child: Option<u32>,
    /// The rowid; of an inner page, the highest one below the child.
    pub rowid: i64,
    /// The size of its payload; 0 in an inner page of a table.
    pub payload_size: usize,
    /// The offset of the payload in the page, and how much of it is there.
    pub local: (usize, usize),
    /// The first overflow page.
    pub overflow: Option<u32>,
}

impl NodeKind {
    /// The kind that a page has; `None` if it is not a b-tree page.
    pub fn of(page: &[u8], page_no: u32) -> Option<Self> {
        match page.get(header_offset(page_no))? {
            2 => Some(Self::IndexInner),
            5 => Some(Self::TableInner),
            10 => Some(Self::IndexLeaf),
            13 => Some(Self::TableLeaf),
            _ => None,
        }
    }

    /// Whether it has child pages.
    pub fn is_inner(self) -> bool {
        matches!(self, Self::IndexInner | Self::TableInner)
    }
}

impl Node {
    /// Parses a page, of which SQLite uses `usable` bytes; `None` if any part is invalid.
    pub fn parse(page: &[u8], page_no: u32, usable: usize) -> Option<Self> {
        let kind = NodeKind::of(page, page_no)?;
        let bytes = page.get(..usable)?;
        let header = header_offset(page_no);
        let count = usize::from(u16_at(bytes, header + 3)?);
        let (last_child, pointers) = if kind.is_inner() {
            (Some(u32_at(bytes, header + 8)?), header + 12)
        } else {
            (None, header + 8)
        };
        let first = pointers + 2 * count;
        let cells = (0..count).map(|index| {
            let at = usize::from(u16_at(bytes, pointers + 2 * index)?);
            (at >= first).then(|| Cell::parse(kind, bytes, at)).flatten()
        });
        Some(Self {
            kind,
            cells: cells.collect::<Option<Vec<Cell>>>()?,
            last_child,
        })
    }
}

impl Cell {
    fn parse(kind: NodeKind, bytes: &[u8], start: usize) -> Option<Self> {
        let mut at = start;
        let child = if kind.is_inner() {
            at += 4;
            Some(u32_at(bytes, start)?)
        } else {
            None
        };
        let mut next = || {
            let (value, size) = varint(bytes.get(at..)?)?;
            at += size;
            Some(value)
        };
        let payload_size = match kind {
            NodeKind::TableInner => 0,
            NodeKind::IndexInner | NodeKind::IndexLeaf | NodeKind::TableLeaf => {
                usize::try_from(next()?).ok().filter(|&size| size <= PAYLOAD_SIZE_MAX)?
            }
        };
        let rowid = match kind {
            NodeKind::TableInner | NodeKind::TableLeaf => next()?.cast_signed(),
            NodeKind::IndexInner | NodeKind::IndexLeaf => 0,
        };
        let local_size = local_size(kind, payload_size, bytes.len());
        let end = at + local_size;
        let overflow = if local_size < payload_size {
            Some(u32_at(bytes, end)?)
        } else {
            None
        };
        (end <= bytes.len()).then_some(Self {
            child,
            rowid,
            payload_size,
            local: (at, local_size),
            overflow,
        })
    }
}

/// How much of a payload is in the page itself (sqlite.org/fileformat.html, 1.6, "cell payload overflow").
fn local_size(kind: NodeKind, payload: usize, usable: usize) -> usize {
    let most = match kind {
        NodeKind::TableLeaf => usable - 35,
        NodeKind::TableInner | NodeKind::IndexInner | NodeKind::IndexLeaf => (usable - 12) * 64 / 255 - 23,
    };
    if payload <= most {
        return payload;
    }
    let least = (usable - 12) * 32 / 255 - 23;
    let wanted = least + (payload - least) % (usable - 4);
    if wanted <= most { wanted } else { least }
}

/// A number of two bytes.
pub fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let field = bytes.get(at..at.checked_add(2)?)?.try_into().ok()?;
    Some(u16::from_be_bytes(field))
}

/// A number of four bytes.
pub fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let field = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
    Some(u32::from_be_bytes(field))
}

/// Page 1 begins with the database header.
fn header_offset(page_no: u32) -> usize {
    if page_no == 1 { 100 } else { 0 }
}

/// SQLite's own limit of a string or blob (SQLITE_MAX_LENGTH is at most this).
const PAYLOAD_SIZE_MAX: usize = 0x7fff_ffff;

#[cfg(test)]
mod tests {
    use super::*;

    /// A leaf of one row: rowid 7, the record (NULL).
    fn leaf() -> Vec<u8> {
        let mut page = vec![0; 1024];
        page[0] = 13;
        page[4] = 1;
        let at = 900_u16;
        page[5..7].copy_from_slice(&at.to_be_bytes());
        page[8..10].copy_from_slice(&at.to_be_bytes());
        page[900..904].copy_from_slice(&[2, 7, 2, 0]);
        page
    }

    #[test]
    fn parse_reads_a_leaf() {
        let node = Node::parse(&leaf(), 2, 976).unwrap();
        assert_eq!(
            (node.kind, node.last_child, node.cells.len()),
            (NodeKind::TableLeaf, None, 1)
        );
        let cell = node.cells[0];
        assert_eq!(
            (cell.rowid, cell.payload_size, cell.local, cell.overflow),
            (7, 2, (902, 2), None)
        );
    }

    #[test]
    fn parse_bounds_every_cell_for_any_bytes() {
        for kind in [2, 5, 10, 13] {
            for at in 0..1024 {
                for value in [0, 1, 0x7f, 0x80, 0xff] {
                    let mut page = leaf();
                    page[0] = kind;
                    page[at] = value;
                    for page_no in [1, 2] {
                        if let Some(node) = Node::parse(&page, page_no, 976) {
                            assert!(node.cells.iter().all(|cell| cell.local.0 + cell.local.1 <= 976));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn parse_rejects_a_cell_in_the_header_or_beyond_the_end() {
        for at in [0_u16, 9, 975, 976, 1023, 65535] {
            let mut page = leaf();
            page[8..10].copy_from_slice(&at.to_be_bytes());
            page[975] = 0x80;
            assert!(Node::parse(&page, 2, 976).is_none(), "{at}");
        }
        let mut page = leaf();
        page[3..5].copy_from_slice(&[0xff, 0xff]);
        assert!(Node::parse(&page, 2, 976).is_none());
    }
}
