//! Which rows lie on which pages of a snapshot, so that the pages that others wrote since tell which rows may have
//! changed.
//!
//! - rows-of-a-leaf: a leaf of a table holds the rows of an interval of rowids, which the keys above it give. A row that
//!   differs between two snapshots lay, or lies, on a leaf that was written in between, on one that is no longer in its
//!   place (another parent's keys, or in no tree), or has an overflow page that was written: the intervals of all of
//!   them are reported, of both snapshots.
//! - superset: more pages may be named as changed than were.
//! - without-rowid: such a table is a tree of keys with rows in its inner pages, too: a row there is an interval of its
//!   own, and the rows of a page between two of them are the interval that their keys give, these included.
//! - indexes-are-derived: pages of indexes don't count: a copy of the rows has them from SQLite.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::row_interval::{Key, KeyColumns, Rows};
use crate::salvage::node::{Cell, Node, NodeKind, u32_at};
use crate::tree_digest::{DigestFault, PageReader, SnapshotPages};
use crate::{Database, EngineError};

/// A table with the root of its tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table {
    pub name: String,
    pub root: u32,
    /// Of a table WITHOUT ROWID.
    pub key: Option<KeyColumns>,
}

/// The pages of all tables in a snapshot.
pub struct PageMap {
    tables: Vec<Table>,
    nodes: HashMap<u32, Place>,
    page_bytes: usize,
    usable: usize,
}

/// Where a page lies.
#[derive(Clone)]
struct Place {
    table: usize,
    rows: Rows,
    /// 0 above a root.
    parent: u32,
    kind: Kind,
}

/// With the children of a page, and the overflow pages of its rows.
#[derive(Clone)]
enum Kind {
    Inner(Vec<(u32, Rows)>, Vec<u32>),
    Leaf(Vec<u32>),
    Overflow,
}

/// The rows to copy again, by the number of the table in [`PageMap::tables`]; intervals of rowids ascend and don't
/// touch, those of keys may overlap.
pub type ChangedRows = BTreeMap<usize, Vec<Rows>>;

impl PageMap {
    /// Of the snapshot that `database` has in its transaction. `on_page` is called for every page.
    pub fn of(database: &Database, on_page: &mut dyn FnMut() -> Result<(), EngineError>) -> Result<Self, EngineError> {
        let page_bytes = usize::try_from(database.number("PRAGMA main.page_size")?).unwrap_or(0);
        let mut map = Self {
            tables: tables_of(database)?,
            nodes: HashMap::new(),
            page_bytes,
            usable: page_bytes,
        };
        let mut reader = Reader {
            pages: SnapshotPages::new(database).map_err(malformed)?,
            on_page,
        };
        let first = reader.read(1, page_bytes)?;
        map.usable = page_bytes - usize::from(first.get(20).copied().unwrap_or(0));
        for number in 0..map.tables.len() {
            Update::new(&mut map, &mut reader, &HashSet::new()).walk_table(number)?;
        }
        Ok(map)
    }

    /// The size of a page in bytes.
    pub fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    /// The tables, of the schema at which the map was made.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// Moves to the snapshot that `database` has now. `written` are the pages that were written between the two. Returns
    /// the rows that may differ.
    pub fn advance(&mut self, database: &Database, written: &HashSet<u32>) -> Result<ChangedRows, EngineError> {
        let mut reader = Reader {
            pages: SnapshotPages::new(database).map_err(malformed)?,
            on_page: &mut || Ok(()),
        };
        let mut touched_tables: Vec<usize> = written
            .iter()
            .filter_map(|page_no| self.nodes.get(page_no).map(|place| place.table))
            .collect();
        touched_tables.sort_unstable();
        touched_tables.dedup();
        let mut update = Update::new(self, &mut reader, written);
        for number in touched_tables {
            update.walk_table(number)?;
        }
        Ok(update.changed())
    }
}

