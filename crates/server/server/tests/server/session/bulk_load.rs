//! INSERT BULK: the statement, and the message with its rows.

use std::time::{Duration, Instant};

use selenite_tds::client::attention;
use selenite_tds::{Done, DoneKind, Header, PacketSize};
use selenite_types::{DataType, Value, Width};

use super::client::{Client, bulk, numbers, succeed};
use super::fixture::Fixture;

const INT: DataType = DataType::Int;

fn varchar(size: u16) -> DataType {
    DataType::VarChar(Width::Limited(size))
}

fn nvarchar(size: u16) -> DataType {
    DataType::NVarChar(Width::Limited(size))
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn ints(values: &[i32]) -> Vec<Vec<Value>> {
    values.iter().map(|value| vec![Value::Int(*value)]).collect()
}

/// A server with a database, and a client in it.
fn in_database() -> (Fixture, Client) {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(&mut client, "USE d");
    (fixture, client)
}

/// The values of a query, as text.
fn texts(client: &mut Client, sql: &str) -> Vec<Vec<String>> {
    let rows = succeed(client, sql).rows();
    let shown = |value: Value| match value {
        Value::Null => "NULL".to_owned(),
        Value::Int(value) => value.to_string(),
        Value::Text(text) => text.to_string(),
        other => format!("{other:?}"),
    };
    rows.into_iter()
        .map(|row| row.into_iter().map(shown).collect())
        .collect()
}

#[test]
fn rows_are_inserted_and_counted() {
    let (fixture, mut client) = in_database();
    succeed(
        &mut client,
        "CREATE TABLE t (a int NOT NULL PRIMARY KEY, b nvarchar(20), c datetime2(3))",
    );
    let rows: Vec<Vec<Value>> = (0..5000)
        .map(|number| vec![text(&format!("row {number}")), Value::Int(number)])
        .collect();
    let columns = [("b", nvarchar(20)), ("a", INT)];
    let answer = client.bulk(
        "INSERT BULK t ([b] nvarchar(20), a int) WITH (TABLOCK)",
        &columns,
        &rows,
    );
    assert_eq!(
        answer.statuses(),
        [(DoneKind::Statement, Done::COUNT, 5000)],
        "{answer:?}"
    );
    let found = texts(
        &mut client,
        "SELECT COUNT(*), MIN(b), MAX(a) FROM t WHERE b = CONCAT('row ', a) AND c IS NULL",
    );
    assert_eq!(found, [["5000", "row 0", "4999"]]);
    assert_eq!(client.int("SELECT @@TRANCOUNT"), 0);
    drop(client);
    fixture.stop();
}

#[test]
fn every_type_is_stored_as_by_insert() {
    let (fixture, mut client) = in_database();
    let types = [
        "bit",
        "tinyint",
        "smallint",
        "int",
        "bigint",
        "decimal(10,2)",
        "numeric(38,5)",
        "smallmoney",
        "money",
        "real",
        "float",
        "char(5)",
        "varchar(10)",
        "varchar(max)",
        "nchar(5)",
        "nvarchar(10)",
        "nvarchar(max)",
        "binary(4)",
        "varbinary(5)",
        "varbinary(max)",
        "date",
        "time(3)",
        "smalldatetime",
        "datetime",
        "datetime2(7)",
        "datetimeoffset(2)",
        "uniqueidentifier",
    ];
    let values = "1, 255, -5, 7, 8, 1.25, -12345678901234567890.5, 1.5, -922337203685477.5808, 0.5, -1e300, 'ab', 'cd', \
                  'ef', N'\u{416}', N'\u{1F600}', N'gh', 0x01, 0x0203, 0x, '2024-02-29', '23:59:59.999', \
                  '2024-02-29 12:34', '2024-02-29 12:34:56.997', '9999-12-31 23:59:59.9999999', \
                  '2024-02-29 12:34:56.78 +05:30', '6F9619FF-8B86-D011-B42D-00C04FC964FF'";
    let list = |sign: &str| {
        let columns = types.iter().enumerate().map(|(at, name)| format!("c{at} {name}{sign}"));
        columns.collect::<Vec<_>>().join(", ")
    };
    succeed(&mut client, &format!("CREATE TABLE source ({})", list("")));
    succeed(&mut client, &format!("CREATE TABLE t ({})", list("")));
    succeed(&mut client, &format!("INSERT source VALUES ({values})"));
    let answer = succeed(&mut client, "SELECT * FROM source");
    let mut rows = answer.rows();
    rows.push(vec![Value::Null; types.len()]);
    let columns: Vec<DataType> = answer
        .0
        .iter()
        .find_map(|token| match token {
            selenite_tds::client::Token::Columns(columns) => {
                Some(columns.iter().map(|column| column.type_info.data_type).collect())
            }
            _ => None,
        })
        .unwrap();
    let columns: Vec<(&str, DataType)> = columns.into_iter().map(|data_type| ("c", data_type)).collect();
    let answer = client.bulk(&format!("INSERT BULK dbo.t ({})", list(" NULL")), &columns, &rows);
    assert_eq!(answer.statuses(), [(DoneKind::Statement, Done::COUNT, 2)], "{answer:?}");
    succeed(&mut client, "DELETE t WHERE c0 IS NULL");
    for (at, name) in types.iter().enumerate() {
        let same = client.int(&format!("SELECT COUNT(*) FROM t JOIN source ON t.c{at} = source.c{at}"));
        assert_eq!(same, 1, "{name}");
    }
    drop(client);
    fixture.stop();
}

#[test]
fn columns_left_out_have_their_defaults_and_null_has_it_without_keep_nulls() {
    let (fixture, mut client) = in_database();
    succeed(
        &mut client,
        "CREATE TABLE t (a int, b int DEFAULT 7, c varchar(10) DEFAULT 'x', d AS a * 2)",
    );
    let columns = [("a", INT), ("b", INT)];
    let rows = [vec![Value::Int(1), Value::Null], vec![Value::Int(2), Value::Int(3)]];
    client.bulk("INSERT BULK t (a int, b int)", &columns, &rows);
    client.bulk(
        "INSERT BULK t (a int, b int) WITH (KEEP_NULLS, ROWS_PER_BATCH = 5, ORDER (a ASC, b))",
        &columns,
        &rows,
    );
    let found = texts(&mut client, "SELECT a, b, c, d FROM t ORDER BY a, b");
    assert_eq!(
        found,
        [
            ["1", "NULL", "x", "2"],
            ["1", "7", "x", "2"],
            ["2", "3", "x", "4"],
            ["2", "3", "x", "4"]
        ]
    );
    assert_eq!(numbers(&client.batch("INSERT BULK t (d int)")), [271]);
    drop(client);
    fixture.stop();
}

#[test]
fn identity_values_are_kept_where_the_column_is_listed() {
    let (fixture, mut client) = in_database();
    succeed(&mut client, "CREATE TABLE t (id int IDENTITY(10, 5), a int)");
    client.bulk("INSERT BULK t (a int)", &[("a", INT)], &ints(&[1, 2]));
    let columns = [("id", INT), ("a", INT)];
    client.bulk(
        "INSERT BULK t (id int, a int)",
        &columns,
        &[vec![Value::Int(100), Value::Int(3)]],
    );
    assert_eq!(client.int("SELECT CAST(@@IDENTITY AS int)"), 100);
    // SET IDENTITY_INSERT, which some clients send, says nothing of rows without it.
    succeed(&mut client, "SET IDENTITY_INSERT t ON");
    client.bulk("INSERT BULK t (a int)", &[("a", INT)], &ints(&[4]));
    let found = texts(&mut client, "SELECT id, a FROM t ORDER BY a");
    assert_eq!(found, [["10", "1"], ["15", "2"], ["100", "3"], ["105", "4"]]);
    drop(client);
    fixture.stop();
}

#[test]
fn an_error_undoes_all_rows_and_reads_them_to_their_end() {
    let (fixture, mut client) = in_database();
    succeed(
        &mut client,
        "CREATE TABLE t (a int NOT NULL CONSTRAINT k PRIMARY KEY, b int CONSTRAINT positive CHECK (b > 0), c varchar(3));
         CREATE TABLE u (a int REFERENCES t (a))",
    );
    let many = |wrong: Vec<Value>| {
        let mut rows: Vec<Vec<Value>> = (0..20_000)
            .map(|number| vec![Value::Int(number), Value::Int(1), Value::Null])
            .collect();
        rows[10] = wrong;
        rows
    };
    let columns = [("a", INT), ("b", INT), ("c", varchar(5))];
    let announcement = "INSERT BULK t (a int, b int, c varchar(5))";
    for (wrong, number) in [
        (vec![Value::Null, Value::Null, Value::Null], 515),
        (vec![Value::Int(9), Value::Null, Value::Null], 2627),
        (vec![Value::Int(-1), Value::Int(0), Value::Null], 547),
        (vec![Value::Int(-1), Value::Null, text("abcd")], 2628),
    ] {
        let answer = client.bulk(announcement, &columns, &many(wrong));
        assert_eq!(numbers(&answer), [number], "{answer:?}");
        assert_eq!(answer.dones().last().unwrap().status & Done::ERROR, Done::ERROR);
        assert_eq!(client.int("SELECT COUNT(*) FROM t"), 0);
    }
    let answer = client.bulk("INSERT BULK u (a int)", &[("a", INT)], &ints(&[5]));
    assert_eq!(numbers(&answer), [547]);
    let answer = client.bulk(
        "INSERT BULK t (a int, b int, c varchar(3))",
        &columns,
        &many(vec![Value::Int(-1), Value::Null, text("abcd")]),
    );
    assert_eq!(numbers(&answer), [4815]);
    let answer = client.bulk(
        "INSERT BULK t (a int, b int, c int)",
        &columns,
        &many(vec![Value::Null; 3]),
    );
    assert_eq!(numbers(&answer), [4816]);
    let answer = client.bulk("INSERT BULK t (a int, b int)", &columns, &many(vec![Value::Null; 3]));
    assert_eq!(numbers(&answer), [4816]);
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 0);
    drop(client);
    fixture.stop();
}

