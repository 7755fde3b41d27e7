//! SELECT as a statement, and WITH before a statement: namespaces and common table expressions.

use super::{Name, Position, Query, Setting};

/// SELECT as a statement or as the body of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectStatement {
    /// `WITH`, if any.
    pub with: With,
    /// The query.
    pub query: Query,
    /// `OPTION (..)`; empty if absent.
    pub options: Vec<Setting>,
}

/// `WITH ..` before a statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct With {
    /// `XMLNAMESPACES (..)`; empty if absent.
    pub namespaces: Vec<XmlNamespace>,
    /// The common table expressions; empty if there are none.
    pub tables: Vec<CommonTable>,
}

impl With {
    /// Whether it is absent.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.namespaces.is_empty() && self.tables.is_empty()
    }

    /// Its namespaces.
    #[must_use]
    pub fn without_tables(&self) -> Self {
        Self {
            namespaces: self.namespaces.clone(),
            tables: Vec::new(),
        }
    }
}

/// A namespace of XMLNAMESPACES.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XmlNamespace {
    /// The prefix; absent for DEFAULT.
    pub prefix: Option<Name>,
    /// The name.
    pub uri: String,
    /// The position of the node.
    pub position: Position,
}

/// A common table expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommonTable {
    /// The name of the common table expression.
    pub name: Name,
    /// The column names; empty if the query's names apply.
    pub columns: Vec<Name>,
    /// The query; it is recursive if it references its own name.
    pub query: Query,
    /// The position of the node.
    pub position: Position,
}
