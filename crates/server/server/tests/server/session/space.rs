//! sp_spaceused: the pages of a database and of a table.

use selenite_types::Value;

use super::client::{Client, all_fail, succeed};
use super::fixture::Fixture;

fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(
        &mut client,
        "USE d; CREATE TABLE t (a int PRIMARY KEY, b char(200)); CREATE INDEX i ON t (b); \
         INSERT t SELECT value, 'x' FROM GENERATE_SERIES(1, 500)",
    );
    succeed(&mut client, "CREATE VIEW v AS SELECT a FROM t");
    client
}

/// The number before a unit.
fn number(value: &Value, unit: &str) -> f64 {
    let Value::Text(text) = value else { panic!("{value:?}") };
    text.trim_end().strip_suffix(unit).unwrap().parse().unwrap()
}

#[test]
fn a_table_tells_its_rows_and_pages() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    let answer = succeed(&mut client, "EXEC sp_spaceused 'dbo.t'");
    let [row] = answer.rows().try_into().unwrap();
    assert_eq!(row[0], Value::Text("t".into()));
    assert_eq!(row[1], Value::Text(format!("{:<20}", 500).into()));
    let [reserved, data, index] = [2, 3, 4].map(|at: usize| number(&row[at], " KB"));
    // Texts are stored without their padding.
    assert!(data >= 4.0 && index >= 4.0 && reserved == data + index, "{row:?}");
    let answer = succeed(&mut client, "EXEC sp_spaceused @updateusage = 'TRUE'");
    let rows = answer.rows();
    assert_eq!(rows[0][0], Value::Text("d".into()));
    let size = number(&rows[0][1], " MB");
    let reserved_all = number(&rows[1][0], " KB");
    assert!(size * 1024.0 >= reserved_all && reserved_all >= reserved, "{rows:?}");
    let answer = succeed(&mut client, "EXEC sp_spaceused @oneresultset = 1");
    assert_eq!(answer.rows()[0].len(), 7);
    all_fail(
        &mut client,
        &[
            (15009, "EXEC sp_spaceused 'none'"),
            (15234, "EXEC sp_spaceused 'v'"),
            (15143, "EXEC sp_spaceused 't', 'maybe'"),
        ],
    );
    drop(client);
    fixture.stop();
}

#[test]
fn a_number_is_the_name_of_an_object() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    let cases = ["EXEC sp_spaceused 1", "EXEC sp_helptext 1", "EXEC sp_help 1.5"];
    all_fail(&mut client, &cases.map(|sql| (15_009, sql)));
}
