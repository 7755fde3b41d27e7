//! UPDATE.

use selenite_types::Value;

use crate::testing::Session;

fn stock() -> Session {
    Session::new(
        "CREATE TABLE item (id int CONSTRAINT PK_item PRIMARY KEY, name varchar(6) NOT NULL, price decimal(6, 2), n int DEFAULT 9,
             CONSTRAINT CK_n CHECK (n >= 0 AND n < price * 100))
         CREATE TABLE change (item int, by_n int)
         INSERT item VALUES (1, 'nut', 1, 10), (2, 'bolt', 2.5, 20), (3, 'gear', NULL, NULL)
         INSERT change VALUES (1, 5), (2, -1), (9, 9)",
    )
}

#[test]
fn rows_that_match_are_changed() {
    let session = stock();
    let answer = session.answer("UPDATE item SET name = 'NUT', price += 1 WHERE name = 'nut'");
    assert_eq!(answer.counts, [1]);
    assert_eq!(
        session.rows("SELECT id, name, price FROM item ORDER BY id"),
        "1|NUT|2.00\n2|bolt|2.50\n3|gear|NULL"
    );
    assert_eq!(session.answer("UPDATE item SET name = name").counts, [3]);
    assert_eq!(session.answer("UPDATE item SET name = 'x' WHERE 1 = 0").counts, [0]);
}

#[test]
fn assignments_read_the_old_row() {
    let session = Session::new("CREATE TABLE t (a int, b int) INSERT t VALUES (1, 2)");
    session.answer("UPDATE t SET a = b, b = a");
    assert_eq!(session.rows("SELECT a, b FROM t"), "2|1");
    session.answer("UPDATE t SET a *= 10, b = DEFAULT");
    assert_eq!(session.rows("SELECT a, b FROM t"), "20|NULL");
}

#[test]
fn a_plain_update_is_one_statement_and_finds_its_row() {
    let session = stock();
    let update = |batch: &str| {
        let tree = selenite_tsql::parse(batch, selenite_tsql::Options::default()).unwrap();
        let variables = selenite_compiler::Variables::new();
        let binding = selenite_compiler::statement::Binding {
            catalog: &session.tables,
            variables: &variables,
        };
        binding.statement(&tree.statements[0]).unwrap().is_single()
    };
    assert!(update("UPDATE change SET by_n = by_n + 1 WHERE item = 1"));
    assert!(!update("UPDATE item SET n = 1"));
    assert!(!update("UPDATE item SET id = id + 1"));
    assert!(!update("UPDATE change SET by_n = '1'"));
    session.answer("UPDATE change SET by_n = by_n + 1 WHERE item = 1");
    assert_eq!(session.rows("SELECT by_n FROM change WHERE item = 1"), "6");
    assert_eq!(session.number("UPDATE change SET by_n = by_n / 0"), 8134);
}

#[test]
fn a_join_changes_each_row_once() {
    let session = stock();
    session.answer("INSERT change VALUES (1, 100)");
    let answer =
        session.answer("UPDATE i SET n = i.n + c.by_n FROM item AS i JOIN change c ON c.item = i.id WHERE c.by_n < 50");
    assert_eq!(answer.counts, [2]);
    assert_eq!(session.rows("SELECT n FROM item ORDER BY id"), "15\n19\nNULL");
    session.answer("UPDATE item SET n = c.by_n FROM change c WHERE c.item = item.id AND c.item = 1 AND by_n = 5");
    assert_eq!(session.rows("SELECT n FROM item WHERE id = 1"), "5");
    session.answer("UPDATE item SET n = 0 FROM item x WHERE x.id = 2");
    assert_eq!(session.rows("SELECT n FROM item WHERE id = 2"), "0");
    assert_eq!(
        session.number("UPDATE item SET n = 0 FROM item a JOIN item b ON a.id = b.id"),
        8154
    );
}

#[test]
fn keys_may_be_increased() {
    let session = Session::new("CREATE TABLE t (id int PRIMARY KEY) INSERT t VALUES (1), (2), (3), (4)");
    assert_eq!(session.answer("UPDATE t SET id = id + 1").counts, [4]);
    assert_eq!(session.rows("SELECT id FROM t ORDER BY id"), "2\n3\n4\n5");
    session.answer("UPDATE t SET id -= 1");
    assert_eq!(session.rows("SELECT id FROM t ORDER BY id"), "1\n2\n3\n4");
    assert_eq!(
        session.fault("UPDATE t SET id = 7"),
        (
            2627,
            "Violation of PRIMARY KEY constraint 'PK_t'. Cannot insert duplicate key in object 'dbo.t'. The duplicate key \
             value is (7)."
                .to_owned()
        )
    );
    assert_eq!(session.rows("SELECT COUNT(*) FROM t WHERE id < 7"), "4");
}

#[test]
fn rules_hold_for_the_new_row() {
    let session = stock();
    let text = "The UPDATE statement conflicted with the CHECK constraint \"CK_n\". The conflict occurred in database \
                \"testdb\", table \"dbo.item\".";
    assert_eq!(
        session.fault("UPDATE item SET n = 1000 WHERE id = 1"),
        (547, text.to_owned())
    );
    assert_eq!(session.number("UPDATE item SET price = 0.01 WHERE id = 1"), 547);
    let null = "Cannot insert the value NULL into column 'name', table 'testdb.dbo.item'; column does not allow nulls. UPDATE \
                fails.";
    assert_eq!(session.fault("UPDATE item SET name = NULL"), (515, null.to_owned()));
    assert_eq!(session.number("UPDATE item SET name = name + 'toolong'"), 2628);
    assert_eq!(session.number("UPDATE item SET n = 'x'"), 245);
}

