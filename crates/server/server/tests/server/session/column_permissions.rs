//! GRANT, DENY and REVOKE on columns, and ways around them.

use super::client::{Client, all_fail, succeed};
use super::fixture::Fixture;

const PASSWORD: &str = "Corr3ct-horse";

/// The administrator, beside a database `d` with a user `ann`, who may read `id` and `name` of `staff`, and change
/// `name`; `pay` is 5000.
fn administrator(fixture: &Fixture) -> (Client, Client) {
    let mut client = fixture.client();
    succeed(
        &mut client,
        &format!("CREATE LOGIN ann WITH PASSWORD = '{PASSWORD}' CREATE DATABASE d"),
    );
    for sql in [
        "USE d CREATE USER ann FOR LOGIN ann CREATE ROLE clerks",
        "CREATE TABLE staff (id INT PRIMARY KEY, name NVARCHAR(20), pay INT, twice AS pay * 2, few AS id + 1)",
        "INSERT INTO staff (id, name, pay) VALUES (1, N'Eve', 5000)",
        "CREATE VIEW names AS SELECT id, name FROM staff",
        "CREATE VIEW pays AS SELECT id, pay FROM staff",
        "GRANT SELECT (id, name) ON staff TO ann GRANT UPDATE ON staff (name) TO ann",
    ] {
        succeed(&mut client, sql);
    }
    let ann = fixture.client_as("ann", PASSWORD, "d");
    (client, ann)
}

#[test]
fn what_is_granted_on_columns_is_those_alone() {
    let fixture = Fixture::new();
    let (mut client, mut ann) = administrator(&fixture);
    assert_eq!(ann.text("SELECT name FROM staff WHERE id = 1"), "Eve");
    succeed(&mut ann, "UPDATE staff SET name = N'Eva' WHERE id = 1");
    all_fail(
        &mut ann,
        &[
            (230, "SELECT pay FROM staff"),
            (230, "SELECT * FROM staff"),
            (230, "SELECT s.* FROM staff AS s"),
            (230, "SELECT id FROM staff WHERE pay > 4000"),
            (230, "SELECT id FROM staff ORDER BY pay"),
            (230, "SELECT MAX(id) FROM staff GROUP BY pay"),
            (230, "SELECT MAX(id) FROM staff HAVING MAX(pay) > 1"),
            (230, "SELECT a.id FROM staff AS a JOIN staff AS b ON a.pay = b.pay"),
            (230, "SELECT ROW_NUMBER() OVER (ORDER BY pay) AS n FROM staff"),
            // Where no column is named, all of them are read.
            (230, "SELECT COUNT(*) FROM staff"),
            (230, "SELECT 1 AS one FROM staff"),
            (230, "SELECT a.id FROM staff AS a CROSS JOIN staff AS b"),
            (230, "UPDATE staff SET pay = 1"),
            (230, "UPDATE staff SET pay = 1, name = N'x'"),
            (230, "UPDATE staff SET name = N'x' WHERE pay > 1"),
            (230, "UPDATE staff SET name = STR(pay)"),
            (229, "DELETE staff"),
            (229, "INSERT INTO staff (id) VALUES (7)"),
            (1088, "TRUNCATE TABLE staff"),
        ],
    );
    assert_eq!(client.int("SELECT pay FROM staff"), 5000);
    succeed(&mut client, "GRANT SELECT (PAY) ON staff TO ann");
    assert_eq!(ann.int("SELECT pay FROM staff"), 5000);
    succeed(&mut client, "REVOKE SELECT ON staff (pay) FROM ann");
    all_fail(&mut ann, &[(230, "SELECT pay FROM staff")]);
    succeed(&mut client, "REVOKE SELECT ON staff FROM ann");
    all_fail(&mut ann, &[(229, "SELECT name FROM staff")]);
}

