//! Opens the vectors below `testdata/vectors/exported/` (FORMAT 13): an exported key, by the identity that the vector names, and
//! the database's superblock by it.
#![expect(
    clippy::unwrap_used,
    reason = "the lint knows tests, and not the helpers of a test file"
)]

use std::fs;
use std::path::{Path, PathBuf};

use selenite_format::Superblock;
use selenite_keyring::{AgeIdentity, ExportedKey, Identity, KeyError};

/// What a reader is given, and what it must answer.
struct Vector {
    lines: Vec<(String, String)>,
    superblock: Vec<u8>,
    exported: Vec<u8>,
}

impl Vector {
    fn load(path: &Path) -> Self {
        let bytes = fs::read(path).unwrap();
        let end = bytes.windows(2).position(|pair| pair == b"\n\n").unwrap();
        let mut body = &bytes[end + 2..];
        let mut vector = Self {
            lines: Vec::new(),
            superblock: Vec::new(),
            exported: Vec::new(),
        };
        for line in str::from_utf8(&bytes[..end]).unwrap().lines() {
            let (name, value) = line.split_once(": ").unwrap();
            vector.lines.push((name.to_owned(), value.to_owned()));
            let words: Vec<&str> = value.split(' ').collect();
            let ("extent", &[file, offset, size]) = (name, words.as_slice()) else {
                continue;
            };
            let (extent, rest) = body.split_at(size.parse().unwrap());
            body = rest;
            match (file, offset) {
                ("main", "0") => vector.superblock = extent.to_vec(),
                ("exported", "0") => vector.exported = extent.to_vec(),
                _ => {}
            }
        }
        vector
    }

    fn one(&self, name: &str) -> &str {
        let found = self.lines.iter().find(|(line, _)| line == name);
        found.map(|(_, value)| value.as_str()).unwrap()
    }

    fn answer(&self) -> String {
        let identity: AgeIdentity = self.one("key").strip_prefix("age ").unwrap().parse().unwrap();
        let identities: Vec<Box<dyn Identity>> = vec![Box::new(identity)];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("app.key.age");
        selenite_keyring::write_key_file(&path, &self.exported).unwrap();
        let checked = ExportedKey::load(&path, &identities).and_then(|exported| {
            let superblock = Superblock::parse(&self.superblock).unwrap();
            exported.check(&self.superblock, &superblock)
        });
        match checked {
            Ok(()) => "ok",
            Err(KeyError::BadFile { .. }) => "exported key refused",
            Err(KeyError::ExportedClosed { .. }) => "wrong key",
            Err(KeyError::ExportedElsewhere { .. }) => "another database",
            Err(KeyError::ExportedOther { .. } | KeyError::Tampered { .. }) => "another master key",
            Err(error) => panic!("{error}"),
        }
        .to_owned()
    }
}

fn paths() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/vectors/exported");
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn each_vector_is_answered_as_it_says() {
    let paths = paths();
    for path in &paths {
        let vector = Vector::load(path);
        // A record of another size is not taken out of its age file at all: the identity is said to open nothing.
        let is_resized = ["short.vec", "long.vec"].iter().any(|name| path.ends_with(name));
        let expected = if is_resized { "wrong key" } else { vector.one("expect") };
        assert_eq!(vector.answer(), expected, "{}", path.display());
    }
    assert!(paths.len() >= 9, "only {} vectors were found", paths.len());
}
