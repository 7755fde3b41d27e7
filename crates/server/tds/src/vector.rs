//! The vectors of `testdata/tds`, for tests: each is parsed whole, truncated at every length and with every byte
//! flipped.

use std::path::{Path, PathBuf};

use crate::{
    BulkPiece, BulkReader, BulkStep, Complaint, Incoming, Limits, Login, MessageKind, MessageReader, Prelogin, Request,
    TdsError, client,
};

/// Lines `name: value`, an empty line, then bytes as hexadecimal digits.
pub(crate) struct Vector {
    pub name: String,
    pub read: String,
    pub expect: String,
    pub bytes: Vec<u8>,
}

impl Vector {
    pub fn load(name: &str) -> Self {
        Self::parse(&folder().join(name).with_extension("hex"))
    }

    fn parse(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap();
        let (head, body) = text.split_once("\n\n").unwrap();
        let value = |name: &str| {
            let lines = head.lines().filter_map(|line| line.split_once(": "));
            let mut values = lines.filter(|line| line.0 == name).map(|line| line.1);
            values
                .next()
                .unwrap_or_else(|| panic!("{path:?} has no {name}"))
                .to_owned()
        };
        let digits = body.split_whitespace();
        Self {
            name: path.file_stem().unwrap().to_str().unwrap().to_owned(),
            read: value("read"),
            expect: value("expect"),
            bytes: digits.map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect(),
        }
    }

    /// The data of the only message.
    pub fn data(&self) -> Vec<u8> {
        self.bytes[8..].to_vec()
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../testdata/tds")
}

fn all() -> Vec<Vector> {
    let entries = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut vectors: Vec<_> = entries.map(|path| Vector::parse(&path)).collect();
    vectors.sort_by(|a, b| a.name.cmp(&b.name));
    vectors
}

/// Every prefix of `bytes`, and `bytes` with each byte altered in four ways.
pub(crate) fn corrupted(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> + '_ {
    let cut = (0..bytes.len()).map(|size| bytes[..size].to_vec());
    let places = (0..bytes.len()).flat_map(|at| [0x01, 0x10, 0x80, 0xFF].map(|mask| (at, mask)));
    cut.chain(places.map(|(at, mask)| {
        let mut flipped = bytes.to_vec();
        flipped[at] ^= mask;
        flipped
    }))
}

/// The result of parsing a vector: `ok`, `more` if the message is incomplete, or the error.
fn read(read: &str, bytes: &[u8]) -> String {
    match attempt(read, bytes) {
        Ok(what) => what.to_owned(),
        Err(error) => error
            .complaint()
            .map_or("silent".to_owned(), |complaint| complaint.number.to_string()),
    }
}

fn attempt(read: &str, bytes: &[u8]) -> Result<&'static str, TdsError> {
    let mut bytes = bytes;
    if read == "answer" {
        return match client::split_message(&mut bytes)? {
            Some(data) => client::tokens(&data).map(|_| "ok"),
            None => Ok("more"),
        };
    }
    let mut reader = MessageReader::new();
    if read == "request" {
        reader.set_limits(Limits::LoggedIn {
            message_size_max: 1 << 20,
        });
    }
    match reader.push(&mut bytes)? {
        None => Ok("more"),
        Some(Incoming::Attention) => Ok("attention"),
        Some(Incoming::BulkLoad(piece)) => read_bulk_load(piece),
        Some(Incoming::Ignored(_)) => Ok("ignored"),
        Some(Incoming::Message(message)) if message.kind() == MessageKind::Prelogin => {
            Prelogin::parse(message.data()).map(|_| "ok")
        }
        Some(Incoming::Message(message)) if message.kind() == MessageKind::Login => {
            Login::parse(message.data()).map(|_| "ok")
        }
        Some(Incoming::Message(message)) => Request::parse(&message).map(|_| "ok"),
    }
}

fn read_bulk_load(piece: BulkPiece) -> Result<&'static str, TdsError> {
    let mut rows = BulkReader::new(1 << 20);
    rows.push(piece);
    rows.columns()?;
    let mut step = BulkStep::Row;
    while step == BulkStep::Row {
        step = rows.row(&mut Vec::new())?;
    }
    Ok("ok")
}

#[test]
fn every_vector_parses_as_it_expects() {
    let vectors = all();
    assert!(vectors.len() >= 40, "{} vectors", vectors.len());
    for vector in vectors {
        assert_eq!(read(&vector.read, &vector.bytes), vector.expect, "{}", vector.name);
    }
}

#[test]
fn a_truncated_vector_is_incomplete() {
    for vector in all().into_iter().filter(|vector| vector.expect == "ok") {
        for size in 0..vector.bytes.len() {
            let outcome = read(&vector.read, &vector.bytes[..size]);
            assert_eq!(outcome, "more", "{} at {size}", vector.name);
        }
    }
}

#[test]
fn a_truncated_message_with_a_valid_header_never_panics() {
    let mut refused = 0;
    for vector in all().into_iter().filter(|vector| vector.expect == "ok") {
        for size in 8..vector.bytes.len() {
            let mut bytes = vector.bytes[..size].to_vec();
            bytes[2..4].copy_from_slice(&u16::try_from(size).unwrap().to_be_bytes());
            refused += usize::from(read(&vector.read, &bytes) != "ok");
        }
    }
    assert!(refused > 500, "only {refused} were refused");
}

#[test]
fn a_corrupted_vector_is_an_error_or_a_value() {
    let numbers = [
        701, 4002, 4009, 4014, 4804, 4815, 4816, 8003, 8004, 8005, 8006, 8007, 8009, 8015, 8016, 8017, 8023, 8029,
        8031, 8032, 8037, 8038, 8043, 8047, 8048, 8049, 8050, 8051, 8054, 8055, 8056, 8057, 8060, 9803, 17828, 17832,
        40510,
    ];
    let mut known: Vec<_> = numbers.iter().map(i32::to_string).collect();
    known.extend(["ok", "more", "attention", "ignored", "silent"].map(str::to_owned));
    for vector in all() {
        for bytes in corrupted(&vector.bytes) {
            let outcome = read(&vector.read, &bytes);
            assert!(known.contains(&outcome), "{}: {outcome} of {bytes:02x?}", vector.name);
        }
    }
}

#[test]
fn no_complaint_contains_bytes_of_its_vector() {
    for vector in all().into_iter().filter(|vector| vector.name.starts_with("login")) {
        if let Err(error) = attempt(&vector.read, &vector.bytes) {
            let Some(Complaint { text, .. }) = error.complaint() else {
                continue;
            };
            assert!(!text.contains("skostov1"), "{text}");
        }
    }
}
