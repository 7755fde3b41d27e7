//! INSERT.

use crate::testing::Session;

fn people() -> Session {
    Session::new(
        "CREATE TABLE person (
             id int IDENTITY(10, 5) CONSTRAINT PK_person PRIMARY KEY, name varchar(5) NOT NULL, code char(3),
             born date DEFAULT '2000-01-01', points int CONSTRAINT CK_points CHECK (points >= 0) DEFAULT 1 + 1,
             twice AS points * 2)",
    )
}

#[test]
fn rows_are_numbered_and_defaults_fill_in() {
    let session = people();
    let answer = session.answer("INSERT INTO person (name, code) VALUES ('Ann', 'ab'), ('Bob', NULL)");
    assert_eq!(answer.counts, [2]);
    assert_eq!(
        session.rows("SELECT * FROM person ORDER BY id"),
        "10|Ann|ab |2000-01-01|2|4\n15|Bob|NULL|2000-01-01|2|4"
    );
    session.answer("INSERT person VALUES ('Cid', 'x', DEFAULT, 7)");
    assert_eq!(
        session.rows("SELECT id, born, points FROM person WHERE name = 'Cid'"),
        "20|2000-01-01|7"
    );
}

#[test]
fn default_values_make_a_row() {
    let session = Session::new("CREATE TABLE t (id int IDENTITY, a int DEFAULT 5, b varchar(3))");
    session.answer("INSERT t DEFAULT VALUES INSERT INTO t DEFAULT VALUES");
    assert_eq!(session.rows("SELECT * FROM t ORDER BY id"), "1|5|NULL\n2|5|NULL");
}

#[test]
fn a_query_s_rows_are_inserted() {
    let session = people();
    session.answer("INSERT person (name, points) SELECT CAST(n AS varchar(5)), n FROM sys.numbers");
    assert_eq!(
        session.rows("SELECT name, points FROM person ORDER BY id"),
        "1|1\n2|2\n3|3"
    );
    let own = session.answer("INSERT person (name, points) SELECT name, points + 10 FROM person");
    assert_eq!(own.counts, [3]);
    assert_eq!(session.rows("SELECT COUNT(*), MAX(points) FROM person"), "6|13");
    session.answer("WITH n AS (SELECT 'w' AS x) INSERT person (name) SELECT x FROM n");
    assert_eq!(session.rows("SELECT COUNT(*) FROM person WHERE name = 'w'"), "1");
    session.answer("INSERT TOP (2) person (name) SELECT CAST(n AS varchar(5)) FROM sys.numbers");
    assert_eq!(session.rows("SELECT COUNT(*) FROM person"), "9");
}

#[test]
fn counts_of_values_must_agree() {
    let session = people();
    let table = "Column name or number of supplied values does not match table definition.";
    assert_eq!(session.fault("INSERT person VALUES ('a')"), (213, table.to_owned()));
    assert_eq!(session.number("INSERT person (name, code) VALUES ('a')"), 109);
    assert_eq!(session.number("INSERT person (name) VALUES ('a', 'b')"), 110);
    assert_eq!(session.number("INSERT person (name, code) SELECT 'a'"), 120);
    assert_eq!(session.number("INSERT person (name) SELECT 'a', 'b'"), 121);
    assert_eq!(session.number("INSERT person SELECT 'a'"), 213);
    assert_eq!(session.number("INSERT person (nope) VALUES (1)"), 207);
    assert_eq!(session.number("INSERT person (name, NAME) VALUES ('a', 'b')"), 264);
    assert_eq!(
        session.fault("INSERT person (name, twice) VALUES ('a', 1)"),
        (
            271,
            "The column \"twice\" cannot be modified because it is either a computed column or is the result of a UNION operator."
                .to_owned()
        )
    );
    assert_eq!(session.number("INSERT nope VALUES (1)"), 208);
    assert_eq!(session.number("INSERT person (name) VALUES (code)"), 128);
    assert_eq!(session.number("INSERT person (name) VALUES (MAX('a'))"), 147);
    assert_eq!(
        session.number("INSERT person (name) VALUES (RANK() OVER (ORDER BY 'a'))"),
        4108
    );
    assert_eq!(session.number("INSERT sys.numbers VALUES (1)"), 259);
}

#[test]
fn null_is_refused_where_none_may_be() {
    let session = people();
    let text = "Cannot insert the value NULL into column 'name', table 'testdb.dbo.person'; column does not allow nulls. \
                INSERT fails.";
    assert_eq!(
        session.fault("INSERT person (code) VALUES ('a')"),
        (515, text.to_owned())
    );
    assert_eq!(session.number("INSERT person (name) VALUES (NULL)"), 515);
    assert_eq!(session.number("INSERT person (name) SELECT NULL"), 515);
}

