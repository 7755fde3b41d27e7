//! What is fuzzed: one function of any bytes each. `fuzz/` gives them to libFuzzer, `tests/fuzzing.rs` to every run
//! of the tests.

pub mod anchor;
pub mod archive_facts;
pub mod archive_log;
pub mod archive_part;
pub mod convert_text;
pub mod foreign_database;
pub mod hostile_database;
pub mod hostile_folder;
pub mod journal;
pub mod operation_report;
pub mod page;
pub mod plan_input;
pub mod slot;
pub mod superblock;
pub mod tds_handshake;
pub mod tds_lobby;
pub mod tds_login;
pub mod tds_request;
pub mod tds_stream;
pub mod trace;
pub mod tsql;
pub mod tsql_bind;
pub mod wal;
pub mod xml;

/// Takes any bytes, and panics where what must hold does not.
pub type Target = fn(&[u8]);

/// All of them, by the names that they have in `fuzz/`.
pub const TARGETS: [(&str, Target); 24] = [
    ("anchor", anchor::fuzz),
    ("archive_facts", archive_facts::fuzz),
    ("archive_log", archive_log::fuzz),
    ("archive_part", archive_part::fuzz),
    ("convert_text", convert_text::fuzz),
    ("foreign_database", foreign_database::fuzz),
    ("hostile_database", hostile_database::fuzz),
    ("hostile_folder", hostile_folder::fuzz),
    ("journal", journal::fuzz),
    ("operation_report", operation_report::fuzz),
    ("page", page::fuzz),
    ("plan_input", plan_input::fuzz),
    ("slot", slot::fuzz),
    ("superblock", superblock::fuzz),
    ("tds_handshake", tds_handshake::fuzz),
    ("tds_lobby", tds_lobby::fuzz),
    ("tds_login", tds_login::fuzz),
    ("tds_request", tds_request::fuzz),
    ("tds_stream", tds_stream::fuzz),
    ("trace", trace::fuzz),
    ("tsql", tsql::fuzz),
    ("tsql_bind", tsql_bind::fuzz),
    ("wal", wal::fuzz),
    ("xml", xml::fuzz),
];
