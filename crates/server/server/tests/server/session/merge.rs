//! MERGE: which rows it changes and how, what it returns, and what it refuses.

use super::client::{Client, numbers, shown, succeed};
use super::fixture::Fixture;

fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    for text in [
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE t (id int PRIMARY KEY, a int NULL, b varchar(10) NOT NULL DEFAULT 'x')",
        "CREATE TABLE s (id int, a int)",
    ] {
        succeed(&mut client, text);
    }
    client
}

/// Begins again with `(1, 10, 'one')`, `(2, 20, 'two')`, `(3, NULL, 'three')` in t, and `(2, 200)`, `(3, 300)`,
/// `(4, 400)` in s.
fn reset(client: &mut Client) {
    succeed(
        client,
        "TRUNCATE TABLE t; TRUNCATE TABLE s; \
         INSERT t VALUES (1, 10, 'one'), (2, 20, 'two'), (3, NULL, 'three'); \
         INSERT s VALUES (2, 200), (3, 300), (4, 400)",
    );
}

const ALL: &str = "SELECT id, a, b FROM t ORDER BY id";

#[track_caller]
fn merges(client: &mut Client, merge: &str, count: u64, expected: &str) {
    reset(client);
    let answer = succeed(client, merge);
    assert_eq!(answer.dones().last().unwrap().row_count, count, "{merge}");
    assert_eq!(shown(&succeed(client, ALL)), expected, "{merge}");
}

