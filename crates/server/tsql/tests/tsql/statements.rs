//! Statements of every kind: each parses, and its printed tree parses to the same tree.

use crate::round_trip::round_trip;
use selenite_tsql::ast::StatementKind;

/// Each text is one supported statement.
fn check(texts: &[&str]) {
    for text in texts {
        let tree = round_trip(text);
        assert_eq!(tree.statements.len(), 1, "{text}\n{tree}");
        let kind = &tree.statements[0].kind;
        assert!(!matches!(kind, StatementKind::Unsupported(_)), "{text}\n{kind:?}");
    }
}

#[test]
fn cursors_are_declared_fetched_and_closed() {
    check(&[
        "DECLARE c CURSOR FOR SELECT a FROM t",
        "DECLARE c CURSOR LOCAL FAST_FORWARD FOR SELECT a FROM t FOR READ ONLY",
        "DECLARE [my c] INSENSITIVE SCROLL CURSOR FOR WITH x AS (SELECT 1 AS a) SELECT a FROM x",
        "DECLARE c CURSOR GLOBAL SCROLL KEYSET OPTIMISTIC TYPE_WARNING FOR SELECT a FROM t ORDER BY a FOR UPDATE OF a, b",
        "DECLARE c CURSOR FOR SELECT a FROM t UNION SELECT b FROM u OPTION (RECOMPILE) FOR UPDATE",
        "DECLARE @c CURSOR, @i int",
        "SET @c = CURSOR STATIC FOR SELECT 1 AS a",
        "SET @c = other",
        "OPEN c",
        "OPEN GLOBAL c",
        "OPEN global",
        "FETCH c",
        "FETCH FROM c",
        "FETCH NEXT FROM c INTO @a, @b",
        "FETCH next",
        "FETCH ABSOLUTE -3 FROM GLOBAL c",
        "FETCH RELATIVE @n FROM @c INTO @a",
        "CLOSE @c",
        "DEALLOCATE GLOBAL c",
        "UPDATE t SET a = 1 FROM t AS x WHERE CURRENT OF c OPTION (RECOMPILE)",
        "DELETE FROM t WHERE CURRENT OF GLOBAL c",
        "DELETE t WHERE CURRENT OF @c",
    ]);
}

#[test]
fn variables_are_declared_and_set() {
    check(&[
        "DECLARE @a int",
        "declare @a as int, @b varchar(10) = 'x', @c decimal(10, 2) = 1.5, @d nvarchar(max) = N'y'",
        "DECLARE @t TABLE (a int NOT NULL PRIMARY KEY, b varchar(10) DEFAULT 'x', UNIQUE (b))",
        "DECLARE @t TABLE (precision int, length int, scale smallint NULL)",
        "DECLARE @@g int = 0, @ int",
        "declare @a double precision, @b char varying(10), @c national character varying(5), @d sys.int, @e [my type]",
        "SET @a = @a + 1",
        "SET @a += 1",
        "SET @a -= 1;",
        "SET @a * = 1",
        "SET @a /= 2 * (3 + 4)",
        "SET @a %= 1",
        "SET @a &= 1",
        "SET @a ^= 1",
        "SET @a |= 1",
        "SET @a = (SELECT MAX(a) FROM t)",
        "SELECT @a = 1, @b += 2",
        "SELECT @a = a FROM t ORDER BY a",
        "SELECT precision, c.PRECISION AS precision FROM sys.columns AS c WHERE precision > 1 ORDER BY precision",
    ]);
}

