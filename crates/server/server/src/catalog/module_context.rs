//! The principal of WITH EXECUTE AS, which is in the row of a procedure or trigger in the catalog.
//!
//! - `as-it-was-allowed`: that of OWNER is kept, too: a module whose owner has become another one does not run until it is
//!   altered, since who made it could not have made it run as that owner.

/// As whom a module executes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StoredContext {
    /// The principal's number.
    pub principal: i32,
    /// Whether it is that of OWNER.
    pub is_owner: bool,
}

impl StoredContext {
    /// Its word in the state of a row.
    #[must_use]
    pub fn word(self) -> String {
        let prefix = if self.is_owner { OWNER } else { PRINCIPAL };
        format!("{prefix}{}", self.principal)
    }

    /// The one in a state, which is words between blanks.
    #[must_use]
    pub fn in_state(state: Option<&str>) -> Option<Self> {
        let mut words = state?.split(' ');
        let read = |word: &str, prefix: &str, is_owner| {
            let principal = word.strip_prefix(prefix)?.parse().ok()?;
            Some(Self { principal, is_owner })
        };
        words.find_map(|word| read(word, PRINCIPAL, false).or_else(|| read(word, OWNER, true)))
    }

    /// `execute_as_principal_id` in sys.sql_modules.
    #[must_use]
    pub fn number(self) -> i32 {
        if self.is_owner { -2 } else { self.principal }
    }
}

/// Before a principal's number in a state.
const PRINCIPAL: &str = "as:";
const OWNER: &str = "as-owner:";