/// Ways around the permission on a column.
const OTHER_WAYS: &[(i32, &str)] = &[
    (230, "UPDATE staff SET name = N'x' OUTPUT deleted.pay"),
    (230, "UPDATE staff SET name = N'x' OUTPUT inserted.*"),
    (230, "UPDATE staff SET name = N'x' OUTPUT deleted.pay INTO mine"),
    (229, "DECLARE @a INT UPDATE staff SET @a = pay"),
    (230, "DECLARE @a INT SELECT @a = pay FROM staff"),
    (230, "UPDATE s SET pay = 1 FROM staff AS s WHERE s.id = 1"),
    (
        230,
        "UPDATE s SET name = N'x' FROM staff AS s JOIN mine ON mine.n = s.pay",
    ),
    (
        230,
        "WITH c (id, name) AS (SELECT id, pay FROM staff) SELECT name FROM c",
    ),
    (230, "WITH c (name) AS (SELECT pay FROM staff) UPDATE c SET name = 1"),
    (230, "UPDATE c SET name = 1 FROM (SELECT pay AS name FROM staff) AS c"),
    (230, "SELECT d.name FROM (SELECT pay AS name FROM staff) AS d"),
    (
        230,
        "SELECT id FROM staff WHERE EXISTS (SELECT * FROM staff AS s WHERE s.id = 1)",
    ),
    (230, "SELECT id, (SELECT MAX(pay) FROM staff) AS m FROM staff"),
    (230, "SELECT id FROM staff WHERE id IN (SELECT pay FROM staff)"),
    (230, "SELECT id FROM staff UNION ALL SELECT pay FROM staff"),
    (230, "INSERT INTO mine SELECT pay FROM staff"),
    (
        230,
        "MERGE mine USING (SELECT pay FROM staff) AS s ON mine.n = s.pay WHEN NOT MATCHED THEN INSERT VALUES (1);",
    ),
    (
        230,
        "MERGE staff USING (SELECT 1 AS n) AS s ON staff.pay = s.n WHEN MATCHED THEN UPDATE SET name = N'x';",
    ),
    (
        230,
        "MERGE staff USING (SELECT 1 AS n) AS s ON staff.id = s.n WHEN MATCHED THEN UPDATE SET pay = 1;",
    ),
    (
        230,
        "MERGE staff USING (SELECT 1 AS n) AS s ON staff.id = s.n WHEN MATCHED THEN UPDATE SET name = N'x' \
         OUTPUT deleted.pay;",
    ),
    (
        230,
        "SELECT p.[1] FROM (SELECT id, pay FROM staff) AS s PIVOT (MAX(pay) FOR id IN ([1])) AS p",
    ),
    (230, "SELECT p.[1] FROM staff PIVOT (MAX(name) FOR id IN ([1])) AS p"),
    (230, "SELECT u.v FROM staff UNPIVOT (v FOR c IN (pay)) AS u"),
    (230, "SELECT u.v FROM staff UNPIVOT (v FOR c IN (id)) AS u"),
    (230, "SELECT x.p FROM staff CROSS APPLY (SELECT staff.pay AS p) AS x"),
    (230, "SELECT id, pay FROM staff FOR JSON AUTO"),
    (230, "SELECT * FROM staff FOR XML RAW"),
    (230, "SELECT pay FROM people"),
    (230, "SELECT pay FROM d.dbo.staff"),
    (230, "EXEC sp_executesql N'SELECT pay FROM staff'"),
    (230, "EXEC ('SELECT pay FROM staff')"),
    (230, "DECLARE c CURSOR FOR SELECT pay FROM staff OPEN c"),
    (230, "DECLARE c CURSOR KEYSET FOR SELECT id, pay FROM staff OPEN c"),
    (
        230,
        "SELECT id FROM staff WHERE CAST(pay AS NVARCHAR(9)) = N'x' OR 1 / 0 = 1",
    ),
    (262, "SELECT id INTO copy FROM staff"),
    (230, "SELECT pay INTO #copy FROM staff"),
    (230, "SELECT TOP (SELECT MAX(pay) FROM staff) id FROM staff"),
    (
        230,
        "SELECT id FROM staff ORDER BY id OFFSET (SELECT MIN(pay) FROM staff) ROWS",
    ),
    (229, "SELECT pay FROM pays"),
    (229, "SELECT id FROM names"),
];

