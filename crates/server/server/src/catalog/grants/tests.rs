use super::*;

fn grant(major_id: i32, column: Option<&str>, state: GrantState) -> Grant {
    Grant {
        on: GrantedOn {
            class: Class::Object,
            major_id,
            column: column.map(str::to_owned),
        },
        kind: PermissionKind::Select,
        grantee: 7,
        grantor: None,
        state,
    }
}

#[test]
fn what_is_set_is_read_and_forgotten() {
    let connection = Connection::open_in_memory().unwrap();
    assert_eq!(load(&connection).unwrap(), []);
    forget(&connection, Class::Object, 5).unwrap();
    set(&connection, &grant(5, None, GrantState::Granted)).unwrap();
    set(&connection, &grant(5, None, GrantState::Denied)).unwrap();
    set(&connection, &grant(6, None, GrantState::Grantable)).unwrap();
    let (denied, grantable) = (
        grant(5, None, GrantState::Denied),
        grant(6, None, GrantState::Grantable),
    );
    assert_eq!(load(&connection).unwrap(), [denied.clone(), grantable.clone()]);
    remove(&connection, &grantable).unwrap();
    forget(&connection, Class::Schema, 5).unwrap();
    assert_eq!(load(&connection).unwrap(), [denied]);
    forget(&connection, Class::Object, 5).unwrap();
    assert_eq!(load(&connection).unwrap(), []);
    set(&connection, &grant(6, None, GrantState::Granted)).unwrap();
    forget_grantee(&connection, 7).unwrap();
    let later = "INSERT INTO selenite_permission (class, major_id, type, grantee, state, is_denied) \
                 VALUES (1, 5, 'NEWER', 7, 'G', 0), (99, 5, 'SL', 7, 'G', 0), (1, 5, 'SL', 7, 'X', 0)";
    connection.execute(later, []).unwrap();
    assert_eq!(load(&connection).unwrap(), []);
}

#[test]
fn permissions_on_columns_go_and_are_renamed_with_their_column() {
    let connection = Connection::open_in_memory().unwrap();
    let (whole, of_a) = (
        grant(5, None, GrantState::Granted),
        grant(5, Some("a"), GrantState::Denied),
    );
    set(&connection, &whole).unwrap();
    set(&connection, &of_a).unwrap();
    set(&connection, &grant(5, Some("b"), GrantState::Excepted)).unwrap();
    rename_column(&connection, 5, "A", "c").unwrap();
    forget_column(&connection, 5, "B").unwrap();
    let of_c = grant(5, Some("c"), GrantState::Denied);
    assert_eq!(load(&connection).unwrap(), [whole, of_c]);
    forget(&connection, Class::Object, 5).unwrap();
    assert_eq!(load(&connection).unwrap(), []);
}

#[test]
fn each_grantor_has_a_row() {
    let connection = Connection::open_in_memory().unwrap();
    let of_owner = grant(5, None, GrantState::Granted);
    let of_another = Grant {
        grantor: Some(9),
        ..of_owner.clone()
    };
    set(&connection, &of_owner).unwrap();
    set(&connection, &of_another).unwrap();
    remove(&connection, &of_owner).unwrap();
    assert_eq!(load(&connection).unwrap(), [of_another]);
}

/// The table of versions before permissions on columns.
const OLD: &str = "
CREATE TABLE main.selenite_permission (
    class INTEGER NOT NULL,
    major_id INTEGER NOT NULL,
    type TEXT NOT NULL,
    grantee INTEGER NOT NULL,
    grantor INTEGER NOT NULL,
    is_denied INTEGER NOT NULL,
    PRIMARY KEY (class, major_id, grantee, type)
) STRICT, WITHOUT ROWID;
INSERT INTO selenite_permission VALUES (1, 5, 'SL', 7, 1, 0), (1, 6, 'SL', 7, 8, 1);
";

#[test]
fn the_table_of_an_earlier_version_is_read_and_changed() {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(OLD).unwrap();
    let (granted, denied) = (grant(5, None, GrantState::Granted), grant(6, None, GrantState::Denied));
    assert_eq!(load(&connection).unwrap(), [granted.clone(), denied.clone()]);
    let on_column = grant(5, Some("a"), GrantState::Denied);
    set(&connection, &on_column).unwrap();
    assert_eq!(load(&connection).unwrap(), [granted, denied.clone(), on_column.clone()]);
    remove(&connection, &grant(5, None, GrantState::Granted)).unwrap();
    assert_eq!(load(&connection).unwrap(), [denied, on_column]);
}

/// What versions before permissions on columns read.
#[test]
fn an_earlier_version_takes_no_permission_on_a_column_for_one_on_the_table() {
    let connection = Connection::open_in_memory().unwrap();
    set(&connection, &grant(5, Some("a"), GrantState::Granted)).unwrap();
    set(&connection, &grant(6, None, GrantState::Denied)).unwrap();
    let sql = "SELECT major_id, is_denied FROM main.selenite_permission WHERE class IN (0, 1, 3, 6)";
    let found: (i32, bool) = connection
        .query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    assert_eq!(found, (6, true));
    let sql = "SELECT count(*) FROM main.selenite_permission WHERE class IN (0, 1, 3, 6)";
    let count: i32 = connection.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(count, 1);
}
