//! Cursors: names, directions, scopes, and what OPEN keeps.

use std::fmt::Write as _;

use selenite_types::Value;

use super::client::{Answer, Client, fails, succeed};
use super::fixture::Fixture;

fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(&mut client, "USE d");
    succeed(
        &mut client,
        "CREATE TABLE t (id int PRIMARY KEY, name varchar(20)); \
         INSERT t VALUES (1, 'one'), (2, 'two'), (3, 'three'), (4, 'four'), (5, 'five')",
    );
    client
}

/// The first columns of all rows; -1 is NULL.
fn wholes(answer: &Answer) -> Vec<i32> {
    let whole = |row: &Vec<Value>| match &row[0] {
        Value::Int(value) => *value,
        Value::SmallInt(value) => i32::from(*value),
        Value::Null => -1,
        other => panic!("{other:?}"),
    };
    answer.rows().iter().map(whole).collect()
}

#[track_caller]
pub fn selects(client: &mut Client, sql: &str, expected: &[i32]) {
    let answer = succeed(client, sql);
    assert_eq!(wholes(&answer), expected, "{sql}");
}

#[test]
fn a_loop_over_a_cursor_reads_each_row_once() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    let answer = succeed(
        &mut client,
        "DECLARE @id int, @name varchar(20), @all varchar(200) = '', @sum int = 0;
         DECLARE c CURSOR LOCAL FAST_FORWARD FOR SELECT id, name FROM t ORDER BY id DESC;
         OPEN c;
         FETCH NEXT FROM c INTO @id, @name;
         WHILE @@FETCH_STATUS = 0
         BEGIN
             SELECT @all += @name + ',', @sum += @id;
             FETCH NEXT FROM c INTO @id, @name;
         END
         CLOSE c;
         DEALLOCATE c;
         SELECT @sum, @all, @name, @@FETCH_STATUS, @@CURSOR_ROWS",
    );
    let text = |text: &str| Value::Text(text.into());
    assert_eq!(
        answer.rows(),
        [vec![
            Value::Int(15),
            text("five,four,three,two,one,"),
            text("one"),
            Value::Int(-1),
            Value::Int(0)
        ]]
    );
}

#[test]
fn a_cursor_that_scrolls_moves_in_all_directions() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    let mut sql = "DECLARE @n smallint = -2; DECLARE c SCROLL CURSOR FOR SELECT id FROM t ORDER BY id; OPEN c; \
                   SELECT @@CURSOR_ROWS; "
        .to_owned();
    let steps = [
        ("LAST", 0, Some(5)),
        ("PRIOR", 0, Some(4)),
        ("FIRST", 0, Some(1)),
        ("PRIOR", -1, None),
        ("NEXT", 0, Some(1)),
        ("ABSOLUTE 3", 0, Some(3)),
        ("ABSOLUTE @n", 0, Some(4)),
        ("RELATIVE -1", 0, Some(3)),
        ("RELATIVE 0", 0, Some(3)),
        ("RELATIVE 10", -1, None),
        ("PRIOR", 0, Some(5)),
        ("ABSOLUTE 0", -1, None),
        ("NEXT", 0, Some(1)),
        ("ABSOLUTE 99", -1, None),
        ("ABSOLUTE -99", -1, None),
    ];
    let mut expected = vec![5];
    for (step, status, row) in steps {
        write!(sql, "FETCH {step} FROM c; SELECT @@FETCH_STATUS; ").unwrap();
        expected.extend(row);
        expected.push(status);
    }
    selects(&mut client, &sql, &expected);
}

#[test]
fn a_cursor_that_does_not_scroll_fetches_the_next_row_only() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, "DECLARE c CURSOR FOR SELECT id FROM t; OPEN c");
    for direction in ["PRIOR", "FIRST", "LAST", "ABSOLUTE 1", "RELATIVE 1"] {
        fails(&mut client, 16911, &format!("FETCH {direction} FROM c"));
        selects(&mut client, "SELECT @@FETCH_STATUS", &[-1]);
    }
    selects(&mut client, "FETCH c", &[1]);
}

