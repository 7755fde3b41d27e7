//! GRANT, DENY and REVOKE, roles, and ownership chains.

use super::client::{Client, all_fail, numbers, succeed};
use super::fixture::Fixture;

const PASSWORD: &str = "Corr3ct-horse";

fn all_succeed(client: &mut Client, statements: &[&str]) {
    for sql in statements {
        succeed(client, sql);
    }
}

/// The administrator, beside a database `d` with logins and users `ann` and `bob`, a role `clerks`, and schemas `dbo`
/// and `s`, which `bob` owns.
fn administrator(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    for login in ["ann", "bob"] {
        succeed(
            &mut client,
            &format!("CREATE LOGIN {login} WITH PASSWORD = '{PASSWORD}'"),
        );
    }
    all_succeed(
        &mut client,
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE USER ann FOR LOGIN ann CREATE USER bob FOR LOGIN bob CREATE ROLE clerks",
            "CREATE TABLE t (id INT PRIMARY KEY, a INT) INSERT INTO t VALUES (1, 1), (2, 2)",
            "CREATE TABLE hidden (id INT PRIMARY KEY, a INT) INSERT INTO hidden VALUES (1, 42)",
            "CREATE VIEW v AS SELECT a FROM hidden",
            "CREATE PROCEDURE p AS BEGIN UPDATE hidden SET a = a + 1; SELECT a FROM hidden END",
            "CREATE PROCEDURE text_of AS EXEC ('SELECT a FROM hidden')",
            "CREATE PROCEDURE outer_p AS EXEC p",
            "CREATE SCHEMA s AUTHORIZATION bob",
            "CREATE TABLE s.t (id INT PRIMARY KEY, a INT) INSERT INTO s.t VALUES (1, 7)",
        ],
    );
    client
}

#[test]
fn what_is_granted_on_an_object_is_that_alone() {
    let fixture = Fixture::new();
    let mut client = administrator(&fixture);
    let mut ann = fixture.client_as("ann", PASSWORD, "d");
    all_fail(&mut ann, &[(229, "SELECT a FROM t")]);
    succeed(&mut client, "GRANT SELECT, INSERT ON dbo.t TO ann");
    assert_eq!(ann.int("SELECT SUM(a) FROM t"), 3);
    succeed(&mut ann, "INSERT INTO t VALUES (3, 3)");
    all_fail(
        &mut ann,
        &[
            (229, "UPDATE t SET a = 1"),
            (229, "DELETE t"),
            (1088, "TRUNCATE TABLE t"),
            (1088, "ALTER TABLE t ADD b INT"),
            (3701, "DROP TABLE t"),
            (229, "SELECT a FROM hidden"),
            (229, "SELECT t.a FROM t JOIN hidden ON hidden.id = t.id"),
            (229, "SELECT (SELECT MAX(a) FROM hidden) FROM t"),
            (229, "INSERT INTO t SELECT id + 10, a FROM hidden"),
            (229, "SELECT a FROM s.t"),
            (262, "SELECT a INTO copy FROM t"),
            (262, "CREATE VIEW mine AS SELECT a FROM t"),
        ],
    );
    // It is visible, and the other is not.
    assert_eq!(ann.int("SELECT COUNT(*) FROM sys.tables"), 1);
    assert_eq!(
        ann.int("SELECT CASE WHEN OBJECT_ID('hidden') IS NULL THEN 0 ELSE 1 END"),
        0
    );
    succeed(&mut client, "REVOKE INSERT ON t FROM ann");
    all_fail(&mut ann, &[(229, "INSERT INTO t VALUES (4, 4)")]);
    succeed(&mut ann, "SELECT a FROM t");
    succeed(&mut client, "GRANT ALL PRIVILEGES ON t TO ann");
    all_succeed(&mut ann, &["UPDATE t SET a = 1", "DELETE t"]);
}