#[test]
fn session_options_are_set() {
    check(&[
        "SET NOCOUNT ON",
        "SET ANSI_NULLS, ANSI_PADDING, QUOTED_IDENTIFIER ON",
        "SET STATISTICS TIME, IO ON",
        "SET STATISTICS XML OFF",
        "SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED",
        "SET TRANSACTION ISOLATION LEVEL READ COMMITTED",
        "SET TRAN ISOLATION LEVEL REPEATABLE READ",
        "SET TRANSACTION ISOLATION LEVEL SNAPSHOT",
        "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
        "SET LOCK_TIMEOUT -1",
        "SET LOCK_TIMEOUT 1000",
        "SET DATEFORMAT mdy",
        "SET DATEFORMAT @d",
        "SET DATEFIRST 7",
        "SET LANGUAGE us_english",
        "SET LANGUAGE N'Deutsch'",
        "SET LANGUAGE [British]",
        "SET ROWCOUNT 10",
        "SET ROWCOUNT @n",
        "SET TEXTSIZE 2147483647",
        "SET IDENTITY_INSERT dbo.t ON",
        "SET DEADLOCK_PRIORITY LOW",
        "SET DEADLOCK_PRIORITY -5",
        "SET CONTEXT_INFO 0x0102",
        "SET SOMETHING_NEW ON",
        "SET SOMETHING_ELSE other",
        "SET FMTONLY OFF",
        "SET XACT_ABORT ON",
    ]);
}

#[test]
fn control_of_flow_nests() {
    check(&[
        "IF @a = 1 SELECT 1",
        "IF @a = 1 SELECT 1 ELSE SELECT 2",
        "IF @a = 1 SELECT 1; ELSE SELECT 2",
        "IF (@a = 1) BEGIN SELECT 1 END ELSE IF (@a = 2) AND NOT @b = 3 BEGIN SELECT 2 END ELSE SELECT 3",
        "IF @a = 1 IF @b = 1 SELECT 1 ELSE SELECT 2 ELSE SELECT 3",
        "IF EXISTS (SELECT * FROM t) DROP TABLE t",
        "IF NOT EXISTS (SELECT 1) PRINT 'x'",
        "IF @a = 1 (SELECT 1 UNION SELECT 2) EXCEPT SELECT 3",
        "WHILE @i < 10 SET @i = @i + 1",
        "WHILE 1 = 1 BEGIN SET @i += 1 IF @i > 5 BREAK ELSE CONTINUE END",
        "BEGIN SELECT 1 SELECT 2; SELECT 3 END",
        "BEGIN; SELECT 1; END",
        "BEGIN TRY SELECT 1; END TRY BEGIN CATCH THROW; END CATCH",
        "BEGIN TRY SELECT 1 END TRY BEGIN CATCH END CATCH",
        "BEGIN TRY BEGIN TRY SELECT 1 / 0 END TRY BEGIN CATCH THROW END CATCH END TRY BEGIN CATCH PRINT 'x' END CATCH",
        "THROW 50000, 'text', 1",
        "THROW @n, @m, @s",
        "RETURN",
        "WAITFOR DELAY '00:00:01'",
        "WAITFOR TIME @t",
        "PRINT 'a' + CAST(@a AS varchar(10))",
        "PRINT N'a'",
        "RAISERROR ('message %d %s', 16, 1, 5, @s)",
        "RAISERROR (50001, 10, -1) WITH NOWAIT",
        "RAISERROR (@m, @s, @t) WITH LOG, NOWAIT, SETERROR",
        "BEGIN GOTO done; done: SELECT 1 END",
    ]);
}

#[test]
fn bulk_loads_have_columns_and_options() {
    check(&[
        "INSERT BULK t (a int)",
        "insert bulk [d].[dbo].[t t] ([a b] nvarchar(max) collate Latin1_General_BIN2 not null, b decimal(10,2) null)",
        "INSERT BULK #t (a int) WITH (CHECK_CONSTRAINTS, FIRE_TRIGGERS, KEEP_NULLS, KILOBYTES_PER_BATCH = 5, TABLOCK)",
        "INSERT BULK t (a int, b int) WITH (ORDER (a ASC, b DESC), ROWS_PER_BATCH = 1000)",
        "INSERT BULK t",
        "BULK INSERT t FROM 'c:\\x.txt'",
        "BULK INSERT d..t FROM N'it''s' WITH (FIELDTERMINATOR = '|', ROWTERMINATOR = '\\n', FIRSTROW = 2, KEEPNULLS)",
        "BULK INSERT t FROM 'x' WITH (FORMAT = 'CSV', FIELDQUOTE = '\"', MAXERRORS = 0, BATCHSIZE = 5, KEEPIDENTITY)",
    ]);
}

