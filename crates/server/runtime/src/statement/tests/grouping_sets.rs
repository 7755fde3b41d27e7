//! ROLLUP, CUBE, GROUPING SETS, PIVOT and UNPIVOT.

use crate::testing::Session;

fn sales() -> Session {
    Session::new(
        "CREATE TABLE sales (country varchar(10), region varchar(10), amount int)
         INSERT sales VALUES ('Canada', 'Alberta', 100), ('Canada', 'British', 200), ('Canada', 'British', 300),
             ('US', 'Montana', 100)",
    )
}

#[test]
fn rollup_adds_subtotals() {
    let session = sales();
    // The documentation's example.
    let rows =
        "SELECT country, region, SUM(amount) FROM sales GROUP BY ROLLUP (country, region) ORDER BY country, region";
    let expected =
        "NULL|NULL|700\nCanada|NULL|600\nCanada|Alberta|100\nCanada|British|500\nUS|NULL|100\nUS|Montana|100";
    assert_eq!(session.rows(rows), expected);
    let with = "SELECT country, region, SUM(amount) FROM sales GROUP BY country, region WITH ROLLUP ORDER BY 1, 2";
    assert_eq!(session.rows(with), expected);
    let cube = "SELECT country, region, COUNT(*) FROM sales GROUP BY CUBE (country, region) ORDER BY 1, 2";
    assert_eq!(
        session.rows(cube),
        "NULL|NULL|4\nNULL|Alberta|1\nNULL|British|2\nNULL|Montana|1\nCanada|NULL|3\nCanada|Alberta|1\nCanada|British|2\n\
         US|NULL|1\nUS|Montana|1"
    );
    let sets = "SELECT country, region, SUM(amount) FROM sales GROUP BY GROUPING SETS (country, (country, region), ()) \
                ORDER BY 1, 2";
    assert_eq!(session.rows(sets), expected);
}

#[test]
fn grouping_tells_which_keys_are_missing() {
    let session = sales();
    let rows = "SELECT CASE WHEN GROUPING(country) = 1 THEN 'all' ELSE country END, GROUPING(region),
        GROUPING_ID(country, region), SUM(amount) * 2, COUNT(*) OVER ()
        FROM sales GROUP BY ROLLUP (country, region) HAVING SUM(amount) > 100 ORDER BY GROUPING(country) DESC, 4";
    assert_eq!(
        session.rows(rows),
        "all|1|3|1400|3\nCanada|0|0|1000|3\nCanada|1|1|1200|3"
    );
    let answer = session.answer("SELECT GROUPING(country), GROUPING_ID(country) FROM sales GROUP BY country");
    assert_eq!(answer.columns, [" tinyint", " int"]);
    assert_eq!(answer.rows, ["0|0", "0|0"]);
    assert_eq!(
        session.number("SELECT GROUPING(region) FROM sales GROUP BY country"),
        8161
    );
    assert_eq!(
        session.number("SELECT region FROM sales GROUP BY ROLLUP (country)"),
        8120
    );
    assert_eq!(
        session.rows("SELECT SUM(amount) FROM sales WHERE amount > 999 GROUP BY GROUPING SETS ((), country)"),
        "NULL"
    );
    assert_eq!(session.rows("SELECT 1 FROM sales WHERE amount > 999 GROUP BY ()"), "1");
    assert_eq!(
        session.rows("SELECT DISTINCT GROUPING(country) FROM sales GROUP BY country, ROLLUP (region) ORDER BY 1"),
        "0"
    );
    assert_eq!(
        session.rows("SELECT TOP 1 country, SUM(amount) AS s FROM sales GROUP BY ROLLUP (country) ORDER BY s DESC"),
        "NULL|700"
    );
}

/// The names of a set: a bit for each of three columns.
fn chosen(set: u64) -> Vec<&'static str> {
    let names = ["a", "b", "c"].into_iter().enumerate();
    names
        .filter(|(at, _)| set >> at & 1 == 1)
        .map(|(_, name)| name)
        .collect()
}

/// A table of random rows.
fn random_rows(draw: &mut dyn FnMut(u64) -> u64) -> Session {
    let mut rows = Vec::new();
    for _ in 0..40 {
        let mut value = |below| match draw(below) {
            3 => "NULL".to_owned(),
            number => number.to_string(),
        };
        rows.push(format!("({}, {}, {}, {})", value(4), value(4), value(3), value(100)));
    }
    let rows = rows.join(", ");
    Session::new(&format!(
        "CREATE TABLE t (a int, b int, c int, n int) INSERT t VALUES {rows}"
    ))
}

