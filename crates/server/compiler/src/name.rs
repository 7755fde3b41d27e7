//! Identifiers, and their equality.
//!
//! Names are compared by the default collation: case and trailing spaces are ignored, accents are not.

/// The key of an identifier in maps: two keys are equal if the names are.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NameKey(Box<str>);

impl NameKey {
    /// The key of a name.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self(
            name.trim_end_matches(' ')
                .chars()
                .flat_map(char::to_lowercase)
                .collect(),
        )
    }

    /// The folded name, which is never shown.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether two identifiers are equal.
#[must_use]
pub fn same_name(left: &str, right: &str) -> bool {
    if left.is_ascii() && right.is_ascii() {
        return left
            .trim_end_matches(' ')
            .eq_ignore_ascii_case(right.trim_end_matches(' '));
    }
    let fold = |name: &'_ str| NameKey::new(name);
    fold(left) == fold(right)
}

/// Whether two types of users of a database are one, by their schemas and names.
#[must_use]
pub fn is_same_type(one: (&str, &str), other: (&str, &str)) -> bool {
    same_name(one.0, other.0) && same_name(one.1, other.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_trailing_blanks_do_not_count() {
        assert!(same_name("TestDB", "TESTdb "));
        assert!(same_name("\u{c9}t\u{e9}", "\u{e9}T\u{c9}"));
        assert!(!same_name("ete", "\u{e9}t\u{e9}"));
        assert!(!same_name(" a", "a"));
        assert_eq!(NameKey::new("@Count"), NameKey::new("@COUNT"));
    }
}