#[test]
fn transactions_have_optional_names() {
    check(&[
        "BEGIN TRAN",
        "BEGIN TRANSACTION",
        "BEGIN TRAN a",
        "BEGIN TRAN @a",
        "COMMIT",
        "COMMIT WORK",
        "COMMIT TRAN",
        "COMMIT TRANSACTION a",
        "COMMIT TRAN a WITH (DELAYED_DURABILITY = ON)",
        "ROLLBACK",
        "ROLLBACK WORK",
        "ROLLBACK TRAN a",
        "ROLLBACK TRANSACTION @a",
        "SAVE TRAN a",
        "SAVE TRANSACTION @a",
    ]);
}

#[test]
fn procedure_calls_have_every_form() {
    check(&[
        "EXEC p",
        "EXECUTE dbo.p 1, 'a', N'b', 0x01, NULL, -5, +1.5, $2, @a, @b OUTPUT, @c OUT, DEFAULT, word, [other word]",
        "EXEC @rc = db.dbo.p @x = 1, @y = @v OUTPUT, @z = DEFAULT",
        "EXEC @name",
        "EXEC @rc = @name 1",
        "EXEC p;2 1",
        "EXEC p @@SPID WITH RECOMPILE",
        "EXEC ('SELECT 1')",
        "EXEC ('SELECT ' + @v) AS USER = N'it''s'",
        "EXEC (@v) AS LOGIN = N'l'",
        "EXEC (@a + N'x' + @b)",
        "sp_who",
        "sp_help 'dbo.t'",
        "[sys].sp_datatype_info_100 -3, 3",
        "master..sp_who2 @loginame = 'sa'",
        "EXEC sp_executesql N'SELECT @a', N'@a int', @a = 1",
        "{call p}",
        "{call dbo.p (1, @a OUTPUT)}",
        "{@rc = call p()}",
    ]);
}

#[test]
fn selects_have_all_their_clauses() {
    check(&[
        "SELECT 1",
        "(SELECT 1)",
        "SELECT ALL a FROM t",
        "SELECT DISTINCT TOP (10) PERCENT WITH TIES a FROM t ORDER BY a",
        "SELECT TOP 10 * FROM t",
        "SELECT TOP (@n + 1) a FROM t",
        "SELECT a AS x, b y, z = c, 'w' = d, e AS 'v', f 'u', g AS [t s], h \"r\" FROM t",
        "SELECT *, t.*, dbo.t.*, db..t.*, srv.db.dbo.t.*, t.a, dbo.t.a, db.dbo.t.a FROM t",
        "SELECT a INTO #t FROM t",
        "SELECT a FROM t WHERE a = 1 GROUP BY a, b + 1 HAVING COUNT(*) > 1 ORDER BY a DESC, 2 ASC, b COLLATE Latin1_General_BIN",
        "SELECT a FROM t ORDER BY a OFFSET 10 ROWS",
        "SELECT a FROM t ORDER BY a OFFSET @a + 1 ROW FETCH FIRST 5 ROW ONLY",
        "SELECT a FROM t ORDER BY a OFFSET 0 ROWS FETCH NEXT @n ROWS ONLY",
        "SELECT a FROM t OPTION (RECOMPILE, MAXDOP 1, MAXRECURSION 100, HASH JOIN, FORCE ORDER, FAST 10)",
        "SELECT a FROM t OPTION (OPTIMIZE FOR (@a = 1, @b UNKNOWN), USE HINT ('A', 'B'), LABEL = 'x')",
        "SELECT a FROM t OPTION (OPTIMIZE FOR UNKNOWN)",
        "SELECT $IDENTITY, $ROWGUID, IDENTITYCOL FROM t",
        "SELECT GO",
        "SELECT next value, offset, rows, output, cast, iif, parse, at, time, zone, date, window FROM first last",
        "SELECT 1 GO",
        "SELECT a FROM t WHERE (a) = (1) AND ((b = 2) OR (c) > 3)",
        "SELECT CURRENT_TIMESTAMP, CURRENT_USER, SESSION_USER, SYSTEM_USER, USER",
    ]);
}