#[test]
fn a_permission_comes_by_roles_of_roles_and_a_denial_by_any_of_them_wins() {
    let fixture = Fixture::new();
    let mut client = administrator(&fixture);
    let mut ann = fixture.client_as("ann", PASSWORD, "d");
    all_succeed(
        &mut client,
        &[
            "CREATE ROLE staff",
            "ALTER ROLE staff ADD MEMBER clerks",
            "EXEC sp_addrolemember 'clerks', 'ann'",
            "GRANT SELECT ON SCHEMA::dbo TO staff",
        ],
    );
    all_succeed(
        &mut ann,
        &["SELECT a FROM t", "SELECT a FROM hidden", "SELECT a FROM v"],
    );
    assert_eq!(ann.int("SELECT IS_MEMBER('staff') * 10 + IS_ROLEMEMBER('clerks')"), 11);
    all_fail(&mut ann, &[(229, "SELECT a FROM s.t")]);
    succeed(&mut client, "DENY SELECT ON hidden TO clerks");
    all_fail(&mut ann, &[(229, "SELECT a FROM hidden")]);
    succeed(&mut client, "GRANT SELECT ON hidden TO ann");
    all_fail(&mut ann, &[(229, "SELECT a FROM hidden")]);
    succeed(&mut client, "REVOKE SELECT ON hidden FROM clerks");
    succeed(&mut ann, "SELECT a FROM hidden");
    succeed(&mut client, "DENY SELECT TO public");
    all_fail(&mut ann, &[(229, "SELECT a FROM t"), (229, "SELECT a FROM hidden")]);
    succeed(&mut client, "REVOKE SELECT FROM public");
    succeed(&mut client, "ALTER ROLE clerks DROP MEMBER ann");
    all_fail(&mut ann, &[(229, "SELECT a FROM t")]);
    all_fail(
        &mut client,
        &[
            (15413, "ALTER ROLE clerks ADD MEMBER staff"),
            (15413, "ALTER ROLE clerks ADD MEMBER clerks"),
            (15405, "ALTER ROLE clerks ADD MEMBER db_owner"),
            (15081, "ALTER ROLE [public] ADD MEMBER ann"),
            (15144, "DROP ROLE staff"),
            (15023, "CREATE ROLE ann"),
            (15023, "CREATE USER clerks FOR LOGIN sa"),
            (15150, "DROP ROLE db_owner"),
            (15151, "DROP ROLE nothing"),
            (15409, "EXEC sp_addrolemember 'nothing', 'ann'"),
            (15410, "EXEC sp_addrolemember 'clerks', 'nothing'"),
        ],
    );
    all_succeed(
        &mut client,
        &[
            "ALTER ROLE staff WITH NAME = team",
            "ALTER ROLE team DROP MEMBER clerks",
            "DROP ROLE team",
            "DROP ROLE IF EXISTS team",
        ],
    );
}

#[test]
fn a_view_or_procedure_gives_what_its_owner_owns_and_nothing_else() {
    let fixture = Fixture::new();
    let mut client = administrator(&fixture);
    let mut ann = fixture.client_as("ann", PASSWORD, "d");
    let mut bob = fixture.client_as("bob", PASSWORD, "d");
    all_fail(&mut ann, &[(229, "EXEC p"), (229, "SELECT a FROM v")]);
    succeed(&mut client, "GRANT EXECUTE ON p TO ann GRANT SELECT ON v TO ann");
    assert_eq!(ann.int("EXEC p"), 43);
    assert_eq!(ann.int("SELECT a FROM v"), 43);
    all_fail(
        &mut ann,
        &[(229, "SELECT a FROM hidden"), (229, "UPDATE hidden SET a = 0")],
    );
    // The same text outside the procedure, after it ran: what was bound for it is not used.
    all_fail(&mut ann, &[(229, "UPDATE hidden SET a = a + 1; SELECT a FROM hidden")]);
    all_fail(&mut ann, &[(229, "EXEC outer_p"), (229, "EXEC text_of")]);
    succeed(
        &mut client,
        "REVOKE EXECUTE ON p FROM ann GRANT EXECUTE ON outer_p TO ann GRANT EXECUTE ON text_of TO ann",
    );
    // One procedure may call another of its owner; a text that it executes is the caller's own.
    assert_eq!(ann.int("EXEC outer_p"), 44);
    all_fail(&mut ann, &[(229, "EXEC p"), (229, "EXEC text_of")]);
    for (name, text) in [
        ("#mine", "SELECT a FROM hidden"),
        ("#calls", "EXEC p"),
        ("##mine", "SELECT a FROM hidden"),
        ("##calls", "EXEC dbo.p"),
    ] {
        succeed(&mut ann, &format!("CREATE PROCEDURE {name} AS {text}"));
        all_fail(&mut ann, &[(229, &format!("EXEC {name}"))]);
    }
    succeed(&mut client, "CREATE PROCEDURE text_calls AS EXEC ('EXEC p')");
    succeed(&mut client, "GRANT EXECUTE ON text_calls TO ann");
    all_fail(&mut ann, &[(229, "EXEC text_calls")]);

    // What has another owner breaks the chain: bob may not read hidden through a view of his own.
    all_succeed(
        &mut client,
        &[
            "GRANT CREATE VIEW TO bob GRANT CREATE PROCEDURE TO bob",
            "CREATE VIEW dbo.of_bob AS SELECT a FROM s.t",
            "GRANT SELECT ON dbo.of_bob TO ann",
        ],
    );
    all_succeed(
        &mut bob,
        &[
            "CREATE VIEW s.stolen AS SELECT a FROM dbo.hidden",
            "CREATE PROCEDURE s.thief AS SELECT a FROM dbo.hidden",
            "CREATE PROCEDURE s.calls AS EXEC dbo.p",
            "CREATE VIEW s.twice AS SELECT a FROM dbo.v",
            "CREATE PROCEDURE s.writes AS INSERT INTO dbo.hidden VALUES (9, 9)",
        ],
    );
    all_fail(
        &mut bob,
        &[
            (229, "SELECT a FROM s.stolen"),
            (229, "EXEC s.thief"),
            (229, "EXEC s.calls"),
            (229, "SELECT a FROM s.twice"),
            (229, "EXEC s.writes"),
            (229, "INSERT INTO s.stolen VALUES (5)"),
        ],
    );
    all_fail(&mut ann, &[(229, "SELECT a FROM dbo.of_bob")]);
    succeed(&mut bob, "GRANT SELECT ON s.t TO ann");
    assert_eq!(ann.int("SELECT a FROM dbo.of_bob"), 7);
    assert_eq!(client.int("SELECT COUNT(*) FROM hidden"), 1);
}

