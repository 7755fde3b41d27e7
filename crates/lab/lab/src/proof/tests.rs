use std::fs;

use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

const MARKER: &str = "Wibble-marker";

fn clear_bytes(pages: usize) -> Vec<u8> {
    let mut bytes = b"SQLite format 3\0".to_vec();
    while bytes.len() < pages * 4096 {
        bytes.extend_from_slice(b"a row of some text, and another one; ");
    }
    bytes.truncate(pages * 4096);
    bytes[9000..9000 + MARKER.len()].copy_from_slice(MARKER.as_bytes());
    bytes
}

fn random_bytes(pages: usize) -> Vec<u8> {
    let mut bytes = vec![0; pages * 4096];
    ChaCha8Rng::seed_from_u64(20_261_121).fill_bytes(&mut bytes);
    bytes
}

fn opened(encrypted: bool) -> OpenedDatabase {
    OpenedDatabase {
        status: [("cipher".to_owned(), "aes".to_owned())].into(),
        encrypted,
        pages: 0,
        layout: BTreeMap::new(),
        encrypted_files: BTreeMap::new(),
    }
}

struct DatabaseCopies {
    folder: tempfile::TempDir,
}

impl DatabaseCopies {
    fn new(arm: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("plain.db"), clear_bytes(32)).unwrap();
        fs::write(folder.path().join("arm.db"), arm).unwrap();
        Self { folder }
    }

    fn prove(&self, claim: Claim, encrypted: bool) -> Result<Proof, ProofError> {
        let plain = FileScan::at(&self.folder.path().join("plain.db"), MARKER)?;
        let arm = FileScan::at(&self.folder.path().join("arm.db"), MARKER)?;
        prove(claim, &arm, &plain, &opened(encrypted))
    }
}

#[test]
fn a_random_file_is_encrypted() {
    let proof = DatabaseCopies::new(&random_bytes(32))
        .prove(Claim::Encrypted, true)
        .unwrap();
    let fact = |name: &str| &proof.facts.iter().find(|fact| fact.0 == name).unwrap().1;
    assert_eq!(fact("marker in the file"), "not found");
    assert_eq!(fact("marker in the unencrypted copy"), "at byte 9000");
    assert_eq!(fact("SQLite's header in clear"), "no");
    assert_eq!(fact("bytes searched"), "131072");
    assert_eq!(fact("engine: cipher"), "aes");
}

#[test]
fn an_unencrypted_prefix_is_allowed() {
    let mut bytes = random_bytes(18);
    bytes[..64 << 10].fill(0);
    DatabaseCopies::new(&bytes).prove(Claim::Encrypted, true).unwrap();
}

#[test]
fn plaintext_in_an_encrypted_file_is_reported_with_its_offset() {
    let error = DatabaseCopies::new(&clear_bytes(32))
        .prove(Claim::Encrypted, true)
        .unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, ProofError::NotEncrypted { .. }), "{text}");
    assert!(text.contains("\"Wibble-marker\" at byte 9000"), "{text}");
}

#[test]
fn blocks_in_clear_are_seen_without_the_marker() {
    let mut bytes = clear_bytes(32);
    bytes[9000..9006].fill(b'.');
    let text = DatabaseCopies::new(&bytes)
        .prove(Claim::Encrypted, true)
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("16 of 16 blocks that are not random, the first at byte 65536"),
        "{text}"
    );
}

#[test]
fn a_marker_in_the_wal_is_seen() {
    let copies = DatabaseCopies::new(&random_bytes(32));
    fs::write(copies.folder.path().join("arm.db-wal"), format!("..{MARKER}")).unwrap();
    let text = copies.prove(Claim::Encrypted, true).unwrap_err().to_string();
    assert!(text.contains("at byte 2 of") && text.contains("arm.db-wal"), "{text}");
}

#[test]
fn repeated_cells_of_a_random_file_are_seen() {
    let mut bytes = random_bytes(32);
    for page in 16..32 {
        let at = page * 4096;
        bytes.copy_within(at + 128..at + 512, at + 2048);
    }
    let text = DatabaseCopies::new(&bytes)
        .prove(Claim::Encrypted, true)
        .unwrap_err()
        .to_string();
    assert!(text.contains("repeated, the first at byte 67584"), "{text}");
}

#[test]
fn an_engine_that_says_it_does_not_encrypt_is_believed() {
    let error = DatabaseCopies::new(&random_bytes(32))
        .prove(Claim::Encrypted, false)
        .unwrap_err();
    assert!(matches!(error, ProofError::NotEncrypted { .. }), "{error}");
}

#[test]
fn a_tiny_file_is_no_proof() {
    let error = DatabaseCopies::new(b"x").prove(Claim::Encrypted, true).unwrap_err();
    assert!(error.to_string().contains("too little"), "{error}");
}

#[test]
fn a_twin_without_the_marker_makes_the_proof_void() {
    let copies = DatabaseCopies::new(&random_bytes(32));
    fs::write(copies.folder.path().join("plain.db"), random_bytes(8)).unwrap();
    let error = copies.prove(Claim::Encrypted, true).unwrap_err();
    assert!(matches!(error, ProofError::Void { .. }), "{error}");
}

#[test]
fn a_clear_arm_has_the_marker_and_no_encryption() {
    let clear = DatabaseCopies::new(&clear_bytes(32));
    assert_eq!(clear.prove(Claim::Clear, false).unwrap().claim, Claim::Clear);
    assert!(matches!(
        clear.prove(Claim::Clear, true),
        Err(ProofError::NotClear { .. })
    ));
    let random = DatabaseCopies::new(&random_bytes(32));
    for claim in [Claim::Clear, Claim::AuthenticatedClear] {
        assert!(matches!(random.prove(claim, false), Err(ProofError::NotClear { .. })));
    }
}

#[test]
fn authenticated_clear_is_not_called_encrypted() {
    let claim = Claim::of("selenite", "NONE");
    let proof = DatabaseCopies::new(&clear_bytes(32)).prove(claim, true).unwrap();
    assert_eq!(proof.facts[0].1, "authenticated, not encrypted");
    assert_eq!(Claim::of("sqlite3mc", PLAIN), Claim::Clear);
    assert_eq!(Claim::of("sqlcipher", "aes256cbc"), Claim::Encrypted);
}

#[test]
fn a_short_marker_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    fs::write(&path, "x").unwrap();
    assert!(matches!(
        FileScan::at(&path, "short"),
        Err(ProofError::ShortMarker { .. })
    ));
    assert!(matches!(
        FileScan::at(&folder.path().join("none"), MARKER),
        Err(ProofError::Io { .. })
    ));
}