#[test]
fn sources_are_joined_applied_and_derived() {
    check(&[
        "SELECT * FROM a, b AS c, d e",
        "SELECT * FROM a JOIN b ON a.x = b.x INNER JOIN c ON c.x = b.x",
        "SELECT * FROM a LEFT JOIN b ON 1 = 1 RIGHT OUTER JOIN c ON 2 = 2 FULL JOIN d ON 3 = 3",
        "SELECT * FROM a JOIN b JOIN c ON b.x = c.x ON a.x = b.x",
        "SELECT * FROM a JOIN (b CROSS JOIN c) ON a.x = b.x",
        "SELECT * FROM (a JOIN b ON 1 = 1) JOIN ((c)) ON 2 = 2",
        "SELECT * FROM a INNER HASH JOIN b ON 1 = 1 LEFT OUTER LOOP JOIN c ON 1 = 1 FULL MERGE JOIN d ON 1 = 1",
        "SELECT * FROM a CROSS JOIN b CROSS APPLY f(a.x) AS g OUTER APPLY (SELECT 1 AS y) h",
        "SELECT * FROM (SELECT 1 AS a) AS t",
        "SELECT * FROM (SELECT 1, 2) t (a, b)",
        "SELECT * FROM ((SELECT 1 AS a)) AS t",
        "SELECT * FROM ((SELECT 1 AS a) UNION (SELECT 2)) AS t",
        "SELECT * FROM ((SELECT 1 AS a) AS x CROSS JOIN (SELECT 2 AS b) AS y)",
        "SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t (a, b)",
        "SELECT * FROM f(1, @a, DEFAULT_VALUE) AS t (a), dbo.g() h, fn_x(1)",
        "SELECT * FROM t WITH (NOLOCK), u x WITH (INDEX (1, ix), HOLDLOCK READPAST), v (NOLOCK), w y (TABLOCK, XLOCK)",
        "SELECT * FROM t WITH (INDEX = ix, FORCESEEK (ix (a, b)))",
        "SELECT * FROM @t AS t JOIN @u ON 1 = 1",
        "SELECT * FROM tempdb..#t, ##g, srv.db.dbo.t, srv...u",
        "SELECT * FROM {oj a LEFT OUTER JOIN b ON a.x = b.x}",
        "SELECT st.text FROM sysprocesses AS sp CROSS APPLY sys.dm_exec_sql_text(sp.sql_handle) st WHERE spid IN (56)",
    ]);
}

#[test]
fn queries_are_combined() {
    check(&[
        "SELECT 1 UNION SELECT 2 UNION ALL SELECT 3 EXCEPT SELECT 4",
        "SELECT 1 UNION SELECT 2 INTERSECT SELECT 3",
        "SELECT 1 INTERSECT SELECT 2 INTERSECT SELECT 3 UNION SELECT 4",
        "(SELECT 1 UNION SELECT 2) INTERSECT SELECT 3",
        "SELECT 1 EXCEPT (SELECT 2 EXCEPT SELECT 3)",
        "(SELECT 1) UNION (SELECT 2)",
        "SELECT a FROM t UNION SELECT b FROM u ORDER BY a OFFSET 1 ROWS",
        "WITH a AS (SELECT 1 AS x) SELECT * FROM a",
        "WITH a (x) AS (SELECT 1), b AS (SELECT x FROM a) SELECT * FROM a, b",
        "WITH r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 10) SELECT n FROM r OPTION (MAXRECURSION 10)",
        "WITH XMLNAMESPACES (N'u' AS n, DEFAULT N'it''s') SELECT a FROM t FOR XML PATH",
        "WITH XMLNAMESPACES (N'u' AS [n]), a AS (SELECT 1 AS x) UPDATE a SET x = 1",
        "WITH a AS (SELECT 1 AS x) INSERT INTO t SELECT x FROM a",
        "WITH a AS (SELECT * FROM t) UPDATE a SET x = 1",
        "WITH a AS (SELECT TOP (1) * FROM t ORDER BY x) DELETE FROM a",
    ]);
}

