//! Intervals of the rows of a table, in the order of its tree.
//!
//! - key-prefix: a table WITHOUT ROWID is in the order of its primary key. Of that the first columns count, up to one of
//!   another direction: SQLite finds an interval of these by its tree (`whereRangeVectorLen` in where.c). Rows with the
//!   same prefix are in an interval together.
//! - stored-order: keys are compared by SQLite alone, with the collations of the primary key.

use std::rc::Rc;

use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, ValueRef};

use crate::content_digest::quote;
use crate::salvage::record;
use crate::salvage::text::Encoding;
use crate::{Database, EngineError};

/// An interval of rows, both ends included.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Rows {
    /// Of a table with rowids.
    Rowids { first: i64, last: i64 },
    /// Of a table WITHOUT ROWID; `None` is the end of the table.
    Keys { first: Option<Key>, last: Option<Key> },
}

/// What a primary key begins with (key-prefix).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Key(pub Rc<[KeyField]>);

/// A value in a key.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum KeyField {
    Null,
    Integer(i64),
    /// The bits of a float.
    Real(u64),
    /// In UTF-8.
    Text(Vec<u8>),
    Blob(Vec<u8>),
}

/// The columns of a primary key that count (key-prefix).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyColumns {
    /// With the names of their collations.
    columns: Vec<(String, String)>,
    /// ORDER BY of the whole primary key.
    order: String,
    is_descending: bool,
    encoding: Encoding,
}

impl Rows {
    /// All rows of a table with rowids.
    pub const ALL: Self = Self::Rowids {
        first: i64::MIN,
        last: i64::MAX,
    };

    /// All rows of a table with this primary key, or with rowids.
    pub fn all(key: Option<&KeyColumns>) -> Self {
        match key {
            None => Self::ALL,
            Some(_) => Self::Keys {
                first: None,
                last: None,
            },
        }
    }

    /// The values of [`KeyColumns::condition`], or the two rowids.
    pub fn parameters(&self) -> Vec<KeyField> {
        match self {
            Self::Rowids { first, last } => vec![KeyField::Integer(*first), KeyField::Integer(*last)],
            Self::Keys { first, last } => {
                let ends = [first, last].into_iter().flatten();
                ends.flat_map(|key| key.0.iter().cloned()).collect()
            }
        }
    }
}

impl KeyColumns {
    /// Of a table WITHOUT ROWID.
    pub fn of(database: &Database, table: &str) -> Result<Self, EngineError> {
        let read = || -> Result<Vec<(String, String, bool)>, rusqlite::Error> {
            let sql = "SELECT x.name, x.coll, x.desc FROM pragma_index_list(?1, 'main') AS l \
                       JOIN pragma_index_xinfo(l.name, 'main') AS x WHERE l.origin = 'pk' AND x.key ORDER BY x.seqno";
            let mut statement = database.connection().prepare(sql)?;
            let columns = statement.query_map([table], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            columns.collect()
        };
        let found = read().map_err(|error| database.error(error))?;
        let is_descending = found.first().is_some_and(|(_, _, is_descending)| *is_descending);
        let terms: Vec<String> = found.iter().map(order_term).collect();
        let columns = found.into_iter().take_while(|(_, _, other)| *other == is_descending);
        let encoding = match database.text("PRAGMA main.encoding")?.as_str() {
            "UTF-16le" => Encoding::Utf16Le,
            "UTF-16be" => Encoding::Utf16Be,
            _ => Encoding::Utf8,
        };
        Ok(Self {
            columns: columns.map(|(name, collation, _)| (name, collation)).collect(),
            order: terms.join(", "),
            is_descending,
            encoding,
        })
    }

    /// The key that a record begins with: the primary key's columns are stored first
    /// (sqlite.org/withoutrowid.html, "the WITHOUT ROWID table ... file format").
    ///
    /// # Errors
    /// [`EngineError::CopyDiffers`] if it is no record; `Usage` for a text that SQLite could not be given again.
    pub fn key(&self, record: &[u8]) -> Result<Key, EngineError> {
        let values = record::values(record).filter(|values| values.len() >= self.columns.len());
        let values = values.ok_or_else(|| EngineError::CopyDiffers {
            what: "the database is malformed: a key is no record".to_owned(),
        })?;
        let fields = values
            .into_iter()
            .take(self.columns.len())
            .map(|value| self.field(value));
        Ok(Key(fields.collect::<Result<_, EngineError>>()?))
    }

    fn field(&self, value: ValueRef<'_>) -> Result<KeyField, EngineError> {
        Ok(match value {
            ValueRef::Null => KeyField::Null,
            ValueRef::Integer(value) => KeyField::Integer(value),
            ValueRef::Real(value) => KeyField::Real(value.to_bits()),
            ValueRef::Blob(bytes) => KeyField::Blob(bytes.to_vec()),
            // SQLite stores UTF-8 unchanged, valid or not.
            ValueRef::Text(bytes) if self.encoding == Encoding::Utf8 => KeyField::Text(bytes.to_vec()),
            ValueRef::Text(bytes) => {
                let text = self.encoding.decode(bytes).ok_or_else(|| {
                    EngineError::usage(
                        "a text in the primary key of a table WITHOUT ROWID is not valid UTF-16",
                        "do it without --online",
                    )
                })?;
                KeyField::Text(text.into_bytes())
            }
        })
    }

    /// What ORDER BY needs for the order of the table.
    pub fn order(&self) -> &str {
        &self.order
    }

    /// The condition of a SELECT or DELETE for the rows of an interval. A collation on the right counts for both sides,
    /// and leaves a plain column on the left, which SQLite needs to use the tree.
    pub fn condition(&self, rows: &Rows) -> String {
        let (first, last) = match rows {
            Rows::Rowids { .. } => (false, false),
            Rows::Keys { first, last } => (first.is_some(), last.is_some()),
        };
        let names: Vec<String> = self.columns.iter().map(|(name, _)| quote(name)).collect();
        let names = names.join(", ");
        let mut number = 0;
        let mut side = |operator: &str| {
            let values = self.columns.iter().map(|(_, collation)| {
                number += 1;
                format!("?{number} COLLATE {}", quote(collation))
            });
            let values: Vec<String> = values.collect();
            format!("({names}) {operator} ({})", values.join(", "))
        };
        let (from, to) = if self.is_descending { ("<=", ">=") } else { (">=", "<=") };
        match (first, last) {
            (false, false) => String::new(),
            (true, false) => format!(" WHERE {}", side(from)),
            (false, true) => format!(" WHERE {}", side(to)),
            (true, true) => format!(" WHERE {} AND {}", side(from), side(to)),
        }
    }
}

fn order_term((name, collation, is_descending): &(String, String, bool)) -> String {
    let direction = if *is_descending { " DESC" } else { "" };
    format!("{} COLLATE {}{direction}", quote(name), quote(collation))
}

impl ToSql for KeyField {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>, rusqlite::Error> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(value) => ValueRef::Integer(*value),
            Self::Real(bits) => ValueRef::Real(f64::from_bits(*bits)),
            Self::Text(text) => ValueRef::Text(text),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}
