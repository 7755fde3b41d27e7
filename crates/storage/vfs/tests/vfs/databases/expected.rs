//! Requirements on the file in its URI: `database_id` and `encrypted`.

use super::workbench::{Bench, check, code, edit};
use selenite_testing::own_process;

/// SQLITE_IOERR_VNODE.
const VNODE: i32 = 10 | (27 << 8);
const CANTOPEN: i32 = 14;

fn id(bench: &Bench, name: &str) -> String {
    let connection = bench.open(name, "&plain=allow").unwrap();
    let sql = "SELECT value FROM selenite_status WHERE name = 'database_id'";
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// The result of opening and reading.
fn opened(bench: &Bench, name: &str, parameters: &str) -> i32 {
    let opened = bench.open(name, &format!("&plain=allow{parameters}"));
    code(opened.map(|connection| check(&connection)))
}

#[test]
fn a_file_is_opened_only_if_it_is_what_the_uri_expects() {
    own_process!();
    let bench = Bench::new();
    bench.filled("sealed.db", "");
    bench.filled("none.db", "&cipher=NONE&plain=allow");
    let plain = rusqlite::Connection::open(bench.path("plain.db")).unwrap();
    super::workbench::fill(&plain);
    plain.close().unwrap();
    let (sealed, none) = (id(&bench, "sealed.db"), id(&bench, "none.db"));
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
        assert_eq!(opened(&bench, name, &parameters), expected, "{name} {parameters}");
    }
    let told = Bench::last_error();
    assert!(told.contains("invalid encrypted=yes"), "{told}");
}

#[test]
fn an_emptied_database_is_not_the_expected_one() {
    own_process!();
    let bench = Bench::new();
    let path = bench.filled("app.db", "");
    let id = id(&bench, "app.db");
    edit(&path, |bytes| bytes.truncate(65_536));
    assert_eq!(opened(&bench, "app.db", "&encrypted=required"), VNODE);
    edit(&path, Vec::clear);
    for parameters in ["&encrypted=required".to_owned(), format!("&database_id={id}")] {
        assert_eq!(opened(&bench, "app.db", &parameters), VNODE, "{parameters}");
    }
}