#[test]
fn a_load_belongs_to_the_open_transaction() {
    let (fixture, mut client) = in_database();
    succeed(&mut client, "CREATE TABLE t (a int PRIMARY KEY)");
    succeed(&mut client, "BEGIN TRANSACTION; INSERT t VALUES (1)");
    client.bulk("INSERT BULK t (a int)", &[("a", INT)], &ints(&[2, 3]));
    let answer = client.bulk("INSERT BULK t (a int)", &[("a", INT)], &ints(&[4, 2]));
    assert_eq!(numbers(&answer), [2627]);
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 3);
    succeed(&mut client, "ROLLBACK");
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 0);
    drop(client);
    fixture.stop();
}

#[test]
fn temporary_tables_other_databases_and_views_take_rows() {
    let (fixture, mut client) = in_database();
    succeed(&mut client, "CREATE TABLE #t (a int); CREATE TABLE t (a int, b int)");
    succeed(&mut client, "CREATE VIEW v AS SELECT b, a FROM t");
    succeed(&mut client, "USE master");
    for name in ["#t", "d.dbo.t", "d..v"] {
        let answer = client.bulk(&format!("INSERT BULK {name} (a int)"), &[("a", INT)], &ints(&[1, 2]));
        assert_eq!(
            answer.statuses(),
            [(DoneKind::Statement, Done::COUNT, 2)],
            "{name}: {answer:?}"
        );
    }
    assert_eq!(client.int("SELECT (SELECT SUM(a) FROM #t) + SUM(a) FROM d.dbo.t"), 9);
    drop(client);
    fixture.stop();
}