/// Statements, the number of changed rows, and the rows after it.
const CHANGES: &[(&str, u64, &str)] = &[
    (
        "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET a = s.a \
             WHEN NOT MATCHED THEN INSERT (id, a) VALUES (s.id, s.a) \
             WHEN NOT MATCHED BY SOURCE THEN DELETE;",
        4,
        "2,200,two; 3,300,three; 4,400,x",
    ),
    (
        "MERGE t AS target USING s AS source ON (target.id = source.id) WHEN MATCHED THEN DELETE;",
        2,
        "1,10,one",
    ),
    (
        "MERGE t USING s ON t.id = s.id WHEN MATCHED AND t.a IS NULL THEN DELETE WHEN MATCHED THEN UPDATE SET a += s.a;",
        2,
        "1,10,one; 2,220,two",
    ),
    (
        "MERGE t USING s ON t.id = s.id WHEN MATCHED AND s.a > 200 THEN UPDATE SET t.a = s.a + 1, b = 'new';",
        1,
        "1,10,one; 2,20,two; 3,301,new",
    ),
    (
        "MERGE t USING s ON t.id = s.id WHEN NOT MATCHED BY TARGET AND s.a > 400 THEN INSERT VALUES (s.id, s.a, 'y');",
        0,
        "1,10,one; 2,20,two; 3,-,three",
    ),
    (
        "MERGE t USING s ON t.id = s.id WHEN NOT MATCHED BY TARGET AND s.a >= 400 THEN INSERT VALUES (s.id, DEFAULT, DEFAULT);",
        1,
        "1,10,one; 2,20,two; 3,-,three; 4,-,x",
    ),
    (
        "MERGE t USING s ON t.id = s.id WHEN NOT MATCHED BY SOURCE AND t.a = 10 THEN UPDATE SET b = 'gone' \
             WHEN NOT MATCHED BY SOURCE THEN DELETE;",
        1,
        "1,10,gone; 2,20,two; 3,-,three",
    ),
    // NULLs are not equal: all rows are without a match.
    (
        "MERGE t USING (SELECT CAST(NULL AS int) AS id) AS s ON t.id = s.id WHEN NOT MATCHED BY SOURCE THEN DELETE \
             WHEN NOT MATCHED THEN INSERT (id) VALUES (9);",
        4,
        "9,-,x",
    ),
    (
        "MERGE t USING (VALUES (1, 'uno'), (7, 'siete')) AS v (id, b) ON v.id = t.id WHEN MATCHED THEN UPDATE SET b = v.b \
             WHEN NOT MATCHED THEN INSERT (b, id) VALUES (v.b, v.id);",
        2,
        "1,10,uno; 2,20,two; 3,-,three; 7,-,siete",
    ),
    (
        "WITH c AS (SELECT id + 1 AS id FROM s) MERGE t USING c ON t.id = c.id WHEN NOT MATCHED THEN \
             INSERT (id, a) VALUES (c.id, (SELECT COUNT(*) FROM t AS o WHERE o.id < c.id));",
        2,
        "1,10,one; 2,20,two; 3,-,three; 4,3,x; 5,3,x",
    ),
    (
        "MERGE t USING s JOIN (SELECT 4 AS four) AS f ON s.id = f.four ON t.id = s.id - 3 \
             WHEN MATCHED THEN UPDATE SET a = f.four;",
        1,
        "1,4,one; 2,20,two; 3,-,three",
    ),
    // A query that would fail for other rows is not evaluated for them.
    (
        "MERGE t USING s ON t.id = s.id WHEN MATCHED AND s.id = 2 THEN UPDATE SET a = (SELECT id FROM s AS o WHERE o.id <= s.id) \
             WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (id, a) VALUES (s.id, (SELECT MAX(id) FROM t));",
        3,
        "1,10,one; 2,2,two; 4,3,x",
    ),
    (
        "MERGE TOP (1) t USING s ON t.id = s.id WHEN MATCHED AND s.id = 3 THEN DELETE;",
        1,
        "1,10,one; 2,20,two",
    ),
    (
        "DECLARE @n int = 0; MERGE TOP (@n) INTO t USING s ON t.id = s.id WHEN MATCHED THEN DELETE;",
        0,
        "1,10,one; 2,20,two; 3,-,three",
    ),
    (
        "MERGE TOP (100) PERCENT t WITH (HOLDLOCK) USING s ON t.id = s.id WHEN MATCHED THEN DELETE;",
        2,
        "1,10,one",
    ),
    // Rows may exchange keys, and take one that is given up.
    (
        "MERGE t USING (VALUES (1, 2), (2, 1)) AS v (id, other) ON t.id = v.id WHEN MATCHED THEN UPDATE SET id = other;",
        2,
        "1,20,two; 2,10,one; 3,-,three",
    ),
    (
        "MERGE t USING s ON t.id = s.id - 100 WHEN NOT MATCHED BY SOURCE THEN DELETE \
             WHEN NOT MATCHED THEN INSERT (id, a) VALUES (s.id - 1, s.a);",
        6,
        "1,200,x; 2,300,x; 3,400,x",
    ),
    (
        "MERGE t USING s ON 1 = 0 WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id + 10);",
        3,
        "1,10,one; 2,20,two; 3,-,three; 12,-,x; 13,-,x; 14,-,x",
    ),
    (
        "MERGE t USING s ON 1 = 0 WHEN NOT MATCHED AND s.id = 2 THEN INSERT (id) VALUES (12) WHEN NOT MATCHED BY SOURCE THEN DELETE;",
        4,
        "12,-,x",
    ),
    // Several rows of the source that all delete a row delete it once.
    (
        "MERGE t USING (VALUES (1), (1)) AS v (id) ON t.id = v.id WHEN MATCHED THEN DELETE;",
        1,
        "2,20,two; 3,-,three",
    ),
    // Of two rows only one is changed: the condition leaves the other out.
    (
        "MERGE t USING (VALUES (1, 5), (1, 6)) AS v (id, n) ON t.id = v.id WHEN MATCHED AND v.n = 6 THEN UPDATE SET a = n;",
        1,
        "1,6,one; 2,20,two; 3,-,three",
    ),
];

#[test]
fn each_row_is_changed_by_the_first_clause_that_applies() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for (merge, count, expected) in CHANGES {
        merges(&mut client, merge, *count, expected);
    }
}

