//! The procedure that ODBC's call names.

/// The name in `{? = call name (?, ?)}`, `EXEC name ?` or `name`; `None` for any other text.
pub(super) fn name(text: &str) -> Option<&str> {
    let mut rest = text.trim();
    if let Some(inner) = rest.strip_prefix('{') {
        rest = inner.trim_end().strip_suffix('}')?.trim();
    }
    if let Some(behind) = rest.strip_prefix('?') {
        rest = behind.trim_start().strip_prefix('=')?.trim_start();
    }
    for word in ["call", "execute", "exec"] {
        if let Some((first, behind)) = rest.split_once(char::is_whitespace)
            && first.eq_ignore_ascii_case(word)
        {
            rest = behind.trim_start();
            break;
        }
    }
    let end = end_of_name(rest);
    let (name, arguments) = rest.split_at(end);
    // What follows may only name places: a constant there would be lost.
    let are_places = arguments.chars().all(|char| "(?, )\t\r\n".contains(char));
    (!name.is_empty() && are_places).then_some(name)
}

/// Where a name ends that may have blanks in brackets or quotes.
fn end_of_name(text: &str) -> usize {
    let mut closing = None;
    for (at, char) in text.char_indices() {
        match (closing, char) {
            (Some(close), char) if close == char => closing = None,
            (Some(_), _) => {}
            (None, '[') => closing = Some(']'),
            (None, '"') => closing = Some('"'),
            (None, '(') => return at,
            (None, char) if char.is_whitespace() => return at,
            (None, _) => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn a_call_of_odbc_names_its_procedure() {
        assert_eq!(name("{call p}"), Some("p"));
        assert_eq!(name("{? = CALL dbo.[my p](?, ?)}"), Some("dbo.[my p]"));
        assert_eq!(name("{?=call p(?)}"), Some("p"));
        assert_eq!(name(" p "), Some("p"));
        assert_eq!(name("EXEC p ?,?"), Some("p"));
    }

    #[test]
    fn a_constant_in_a_call_is_not_lost() {
        assert_eq!(name("{call p(1, ?)}"), None);
        assert_eq!(name("{call p"), None);
        assert_eq!(name("{}"), None);
        assert_eq!(name("? call"), None);
        assert_eq!(name(""), None);
    }
}
