//! Opens a database's superblock with the key and the policy of the vector.

use selenite_cipher::Secret;
use selenite_keyring::{AgeIdentity, Cache, Identity, KeyError, RawIdentity, Trust, unlock};

use super::vector::{Vector, vectors};

fn identity(vector: &Vector) -> Box<dyn Identity> {
    let (kind, secret) = vector.one("key").split_once(' ').unwrap();
    if kind == "age" {
        return Box::new(secret.parse::<AgeIdentity>().unwrap());
    }
    assert_eq!(kind, "raw");
    let digits = (0..32).map(|at| u8::from_str_radix(&secret[2 * at..2 * at + 2], 16).unwrap());
    let bytes: Vec<u8> = digits.collect();
    Box::new(RawIdentity::new(Secret::new(bytes.try_into().unwrap())))
}

fn answer(vector: &Vector) -> String {
    let mut trust = Trust::default();
    trust.policy = vector.one("origin").parse().unwrap();
    match unlock(&vector.superblock, &[identity(vector)], &trust, &Cache::new()) {
        Ok(_) => "ok".to_owned(),
        Err(KeyError::ForeignOrigin { .. }) => "foreign origin".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn each_origin_has_the_result_of_its_vector() {
    let vectors = vectors("origin");
    for (path, vector) in &vectors {
        assert_eq!(answer(vector), vector.one("expect"), "{}", path.display());
    }
    assert!(vectors.len() >= 12, "only {} vectors were found", vectors.len());
}
