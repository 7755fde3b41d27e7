//! BULK INSERT: rows from files in folders that the configuration allows.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::client::{Client, numbers, succeed};
use super::fixture::Fixture;

/// A server with a folder that it may load from, and a client in a database.
struct Loading {
    fixture: Fixture,
    client: Client,
    place: TempDir,
}

impl Loading {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join("in")).unwrap();
        let folder = place.path().join("in");
        let fixture = Fixture::with(move |config| config.bulk_folders = vec![folder.clone()]);
        let mut client = fixture.client();
        succeed(&mut client, "CREATE DATABASE d");
        succeed(&mut client, "USE d");
        Self { fixture, client, place }
    }

    fn folder(&self) -> PathBuf {
        self.place.path().join("in")
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.folder().join(name), bytes).unwrap();
    }

    /// The rows of a table, each as its columns joined by bars.
    fn rows(&mut self, columns: &str, order: &str) -> Vec<String> {
        let sql = format!("SELECT CONCAT_WS('|', {columns}) FROM t ORDER BY {order}");
        let rows = succeed(&mut self.client, &sql).rows();
        let text = |row: Vec<selenite_types::Value>| match &row[0] {
            selenite_types::Value::Text(text) => text.to_string(),
            other => panic!("{other:?}"),
        };
        rows.into_iter().map(text).collect()
    }

    fn stop(self) {
        drop(self.client);
        self.fixture.stop();
    }
}

#[test]
fn a_file_is_loaded_by_its_terminators() {
    let mut loading = Loading::new();
    succeed(
        &mut loading.client,
        "CREATE TABLE t (a int, b varchar(10) DEFAULT 'none', c decimal(5,2), d date, e varbinary(4), f AS a + 1)",
    );
    loading.write(
        "a.txt",
        "1\tone\t1.5\t2024-02-29\t0102\r\n2\t\t-2\t\t0xFF\r\n3\t\0\t\t2024-01-01\t",
    );
    let answer = succeed(&mut loading.client, "BULK INSERT t FROM 'a.txt'");
    assert_eq!(answer.dones().last().unwrap().row_count, 3);
    let columns = "a, b, ISNULL(CONVERT(varchar(10), c), '-'), ISNULL(CONVERT(varchar(10), d, 23), '-'), \
                   ISNULL(CONVERT(varchar(10), e, 1), '-'), f";
    assert_eq!(
        loading.rows(columns, "a"),
        [
            "1|one|1.50|2024-02-29|0x0102|2",
            "2|none|-2.00|-|0xFF|3",
            "3||-|2024-01-01|-|4"
        ]
    );
    succeed(&mut loading.client, "TRUNCATE TABLE t");
    loading.write("b.txt", "a,b,c,d,e\n1,x,2,,\n2,,3,,\n9,y,4,,\n");
    let path = loading.folder().join("b.txt");
    let sql = format!(
        "BULK INSERT d.dbo.t FROM '{}' WITH (FIELDTERMINATOR = ',', ROWTERMINATOR = '0x0a', FIRSTROW = 2, LASTROW = 3, \
         KEEPNULLS, TABLOCK)",
        path.display()
    );
    succeed(&mut loading.client, &sql);
    assert_eq!(
        loading.rows("a, ISNULL(b, 'null'), c", "a"),
        ["1|x|2.00", "2|null|3.00"]
    );
    loading.stop();
}

