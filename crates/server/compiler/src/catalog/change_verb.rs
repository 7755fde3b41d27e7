//! INSERT, UPDATE and DELETE.

/// A statement that changes rows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ChangeVerb {
    /// INSERT, and SELECT INTO.
    Insert,
    /// UPDATE.
    Update,
    /// DELETE.
    Delete,
}

impl ChangeVerb {
    /// The word in messages.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Insert => "INSERT",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }
}