#[test]
fn output_has_the_action_and_the_rows_of_target_and_source() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    reset(&mut client);
    let merge = "MERGE t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET a = s.a \
                 WHEN NOT MATCHED THEN INSERT (id, a) VALUES (s.id, s.a) WHEN NOT MATCHED BY SOURCE THEN DELETE";
    succeed(
        &mut client,
        "CREATE TABLE log_of (what nvarchar(10), old int, new int, from_source int)",
    );
    let answer = succeed(
        &mut client,
        &format!(
            "{merge} OUTPUT $action, deleted.id, inserted.id, s.a INTO log_of OUTPUT $ACTION AS word, inserted.*;"
        ),
    );
    assert_eq!(answer.rows().len(), 4);
    assert_eq!(
        shown(&succeed(&mut client, "SELECT * FROM log_of ORDER BY ISNULL(old, new)")),
        "DELETE,1,-,-; UPDATE,2,2,200; UPDATE,3,3,300; INSERT,-,4,400"
    );
    reset(&mut client);
    let answer = succeed(
        &mut client,
        &format!("{merge} OUTPUT deleted.b, $action, inserted.b; SELECT @@ROWCOUNT"),
    );
    let mut lines: Vec<String> = shown(&answer).split("; ").map(str::to_owned).collect();
    assert_eq!(lines.pop().as_deref(), Some("4"));
    lines.sort();
    assert_eq!(
        lines,
        ["-,INSERT,x", "one,DELETE,-", "three,UPDATE,three", "two,UPDATE,two"]
    );
}

#[test]
fn numbers_computed_columns_and_variables_are_those_of_other_changes() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE n (id int IDENTITY(5, 5) PRIMARY KEY, a int CONSTRAINT positive CHECK (a > 0), c AS a * 2)",
    );
    let answer = succeed(
        &mut client,
        "MERGE n USING (VALUES (1, 0), (2, 1)) AS v (a, place) ON 1 = 0 WHEN NOT MATCHED THEN INSERT (a) VALUES (v.a) \
         OUTPUT inserted.id, v.place, inserted.c;",
    );
    assert_eq!(shown(&answer), "5,0,2; 10,1,4");
    assert_eq!(client.int("SELECT CAST(SCOPE_IDENTITY() AS int)"), 10);
    let answer = succeed(
        &mut client,
        "DECLARE @sum int = 0, @last int; MERGE n USING (SELECT 10 AS id) AS v ON n.id = v.id \
         WHEN MATCHED THEN UPDATE SET @last = a = a + 5, @sum += a WHEN NOT MATCHED BY SOURCE THEN DELETE; \
         SELECT @last, @sum, a, c FROM n",
    );
    assert_eq!(shown(&answer), "7,2,7,14");
    for (merge, number, text) in [
        (
            "MERGE n USING (SELECT 10 AS id) AS v ON n.id = v.id WHEN MATCHED THEN UPDATE SET a = -1;",
            547,
            "The MERGE statement conflicted with the CHECK constraint \"positive\". The conflict occurred in database \"d\", \
             table \"dbo.n\", column 'a'.",
        ),
        (
            "MERGE t USING (SELECT 10 AS id) AS v ON t.id = v.id WHEN NOT MATCHED THEN INSERT (id, b) VALUES (v.id, NULL);",
            515,
            "Cannot insert the value NULL into column 'b', table 'd.dbo.t'; column does not allow nulls. UPDATE fails.",
        ),
        (
            "MERGE n USING (SELECT 10 AS id) AS v ON n.id = 7 WHEN NOT MATCHED THEN INSERT (id, a) VALUES (v.id, 1);",
            544,
            "Cannot insert explicit value for identity column in table 'n' when IDENTITY_INSERT is set to OFF.",
        ),
    ] {
        let answer = client.batch(merge);
        let said = answer.said();
        assert_eq!((said[0].number, said[0].text.as_str()), (number, text), "{merge}");
    }
    // What failed has changed nothing.
    assert_eq!(shown(&succeed(&mut client, "SELECT * FROM n")), "10,7,14");
}

#[test]
fn a_row_is_updated_once() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for merge in [
        "MERGE t USING (VALUES (1, 5), (1, 6)) AS v (id, n) ON t.id = v.id WHEN MATCHED THEN UPDATE SET a = n;",
        "MERGE t USING (VALUES (1, 5), (1, 6)) AS v (id, n) ON t.id = v.id WHEN MATCHED AND n = 5 THEN DELETE \
         WHEN MATCHED THEN UPDATE SET a = n;",
    ] {
        reset(&mut client);
        assert_eq!(numbers(&client.batch(merge)), [8672], "{merge}");
        assert_eq!(shown(&succeed(&mut client, ALL)), "1,10,one; 2,20,two; 3,-,three");
    }
}

