//! The rows of `sqlite_schema`, read without SQLite.

use super::tree::{Node, Payload, number_at, overflow_next, varint};
use crate::bad_page::Owner;

/// Decrypted pages.
pub(super) trait Pages {
    /// Reads a page; returns whether it opens.
    fn read(&mut self, page_no: u32, out: &mut Vec<u8>) -> bool;

    /// How many there are.
    fn count(&self) -> u32;

    /// The number of the lock-byte page.
    fn lock_page(&self) -> u32;

    /// Whether to stop.
    fn is_interrupted(&self) -> bool;
}

/// A table or index, and the root of its b-tree.
pub(super) struct Object {
    pub(super) root: u32,
    pub(super) owner: Owner,
}

/// All of them, as far as pages open.
pub(super) fn objects(pages: &mut dyn Pages, first: &[u8]) -> Vec<Object> {
    let encoding = Encoding::of(number_at(first, 56));
    let mut found = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    let mut waiting = vec![1];
    let mut page = Vec::new();
    while let Some(page_no) = waiting.pop() {
        if pages.is_interrupted() || !seen.insert(page_no) || page_no > pages.count() {
            continue;
        }
        if !pages.read(page_no, &mut page) {
            continue;
        }
        let Some(node) = Node::parse(&page, page_no) else {
            continue;
        };
        waiting.extend(node.children());
        if node.is_table_leaf() {
            for payload in node.payloads() {
                let record = whole(pages, &page, &payload);
                found.extend(object(&record, encoding));
            }
        }
    }
    found
}

/// A cell's payload with its overflow pages, as far as these open.
fn whole(pages: &mut dyn Pages, page: &[u8], payload: &Payload) -> Vec<u8> {
    let local = page.get(payload.at..payload.at + payload.local_size);
    let mut record = local.unwrap_or_default().to_vec();
    let mut next = payload.overflow;
    let mut part = Vec::new();
    // Only the first columns are needed; the SQL text, which may be long, comes after them.
    let wanted = payload.size.min(RECORD_SIZE_MAX);
    while next != 0 && record.len() < wanted && pages.read(next, &mut part) {
        let content = part.get(4..part.len() - RESERVE).unwrap_or_default();
        record.extend_from_slice(&content[..content.len().min(wanted - record.len())]);
        next = overflow_next(&part);
    }
    record
}

/// The columns type, name, tbl_name and rootpage (sqlite.org/fileformat.html, 2.1 and 2.6).
fn object(record: &[u8], encoding: Encoding) -> Option<Object> {
    let (head_size, mut at) = varint(record, 0)?;
    let mut body = usize::try_from(head_size).ok()?;
    let mut columns = Vec::new();
    for _ in 0..4 {
        let (kind, next) = varint(record, at)?;
        at = next;
        let size = usize::try_from(size_of(kind)?).ok()?;
        columns.push((kind, record.get(body..body.checked_add(size)?)?));
        body += size;
    }
    let text = |index: usize| encoding.decode(columns[index].1);
    let (kind, bytes) = columns[3];
    let root = match kind {
        1..=6 => bytes.iter().fold(0_u64, |sum, &byte| sum << 8 | u64::from(byte)),
        9 => 1,
        _ => return None,
    };
    let root = u32::try_from(root).ok().filter(|&root| root > 1)?;
    let owner = match text(0).as_str() {
        "table" => Owner::Table(text(1)),
        "index" => Owner::Index {
            name: text(1),
            table: text(2),
        },
        // Views and triggers have no pages.
        _ => return None,
    };
    Some(Object { root, owner })
}

/// How many bytes a value of a serial type has.
fn size_of(kind: u64) -> Option<u64> {
    match kind {
        0 | 8 | 9 => Some(0),
        1..=4 => Some(kind),
        5 => Some(6),
        6 | 7 => Some(8),
        10 | 11 => None,
        _ => Some((kind - 12) / 2),
    }
}

/// The encoding of text (sqlite.org/fileformat.html, 1.3.13).
#[derive(Clone, Copy)]
enum Encoding {
    Utf8,
    Utf16LittleEndian,
    Utf16BigEndian,
}

impl Encoding {
    fn of(number: u32) -> Self {
        match number {
            2 => Self::Utf16LittleEndian,
            3 => Self::Utf16BigEndian,
            _ => Self::Utf8,
        }
    }

    fn decode(self, bytes: &[u8]) -> String {
        let words = |read: fn([u8; 2]) -> u16| -> String {
            let words: Vec<u16> = bytes.chunks_exact(2).map(|pair| read([pair[0], pair[1]])).collect();
            String::from_utf16_lossy(&words)
        };
        match self {
            Self::Utf8 => String::from_utf8_lossy(bytes).into_owned(),
            Self::Utf16LittleEndian => words(u16::from_le_bytes),
            Self::Utf16BigEndian => words(u16::from_be_bytes),
        }
    }
}

/// 64 KiB: names are far shorter.
const RECORD_SIZE_MAX: usize = 65536;
/// The reserved bytes of every sealed page (FORMAT 3.1).
const RESERVE: usize = 48;
