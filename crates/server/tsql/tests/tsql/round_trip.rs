//! A text, its tree, the tree's text, and that text's tree.

use selenite_tsql::{Options, ast::Tree, parse};

/// The tree without its positions, as text.
pub fn bare(tree: &Tree) -> String {
    // Functions come in the order in which they are met.
    let full = format!("{:?}", tree.statements);
    let mut bare = String::with_capacity(full.len());
    let mut rest = full.as_str();
    while let Some(at) = rest.find('@') {
        bare.push_str(&rest[..at]);
        let after = without_position(&rest[at + 1..]);
        bare.push_str(if after.is_some() { "" } else { "@" });
        rest = after.unwrap_or(&rest[at + 1..]);
    }
    bare + rest
}

/// What stands after `line:start..end`, if that stands here.
fn without_position(text: &str) -> Option<&str> {
    let digits = |text: &'_ str| text.find(|c: char| !c.is_ascii_digit()).filter(|at| *at > 0);
    let line = text.split_at(digits(text)?).1.strip_prefix(':')?;
    let end = line.split_at(digits(line)?).1.strip_prefix("..")?;
    Some(end.split_at(digits(end)?).1)
}

/// Parses, prints, parses again, and compares; gives the first tree.
pub fn round_trip_with(text: &str, options: Options) -> Tree {
    let tree = parse(text, options).unwrap_or_else(|e| panic!("{}, line {}: {e}\n{text}", e.number, e.line));
    let printed = tree.to_string();
    let again = parse(&printed, Options::default())
        .unwrap_or_else(|e| panic!("{}, line {}: {e}\n{text}\nprinted:\n{printed}", e.number, e.line));
    assert_eq!(bare(&again), bare(&tree), "\n{text}\nprinted:\n{printed}");
    tree
}

/// As [`round_trip_with`] with the usual options.
pub fn round_trip(text: &str) -> Tree {
    round_trip_with(text, Options::default())
}
