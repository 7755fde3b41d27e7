use crate::testing::{Batch, assert_shown, fault, shown, type_of};

#[test]
fn isjson_tests_the_whole_text() {
    assert_shown(&[
        ("ISJSON('{\"a\":[1,2]}')", "1"),
        ("ISJSON(' [] ')", "1"),
        ("ISJSON('1')", "0"),
        ("ISJSON('{\"a\":1}extra')", "0"),
        ("ISJSON('{''a'':1}')", "0"),
        ("ISJSON('{\"a\":1,\"a\":2}')", "1"),
        ("ISJSON(CAST(NULL AS varchar(5)))", "NULL"),
        // The examples of the documentation.
        ("ISJSON('true', VALUE)", "1"),
        ("ISJSON('test string', VALUE)", "0"),
        ("ISJSON('\"test string\"', SCALAR)", "1"),
        ("ISJSON('null', SCALAR)", "0"),
        ("ISJSON('[]', ARRAY)", "1"),
        ("ISJSON('[]', OBJECT)", "0"),
    ]);
    assert_eq!(fault("ISJSON('1', NOTHING)").0, 155);
    assert_eq!(fault("ISJSON(5)").0, 8116);
}

#[test]
fn json_value_returns_scalars() {
    let mut batch = Batch::new();
    // The documentation's example.
    let info = "N'{\"info\":{\"type\":1,\"address\":{\"town\":\"Bristol\",\"county\":\"Avon\",\"country\":\"England\"},\
                \"tags\":[\"Sport\",\"Water polo\"]},\"type\":\"Basic\"}'";
    let max = selenite_types::DataType::NVarChar(selenite_types::Width::Max);
    batch.declare("@jsonInfo", max, info);
    for (path, value) in [
        ("$", "NULL"),
        ("$.info.type", "1"),
        ("$.info.address.town", "Bristol"),
        ("$.info.\"address\"", "NULL"),
        ("$.info.tags", "NULL"),
        ("$.info.type[0]", "NULL"),
        ("$.info.none", "NULL"),
        ("$.info.tags[1]", "Water polo"),
        ("$.INFO.type", "NULL"),
    ] {
        assert_eq!(
            batch.shown(&format!("JSON_VALUE(@jsonInfo, '{path}')")),
            value,
            "{path}"
        );
    }
    for (path, number) in [
        ("strict $", 13623),
        ("strict $.info.address", 13623),
        ("strict $.info.type[0]", 13608),
        ("strict $.info.none", 13608),
        ("info", 13607),
    ] {
        assert_eq!(
            batch.fault(&format!("JSON_VALUE(@jsonInfo, '{path}')")).0,
            number,
            "{path}"
        );
    }
    assert_eq!(type_of("JSON_VALUE('{}', '$.a')"), "nvarchar(4000)");
}

#[test]
fn json_value_decodes_strings_and_keeps_numbers() {
    assert_shown(&[
        (
            "JSON_VALUE('{\"a\":\"x\\ny\\u00e9\\ud83d\\ude00\"}', '$.a')",
            "x\ny\u{e9}\u{1f600}",
        ),
        ("JSON_VALUE('{\"a\":1.50e3}', '$.a')", "1.50e3"),
        ("JSON_VALUE('{\"a\":true}', '$.a')", "true"),
        ("JSON_VALUE('{\"a\":null}', 'strict $.a')", "NULL"),
        ("JSON_VALUE('{\"a\":\"' + REPLICATE('x', 4000) + '\"}', '$.b')", "NULL"),
        (
            "LEN(JSON_VALUE(CAST('{\"a\":\"' AS varchar(max)) + REPLICATE('x', 4000) + '\"}', '$.a'))",
            "4000",
        ),
        (
            "JSON_VALUE(CAST('{\"a\":\"' AS varchar(max)) + REPLICATE('x', 4001) + '\"}', '$.a')",
            "NULL",
        ),
    ]);
    let text = "JSON text is not properly formatted. Unexpected character 'n' is found at position 1.";
    assert_eq!(fault("JSON_VALUE('{not valid}', '$.x')"), (13609, text.to_owned()));
    let long = "JSON_VALUE(CAST('{\"a\":\"' AS varchar(max)) + REPLICATE('x', 4001) + '\"}', 'strict $.a')";
    assert_eq!(fault(long).0, 13625);
    assert_eq!(fault("JSON_VALUE('{}', NULL)").0, 8116);
    assert_eq!(fault("JSON_VALUE('{}', CAST(NULL AS varchar(5)))").0, 8116);
    assert_eq!(fault("JSON_VALUE(1, '$')").0, 8116);
    assert_eq!(fault("JSON_VALUE('{}')").0, 174);
}

