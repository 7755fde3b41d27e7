//! The status of a database for display: suite, epochs, slots, pages, counters.

use std::path::Path;

use selenite_cipher::Suite;
use selenite_format::{SlotKind, State, Superblock};

use crate::database::Content;
use crate::ffi::Value;
use crate::host::Host;
use crate::main_file::MainFile;
use crate::operation_file;
use crate::role::Role;

/// The rows of `selenite_status`: section, name, value.
pub fn rows(main: &mut MainFile) -> Vec<Vec<Value>> {
    let mut rows = Rows(Vec::new());
    let database = main.database.clone();
    rows.text("database", "path", database.path.clone());
    // This connection may not have read the superblock for a long time: changes of keys and pages
    // by others are read here.
    if let Err(error) = main.refresh() {
        rows.text("database", "refused", error.to_string());
    }
    match database.content() {
        Content::Plain => rows.text("database", "encrypted", "no".to_owned()),
        Content::Empty => rows.text("database", "encrypted", "no database yet".to_owned()),
        Content::Sealed(view) => {
            let superblock = &view.unlocked.superblock;
            let suite = view.page_keys.sealing_suite();
            let encrypted = if suite == Suite::None { "no (suite NONE)" } else { "yes" };
            rows.text("database", "encrypted", encrypted.to_owned());
            rows.text("database", "suite", suite.name().to_owned());
            rows.text(
                "database",
                "state",
                format!("{:?}", superblock.state).to_ascii_lowercase(),
            );
            rows.text("database", "database_id", superblock.database_id.to_string());
            rows.number("database", "generation", superblock.generation);
            rows.number("database", "page_size", superblock.page_size.as_u64());
            let size = database.lock().lower.size().unwrap_or(0);
            let page_count = view.geometry.page_count(size);
            rows.number("database", "pages", u64::from(page_count));
            rows.number("database", "master_key_created", superblock.master_created);
            if superblock.state.has_cursor() {
                rows.number("database", "pages_done", u64::from(superblock.cursor));
            }
            for epoch in &superblock.epochs {
                rows.text(
                    "epoch",
                    &epoch.epoch.to_string(),
                    format!("{} created {}", epoch.suite.name(), epoch.created),
                );
            }
            for slot in &superblock.slots {
                rows.text(
                    "slot",
                    &slot.id.to_string(),
                    format!("{} {}", kind_name(slot.kind), slot.label).trim_end().to_owned(),
                );
            }
            reencryption(&mut rows, superblock, page_count, &database.path);
        }
    }
    if let Some(readable) = database
        .settings
        .identity
        .as_ref()
        .and_then(selenite_keyring::readable_by_others)
    {
        rows.text("warning", "key_readable", readable.display().to_string());
    }
    counters(&mut rows, &database.host);
    rows.0
}

fn counters(rows: &mut Rows, host: &Host) {
    let log = host.log_counters.read();
    for role in Role::ALL {
        let reading = host.counters.read(role);
        rows.number(role.name(), "pages_sealed", reading.pages_sealed);
        rows.number(role.name(), "pages_opened", reading.pages_opened);
        rows.number(role.name(), "bytes", reading.bytes);
        rows.number(role.name(), "tags_refused", reading.tags_refused);
        rows.number(role.name(), "cipher_ns_estimated", reading.cipher_ns_estimated);
        if role == Role::Wal {
            rows.number(role.name(), "frames_written", log.frames_written);
            rows.number(role.name(), "writes", log.writes);
        }
        if role == Role::Main {
            rows.number(role.name(), "pages_carried", log.pages_carried);
            rows.number(role.name(), "read_ahead_used", reading.read_ahead_used);
            rows.number(role.name(), "read_ahead_wasted", reading.read_ahead_wasted);
            rows.number("database", "sync_ns", host.sync_clock.read());
            rows.number("pool", "hits", reading.pool_hits);
            rows.number("pool", "misses", reading.pool_misses);
            rows.number("pool", "bytes", to_u64(host.pool.used()));
            rows.number("pool", "limit", to_u64(host.pool.limit()));
        }
    }
}

/// The progress of an operation on all pages, and which process runs it.
fn reencryption(rows: &mut Rows, superblock: &Superblock, page_count: u32, path: &str) {
    const SECTION: &str = "reencryption";
    rows.push(
        SECTION,
        "percent_complete",
        Value::Real(percent(superblock, page_count)),
    );
    match operation_file::read_report(Path::new(path)) {
        Ok(None) => rows.text(SECTION, "running", "no".to_owned()),
        Err(why) => rows.text(SECTION, "running", format!("not known: {why}")),
        Ok(Some(report)) => {
            rows.text(SECTION, "running", "yes".to_owned());
            rows.number(SECTION, "pid", report.pid.into());
            rows.number(SECTION, "since", report.since);
            rows.text(SECTION, "what", report.what);
            rows.number(SECTION, "bytes_done", report.done);
            rows.number(SECTION, "bytes", report.total);
            rows.number(SECTION, "bytes_per_second", report.rate);
            rows.number(SECTION, "lock_p99_us", report.lock_p99);
            if !report.waiting.is_empty() {
                rows.text(SECTION, "waiting", report.waiting);
                rows.number(SECTION, "waiting_since", report.waiting_since);
            }
        }
    }
}

/// The percentage of the pages that is re-encrypted and on disk; 0 if no re-encryption is running.
fn percent(superblock: &Superblock, page_count: u32) -> f64 {
    match superblock.state {
        State::Steady | State::Retired => 0.0,
        State::Finishing => 100.0,
        State::SwitchingOn | State::SwitchingOff | State::Changing => {
            let cursor = superblock.cursor.min(page_count);
            f64::from(cursor) * 100.0 / f64::from(page_count.max(1))
        }
    }
}

/// The rows of the status as lines of text, for `PRAGMA selenite_status`.
pub fn text(main: &mut MainFile) -> String {
    let mut text = String::new();
    for row in rows(main) {
        let words: Vec<String> = row
            .into_iter()
            .map(|value| match value {
                Value::Null => String::new(),
                Value::Integer(number) => number.to_string(),
                Value::Real(number) => number.to_string(),
                Value::Text(text) => text,
            })
            .collect();
        text.push_str(words.join(" ").trim_end());
        text.push('\n');
    }
    text
}

/// The name of a slot's kind in the command line.
#[must_use]
pub fn kind_name(kind: SlotKind) -> &'static str {
    match kind {
        SlotKind::Raw => "raw",
        SlotKind::Passphrase => "passphrase",
        SlotKind::Age => "age",
        SlotKind::Command => "command",
        SlotKind::Pkcs11 => "pkcs11",
        SlotKind::KeyService => "key-service",
        SlotKind::Unknown(_) => "unknown",
    }
}

fn to_u64(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

struct Rows(Vec<Vec<Value>>);

impl Rows {
    fn text(&mut self, section: &str, name: &str, value: String) {
        self.push(section, name, Value::Text(value));
    }

    fn number(&mut self, section: &str, name: &str, value: u64) {
        self.push(section, name, Value::Integer(i64::try_from(value).unwrap_or(i64::MAX)));
    }

    fn push(&mut self, section: &str, name: &str, value: Value) {
        self.0.push(vec![
            Value::Text(section.to_owned()),
            Value::Text(name.to_owned()),
            value,
        ]);
    }
}