#[test]
fn foreign_keys_are_checked_when_all_rows_are_written() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE p (id int PRIMARY KEY, up int NULL CONSTRAINT f FOREIGN KEY REFERENCES p (id)); \
         INSERT p VALUES (1, NULL), (2, 1), (3, 2)",
    );
    // 1 goes, 2 becomes the first, and 4 refers to a later row.
    succeed(
        &mut client,
        "MERGE p USING (VALUES (2, NULL), (3, 2), (4, 5), (5, 3)) AS v (id, up) ON p.id = v.id \
         WHEN MATCHED THEN UPDATE SET up = v.up WHEN NOT MATCHED THEN INSERT VALUES (v.id, v.up) \
         WHEN NOT MATCHED BY SOURCE THEN DELETE;",
    );
    let all = "SELECT * FROM p ORDER BY id";
    assert_eq!(shown(&succeed(&mut client, all)), "2,-; 3,2; 4,5; 5,3");
    for (merge, text) in [
        (
            "MERGE p USING (SELECT 4 AS id) AS v ON p.id = v.id WHEN MATCHED THEN UPDATE SET up = 9;",
            "The MERGE statement conflicted with the FOREIGN KEY SAME TABLE constraint \"f\". The conflict occurred in \
             database \"d\", table \"dbo.p\", column 'id'.",
        ),
        (
            "MERGE p USING (SELECT 2 AS id) AS v ON p.id = v.id WHEN MATCHED THEN DELETE;",
            "The MERGE statement conflicted with the SAME TABLE REFERENCE constraint \"f\". The conflict occurred in \
             database \"d\", table \"dbo.p\", column 'up'.",
        ),
    ] {
        let answer = client.batch(merge);
        let said = answer.said();
        assert_eq!((said[0].number, said[0].text.as_str()), (547, text), "{merge}");
        assert_eq!(shown(&succeed(&mut client, all)), "2,-; 3,2; 4,5; 5,3");
    }
}

#[test]
fn triggers_run_once_for_each_action() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE log_of (id int IDENTITY, what varchar(20), new int, old int, n int)",
    );
    for (name, event) in [("ins", "INSERT"), ("upd", "UPDATE"), ("del", "DELETE")] {
        succeed(
            &mut client,
            &format!(
                "CREATE TRIGGER {name} ON t AFTER {event} AS DECLARE @n int = @@ROWCOUNT; INSERT log_of SELECT '{event}', \
                 (SELECT COUNT(*) FROM inserted), (SELECT COUNT(*) FROM deleted), @n"
            ),
        );
    }
    reset(&mut client);
    succeed(&mut client, "TRUNCATE TABLE log_of");
    let merge = "MERGE t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET a = s.a \
                 WHEN NOT MATCHED THEN INSERT (id, a) VALUES (s.id, s.a) WHEN NOT MATCHED BY SOURCE AND t.id = 77 THEN DELETE";
    succeed(&mut client, &format!("{merge};"));
    let log = "SELECT what, new, old, n FROM log_of ORDER BY id";
    assert_eq!(
        shown(&succeed(&mut client, log)),
        "INSERT,1,0,3; UPDATE,2,2,3; DELETE,0,0,3"
    );
    assert_eq!(numbers(&client.batch(&format!("{merge} OUTPUT $action;"))), [334]);
    succeed(&mut client, "DROP TRIGGER ins, upd, del; TRUNCATE TABLE log_of");
    succeed(
        &mut client,
        "CREATE TRIGGER instead ON t INSTEAD OF UPDATE AS INSERT log_of SELECT 'instead', id, a, 0 FROM inserted",
    );
    reset(&mut client);
    assert_eq!(numbers(&client.batch(&format!("{merge};"))), [5316]);
    succeed(
        &mut client,
        "MERGE t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET a = s.a;",
    );
    assert_eq!(shown(&succeed(&mut client, log)), "instead,2,200,0; instead,3,300,0");
    assert_eq!(shown(&succeed(&mut client, ALL)), "1,10,one; 2,20,two; 3,-,three");
}

