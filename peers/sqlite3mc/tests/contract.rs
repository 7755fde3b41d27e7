//! What the executable owes the lab.

use std::path::Path;

use selenite_peer_contract::{Fault, layout, sealing, workload};

const WORKER: &str = env!("CARGO_BIN_EXE_selenite-worker-sqlite3mc");

#[test]
fn the_layout_is_in_force() -> Result<(), Fault> {
    layout::is_in_force(Path::new(WORKER))
}

#[test]
fn a_sealed_file_shows_nothing() -> Result<(), Fault> {
    sealing::shows_nothing(Path::new(WORKER))
}

#[test]
fn another_key_is_refused() -> Result<(), Fault> {
    sealing::other_key_is_refused(Path::new(WORKER))
}

#[test]
fn all_work_is_answered_alike() -> Result<(), Fault> {
    workload::is_answered_alike(Path::new(WORKER))
}

#[test]
fn damage_is_found() -> Result<(), Fault> {
    sealing::damage_is_found(Path::new(WORKER), &["aegis", "chacha20"], false)
}
