//! What tools ask of the catalog, and statements in the forms that they write.

use super::client::{Client, all_fail, fails, shown, succeed};
use super::fixture::Fixture;

fn database(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(&mut client, "USE d");
    client
}

/// Defaults, checks and filters are shown as SQL Server keeps them, whatever way they were written.
#[test]
fn texts_of_constraints_are_shown_in_their_stored_form() {
    let fixture = Fixture::new();
    let mut client = database(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE t (
           a INT CONSTRAINT df_a DEFAULT 18, b VARCHAR(9) CONSTRAINT df_b DEFAULT 'it''s',
           c DATETIME2 CONSTRAINT df_c DEFAULT CURRENT_TIMESTAMP, d AS a * 2 + 1,
           CONSTRAINT ck CHECK (b IN ('x', 'y') AND \"a\" >= 0))
         CREATE INDEX ix ON t (a) WHERE b IS NOT NULL AND a > 0",
    );
    for (query, expected) in [
        (
            "SELECT definition FROM sys.default_constraints WHERE name = 'df_a'",
            "((18))",
        ),
        ("SELECT OBJECT_DEFINITION(OBJECT_ID('df_b'))", "('it''s')"),
        (
            "SELECT COLUMN_DEFAULT FROM INFORMATION_SCHEMA.COLUMNS WHERE COLUMN_NAME = 'c'",
            "(getdate())",
        ),
        ("SELECT definition FROM sys.computed_columns", "([a]*(2)+(1))"),
        (
            "SELECT definition FROM sys.check_constraints",
            "(([b]='y' OR [b]='x') AND [a]>=(0))",
        ),
        (
            "SELECT CHECK_CLAUSE FROM INFORMATION_SCHEMA.CHECK_CONSTRAINTS",
            "(([b]='y' OR [b]='x') AND [a]>=(0))",
        ),
        (
            "SELECT filter_definition FROM sys.indexes WHERE name = 'ix'",
            "([b] IS NOT NULL AND [a]>(0))",
        ),
        (
            "SELECT STRING_AGG(COLUMN_NAME, ',') WITHIN GROUP (ORDER BY COLUMN_NAME)
             FROM INFORMATION_SCHEMA.CONSTRAINT_COLUMN_USAGE WHERE CONSTRAINT_NAME = 'ck'",
            "a,b",
        ),
    ] {
        assert_eq!(client.text(query), expected, "{query}");
    }
}

/// A tool that compares a column's type with its own drops a column that has another one.
#[test]
fn columns_of_old_types_keep_their_names() {
    let fixture = Fixture::new();
    let mut client = database(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE t (a TEXT, b NTEXT NOT NULL, c IMAGE, d NATIONAL TEXT, e NVARCHAR(MAX))
         INSERT t VALUES ('a', N'b', 0x01, N'd', N'e')",
    );
    drop(client);
    let fixture = fixture.restarted();
    let mut client = fixture.client();
    succeed(&mut client, "USE d ALTER TABLE t ADD f NTEXT");
    let types = "SELECT STRING_AGG(CONCAT(DATA_TYPE, ' ', CHARACTER_MAXIMUM_LENGTH), ', ') WITHIN GROUP (ORDER BY ORDINAL_POSITION)
                 FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 't'";
    assert_eq!(
        client.text(types),
        "text 2147483647, ntext 1073741823, image 2147483647, ntext 1073741823, nvarchar -1, ntext 1073741823"
    );
    let ids = "SELECT STRING_AGG(CONCAT(TYPE_NAME(user_type_id), ' ', system_type_id, ' ', max_length), ', ')
               WITHIN GROUP (ORDER BY column_id) FROM sys.columns WHERE object_id = OBJECT_ID('t')";
    assert_eq!(
        client.text(ids),
        "text 35 16, ntext 99 16, image 34 16, ntext 99 16, nvarchar 231 -1, ntext 99 16"
    );
    succeed(&mut client, "ALTER TABLE t ALTER COLUMN b NVARCHAR(MAX) NOT NULL");
    assert_eq!(
        client.text("SELECT CONCAT(b, DATA_TYPE) FROM t, INFORMATION_SCHEMA.COLUMNS WHERE COLUMN_NAME = 'b'"),
        "bnvarchar"
    );
}

/// TypeORM names a column by four parts and no kind; a name that could be either of two is none.
#[test]
fn a_column_or_an_index_is_renamed_without_its_kind() {
    let fixture = Fixture::new();
    let mut client = database(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE t (a INT, b INT, c INT CONSTRAINT uq UNIQUE) CREATE INDEX ix ON t (a) CREATE INDEX b ON t (b)
         CREATE TABLE c (x INT)",
    );
    succeed(
        &mut client,
        "EXEC sp_rename \"d.dbo.t.a\", \"first\" EXEC sp_rename 't.ix', 'ix2' EXEC sp_rename 'dbo.t.uq', 'uq2'",
    );
    assert_eq!(
        client.text("SELECT STRING_AGG(name, ',') WITHIN GROUP (ORDER BY column_id) FROM sys.columns WHERE object_id = OBJECT_ID('t')"),
        "first,b,c"
    );
    assert_eq!(
        client.text("SELECT STRING_AGG(name, ',') WITHIN GROUP (ORDER BY name) FROM sys.indexes WHERE object_id = OBJECT_ID('t')"),
        "b,ix2,uq2"
    );
    all_fail(
        &mut client,
        &[
            (15248, "EXEC sp_rename 't.b', 'x'"),
            (15225, "EXEC sp_rename 't.nothing', 'x'"),
            (15225, "EXEC sp_rename 't.c', 'x', 'OBJECT'"),
            (15225, "EXEC sp_rename 'd.dbo.nothing.c', 'x'"),
        ],
    );
}

/// Flyway passes the time-out as a text.
#[test]
fn the_time_out_of_an_application_lock_may_be_a_text() {
    let fixture = Fixture::new();
    let mut client = database(&fixture);
    let take = |time: &str| {
        format!(
            "EXEC sp_getapplock @Resource = 'r', @LockTimeout = '{time}', @LockMode = 'Exclusive', @LockOwner = 'Session'"
        )
    };
    assert_eq!(client.batch(&take("3600000")).return_status(), Some(0));
    for time in ["-2", "soon"] {
        fails(&mut client, 1227, &take(time));
    }
}

/// Prisma's migrations are one transaction in a TRY.
#[test]
fn a_definition_that_fails_is_caught_and_its_transaction_is_undone() {
    let fixture = Fixture::new();
    let mut client = database(&fixture);
    succeed(&mut client, "CREATE TABLE t (a INT)");
    let script = "BEGIN TRY
        BEGIN TRAN;
        CREATE TABLE u (a INT);
        CREATE TABLE t (a INT);
        COMMIT TRAN;
        END TRY
        BEGIN CATCH
        SELECT ERROR_NUMBER(), XACT_STATE();
        IF @@TRANCOUNT > 0
        BEGIN
            ROLLBACK TRAN;
        END;
        THROW
        END CATCH";
    let answer = client.batch(script);
    assert!(shown(&answer).contains("2714"), "{}", shown(&answer));
    assert_eq!(answer.errors(), [(2714, 4)]);
    assert_eq!(client.text("SELECT CONCAT(@@TRANCOUNT, OBJECT_ID('u'))"), "0");
    // https://learn.microsoft.com/sql/t-sql/language-elements/try-catch-transact-sql, example of XACT_STATE.
    let state = client.batch(
        "BEGIN TRY BEGIN TRAN ALTER TABLE t DROP COLUMN author COMMIT END TRY BEGIN CATCH SELECT XACT_STATE() ROLLBACK END CATCH",
    );
    assert_eq!((shown(&state).contains("-1"), state.errors()), (true, vec![]));
}

/// What a server of this kind does not have is looked for, and not found.
#[test]
fn views_of_what_there_is_not_have_no_rows() {
    let fixture = Fixture::new();
    let mut client = database(&fixture);
    for view in [
        "xml_indexes",
        "assemblies",
        "service_queues",
        "partition_schemes",
        "availability_groups",
        "server_triggers",
        "masked_columns",
    ] {
        assert_eq!(client.int(&format!("SELECT COUNT(*) FROM sys.{view}")), 0, "{view}");
    }
    assert_eq!(
        client.int("SELECT COUNT(*) FROM sys.servers WHERE server_id = 0 AND name = @@SERVERNAME"),
        1
    );
    assert_eq!(
        client.int("SELECT COUNT(*) FROM sys.schemas s JOIN sysusers u ON u.uid = s.principal_id WHERE s.name = 'dbo' AND u.name = 'dbo'"),
        1
    );
    assert_eq!(
        client.int(
            "SELECT COUNT(*) FROM sys.databases d JOIN sys.database_mirroring m ON m.database_id = d.database_id
                    WHERE d.name = 'd' AND m.mirroring_guid IS NULL AND d.containment = 0"
        ),
        1
    );
    assert_eq!(client.text("SELECT host_platform FROM sys.dm_os_host_info"), "Linux");
}
