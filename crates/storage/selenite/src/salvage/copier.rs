//! Creates the tables, fills them, and creates indexes, views and triggers.

use std::collections::BTreeMap;

use super::filler::Filler;
use super::free_list;
use super::leaf_owner::{self, Candidate};
use super::lost_and_found::{self, Stray};
use super::maker::{Guard, Maker};
use super::node::NodeKind;
use super::page_survey::PageSurvey;
use super::report::{Lost, NotMade, Strays, TableReport, broken_off};
use super::row::each_row;
use super::schema::{Entry, Schema};
use super::sequence;
use super::table_layout::TableLayout;
use super::text::Encoding;
use super::tree::{Family, Hole, Tree};
use crate::{Database, EngineError, Watch};

/// The result of copying.
pub struct Copied {
    /// One report per table.
    pub tables: Vec<TableReport>,
    /// Entries of the schema that could not be created.
    pub not_made: Vec<NotMade>,
    /// Rows whose table is not certain.
    pub strays: Option<Strays>,
}

/// Copies a database.
pub struct Copier<'a, 'g> {
    database: &'a Database,
    maker: Maker<'a>,
    survey: &'a mut PageSurvey<'g>,
    schema: Option<&'a Schema>,
    encoding: Encoding,
    watch: &'a Watch,
    not_made: Vec<NotMade>,
    strays: Vec<Stray>,
}

/// A table while it is copied.
struct Table {
    purpose: Purpose,
    family: Family,
    /// `None` if the table can't be created.
    layout: Option<TableLayout>,
    tree: Tree,
    report: TableReport,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Rows,
    /// `sqlite_sequence`: SQLite creates it, and adds rows to it while tables are filled.
    Sequence,
    /// A table of ANALYZE: not copied, since it would describe rows that are lost.
    Statistics,
}