#[test]
fn csv_has_quotes_and_files_have_encodings() {
    let mut loading = Loading::new();
    succeed(&mut loading.client, "CREATE TABLE t (a nvarchar(20), b nvarchar(20))");
    loading.write("a.csv", "\"x, \"\"y\"\"\",\"line\r\nend\"\r\n\"\",\r\nplain,last");
    succeed(&mut loading.client, "BULK INSERT t FROM 'a.csv' WITH (FORMAT = 'CSV')");
    assert_eq!(
        loading.rows("ISNULL(a, 'null'), ISNULL(b, 'null')", "a"),
        ["|null", "plain|last", "x, \"y\"|line\r\nend"]
    );
    let text = "\u{E9}\t\u{20AC}\r\n";
    let utf16: Vec<u8> = format!("\u{FEFF}{text}")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    for (bytes, options) in [
        (text.as_bytes().to_vec(), "CODEPAGE = '65001'"),
        (utf16, "DATAFILETYPE = 'widechar'"),
        (b"\xE9\t\x80\r\n".to_vec(), "CODEPAGE = 'ACP'"),
    ] {
        succeed(&mut loading.client, "TRUNCATE TABLE t");
        loading.write("e.txt", bytes);
        succeed(
            &mut loading.client,
            &format!("BULK INSERT t FROM 'e.txt' WITH ({options})"),
        );
        assert_eq!(loading.rows("a, b", "a"), ["\u{E9}|\u{20AC}"], "{options}");
    }
    loading.stop();
}

#[test]
fn identity_values_of_a_file_are_kept_with_keepidentity_alone() {
    let mut loading = Loading::new();
    succeed(&mut loading.client, "CREATE TABLE t (id int IDENTITY, a int NOT NULL)");
    loading.write("a.txt", "70\t1\r\n80\t2\r\n");
    succeed(
        &mut loading.client,
        "BULK INSERT t FROM 'a.txt'; BULK INSERT t FROM 'a.txt' WITH (KEEPIDENTITY)",
    );
    assert_eq!(loading.rows("id, a", "id"), ["1|1", "2|2", "70|1", "80|2"]);
    loading.stop();
}

#[test]
fn rows_with_errors_are_left_out_up_to_maxerrors() {
    let mut loading = Loading::new();
    succeed(&mut loading.client, "CREATE TABLE t (a tinyint NOT NULL, b varchar(3))");
    loading.write("a.txt", "1\ta\r\nx\tb\r\n300\tc\r\n2\tlong\r\n3\tc\r\n");
    let answer = loading.client.batch("BULK INSERT t FROM 'a.txt'");
    assert_eq!(numbers(&answer), [4864, 4867, 4863], "{answer:?}");
    assert_eq!(answer.dones().last().unwrap().row_count, 2);
    assert_eq!(loading.rows("a, b", "a"), ["1|a", "3|c"]);
    succeed(&mut loading.client, "TRUNCATE TABLE t");
    let answer = loading.client.batch("BULK INSERT t FROM 'a.txt' WITH (MAXERRORS = 1)");
    assert_eq!(numbers(&answer), [4864, 4867, 4865], "{answer:?}");
    assert_eq!(loading.client.int("SELECT COUNT(*) FROM t"), 0);
    loading.write("b.txt", "1\ta\r\n\tb\r\n");
    assert_eq!(numbers(&loading.client.batch("BULK INSERT t FROM 'b.txt'")), [4869]);
    loading.write("c.txt", "1\ta\r\n2");
    assert_eq!(numbers(&loading.client.batch("BULK INSERT t FROM 'c.txt'")), [4832]);
    loading.stop();
}

#[test]
fn a_batch_is_a_transaction() {
    let mut loading = Loading::new();
    succeed(&mut loading.client, "CREATE TABLE t (a int PRIMARY KEY)");
    loading.write("a.txt", "1\r\n2\r\n3\r\n4\r\n2\r\n");
    let answer = loading.client.batch("BULK INSERT t FROM 'a.txt' WITH (BATCHSIZE = 2)");
    assert_eq!(numbers(&answer), [2627]);
    assert_eq!(loading.client.int("SELECT COUNT(*) FROM t"), 4);
    succeed(&mut loading.client, "TRUNCATE TABLE t");
    let answer = loading.client.batch("BULK INSERT t FROM 'a.txt'");
    assert_eq!(numbers(&answer), [2627]);
    assert_eq!(loading.client.int("SELECT COUNT(*) FROM t"), 0);
    loading.write("b.txt", "1\r\n2\r\n3\r\n4\r\n5\r\n");
    let answer = succeed(&mut loading.client, "BULK INSERT t FROM 'b.txt' WITH (BATCHSIZE = 2)");
    assert_eq!(answer.dones().last().unwrap().row_count, 5);
    loading.stop();
}

