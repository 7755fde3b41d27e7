//! Filtered indexes, IGNORE_DUP_KEY, and disabled indexes.

use super::client::{Client, fails, numbers, shown, succeed};
use super::fixture::Fixture;

fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(
        &mut client,
        "USE d; CREATE TABLE t (id int, a int, b varchar(10), c decimal(8, 2), d date, e bit, f varbinary(4), g AS a + 1)",
    );
    client
}

/// A filter, values of the filtered column for which it holds, and for which it does not.
const FILTERS: &[(&str, &str, &[&str], &[&str])] = &[
    ("a > 5", "a", &["6", "100"], &["5", "NULL"]),
    ("a <> -5", "a", &["5"], &["-5", "NULL"]),
    ("(a >= 1 AND a !> 3)", "a", &["1", "3"], &["0", "4"]),
    ("a IN (1, 2)", "a", &["2"], &["3", "NULL"]),
    ("b = 'Yes'", "b", &["'yes'", "'YES  '"], &["'no'", "NULL"]),
    ("b < 'm'", "b", &["'L'", "''"], &["'M'", "'n'"]),
    ("c >= 1.5", "c", &["1.5", "2"], &["1.49", "-3"]),
    ("c = -1", "c", &["-1.00"], &["1"]),
    ("d < '2020-01-01'", "d", &["'2019-12-31'"], &["'2020-01-01'"]),
    ("e = 1", "e", &["1"], &["0", "NULL"]),
    ("f = 0x01", "f", &["0x01"], &["0x02"]),
    ("a IS NULL AND b IS NOT NULL", "b", &["'x'"], &["NULL"]),
];

#[test]
fn a_filtered_unique_index_is_about_its_rows() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for (filter, column, within, without) in FILTERS {
        succeed(
            &mut client,
            &format!("TRUNCATE TABLE t; CREATE UNIQUE INDEX i ON t (id) WHERE {filter}"),
        );
        for value in *without {
            succeed(
                &mut client,
                &format!("INSERT t (id, {column}) VALUES (1, {value}), (1, {value})"),
            );
        }
        for value in *within {
            succeed(
                &mut client,
                &format!("DELETE t WHERE id = 7; INSERT t (id, {column}) VALUES (7, {value})"),
            );
            fails(
                &mut client,
                2601,
                &format!("INSERT t (id, {column}) VALUES (7, {value})"),
            );
        }
        // A row may come among those of the index.
        if let (Some(inside), Some(outside)) = (within.first(), without.first()) {
            succeed(&mut client, &format!("INSERT t (id, {column}) VALUES (7, {outside})"));
            let answer = client.batch(&format!("UPDATE t SET {column} = {inside} WHERE id = 7"));
            assert_eq!(numbers(&answer), [2601], "{filter}");
            assert!(
                answer.said()[0].text.ends_with("The duplicate key value is (7)."),
                "{answer:?}"
            );
        }
        succeed(&mut client, "DROP INDEX i ON t");
    }
    // Rows that exchange places in the index.
    succeed(
        &mut client,
        "TRUNCATE TABLE t; CREATE UNIQUE INDEX i ON t (id) WHERE a = 1; INSERT t (id, a, b) VALUES (1, 1, 'x'), (1, 2, 'y'); \
         UPDATE t SET a = 3 - a",
    );
    assert_eq!(
        shown(&succeed(&mut client, "SELECT a, b FROM t ORDER BY a")),
        "1,y; 2,x"
    );
    fails(
        &mut client,
        2601,
        "MERGE t USING (SELECT 1 AS id) AS s ON 1 = 0 WHEN NOT MATCHED THEN INSERT (id, a) VALUES (1, 1);",
    );
}