#[test]
fn values_have_every_form() {
    check(&[
        "SELECT 1, 12345678901234567890, 1.5, .5, 5., 1e5, 1.5E-3, 1e, $1.50, $, 0x, 0xAbC, 'it''s', N'x', NULL, ''",
        "SELECT \u{20ac}5, \u{a3}1.5, -$2",
        "SELECT -1, +1, ~1, - -1, -(-1), -(1 + 2), -1 * 2, (-1) * 2, ~(-1), -~1, 1 - -1",
        "SELECT 1 + 2 * 3, (1 + 2) * 3, 1 - (2 - 3), 1 - 2 - 3, 8 / 4 / 2, 8 / (4 / 2), 7 % 3, 1 & 2 | 3 ^ 4",
        "SELECT -100 / -100 * 10, 2 * -3 + 4",
        "SELECT 'a' + 'b' COLLATE Latin1_General_BIN, ('a' + 'b') COLLATE database_default, (~a) COLLATE x FROM t",
        "SELECT CASE WHEN a = 1 THEN 'x' WHEN a > 2 AND b < 3 THEN 'y' ELSE 'z' END FROM t",
        "SELECT CASE a WHEN 1 THEN 2 WHEN 3 THEN 4 END + 5 FROM t",
        "SELECT CAST(a AS int), TRY_CAST(a AS decimal(10, 2)), CONVERT(varchar(max), a), CONVERT(char(8), a, 112) FROM t",
        "SELECT TRY_CONVERT(datetime2(7), a, 121)",
        "SELECT COALESCE(a, b, 1), NULLIF(a, b), ISNULL(a, 0), IIF(a = 1 OR b = 2, 'x', 'y'), CHOOSE(1, 'a', 'b') FROM t",
        "SELECT LEFT(a, 1), RIGHT(a, 2), SUBSTRING(a, 1, 2), UPPER(a), LEN ( a ) FROM t",
        "SELECT DATEADD(day, 1, a), DATEDIFF(s, @a, @b), Datepart(yyyy, GETDATE ()), DATENAME(weekday, a) FROM t",
        "SELECT COUNT(*), COUNT(ALL a), COUNT(DISTINCT a), SUM(a), COUNT_BIG(*), CHECKSUM_AGG(a) FROM t",
        "SELECT dbo.f(1), db.dbo.g(), [x].[y z](a) FROM t",
        "SELECT ROW_NUMBER() OVER (ORDER BY a), RANK() OVER (PARTITION BY a, b ORDER BY c DESC) FROM t",
        "SELECT SUM(a) OVER (ORDER BY b ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM t",
        "SELECT SUM(a) OVER (ORDER BY b ROWS 5 PRECEDING), AVG(a) OVER () FROM t",
        "SELECT SUM(a) OVER (PARTITION BY c ORDER BY b RANGE BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) FROM t",
        "SELECT FIRST_VALUE(a) IGNORE NULLS OVER (ORDER BY b), LAG(a, 1, 0) RESPECT NULLS OVER (ORDER BY b) FROM t",
        "SELECT STRING_AGG(a, ',') WITHIN GROUP (ORDER BY a DESC) FROM t",
        "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a) OVER (PARTITION BY b) FROM t",
        "SELECT {d '2020-01-01'}, {t '12:00:00'}, {ts '2020-01-01 12:00:00'}, {guid '00000000'}",
        "SELECT {fn NOW()}, {fn UCASE(a)}, {fn LEFT(a, 1)}, {fn CONCAT(a, {fn LCASE(b)})}, {fn CONVERT(a, SQL_INTEGER)} FROM t",
        "SELECT @@SPID, @@ROWCOUNT + 1, @@a",
        "SELECT (SELECT 1), ((SELECT 2)) + 1, ((SELECT 3) UNION (SELECT 4))",
        "SELECT 'a\\\nb', 'c\\\r\nd', 'e\\\\\n\nf', 'g\\h', N'\\'",
        "SELECT [a]]b], \"c\"\"d\", [e f], [select] FROM [t]]u]",
    ]);
}

