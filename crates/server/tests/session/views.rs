//! What the server shows of itself: sys and INFORMATION_SCHEMA.

use selenite_types::Value;

use crate::bench::Bench;

#[test]
fn every_view_of_the_draft_has_rows_that_are_of_its_types() {
    let bench = Bench::new();
    let mut client = bench.client();
    client.batch("CREATE DATABASE shop");
    client.batch("USE shop");
    client.batch(
        "CREATE TABLE customer (id INT IDENTITY PRIMARY KEY, name NVARCHAR(40) NOT NULL DEFAULT N'?',
            born DATE CHECK (born > '1900-01-01'), twice AS id * 2)
         CREATE TABLE sale (id INT PRIMARY KEY, customer INT REFERENCES customer (id), amount DECIMAL(10, 2) UNIQUE)",
    );
    client.batch("CREATE INDEX by_name ON customer (name)");
    client.batch("CREATE VIEW young AS SELECT id, name FROM customer");
    client.batch("CREATE PROCEDURE p @a INT, @b NVARCHAR(20) = N'x' OUTPUT AS SELECT @a");
    for (view, count) in [
        ("databases", 5),
        ("schemas", 4),
        ("tables", 2),
        ("views", 1),
        ("procedures", 1),
        ("columns", 9),
        ("identity_columns", 1),
        ("computed_columns", 1),
        ("key_constraints", 3),
        ("check_constraints", 1),
        ("default_constraints", 1),
        ("foreign_keys", 1),
        ("foreign_key_columns", 1),
        ("indexes", 4),
        ("index_columns", 4),
        ("sql_modules", 2),
        ("parameters", 2),
    ] {
        let answer = client.batch(&format!("SELECT * FROM sys.{view}"));
        assert_eq!(answer.rows().len(), count, "{view}: {answer:?}");
    }
    let name = client.value("SELECT name FROM sys.databases WHERE database_id = DB_ID()");
    assert_eq!(name, Value::Text("shop".into()));
}
