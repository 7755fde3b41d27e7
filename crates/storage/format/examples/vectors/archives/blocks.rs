//! The blocks of an authentic part: FORMAT 12.4. Only a holder of the archive key can make these.

use crate::archive::{Archive, block, content, frame, framed, index_block, stored, word};
use crate::archives::{PACKED, numbered, opens, sample};
use crate::vector::Vector;

pub fn all() -> Vec<Vector> {
    [contents(), packing(), pages()].concat()
}

/// An archive whose part has this content, and an index that matches it.
fn of(name: &'static str, part: &[u8]) -> Archive {
    let pages = sample();
    let index = content(&[stored(&index_block(&numbered(&pages)))]);
    Archive::begin(name, 0).part_and_index(part, &index).finish()
}

fn refused(case: &str, comment: &str, archive: &Archive) -> Vector {
    crate::archives::refused(&format!("block-{case}"), "part-00000000 refused", comment, archive)
}

fn contents() -> Vec<Vector> {
    let packed = framed(PACKED);
    let whole = content(std::slice::from_ref(&packed));
    let at_end = [word(packed.len()).as_slice(), &packed].concat().len();
    let with = |at: usize, bytes: &[u8]| {
        let mut content = whole.clone();
        content[at..at + bytes.len()].copy_from_slice(bytes);
        content
    };
    let (most, more) = (many(511), many(512));
    vec![
        opens("blocks-512", "a part of 512 blocks", &most),
        refused("513", "a part of 513 blocks", &more),
        refused("none", "a part of no block", &of("no block", &vec![0; 4096])),
        refused(
            "padding",
            "the last byte behind the blocks is no zero",
            &of("padding", &with(4095, &[1])),
        ),
        refused(
            "behind",
            "a block behind four zeros",
            &of("behind", &with(at_end + 4, &[0, 0, 0, 1])),
        ),
        refused(
            "size-beyond",
            "a block is longer than what is left of the part",
            &of("beyond its end", &with(at_end, &word(4096 - at_end - 3))),
        ),
        refused(
            "size-most",
            "a block of 4294967295 bytes",
            &of("4294967295", &with(0, &[0xff; 4])),
        ),
    ]
}

/// An archive with `count` blocks of page 1 with zeros, then one of the sample's pages.
fn many(count: usize) -> Archive {
    let zeros = vec![0; 1024];
    let pages = sample();
    let pages = numbered(&pages);
    let numbers = index_block(&[(1, zeros.as_slice())]);
    let one = framed(&frame(&[(1, numbers.as_slice()), (1024, [0].as_slice())]));
    let blocks = [vec![one; count], vec![framed(PACKED)]].concat();
    let index = [vec![(1, zeros.as_slice()); count], pages].concat();
    let name = if count == 511 { "512 blocks" } else { "513 blocks" };
    Archive::begin(name, 0).part(&blocks, &index).finish()
}

fn packing() -> Vec<Vector> {
    let pages = sample();
    let plain = block(&numbered(&pages));
    let (first, rest) = plain.split_at(1000);
    let of_frames = |name: &'static str, frames: &[u8]| of(name, &content(&[framed(frames)]));
    let two = [frame(&[(1, first)]), frame(&[(1, rest)])].concat();
    let zeros: Vec<(usize, &[u8])> = vec![(131_072, &[0]); 9];
    let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 0, 0, 0, 0], PACKED].concat();
    vec![
        opens(
            "frame-raw",
            "a frame of two raw blocks",
            &of_frames("raw blocks", &frame(&[(1, first), (1, rest)])),
        ),
        refused(
            "method",
            "a block of method 2",
            &of("method 2", &content(&[[&[2], PACKED].concat()])),
        ),
        refused("no-frame", "a block of no frame", &of_frames("no frame", &[])),
        refused("two-frames", "a block of two frames", &of_frames("two frames", &two)),
        refused(
            "skippable",
            "a skippable frame before the frame",
            &of_frames("skippable", &skippable),
        ),
        refused(
            "bomb",
            "a frame of 51 bytes that unpacks to 1179648",
            &of_frames("bomb", &frame(&zeros)),
        ),
        refused(
            "frame-cut",
            "a frame lacks its last byte",
            &of_frames("frame cut", &PACKED[..PACKED.len() - 1]),
        ),
        refused(
            "frame-longer",
            "a byte behind the frame",
            &of_frames("frame longer", &[PACKED, &[0]].concat()),
        ),
        refused(
            "frame-flip",
            "a bit of the frame is flipped",
            &of_frames("frame flip", &flipped()),
        ),
    ]
}

/// The packed sample with a bit flipped, which its checksum detects.
fn flipped() -> Vec<u8> {
    let mut frame = PACKED.to_vec();
    *frame.last_mut().expect("a frame") ^= 1;
    frame
}

fn pages() -> Vec<Vector> {
    let pages = sample();
    let pages = numbered(&pages);
    let of_block = |name: &'static str, plain: &[u8]| of(name, &content(&[stored(plain)]));
    let whole = block(&pages);
    let counted = |count: usize| {
        let mut plain = whole.clone();
        plain[..4].copy_from_slice(&word(count));
        plain
    };
    let renumbered = |numbers: [u32; 3]| {
        let mut plain = whole.clone();
        for (index, number) in numbers.into_iter().enumerate() {
            plain[4 + 4 * index..8 + 4 * index].copy_from_slice(&number.to_be_bytes());
        }
        plain
    };
    vec![
        refused("count-0", "a block of no page", &of_block("count 0", &[0; 4])),
        refused(
            "count-2",
            "a block of three pages that counts two",
            &of_block("count 2", &counted(2)),
        ),
        refused(
            "count-4",
            "a block of three pages that counts four",
            &of_block("count 4", &counted(4)),
        ),
        refused(
            "count-most",
            "a block that counts 4294967295 pages",
            &of_block("count most", &counted(0xffff_ffff)),
        ),
        refused("page-0", "a page 0", &of_block("page 0", &renumbered([0, 2, 3]))),
        refused(
            "page-twice",
            "a page twice in a block",
            &of_block("page twice", &renumbered([1, 2, 2])),
        ),
        refused(
            "order",
            "pages that do not ascend",
            &of_block("order", &renumbered([2, 1, 3])),
        ),
        refused(
            "short",
            "the last page lacks a byte",
            &of_block("short", &whole[..whole.len() - 1]),
        ),
        refused(
            "longer",
            "a byte behind the last page",
            &of_block("longer", &[whole.as_slice(), &[0]].concat()),
        ),
    ]
}
