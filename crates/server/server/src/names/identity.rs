//! Whose rights a session has.

use std::sync::Arc;

use crate::catalog::directory::Directory;
use crate::catalog::effective_permissions::Permissions;
use crate::catalog::principals::DBO;
use crate::catalog::schema::Schema;

/// The principal that a session acts as: its login, or whom it executes as.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Identity {
    /// The login's name.
    pub login: Arc<str>,
    /// The login's security id, which the user has.
    pub sid: Vec<u8>,
    /// The database and the number of a user of EXECUTE AS: it has no rights on the server, and none of another database
    /// but those of a guest.
    pub user: Option<(i32, i32)>,
}

impl Identity {
    /// What it may do in a database.
    #[must_use]
    pub fn permissions(&self, directory: &Directory, database_id: i32, schema: &Schema) -> Permissions {
        match self.user {
            None => Permissions::of(&self.sid, directory, database_id, schema),
            Some((database, user)) if database == database_id && self.is_user(user, schema) => {
                Permissions::of_principal(user, schema)
            }
            Some(_) => Permissions::of(&[], directory, database_id, schema),
        }
    }

    /// Whether it is still that user: the number of a user that was dropped is given again.
    fn is_user(&self, id: i32, schema: &Schema) -> bool {
        let mut users = schema.principals().users().iter();
        id == DBO || users.any(|user| user.id == id && user.sid == self.sid)
    }

    /// Whether it has all rights.
    #[must_use]
    pub fn is_administrator(&self, directory: &Directory) -> bool {
        self.user.is_none() && directory.is_administrator(&self.sid)
    }
}
