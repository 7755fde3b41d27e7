//! Writes `testdata/vectors/`: `cargo run -p selenite-format --example vectors`.
//!
//! All keys, nonces and pages are fixed, so that the output is reproducible; a test compares it
//! with the checked-in files. Vectors are added, never changed.

mod archive;
mod archives;
mod exports;
mod followed;
mod journals;
mod logs;
mod origins;
mod pages;
mod slots;
mod superblocks;
mod vector;
mod world;

use std::path::PathBuf;
use std::{fs, io};

use vector::Vector;

/// All vectors, in the order of FORMAT 9.
fn vectors() -> Vec<Vector> {
    [
        superblocks::all(),
        slots::all(),
        origins::all(),
        pages::all(),
        logs::all(),
        journals::all(),
        exports::all(),
        vector::share([archives::all(), followed::all()].concat()),
    ]
    .concat()
}

fn path(vector: &Vector) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../testdata/vectors")
        .join(vector.path())
}

fn main() -> io::Result<()> {
    for vector in vectors() {
        let path = path(&vector);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, vector.encode())?;
    }
    Ok(())
}

#[test]
fn vectors_equal_the_checked_in_files() {
    for vector in vectors() {
        let checked_in = fs::read(path(&vector)).unwrap_or_default();
        assert!(
            checked_in == vector.encode(),
            "{} is not what is checked in",
            vector.path()
        );
    }
}

#[test]
fn vector_names_are_unique() {
    let mut names: Vec<String> = vectors().iter().map(Vector::path).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}

/// Every row of FORMAT 9 has a vector of its name, or of its name and a suffix after a hyphen.
#[test]
fn rows_of_the_document_have_vectors() {
    let names: Vec<String> = vectors().iter().map(Vector::path).collect();
    let document = include_str!("../../../../../docs/FORMAT.md");
    let from_section = document.lines().skip_while(|line| !line.starts_with("## 9."));
    let section = from_section.skip(1).take_while(|line| !line.starts_with("## "));
    let rows = section.filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    let rows: Vec<&str> = rows.filter(|row| row.contains('/')).collect();
    assert!(rows.len() > 20);
    for row in rows {
        let start = row.trim_end_matches("...");
        let found = names.iter().any(|name| name.starts_with(start));
        assert!(found, "no vector for {row}");
    }
}