#[test]
fn states_and_names_are_checked() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for (number, sql) in [
        (16916, "OPEN c"),
        (16916, "FETCH NEXT FROM c"),
        (16916, "CLOSE c"),
        (16916, "DEALLOCATE GLOBAL c"),
        (208, "DECLARE c CURSOR FOR SELECT a FROM no_such_table"),
        (1048, "DECLARE c CURSOR LOCAL GLOBAL FOR SELECT id FROM t"),
        (1049, "DECLARE c SCROLL CURSOR LOCAL FOR SELECT id FROM t"),
        (16957, "DECLARE c CURSOR STATIC FOR SELECT id FROM t FOR UPDATE"),
        (16957, "DECLARE c CURSOR FOR SELECT DISTINCT id FROM t FOR UPDATE"),
        (
            40510,
            "DECLARE c CURSOR FOR SELECT a.id FROM t AS a, t AS b FOR UPDATE OF id",
        ),
        (40510, "DECLARE c CURSOR SCROLL_LOCKS FOR SELECT id FROM t"),
        (13602, "DECLARE c CURSOR FOR SELECT id FROM t FOR JSON PATH"),
        (6819, "DECLARE c CURSOR FOR SELECT id FROM t FOR XML PATH"),
        (16948, "DECLARE @i int; OPEN @i"),
        (137, "OPEN @nothing"),
        (16950, "DECLARE @c CURSOR; OPEN @c"),
        (16950, "DECLARE @c CURSOR; FETCH NEXT FROM @c"),
        (16949, "DECLARE @c CURSOR; SET @c = 1"),
        (134, "DECLARE @c CURSOR, @c int"),
    ] {
        fails(&mut client, number, sql);
    }
    succeed(&mut client, "DECLARE c CURSOR FOR SELECT id, name FROM t");
    fails(&mut client, 16915, "DECLARE C CURSOR FOR SELECT 1 AS a");
    fails(&mut client, 16917, "CLOSE c");
    fails(&mut client, 16917, "FETCH NEXT FROM c");
    succeed(&mut client, "OPEN c");
    fails(&mut client, 16905, "OPEN c");
    fails(&mut client, 16924, "DECLARE @a int; FETCH NEXT FROM c INTO @a");
    fails(
        &mut client,
        16922,
        "DECLARE @a int, @b date; FETCH NEXT FROM c INTO @b, @a",
    );
    selects(&mut client, "CLOSE c; OPEN c; FETCH NEXT FROM c", &[1]);
    succeed(&mut client, "DEALLOCATE c");
    fails(&mut client, 16916, "OPEN c");
}

#[test]
fn a_local_cursor_ends_with_its_frame_and_a_global_one_with_the_session() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE PROCEDURE p AS
             DECLARE c CURSOR LOCAL FOR SELECT id FROM t WHERE id > 3 ORDER BY id;
             DECLARE g CURSOR GLOBAL FOR SELECT id FROM t WHERE id > 4;
             OPEN c; OPEN g; FETCH c",
    );
    selects(
        &mut client,
        "DECLARE c CURSOR LOCAL FOR SELECT id FROM t ORDER BY id; OPEN c; EXEC p; FETCH c; FETCH g;
         DECLARE c CURSOR GLOBAL FOR SELECT 7 AS a; OPEN GLOBAL c; FETCH GLOBAL c; FETCH c",
        &[4, 1, 5, 7, 2],
    );
    selects(
        &mut client,
        "SELECT CURSOR_STATUS('local', 'c'); SELECT CURSOR_STATUS('global', 'c'); SELECT CURSOR_STATUS('global', 'x')",
        &[-3, 1, -3],
    );
    fails(&mut client, 16915, "EXEC p");
    let mut other = fixture.client();
    succeed(&mut other, "USE d");
    fails(&mut other, 16916, "FETCH c");
    fails(
        &mut client,
        16916,
        "DECLARE l CURSOR LOCAL FOR SELECT 1 AS a; OPEN l; EXEC ('FETCH l')",
    );
    let answer = client.batch_after_reset("USE d; FETCH c");
    assert_eq!(answer.errors()[0].0, 16916);
}

