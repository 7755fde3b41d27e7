//! Finds the table of a leaf that no page refers to, since its parent is lost.
//!
//! - exactly-one-table: a leaf is assigned to a table only if it fits that table and no other: its
//!   rowids are in the range of a hole of the table, and every record on it fits the table's
//!   columns.
//! - no-freed-leaves: leaves are assigned only if none of them can be a freed page: all free pages
//!   and all tables are known.

use super::page_survey::PageSurvey;
use super::record;
use super::table_layout::TableLayout;
use super::tree::Hole;

/// A table that has lost pages.
pub struct Candidate<'a> {
    /// Its index in the list of tables.
    pub index: usize,
    /// The holes below which there may be leaves, in the order of their rowids: they do not
    /// overlap.
    pub holes: Vec<Hole>,
    /// Its columns; any record fits if they are unknown.
    pub layout: Option<&'a TableLayout>,
}

impl<'a> Candidate<'a> {
    /// A table with these holes from its walk.
    pub fn new(index: usize, holes: &[Hole], layout: Option<&'a TableLayout>) -> Self {
        let mut holes: Vec<Hole> = holes.iter().filter(|hole| hole.may_be_inner).copied().collect();
        holes.sort_by_key(|hole| hole.above);
        Self { index, holes, layout }
    }

    /// Whether these rowids could be below one of its holes.
    fn covers(&self, first: i64, last: i64) -> bool {
        let at = self
            .holes
            .partition_point(|hole| hole.up_to.is_some_and(|up_to| up_to < first));
        self.holes.get(at).is_some_and(|hole| hole.covers(first, last))
    }
}

/// The only table that a leaf fits.
pub fn find(survey: &mut PageSurvey<'_>, page_no: u32, candidates: &[Candidate<'_>]) -> Option<usize> {
    let (node, page) = survey.node(page_no).ok()?;
    let (first, last) = (node.cells.first()?.rowid, node.cells.last()?.rowid);
    if !node.cells.is_sorted_by(|one, other| one.rowid < other.rowid) {
        return None;
    }
    let mut records = Vec::with_capacity(node.cells.len());
    for cell in &node.cells {
        let (start, size) = cell.local;
        records.push(record::fields(&page[start..start + size])?.0);
    }
    let mut fitting = candidates.iter().filter(|candidate| {
        candidate.covers(first, last)
            && candidate
                .layout
                .is_none_or(|layout| records.iter().all(|fields| layout.fits(fields)))
    });
    match (fitting.next(), fitting.next()) {
        (Some(candidate), None) => Some(candidate.index),
        _ => None,
    }
}

/// From this page number on, the first byte of an overflow page, which begins with a page number,
/// can equal that of a leaf.
pub const PAGE_COUNT_MAX: u32 = 0x0d00_0000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::salvage::ReadFailure;

    #[test]
    fn covers_finds_the_same_hole_as_a_linear_search() {
        let hole = |above, up_to, may_be_inner| Hole {
            page_no: 9,
            why: ReadFailure::Bad,
            above,
            up_to,
            may_be_inner,
        };
        let holes = [
            hole(None, Some(-50), true),
            hole(Some(-50), Some(-20), false),
            hole(Some(-20), Some(3), true),
            hole(Some(3), Some(4), true),
            hole(Some(40), Some(60), false),
            hole(Some(70), Some(80), true),
            hole(Some(90), None, true),
        ];
        for holes in [&holes[..], &holes[1..6], &[hole(None, None, true)], &[]] {
            let candidate = Candidate::new(0, holes, None);
            for first in -70..110 {
                for last in first..110 {
                    let expected = holes.iter().any(|hole| hole.covers(first, last));
                    assert_eq!(candidate.covers(first, last), expected, "{first} {last} {holes:?}");
                }
            }
        }
    }
}
