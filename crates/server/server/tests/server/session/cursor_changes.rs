//! Cursors that see changes, and changes of the row that a cursor is on.

use super::client::{Client, fails, succeed};
use super::cursors::selects;
use super::fixture::Fixture;

/// `t` has a key that is the rowid, `k` one of text, `h` none.
fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(&mut client, "USE d");
    succeed(
        &mut client,
        "CREATE TABLE t (id int PRIMARY KEY, n int, name varchar(20)); \
         CREATE TABLE k (code varchar(10) NOT NULL PRIMARY KEY, n int); CREATE TABLE h (n int, name varchar(20)); \
         INSERT t VALUES (1, 10, 'one'), (2, 20, 'two'), (3, 30, 'three'), (4, 40, 'four'), (5, 50, 'five'); \
         INSERT k SELECT name, n FROM t; INSERT h SELECT n, name FROM t",
    );
    client
}

fn other(fixture: &Fixture) -> Client {
    let mut other = fixture.client();
    succeed(&mut other, "USE d");
    other
}

#[test]
fn a_dynamic_cursor_sees_the_rows_that_are_there_when_it_fetches() {
    let fixture = Fixture::new();
    let (mut client, mut other) = (client(&fixture), other(&fixture));
    selects(
        &mut client,
        "DECLARE c CURSOR SCROLL DYNAMIC FOR SELECT n FROM t WHERE n < 100; OPEN c; SELECT @@CURSOR_ROWS; FETCH c",
        &[-1, 10],
    );
    succeed(
        &mut other,
        "UPDATE t SET n = 21 WHERE id = 2; DELETE t WHERE id = 3; UPDATE t SET n = 400 WHERE id = 4",
    );
    selects(&mut client, "FETCH c; FETCH c; SELECT @@FETCH_STATUS", &[21, 50, 0]);
    succeed(&mut other, "INSERT t VALUES (6, 60, 'six'), (7, 700, 'seven')");
    selects(
        &mut client,
        "FETCH c; FETCH c; SELECT @@FETCH_STATUS; FETCH PRIOR FROM c; FETCH FIRST FROM c; FETCH LAST FROM c; \
         FETCH RELATIVE -2 FROM c; FETCH RELATIVE 1 FROM c; FETCH RELATIVE 0 FROM c; FETCH RELATIVE 9 FROM c; \
         FETCH RELATIVE -1 FROM c; FETCH RELATIVE -9 FROM c; FETCH c",
        &[60, -1, 60, 10, 60, 21, 50, 50, 60, 10],
    );
    fails(&mut client, 16925, "FETCH ABSOLUTE 1 FROM c");
    // The row that it is on goes.
    succeed(&mut other, "DELETE t WHERE id = 1");
    selects(&mut client, "FETCH RELATIVE 0 FROM c; SELECT @@FETCH_STATUS", &[-2]);
    fails(&mut client, 16947, "UPDATE t SET n = 0 WHERE CURRENT OF c");
    selects(&mut client, "FETCH NEXT FROM c", &[21]);
}

#[test]
fn a_dynamic_cursor_reads_downwards_what_is_ordered_so() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    selects(
        &mut client,
        "DECLARE c CURSOR SCROLL DYNAMIC FOR SELECT id FROM t ORDER BY id DESC; OPEN c; FETCH c; FETCH c; \
         INSERT t VALUES (0, 0, 'zero'); FETCH LAST FROM c; FETCH PRIOR FROM c; FETCH FIRST FROM c; \
         FETCH RELATIVE 2 FROM c; FETCH RELATIVE -1 FROM c",
        &[5, 4, 0, 1, 5, 3, 4],
    );
}

