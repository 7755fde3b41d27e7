//! Tables: created, filled, read, changed; and the errors of that.

use selenite_types::Value;

use super::client::numbers;
use super::fixture::Fixture;

fn int(value: i32) -> Value {
    Value::Int(value)
}

fn text(value: &str) -> Value {
    Value::Text(value.into())
}

/// The script of the second source, as far as it is about tables.
#[test]
fn a_database_is_made_and_a_table_filled_with_its_defaults() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.batch("CREATE DATABASE TESTDB");
    client.batch("USE TESTDB");
    let made = client.batch(
        "CREATE TABLE testtable ( [code] INT IDENTITY, [date] DATETIME DEFAULT GETDATE (), [name] CHAR (25) DEFAULT 'SQLSHACK');",
    );
    assert_eq!(numbers(&made), [0_i32; 0], "{made:?}");
    for _ in 0..5 {
        let inserted = client.batch("INSERT INTO testtable DEFAULT VALUES ;");
        assert_eq!(
            inserted.dones().last().map(|done| done.row_count),
            Some(1),
            "{inserted:?}"
        );
    }
    let changed = client.batch("UPDATE testtable SET name='SQL Server'");
    assert_eq!(
        changed.dones().last().map(|done| done.row_count),
        Some(5),
        "{changed:?}"
    );
    let rows = client.batch("SELECT code, name FROM testtable ORDER BY code").rows();
    assert_eq!(rows.len(), 5);
    assert_eq!(rows[4], [int(5), text(&format!("{:25}", "SQL Server"))]);
}

#[test]
fn rows_are_joined_grouped_and_ordered() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.batch("CREATE DATABASE shop");
    let made = client.batch(
        "USE shop
         CREATE TABLE customer (id INT PRIMARY KEY, name NVARCHAR(40) NOT NULL)
         CREATE TABLE sale (id INT IDENTITY PRIMARY KEY, customer INT REFERENCES customer (id), amount DECIMAL(10, 2))
         INSERT customer VALUES (1, N'Ann'), (2, N'bob'), (3, N'Cid')
         INSERT sale (customer, amount) VALUES (1, 10.50), (1, 2.25), (2, 7)",
    );
    assert_eq!(numbers(&made), [0_i32; 0], "{made:?}");
    let rows = client.batch(
        "SELECT c.name, COUNT(s.id) AS n, SUM(s.amount) AS total FROM customer c LEFT JOIN sale s ON s.customer = c.id
         GROUP BY c.name ORDER BY c.name DESC",
    );
    let told: Vec<String> = rows.rows().iter().map(|row| format!("{row:?}")).collect();
    assert_eq!(told.len(), 3, "{rows:?}");
    assert!(told[0].contains("Cid") && told[2].contains("1275"), "{told:?}");
    assert_eq!(
        client.batch("SELECT id FROM customer WHERE name = N'BOB '").rows(),
        [[int(2)]]
    );
}

#[test]
fn broken_constraints_have_sql_servers_numbers_and_leave_nothing_behind() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.batch("CREATE DATABASE d");
    let made = client.batch(
        "USE d
         CREATE TABLE a (id INT PRIMARY KEY, v INT CHECK (v > 0), u VARCHAR(3) UNIQUE)
         CREATE TABLE b (a INT REFERENCES a (id))
         INSERT a VALUES (1, 1, 'x')",
    );
    assert_eq!(numbers(&made), [0_i32; 0], "{made:?}");
    for (number, sql) in [
        (2627, "INSERT a VALUES (1, 1, 'y')"),
        (2627, "INSERT a VALUES (2, 1, 'X')"),
        (547, "INSERT a VALUES (2, 0, 'y')"),
        (515, "INSERT a VALUES (NULL, 1, 'y')"),
        (2628, "INSERT a VALUES (2, 1, 'long')"),
        (547, "INSERT b VALUES (9)"),
        (208, "SELECT * FROM nothing"),
        (207, "SELECT nothing FROM a"),
        (8134, "SELECT v / 0 FROM a"),
        (245, "INSERT a VALUES ('two', 1, 'y')"),
    ] {
        let answer = client.batch(sql);
        assert_eq!(numbers(&answer).first(), Some(&number), "{sql}: {answer:?}");
    }
    assert_eq!(client.batch("SELECT COUNT(*) FROM a").rows(), [[int(1)]]);
}

#[test]
fn what_is_rolled_back_was_never_there_and_others_see_what_is_committed() {
    let fixture = Fixture::new();
    let (mut one, mut other) = (fixture.client(), fixture.client());
    one.batch("CREATE DATABASE d");
    one.batch("USE d CREATE TABLE t (a INT)");
    other.batch("USE d");
    one.batch("BEGIN TRAN INSERT t VALUES (1)");
    assert_eq!(other.batch("SELECT COUNT(*) FROM t").rows(), [[int(0)]]);
    let late = other.batch("SET LOCK_TIMEOUT 0 INSERT t VALUES (9)");
    assert_eq!(numbers(&late).first(), Some(&1222), "{late:?}");
    one.batch("SAVE TRAN s INSERT t VALUES (2) ROLLBACK TRAN s COMMIT");
    assert_eq!(other.batch("SELECT a FROM t").rows(), [[int(1)]]);
    one.batch("BEGIN TRAN DELETE t ROLLBACK");
    assert_eq!(other.batch("SELECT a FROM t").rows(), [[int(1)]]);
}
