//! A user without a permission tries the ways around it.

use selenite_types::{DataType, Value};

use super::client::{Client, all_fail, fails, succeed};
use super::fixture::Fixture;

const PASSWORD: &str = "Corr3ct-horse";

/// The administrator, and `ann`, who may read `id` and `name` of `staff`, change `name` and `id`, insert and delete, and
/// define what she likes in a schema of her own.
fn users(fixture: &Fixture) -> [Client; 2] {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    for sql in [
        "USE d CREATE TABLE staff (id INT PRIMARY KEY, name NVARCHAR(20), pay INT, note NVARCHAR(50), twice AS pay * 2,
         UNIQUE (name, pay))",
        "INSERT INTO staff (id, name, pay, note) VALUES (1, N'Eve', 5000, N'secret'), (2, N'Bo', 5000, NULL)",
    ] {
        succeed(&mut client, sql);
    }
    succeed(
        &mut client,
        &format!("CREATE LOGIN ann WITH PASSWORD = '{PASSWORD}' CREATE USER ann FOR LOGIN ann"),
    );
    succeed(&mut client, "CREATE SCHEMA own AUTHORIZATION ann");
    succeed(
        &mut client,
        "GRANT SELECT (id, name) ON staff TO ann GRANT UPDATE ON staff (name, id) TO ann GRANT INSERT, DELETE ON staff TO ann
         GRANT CREATE VIEW TO ann GRANT CREATE PROCEDURE TO ann GRANT CREATE FUNCTION TO ann GRANT CREATE TABLE TO ann
         GRANT CREATE TYPE TO ann",
    );
    let ann = fixture.client_as("ann", PASSWORD, "d");
    [client, ann]
}

/// What is one's own reads no more than oneself.
#[test]
fn objects_of_ones_own_read_what_their_owner_may() {
    let fixture = Fixture::new();
    let [_, mut ann] = users(&fixture);
    for sql in [
        "CREATE VIEW own.v AS SELECT id, pay FROM dbo.staff",
        "CREATE FUNCTION own.f() RETURNS INT AS BEGIN RETURN (SELECT MAX(pay) FROM dbo.staff) END",
        "CREATE FUNCTION own.i() RETURNS TABLE AS RETURN SELECT pay FROM dbo.staff",
        "CREATE FUNCTION own.m() RETURNS @t TABLE (a INT) AS BEGIN INSERT @t SELECT pay FROM dbo.staff RETURN END",
        "CREATE PROCEDURE own.p AS SELECT pay FROM dbo.staff",
        "CREATE PROCEDURE own.po WITH EXECUTE AS OWNER AS EXEC ('SELECT pay FROM dbo.staff')",
        "CREATE TABLE own.copy (a INT)",
        "CREATE TYPE own.tt AS TABLE (a INT)",
    ] {
        succeed(&mut ann, sql);
    }
    all_fail(
        &mut ann,
        &[
            (230, "SELECT * FROM own.v"),
            (230, "SELECT id FROM own.v"),
            (230, "SELECT COUNT(*) FROM own.v"),
            (230, "SELECT own.f()"),
            (230, "SELECT * FROM own.i()"),
            (230, "SELECT * FROM own.m()"),
            (230, "EXEC own.p"),
            (230, "EXEC own.po"),
            (230, "INSERT INTO own.copy SELECT pay FROM dbo.staff"),
            (
                230,
                "DECLARE @x own.tt INSERT @x SELECT pay FROM dbo.staff SELECT * FROM @x",
            ),
            (
                230,
                "DECLARE @t TABLE (a INT) INSERT @t SELECT pay FROM dbo.staff SELECT * FROM @t",
            ),
            (230, "SELECT pay INTO ##g FROM dbo.staff"),
            (230, "SELECT * INTO #h FROM dbo.staff"),
            (229, "CREATE TABLE own.k (u INT REFERENCES dbo.staff (id))"),
            (
                1088,
                "CREATE TRIGGER dbo.g ON dbo.staff AFTER UPDATE AS SELECT pay FROM deleted",
            ),
            (1088, "ALTER TABLE dbo.staff ADD z AS pay"),
            (1088, "CREATE INDEX i ON dbo.staff (pay)"),
            (
                229,
                "CREATE VIEW own.bound WITH SCHEMABINDING AS SELECT id FROM dbo.staff",
            ),
            (1088, "CREATE STATISTICS s ON dbo.staff (pay)"),
            (2571, "DBCC CHECKCONSTRAINTS ('dbo.staff')"),
            (15151, "GRANT SELECT (pay) ON dbo.staff TO ann"),
            (15151, "GRANT SELECT (id) ON dbo.staff TO public"),
            (15151, "ALTER ROLE db_owner ADD MEMBER ann"),
            (15517, "EXECUTE AS USER = 'dbo'"),
        ],
    );
}

