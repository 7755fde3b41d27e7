//! JSON, XML, grouping sets and pivots, as clients get them.

use selenite_types::Value;

use super::client::Client;
use super::fixture::Fixture;

fn text(value: &str) -> Value {
    Value::Text(value.into())
}

fn shop(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    client.batch("CREATE DATABASE shop");
    client.batch("USE shop");
    for definition in [
        "CREATE TABLE item (id int PRIMARY KEY, kind varchar(10), price decimal(9, 2), tags nvarchar(max))",
        "INSERT item VALUES (1, 'a', 1.5, N'[\"x\",\"y\"]'), (2, 'a', 2, NULL), (3, 'b', 4, N'[\"z\"]')",
    ] {
        assert_eq!(client.batch(definition).errors(), [], "{definition}");
    }
    client
}

#[test]
fn json_goes_out_and_comes_back() {
    let fixture = Fixture::new();
    let mut client = shop(&fixture);
    let answer =
        client.batch("SELECT id, kind AS [info.kind] FROM item WHERE id < 3 ORDER BY id FOR JSON PATH, ROOT('items')");
    assert_eq!(
        answer.rows(),
        [[text(
            "{\"items\":[{\"id\":1,\"info\":{\"kind\":\"a\"}},{\"id\":2,\"info\":{\"kind\":\"a\"}}]}"
        )]]
    );
    let back = "DECLARE @j nvarchar(max) = (SELECT id, price FROM item ORDER BY id FOR JSON PATH);
        SELECT SUM(price) FROM OPENJSON(@j) WITH (id int, price decimal(9, 2))";
    assert_eq!(client.batch(back).rows().len(), 1);
    let tags = client.batch("SELECT i.id, j.value FROM item i CROSS APPLY OPENJSON(i.tags) j ORDER BY 1, 2");
    assert_eq!(tags.rows().len(), 3);
    let changed =
        "UPDATE item SET tags = JSON_MODIFY(tags, 'append $', kind) WHERE id = 1; SELECT tags FROM item WHERE id = 1";
    assert_eq!(client.value(changed), text("[\"x\",\"y\",\"a\"]"));
    let checked = "CREATE TABLE doc (j nvarchar(max) CHECK (ISJSON(j) = 1), n int); \
                   INSERT doc (j) VALUES (N'{\"n\":5}'); SELECT JSON_VALUE(j, '$.n') FROM doc";
    assert_eq!(client.value(checked), text("5"));
    let refused = client.batch("INSERT doc (j) VALUES (N'{')");
    assert_eq!(
        refused.errors().iter().map(|(number, _)| *number).collect::<Vec<_>>(),
        [547]
    );
}

#[test]
fn views_and_procedures_have_these_rows() {
    let fixture = Fixture::new();
    let mut client = shop(&fixture);
    for definition in [
        "CREATE VIEW totals AS SELECT kind, GROUPING(kind) AS g, SUM(price) AS s FROM item GROUP BY ROLLUP (kind)",
        "CREATE PROCEDURE listed AS SELECT STUFF((SELECT ',' + kind FROM item ORDER BY id FOR XML PATH('')), 1, 1, '')",
        "CREATE PROCEDURE wide AS SELECT [a], [b] FROM (SELECT kind, price FROM item) s PIVOT (MAX(price) FOR kind IN ([a], [b])) p",
    ] {
        assert_eq!(client.batch(definition).errors(), [], "{definition}");
    }
    assert_eq!(client.batch("SELECT * FROM totals").rows().len(), 3);
    assert_eq!(client.value("EXEC listed"), text("a,a,b"));
    assert_eq!(client.batch("EXEC wide").rows().len(), 1);
    let long = client.batch("SELECT REPLICATE('x', 3000) AS a FOR JSON PATH, WITHOUT_ARRAY_WRAPPER");
    assert_eq!(long.rows().len(), 2);
}

#[test]
fn a_failed_path_ends_the_transaction() {
    let fixture = Fixture::new();
    let mut client = shop(&fixture);
    let done = client.batch("BEGIN TRAN; SELECT JSON_VALUE('{}', 'strict $.a'); SELECT 1");
    assert_eq!(
        done.errors().iter().map(|(number, _)| *number).collect::<Vec<_>>(),
        [13608]
    );
    let caught = "BEGIN TRY SELECT JSON_VALUE('{', '$.a') END TRY BEGIN CATCH SELECT ERROR_MESSAGE() END CATCH";
    assert_eq!(
        client.value(caught),
        text("JSON text is not properly formatted. Unexpected character '.' is found at position 1.")
    );
}
