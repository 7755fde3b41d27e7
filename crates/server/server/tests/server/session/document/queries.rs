//! Forms of queries, of conditions and of commands to the server, in the order in which they are tried.

use super::Group;

pub const GROUPS: &[Group] = &[
    Group {
        heading: "Queries",
        forms: &[
            ("SELECT without FROM", "SELECT 1 + 1 AS a"),
            ("WHERE, ORDER BY", "SELECT a, b FROM t WHERE a > 1 ORDER BY b DESC"),
            ("DISTINCT", "SELECT DISTINCT a FROM u"),
            ("TOP", "SELECT TOP (1) a FROM t ORDER BY a"),
            ("TOP PERCENT", "SELECT TOP (50) PERCENT a FROM t ORDER BY a"),
            ("TOP WITH TIES", "SELECT TOP (1) WITH TIES a FROM u ORDER BY a"),
            (
                "OFFSET, FETCH",
                "SELECT a FROM t ORDER BY a OFFSET 1 ROWS FETCH NEXT 1 ROWS ONLY",
            ),
            (
                "GROUP BY, HAVING",
                "SELECT a, COUNT(*) AS n FROM u GROUP BY a HAVING COUNT(*) > 1",
            ),
            ("GROUP BY ROLLUP", "SELECT a, COUNT(*) FROM u GROUP BY ROLLUP (a)"),
            ("GROUP BY CUBE", "SELECT a, COUNT(*) FROM u GROUP BY CUBE (a)"),
            (
                "GROUPING SETS",
                "SELECT a, COUNT(*) FROM u GROUP BY GROUPING SETS ((a), ())",
            ),
            (
                "JOIN, LEFT JOIN",
                "SELECT t.a FROM t JOIN u ON u.a = t.a LEFT JOIN w ON w.a = t.a",
            ),
            (
                "RIGHT and FULL JOIN",
                "SELECT t.a FROM t RIGHT JOIN u ON u.a = t.a FULL JOIN w ON w.a = t.a",
            ),
            ("CROSS JOIN", "SELECT t.a FROM t CROSS JOIN u"),
            (
                "CROSS APPLY of a query",
                "SELECT t.a, x.n FROM t CROSS APPLY (SELECT COUNT(*) AS n FROM u WHERE u.a = t.a) x",
            ),
            (
                "OUTER APPLY of a query",
                "SELECT t.a, x.id FROM t OUTER APPLY (SELECT u.id FROM u WHERE u.a = t.a) x",
            ),
            ("derived tables", "SELECT x.a FROM (SELECT a FROM t) AS x"),
            ("VALUES as a table", "SELECT x.a FROM (VALUES (1), (2)) AS x (a)"),
            (
                "subqueries",
                "SELECT (SELECT MAX(a) FROM t) AS m WHERE EXISTS (SELECT 1 FROM u WHERE u.a IN (SELECT a FROM t))",
            ),
            ("ANY, ALL", "SELECT a FROM t WHERE a >= ALL (SELECT a FROM u)"),
            (
                "UNION, INTERSECT, EXCEPT",
                "SELECT a FROM t UNION ALL SELECT a FROM u EXCEPT SELECT 5 INTERSECT SELECT 5",
            ),
            (
                "common table expressions",
                "WITH c AS (SELECT a FROM t) SELECT a FROM c",
            ),
            (
                "recursive ones",
                "WITH c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c WHERE n < 5) SELECT n FROM c",
            ),
            (
                "MAXRECURSION",
                "WITH c AS (SELECT 1 n UNION ALL SELECT n + 1 FROM c WHERE n < 5) SELECT n FROM c OPTION (MAXRECURSION 9)",
            ),
            ("other hints of OPTION", "SELECT a FROM t OPTION (RECOMPILE, MAXDOP 1)"),
            ("hints of tables", "SELECT a FROM t WITH (NOLOCK, INDEX (pk_t))"),
            (
                "windows",
                "SELECT ROW_NUMBER() OVER (PARTITION BY a ORDER BY id) AS n, SUM(a) OVER (ORDER BY id ROWS 1 PRECEDING) FROM u",
            ),
            ("WINDOW", "SELECT SUM(a) OVER ww AS s FROM u WINDOW ww AS (ORDER BY id)"),
            (
                "IGNORE NULLS",
                "SELECT FIRST_VALUE(a) IGNORE NULLS OVER (ORDER BY id) FROM u",
            ),
            ("PIVOT", "SELECT * FROM u PIVOT (SUM(id) FOR a IN ([1], [2])) AS p"),
            ("UNPIVOT", "SELECT * FROM t UNPIVOT (x FOR y IN (a)) AS p"),
            ("FOR XML PATH", "SELECT a FROM t FOR XML PATH('x'), ROOT"),
            (
                "FOR XML RAW, AUTO",
                "SELECT a FROM t FOR XML RAW, ELEMENTS; SELECT a FROM t FOR XML AUTO",
            ),
            (
                "FOR XML EXPLICIT",
                "SELECT 1 AS Tag, NULL AS Parent, a AS [x!1!y] FROM t FOR XML EXPLICIT",
            ),
            (
                "modify() of xml",
                "DECLARE @x xml = '<a/>'; SET @x.modify('insert <b/> into (/a)[1]')",
            ),
            (
                "WITH XMLNAMESPACES",
                "WITH XMLNAMESPACES ('u' AS n) SELECT a FROM t FOR XML PATH",
            ),
            (
                "FOR JSON",
                "SELECT a FROM t FOR JSON AUTO; SELECT a AS [x.a] FROM t FOR JSON PATH, ROOT('r')",
            ),
            ("FOR BROWSE", "SELECT a FROM t FOR BROWSE"),
            ("TABLESAMPLE", "SELECT * FROM t TABLESAMPLE (10 PERCENT)"),
            ("FOR SYSTEM_TIME", "SELECT * FROM t FOR SYSTEM_TIME AS OF '2020-01-01'"),
            ("OPENROWSET", "SELECT * FROM OPENROWSET (BULK 'x', SINGLE_CLOB) AS r"),
            ("OPENQUERY", "SELECT * FROM OPENQUERY (s, 'select 1')"),
            ("STRING_SPLIT", "SELECT value FROM STRING_SPLIT('a,b', ',')"),
            ("OPENJSON", "SELECT [key], value FROM OPENJSON('[1,2]')"),
            (
                "OPENJSON WITH",
                "SELECT a FROM OPENJSON('[{\"a\":1}]') WITH (a int '$.a', b nvarchar(max) AS JSON)",
            ),
            ("GENERATE_SERIES", "SELECT value FROM GENERATE_SERIES(1, 5)"),
            ("names in another database", "SELECT name FROM master.sys.databases"),
            (
                "tables of several databases",
                "SELECT t.a FROM t JOIN master.dbo.sysdatabases d ON d.dbid = t.a LEFT JOIN tempdb.sys.tables x ON x.object_id = d.dbid",
            ),
            ("names on another server", "SELECT a FROM srv.shop.dbo.t"),
        ],
    },
    Group {
        heading: "Values and conditions",
        forms: &[
            (
                "CASE",
                "SELECT CASE a WHEN 1 THEN 'x' ELSE 'y' END, CASE WHEN a > 1 THEN 1 END FROM t",
            ),
            (
                "CAST, CONVERT",
                "SELECT CAST('1' AS int), CONVERT(varchar(10), GETDATE(), 112)",
            ),
            (
                "TRY_CAST, TRY_CONVERT",
                "SELECT TRY_CAST('x' AS int), TRY_CONVERT(date, 'x')",
            ),
            ("PARSE, TRY_PARSE", "SELECT TRY_PARSE('1' AS int)"),
            ("LIKE, ESCAPE", "SELECT a FROM t WHERE b LIKE N'%[a-o]_!%' ESCAPE N'!'"),
            (
                "BETWEEN, IN, IS NULL",
                "SELECT a FROM t WHERE a BETWEEN 1 AND 2 AND a IN (1, 2) AND b IS NOT NULL",
            ),
            ("IS DISTINCT FROM", "SELECT a FROM t WHERE b IS DISTINCT FROM N'x'"),
            (
                "COLLATE",
                "SELECT a FROM t WHERE b = N'ONE' COLLATE Latin1_General_BIN2",
            ),
            ("bits", "SELECT 5 & 3, 5 | 3, 5 ^ 3, ~5"),
            ("shifts", "SELECT 1 << 3, 8 >> 1"),
            ("AT TIME ZONE", "SELECT GETDATE() AT TIME ZONE 'UTC'"),
            (
                "ODBC's constants",
                "SELECT {d '2020-01-01'}, {ts '2020-01-01 00:00:00'}, {fn CONCAT('a', 'b')}",
            ),
            ("NEXT VALUE FOR", "SELECT NEXT VALUE FOR dbo.sq"),
            (
                "methods of values",
                "DECLARE @x xml = '<a>1</a>'; SELECT @x.value('(/a)[1]', 'int') AS a",
            ),
            ("CONTAINS, FREETEXT", "SELECT a FROM t WHERE CONTAINS (b, 'x')"),
            (
                "CURRENT_TIMESTAMP and related ones",
                "SELECT CURRENT_TIMESTAMP, SYSTEM_USER, SESSION_USER, USER",
            ),
        ],
    },
    Group {
        heading: "The server",
        forms: &[
            ("CHECKPOINT", "CHECKPOINT"),
            ("DBCC CHECKDB", "DBCC CHECKDB"),
            (
                "WITH PHYSICAL_ONLY",
                "DBCC CHECKDB ('shop') WITH PHYSICAL_ONLY, NO_INFOMSGS",
            ),
            ("DBCC DROPCLEANBUFFERS", "DBCC DROPCLEANBUFFERS"),
            ("DBCC SQLPERF, CLEAR", "DBCC SQLPERF('sys.dm_os_wait_stats', CLEAR)"),
            ("DBCC FREESYSTEMCACHE", "DBCC FREESYSTEMCACHE ('ALL')"),
            ("DBCC FREEPROCCACHE", "DBCC FREEPROCCACHE"),
            ("DBCC CHECKCONSTRAINTS", "DBCC CHECKCONSTRAINTS WITH ALL_CONSTRAINTS"),
            ("DBCC CHECKIDENT", "DBCC CHECKIDENT ('u', RESEED, 100)"),
            ("DBCC TRACEON", "DBCC TRACEON (3604, -1)"),
            ("RECONFIGURE", "RECONFIGURE"),
            ("KILL of a session that there is not", "KILL 9999"),
            ("ALTER AUTHORIZATION", "ALTER AUTHORIZATION ON t TO SCHEMA OWNER"),
            ("SHUTDOWN", "SHUTDOWN WITH NOWAIT"),
        ],
    },
];