#[test]
fn no_other_way_leads_to_a_column() {
    let fixture = Fixture::new();
    let (mut client, mut ann) = administrator(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE mine (n INT) GRANT SELECT, INSERT, UPDATE, DELETE ON mine TO ann",
    );
    succeed(&mut client, "CREATE SYNONYM people FOR staff");
    all_fail(&mut ann, OTHER_WAYS);
    assert_eq!(client.int("SELECT COUNT(*) FROM mine"), 0);
    assert_eq!(client.text("SELECT name FROM staff WHERE pay = 5000"), "Eve");
    // In another database, and with one.
    succeed(&mut client, "CREATE DATABASE e");
    succeed(
        &mut client,
        "USE e CREATE USER ann FOR LOGIN ann CREATE TABLE o (n INT) GRANT SELECT ON o TO ann",
    );
    let mut there = fixture.client_as("ann", PASSWORD, "e");
    assert_eq!(there.text("SELECT name FROM d.dbo.staff"), "Eve");
    all_fail(
        &mut there,
        &[
            (230, "SELECT pay FROM d.dbo.staff"),
            (230, "SELECT s.name FROM d.dbo.staff AS s JOIN e.dbo.o ON o.n = s.pay"),
            (230, "SELECT s.* FROM d.dbo.staff AS s CROSS JOIN e.dbo.o"),
        ],
    );
    succeed(
        &mut there,
        "SELECT s.name FROM d.dbo.staff AS s LEFT JOIN e.dbo.o ON o.n = s.id",
    );
}

#[test]
fn a_statement_that_was_bound_for_one_user_is_not_run_for_another() {
    let fixture = Fixture::new();
    let (mut client, mut ann) = administrator(&fixture);
    let sql = "SELECT pay FROM staff";
    succeed(&mut client, "GRANT SELECT ON staff TO ann");
    assert_eq!(ann.int(sql), 5000);
    succeed(&mut client, "DENY SELECT ON staff (pay) TO ann");
    all_fail(&mut ann, &[(230, sql)]);
    succeed(&mut client, "REVOKE SELECT ON staff (pay) FROM ann");
    all_fail(&mut ann, &[(230, sql)]);
    succeed(&mut client, "GRANT SELECT ON staff (pay) TO ann");
    assert_eq!(ann.int(sql), 5000);
    succeed(
        &mut client,
        "BEGIN TRANSACTION DENY SELECT (pay) ON staff TO public ROLLBACK",
    );
    assert_eq!(ann.int(sql), 5000);
}

#[test]
fn a_grant_on_a_column_is_stronger_than_a_denial_on_its_table_and_a_denial_on_it_than_all() {
    let fixture = Fixture::new();
    let (mut client, mut ann) = administrator(&fixture);
    succeed(
        &mut client,
        "ALTER ROLE clerks ADD MEMBER ann DENY SELECT ON staff TO clerks",
    );
    assert_eq!(ann.text("SELECT name FROM staff"), "Eve");
    all_fail(&mut ann, &[(230, "SELECT pay FROM staff")]);
    succeed(&mut client, "DENY SELECT ON SCHEMA::dbo TO clerks");
    all_fail(&mut ann, &[(230, "SELECT name FROM staff")]);
    succeed(
        &mut client,
        "REVOKE SELECT ON SCHEMA::dbo FROM clerks REVOKE SELECT ON staff FROM clerks",
    );
    succeed(
        &mut client,
        "GRANT SELECT ON staff TO clerks DENY SELECT ON staff (name) TO clerks",
    );
    assert_eq!(ann.int("SELECT pay FROM staff"), 5000);
    all_fail(
        &mut ann,
        &[(230, "SELECT name FROM staff"), (230, "SELECT * FROM staff")],
    );
    // What is granted on the table later does not take the denial back.
    succeed(
        &mut client,
        "GRANT SELECT ON staff TO clerks GRANT SELECT ON staff TO ann",
    );
    all_fail(&mut ann, &[(230, "SELECT name FROM staff")]);
    succeed(&mut client, "REVOKE SELECT ON staff (name) FROM clerks");
    assert_eq!(ann.text("SELECT name FROM staff"), "Eve");
    succeed(&mut client, "ALTER ROLE db_denydatareader ADD MEMBER ann");
    all_fail(&mut ann, &[(229, "SELECT name FROM staff")]);
}

