//! Joins and conditions against a naive evaluation, with many NULLs.

use proptest::prelude::*;

use crate::testing::Session;

/// A value of a column: NULL, or a small number that often equals another.
type Cell = Option<i64>;

/// A row of both tables: columns a and b of t, c and d of u.
type Row = [Cell; 4];

#[derive(Clone, Debug)]
enum Test {
    Compare(usize, &'static str, usize),
    Constant(usize, &'static str, i64),
    IsNull(usize),
    In(usize, Vec<Cell>),
    Between(usize, i64, i64),
    And(Vec<Test>),
    Or(Vec<Test>),
    Not(Box<Test>),
}

const COLUMNS: [&str; 4] = ["a", "b", "c", "d"];

impl Test {
    fn sql(&self) -> String {
        let joined = |tests: &[Self], word: &str| {
            let parts: Vec<String> = tests.iter().map(|test| format!("({})", test.sql())).collect();
            parts.join(word)
        };
        match self {
            Self::Compare(left, sign, right) => format!("{} {sign} {}", COLUMNS[*left], COLUMNS[*right]),
            Self::Constant(column, sign, constant) => format!("{} {sign} {constant}", COLUMNS[*column]),
            Self::IsNull(column) => format!("{} IS NULL", COLUMNS[*column]),
            Self::In(column, list) => {
                let list: Vec<String> = list.iter().map(|cell| shown(*cell)).collect();
                format!("{} IN ({})", COLUMNS[*column], list.join(", "))
            }
            Self::Between(column, low, high) => format!("{} BETWEEN {low} AND {high}", COLUMNS[*column]),
            Self::And(tests) => joined(tests, " AND "),
            Self::Or(tests) => joined(tests, " OR "),
            Self::Not(test) => format!("NOT ({})", test.sql()),
        }
    }

    /// True, false, or unknown.
    fn holds(&self, row: &Row) -> Option<bool> {
        match self {
            Self::Compare(left, sign, right) => compare(row[*left], sign, row[*right]),
            Self::Constant(column, sign, constant) => compare(row[*column], sign, Some(*constant)),
            Self::IsNull(column) => Some(row[*column].is_none()),
            Self::In(column, list) => any(list.iter().map(|cell| compare(row[*column], "=", *cell))),
            Self::Between(column, low, high) => all([
                compare(row[*column], ">=", Some(*low)),
                compare(row[*column], "<=", Some(*high)),
            ]
            .into_iter()),
            Self::And(tests) => all(tests.iter().map(|test| test.holds(row))),
            Self::Or(tests) => any(tests.iter().map(|test| test.holds(row))),
            Self::Not(test) => test.holds(row).map(|holds| !holds),
        }
    }
}

fn compare(left: Cell, sign: &str, right: Cell) -> Option<bool> {
    let (left, right) = (left?, right?);
    Some(match sign {
        "=" => left == right,
        "<>" => left != right,
        "<" => left < right,
        "<=" => left <= right,
        ">" => left > right,
        _ => left >= right,
    })
}

fn all(tests: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let tests: Vec<Option<bool>> = tests.collect();
    if tests.contains(&Some(false)) {
        return Some(false);
    }
    tests.iter().all(Option::is_some).then_some(true)
}

fn any(tests: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    all(tests.map(|test| test.map(|test| !test))).map(|all| !all)
}

fn shown(cell: Cell) -> String {
    cell.map_or_else(|| "NULL".to_owned(), |value| value.to_string())
}

fn cell() -> impl Strategy<Value = Cell> {
    prop_oneof![1 => Just(None), 4 => (0_i64..4).prop_map(Some)]
}

fn rows() -> impl Strategy<Value = Vec<(Cell, Cell)>> {
    prop::collection::vec((cell(), cell()), 0..6)
}

fn sign() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["=", "<>", "<", "<=", ">", ">="])
}

fn test() -> impl Strategy<Value = Test> {
    let leaf = prop_oneof![
        (0_usize..4, sign(), 0_usize..4).prop_map(|(left, sign, right)| Test::Compare(left, sign, right)),
        (0_usize..4, sign(), 0_i64..4).prop_map(|(column, sign, constant)| Test::Constant(column, sign, constant)),
        (0_usize..4).prop_map(Test::IsNull),
        (0_usize..4, prop::collection::vec(cell(), 1..4)).prop_map(|(column, list)| Test::In(column, list)),
        (0_usize..4, 0_i64..4, 0_i64..4).prop_map(|(column, low, high)| Test::Between(column, low, high)),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(Test::And),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Test::Or),
            inner.prop_map(|test| Test::Not(Box::new(test))),
        ]
    })
}

fn session(t: &[(Cell, Cell)], u: &[(Cell, Cell)], types: (&str, &str)) -> Session {
    let values = |rows: &[(Cell, Cell)]| {
        let rows: Vec<String> = rows
            .iter()
            .map(|(x, y)| format!("({}, {})", shown(*x), shown(*y)))
            .collect();
        rows.join(", ")
    };
    let session = Session::new(&format!(
        "CREATE TABLE t (a {0}, b {1}) CREATE TABLE u (c {1}, d {0})",
        types.0, types.1
    ));
    for (name, rows) in [("t", t), ("u", u)] {
        if !rows.is_empty() {
            session.answer(&format!("INSERT {name} VALUES {}", values(rows)));
        }
    }
    session
        .database
        .connection
        .execute_batch("CREATE INDEX ta ON t (a); CREATE INDEX uc ON u (c, d)")
        .unwrap();
    session
}

