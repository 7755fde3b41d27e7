//! Statements on tables, definitions and calls, as a session runs them.

mod audited;
mod cross_database_call;
mod cross_database_statement;
mod cross_database_table;
pub(crate) mod cursor_api;
mod cursor_change;
pub(crate) mod cursor_fetch;
mod cursor_statement;
pub(crate) mod cursor_work;
mod database_views;
mod definition;
mod definition_call;
mod fired_change;
mod firing;
mod global_objects;
mod identity_insert;
mod name_scope;
pub(crate) mod passed_tables;
mod plan_cache;
mod procedures;
mod row_limit;
mod sequence_range;
pub(crate) mod session_executor;
mod snapshot;
mod statistics_io;
mod table_statement;
mod user_functions;
