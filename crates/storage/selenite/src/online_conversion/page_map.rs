//! Which rows lie on which pages of a snapshot, so that the pages that others wrote since tell which rows may have
//! changed.
//!
//! - rows-of-a-leaf: a leaf of a table holds the rows of an interval of rowids, which the keys above it give. A row that
//!   differs between two snapshots lay, or lies, on a leaf that was written in between, on one that is no longer in its
//!   place (another parent's keys, or in no tree), or has an overflow page that was written: the intervals of all of
//!   them are reported, of both snapshots.
//! - superset: more pages may be named as changed than were.
//! - without-rowid: a table without rowids is one unit, reported whole.
//! - indexes-are-derived: pages of indexes don't count: a copy of the rows has them from SQLite.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::salvage::node::{Cell, Node, NodeKind, u32_at};
use crate::tree_digest::{DigestFault, PageReader, SnapshotPages};
use crate::{Database, EngineError};

/// An interval of rowids, both ends included.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Rows {
    pub first: i64,
    pub last: i64,
}

impl Rows {
    /// All rows of a table.
    pub const ALL: Self = Self {
        first: i64::MIN,
        last: i64::MAX,
    };
}

/// A table with the root of its tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table {
    pub name: String,
    pub root: u32,
    pub has_rowid: bool,
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

#[derive(Clone)]
enum Kind {
    Inner(Vec<(u32, Rows)>),
    /// With the overflow pages of its rows.
    Leaf(Vec<u32>),
    Overflow,
    /// A page of a table without rowids.
    Unit,
}