#[test]
fn a_change_through_a_view_needs_what_the_views_owner_does_not_own() {
    let fixture = Fixture::new();
    let mut client = administrator(&fixture);
    let mut bob = fixture.client_as("bob", PASSWORD, "d");
    all_succeed(
        &mut client,
        &[
            "CREATE VIEW dbo.whole AS SELECT id, a FROM hidden",
            "GRANT SELECT ON hidden TO bob GRANT SELECT ON whole TO bob GRANT CREATE VIEW TO bob",
        ],
    );
    all_succeed(
        &mut bob,
        &[
            "CREATE VIEW s.direct AS SELECT id, a FROM dbo.hidden",
            "CREATE VIEW s.twice AS SELECT id, a FROM dbo.whole",
            "CREATE VIEW s.outermost AS SELECT id, a FROM s.twice",
        ],
    );
    let changes = |view: &str| {
        [
            format!("INSERT INTO s.{view} VALUES (5, 5)"),
            format!("UPDATE s.{view} SET a = 0"),
            format!("WITH c AS (SELECT id, a FROM s.{view}) UPDATE c SET a = 0"),
            format!(
                "MERGE s.{view} AS t USING (SELECT 5 AS id) AS s ON t.id = s.id WHEN NOT MATCHED THEN INSERT VALUES (5, 5);"
            ),
            format!("DELETE s.{view}"),
        ]
    };
    for view in ["direct", "twice", "outermost"] {
        for change in changes(view) {
            all_fail(&mut bob, &[(229, &change)]);
        }
    }
    succeed(&mut client, "GRANT INSERT, UPDATE, DELETE ON whole TO bob");
    for view in ["twice", "outermost"] {
        for change in changes(view) {
            succeed(&mut bob, &change);
        }
    }
    all_fail(&mut bob, &[(229, "INSERT INTO s.direct VALUES (6, 6)")]);
    succeed(&mut client, "GRANT INSERT ON hidden TO bob");
    succeed(&mut bob, "INSERT INTO s.direct VALUES (6, 6)");
}

