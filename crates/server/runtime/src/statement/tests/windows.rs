//! Window functions.

use crate::testing::Session;

fn scores() -> Session {
    Session::new(
        "CREATE TABLE t (team varchar(5), who int, score int)
         INSERT t VALUES ('a', 1, 10), ('A', 2, 20), ('a', 3, 20), ('b', 4, 5), ('b', 5, NULL)",
    )
}

#[test]
fn rows_are_numbered_and_ranked() {
    let answer = scores().answer(
        "SELECT who, ROW_NUMBER() OVER (ORDER BY who DESC), RANK() OVER (PARTITION BY team ORDER BY score DESC),
             DENSE_RANK() OVER (PARTITION BY team ORDER BY score DESC), NTILE(2) OVER (ORDER BY who) FROM t ORDER BY who",
    );
    assert_eq!(
        answer.rows,
        ["1|5|3|2|1", "2|4|1|1|1", "3|3|1|1|1", "4|2|1|1|2", "5|1|2|2|2"]
    );
    assert_eq!(answer.columns[1], " bigint");
}

#[test]
fn lag_and_lead_read_other_rows() {
    let session = scores();
    assert_eq!(
        session.rows("SELECT LAG(who) OVER (ORDER BY who), LEAD(who, 2, -1) OVER (ORDER BY who) FROM t ORDER BY who"),
        "NULL|3\n1|4\n2|5\n3|-1\n4|-1"
    );
    let ends = "SELECT FIRST_VALUE(who) OVER (PARTITION BY team ORDER BY who),
        LAST_VALUE(who) OVER (PARTITION BY team ORDER BY who ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
        FROM t ORDER BY who";
    assert_eq!(session.rows(ends), "1|3\n1|3\n1|3\n4|5\n4|5");
    assert_eq!(session.number("SELECT LAG(who, -1) OVER (ORDER BY who) FROM t"), 8730);
}

#[test]
fn aggregates_over_an_ordered_window_are_cumulative() {
    let session = scores();
    let running = "SELECT SUM(score) OVER (PARTITION BY team ORDER BY who), COUNT(score) OVER (PARTITION BY team),
        COUNT(*) OVER (), AVG(score) OVER (), MIN(score) OVER (ORDER BY who) FROM t ORDER BY who";
    assert_eq!(
        session.rows(running),
        "10|3|5|13|10\n30|3|5|13|10\n50|3|5|13|10\n5|1|5|13|5\n5|1|5|13|5"
    );
}

#[test]
fn a_frame_moves() {
    let session = scores();
    let moving = "SELECT SUM(who) OVER (ORDER BY who ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING),
        COUNT(score) OVER (ORDER BY who ROWS 1 PRECEDING),
        SUM(CAST(score AS float)) OVER (ORDER BY who ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING) FROM t ORDER BY who";
    assert_eq!(session.rows(moving), "3|1|40\n6|2|25\n9|2|5\n12|2|NULL\n9|1|NULL");
}

#[test]
fn values_and_nulls_leave_a_frame() {
    let session = Session::new(
        "CREATE TABLE n (id int, v int)
         INSERT n VALUES (1, NULL), (2, 5), (3, NULL), (4, -7), (5, 5), (6, NULL), (7, NULL)",
    );
    let moving =
        "SELECT SUM(v) OVER w, COUNT(v) OVER w, COUNT(*) OVER w, AVG(v) OVER w, MAX(v) OVER w, CHECKSUM_AGG(v) OVER w,
        SUM(CAST(v AS decimal(5, 1))) OVER w, FIRST_VALUE(v) IGNORE NULLS OVER w, LAST_VALUE(v) IGNORE NULLS OVER w
        FROM n WINDOW w AS (ORDER BY id ROWS 1 PRECEDING) ORDER BY id";
    assert_eq!(
        session.rows(moving),
        "NULL|0|1|NULL|NULL|NULL|NULL|NULL|NULL\n5|1|2|5|5|5|5.0|5|5\n5|1|2|5|5|5|5.0|5|5\n-7|1|2|-7|-7|-7|-7.0|-7|-7\n\
         -2|2|2|-1|5|-4|-2.0|-7|5\n5|1|2|5|5|5|5.0|5|5\nNULL|0|2|NULL|NULL|NULL|NULL|NULL|NULL"
    );
}

#[test]
fn a_select_has_so_many_named_windows() {
    let session = scores();
    let named = |count: usize| {
        let windows: Vec<String> = (0..count).map(|at| format!("w{at} AS (w{})", at + 1)).collect();
        format!(
            "SELECT SUM(who) OVER w0 FROM t WINDOW {}, w{count} AS (ORDER BY who)",
            windows.join(", ")
        )
    };
    assert_eq!(session.rows(&named(255)), "1\n3\n6\n10\n15");
    assert_eq!(session.number(&named(256)), 8623);
}

#[test]
fn rows_equal_in_order_share_a_range_frame() {
    let session = scores();
    let ranged = "SELECT who, SUM(who) OVER (ORDER BY score) FROM t ORDER BY who";
    assert_eq!(session.rows(ranged), "1|10\n2|15\n3|15\n4|9\n5|5");
}

#[test]
fn a_window_may_be_over_groups() {
    let session = scores();
    let rows = "SELECT team, SUM(score), SUM(SUM(score)) OVER (), RANK() OVER (ORDER BY COUNT(*) DESC) FROM t
        GROUP BY team ORDER BY 4";
    assert_eq!(session.rows(rows), "a|50|55|1\nb|5|55|2");
}

#[test]
fn an_order_by_select_null_specifies_no_order() {
    let session = scores();
    assert_eq!(
        session.rows("SELECT MAX(n) FROM (SELECT ROW_NUMBER() OVER (ORDER BY (SELECT NULL)) AS n FROM t) x"),
        "5"
    );
    assert_eq!(session.number("SELECT ROW_NUMBER() OVER (ORDER BY 1) FROM t"), 5308);
    assert_eq!(session.number("SELECT ROW_NUMBER() OVER (ORDER BY 'a') FROM t"), 5309);
}

#[test]
fn invalid_windows_are_refused() {
    let session = scores();
    assert_eq!(
        session.fault("SELECT ROW_NUMBER() OVER () FROM t"),
        (
            4112,
            "The function 'ROW_NUMBER' must have an OVER clause with ORDER BY.".to_owned()
        )
    );
    assert_eq!(
        session.number("SELECT 1 FROM t WHERE ROW_NUMBER() OVER (ORDER BY who) = 1"),
        4108
    );
    assert_eq!(session.number("SELECT COUNT(DISTINCT who) OVER () FROM t"), 10759);
    assert_eq!(
        session.number("SELECT SUM(ROW_NUMBER() OVER (ORDER BY who)) OVER () FROM t"),
        4109
    );
    assert_eq!(
        session.number("SELECT SUM(who) OVER (ORDER BY who RANGE 1 PRECEDING) FROM t"),
        4194
    );
    assert_eq!(
        session.number("SELECT SUM(who) OVER (ROWS UNBOUNDED PRECEDING) FROM t"),
        10756
    );
    assert_eq!(
        session.number("SELECT LAG(who, 2) IGNORE NULLS OVER (ORDER BY who) FROM t"),
        40510
    );
}

#[test]
fn percent_rank_and_cume_dist_are_shares_of_a_partition() {
    let session = scores();
    let rows = "SELECT PERCENT_RANK() OVER (ORDER BY who), CUME_DIST() OVER (ORDER BY who) FROM t ORDER BY who";
    assert_eq!(session.rows(rows), "0|0.2\n0.25|0.4\n0.5|0.6\n0.75|0.8\n1|1");
}