const CHANGES: &[(i32, &str)] = &[
    (230, "DELETE staff OUTPUT deleted.pay"),
    (230, "DELETE staff OUTPUT deleted.*"),
    (230, "DELETE s OUTPUT deleted.pay FROM staff AS s WHERE s.id = 1"),
    (
        230,
        "INSERT INTO staff (id, name, pay) OUTPUT inserted.pay VALUES (3, N'a', 1)",
    ),
    (
        230,
        "INSERT INTO staff (id, name, pay) OUTPUT inserted.* VALUES (3, N'a', 1)",
    ),
    (
        230,
        "INSERT INTO staff (id, name, pay) OUTPUT inserted.twice VALUES (3, N'a', 1)",
    ),
    (230, "UPDATE staff SET name = note"),
    (230, "UPDATE staff SET id = pay"),
    (230, "UPDATE TOP ((SELECT MAX(pay) FROM staff)) staff SET name = N'z'"),
    (
        230,
        "UPDATE s SET name = (SELECT note FROM staff AS t WHERE t.id = s.id) FROM staff AS s",
    ),
    (
        230,
        "WITH c AS (SELECT id, note AS name FROM staff) UPDATE c SET name = N'z'",
    ),
    (
        230,
        "WITH c AS (SELECT TOP 1 * FROM staff ORDER BY id) DELETE c OUTPUT deleted.pay",
    ),
    (
        230,
        "MERGE staff AS t USING (SELECT 1 AS id) AS s ON t.id = s.id WHEN MATCHED THEN DELETE OUTPUT deleted.pay;",
    ),
];

const QUERIES: &[(i32, &str)] = &[
    (
        230,
        "SELECT id FROM staff WHERE EXISTS (SELECT 1 WHERE staff.pay > 4000)",
    ),
    (230, "SELECT CASE WHEN pay > 4000 THEN 1 ELSE 0 END FROM staff"),
    (230, "SELECT STRING_AGG(note, ',') FROM staff"),
    (230, "SELECT id FROM staff GROUP BY GROUPING SETS ((id), (pay))"),
    (230, "SELECT TOP 1 WITH TIES id FROM staff ORDER BY pay"),
    (
        230,
        "SELECT j.* FROM staff CROSS APPLY OPENJSON(CONCAT('[', pay, ']')) AS j",
    ),
    (230, "SELECT v.x FROM staff CROSS APPLY (VALUES (pay)) AS v (x)"),
    (230, "SELECT (SELECT staff.pay FOR JSON PATH) FROM staff"),
    (230, "SELECT id FROM (SELECT * FROM staff) AS q"),
    (230, "WITH r AS (SELECT id, pay FROM staff) SELECT id FROM r"),
    (230, "DECLARE @p INT SET @p = (SELECT MAX(pay) FROM staff) SELECT @p"),
    (
        230,
        "IF EXISTS (SELECT 1 FROM staff WHERE pay > 1) SELECT 1 ELSE SELECT 0",
    ),
    (230, "WHILE (SELECT MAX(pay) FROM staff) > 1 BREAK"),
    (230, "SET FMTONLY ON SELECT pay FROM staff SET FMTONLY OFF"),
    (230, "SELECT 1 FROM staff HAVING COUNT(*) > 0"),
    (230, "SELECT LAG(pay) OVER (ORDER BY id) FROM staff"),
    (230, "SELECT SUM(id) OVER w FROM staff WINDOW w AS (ORDER BY pay)"),
    (230, "SELECT id FROM staff EXCEPT SELECT pay FROM staff"),
    (230, "SELECT id FROM staff WHERE 5000 = ANY (SELECT pay FROM staff)"),
    (230, "SELECT CAST(note AS INT) FROM staff"),
];

