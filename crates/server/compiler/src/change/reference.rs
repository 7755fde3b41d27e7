//! The foreign keys that a change may break.
//!
//! - `last-key-answers`: a change that cascades (CASCADE, SET NULL, SET DEFAULT) may be refused by a later foreign key:
//!   that one is reported.

use crate::catalog::{ChangeVerb, ForeignKey, ReferencedAction, Table};
use crate::file_name::file_name;
use crate::writer::quoted;
use crate::{SqlError, same_name};

/// The foreign keys that a change may break.
#[derive(Clone, Default, Debug)]
pub struct References {
    /// The table's own foreign keys whose columns change.
    pub own: Vec<OwnReference>,
    /// The foreign keys that refer to changed or deleted keys.
    pub referring: Vec<Referring>,
    /// Whether rows of one statement may depend on one another.
    pub may_wait: bool,
}

/// A foreign key of the table that is changed.
#[derive(Clone, Debug)]
pub struct OwnReference {
    /// Its index in [`Table::foreign_keys`].
    pub at: usize,
    /// The indexes of its columns in the table.
    pub columns: Vec<usize>,
    /// The query that finds the referenced row.
    pub sql: String,
}

/// A foreign key that refers to the changed table, directly or through foreign keys that cascade.
#[derive(Clone, Debug)]
pub struct Referring {
    table: (String, String),
    key: ForeignKey,
    /// Whether SET DEFAULT applies, whose default may have no referenced row.
    takes_default: bool,
    /// The columns of the changed table whose old values are the parameters of `sql`.
    pub columns: Vec<usize>,
    /// The query that finds a row that refers to the old row.
    pub sql: String,
    /// The query that finds a row without a referenced row.
    pub dangling: String,
}

/// The change of a table's rows.
enum Change {
    Gone,
    /// These columns are set.
    Set(Vec<String>),
}

/// Rows of a table that a change affects.
struct Reached {
    table: (String, String),
    change: Change,
    /// The columns of the changed table, and the condition over their values that finds the rows. `None` for the
    /// changed table itself.
    found: Option<(Vec<usize>, String)>,
}

impl References {
    /// The foreign keys of a table whose columns change according to `changed`.
    ///
    /// Errors: a name that SQLite can't take.
    pub fn bind(table: &Table, verb: ChangeVerb, changed: &dyn Fn(usize) -> bool) -> Result<Self, SqlError> {
        let mut references = Self::default();
        if verb != ChangeVerb::Delete {
            for (at, key) in table.foreign_keys.iter().enumerate() {
                let columns = places(table, &key.columns);
                if !columns.iter().any(|column| changed(*column)) {
                    continue;
                }
                references.may_wait |= is_table(&key.referenced_table, (&table.schema, &table.name));
                let (name, rows) = (place(table, &key.referenced_table)?, equal(&key.referenced_columns)?);
                references.own.push(OwnReference {
                    at,
                    columns,
                    sql: format!("SELECT 1 FROM {name} WHERE {rows} LIMIT 1"),
                });
            }
        }
        let change = match verb {
            ChangeVerb::Insert => return Ok(references),
            ChangeVerb::Delete => Change::Gone,
            ChangeVerb::Update => {
                let set = table.columns.iter().enumerate().filter(|(at, _)| changed(*at));
                Change::Set(set.map(|(_, column)| column.name.clone()).collect())
            }
        };
        let itself = Reached {
            table: (table.schema.clone(), table.name.clone()),
            change,
            found: None,
        };
        references.follow(table, &itself, 0)?;
        references.referring.sort_by_key(|referring| referring.takes_default);
        references.may_wait |= !references.referring.is_empty();
        Ok(references)
    }

    /// Whether the change can break no foreign key.
    pub fn is_empty(&self) -> bool {
        self.own.is_empty() && self.referring.is_empty()
    }

    /// The number of foreign keys that may refuse the change of a referenced key.
    pub fn referring_count(&self) -> usize {
        self.referring.len()
    }