#[test]
fn the_contents_of_a_file_are_a_row() {
    let mut loading = Loading::new();
    succeed(
        &mut loading.client,
        "CREATE TABLE t (a int, b varbinary(max), c varchar(max), d nvarchar(max))",
    );
    loading.write("a.bin", b"a\xE9\r\n\"\\");
    loading.write(
        "u.txt",
        "\u{feff}\u{e9}\u{1f600}"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect::<Vec<_>>(),
    );
    loading.write("empty", "");
    let sql = "INSERT t SELECT 1, x.*, y.BulkColumn, z.u FROM OPENROWSET(BULK 'a.bin', SINGLE_BLOB) AS x
        CROSS JOIN OPENROWSET(BULK 'a.bin', SINGLE_CLOB) AS y, OPENROWSET(BULK N'u.txt', SINGLE_NCLOB) z (u)";
    succeed(&mut loading.client, sql);
    let columns = "a, CONVERT(varchar(99), b, 2), c, d, DATALENGTH(d)";
    assert_eq!(
        loading.rows(columns, "a"),
        ["1|61E90D0A225C|a\u{e9}\r\n\"\\|\u{e9}\u{1f600}|6"]
    );
    let empty = "SELECT CAST(DATALENGTH(BulkColumn) AS int) FROM OPENROWSET(BULK 'empty', SINGLE_CLOB) AS e";
    assert_eq!(loading.client.int(empty), 0);
    succeed(
        &mut loading.client,
        "CREATE VIEW v AS SELECT * FROM OPENROWSET(BULK 'a.bin', SINGLE_CLOB) AS e",
    );
    loading.write("a.bin", "later");
    assert_eq!(loading.client.int("SELECT CAST(LEN(BulkColumn) AS int) FROM v"), 5);
    for (number, source) in [
        (491, "OPENROWSET(BULK 'a.bin', SINGLE_CLOB)"),
        (4806, "OPENROWSET(BULK 'u.txt', SINGLE_CLOB) AS f"),
        (4809, "OPENROWSET(BULK 'a.bin', SINGLE_NCLOB) AS f"),
        (4860, "OPENROWSET(BULK '../in/a.bin', SINGLE_BLOB) AS f"),
        (4860, "OPENROWSET(BULK '', SINGLE_BLOB) AS f"),
        (8159, "OPENROWSET(BULK 'a.bin', SINGLE_BLOB) AS f (a, b)"),
    ] {
        let answer = loading.client.batch(&format!("SELECT * FROM {source}"));
        assert_eq!(numbers(&answer), [number], "{source}");
    }
    loading.stop();
}

#[test]
fn the_audit_log_has_each_file_that_was_read() {
    let mut loading = Loading::new();
    loading.write("a.txt", "1");
    let file = "(SELECT BulkColumn FROM OPENROWSET(BULK 'a.txt', SINGLE_CLOB) AS f)";
    for sql in [
        format!("SELECT {file} AS a"),
        format!("IF EXISTS {file} PRINT 'yes'"),
        format!("DECLARE @a varchar(max) = {file}; SET @a = {file}"),
        format!("WHILE {file} = '2' PRINT 'never'"),
        "SELECT * INTO t FROM OPENROWSET(BULK 'a.txt', SINGLE_CLOB) AS f".to_owned(),
    ] {
        succeed(&mut loading.client, &sql);
    }
    let missing = "SELECT * FROM OPENROWSET(BULK 'b.txt', SINGLE_CLOB) AS f";
    assert_eq!(numbers(&loading.client.batch(missing)), [4860]);
    let log = std::fs::read_to_string(loading.fixture.data_folder().join("audit.jsonl")).unwrap();
    let events: Vec<&str> = log.lines().filter(|line| line.contains("\"OPENROWSET\"")).collect();
    let of = |file: &str| events.iter().filter(|event| event.contains(file)).count();
    assert_eq!((of("a.txt"), of("b.txt")), (6, 1), "{events:#?}");
    assert!(events[6].contains("4860"), "{events:#?}");
    loading.stop();
}