#[test]
fn the_target_may_be_a_variable_a_temporary_table_a_view_or_elsewhere() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    reset(&mut client);
    let clauses = "WHEN MATCHED THEN UPDATE SET a = s.a WHEN NOT MATCHED THEN INSERT (id, a) VALUES (s.id, s.a)";
    let answer = succeed(
        &mut client,
        &format!(
            "DECLARE @t TABLE (id int, a int); INSERT @t VALUES (2, 1); MERGE @t AS x USING s ON x.id = s.id {clauses}; \
             SELECT * FROM @t ORDER BY id"
        ),
    );
    assert_eq!(shown(&answer), "2,200; 3,300; 4,400");
    let answer = succeed(
        &mut client,
        &format!(
            "CREATE TABLE #t (id int, a int); INSERT #t VALUES (2, 1); MERGE #t USING s ON #t.id = s.id {clauses}; \
             SELECT * FROM #t ORDER BY id"
        ),
    );
    assert_eq!(shown(&answer), "2,200; 3,300; 4,400");
    succeed(&mut client, "CREATE SCHEMA other");
    succeed(
        &mut client,
        "CREATE TABLE other.t (id int, a int); INSERT other.t VALUES (2, 1)",
    );
    let answer = succeed(
        &mut client,
        &format!("MERGE other.t USING dbo.s ON other.t.id = s.id {clauses}; SELECT * FROM other.t ORDER BY id"),
    );
    assert_eq!(shown(&answer), "2,200; 3,300; 4,400");
    succeed(
        &mut client,
        "CREATE VIEW v AS SELECT id AS k, a AS n FROM t WHERE id < 10 WITH CHECK OPTION",
    );
    let answer = succeed(
        &mut client,
        "MERGE v USING s ON v.k = s.id WHEN MATCHED THEN UPDATE SET n = s.a WHEN NOT MATCHED THEN INSERT (k, n) VALUES (s.id, s.a) \
         WHEN NOT MATCHED BY SOURCE THEN DELETE; SELECT id, a, b FROM t ORDER BY id",
    );
    assert_eq!(shown(&answer), "2,200,two; 3,300,three; 4,400,x");
    assert_eq!(
        numbers(&client.batch("MERGE v USING s ON v.k = s.id WHEN MATCHED THEN UPDATE SET k = k + 100;")),
        [550]
    );
    reset(&mut client);
    let answer = succeed(
        &mut client,
        "WITH c AS (SELECT * FROM t WHERE id > 1) MERGE c USING s ON c.id = s.id WHEN NOT MATCHED BY SOURCE THEN DELETE \
         WHEN MATCHED AND s.id = 2 THEN DELETE; SELECT id, a, b FROM t ORDER BY id",
    );
    assert_eq!(shown(&answer), "1,10,one; 3,-,three");
    succeed(&mut client, "CREATE DATABASE e");
    succeed(
        &mut client,
        "USE e; CREATE TABLE t (id int, a int); INSERT t VALUES (2, 1); USE d",
    );
    let answer = succeed(
        &mut client,
        &format!("MERGE e.dbo.t AS x USING s ON x.id = s.id {clauses}; SELECT * FROM e.dbo.t ORDER BY id"),
    );
    assert_eq!(shown(&answer), "2,200; 3,300; 4,400");
}

