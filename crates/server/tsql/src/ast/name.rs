//! Names of objects and columns, except variables.

use super::Position;

/// One identifier: the text as written, without its delimiters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The text in its original case; `]]` in brackets is one `]`.
    pub text: String,
    /// Whether the name is in brackets or quotation marks, or is a string used as an alias.
    pub quoted: bool,
    /// The position, including delimiters.
    pub position: Position,
}

impl Name {
    /// Whether the name equals `text`, ignoring ASCII case.
    #[must_use]
    pub fn is(&self, text: &str) -> bool {
        self.text.eq_ignore_ascii_case(text)
    }

    /// Whether the name has no delimiters and equals `word`, ignoring ASCII case.
    #[must_use]
    pub fn is_word(&self, word: &str) -> bool {
        !self.quoted && self.is(word)
    }
}

/// The name of an object with up to four parts: `server.database.schema.name`.
///
/// An omitted part, such as the schema in `tempdb..t`, is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectName {
    /// The linked server.
    pub server: Option<Name>,
    /// The database.
    pub database: Option<Name>,
    /// The schema.
    pub schema: Option<Name>,
    /// The object; `#t` and `##t` include their signs.
    pub name: Name,
    /// The position of the complete name.
    pub position: Position,
}

impl ObjectName {
    /// The name if it has only one part.
    #[must_use]
    pub fn single(&self) -> Option<&Name> {
        let qualified = self.server.is_some() || self.database.is_some() || self.schema.is_some();
        (!qualified).then_some(&self.name)
    }
}

/// A column with an optional qualifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnName {
    /// The qualifier: a table, alias or pseudo-table (`inserted`).
    pub table: Option<ObjectName>,
    /// The column; `$IDENTITY` and `$ROWGUID` include their sign.
    pub name: Name,
}

/// A name, or a variable that contains one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameOrVariable {
    /// The name.
    Name(Name),
    /// The variable, with its `@`.
    Variable(String),
}
