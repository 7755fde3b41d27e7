//! The name of a database, which is also its file's unless the database was renamed.

use std::path::{Path, PathBuf};

use super::{MasterError, folded};

/// A valid name of a database.
///
/// As an identifier of SQL Server it has 1 to 128 units of UTF-16; as `NAME.db` it must stay in the data folder, be
/// no hidden file and no option, and have no control character.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DatabaseName(String);

impl DatabaseName {
    /// Checks a name.
    ///
    /// # Errors
    /// [`MasterError::Name`].
    pub fn new(name: &str) -> Result<Self, MasterError> {
        let is_short = (1..=UNIT_COUNT_MAX).contains(&name.encode_utf16().count()) && name.len() <= FILE_NAME_SIZE_MAX;
        let is_plain = !name.contains(|character: char| character == '/' || character.is_control());
        let is_visible = !name.starts_with(['.', '-']) && name.trim() == name;
        if is_short && is_plain && is_visible {
            Ok(Self(name.to_owned()))
        } else {
            Err(MasterError::Name(name.to_owned()))
        }
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The file of a new database in the data folder.
    #[must_use]
    pub fn path(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.db", self.0))
    }

    /// The file of a database of that name, which may have kept an earlier one.
    ///
    /// # Errors
    /// [`MasterError::Name`].
    pub(crate) fn path_of((name, file_name): (&str, &str), folder: &Path) -> Result<PathBuf, MasterError> {
        let name = if file_name.is_empty() { name } else { file_name };
        Ok(Self::new(name)?.path(folder))
    }

    pub(crate) fn folded(&self) -> String {
        folded(&self.0)
    }
}

/// sysname.
const UNIT_COUNT_MAX: usize = 128;
/// 255 bytes is what Linux allows; `.db` and what SQLite and Selenite append (`.NAME.db.selenite-tmp-XXXXXXXX-claim`)
/// need some.
const FILE_NAME_SIZE_MAX: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_in_the_data_folder() {
        for good in ["TestDB", "a b", "x.y", "\u{e9}t\u{e9}", "a-b", "[]", "a\\b"] {
            assert_eq!(DatabaseName::new(good).unwrap().as_str(), good);
        }
        let long = "x".repeat(129);
        for bad in ["", ".", "..", ".a", "-a", "a/b", "/", "a\0", "a\n", " a", "a ", &long] {
            assert!(matches!(DatabaseName::new(bad), Err(MasterError::Name(_))), "{bad:?}");
        }
        assert!(DatabaseName::new(&"\u{4e00}".repeat(67)).is_err());
        let name = DatabaseName::new("TestDB").unwrap();
        assert_eq!(name.path(Path::new("/data")), Path::new("/data/TestDB.db"));
    }
}