#[test]
fn conditions_have_every_form() {
    check(&[
        "SELECT 1 WHERE a = 1 AND b <> 2 OR c != 3 AND NOT d < 4",
        "SELECT 1 WHERE a > = 1 AND b < = 2 AND c ! = 3 AND d ! < 4 AND e !> 5 AND f < > 6 AND g >= 7",
        "SELECT 1 WHERE (a = 1 AND b = 2) AND c = 3 OR (d = 4 OR e = 5) OR NOT (f = 6 AND g = 7)",
        "SELECT 1 WHERE NOT NOT a = 1",
        "SELECT 1 WHERE a BETWEEN 1 AND 2 AND b NOT BETWEEN 3 + 4 AND 5",
        "SELECT 1 WHERE a IN (1, 2, 3) AND b NOT IN (SELECT c FROM t) AND d IN ((SELECT 1), 2)",
        "SELECT 1 WHERE a IN ((SELECT 1)) OR b IN ((SELECT 1) UNION SELECT 2) OR c IN ((1), (2) + 3)",
        "SELECT 1 WHERE a LIKE 'x%' AND b NOT LIKE @p ESCAPE '!' AND c LIKE {fn CONCAT('a', 'b')}",
        "SELECT 1 WHERE a IS NULL AND b IS NOT NULL AND c + 1 IS NULL",
        "SELECT 1 WHERE a IS DISTINCT FROM b AND c IS NOT DISTINCT FROM NULL",
        "SELECT 1 WHERE EXISTS (SELECT * FROM t) AND NOT EXISTS (SELECT 1)",
        "SELECT 1 WHERE a = ANY (SELECT 1) OR b > ALL (SELECT 2) OR c <= SOME (SELECT 3)",
        "SELECT 1 WHERE ((((a = 1))))",
        "SELECT 1 WHERE ((a)) = ((b)) AND (a + b) * 2 > 1 AND (SELECT 1) = 1 AND ((SELECT 1) + 1) = 2",
        "SELECT 1 WHERE CASE WHEN a = 1 THEN 1 ELSE 0 END = 1",
    ]);
}

#[test]
fn rows_are_inserted() {
    check(&[
        "INSERT INTO t DEFAULT VALUES",
        "INSERT t VALUES (1, DEFAULT, NULL), (2, 'a', @b)",
        "INSERT INTO dbo.t (a, [b c]) VALUES (1, 2)",
        "INSERT t (t.a, dbo.t.b) VALUES (1, 2)",
        "INSERT INTO t SELECT * FROM u ORDER BY a",
        "INSERT INTO t (a) (SELECT 1)",
        "INSERT INTO t (SELECT 1 UNION SELECT 2)",
        "INSERT INTO t ((SELECT 1) UNION SELECT 2)",
        "INSERT TOP (5) INTO t (a) SELECT a FROM u OPTION (RECOMPILE)",
        "INSERT INTO t WITH (TABLOCK) (a) VALUES (1)",
        "INSERT INTO t EXEC p 1",
        "INSERT INTO #t (a) EXEC ('SELECT 1')",
        "INSERT INTO @t VALUES (1)",
        "INSERT INTO t (a) OUTPUT inserted.a, inserted.* INTO @o (x, y) VALUES (1)",
        "INSERT INTO t OUTPUT inserted.a AS x DEFAULT VALUES",
        "INSERT INTO t OUTPUT inserted.a INTO u OUTPUT inserted.b VALUES (1)",
    ]);
}

