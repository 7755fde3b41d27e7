//! Texts as batches, and what their trees print.

use selenite_tsql::{Options, parse, split_batches};

/// Panics if an invariant does not hold.
pub fn fuzz(data: &[u8]) {
    let script = String::from_utf8_lossy(data);
    let batches = split_batches(&script);
    let mut line = 1;
    for batch in &batches {
        assert!(batch.first_line >= line);
        line = batch.first_line;
        check(batch.text);
    }
    check(&script);
}

/// A tree prints as itself; an error says a place of the text.
fn check(text: &str) {
    for quoted_identifier in [true, false] {
        match parse(text, Options { quoted_identifier }) {
            Ok(tree) => {
                let printed = tree.to_string();
                let again = parse(&printed, Options::default()).expect("what is printed is T-SQL");
                assert_eq!(again.to_string(), printed);
            }
            Err(error) => {
                assert_eq!(error.severity, 15);
                assert!(text.get(error.position.range()).is_some());
            }
        }
    }
}
