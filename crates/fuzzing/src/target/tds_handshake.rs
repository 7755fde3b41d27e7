//! Any stream as TLS's handshake inside PRELOGIN's packets: the same bytes of TLS come out whatever the pieces are
//! in which it came, none of them twice, and what is wrapped comes out again.

use selenite_tds::{HandshakePiece, wrap_handshake};

/// Panics if an invariant does not hold.
pub fn fuzz(data: &[u8]) {
    let Some((&first, stream)) = data.split_first() else {
        return;
    };
    let (whole, failed) = unwrapped(stream, stream.len().max(1));
    assert!(whole.len() <= stream.len());
    assert_eq!(unwrapped(stream, usize::from(first) + 1), (whole, failed));
    assert_eq!(
        unwrapped(&wrap_handshake(stream), usize::from(first) + 1),
        (stream.to_vec(), false)
    );
}

/// The bytes of TLS up to the first error, and whether there was one: as a line reads them, which has what came and
/// asks for more.
fn unwrapped(stream: &[u8], piece_size: usize) -> (Vec<u8>, bool) {
    let mut found = Vec::new();
    let mut held: Vec<u8> = Vec::new();
    let mut missing = 0;
    for piece in stream.chunks(piece_size) {
        held.extend_from_slice(piece);
        loop {
            if missing > 0 {
                let size = missing.min(held.len());
                found.extend(held.drain(..size));
                missing -= size;
            }
            if missing > 0 {
                break;
            }
            match HandshakePiece::parse(&held) {
                Ok(Some(next)) => {
                    held.drain(..next.header_size());
                    missing = next.data_size();
                }
                Ok(None) => break,
                Err(_) => return (found, true),
            }
        }
    }
    (found, false)
}
