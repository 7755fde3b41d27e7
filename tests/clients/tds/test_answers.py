"""Answers that SQL Server's documentation gives, as applications and their mappers ask for them: each client gets the same."""

import pytest
from client import ALL, Client, Connection, SqlError

# One statement and its rows, each column as the text that CONVERT makes of it, so that drivers' own types do not matter.
ANSWERS = [
    # Types of operators: integer division, scales of decimals, the type of CASE.
    ("7 / 2, -7 / 2, -7 % 3, 7 / 2., 1 / 3.0", "3|-3|-1|3.500000|0.333333"),
    ("CAST(1 AS decimal(10, 2)) / 3, CAST(1 AS decimal(20, 10)) / CAST(7 AS decimal(20, 10))", "0.333333|0.142857142857142857"),
    ("CAST(1.5 AS decimal(38, 20)) * CAST(2 AS decimal(38, 20)), 5.0 % 3, 2 / 3.0000", "3.000000|2.0|0.666666"),
    ("CASE WHEN 1 = 1 THEN 1 ELSE 2.55 END, ISNULL(CAST(NULL AS int), 2.7), COALESCE(CAST(NULL AS int), 2.7)", "1.00|2|2.7"),
    ("CAST(10 AS money) / 3 * 1.0, ROUND(2.567, 1), ROUND(2.567, 1, 1), POWER(2, 0.5), 1 + '2'", "3.33330|2.600|2.500|1|3"),
    ("CAST(-2.7 AS int), CAST(2.567 AS decimal(5, 2)), CAST(1e10 AS varchar(20)), STR(123.456, 8, 2)", "-2|2.57|1e+010|  123.46"),
    # Dates: steps of 1/300 s, rounding, ends of months.
    ("CONVERT(varchar, CAST('2024-01-01 00:00:00.002' AS datetime), 121)", "2024-01-01 00:00:00.003"),
    ("CONVERT(varchar, CAST('2024-01-01 23:59:59.999' AS datetime), 121)", "2024-01-02 00:00:00.000"),
    ("CONVERT(varchar, CAST('2024-01-01 00:00:29.999' AS smalldatetime), 120)", "2024-01-01 00:01:00"),
    ("CAST(CAST('2024-01-01 12:34:56.7891234' AS datetime2) AS datetime2(3))", "2024-01-01 12:34:56.789"),
    ("DATEADD(month, 1, CAST('2024-01-31' AS date)), EOMONTH('2024-02-10'), DATEDIFF(year, '2023-12-31', '2024-01-01')", "2024-02-29|2024-02-29|1"),
    ("DATEPART(iso_week, '2021-01-03'), DATEPART(week, '2021-01-03'), DATENAME(month, '2024-03-01')", "53|2|March"),
    ("CONVERT(varchar, CAST('2024-02-03 04:05' AS datetime)), CONVERT(varchar, CAST('2024-02-03' AS datetime), 112)", "Feb  3 2024  4:05AM|20240203"),
    # Text: padding, NULL, patterns, collations.
    ("LEN('ab  '), DATALENGTH(N'ab'), CHARINDEX('B', 'abc'), SUBSTRING('abc', 0, 2), STUFF('abcdef', 2, 3, 'X')", "2|4|2|a|aXef"),
    ("'a' + NULL, CONCAT('a', NULL, 1), CONCAT_WS('-', 'a', NULL, 'b'), NULLIF('a', 'A '), QUOTENAME('a]b')", "NULL|a1|a-b|NULL|[a]]b]"),
    ("IIF('abc ' LIKE 'abc', 1, 0), IIF('abc' LIKE 'abc ', 1, 0), IIF('a_c' LIKE 'a[_]c', 1, 0), IIF('50%' LIKE '%!%' ESCAPE '!', 1, 0)", "1|0|1|1"),
    ("IIF('a' = 'A ', 1, 0), IIF('a' = 'A' COLLATE Latin1_General_BIN2, 1, 0), IIF(N'\u00e9' = N'e', 1, 0)", "1|0|0"),
    ("TRIM('.,! ' FROM '.# test .'), TRIM(LEADING 'x' FROM 'xax'), RTRIM('axx', 'x'), LTRIM('  a')", "# test|ax|a|a"),
    ("CAST(12345 AS varchar(3)), CAST('abcdef' AS varchar(3)), CONVERT(varchar(10), 0x1F, 1), CAST('x' AS char(3)) + '|'", "*|abc|0x1F|x  |"),
    ("TRY_CAST('x' AS int), TRY_CONVERT(date, '2024-02-30'), ISNUMERIC('1e5'), CHOOSE(2, 'a', 'b')", "NULL|NULL|1|b"),
    # NULL is neither in nor out.
    ("IIF(1 NOT IN (2, NULL), 1, 0), IIF(NULL = NULL, 1, 0), IIF(NOT (NULL = 1), 1, 0), COALESCE(NULL, NULLIF(1, 1), 3)", "0|0|0|3"),
]  # fmt: skip

