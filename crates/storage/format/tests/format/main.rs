//! Opens every vector below `testdata/vectors/` with the public API of cipher and format: the
//! failure's class and every released byte must be those that the vector states
//! (`testdata/README.md`).
//!
//! Log recovery and journal rollback are the VFS's task. Here both are implemented in a few lines
//! according to FORMAT 6.4 and 7.3, so that the vectors are checked independently of the VFS.
#![cfg(test)]

mod database;
mod journal;
mod log;
mod overlay;
mod vector;

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use selenite_cipher::{PageNo, sha256};

use database::{Class, Database};
use journal::Journal;
use log::Log;
use overlay::Overlay;
use vector::{Vector, hex};

/// The results for one vector, by the names of its lines.
#[derive(Default)]
struct Answer {
    lines: HashMap<&'static str, String>,
    pages: BTreeMap<u32, String>,
}

#[test]
fn vectors_have_the_expected_results() {
    let mut count = 0;
    let mut differences = Vec::new();
    for area in ["superblock", "slot", "page", "wal", "journal"] {
        for path in paths(area) {
            let vector = Vector::load(&path);
            // The keyring opens age identities; its tests include these vectors, too.
            if !vector.one("key").starts_with("age ") {
                count += 1;
                differences.extend(compare(&vector).map(|what| format!("{}: {what}", path.display())));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(count > 180, "only {count} vectors were found");
}

fn paths(area: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../testdata/vectors")
        .join(area);
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "vec"));
    paths.sort();
    paths
}

fn compare(vector: &Vector) -> Option<String> {
    let mut answer = Answer::default();
    let class = match run(vector, &mut answer) {
        Ok(()) => "ok".to_owned(),
        Err(class) => class,
    };
    if class != vector.one("expect") {
        return Some(format!("{class}, not {}", vector.one("expect")));
    }
    if answer.pages != vector.pages() {
        return Some(format!("other pages: {:?}", answer.pages));
    }
    let names = ["counts", "pages", "frames", "committed", "end", "records"];
    names.into_iter().find_map(|name| {
        let expected = vector.all(name).next()?;
        let found = answer.lines.get(name).map_or("nothing", String::as_str);
        (found != expected).then(|| format!("{name}: {found}, not {expected}"))
    })
}

fn run(vector: &Vector, answer: &mut Answer) -> Result<(), Class> {
    let mut database = Database::open(vector)?;
    answer.lines.insert("counts", database.counts.to_owned());
    let mut overlay = Overlay::default();
    if let Some(file) = vector.file("wal") {
        let mut log = Log::new(&database, file);
        overlay = log.recover(&mut database)?;
        answer.lines.insert("frames", log.frame_count.to_string());
        answer.lines.insert("committed", log.committed_count.to_string());
        answer.lines.insert("end", log.end.to_owned());
        if let Some(read) = vector.all("read").next() {
            let index = read.strip_prefix("frame ").unwrap().parse().unwrap();
            let (number, page) = log.read(&mut database, index)?;
            answer.pages.insert(number, hex(&sha256(&page)));
            return Ok(());
        }
    }
    if let Some(file) = vector.file("journal") {
        let mut journal = Journal::default();
        overlay = journal.roll_back(&mut database, file)?;
        answer.lines.insert("records", journal.record_count.to_string());
    }
    let count = overlay.page_count.unwrap_or(database.page_count());
    answer.lines.insert("pages", count.to_string());
    read_pages(vector, &mut database, &overlay, answer)
}

/// Reads all pages that the vector names; returns the first failure.
fn read_pages(vector: &Vector, database: &mut Database, overlay: &Overlay, answer: &mut Answer) -> Result<(), Class> {
    let mut result = Ok(());
    for number in vector.pages().into_keys() {
        let page = match overlay.pages.get(&number) {
            Some(page) => Ok(page.clone()),
            None => database.page(PageNo(number)),
        };
        let said = match &page {
            Ok(page) => hex(&sha256(page)),
            Err(class) => class.split(' ').next().unwrap_or_default().to_owned(),
        };
        answer.pages.insert(number, said);
        result = result.and(page.map(|_| ()));
    }
    result
}