fn tables_of(database: &Database) -> Result<Vec<Table>, EngineError> {
    let read = || -> Result<Vec<(String, u32, bool)>, rusqlite::Error> {
        let sql = "SELECT s.name, s.rootpage, NOT l.wr FROM main.sqlite_schema AS s JOIN pragma_table_list AS l \
                   ON l.schema = 'main' AND l.name = s.name WHERE s.type = 'table' AND s.rootpage > 0";
        let mut statement = database.connection().prepare(sql)?;
        let tables = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        tables.collect()
    };
    let found = read().map_err(|error| database.error(error))?;
    let tables = found.into_iter().map(|(name, root, has_rowid)| {
        let key = match has_rowid {
            true => None,
            false => Some(KeyColumns::of(database, &name)?),
        };
        Ok(Table { name, root, key })
    });
    tables.collect()
}

struct Reader<'a> {
    pages: SnapshotPages<'a>,
    on_page: &'a mut dyn FnMut() -> Result<(), EngineError>,
}

impl Reader<'_> {
    fn read(&mut self, page_no: u32, page_bytes: usize) -> Result<Vec<u8>, EngineError> {
        (self.on_page)()?;
        let mut page = vec![0; page_bytes];
        self.pages.read(page_no, &mut page).map_err(malformed)?;
        Ok(page)
    }
}

fn malformed(fault: DigestFault) -> EngineError {
    match fault {
        DigestFault::Shape(what) => EngineError::CopyDiffers {
            what: format!("the database is malformed: {what}"),
        },
        DigestFault::Read(error) => error,
    }
}

/// One step from a snapshot to a later one.
struct Update<'a, 'b> {
    map: &'a mut PageMap,
    reader: &'a mut Reader<'b>,
    written: &'a HashSet<u32>,
    /// Pages that are written, or have such a page below them.
    touched: HashSet<u32>,
    /// Pages whose place is that of the new snapshot.
    placed: HashSet<u32>,
    /// Pages that are no longer where they were, unless they are placed.
    loose: Vec<u32>,
    changed: BTreeMap<usize, Vec<Rows>>,
}

impl<'a, 'b> Update<'a, 'b> {
    fn new(map: &'a mut PageMap, reader: &'a mut Reader<'b>, written: &'a HashSet<u32>) -> Self {
        let mut update = Self {
            touched: HashSet::new(),
            placed: HashSet::new(),
            loose: Vec::new(),
            changed: BTreeMap::new(),
            map,
            reader,
            written,
        };
        for &page_no in written {
            let Some(place) = update.map.nodes.get(&page_no) else {
                continue;
            };
            let rows = place.own_rows();
            update.changed.entry(place.table).or_default().extend(rows);
            let mut next = page_no;
            while next != 0 && update.touched.insert(next) {
                next = update.map.nodes.get(&next).map_or(0, |place| place.parent);
            }
        }
        update
    }

    fn walk_table(&mut self, number: usize) -> Result<(), EngineError> {
        let table = &self.map.tables[number];
        let (root, all) = (table.root, Rows::all(table.key.as_ref()));
        self.visit(root, number, all, 0, 0)?;
        while let Some(page_no) = self.loose.pop() {
            self.drop_loose(page_no);
        }
        Ok(())
    }

    /// Places a page and what is below it.
    fn visit(&mut self, page_no: u32, table: usize, rows: Rows, parent: u32, depth: usize) -> Result<(), EngineError> {
        if depth > DEPTH_MAX || !self.placed.insert(page_no) {
            return Err(broken(page_no));
        }
        if let Some(place) = self.map.nodes.get_mut(&page_no)
            && place.table == table
            && place.rows == rows
            && !matches!(place.kind, Kind::Overflow)
            && !self.written.contains(&page_no)
        {
            place.parent = parent;
            if !self.touched.contains(&page_no) {
                return Ok(());
            }
            match &place.kind {
                // The key of a row may be on an overflow page.
                Kind::Inner(children, overflow) if overflow.iter().all(|page_no| !self.written.contains(page_no)) => {
                    for (child, rows) in children.clone() {
                        self.visit(child, table, rows, page_no, depth + 1)?;
                    }
                    return Ok(());
                }
                // An overflow page of one of its rows was written, and reported.
                Kind::Inner(..) | Kind::Leaf(_) | Kind::Overflow => {}
            }
        }
        self.place(page_no, table, rows, parent, depth)
    }