#[test]
fn who_may_create_and_who_may_alter() {
    let fixture = Fixture::new();
    let mut client = administrator(&fixture);
    let mut ann = fixture.client_as("ann", PASSWORD, "d");
    succeed(&mut client, "GRANT CREATE TABLE TO ann");
    all_fail(
        &mut ann,
        &[
            (2760, "CREATE TABLE mine (a INT)"),
            (2760, "CREATE TABLE s.mine (a INT)"),
        ],
    );
    all_fail(&mut ann, &[(2760, "SELECT 1 AS a INTO mine")]);
    succeed(&mut client, "GRANT ALTER ON SCHEMA::dbo TO ann");
    all_succeed(
        &mut ann,
        &[
            "CREATE TABLE mine (a INT)",
            "CREATE INDEX i ON mine (a)",
            "ALTER TABLE mine ADD b INT",
            "TRUNCATE TABLE mine",
            "DROP TABLE mine",
        ],
    );
    all_fail(
        &mut ann,
        &[
            (229, "SELECT a FROM t"),
            (229, "CREATE TABLE child (id INT REFERENCES s.t (id))"),
            (262, "CREATE PROCEDURE q AS SELECT 1"),
            (262, "CREATE FUNCTION f() RETURNS INT AS BEGIN RETURN 1 END"),
            (262, "CREATE SYNONYM y FOR t"),
            (262, "CREATE SEQUENCE s.numbers"),
            (262, "CREATE SCHEMA x"),
            (15151, "GRANT SELECT ON t TO ann"),
            (15151, "ALTER SCHEMA s TRANSFER dbo.t"),
            (15247, "CREATE ROLE mine"),
        ],
    );
    succeed(&mut client, "GRANT REFERENCES ON s.t TO ann");
    succeed(&mut ann, "CREATE TABLE child (id INT REFERENCES s.t (id))");
    succeed(
        &mut client,
        "REVOKE ALTER ON SCHEMA::dbo FROM ann GRANT ALTER ON t TO ann",
    );
    succeed(&mut ann, "ALTER TABLE t ADD b INT");
    all_fail(
        &mut ann,
        &[(3701, "DROP TABLE t"), (1088, "ALTER TABLE hidden ADD b INT")],
    );
    all_fail(&mut ann, &[(229, "ALTER TABLE t ADD c INT REFERENCES hidden (id)")]);
    succeed(&mut client, "GRANT CONTROL ON t TO ann");
    all_succeed(
        &mut ann,
        &["SELECT a FROM t", "GRANT SELECT ON t TO bob", "DROP TABLE t"],
    );
}

#[test]
fn sequences_synonyms_and_functions_have_permissions_of_their_own() {
    let fixture = Fixture::new();
    let mut client = administrator(&fixture);
    let mut ann = fixture.client_as("ann", PASSWORD, "d");
    succeed(&mut client, "GRANT ALTER ON SCHEMA::dbo TO ann");
    succeed(&mut client, "GRANT CREATE FUNCTION TO ann GRANT CREATE SYNONYM TO ann");
    succeed(&mut ann, "CREATE SEQUENCE numbers");
    succeed(&mut ann, "CREATE SYNONYM y FOR hidden");
    succeed(
        &mut ann,
        "CREATE FUNCTION reads() RETURNS INT AS BEGIN RETURN (SELECT MAX(a) FROM s.t) END",
    );
    all_fail(
        &mut ann,
        &[
            (229, "SELECT a FROM y"),
            (229, "SELECT dbo.reads()"),
            (229, "SELECT NEXT VALUE FOR numbers AS n"),
        ],
    );
    succeed(
        &mut client,
        "GRANT EXECUTE ON reads TO ann GRANT UPDATE ON numbers TO ann",
    );
    all_fail(&mut ann, &[(229, "SELECT dbo.reads()")]);
    succeed(&mut ann, "SELECT NEXT VALUE FOR numbers AS n");
    succeed(&mut client, "DENY ALTER ON reads TO ann");
    all_fail(
        &mut ann,
        &[(
            1088,
            "CREATE OR ALTER FUNCTION reads() RETURNS INT AS BEGIN RETURN 1 END",
        )],
    );
}