#[test]
fn a_keyset_has_the_rows_of_open_as_they_are_when_it_fetches() {
    let fixture = Fixture::new();
    let (mut client, mut other) = (client(&fixture), other(&fixture));
    for (table, key, by) in [("t", "id", "id"), ("k", "code", "n")] {
        let before = "SELECT @@CURSOR_ROWS; FETCH c";
        selects(
            &mut client,
            &format!("DECLARE c CURSOR KEYSET FOR SELECT n FROM {table} WHERE n < 100 ORDER BY {by}; OPEN c; {before}"),
            &[5, 10],
        );
        succeed(
            &mut other,
            &format!(
                "UPDATE {table} SET n = 222 WHERE n = 20; DELETE {table} WHERE n = 30; \
                 INSERT {table} ({key}, n) VALUES ('77', 77); UPDATE {table} SET {key} = '99' WHERE n = 40"
            ),
        );
        selects(
            &mut client,
            "FETCH c; FETCH c; SELECT @@FETCH_STATUS; FETCH c; SELECT @@FETCH_STATUS; FETCH c; FETCH c; \
             SELECT @@FETCH_STATUS; FETCH ABSOLUTE 2 FROM c; FETCH FIRST FROM c; CLOSE c; OPEN c; \
             SELECT @@CURSOR_ROWS; DEALLOCATE c",
            &[222, -2, -2, 50, -1, 222, 10, 4],
        );
    }
}

#[test]
fn a_keyset_of_a_table_without_a_key_is_static() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    selects(
        &mut client,
        "DECLARE c CURSOR KEYSET FOR SELECT n FROM h ORDER BY n; OPEN c; UPDATE h SET n = 0; FETCH c",
        &[10],
    );
    fails(&mut client, 16929, "UPDATE h SET n = 1 WHERE CURRENT OF c");
    fails(
        &mut client,
        16957,
        "DECLARE e CURSOR FOR SELECT n FROM h ORDER BY n FOR UPDATE",
    );
}

#[test]
fn the_row_that_a_cursor_is_on_is_changed_and_no_other() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for table in ["t", "k", "h"] {
        for kind in ["", "FORWARD_ONLY", "DYNAMIC"] {
            selects(
                &mut client,
                &format!(
                    "DECLARE @n int; DECLARE c CURSOR LOCAL {kind} FOR SELECT n FROM {table} FOR UPDATE; OPEN c;
                     FETCH c INTO @n; WHILE @@FETCH_STATUS = 0 BEGIN
                         IF @n = 30 DELETE FROM {table} WHERE CURRENT OF c
                         ELSE BEGIN
                             UPDATE {table} SET n = @n + 1 WHERE CURRENT OF c;
                             UPDATE {table} SET n += 1 WHERE CURRENT OF c
                         END;
                         FETCH c INTO @n
                     END;
                     SELECT n FROM {table} ORDER BY n;
                     DELETE {table}; INSERT {table} ({}) SELECT name, id * 10 FROM (VALUES (1, '1'), (2, '2'), (3, '3'),
                         (4, '4'), (5, '5')) AS v (id, name)",
                    match table {
                        "t" => "id, n",
                        "k" => "code, n",
                        _ => "name, n",
                    }
                ),
                &[12, 22, 42, 52],
            );
        }
    }
    selects(
        &mut client,
        "DECLARE @c CURSOR; SET @c = CURSOR KEYSET FOR SELECT n FROM k ORDER BY code DESC; OPEN @c; \
         FETCH ABSOLUTE 2 FROM @c; UPDATE k SET n = -4 OUTPUT deleted.n, inserted.n FROM k AS x WHERE CURRENT OF @c; \
         SELECT n FROM k WHERE code = '4'; SELECT @@ROWCOUNT",
        &[40, 40, -4, 1],
    );
}

