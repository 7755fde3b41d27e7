use proptest::prelude::*;

use super::*;

fn like(text: &str, pattern: &str) -> bool {
    LikePattern::new(pattern, None, Collation::DEFAULT).matches(text, false)
}

fn like_national(text: &str, pattern: &str) -> bool {
    LikePattern::new(pattern, None, Collation::DEFAULT).matches(text, true)
}

fn like_escaped(text: &str, pattern: &str, escape: char) -> bool {
    LikePattern::new(pattern, Some(escape), Collation::DEFAULT).matches(text, false)
}

#[test]
fn wildcards_stand_for_text_and_for_characters() {
    for (text, pattern) in [
        ("abc", "abc"),
        ("abc", "a%"),
        ("abc", "%c"),
        ("abc", "%b%"),
        ("abc", "a_c"),
        ("abc", "___"),
        ("abc", "%"),
        ("", "%"),
        ("", ""),
        ("abcabd", "%ab_"),
        ("aaab", "%aab"),
        ("mississippi", "%iss%ipp%"),
        ("h\u{e9}llo", "h_llo"),
        ("\u{e9}", "_"),
        ("a%c", "a%c"),
    ] {
        assert!(like(text, pattern), "{text:?} like {pattern:?}");
    }
    for (text, pattern) in [
        ("abc", "ab"),
        ("abc", "a_"),
        ("abc", "____"),
        ("abc", "%d%"),
        ("", "_"),
        ("abc", ""),
        ("cafe", "caf\u{e9}"),
        ("ab", "%ab_"),
    ] {
        assert!(!like(text, pattern), "{text:?} like {pattern:?}");
    }
}

#[test]
fn case_is_ignored_and_accents_are_significant() {
    assert!(like("ABC", "abc") && like("abc", "A_C") && like("\u{c9}T\u{c9}", "\u{e9}t\u{e9}"));
    assert!(!like("resume", "r\u{e9}sum\u{e9}") && !like("strasse", "stra\u{df}e"));
    let binary = LikePattern::new("aB%", None, Collation::BIN2);
    assert!(binary.matches("aBc", false) && !binary.matches("abc", false) && binary.matches("aB\u{e9}", false));
}

#[test]
fn classes_hold_single_characters_and_ranges_by_the_collation() {
    for (text, pattern) in [
        ("b", "[abc]"),
        ("b", "[a-c]"),
        ("B", "[a-c]"),
        ("\u{e1}", "[a-c]"),
        ("\u{e6}", "[a-b]"),
        ("d", "[^a-c]"),
        ("-", "[-a]"),
        ("-", "[a-]"),
        ("^", "[a^]"),
        ("_", "[_]"),
        ("%", "[%]"),
        ("[", "[[]"),
        ("]", "]"),
        ("1", "[c-a1]"),
        ("5", "[0-9]"),
        ("x5y", "x[0-9]y"),
        ("a]", "[a]]"),
    ] {
        assert!(like(text, pattern), "{text:?} like {pattern:?}");
    }
    for (text, pattern) in [
        ("d", "[a-c]"),
        ("b", "[^a-c]"),
        ("", "[a]"),
        ("b", "[c-a]"),
        ("\u{e1}", "[ab]"),
        ("a", "[b-z]"),
        ("", "[^a]"),
        ("\u{e6}", "[a-a]"),
    ] {
        assert!(!like(text, pattern), "{text:?} like {pattern:?}");
    }
}

#[test]
fn a_malformed_pattern_matches_nothing() {
    for pattern in ["[", "a[", "[]", "[]a", "[^]", "[a", "[a-", "%[", "[^"] {
        for text in ["", "[", "a", "[]", "a[", "]", "^", "[a"] {
            assert!(!like(text, pattern), "{text:?} like {pattern:?}");
        }
    }
    assert!(!like_escaped("a!", "a!", '!'));
    assert!(!like_escaped("a", "a!", '!'));
}

