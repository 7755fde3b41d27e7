//! What a database's file contains about its objects and principals, and what the server shows of itself.

pub(crate) mod catalog_rows;
pub(crate) mod directory;
pub(crate) mod effective_permissions;
pub(crate) mod executing_modules;
pub(crate) mod extended_properties;
pub(crate) mod fixed_role;
pub(crate) mod grants;
pub(crate) mod module_context;
pub(crate) mod object_list;
pub(crate) mod permission;
pub(crate) mod permission_kind;
pub(crate) mod principals;
pub(crate) mod running_module;
pub(crate) mod schema;
pub(crate) mod schema_names;
pub(crate) mod stored_keys;
pub(crate) mod system_relations;
pub(crate) mod table_variables;
pub(crate) mod trigger_state;
pub(crate) mod written_name;
