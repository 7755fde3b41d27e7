//! Reads traces of page operations (FORMAT 14), which the extension records.

use std::io::Read;
use std::path::Path;

pub use selenite_format::trace::{TraceEvent, TraceRecord, TraceRole};

use selenite_cipher::PartKey;
use selenite_format::trace::{TraceHeader, next_section, records};
use selenite_keyring::{KeyError, archive_recipient};

use crate::{Access, EngineError};

/// A trace that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct TraceFacts {
    /// Its id, which no other trace has.
    pub id: [u8; 16],
    /// How it ends.
    pub end: TraceEnd,
}

/// How a trace ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceEnd {
    /// With a whole section.
    Whole,
    /// With bytes that are no whole section, which are left out: one that is cut, or what is not the trace's.
    Cut {
        /// How many.
        bytes: usize,
    },
}

impl TraceEnd {
    /// The bytes at the end that were left out.
    #[must_use]
    pub fn left_over(self) -> usize {
        match self {
            Self::Whole => 0,
            Self::Cut { bytes } => bytes,
        }
    }
}

/// Passes the records of the trace at `path` to `section`, section by section.
///
/// # Errors
/// The identities of `access` do not open it; it is no trace, or was altered; the file cannot be read.
pub fn read(path: &Path, access: &Access, section: &mut dyn FnMut(&[TraceRecord])) -> Result<TraceFacts, EngineError> {
    let failed = |source| EngineError::Io {
        verb: "read",
        path: path.to_owned(),
        source,
    };
    let mut file = std::fs::File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    let mut read_more = |bytes: &mut Vec<u8>| (&mut file).take(CHUNK).read_to_end(bytes).map_err(failed);
    read_more(&mut bytes)?;
    let refused = |what: &str| EngineError::Trace {
        what: format!("{}: {what}", path.display()),
    };
    let malformed = |error: selenite_format::FormatError| refused(&error.to_string());
    let (header, rest) = TraceHeader::parse(&bytes).map_err(malformed)?;
    let mut rest = rest.to_vec();
    let identities = access.identities(&Access::config()?)?;
    let secret = archive_recipient::unwrap(&identities, std::slice::from_ref(&header.wrapped), &|_| true);
    let secret = secret.map_err(|error| {
        if matches!(error, KeyError::NoKey | KeyError::WrongKey) {
            return EngineError::TraceClosed {
                path: path.to_owned(),
                has_identity: !identities.is_empty(),
            };
        }
        EngineError::Key(error)
    })?;
    let key = PartKey::of_trace(&secret, &header.id, &header.salt);
    let mut number = 0;
    loop {
        let Some((sealed, behind)) = next_section(&rest).map_err(malformed)? else {
            if read_more(&mut rest)? > 0 {
                continue;
            }
            return Ok(TraceFacts {
                id: header.id,
                end: match rest.len() {
                    0 => TraceEnd::Whole,
                    bytes => TraceEnd::Cut { bytes },
                },
            });
        };
        let mut sealed = sealed.to_vec();
        rest = behind.to_vec();
        let plain = key.open_piece(number, false, &mut sealed);
        let plain = plain.map_err(|_| refused(&format!("section {number} of the trace is not authentic")))?;
        let found = records(plain).map_err(malformed)?;
        section(&found);
        number += 1;
    }
}

/// Bytes that are read at a time: a whole header, or a section of usual size.
const CHUNK: u64 = 512 << 10;

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// As `testdata/trace/expected.json` has a record.
    fn numbers(record: &TraceRecord) -> Vec<u64> {
        let (kind, rest) = match record.event {
            TraceEvent::Open { file, database, role } => (1, vec![file.into(), database.into(), role as u64]),
            TraceEvent::Read { file, offset, size } => (2, vec![file.into(), offset, size.into()]),
            TraceEvent::Write { file, offset, size } => (3, vec![file.into(), offset, size.into()]),
            TraceEvent::Sync { file } => (4, vec![file.into()]),
            TraceEvent::Close { file } => (5, vec![file.into()]),
            TraceEvent::Commit { database, frames } => (6, vec![database.into(), frames.into()]),
            TraceEvent::Full => (7, Vec::new()),
            TraceEvent::Begin { file } => (8, vec![file.into()]),
            TraceEvent::Received { connection, size } => (9, vec![connection.into(), size.into()]),
            TraceEvent::Sent { connection, size } => (10, vec![connection.into(), size.into()]),
        };
        [vec![kind, record.microseconds], rest].concat()
    }

    /// The vectors of FORMAT 14, which another program wrote.
    #[test]
    fn every_vector_has_the_records_that_are_expected() {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../testdata");
        let key = tempfile::tempdir().unwrap();
        let identity = key.path().join("key.txt");
        std::fs::copy(folder.join("age/identity.txt"), &identity).unwrap();
        let access = Access {
            identity: Some(format!("age:{}", identity.display()).parse().unwrap()),
            ..Access::default()
        };
        let expected = std::fs::read_to_string(folder.join("trace/expected.json")).unwrap();
        let expected: serde_json::Value = serde_json::from_str(&expected).unwrap();
        for (name, case) in expected.as_object().unwrap() {
            let path = folder.join("trace").join(name).with_extension("trace");
            let mut found = Vec::new();
            let read = read(&path, &access, &mut |records| found.extend(records.iter().map(numbers)));
            match case["expect"].as_str().unwrap() {
                "ok" => {
                    let is_cut = read.unwrap().end.left_over() > 0;
                    assert_eq!(is_cut, name.starts_with("cut"), "{name}");
                }
                "wrong key" => assert!(matches!(read, Err(EngineError::TraceClosed { .. })), "{name}: {read:?}"),
                expect => {
                    let why = read.unwrap_err().to_string();
                    assert_eq!(
                        why.contains("not authentic"),
                        expect == "not authentic",
                        "{name}: {why}"
                    );
                }
            }
            assert_eq!(serde_json::to_value(&found).unwrap(), case["records"], "{name}");
        }
        assert!(expected.as_object().unwrap().len() > 10);
    }
}