/// A row of a table may refer to a later row of the same load.
#[test]
fn rows_may_refer_to_later_rows() {
    let (fixture, mut client) = in_database();
    succeed(
        &mut client,
        "CREATE TABLE t (a int PRIMARY KEY, b int REFERENCES t (a))",
    );
    let columns = [("a", INT), ("b", INT)];
    let rows = [vec![Value::Int(1), Value::Int(2)], vec![Value::Int(2), Value::Null]];
    let answer = client.bulk("INSERT BULK t (a int, b int)", &columns, &rows);
    assert_eq!(numbers(&answer), [0_i32; 0]);
    let answer = client.bulk(
        "INSERT BULK t (a int, b int)",
        &columns,
        &[vec![Value::Int(3), Value::Int(9)]],
    );
    assert_eq!(numbers(&answer), [547]);
    drop(client);
    fixture.stop();
}

#[test]
fn what_the_statement_itself_breaks_is_told_before_the_rows() {
    let (fixture, mut client) = in_database();
    succeed(&mut client, "CREATE TABLE t (a int, b date)");
    for (sql, number) in [
        ("INSERT BULK missing (a int)", 208),
        ("INSERT BULK t (z int)", 207),
        ("INSERT BULK t (a int, a int)", 264),
        ("INSERT BULK t (b int)", 206),
        ("INSERT BULK t (a nosuchtype)", 2715),
        ("INSERT BULK t (a int) WITH (NO_SUCH_OPTION)", 102),
        ("INSERT BULK sys.objects (a int)", 259),
    ] {
        assert_eq!(numbers(&client.batch(sql)), [number], "{sql}");
    }
    drop(client);
    fixture.stop();
}