impl<'a, 'g> Copier<'a, 'g> {
    /// Prepares a new, empty database. It has no final name until it is complete, so nothing has
    /// to survive a crash.
    ///
    /// # Errors
    /// The errors of SQLite.
    pub fn begin(
        (database, guard): (&'a Database, Guard),
        survey: &'a mut PageSurvey<'g>,
        schema: Option<&'a Schema>,
        watch: &'a Watch,
    ) -> Result<Self, EngineError> {
        let encoding = schema.map_or(Encoding::Unknown, |schema| schema.header.encoding);
        for pragma in [
            &format!("encoding = '{}'", encoding.name()),
            "journal_mode = MEMORY",
            "synchronous = OFF",
            "foreign_keys = OFF",
            "trusted_schema = OFF",
            // Constraints may have been added after a row was written.
            "ignore_check_constraints = ON",
        ] {
            database.text(&format!("PRAGMA {pragma}"))?;
        }
        Ok(Self {
            database,
            maker: Maker::new(database, guard),
            survey,
            schema,
            encoding,
            watch,
            not_made: Vec::new(),
            strays: Vec::new(),
        })
    }

    /// Copies everything.
    ///
    /// # Errors
    /// The errors of SQLite for the new database; [`EngineError::Interrupted`].
    pub fn run(mut self) -> Result<Copied, EngineError> {
        let mut tables = self.make_tables()?;
        let schema = self.schema;
        let free_is_known = schema.is_some_and(|schema| free_list::take(self.survey, &schema.header));
        for table in &mut tables {
            if table.purpose == Purpose::Rows {
                let pages = std::mem::take(&mut table.tree.pages);
                self.fill(table, &pages, false)?;
            }
        }
        self.find_leaves(&mut tables, free_is_known)?;
        for table in &mut tables {
            if table.purpose == Purpose::Sequence {
                sequence::restore(
                    self.database,
                    self.survey,
                    &table.tree.pages,
                    self.encoding,
                    &mut table.report,
                )?;
            }
            for hole in &table.tree.holes {
                table.report.lose(Lost::Page(*hole));
            }
        }
        let entries = schema.map(|schema| schema.entries.as_slice()).unwrap_or_default();
        let kept = lost_and_found::keep(
            (self.database, entries),
            self.survey,
            &self.strays,
            self.encoding,
            self.watch,
        );
        let strays = kept?;
        self.make_others(entries)?;
        let (user, application) = schema.map_or((0, 0), |schema| {
            (schema.header.user_version, schema.header.application_id)
        });
        // Even if nothing else was written, this gives the file a database header.
        self.database.batch(&format!(
            "BEGIN IMMEDIATE; PRAGMA user_version = {user}; PRAGMA application_id = {application}; COMMIT"
        ))?;
        let tables = tables.into_iter().filter(|table| table.purpose != Purpose::Statistics);
        Ok(Copied {
            tables: tables.map(|table| table.report).collect(),
            not_made: self.not_made,
            strays,
        })
    }

    /// Creates all tables, and walks the trees of the old ones: all trees before any row is read,
    /// since a page belongs to the first tree that reaches it.
    fn make_tables(&mut self) -> Result<Vec<Table>, EngineError> {
        let mut tables = Vec::new();
        let entries = self.schema.map(|schema| schema.entries.as_slice()).unwrap_or_default();
        for entry in entries.iter().filter(|entry| entry.is_table()) {
            self.watch.check()?;
            let purpose = match entry.name.as_str() {
                "sqlite_sequence" => Purpose::Sequence,
                _ if entry.is_statistics() => Purpose::Statistics,
                _ => Purpose::Rows,
            };
            let layout = if purpose == Purpose::Rows && self.make(entry)? {
                Some(TableLayout::of(self.database, &entry.name)?)
            } else {
                None
            };
            let family = match &layout {
                Some(layout) if layout.has_rowid => Family::Rowid,
                Some(_) => Family::Keyed,
                None => self.family_of(entry.root),
            };
            let tree = Tree::walk(self.survey, entry.root, family, self.watch)?;
            tables.push(Table {
                purpose,
                family,
                layout,
                tree,
                report: TableReport::new(&entry.name),
            });
        }
        Ok(tables)
    }

    /// From the kind of the root page alone.
    fn family_of(&mut self, root: u32) -> Family {
        match self.survey.node(root).map(|(node, _)| node.kind) {
            Ok(NodeKind::IndexInner | NodeKind::IndexLeaf) => Family::Keyed,
            Ok(NodeKind::TableInner | NodeKind::TableLeaf) | Err(_) => Family::Rowid,
        }
    }

    /// Copies the rows of these pages. `is_found`: no page refers to them.
    fn fill(&mut self, table: &mut Table, pages: &[u32], is_found: bool) -> Result<(), EngineError> {
        let Table { layout, report, .. } = table;
        let filler = layout
            .as_ref()
            .map(|layout| Filler::new(self.database, layout, self.encoding));
        let mut filler = match filler {
            Some(Ok(filler)) => filler,
            Some(Err(why)) => {
                self.note_not_made("rows of table", &report.name, why);
                self.stray(pages, &report.name);
                return Ok(());
            }
            None => {
                self.stray(pages, &report.name);
                return Ok(());
            }
        };
        self.database.batch("BEGIN")?;
        for &page_no in pages {
            self.watch.check()?;
            let read = each_row(self.survey, page_no, |rowid, payload| {
                match payload {
                    Err((at, why)) => report.lose_row(rowid, at, broken_off(why)),
                    Ok(payload) => match filler.insert(rowid, payload)? {
                        Ok(()) => {
                            report.row_count += 1;
                            report.found_count += u64::from(is_found);
                        }
                        Err(why) => report.lose_row(rowid, page_no, why),
                    },
                }
                Ok(())
            })?;
            if let Err(why) = read {
                report.lose(Lost::Page(Hole::of_page(page_no, why)));
            }
            self.survey.report_copied(self.watch);
        }
        drop(filler);
        self.database.batch("COMMIT")
    }

    fn stray(&mut self, pages: &[u32], table: &str) {
        self.strays.extend(pages.iter().map(|&page_no| Stray {
            page_no,
            table: Some(table.to_owned()),
        }));
    }

    /// Looks for leaves that can't be reached from a root.
    fn find_leaves(&mut self, tables: &mut [Table], free_is_known: bool) -> Result<(), EngineError> {
        let all_is_known = self.schema.is_some_and(|schema| schema.is_complete);
        let is_open = |table: &Table| table.tree.holes.iter().any(|hole| hole.may_be_inner);
        if all_is_known && !tables.iter().any(is_open) {
            return Ok(());
        }
        let pages = self.survey.pages();
        // `leaf_owner.rs`, no-freed-leaves.
        let is_certain = all_is_known
            && free_is_known
            && pages.bad_logs().is_empty()
            && pages.promised_count() < leaf_owner::PAGE_COUNT_MAX;
        let candidates: Vec<Candidate<'_>> = tables
            .iter()
            .enumerate()
            .filter(|(_, table)| table.family == Family::Rowid)
            .map(|(index, table)| Candidate::new(index, &table.tree.holes, table.layout.as_ref()))
            .filter(|candidate| !candidate.holes.is_empty())
            .collect();
        let mut found: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for page_no in self.survey.untaken_leaves() {
            self.watch.check()?;
            self.survey.take(page_no);
            match leaf_owner::find(self.survey, page_no, &candidates).filter(|_| is_certain) {
                Some(index) => found.entry(index).or_default().push(page_no),
                None => self.strays.push(Stray { page_no, table: None }),
            }
        }
        for (index, pages) in found {
            match tables[index].purpose {
                Purpose::Rows => self.fill(&mut tables[index], &pages, true)?,
                Purpose::Sequence => tables[index].tree.pages.extend(pages),
                Purpose::Statistics => {}
            }
        }
        Ok(())
    }

    /// Creates indexes, views and triggers, and lists virtual tables.
    fn make_others(&mut self, entries: &[Entry]) -> Result<(), EngineError> {
        for entry in entries
            .iter()
            .filter(|entry| entry.kind != "table" && entry.sql.is_some())
        {
            self.watch.check()?;
            self.make(entry)?;
        }
        for entry in entries.iter().filter(|entry| entry.is_virtual()) {
            self.watch.check()?;
            if let Err(why) = self.maker.list(entry)? {
                self.note_not_made(&entry.kind, &entry.name, why);
            }
        }
        Ok(())
    }

    /// Returns whether SQLite accepted it.
    fn make(&mut self, entry: &Entry) -> Result<bool, EngineError> {
        match self.maker.make(entry)? {
            Ok(()) => Ok(true),
            Err(why) => {
                self.note_not_made(&entry.kind, &entry.name, why);
                Ok(false)
            }
        }
    }

    fn note_not_made(&mut self, kind: &str, name: &str, why: String) {
        self.not_made.push(NotMade {
            kind: kind.to_owned(),
            name: name.to_owned(),
            why,
        });
    }
}
