use selenite_types::{DataType, Width};

use crate::testing::{Batch, assert_shown, fault, shown, type_of};

#[test]
fn len_leaves_out_trailing_blanks_and_datalength_counts_bytes() {
    assert_shown(&[
        ("LEN('abc  ')", "3"),
        ("LEN('  abc')", "5"),
        ("LEN('')", "0"),
        ("LEN(NULL)", "NULL"),
        ("LEN(12345)", "5"),
        ("DATALENGTH('abc  ')", "5"),
        ("DATALENGTH(N'abc')", "6"),
        ("DATALENGTH(1)", "4"),
        ("DATALENGTH(CAST(1 AS bigint))", "8"),
        ("DATALENGTH(CAST('a' AS char(10)))", "10"),
        ("DATALENGTH(NULL)", "NULL"),
        ("LEN(N'a\u{1f600}')", "3"),
    ]);
    assert_eq!(type_of("LEN('abc')"), "int");
    assert_eq!(type_of("LEN(CAST('abc' AS varchar(max)))"), "bigint");
}

#[test]
fn substring_counts_from_one_and_before_it() {
    assert_shown(&[
        ("SUBSTRING('abcdef', 2, 3)", "bcd"),
        ("SUBSTRING('abcdef', 0, 3)", "ab"),
        ("SUBSTRING('abcdef', -1, 3)", "a"),
        ("SUBSTRING('abcdef', -5, 3)", ""),
        ("SUBSTRING('abcdef', 5, 10)", "ef"),
        ("SUBSTRING('abcdef', 7, 1)", ""),
        ("SUBSTRING('abcdef', 2, 0)", ""),
        ("SUBSTRING('abc', NULL, 1)", "NULL"),
        ("SUBSTRING(N'\u{3b1}\u{3b2}\u{3b3}', 2, 1)", "\u{3b2}"),
        ("CONVERT(varchar(10), SUBSTRING(0x010203, 2, 2), 1)", "0x0203"),
        ("SUBSTRING('abc', 1, 9223372036854775807)", "abc"),
    ]);
    assert_eq!(type_of("SUBSTRING('abcdef', 2, 3)"), "varchar(3)");
    assert_eq!(type_of("SUBSTRING(0x010203, 1, 1)"), "varbinary(1)");
    let text = "Invalid length parameter passed to the LEFT or SUBSTRING function.";
    assert_eq!(fault("SUBSTRING('abc', 1, -1)"), (537, text.to_owned()));
    let text = "Argument data type int is invalid for argument 1 of substring function.";
    assert_eq!(fault("SUBSTRING(123, 1, 1)"), (8116, text.to_owned()));
    let text = "Argument data type NULL is invalid for argument 1 of substring function.";
    assert_eq!(fault("SUBSTRING(NULL, 1, 1)"), (8116, text.to_owned()));
    let text = "The substring function requires 3 argument(s).";
    assert_eq!(fault("SUBSTRING('abc', 1)"), (174, text.to_owned()));
}

#[test]
fn left_and_right_take_either_end() {
    assert_shown(&[
        ("LEFT('abcdefg', 2)", "ab"),
        ("RIGHT('abcdefg', 2)", "fg"),
        ("LEFT('abc', 10)", "abc"),
        ("RIGHT('abc', 10)", "abc"),
        ("LEFT('abc', 0)", ""),
        ("RIGHT(N'\u{1f600}b', 1)", "b"),
        ("LEFT(12345, 2)", "12"),
        ("LEFT(NULL, 2)", "NULL"),
    ]);
    assert_eq!(type_of("LEFT('abcdefg', 2)"), "varchar(2)");
    assert_eq!(type_of("RIGHT(N'abc', 10)"), "nvarchar(3)");
    assert_eq!(fault("LEFT('abc', -1)").0, 537);
    assert_eq!(
        fault("RIGHT('abc', -1)"),
        (536, "Invalid length parameter passed to the RIGHT function.".to_owned())
    );
    assert_eq!(
        fault("LEFT('abc')"),
        (174, "The left function requires 2 argument(s).".to_owned())
    );
}

