//! The catalog procedures that SQL Server's clients call.

use selenite_tds::client::Token;
use selenite_types::{DataType, Value};

use super::client::{Answer, parameter, text as text_parameter};
use super::fixture::Fixture;
use super::views::shop;

fn text(value: &str) -> Value {
    Value::Text(value.into())
}

fn small(value: i16) -> Value {
    Value::SmallInt(value)
}

/// The names of the columns of each result.
fn columns(answer: &Answer) -> Vec<Vec<&str>> {
    let columns = answer.0.iter().filter_map(|token| match token {
        Token::Columns(columns) => Some(columns.iter().map(|column| column.name.as_str()).collect()),
        _ => None,
    });
    columns.collect()
}

/// Some columns of each row.
fn picked(answer: &Answer, places: &[usize]) -> Vec<Vec<Value>> {
    let pick = |row: Vec<Value>| places.iter().map(|at| row[*at].clone()).collect();
    answer.rows().into_iter().map(pick).collect()
}

#[test]
fn tables_are_listed_by_pattern_and_by_kind() {
    let fixture = Fixture::new();
    let mut client = shop(&fixture);
    let own = client.batch("EXEC sp_tables @table_owner = 'dbo'");
    let names = ["TABLE_QUALIFIER", "TABLE_OWNER", "TABLE_NAME", "TABLE_TYPE", "REMARKS"];
    assert_eq!(columns(&own), [names], "{own:?}");
    let row = |name, kind| vec![text("shop"), text("dbo"), text(name), text(kind)];
    assert_eq!(
        picked(&own, &[0, 1, 2, 3]),
        [row("customer", "TABLE"), row("sale", "TABLE"), row("young", "VIEW")]
    );
    let some = client.batch("sp_tables 's%', 'dbo', 'shop', \"'TABLE'\"");
    assert_eq!(picked(&some, &[2]), [[text("sale")]], "{some:?}");
    let kinds = client.batch("EXEC sp_tables '', '', '', '%'");
    assert_eq!(
        picked(&kinds, &[3]),
        [[text("SYSTEM TABLE")], [text("TABLE")], [text("VIEW")]]
    );
    let elsewhere = client.batch("EXEC sp_tables NULL, NULL, 'master'");
    assert_eq!(elsewhere.errors().len(), 1);
    assert_eq!(elsewhere.errors()[0].0, 15_250);
}

#[test]
fn sp_columns_returns_the_columns_that_odbc_expects() {
    let fixture = Fixture::new();
    let mut client = shop(&fixture);
    let told = client.batch("EXEC [sys].sp_columns_100 N'customer', N'dbo', NULL, NULL, @ODBCVer = 3");
    assert_eq!(columns(&told)[0].len(), 29, "{told:?}");
    // Type, its name, precision, length, scale, radix, whether it may be NULL, byte on the wire.
    assert_eq!(
        picked(&told, &[3, 4, 5, 6, 7, 8, 9, 10, 28]),
        [
            vec![
                text("id"),
                small(4),
                text("int identity"),
                Value::Int(10),
                Value::Int(4),
                small(0),
                small(10),
                small(0),
                Value::TinyInt(56)
            ],
            vec![
                text("name"),
                small(-9),
                text("nvarchar"),
                Value::Int(40),
                Value::Int(80),
                Value::Null,
                Value::Null,
                small(0),
                Value::TinyInt(39)
            ],
            vec![
                text("born"),
                small(91),
                text("date"),
                Value::Int(10),
                Value::Int(6),
                Value::Null,
                Value::Null,
                small(1),
                Value::TinyInt(0)
            ],
            vec![
                text("twice"),
                small(4),
                text("int"),
                Value::Int(10),
                Value::Int(4),
                small(0),
                small(10),
                small(1),
                Value::TinyInt(38)
            ],
        ]
    );
    let old = client.batch("EXEC sp_columns 'customer', @column_name = 'born'");
    assert_eq!(columns(&old)[0].len(), 19, "{old:?}");
    assert_eq!(picked(&old, &[4, 5, 6]), [[small(-9), text("date"), Value::Int(10)]]);
}

