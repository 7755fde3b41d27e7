//! Checks of this repository that no other tool makes.
fn main() {}
