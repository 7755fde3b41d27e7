use std::hash::DefaultHasher;

use proptest::prelude::*;

use super::*;

const BOTH: [Collation; 2] = [Collation::Latin1General, Collation::Latin1GeneralBin2];

fn order(left: &str, right: &str) -> Ordering {
    let order = collate(left.as_bytes(), right.as_bytes());
    assert_eq!(
        collate(right.as_bytes(), left.as_bytes()),
        order.reverse(),
        "{left:?} {right:?}"
    );
    order
}

fn hashed(collation: Collation, text: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    collation.hash(text, &mut hasher);
    hasher.finish()
}

/// Texts that have much in common: few letters in both cases and with accents, ligatures, blanks, controls, broken
/// bytes.
fn texts() -> impl Strategy<Value = Vec<u8>> {
    let pieces = prop_oneof![
        4 => prop::sample::select(vec!["a", "A", "b", "s", "S", "e", "E", "ss", "ae"]),
        3 => prop::sample::select(vec!["\u{e0}", "\u{c0}", "\u{e9}", "\u{df}", "\u{1e9e}", "\u{e6}", "\u{c6}", "\u{1fd}", "\u{17f}"]),
        2 => prop::sample::select(vec![" ", "  ", "\t", "\0", "\u{a0}", "-", "_", "7"]),
        1 => prop::sample::select(vec!["\u{4e00}", "\u{3b1}", "\u{391}", "\u{1f600}", "\u{212a}", "\u{20ac}", "\u{23a}"]),
        1 => Just("aaaaaaaaaaaaaaaa"),
    ]
    .prop_map(|text| text.as_bytes().to_vec());
    let broken = prop::sample::select(vec![
        vec![0xff],
        vec![0xc3],
        vec![0x80],
        vec![0xe2, 0x82],
        vec![0xed, 0xa0, 0x80],
    ]);
    prop::collection::vec(prop_oneof![12 => pieces, 1 => broken], 0..8).prop_map(|pieces| pieces.concat())
}

#[test]
fn case_and_blanks_at_the_end_do_not_count() {
    for (left, right) in [
        ("abc", "ABC"),
        ("abc", "abc  "),
        ("", "   "),
        ("Caf\u{e9}", "CAF\u{c9} "),
        ("\u{df}", "\u{1e9e}"),
        ("\u{3a3}", "\u{3c2}"),
        ("a much longer text of ASCII", "A MUCH LONGER TEXT OF ASCII      "),
        ("\u{152}", "\u{153}"),
        ("\u{160}", "\u{161}"),
    ] {
        assert_eq!(order(left, right), Ordering::Equal, "{left:?} {right:?}");
    }
}

#[test]
fn accents_and_all_else_do_count() {
    for (left, right) in [
        ("cafe", "caf\u{e9}"),
        ("\u{e6}", "ae"),
        ("\u{df}", "ss"),
        ("coop", "co-op"),
        ("o'neill", "oneill"),
        ("a b", "ab"),
        (" a", "a"),
        ("a\u{a0}", "a"),
        ("a\0", "a"),
        ("a\t", "a"),
        ("e\u{301}", "\u{e9}"),
        ("a\0b", "a"),
    ] {
        assert_ne!(order(left, right), Ordering::Equal, "{left:?} {right:?}");
    }
}

#[test]
fn letters_come_first_and_accents_decide_where_letters_do_not() {
    let ascending = [
        "_",
        "_a",
        "10",
        "9",
        "a",
        "\u{e0}",
        "aa",
        "ae",
        "a\u{e9}",
        "\u{e6}",
        "af",
        "az",
        "\u{e0}z",
        "B",
        "b\u{f8}c",
        "cafe",
        "caf\u{e9}",
        "cafes",
        "\u{c7}m",
        "cn",
        "e",
        "\u{c9}",
        "z",
        "\u{17e}",
        "\u{f0}",
        "\u{fe}",
        "\u{3b1}",
        "\u{4e00}",
    ];
    for pair in ascending.windows(2) {
        assert_eq!(order(pair[0], pair[1]), Ordering::Less, "{pair:?}");
    }
    assert_eq!(order("strasse", "stra\u{df}e"), Ordering::Less);
    assert_eq!(order("stra\u{df}e", "strassf"), Ordering::Less);
    assert_eq!(order("co-op", "coop"), Ordering::Less);
}

