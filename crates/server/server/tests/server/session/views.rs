//! What the server shows of itself: sys and INFORMATION_SCHEMA.

use selenite_types::Value;

use super::client::Client;
use super::fixture::Fixture;

fn text(value: &str) -> Value {
    Value::Text(value.into())
}

/// A client in a database with two tables, a view and a procedure.
pub fn shop(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    client.batch("CREATE DATABASE shop");
    client.batch("USE shop");
    for definition in [
        "CREATE TABLE customer (id INT IDENTITY(5, 2) PRIMARY KEY, name NVARCHAR(40) NOT NULL DEFAULT N'?',
            born DATE CHECK (born > '1900-01-01'), twice AS id * 2)
         CREATE TABLE sale (id INT CONSTRAINT sale_key PRIMARY KEY, amount DECIMAL(10, 2) UNIQUE,
            customer INT CONSTRAINT to_customer REFERENCES customer (id) ON DELETE CASCADE)",
        "CREATE INDEX by_name ON customer (name)",
        "CREATE VIEW young AS SELECT id, name FROM customer",
        "CREATE PROCEDURE p @a INT, @b NVARCHAR(20) = N'x' OUTPUT AS SELECT @a",
        "INSERT customer (name) VALUES (N'Ann'), (N'Bob'), (N'Cid')",
    ] {
        let done = client.batch(definition);
        assert_eq!(done.errors(), [], "{definition}");
    }
    client
}