#[test]
fn primary_and_foreign_keys_are_listed() {
    let fixture = Fixture::new();
    let mut client = shop(&fixture);
    let keys = client.batch("EXEC sp_pkeys 'sale', 'dbo', 'shop'");
    assert_eq!(
        picked(&keys, &[3, 4, 5]),
        [[text("id"), small(1), text("sale_key")]],
        "{keys:?}"
    );
    let foreign = client.batch("EXEC sp_fkeys @fktable_name = N'sale'");
    let expected = [[
        text("customer"),
        text("id"),
        text("sale"),
        text("customer"),
        small(1),
        small(1),
        small(0),
        text("to_customer"),
        small(7),
    ]];
    assert_eq!(
        picked(&foreign, &[2, 3, 6, 7, 8, 9, 10, 11, 13]),
        expected,
        "{foreign:?}"
    );
    let nothing = client.batch("EXEC sp_fkeys");
    assert_eq!(nothing.errors()[0].0, 15_252);
}

#[test]
fn indexes_and_row_identifiers_are_listed() {
    let fixture = Fixture::new();
    let mut client = shop(&fixture);
    let indexes = client.batch("EXEC sp_statistics_100 'customer', @accuracy = 'E'");
    // Whether it is not unique, its kind, its column, how many rows.
    let told = picked(&indexes, &[3, 6, 8, 10]);
    assert_eq!(
        told,
        [
            vec![Value::Null, small(0), Value::Null, Value::Int(3)],
            vec![small(0), small(1), text("id"), Value::Int(3)],
            vec![small(1), small(3), text("name"), Value::Int(3)],
        ],
        "{indexes:?}"
    );
    let special = client.batch("EXEC sp_special_columns_100 'customer'");
    assert_eq!(
        picked(&special, &[0, 1, 2, 7]),
        [[small(1), text("id"), small(4), small(1)]],
        "{special:?}"
    );
}

#[test]
fn procedures_and_their_parameters_are_listed() {
    let fixture = Fixture::new();
    let mut client = shop(&fixture);
    let procedures = client.batch("EXEC sp_stored_procedures 'p'");
    assert_eq!(
        picked(&procedures, &[1, 2, 7]),
        [[text("dbo"), text("p;1"), small(2)]],
        "{procedures:?}"
    );
    let parameters = client.batch("EXEC sp_sproc_columns_100 'p', @ODBCVer = 3");
    assert_eq!(
        picked(&parameters, &[3, 4, 5, 17]),
        [
            [text("@RETURN_VALUE"), small(5), small(4), Value::Int(0)],
            [text("@a"), small(1), small(4), Value::Int(1)],
            [text("@b"), small(2), small(-9), Value::Int(2)],
        ],
        "{parameters:?}"
    );
}

#[test]
fn types_are_listed_as_microsofts_driver_queries_them_at_connect() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let asked = vec![
        parameter("", DataType::Int, Value::Int(12)),
        parameter("@ODBCVer", DataType::Int, Value::Int(3)),
    ];
    let told = client.call_by_name("[sys].sp_datatype_info_100", asked);
    assert_eq!(columns(&told)[0].len(), 20, "{told:?}");
    assert_eq!(
        picked(&told, &[0, 1, 2, 3, 5, 8]),
        [vec![
            text("varchar"),
            small(12),
            Value::Int(8000),
            text("'"),
            text("max length"),
            small(3)
        ]]
    );
    assert_eq!(told.return_status(), Some(0));
    let all = client.batch("sp_datatype_info_100 0, 3");
    let numbers: Vec<Value> = picked(&all, &[1]).into_iter().flatten().collect();
    let numbers: Vec<i16> = numbers
        .iter()
        .map(|number| match number {
            Value::SmallInt(number) => *number,
            _ => panic!("{number:?}"),
        })
        .collect();
    assert!(
        numbers.is_sorted() && numbers.contains(&93) && numbers.contains(&-155),
        "{numbers:?}"
    );
}

#[test]
fn the_server_and_its_databases_are_listed() {
    let fixture = Fixture::new();
    let mut client = shop(&fixture);
    let databases = client.batch("EXEC sp_databases");
    assert!(picked(&databases, &[0]).contains(&vec![text("shop")]), "{databases:?}");
    let name = client.batch("EXEC sp_server_info 1");
    assert_eq!(
        picked(&name, &[1, 2]),
        [[text("DBMS_NAME"), text("Microsoft SQL Server")]]
    );
    let one = client.batch("EXEC sp_helpdb 'shop'");
    assert_eq!(one.errors(), [], "{one:?}");
    assert_eq!(columns(&one).len(), 2);
    assert_eq!(one.rows().len(), 3);
    assert_eq!(client.batch("EXEC sp_helpdb 'nowhere'").errors()[0].0, 15_010);
    let who = client.batch("EXEC sp_who");
    assert_eq!(columns(&who)[0].len(), 9, "{who:?}");
    assert!(!who.rows().is_empty());
}

