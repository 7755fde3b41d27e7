//! OPENJSON, GENERATE_SERIES, and FOR JSON.

use super::shop;
use crate::testing::Session;

#[test]
fn openjson_returns_the_members_of_a_document() {
    let session = shop();
    // The documentation's example.
    let rows = "SELECT * FROM OPENJSON('{\"String_value\": \"John\", \"DoublePrecisionFloatingPoint_value\": 45, \
                \"DoublePrecisionFloatingPoint_value\": 2.3456, \"BooleanTrue_value\": true, \"BooleanFalse_value\": false, \
                \"Null_value\": null, \"Array_value\": [\"a\",\"r\"], \"Object_value\": {\"obj\":\"ect\"}}')";
    let answer = session.answer(rows);
    assert_eq!(
        answer.columns,
        ["key nvarchar(4000)", "value nvarchar(max) null", "type tinyint"]
    );
    assert_eq!(
        answer.rows,
        [
            "String_value|John|1",
            "DoublePrecisionFloatingPoint_value|45|2",
            "DoublePrecisionFloatingPoint_value|2.3456|2",
            "BooleanTrue_value|true|3",
            "BooleanFalse_value|false|3",
            "Null_value|NULL|0",
            "Array_value|[\"a\",\"r\"]|4",
            "Object_value|{\"obj\":\"ect\"}|5",
        ]
    );
    let path =
        "SELECT [key], value FROM OPENJSON('{\"path\":{\"to\":{\"sub\":[\"en-GB\", \"en-UK\"]}}}', '$.path.to.sub')";
    assert_eq!(session.rows(path), "0|en-GB\n1|en-UK");
    assert_eq!(session.rows("SELECT * FROM OPENJSON('{}', '$.a')"), "");
    assert_eq!(session.rows("SELECT * FROM OPENJSON(NULL)"), "");
    assert_eq!(session.number("SELECT * FROM OPENJSON('{}', 'strict $.a')"), 13608);
    assert_eq!(
        session.number("SELECT * FROM OPENJSON('{\"a\":1}', 'strict $.a')"),
        13611
    );
    assert_eq!(session.number("SELECT * FROM OPENJSON('x')"), 13609);
    assert_eq!(
        session.rows("SELECT COUNT(*) FROM OPENJSON('[1,2,3]') WHERE value > 1"),
        "2"
    );
}

#[test]
fn openjson_with_a_schema_returns_typed_columns() {
    let session = shop();
    // The documentation's example.
    let rows = "SELECT * FROM OPENJSON(N'[{\"Order\":{\"Number\":\"SO43659\",\"Date\":\"2011-05-31T00:00:00\"},\
                \"AccountNumber\":\"AW29825\",\"Item\":{\"Price\":2024.9940,\"Quantity\":1}},\
                {\"Order\":{\"Number\":\"SO43661\",\"Date\":\"2011-06-01T00:00:00\"},\"AccountNumber\":\"AW73565\",\
                \"Item\":{\"Price\":2024.9940,\"Quantity\":3}}]') WITH (Number varchar(200) '$.Order.Number', \
                Date datetime '$.Order.Date', Customer varchar(200) '$.AccountNumber', Quantity int '$.Item.Quantity', \
                [Order] nvarchar(max) AS JSON)";
    let answer = session.answer(rows);
    assert_eq!(
        answer.columns,
        [
            "Number varchar(200) null",
            "Date datetime null",
            "Customer varchar(200) null",
            "Quantity int null",
            "Order nvarchar(max) null"
        ]
    );
    assert_eq!(
        answer.rows,
        [
            "SO43659|May 31 2011 12:00AM|AW29825|1|{\"Number\":\"SO43659\",\"Date\":\"2011-05-31T00:00:00\"}",
            "SO43661|Jun  1 2011 12:00AM|AW73565|3|{\"Number\":\"SO43661\",\"Date\":\"2011-06-01T00:00:00\"}",
        ]
    );
    assert_eq!(
        session.rows("SELECT * FROM OPENJSON('{\"a b\":1.5,\"x\":true,\"u\":\"QUI=\",\"f\":1e2}') WITH ([a b] decimal(5, 2), x bit, u varbinary(4), f float, none int)"),
        "1.50|1|AB|100|NULL"
    );
    assert_eq!(
        session.number("SELECT * FROM OPENJSON('[]') WITH (a int AS JSON)"),
        13618
    );
    assert_eq!(session.number("SELECT * FROM OPENJSON('[]') WITH (a text)"), 13614);
    assert_eq!(session.number("SELECT * FROM OPENJSON('[]') WITH (a int '$x')"), 13607);
    assert_eq!(
        session.number("SELECT * FROM OPENJSON('[{}]') WITH (a int 'strict $.a')"),
        13608
    );
    assert_eq!(
        session.number("SELECT * FROM OPENJSON('[{\"a\":{}}]') WITH (a int 'strict $.a')"),
        13624
    );
}

