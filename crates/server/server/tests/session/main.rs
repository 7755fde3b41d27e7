//! Sessions as clients meet them: over loopback, with tokens read by `selenite-tds`, and a server of the test's own.

#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]
#![expect(clippy::wildcard_enum_match_arm, reason = "a test asks for tokens of one kind")]

mod accepted_forms;
mod answers;
mod audit;
mod backup;
mod batches;
mod bench;
mod calls;
mod cancel;
mod catalog_procedures;
mod certificates;
mod client;
mod commitments;
mod damaged_pages;
mod dbcc;
mod definitions;
mod document;
mod encryption;
mod ends;
mod found;
mod group_commit;
mod identity_numbers;
mod insert_execute;
mod inside;
mod interruption;
mod isolation;
mod killed;
mod max_columns;
mod memory;
mod misfits;
mod offsets;
mod options;
mod other_server;
mod principals;
mod references;
mod refused_batches;
mod replaced_files;
mod several_databases;
mod speed;
mod table_variables;
mod tables;
mod time_limit;
mod transactions;
mod undeclared;
mod view_changes;
mod views;
mod wire_rules;
