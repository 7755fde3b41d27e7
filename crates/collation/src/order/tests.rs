use std::hash::DefaultHasher;

use proptest::prelude::*;

use super::*;

fn order(left: &str, right: &str) -> Ordering {
    let order = collate(left.as_bytes(), right.as_bytes());
    assert_eq!(
        collate(right.as_bytes(), left.as_bytes()),
        order.reverse(),
        "{left:?} {right:?}"
    );
    order
}

fn hashed(collation: Order, text: &[u8]) -> u64 {
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
    let bin = |left: &str, right: &str| Order::CodePoint.compare(left.as_bytes(), right.as_bytes());
    assert_eq!(bin("a ", "a"), Ordering::Equal);
    assert_eq!(bin("a\t", "a"), Ordering::Less);
    assert_eq!(bin("a", "a\t"), Ordering::Greater);
    assert_eq!(bin("A", "a"), Ordering::Less);
    assert_eq!(bin("Z", "a"), Ordering::Less);
    assert_eq!(bin("\u{ff}", "\u{1f600}"), Ordering::Less);
    assert_eq!(bin("\u{1f600}", "\u{e000}"), Ordering::Less, "by units of UTF-16");
    assert_eq!(bin("\u{d7ff}", "\u{1f600}"), Ordering::Less);
}

fn sorted(order: Order, texts: &[&str]) -> String {
    let mut sorted = texts.to_vec();
    sorted.sort_by(|left, right| order.compare(left.as_bytes(), right.as_bytes()));
    sorted.join(" ")
}

#[test]
fn capitals_are_before_or_behind_their_small_letters_where_nothing_else_decides() {
    let texts = ["b", "B", "a", "A", "\u{e0}", "\u{c0}", "ab", "Ab", "aB", "AB", "aC"];
    assert_eq!(
        sorted(Order::CapitalsFirst, &texts),
        "A a \u{c0} \u{e0} AB Ab aB ab aC B b"
    );
    assert_eq!(
        sorted(Order::CapitalsLast, &texts),
        "a A \u{e0} \u{c0} ab aB Ab AB aC b B"
    );
    for order in [Order::CapitalsFirst, Order::CapitalsLast] {
        assert_eq!(order.compare(b"a ", b"a"), Ordering::Equal);
        assert_ne!(
            order.compare("\u{3c2}".as_bytes(), "\u{3a3}".as_bytes()),
            Ordering::Equal
        );
        assert_ne!(order.compare("\u{212a}".as_bytes(), b"K"), Ordering::Equal);
    }
}

#[test]
fn accents_do_not_count_where_they_are_said_not_to() {
    let order = Order::AccentInsensitive;
    for (left, right) in [
        ("Caf\u{c9}", "cafe "),
        ("\u{f8}re", "\u{d6}RE"),
        ("\u{1fd}", "\u{c6}"),
        ("\u{1e9e}", "\u{df}"),
        ("\u{212b}", "a"),
    ] {
        assert!(
            order.compare(left.as_bytes(), right.as_bytes()).is_eq(),
            "{left} {right}"
        );
        assert_eq!(order.key(left.as_bytes()), order.key(right.as_bytes()));
    }
    for (left, right) in [
        ("\u{e6}", "ae"),
        ("\u{df}", "ss"),
        ("\u{f0}", "d"),
        ("o'neill", "oneill"),
        ("a", "b"),
    ] {
        assert!(
            order.compare(left.as_bytes(), right.as_bytes()).is_ne(),
            "{left} {right}"
        );
    }
    assert_eq!(sorted(order, &["\u{c9}b", "ea", "ec"]), "ea \u{c9}b ec");
    assert_eq!(order.fold('\u{c9}'), 'e');
    assert_eq!(order.fold('\u{1fc}'), '\u{e6}');
}

#[test]
fn binary_is_by_the_first_unit_and_then_by_bytes_from_the_low_one_on() {
    let less = |left: &str, right: &str| {
        assert_eq!(
            Order::Binary.compare(left.as_bytes(), right.as_bytes()),
            Ordering::Less,
            "{left:?} {right:?}"
        );
    };
    less("Z", "a");
    less("\u{ff}", "\u{100}");
    less("a\u{100}", "a\u{ff}");
    less("a\u{100}", "aa");
    less("a\u{200}", "a");
    less("\u{1f600}", "\u{e000}");
    less("a", "aa");
    assert!(Order::Binary.compare(b"\xff", b"").is_gt());
    for (left, right) in [("", "  "), ("a", "a "), ("\u{100}", "\u{100} "), ("", " ")] {
        assert!(Order::Binary.compare(left.as_bytes(), right.as_bytes()).is_eq());
        let long = format!("{left}\u{100}");
        assert!(Order::Binary.compare(long.as_bytes(), long.as_bytes()).is_eq());
    }
}