#[test]
fn case_and_blanks_are_changed() {
    assert_shown(&[
        ("UPPER('abc \u{e9}')", "ABC \u{c9}"),
        ("LOWER('ABC \u{c9}')", "abc \u{e9}"),
        ("UPPER('stra\u{df}e')", "STRA\u{df}E"),
        ("UPPER('\u{ff}')", "\u{178}"),
        ("LTRIM('  a ') + '|'", "a |"),
        ("RTRIM('  a ') + '|'", "  a|"),
        ("TRIM('  a ') + '|'", "a|"),
        ("LTRIM('xyxa yx', 'xy')", "a yx"),
        ("RTRIM('xyxa yx', 'xy')", "xyxa "),
        ("LTRIM('a', NULL)", "NULL"),
        ("LTRIM('  a', '')", "  a"),
        ("TRIM('x' FROM 'xXaxx')", "a"),
        ("TRIM('.,! ' FROM '#     test    .')", "#     test"),
        ("TRIM(LEADING '.,! ' FROM '  .#     test    .')", "#     test    ."),
        ("TRIM(TRAILING N'\u{e4}' FROM N'\u{e4}a\u{c4}\u{e4}')", "\u{e4}a"),
        ("TRIM(BOTH '123' FROM '123abc123')", "abc"),
        ("TRIM(LEADING '  a ') + '|'", "a |"),
        ("REVERSE('abc')", "cba"),
        ("REVERSE(1234)", "4321"),
        ("UPPER(NULL)", "NULL"),
    ]);
    assert_eq!(type_of("UPPER(CAST('a' AS char(3)))"), "varchar(3)");
    let text = "Argument data type int is invalid for argument 1 of trim function.";
    assert_eq!(fault("TRIM(12)"), (8116, text.to_owned()));
}

#[test]
fn charindex_finds_as_the_collation_compares() {
    assert_shown(&[
        ("CHARINDEX('is', 'This is a string')", "3"),
        ("CHARINDEX('is', 'This is a string', 4)", "6"),
        ("CHARINDEX('TEST', 'Das ist ein Test')", "13"),
        ("CHARINDEX('TEST', 'Das ist ein Test' COLLATE Latin1_General_BIN2)", "0"),
        ("CHARINDEX('x', 'abc')", "0"),
        ("CHARINDEX('', 'abc')", "0"),
        ("CHARINDEX('a', 'abc', 0)", "1"),
        ("CHARINDEX('a', 'abc', -5)", "1"),
        ("CHARINDEX('a', 'abc', 50)", "0"),
        ("CHARINDEX('b', NULL)", "NULL"),
        ("CHARINDEX(N'\u{3b2}', N'\u{3b1}\u{3b2}')", "2"),
        ("CHARINDEX('3', 12345)", "3"),
    ]);
    assert_eq!(type_of("CHARINDEX('a', CAST('abc' AS varchar(max)))"), "bigint");
    assert_eq!(
        fault("CHARINDEX('a')"),
        (189, "The charindex function requires 2 to 3 arguments.".to_owned())
    );
}

#[test]
fn patindex_finds_a_pattern() {
    assert_shown(&[
        ("PATINDEX('%ter%', 'interesting data')", "3"),
        ("PATINDEX('%en_ure%', 'Please ensure the door is locked!')", "8"),
        ("PATINDEX('%[^ 0-9A-Za-z]%', 'Please ensure the door is locked!')", "33"),
        ("PATINDEX('%[0-9]%', 'abc')", "0"),
        ("PATINDEX('ab%', 'abc')", "1"),
        ("PATINDEX('bc%', 'abc')", "0"),
        ("PATINDEX('%bc', 'abc')", "2"),
        ("PATINDEX('%b', 'abc')", "0"),
        ("PATINDEX('abc', 'ABC')", "1"),
        ("PATINDEX('%a%', NULL + 'x')", "NULL"),
    ]);
}

#[test]
fn replace_and_translate_replace_all_occurrences() {
    assert_shown(&[
        ("REPLACE('abcdefghicde', 'cde', 'xxx')", "abxxxfghixxx"),
        ("REPLACE('ABC', 'b', '')", "AC"),
        ("REPLACE('ABC' COLLATE Latin1_General_BIN2, 'b', '')", "ABC"),
        ("REPLACE('abc', '', 'x')", "abc"),
        ("REPLACE('abc', NULL, 'x')", "NULL"),
        ("REPLACE(2024, '0', '-')", "2-24"),
        ("TRANSLATE('2*[3+4]/{7-2}', '[]{}', '()()')", "2*(3+4)/(7-2)"),
        ("TRANSLATE('abcdef', 'abc', 'bcd')", "bcddef"),
    ]);
    assert_eq!(type_of("REPLACE('a', 'b', N'c')"), "nvarchar(4000)");
    let text =
        "The second and third arguments of the TRANSLATE built-in function must contain an equal number of characters.";
    assert_eq!(fault("TRANSLATE('abc', 'ab', 'x')"), (9828, text.to_owned()));
}