#[test]
fn rows_without_a_statement_are_refused() {
    let (fixture, mut client) = in_database();
    succeed(&mut client, "CREATE TABLE t (a int)");
    let rows: Vec<Vec<Value>> = ints(&[1; 10_000]);
    let bytes = bulk(&[("a", INT)], &rows, PacketSize::DEFAULT);
    for before in [
        "SELECT 1",
        "INSERT BULK t (a int); SELECT 1",
        "INSERT BULK missing (a int)",
    ] {
        client.batch(before);
        if before.contains(';') {
            // Another request comes in between.
            client.batch("SELECT 2");
        }
        client.send(&bytes).unwrap();
        assert_eq!(numbers(&client.answer().unwrap()), [4002], "{before}");
    }
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 0);
    drop(client);
    fixture.stop();
}

#[test]
fn a_stream_that_breaks_off_stores_nothing() {
    let (fixture, mut client) = in_database();
    succeed(&mut client, "CREATE TABLE t (a int, b varchar(50))");
    let rows = vec![vec![Value::Int(1), text("some text")]; 3];
    let whole = bulk(&[("a", INT), ("b", varchar(50))], &rows, PacketSize::DEFAULT);
    let end = whole.len() - 13;
    for cut in 9..end {
        let mut bytes = whole[..cut].to_vec();
        bytes[2..4].copy_from_slice(&u16::try_from(cut).unwrap().to_be_bytes());
        succeed(&mut client, "TRUNCATE TABLE t; INSERT BULK t (a int, b varchar(50))");
        client.send(&bytes).unwrap();
        let answer = client.answer().unwrap();
        let (errors, count) = (numbers(&answer), client.int("SELECT COUNT(*) FROM t"));
        match errors.as_slice() {
            // Without DONE, as FreeTDS has it.
            [] => assert_eq!(u64::try_from(count).unwrap(), answer.dones().last().unwrap().row_count),
            [4804] => assert_eq!(count, 0, "cut at {cut}"),
            other => panic!("cut at {cut}: {other:?}"),
        }
    }
    drop(client);
    fixture.stop();
}

