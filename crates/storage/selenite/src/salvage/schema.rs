//! The database header on page 1, and the schema.

use selenite_format::AutoVacuum;

use super::node::u32_at;
use super::page_survey::PageSurvey;
use super::record;
use super::row::each_row;
use super::text::Encoding;
use super::tree::{Family, Tree};
use crate::{EngineError, Watch};
use rusqlite::types::ValueRef;

/// SQLite's header (sqlite.org/fileformat.html, 1.3), the fields that a copy needs.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// The encoding of texts.
    pub encoding: Encoding,
    /// Whether it is in WAL mode.
    pub is_wal: bool,
    /// How it releases free pages.
    pub auto_vacuum: AutoVacuum,
    /// `PRAGMA user_version`.
    pub user_version: i32,
    /// `PRAGMA application_id`.
    pub application_id: i32,
    /// The first page of the free list.
    pub first_free: u32,
    /// How many free pages there are.
    pub free_count: u32,
}

/// The schema.
pub struct Schema {
    /// The header.
    pub header: Header,
    /// The entries, in the order in which they were created.
    pub entries: Vec<Entry>,
    /// Whether all entries could be read.
    pub is_complete: bool,
}

/// A table, index, view or trigger.
#[derive(Debug)]
pub struct Entry {
    /// `table`, `index`, `view` or `trigger`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// The root page of its tree; 0 if it has none.
    pub root: u32,
    /// The SQL that created it; `None` for an index that belongs to a constraint.
    pub sql: Option<String>,
}

impl Schema {
    /// Reads it; `None` if page 1 is lost.
    ///
    /// # Errors
    /// [`EngineError::Interrupted`].
    pub fn read(survey: &mut PageSurvey<'_>, watch: &Watch) -> Result<Option<Self>, EngineError> {
        let Some(header) = survey.page(1).ok().as_deref().and_then(Header::parse) else {
            return Ok(None);
        };
        let tree = Tree::walk(survey, 1, Family::Rowid, watch)?;
        let mut schema = Self {
            header,
            entries: Vec::new(),
            is_complete: tree.holes.is_empty(),
        };
        for page_no in tree.pages {
            let read = each_row(survey, page_no, |_, payload| {
                match payload.ok().and_then(|payload| Entry::parse(payload, header.encoding)) {
                    Some(entry) => schema.entries.push(entry),
                    None => schema.is_complete = false,
                }
                Ok(())
            })?;
            schema.is_complete &= read.is_ok();
        }
        Ok(Some(schema))
    }
}

impl Header {
    fn parse(page: &[u8]) -> Option<Self> {
        let number = |at| u32_at(page, at);
        Some(Self {
            // 0: nothing was written yet.
            encoding: match number(56)? {
                2 => Encoding::Utf16Le,
                3 => Encoding::Utf16Be,
                _ => Encoding::Utf8,
            },
            is_wal: page.get(18..20)? == [2, 2],
            auto_vacuum: match (number(52)?, number(64)?) {
                (0, _) => AutoVacuum::None,
                (_, 0) => AutoVacuum::Full,
                (_, _) => AutoVacuum::Incremental,
            },
            user_version: number(60)?.cast_signed(),
            application_id: number(68)?.cast_signed(),
            first_free: number(32)?,
            free_count: number(36)?,
        })
    }
}

impl Entry {
    fn parse(payload: &[u8], encoding: Encoding) -> Option<Self> {
        let values = record::values(payload)?;
        let [kind, name, _table, root, sql] = values[..] else {
            return None;
        };
        let text = |value: ValueRef<'_>| match value {
            ValueRef::Text(bytes) => encoding.decode(bytes),
            ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Blob(_) => None,
        };
        let root = match root {
            ValueRef::Null => 0,
            ValueRef::Integer(root) => u32::try_from(root).ok()?,
            ValueRef::Real(_) | ValueRef::Text(_) | ValueRef::Blob(_) => return None,
        };
        let sql = match sql {
            ValueRef::Null => None,
            ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Text(_) | ValueRef::Blob(_) => Some(text(sql)?),
        };
        Some(Self {
            kind: text(kind)?,
            name: text(name)?,
            root,
            sql,
        })
    }

    /// Whether it is a table with a tree of its own.
    pub fn is_table(&self) -> bool {
        self.kind == "table" && self.root > 0
    }

    /// Whether it is a virtual table: its contents are in other tables.
    pub fn is_virtual(&self) -> bool {
        self.kind == "table" && self.root == 0
    }

    /// Whether ANALYZE creates it.
    pub fn is_statistics(&self) -> bool {
        self.name.to_ascii_lowercase().starts_with("sqlite_stat")
    }
}
