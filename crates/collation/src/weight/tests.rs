use super::*;

/// FNV-1a of 64 bits.
fn hashed(numbers: impl IntoIterator<Item = u32>) -> u64 {
    numbers
        .into_iter()
        .flat_map(u32::to_le_bytes)
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

#[test]
fn the_tables_are_those_that_files_were_sorted_by() {
    // An index in a file depends on every entry: this hash may never be changed to what a new table gives.
    let weights = LATIN
        .into_iter()
        .chain(LATIN_ADDITIONAL)
        .chain(SYMBOLS.into_iter().flat_map(|(code, packed)| [code, packed]));
    assert_eq!(hashed(weights), 7_546_762_598_051_182_784);
    let runs = RUNS
        .into_iter()
        .flat_map(|(first, last, step, delta)| [first, last, step, delta.cast_unsigned()]);
    assert_eq!(hashed(runs), 11_110_644_453_956_914_018);
}

#[test]
fn every_weight_and_fold_of_unicode_is_what_it_was() {
    let all = (0..0x11_0100).flat_map(|unit| {
        let Weight {
            primary,
            second,
            accent,
        } = weight(unit);
        [fold(unit), primary, second, accent]
    });
    assert_eq!(hashed(all), 8_442_907_533_074_919_603);
}

#[test]
fn every_case_and_base_of_unicode_is_what_it_was() {
    let all = (0..0x11_0100).flat_map(|unit| [case(unit), base(unit)]);
    assert_eq!(hashed(all), 6_157_019_577_963_165_972);
}

#[test]
fn case_tells_apart_all_units_that_fold_to_the_same() {
    let mut seen = std::collections::HashSet::new();
    for unit in 0..0x11_0100 {
        assert!(seen.insert((fold(unit), case(unit))), "{unit:x}");
        assert_eq!(case(unit) == 0, fold(unit) == unit, "{unit:x}");
        assert!(case(unit) < 0xff);
    }
}

#[test]
fn two_units_have_the_same_base_exactly_if_they_weigh_the_same_without_accents() {
    let mut seen = std::collections::HashMap::new();
    for unit in 0..0x11_0100 {
        let Weight { primary, second, .. } = weight(unit);
        let base = base(unit);
        assert_eq!(super::base(base), base, "{unit:x}");
        let other = seen.insert((primary, second), base);
        assert!(other.is_none_or(|other| other == base), "{unit:x} {other:x?}");
    }
    assert_eq!(
        seen.len(),
        seen.values().collect::<std::collections::HashSet<_>>().len()
    );
}

#[test]
fn the_symbols_are_in_order_and_end_where_they_are_said_to() {
    assert!(SYMBOLS.is_sorted_by(|(low, _), (high, _)| low < high));
    assert!(SYMBOLS.iter().all(|(code, _)| (LATIN_END..SYMBOLS_END).contains(code)));
}

#[test]
fn two_units_weigh_the_same_exactly_if_they_fold_to_the_same() {
    let mut seen = std::collections::HashMap::new();
    for unit in 0..0x11_0100 {
        let Weight {
            primary,
            second,
            accent,
        } = weight(unit);
        let folded = fold(unit);
        assert_eq!(weight(folded), weight(unit), "{unit:x}");
        assert_eq!(fold(folded), folded, "{unit:x}");
        let other = seen.insert((primary, second, accent), folded);
        assert!(other.is_none_or(|other| other == folded), "{unit:x} {other:x?}");
    }
}

#[test]
fn a_ligature_has_an_accent_that_no_other_form_of_its_letter_has() {
    let mut ligatures = 0;
    for unit in 0..0x2_0000 {
        let of_ligature = weight(unit);
        if of_ligature.second == 0 || fold(unit) != unit {
            continue;
        }
        ligatures += 1;
        assert_ne!(of_ligature.accent, 0);
        for other in (0..0x2_0000).filter(|other| fold(*other) != unit) {
            let weight = weight(other);
            assert!(
                (weight.primary, weight.accent) != (of_ligature.primary, of_ligature.accent),
                "{unit:x} {other:x}"
            );
        }
    }
    assert_eq!(ligatures, 10);
}

#[test]
fn folding_is_the_simple_one_of_unicode() {
    for (unit, folded) in [
        ('A', 'a'),
        ('z', 'z'),
        ('\u{c9}', '\u{e9}'),
        ('\u{178}', '\u{ff}'),
        ('\u{130}', '\u{130}'),
        ('\u{131}', '\u{131}'),
        ('\u{1e9e}', '\u{df}'),
        ('\u{df}', '\u{df}'),
        ('\u{17f}', 's'),
        ('\u{212a}', 'k'),
        ('\u{3a3}', '\u{3c3}'),
        ('\u{3c2}', '\u{3c3}'),
        ('\u{410}', '\u{430}'),
        ('\u{10a0}', '\u{2d00}'),
        ('\u{1f88}', '\u{1f80}'),
        ('\u{10400}', '\u{10428}'),
        ('\u{b5}', '\u{b5}'),
        ('\u{39c}', '\u{3bc}'),
        ('\u{4e00}', '\u{4e00}'),
        ('\u{ff21}', '\u{ff41}'),
        ('\u{13a0}', '\u{13a0}'),
        ('\u{ab70}', '\u{13a0}'),
        ('\u{1e900}', '\u{1e922}'),
    ] {
        assert_eq!(fold(u32::from(unit)), u32::from(folded), "{unit}");
    }
    assert!(
        RUNS.iter()
            .all(|(first, last, ..)| *last < CASELESS.start || *first >= CASELESS.end)
    );
    assert!(RUNS.is_sorted_by(|(_, last, ..), (first, ..)| last < first));
}

#[test]
fn what_is_no_character_is_decoded_byte_by_byte() {
    for (bytes, unit, size) in [
        (&b""[..], 0, 0),
        (b"a\xff", 0x61, 1),
        (b"\xc3\xa9", 0xe9, 2),
        (b"\xe2\x82\xac", 0x20ac, 3),
        (b"\xf0\x9f\x98\x80", 0x1_f600, 4),
        (b"\xf4\x8f\xbf\xbf", 0x10_ffff, 4),
        (b"\xf4\x90\x80\x80", 0x11_00f4, 1),
        (b"\xc0\x80", 0x11_00c0, 1),
        (b"\xc3", 0x11_00c3, 1),
        (b"\xe0\x9f\xbf", 0x11_00e0, 1),
        (b"\xed\xa0\x80", 0x11_00ed, 1),
        (b"\xf0\x8f\xbf\xbf", 0x11_00f0, 1),
        (b"\xe2\x82", 0x11_00e2, 1),
        (b"\x80", 0x11_0080, 1),
        (b"\xff", 0x11_00ff, 1),
    ] {
        assert_eq!(decode(bytes), (unit, size), "{bytes:x?}");
    }
}

#[test]
fn decoding_agrees_with_the_standard_library_on_every_character() {
    let mut bytes = [0; 4];
    for character in '\0'..=char::MAX {
        let text = character.encode_utf8(&mut bytes);
        assert_eq!(decode(text.as_bytes()), (u32::from(character), text.len()));
    }
}

#[test]
fn code_page_1252_is_in_the_order_of_sort_order_52() {
    // Probed from SQL Server: symbols by their byte, then the two signs among the letters, digits, letters with
    // their forms.
    let from_0x80_without_letters = "\u{20ac}\u{81}\u{201a}\u{201e}\u{2026}\u{2020}\u{2021}\u{2c6}\u{2030}\u{2039}\u{8d}\u{8f}\
                                     \u{90}\u{2018}\u{2019}\u{201c}\u{201d}\u{2022}\u{2013}\u{2014}\u{2dc}\u{2122}\u{203a}\u{9d}";
    let symbols: Vec<char> = ('\0'..='/')
        .chain(':'..='@')
        .chain('['..='`')
        .chain('{'..='\u{7f}')
        .chain(from_0x80_without_letters.chars())
        .chain('\u{a0}'..='\u{bf}')
        .collect();
    let letters = "\u{d7}\u{f7}0123456789a\u{e0}\u{e1}\u{e2}\u{e3}\u{e4}\u{e5}bc\u{e7}de\u{e8}\u{e9}\u{ea}\u{eb}fghi\u{ec}\u{ed}\u{ee}\
                   \u{ef}jklmn\u{f1}o\u{f2}\u{f3}\u{f4}\u{f5}\u{f6}\u{f8}pqrs\u{df}tu\u{f9}\u{fa}\u{fb}\u{fc}vwxy\u{fd}\u{ff}z\u{f0}\u{fe}";
    let order: Vec<char> = symbols.into_iter().chain(letters.chars()).collect();
    let weights: Vec<(u32, u32)> = order
        .iter()
        .map(|character| weight(u32::from(*character)))
        .map(|weight| (weight.primary, weight.accent))
        .collect();
    for (pair, characters) in weights.windows(2).zip(order.windows(2)) {
        assert!(pair[0] < pair[1], "{characters:?} {pair:?}");
    }
    let letters_of = |text: &str| {
        text.chars()
            .map(|letter| weight(u32::from(letter)).primary)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        letters_of("\u{c5}\u{e7}\u{e9}\u{ee}\u{f8}\u{df}\u{fc}\u{ff}"),
        letters_of("aceiosuy")
    );
}