#[test]
fn an_attention_within_the_rows_ends_the_load() {
    let (fixture, mut client) = in_database();
    succeed(&mut client, "CREATE TABLE t (a int)");
    let bytes = bulk(&[("a", INT)], &ints(&[1; 5000]), PacketSize::DEFAULT);
    for in_transaction in [false, true] {
        if in_transaction {
            succeed(&mut client, "BEGIN TRANSACTION; INSERT t VALUES (7)");
        }
        succeed(&mut client, "INSERT BULK t (a int)");
        client.send(&bytes[..4096 * 3]).unwrap();
        client.send(&attention().unwrap()).unwrap();
        let answer = client.answer().unwrap();
        assert_eq!(
            answer.statuses(),
            [(DoneKind::Statement, Done::ATTENTION, 0)],
            "{answer:?}"
        );
        assert_eq!(client.int("SELECT COUNT(*) FROM t"), i32::from(in_transaction));
    }
    succeed(&mut client, "COMMIT");
    // A message that is withdrawn by its last packet.
    succeed(&mut client, "INSERT BULK t (a int)");
    let mut withdrawn = bytes[..4096 * 2].to_vec();
    withdrawn[4096 + 1] = Header::END | Header::IGNORE;
    client.send(&withdrawn).unwrap();
    let answer = client.answer().unwrap();
    assert_eq!(answer.dones().last().unwrap().status & Done::ERROR, Done::ERROR);
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 1);
    drop(client);
    fixture.stop();
}

#[test]
fn a_client_that_leaves_within_the_rows_leaves_none() {
    let (fixture, mut client) = in_database();
    succeed(&mut client, "CREATE TABLE t (a int)");
    let bytes = bulk(&[("a", INT)], &ints(&[1; 5000]), PacketSize::DEFAULT);
    succeed(&mut client, "INSERT BULK t (a int)");
    client.send(&bytes[..4096 * 3]).unwrap();
    drop(client);
    let mut client = fixture.client_as("sa", fixture.password(), "d");
    // It waits for the first one's write to be undone.
    succeed(&mut client, "INSERT t VALUES (2)");
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 1);
    drop(client);
    fixture.stop();
}

/// A load has no size: what it holds at a time does not grow with its rows.
#[test]
fn a_load_that_is_larger_than_a_session_may_be_is_stored() {
    let limits = selenite_server::ServerLimits {
        session_memory: 16 << 20,
        message_size_max: 1 << 20,
        ..selenite_server::ServerLimits::default()
    };
    let fixture = Fixture::limited(limits);
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(&mut client, "USE d; CREATE TABLE t (a int, b varchar(max))");
    let row = vec![Value::Int(1), text(&"x".repeat(4000))];
    let columns = [("a", INT), ("b", DataType::VarChar(Width::Max))];
    let announcement = "INSERT BULK t (a int, b varchar(max))";
    let answer = client.bulk(announcement, &columns, &vec![row; 6000]);
    assert_eq!(answer.statuses(), [(DoneKind::Statement, Done::COUNT, 6000)]);
    // A row has one.
    let row = vec![Value::Int(1), text(&"x".repeat(2 << 20))];
    let answer = client.bulk(announcement, &columns, &[row]);
    assert_eq!(numbers(&answer), [701]);
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 6000);
    drop(client);
    fixture.stop();
}

#[test]
fn a_login_needs_insert_and_alter_for_identity_values() {
    let (fixture, mut client) = in_database();
    succeed(&mut client, "CREATE TABLE t (id int IDENTITY, a int)");
    for (user, role) in [
        ("reader", "db_datareader"),
        ("writer", "db_datawriter"),
        ("owner", "db_owner"),
    ] {
        succeed(
            &mut client,
            &format!(
                "CREATE LOGIN {user} WITH PASSWORD = 'Str0ng-and-long'; CREATE USER {user} FOR LOGIN {user};
                 ALTER ROLE {role} ADD MEMBER {user}"
            ),
        );
    }
    let mut reader = fixture.client_as("reader", "Str0ng-and-long", "d");
    assert_eq!(numbers(&reader.batch("INSERT BULK t (a int)")), [229]);
    let mut writer = fixture.client_as("writer", "Str0ng-and-long", "d");
    assert_eq!(numbers(&writer.batch("INSERT BULK t (id int, a int)")), [1088]);
    let answer = writer.bulk("INSERT BULK t (a int)", &[("a", INT)], &ints(&[1]));
    assert_eq!(numbers(&answer), [0_i32; 0]);
    let mut owner = fixture.client_as("owner", "Str0ng-and-long", "d");
    let columns = [("id", INT), ("a", INT)];
    let answer = owner.bulk(
        "INSERT BULK t (id int, a int)",
        &columns,
        &[vec![Value::Int(9), Value::Int(2)]],
    );
    assert_eq!(numbers(&answer), [0_i32; 0]);
    assert_eq!(
        texts(&mut client, "SELECT id, a FROM t ORDER BY a"),
        [["1", "1"], ["9", "2"]]
    );
    drop((client, reader, writer, owner));
    fixture.stop();
}