#[test]
fn text_is_repeated_and_stuffed() {
    assert_shown(&[
        ("REPLICATE('0', 4)", "0000"),
        ("REPLICATE('ab', 0)", ""),
        ("REPLICATE('ab', -1)", "NULL"),
        ("LEN(REPLICATE('x', 10000))", "8000"),
        ("LEN(REPLICATE(CAST('x' AS varchar(max)), 10000))", "10000"),
        ("'a' + SPACE(2) + 'b'", "a  b"),
        ("SPACE(-1)", "NULL"),
        ("STUFF('abcdef', 2, 3, 'ijklmn')", "aijklmnef"),
        ("STUFF('abcdef', 2, 3, NULL)", "aef"),
        ("STUFF('abc', 0, 1, 'x')", "NULL"),
        ("STUFF('abc', 4, 1, 'x')", "NULL"),
        ("STUFF('abc', 1, -1, 'x')", "NULL"),
        ("STUFF('abc', 3, 100, 'x')", "abx"),
        ("STUFF(NULL, 1, 1, 'x')", "NULL"),
    ]);
    let (number, _) = fault("REPLICATE(CAST('x' AS varchar(max)), 9000000000)");
    assert_eq!(number, 7119);
}

#[test]
fn str_aligns_and_rounds_a_number() {
    assert_shown(&[
        ("STR(123.45, 6, 1)", " 123.5"),
        ("STR(123.45, 2, 2)", "**"),
        ("STR(FLOOR(123.45), 8, 3)", " 123.000"),
        ("STR(123)", "       123"),
        ("STR(-5.5)", "        -6"),
        ("STR(3.147, 5, 3)", "3.147"),
        ("STR(123.45, 5, 3)", "123.5"),
        ("STR(1, -1)", "NULL"),
        ("STR(NULL)", "NULL"),
        ("LTRIM(STR(1e15, 20))", "1000000000000000"),
    ]);
    assert_eq!(type_of("STR(1, 6, 1)"), "varchar(6)");
    assert_eq!(type_of("STR(1)"), "varchar(10)");
}

#[test]
fn concat_treats_null_as_an_empty_string() {
    assert_shown(&[
        ("CONCAT('a', 1, NULL, N'b')", "a1b"),
        ("CONCAT(NULL, NULL)", ""),
        ("CONCAT(1.50, '|', CAST(1 AS bit))", "1.50|1"),
        ("CONCAT_WS(',', 'a', NULL, 'b', '', 3)", "a,b,,3"),
        ("CONCAT_WS(NULL, 'a', 'b')", "ab"),
        ("CONCAT(CAST('20240229' AS date), '!')", "2024-02-29!"),
    ]);
    assert_eq!(type_of("CONCAT('ab', 'c')"), "varchar(3)");
    assert_eq!(type_of("CONCAT('ab', N'c')"), "nvarchar(3)");
    assert_eq!(type_of("CONCAT(1, 'c')"), "varchar(13)");
    assert_eq!(
        fault("CONCAT('a')"),
        (189, "The concat function requires 2 to 254 arguments.".to_owned())
    );
    assert_eq!(
        fault("CONCAT_WS(',', 'a')"),
        (189, "The concat_ws function requires 3 to 254 arguments.".to_owned())
    );
}

#[test]
fn characters_and_code_points_are_converted() {
    assert_shown(&[
        ("ASCII('A')", "65"),
        ("ASCII('')", "NULL"),
        ("ASCII('\u{20ac}')", "128"),
        ("CHAR(65)", "A"),
        ("CHAR(128)", "\u{20ac}"),
        ("CHAR(256)", "NULL"),
        ("CHAR(-1)", "NULL"),
        ("NCHAR(248)", "\u{f8}"),
        ("NCHAR(65536)", "NULL"),
        ("UNICODE(N'\u{c5}kerberga')", "197"),
        ("UNICODE('')", "NULL"),
    ]);
    assert_eq!(fault("NCHAR(55357)").0, 40510);
}

