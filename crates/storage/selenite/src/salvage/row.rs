//! The rows of one page.

use super::node::NodeKind;
use super::page_survey::{PageSurvey, ReadFailure};
use crate::EngineError;

/// Calls `visit` with the rowid (`None` in a table without rowids) and the record of every row on
/// a page, or, if the record is incomplete, with the page at which it ends.
///
/// # Errors
/// The errors of `visit`. The inner result is that of reading the page.
pub fn each_row(
    survey: &mut PageSurvey<'_>,
    page_no: u32,
    mut visit: impl FnMut(Option<i64>, Result<&[u8], (u32, ReadFailure)>) -> Result<(), EngineError>,
) -> Result<Result<(), ReadFailure>, EngineError> {
    let (node, page) = match survey.node(page_no) {
        Ok(found) => found,
        Err(why) => return Ok(Err(why)),
    };
    for cell in &node.cells {
        let rowid = match node.kind {
            NodeKind::TableLeaf => Some(cell.rowid),
            NodeKind::IndexInner | NodeKind::IndexLeaf => None,
            NodeKind::TableInner => break,
        };
        match survey.payload(&page, cell) {
            Ok(payload) => visit(rowid, Ok(&payload))?,
            Err(end) => visit(rowid, Err(end))?,
        }
    }
    Ok(Ok(()))
}
