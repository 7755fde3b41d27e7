//! Parts of queries that contain no query: kinds of joins, frames of windows, FOR JSON and FOR XML, the columns of
//! OPENJSON.

use super::{Name, Position, TypeName};

/// A column of `OPENJSON (..) WITH (..)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonColumn {
    /// The name.
    pub name: Name,
    /// The type.
    pub type_name: TypeName,
    /// `COLLATE`.
    pub collation: Option<Name>,
    /// The path.
    pub path: Option<String>,
    /// `AS JSON`.
    pub as_json: bool,
    /// The position of the node.
    pub position: Position,
}

/// `FOR JSON ..` or `FOR XML ..`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForClause {
    /// The format.
    pub format: ForFormat,
    /// The mode.
    pub mode: ForMode,
    /// The element of a row, of RAW and PATH.
    pub element: Option<String>,
    /// `ROOT`, with a name.
    pub root: Option<Option<String>>,
    /// `INCLUDE_NULL_VALUES`.
    pub include_null_values: bool,
    /// `WITHOUT_ARRAY_WRAPPER`.
    pub without_array_wrapper: bool,
    /// `ELEMENTS`, and whether with XSINIL.
    pub elements: Option<bool>,
    /// `BINARY BASE64`.
    pub binary_base64: bool,
    /// `TYPE`.
    pub typed: bool,
    /// The position of the clause.
    pub position: Position,
}

/// The format of a FOR clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForFormat {
    /// `FOR JSON`
    Json,
    /// `FOR XML`
    Xml,
}

/// The mode of a FOR clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForMode {
    /// `AUTO`
    Auto,
    /// `PATH`
    Path,
    /// `RAW`, of FOR XML.
    Raw,
    /// `EXPLICIT`, of FOR XML.
    Explicit,
}

/// A set operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetOperator {
    /// `UNION`
    Union,
    /// `UNION ALL`
    UnionAll,
    /// `EXCEPT`
    Except,
    /// `INTERSECT`
    Intersect,
}

/// The kind of a join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinKind {
    /// `[INNER] JOIN`
    Inner,
    /// `LEFT [OUTER] JOIN`
    Left,
    /// `RIGHT [OUTER] JOIN`
    Right,
    /// `FULL [OUTER] JOIN`
    Full,
    /// `CROSS JOIN`
    Cross,
    /// `CROSS APPLY`: the right side can reference the columns of the left.
    CrossApply,
    /// `OUTER APPLY`
    OuterApply,
}

/// A join hint: the join algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinHint {
    /// `LOOP`
    Loop,
    /// `HASH`
    Hash,
    /// `MERGE`
    Merge,
    /// `REMOTE`
    Remote,
}

/// ODBC escape sequences for literals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OdbcLiteral {
    /// `{d 'yyyy-mm-dd'}`.
    Date(String),
    /// `{t 'hh:mm:ss'}`.
    Time(String),
    /// `{ts 'yyyy-mm-dd hh:mm:ss'}`.
    Timestamp(String),
    /// `{guid '..'}`.
    Guid(String),
}

/// The treatment of NULLs by a window function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NullTreatment {
    /// `IGNORE NULLS`.
    Ignore,
    /// `RESPECT NULLS`.
    Respect,
}

/// The frame of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowFrame {
    /// The unit of the bounds.
    pub unit: FrameUnit,
    /// The first bound.
    pub start: FrameBound,
    /// The last bound; `None` without BETWEEN, which means the current row.
    pub end: Option<FrameBound>,
}

/// The unit of a frame's bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameUnit {
    /// `ROWS`.
    Rows,
    /// `RANGE`: rows with equal sort keys are peers.
    Range,
}

/// A bound of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameBound {
    /// `UNBOUNDED PRECEDING`
    UnboundedPreceding,
    /// `n PRECEDING`
    Preceding(u32),
    /// `CURRENT ROW`
    CurrentRow,
    /// `n FOLLOWING`
    Following(u32),
    /// `UNBOUNDED FOLLOWING`
    UnboundedFollowing,
}

/// The conversion functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastKind {
    /// `CAST(a AS t)`
    Cast,
    /// `TRY_CAST(a AS t)`
    TryCast,
    /// `CONVERT(t, a [, style])`
    Convert,
    /// `TRY_CONVERT(t, a [, style])`
    TryConvert,
    /// `PARSE(a AS t [USING culture])`
    Parse,
    /// `TRY_PARSE(a AS t [USING culture])`
    TryParse,
}
