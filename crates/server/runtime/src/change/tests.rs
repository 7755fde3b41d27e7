//! INSERT, UPDATE, DELETE and TRUNCATE on SQLite, compared with what T-SQL does.

mod delete;
mod insert;
mod output;
mod through;
mod update;
mod violation;