TABLE = (
    "CREATE TABLE #t (id int IDENTITY(1, 1) PRIMARY KEY, a int, b varchar(10) DEFAULT 'x', tags varchar(20)); "
    "INSERT #t (a, b, tags) VALUES (1, 'p', 'u,v'), (2, 'q', NULL), (2, NULL, 'v'), (NULL, 'q', '')"
)
# Statements, and the rows of each result set that has any.
BATCHES = [
    ("SELECT a, COUNT(*), COUNT(b), MAX(b) FROM #t GROUP BY a ORDER BY a", "NULL,1,1,q;1,1,1,p;2,2,1,q"),
    ("SELECT TOP (1) WITH TIES a, id FROM #t WHERE a IS NOT NULL ORDER BY a DESC", "2,2;2,3"),
    ("SELECT id FROM #t ORDER BY a, id DESC OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY", "1;3"),
    ("SELECT STRING_AGG(b, '-') WITHIN GROUP (ORDER BY id DESC), COUNT(DISTINCT b) FROM #t", "q-q-p,2"),
    ("SELECT id, ROW_NUMBER() OVER (PARTITION BY a ORDER BY id DESC), LAG(id, 1, 0) OVER (ORDER BY id), SUM(id) OVER (ORDER BY a) FROM #t ORDER BY id",
     "1,1,0,5;2,2,1,10;3,1,2,10;4,1,3,4"),
    ("SELECT t.id, s.value FROM #t t CROSS APPLY STRING_SPLIT(t.tags, ',') s ORDER BY t.id, s.value", "1,u;1,v;3,v;4,"),
    ("SELECT id FROM #t WHERE a NOT IN (SELECT a FROM #t WHERE b = 'q')", ""),
    ("SELECT t.id, x.n FROM #t t OUTER APPLY (SELECT TOP (1) u.id AS n FROM #t u WHERE u.a = t.a AND u.id > t.id ORDER BY u.id) x ORDER BY 1",
     "1,NULL;2,3;3,NULL;4,NULL"),
    ("WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT SUM(i), MAX(i) FROM n", "15,5"),
    ("INSERT #t (a) OUTPUT inserted.id, inserted.b VALUES (7), (8)", "5,x;6,x"),
    ("WITH x AS (SELECT a AS n, b FROM #t) INSERT x (n) OUTPUT inserted.n, inserted.b VALUES (9)", "9,x"),
    ("INSERT TOP (SELECT 1) #t (a) OUTPUT inserted.a SELECT a FROM #t WHERE id IN (5, 6) ORDER BY id", "7"),
    ("UPDATE t SET a += 1, b = u.b OUTPUT deleted.a, inserted.a FROM #t t JOIN #t u ON u.id = 2 WHERE t.id = 5", "7,8"),
    ("WITH d AS (SELECT id, ROW_NUMBER() OVER (PARTITION BY a ORDER BY id) AS r FROM #t WHERE a = 2) DELETE d OUTPUT deleted.id WHERE r > 1", "3"),
    ("DECLARE @i TABLE (id int); DELETE #t OUTPUT deleted.id INTO @i WHERE id > 5; SELECT COUNT(*) FROM @i", "3"),
    ("SET NOCOUNT ON; UPDATE #t SET a = a WHERE a = 2; SELECT @@ROWCOUNT, SCOPE_IDENTITY()", "1,8"),
    ("DECLARE @c int; EXEC sp_executesql N'SELECT @n = COUNT(*) FROM #t WHERE a > @m', N'@m int, @n int OUTPUT', 1, @c OUTPUT; SELECT @c", "2"),
    ("BEGIN TRAN; DELETE #t; SAVE TRAN s; INSERT #t (a) VALUES (1); ROLLBACK TRAN s; SELECT COUNT(*), @@TRANCOUNT FROM #t; ROLLBACK; SELECT COUNT(*) FROM #t",
     "0,1|4"),
    ("BEGIN TRY BEGIN TRAN; INSERT #t (a) VALUES (1 / 0) END TRY BEGIN CATCH SELECT ERROR_NUMBER(), XACT_STATE(); ROLLBACK END CATCH", "8134,1"),
    ("BEGIN TRY BEGIN TRY THROW 50001, N'in', 3 END TRY BEGIN CATCH THROW END CATCH END TRY BEGIN CATCH SELECT ERROR_NUMBER(), ERROR_STATE(), ERROR_MESSAGE() END CATCH",
     "50001,3,in"),
    ("DECLARE @s varchar(50) = ''; SELECT @s += b FROM #t WHERE b IS NOT NULL ORDER BY id; SELECT @s", "pqqq"),
    ("SELECT MAX(a), SUM(a) FROM #t WHERE 1 = 0; SELECT a FROM #t WHERE 1 = 0 GROUP BY a", "NULL,NULL"),
    ("SELECT x FROM (VALUES (1), (2), (3)) v (x) EXCEPT SELECT 2 INTERSECT SELECT 2", "1;3"),
]  # fmt: skip