#[test]
fn rows_are_changed_and_deleted() {
    check(&[
        "UPDATE testtable SET name='SQL Server'",
        "UPDATE TOP (10) dbo.t WITH (ROWLOCK) SET a = 1, b += 2, c = DEFAULT, t.d = NULL WHERE a = 1",
        "UPDATE t SET @v = a = a + 1, @w = 5, @x += 1, @y = b += 1, @z = a + b",
        "UPDATE t SET a = u.b FROM t JOIN u ON t.x = u.x WHERE u.y = 1 OPTION (MAXDOP 1)",
        "UPDATE t SET a = 1 OUTPUT deleted.a, inserted.a INTO #o WHERE b = 2",
        "UPDATE @t SET a = 1",
        "DELETE t",
        "DELETE FROM t WHERE a = 1",
        "DELETE TOP (1) PERCENT FROM t WITH (TABLOCK) OUTPUT deleted.* WHERE a = 1",
        "DELETE FROM a FROM t AS a JOIN u ON a.x = u.x WHERE u.y = 1",
        "DELETE @t WHERE a = 1 OPTION (RECOMPILE)",
        "TRUNCATE TABLE dbo.t",
    ]);
}

#[test]
fn statistics_are_updated() {
    check(&[
        "UPDATE STATISTICS t",
        "UPDATE STATISTICS dbo.t i WITH FULLSCAN, NORECOMPUTE",
        "UPDATE STATISTICS t (i, j) WITH SAMPLE 10 PERCENT",
    ]);
}

#[test]
fn rows_are_merged() {
    check(&[
        "MERGE t USING u ON t.a = u.a WHEN MATCHED THEN UPDATE SET b = 1 WHEN NOT MATCHED THEN INSERT VALUES (1);",
        "WITH c AS (SELECT 1 AS a) MERGE t USING c ON 1 = 1 WHEN MATCHED THEN DELETE;",
        "MERGE TOP (5) PERCENT INTO dbo.t WITH (HOLDLOCK, ROWLOCK) AS x USING (VALUES (1, 2)) AS y (a, b) ON (x.a = y.a) \
         WHEN MATCHED AND x.b > 1 THEN DELETE WHEN MATCHED THEN UPDATE SET x.b = y.b, @v = c += 1 \
         WHEN NOT MATCHED BY TARGET AND y.b = 1 THEN INSERT (a, b) VALUES (y.a, DEFAULT) \
         WHEN NOT MATCHED BY SOURCE AND x.b = 2 THEN UPDATE SET b = DEFAULT WHEN NOT MATCHED BY SOURCE THEN DELETE \
         OUTPUT $action, inserted.*, deleted.a, y.b INTO @log (a, b) OUTPUT $action OPTION (RECOMPILE);",
        "MERGE @t x USING a JOIN b ON a.c = b.c ON x.c = a.c WHEN NOT MATCHED THEN INSERT DEFAULT VALUES;",
        "IF 1 = 1 MERGE t USING u ON 1 = 0 WHEN NOT MATCHED THEN INSERT (a) VALUES (1); ELSE SELECT 1",
    ]);
}

