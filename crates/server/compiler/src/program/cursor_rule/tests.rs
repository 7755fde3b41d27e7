use selenite_tsql::ast::{CursorStatement, StatementKind};
use selenite_tsql::{Options, parse};

use super::{CursorRule, CursorSensitivity};
use crate::SqlError;

fn rule(words: &str) -> Result<CursorRule, SqlError> {
    let (before, after) = words.split_once('|').unwrap();
    let (options, purpose) = after.split_once(';').unwrap_or((after, ""));
    let text = format!("DECLARE c {before} CURSOR {options} FOR SELECT a FROM t {purpose}");
    let tree = parse(&text, Options::default()).unwrap();
    let StatementKind::Cursor(cursor) = &tree.statements[0].kind else {
        panic!("{text}");
    };
    let CursorStatement::Declare(declare) = &**cursor else {
        panic!("{text}");
    };
    CursorRule::new(&declare.standard, &declare.definition)
}

#[test]
fn a_declaration_without_words_fetches_forward_and_sees_changes() {
    let rule = rule("|").unwrap();
    assert_eq!(rule.sensitivity, CursorSensitivity::Dynamic);
    assert!(!rule.scrolls);
    assert_eq!(rule.is_local, None);
}

#[test]
fn a_word_of_sensitivity_makes_it_scroll() {
    for (words, sensitivity, scrolls) in [
        ("|STATIC", CursorSensitivity::Static, true),
        ("|FORWARD_ONLY STATIC", CursorSensitivity::Static, false),
        ("|KEYSET", CursorSensitivity::Keyset, true),
        ("|DYNAMIC", CursorSensitivity::Dynamic, true),
        ("|SCROLL", CursorSensitivity::Keyset, true),
        ("|SCROLL DYNAMIC", CursorSensitivity::Dynamic, true),
        ("|LOCAL FAST_FORWARD", CursorSensitivity::Static, false),
        ("|FORWARD_ONLY READ_ONLY", CursorSensitivity::Dynamic, false),
        ("|KEYSET;FOR READ ONLY", CursorSensitivity::Keyset, true),
        ("INSENSITIVE|", CursorSensitivity::Static, false),
        ("INSENSITIVE SCROLL|", CursorSensitivity::Static, true),
        ("SCROLL|", CursorSensitivity::Keyset, true),
    ] {
        let rule = rule(words).unwrap();
        assert_eq!((rule.sensitivity, rule.scrolls), (sensitivity, scrolls), "{words}");
    }
}

#[test]
fn words_that_exclude_each_other_are_refused() {
    for (words, number) in [
        ("|LOCAL GLOBAL", 1048),
        ("|FORWARD_ONLY SCROLL", 1048),
        ("|STATIC DYNAMIC", 1048),
        ("|FAST_FORWARD SCROLL", 1048),
        ("|READ_ONLY OPTIMISTIC", 1048),
        ("|FAST_FORWARD;FOR UPDATE", 1048),
        ("SCROLL|LOCAL", 1049),
        ("|INSENSITIVE", 1049),
        ("|STATIC;FOR UPDATE", 16957),
        ("|READ_ONLY;FOR UPDATE OF a", 16957),
        ("INSENSITIVE|;FOR UPDATE", 16957),
        ("|SCROLL_LOCKS", 40510),
        ("KEYSET|", 102),
    ] {
        assert_eq!(rule(words).unwrap_err().number(), number, "{words}");
    }
}

#[test]
fn a_cursor_changes_rows_unless_it_says_otherwise() {
    for (words, is_read_only) in [
        ("|", false),
        ("|KEYSET OPTIMISTIC", false),
        ("|STATIC", true),
        ("|FAST_FORWARD", true),
        ("INSENSITIVE|", true),
        ("|DYNAMIC READ_ONLY", true),
        ("|;FOR READ ONLY", true),
    ] {
        assert_eq!(rule(words).unwrap().is_read_only, is_read_only, "{words}");
    }
    let columns = |words| rule(words).unwrap().for_update;
    assert_eq!(columns("|"), None);
    assert_eq!(columns("|;FOR UPDATE"), Some(Vec::new()));
    assert_eq!(columns("|;FOR UPDATE OF a"), Some(vec!["a".to_owned()]));
}