#[test]
fn who_may_create_schemas_and_roles() {
    let fixture = Fixture::new();
    let mut client = administrator(&fixture);
    let mut ann = fixture.client_as("ann", PASSWORD, "d");
    succeed(
        &mut client,
        "GRANT CREATE SCHEMA TO ann GRANT CREATE ROLE TO ann GRANT CREATE TABLE TO ann GRANT REFERENCES ON s.t TO ann",
    );
    succeed(&mut ann, "CREATE ROLE mine");
    succeed(&mut ann, "ALTER ROLE mine ADD MEMBER bob");
    all_fail(
        &mut ann,
        &[
            (15151, "ALTER ROLE clerks ADD MEMBER ann"),
            (15151, "ALTER ROLE db_owner ADD MEMBER ann"),
            (15247, "EXEC sp_addrolemember 'db_owner', 'ann'"),
            (15151, "CREATE SCHEMA x AUTHORIZATION dbo"),
            (15151, "CREATE ROLE r AUTHORIZATION db_owner"),
            (229, "CREATE SCHEMA x CREATE TABLE y (id INT REFERENCES hidden (id))"),
            (4613, "GRANT CREATE VIEW TO bob"),
            (15151, "DROP ROLE clerks"),
        ],
    );
    succeed(&mut ann, "CREATE SCHEMA x CREATE TABLE y (id INT REFERENCES s.t (id))");
    succeed(&mut client, "GRANT ALTER ANY ROLE TO ann GRANT ALTER ANY USER TO ann");
    succeed(&mut ann, "ALTER ROLE clerks ADD MEMBER bob");
    all_fail(&mut ann, &[(15151, "ALTER ROLE db_datareader ADD MEMBER ann")]);
    all_fail(&mut client, &[(15138, "DROP USER bob"), (15138, "DROP USER ann")]);
    succeed(&mut client, "DROP TABLE x.y DROP SCHEMA x");
    all_fail(&mut client, &[(15421, "DROP USER ann")]);
}

#[test]
fn what_can_not_be_granted_is_refused() {
    let fixture = Fixture::new();
    let mut client = administrator(&fixture);
    all_fail(
        &mut client,
        &[
            (4606, "GRANT EXECUTE ON t TO ann"),
            (4606, "GRANT SELECT ON p TO ann"),
            (4606, "GRANT CREATE TABLE ON SCHEMA::dbo TO ann"),
            (15151, "GRANT SELECT ON nothing TO ann"),
            (15151, "GRANT SELECT ON t TO nothing"),
            (15151, "GRANT SELECT ON SCHEMA::nothing TO ann"),
            (4617, "GRANT SELECT ON t TO db_datareader"),
            (4624, "GRANT SELECT ON t TO dbo"),
            (4624, "GRANT SELECT ON s.t TO bob"),
            (4610, "GRANT SELECT ON master.dbo.t TO ann"),
            (40510, "GRANT TAKE OWNERSHIP ON t TO ann"),
            (4621, "GRANT VIEW SERVER STATE TO ann"),
            (15151, "GRANT SELECT ON t TO ann AS nothing"),
            (40510, "REVOKE CONNECT FROM ann"),
        ],
    );
    let rows = "SELECT COUNT(*) FROM sys.database_permissions WHERE class > 0 OR permission_name <> 'CONNECT'";
    assert_eq!(client.int(rows), 0);
}

#[test]
fn permissions_go_with_what_they_are_on_and_who_has_them() {
    let fixture = Fixture::new();
    let mut client = administrator(&fixture);
    let mut ann = fixture.client_as("ann", PASSWORD, "d");
    // The number of a table that was dropped is given again.
    succeed(&mut client, "CREATE TABLE last (a INT) GRANT SELECT ON last TO ann");
    let id = client.int("SELECT OBJECT_ID('last')");
    succeed(&mut client, "DROP TABLE last");
    succeed(&mut client, "CREATE TABLE other (a INT)");
    assert_eq!(client.int("SELECT OBJECT_ID('other')"), id);
    all_fail(&mut ann, &[(229, "SELECT a FROM other")]);

    succeed(&mut client, "GRANT SELECT ON t TO ann GRANT EXECUTE ON p TO ann");
    all_succeed(&mut ann, &["SELECT a FROM t", "EXEC p"]);
    succeed(&mut client, "ALTER PROCEDURE p AS SELECT 1 AS a");
    succeed(&mut ann, "EXEC p");
    succeed(&mut client, "CREATE SCHEMA more");
    succeed(
        &mut client,
        "ALTER SCHEMA more TRANSFER dbo.t ALTER SCHEMA more TRANSFER dbo.p",
    );
    all_fail(&mut ann, &[(229, "SELECT a FROM more.t"), (229, "EXEC more.p")]);

    succeed(&mut client, "GRANT SELECT ON SCHEMA::more TO ann");
    succeed(&mut ann, "SELECT a FROM more.t");
    succeed(&mut client, "DROP USER ann");
    all_fail(&mut ann, &[(916, "SELECT a FROM more.t")]);
    succeed(&mut client, "CREATE USER ann FOR LOGIN ann");
    all_fail(&mut ann, &[(229, "SELECT a FROM more.t")]);

    succeed(&mut client, "DENY CONNECT TO ann");
    all_fail(&mut ann, &[(916, "SELECT a FROM more.t")]);
    assert_eq!(numbers(&fixture.client_as("ann", PASSWORD, "d").login), [4060, 18456]);
    succeed(&mut client, "REVOKE CONNECT FROM ann");
    succeed(&mut ann, "SELECT 1 AS a");

    // A rollback takes a permission back, and a statement that was bound under it is not run.
    succeed(&mut client, "BEGIN TRANSACTION GRANT SELECT ON hidden TO ann");
    all_fail(&mut ann, &[(229, "SELECT a FROM hidden")]);
    succeed(&mut client, "COMMIT");
    succeed(&mut ann, "SELECT a FROM hidden");
    succeed(
        &mut client,
        "BEGIN TRANSACTION REVOKE SELECT ON hidden FROM ann ROLLBACK",
    );
    succeed(&mut ann, "SELECT a FROM hidden");
}

