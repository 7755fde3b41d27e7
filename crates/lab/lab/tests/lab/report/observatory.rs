//! The page over all studies.

use std::path::{Path, PathBuf};

use selenite_lab::report::json;
use selenite_lab::report::observatory::render;
use selenite_lab::summary::Summary;

use super::fixture::Fixture;

fn published() -> Vec<Summary> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/studies");
    let entries = std::fs::read_dir(folder).expect("there are studies");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be read").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let texts = paths
        .iter()
        .map(|path| std::fs::read_to_string(path).expect("it can be read"));
    texts
        .filter(|text| text.contains("\"schema\""))
        .map(|text| json::parse(&text).expect("a summary"))
        .collect()
}

/// No figure of the page is typed.
#[test]
fn the_page_in_docs_is_that_of_the_published_studies() {
    let summaries = published();
    assert!(summaries.len() >= 15, "{}", summaries.len());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/OBSERVATORY.md");
    let page = std::fs::read_to_string(path).expect("it is checked in");
    assert_eq!(
        page,
        render(&summaries, "studies"),
        "selenite lab observatory docs/studies --output docs/OBSERVATORY.md"
    );
}

#[test]
fn engines_without_a_study_are_named() {
    let page = render(&[Fixture::whole().summary()], "studies");
    for name in ["MariaDB", "DuckDB", "selenite serve (at rest)"] {
        assert!(page.contains(&format!("| {name} | not yet measured")), "{name}: {page}");
    }
    assert!(page.contains("| PostgreSQL | does not encrypt files"), "{page}");
    assert!(page.contains("## What we could not see") && page.is_ascii(), "{page}");
}

#[test]
fn a_study_without_a_verdict_is_not_used() {
    let page = render(&[Fixture::tiny().summary()], "studies");
    assert!(page.contains("is not used: it has not ended"), "{page}");
    assert!(!page.contains("AES_256"), "{page}");
}