#[test]
fn json_query_returns_containers_as_written() {
    assert_shown(&[
        ("JSON_QUERY('{\"a\" : [1, 2] }', '$.a')", "[1, 2]"),
        ("JSON_QUERY('  {\"a\" : 1}  ')", "{\"a\" : 1}"),
        ("JSON_QUERY('{\"a\":1}', '$.a')", "NULL"),
        ("JSON_QUERY('{\"a\":null}', 'strict $.a')", "NULL"),
        ("JSON_QUERY(NULL + '', '$.a')", "NULL"),
    ]);
    assert_eq!(fault("JSON_QUERY('{\"a\":1}', 'strict $.a')").0, 13624);
    assert_eq!(fault("JSON_QUERY('{\"a\":1}', 'strict $.b')").0, 13608);
    assert_eq!(type_of("JSON_QUERY('{}')"), "nvarchar(4000)");
    assert_eq!(type_of("JSON_QUERY(CAST('{}' AS varchar(max)))"), "nvarchar(max)");
}

#[test]
fn json_modify_changes_one_place() {
    assert_shown(&[
        ("JSON_MODIFY('  {\"a\" : 1}  ', '$.a', 2)", "  {\"a\" : 2}  "),
        // The documentation's examples.
        (
            "JSON_MODIFY('{\"name\":\"John\",\"skills\":[\"C#\",\"SQL\"]}', '$.name', 'Mike')",
            "{\"name\":\"Mike\",\"skills\":[\"C#\",\"SQL\"]}",
        ),
        (
            "JSON_MODIFY('{\"name\":\"Mike\",\"skills\":[\"C#\",\"SQL\"]}', '$.surname', 'Smith')",
            "{\"name\":\"Mike\",\"skills\":[\"C#\",\"SQL\"],\"surname\":\"Smith\"}",
        ),
        (
            "JSON_MODIFY('{\"name\":\"Mike\",\"skills\":[\"C#\",\"SQL\"]}', '$.skills', JSON_QUERY('[\"C#\",\"T-SQL\"]'))",
            "{\"name\":\"Mike\",\"skills\":[\"C#\",\"T-SQL\"]}",
        ),
        (
            "JSON_MODIFY('{\"skills\":[\"C#\",\"SQL\"]}', '$.skills', '[\"C#\",\"T-SQL\"]')",
            "{\"skills\":\"[\\\"C#\\\",\\\"T-SQL\\\"]\"}",
        ),
        (
            "JSON_MODIFY('{\"skills\":[\"C#\",\"SQL\"]}', 'append $.skills', 'Azure')",
            "{\"skills\":[\"C#\",\"SQL\",\"Azure\"]}",
        ),
        (
            "JSON_MODIFY('{\"price\":49.99}', '$.price', CAST(10 AS numeric(10, 2)))",
            "{\"price\":10.00}",
        ),
        (
            "JSON_MODIFY('{\"a\":1,\"b\":2,\"c\":3}', '$.a', NULL)",
            "{\"b\":2,\"c\":3}",
        ),
        ("JSON_MODIFY('{\"a\":1 , \"b\":2}', '$.b', NULL)", "{\"a\":1 }"),
        ("JSON_MODIFY('{\"a\":1}', '$.a', NULL)", "{}"),
        ("JSON_MODIFY('{\"a\":1}', 'strict $.a', NULL)", "{\"a\":null}"),
        ("JSON_MODIFY('[1,2,3]', '$[1]', NULL)", "[1,null,3]"),
        ("JSON_MODIFY('[1,2,3]', '$[3]', 4)", "[1,2,3]"),
        ("JSON_MODIFY('{}', '$.a', CAST(1 AS bit))", "{\"a\":true}"),
        ("JSON_MODIFY('{}', '$.a', 1.5e0)", "{\"a\":1.500000000000000e+000}"),
        ("JSON_MODIFY('{}', '$.x.y', 1)", "{}"),
        ("JSON_MODIFY('{}', 'append $.a', NULL)", "{\"a\":[null]}"),
        ("JSON_MODIFY('{}', '$.\"a/b\"', 'c/d')", "{\"a/b\":\"c\\/d\"}"),
        ("JSON_MODIFY('{\"a\":1,\"a\":2}', '$.a', 9)", "{\"a\":9,\"a\":2}"),
        ("JSON_MODIFY('[1,2', '$.a', 2)", "[1,2"),
        (
            "JSON_MODIFY('{\"a\":{\"b\":[]}}', 'append $.a.b', 1)",
            "{\"a\":{\"b\":[1]}}",
        ),
    ]);
    assert_eq!(fault("JSON_MODIFY('{}', '$', 1)").0, 13619);
    assert_eq!(fault("JSON_MODIFY('{}', 'strict $.a', 1)").0, 13608);
    assert_eq!(fault("JSON_MODIFY('{\"a\":1}', 'append strict $.a', 1)").0, 13621);
    assert_eq!(fault("JSON_MODIFY('{\"a\":1}extra', '$.a', 1)").0, 13609);
    assert_eq!(fault("JSON_MODIFY('{}', '$.a', $1)").0, 8116);
    assert_eq!(fault("JSON_MODIFY('{}', '$.a', GETDATE())").0, 8116);
}