#[test]
fn rows_are_made_of_other_rows() {
    check(&[
        "SELECT a, COUNT(*) FROM t GROUP BY ROLLUP (a, (b, c))",
        "SELECT a, COUNT(*) FROM t GROUP BY a, CUBE (b, c)",
        "SELECT a FROM t GROUP BY GROUPING SETS ((a), (a, b), (), ROLLUP (c))",
        "SELECT COUNT(*) FROM t GROUP BY ()",
        "SELECT a, COUNT(*) FROM t GROUP BY a, (b + 1) * 2 WITH ROLLUP",
        "SELECT a, COUNT(*) FROM t GROUP BY a WITH CUBE HAVING GROUPING(a) = 0 ORDER BY a",
        "SELECT SUM(a) OVER w, COUNT(*) OVER (w ORDER BY b), SUM(a) OVER (partition ORDER BY b) FROM t WINDOW w AS (PARTITION BY c), partition AS (w ROWS 1 PRECEDING)",
        "SELECT * FROM t PIVOT (SUM(a) FOR b IN ([x], [y])) AS p JOIN u ON u.a = p.a",
        "SELECT * FROM (SELECT 1 AS a) s UNPIVOT (a FOR b IN (x, y)) u PIVOT (MAX(a) FOR b IN (z)) AS p",
        "SELECT * FROM (t JOIN u ON t.a = u.a) PIVOT (SUM(a) FOR t.b IN ([x])) AS p",
        "SELECT a FROM t FOR XML PATH('x'), ROOT('y'), TYPE, ELEMENTS XSINIL, BINARY BASE64",
        "SELECT a FROM t ORDER BY a FOR XML RAW, ELEMENTS OPTION (RECOMPILE)",
        "SELECT a FROM t FOR XML AUTO, ELEMENTS ABSENT, ROOT",
        "SELECT 1 AS Tag, NULL AS Parent, a AS [e!1!a] FROM t FOR XML EXPLICIT, TYPE, ROOT('r')",
        "SET @x.modify('delete /a')",
        "UPDATE t SET x.modify('delete /a'), [y z].modify(N'delete /b'), a = 1",
        "SELECT a FROM t FOR JSON AUTO, INCLUDE_NULL_VALUES",
        "SELECT a, (SELECT 1 AS b ORDER BY b FOR JSON PATH, ROOT('r'), WITHOUT_ARRAY_WRAPPER) FROM t FOR JSON PATH",
        "SELECT STUFF((SELECT ',' + a FROM t FOR XML PATH('')), 1, 1, '')",
        "SELECT * FROM OPENJSON (@j, '$.a') WITH (a int '$.a', [b c] nvarchar(max) N'$.b' AS JSON, d varchar(5) COLLATE Latin1_General_BIN2) AS x",
        "SELECT * FROM t CROSS APPLY OPENJSON(t.j) j (k, v, t)",
        "SELECT * FROM OPENROWSET (BULK N'/in/a.txt', SINGLE_NCLOB) AS f (text) JOIN t ON a = f.text",
        "SELECT * FROM OPENROWSET(BULK 'b', single_blob)",
        "SELECT JSON_OBJECT('a': 1, b : JSON_ARRAY(1, NULL, a ABSENT ON NULL) NULL ON NULL), JSON_OBJECT(), JSON_ARRAY(NULL ON NULL), ISJSON(a, VALUE)",
        "SELECT a AT TIME ZONE 'UTC' AT TIME ZONE 'CET' AS b, (-a) AT TIME ZONE ('x' + 'y') COLLATE c FROM t",
        "SELECT PARSE('1' AS int USING 'en-US'), TRY_PARSE('1' AS decimal(5, 2))",
    ]);
    for text in [
        "SELECT a FROM t FOR JSON PATH, ROOT, ROOT",
        "SELECT a FROM t FOR XML PATH, TYPE, TYPE",
        "SELECT a FROM t FOR JSON RAW",
        "SELECT a FROM t FOR JSON PATH, TYPE",
        "SELECT a FROM t FOR XML AUTO('x')",
        "SELECT a FROM t FOR XML EXPLICIT('x')",
        "UPDATE t SET t.x.modify('delete /a')",
        "SELECT JSON_OBJECT('a')",
        "SELECT JSON_ARRAY(1,)",
    ] {
        assert!(selenite_tsql::parse(text, Default::default()).is_err(), "{text}");
    }
}
