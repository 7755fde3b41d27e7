//! A listing in Prometheus' text exposition format, version 0.0.4
//! (prometheus.io/docs/instrumenting/exposition_formats).
//!
//! - samples-together: all samples of a metric are together, after its HELP and TYPE, and none is
//!   repeated: a path occurs once in a listing.
//! - unknown-has-no-sample: an unknown value has no sample, rather than a number with another
//!   meaning.

use selenite::folder::{Entry, Kind, Listing};
use selenite::{Age, Sealed};

use super::listing_json::kind_word;
use crate::printable;

/// The text of a listing.
pub fn text(listing: &Listing) -> String {
    let mut out = Exposition::default();
    out.info(listing);
    let all = &listing.databases;
    for (name, help, value) in NUMBERS {
        out.metric(name, help);
        for entry in all {
            if let Some(value) = value(entry) {
                out.sample(name, &[("path", &printable::path(&entry.path))], &value);
            }
        }
    }
    let name = "selenite_database_warning";
    out.metric(name, "1 for each kind of warning.");
    for entry in all {
        let mut codes: Vec<&str> = entry.warnings.iter().map(|warning| warning.code()).collect();
        codes.sort_unstable();
        codes.dedup();
        for code in codes {
            out.sample(name, &[("path", &printable::path(&entry.path)), ("warning", code)], "1");
        }
    }
    for (name, help, value) in [
        (
            "selenite_database_listed",
            "Databases that were found.",
            count(all.len()),
        ),
        (
            "selenite_database_unreadable",
            "Folders and files that could not be read.",
            count(listing.unreadable.len()),
        ),
        (
            "selenite_database_listed_timestamp_seconds",
            "When this was looked at, which all ages refer to.",
            listing.time.to_string(),
        ),
    ] {
        out.metric(name, help);
        out.sample(name, &[], &value);
    }
    out.0
}

#[derive(Default)]
struct Exposition(String);

impl Exposition {
    /// The text properties of a database, as labels of a sample with value 1.
    fn info(&mut self, listing: &Listing) {
        let name = "selenite_database_info";
        self.metric(name, "What a database claims; authentic is yes if a key proved it.");
        for entry in &listing.databases {
            let path = printable::path(&entry.path);
            let sealed = entry.sealed.as_ref();
            let id = sealed.map_or(String::new(), |sealed| sealed.database_id.to_string());
            let authentic = sealed.map_or("", |sealed| if sealed.authentic { "yes" } else { "no" });
            let labels = [
                ("path", path.as_str()),
                ("kind", kind_word(entry.kind)),
                ("suite", sealed.map_or("", |sealed| sealed.suite)),
                ("state", sealed.map_or("", Sealed::state_word)),
                ("authentic", authentic),
                ("database_id", &id),
            ];
            self.sample(name, &labels, "1");
        }
    }

    fn metric(&mut self, name: &str, help: &str) {
        self.0.push_str(&format!("# HELP {name} {help}\n# TYPE {name} gauge\n"));
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: &str) {
        self.0.push_str(name);
        for (index, (label, text)) in labels.iter().enumerate() {
            let before = if index == 0 { '{' } else { ',' };
            self.0.push_str(&format!("{before}{label}=\"{}\"", escaped(text)));
        }
        if !labels.is_empty() {
            self.0.push('}');
        }
        self.0.push_str(&format!(" {value}\n"));
    }
}

/// A label's value: backslash, quote and line feed are escaped.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn count(number: usize) -> String {
    number.to_string()
}

fn flag(is_so: bool) -> Option<String> {
    Some(u8::from(is_so).to_string())
}

fn seconds(age: Option<Age>) -> Option<String> {
    age.and_then(Age::seconds).map(|seconds| seconds.to_string())
}

fn of_sealed(entry: &Entry, value: fn(&Sealed) -> u64) -> Option<String> {
    entry.sealed.as_ref().map(|sealed| value(sealed).to_string())
}

/// A metric's name, its help, and its value for a database, if known.
type Number = (&'static str, &'static str, fn(&Entry) -> Option<String>);

const NUMBERS: [Number; 14] = [
    (
        "selenite_database_encrypted",
        "1 if new pages are encrypted, 0 if not; absent if unknown.",
        |one| match one.kind {
            Kind::Plain => flag(false),
            Kind::Sealed => one.sealed.as_ref().and_then(|sealed| flag(sealed.is_encrypted())),
            Kind::Damaged | Kind::Foreign | Kind::Empty => None,
        },
    ),
    (
        "selenite_database_authentic",
        "1 if a key proved the superblock, 0 if it is the file's own claim.",
        |one| one.sealed.as_ref().and_then(|sealed| flag(sealed.authentic)),
    ),
    ("selenite_database_damaged", "1 if no key can open it.", |one| {
        flag(one.kind == Kind::Damaged)
    }),
    ("selenite_database_size_bytes", "Size of the file.", |one| {
        Some(one.size.to_string())
    }),
    ("selenite_database_pages", "Pages in the file.", |one| {
        of_sealed(one, |sealed| sealed.page_count.into())
    }),
    (
        "selenite_database_generation",
        "How often keys or state changed.",
        |one| of_sealed(one, |sealed| sealed.generation),
    ),
    (
        "selenite_database_data_keys",
        "Data keys that are listed, one for each epoch.",
        |one| of_sealed(one, |sealed| u64::try_from(sealed.epochs.len()).unwrap_or(u64::MAX)),
    ),
    (
        "selenite_database_superblocks_whole",
        "How many of the two superblocks are whole.",
        |one| {
            of_sealed(one, |sealed| {
                u64::from(sealed.superblocks.a_is_whole) + u64::from(sealed.superblocks.b_is_whole)
            })
        },
    ),
    (
        "selenite_database_data_key_age_seconds",
        "Age of the data key for new pages; absent if it is in the future.",
        |one| seconds(one.data_key_age),
    ),
    (
        "selenite_database_master_key_age_seconds",
        "Age of the master key; absent if it is in the future.",
        |one| seconds(one.master_key_age),
    ),
    (
        "selenite_database_last_verify_age_seconds",
        "Time since the last successful verification; absent if none is recorded.",
        |one| seconds(one.last_verify.map(|(_, age)| age)),
    ),
    (
        "selenite_database_reencryption_active",
        "1 while pages are being re-encrypted, encrypted or decrypted.",
        |one| one.sealed.as_ref().and_then(|sealed| flag(sealed.state.has_cursor())),
    ),
    (
        "selenite_database_reencryption_ratio",
        "Share of the pages that is done, while it is in progress.",
        |one| {
            let ratio = one.sealed.as_ref().and_then(Sealed::progress);
            ratio.map(|ratio| format!("{ratio:.4}"))
        },
    ),
    ("selenite_database_warnings", "Number of warnings.", |one| {
        Some(count(one.warnings.len()))
    }),
];
