//! Functions about the session, the server, and the objects of a database.
//!
//! - `missing-is-null`: a property of an unknown object is NULL, as in SQL Server; an unknown property too.

use selenite_types::{DataType, Width};

use super::globals::IDENTITY;
use super::{Function, Rule, SYSNAME, Typing};

mod application_lock;
mod caught;
mod column;
mod database;
mod object;
mod principal;
mod property;
mod session;
mod type_id;

use Rule::{Bits, Int, National, NationalOnly};

pub(super) static FUNCTIONS: &[Function] = &[
    session_fact("app_name", SYSNAME, session::application),
    Function::new(
        "applock_mode",
        &[National, National, National],
        Typing::Is(DataType::NVarChar(Width::Limited(32))),
        application_lock::mode,
    )
    .making_nulls()
    .of_statement(),
    Function::new(
        "applock_test",
        &[National, National, National, National],
        Typing::Is(DataType::SmallInt),
        application_lock::test,
    )
    .making_nulls()
    .of_statement(),
    Function::refused("assemblyproperty"),
    catalog("col_length", &[National, National], DataType::SmallInt, column::length),
    catalog("col_name", &[Int, Int], SYSNAME, column::name),
    catalog(
        "collationproperty",
        &[National, National],
        DataType::Int,
        property::of_collation,
    ),
    catalog(
        "columnproperty",
        &[Int, National, National],
        DataType::Int,
        column::property,
    ),
    Function::new(
        "connectionproperty",
        &[National],
        Typing::Is(DataType::SqlVariant),
        session::property,
    )
    .making_nulls()
    .of_statement(),
    session_fact(
        "context_info",
        DataType::VarBinary(Width::Limited(128)),
        session::context_info,
    ),
    session_fact("current_transaction_id", DataType::BigInt, session::transaction_id),
    session_fact("current_user", SYSNAME, session::user).bare(),
    Function::new(
        "cursor_status",
        &[National, National],
        Typing::Is(DataType::SmallInt),
        session::cursor_status,
    )
    .never_null()
    .of_statement(),
    catalog("database_principal_id", &[National], DataType::Int, principal::user_id).optional(1),
    Function::new(
        "databasepropertyex",
        &[National, National],
        Typing::Is(DataType::SqlVariant),
        database::property,
    )
    .making_nulls()
    .of_definitions(),
    catalog("db_id", &[National], DataType::SmallInt, database::id).optional(1),
    catalog("db_name", &[Int], SYSNAME, database::name).optional(1),
    session_fact("error_line", DataType::Int, caught::line),
    session_fact(
        "error_message",
        DataType::NVarChar(Width::Limited(4000)),
        caught::message,
    ),
    session_fact("error_number", DataType::Int, caught::number),
    session_fact("error_procedure", SYSNAME, caught::procedure),
    session_fact("error_severity", DataType::Int, caught::severity),
    session_fact("error_state", DataType::Int, caught::state),
    Function::refused("eventdata"),
    Function::refused("file_id"),
    Function::refused("file_idex"),
    Function::refused("file_name"),
    Function::refused("filegroup_id"),
    Function::refused("filegroup_name"),
    Function::refused("filegroupproperty"),
    Function::refused("fileproperty"),
    Function::refused("fulltextcatalogproperty"),
    Function::refused("fulltextserviceproperty"),
    catalog("getansinull", &[National], DataType::Int, session::ansi_null).optional(1),
    catalog("has_dbaccess", &[National], DataType::Int, database::has_access),
    Function::new(
        "has_perms_by_name",
        &[National, National, National, National, National],
        Typing::Is(DataType::Int),
        principal::has_permission,
    )
    .optional(2)
    .taking_nulls()
    .of_definitions(),
    session_fact("host_id", DataType::NChar(10), session::host_id),
    session_fact("host_name", SYSNAME, session::host),
    catalog("ident_current", &[National], IDENTITY, object::identity_current),
    catalog("ident_incr", &[National], IDENTITY, object::identity_increment),
    catalog("ident_seed", &[National], IDENTITY, object::identity_seed),
    Function::refused("index_col"),
    Function::refused("indexkey_property"),
    Function::refused("indexproperty"),
    catalog("is_member", &[National], DataType::Int, principal::is_member),
    catalog(
        "is_rolemember",
        &[National, National],
        DataType::Int,
        principal::is_role_member,
    )
    .optional(1),
    catalog(
        "is_srvrolemember",
        &[National, National],
        DataType::Int,
        principal::is_server_role_member,
    )
    .optional(1),
    Function::refused("loginproperty"),
    session_fact(
        "min_active_rowversion",
        DataType::Binary(8),
        super::row_version::min_active,
    ),
    catalog(
        "object_definition",
        &[Int],
        DataType::NVarChar(Width::Max),
        object::definition,
    ),
    catalog("object_id", &[National, National], DataType::Int, object::id).optional(1),
    catalog("object_name", &[Int, Int], SYSNAME, object::name).optional(1),
    catalog("object_schema_name", &[Int, Int], SYSNAME, object::schema_name).optional(1),
    catalog("objectproperty", &[Int, National], DataType::Int, object::property),
    Function::refused("objectpropertyex"),
    session_fact("original_login", SYSNAME, session::original_login),
    Function::refused("permissions"),
    session_fact("rowcount_big", DataType::BigInt, session::row_count),
    catalog("schema_id", &[National], DataType::Int, database::schema_id).optional(1),
    catalog("schema_name", &[Int], SYSNAME, database::schema_name).optional(1),
    session_fact("scope_identity", IDENTITY, session::scope_identity),
    Function::new(
        "serverproperty",
        &[National],
        Typing::Is(DataType::SqlVariant),
        property::of_server,
    )
    .making_nulls()
    .of_statement(),
    Function::new(
        "session_context",
        &[NationalOnly],
        Typing::Is(DataType::SqlVariant),
        session::context,
    )
    .making_nulls()
    .of_statement(),
    session_fact("session_user", SYSNAME, session::user).bare(),
    Function::refused("stats_date"),
    catalog("suser_id", &[National], DataType::Int, principal::login_id).optional(1),
    catalog("suser_name", &[Int], SYSNAME, principal::login_name).optional(1),
    Function::refused("suser_sid"),
    catalog("suser_sname", &[Bits], SYSNAME, session::login).optional(1),
    session_fact("system_user", SYSNAME, session::login).bare(),
    catalog("type_id", &[National], DataType::Int, type_id::id),
    catalog("type_name", &[Int], SYSNAME, type_id::name),
    catalog("typeproperty", &[National, National], DataType::Int, type_id::property),
    session_fact("user", SYSNAME, session::user).bare(),
    catalog("user_id", &[National], DataType::Int, principal::user_id).optional(1),
    catalog("user_name", &[Int], SYSNAME, principal::user_name).optional(1),
    session_fact("xact_state", DataType::SmallInt, session::transaction_state),
];

/// A nullable function without arguments.
const fn session_fact(name: &'static str, data_type: DataType, run: Run) -> Function {
    Function::new(name, &[], Typing::Is(data_type), run)
        .taking_nulls()
        .of_statement()
}

/// A lookup function, which returns NULL for an unknown object.
const fn catalog(name: &'static str, rules: &'static [Rule], data_type: DataType, run: Run) -> Function {
    Function::new(name, rules, Typing::Is(data_type), run)
        .making_nulls()
        .of_definitions()
}

type Run = fn(&super::Arguments<'_>) -> Result<selenite_types::Value, crate::SqlError>;

#[cfg(test)]
mod tests;
