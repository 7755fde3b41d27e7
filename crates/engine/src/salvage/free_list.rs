//! Pages that hold nothing: the list of free pages, and pointer maps.

use selenite_format::AutoVacuum;

use super::ground::Ground;
use super::node::u32_at;
use super::schema::Header;

/// Takes all free pages and pointer maps; answers whether that is surely all of them.
///
/// A free page still holds what it held before: rows that were deleted.
pub fn take(ground: &mut Ground<'_>, header: &Header) -> bool {
    let usable = ground.snapshot().usable_size();
    if header.auto_vacuum != AutoVacuum::None {
        take_pointer_maps(ground, usable);
    }
    let mut count = 0;
    let mut next = header.first_free;
    while next != 0 {
        let Ok(trunk) = ground.page(next) else { return false };
        if !ground.take(next) {
            return false;
        }
        count += 1;
        let Some(leaf_count) = u32_at(&trunk, 4).and_then(|count| usize::try_from(count).ok()) else {
            return false;
        };
        if leaf_count > usable / 4 - 2 {
            return false;
        }
        for index in 0..leaf_count {
            if !u32_at(&trunk, 8 + 4 * index).is_some_and(|page_no| ground.take(page_no)) {
                return false;
            }
            count += 1;
        }
        next = u32_at(&trunk, 0).unwrap_or(0);
    }
    count == header.free_count
}

/// As ptrmapPageno has them (btree.c): page 2, and one for as many pages as it has entries of five bytes.
fn take_pointer_maps(ground: &mut Ground<'_>, usable: usize) {
    let distance = u32::try_from(usable / 5 + 1).unwrap_or(u32::MAX);
    let mut page_no = 2_u32;
    while page_no <= ground.snapshot().page_count() {
        let is_lock_page = ground.snapshot().is_lock_page(page_no);
        ground.take(if is_lock_page { page_no + 1 } else { page_no });
        page_no = page_no.saturating_add(distance);
    }
}