#[test]
fn a_column_of_a_view_is_one_of_its_own() {
    let fixture = Fixture::new();
    let (mut client, mut ann) = administrator(&fixture);
    succeed(
        &mut client,
        "GRANT SELECT (id) ON pays TO ann GRANT UPDATE (id) ON pays TO ann",
    );
    assert_eq!(ann.int("SELECT id FROM pays"), 1);
    all_fail(
        &mut ann,
        &[
            (230, "SELECT pay FROM pays"),
            (230, "SELECT * FROM pays"),
            (230, "SELECT COUNT(*) FROM pays"),
            (230, "UPDATE pays SET pay = 1"),
            (230, "UPDATE pays SET id = 7 OUTPUT deleted.pay"),
            (230, "UPDATE pays SET id = pay"),
            (229, "WITH c (id) AS (SELECT pay FROM pays) UPDATE c SET id = 7"),
            (229, "UPDATE p SET id = 7 FROM (SELECT pay AS id FROM pays) AS p"),
        ],
    );
    succeed(&mut client, "GRANT SELECT ON pays TO ann");
    assert_eq!(ann.int("SELECT pay FROM pays"), 5000);
    // The columns of the table are not checked, whose owner is the view's.
    succeed(&mut client, "DENY SELECT ON staff (pay) TO ann");
    assert_eq!(ann.int("SELECT pay FROM pays"), 5000);
    // The view of another owner reads what its reader may.
    succeed(&mut client, "CREATE ROLE others");
    succeed(&mut client, "CREATE SCHEMA s AUTHORIZATION others");
    succeed(&mut client, "CREATE VIEW s.taken AS SELECT pay FROM dbo.staff");
    succeed(&mut client, "CREATE VIEW s.given AS SELECT name FROM dbo.staff");
    succeed(&mut client, "GRANT SELECT ON SCHEMA::s TO ann");
    all_fail(&mut ann, &[(230, "SELECT pay FROM s.taken")]);
    assert_eq!(ann.text("SELECT name FROM s.given"), "Eve");
}

#[test]
fn a_computed_column_is_granted_by_itself_but_shows_nothing_that_is_denied() {
    let fixture = Fixture::new();
    let (mut client, mut ann) = administrator(&fixture);
    all_fail(
        &mut ann,
        &[(230, "SELECT twice FROM staff"), (230, "SELECT few FROM staff")],
    );
    succeed(&mut client, "GRANT SELECT (twice, few) ON staff TO ann");
    assert_eq!(ann.int("SELECT twice FROM staff"), 10_000);
    succeed(&mut client, "DENY SELECT (pay) ON staff TO ann");
    all_fail(
        &mut ann,
        &[
            (230, "SELECT twice FROM staff"),
            (230, "SELECT id FROM staff WHERE twice > 1"),
            (230, "UPDATE staff SET name = N'x' OUTPUT inserted.twice"),
        ],
    );
    assert_eq!(ann.int("SELECT few FROM staff"), 2);
}

#[test]
fn a_foreign_key_needs_references_on_the_columns_that_it_names() {
    let fixture = Fixture::new();
    let (mut client, mut ann) = administrator(&fixture);
    succeed(&mut client, "CREATE TABLE keys (a INT PRIMARY KEY, b INT UNIQUE)");
    succeed(&mut client, "CREATE SCHEMA own AUTHORIZATION ann");
    succeed(
        &mut client,
        "GRANT CREATE TABLE TO ann GRANT REFERENCES (b) ON keys TO ann",
    );
    all_fail(
        &mut ann,
        &[
            (230, "CREATE TABLE own.c (a INT REFERENCES dbo.keys (a))"),
            (229, "CREATE TABLE own.c (a INT REFERENCES dbo.staff (id))"),
        ],
    );
    succeed(&mut ann, "CREATE TABLE own.c (b INT REFERENCES dbo.keys (b))");
}

