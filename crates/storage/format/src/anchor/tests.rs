use proptest::prelude::*;

use super::*;

fn sample() -> Anchor {
    Anchor {
        database_id: DatabaseId([0x1a; 16]),
        key_id: [0x2b; 16],
        made: 1_795_000_000,
        generation: 7,
        page_size: PageSize::MAX,
        change_counter: 88,
        root: [0x3c; 32],
        sessions: [(SessionId([4; 16]), 0), (SessionId([5; 16]), u32::MAX)].into(),
        // Two complete runs of four pages, and one page.
        marks: (1..=9).map(|index| Mark([index; 8])).collect(),
    }
}

fn text(anchor: &Anchor) -> String {
    anchor.encode(|bytes| [u8::try_from(bytes.len() % 251).unwrap(); 32])
}

/// FORMAT 10.1, byte for byte.
#[test]
fn an_anchor_is_written_as_the_format_says() {
    let expected = format!(
        "selenite anchor 1\ndatabase {}\nkey {}\nmade 1795000000\ngeneration 7\npage-size 65536\npages 9\n\
         change-counter 88\nroot {}\nsession {} 0\nsession {} 4294967295\n\
         run 1 01010101010101010202020202020202030303030303030304040404040404{}\n\
         run 5 05050505050505050606060606060606070707070707070708080808080808{}\nrun 9 0909090909090909\n",
        "1a".repeat(16),
        "2b".repeat(16),
        "3c".repeat(32),
        "04".repeat(16),
        "05".repeat(16),
        "04",
        "08",
    );
    let text = text(&sample());
    assert_eq!(text[..text.len() - MAC_LINE_SIZE], expected);
    let seal = Seal::find(text.as_bytes()).unwrap();
    assert_eq!(seal.maced, expected.as_bytes());
    assert_eq!(seal.mac, [u8::try_from(expected.len() % 251).unwrap(); 32]);
    assert_eq!(
        (seal.database_id, seal.key_id, seal.generation),
        (DatabaseId([0x1a; 16]), [0x2b; 16], 7)
    );
    assert_eq!(Anchor::parse(text.as_bytes()), Ok(sample()));
}

#[test]
fn an_anchor_that_is_cut_is_refused_at_every_length() {
    let text = text(&sample());
    for length in 0..text.len() {
        let error = Seal::find(&text.as_bytes()[..length]).unwrap_err();
        let expected = if length < MAGIC.len() {
            FormatError::AnchorMagic
        } else {
            FormatError::AnchorCut
        };
        assert_eq!(error, expected, "{length}");
        assert!(Anchor::parse(&text.as_bytes()[..length]).is_err());
    }
}

/// `one-text-per-value`: a text with any byte changed is refused, or has another value and is its canonical text.
#[test]
fn every_byte_of_an_anchor_matters() {
    let text = text(&sample());
    for at in 0..text.len() {
        for byte in [b'0', b'9', b' ', b'\n', b'A', 0, 0xff] {
            let mut bytes = text.clone().into_bytes();
            if bytes[at] == byte {
                continue;
            }
            bytes[at] = byte;
            if let Ok(anchor) = Anchor::parse(&bytes) {
                let mac = Seal::find(&bytes).unwrap().mac;
                assert_eq!(anchor.encode(|_| mac).as_bytes(), bytes, "{at}");
            }
        }
    }
}

#[test]
fn missing_and_duplicate_lines_are_refused() {
    let text = text(&sample());
    let lines: Vec<&str> = text.lines().collect();
    for index in 0..lines.len() {
        let without: String = lines
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != index)
            .map(|(_, line)| format!("{line}\n"))
            .collect();
        let is_session = lines[index].starts_with("session");
        assert_eq!(
            Anchor::parse(without.as_bytes()).is_ok(),
            is_session,
            "{}",
            lines[index]
        );
        let mut twice = lines.clone();
        twice.insert(index, lines[index]);
        let twice: String = twice.iter().map(|line| format!("{line}\n")).collect();
        assert!(Anchor::parse(twice.as_bytes()).is_err(), "{}", lines[index]);
    }
}

#[test]
fn another_version_has_its_own_error() {
    let text = text(&sample()).replacen("anchor 1", "anchor 2", 1);
    assert_eq!(Seal::find(text.as_bytes()), Err(FormatError::AnchorVersion));
    assert_eq!(Seal::find(b"SQLite format 3\0"), Err(FormatError::AnchorMagic));
    assert_eq!(Seal::find(b"selenite short anchor 1\n"), Err(FormatError::ShortAnchor));
}

proptest! {
    #[test]
    fn encoding_round_trips(
        generation: u64,
        change_counter: u32,
        shift in 10_u32..=16,
        sessions in proptest::collection::btree_map(any::<[u8; 16]>(), any::<u32>(), 0..5),
        marks in proptest::collection::vec(any::<[u8; 8]>(), 0..600),
    ) {
        let anchor = Anchor {
            generation,
            change_counter,
            page_size: PageSize::try_from(1 << shift).unwrap(),
            sessions: sessions.into_iter().map(|(session, counter)| (SessionId(session), counter)).collect(),
            marks: marks.into_iter().map(Mark).collect(),
            ..sample()
        };
        prop_assert_eq!(Anchor::parse(text(&anchor).as_bytes()), Ok(anchor));
    }

    #[test]
    fn no_text_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = Anchor::parse(&bytes);
        let mut begun = format!("{MAGIC}{VERSION}\n").into_bytes();
        begun.extend(bytes);
        let _ = Anchor::parse(&begun);
    }
}
