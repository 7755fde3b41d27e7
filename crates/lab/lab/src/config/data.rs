//! The contents of databases: `[data]`, and `[data.NAME]` where cells need different ones.

use std::collections::BTreeMap;
use std::fmt;

use selenite_worker::protocol::{Dataset, INDEXES_MAX, Workload};
use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, Visitor};

use super::error::ConfigError;
use super::quantity::Size;

/// The name of the dataset in `[data]` itself.
pub const MAIN: &str = "main";

/// One table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DataTable {
    kind: Kind,
    size: Option<Size>,
    rows: Option<u64>,
    indexes: Option<u32>,
}

/// All tables, by name; [`MAIN`] first.
#[derive(Clone, Debug, Default)]
pub(super) struct DataTables(pub(super) BTreeMap<String, DataTable>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Scan,
    Statements,
    Cards,
    Wire,
}

impl DataTable {
    pub(super) fn resolve(&self, name: &str) -> Result<Dataset, ConfigError> {
        let refused = |what: String| Err(ConfigError::new(format!("data `{name}`: {what}")));
        let indexes = self.indexes.unwrap_or(0);
        if self.indexes.is_some() && self.kind != Kind::Statements {
            return refused("only `statements` has `indexes`".to_owned());
        }
        if indexes > INDEXES_MAX {
            return refused(format!("`indexes` must be from 0 to {INDEXES_MAX}"));
        }
        match (self.kind, self.size, self.rows) {
            (Kind::Wire, None, None) => Ok(Dataset::Wire),
            (Kind::Wire, ..) => refused("`wire` has no other keys".to_owned()),
            (Kind::Scan, Some(Size(bytes)), None) if (SCAN_MIN..=SCAN_MAX).contains(&bytes) => {
                Ok(Dataset::Scan { bytes })
            }
            (Kind::Scan, Some(_), None) => refused("`size` must be from 1MiB to 64GiB".to_owned()),
            (Kind::Scan, ..) => refused("`scan` needs `size`, and nothing else".to_owned()),
            (_, None, Some(rows)) if !(1..=ROWS_MAX).contains(&rows) => {
                refused(format!("`rows` must be from 1 to {ROWS_MAX}"))
            }
            (Kind::Statements, None, Some(rows)) => Ok(Dataset::Statements { rows, indexes }),
            (Kind::Cards, None, Some(rows)) => Ok(Dataset::Cards { rows }),
            (Kind::Statements | Kind::Cards, ..) => refused("it needs `rows`, and nothing else".to_owned()),
        }
    }
}

/// The kind of a dataset, as in a configuration.
#[must_use]
pub fn kind(dataset: &Dataset) -> &'static str {
    match dataset {
        Dataset::Scan { .. } => "scan",
        Dataset::Statements { .. } => "statements",
        Dataset::Cards { .. } => "cards",
        Dataset::Wire => "wire",
    }
}

/// The kind of dataset that some work requires; none if any is suitable.
#[must_use]
pub fn needs(work: &Workload) -> Option<&'static str> {
    match work {
        Workload::Like { .. } | Workload::Equal { .. } | Workload::Readers { .. } => Some("scan"),
        Workload::Insert { .. } | Workload::UpdateAll | Workload::SelectAll => Some("statements"),
        Workload::Hummer { .. } => Some("cards"),
        Workload::Messages { .. } => Some("wire"),
        Workload::Backup
        | Workload::Convert { .. }
        | Workload::Rekey
        | Workload::Archive { .. }
        | Workload::IntegrityCheck
        | Workload::QuickCheck
        | Workload::PhysicalVerify
        | Workload::Open { .. } => None,
    }
}

impl<'de> Deserialize<'de> for DataTables {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<DataTables, D::Error> {
        from.deserialize_map(Tables)
    }
}

struct Tables;

impl<'de> Visitor<'de> for Tables {
    type Value = DataTables;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a table with `kind`, and `size` or `rows`")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<DataTables, M::Error> {
        let (mut kind, mut size, mut rows, mut indexes) = (None, None, None, None);
        let mut tables = BTreeMap::new();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "kind" => kind = Some(map.next_value()?),
                "size" => size = Some(map.next_value()?),
                "rows" => rows = Some(map.next_value()?),
                "indexes" => indexes = Some(map.next_value()?),
                MAIN => {
                    return Err(de::Error::custom(
                        "`[data]` itself is called `main`; choose another name",
                    ));
                }
                _ => {
                    let table = map.next_value_seed(Named(&key))?;
                    tables.insert(key, table);
                }
            }
        }
        match (kind, size.is_some() || rows.is_some() || indexes.is_some()) {
            (Some(kind), _) => {
                let table = DataTable {
                    kind,
                    size,
                    rows,
                    indexes,
                };
                tables.insert(MAIN.to_owned(), table);
            }
            (None, true) => return Err(de::Error::missing_field("kind")),
            (None, false) => {}
        }
        Ok(DataTables(tables))
    }
}

/// Deserialises the value of a key of `[data]`: a table makes the key a name; any other value is
/// that of an unknown key.
struct Named<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for Named<'_> {
    type Value = DataTable;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<DataTable, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Named<'_> {
    type Value = DataTable;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a table with `kind`, and `size` or `rows`")
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<DataTable, M::Error> {
        DataTable::deserialize(de::value::MapAccessDeserializer::new(map))
    }

    fn visit_str<E: de::Error>(self, _: &str) -> Result<DataTable, E> {
        Err(E::custom(unknown(self.0)))
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<DataTable, E> {
        Err(E::custom(unknown(self.0)))
    }
}

/// In serde's words, which the formatting of errors expects.
fn unknown(key: &str) -> String {
    format!("unknown field `{key}`, expected one of `kind`, `size`, `rows`, `indexes`")
}

/// With a smaller scan only the start of the query is measured.
const SCAN_MIN: u64 = 1 << 20;
/// With a larger one, sessions copy for hours.
const SCAN_MAX: u64 = 64 << 30;
/// As for `SCAN_MAX`.
const ROWS_MAX: u64 = 100_000_000;
