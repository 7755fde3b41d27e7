//! Patterns of cell names.

/// Whether a name matches a pattern: `*` matches any characters, `?` matches one.
#[must_use]
pub fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(letter) if *letter == '?' || Some(letter) == name.get(n) => {
                p += 1;
                n += 1;
            }
            Some(_) | None => {
                let Some((at, from)) = star else { return false };
                star = Some((at, from + 1));
                p = at + 1;
                n = from + 1;
            }
        }
    }
    pattern
        .get(p..)
        .is_some_and(|rest| rest.iter().all(|letter| *letter == '*'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_letters_and_a_question_mark_for_one() {
        assert!(matches("like-*", "like-cold") && matches("*", "") && matches("*o*d", "cold"));
        assert!(matches("c?ld", "cold") && !matches("?", ""));
        assert!(!matches("like", "like-cold") && !matches("*x", "cold"));
        // The work does not grow exponentially with the stars.
        assert!(!matches(&"*a".repeat(40), &"a".repeat(39)));
    }
}
