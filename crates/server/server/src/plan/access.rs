//! A line of SQLite's plan that reads a table (sqlite.org/eqp.html).

/// How a table is read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Access<'a> {
    /// The table's alias in the SQL.
    pub alias: &'a str,
    pub method: Method<'a>,
    /// What is sought; `None` if all is read.
    pub terms: Option<&'a str>,
    /// How its rows are joined with those of the tables before it.
    pub join: &'static str,
}

/// What it is read by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Method<'a> {
    /// The table itself, in the order of its rowid.
    Table,
    /// An index. One that covers has all columns that are needed.
    Index { name: &'a str, covers: bool },
    /// An index that SQLite makes for this statement.
    Automatic,
    /// A function that returns rows.
    Function,
}

impl<'a> Access<'a> {
    /// `None` for a line of another form.
    pub fn parse(detail: &'a str) -> Option<Self> {
        let (is_search, rest) = match (detail.strip_prefix("SCAN "), detail.strip_prefix("SEARCH ")) {
            (Some(rest), _) => (false, rest),
            (None, Some(rest)) => (true, rest),
            (None, None) => return None,
        };
        let (rest, is_left) = match rest.strip_suffix(" LEFT-JOIN") {
            Some(rest) => (rest, true),
            None => (rest, false),
        };
        let (alias, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let (rest, is_exists) = match rest.strip_prefix("EXISTS") {
            Some(rest) => (rest.trim_start(), true),
            None => (rest, false),
        };
        let join = match (is_left, is_exists) {
            (true, _) => "Left Outer Join",
            (false, true) => "Left Semi Join",
            (false, false) => "Inner Join",
        };
        let (rest, terms) = match rest.rfind(" (") {
            Some(at) if is_search && rest.ends_with(')') => (&rest[..at], Some(&rest[at + 2..rest.len() - 1])),
            _ => (rest, None),
        };
        let method = match rest {
            "" | "USING INTEGER PRIMARY KEY" => Method::Table,
            "USING AUTOMATIC COVERING INDEX" | "USING AUTOMATIC PARTIAL COVERING INDEX" => Method::Automatic,
            _ if rest.starts_with("VIRTUAL TABLE") => Method::Function,
            _ => {
                let (name, covers) = match rest.strip_prefix("USING COVERING INDEX ") {
                    Some(name) => (name, true),
                    None => (rest.strip_prefix("USING INDEX ")?, false),
                };
                Method::Index { name, covers }
            }
        };
        Some(Self {
            alias,
            method,
            terms,
            join,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_sqlite_say_how_a_table_is_read() {
        let of = |detail| Access::parse(detail).unwrap();
        let index = |name, covers| Method::Index { name, covers };
        assert_eq!((of("SCAN t0").method, of("SCAN t0").terms), (Method::Table, None));
        let seek = of("SEARCH t1 USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN");
        assert_eq!(
            (seek.alias, seek.method, seek.terms, seek.join),
            ("t1", Method::Table, Some("rowid=?"), "Left Outer Join")
        );
        let seek = of("SEARCH t1 USING INDEX t.i x (y) (a=? AND b>?)");
        assert_eq!(
            (seek.method, seek.terms),
            (index("t.i x (y)", false), Some("a=? AND b>?"))
        );
        assert_eq!(of("SCAN t1 USING COVERING INDEX t.i").method, index("t.i", true));
        assert_eq!(
            of("SEARCH t1 USING AUTOMATIC COVERING INDEX (a=?)").method,
            Method::Automatic
        );
        let exists = of("SEARCH t1 EXISTS USING AUTOMATIC PARTIAL COVERING INDEX (id=?)");
        assert_eq!((exists.method, exists.join), (Method::Automatic, "Left Semi Join"));
        assert_eq!(of("SCAN t1 EXISTS").join, "Left Semi Join");
        assert_eq!(of("SCAN t1 VIRTUAL TABLE INDEX 0:").method, Method::Function);
        assert_eq!(Access::parse("USE TEMP B-TREE FOR ORDER BY"), None);
        assert_eq!(Access::parse("SCAN 3 CONSTANT ROWS"), None);
    }
}
