//! Logins that may not read a table try each way to it within each way to run a statement.

use super::client::{Client, succeed};
use super::fixture::Fixture;

const PASSWORD: &str = "Corr3ct-horse";
/// What is in the table.
const SECRETS: [&str; 2] = ["424242", "hidden-value"];

/// The administrator in a database whose table `dbo.secret` has a row. `none` may do nothing, `denied` is in
/// db_datareader and may not read that table, `definer` is in db_ddladmin, and `friend` may execute as `none`.
fn administrator(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    for sql in [
        "CREATE DATABASE d",
        "USE d CREATE TABLE secret (id INT PRIMARY KEY, n INT, t NVARCHAR(50), twice AS n + 0)
         INSERT secret (id, n, t) VALUES (1, 424242, N'hidden-value')
         CREATE TABLE free (id INT PRIMARY KEY, n INT) INSERT free VALUES (1, 7)",
        "CREATE VIEW v AS SELECT * FROM secret",
        "CREATE FUNCTION f() RETURNS INT AS BEGIN RETURN (SELECT MAX(n) FROM secret) END",
        "CREATE FUNCTION listed() RETURNS TABLE AS RETURN SELECT n, t FROM secret",
        "CREATE FUNCTION many() RETURNS @r TABLE (n INT) AS BEGIN INSERT @r SELECT n FROM secret RETURN END",
        "CREATE PROCEDURE p AS SELECT n, t FROM secret",
        "CREATE PROCEDURE as_owner WITH EXECUTE AS OWNER AS SELECT n, t FROM secret",
        "CREATE SYNONYM s FOR secret",
        "CREATE SEQUENCE numbers START WITH 424242",
        "CREATE TABLE fired (a INT)",
        "CREATE TRIGGER fires ON fired AFTER INSERT AS SELECT n, t FROM secret",
        "CREATE PROCEDURE works WITH EXECUTE AS OWNER AS PRINT USER_NAME()",
        "CREATE PROCEDURE breaks WITH EXECUTE AS OWNER AS BEGIN PRINT 1 / 0 RAISERROR ('x', 16, 1) END",
        "CREATE PROCEDURE comes_back WITH EXECUTE AS OWNER AS BEGIN EXECUTE AS CALLER PRINT USER_NAME() END",
        "GRANT EXECUTE ON works TO public GRANT EXECUTE ON breaks TO public GRANT EXECUTE ON comes_back TO public
         GRANT SELECT, INSERT ON free TO public",
    ] {
        succeed(&mut client, sql);
    }
    for login in LOGINS {
        succeed(
            &mut client,
            &format!("CREATE LOGIN {login} WITH PASSWORD = '{PASSWORD}' CREATE USER {login} FOR LOGIN {login}"),
        );
    }
    succeed(
        &mut client,
        "ALTER ROLE db_datareader ADD MEMBER denied DENY SELECT ON secret TO denied DENY EXECUTE TO denied
         DENY SELECT ON v TO denied DENY SELECT ON listed TO denied DENY SELECT ON many TO denied DENY UPDATE TO denied
         GRANT EXECUTE ON works TO denied ALTER ROLE db_ddladmin ADD MEMBER definer
         GRANT IMPERSONATE ON USER::none TO friend",
    );
    client
}

const LOGINS: [&str; 4] = ["none", "denied", "definer", "friend"];

/// Each would tell a secret if it were permitted.
const READS: &[&str] = &[
    "SELECT * FROM d.dbo.secret",
    "SELECT twice FROM dbo.secret",
    "SELECT t FROM dbo.v",
    "SELECT dbo.f()",
    "SELECT * FROM dbo.listed()",
    "SELECT * FROM dbo.many()",
    "SELECT * FROM dbo.s",
    "EXEC dbo.p",
    "EXEC dbo.as_owner",
    "INSERT dbo.fired VALUES (1)",
    "SELECT NEXT VALUE FOR dbo.numbers",
    "SELECT x.* FROM dbo.free CROSS APPLY dbo.listed() x",
    "SELECT t FROM dbo.free RIGHT JOIN dbo.secret ON 1 = 0",
    "WITH c AS (SELECT t FROM dbo.secret) SELECT * FROM c",
    "SELECT * INTO #c FROM dbo.secret SELECT * FROM #c",
    "SELECT * INTO ##c FROM dbo.secret SELECT * FROM ##c",
    "DECLARE @x NVARCHAR(50) SELECT @x = t FROM dbo.secret SELECT @x",
    "DECLARE @x INT = (SELECT n FROM dbo.secret) SELECT @x",
    "IF EXISTS (SELECT 1 FROM dbo.secret WHERE n > 0) SELECT 'hidden' + '-value'",
    "UPDATE dbo.free SET n = (SELECT n FROM dbo.secret) OUTPUT inserted.n",
    "DELETE dbo.secret OUTPUT deleted.t",
    "MERGE dbo.free f USING dbo.secret s ON s.id = f.id WHEN MATCHED THEN UPDATE SET n = s.n OUTPUT inserted.n;",
    "DECLARE c CURSOR FOR SELECT t FROM dbo.secret OPEN c FETCH c",
    "SELECT t FROM dbo.secret FOR JSON AUTO",
    "SELECT CAST(t AS INT) FROM dbo.secret",
    "CREATE TABLE #t (a INT DEFAULT dbo.f()) INSERT #t DEFAULT VALUES SELECT * FROM #t",
    "CREATE TABLE #t (a INT, b AS dbo.f()) INSERT #t VALUES (1) SELECT * FROM #t",
    "CREATE TABLE #t (a BIGINT DEFAULT NEXT VALUE FOR dbo.numbers) INSERT #t DEFAULT VALUES SELECT * FROM #t",
    "DECLARE @t TABLE (a INT DEFAULT dbo.f()) INSERT @t DEFAULT VALUES SELECT * FROM @t",
    "EXEC d..sp_executesql N'SELECT * FROM dbo.secret'",
    "EXEC master..sp_executesql N'SELECT * FROM d.dbo.secret'",
    "EXEC sp_MSforeachtable 'SELECT * FROM ?'",
];

