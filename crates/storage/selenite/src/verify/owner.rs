//! The owner of a page, found by walking the b-trees from `sqlite_schema` over the pages that
//! open.
//!
//! - pages-may-disagree: a page is trusted only to have been sealed: it may be older or newer than
//!   the page that refers to it. Every number in it is checked, and no page is visited twice.
//! - unknown-is-not-guessed: if only a page that does not open refers to a page, its owner is
//!   reported as unknown.

use std::collections::{BTreeMap, BTreeSet};

use super::schema::{Object, Pages, objects};
use super::tree::{Node, number_at, overflow_next};
use crate::bad_page::Owner;

/// The owners of `wanted`.
pub(super) fn owners(pages: &mut dyn Pages, wanted: &BTreeSet<u32>) -> BTreeMap<u32, Owner> {
    let mut search = Search {
        visited: vec![0; usize::try_from(pages.count() / 8 + 1).unwrap_or(0)],
        pages,
        wanted,
        found: BTreeMap::new(),
    };
    search.all();
    let mut found = search.found;
    for &page_no in wanted {
        found.entry(page_no).or_insert(Owner::Unknown);
    }
    found
}

struct Search<'a> {
    pages: &'a mut dyn Pages,
    wanted: &'a BTreeSet<u32>,
    found: BTreeMap<u32, Owner>,
    /// A bit for each page.
    visited: Vec<u8>,
}

impl Search<'_> {
    fn all(&mut self) {
        self.tree(1, &Owner::Schema);
        let mut first = Vec::new();
        if !self.pages.read(1, &mut first) {
            return;
        }
        self.pointer_map(&first);
        self.free_list(&first);
        for object in objects(self.pages, &first) {
            if self.is_done() {
                return;
            }
            let Object { root, owner } = object;
            self.tree(root, &owner);
        }
    }

    fn is_done(&self) -> bool {
        self.found.len() == self.wanted.len() || self.pages.is_interrupted()
    }

    /// Marks a page as visited; returns whether it exists and was not visited. Records its owner
    /// if it is wanted.
    fn visit(&mut self, page_no: u32, owner: &Owner) -> bool {
        if page_no == 0 || page_no > self.pages.count() {
            return false;
        }
        let (at, bit) = (usize::try_from(page_no / 8).unwrap_or(0), 1 << (page_no % 8));
        let Some(byte) = self.visited.get_mut(at).filter(|byte| **byte & bit == 0) else {
            return false;
        };
        *byte |= bit;
        if self.wanted.contains(&page_no) {
            self.found.insert(page_no, owner.clone());
        }
        true
    }

    /// Visits a b-tree, and the overflow pages of its cells.
    fn tree(&mut self, root: u32, owner: &Owner) {
        let mut page = Vec::new();
        let mut waiting = vec![root];
        while let Some(page_no) = waiting.pop() {
            if self.is_done() {
                return;
            }
            if !self.visit(page_no, owner) || !self.pages.read(page_no, &mut page) {
                continue;
            }
            let Some(node) = Node::parse(&page, page_no) else {
                continue;
            };
            let overflowing: Vec<u32> = node.overflows().collect();
            waiting.extend(node.children());
            for first in overflowing {
                self.chain(first, owner);
            }
        }
    }

    fn chain(&mut self, first: u32, owner: &Owner) {
        let mut page = Vec::new();
        let mut next = first;
        while !self.is_done() && self.visit(next, owner) && self.pages.read(next, &mut page) {
            next = overflow_next(&page);
        }
    }

    /// Visits trunks and leaves (sqlite.org/fileformat.html, 1.5).
    fn free_list(&mut self, first: &[u8]) {
        let mut trunk = Vec::new();
        let mut next = number_at(first, 32);
        while !self.is_done() && self.visit(next, &Owner::FreeList) && self.pages.read(next, &mut trunk) {
            let leaf_count = usize::try_from(number_at(&trunk, 4)).unwrap_or(0).min(trunk.len() / 4);
            for index in 0..leaf_count {
                self.visit(number_at(&trunk, 8 + 4 * index), &Owner::FreeList);
            }
            next = number_at(&trunk, 0);
        }
    }

    /// Visits every page of it (sqlite.org/fileformat.html, 1.8; ptrmapPageno in btree.c).
    fn pointer_map(&mut self, first: &[u8]) {
        if number_at(first, 52) == 0 {
            return;
        }
        let usable = u32::try_from(first.len()).unwrap_or(0).saturating_sub(RESERVE);
        let mut map = 2;
        while map <= self.pages.count() {
            let shifted = if map == self.pages.lock_page() { map + 1 } else { map };
            self.visit(shifted, &Owner::PointerMap);
            map += usable / 5 + 1;
        }
    }
}

/// The reserved bytes of every sealed page (FORMAT 3.1).
const RESERVE: u32 = 48;
