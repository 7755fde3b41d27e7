use super::*;

fn tokens(text: &str) -> Vec<Token> {
    super::tokens(text, &|| true).expect("the callback never stops the lexer")
}

#[test]
fn the_callback_stops_the_lexer() {
    let looks = core::cell::Cell::new(0);
    let should_continue = || {
        looks.set(looks.get() + 1);
        looks.get() < 2
    };
    assert!(super::tokens(&"1 ".repeat(2 * crate::TOKENS_BETWEEN_POLLS), &should_continue).is_none());
    assert_eq!(looks.get(), 2);
}

/// The kinds and texts of all tokens except the end.
fn lex(text: &str) -> Vec<(TokenKind, &str)> {
    let tokens = tokens(text);
    let kept = tokens.iter().filter(|token| token.kind != TokenKind::End);
    kept.map(|token| (token.kind, token.position.text(text))).collect()
}

/// Each text is one token of this kind.
fn is_one_token(kind: TokenKind, texts: &[&str]) {
    for text in texts {
        assert_eq!(lex(text), [(kind, *text)], "{text}");
    }
}

#[test]
fn numbers_are_integers_decimals_or_floats() {
    is_one_token(TokenKind::Integer, &["0", "007", "123456789012345678901234567890"]);
    is_one_token(TokenKind::Decimal, &["1.5", ".5", "5.", "0.0"]);
    is_one_token(TokenKind::Float, &["1e5", "1E+5", "1.5e-3", ".5e1", "1e", "1.e+"]);
    let expected = [(TokenKind::Decimal, "1.2"), (TokenKind::Decimal, ".3")];
    assert_eq!(lex("1.2.3"), expected);
    assert_eq!(lex("1a"), [(TokenKind::Integer, "1"), (TokenKind::Word, "a")]);
}

#[test]
fn money_has_a_currency_sign_and_perhaps_digits() {
    is_one_token(
        TokenKind::Money,
        &["$", "$1", "$1.5", "$.5", "\u{20ac}5.25", "\u{a3}1", "\u{ff04}2"],
    );
    assert_eq!(lex("$1e5"), [(TokenKind::Money, "$1"), (TokenKind::Word, "e5")]);
    is_one_token(TokenKind::Word, &["$action", "$IDENTITY", "$_"]);
}

#[test]
fn binary_continues_after_a_backslash_at_the_end_of_a_line() {
    is_one_token(TokenKind::Binary, &["0x", "0X0aF", "0x1", "0x12\\\n34", "0x12\\\r\n34"]);
    assert_eq!(lex("0xg"), [(TokenKind::Binary, "0x"), (TokenKind::Word, "g")]);
    assert_eq!(tokens("0x1\\\n2 a")[1].position.line, 2);
}

#[test]
fn names_and_variables_include_their_signs() {
    is_one_token(
        TokenKind::Word,
        &[
            "a",
            "_a1$#@",
            "#t",
            "##t",
            "#",
            "\u{e9}t\u{e9}",
            "\u{4e2d}\u{6587}",
            "a\u{130}1",
        ],
    );
    is_one_token(TokenKind::Variable, &["@a", "@", "@1", "@#$_@"]);
    is_one_token(TokenKind::Global, &["@@a", "@@", "@@@"]);
    is_one_token(TokenKind::Keyword(Keyword::Select), &["select", "SELECT", "SeLeCt"]);
}

#[test]
fn delimiters_are_doubled_inside_of_names_and_strings() {
    is_one_token(TokenKind::String, &["''", "'a''b'", "'a\nb'", "'[\"--/*'", "'\\'"]);
    is_one_token(TokenKind::National, &["N''", "n'a''b'"]);
    is_one_token(TokenKind::Bracketed, &["[a]", "[a]]b]", "[]", "[a[b]", "['\"]"]);
    is_one_token(TokenKind::DoubleQuoted, &["\"a\"", "\"a\"\"b\"", "\"'\""]);
    assert_eq!(lex("N 'a'"), [(TokenKind::Word, "N"), (TokenKind::String, "'a'")]);
}

#[test]
fn an_unclosed_token_is_the_last_one() {
    assert_eq!(lex("a 'b"), [(TokenKind::Word, "a"), (TokenKind::UnclosedQuote, "'b")]);
    assert_eq!(
        lex("a [b]] c"),
        [(TokenKind::Word, "a"), (TokenKind::UnclosedQuote, "[b]] c")]
    );
    assert_eq!(
        lex("a /* /* */ b"),
        [(TokenKind::Word, "a"), (TokenKind::UnclosedComment, "/* /* */ b")]
    );
    assert_eq!(tokens("").len(), 1);
}

#[test]
fn whitespace_and_comments_separate_tokens() {
    let text = "\u{feff}a--b\nc/*d/*e*/f*/g\u{a0}h\u{3000}i\u{85}j\u{0}k\r\u{b}l--";
    let words: Vec<_> = lex(text).into_iter().map(|(_, text)| text).collect();
    assert_eq!(words, ["a", "c", "g", "h", "i", "j", "k", "l"]);
    assert_eq!(lex("-- a /* b"), []);
    assert_eq!(lex("- -"), [(TokenKind::Minus, "-"), (TokenKind::Minus, "-")]);
}

#[test]
fn operators_are_their_characters() {
    let kinds: Vec<_> = lex("<>!=> =+=*").into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(
        kinds,
        [
            TokenKind::Less,
            TokenKind::Greater,
            TokenKind::Bang,
            TokenKind::Equal,
            TokenKind::Greater,
            TokenKind::Equal,
            TokenKind::Plus,
            TokenKind::Equal,
            TokenKind::Star,
        ]
    );
}

#[test]
fn typographic_quotes_and_other_signs_are_unknown() {
    is_one_token(
        TokenKind::Unknown,
        &[
            "\u{2018}",
            "\u{2019}",
            "\u{201c}",
            "\u{201d}",
            "?",
            "\\",
            "`",
            "]",
            "\u{1f600}",
        ],
    );
}

#[test]
fn lines_are_counted_by_line_feeds() {
    let lines: Vec<_> = tokens("a\nb\r\nc\rd 'x\ny' e /*\n*/ f --\ng")
        .iter()
        .map(|t| t.position.line)
        .collect();
    assert_eq!(lines, [1, 2, 3, 3, 3, 4, 5, 6, 6]);
}

#[test]
fn names_are_counted_in_units_of_utf_16() {
    assert!(!is_long(&"a".repeat(128)) && is_long(&"a".repeat(129)));
    assert!(!is_long(&"\u{4e2d}".repeat(128)) && is_long(&"\u{4e2d}".repeat(129)));
    assert!(!is_long(&"\u{20000}".repeat(64)) && is_long(&"\u{20000}".repeat(65)));
}

#[test]
fn a_doubled_bracket_counts_once_in_a_name() {
    let kind = |brackets: usize| tokens(&format!("[{}]", "]]".repeat(brackets)))[0].kind;
    assert_eq!(kind(128), TokenKind::Bracketed);
    assert_eq!(kind(129), TokenKind::LongIdentifier);
}
