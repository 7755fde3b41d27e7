//! A listing in JSON.

use selenite::folder::{Entry, Kind, Limits, Listing};
use selenite::{Age, Sealed, utc};
use serde_json::{Value, json};

use super::superblocks_json;

/// The JSON object of a listing.
pub fn object(listing: &Listing, limits: Limits) -> Value {
    let unreadable: Vec<Value> = listing
        .unreadable
        .iter()
        .map(|one| json!({ "path": one.path.to_string_lossy(), "why": one.why }))
        .collect();
    json!({
        "time": utc(listing.time),
        "limits": {
            "data_key_days": limits.data_key_days,
            "master_key_days": limits.master_key_days,
            "verify_days": limits.verify_days,
        },
        "databases": listing.databases.iter().map(entry).collect::<Vec<_>>(),
        "unreadable": unreadable,
        "warned": listing.has_warnings(),
    })
}

fn entry(entry: &Entry) -> Value {
    let mut object = json!({
        "path": entry.path.to_string_lossy(),
        "size": entry.size,
        "kind": kind_word(entry.kind),
        "encrypted": entry.is_encrypted(),
        "problem": entry.problem,
        "last_verify": last_verify(entry),
        "warnings": warnings(entry),
    });
    if let Some(sealed) = &entry.sealed {
        object["superblock"] = superblock(entry, sealed);
    }
    object
}

fn superblock(entry: &Entry, sealed: &Sealed) -> Value {
    json!({
        "authentic": sealed.authentic,
        "origin": sealed.origin.map(|origin| origin.to_string()),
        "superblocks": superblocks_json(sealed.superblocks),
        "suite": sealed.suite,
        "state": sealed.state_word(),
        "percent": sealed.percent(),
        "page_size": sealed.page_size,
        "page_count": sealed.page_count,
        "database_id": sealed.database_id.to_string(),
        "generation": sealed.generation,
        "data_key_created": sealed.data_key_created().map(utc),
        "data_key_age_seconds": seconds(entry.data_key_age),
        "master_key_created": utc(sealed.master_created),
        "master_key_age_seconds": seconds(entry.master_key_age),
    })
}

/// A verification with a time in the future has no age.
pub fn last_verify(entry: &Entry) -> Value {
    entry.last_verify.as_ref().map_or(Value::Null, |(note, age)| {
        json!({
            "time": utc(note.time),
            "age_seconds": age.seconds(),
            "kind": note.kind.word(),
            "page_count": note.page_count,
            "before_reencryption": entry.is_reencrypted_since_verify(),
        })
    })
}

/// The warnings, each with its stable code.
pub fn warnings(entry: &Entry) -> Value {
    let warnings = entry.warnings.iter().map(|warning| {
        let file = warning.file().map(|file| file.to_string_lossy().into_owned());
        json!({ "code": warning.code(), "text": warning.to_string(), "file": file })
    });
    Value::Array(warnings.collect())
}

fn seconds(age: Option<Age>) -> Option<u64> {
    age.and_then(Age::seconds)
}

/// The stable name of the kind.
pub fn kind_word(kind: Kind) -> &'static str {
    match kind {
        Kind::Sealed => "selenite",
        Kind::Plain => "clear",
        Kind::Damaged => "damaged",
        Kind::Foreign => "unknown",
        Kind::Empty => "empty",
    }
}