/// A client that stalls within its rows is ended by the limit of a request.
#[test]
fn a_load_that_stalls_ends_with_the_time_of_a_request() {
    let fixture = Fixture::with(|config| config.limits.request_time = Duration::from_secs(1));
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(
        &mut client,
        "USE d; CREATE TABLE t (a int); CREATE LOGIN l WITH PASSWORD = 'Str0ng-and-long'; CREATE USER l FOR LOGIN l;
         ALTER ROLE db_owner ADD MEMBER l",
    );
    let mut slow = fixture.client_as("l", "Str0ng-and-long", "d");
    let bytes = bulk(&[("a", INT)], &ints(&[1; 5000]), PacketSize::DEFAULT);
    succeed(&mut slow, "INSERT BULK t (a int)");
    slow.send(&bytes[..4096 * 3]).unwrap();
    // Once it holds the table, a write waits until it has been undone.
    let mut count = 1;
    let began = Instant::now();
    while numbers(&client.batch("SET LOCK_TIMEOUT 0; INSERT t VALUES (2)")) != [1222] {
        count += 1;
        assert!(began.elapsed() < Duration::from_secs(60), "it never began");
    }
    succeed(&mut client, "SET LOCK_TIMEOUT -1; INSERT t VALUES (2)");
    slow.send(&bytes[4096 * 3..]).unwrap();
    assert_eq!(numbers(&slow.answer().unwrap()), [8649]);
    assert_eq!(slow.int("SELECT COUNT(*) FROM t"), count);
    drop((client, slow));
    fixture.stop();
}

#[test]
fn a_bulk_load_fires_triggers_if_that_is_asked_for() {
    let (_fixture, mut client) = in_database();
    for text in [
        "CREATE TABLE t (a int); CREATE TABLE log_of (n int IDENTITY, what int)",
        "CREATE VIEW v AS SELECT a FROM t",
        "CREATE TRIGGER tr ON t AFTER INSERT AS INSERT log_of SELECT COUNT(*) FROM inserted",
        "CREATE TRIGGER iv ON v INSTEAD OF INSERT AS INSERT log_of SELECT -SUM(a) FROM inserted",
    ] {
        succeed(&mut client, text);
    }
    let columns = [("a", DataType::Int)];
    let what = "SELECT what FROM log_of ORDER BY n";
    for (announcement, expected) in [
        ("INSERT BULK t (a int)", &[][..]),
        ("INSERT BULK v (a int)", &[]),
        ("INSERT BULK t (a int) WITH (FIRE_TRIGGERS)", &["3"]),
        ("INSERT BULK v (a int) WITH (FIRE_TRIGGERS)", &["3", "-6"]),
    ] {
        let answer = client.bulk(announcement, &columns, &ints(&[1, 2, 3]));
        assert!(numbers(&answer).is_empty(), "{announcement}: {answer:?}");
        assert_eq!(answer.dones().last().unwrap().row_count, 3, "{announcement}");
        let found: Vec<String> = texts(&mut client, what).into_iter().flatten().collect();
        assert_eq!(found, expected, "{announcement}");
    }
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 9);
    succeed(
        &mut client,
        "ALTER TRIGGER tr ON t AFTER INSERT AS THROW 50000, 'no', 1",
    );
    let answer = client.bulk("INSERT BULK t (a int) WITH (FIRE_TRIGGERS)", &columns, &ints(&[4]));
    assert_eq!(numbers(&answer), [50000]);
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 9);
}
