//! Any text, and any text between the first and the last line of an anchor.

use selenite_format::anchor::{Anchor, Seal};

/// Panics if an invariant does not hold.
pub fn fuzz(data: &[u8]) {
    read(data);
    let mut framed = b"selenite anchor 1\n".to_vec();
    framed.extend_from_slice(data);
    framed.extend_from_slice(format!("\nmac {}\n", "0".repeat(64)).as_bytes());
    read(&framed);
}

fn read(bytes: &[u8]) {
    if let Ok(anchor) = Anchor::parse(bytes) {
        let mac = Seal::find(bytes).expect("what is parsed has a MAC").mac;
        assert_eq!(anchor.encode(|_| mac).as_bytes(), bytes);
    }
}