#[test]
fn openjson_is_applied_to_the_rows_before_it() {
    let session = Session::new(
        "CREATE TABLE t (id int, tags nvarchar(max))
         INSERT t VALUES (1, N'[\"a\",\"b\"]'), (2, N'[]'), (3, NULL), (4, N'[\"c\"]')",
    );
    assert_eq!(
        session.rows("SELECT id, value FROM t CROSS APPLY OPENJSON(tags) ORDER BY id, value"),
        "1|a\n1|b\n4|c"
    );
    assert_eq!(
        session
            .rows("SELECT id, j.tag FROM t OUTER APPLY OPENJSON(tags) WITH (tag varchar(5) '$') j ORDER BY id, j.tag"),
        "1|a\n1|b\n2|NULL\n3|NULL\n4|c"
    );
    assert_eq!(
        session.rows("SELECT id, (SELECT COUNT(*) FROM OPENJSON(tags)) FROM t ORDER BY id"),
        "1|2\n2|0\n3|0\n4|1"
    );
    assert_eq!(
        session.rows("SELECT id FROM t WHERE EXISTS (SELECT 1 FROM OPENJSON(tags) WHERE value = 'C')"),
        "4"
    );
}

#[test]
fn generate_series_counts() {
    let session = shop();
    let answer = session.answer("SELECT value FROM GENERATE_SERIES(1, 5)");
    assert_eq!(answer.columns, ["value int null"]);
    assert_eq!(answer.rows, ["1", "2", "3", "4", "5"]);
    assert_eq!(
        session.rows("SELECT value FROM GENERATE_SERIES(1, 50, 20)"),
        "1\n21\n41"
    );
    assert_eq!(session.rows("SELECT value FROM GENERATE_SERIES(3, 1)"), "3\n2\n1");
    assert_eq!(
        session.rows("SELECT value FROM GENERATE_SERIES(0.0, 1.0, 0.5)"),
        "0.0\n0.5\n1.0"
    );
    assert_eq!(session.rows("SELECT value FROM GENERATE_SERIES(1, NULL)"), "");
    assert_eq!(session.rows("SELECT value FROM GENERATE_SERIES(5, 1, 1)"), "");
    assert_eq!(session.number("SELECT value FROM GENERATE_SERIES(1, 5, 0)"), 4199);
    assert_eq!(session.number("SELECT value FROM GENERATE_SERIES(1, 5.5)"), 5373);
    assert_eq!(session.number("SELECT value FROM GENERATE_SERIES('1', '5')"), 5373);
    assert_eq!(
        session.rows("SELECT c.id, s.value FROM customer c CROSS APPLY GENERATE_SERIES(1, c.id) s ORDER BY 1, 2"),
        "1|1\n2|1\n2|2\n3|1\n3|2\n3|3"
    );
}

#[test]
fn for_json_path_nests_by_names() {
    let session = shop();
    let rows = "SELECT id, name AS [info.name], city AS [info.city] FROM customer ORDER BY id FOR JSON PATH";
    let answer = session.answer(rows);
    assert_eq!(
        answer.columns,
        ["JSON_F52E2B61-18A1-11d1-B105-00805F49916B nvarchar(max) null"]
    );
    assert_eq!(
        answer.rows,
        [
            "[{\"id\":1,\"info\":{\"name\":\"Ann\",\"city\":\"Oslo\"}},{\"id\":2,\"info\":{\"name\":\"bob\",\"city\":\"Rome\"}},\
          {\"id\":3,\"info\":{\"name\":\"Cid\"}}]"
        ]
    );
    for (clause, json) in [
        ("PATH, ROOT('c')", "{\"c\":[{\"id\":3,\"city\":{}}]}"),
        ("PATH, ROOT", "{\"root\":[{\"id\":3,\"city\":{}}]}"),
        ("PATH, INCLUDE_NULL_VALUES", "[{\"id\":3,\"city\":{\"name\":null}}]"),
        ("PATH, WITHOUT_ARRAY_WRAPPER", "{\"id\":3}"),
    ] {
        let json = json.replace(",\"city\":{}", "");
        let rows = format!("SELECT id, city AS [city.name] FROM customer WHERE id = 3 FOR JSON {clause}");
        assert_eq!(session.rows(&rows), json, "{clause}");
    }
    assert_eq!(session.rows("SELECT id FROM customer WHERE id > 5 FOR JSON PATH"), "");
    let types =
        "SELECT CAST(1 AS bit) AS a, 1.5e0 AS b, CAST(1.5 AS real) AS c, $2 AS d, CAST(1.5 AS decimal(5, 2)) AS e,
        CAST('2024-01-02T03:04:05' AS datetime) AS f, 'a/\"b' AS g, 0x4142 AS h FOR JSON PATH, WITHOUT_ARRAY_WRAPPER";
    assert_eq!(
        session.rows(types),
        "{\"a\":true,\"b\":1.500000000000000e+000,\"c\":1.5000000e+000,\"d\":2.0000,\"e\":1.50,\"f\":\"2024-01-02T03:04:05\",\
         \"g\":\"a\\/\\\"b\",\"h\":\"QUI=\"}"
    );
}

