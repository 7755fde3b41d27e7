//! Any stream of bytes in pieces: the same messages come out whatever the pieces are. And any answer as a client
//! reads it.

use selenite_tds::{Incoming, Limits, MessageReader, client};

/// Panics if an invariant does not hold.
pub fn fuzz(data: &[u8]) {
    let Some((&first, stream)) = data.split_first() else {
        return;
    };
    let limits = match first & 1 {
        0 => Limits::BeforeLogin,
        _ => Limits::LoggedIn { message_size_max: 4096 },
    };
    let whole = read(stream, stream.len().max(1), limits);
    assert_eq!(read(stream, usize::from(first >> 1) + 1, limits), whole);
    let _ = client::tokens(stream);
    let _ = client::split_message(&mut &*stream);
}

/// What comes out, up to the first error.
fn read(stream: &[u8], piece_size: usize, limits: Limits) -> Vec<String> {
    let mut reader = MessageReader::new();
    reader.set_limits(limits);
    let mut all = Vec::new();
    for mut piece in stream.chunks(piece_size) {
        loop {
            match reader.push(&mut piece) {
                Ok(None) => break,
                Ok(Some(Incoming::Message(message))) => {
                    all.push(format!(
                        "{:?} {:?} {:?}",
                        message.kind(),
                        message.reset(),
                        message.data()
                    ));
                }
                Ok(Some(other)) => all.push(format!("{other:?}")),
                Err(error) => {
                    assert!(error.complaint().is_some());
                    all.push("error".to_owned());
                    return all;
                }
            }
        }
        assert!(piece.is_empty());
    }
    all
}