#[test]
fn a_permission_on_a_column_goes_with_the_column() {
    let fixture = Fixture::new();
    let (mut client, mut ann) = administrator(&fixture);
    succeed(&mut client, "EXEC sp_rename 'staff.name', 'called', 'COLUMN'");
    assert_eq!(ann.text("SELECT called FROM staff"), "Eve");
    succeed(&mut client, "ALTER TABLE staff DROP COLUMN called");
    succeed(&mut client, "ALTER TABLE staff ADD called NVARCHAR(20)");
    all_fail(&mut ann, &[(230, "SELECT called FROM staff")]);
    succeed(&mut ann, "SELECT id FROM staff");
    succeed(&mut client, "DROP VIEW names DROP VIEW pays DROP TABLE staff");
    succeed(&mut client, "CREATE TABLE staff (id INT, name INT)");
    all_fail(&mut ann, &[(229, "SELECT id FROM staff")]);
}

#[test]
fn permissions_on_columns_are_shown_and_refused_by_number() {
    let fixture = Fixture::new();
    let (mut client, mut ann) = administrator(&fixture);
    succeed(
        &mut client,
        "GRANT SELECT ON pays TO ann REVOKE SELECT ON pays (pay) FROM ann",
    );
    let shown =
        "SELECT STRING_AGG(CONCAT(OBJECT_NAME(major_id), '.', COL_NAME(major_id, minor_id), ' ', permission_name,
                 ' ', state_desc), '; ') WITHIN GROUP (ORDER BY major_id, type, minor_id)
                 FROM sys.database_permissions WHERE class = 1";
    assert_eq!(
        client.text(shown),
        "staff.id SELECT GRANT; staff.name SELECT GRANT; staff.name UPDATE GRANT; pays. SELECT GRANT; pays.pay SELECT \
         REVOKE"
    );
    let has = |client: &mut Client, of: &str| client.int(&format!("SELECT ISNULL(HAS_PERMS_BY_NAME({of}), -1)"));
    assert_eq!(has(&mut ann, "'staff', 'OBJECT', 'SELECT', 'name', 'COLUMN'"), 1);
    assert_eq!(has(&mut ann, "'staff', 'OBJECT', 'SELECT', '[pay]', 'COLUMN'"), 0);
    assert_eq!(has(&mut ann, "'staff', 'OBJECT', 'UPDATE', 'name'"), 1);
    assert_eq!(has(&mut ann, "'staff', 'OBJECT', 'INSERT', 'name', 'COLUMN'"), -1);
    assert_eq!(has(&mut ann, "'staff', 'OBJECT', 'SELECT', 'none', 'COLUMN'"), -1);
    assert_eq!(has(&mut ann, "'staff', 'OBJECT', 'SELECT'"), 0);
    let of_columns = "SELECT STRING_AGG(CONCAT(subentity_name, ' ', permission_name), '; ')
                      WITHIN GROUP (ORDER BY subentity_name, permission_name) FROM fn_my_permissions('staff', 'OBJECT')";
    assert_eq!(ann.text(of_columns), "id SELECT; name SELECT; name UPDATE");
    // The table is visible, and so are the names of all of its columns.
    assert_eq!(
        ann.int("SELECT COUNT(*) FROM sys.columns WHERE object_id = OBJECT_ID('staff')"),
        5
    );
    all_fail(
        &mut client,
        &[
            (1020, "GRANT INSERT (id) ON staff TO ann"),
            (1020, "GRANT DELETE ON staff (id) TO ann"),
            (1020, "GRANT SELECT (id) ON SCHEMA::dbo TO ann"),
            (4615, "GRANT SELECT (nothing) ON staff TO ann"),
            (102, "GRANT ALL ON staff (id) TO ann"),
        ],
    );
}