#[test]
fn procedures_and_functions_merge() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    reset(&mut client);
    succeed(
        &mut client,
        "CREATE PROCEDURE put @id int, @a int AS \
         MERGE t WITH (HOLDLOCK) AS x USING (SELECT @id AS id, @a AS a) AS y ON x.id = y.id \
         WHEN MATCHED THEN UPDATE SET a = y.a WHEN NOT MATCHED THEN INSERT (id, a) VALUES (y.id, y.a) OUTPUT $action;",
    );
    assert_eq!(
        shown(&succeed(&mut client, "EXEC put 1, 5; EXEC put 8, 6")),
        "UPDATE; INSERT"
    );
    succeed(
        &mut client,
        "CREATE FUNCTION merged (@n int) RETURNS @r TABLE (id int, a int) AS BEGIN \
         INSERT @r SELECT id, a FROM t; MERGE @r AS x USING (SELECT @n AS id) AS y ON x.id = y.id \
         WHEN MATCHED THEN DELETE; RETURN END",
    );
    assert_eq!(
        shown(&succeed(&mut client, "SELECT * FROM merged(1) ORDER BY id")),
        "2,20; 3,-; 8,6"
    );
    let answer = client.batch(
        "CREATE FUNCTION bad () RETURNS int AS BEGIN MERGE t USING s ON t.id = s.id WHEN MATCHED THEN DELETE; RETURN 1 END",
    );
    assert_eq!(numbers(&answer), [443]);
    // A parameter without a type.
    let answer = succeed(
        &mut client,
        "EXEC sp_describe_undeclared_parameters N'MERGE t USING (SELECT 1 AS id) AS y ON t.id = y.id \
         WHEN MATCHED THEN UPDATE SET b = @b WHEN NOT MATCHED THEN INSERT (id, a) VALUES (1, @a);'",
    );
    let names: Vec<String> = answer
        .rows()
        .iter()
        .map(|row| format!("{:?} {:?}", row[1], row[3]))
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(
        names[0].contains("varchar(10)") && names[1].contains("\"int\""),
        "{names:?}"
    );
}

const REFUSED: &[(i32, &str)] = &[
    (10713, "MERGE t USING s ON t.id = s.id WHEN MATCHED THEN DELETE"),
    (
        10713,
        "MERGE t USING s ON t.id = s.id WHEN MATCHED THEN DELETE SELECT 1;",
    ),
    (
        5324,
        "MERGE t USING s ON t.id = s.id WHEN MATCHED THEN DELETE WHEN MATCHED AND s.a = 1 THEN UPDATE SET a = 1;",
    ),
    (
        10714,
        "MERGE t USING s ON t.id = s.id WHEN MATCHED AND s.a = 2 THEN DELETE WHEN MATCHED THEN DELETE;",
    ),
    (
        10714,
        "MERGE t USING s ON t.id = s.id WHEN NOT MATCHED AND s.a = 2 THEN INSERT (id) VALUES (1) \
                 WHEN NOT MATCHED BY TARGET THEN INSERT (id) VALUES (1);",
    ),
    (
        10711,
        "MERGE t USING s ON t.id = s.id WHEN MATCHED THEN INSERT (id) VALUES (1);",
    ),
    (
        10711,
        "MERGE t USING s ON t.id = s.id WHEN NOT MATCHED BY SOURCE THEN INSERT (id) VALUES (1);",
    ),
    (10710, "MERGE t USING s ON t.id = s.id WHEN NOT MATCHED THEN DELETE;"),
    (5318, "MERGE t USING t ON 1 = 1 WHEN MATCHED THEN DELETE;"),
    (5318, "MERGE t AS s USING s ON 1 = 1 WHEN MATCHED THEN DELETE;"),
    (
        5333,
        "MERGE t USING s ON t.id = s.id WHEN NOT MATCHED AND t.a = 1 THEN INSERT (id) VALUES (1);",
    ),
    (
        5334,
        "MERGE t USING s ON t.id = s.id WHEN NOT MATCHED BY SOURCE AND s.a = 1 THEN DELETE;",
    ),
    (
        4104,
        "MERGE t USING s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id) VALUES (t.id);",
    ),
    (
        4104,
        "MERGE t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET s.a = 1;",
    ),
    (
        207,
        "MERGE t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET none = 1;",
    ),
    (
        209,
        "MERGE t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET a = a + 1;",
    ),
    (
        110,
        "MERGE t USING s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id) VALUES (1, 2);",
    ),
    (
        264,
        "MERGE t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET a = 1, a = 2;",
    ),
    (
        11742,
        "MERGE t USING s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id) VALUES (NEXT VALUE FOR q);",
    ),
    (208, "MERGE none USING s ON none.id = s.id WHEN MATCHED THEN DELETE;"),
    (
        4104,
        "MERGE t USING s ON t.id = s.id WHEN MATCHED THEN DELETE OUTPUT t.id;",
    ),
    (
        2627,
        "MERGE t USING s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id) VALUES (1);",
    ),
    (
        2627,
        "MERGE t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET id = 1;",
    ),
];

