//! What the executable owes the lab.

use std::path::Path;

use selenite_peer_contract::{Fault, layout, protocol, sealing};

const WORKER: &str = env!("CARGO_BIN_EXE_selenite-worker-sqlcipher");

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
fn the_protocol_is_kept() -> Result<(), Fault> {
    protocol::is_kept(Path::new(WORKER))
}

#[test]
fn damage_is_found() -> Result<(), Fault> {
    sealing::damage_is_found(Path::new(WORKER), &["aes256cbc"], true)
}