#[test]
fn no_change_and_no_query_reads_a_column_that_may_not_be_read() {
    let fixture = Fixture::new();
    let [mut client, mut ann] = users(&fixture);
    all_fail(&mut ann, CHANGES);
    all_fail(&mut ann, QUERIES);
    assert_eq!(client.int("SELECT COUNT(*) FROM staff WHERE pay = 5000"), 2);
    // The columns that may be read are read in all of these ways.
    succeed(&mut ann, "SELECT q.pay FROM (SELECT id, name AS pay FROM staff) AS q");
    succeed(&mut ann, "SELECT id FROM staff FOR JSON AUTO");
    succeed(
        &mut ann,
        "UPDATE staff SET id = 1 OUTPUT inserted.id, deleted.name WHERE id = 1",
    );
}

/// A key of which a part may not be read.
#[test]
fn the_error_of_a_key_tells_no_value_that_may_not_be_read() {
    let fixture = Fixture::new();
    let [mut client, mut ann] = users(&fixture);
    let texts = |client: &mut Client, sql: &str| {
        let answer = client.batch(sql);
        let texts: Vec<String> = answer.said().iter().map(|said| said.text.clone()).collect();
        texts.join(" ")
    };
    for change in [
        "UPDATE staff SET name = N'Bo' WHERE id = 1",
        "MERGE staff AS t USING (SELECT 1 AS id) AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET name = N'Bo';",
    ] {
        let told = texts(&mut client, change);
        assert!(told.contains("The duplicate key value is (Bo, 5000)."), "{told}");
        let told = texts(&mut ann, change);
        assert!(told.contains("UNIQUE KEY") && !told.contains("5000"), "{told}");
        // In a procedure of one's own, too; in one of the table's owner it is told.
        let body = change.replace("staff", "dbo.staff");
        succeed(&mut ann, &format!("CREATE OR ALTER PROCEDURE own.p AS {body}"));
        let told = texts(&mut ann, "EXEC own.p");
        assert!(told.contains("UNIQUE KEY") && !told.contains("5000"), "{told}");
        succeed(&mut client, &format!("CREATE OR ALTER PROCEDURE dbo.p AS {body}"));
        succeed(&mut client, "GRANT EXECUTE ON dbo.p TO ann");
        let told = texts(&mut ann, "EXEC dbo.p");
        assert!(told.contains("The duplicate key value is (Bo, 5000)."), "{told}");
    }
    fails(&mut ann, 2627, "INSERT INTO staff (id, name) VALUES (1, N'q')");
}