#[test]
fn what_no_merge_may_be_is_refused() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    reset(&mut client);
    succeed(&mut client, "CREATE SEQUENCE q AS int");
    for (number, merge) in REFUSED {
        assert_eq!(numbers(&client.batch(merge)), [*number], "{merge}");
    }
    assert_eq!(shown(&succeed(&mut client, ALL)), "1,10,one; 2,20,two; 3,-,three");
    assert_eq!(
        client.batch("MERGE t USING s ON t.id = s.id WHEN MATCHED AND s.a = 2 THEN UPDATE SET a = 1 WHEN MATCHED THEN UPDATE SET a = 2;").said()[0].text,
        "An action of type 'WHEN MATCHED' cannot appear more than once in a 'UPDATE' clause of a MERGE statement."
    );
}

/// Rows of small numbers, by a linear congruential generator.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> i32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        i32::try_from((self.0 >> 33) % limit).unwrap()
    }

    fn rows(&mut self) -> Vec<(i32, i32)> {
        let count = self.below(6);
        (0..count).map(|_| (self.below(5), self.below(4))).collect()
    }
}

fn values(rows: &[(i32, i32)]) -> String {
    let rows: Vec<String> = rows.iter().map(|(id, a)| format!("({id}, {a})")).collect();
    rows.join(", ")
}

/// The rows after the MERGE of the test below, by the definition of its clauses; `None` for 8672.
fn expected(target: &[(i32, i32)], source: &[(i32, i32)], limits: (i32, i32, i32)) -> Option<Vec<(i32, i32)>> {
    let (deleted, inserted, kept) = limits;
    let mut after = Vec::new();
    for (id, a) in target {
        let matches: Vec<&(i32, i32)> = source.iter().filter(|(other, _)| other == id).collect();
        if matches.is_empty() {
            if *a >= kept {
                after.push((*id, *a));
            }
            continue;
        }
        let deletes = matches.iter().filter(|(_, other)| *other < deleted).count();
        match matches.len() - deletes {
            0 => {}
            1 if deletes == 0 => after.push((*id, a * 10 + matches[0].1)),
            _ => return None,
        }
    }
    for (id, a) in source {
        if !target.iter().any(|(other, _)| other == id) && *a >= inserted {
            after.push((*id, -a));
        }
    }
    after.sort_unstable();
    Some(after)
}

#[test]
fn random_merges_do_what_their_clauses_say() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE m (id int, a int); CREATE TABLE n (id int, a int)",
    );
    let seed = 20_261_128;
    println!("seed {seed}");
    let mut random = Random(seed);
    for _ in 0..150 {
        let (target, source) = (random.rows(), random.rows());
        let limits = (random.below(4), random.below(4), random.below(4));
        succeed(&mut client, "TRUNCATE TABLE m; TRUNCATE TABLE n");
        for (table, rows) in [("m", &target), ("n", &source)] {
            if !rows.is_empty() {
                succeed(&mut client, &format!("INSERT {table} VALUES {}", values(rows)));
            }
        }
        let (deleted, inserted, kept) = limits;
        let merge = format!(
            "MERGE m USING n ON m.id = n.id WHEN NOT MATCHED BY SOURCE AND m.a < {kept} THEN DELETE \
             WHEN MATCHED AND n.a < {deleted} THEN DELETE WHEN MATCHED THEN UPDATE SET a = m.a * 10 + n.a \
             WHEN NOT MATCHED AND n.a >= {inserted} THEN INSERT VALUES (n.id, -n.a);"
        );
        let answer = client.batch(&merge);
        match expected(&target, &source, limits) {
            None => assert_eq!(numbers(&answer), [8672], "{target:?} {source:?} {limits:?}"),
            Some(after) => {
                let shown_after: Vec<String> = after.iter().map(|(id, a)| format!("{id},{a}")).collect();
                let found = shown(&succeed(&mut client, "SELECT * FROM m ORDER BY id, a"));
                assert_eq!(
                    found,
                    shown_after.join("; "),
                    "{target:?} {source:?} {limits:?} {answer:?}"
                );
            }
        }
    }
}
