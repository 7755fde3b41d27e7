//! Names of objects, columns and whatever else is not a variable.

use super::Position;

/// One identifier: the text as written, without its delimiters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The text in the case in which it was written; `]]` in brackets is one `]`.
    pub text: String,
    /// Whether it was in brackets or quotation marks, or was a string that serves as an alias.
    pub quoted: bool,
    /// Its position, delimiters included.
    pub position: Position,
}

impl Name {
    /// Whether the name is `text`, ASCII letters' case aside.
    #[must_use]
    pub fn is(&self, text: &str) -> bool {
        self.text.eq_ignore_ascii_case(text)
    }

    /// Whether the name was written without delimiters and is `word`, ASCII letters' case aside.
    #[must_use]
    pub fn is_word(&self, word: &str) -> bool {
        !self.quoted && self.is(word)
    }
}

/// The name of an object, of up to four parts: `server.database.schema.name`.
///
/// A part that was left out, as the schema in `tempdb..t`, is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectName {
    /// The linked server.
    pub server: Option<Name>,
    /// The database.
    pub database: Option<Name>,
    /// The schema.
    pub schema: Option<Name>,
    /// The object itself; `#t` and `##t` keep their signs.
    pub name: Name,
    /// The position of the whole name.
    pub position: Position,
}

impl ObjectName {
    /// The name's text, when it has one part only.
    #[must_use]
    pub fn single(&self) -> Option<&Name> {
        let qualified = self.server.is_some() || self.database.is_some() || self.schema.is_some();
        (!qualified).then_some(&self.name)
    }
}

/// A column, perhaps qualified by its table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnName {
    /// The table, alias or pseudo-table (`inserted`) before the last point.
    pub table: Option<ObjectName>,
    /// The column; `$IDENTITY` and `$ROWGUID` keep their sign.
    pub name: Name,
}

/// What may be named by an identifier or by a variable that holds the name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameOrVariable {
    /// The name itself.
    Name(Name),
    /// The variable, with its `@`.
    Variable(String),
}
