//! Requirements on the file in its URI: `database_id` and `encrypted`.

use super::fixture::{Fixture, check, code, edit};
use selenite_testing::own_process;

/// SQLITE_IOERR_VNODE.
const VNODE: i32 = 10 | (27 << 8);
const CANTOPEN: i32 = 14;

fn id(fixture: &Fixture, name: &str) -> String {
    let connection = fixture.open(name, "&plain=allow").unwrap();
    let sql = "SELECT value FROM selenite_status WHERE name = 'database_id'";
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// The result of opening and reading.
fn opened(fixture: &Fixture, name: &str, parameters: &str) -> i32 {
    let opened = fixture.open(name, &format!("&plain=allow{parameters}"));
    code(opened.map(|connection| check(&connection)))
}

#[test]
fn a_file_is_opened_only_if_it_is_what_the_uri_expects() {
    own_process!();
    let fixture = Fixture::new();
    fixture.filled("sealed.db", "");
    fixture.filled("none.db", "&cipher=NONE&plain=allow");
    let plain = rusqlite::Connection::open(fixture.path("plain.db")).unwrap();
    super::fixture::fill(&plain);
    plain.close().unwrap();
    let (sealed, none) = (id(&fixture, "sealed.db"), id(&fixture, "none.db"));
    let of = |id: &str| format!("&database_id={id}");
    let cases = [
        ("sealed.db", String::new(), 0),
        ("sealed.db", of(&sealed), 0),
        ("sealed.db", of(&sealed) + "&encrypted=required", 0),
        ("sealed.db", of(&none), VNODE),
        ("none.db", of(&none), 0),
        ("none.db", of(&sealed), VNODE),
        ("none.db", of(&none) + "&encrypted=required", VNODE),
        ("plain.db", of(&sealed), 0),
        ("plain.db", "&encrypted=required".to_owned(), VNODE),
        ("sealed.db", of("00"), CANTOPEN),
        ("sealed.db", "&encrypted=yes".to_owned(), CANTOPEN),
    ];
    for (name, parameters, expected) in cases {
        assert_eq!(opened(&fixture, name, &parameters), expected, "{name} {parameters}");
    }
    let told = Fixture::last_error();
    assert!(told.contains("invalid encrypted=yes"), "{told}");
}

#[test]
fn an_emptied_database_is_not_the_expected_one() {
    own_process!();
    let fixture = Fixture::new();
    let path = fixture.filled("app.db", "");
    let id = id(&fixture, "app.db");
    edit(&path, |bytes| bytes.truncate(65_536));
    assert_eq!(opened(&fixture, "app.db", "&encrypted=required"), VNODE);
    edit(&path, Vec::clear);
    for parameters in ["&encrypted=required".to_owned(), format!("&database_id={id}")] {
        assert_eq!(opened(&fixture, "app.db", &parameters), VNODE, "{parameters}");
    }
}
