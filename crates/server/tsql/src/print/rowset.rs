//! GROUPING SETS, PIVOT, FOR JSON and FOR XML, and the columns of OPENJSON.

use core::fmt;

use super::{List, Optional, OptionalList, Text, word};
use crate::ast::{
    ForClause, ForFormat, ForMode, GroupItem, JsonArguments, JsonColumn, NamedWindow, Pivot, TableSource,
    TableSourceKind, Unpivot, Window,
};

impl fmt::Display for GroupItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => write!(f, "{value}"),
            Self::Tuple(values) => write!(f, "({})", List(values)),
            Self::Rollup(items) => write!(f, "ROLLUP ({})", List(items)),
            Self::Cube(items) => write!(f, "CUBE ({})", List(items)),
            Self::Sets(items) => write!(f, "GROUPING SETS ({})", List(items)),
        }
    }
}

impl fmt::Display for NamedWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} AS ({})", self.name, self.window)
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        parts.extend(self.base.as_ref().map(ToString::to_string));
        if !self.partition_by.is_empty() {
            parts.push(format!("PARTITION BY {}", List(&self.partition_by)));
        }
        if !self.order_by.is_empty() {
            parts.push(format!("ORDER BY {}", List(&self.order_by)));
        }
        parts.extend(self.frame.map(|frame| frame.to_string()));
        f.write_str(&parts.join(" "))
    }
}

/// The source of PIVOT or UNPIVOT: joins in parentheses.
struct Pivoted<'a>(&'a TableSource);

impl fmt::Display for Pivoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.kind {
            TableSourceKind::Join(_) => write!(f, "({})", self.0),
            TableSourceKind::Table { .. }
            | TableSourceKind::Variable { .. }
            | TableSourceKind::Function { .. }
            | TableSourceKind::BulkFile { .. }
            | TableSourceKind::Derived { .. }
            | TableSourceKind::Values { .. }
            | TableSourceKind::Pivot(_)
            | TableSourceKind::Unpivot(_) => write!(f, "{}", self.0),
        }
    }
}

impl fmt::Display for Pivot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            source,
            aggregate,
            column,
            values,
            alias,
        } = self;
        write!(
            f,
            "{} PIVOT ({aggregate} FOR {column} IN ({})) AS {alias}",
            Pivoted(source),
            List(values)
        )
    }
}

impl fmt::Display for Unpivot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            source,
            value,
            name,
            columns,
            alias,
        } = self;
        write!(
            f,
            "{} UNPIVOT ({value} FOR {name} IN ({})) AS {alias}",
            Pivoted(source),
            List(columns)
        )
    }
}

impl fmt::Display for JsonColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {}{}",
            self.name,
            self.type_name,
            Optional("COLLATE ", self.collation.as_ref(), "")
        )?;
        if let Some(path) = &self.path {
            write!(f, " N{}", Text(path))?;
        }
        f.write_str(word(self.as_json, " AS JSON"))
    }
}

impl fmt::Display for JsonArguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (at, value) in self.list.iter().enumerate() {
            let before = match (at, self.named && at % 2 == 1) {
                (0, _) => "",
                (_, true) => " : ",
                (_, false) => ", ",
            };
            write!(f, "{before}{value}")?;
        }
        f.write_str(match self.null_on_null {
            Some(true) => " NULL ON NULL)",
            Some(false) => " ABSENT ON NULL)",
            None => ")",
        })
    }
}

impl fmt::Display for ForClause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.format {
            ForFormat::Json => "FOR JSON ",
            ForFormat::Xml => "FOR XML ",
        })?;
        f.write_str(match self.mode {
            ForMode::Auto => "AUTO",
            ForMode::Path => "PATH",
            ForMode::Raw => "RAW",
            ForMode::Explicit => "EXPLICIT",
        })?;
        if let Some(element) = &self.element {
            write!(f, " (N{})", Text(element))?;
        }
        f.write_str(word(self.binary_base64, ", BINARY BASE64"))?;
        f.write_str(word(self.typed, ", TYPE"))?;
        match &self.root {
            Some(Some(name)) => write!(f, ", ROOT (N{})", Text(name))?,
            Some(None) => f.write_str(", ROOT")?,
            None => {}
        }
        f.write_str(match self.elements {
            Some(true) => ", ELEMENTS XSINIL",
            Some(false) => ", ELEMENTS",
            None => "",
        })?;
        f.write_str(word(self.include_null_values, ", INCLUDE_NULL_VALUES"))?;
        f.write_str(word(self.without_array_wrapper, ", WITHOUT_ARRAY_WRAPPER"))
    }
}

/// `WITH (..)` of OPENJSON.
pub(super) struct Schema<'a>(pub(super) &'a [JsonColumn]);

impl fmt::Display for Schema<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", OptionalList("WITH (", self.0, ")"))
    }
}