    /// Reads a page that is new, written, or in another place.
    fn place(&mut self, page_no: u32, table: usize, rows: Rows, parent: u32, depth: usize) -> Result<(), EngineError> {
        if let Some(before) = self.map.nodes.remove(&page_no) {
            self.loosen(before);
        }
        let page = self.reader.read(page_no, self.map.page_bytes)?;
        let node = Node::parse(&page, page_no, self.map.usable).ok_or_else(|| broken(page_no))?;
        let kind = match (node.kind, &rows) {
            (NodeKind::TableLeaf, Rows::Rowids { .. }) | (NodeKind::IndexLeaf, Rows::Keys { .. }) => {
                Kind::Leaf(self.place_overflow(&node.cells, table, page_no, &rows)?)
            }
            (NodeKind::TableInner, Rows::Rowids { first, last }) => {
                let children = children_by_rowid(&node, (*first, *last)).ok_or_else(|| broken(page_no))?;
                Kind::Inner(children, Vec::new())
            }
            (NodeKind::IndexInner, Rows::Keys { first, last }) => {
                self.children_by_key(&node, &page, (table, page_no), (first, last))?
            }
            (NodeKind::TableLeaf | NodeKind::TableInner, Rows::Keys { .. })
            | (NodeKind::IndexLeaf | NodeKind::IndexInner, Rows::Rowids { .. }) => return Err(broken(page_no)),
        };
        let children = match &kind {
            Kind::Inner(children, _) => children.clone(),
            Kind::Leaf(_) | Kind::Overflow => Vec::new(),
        };
        let place = Place {
            table,
            rows,
            parent,
            kind,
        };
        self.changed.entry(table).or_default().extend(place.own_rows());
        self.map.nodes.insert(page_no, place);
        for (child, rows) in children {
            self.visit(child, table, rows, page_no, depth + 1)?;
        }
        Ok(())
    }

    fn place_overflow(
        &mut self,
        cells: &[Cell],
        table: usize,
        leaf: u32,
        of_leaf: &Rows,
    ) -> Result<Vec<u32>, EngineError> {
        let mut pages = Vec::new();
        for cell in cells {
            let rows = match of_leaf {
                Rows::Rowids { .. } => Rows::Rowids {
                    first: cell.rowid,
                    last: cell.rowid,
                },
                Rows::Keys { .. } => of_leaf.clone(),
            };
            let chain = self.chain(cell, |_| ())?;
            self.put_chain(&chain, table, leaf, &rows);
            pages.extend(chain);
        }
        Ok(pages)
    }

    /// The children of an inner page of keys: between two of them is a row.
    fn children_by_key(
        &mut self,
        node: &Node,
        page: &[u8],
        (table, page_no): (usize, u32),
        (first, last): (&Option<Key>, &Option<Key>),
    ) -> Result<Kind, EngineError> {
        let (mut children, mut overflow) = (Vec::with_capacity(node.cells.len() + 1), Vec::new());
        let mut first = first.clone();
        for cell in &node.cells {
            let (at, size) = cell.local;
            let mut record = page[at..at + size].to_vec();
            let chain = self.chain(cell, |part| record.extend_from_slice(part))?;
            let columns = self.map.tables[table].key.as_ref().ok_or_else(|| broken(page_no))?;
            let key = Some(columns.key(&record)?);
            let row = Rows::Keys {
                first: key.clone(),
                last: key.clone(),
            };
            self.put_chain(&chain, table, page_no, &row);
            overflow.extend(chain);
            let last = key.clone();
            children.push((cell.child.unwrap_or(0), Rows::Keys { first, last }));
            first = key;
        }
        let last = last.clone();
        children.push((node.last_child.unwrap_or(0), Rows::Keys { first, last }));
        Ok(Kind::Inner(children, overflow))
    }

