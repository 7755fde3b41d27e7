//! The sessions that use a database.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The sessions that are connected to a database, by their spids.
#[derive(Default)]
pub struct Users(Mutex<Vec<u16>>);

/// A session's use of a database, until it is dropped.
pub struct DatabaseUse {
    users: Arc<Users>,
    session: u16,
}

impl Users {
    /// Notes that a session uses the database; `None` if it `is_single` and another session does.
    pub fn begin(self: &Arc<Self>, session: u16, is_single: bool) -> Option<DatabaseUse> {
        let mut users = self.lock();
        if is_single && !users.is_empty() {
            return None;
        }
        users.push(session);
        Some(DatabaseUse {
            users: self.clone(),
            session,
        })
    }

    /// The sessions that use it, but this one.
    pub fn others(&self, session: u16) -> Vec<u16> {
        self.lock().iter().copied().filter(|user| *user != session).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<u16>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for DatabaseUse {
    fn drop(&mut self) {
        let mut users = self.users.lock();
        if let Some(at) = users.iter().position(|user| *user == self.session) {
            users.swap_remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_of_a_single_user_has_one() {
        let users = Arc::new(Users::default());
        let first = users.begin(51, true);
        assert!(first.is_some() && users.begin(52, true).is_none());
        assert_eq!(users.others(52), [51]);
        assert!(users.others(51).is_empty());
        drop(first);
        assert!(users.begin(52, true).is_some());
    }
}
