//! The permissions of a database while GRANT, DENY or REVOKE changes them.
//!
//! `granted-by-a-right`: what a principal has granted by a grant option or by CONTROL is there as long as that right is.

use rusqlite::Connection;
use selenite_compiler::{SqlError, same_name};
use selenite_runtime::sqlite::tsql_error;

use crate::catalog::grants::{self, Grant, GrantState, GrantedOn};
use crate::catalog::permission_kind::{Class, PermissionKind};
use crate::catalog::schema::Schema;

/// All rows, in memory as in the file.
pub struct GrantRows<'a> {
    connection: &'a Connection,
    schema: &'a Schema,
    rows: Vec<Grant>,
}

impl<'a> GrantRows<'a> {
    /// Reads them.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn load(connection: &'a Connection, schema: &'a Schema) -> Result<Self, SqlError> {
        let rows = grants::load(connection).map_err(|error| tsql_error(&error))?;
        Ok(Self {
            connection,
            schema,
            rows,
        })
    }

    /// What a grantor did with a permission before.
    #[must_use]
    pub fn state(&self, like: &Grant) -> Option<GrantState> {
        let found = self.rows.iter().find(|row| is_same(row, like));
        found.map(|row| row.state)
    }

    /// Those of a grantee, of all grantors, on something or a column of it.
    pub fn of_grantee(&self, like: &Grant) -> impl Iterator<Item = &Grant> {
        let of_grantee = (like.grantee, like.kind);
        let own = self
            .rows
            .iter()
            .filter(move |row| (row.grantee, row.kind) == of_grantee);
        own.filter(|row| row.on.is_within(&like.on))
    }

    /// Notes what was done.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn set(&mut self, grant: Grant) -> Result<(), SqlError> {
        grants::set(self.connection, &grant)?;
        self.rows.retain(|row| !is_same(row, &grant));
        self.rows.push(grant);
        Ok(())
    }

    /// Forgets what was done.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn remove(&mut self, grant: &Grant) -> Result<(), SqlError> {
        grants::remove(self.connection, grant)?;
        self.rows.retain(|row| !is_same(row, grant));
        Ok(())
    }

    /// Whether a principal may grant a permission because it was granted WITH GRANT OPTION.
    #[must_use]
    pub fn has_option(&self, principal: i32, kind: PermissionKind, on: &GrantedOn) -> bool {
        gives_option(self.rows.iter(), principal, kind, on)
    }

    /// The principal, of these, to whom CONTROL of something was granted, on it or above: who grants by that right.
    #[must_use]
    pub fn controller(&self, on: &GrantedOn, is_one: impl Fn(i32) -> bool) -> Option<i32> {
        let of = |row: &&Grant| is_one(row.grantee) && gives_control(self.rows.iter(), row.grantee, (on, self.schema));
        self.rows.iter().find(of).map(|row| row.grantee)
    }

    /// Whether what others have would go if what is like this went.
    #[must_use]
    pub fn has_others_by(&self, like: &Grant) -> bool {
        let rest = self.rows.iter().filter(|row| !is_same(row, like)).cloned();
        !self.orphans(rest.collect()).is_empty()
    }

    /// Forgets what was granted by principals who may no longer grant it, and returns that.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn remove_orphans(&mut self) -> Result<Vec<Grant>, SqlError> {
        let orphans = self.orphans(self.rows.clone());
        for orphan in &orphans {
            self.remove(orphan)?;
        }
        Ok(orphans)
    }

    /// `granted-by-a-right`: those that have none. Two principals may have granted to each other: what counts is what
    /// the owner has begun.
    fn orphans(&self, mut rest: Vec<Grant>) -> Vec<Grant> {
        let mut kept: Vec<Grant> = Vec::new();
        loop {
            let is_kept = |row: &Grant| {
                row.grantor.is_none_or(|grantor| {
                    gives_option(kept.iter(), grantor, row.kind, &row.on)
                        || gives_control(kept.iter(), grantor, (&row.on, self.schema))
                })
            };
            let (more, others): (Vec<Grant>, Vec<Grant>) = rest.into_iter().partition(is_kept);
            rest = others;
            if more.is_empty() {
                return rest;
            }
            kept.extend(more);
        }
    }
}

/// Whether CONTROL of something, on it or above, was granted to a principal and not denied.
fn gives_control<'g>(
    rows: impl Iterator<Item = &'g Grant>,
    principal: i32,
    (on, schema): (&GrantedOn, &Schema),
) -> bool {
    let is_it = |row: &&Grant| (row.grantee, row.kind) == (principal, PermissionKind::Control);
    let states: Vec<GrantState> = rows
        .filter(is_it)
        .filter(|row| is_above(&row.on, on, schema))
        .map(|row| row.state)
        .collect();
    !states.is_empty() && states.iter().all(|state| state.is_granted())
}