#[test]
fn a_change_through_a_cursor_is_checked() {
    let fixture = Fixture::new();
    let (mut client, mut other) = (client(&fixture), other(&fixture));
    succeed(&mut client, "CREATE VIEW v AS SELECT n FROM t; ");
    let update = "UPDATE t SET n = 0 WHERE CURRENT OF";
    succeed(
        &mut client,
        "DECLARE c CURSOR FOR SELECT id, n FROM t FOR UPDATE OF n, Name; DECLARE s CURSOR STATIC FOR SELECT n FROM t;
         DECLARE r CURSOR FOR SELECT n FROM t FOR READ ONLY; DECLARE j CURSOR FOR SELECT a.n FROM t AS a, h AS b;
         DECLARE d CURSOR FOR SELECT DISTINCT n FROM t",
    );
    fails(&mut client, 16916, &format!("{update} x"));
    fails(&mut client, 16917, &format!("{update} c"));
    succeed(
        &mut client,
        "OPEN c; OPEN s; OPEN r; OPEN j; OPEN d; FETCH s; FETCH r; FETCH j; FETCH d",
    );
    fails(&mut client, 16931, &format!("{update} c"));
    fails(&mut client, 16929, &format!("{update} s"));
    fails(&mut client, 16929, &format!("{update} r"));
    fails(&mut client, 40510, &format!("{update} j"));
    fails(&mut client, 16929, &format!("{update} d"));
    succeed(&mut client, "FETCH c");
    fails(&mut client, 16932, "UPDATE t SET id = 9, n = 0 WHERE CURRENT OF c");
    fails(&mut client, 16933, "UPDATE h SET n = 0 WHERE CURRENT OF c");
    fails(&mut client, 16933, "DELETE h WHERE CURRENT OF c");
    fails(&mut client, 40510, "UPDATE v SET n = 0 WHERE CURRENT OF c");
    fails(&mut client, 137, "UPDATE t SET n = 0 WHERE CURRENT OF @c");
    fails(
        &mut client,
        16948,
        "DECLARE @c int; UPDATE t SET n = 0 WHERE CURRENT OF @c",
    );
    succeed(&mut other, "UPDATE t SET name = 'ONE' WHERE id = 1");
    fails(&mut client, 16934, &format!("{update} c"));
    fails(&mut client, 16934, "DELETE t WHERE CURRENT OF c");
    succeed(&mut client, "FETCH c; DELETE t WHERE CURRENT OF c");
    fails(&mut client, 16947, &format!("{update} c"));
    succeed(&mut client, "FETCH c; FETCH c; FETCH c; FETCH c");
    fails(&mut client, 16931, &format!("{update} c"));
    selects(&mut client, "SELECT n FROM t ORDER BY id", &[10, 30, 40, 50]);
}

#[test]
fn constraints_and_triggers_are_those_of_any_change() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "ALTER TABLE t ADD CONSTRAINT positive CHECK (n > 0); CREATE TABLE log (id int, before int, after int)",
    );
    succeed(
        &mut client,
        "CREATE TRIGGER g ON t AFTER UPDATE, DELETE AS
         INSERT log SELECT d.id, d.n, i.n FROM deleted AS d LEFT JOIN inserted AS i ON i.id = d.id",
    );
    succeed(&mut client, "DECLARE c CURSOR FOR SELECT n FROM t; OPEN c; FETCH c");
    fails(&mut client, 547, "UPDATE t SET n = -1 WHERE CURRENT OF c");
    succeed(
        &mut client,
        "UPDATE t SET n = 11 WHERE CURRENT OF c; UPDATE t SET n = 12 WHERE CURRENT OF c",
    );
    succeed(&mut client, "FETCH c; DELETE t WHERE CURRENT OF c");
    selects(&mut client, "SELECT after FROM log ORDER BY id, after", &[11, 12, -1]);
    succeed(
        &mut client,
        "CREATE TRIGGER i ON t INSTEAD OF DELETE AS UPDATE t SET name = 'kept' WHERE id IN (SELECT id FROM deleted)",
    );
    succeed(&mut client, "FETCH c; DELETE t WHERE CURRENT OF c");
    selects(&mut client, "SELECT id FROM t WHERE name = 'kept'", &[3]);
}