#[test]
fn an_escaped_character_is_itself() {
    assert!(like_escaped("50%", "50!%", '!') && !like_escaped("50x", "50!%", '!'));
    assert!(like_escaped("a_b", "a!_b", '!') && !like_escaped("axb", "a!_b", '!'));
    assert!(like_escaped("[x]", "![x]", '!'));
    assert!(like_escaped("a!b", "a!!b", '!'));
    assert!(like_escaped("ab", "!a!b", '!'));
    assert!(like_escaped("]", "[!]]", '!') && like_escaped("-", "[a!-z]", '!') && !like_escaped("m", "[a!-z]", '!'));
    assert!(like_escaped("^", "[!^]", '!') && like_escaped("m", "[a-!z]", '!'));
    assert!(like_escaped("%", "%%", '%') && !like_escaped("a", "%%", '%'));
    assert!(like_escaped("AXB", "aXb", 'x'), "an escape character has its case");
}

#[test]
fn an_escape_that_is_not_one_character_is_error_506() {
    assert_eq!(LikePattern::escape_character("!"), Ok('!'));
    assert_eq!(LikePattern::escape_character("\u{e9}"), Ok('\u{e9}'));
    for escape in ["", "ab"] {
        let error = LikePattern::escape_character(escape).unwrap_err();
        assert_eq!((error.number(), error.severity(), error.state()), (506, 16, 1));
        let text = format!("The invalid escape character \"{escape}\" was specified in a LIKE predicate.");
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn trailing_blanks_of_the_text_are_ignored_except_in_unicode() {
    assert!(
        like("abc  ", "abc") && like("abc  ", "abc ") && like("abc  ", "%c") && like("x    ", "_") && like("   ", "")
    );
    assert!(like("\u{e9}  ", "\u{e9}") && like("a ", "a[ ]"));
    assert!(!like("abc", "abc ") && !like(" abc", "abc") && !like("abc x", "abc"));
    assert!(!like_national("abc  ", "abc") && like_national("abc  ", "abc  ") && like_national("abc  ", "abc%"));
    assert!(!like_national("\u{e9} ", "\u{e9}"));
}

#[test]
fn a_character_beyond_the_bmp_matches_itself_and_percent() {
    assert!(like("\u{1f600}", "\u{1f600}") && like("a\u{1f600}b", "a%b"));
    assert!(!like("\u{1f600}", "_") && !like("\u{1f600}", "__") && !like("\u{1f600}", "[^a]"));
    let binary = |pattern| LikePattern::new(pattern, None, Collation::BIN2).matches("\u{1f600}", true);
    assert!(!binary("_") && binary("__") && binary("\u{1f600}"));
}

#[test]
fn the_prefix_of_a_pattern_is_a_prefix_of_every_match() {
    for (pattern, prefix) in [
        ("abc%", "abc"),
        ("ab_c", "ab"),
        ("[ab]c", ""),
        ("abc", "abc"),
        ("%", ""),
        ("5!%%", "5%"),
        ("a!", "a"),
    ] {
        assert_eq!(LikePattern::prefix(pattern, Some('!')), prefix);
    }
}

#[test]
fn no_pattern_takes_long() {
    let text = "a".repeat(20_000);
    assert!(!like(&text, &format!("{}b", "%a".repeat(50))));
    assert!(like(&text, &"%a".repeat(50)));
    assert!(!like(&text, "%_%_%_%_%_%_%_%_%_%b%"));
}

/// A reference implementation, which tries every split of the text.
fn reference_match(text: &[char], pattern: &[char]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some(('%', rest)) => (0..=text.len()).any(|from| reference_match(&text[from..], rest)),
        Some(('_', rest)) => text.split_first().is_some_and(|(_, text)| reference_match(text, rest)),
        Some((literal, rest)) => text.split_first().is_some_and(|(first, text)| {
            first.to_lowercase().eq(literal.to_lowercase()) && reference_match(text, rest)
        }),
    }
}

proptest! {
    #[test]
    fn matching_agrees_with_the_reference_implementation(text in "[abA\u{e9}\u{c9}]{0,8}", pattern in "[ab\u{e9}%_]{0,6}") {
        let expected = reference_match(&text.chars().collect::<Vec<_>>(), &pattern.chars().collect::<Vec<_>>());
        prop_assert_eq!(like(&text, &pattern), expected);
        prop_assert_eq!(like_national(&text, &pattern), expected);
    }

    #[test]
    fn any_text_is_a_pattern(text in any::<String>(), pattern in "[-a%_\\[\\]^!\u{e9}\u{1f600}]{0,12}", escape in any::<Option<char>>()) {
        for collation in [Collation::DEFAULT, Collation::BIN2] {
            let read = LikePattern::new(&pattern, escape, collation);
            let _ = read.matches(&text, false);
            let _ = read.matches(&pattern, true);
            prop_assert!(LikePattern::new("%", None, collation).matches(&text, true));
        }
    }

    #[test]
    fn an_escaped_text_matches_only_itself(text in "[a-c%_\\[\\]^ \u{e9}-]{0,8}", other in "[a-c%_ \u{e9}]{0,8}") {
        let escaped: String = text.chars().flat_map(|character| ['!', character]).collect();
        let pattern = LikePattern::new(&escaped, Some('!'), Collation::DEFAULT);
        prop_assert!(pattern.matches(&text, true));
        prop_assert_eq!(pattern.matches(&other, true), other.to_lowercase() == text.to_lowercase());
    }
}

/// A slow reference implementation of PATINDEX, which tries each suffix of the text.
fn reference_find(pattern: &LikePattern, text: &str, is_national: bool) -> Option<usize> {
    let starts = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    let mut starts = starts.filter(|at| pattern.matches(&text[*at..], is_national));
    starts.next().map(|at| text[..at].encode_utf16().count())
}

#[test]
fn the_first_matching_suffix_is_found() {
    let texts = [
        "",
        "abc",
        "abcabc",
        "ab  ",
        "xxabxxcd ",
        "\u{e9}t\u{e9} ab",
        "a\u{1f600}b c",
        "aaab",
        "b b b",
        "Abc%_",
    ];
    let patterns = [
        "", "b%", "b", "bc", "_", "[a-c]%", "[^a-c]%", "b%c", "b%c%", "c  ", "%", "x%b_%d", "ab%", "_b", "\u{c9}%",
        "[", "[%]_",
    ];
    for collation in [Collation::DEFAULT, Collation::BIN2] {
        for (text, pattern) in texts.iter().flat_map(|text| patterns.map(|pattern| (text, pattern))) {
            let like = LikePattern::new(pattern, None, collation);
            for is_national in [false, true] {
                let Ok(found) = like.find(text, is_national, &mut never_stopped);
                assert_eq!(
                    found,
                    reference_find(&like, text, is_national),
                    "{text:?} {pattern:?} {is_national}"
                );
            }
        }
    }
}

#[test]
fn a_long_match_polls_and_ends_at_an_error_of_poll() {
    // Each position is compared with the complete pattern: 10^11 comparisons.
    let near = format!("%{}c%", "a".repeat(100_000));
    let class = format!("%[{}]", "b".repeat(1_000_000));
    for text in ["a".repeat(1_000_000), "a".repeat(999_999) + "\u{e9}"] {
        for (pattern, collation) in [(&near, Collation::DEFAULT), (&class, Collation::BIN2)] {
            let like = LikePattern::new(pattern, None, collation);
            let mut polls = 0;
            let mut third = || {
                polls += 1;
                if polls == 3 { Err("stopped") } else { Ok(()) }
            };
            assert_eq!(
                like.matches_polling(&text, false, &mut third),
                Err("stopped"),
                "{collation:?}"
            );
            polls = 0;
            let mut third = || {
                polls += 1;
                if polls == 3 { Err("stopped") } else { Ok(()) }
            };
            assert_eq!(like.find(&text, false, &mut third), Err("stopped"), "{collation:?}");
        }
    }
}

#[test]
fn a_pattern_is_found_quickly_in_a_long_text() {
    let text = "e".repeat(3_000_000);
    for pattern in ["z%", "[x-z]q%", "ez%", "e%z", "z"] {
        assert_eq!(
            LikePattern::new(pattern, None, Collation::DEFAULT).find(&text, false, &mut never_stopped),
            Ok(None),
            "{pattern}"
        );
    }
}
