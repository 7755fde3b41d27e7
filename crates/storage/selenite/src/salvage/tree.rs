//! The pages of one table that can be reached from its root, and the holes: pages that can't.
//!
//! - rowids-in-range: all rowids below a page are in the range that its parent has for it, in
//!   ascending order: a page with other rowids is not part of this tree, even if authentic. So no
//!   row is found twice.

use super::node::{Node, NodeKind};
use super::page_survey::{PageSurvey, ReadFailure};
use crate::{EngineError, Watch};

/// How a table's rows are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// By rowid: rows are in the leaves.
    Rowid,
    /// By their own key, without rowid: rows are in all pages.
    Keyed,
}

/// The pages of a table.
#[derive(Default)]
pub struct Tree {
    /// The pages with rows, in the order of the keys.
    pub pages: Vec<u32>,
    /// The pages that could not be reached.
    pub holes: Vec<Hole>,
}

/// A page that could not be reached, and all below it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hole {
    /// Its number.
    pub page_no: u32,
    /// Why it could not be read.
    pub why: ReadFailure,
    /// The lower bound of the lost rowids, exclusive.
    pub above: Option<i64>,
    /// The upper bound of the lost rowids, inclusive.
    pub up_to: Option<i64>,
    /// Whether there may be pages below it.
    pub may_be_inner: bool,
}

struct TreeStep {
    page_no: u32,
    depth: usize,
    above: Option<i64>,
    up_to: Option<i64>,
}

impl Hole {
    /// The lost rowids as text.
    #[must_use]
    pub fn rows(&self) -> String {
        match (self.above, self.up_to) {
            (None, None) => "rows of unknown keys".to_owned(),
            (Some(above), None) => format!("rows above {above}"),
            (None, Some(up_to)) => format!("rows up to {up_to}"),
            (Some(above), Some(up_to)) => format!("rows above {above}, up to {up_to}"),
        }
    }

    /// A page of rows that could be read before, but not now.
    pub(super) fn of_page(page_no: u32, why: ReadFailure) -> Self {
        Self {
            page_no,
            why,
            above: None,
            up_to: None,
            may_be_inner: false,
        }
    }

    /// Whether these rowids could be below it.
    pub(super) fn covers(&self, first: i64, last: i64) -> bool {
        self.may_be_inner
            && self.above.is_none_or(|above| first > above)
            && self.up_to.is_none_or(|up_to| last <= up_to)
    }
}

impl Tree {
    /// Walks a table from its root, and takes its pages.
    ///
    /// # Errors
    /// [`EngineError::Interrupted`].
    pub fn walk(survey: &mut PageSurvey<'_>, root: u32, family: Family, watch: &Watch) -> Result<Self, EngineError> {
        let mut tree = Self::default();
        let mut depths = Vec::new();
        let mut leaf_depth = None;
        let mut visits = vec![TreeStep {
            page_no: root,
            depth: 0,
            above: None,
            up_to: None,
        }];
        while let Some(visit) = visits.pop() {
            watch.check()?;
            match enter(survey, &visit, family) {
                Ok(node) => {
                    if node.kind.is_inner() {
                        visits.extend(below(&node, &visit).into_iter().rev());
                    } else {
                        leaf_depth = Some(visit.depth);
                    }
                    if node.kind != NodeKind::TableInner {
                        tree.pages.push(visit.page_no);
                    }
                }
                Err(why) => {
                    depths.push(visit.depth);
                    tree.holes.push(Hole {
                        page_no: visit.page_no,
                        why,
                        above: visit.above,
                        up_to: visit.up_to,
                        may_be_inner: true,
                    });
                }
            }
        }
        // All leaves of a tree have the same depth.
        for (hole, depth) in tree.holes.iter_mut().zip(depths) {
            hole.may_be_inner = leaf_depth != Some(depth);
        }
        Ok(tree)
    }
}

/// Reads a page that should be of this tree, and takes it.
fn enter(survey: &mut PageSurvey<'_>, visit: &TreeStep, family: Family) -> Result<Node, ReadFailure> {
    let (node, _) = survey.node(visit.page_no)?;
    let is_ours = match (family, node.kind) {
        (Family::Rowid, NodeKind::TableInner | NodeKind::TableLeaf)
        | (Family::Keyed, NodeKind::IndexInner | NodeKind::IndexLeaf) => true,
        (Family::Rowid, NodeKind::IndexInner | NodeKind::IndexLeaf)
        | (Family::Keyed, NodeKind::TableInner | NodeKind::TableLeaf) => false,
    };
    let is_in_order = family == Family::Keyed || is_in_order(&node, visit);
    if is_ours && is_in_order && survey.take(visit.page_no) {
        return Ok(node);
    }
    Err(ReadFailure::Misplaced)
}

/// Enforces `rowids-in-range`.
fn is_in_order(node: &Node, visit: &TreeStep) -> bool {
    let mut above = visit.above;
    node.cells.iter().all(|cell| {
        let is_above = above.is_none_or(|above| cell.rowid > above);
        above = Some(cell.rowid);
        is_above && visit.up_to.is_none_or(|up_to| cell.rowid <= up_to)
    })
}

fn below(node: &Node, visit: &TreeStep) -> Vec<TreeStep> {
    let depth = visit.depth + 1;
    let mut above = visit.above;
    let mut visits = Vec::with_capacity(node.cells.len() + 1);
    for cell in &node.cells {
        let (lower, upper) = match node.kind {
            NodeKind::TableInner => (above, Some(cell.rowid)),
            NodeKind::TableLeaf | NodeKind::IndexInner | NodeKind::IndexLeaf => (None, None),
        };
        visits.push(TreeStep {
            page_no: cell.child.unwrap_or(0),
            depth,
            above: lower,
            up_to: upper,
        });
        above = upper;
    }
    visits.push(TreeStep {
        page_no: node.last_child.unwrap_or(0),
        depth,
        above,
        up_to: visit.up_to,
    });
    visits
}