#[test]
fn for_json_has_the_errors_of_its_names_and_options() {
    let session = shop();
    for (rows, number) in [
        ("SELECT 1 FOR JSON PATH", 13605),
        ("SELECT 1 AS a FOR JSON AUTO", 13600),
        ("SELECT 1 AS [a.b], 2 AS a FOR JSON PATH", 13601),
        ("SELECT 1 AS a, 2 AS [a.b] FOR JSON PATH", 13601),
        ("SELECT 1 AS [a.b], 2 AS c, 3 AS [a.d] FOR JSON PATH", 13601),
        ("SELECT 1 AS a, 2 AS a FOR JSON PATH", 13601),
        ("SELECT 1 AS [a..b] FOR JSON PATH", 13603),
        ("SELECT 1 AS a FOR JSON PATH, ROOT, WITHOUT_ARRAY_WRAPPER", 13620),
        ("DECLARE @a int; SELECT @a = 1 FOR JSON PATH", 6819),
        ("INSERT customer SELECT 4, 'x', 'y' FOR JSON PATH", 13602),
        ("SELECT id INTO z FROM customer FOR JSON PATH", 13602),
    ] {
        assert_eq!(session.number(rows), number, "{rows}");
    }
}

#[test]
fn nested_json_is_not_quoted() {
    let session = shop();
    let nested =
        "SELECT c.id, (SELECT o.id FROM orders o WHERE o.customer = c.id ORDER BY o.id FOR JSON PATH) AS orders
        FROM customer c ORDER BY c.id FOR JSON PATH";
    assert_eq!(
        session.rows(nested),
        "[{\"id\":1,\"orders\":[{\"id\":10},{\"id\":11}]},{\"id\":2,\"orders\":[{\"id\":12}]},{\"id\":3}]"
    );
    let quoted = "SELECT (SELECT 1 AS a FOR JSON PATH, WITHOUT_ARRAY_WRAPPER) AS x,
        JSON_QUERY((SELECT 1 AS a FOR JSON PATH, WITHOUT_ARRAY_WRAPPER)) AS y, '[1]' AS z FOR JSON PATH";
    assert_eq!(
        session.rows(quoted),
        "[{\"x\":\"{\\\"a\\\":1}\",\"y\":{\"a\":1},\"z\":\"[1]\"}]"
    );
    let derived = "SELECT d.j FROM (SELECT JSON_QUERY('[1]') AS j) d FOR JSON PATH";
    assert_eq!(session.rows(derived), "[{\"j\":[1]}]");
    let applied = "SELECT c.id, x.j FROM customer c CROSS APPLY (SELECT o.id FROM orders o WHERE o.customer = c.id \
                   ORDER BY o.id FOR JSON PATH) x(j) ORDER BY c.id";
    assert_eq!(session.rows(applied), "1|[{\"id\":10},{\"id\":11}]\n2|[{\"id\":12}]");
    assert_eq!(
        session.rows("SELECT (SELECT id FROM customer ORDER BY id DESC FOR JSON PATH)"),
        "[{\"id\":3},{\"id\":2},{\"id\":1}]"
    );
}

#[test]
fn for_json_auto_nests_by_tables() {
    let session = shop();
    assert_eq!(
        session.rows("SELECT id, name FROM customer WHERE id < 3 ORDER BY id FOR JSON AUTO"),
        "[{\"id\":1,\"name\":\"Ann\"},{\"id\":2,\"name\":\"bob\"}]"
    );
    let joined = "SELECT c.name, orders.id, orders.amount FROM customer c JOIN orders ON orders.customer = c.id
        ORDER BY c.id, orders.id FOR JSON AUTO";
    assert_eq!(
        session.rows(joined),
        "[{\"name\":\"Ann\",\"orders\":[{\"id\":10,\"amount\":5.50},{\"id\":11,\"amount\":2.25}]},\
         {\"name\":\"bob\",\"orders\":[{\"id\":12,\"amount\":9.00}]}]"
    );
    let outer =
        "SELECT c.name, o.id FROM customer c LEFT JOIN orders o ON o.customer = c.id WHERE c.id = 3 FOR JSON AUTO";
    assert_eq!(session.rows(outer), "[{\"name\":\"Cid\",\"o\":[{}]}]");
}

#[test]
fn long_json_is_sent_in_pieces() {
    let session = shop();
    let answer = session.answer("SELECT REPLICATE('x', 5000) AS a FOR JSON PATH");
    let sizes: Vec<usize> = answer.rows.iter().map(String::len).collect();
    assert_eq!(sizes, [2033, 2033, 5000 + 10 - 2 * 2033]);
    let length = "SELECT LEN((SELECT REPLICATE('x', 5000) AS a FOR JSON PATH))";
    assert_eq!(session.rows(length), "5010");
}
