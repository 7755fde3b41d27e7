//! Parses a text, prints the tree, and parses the printed text.

use selenite_tsql::{Options, ast::Tree, parse};

/// The debug-printed tree without its positions.
pub fn without_positions(tree: &Tree) -> String {
    // The list of functions is omitted: its order depends on the text.
    let full = format!("{:?}", tree.statements);
    let mut result = String::with_capacity(full.len());
    let mut rest = full.as_str();
    while let Some(at) = rest.find('@') {
        result.push_str(&rest[..at]);
        let after = after_position(&rest[at + 1..]);
        result.push_str(if after.is_some() { "" } else { "@" });
        rest = after.unwrap_or(&rest[at + 1..]);
    }
    result + rest
}

/// The text after `line:start..end`, if `text` begins with it.
fn after_position(text: &str) -> Option<&str> {
    let digits = |text: &'_ str| text.find(|c: char| !c.is_ascii_digit()).filter(|at| *at > 0);
    let line = text.split_at(digits(text)?).1.strip_prefix(':')?;
    let end = line.split_at(digits(line)?).1.strip_prefix("..")?;
    Some(end.split_at(digits(end)?).1)
}

/// Parses, prints, parses again and compares; returns the first tree.
pub fn round_trip_with(text: &str, options: Options) -> Tree {
    let tree = parse(text, options).unwrap_or_else(|e| panic!("{}, line {}: {e}\n{text}", e.number, e.line));
    let printed = tree.to_string();
    let again = parse(&printed, Options::default())
        .unwrap_or_else(|e| panic!("{}, line {}: {e}\n{text}\nprinted:\n{printed}", e.number, e.line));
    assert_eq!(
        without_positions(&again),
        without_positions(&tree),
        "\n{text}\nprinted:\n{printed}"
    );
    tree
}

/// Like [`round_trip_with`], with default options.
pub fn round_trip(text: &str) -> Tree {
    round_trip_with(text, Options::default())
}