#[test]
fn no_file_outside_of_the_folders_is_read_or_told_of() {
    let mut loading = Loading::new();
    succeed(&mut loading.client, "CREATE TABLE t (a nvarchar(max))");
    let outside = loading.place.path().join("secret.txt");
    std::fs::write(&outside, "secret").unwrap();
    std::os::unix::fs::symlink(&outside, loading.folder().join("link.txt")).unwrap();
    let absolute = outside.display().to_string();
    let texts = |loading: &mut Loading, name: &str| {
        let answer = loading.client.batch(&format!("BULK INSERT t FROM '{name}'"));
        assert_eq!(numbers(&answer), [4860], "{name}");
        answer.said()[0].text.replace(name, "")
    };
    let missing = texts(&mut loading, "missing.txt");
    for name in ["../secret.txt", "link.txt", "/etc/passwd", &absolute] {
        assert_eq!(texts(&mut loading, name), missing);
    }
    assert_eq!(loading.client.int("SELECT COUNT(*) FROM t"), 0);
    assert!(Path::new(&absolute).exists());
    loading.stop();
}

#[test]
fn only_administrators_may_read_files() {
    let mut loading = Loading::new();
    loading.write("a.txt", "1\r\n");
    succeed(
        &mut loading.client,
        "CREATE TABLE t (a int); CREATE LOGIN l WITH PASSWORD = 'Str0ng-and-long'; CREATE USER l FOR LOGIN l;
         ALTER ROLE db_owner ADD MEMBER l",
    );
    let mut other = loading.fixture.client_as("l", "Str0ng-and-long", "d");
    for name in ["a.txt", "missing.txt", "/etc/passwd"] {
        assert_eq!(numbers(&other.batch(&format!("BULK INSERT t FROM '{name}'"))), [4834]);
        let select = format!("SELECT * FROM OPENROWSET(BULK '{name}', SINGLE_BLOB) AS f");
        assert_eq!(numbers(&other.batch(&select)), [4834]);
    }
    // An administrator who acts as that user neither.
    let as_other = "EXECUTE AS USER = 'l'; SELECT * FROM OPENROWSET(BULK 'a.txt', SINGLE_BLOB) AS f; REVERT";
    assert_eq!(numbers(&loading.client.batch(as_other)), [4834]);
    // Nor by what an administrator has defined.
    let view = "CREATE VIEW v AS SELECT * FROM OPENROWSET(BULK 'a.txt', SINGLE_CLOB) AS f";
    succeed(&mut loading.client, view);
    succeed(&mut loading.client, "CREATE PROCEDURE p AS SELECT * FROM v");
    for sql in ["SELECT * FROM v", "EXEC p"] {
        assert_eq!(numbers(&other.batch(sql)), [4834], "{sql}");
    }
    drop(other);
    loading.stop();
}

#[test]
fn options_that_are_not_supported_are_refused_by_name() {
    let mut loading = Loading::new();
    succeed(&mut loading.client, "CREATE TABLE t (a int)");
    loading.write("a.txt", "1\r\n");
    for (option, number) in [
        ("ERRORFILE = 'e'", 40510),
        ("FORMATFILE = 'f'", 40510),
        ("DATAFILETYPE = 'native'", 40517),
        ("CODEPAGE = 'OEM'", 40517),
        ("CODEPAGE = '932'", 4868),
        ("FORMAT = 'PARQUET'", 40517),
        ("FIRSTROW = -1", 102),
        ("NOSUCH = 1", 102),
    ] {
        let answer = loading
            .client
            .batch(&format!("BULK INSERT t FROM 'a.txt' WITH ({option})"));
        assert_eq!(numbers(&answer), [number], "{option}");
    }
    assert_eq!(loading.client.int("SELECT COUNT(*) FROM t"), 0);
    loading.stop();
}