#[test]
fn text_that_is_too_long_is_reported_with_the_part_that_fits() {
    let session = people();
    let text = "String or binary data would be truncated in table 'testdb.dbo.person', column 'name'. \
                Truncated value: 'Doroth'.";
    assert_eq!(
        session.fault("INSERT person (name) VALUES ('Dorothy')"),
        (2628, text.replace("Doroth'", "Dorot'"))
    );
    session.answer("INSERT person (name) VALUES ('abcde     ')");
    assert_eq!(session.rows("SELECT LEN(name) FROM person"), "5");
    let session = Session::new("CREATE TABLE b (x varbinary(2))");
    assert_eq!(session.number("INSERT b VALUES (0x010203)"), 2628);
}

#[test]
fn values_are_converted_to_their_columns() {
    let session = Session::new(
        "CREATE TABLE t (a int, d decimal(5, 2), w datetime, s varchar(10), g uniqueidentifier, m money, b bit)",
    );
    session.answer(
        "INSERT t VALUES ('12', 1.255, '20240229 10:00', 1.50, '6F9619FF-8B86-D011-B42D-00C04FC964FF', 3, 'true')",
    );
    assert_eq!(
        session.rows("SELECT a, d, s, g, m, b FROM t"),
        "12|1.26|1.50|6F9619FF-8B86-D011-B42D-00C04FC964FF|3.00|1"
    );
    assert_eq!(session.number("INSERT t (a) VALUES ('x')"), 245);
    assert_eq!(session.number("INSERT t (a) VALUES (3000000000)"), 8115);
    assert_eq!(session.number("INSERT t (w) VALUES ('nope')"), 241);
    assert_eq!(
        session.number("INSERT t (w) VALUES (CAST(1 AS decimal(5, 1)) + '')"),
        8114
    );
    assert_eq!(session.number("INSERT t (g) VALUES (5)"), 206);
}

#[test]
fn rows_of_values_share_their_types() {
    let session = Session::new("CREATE TABLE t (s varchar(10))");
    assert_eq!(session.number("INSERT t VALUES (1), ('a')"), 245);
    session.answer("INSERT t VALUES (1), ('2'), (NULL), (DEFAULT)");
    assert_eq!(session.rows("SELECT s FROM t ORDER BY s"), "NULL\nNULL\n1\n2");
}

#[test]
fn values_may_hold_subqueries() {
    let session = people();
    session.answer("INSERT person (name, points) VALUES ('a', (SELECT MAX(n) FROM sys.numbers)), ('b', 1)");
    assert_eq!(session.rows("SELECT name, points FROM person ORDER BY id"), "a|3\nb|1");
}

#[test]
fn an_explicit_identity_requires_identity_insert() {
    let session = people();
    let off = "Cannot insert explicit value for identity column in table 'person' when IDENTITY_INSERT is set to OFF.";
    assert_eq!(
        session.fault("INSERT person (id, name) VALUES (1, 'a')"),
        (544, off.to_owned())
    );
    assert_eq!(session.number("INSERT person VALUES (1, 'a', 'b', DEFAULT, 1)"), 8101);
    assert_eq!(session.number("INSERT person (id, name) VALUES (DEFAULT, 'a')"), 339);
    session
        .database
        .identity_insert
        .set(Some(session.tables.tables[0].object_id));
    assert_eq!(session.number("INSERT person (name) VALUES ('a')"), 545);
    session.answer("INSERT person (id, name) VALUES (100, 'a')");
    session.database.identity_insert.set(None);
    session.answer("INSERT person (name) VALUES ('b')");
    assert_eq!(session.rows("SELECT id FROM person ORDER BY id"), "100\n105");
}

#[test]
fn an_identity_is_limited_by_its_type() {
    let session = Session::new("CREATE TABLE t (id tinyint IDENTITY(255, 1), a int)");
    session.answer("INSERT t VALUES (1)");
    assert_eq!(
        session.fault("INSERT t VALUES (2)"),
        (
            8115,
            "Arithmetic overflow error converting IDENTITY to data type tinyint.".to_owned()
        )
    );
}

#[test]
fn a_check_must_not_be_false() {
    let session = people();
    let text = "The INSERT statement conflicted with the CHECK constraint \"CK_points\". The conflict occurred in database \
                \"testdb\", table \"dbo.person\", column 'points'.";
    assert_eq!(
        session.fault("INSERT person (name, points) VALUES ('a', -1)"),
        (547, text.to_owned())
    );
    session.answer("INSERT person (name, points) VALUES ('a', NULL)");
}