#[test]
fn permissions_are_shown() {
    let fixture = Fixture::new();
    let mut client = administrator(&fixture);
    let mut ann = fixture.client_as("ann", PASSWORD, "d");
    succeed(
        &mut client,
        "GRANT SELECT ON t TO ann DENY UPDATE ON SCHEMA::s TO clerks GRANT CREATE TABLE TO ann GRANT VIEW DEFINITION ON p TO ann",
    );
    let shown = "SELECT STRING_AGG(CONCAT(class_desc, ' ', RTRIM(type), ' ', permission_name, ' ', state_desc, ' ',
                 USER_NAME(grantee_principal_id)), '; ') WITHIN GROUP (ORDER BY class, type)
                 FROM sys.database_permissions WHERE type <> 'CO'";
    let answer = succeed(&mut client, shown);
    assert_eq!(
        format!("{:?}", answer.rows()[0][0]),
        "Text(\"DATABASE CRTB CREATE TABLE GRANT ann; OBJECT_OR_COLUMN SL SELECT GRANT ann; OBJECT_OR_COLUMN VW VIEW \
         DEFINITION GRANT ann; SCHEMA UP UPDATE DENY clerks\")"
    );
    let has = |client: &mut Client, of: &str| client.int(&format!("SELECT ISNULL(HAS_PERMS_BY_NAME({of}), -1)"));
    assert_eq!(has(&mut ann, "'dbo.t', 'OBJECT', 'SELECT'"), 1);
    assert_eq!(has(&mut ann, "'t', 'object', 'update'"), 0);
    assert_eq!(has(&mut ann, "'t', 'OBJECT', 'ANY'"), 1);
    assert_eq!(has(&mut ann, "'t', 'OBJECT', 'EXECUTE'"), -1);
    assert_eq!(has(&mut ann, "'hidden', 'OBJECT', 'SELECT'"), -1);
    assert_eq!(has(&mut ann, "DB_NAME(), 'DATABASE', 'CREATE TABLE'"), 1);
    assert_eq!(has(&mut ann, "NULL, 'DATABASE', 'CREATE VIEW'"), 0);
    assert_eq!(has(&mut ann, "'s', 'SCHEMA', 'SELECT'"), 0);
    assert_eq!(has(&mut client, "'dbo.t', 'OBJECT', 'DELETE'"), 1);
    assert_eq!(has(&mut ann, "NULL, NULL, 'VIEW SERVER STATE'"), 0);
    assert_eq!(has(&mut ann, "NULL, NULL, 'connect sql'"), 1);
    assert_eq!(has(&mut client, "NULL, NULL, 'VIEW SERVER STATE'"), 1);
    assert_eq!(has(&mut client, "NULL, NULL, 'FLY'"), -1);
    // One of the table, and one of each column.
    assert_eq!(ann.int("SELECT COUNT(*) FROM fn_my_permissions('dbo.t', 'OBJECT')"), 3);
    assert_eq!(ann.int("SELECT COUNT(*) FROM fn_my_permissions(NULL, 'SERVER')"), 2);
    assert_eq!(
        ann.int("SELECT COUNT(*) FROM sys.fn_my_permissions(NULL, 'DATABASE')"),
        2
    );
    // The text of p is visible, that of v is not, and neither is v.
    assert_eq!(
        ann.int("SELECT COUNT(*) FROM sys.sql_modules WHERE definition IS NOT NULL"),
        1
    );
    succeed(&mut ann, "EXEC sp_helptext 'p'");
    all_fail(&mut ann, &[(15009, "EXEC sp_helptext 'v'")]);
}