/// The rows to copy again, by the number of the table in [`PageMap::tables`]; intervals ascend and don't touch.
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
    let read = || -> Result<Vec<Table>, rusqlite::Error> {
        let sql = "SELECT s.name, s.rootpage, NOT l.wr FROM main.sqlite_schema AS s JOIN pragma_table_list AS l \
                   ON l.schema = 'main' AND l.name = s.name WHERE s.type = 'table' AND s.rootpage > 0";
        let mut statement = database.connection().prepare(sql)?;
        let tables = statement.query_map([], |row| {
            Ok(Table {
                name: row.get(0)?,
                root: row.get(1)?,
                has_rowid: row.get(2)?,
            })
        })?;
        tables.collect()
    };
    read().map_err(|error| database.error(error))
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
            match place.kind {
                Kind::Leaf(_) | Kind::Overflow | Kind::Unit => {
                    update.changed.entry(place.table).or_default().push(place.rows);
                }
                Kind::Inner(_) => {}
            }
            let mut next = page_no;
            while next != 0 && update.touched.insert(next) {
                next = update.map.nodes.get(&next).map_or(0, |place| place.parent);
            }
        }
        update
    }

    fn walk_table(&mut self, number: usize) -> Result<(), EngineError> {
        let Table { root, has_rowid, .. } = self.map.tables[number];
        if has_rowid {
            self.visit(root, number, Rows::ALL, 0, 0)?;
        } else {
            self.changed.entry(number).or_default().push(Rows::ALL);
            self.map.nodes.retain(|_, place| place.table != number);
            self.visit_unit(root, number, 0)?;
        }
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
            && (place.table, place.rows) == (table, rows)
            && !matches!(place.kind, Kind::Overflow | Kind::Unit)
            && !self.written.contains(&page_no)
        {
            place.parent = parent;
            if !self.touched.contains(&page_no) {
                return Ok(());
            }
            return match place.kind.clone() {
                Kind::Inner(children) => {
                    for (child, rows) in children {
                        self.visit(child, table, rows, page_no, depth + 1)?;
                    }
                    Ok(())
                }
                // An overflow page of one of its rows was written, and reported.
                Kind::Leaf(_) | Kind::Overflow | Kind::Unit => self.place(page_no, table, rows, parent, depth),
            };
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
        let kind = match node.kind {
            NodeKind::TableLeaf => {
                self.changed.entry(table).or_default().push(rows);
                Kind::Leaf(self.place_overflow(&node.cells, table, page_no)?)
            }
            NodeKind::TableInner => {
                let mut children = Vec::with_capacity(node.cells.len() + 1);
                let mut first = rows.first;
                for cell in &node.cells {
                    let last = cell.rowid;
                    if last < first || last > rows.last {
                        return Err(broken(page_no));
                    }
                    children.push((cell.child.unwrap_or(0), Rows { first, last }));
                    first = last.saturating_add(1);
                }
                let last = Rows { first, last: rows.last };
                children.push((node.last_child.unwrap_or(0), last));
                Kind::Inner(children)
            }
            NodeKind::IndexInner | NodeKind::IndexLeaf => return Err(broken(page_no)),
        };
        let children = match &kind {
            Kind::Inner(children) => children.clone(),
            Kind::Leaf(_) | Kind::Overflow | Kind::Unit => Vec::new(),
        };
        self.map.nodes.insert(
            page_no,
            Place {
                table,
                rows,
                parent,
                kind,
            },
        );
        for (child, rows) in children {
            self.visit(child, table, rows, page_no, depth + 1)?;
        }
        Ok(())
    }

    fn place_overflow(&mut self, cells: &[Cell], table: usize, leaf: u32) -> Result<Vec<u32>, EngineError> {
        let mut pages = Vec::new();
        for cell in cells {
            let rows = Rows {
                first: cell.rowid,
                last: cell.rowid,
            };
            self.follow_chain(cell, |update, page_no| {
                let place = Place {
                    table,
                    rows,
                    parent: leaf,
                    kind: Kind::Overflow,
                };
                update.put(page_no, place);
                update.placed.insert(page_no);
                pages.push(page_no);
            })?;
        }
        Ok(pages)
    }

    fn follow_chain(&mut self, cell: &Cell, mut each: impl FnMut(&mut Self, u32)) -> Result<(), EngineError> {
        let mut next = cell.overflow.unwrap_or(0);
        let mut left = cell.payload_size.saturating_sub(cell.local.1);
        while left > 0 {
            if next == 0 {
                return Err(broken(next));
            }
            let page = self.reader.read(next, self.map.page_bytes)?;
            each(self, next);
            left = left.saturating_sub(self.map.usable - 4);
            next = u32_at(&page, 0).unwrap_or(0);
        }
        Ok(())
    }

    fn visit_unit(&mut self, page_no: u32, table: usize, depth: usize) -> Result<(), EngineError> {
        if depth > DEPTH_MAX || !self.placed.insert(page_no) {
            return Err(broken(page_no));
        }
        let page = self.reader.read(page_no, self.map.page_bytes)?;
        let node = Node::parse(&page, page_no, self.map.usable).ok_or_else(|| broken(page_no))?;
        let unit = |parent| Place {
            table,
            rows: Rows::ALL,
            parent,
            kind: Kind::Unit,
        };
        self.put(page_no, unit(0));
        for cell in &node.cells {
            self.follow_chain(cell, |update, overflow| {
                update.put(overflow, unit(page_no));
                update.placed.insert(overflow);
            })?;
            if let Some(child) = cell.child {
                self.visit_unit(child, table, depth + 1)?;
            }
        }
        match node.last_child {
            Some(child) => self.visit_unit(child, table, depth + 1),
            None => Ok(()),
        }
    }

    fn put(&mut self, page_no: u32, place: Place) {
        if let Some(before) = self.map.nodes.insert(page_no, place) {
            self.loosen(before);
        }
    }

    /// Notes that what lay at a page does not lie there any more.
    fn loosen(&mut self, before: Place) {
        match before.kind {
            Kind::Inner(children) => self.loose.extend(children.into_iter().map(|(child, _)| child)),
            Kind::Leaf(overflow) => {
                self.changed.entry(before.table).or_default().push(before.rows);
                self.loose.extend(overflow);
            }
            Kind::Overflow | Kind::Unit => self.changed.entry(before.table).or_default().push(before.rows),
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
        for intervals in changed.values_mut() {
            intervals.sort_unstable();
            let mut merged: Vec<Rows> = Vec::with_capacity(intervals.len());
            for next in intervals.drain(..) {
                match merged.last_mut() {
                    Some(last) if next.first <= last.last.saturating_add(1) => last.last = last.last.max(next.last),
                    Some(_) | None => merged.push(next),
                }
            }
            *intervals = merged;
        }
        changed
    }
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
