use std::fs;

use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

const MARKER: &str = "PlainToRead-Scan";

/// A folder with the same files for every arm: a table, a log and a description.
fn folder(table: &[u8], log: &[u8]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("lab")).unwrap();
    fs::write(folder.path().join("lab/t.ibd"), table).unwrap();
    fs::write(folder.path().join("log"), log).unwrap();
    fs::write(folder.path().join("lab/t.frm"), "Id SomeText").unwrap();
    folder
}

fn rows() -> Vec<u8> {
    MARKER.bytes().cycle().take(40_960).collect()
}

fn random() -> Vec<u8> {
    let mut bytes = vec![0; 40_960];
    ChaCha8Rng::seed_from_u64(11).fill_bytes(&mut bytes);
    bytes
}

fn opened(encrypted: bool, files: &[(&str, EncryptedContent)]) -> OpenedDatabase {
    OpenedDatabase {
        status: BTreeMap::new(),
        encrypted,
        pages: 10,
        layout: BTreeMap::new(),
        encrypted_files: files
            .iter()
            .map(|(name, content)| ((*name).to_owned(), *content))
            .collect(),
    }
}

fn proved(arm: &tempfile::TempDir, opened: &OpenedDatabase) -> Result<Vec<(String, String)>, String> {
    let plain = folder(&rows(), &rows());
    let scan = |folder: &tempfile::TempDir| FolderScan::at(folder.path(), MARKER).unwrap();
    prove_folder(Claim::Encrypted, &scan(arm), &scan(&plain), opened)
        .map(|proof| proof.facts)
        .map_err(|error| error.to_string())
}

const TABLE: (&str, EncryptedContent) = ("lab/t.ibd", EncryptedContent::Pages);

#[test]
fn rows_in_a_file_outside_the_claim_are_a_finding() {
    let facts = proved(&folder(&random(), &rows()), &opened(true, &[TABLE])).unwrap();
    let found = |name: &str| facts.iter().find(|fact| fact.0 == name).map(|fact| fact.1.clone());
    assert_eq!(found("in clear: log").unwrap(), "rows: the marker at byte 0");
    assert_eq!(
        found("in clear: lab/t.frm").unwrap(),
        "names of tables or columns: \"SomeText\""
    );
    assert_eq!(found("marker").unwrap(), "in log");
    assert_eq!(found("marker in the unencrypted copy").unwrap(), "in lab/t.ibd, log");
}

#[test]
fn rows_in_a_file_of_the_claim_refute_it() {
    let arm = folder(&random(), &rows());
    let log = ("log", EncryptedContent::Records);
    let error = proved(&arm, &opened(true, &[TABLE, log])).unwrap_err();
    assert!(error.contains("log is reported as encrypted, but is not"), "{error}");
    let error = proved(&folder(&rows(), &rows()), &opened(true, &[TABLE])).unwrap_err();
    assert!(error.contains("t.ibd is reported as encrypted, but is not"), "{error}");
}

#[test]
fn pages_are_random_or_were_never_written() {
    let mut table = vec![0; 81_920];
    table.extend(random());
    proved(&folder(&table, b""), &opened(true, &[TABLE])).unwrap();
    let mut table = random();
    table.extend(vec![7; 8192]);
    let error = proved(&folder(&table, b""), &opened(true, &[TABLE])).unwrap_err();
    assert!(error.contains("blocks that are not random"), "{error}");
    let error = proved(&folder(&[0; 40_960], b""), &opened(true, &[TABLE])).unwrap_err();
    assert!(error.contains("too little to judge"), "{error}");
}

#[test]
fn a_claim_without_files_or_of_missing_ones_is_none() {
    let arm = folder(&random(), b"");
    let missing = ("lab/u.ibd", EncryptedContent::Pages);
    for (opened, what) in [
        (opened(true, &[]), "names no encrypted file"),
        (opened(true, &[TABLE, missing]), "no such file"),
        (opened(true, &[missing]), "the proof is void"),
        (opened(false, &[TABLE]), "reports an unencrypted database"),
    ] {
        let error = proved(&arm, &opened).unwrap_err();
        assert!(error.contains(what), "{what}: {error}");
    }
}

#[test]
fn an_unencrypted_folder_holds_its_rows() {
    let scan = |folder: &tempfile::TempDir| FolderScan::at(folder.path(), MARKER).unwrap();
    let (clear, other) = (folder(&rows(), b""), folder(&random(), b""));
    let (clear, other) = (scan(&clear), scan(&other));
    prove_folder(Claim::Clear, &clear, &clear, &opened(false, &[])).unwrap();
    assert!(prove_folder(Claim::Clear, &clear, &clear, &opened(true, &[TABLE])).is_err());
    assert!(prove_folder(Claim::Clear, &other, &clear, &opened(false, &[])).is_err());
}