#[test]
fn names_are_quoted_and_parsed() {
    assert_shown(&[
        ("QUOTENAME('abc[]def')", "[abc[]]def]"),
        ("QUOTENAME('a''b', '''')", "'a''b'"),
        ("QUOTENAME('ab', '(')", "(ab)"),
        ("QUOTENAME('ab', 'x')", "NULL"),
        ("QUOTENAME(REPLICATE('a', 129))", "NULL"),
        ("PARSENAME('AdventureWorks.dbo.Customer', 1)", "Customer"),
        ("PARSENAME('AdventureWorks.dbo.Customer', 2)", "dbo"),
        ("PARSENAME('AdventureWorks.dbo.Customer', 4)", "NULL"),
        ("PARSENAME('[a.b].[c]]d]', 1)", "c]d"),
        ("PARSENAME('a..b', 2)", "NULL"),
        ("PARSENAME('a.b.c.d.e', 1)", "NULL"),
        (
            "STRING_ESCAPE('\\   / \"x\"' + CHAR(10), 'json')",
            "\\\\   \\/ \\\"x\\\"\\n",
        ),
    ]);
    assert_eq!(type_of("QUOTENAME('a')"), "nvarchar(258)");
    assert_eq!(fault("STRING_ESCAPE('a', 'xml')").0, 13611);
}

#[test]
fn words_that_sound_alike_have_one_code() {
    assert_shown(&[
        ("SOUNDEX('Smith')", "S530"),
        ("SOUNDEX('Smythe')", "S530"),
        ("SOUNDEX('Ashcraft')", "A261"),
        ("SOUNDEX('Tymczak')", "T522"),
        ("SOUNDEX('123')", "0000"),
        ("DIFFERENCE('Green', 'Greene')", "4"),
        ("DIFFERENCE('Blotchet-Halls', 'Greene')", "0"),
    ]);
}

#[test]
fn a_function_that_is_not_supported_says_so() {
    assert_eq!(
        fault("FORMATMESSAGE(1)"),
        (40510, "Function 'FORMATMESSAGE' is not supported.".to_owned())
    );
    let text = "'FROBNICATE' is not a recognized built-in function name.";
    assert_eq!(fault("FROBNICATE(1)"), (195, text.to_owned()));
    assert_eq!(shown("{fn UCASE('a')}"), "A");
}

/// Texts of one megabyte: one in ASCII, one not.
fn long_texts() -> Batch {
    let mut batch = Batch::new();
    let text = |national: bool| {
        if national {
            DataType::NVarChar(Width::Max)
        } else {
            DataType::VarChar(Width::Max)
        }
    };
    batch.declare("@a", text(false), "REPLICATE(CAST('ab' AS varchar(max)), 500000)");
    batch.declare(
        "@b",
        text(true),
        "REPLICATE(CAST(N'\u{e9}\u{3b2}' AS nvarchar(max)), 250000)",
    );
    batch.declare(
        "@p",
        text(false),
        "'%' + REPLICATE(CAST('ab' AS varchar(max)), 50000) + 'c%'",
    );
    batch.declare(
        "@q",
        text(true),
        "N'%' + REPLICATE(CAST(N'\u{e9}\u{3b2}' AS nvarchar(max)), 50000) + N'c%'",
    );
    batch
}

