//! The names in SQLite's file of objects of users.
//!
//! - `dbo-keeps-its-names`: an object of `dbo` has its own name, as in a file that SQLite made.
//! - `other-schemas-begin-with-at`: an object of another schema is `@schema.name`. No object of
//!   `dbo` has a name that begins so, and so no index of one has. In the schema's name `%` is
//!   `%25` and `.` is `%2E`, so that the first point ends it: two objects never share a name.

use crate::same_name;

/// The name in SQLite of an object of a schema; both as they were defined.
#[must_use]
pub fn file_name(schema: &str, name: &str) -> String {
    if same_name(schema, SCHEMA) {
        return name.to_owned();
    }
    let schema = schema.replace('%', "%25").replace('.', "%2E");
    format!("@{schema}.{name}")
}

/// The schema and name of an object that is not in `dbo`, by its name in SQLite; `None` for any other name.
#[must_use]
pub fn of_file_name(file_name: &str) -> Option<(String, &str)> {
    let (schema, name) = file_name.strip_prefix('@')?.split_once('.')?;
    Some((schema.replace("%2E", ".").replace("%25", "%"), name))
}

/// The schema of objects that users create, unless they name another.
pub const SCHEMA: &str = "dbo";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_in_a_file_is_of_one_object() {
        let mut known = Vec::new();
        for schema in ["dbo", "s", "a.b", "a", "a%2Eb", ".", "s%", "%", "s.t"] {
            for name in ["t", "s.t", "b.t", ".t", "t.", "a.b.t", "%"] {
                let made = file_name(schema, name);
                match of_file_name(&made) {
                    Some((found, own)) => assert_eq!((found.as_str(), own), (schema, name)),
                    None => assert_eq!((schema, name), ("dbo", made.as_str())),
                }
                assert!(!known.contains(&made), "{made}");
                known.push(made);
            }
        }
        assert_eq!(file_name("DBO", "t"), "t");
        assert_eq!(file_name("sales", "orders"), "@sales.orders");
        assert_eq!(of_file_name("@1@t"), None);
    }
}
