//! A vector: lines of text, an empty line, and the extents of its files.

use std::fs;
use std::path::{Path, PathBuf};

/// The input of a reader and the expected result.
pub struct Vector {
    lines: Vec<(String, String)>,
    /// The start of the database file: superblock A.
    pub superblock: Vec<u8>,
    /// The exported key; empty if there is none.
    pub exported: Vec<u8>,
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
            let Some((name, value)) = line.split_once(": ") else {
                continue;
            };
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

    /// The value of the line of this name.
    pub fn one(&self, name: &str) -> &str {
        let found = self.lines.iter().find(|(line, _)| line == name);
        found.map(|(_, value)| value.as_str()).unwrap()
    }
}

/// The vectors of an area, with their paths.
pub fn vectors(area: &str) -> Vec<(PathBuf, Vector)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../testdata/vectors")
        .join(area);
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.map(|path| (path.clone(), Vector::load(&path))).collect()
}