    /// Adds the foreign keys that refer to affected rows, and follows those that cascade.
    fn follow(&mut self, table: &Table, reached: &Reached, depth: usize) -> Result<(), SqlError> {
        if depth > DEPTH_MAX {
            return Ok(());
        }
        for reference in table.references.iter() {
            let key = &reference.key;
            if !is_table(&key.referenced_table, (&reached.table.0, &reached.table.1)) {
                continue;
            }
            let (action, passed) = match &reached.change {
                Change::Gone => (key.on_delete, Change::Gone),
                Change::Set(columns) => {
                    let is_set = |name: &String| columns.iter().any(|column| same_name(column, name));
                    if !key.referenced_columns.iter().any(is_set) {
                        continue;
                    }
                    (key.on_update, Change::Set(key.columns.clone()))
                }
            };
            let (columns, rows) = match &reached.found {
                None => (places(table, &key.referenced_columns), equal(&key.columns)?),
                Some((columns, found)) => {
                    let (refers, referred) = (listed(&key.columns)?, listed(&key.referenced_columns)?);
                    let from = place(table, &reached.table)?;
                    let rows = format!("({refers}) IN (SELECT {referred} FROM {from} WHERE {found})");
                    (columns.clone(), rows)
                }
            };
            let change = match action {
                ReferencedAction::NoAction => None,
                ReferencedAction::Cascade => Some(passed),
                ReferencedAction::SetNull | ReferencedAction::SetDefault => Some(Change::Set(key.columns.clone())),
            };
            let takes_default = action == ReferencedAction::SetDefault;
            if change.is_none() || takes_default {
                self.referring.push(Referring {
                    table: reference.table.clone(),
                    key: key.clone(),
                    takes_default,
                    columns: columns.clone(),
                    sql: format!("SELECT 1 FROM {} WHERE {rows} LIMIT 1", place(table, &reference.table)?),
                    dangling: dangling(table, &reference.table, key)?,
                });
            }
            if let Some(change) = change {
                let next = Reached {
                    table: reference.table.clone(),
                    change,
                    found: Some((columns, rows)),
                };
                self.follow(table, &next, depth + 1)?;
            }
        }
        Ok(())
    }
}

impl Referring {
    /// The error of a row that refers to the changed or deleted key.
    #[must_use]
    pub fn error(&self, table: &Table, verb: ChangeVerb) -> SqlError {
        if self.takes_default {
            return table.default_failed(&self.key, verb);
        }
        let (schema, name) = &self.table;
        table.reference_failed(&format!("{schema}.{name}"), &self.key, verb)
    }
}

fn is_table(named: &(String, String), (schema, name): (&str, &str)) -> bool {
    same_name(&named.0, schema) && same_name(&named.1, name)
}

fn places(table: &Table, names: &[String]) -> Vec<usize> {
    names.iter().filter_map(|name| table.column(name)).collect()
}

/// The SQL name of a table in the same database.
fn place(table: &Table, named: &(String, String)) -> Result<String, SqlError> {
    let name = file_name(&named.0, &named.1);
    Ok(format!("{}.{}", quoted(&table.sqlite.schema)?, quoted(&name)?))
}

fn listed(columns: &[String]) -> Result<String, SqlError> {
    let columns: Result<Vec<String>, SqlError> = columns.iter().map(|column| quoted(column)).collect();
    Ok(columns?.join(", "))
}

/// A condition: each column equals its parameter.
fn equal(columns: &[String]) -> Result<String, SqlError> {
    let mut conditions = Vec::with_capacity(columns.len());
    for (at, column) in columns.iter().enumerate() {
        conditions.push(format!("{} = ?{}", quoted(column)?, at + 1));
    }
    Ok(conditions.join(" AND "))
}

/// The query that finds a row without a referenced row.
fn dangling(root: &Table, table: &(String, String), key: &ForeignKey) -> Result<String, SqlError> {
    let (mut given, mut same) = (Vec::new(), Vec::new());
    for (column, referenced) in key.columns.iter().zip(&key.referenced_columns) {
        let (column, referenced) = (quoted(column)?, quoted(referenced)?);
        given.push(format!("c.{column} IS NOT NULL"));
        same.push(format!("p.{referenced} = c.{column}"));
    }
    let (child, parent) = (place(root, table)?, place(root, &key.referenced_table)?);
    let (given, same) = (given.join(" AND "), same.join(" AND "));
    Ok(format!(
        "SELECT 1 FROM {child} AS c WHERE {given} AND NOT EXISTS (SELECT 1 FROM {parent} AS p WHERE {same}) LIMIT 1"
    ))
}

/// 8: foreign keys that cascade within their own table form a cycle.
const DEPTH_MAX: usize = 8;
