//! Cursors.

use super::{Expr, Name, NameOrVariable, SelectStatement};

/// A statement on a cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CursorStatement {
    /// `DECLARE name CURSOR ..`
    Declare(DeclareCursor),
    /// `SET @v = CURSOR ..`
    Set {
        /// The cursor variable, with its `@`.
        variable: String,
        /// The new cursor.
        definition: CursorDefinition,
    },
    /// `SET @v = cursor`: the variable and the name are of one cursor from then on.
    Share {
        /// The cursor variable, with its `@`.
        variable: String,
        /// The cursor.
        cursor: CursorName,
    },
    /// The query of sp_cursoropen: the cursor is declared and opened at once.
    OpenQuery(Box<SelectStatement>),
    /// `OPEN`
    Open(CursorName),
    /// `FETCH`
    Fetch(FetchCursor),
    /// `CLOSE`
    Close(CursorName),
    /// `DEALLOCATE`
    Deallocate(CursorName),
}

/// `DECLARE name [INSENSITIVE] [SCROLL] CURSOR [options] FOR query`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclareCursor {
    /// The cursor's name.
    pub name: Name,
    /// The words before CURSOR, in upper case: INSENSITIVE and SCROLL.
    pub standard: Vec<String>,
    /// The cursor.
    pub definition: CursorDefinition,
}

/// `CURSOR [options] FOR query [FOR READ ONLY | FOR UPDATE [OF columns]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CursorDefinition {
    /// The options, in upper case: LOCAL, STATIC and others.
    pub options: Vec<String>,
    /// The query.
    pub query: Box<SelectStatement>,
    /// `FOR READ ONLY` or `FOR UPDATE`.
    pub purpose: CursorPurpose,
}

/// What is done with the rows of a cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CursorPurpose {
    /// It is not said.
    Unspecified,
    /// `FOR READ ONLY`
    ReadOnly,
    /// `FOR UPDATE [OF columns]`: all columns if there are none.
    Update(Vec<Name>),
}

/// `[GLOBAL] name` or `@variable`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CursorName {
    /// `GLOBAL`
    pub global: bool,
    /// The name, or a cursor variable.
    pub name: NameOrVariable,
}

/// `FETCH [direction FROM] cursor [INTO variables]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchCursor {
    /// Which row.
    pub direction: FetchDirection,
    /// The cursor.
    pub cursor: CursorName,
    /// The variables, with their `@`; empty if the row is sent to the client.
    pub into: Vec<String>,
}

/// The row of a FETCH.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchDirection {
    /// `NEXT`
    Next,
    /// `PRIOR`
    Prior,
    /// `FIRST`
    First,
    /// `LAST`
    Last,
    /// `ABSOLUTE n`: a constant or a variable.
    Absolute(Box<Expr>),
    /// `RELATIVE n`: a constant or a variable.
    Relative(Box<Expr>),
}
