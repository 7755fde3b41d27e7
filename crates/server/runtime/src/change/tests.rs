//! INSERT, UPDATE, DELETE and TRUNCATE on SQLite, compared with T-SQL's results.

mod delete;
mod insert;
mod output;
mod through;
mod update;
mod violation;
