//! The role of a file, from the flags with which SQLite opens it.

use std::fmt;

use crate::ffi::OpenFlags;

/// The role of a file for its database.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The database.
    Main,
    /// The write-ahead log.
    Wal,
    /// The rollback journal.
    Journal,
    /// The super-journal: contains the names of the journals of a commit over several databases.
    SuperJournal,
    /// Temporary databases, sorter runs, statement journals: files without a name.
    Nameless,
}

impl Role {
    /// All roles, in the order of the counters.
    pub const ALL: [Self; 5] = [Self::Main, Self::Wal, Self::Journal, Self::SuperJournal, Self::Nameless];

    /// The role of a file that SQLite opens. A file without a name is temporary, whatever the flags
    /// are.
    #[must_use]
    pub fn of(flags: OpenFlags, has_name: bool) -> Self {
        let is = |flag| flags.has(flag);
        if !has_name
            || is(OpenFlags::TEMP_DB)
            || is(OpenFlags::TRANSIENT_DB)
            || is(OpenFlags::TEMP_JOURNAL)
            || is(OpenFlags::SUB_JOURNAL)
        {
            Self::Nameless
        } else if is(OpenFlags::WAL) {
            Self::Wal
        } else if is(OpenFlags::MAIN_JOURNAL) {
            Self::Journal
        } else if is(OpenFlags::SUPER_JOURNAL) {
            Self::SuperJournal
        } else {
            Self::Main
        }
    }

    /// The name in `selenite_status`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Main => "database",
            Self::Wal => "wal",
            Self::Journal => "journal",
            Self::SuperJournal => "super-journal",
            Self::Nameless => "temporary",
        }
    }

    /// The index in [`Role::ALL`].
    #[must_use]
    pub fn index(self) -> usize {
        match self {
            Self::Main => 0,
            Self::Wal => 1,
            Self::Journal => 2,
            Self::SuperJournal => 3,
            Self::Nameless => 4,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