#[test]
fn variables_are_set_row_by_row() {
    let session = stock();
    let answer =
        session.answer("DECLARE @n int = 100 UPDATE item SET @n = n = @n + 1, price = 50 WHERE id < 3 SELECT @n");
    assert_eq!(answer.rows, ["102"]);
    assert_eq!(session.rows("SELECT n FROM item ORDER BY id"), "101\n102\nNULL");
    let answer = session.answer("DECLARE @old decimal(6, 2) UPDATE item SET @old = price, price = 60 WHERE id = 1");
    assert_eq!(answer.slots.len(), 1);
    assert!(matches!(answer.slots[0], Value::Decimal(decimal) if decimal.unscaled == 5000));
}

#[test]
fn invalid_assignments_are_refused() {
    let session = Session::new("CREATE TABLE t (id int IDENTITY, a int, c AS a + 1)");
    assert_eq!(
        session.fault("UPDATE t SET id = 1"),
        (8102, "Cannot update identity column 'id'.".to_owned())
    );
    assert_eq!(session.number("UPDATE t SET c = 1"), 271);
    assert_eq!(session.number("UPDATE t SET a = 1, A = 2"), 264);
    assert_eq!(session.number("UPDATE t SET nope = 1"), 207);
    assert_eq!(session.number("UPDATE t SET x.a = 1"), 4104);
    assert_eq!(session.number("UPDATE t SET a = SUM(a)"), 157);
    assert_eq!(session.number("UPDATE nope SET a = 1"), 208);
}

#[test]
fn top_limits_the_rows() {
    let session = stock();
    assert_eq!(session.answer("UPDATE TOP (2) item SET name = 'x'").counts, [2]);
    assert_eq!(session.rows("SELECT COUNT(*) FROM item WHERE name = 'x'"), "2");
}

#[test]
fn a_subquery_may_be_set() {
    let session = stock();
    session.answer("UPDATE item SET price = (SELECT MAX(by_n) FROM change c WHERE c.item = item.id) WHERE id = 1");
    assert_eq!(session.rows("SELECT price FROM item WHERE id = 1"), "5.00");
    session.answer("UPDATE item SET n = 0 WHERE id IN (SELECT item FROM change)");
    assert_eq!(session.rows("SELECT COUNT(*) FROM item WHERE n = 0"), "2");
}

#[test]
fn a_table_with_computed_columns_is_changed() {
    let session = Session::new(
        "CREATE TABLE t (id int, a int, c AS a + 1, CONSTRAINT CK_c CHECK (c < 100)) INSERT t VALUES (1, 5), (2, 6)",
    );
    session.answer("UPDATE t SET a = c * 2 WHERE c = 6");
    assert_eq!(session.rows("SELECT a, c FROM t ORDER BY id"), "12|13\n6|7");
    assert_eq!(session.number("UPDATE t SET a = 99 WHERE id = 1"), 547);
    assert_eq!(session.answer("DELETE t WHERE c = 7").counts, [1]);
}

#[test]
fn a_null_in_a_unique_key_is_unique() {
    let session = Session::new("CREATE TABLE t (id int, a int UNIQUE) INSERT t VALUES (1, NULL), (2, 2)");
    assert_eq!(session.number("UPDATE t SET a = NULL WHERE id = 2"), 2627);
    assert_eq!(session.answer("UPDATE t SET a = NULL WHERE id = 1").counts, [1]);
}

#[test]
fn keys_may_be_exchanged() {
    let session =
        Session::new("CREATE TABLE t (id int PRIMARY KEY, s varchar(5)) INSERT t VALUES (1, 'a'), (2, 'b'), (3, 'c')");
    session.answer("UPDATE t SET id = 4 - id");
    assert_eq!(session.rows("SELECT * FROM t ORDER BY id"), "1|c\n2|b\n3|a");
    session.answer("UPDATE t SET id = id % 3 + 1");
    assert_eq!(session.rows("SELECT * FROM t ORDER BY id"), "1|a\n2|c\n3|b");
    assert_eq!(
        session.number("UPDATE t SET id = CASE id WHEN 1 THEN 2 WHEN 2 THEN 1 ELSE 2 END"),
        2627
    );
    assert_eq!(session.rows("SELECT COUNT(*) FROM t"), "3");
}

/// The column on the right is the target's, even if another source of FROM has that name.
#[test]
fn a_compound_assignment_is_of_the_targets_own_column() {
    let session = Session::new(
        "CREATE TABLE t (id int, a int) INSERT t VALUES (1, 5), (2, 6)
         CREATE TABLE u (id int, a int) INSERT u VALUES (1, 50)",
    );
    session.answer("UPDATE x SET a += u.a FROM t x JOIN u ON u.id = x.id");
    session.answer("UPDATE t SET a *= 2 FROM u WHERE u.id = t.id");
    session.answer("WITH c AS (SELECT id, a FROM t) UPDATE c SET a -= 1 FROM c JOIN u ON u.id = c.id");
    assert_eq!(session.rows("SELECT a FROM t ORDER BY id"), "109\n6");
    assert_eq!(
        session.number("UPDATE x SET a = a + 1 FROM t x JOIN u ON u.id = x.id"),
        209
    );
}
