//! Columns of types without a limit.

use selenite_types::Value;

use super::fixture::Fixture;

#[test]
fn columns_of_max_hold_what_is_written_and_are_there_after_a_restart() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    assert_eq!(client.batch("CREATE DATABASE d").errors(), []);
    let made = "USE d; CREATE TABLE t (a varchar(max), b nvarchar(max), c varbinary(max), d text, e ntext, f image); \
                CREATE TABLE u (a int); ALTER TABLE u ADD b nvarchar(max) NULL";
    assert_eq!(client.batch(made).errors(), []);
    let filled = "INSERT t VALUES (REPLICATE(CAST('x' AS varchar(max)), 9000), N'\u{e9}', 0x0102, 'y', N'z', 0x03); \
                  INSERT u VALUES (1, N'w')";
    assert_eq!(client.batch(filled).errors(), []);
    drop(client);
    let fixture = fixture.restarted();
    let mut client = fixture.client();
    assert_eq!(client.batch("USE d").errors(), []);
    let answer =
        client.batch("SELECT a, b, c, d, e, f, (SELECT b FROM u) AS g FROM t WHERE a LIKE '%xx%' AND b = N'\u{c9}'");
    let text = |text: &str| Value::Text(text.into());
    let row = vec![
        text(&"x".repeat(9000)),
        text("\u{e9}"),
        Value::Binary([1, 2].as_slice().into()),
        text("y"),
        text("z"),
        Value::Binary([3].as_slice().into()),
        text("w"),
    ];
    assert_eq!(answer.errors(), []);
    assert_eq!(answer.rows(), [row]);
}
