//! What the rows of a cursor come from.

/// A column as COLINFO describes it (MS-TDS 2.2.7.3).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ColumnInfo {
    /// The number of its table in TABNAME, from 1; 0 for an expression.
    pub table: u8,
    /// Whether it is of the table's key.
    pub is_key: bool,
    /// Whether applications are not shown it.
    pub is_hidden: bool,
    /// Its name in the table, if the result calls it otherwise.
    pub base_name: Option<String>,
}

impl ColumnInfo {
    /// A column that is computed.
    #[must_use]
    pub fn expression(is_hidden: bool) -> Self {
        Self {
            table: 0,
            is_key: false,
            is_hidden,
            base_name: None,
        }
    }

    pub(super) fn status(&self) -> u8 {
        let bits = [
            (self.table == 0, EXPRESSION),
            (self.is_key, KEY),
            (self.is_hidden, HIDDEN),
            (self.base_name.is_some(), OTHER_NAME),
        ];
        bits.into_iter().filter(|(is, _)| *is).map(|(_, bit)| bit).sum()
    }
}

const EXPRESSION: u8 = 0x04;
const KEY: u8 = 0x08;
const HIDDEN: u8 = 0x10;
const OTHER_NAME: u8 = 0x20;