#[test]
fn long_operations_poll_and_end_when_cancelled() {
    let batch = long_texts();
    for (text, polls_min) in [
        // Linear functions: a poll between two of them is enough.
        ("LEN(@a) + DATALENGTH(@b)", 2),
        (
            "SUBSTRING(@a, 5, 7) + LEFT(@b, 4) + RIGHT(@b, 7) + STUFF(@b, 1, 2, @b)",
            4,
        ),
        ("LTRIM(@a) + RTRIM(@a) + TRIM(@b)", 4),
        ("CHARINDEX('c', @a) + CHARINDEX(@a, @a) + CHARINDEX(N'c', @b)", 3 + 7),
        ("@a + @a + @b", 2),
        ("CONCAT(@a, @a) + CONCAT_WS(@a, @b, @b)", 3),
        ("REPLICATE(@a, 2)", 1),
        ("HASHBYTES('MD5', @a)", 1),
        ("CONVERT(varchar(max), CONVERT(varbinary(max), @a), 2)", 2),
        ("CASE WHEN @a = @b OR @b < @b OR @a IN (@b, @a) THEN 1 END", 2),
        // Functions that loop over characters.
        ("UPPER(@a)", 15),
        ("LOWER(@b)", 7),
        ("REVERSE(@a)", 15),
        ("STRING_ESCAPE(@a, 'json')", 15),
        ("REPLACE(@a, 'a', 'c')", 7),
        ("REPLACE(@b, N'\u{c9}', '')", 10),
        ("TRANSLATE(@a, 'abc', 'xyz')", 15),
        ("TRANSLATE(@b, @b, @b)", 14),
        ("CAST(REPLACE(@a, 'a', '<a/>') AS xml)", 40),
        // Functions that are quadratic in text and pattern.
        ("PATINDEX(@p, @a)", 100),
        ("PATINDEX(@q, @b)", 100),
        ("CASE WHEN @a LIKE @p THEN 1 END", 100),
        ("CASE WHEN @b LIKE @q THEN 1 END", 100),
    ] {
        let expr = batch.bind(text).unwrap();
        batch.world.polls.set(0);
        batch.world.stops_at.set(polls_min);
        let ended = batch.evaluate(&expr);
        assert_eq!(ended, Err(crate::SqlError::interrupted()), "{text}");
        assert_eq!(batch.world.polls.get(), polls_min, "{text}");
    }
}

#[test]
fn long_texts_are_found_and_replaced_in_linear_time() {
    let batch = long_texts();
    for (text, shown) in [
        ("CHARINDEX(SUBSTRING(@a, 1, 400000) + 'c', @a)", "0"),
        ("CHARINDEX(SUBSTRING(@a, 2, 999999), UPPER(@a))", "2"),
        ("CHARINDEX(SUBSTRING(@b, 1, 200000) + N'c', @b)", "0"),
        ("CHARINDEX(N'c', UPPER(@b) + N'C')", "500001"),
        ("LEN(REPLACE(@a, SUBSTRING(@a, 1, 400000), 'c'))", "200002"),
        ("LEN(REPLACE(UPPER(@b), N'\u{e9}', N'xyz'))", "1000000"),
        (
            "CHARINDEX('x', TRANSLATE(@b, @b, REPLICATE(CAST(N'x' AS nvarchar(max)), 500000)))",
            "1",
        ),
    ] {
        assert_eq!(batch.shown(text), shown, "{text}");
    }
}

#[test]
fn characters_whose_folding_changes_size_are_found_at_their_positions() {
    // U+023A folds to three bytes, the Kelvin sign to one byte.
    assert_shown(&[
        ("CHARINDEX(N'x', N'\u{23a}\u{212a}x')", "3"),
        ("CHARINDEX(N'K', N'\u{23a}\u{212a}x')", "2"),
        ("CHARINDEX(N'\u{2c65}', N'x\u{212a}\u{23a}x')", "3"),
        ("REPLACE(N'\u{23a}\u{212a}\u{23a}k', N'k', N'-')", "\u{23a}-\u{23a}-"),
        ("REPLACE(N'\u{23a}\u{212a}\u{23a}k', N'\u{2c65}', N'')", "\u{212a}k"),
        ("REPLACE(N'\u{1f600}\u{23a}\u{1f600}', N'\u{1f600}', N'.')", ".\u{23a}."),
        ("REPLACE('aaa', 'aa', 'b')", "ba"),
        ("TRANSLATE(N'\u{212a}k\u{e9}', N'K\u{c9}k', N'123')", "112"),
    ]);
}

#[test]
fn memory_is_reserved_for_patterns_and_folded_texts() {
    let batch = long_texts();
    let literal = format!("CASE WHEN 'a' LIKE '%{}c%' THEN 1 END", "ab".repeat(50_000));
    for (text, bytes_min) in [
        // An element of a pattern takes 32 bytes, a non-ASCII character eight.
        (literal.as_str(), 3_200_000),
        ("CASE WHEN 'a' LIKE @p THEN 1 END", 3_200_000),
        ("PATINDEX(@p, 'a')", 3_200_000),
        ("CASE WHEN @b LIKE 'a' THEN 1 END", 8_000_000),
        ("PATINDEX('%c%', @b)", 8_000_000),
        ("CHARINDEX('c', @b)", 2_000_000),
    ] {
        batch.world.reserved_max.set(0);
        batch.shown(text);
        let reserved = batch.world.reserved_max.get();
        assert!(reserved >= bytes_min, "{text:.100}: {reserved}");
    }
}