/// A way to run a statement, given also as a constant, as a user.
type Way = fn(&str, &str) -> String;

const WAYS: &[Way] = &[
    |sql, _| sql.to_owned(),
    |sql, _| format!("EXEC ({})", constant(sql)),
    |sql, _| format!("EXEC sp_executesql {}", constant(sql)),
    |sql, _| format!("REVERT REVERT {sql}"),
    |sql, _| format!("EXECUTE AS CALLER {sql}"),
    |sql, user| format!("EXECUTE AS USER = '{user}' {sql}"),
    |sql, user| format!("EXECUTE AS LOGIN = '{user}' {sql}"),
    |sql, user| format!("EXEC ({}) AS USER = '{user}'", constant(&format!("REVERT {sql}"))),
    |sql, _| format!("BEGIN TRY EXECUTE AS USER = 'dbo' END TRY BEGIN CATCH END CATCH {sql}"),
    |sql, _| format!("BEGIN TRY EXECUTE AS LOGIN = 'sa' END TRY BEGIN CATCH END CATCH {sql}"),
    |sql, _| format!("EXEC ({}) AS USER = 'dbo'", constant(sql)),
    |sql, _| format!("EXEC ({}) AS LOGIN = 'sa'", constant(sql)),
    |sql, _| format!("EXEC dbo.works {sql}"),
    |sql, _| format!("EXEC dbo.breaks {sql}"),
    |sql, _| format!("EXEC dbo.comes_back {sql}"),
    |sql, _| format!("BEGIN TRAN EXEC dbo.works {sql}"),
    |sql, _| format!("BEGIN TRY {sql} END TRY BEGIN CATCH SELECT ERROR_MESSAGE() END CATCH"),
    |sql, _| format!("EXEC ({}) EXEC #p", constant(&format!("CREATE PROCEDURE #p AS {sql}"))),
    |sql, _| {
        format!(
            "CREATE TABLE #r (a NVARCHAR(99), b NVARCHAR(99)) INSERT #r EXEC ({}) SELECT * FROM #r",
            constant(sql)
        )
    },
    |sql, _| format!("USE tempdb EXEC d..sp_executesql {}", constant(sql)),
];

fn constant(text: &str) -> String {
    format!("N'{}'", text.replace('\'', "''"))
}

const RESET: &str = "WHILE @@TRANCOUNT > 0 ROLLBACK DROP TABLE IF EXISTS ##c";
const WHO: &str = "SELECT CONCAT(SUSER_SNAME(), ' ', IS_SRVROLEMEMBER('sysadmin'), ' ', DB_NAME())";

#[test]
fn a_login_that_may_not_read_a_table_reads_it_in_no_way() {
    let fixture = Fixture::new();
    let mut client = administrator(&fixture);
    let all = "SELECT CONCAT((SELECT COUNT(*) FROM secret WHERE n = 424242), (SELECT COUNT(*) FROM free WHERE n = 7),
               (SELECT COUNT(*) FROM fired))";
    for login in LOGINS {
        let mut session = fixture.client_as(login, PASSWORD, "d");
        for way in WAYS {
            for read in READS {
                let user = if login == "friend" { "none" } else { login };
                let sql = way(read, user);
                let answer = format!("{:?}", session.batch(&sql));
                let told = SECRETS.iter().find(|secret| answer.contains(**secret));
                assert_eq!(told, None, "{login}: {sql}: {answer}");
                succeed(&mut session, RESET);
                session.batch("USE d REVERT REVERT");
                let own = session.batch_after_reset(WHO);
                assert_eq!(own.errors(), [], "{login}: {sql}");
                assert!(
                    format!("{:?}", own.rows()).contains(&format!("\"{login} 0 d\"")),
                    "{login}: {sql}: {own:?}"
                );
            }
        }
    }
    assert_eq!(client.text(all), "110");
}