#[test]
fn a_filter_that_no_index_can_have_is_refused() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for (number, filter) in [
        (10735, "a = 1 OR a = 2"),
        (10735, "b LIKE 'x%'"),
        (10735, "a BETWEEN 1 AND 2"),
        (10735, "a = id"),
        (10735, "a + 1 = 2"),
        (10735, "a = NULL"),
        (10735, "a NOT IN (1, 2)"),
        (10611, "a > 1.5"),
        (10611, "b = 5"),
        (10611, "b = N'x'"),
        (10609, "g = 5"),
        (40510, "c > 1.555"),
        (40510, "b = 'longer than the column'"),
        (207, "none = 5"),
        (241, "d = 'x'"),
    ] {
        fails(&mut client, number, &format!("CREATE INDEX i ON t (id) WHERE {filter}"));
    }
    fails(
        &mut client,
        10618,
        "CREATE UNIQUE INDEX i ON t (id) WHERE a = 1 WITH (IGNORE_DUP_KEY = ON)",
    );
    fails(&mut client, 1916, "CREATE INDEX i ON t (id) WITH (IGNORE_DUP_KEY = ON)");
    succeed(
        &mut client,
        "INSERT t (id, a) VALUES (1, 1), (1, 1), (2, 2), (3, 2), (3, 3)",
    );
    fails(&mut client, 1505, "CREATE UNIQUE INDEX i ON t (id) WHERE a = 1");
    succeed(&mut client, "CREATE UNIQUE INDEX i ON t (id) WHERE a = 2");
    assert_eq!(
        shown(&succeed(
            &mut client,
            "SELECT name, has_filter, filter_definition FROM sys.indexes WHERE name = 'i'"
        )),
        "i,1,([a]=(2))"
    );
}

#[test]
fn a_column_that_a_filter_names_stays() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for filter in ["e IS NOT NULL", "[e] IS NOT NULL", "e = 1", "a > 1 AND E = 0"] {
        succeed(&mut client, &format!("CREATE INDEX i ON t (id) WHERE {filter}"));
        fails(&mut client, 5074, "ALTER TABLE t DROP COLUMN e");
        fails(&mut client, 5074, "ALTER TABLE t ALTER COLUMN e int");
        succeed(&mut client, "DROP INDEX i ON t");
    }
    succeed(
        &mut client,
        "CREATE INDEX i ON t (id) WHERE a > 1; ALTER TABLE t DROP COLUMN e",
    );
}

#[test]
fn duplicates_are_left_out_where_the_key_ignores_them() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE UNIQUE INDEX i ON t (id) WITH (IGNORE_DUP_KEY = ON)",
    );
    let answer = succeed(
        &mut client,
        "INSERT t (id, a) VALUES (1, 1), (1, 2), (NULL, 3), (NULL, 4), (2, 5)",
    );
    assert_eq!(answer.dones().last().unwrap().row_count, 3);
    assert_eq!(answer.infos(), ["Duplicate key was ignored."]);
    let answer = succeed(
        &mut client,
        "INSERT t (id, a) OUTPUT inserted.id SELECT id + 1, a FROM t WHERE id IS NOT NULL; SELECT @@ROWCOUNT",
    );
    assert_eq!(shown(&answer), "3; 1");
    assert_eq!(
        shown(&succeed(&mut client, "SELECT id, a FROM t ORDER BY a, id")),
        "1,1; -,3; 2,5; 3,5"
    );
    // UPDATE and MERGE do not leave rows out.
    fails(&mut client, 2601, "UPDATE t SET id = 1 WHERE id = 2");
    fails(
        &mut client,
        2601,
        "MERGE t USING (SELECT 1 AS id) AS s ON 1 = 0 WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id);",
    );
    let answer = succeed(
        &mut client,
        "SELECT name, ignore_dup_key FROM sys.indexes WHERE name = 'i'",
    );
    assert_eq!(shown(&answer), "i,1");
    succeed(&mut client, "ALTER INDEX i ON t SET (IGNORE_DUP_KEY = OFF)");
    fails(&mut client, 2601, "INSERT t (id) VALUES (1)");
    succeed(
        &mut client,
        "ALTER INDEX i ON t REBUILD WITH (IGNORE_DUP_KEY = ON, FILLFACTOR = 80)",
    );
    assert_eq!(
        succeed(&mut client, "INSERT t (id) VALUES (1)")
            .dones()
            .last()
            .unwrap()
            .row_count,
        0
    );
    succeed(
        &mut client,
        "CREATE TABLE k (id int IDENTITY CONSTRAINT pk PRIMARY KEY WITH (IGNORE_DUP_KEY = ON), a int UNIQUE WITH (IGNORE_DUP_KEY = ON)); \
         CREATE TABLE log_of (n int)",
    );
    succeed(
        &mut client,
        "CREATE TRIGGER tr ON k AFTER INSERT AS INSERT log_of SELECT COUNT(*) FROM inserted",
    );
    succeed(
        &mut client,
        "INSERT k (a) VALUES (1), (1), (2); SET IDENTITY_INSERT k ON; INSERT k (id, a) VALUES (1, 9), (7, 7); SET IDENTITY_INSERT k OFF",
    );
    assert_eq!(
        shown(&succeed(&mut client, "SELECT id, a FROM k ORDER BY id")),
        "1,1; 3,2; 7,7"
    );
    assert_eq!(shown(&succeed(&mut client, "SELECT n FROM log_of")), "2; 1");
}