#[test]
fn json_path_exists_never_fails() {
    assert_shown(&[
        (
            "JSON_PATH_EXISTS('{\"info\":{\"address\":[{\"town\":\"Paris\"},{\"town\":\"London\"}]}}', '$.info.address')",
            "1",
        ),
        ("JSON_PATH_EXISTS('{\"a\":1}', '$.b')", "0"),
        ("JSON_PATH_EXISTS('{\"a\":1}', 'strict $.b')", "0"),
        ("JSON_PATH_EXISTS('{\"a\":1}extra', '$.a')", "0"),
        ("JSON_PATH_EXISTS('{\"a\":null}', '$.a')", "1"),
        ("JSON_PATH_EXISTS(CAST(NULL AS varchar(9)), '$.a')", "NULL"),
    ]);
}

#[test]
fn json_object_and_json_array_compose_values() {
    assert_shown(&[
        ("JSON_OBJECT()", "{}"),
        (
            "JSON_OBJECT('name':'value', 'type':1)",
            "{\"name\":\"value\",\"type\":1}",
        ),
        (
            "JSON_OBJECT('name':'value', 'type':NULL ABSENT ON NULL)",
            "{\"name\":\"value\"}",
        ),
        (
            "JSON_OBJECT('name':'value', 'type':NULL)",
            "{\"name\":\"value\",\"type\":null}",
        ),
        (
            "JSON_OBJECT('name':'value', 'type':JSON_ARRAY(1, 2))",
            "{\"name\":\"value\",\"type\":[1,2]}",
        ),
        (
            "JSON_OBJECT('name':'value', 'type':JSON_OBJECT('type_id':1, 'name':'a'))",
            "{\"name\":\"value\",\"type\":{\"type_id\":1,\"name\":\"a\"}}",
        ),
        ("JSON_OBJECT('k/1':'a/b')", "{\"k\\/1\":\"a\\/b\"}"),
        ("JSON_OBJECT(5:CAST(1.5 AS numeric(10, 4)))", "{\"5\":1.5000}"),
        ("JSON_ARRAY()", "[]"),
        ("JSON_ARRAY('a', 1, 'b', 2)", "[\"a\",1,\"b\",2]"),
        ("JSON_ARRAY('a', 1, NULL, 2)", "[\"a\",1,2]"),
        ("JSON_ARRAY('a', 1, NULL, 2 NULL ON NULL)", "[\"a\",1,null,2]"),
        (
            "JSON_ARRAY('a', JSON_OBJECT('name':'value', 'type':1))",
            "[\"a\",{\"name\":\"value\",\"type\":1}]",
        ),
        (
            "JSON_ARRAY('{\"a\":1}', JSON_QUERY('{\"a\":1}'))",
            "[\"{\\\"a\\\":1}\",{\"a\":1}]",
        ),
        (
            "JSON_ARRAY(CAST(1 AS bit), 1.5e0, $2.5, 0x4142)",
            "[true,1.500000000000000e+000,2.5000,\"QUI=\"]",
        ),
        (
            "JSON_ARRAY(CAST('2025-01-15T12:34:56' AS datetime), CAST('2025-01-15T12:34:56.1' AS datetime2(3)), \
             CAST('2025-01-15' AS date), CAST('12:00' AS time(3)), CAST('2025-01-15 12:34:56 +00:00' AS datetimeoffset(0)))",
            "[\"2025-01-15T12:34:56\",\"2025-01-15T12:34:56.100\",\"2025-01-15\",\"12:00:00\",\"2025-01-15T12:34:56Z\"]",
        ),
    ]);
    assert_eq!(fault("JSON_OBJECT(CAST(NULL AS varchar(5)):1)").0, 13638);
    assert_eq!(shown("JSON_ARRAY(COALESCE(JSON_QUERY('[1]'), '[]'))"), "[[1]]");
    assert_eq!(type_of("JSON_OBJECT()"), "nvarchar(max)");
}