#[test]
fn a_rollback_closes_what_sees_changes_and_a_change_of_the_table_ends_it() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "DECLARE c CURSOR FOR SELECT n FROM t; DECLARE k CURSOR KEYSET FOR SELECT n FROM t; OPEN c; OPEN k;
         BEGIN TRAN; FETCH c; UPDATE t SET n = 11 WHERE CURRENT OF c; ROLLBACK",
    );
    fails(&mut client, 16917, "FETCH c");
    fails(&mut client, 16917, "FETCH k");
    selects(
        &mut client,
        "OPEN c; OPEN k; BEGIN TRAN; FETCH c; UPDATE t SET n = 11 WHERE CURRENT OF c; COMMIT; FETCH c; FETCH k",
        &[10, 20, 11],
    );
    succeed(&mut client, "ALTER TABLE t ADD more int");
    fails(&mut client, 16943, "FETCH c");
    fails(&mut client, 16943, "FETCH k");
    succeed(&mut client, "CLOSE c; CLOSE k; DROP TABLE t");
    fails(&mut client, 208, "OPEN c");
}

#[test]
fn a_cursor_ends_with_a_column_of_its_table() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE u (a int PRIMARY KEY, b int, c int); INSERT u VALUES (1, 1, 1), (2, 2, 2)",
    );
    succeed(
        &mut client,
        "DECLARE c CURSOR DYNAMIC FOR SELECT a, b FROM u; OPEN c; FETCH c",
    );
    succeed(&mut client, "ALTER TABLE u DROP COLUMN b");
    fails(&mut client, 16943, "UPDATE u SET c = 5 WHERE CURRENT OF c");
    fails(&mut client, 16943, "FETCH c");
    selects(&mut client, "SELECT c FROM u", &[1, 2]);
}

#[test]
fn a_row_of_a_temporary_table_and_of_a_table_variable_is_changed() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    selects(
        &mut client,
        "CREATE TABLE #a (x int); INSERT #a VALUES (1), (2); DECLARE @v TABLE (y int, z AS y * 2); INSERT @v VALUES (3), (4);
         DECLARE a CURSOR LOCAL FOR SELECT x FROM #a; DECLARE v CURSOR LOCAL FOR SELECT z FROM @v; OPEN a; OPEN v;
         FETCH a; FETCH v; UPDATE #a SET x = 10 WHERE CURRENT OF a; DELETE @v WHERE CURRENT OF v; FETCH v;
         UPDATE @v SET y = 5 WHERE CURRENT OF v; SELECT x FROM #a; SELECT z FROM @v",
        &[1, 6, 8, 10, 2, 10],
    );
}

#[test]
fn a_change_through_a_cursor_needs_the_permission_to_change() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE LOGIN reader WITH PASSWORD = 'A-long-Passw0rd!'; CREATE USER reader FOR LOGIN reader; \
         GRANT SELECT ON t TO reader",
    );
    let mut reader = fixture.client_as("reader", "A-long-Passw0rd!", "d");
    succeed(&mut reader, "DECLARE c CURSOR FOR SELECT n FROM t; OPEN c; FETCH c");
    fails(&mut reader, 229, "UPDATE t SET n = 0 WHERE CURRENT OF c");
    fails(&mut reader, 229, "DELETE t WHERE CURRENT OF c");
    succeed(&mut client, "GRANT UPDATE ON t TO reader");
    succeed(&mut reader, "UPDATE t SET n = 0 WHERE CURRENT OF c");
    succeed(&mut client, "DENY SELECT ON t TO reader");
    fails(&mut reader, 229, "FETCH c");
}

#[test]
fn a_cursor_that_is_changed_in_a_procedure_keeps_to_its_row() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE PROCEDURE p @by int AS UPDATE t SET n = n + @by WHERE CURRENT OF g",
    );
    selects(
        &mut client,
        "DECLARE g CURSOR GLOBAL FOR SELECT n FROM t WHERE id > 1; OPEN g; FETCH g; EXEC p 5; EXEC p 6; FETCH g; EXEC p 7;
         SELECT n FROM t ORDER BY id",
        &[20, 30, 10, 31, 37, 40, 50],
    );
}