/// The result of a join: pairs that match, and unmatched rows where the kind keeps them.
fn joined(t: &[(Cell, Cell)], u: &[(Cell, Cell)], kind: &str, on: &Test) -> Vec<Row> {
    let pair = |left: &(Cell, Cell), right: &(Cell, Cell)| [left.0, left.1, right.0, right.1];
    let none = (None, None);
    let mut rows = Vec::new();
    for left in t {
        let matches: Vec<Row> = u
            .iter()
            .map(|right| pair(left, right))
            .filter(|row| on.holds(row) == Some(true))
            .collect();
        if matches.is_empty() && (kind == "LEFT" || kind == "FULL") {
            rows.push(pair(left, &none));
        }
        rows.extend(matches);
    }
    if kind == "RIGHT" || kind == "FULL" {
        for right in u
            .iter()
            .filter(|right| !t.iter().any(|left| on.holds(&pair(left, right)) == Some(true)))
        {
            rows.push(pair(&none, right));
        }
    }
    rows
}

fn sorted(mut rows: Vec<String>) -> Vec<String> {
    rows.sort();
    rows
}

/// Types with equal integer values, so that each kind of comparison occurs: native, converted, and by
/// operation.
fn types() -> impl Strategy<Value = (&'static str, &'static str)> {
    prop::sample::select(vec![
        ("int", "int"),
        ("int", "bigint"),
        ("smallint", "decimal(9, 0)"),
        ("int", "decimal(25, 0)"),
        ("tinyint", "float"),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_join_returns_the_rows_of_its_definition(
        t in rows(), u in rows(), on in test(), filter in test(), types in types(),
        kind in prop::sample::select(vec!["INNER", "LEFT", "RIGHT", "FULL"]),
    ) {
        let session = session(&t, &u, types);
        let batch = format!("SELECT a, b, c, d FROM t {kind} JOIN u ON {} WHERE {}", on.sql(), filter.sql());
        let kept = joined(&t, &u, kind, &on).into_iter().filter(|row| filter.holds(row) == Some(true));
        let expected = kept.map(|row| row.map(shown).join("|")).collect();
        prop_assert_eq!(sorted(session.answer(&batch).rows), sorted(expected), "{}", batch);
    }

    #[test]
    fn subqueries_have_three_truth_values(t in rows(), u in rows(), test in test(), types in types()) {
        let session = session(&t, &u, types);
        let exists = format!("SELECT a, b FROM t WHERE EXISTS (SELECT 1 FROM u WHERE {})", test.sql());
        let among = format!("SELECT a, b FROM t WHERE a NOT IN (SELECT c FROM u WHERE {})", test.sql());
        let all = format!("SELECT a, b FROM t WHERE a > ALL (SELECT c FROM u WHERE {})", test.sql());
        let pairs = |left: &(Cell, Cell)| {
            let left = *left;
            let rows = u.iter().map(move |right| [left.0, left.1, right.0, right.1]);
            rows.filter(|row| test.holds(row) == Some(true)).collect::<Vec<Row>>()
        };
        let shown_rows = |keep: &dyn Fn(&(Cell, Cell)) -> bool| {
            sorted(t.iter().filter(|row| keep(row)).map(|row| format!("{}|{}", shown(row.0), shown(row.1))).collect())
        };
        let expected = shown_rows(&|row| !pairs(row).is_empty());
        prop_assert_eq!(sorted(session.answer(&exists).rows), expected, "{}", exists);
        let expected = shown_rows(&|row| any(pairs(row).iter().map(|pair| compare(pair[0], "=", pair[2]))) == Some(false));
        prop_assert_eq!(sorted(session.answer(&among).rows), expected, "{}", among);
        let expected = shown_rows(&|row| super::logic::all(pairs(row).iter().map(|pair| compare(pair[0], ">", pair[2]))) == Some(true));
        prop_assert_eq!(sorted(session.answer(&all).rows), expected, "{}", all);
    }

    #[test]
    fn deletes_and_updates_change_the_rows_that_a_select_finds(t in rows(), u in rows(), test in test()) {
        let session = session(&t, &u, ("int", "int"));
        let matching = t.iter().filter(|left| {
            u.iter().any(|right| test.holds(&[left.0, left.1, right.0, right.1]) == Some(true))
        });
        let count = u64::try_from(matching.count()).unwrap();
        let update = format!("UPDATE t SET a = a FROM t JOIN u ON {}", test.sql());
        prop_assert_eq!(session.answer(&update).counts[0], count, "{}", update);
        let delete = format!("DELETE t FROM t JOIN u ON {}", test.sql());
        prop_assert_eq!(session.answer(&delete).counts[0], count, "{}", delete);
        let left = u64::try_from(t.len()).unwrap() - count;
        prop_assert_eq!(session.rows("SELECT COUNT(*) FROM t"), left.to_string());
    }
}