#[test]
fn a_check_without_columns_is_of_every_new_row() {
    let session = Session::new("CREATE TABLE t (a int, CONSTRAINT CK_none CHECK (1 = 0))");
    assert_eq!(session.number("INSERT t VALUES (1)"), 547);
    assert_eq!(session.rows("SELECT COUNT(*) FROM t"), "0");
}

#[test]
fn a_key_is_unique() {
    let session = Session::new(
        "CREATE TABLE t (a int, b varchar(5), c int CONSTRAINT UQ_c UNIQUE, CONSTRAINT PK_t PRIMARY KEY (a, b))
         INSERT t VALUES (1, 'x', 1), (2, 'y', NULL)",
    );
    assert_eq!(
        session.fault("INSERT t VALUES (1, 'X', 5)"),
        (
            2627,
            "Violation of PRIMARY KEY constraint 'PK_t'. Cannot insert duplicate key in object 'dbo.t'. The duplicate key \
             value is (1, X)."
                .to_owned()
        )
    );
    assert_eq!(
        session.fault("INSERT t VALUES (3, 'z', 1)").1,
        "Violation of UNIQUE KEY constraint 'UQ_c'. Cannot insert duplicate key in object 'dbo.t'. The duplicate key value is \
         (1)."
    );
}

#[test]
fn a_unique_key_contains_null_once() {
    let mut session = Session::new("CREATE TABLE t (id int, a int) INSERT t VALUES (1, NULL)");
    session.define("CREATE UNIQUE INDEX IX_a ON t (a)");
    assert_eq!(
        session.fault("INSERT t VALUES (2, NULL)"),
        (
            2601,
            "Cannot insert duplicate key row in object 'dbo.t' with unique index 'IX_a'. The duplicate key value is (<NULL>)."
                .to_owned()
        )
    );
    assert_eq!(session.number("INSERT t VALUES (2, 5), (3, 5)"), 2601);
    let mut filtered = Session::new("CREATE TABLE t (id int, a int) INSERT t VALUES (1, NULL)");
    filtered.define("CREATE UNIQUE INDEX IX_a ON t (a) WHERE a IS NOT NULL");
    filtered.answer("INSERT t VALUES (2, NULL)");
}

#[test]
fn a_foreign_key_requires_a_referenced_row() {
    let session = Session::new(
        "CREATE TABLE p (id int PRIMARY KEY) CREATE TABLE q (id int PRIMARY KEY)
         CREATE TABLE c (id int, p int CONSTRAINT FK_p REFERENCES p (id), q int CONSTRAINT FK_q REFERENCES q (id))
         INSERT p VALUES (1) INSERT q VALUES (2)",
    );
    session.answer("INSERT c VALUES (1, 1, 2), (2, NULL, NULL)");
    assert_eq!(
        session.fault("INSERT c VALUES (1, 1, 7)"),
        (
            547,
            "The INSERT statement conflicted with the FOREIGN KEY constraint \"FK_q\". The conflict occurred in database \
             \"testdb\", table \"dbo.q\", column 'id'."
                .to_owned()
        )
    );
}

#[test]
fn a_failed_statement_leaves_nothing() {
    let session = people();
    assert_eq!(
        session.number("INSERT person (name) VALUES ('a'), ('b'), ('toolong')"),
        2628
    );
    assert_eq!(session.rows("SELECT COUNT(*) FROM person"), "0");
}

#[test]
fn rows_may_refer_to_rows_of_the_same_statement() {
    let session = Session::new("CREATE TABLE t (id int PRIMARY KEY, up int CONSTRAINT FK_up REFERENCES t (id))");
    assert_eq!(
        session
            .answer("INSERT t VALUES (3, 2), (2, 1), (1, NULL), (4, 4)")
            .counts,
        [4]
    );
    assert_eq!(session.rows("SELECT id FROM t ORDER BY id"), "1\n2\n3\n4");
    let text = "The INSERT statement conflicted with the FOREIGN KEY SAME TABLE constraint \"FK_up\". The conflict occurred in \
                database \"testdb\", table \"dbo.t\", column 'id'.";
    assert_eq!(session.fault("INSERT t VALUES (6, 5), (7, 9)"), (547, text.to_owned()));
    assert_eq!(session.answer("DELETE t OUTPUT deleted.id WHERE id <> 4").rows.len(), 3);
}