#[test]
fn every_order_is_what_files_were_sorted_by() {
    // An index in a file depends on it: these hashes may never be changed.
    let pieces = [
        "a",
        "A",
        "e\u{301}",
        "\u{e9}",
        "\u{c9}",
        "\u{df}",
        "ss",
        "\u{1fd}",
        "\u{c6}",
        "ae",
        " ",
        "-",
        "'",
        "\u{20ac}",
        "9",
        "_",
        "\u{3c2}",
        "\u{3a3}",
        "\u{212a}",
        "k",
        "\u{100}",
        "\u{1f600}",
        "\u{e000}",
        "\u{ff21}",
        "\u{30a2}",
        "\u{1c5}",
        "\0",
    ];
    let texts: Vec<String> = pieces
        .iter()
        .flat_map(|first| pieces.iter().map(move |second| format!("{first}{second}")))
        .chain(pieces.iter().map(ToString::to_string))
        .collect();
    let hashes = Order::ALL.map(|order| {
        let mut sorted: Vec<&String> = texts.iter().collect();
        // Equal texts stay in the order of the list.
        sorted.sort_by(|left, right| order.compare(left.as_bytes(), right.as_bytes()));
        let equal = sorted
            .windows(2)
            .map(|pair| order.compare(pair[0].as_bytes(), pair[1].as_bytes()).is_eq());
        let marks = equal.map(|is_equal| if is_equal { "=" } else { "<" });
        let shown: String = sorted
            .iter()
            .map(|text| text.as_str())
            .zip(marks.chain([""]))
            .flat_map(|(a, b)| [a, b])
            .collect();
        shown.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    });
    assert_eq!(
        hashes,
        [
            5_200_644_345_914_198_068,
            13_741_246_728_745_393_858,
            152_675_096_893_131_904,
            1_047_711_097_881_593_849,
            3_569_568_456_641_333_530,
            4_826_825_433_515_563_986,
        ]
    );
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
    collate_units(left, right, |weight| weight.accent)
}

proptest! {
    #[test]
    fn short_cuts_change_nothing(a in texts(), b in texts()) {
        prop_assert_eq!(collate(&a, &b), by_definition(&a, &b));
        let accentless = collate_units(&a, &b, accent_of_ligature);
        prop_assert_eq!(Order::AccentInsensitive.compare(&a, &b), accentless);
        prop_assert_eq!(Order::Binary.compare(&a, &b), compare_as_utf16(&a, &b));
    }

    #[test]
    fn it_is_an_order(a in texts(), b in texts(), c in texts()) {
        for collation in Order::ALL {
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
        for collation in Order::ALL {
            prop_assert_eq!(collation.compare(&a, &b), collation.compare(&b, &a).reverse());
            let mut sorted = [&a, &b, &c];
            sorted.sort_by(|left, right| collation.compare(left, right));
            prop_assert!(collation.compare(sorted[0], sorted[2]).is_le());
            prop_assert_eq!(collation.compare(&a, &b).is_eq(), collation.key(&a) == collation.key(&b));
        }
    }

    #[test]
    fn equal_texts_and_no_others_have_equal_keys(a in texts(), b in texts()) {
        for collation in Order::ALL {
            let equal = collation.compare(&a, &b).is_eq();
            prop_assert_eq!(equal, collation.key(&a) == collation.key(&b));
            if equal {
                prop_assert_eq!(hashed(collation, &a), hashed(collation, &b));
            }
        }
    }

    #[test]
    fn a_key_is_its_own_key(text in texts(), blanks in 0..4_usize) {
        for collation in Order::ALL {
            let key = collation.key(&text);
            prop_assert_eq!(&collation.key(&key), &key);
            prop_assert_eq!(collation.compare(&key, &text), Ordering::Equal);
            let padded = [&text[..], &vec![b' '; blanks]].concat();
            prop_assert_eq!(&collation.key(&padded), &key);
            prop_assert_eq!(hashed(collation, &padded), hashed(collation, &text));
        }
    }
}
