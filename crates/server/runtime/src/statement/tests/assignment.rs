//! SELECT that assigns variables, SELECT INTO, and values outside queries.

use selenite_compiler::statement::Statement;
use selenite_types::Value;

use super::shop;

#[test]
fn the_last_row_stays() {
    let shop = shop();
    let answer = shop.answer("DECLARE @n varchar(20), @i int SELECT @n = name, @i = id FROM customer ORDER BY id");
    assert_eq!(answer.slots, [Value::Text("Cid".into()), Value::Int(3)]);
    assert_eq!(answer.counts, [3]);
    assert!(answer.rows.is_empty());
}

#[test]
fn no_row_changes_nothing() {
    let answer = shop().answer("DECLARE @i int = 7 SELECT @i = id FROM customer WHERE id > 100");
    assert_eq!(answer.slots, [Value::Int(7)]);
}

#[test]
fn each_row_reads_the_assignments_of_the_previous_row() {
    let shop = shop();
    let list = "DECLARE @s varchar(100) = '' SELECT @s = @s + name + ';' FROM customer ORDER BY id DESC SELECT @s";
    assert_eq!(shop.rows(list), "Cid;bob;Ann;");
    let sum = "DECLARE @t decimal(10, 2) = 0, @n int = 0 SELECT @t += amount, @n += 1 FROM orders SELECT @t, @n";
    assert_eq!(shop.rows(sum), "17.75|4");
    let chain = "DECLARE @a int, @b int SELECT @a = id, @b = @a * 2 FROM customer WHERE id = 2 SELECT @a, @b";
    assert_eq!(shop.rows(chain), "2|4");
}

#[test]
fn aggregates_and_subqueries_are_assigned() {
    let shop = shop();
    let one = "DECLARE @n int, @m int, @x bit
        SELECT @n = COUNT(*), @m = (SELECT MAX(id) FROM customer),
            @x = CASE WHEN EXISTS (SELECT 1 FROM orders WHERE id = 0) THEN 1 ELSE 0 END FROM orders
        SELECT @n, @m, @x";
    assert_eq!(shop.rows(one), "4|3|0");
    let distinct = "DECLARE @c int SELECT DISTINCT @c = customer FROM orders WHERE customer = 1 SELECT @c";
    assert_eq!(shop.rows(distinct), "1");
    let top = "DECLARE @c int SELECT TOP 1 @c = id FROM orders ORDER BY amount DESC SELECT @c";
    assert_eq!(shop.rows(top), "12");
    assert_eq!(shop.rows("DECLARE @c int = 5 SELECT @c = @c + 1 SELECT @c"), "6");
}

#[test]
fn an_assigned_value_is_of_the_variable_s_type() {
    let shop = shop();
    assert_eq!(
        shop.rows("DECLARE @s varchar(2), @i int SELECT @s = name, @i = amount FROM orders, customer SELECT @s"),
        "Ci"
    );
    assert_eq!(shop.number("DECLARE @i int SELECT @i = name FROM customer"), 245);
    assert_eq!(shop.number("SELECT @i = name FROM customer"), 137);
}

#[test]
fn select_into_makes_a_table_of_the_query_s_types() {
    let shop = shop();
    let answer =
        shop.answer("SELECT id, UPPER(name) AS big, CAST(1 AS bigint) AS one INTO copy FROM customer WHERE id < 3");
    assert_eq!(answer.counts, [2]);
    let copied = shop
        .database
        .connection
        .query_row("SELECT big FROM copy WHERE id = 2", [], |row| row.get::<_, String>(0));
    assert_eq!(copied.unwrap(), "BOB");
    assert_eq!(shop.number("SELECT id, 1 INTO other FROM customer"), 1038);
    assert_eq!(shop.number("SELECT id, id INTO other FROM customer"), 2705);
}

#[test]
fn select_into_keeps_an_identity() {
    let session = crate::testing::Session::new("CREATE TABLE t (id int IDENTITY(5, 2), a int)");
    let bind = |batch: &str| {
        let tree = selenite_tsql::parse(batch, selenite_tsql::Options::default()).unwrap();
        let variables = selenite_compiler::Variables::new();
        let binding = selenite_compiler::statement::Binding {
            catalog: &session.tables,
            variables: &variables,
        };
        let Statement::Into(into) = binding.statement(&tree.statements[0]).unwrap() else {
            panic!("{batch} makes no table")
        };
        into.columns[0].identity.map(|rule| (rule.seed, rule.increment))
    };
    assert_eq!(bind("SELECT id, a INTO copy FROM t"), Some((5, 2)));
    assert_eq!(bind("SELECT id + 0 AS id INTO copy FROM t"), None);
    assert_eq!(bind("SELECT x.id INTO copy FROM t x JOIN t y ON x.id = y.id"), None);
}

#[test]
fn a_value_and_a_condition_may_hold_subqueries() {
    let shop = shop();
    let run = |batch: &str| {
        let tree = selenite_tsql::parse(batch, selenite_tsql::Options::default()).unwrap();
        let variables = selenite_compiler::Variables::new();
        let binding = selenite_compiler::statement::Binding {
            catalog: &shop.tables,
            variables: &variables,
        };
        let kind = &tree.statements[0].kind;
        let rows = if let selenite_tsql::ast::StatementKind::Print(value) = kind {
            binding.value(value, None).unwrap()
        } else if let selenite_tsql::ast::StatementKind::If(condition) = kind {
            binding.test(&condition.condition).unwrap()
        } else {
            panic!("{batch} has no value")
        };
        let mut run = crate::statement::Run {
            executor: &shop.database.executor(),
            slots: &mut Vec::new(),
            environment: &crate::testing::TestEnvironment::default(),
            rows: &mut |_| Ok(std::ops::ControlFlow::Continue(())),
            changed: None,
        };
        run.value(&rows).unwrap()
    };
    assert_eq!(run("PRINT (SELECT COUNT(*) FROM orders) + 1"), Value::Int(5));
    assert_eq!(
        run("IF EXISTS (SELECT 1 FROM orders WHERE id = 12) PRINT 1"),
        Value::Bit(true)
    );
    assert_eq!(run("IF (SELECT MAX(id) FROM orders) < 0 PRINT 1"), Value::Bit(false));
    assert_eq!(
        run("IF 1 IN (SELECT customer FROM orders WHERE customer IS NULL) PRINT 1"),
        Value::Bit(false)
    );
}
