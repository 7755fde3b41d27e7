//! Which procedure a name means.

use selenite_tds::ProcedureId;
use selenite_tsql::ast::{Name, ObjectName, Position};

/// What is called.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// A procedure of the session's own, and the database in which it is called.
    Own(ProcedureId, Option<Name>),
    /// Any other.
    Other(ObjectName),
}

/// The procedure of a name as clients write it; none if it is no name.
pub(super) fn parse(text: &str) -> Option<Target> {
    let name = object_name(text)?;
    Some(own(&name).unwrap_or(Target::Other(name)))
}

/// The session's own procedure of that name; none if it is another. sp_executesql is in every database, as in SQL
/// Server.
pub(super) fn own(name: &ObjectName) -> Option<Target> {
    let is_of = |part: &Option<Name>, known: &[&str]| match part {
        None => true,
        Some(part) => known.iter().any(|known| part.is(known)),
    };
    if name.server.is_some() || !is_of(&name.schema, &["sys", "dbo"]) {
        return None;
    }
    let id = ProcedureId::ALL.into_iter().find(|id| name.name.is(id.name()))?;
    if id == ProcedureId::ExecuteSql {
        return Some(Target::Own(id, name.database.clone()));
    }
    is_of(&name.database, &["master"]).then_some(Target::Own(id, None))
}

/// Up to four parts between dots, in brackets, quotes or neither; a `;1` after them is ignored.
fn object_name(text: &str) -> Option<ObjectName> {
    let text = text.trim();
    let text = text.strip_suffix(";1").unwrap_or(text).trim_end();
    let mut parts = Vec::new();
    let mut rest = text;
    loop {
        let (part, behind) = part(rest)?;
        parts.push(part);
        if behind.is_empty() {
            break;
        }
        rest = behind.strip_prefix('.')?;
    }
    let mut parts = parts.into_iter().rev();
    let name = parts.next()?.filter(|name| !name.text.is_empty())?;
    let found = ObjectName {
        name,
        schema: parts.next().flatten(),
        database: parts.next().flatten(),
        server: parts.next().flatten(),
        position: Position::default(),
    };
    parts.next().is_none().then_some(found)
}

/// One part, perhaps left out, and what follows it.
fn part(text: &str) -> Option<(Option<Name>, &str)> {
    let close = match text.chars().next() {
        Some('[') => ']',
        Some('"') => '"',
        _ => {
            let (word, behind) = text.split_at(text.find('.').unwrap_or(text.len()));
            return Some(((!word.is_empty()).then(|| name(word, false)), behind));
        }
    };
    let mut inner = String::new();
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, char)) = chars.next() {
        if char == close && chars.next_if(|(_, next)| *next == close).is_none() {
            return Some((Some(name(&inner, true)), &text[at + 1..]));
        }
        inner.push(char);
    }
    None
}

fn name(text: &str, quoted: bool) -> Name {
    Name {
        text: text.to_owned(),
        quoted,
        position: Position::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sessions_own_procedures_are_found_by_all_their_names() {
        for text in [
            "sp_executesql",
            "[sys].sp_executesql",
            "master..SP_ExecuteSql",
            "dbo.[sp_executesql]",
            "master.dbo.sp_executesql;1",
        ] {
            assert!(
                matches!(parse(text), Some(Target::Own(ProcedureId::ExecuteSql, _))),
                "{text}"
            );
        }
        assert!(matches!(parse("sp_reset_connection"), Some(Target::Other(_))));
        assert!(matches!(parse("other.sp_executesql"), Some(Target::Other(_))));
        assert!(matches!(parse("db.dbo.sp_prepare"), Some(Target::Other(_))));
        let Some(Target::Own(ProcedureId::ExecuteSql, Some(database))) = parse("db.dbo.sp_executesql") else {
            panic!("it is in every database");
        };
        assert_eq!(database.text, "db");
    }

    #[test]
    fn any_other_name_has_up_to_four_parts() {
        let Some(Target::Other(name)) = parse("s.d..[a]].b]") else {
            panic!("it is a name");
        };
        assert_eq!(name.name.text, "a].b");
        assert!(name.schema.is_none());
        assert_eq!(name.database.unwrap().text, "d");
        assert_eq!(name.server.unwrap().text, "s");
        for text in ["", "a.b.c.d.e", "[a", "[a]b", "a.", "[]"] {
            assert!(parse(text).is_none(), "{text}");
        }
    }
}