/// Whether something is, or is in, what is above.
fn is_above(above: &GrantedOn, on: &GrantedOn, schema: &Schema) -> bool {
    let is_schema = || {
        let found = schema_of(on, schema).and_then(|name| schema.names().named(&name).map(|schema| schema.id));
        found == Some(above.major_id)
    };
    above.class == Class::Database || on.is_within(above) || above.class == Class::Schema && is_schema()
}

/// The schema that an object or type is in.
fn schema_of(on: &GrantedOn, schema: &Schema) -> Option<String> {
    match on.class {
        Class::Object => schema.name_of_id(on.major_id).map(|(schema, _)| schema),
        Class::Type => schema.type_of_id(on.major_id).map(|found| found.row.schema.clone()),
        Class::Database
        | Class::Schema
        | Class::User
        | Class::SymmetricKey
        | Class::Certificate
        | Class::AsymmetricKey => None,
    }
}

/// Forgets the permissions on all that is in a schema, which gets another owner.
///
/// # Errors
/// SQLite's error.
pub fn forget_in(connection: &Connection, name: &str, schema: &Schema) -> Result<(), SqlError> {
    let grants = schema.principals().grants().iter();
    let is_in = |grant: &&Grant| schema_of(&grant.on, schema).is_some_and(|found| same_name(&found, name));
    grants
        .filter(is_in)
        .try_for_each(|grant| grants::remove(connection, grant))
}

fn gives_option<'g>(
    rows: impl Iterator<Item = &'g Grant>,
    principal: i32,
    kind: PermissionKind,
    on: &GrantedOn,
) -> bool {
    let own = rows.filter(|row| (row.grantee, row.kind) == (principal, kind) && on.is_within(&row.on));
    let mut has = false;
    for row in own {
        match row.state {
            GrantState::Grantable => has = true,
            GrantState::Denied | GrantState::Excepted => return false,
            GrantState::Granted => {}
        }
    }
    has
}

/// Whether both are about the same permission of the same grantee by the same grantor.
fn is_same(row: &Grant, other: &Grant) -> bool {
    (row.kind, row.grantee, row.grantor) == (other.kind, other.grantee, other.grantor) && row.on.is_same(&other.on)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::permission_kind::Class;

    fn grant(grantor: Option<i32>, grantee: i32, state: GrantState) -> Grant {
        Grant {
            on: GrantedOn {
                class: Class::Object,
                major_id: 5,
                column: None,
            },
            kind: PermissionKind::Select,
            grantee,
            grantor,
            state,
        }
    }

    #[test]
    fn who_loses_the_option_takes_along_what_others_have_by_it_even_in_a_circle() {
        let (connection, schema) = (Connection::open_in_memory().unwrap(), Schema::default());
        let mut rows = GrantRows::load(&connection, &schema).unwrap();
        let of_owner = grant(None, 7, GrantState::Grantable);
        rows.set(of_owner.clone()).unwrap();
        rows.set(grant(Some(7), 8, GrantState::Grantable)).unwrap();
        rows.set(grant(Some(8), 7, GrantState::Grantable)).unwrap();
        rows.set(grant(Some(8), 9, GrantState::Granted)).unwrap();
        let kept = grant(None, 9, GrantState::Granted);
        rows.set(kept.clone()).unwrap();
        assert_eq!(rows.remove_orphans().unwrap(), []);
        assert!(rows.has_option(8, PermissionKind::Select, &kept.on));
        rows.remove(&of_owner).unwrap();
        assert_eq!(rows.remove_orphans().unwrap().len(), 3);
        assert_eq!(grants::load(&connection).unwrap(), [kept]);
    }

    #[test]
    fn an_option_on_a_table_is_one_on_its_columns_but_not_on_one_that_is_denied() {
        let (connection, schema) = (Connection::open_in_memory().unwrap(), Schema::default());
        let mut rows = GrantRows::load(&connection, &schema).unwrap();
        let whole = grant(None, 7, GrantState::Grantable);
        let on = |column: &str| GrantedOn {
            column: Some(column.to_owned()),
            ..whole.on.clone()
        };
        rows.set(whole.clone()).unwrap();
        rows.set(Grant {
            on: on("b"),
            state: GrantState::Denied,
            ..whole.clone()
        })
        .unwrap();
        assert!(rows.has_option(7, PermissionKind::Select, &on("a")));
        assert!(!rows.has_option(7, PermissionKind::Select, &on("B")));
        assert!(!rows.has_option(7, PermissionKind::Update, &on("a")));
        assert!(!rows.has_option(8, PermissionKind::Select, &on("a")));
    }
}