/// The query of one set: columns that are in another set alone are NULL.
fn query_of(set: u64, all: u64) -> String {
    let by = chosen(set);
    let columns: String = chosen(all)
        .into_iter()
        .map(|name| match by.contains(&name) {
            true => format!("{name}, "),
            false => format!("CAST(NULL AS int) AS {name}, "),
        })
        .collect();
    let by = if by.is_empty() {
        String::new()
    } else {
        format!(" GROUP BY {}", by.join(", "))
    };
    format!("SELECT {columns}SUM(n) AS s, COUNT(*) AS k FROM t{by}")
}

#[test]
fn random_grouping_sets_are_unions_of_groups() {
    let mut state: u64 = 0x5eed_0611;
    println!("seed {state:#x}");
    let mut draw = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let session = random_rows(&mut draw);
    let sorted = |rows: &str| {
        let mut lines: Vec<String> = session.rows(rows).lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    for _ in 0..30 {
        let count = 1 + draw(4);
        let sets: Vec<u64> = (0..count).map(|_| draw(8)).collect();
        let all = sets.iter().fold(0, |all, set| all | set);
        let listed: Vec<String> = sets
            .iter()
            .map(|set| format!("({})", chosen(*set).join(", ")))
            .collect();
        let shown: String = chosen(all).into_iter().map(|name| format!("{name}, ")).collect();
        let sets_of = listed.join(", ");
        let by_sets = format!("SELECT {shown}SUM(n), COUNT(*) FROM t GROUP BY GROUPING SETS ({sets_of})");
        let unions: Vec<String> = sets.iter().map(|set| query_of(*set, all)).collect();
        assert_eq!(sorted(&by_sets), sorted(&unions.join(" UNION ALL ")), "{by_sets}");
    }
}

#[test]
fn pivot_makes_columns_of_values() {
    let session = Session::new(
        "CREATE TABLE p (who varchar(5), what varchar(5), n int)
         INSERT p VALUES ('a', 'x', 1), ('a', 'x', 2), ('a', 'y', 3), ('b', 'y', 4), ('b', 'z', 5)",
    );
    let rows = "SELECT * FROM (SELECT who, what, n FROM p) s PIVOT (SUM(n) FOR what IN ([x], [Y])) AS q ORDER BY who";
    let answer = session.answer(rows);
    assert_eq!(answer.columns, ["who varchar(5) null", "x int null", "Y int null"]);
    assert_eq!(answer.rows, ["a|3|3", "b|NULL|4"]);
    assert_eq!(
        session.rows("SELECT who, [x] AS xs FROM p PIVOT (COUNT(n) FOR what IN ([x])) q ORDER BY who"),
        "a|2\nb|0"
    );
    let total = "SELECT 'AverageCost', [x], [y] FROM (SELECT what, n FROM p) s PIVOT (AVG(n) FOR what IN ([x], [y])) q";
    assert_eq!(session.rows(total), "AverageCost|1|3");
    let none = "SELECT * FROM (SELECT what, n FROM p WHERE n > 99) s PIVOT (AVG(n) FOR what IN ([x])) q";
    assert_eq!(session.rows(none), "");
    assert_eq!(session.number("SELECT * FROM p PIVOT (SUM(who) FOR n IN ([x])) q"), 473);
    assert_eq!(
        session.rows("SELECT * FROM (SELECT who, n FROM p) s PIVOT (COUNT(who) FOR n IN ([1], [2])) q"),
        "1|1"
    );
    assert_eq!(
        session.number("SELECT * FROM p PIVOT (SUM(n) FOR what IN ([x], [X])) q"),
        8156
    );
}

#[test]
fn unpivot_makes_rows_of_columns() {
    let session = Session::new(
        "CREATE TABLE v (id int, e1 int, e2 int, e3 varchar(5))
         INSERT v VALUES (1, 4, 3, 'a'), (2, NULL, 5, 'b')",
    );
    let rows = "SELECT id, Employee, Orders FROM (SELECT id, e1, e2 FROM v) p
        UNPIVOT (Orders FOR Employee IN (e1, e2)) AS u ORDER BY 1, 2";
    let answer = session.answer(rows);
    assert_eq!(
        answer.columns,
        ["id int null", "Employee nvarchar(128) null", "Orders int"]
    );
    assert_eq!(answer.rows, ["1|e1|4", "1|e2|3", "2|e2|5"]);
    assert_eq!(session.number("SELECT * FROM v UNPIVOT (o FOR e IN (e1, e3)) u"), 8167);
    assert_eq!(session.number("SELECT * FROM v UNPIVOT (o FOR e IN (e1, e9)) u"), 207);
}

#[test]
fn windows_have_names() {
    let session = sales();
    let rows = "SELECT region, SUM(amount) OVER w, ROW_NUMBER() OVER (p ORDER BY amount DESC), COUNT(*) OVER p
        FROM sales WINDOW p AS (PARTITION BY country), w AS (p ORDER BY amount ROWS UNBOUNDED PRECEDING)
        ORDER BY country, amount";
    assert_eq!(
        session.rows(rows),
        "Alberta|100|3|3\nBritish|300|2|3\nBritish|600|1|3\nMontana|100|1|1"
    );
    for (rows, number) in [
        ("SELECT SUM(amount) OVER w FROM sales", 5362),
        ("SELECT 1 FROM sales WINDOW a AS (b), b AS (a)", 5365),
        ("SELECT 1 FROM sales WINDOW a AS (a)", 5362),
        ("SELECT 1 FROM sales WINDOW a AS (), a AS ()", 16211),
        (
            "SELECT SUM(amount) OVER w FROM sales WINDOW w AS (ROWS UNBOUNDED PRECEDING)",
            5364,
        ),
    ] {
        assert_eq!(session.number(rows), number, "{rows}");
    }
}

#[test]
fn approx_count_distinct_counts() {
    let session = sales();
    let answer = session.answer("SELECT APPROX_COUNT_DISTINCT(region) FROM sales");
    assert_eq!(answer.columns, [" bigint"]);
    assert_eq!(answer.rows, ["3"]);
}

#[test]
fn percentiles_are_of_a_partition() {
    let session = Session::new(
        "CREATE TABLE d (dept varchar(5), rate decimal(5, 2))
         INSERT d VALUES ('a', 1), ('a', 2), ('a', 3), ('a', 10), ('b', 5), ('b', NULL)",
    );
    let rows = "SELECT DISTINCT dept, PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY rate) OVER (PARTITION BY dept),
        PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY rate) OVER (PARTITION BY dept),
        PERCENTILE_DISC(0.25) WITHIN GROUP (ORDER BY rate DESC) OVER (PARTITION BY dept) FROM d ORDER BY dept";
    let answer = session.answer(rows);
    assert_eq!(
        answer.columns,
        [
            "dept varchar(5) null",
            " float null",
            " decimal(5,2) null",
            " decimal(5,2) null"
        ]
    );
    assert_eq!(answer.rows, ["a|2.5|2.00|10.00", "b|5|5.00|5.00"]);
    assert_eq!(
        session.rows("SELECT TOP 1 PERCENTILE_CONT(0) WITHIN GROUP (ORDER BY rate) OVER (), PERCENTILE_CONT(1) WITHIN GROUP (ORDER BY rate) OVER () FROM d"),
        "1|10"
    );
}

#[test]
fn nulls_are_ignored() {
    let session = Session::new(
        "CREATE TABLE n (id int, v int)
         INSERT n VALUES (1, NULL), (2, 7), (3, NULL), (4, 9), (5, NULL)",
    );
    let rows =
        "SELECT id, LAST_VALUE(v) IGNORE NULLS OVER (ORDER BY id), FIRST_VALUE(v) IGNORE NULLS OVER (ORDER BY id),
        LAG(v) IGNORE NULLS OVER (ORDER BY id), LEAD(v, 1, 0) IGNORE NULLS OVER (ORDER BY id),
        LAG(v) RESPECT NULLS OVER (ORDER BY id) FROM n ORDER BY id";
    assert_eq!(
        session.rows(rows),
        "1|NULL|NULL|NULL|7|NULL\n2|7|7|NULL|9|NULL\n3|7|7|7|9|7\n4|9|7|7|0|NULL\n5|9|7|9|0|9"
    );
    assert_eq!(
        session.number("SELECT LAG(v, 2) IGNORE NULLS OVER (ORDER BY id) FROM n"),
        40510
    );
}
