//! DELAYED_DURABILITY: whether a commit may be acknowledged before it is on the disk.

use rusqlite::{Connection, OptionalExtension};
use selenite_compiler::SqlError;
use selenite_runtime::sqlite::tsql_error;

/// The setting of a database, which is in its catalog.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum DelayedDurability {
    /// Every commit is on the disk before it is acknowledged.
    #[default]
    Disabled,
    /// COMMIT decides whether it is.
    Allowed,
    /// No commit is.
    Forced,
}

impl DelayedDurability {
    /// Whether a commit waits for the disk; `said` is the COMMIT's own option.
    pub fn waits(self, said: Option<bool>) -> bool {
        match self {
            Self::Disabled => true,
            Self::Allowed => said != Some(true),
            Self::Forced => false,
        }
    }

    /// The setting of a connection's database.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn load(connection: &Connection) -> Result<Self, rusqlite::Error> {
        let is_there: bool = connection.query_row(
            "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'selenite_catalog')",
            [],
            |row| row.get(0),
        )?;
        if !is_there {
            return Ok(Self::default());
        }
        let word: Option<String> = connection
            .query_row(
                "SELECT definition FROM selenite_catalog WHERE object_id = ?1 AND kind = ?2",
                (OBJECT_ID, KIND),
                |row| row.get(0),
            )
            .optional()?;
        Ok(word.and_then(|word| Self::of_word(&word)).unwrap_or_default())
    }

    /// Stores it in the catalog.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn store(self, connection: &Connection) -> Result<(), SqlError> {
        crate::catalog::catalog_rows::ensure(connection, "main")?;
        let now = i64::try_from(selenite::now()).unwrap_or(i64::MAX);
        connection
            .execute(
                "INSERT INTO selenite_catalog (object_id, kind, name, definition, created, modified)
                 VALUES (?1, ?2, 'DELAYED_DURABILITY', ?3, ?4, ?4)
                 ON CONFLICT (object_id) DO UPDATE SET definition = ?3, modified = ?4",
                (OBJECT_ID, KIND, self.word(), now),
            )
            .map(drop)
            .map_err(|error| tsql_error(&error))
    }

    fn word(self) -> &'static str {
        match self {
            Self::Disabled => "DISABLED",
            Self::Allowed => "ALLOWED",
            Self::Forced => "FORCED",
        }
    }

    /// The setting of a word; `None` for another word.
    pub fn of_word(word: &str) -> Option<Self> {
        [Self::Disabled, Self::Allowed, Self::Forced]
            .into_iter()
            .find(|one| one.word().eq_ignore_ascii_case(word))
    }
}

/// Its row in the catalog: below all objects.
const OBJECT_ID: i32 = 1;
const KIND: &str = "option";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_waits_unless_the_database_lets_it_go() {
        for (setting, said, waits) in [
            (DelayedDurability::Disabled, Some(true), true),
            (DelayedDurability::Allowed, None, true),
            (DelayedDurability::Allowed, Some(false), true),
            (DelayedDurability::Allowed, Some(true), false),
            (DelayedDurability::Forced, Some(false), false),
        ] {
            assert_eq!(setting.waits(said), waits, "{setting:?} {said:?}");
        }
    }

    #[test]
    fn a_database_without_a_catalog_waits() {
        let connection = Connection::open_in_memory().unwrap();
        assert_eq!(DelayedDurability::load(&connection), Ok(DelayedDurability::Disabled));
    }
}