#[test]
fn format_has_the_patterns_of_net() {
    assert_shown(&[
        // Examples of the documentation.
        ("FORMAT(CAST('2020-08-09' AS date), 'd', 'en-US')", "8/9/2020"),
        (
            "FORMAT(CAST('2020-11-22' AS date), 'D', 'en-US')",
            "Sunday, November 22, 2020",
        ),
        ("FORMAT(CAST(1.5 AS float), 'R')", "1.5"),
        ("FORMAT(1e0 / 3, 'R')", "0.33333333333333331"),
        ("FORMAT(1e0 / 3, 'G')", "0.333333333333333"),
        ("FORMAT(1e0 / 3, 'G17')", "0.33333333333333331"),
        ("FORMAT(1e0 / 3, 'F17')", "0.33333333333333300"),
        ("FORMAT(1e0 / 3, 'E16')", "3.3333333333333331E-001"),
        ("FORMAT(1e22, 'r')", "1e+22"),
        ("FORMAT(CAST(0.1 AS real), 'R')", "0.1"),
        ("FORMAT(CAST(0.1 AS real), 'G9')", "0.100000001"),
        ("FORMAT(1, 'R')", "NULL"),
        ("FORMAT(1.5, 'R')", "NULL"),
        ("FORMAT(123456789, '###-##-####')", "123-45-6789"),
        ("FORMAT(1, 'N', 'en-us')", "1.00"),
        ("FORMAT(1, 'G', 'en-US')", "1"),
        ("FORMAT(1, 'C', 'en-US')", "$1.00"),
        ("FORMAT(CAST('07:35' AS time), N'hh\\.mm')", "07.35"),
        ("FORMAT(CAST('07:35' AS time), N'hh.mm')", "NULL"),
        ("FORMAT(CAST('2018-01-01 01:00' AS datetime2), N'hh:mm tt')", "01:00 AM"),
        ("FORMAT(CAST('2018-01-01 14:00' AS datetime2), N'HH:mm')", "14:00"),
        ("FORMAT(CAST(1234.5 AS decimal(10, 2)), '#,##0.00')", "1,234.50"),
        ("FORMAT(CAST(1234.5 AS decimal(10, 2)), 'G')", "1234.50"),
        ("FORMAT($12.5, 'N2')", "12.50"),
        ("FORMAT(1.5e0, 'N1')", "1.5"),
        ("FORMAT(0.1e0, 'G')", "0.1"),
        ("FORMAT(1e20, 'G')", "1E+20"),
        ("FORMAT(255, 'X4')", "00FF"),
        ("FORMAT(CAST(NULL AS int), 'N')", "NULL"),
        ("FORMAT(5, 'z')", "NULL"),
    ]);
    assert_eq!(type_of("FORMAT(1, 'N')"), "nvarchar(4000)");
    assert_eq!(fault("FORMAT('x', 'N')").0, 8116);
    assert_eq!(fault("FORMAT(1, 'N', 'de-DE')").0, 40510);
}

#[test]
fn format_takes_patterns_of_any_form_up_to_a_length() {
    assert_shown(&[
        ("LEN(FORMAT(CAST('2020-08-09' AS date), REPLICATE(N'y', 4000)))", "4000"),
        ("LEN(FORMAT(1.5, REPLICATE(N'0', 4000)))", "4000"),
        ("FORMAT(1.5, N'0E' + REPLICATE(N'0', 3000))", "2E0000000000"),
        ("FORMAT(CAST('2020-08-09' AS date), N'%\\d')", "NULL"),
    ]);
    let long = "REPLICATE(CAST(N'y' AS nvarchar(max)), 70000)";
    assert_eq!(fault(&format!("FORMAT(CAST('2020-08-09' AS date), {long})")).0, 40510);
    assert_eq!(fault(&format!("FORMAT(1, {long})")).0, 40510);
}