/// What an ALTER runs for each row that is there already, as INSERT does for a new one.
#[test]
fn a_definition_calls_no_function_and_takes_no_number_that_a_statement_may_not() {
    let fixture = Fixture::new();
    let [mut client, mut ann] = users(&fixture);
    for sql in [
        "CREATE FUNCTION dbo.f() RETURNS INT AS BEGIN RETURN (SELECT MAX(pay) FROM staff) END",
        "CREATE SEQUENCE dbo.numbers",
        "CREATE SYNONYM own.g FOR dbo.f",
    ] {
        succeed(&mut client, sql);
    }
    for table in ["#t", "own.t"] {
        succeed(&mut ann, &format!("CREATE TABLE {table} (a INT)"));
        succeed(&mut ann, &format!("INSERT INTO {table} VALUES (1)"));
        let refused = [
            "ADD b INT NOT NULL DEFAULT dbo.f()",
            "ADD b INT NOT NULL DEFAULT own.g()",
            "ADD b INT DEFAULT dbo.f() WITH VALUES",
            "ADD b BIGINT NOT NULL DEFAULT NEXT VALUE FOR dbo.numbers",
            "ADD CONSTRAINT k CHECK (dbo.f() < 0)",
            "ADD b INT CHECK (dbo.f() < 0)",
        ];
        for action in refused {
            fails(&mut ann, 229, &format!("ALTER TABLE {table} {action}"));
        }
        // Nothing is called.
        succeed(
            &mut ann,
            &format!("ALTER TABLE {table} WITH NOCHECK ADD CONSTRAINT k CHECK (dbo.f() < 0)"),
        );
        fails(
            &mut ann,
            229,
            &format!("ALTER TABLE {table} WITH CHECK CHECK CONSTRAINT k"),
        );
        succeed(&mut ann, &format!("ALTER TABLE {table} DROP CONSTRAINT k"));
        succeed(&mut ann, &format!("ALTER TABLE {table} ADD c INT DEFAULT dbo.f()"));
        fails(&mut ann, 229, &format!("INSERT INTO {table} (a) VALUES (2)"));
    }
    // No number was taken.
    let next = "DECLARE @n BIGINT = NEXT VALUE FOR dbo.numbers
                SELECT IIF(@n = (SELECT CAST(start_value AS BIGINT) FROM sys.sequences), 1, 0)";
    assert_eq!(client.int(next), 1);
    succeed(
        &mut client,
        "GRANT EXECUTE ON dbo.f TO ann GRANT UPDATE ON dbo.numbers TO ann",
    );
    succeed(
        &mut ann,
        "ALTER TABLE #t ADD b INT NOT NULL DEFAULT dbo.f(), d BIGINT NOT NULL DEFAULT NEXT VALUE FOR dbo.numbers",
    );
    assert_eq!(ann.int("SELECT b FROM #t"), 5000);
    fails(&mut ann, 547, "ALTER TABLE #t ADD CONSTRAINT k CHECK (dbo.f() < 0)");
}

/// What is granted by CONTROL goes with it, and what is denied to who has it stays denied: neither if it acted as the
/// owner.
#[test]
fn control_of_a_database_does_not_act_as_its_owner() {
    let fixture = Fixture::new();
    let [mut client, mut ann] = users(&fixture);
    for login in ["boss", "friend", "bob", "spare"] {
        succeed(
            &mut client,
            &format!("CREATE LOGIN {login} WITH PASSWORD = '{PASSWORD}'"),
        );
    }
    succeed(
        &mut client,
        "CREATE USER boss FOR LOGIN boss CREATE USER friend FOR LOGIN friend CREATE USER bob FOR LOGIN bob
         CREATE ROLE bosses ALTER ROLE bosses ADD MEMBER boss ALTER ROLE db_owner ADD MEMBER bosses
         CREATE ROLE friends GRANT IMPERSONATE ON USER::boss TO friends ALTER ROLE friends ADD MEMBER friend
         GRANT CONTROL TO ann DENY SELECT ON staff TO bob",
    );
    for user in ["dbo", "boss", "friend"] {
        fails(&mut ann, 15517, &format!("EXECUTE AS USER = '{user}'"));
        fails(
            &mut ann,
            15151,
            &format!("CREATE PROCEDURE own.acts WITH EXECUTE AS '{user}' AS SELECT pay FROM dbo.staff"),
        );
    }
    all_fail(
        &mut ann,
        &[
            (
                15151,
                "CREATE PROCEDURE dbo.acts WITH EXECUTE AS OWNER AS SELECT pay FROM dbo.staff",
            ),
            (15151, "GRANT IMPERSONATE ON USER::boss TO bob"),
            (15151, "GRANT CONTROL ON USER::friend TO bob"),
            (15151, "ALTER USER boss WITH LOGIN = spare"),
            (15151, "ALTER USER friend WITH LOGIN = spare"),
            (15151, "ALTER USER friend WITH NAME = other"),
            (15151, "ALTER ROLE bosses ADD MEMBER bob"),
            (15151, "ALTER ROLE friends ADD MEMBER bob"),
            (15151, "ALTER ROLE db_owner ADD MEMBER bob"),
        ],
    );
    // All others it may.
    succeed(
        &mut ann,
        "EXECUTE AS USER = 'bob' REVERT GRANT IMPERSONATE ON USER::bob TO friends",
    );
    // Whom the owner lets do it may.
    succeed(&mut client, "GRANT IMPERSONATE ON USER::boss TO ann");
    succeed(&mut ann, "EXECUTE AS USER = 'boss' REVERT");
    drop((client, ann));
    fixture.stop();
}