    /// The overflow pages of a row; `each` has their parts of it.
    fn chain(&mut self, cell: &Cell, mut each: impl FnMut(&[u8])) -> Result<Vec<u32>, EngineError> {
        let mut pages = Vec::new();
        let mut next = cell.overflow.unwrap_or(0);
        let mut left = cell.payload_size.saturating_sub(cell.local.1);
        while left > 0 {
            if next == 0 {
                return Err(broken(next));
            }
            let page = self.reader.read(next, self.map.page_bytes)?;
            let size = left.min(self.map.usable - 4);
            each(&page[4..4 + size]);
            pages.push(next);
            left -= size;
            next = u32_at(&page, 0).unwrap_or(0);
        }
        Ok(pages)
    }

    fn put_chain(&mut self, chain: &[u32], table: usize, parent: u32, rows: &Rows) {
        for &page_no in chain {
            let place = Place {
                table,
                rows: rows.clone(),
                parent,
                kind: Kind::Overflow,
            };
            self.put(page_no, place);
            self.placed.insert(page_no);
        }
    }

    fn put(&mut self, page_no: u32, place: Place) {
        if let Some(before) = self.map.nodes.insert(page_no, place) {
            self.loosen(before);
        }
    }

    /// Notes that what lay at a page does not lie there any more.
    fn loosen(&mut self, before: Place) {
        self.changed.entry(before.table).or_default().extend(before.own_rows());
        match before.kind {
            Kind::Inner(children, overflow) => {
                self.loose.extend(children.into_iter().map(|(child, _)| child));
                self.loose.extend(overflow);
            }
            Kind::Leaf(overflow) => self.loose.extend(overflow),
            Kind::Overflow => {}
        }
    }

    fn drop_loose(&mut self, page_no: u32) {
        if self.placed.contains(&page_no) {
            return;
        }
        if let Some(before) = self.map.nodes.remove(&page_no) {
            self.loosen(before);
        }
    }

    fn changed(self) -> ChangedRows {
        let mut changed = self.changed;
        changed.retain(|_, intervals| !intervals.is_empty());
        for intervals in changed.values_mut() {
            intervals.sort_unstable();
            intervals.dedup();
            intervals.dedup_by(|next, before| merge(before, next));
        }
        changed
    }
}

impl Place {
    /// The rows that are on the page itself, or may be.
    fn own_rows(&self) -> Vec<Rows> {
        match &self.kind {
            Kind::Leaf(_) | Kind::Overflow => vec![self.rows.clone()],
            Kind::Inner(children, _) => {
                // Behind each child but the last one.
                let children = children.split_last().map_or(&[][..], |(_, others)| others);
                let keys = children.iter().filter_map(|(_, rows)| match rows {
                    Rows::Keys { last, .. } => Some(last.clone()),
                    Rows::Rowids { .. } => None,
                });
                let rows = keys.map(|key| Rows::Keys {
                    first: key.clone(),
                    last: key,
                });
                rows.collect()
            }
        }
    }
}

/// Adds an interval of rowids to the one before it, if they touch.
fn merge(before: &mut Rows, next: &Rows) -> bool {
    match (before, next) {
        (Rows::Rowids { last, .. }, Rows::Rowids { first, last: end }) if *first <= last.saturating_add(1) => {
            *last = (*last).max(*end);
            true
        }
        (Rows::Rowids { .. } | Rows::Keys { .. }, Rows::Rowids { .. } | Rows::Keys { .. }) => false,
    }
}

/// The children of an inner page of rowids; `None` if they are not in order.
fn children_by_rowid(node: &Node, (mut first, end): (i64, i64)) -> Option<Vec<(u32, Rows)>> {
    let mut children = Vec::with_capacity(node.cells.len() + 1);
    for cell in &node.cells {
        let last = cell.rowid;
        if last < first || last > end {
            return None;
        }
        children.push((cell.child.unwrap_or(0), Rows::Rowids { first, last }));
        first = last.saturating_add(1);
    }
    children.push((node.last_child.unwrap_or(0), Rows::Rowids { first, last: end }));
    Some(children)
}

fn broken(page_no: u32) -> EngineError {
    EngineError::CopyDiffers {
        what: format!("the database is malformed: page {page_no}"),
    }
}

/// SQLite's own limit (BTCURSOR_MAX_DEPTH in btreeInt.h).
const DEPTH_MAX: usize = 20;

#[cfg(test)]
mod tests;