#[test]
fn a_variable_is_another_name_of_a_cursor() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    selects(
        &mut client,
        "DECLARE @c CURSOR, @d CURSOR; SELECT CURSOR_STATUS('variable', '@c');
         SET @c = CURSOR SCROLL FOR SELECT id FROM t ORDER BY id; SELECT CURSOR_STATUS('variable', '@c');
         OPEN @c; SELECT CURSOR_STATUS('variable', '@c'); SET @d = @c; FETCH @d; FETCH @c; DEALLOCATE @c;
         FETCH LAST FROM @d; SELECT CURSOR_STATUS('variable', '@c');
         DECLARE n CURSOR FOR SELECT id FROM t ORDER BY id DESC; SET @c = n; OPEN n; FETCH @c; DEALLOCATE n; FETCH @c",
        &[-2, -1, 1, 1, 2, 5, -2, 5, 4],
    );
}

#[test]
fn rows_and_variables_are_those_of_open_and_declare() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    selects(
        &mut client,
        "DECLARE @least int = 4; DECLARE c CURSOR STATIC FOR SELECT id FROM t WHERE id >= @least ORDER BY id; SET @least = 1;
         OPEN c; DELETE t WHERE id = 5; FETCH c; FETCH c; CLOSE c; OPEN c; FETCH c; FETCH c; SELECT @@FETCH_STATUS",
        &[4, 5, 4, -1],
    );
    // The table may go: the rows are the cursor's.
    selects(&mut client, "CLOSE c; OPEN c; DROP TABLE t; FETCH c; CLOSE c", &[4]);
    fails(&mut client, 208, "OPEN c");
}

#[test]
fn nested_cursors_and_those_of_temporary_tables_and_triggers() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    selects(
        &mut client,
        "CREATE TABLE #a (x int); INSERT #a VALUES (10), (20); DECLARE @v TABLE (y int); INSERT @v VALUES (1), (2);
         DECLARE @x int, @y int, @sum int = 0;
         DECLARE o CURSOR LOCAL FOR SELECT x FROM #a; OPEN o; FETCH o INTO @x;
         WHILE @@FETCH_STATUS = 0 BEGIN
             DECLARE i CURSOR LOCAL STATIC FOR SELECT y + @x FROM @v; OPEN i; FETCH i INTO @y;
             WHILE @@FETCH_STATUS = 0 BEGIN SET @sum += @y; FETCH i INTO @y END
             CLOSE i; DEALLOCATE i; FETCH o INTO @x
         END; SELECT @sum",
        &[66],
    );
    succeed(&mut client, "CREATE TABLE log (id int)");
    succeed(
        &mut client,
        "CREATE TRIGGER g ON t AFTER UPDATE AS DECLARE @i int; DECLARE c CURSOR LOCAL FOR SELECT id FROM inserted;
         OPEN c; FETCH c INTO @i; WHILE @@FETCH_STATUS = 0 BEGIN INSERT log VALUES (@i * 2); FETCH c INTO @i END",
    );
    succeed(&mut client, "UPDATE t SET name = 'x' WHERE id < 3");
    selects(&mut client, "SELECT id FROM log ORDER BY id", &[2, 4]);
}

#[test]
fn the_end_of_a_transaction_closes_cursors_if_the_option_says_so() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "DECLARE c CURSOR STATIC FOR SELECT id FROM t ORDER BY id; OPEN c",
    );
    selects(&mut client, "BEGIN TRAN; FETCH c; COMMIT; FETCH c", &[1, 2]);
    selects(&mut client, "BEGIN TRAN; FETCH c; ROLLBACK; FETCH c", &[3, 4]);
    succeed(&mut client, "SET CURSOR_CLOSE_ON_COMMIT ON; BEGIN TRAN; COMMIT");
    fails(&mut client, 16917, "FETCH c");
    selects(&mut client, "OPEN c; FETCH c", &[1]);
}