#[test]
fn the_shorter_text_is_as_if_followed_by_blanks() {
    assert_eq!(order("a\t", "a"), Ordering::Less);
    assert_eq!(order("a \t", "a"), Ordering::Less);
    assert_eq!(order("a!", "a"), Ordering::Greater);
    assert_eq!(order("a ", "a\t"), Ordering::Greater);
    assert_eq!(order("", "\u{1}"), Ordering::Greater);
    let bin = |left: &str, right: &str| Collation::Latin1GeneralBin2.compare(left.as_bytes(), right.as_bytes());
    assert_eq!(bin("a ", "a"), Ordering::Equal);
    assert_eq!(bin("a\t", "a"), Ordering::Less);
    assert_eq!(bin("a", "a\t"), Ordering::Greater);
    assert_eq!(bin("A", "a"), Ordering::Less);
    assert_eq!(bin("Z", "a"), Ordering::Less);
    assert_eq!(bin("\u{ff}", "\u{1f600}"), Ordering::Less);
    assert_eq!(bin("\u{1f600}", "\u{e000}"), Ordering::Less, "by units of UTF-16");
    assert_eq!(bin("\u{d7ff}", "\u{1f600}"), Ordering::Less);
}

#[test]
fn a_collation_is_found_by_its_name_in_any_case() {
    assert_eq!(
        Collation::from_name("sql_latin1_general_cp1_ci_as"),
        Some(Collation::Latin1General)
    );
    assert_eq!(
        Collation::from_name("LATIN1_GENERAL_BIN2"),
        Some(Collation::Latin1GeneralBin2)
    );
    assert_eq!(Collation::from_name("Latin1_General_CI_AI"), None);
    assert_eq!(Collation::default().name(), "SQL_Latin1_General_CP1_CI_AS");
}

#[test]
fn a_difference_in_any_byte_of_a_word_is_found() {
    let text = "abcdefghijklmnopqrstuvwx";
    for at in 0..text.len() {
        for byte in [b'!', b'~', b'0', b'@', b'[', b'`', b'{'] {
            let mut other = text.as_bytes().to_vec();
            other[at] = byte;
            assert_eq!(collate(&other, text.as_bytes()), Ordering::Less, "{at} {byte}");
            assert_eq!(
                collate(&other, text.to_uppercase().as_bytes()),
                Ordering::Less,
                "{at} {byte}"
            );
        }
        assert_eq!(collate(&text.as_bytes()[..at], text.as_bytes()), Ordering::Less);
    }
}

/// The definition, without its short cuts.
fn by_definition(left: &[u8], right: &[u8]) -> Ordering {
    collate_units(left, right)
}

proptest! {
    #[test]
    fn short_cuts_change_nothing(a in texts(), b in texts()) {
        prop_assert_eq!(collate(&a, &b), by_definition(&a, &b));
    }

    #[test]
    fn it_is_an_order(a in texts(), b in texts(), c in texts()) {
        for collation in BOTH {
            prop_assert_eq!(collation.compare(&a, &a), Ordering::Equal);
            prop_assert_eq!(collation.compare(&a, &b), collation.compare(&b, &a).reverse());
            let mut sorted = [&a, &b, &c];
            sorted.sort_by(|left, right| collation.compare(left, right));
            prop_assert!(collation.compare(sorted[0], sorted[2]).is_le());
            if collation.compare(&a, &b).is_eq() {
                prop_assert_eq!(collation.compare(&a, &c), collation.compare(&b, &c));
            }
        }
    }

    #[test]
    fn it_is_an_order_of_any_bytes(
        a in prop::collection::vec(any::<u8>(), 0..12),
        b in prop::collection::vec(any::<u8>(), 0..12),
        c in prop::collection::vec(any::<u8>(), 0..12),
    ) {
        prop_assert_eq!(collate(&a, &b), by_definition(&a, &b));
        prop_assert_eq!(collate(&a, &b), collate(&b, &a).reverse());
        let mut sorted = [&a, &b, &c];
        sorted.sort_by(|left, right| collate(left, right));
        prop_assert!(collate(sorted[0], sorted[2]).is_le());
    }

    #[test]
    fn equal_texts_and_no_others_have_equal_keys(a in texts(), b in texts()) {
        for collation in BOTH {
            let equal = collation.compare(&a, &b).is_eq();
            prop_assert_eq!(equal, collation.key(&a) == collation.key(&b));
            if equal {
                prop_assert_eq!(hashed(collation, &a), hashed(collation, &b));
            }
        }
    }

    #[test]
    fn a_key_is_its_own_key(text in texts(), blanks in 0..4_usize) {
        for collation in BOTH {
            let key = collation.key(&text);
            prop_assert_eq!(&collation.key(&key), &key);
            prop_assert_eq!(collation.compare(&key, &text), Ordering::Equal);
            let padded = [&text[..], &vec![b' '; blanks]].concat();
            prop_assert_eq!(&collation.key(&padded), &key);
            prop_assert_eq!(hashed(collation, &padded), hashed(collation, &text));
        }
    }
}
