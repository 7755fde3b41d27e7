//! Opens the vectors below `testdata/vectors/origin/` (FORMAT 4.7) as a database is opened: by its superblock, with the key and
//! the policy that the vector names.
#![expect(
    clippy::unwrap_used,
    reason = "the lint knows tests, and not the helpers of a test file"
)]

use std::fs;
use std::path::{Path, PathBuf};

use selenite_cipher::Secret;
use selenite_keyring::{AgeIdentity, Cache, Identity, KeyError, RawIdentity, Trust, unlock};

/// The lines of a vector, and its first extent: superblock A.
struct Vector {
    lines: Vec<(String, String)>,
    superblock: Vec<u8>,
}

impl Vector {
    fn load(path: &Path) -> Self {
        let bytes = fs::read(path).unwrap();
        let end = bytes.windows(2).position(|pair| pair == b"\n\n").unwrap();
        let head = str::from_utf8(&bytes[..end]).unwrap();
        let line = |line: &str| {
            line.split_once(": ")
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
        };
        let lines: Vec<(String, String)> = head.lines().filter_map(line).collect();
        let extent = lines.iter().find(|(name, _)| name == "extent").unwrap();
        let size: usize = extent.1.rsplit_once(' ').unwrap().1.parse().unwrap();
        let superblock = bytes[end + 2..][..size].to_vec();
        Self { lines, superblock }
    }

    fn one(&self, name: &str) -> &str {
        let found = self.lines.iter().find(|(line, _)| line == name);
        found.map(|(_, value)| value.as_str()).unwrap()
    }

    fn identity(&self) -> Box<dyn Identity> {
        let (kind, secret) = self.one("key").split_once(' ').unwrap();
        if kind == "age" {
            return Box::new(secret.parse::<AgeIdentity>().unwrap());
        }
        assert_eq!(kind, "raw");
        let digits = (0..32).map(|at| u8::from_str_radix(&secret[2 * at..2 * at + 2], 16).unwrap());
        let bytes: Vec<u8> = digits.collect();
        Box::new(RawIdentity::new(Secret::new(bytes.try_into().unwrap())))
    }

    fn answer(&self) -> String {
        let mut trust = Trust::default();
        trust.policy = self.one("origin").parse().unwrap();
        match unlock(&self.superblock, &[self.identity()], &trust, &Cache::new()) {
            Ok(_) => "ok".to_owned(),
            Err(KeyError::ForeignOrigin { .. }) => "foreign origin".to_owned(),
            Err(error) => error.to_string(),
        }
    }
}

fn paths() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/vectors/origin");
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn each_vector_is_answered_as_it_says() {
    let paths = paths();
    for path in &paths {
        let vector = Vector::load(path);
        assert_eq!(vector.answer(), vector.one("expect"), "{}", path.display());
    }
    assert!(paths.len() >= 12, "only {} vectors were found", paths.len());
}