#[test]
fn texts_and_tables_are_shown() {
    let fixture = Fixture::new();
    let mut client = shop(&fixture);
    let shown = client.batch("EXEC sp_helptext 'dbo.young'");
    let told: String = picked(&shown, &[0])
        .into_iter()
        .flatten()
        .map(|line| match line {
            Value::Text(line) => line.to_string(),
            _ => panic!("{line:?}"),
        })
        .collect();
    assert!(told.contains("VIEW young AS SELECT id, name FROM customer"), "{told}");
    assert_eq!(client.batch("EXEC sp_helptext 'customer'").errors()[0].0, 15_197);
    assert_eq!(client.batch("EXEC sp_helptext 'nothing'").errors()[0].0, 15_009);
    let table = client.batch("EXEC sp_help 'customer'");
    assert_eq!(table.errors(), [], "{table:?}");
    assert_eq!(columns(&table).len(), 3);
    assert_eq!(table.rows().len(), 1 + 4 + 1);
    // Every result has its DONE.
    assert!(table.dones().iter().filter(|done| done.row_count > 0).count() >= 3);
}

#[test]
fn what_a_text_would_answer_is_described() {
    let fixture = Fixture::new();
    let mut client = shop(&fixture);
    let told = client.call_by_name(
        "sp_describe_first_result_set",
        vec![
            text_parameter("SELECT id, name, id + @p AS total FROM customer WHERE id > @p"),
            text_parameter("@p bigint"),
        ],
    );
    assert_eq!(columns(&told)[0].len(), 39, "{told:?}");
    assert_eq!(
        picked(&told, &[1, 2, 3, 5]),
        [
            vec![Value::Int(1), text("id"), Value::Bit(false), text("int")],
            vec![Value::Int(2), text("name"), Value::Bit(false), text("nvarchar(40)")],
            vec![Value::Int(3), text("total"), Value::Bit(true), text("bigint")],
        ]
    );
    let wrong = client.batch("EXEC sp_describe_first_result_set N'SELECT nothing FROM customer'");
    assert_eq!(wrong.errors()[0].0, 207, "{wrong:?}");
}

#[test]
fn sp_helpindex_and_sys_stats_tell_of_indexes() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let made = client.batch(
        "CREATE DATABASE d USE d CREATE TABLE t (a INT CONSTRAINT pk PRIMARY KEY, b INT CONSTRAINT uq UNIQUE, c INT)
         CREATE INDEX ix ON t (c DESC, b) CREATE UNIQUE INDEX ux ON t (c, a) CREATE TABLE n (a INT)",
    );
    assert_eq!(made.errors(), []);
    let answer = client.batch("EXEC sp_helpindex 't'");
    assert_eq!(answer.errors(), []);
    let text = |text: &str| Value::Text(text.into());
    let row = |name: &str, description: &str, keys: &str| vec![text(name), text(description), text(keys)];
    assert_eq!(
        answer.rows(),
        [
            row("ix", "nonclustered located on PRIMARY", "c(-), b"),
            row("pk", "clustered, unique, primary key located on PRIMARY", "a"),
            row("uq", "nonclustered, unique, unique key located on PRIMARY", "b"),
            row("ux", "nonclustered, unique located on PRIMARY", "c, a"),
        ]
    );
    let answer = client.batch("EXEC sp_helpindex 'dbo.n'");
    let none = "The object 'dbo.n' does not have any indexes, or you do not have permissions.";
    assert_eq!((answer.errors(), answer.infos()), (vec![], vec![none]));
    assert_eq!(client.batch("EXEC sp_helpindex 'none'").errors(), [(15_009, 1)]);
    let counted = "SELECT COUNT(*) * 10 + (SELECT COUNT(*) FROM sys.stats_columns) FROM sys.stats
                   WHERE auto_created = 0 AND stats_id > 0 AND name IS NOT NULL";
    assert_eq!(client.int(counted), 46);
}
