//! Permissions that were found, kept while what they follow from is unchanged: a session with many roles asks often, for
//! the same few principals.

use std::sync::{Arc, Mutex, PoisonError};

use crate::catalog::directory::Directory;
use crate::catalog::effective_permissions::Permissions;
use crate::catalog::schema::Schema;
use crate::names::identity::Identity;

/// Those of one state of a database and of the logins.
#[derive(Default)]
pub struct KnownPermissions(Mutex<Option<Known>>);

struct Known {
    directory: Arc<Directory>,
    schema: Arc<Schema>,
    database_id: i32,
    found: Vec<(Identity, Permissions)>,
}

impl KnownPermissions {
    /// What a principal may do in a database.
    pub fn of(
        &self,
        identity: &Identity,
        directory: &Arc<Directory>,
        (database_id, schema): (i32, &Arc<Schema>),
    ) -> Permissions {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |known: &Known| {
            known.database_id == database_id
                && Arc::ptr_eq(&known.directory, directory)
                && Arc::ptr_eq(&known.schema, schema)
        };
        let found = known.as_ref().filter(|known| is_same(known));
        let mut found = found.iter().flat_map(|known| &known.found);
        if let Some((_, permissions)) = found.find(|(of, _)| of == identity) {
            return permissions.clone();
        }
        let permissions = identity.permissions(directory, database_id, schema);
        let others = known
            .take()
            .filter(|known| is_same(known) && known.found.len() < COUNT_MAX);
        let mut kept = others.map(|known| known.found).unwrap_or_default();
        kept.push((identity.clone(), permissions.clone()));
        *known = Some(Known {
            directory: Arc::clone(directory),
            schema: Arc::clone(schema),
            database_id,
            found: kept,
        });
        permissions
    }
}

/// A session executes as few principals in turn.
const COUNT_MAX: usize = 4;