#[test]
fn each_action_of_a_merge_and_output_into_need_their_permission() {
    let fixture = Fixture::new();
    let mut client = administrator(&fixture);
    let mut ann = fixture.client_as("ann", PASSWORD, "d");
    succeed(
        &mut client,
        "GRANT SELECT, UPDATE ON dbo.t TO ann GRANT SELECT ON dbo.hidden TO ann",
    );
    let update = "MERGE t USING (SELECT 1 AS id) AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET a = 5";
    let all = "MERGE t USING (SELECT 9 AS id) AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET a = 5 \
               WHEN NOT MATCHED THEN INSERT (id) VALUES (9);";
    succeed(&mut ann, &format!("{update};"));
    all_fail(
        &mut ann,
        &[
            (229, all),
            (229, &format!("{update} OUTPUT inserted.id + 50, 1 INTO hidden;")),
            (229, "UPDATE t SET a = 1 OUTPUT inserted.id + 50, 1 INTO hidden"),
        ],
    );
    assert_eq!(client.int("SELECT COUNT(*) FROM hidden"), 1);
    succeed(
        &mut client,
        "GRANT INSERT ON dbo.t TO ann GRANT INSERT ON dbo.hidden TO ann",
    );
    succeed(&mut ann, all);
    succeed(&mut ann, "UPDATE t SET a = 1 OUTPUT inserted.id + 50, 1 INTO hidden");
    assert_eq!(client.int("SELECT COUNT(*) FROM hidden"), 4);
}

#[test]
fn a_table_is_transferred_only_by_those_who_control_it() {
    let fixture = Fixture::new();
    let mut client = administrator(&fixture);
    let mut ann = fixture.client_as("ann", PASSWORD, "d");
    succeed(&mut client, "ALTER ROLE db_ddladmin ADD MEMBER ann");
    succeed(&mut ann, "CREATE SCHEMA mine");
    all_fail(
        &mut ann,
        &[
            (15151, "ALTER SCHEMA mine TRANSFER dbo.hidden"),
            (15151, "ALTER SCHEMA mine TRANSFER dbo.p"),
            (208, "SELECT a FROM mine.hidden"),
        ],
    );
    succeed(&mut client, "GRANT CONTROL ON dbo.hidden TO ann");
    succeed(&mut ann, "ALTER SCHEMA mine TRANSFER dbo.hidden");
    succeed(&mut client, "ALTER SCHEMA dbo TRANSFER mine.hidden");
}

#[test]
fn texts_of_routines_and_filters_need_view_definition() {
    let fixture = Fixture::new();
    let mut client = administrator(&fixture);
    let mut ann = fixture.client_as("ann", PASSWORD, "d");
    succeed(&mut client, "CREATE INDEX few ON t (a) WHERE a > 7");
    succeed(&mut client, "GRANT EXECUTE ON p TO ann GRANT SELECT ON t TO ann");
    let texts = [
        "SELECT COUNT(ROUTINE_DEFINITION) FROM INFORMATION_SCHEMA.ROUTINES",
        "SELECT COUNT(filter_definition) FROM sys.indexes",
        "SELECT COUNT(filter_definition) FROM sys.stats",
    ];
    for sql in texts {
        assert_eq!(ann.int(sql), 0, "{sql}");
    }
    assert_eq!(ann.int("SELECT COUNT(*) FROM sys.indexes WHERE has_filter = 1"), 1);
    assert_eq!(ann.int("SELECT COUNT(*) FROM INFORMATION_SCHEMA.ROUTINES"), 1);
    succeed(&mut client, "GRANT VIEW DEFINITION TO ann");
    for sql in texts {
        assert!(ann.int(sql) > 0, "{sql}");
    }
}
