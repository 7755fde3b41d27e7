//! SQLite's messages of violated constraints, as T-SQL errors.

use selenite_compiler::catalog::{ChangeVerb, ForeignKey, Table, Violation};
use selenite_types::Value;

use crate::testing::Session;

fn table() -> std::sync::Arc<Table> {
    let session = Session::new(
        "CREATE TABLE [a.b] (id int CONSTRAINT PK_ab PRIMARY KEY, x varchar(5) NOT NULL, y int, CONSTRAINT UQ_xy UNIQUE (y, x))",
    );
    std::sync::Arc::clone(&session.tables.tables[0])
}

#[test]
fn sqlite_s_messages_are_read() {
    let table = table();
    assert_eq!(
        table.violation("NOT NULL constraint failed: a.b.x"),
        Violation::NotNull(1)
    );
    assert_eq!(
        table.violation("UNIQUE constraint failed: a.b.id"),
        Violation::Unique(&table.keys[0])
    );
    assert_eq!(
        table.violation("UNIQUE constraint failed: a.b.y, a.b.x"),
        Violation::Unique(&table.keys[1])
    );
    assert_eq!(
        table.violation("UNIQUE constraint failed: index 'a.b.UQ_xy$null'"),
        Violation::Unique(&table.keys[1])
    );
    assert_eq!(table.violation("FOREIGN KEY constraint failed"), Violation::ForeignKey);
}

#[test]
fn other_messages_of_sqlite_are_unknown() {
    let table = table();
    for message in [
        "",
        "UNIQUE constraint failed: a.b.x, a.b.y",
        "NOT NULL constraint failed: other.x",
        "CHECK constraint failed: c",
    ] {
        assert_eq!(table.violation(message), Violation::Unknown, "{message}");
    }
}

#[test]
fn a_violated_reference_to_the_same_table_is_reported_as_such() {
    let table = table();
    let key = ForeignKey {
        name: "FK_self".to_owned(),
        columns: vec!["y".to_owned(), "x".to_owned()],
        referenced_table: ("DBO".to_owned(), "A.B".to_owned()),
        referenced_columns: vec!["id".to_owned(), "x".to_owned()],
        on_delete: selenite_compiler::catalog::ReferencedAction::NoAction,
        on_update: selenite_compiler::catalog::ReferencedAction::NoAction,
        is_enabled: true,
        is_trusted: true,
    };
    assert_eq!(
        table.foreign_key_failed(&key, ChangeVerb::Insert).text(),
        "The INSERT statement conflicted with the FOREIGN KEY SAME TABLE constraint \"FK_self\". The conflict occurred in \
         database \"testdb\", table \"DBO.A.B\"."
    );
    assert_eq!(
        table.reference_failed("dbo.a.b", &key, ChangeVerb::Delete).text(),
        "The DELETE statement conflicted with the SAME TABLE REFERENCE constraint \"FK_self\". The conflict occurred in \
         database \"testdb\", table \"dbo.a.b\"."
    );
    assert_eq!(table.duplicate(&table.keys[0], &[Value::Int(4)]).severity(), 14);
}