ERRORS = [
    ("SELECT 2147483647 + 1", 8115),
    ("SELECT CAST(300 AS tinyint)", 220),
    ("SELECT CAST('99999' AS smallint)", 244),
    ("SELECT CAST(12345.678 AS decimal(5, 2))", 8115),
    ("SELECT CAST('2024-02-30' AS date)", 241),
    ("SELECT CAST('17520101' AS datetime)", 242),
    ("SELECT 'a' + 1", 245),
    ("SELECT SUBSTRING('a', 1, -1)", 537),
    ("SELECT (SELECT 1 UNION ALL SELECT 2)", 512),
    ("SELECT DATEDIFF(second, '1900-01-01', '2100-01-01')", 535),
    ("SELECT a, COUNT(*) FROM (VALUES (1)) v (a)", 8120),
    ("WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n", 530),
    ("SELECT value FROM STRING_SPLIT('a', 'bc')", 214),
    ("CREATE TABLE #n (a int NOT NULL, b varchar(2)); INSERT #n VALUES (NULL, 'a')", 515),
    ("CREATE TABLE #l (b varchar(2)); INSERT #l VALUES ('abc')", 2628),
    ("CREATE TABLE #u (a int UNIQUE); INSERT #u VALUES (NULL), (NULL)", 2627),
    ("DECLARE @a int = 1; SET @a <<= 1", 102),
]


def shown(value: str | None) -> str:
    return "NULL" if value is None else value


def test_values_are_as_documented(client: Client, connection: Connection) -> None:
    for expressions, expected in ANSWERS:
        (row,) = connection.run(f"SELECT {', '.join(converted(expressions))}").rows
        assert "|".join(map(shown, row)) == expected, expressions


def converted(expressions: str) -> list[str]:
    """Each of a list of expressions as text."""
    parts, depth, quoted, start = [], 0, False, 0
    for at, character in enumerate(expressions):
        quoted ^= character == "'"
        depth += (not quoted) * ((character == "(") - (character == ")"))
        if character == "," and depth == 0 and not quoted:
            parts.append(expressions[start:at])
            start = at + 1
    return [f"CONVERT(nvarchar(60), {part.strip()}) AS c{n}" for n, part in enumerate([*parts, expressions[start:]])]


# tsql connects for each batch: its temporary tables are gone.
@pytest.mark.parametrize("client", [one for one in ALL if one.name != "tsql"], ids=lambda one: one.name)
def test_statements_are_as_documented(client: Client, connection: Connection) -> None:
    connection.run(TABLE)
    for sql, expected in BATCHES:
        sets = [one["rows"] for one in connection.run(sql).sets if one["rows"]]
        assert "|".join(";".join(",".join(map(shown, row)) for row in rows) for rows in sets) == expected, sql


@pytest.mark.parametrize("client", [one for one in ALL if "number" in one.tells], ids=lambda one: one.name)
def test_errors_are_as_documented(client: Client, connection: Connection) -> None:
    for sql, number in ERRORS:
        with pytest.raises(SqlError) as raised:
            connection.run(sql)
        assert raised.value.number == number, sql