#[test]
fn a_disabled_index_enforces_nothing_until_it_is_rebuilt() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE UNIQUE INDEX i ON t (id); CREATE INDEX j ON t (a) WHERE a > 1; INSERT t (id) VALUES (1); \
         ALTER INDEX i ON t DISABLE; INSERT t (id) VALUES (1)",
    );
    let disabled = "SELECT name, is_disabled FROM sys.indexes WHERE name IN ('i', 'j') ORDER BY name";
    assert_eq!(shown(&succeed(&mut client, disabled)), "i,1; j,0");
    fails(&mut client, 1505, "ALTER INDEX i ON t REBUILD");
    succeed(
        &mut client,
        "ALTER TABLE t ALTER COLUMN c decimal(9, 2) NULL; EXEC sp_rename 't.i', 'k', 'INDEX'",
    );
    succeed(
        &mut client,
        "INSERT t (id) VALUES (1); DELETE t; INSERT t (id) VALUES (1); ALTER INDEX ALL ON t REBUILD",
    );
    fails(&mut client, 2601, "INSERT t (id) VALUES (1)");
    succeed(
        &mut client,
        "ALTER INDEX ALL ON t DISABLE; DROP INDEX j ON t; DROP INDEX k ON t",
    );
    succeed(
        &mut client,
        "CREATE TABLE p (a int NOT NULL PRIMARY KEY); ALTER INDEX ALL ON p REORGANIZE",
    );
    fails(&mut client, 40510, "ALTER INDEX ALL ON p DISABLE");
}

#[test]
fn constraints_indexes_and_statistics_are_described() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE p (id int CONSTRAINT pk PRIMARY KEY WITH (IGNORE_DUP_KEY = ON), a int CONSTRAINT df DEFAULT 5 \
         CONSTRAINT ck CHECK (a > 0)); CREATE TABLE c (p int CONSTRAINT fk REFERENCES p (id) ON DELETE CASCADE)",
    );
    succeed(&mut client, "ALTER TABLE c NOCHECK CONSTRAINT fk");
    let answer = succeed(&mut client, "EXEC sp_helpconstraint 'p', 'nomsg'");
    assert_eq!(
        shown(&answer),
        "CHECK on column a,ck,(n/a),(n/a),Enabled,Is_For_Replication,([a]>(0)); DEFAULT on column a,df,(n/a),(n/a),(n/a),(n/a),((5)); \
         PRIMARY KEY (clustered),pk,(n/a),(n/a),(n/a),(n/a),id; d.dbo.c: fk"
    );
    let answer = succeed(&mut client, "EXEC sp_helpconstraint 'c'");
    assert_eq!(
        shown(&answer),
        "c; FOREIGN KEY,fk,Cascade,No Action,Disabled,Is_For_Replication,p;  , , , , , ,REFERENCES d.dbo.p (id)"
    );
    assert_eq!(answer.infos().len(), 1, "{answer:?}");
    let answer = succeed(&mut client, "EXEC sp_helpindex 'p'");
    assert_eq!(
        shown(&answer),
        "pk,clustered, ignore duplicate keys, unique, primary key located on PRIMARY,id"
    );
    for text in [
        "UPDATE STATISTICS p",
        "UPDATE STATISTICS dbo.p pk WITH FULLSCAN, NORECOMPUTE",
        "UPDATE STATISTICS p (pk) WITH SAMPLE 10 PERCENT; SELECT 1",
        "EXEC sp_updatestats",
    ] {
        succeed(&mut client, text);
    }
    fails(&mut client, 2706, "UPDATE STATISTICS none");
    fails(&mut client, 2767, "UPDATE STATISTICS p (none)");
}
