//! What a database is, for people: suite, epochs, slots, pages, counters.

use selenite_cipher::Suite;
use selenite_format::SlotKind;

use crate::database::Content;
use crate::ffi::Value;
use crate::main_file::MainFile;
use crate::role::Role;

/// The rows of `selenite_status`: section, name, value.
pub fn rows(main: &mut MainFile) -> Vec<Vec<Value>> {
    let mut rows = Rows(Vec::new());
    let database = main.database.clone();
    rows.text("database", "path", database.path.clone());
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
            rows.number("database", "pages", u64::from(view.geometry.page_count(size)));
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
        }
    }
    let log = database.host.log_counters.read();
    for role in Role::ALL {
        let reading = database.host.counters.read(role);
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
            rows.number("database", "sync_ns", database.host.sync_clock.read());
            rows.number("pool", "hits", reading.pool_hits);
            rows.number("pool", "misses", reading.pool_misses);
            rows.number("pool", "bytes", to_u64(database.host.pool.used()));
            rows.number("pool", "limit", to_u64(database.host.pool.limit()));
        }
    }
    rows.0
}

/// The same as lines of text, for `PRAGMA selenite_status`.
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

/// A slot's kind, as the command line names it.
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
        self.0.push(vec![
            Value::Text(section.to_owned()),
            Value::Text(name.to_owned()),
            Value::Text(value),
        ]);
    }

    fn number(&mut self, section: &str, name: &str, value: u64) {
        let value = Value::Integer(i64::try_from(value).unwrap_or(i64::MAX));
        self.0.push(vec![
            Value::Text(section.to_owned()),
            Value::Text(name.to_owned()),
            value,
        ]);
    }
}
