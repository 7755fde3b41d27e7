//! Parts of any bytes, and parts of any content, sealed with the key.

use std::sync::OnceLock;

use crate::altered;
use crate::archive::{key, sealed, sized};
use selenite_backup::archive::{
    BLOCK_COUNT_MAX, BLOCK_SIZE_MAX, Block, CompressionLevel, IndexBlock, OpenPart, PackedPage, Packer, Unpacker,
};
use selenite_cipher::PartKind;
use selenite_format::PageSize;
use selenite_format::anchor::Mark;

/// Three pages as zstd packs them, one page as it is, and an index of both.
fn content() -> &'static [u8] {
    static CONTENT: OnceLock<Vec<u8>> = OnceLock::new();
    CONTENT.get_or_init(|| {
        let zstd = include_bytes!("../../../../testdata/archive/pages.zst");
        let mut packer = Packer::new(CompressionLevel::None).expect("no level");
        let (mut block, mut packed, mut content) = (Vec::new(), Vec::new(), Vec::new());
        let mut add = |packed: &[u8]| content.extend(sized(packed));
        add(&[&[1], zstd.as_slice()].concat());
        let page = PackedPage {
            page_no: 4,
            mark: Mark([4; 8]),
            bytes: &[0x5a; 1024],
        };
        Block::encode(PageSize::MIN, &[page], &mut block);
        packer.pack(&block, &mut packed);
        add(&packed);
        IndexBlock::encode(&[(1, Mark([1; 8])), (2, Mark([2; 8]))], &mut block);
        packer.pack(&block, &mut packed);
        add(&packed);
        content.resize(4096, 0);
        content
    })
}

/// Panics if an invariant does not hold.
pub fn fuzz(data: &[u8]) {
    // Nothing opens that was not sealed.
    assert!(OpenPart::open(&key(), (PartKind::Part, 0), data.to_vec()).is_err());
    let file = altered(content(), data);
    let content = file.read(0, usize::try_from(file.size).expect("a small file"));
    let Ok(part) = OpenPart::open(&key(), (PartKind::Part, 0), sealed(PartKind::Part, 0, &content)) else {
        return;
    };
    let mut unpacker = Unpacker::new().expect("zstd has memory");
    let (mut block, mut again, mut count) = (Vec::new(), Vec::new(), 0);
    for packed in part.blocks() {
        count += 1;
        if unpacker.unpack(packed, &mut block).is_err() {
            continue;
        }
        assert!(block.len() <= BLOCK_SIZE_MAX && block.capacity() <= 2 * BLOCK_SIZE_MAX);
        if let Ok(parsed) = Block::parse(PageSize::MIN, &block) {
            let pages: Vec<_> = parsed.pages().collect();
            Block::encode(PageSize::MIN, &pages, &mut again);
            assert_eq!(again, block);
        }
        if let Ok(parsed) = IndexBlock::parse(&block) {
            let pages: Vec<_> = parsed.pages().collect();
            IndexBlock::encode(&pages, &mut again);
            assert_eq!(again, block);
        }
    }
    assert!((1..=BLOCK_COUNT_MAX).contains(&count));
}
