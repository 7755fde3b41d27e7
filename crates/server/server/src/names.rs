//! What names mean to a session: tables, views, ids, principals, and the rights on them.

pub(crate) mod effective;
pub(crate) mod identity;
pub(crate) mod known_permissions;
pub(crate) mod named_relation;
pub(crate) mod principal_facts;
pub(crate) mod row_permissions;
mod sequential_guid;
pub(crate) mod session_catalog;
pub(crate) mod session_environment;
pub(crate) mod session_keys;
pub(crate) mod session_objects;
