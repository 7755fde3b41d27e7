//! Free pages, from SQLite's free list (sqlite.org/fileformat.html, 1.5).
//!
//! Pointer map pages have no rows either, but need no handling: their first byte is 0 to 5, which
//! no leaf of a table has.

use super::node::u32_at;
use super::page_survey::PageSurvey;
use super::schema::Header;

/// Takes all free pages; returns whether the list is certainly complete.
///
/// A free page still has its former content: rows that were deleted.
pub fn take(survey: &mut PageSurvey<'_>, header: &Header) -> bool {
    let usable = survey.pages().usable_size();
    let mut count = 0;
    let mut next = header.first_free;
    while next != 0 {
        let Ok(trunk) = survey.page(next) else { return false };
        if !survey.take(next) {
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
            if !u32_at(&trunk, 8 + 4 * index).is_some_and(|page_no| survey.take(page_no)) {
                return false;
            }
            count += 1;
        }
        next = u32_at(&trunk, 0).unwrap_or(0);
    }
    count == header.free_count
}