#[test]
fn views_of_the_database_in_use_have_a_row_for_each_of_its_things() {
    let fixture = Fixture::new();
    let mut client = shop(&fixture);
    for (view, count) in [
        ("databases", 5),
        ("schemas", 13),
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
    assert_eq!(name, text("shop"));
}

#[test]
fn every_view_that_is_listed_can_be_read_whole() {
    let fixture = Fixture::new();
    let mut client = shop(&fixture);
    let listed = client.batch(
        "SELECT SCHEMA_NAME(schema_id), name FROM sys.all_objects WHERE is_ms_shipped = 1 ORDER BY schema_id, name",
    );
    let listed = listed.rows();
    assert!(listed.len() > 50, "{}", listed.len());
    for row in listed {
        let [Value::Text(schema), Value::Text(name)] = row.as_slice() else {
            panic!("{row:?}");
        };
        let answer = client.batch(&format!("SELECT * FROM {schema}.[{name}]"));
        assert_eq!(answer.errors(), [], "{schema}.{name}: {answer:?}");
        let described = client.int(&format!(
            "SELECT COUNT(*) FROM sys.all_columns WHERE object_id = OBJECT_ID('{schema}.{name}')"
        ));
        assert!(described > 0, "{schema}.{name}");
    }
}

#[test]
fn information_schema_lists_tables_columns_and_constraints() {
    let fixture = Fixture::new();
    let mut client = shop(&fixture);
    let tables =
        client.batch("SELECT TABLE_CATALOG, TABLE_NAME, TABLE_TYPE FROM INFORMATION_SCHEMA.TABLES ORDER BY TABLE_NAME");
    let row = |name, kind| vec![text("shop"), text(name), text(kind)];
    assert_eq!(
        tables.rows(),
        [
            row("customer", "BASE TABLE"),
            row("sale", "BASE TABLE"),
            row("young", "VIEW")
        ]
    );
    let columns = client.batch(
        "SELECT COLUMN_NAME, ORDINAL_POSITION, IS_NULLABLE, DATA_TYPE, CHARACTER_MAXIMUM_LENGTH, NUMERIC_PRECISION, NUMERIC_SCALE
         FROM information_schema.columns WHERE TABLE_NAME = 'sale' ORDER BY 2",
    );
    assert_eq!(
        columns.rows(),
        [
            vec![
                text("id"),
                Value::Int(1),
                text("NO"),
                text("int"),
                Value::Null,
                Value::TinyInt(10),
                Value::Int(0)
            ],
            vec![
                text("amount"),
                Value::Int(2),
                text("YES"),
                text("decimal"),
                Value::Null,
                Value::TinyInt(10),
                Value::Int(2)
            ],
            vec![
                text("customer"),
                Value::Int(3),
                text("YES"),
                text("int"),
                Value::Null,
                Value::TinyInt(10),
                Value::Int(0)
            ],
        ]
    );
    let references = client.batch(
        "SELECT r.CONSTRAINT_NAME, u.COLUMN_NAME, r.DELETE_RULE, t.CONSTRAINT_TYPE
         FROM INFORMATION_SCHEMA.REFERENTIAL_CONSTRAINTS r
         JOIN INFORMATION_SCHEMA.KEY_COLUMN_USAGE u ON u.CONSTRAINT_NAME = r.CONSTRAINT_NAME
         JOIN INFORMATION_SCHEMA.TABLE_CONSTRAINTS t ON t.CONSTRAINT_NAME = r.UNIQUE_CONSTRAINT_NAME",
    );
    let expected = [vec![
        text("to_customer"),
        text("customer"),
        text("CASCADE"),
        text("PRIMARY KEY"),
    ]];
    assert_eq!(references.rows(), expected);
}

#[test]
fn functions_know_objects_columns_and_identities() {
    let fixture = Fixture::new();
    let mut client = shop(&fixture);
    for (asked, expected) in [
        ("OBJECT_NAME(OBJECT_ID('customer'))", text("customer")),
        ("OBJECT_NAME(OBJECT_ID(N'[dbo].[young]', N'V'))", text("young")),
        ("OBJECT_ID('young', 'U')", Value::Null),
        ("OBJECT_ID('nothing')", Value::Null),
        ("OBJECT_NAME(OBJECT_ID('sys.objects'))", text("objects")),
        ("SCHEMA_NAME()", text("dbo")),
        ("COL_NAME(OBJECT_ID('customer'), 2)", text("name")),
        ("COL_LENGTH('customer', 'name')", Value::SmallInt(80)),
        (
            "COLUMNPROPERTY(OBJECT_ID('customer'), 'id', 'IsIdentity')",
            Value::Int(1),
        ),
        (
            "COLUMNPROPERTY(OBJECT_ID('customer'), 'twice', 'IsComputed')",
            Value::Int(1),
        ),
        (
            "OBJECTPROPERTY(OBJECT_ID('customer'), 'TableHasPrimaryKey')",
            Value::Int(1),
        ),
        ("OBJECTPROPERTY(OBJECT_ID('p'), 'IsProcedure')", Value::Int(1)),
        ("CONVERT(INT, IDENT_CURRENT('customer'))", Value::Int(9)),
        ("CONVERT(INT, IDENT_SEED('customer'))", Value::Int(5)),
        ("CONVERT(INT, IDENT_INCR('customer'))", Value::Int(2)),
    ] {
        assert_eq!(client.value(&format!("SELECT {asked}")), expected, "{asked}");
    }
    // What a restart forgets is in the file.
    drop(client);
    let fixture = fixture.restarted();
    let mut client = fixture.client();
    client.batch("USE shop");
    let last = client.value("SELECT CONVERT(INT, IDENT_CURRENT('customer'))");
    let Value::Int(last) = last else { panic!("{last:?}") };
    assert!(last >= 9, "{last}");
}

#[test]
fn rows_and_files_are_counted_as_they_are() {
    let fixture = Fixture::new();
    let mut client = shop(&fixture);
    let counts = client.batch(
        "SELECT t.name, p.rows FROM sys.partitions p JOIN sys.tables t ON t.object_id = p.object_id
         WHERE p.index_id < 2 ORDER BY t.name",
    );
    assert_eq!(
        counts.rows(),
        [
            vec![text("customer"), Value::BigInt(3)],
            vec![text("sale"), Value::BigInt(0)]
        ]
    );
    let size = client.int("SELECT size FROM sys.database_files WHERE type = 0");
    let file = std::fs::metadata(fixture.data_folder().join("shop.db")).unwrap().len();
    assert_eq!(u64::try_from(size).unwrap(), file.div_ceil(8192));
    let names =
        client.batch("SELECT name, physical_name FROM sys.master_files WHERE database_id = DB_ID() ORDER BY file_id");
    assert_eq!(names.rows().len(), 2);
}

#[test]
fn what_shows_the_server_is_found_in_any_database() {
    let fixture = Fixture::new();
    let mut client = shop(&fixture);
    assert_eq!(
        client.int("SELECT COUNT(*) FROM master.sys.databases WHERE name = 'shop'"),
        1
    );
    assert_eq!(
        client.int("SELECT COUNT(*) FROM master..sysdatabases WHERE name = 'SHOP'"),
        1
    );
    assert_eq!(client.int("SELECT COUNT(*) FROM shop.sys.tables"), 2);
    assert_eq!(client.int("SELECT COUNT(*) FROM sysobjects WHERE xtype = 'U'"), 2);
    assert_eq!(
        client.int("SELECT COUNT(*) FROM dbo.syscolumns WHERE id = OBJECT_ID('sale')"),
        3
    );
    let elsewhere = client.batch("SELECT COUNT(*) FROM nowhere.sys.databases");
    assert_eq!(elsewhere.errors().len(), 1);
    let refused = client.batch("INSERT sys.objects (name) VALUES ('x')");
    assert_eq!(refused.errors(), [(259, 1)]);
}