/// Who is in a role that owns another one adds members to that.
#[test]
fn db_securityadmin_adds_no_member_to_a_role_that_owns_one_with_control() {
    let fixture = Fixture::new();
    let [mut client, mut ann] = users(&fixture);
    succeed(
        &mut client,
        "CREATE ROLE controls GRANT CONTROL TO controls CREATE ROLE acts GRANT IMPERSONATE ON USER::dbo TO acts
         CREATE ROLE owns CREATE ROLE above CREATE ROLE owns_acts CREATE ROLE plain
         ALTER AUTHORIZATION ON ROLE::controls TO owns ALTER AUTHORIZATION ON ROLE::owns TO above
         ALTER AUTHORIZATION ON ROLE::acts TO owns_acts ALTER ROLE db_securityadmin ADD MEMBER ann",
    );
    succeed(
        &mut client,
        &format!("CREATE LOGIN friend WITH PASSWORD = '{PASSWORD}' CREATE USER friend FOR LOGIN friend"),
    );
    for role in ["controls", "owns", "above", "acts", "owns_acts"] {
        fails(&mut ann, 15151, &format!("ALTER ROLE {role} ADD MEMBER friend"));
        fails(&mut ann, 15151, &format!("ALTER ROLE {role} WITH NAME = other"));
    }
    succeed(&mut ann, "ALTER ROLE plain ADD MEMBER friend");
    // What everyone has leads to nothing more.
    succeed(&mut client, "GRANT IMPERSONATE ON USER::friend TO public");
    succeed(
        &mut ann,
        "ALTER ROLE plain DROP MEMBER friend ALTER ROLE plain ADD MEMBER friend",
    );
}

#[test]
fn a_bulk_load_without_triggers_needs_alter() {
    let fixture = Fixture::new();
    let [mut client, mut ann] = users(&fixture);
    for sql in [
        "CREATE TABLE t (a INT) CREATE TABLE log (who SYSNAME) CREATE TABLE plain (a INT) GRANT INSERT ON t TO ann
         GRANT INSERT ON plain TO ann",
        "CREATE TRIGGER notes ON t AFTER INSERT AS INSERT log SELECT USER_NAME() FROM inserted",
        "CREATE VIEW v AS SELECT a FROM t",
        "CREATE TRIGGER instead ON v INSTEAD OF INSERT AS INSERT t SELECT a FROM inserted",
        "GRANT INSERT ON v TO ann",
    ] {
        succeed(&mut client, sql);
    }
    let columns = [("a", DataType::Int)];
    for target in ["t", "v"] {
        fails(&mut ann, 1088, &format!("INSERT BULK {target} (a int)"));
        let fires = format!("INSERT BULK {target} (a int) WITH (FIRE_TRIGGERS)");
        let answer = ann.bulk(&fires, &columns, &[vec![Value::Int(1)]]);
        assert_eq!(answer.errors(), [], "{target}");
    }
    assert_eq!(client.int("SELECT COUNT(*) FROM log"), 2);
    assert_eq!(
        ann.bulk("INSERT BULK plain (a int)", &columns, &[vec![Value::Int(1)]])
            .errors(),
        []
    );
    succeed(&mut client, "GRANT ALTER ON t TO ann");
    assert_eq!(
        ann.bulk("INSERT BULK t (a int)", &columns, &[vec![Value::Int(1)]])
            .errors(),
        []
    );
    assert_eq!(client.int("SELECT COUNT(*) FROM log"), 2);
}