#[test]
fn many_rows_are_kept_in_a_file_and_no_transaction_stays_open() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    selects(
        &mut client,
        "DECLARE c CURSOR SCROLL FOR SELECT value, REPLICATE('x', 100) AS x FROM GENERATE_SERIES(1, 20000); OPEN c;
         SELECT @@CURSOR_ROWS; FETCH ABSOLUTE 12345 FROM c; FETCH LAST FROM c; FETCH FIRST FROM c",
        &[20000, 12345, 20000, 1],
    );
    // Another session may change what the cursor has read.
    succeed(
        &mut client,
        "DECLARE d CURSOR STATIC FOR SELECT id FROM t ORDER BY id; OPEN d",
    );
    let mut other = fixture.client();
    succeed(&mut other, "USE d; UPDATE t SET id = id + 10; DROP TABLE t");
    selects(&mut client, "FETCH d; SELECT @@TRANCOUNT", &[1, 0]);
}

/// How many files the process has open that no name leads to.
#[cfg(target_os = "linux")]
fn nameless_count() -> usize {
    let is_nameless = |entry: std::io::Result<std::fs::DirEntry>| {
        let target = entry.and_then(|entry| std::fs::read_link(entry.path()));
        target.is_ok_and(|target| target.to_string_lossy().ends_with(" (deleted)"))
    };
    let open = std::fs::read_dir("/proc/self/fd").unwrap();
    open.map(is_nameless).filter(|is| *is).count()
}

#[test]
#[cfg(target_os = "linux")]
fn the_file_of_a_cursor_goes_with_its_session() {
    selenite_testing::own_process!();
    let fixture = Fixture::new();
    let mut administrator = fixture.client();
    let before = nameless_count();
    let open = "DECLARE c CURSOR FOR SELECT value, REPLICATE('x', 100) AS x FROM GENERATE_SERIES(1, 20000); OPEN c";
    let mut killed = fixture.client();
    succeed(&mut killed, open);
    assert!(nameless_count() > before);
    let id = killed.int("SELECT CAST(@@SPID AS int)");
    succeed(&mut administrator, &format!("KILL {id}"));
    while nameless_count() > before {
        std::thread::yield_now();
    }
    let mut disconnected = fixture.client();
    succeed(&mut disconnected, open);
    assert!(nameless_count() > before);
    drop(disconnected);
    while nameless_count() > before {
        std::thread::yield_now();
    }
    let mut reset = fixture.client();
    succeed(&mut reset, open);
    assert!(nameless_count() > before);
    reset.batch_after_reset("SELECT 1");
    assert_eq!(nameless_count(), before);
}

#[test]
fn a_cursor_of_another_type_than_asked_for_is_told_of() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    let answer = succeed(
        &mut client,
        "DECLARE c CURSOR KEYSET TYPE_WARNING FOR SELECT DISTINCT id FROM t",
    );
    assert_eq!(answer.infos(), ["The created cursor is not of the requested type."]);
    for kind in ["STATIC", "KEYSET", "DYNAMIC"] {
        let answer = succeed(
            &mut client,
            &format!("DECLARE {kind} CURSOR {kind} TYPE_WARNING FOR SELECT id FROM t"),
        );
        assert!(answer.infos().is_empty(), "{kind}");
    }
    // The order is not that of the table, so that it has keys to keep.
    let answer = succeed(
        &mut client,
        "DECLARE e CURSOR DYNAMIC TYPE_WARNING FOR SELECT id FROM t ORDER BY name",
    );
    assert_eq!(answer.infos().len(), 1);
}

#[test]
fn rows_of_a_fetch_are_captured_by_insert_execute() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE PROCEDURE p AS DECLARE c CURSOR LOCAL FOR SELECT id FROM t ORDER BY id DESC; OPEN c; FETCH c; FETCH c",
    );
    selects(
        &mut client,
        "CREATE TABLE #r (id int); INSERT #r EXEC p; SELECT id FROM #r ORDER BY id",
        &[4, 5],
    );
}

#[test]
fn a_login_without_a_permission_declares_no_cursor() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE LOGIN reader WITH PASSWORD = 'A-long-Passw0rd!'; CREATE USER reader FOR LOGIN reader",
    );
    let mut reader = fixture.client_as("reader", "A-long-Passw0rd!", "d");
    fails(&mut reader, 229, "DECLARE c CURSOR FOR SELECT id FROM t");
}
