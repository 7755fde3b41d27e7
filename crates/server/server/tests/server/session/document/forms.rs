//! Forms of statements, in the order in which they are tried: one may need what an earlier one made.

use super::Group;

pub const GROUPS: &[Group] = &[
    Group {
        heading: "Control of flow, variables and messages",
        forms: &[
            ("BEGIN .. END", "BEGIN SELECT 1 AS a; SELECT 2 AS b END"),
            ("IF .. ELSE", "IF 1 = 2 PRINT 'a' ELSE PRINT 'b'"),
            (
                "WHILE, BREAK, CONTINUE",
                "WHILE 1 = 1 BEGIN IF 1 = 2 CONTINUE; BREAK END",
            ),
            ("GOTO and labels", "GOTO done; SELECT 1 AS a; done: PRINT 'x'"),
            ("RETURN", "RETURN"),
            (
                "TRY .. CATCH",
                "BEGIN TRY SELECT 1 / 0 END TRY BEGIN CATCH SELECT ERROR_NUMBER() END CATCH",
            ),
            (
                "THROW",
                "BEGIN TRY THROW 50001, N'x', 1 END TRY BEGIN CATCH PRINT ERROR_MESSAGE() END CATCH",
            ),
            ("RAISERROR", "RAISERROR ('%s: %d', 10, 1, 'x', 5) WITH NOWAIT"),
            ("PRINT", "PRINT 'x'"),
            ("WAITFOR DELAY", "WAITFOR DELAY '00:00:00'"),
            ("WAITFOR RECEIVE", "WAITFOR (RECEIVE * FROM q), TIMEOUT 500"),
            ("DECLARE with values", "DECLARE @a int = 1, @b nvarchar(20) = N'x'"),
            (
                "DECLARE of a table",
                "DECLARE @t TABLE (a int PRIMARY KEY); INSERT @t VALUES (1); SELECT a FROM @t",
            ),
            ("DECLARE of a cursor", "DECLARE c CURSOR FOR SELECT a FROM t"),
            (
                "OPEN, FETCH, CLOSE and DEALLOCATE",
                "DECLARE l CURSOR LOCAL FOR SELECT a FROM t; OPEN l; FETCH NEXT FROM l; CLOSE l; DEALLOCATE l",
            ),
            (
                "SET of a cursor variable",
                "DECLARE @c CURSOR; SET @c = CURSOR SCROLL FOR SELECT a FROM t; OPEN @c; FETCH LAST FROM @c",
            ),
            (
                "FOR UPDATE of a cursor, WHERE CURRENT OF",
                "DECLARE u CURSOR FOR SELECT a FROM t FOR UPDATE OF a; OPEN u; FETCH u; UPDATE t SET a = a WHERE CURRENT OF u",
            ),
            ("SET of a variable", "DECLARE @a int; SET @a = 1; SET @a += 2"),
            ("SELECT into variables", "DECLARE @a int; SELECT @a = a FROM t"),
            ("SET of an option", "SET NOCOUNT OFF"),
            ("USE", "USE shop"),
        ],
    },
    Group {
        heading: "Procedures and texts",
        forms: &[
            (
                "CREATE PROCEDURE",
                "CREATE PROCEDURE q @a int = 1, @b int OUTPUT AS SET @b = @a; RETURN 5",
            ),
            ("ALTER PROCEDURE", "ALTER PROCEDURE q AS SELECT 1 AS a"),
            ("CREATE OR ALTER PROCEDURE", "CREATE OR ALTER PROCEDURE q AS RETURN 1"),
            (
                "WITH ENCRYPTION of a procedure",
                "CREATE PROCEDURE q2 WITH ENCRYPTION AS RETURN 1",
            ),
            (
                "EXEC of a procedure",
                "DECLARE @r int, @y int; EXEC @r = p 1, @y OUTPUT",
            ),
            ("EXEC with names", "EXEC p @y = 1, @x = DEFAULT"),
            ("a call without EXEC", "p 1"),
            ("the ODBC call", "{call p (1)}"),
            ("EXEC of a text", "EXEC ('SELECT 1 AS a')"),
            ("EXEC of a text elsewhere", "EXEC ('SELECT 1') AT srv"),
            ("EXEC WITH RECOMPILE", "EXEC p WITH RECOMPILE"),
            ("WITH RESULT SETS", "EXEC p 1 WITH RESULT SETS ((a int))"),
            ("EXECUTE AS", "EXECUTE AS USER = 'dbo'"),
            ("EXECUTE (..) AS", "EXECUTE ('SELECT 1') AS USER = 'dbo'"),
            ("REVERT", "REVERT"),
            (
                "WITH EXECUTE AS of a procedure",
                "CREATE PROCEDURE q4 WITH EXECUTE AS OWNER AS RETURN 1",
            ),
            ("DROP PROCEDURE", "DROP PROCEDURE IF EXISTS q, q2, q4"),
            (
                "CREATE FUNCTION",
                "CREATE FUNCTION f (@a int) RETURNS int AS BEGIN RETURN @a END",
            ),
            (
                "ALTER FUNCTION",
                "ALTER FUNCTION f (@a int) RETURNS int AS BEGIN RETURN -@a END",
            ),
            ("a call of a function", "SELECT dbo.f(1) AS a"),
            (
                "an inline function",
                "CREATE FUNCTION fi (@a int) RETURNS TABLE AS RETURN (SELECT @a AS a)",
            ),
            (
                "a function of several statements",
                "CREATE FUNCTION ft (@a int) RETURNS @r TABLE (a int) AS BEGIN INSERT @r VALUES (@a) RETURN END",
            ),
            (
                "functions in FROM",
                "SELECT x.a FROM dbo.fi(1) AS x CROSS APPLY dbo.ft(x.a) AS y",
            ),
            (
                "WITH ENCRYPTION of a function",
                "CREATE FUNCTION fe () RETURNS int WITH ENCRYPTION AS BEGIN RETURN 1 END",
            ),
            ("DROP FUNCTION", "DROP FUNCTION IF EXISTS f, fi, ft"),
            ("CREATE TRIGGER", "CREATE TRIGGER tr ON t AFTER INSERT AS SELECT 1"),
            ("sp_settriggerorder", "EXEC sp_settriggerorder 'tr', 'First', 'INSERT'"),
            (
                "CREATE TRIGGER INSTEAD OF",
                "CREATE TRIGGER tr2 ON t INSTEAD OF DELETE AS SELECT 1",
            ),
            (
                "CREATE TRIGGER on a view",
                "CREATE TRIGGER tr3 ON v INSTEAD OF DELETE AS SELECT 1",
            ),
            (
                "DDL triggers",
                "CREATE TRIGGER tr4 ON DATABASE FOR CREATE_TABLE AS SELECT 1",
            ),
            ("ALTER TRIGGER", "ALTER TRIGGER tr ON t AFTER INSERT AS SELECT 2"),
            ("DISABLE TRIGGER", "DISABLE TRIGGER tr ON t"),
            ("ENABLE TRIGGER", "ENABLE TRIGGER ALL ON t"),
            ("DROP TRIGGER", "DROP TRIGGER tr, tr2"),
        ],
    },
    Group {
        heading: "Transactions",
        forms: &[
            ("BEGIN, COMMIT", "BEGIN TRANSACTION a; COMMIT TRANSACTION"),
            ("ROLLBACK", "BEGIN TRAN; ROLLBACK"),
            (
                "SAVE and ROLLBACK to it",
                "BEGIN TRAN; SAVE TRAN s; ROLLBACK TRAN s; COMMIT",
            ),
            (
                "DELAYED_DURABILITY",
                "BEGIN TRAN; COMMIT WITH (DELAYED_DURABILITY = ON)",
            ),
            ("WITH MARK", "BEGIN TRAN m WITH MARK 'x'"),
            ("BEGIN DISTRIBUTED TRANSACTION", "BEGIN DISTRIBUTED TRAN"),
        ],
    },
    Group {
        heading: "Changes",
        forms: &[
            ("INSERT of values", "INSERT INTO w (a, b) VALUES (1, 'a'), (2, DEFAULT)"),
            ("INSERT of a query", "INSERT w SELECT a, b FROM t WHERE a > 1"),
            ("INSERT DEFAULT VALUES", "INSERT u DEFAULT VALUES"),
            ("INSERT of a procedure's rows", "INSERT w EXEC p 1"),
            ("INSERT TOP", "INSERT TOP (1) w SELECT a, b FROM t"),
            ("UPDATE", "UPDATE w SET b = 'c', a += 1 WHERE a = 1"),
            ("UPDATE FROM", "UPDATE w SET b = t.b FROM w JOIN t ON t.a = w.a"),
            ("UPDATE TOP", "UPDATE TOP (1) w SET a = 5"),
            ("INSERT through a view", "INSERT v (a, b) VALUES (50, N'fifty')"),
            ("UPDATE through a view", "UPDATE v SET b = b"),
            ("UPDATE of a variable too", "DECLARE @a int; UPDATE w SET @a = a = 1"),
            ("DELETE", "DELETE FROM w WHERE a = 1"),
            ("DELETE FROM with a join", "DELETE w FROM w JOIN t ON t.a = w.a"),
            ("DELETE TOP", "DELETE TOP (1) FROM w"),
            ("OUTPUT", "INSERT w (a) OUTPUT inserted.a VALUES (1)"),
            ("OUTPUT INTO", "DELETE w OUTPUT deleted.a, deleted.b INTO w"),
            ("TRUNCATE TABLE", "TRUNCATE TABLE w"),
            ("MERGE", "MERGE w USING t ON t.a = w.a WHEN MATCHED THEN DELETE;"),
            ("BULK INSERT", "BULK INSERT w FROM 'x'"),
            (
                "BULK INSERT of CSV",
                "BULK INSERT w FROM 'x' WITH (FORMAT = 'CSV', FIELDTERMINATOR = '\\t', FIRSTROW = 2)",
            ),
            (
                "BULK INSERT with a format file",
                "BULK INSERT w FROM 'x' WITH (FORMATFILE = 'f')",
            ),
            ("INSERT BULK", "INSERT BULK w (a int) WITH (KEEP_NULLS, TABLOCK)"),
            ("SELECT INTO", "SELECT a, b INTO made FROM t"),
            ("READTEXT", "READTEXT w.b @p 0 1"),
            ("UPDATE STATISTICS", "UPDATE STATISTICS w"),
        ],
    },
    Group {
        heading: "Definitions",
        forms: &[
            (
                "CREATE TABLE",
                "CREATE TABLE x (a int IDENTITY(1, 1) PRIMARY KEY, b varchar(10) NOT NULL DEFAULT 'x')",
            ),
            (
                "CHECK and UNIQUE",
                "CREATE TABLE y (a int UNIQUE CHECK (a > 0), b int, CONSTRAINT k UNIQUE (a, b))",
            ),
            (
                "FOREIGN KEY",
                "CREATE TABLE z (a int REFERENCES t (a) ON DELETE CASCADE)",
            ),
            ("computed columns", "CREATE TABLE z2 (a int, b AS a + 1)"),
            (
                "COLLATE of a column",
                "CREATE TABLE z3 (a varchar(10) COLLATE Latin1_General_BIN2)",
            ),
            ("temporary tables", "CREATE TABLE #x (a int); DROP TABLE #x"),
            ("global temporary tables", "CREATE TABLE ##x (a int)"),
            (
                "ROWGUIDCOL",
                "CREATE TABLE z4 (a uniqueidentifier ROWGUIDCOL DEFAULT NEWID())",
            ),
            ("SPARSE", "CREATE TABLE z5 (a int SPARSE NULL)"),
            (
                "CREATE TABLE WITH",
                "CREATE TABLE z6 (a int) WITH (MEMORY_OPTIMIZED = ON)",
            ),
            (
                "PERIOD FOR SYSTEM_TIME",
                "CREATE TABLE z7 (a int, PERIOD FOR SYSTEM_TIME (b, c))",
            ),
            (
                "ALTER TABLE ADD",
                "ALTER TABLE x ADD c int NULL, d int NOT NULL CONSTRAINT df DEFAULT 0",
            ),
            (
                "ALTER TABLE ADD CONSTRAINT",
                "ALTER TABLE x ADD CONSTRAINT ck CHECK (c > 0)",
            ),
            ("ALTER TABLE DROP CONSTRAINT", "ALTER TABLE x DROP CONSTRAINT ck"),
            ("ALTER TABLE ALTER COLUMN", "ALTER TABLE x ALTER COLUMN c bigint NULL"),
            ("ALTER TABLE DROP COLUMN", "ALTER TABLE x DROP COLUMN c"),
            ("CHECK and NOCHECK CONSTRAINT", "ALTER TABLE z NOCHECK CONSTRAINT ALL"),
            ("ALTER TABLE REBUILD", "ALTER TABLE x REBUILD"),
            ("ALTER TABLE SWITCH", "ALTER TABLE x SWITCH TO y"),
            ("CREATE INDEX", "CREATE UNIQUE NONCLUSTERED INDEX i_x ON x (b, a DESC)"),
            ("INCLUDE", "CREATE INDEX i_include ON x (b) INCLUDE (d)"),
            (
                "a filter of IS [NOT] NULL",
                "CREATE INDEX i_filter ON y (a) WHERE b IS NOT NULL",
            ),
            ("any other filter", "CREATE INDEX i_other ON y (a) WHERE b > 5"),
            (
                "IGNORE_DUP_KEY",
                "CREATE UNIQUE INDEX i_ignore ON x (b) WITH (IGNORE_DUP_KEY = ON)",
            ),
            ("CREATE COLUMNSTORE INDEX", "CREATE CLUSTERED COLUMNSTORE INDEX cc ON x"),
            ("ALTER INDEX REBUILD", "ALTER INDEX i_x ON x REBUILD"),
            ("ALTER INDEX REORGANIZE", "ALTER INDEX ALL ON x REORGANIZE"),
            ("ALTER INDEX DISABLE", "ALTER INDEX i_x ON x DISABLE"),
            ("DROP INDEX", "DROP INDEX i_x ON x"),
            ("CREATE STATISTICS", "CREATE STATISTICS s ON x (b)"),
            (
                "WHERE of CREATE STATISTICS",
                "CREATE STATISTICS s1 ON x (b) WHERE b > 1",
            ),
            ("DROP STATISTICS", "DROP STATISTICS x.s"),
            ("CREATE VIEW", "CREATE VIEW vv (a) AS SELECT a FROM t"),
            ("ALTER VIEW", "ALTER VIEW vv AS SELECT b FROM t"),
            (
                "WITH CHECK OPTION",
                "CREATE VIEW vv2 AS SELECT a FROM t WITH CHECK OPTION",
            ),
            (
                "WITH SCHEMABINDING",
                "CREATE VIEW vv3 WITH SCHEMABINDING AS SELECT a FROM dbo.t",
            ),
            ("DROP VIEW", "DROP VIEW vv"),
            ("DROP TABLE", "DROP TABLE IF EXISTS x, z"),
            ("CREATE SCHEMA", "CREATE SCHEMA s"),
            (
                "elements of CREATE SCHEMA",
                "CREATE SCHEMA s2 AUTHORIZATION dbo CREATE TABLE st (a int) CREATE VIEW sv AS SELECT a FROM st",
            ),
            ("ALTER SCHEMA", "ALTER SCHEMA s TRANSFER s2.sv"),
            ("DROP SCHEMA", "DROP VIEW s.sv DROP SCHEMA s"),
            ("CREATE TYPE of a table", "CREATE TYPE tt AS TABLE (a int)"),
            (
                "CREATE TYPE of another type",
                "CREATE TYPE ph FROM varchar(20) NOT NULL",
            ),
            ("DECLARE of a table type", "DECLARE @t dbo.tt; INSERT @t VALUES (1)"),
            (
                "a table-valued parameter",
                "CREATE PROCEDURE q3 @t dbo.tt READONLY AS RETURN 1",
            ),
            ("DROP TYPE", "DROP PROCEDURE q3 DROP TYPE IF EXISTS dbo.tt DROP TYPE ph"),
            ("CREATE SYNONYM", "CREATE SYNONYM sy FOR dbo.t"),
            ("DROP SYNONYM", "DROP SYNONYM sy"),
            ("CREATE SEQUENCE", "CREATE SEQUENCE sq START WITH 1"),
            ("ALTER SEQUENCE", "ALTER SEQUENCE sq RESTART WITH 5 INCREMENT BY 2"),
            ("CREATE FULLTEXT INDEX", "CREATE FULLTEXT INDEX ON t (b) KEY INDEX pk_t"),
            (
                "CREATE PARTITION FUNCTION",
                "CREATE PARTITION FUNCTION pf (int) AS RANGE LEFT FOR VALUES (1)",
            ),
        ],
    },
    Group {
        heading: "Databases, encryption and backups",
        forms: &[
            ("CREATE DATABASE", "CREATE DATABASE other"),
            (
                "files of CREATE DATABASE",
                "CREATE DATABASE sized ON PRIMARY (NAME = a, FILENAME = 'C:\\a.mdf', SIZE = 100MB)",
            ),
            (
                "CREATE DATABASE FOR ATTACH",
                "CREATE DATABASE d ON (FILENAME = 'x') FOR ATTACH",
            ),
            (
                "CREATE MASTER KEY",
                "USE master; CREATE MASTER KEY ENCRYPTION BY PASSWORD = '$ql$h@ck@12'",
            ),
            (
                "OPEN MASTER KEY",
                "USE master; OPEN MASTER KEY DECRYPTION BY PASSWORD = '$ql$h@ck@12'",
            ),
            ("CLOSE MASTER KEY", "USE master; CLOSE MASTER KEY"),
            (
                "ALTER MASTER KEY",
                "USE master; ALTER MASTER KEY REGENERATE WITH ENCRYPTION BY PASSWORD = '$ql$h@ck@12'",
            ),
            (
                "BACKUP MASTER KEY",
                "USE master; BACKUP MASTER KEY TO FILE = 'k' ENCRYPTION BY PASSWORD = '$ql$h@ck@12'",
            ),
            (
                "RESTORE MASTER KEY",
                "USE master; RESTORE MASTER KEY FROM FILE = 'k' DECRYPTION BY PASSWORD = '$ql$h@ck@12' ENCRYPTION BY PASSWORD = \
                 '$ql$h@ck@12'",
            ),
            (
                "DROP MASTER KEY",
                "USE master; DROP MASTER KEY; CREATE MASTER KEY ENCRYPTION BY PASSWORD = '$ql$h@ck@12'",
            ),
            (
                "CREATE CERTIFICATE",
                "USE master; CREATE CERTIFICATE ct WITH SUBJECT = 'x'",
            ),
            (
                "BACKUP CERTIFICATE",
                "USE master; BACKUP CERTIFICATE ct TO FILE = 'ct.cer'",
            ),
            (
                "CREATE DATABASE ENCRYPTION KEY",
                "CREATE DATABASE ENCRYPTION KEY WITH ALGORITHM = AES_256 ENCRYPTION BY SERVER CERTIFICATE ct",
            ),
            (
                "ALTER DATABASE ENCRYPTION KEY",
                "ALTER DATABASE ENCRYPTION KEY REGENERATE WITH ALGORITHM = AES_128",
            ),
            ("SET ENCRYPTION ON", "ALTER DATABASE shop SET ENCRYPTION ON"),
            ("SET ENCRYPTION SUSPEND", "ALTER DATABASE shop SET ENCRYPTION SUSPEND"),
            ("SET ENCRYPTION RESUME", "ALTER DATABASE shop SET ENCRYPTION RESUME"),
            ("SET ENCRYPTION OFF", "ALTER DATABASE shop SET ENCRYPTION OFF"),
            (
                "DROP DATABASE ENCRYPTION KEY",
                "USE other; CREATE DATABASE ENCRYPTION KEY WITH ALGORITHM = AES_128 ENCRYPTION BY SERVER CERTIFICATE ct; \
                 DROP DATABASE ENCRYPTION KEY",
            ),
            ("SET RECOVERY", "ALTER DATABASE other SET RECOVERY SIMPLE"),
            ("SET RECOVERY FULL", "ALTER DATABASE other SET RECOVERY FULL"),
            (
                "SET RECURSIVE_TRIGGERS",
                "ALTER DATABASE other SET RECURSIVE_TRIGGERS ON",
            ),
            ("SET READ_ONLY", "ALTER DATABASE other SET READ_ONLY WITH NO_WAIT"),
            ("SET READ_WRITE", "ALTER DATABASE other SET READ_WRITE"),
            ("SET OFFLINE", "ALTER DATABASE other SET OFFLINE WITH ROLLBACK AFTER 5"),
            ("SET ONLINE", "ALTER DATABASE other SET ONLINE"),
            (
                "SET ANSI_NULLS and others",
                "ALTER DATABASE other SET ANSI_NULLS OFF, AUTO_CLOSE OFF, TRUSTWORTHY OFF",
            ),
            (
                "SET READ_COMMITTED_SNAPSHOT",
                "ALTER DATABASE other SET READ_COMMITTED_SNAPSHOT ON",
            ),
            (
                "SET COMPATIBILITY_LEVEL",
                "ALTER DATABASE other SET COMPATIBILITY_LEVEL = 150",
            ),
            (
                "SET SINGLE_USER",
                "ALTER DATABASE other SET SINGLE_USER WITH ROLLBACK IMMEDIATE",
            ),
            ("SET RESTRICTED_USER", "ALTER DATABASE other SET RESTRICTED_USER"),
            ("SET MULTI_USER", "ALTER DATABASE other SET MULTI_USER"),
            ("SET QUERY_STORE", "ALTER DATABASE other SET QUERY_STORE = ON"),
            ("MODIFY NAME", "ALTER DATABASE sized MODIFY NAME = renamed"),
            ("BACKUP DATABASE", "BACKUP DATABASE other TO DISK = 'other.bak'"),
            ("BACKUP LOG", "BACKUP LOG other TO DISK = 'other.trn'"),
            ("RESTORE VERIFYONLY", "RESTORE VERIFYONLY FROM DISK = 'other.bak'"),
            ("RESTORE HEADERONLY", "RESTORE HEADERONLY FROM DISK = 'other.bak'"),
            ("RESTORE FILELISTONLY", "RESTORE FILELISTONLY FROM DISK = 'other.bak'"),
            (
                "RESTORE DATABASE",
                "RESTORE DATABASE other FROM DISK = 'other.bak' WITH REPLACE",
            ),
            (
                "DROP CERTIFICATE",
                "USE master; CREATE CERTIFICATE gone WITH SUBJECT = 'x'; DROP CERTIFICATE gone",
            ),
            ("DROP DATABASE", "DROP DATABASE other"),
            (
                "CREATE CRYPTOGRAPHIC PROVIDER",
                "CREATE CRYPTOGRAPHIC PROVIDER hsm FROM FILE = '/usr/lib/hsm.so'",
            ),
            (
                "ALTER CRYPTOGRAPHIC PROVIDER",
                "ALTER CRYPTOGRAPHIC PROVIDER hsm DISABLE",
            ),
            (
                "CREATE CREDENTIAL for a provider",
                "CREATE CREDENTIAL cr WITH IDENTITY = 'i', SECRET = 's' FOR CRYPTOGRAPHIC PROVIDER hsm",
            ),
            (
                "CREATE CREDENTIAL",
                "CREATE CREDENTIAL cr WITH IDENTITY = 'i', SECRET = 's'",
            ),
            ("ALTER CREDENTIAL", "ALTER CREDENTIAL cr WITH IDENTITY = 'i'"),
            ("ALTER LOGIN ADD CREDENTIAL", "ALTER LOGIN sa ADD CREDENTIAL cr"),
            (
                "CREATE ASYMMETRIC KEY, existing",
                "USE master; CREATE ASYMMETRIC KEY k FROM PROVIDER hsm WITH PROVIDER_KEY_NAME = 'tde', CREATION_DISPOSITION = \
                 OPEN_EXISTING",
            ),
            (
                "CREATE ASYMMETRIC KEY, new",
                "USE master; CREATE ASYMMETRIC KEY k FROM PROVIDER hsm WITH PROVIDER_KEY_NAME = 'tde', ALGORITHM = RSA_2048",
            ),
            (
                "CREATE ASYMMETRIC KEY, no provider",
                "USE master; CREATE ASYMMETRIC KEY k WITH ALGORITHM = RSA_2048",
            ),
            (
                "ENCRYPTION BY SERVER ASYMMETRIC KEY",
                "ALTER DATABASE ENCRYPTION KEY ENCRYPTION BY SERVER ASYMMETRIC KEY k",
            ),
            ("DROP ASYMMETRIC KEY", "USE master; DROP ASYMMETRIC KEY k"),
            (
                "DROP ASYMMETRIC KEY REMOVE PROVIDER KEY",
                "USE master; DROP ASYMMETRIC KEY k REMOVE PROVIDER KEY",
            ),
        ],
    },
    Group {
        heading: "Keys that encrypt values",
        forms: KEYS,
    },
    Group {
        heading: "Logins, users and permissions",
        forms: &[
            ("CREATE LOGIN", "CREATE LOGIN l WITH PASSWORD = 'Passw0rd!x'"),
            ("CREATE LOGIN FROM WINDOWS", "CREATE LOGIN [a\\b] FROM WINDOWS"),
            ("ALTER LOGIN, password", "ALTER LOGIN l WITH PASSWORD = 'An0therOne!'"),
            ("ALTER LOGIN DISABLE", "ALTER LOGIN l DISABLE"),
            ("CREATE USER", "CREATE USER us FOR LOGIN l"),
            ("CREATE USER WITHOUT LOGIN", "CREATE USER us2 WITHOUT LOGIN"),
            ("ALTER USER", "ALTER USER us WITH NAME = us3"),
            ("CREATE ROLE", "CREATE ROLE r"),
            ("ALTER ROLE", "ALTER ROLE db_owner ADD MEMBER us3"),
            ("ALTER SERVER ROLE", "ALTER SERVER ROLE sysadmin ADD MEMBER l"),
            ("CREATE SERVER ROLE", "CREATE SERVER ROLE sr"),
            ("DROP SERVER ROLE", "DROP SERVER ROLE sr"),
            ("GRANT on the server", "USE master; GRANT VIEW SERVER STATE TO l"),
            (
                "GRANT IMPERSONATE on a login",
                "USE master; CREATE LOGIN l3 WITH PASSWORD = 'Str0ng-and-long'; GRANT IMPERSONATE ON LOGIN::l TO l3",
            ),
            ("GRANT", "GRANT SELECT ON dbo.t TO us3"),
            ("GRANT on columns", "GRANT SELECT (a) ON dbo.t TO us3"),
            (
                "GRANT WITH GRANT OPTION",
                "GRANT INSERT ON dbo.t TO us3 WITH GRANT OPTION",
            ),
            ("GRANT IMPERSONATE", "GRANT IMPERSONATE ON USER::us3 TO r"),
            ("DENY", "DENY UPDATE ON dbo.t TO us3"),
            ("REVOKE", "REVOKE SELECT ON dbo.t FROM us3"),
            ("REVOKE CASCADE", "REVOKE INSERT ON dbo.t FROM us3 CASCADE"),
            ("DROP USER", "DROP USER us3"),
            ("DROP LOGIN", "DROP LOGIN l"),
        ],
    },
];

/// In a database of users.
const KEYS: &[(&str, &str)] = &[
    (
        "CREATE MASTER KEY",
        "CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'Passw0rd!x'",
    ),
    (
        "ALTER MASTER KEY ADD ENCRYPTION",
        "ALTER MASTER KEY ADD ENCRYPTION BY PASSWORD = 'An0therOne!'",
    ),
    (
        "ALTER MASTER KEY DROP ENCRYPTION",
        "ALTER MASTER KEY DROP ENCRYPTION BY SERVICE MASTER KEY",
    ),
    (
        "OPEN MASTER KEY",
        "OPEN MASTER KEY DECRYPTION BY PASSWORD = 'Passw0rd!x'",
    ),
    (
        "ALTER MASTER KEY REGENERATE",
        "ALTER MASTER KEY REGENERATE WITH ENCRYPTION BY PASSWORD = 'Passw0rd!x'",
    ),
    (
        "ALTER MASTER KEY FORCE REGENERATE",
        "ALTER MASTER KEY FORCE REGENERATE WITH ENCRYPTION BY PASSWORD = 'Passw0rd!x'",
    ),
    (
        "BACKUP MASTER KEY",
        "BACKUP MASTER KEY TO FILE = 'dmk' ENCRYPTION BY PASSWORD = 'Passw0rd!x'",
    ),
    (
        "CREATE CERTIFICATE",
        "OPEN MASTER KEY DECRYPTION BY PASSWORD = 'Passw0rd!x'; CREATE CERTIFICATE cv WITH SUBJECT = 'x'",
    ),
    (
        "CREATE CERTIFICATE ENCRYPTION BY PASSWORD",
        "CREATE CERTIFICATE cp ENCRYPTION BY PASSWORD = 'Passw0rd!x' WITH SUBJECT = 'x'",
    ),
    (
        "CREATE CERTIFICATE FROM FILE",
        "CREATE CERTIFICATE cf FROM FILE = 'c.cer'",
    ),
    (
        "ALTER CERTIFICATE WITH PRIVATE KEY",
        "ALTER CERTIFICATE cp WITH PRIVATE KEY (DECRYPTION BY PASSWORD = 'Passw0rd!x', ENCRYPTION BY PASSWORD = 'An0therOne!')",
    ),
    (
        "ALTER CERTIFICATE REMOVE PRIVATE KEY",
        "ALTER CERTIFICATE cp REMOVE PRIVATE KEY",
    ),
    ("BACKUP CERTIFICATE", "BACKUP CERTIFICATE cv TO FILE = 'cv.cer'"),
    (
        "CREATE ASYMMETRIC KEY",
        "CREATE ASYMMETRIC KEY av WITH ALGORITHM = RSA_2048 ENCRYPTION BY PASSWORD = 'Passw0rd!x'",
    ),
    (
        "CREATE ASYMMETRIC KEY, deprecated",
        "CREATE ASYMMETRIC KEY ad WITH ALGORITHM = RSA_1024 ENCRYPTION BY PASSWORD = 'Passw0rd!x'",
    ),
    (
        "ALTER ASYMMETRIC KEY WITH PRIVATE KEY",
        "ALTER ASYMMETRIC KEY av WITH PRIVATE KEY (DECRYPTION BY PASSWORD = 'Passw0rd!x', ENCRYPTION BY PASSWORD = 'An0therOne!')",
    ),
    (
        "CREATE SYMMETRIC KEY",
        "CREATE SYMMETRIC KEY kv WITH ALGORITHM = AES_256 ENCRYPTION BY PASSWORD = 'Passw0rd!x', CERTIFICATE cp",
    ),
    (
        "CREATE SYMMETRIC KEY WITH KEY_SOURCE, IDENTITY_VALUE",
        "CREATE SYMMETRIC KEY ks WITH ALGORITHM = AES_256, KEY_SOURCE = 'a', IDENTITY_VALUE = 'b' ENCRYPTION BY PASSWORD = \
         'Passw0rd!x'",
    ),
    (
        "CREATE SYMMETRIC KEY, deprecated",
        "CREATE SYMMETRIC KEY kd WITH ALGORITHM = TRIPLE_DES ENCRYPTION BY PASSWORD = 'Passw0rd!x'",
    ),
    (
        "CREATE SYMMETRIC KEY, temporary",
        "CREATE SYMMETRIC KEY #kt WITH ALGORITHM = AES_256 ENCRYPTION BY PASSWORD = 'Passw0rd!x'",
    ),
    (
        "CREATE SYMMETRIC KEY FROM PROVIDER",
        "CREATE SYMMETRIC KEY kp FROM PROVIDER hsm WITH PROVIDER_KEY_NAME = 'k'",
    ),
    (
        "OPEN SYMMETRIC KEY",
        "OPEN SYMMETRIC KEY kv DECRYPTION BY PASSWORD = 'Passw0rd!x'",
    ),
    (
        "ALTER SYMMETRIC KEY ADD ENCRYPTION",
        "OPEN SYMMETRIC KEY kv DECRYPTION BY PASSWORD = 'Passw0rd!x'; ALTER SYMMETRIC KEY kv ADD ENCRYPTION BY ASYMMETRIC KEY av",
    ),
    (
        "ALTER SYMMETRIC KEY DROP ENCRYPTION",
        "OPEN SYMMETRIC KEY kv DECRYPTION BY PASSWORD = 'Passw0rd!x'; ALTER SYMMETRIC KEY kv DROP ENCRYPTION BY CERTIFICATE cp",
    ),
    (
        "CLOSE SYMMETRIC KEY",
        "OPEN SYMMETRIC KEY kv DECRYPTION BY PASSWORD = 'Passw0rd!x'; CLOSE SYMMETRIC KEY kv",
    ),
    ("CLOSE ALL SYMMETRIC KEYS", "CLOSE ALL SYMMETRIC KEYS"),
    (
        "GRANT on a symmetric key",
        "GRANT VIEW DEFINITION ON SYMMETRIC KEY::kv TO guest",
    ),
    ("DROP SYMMETRIC KEY", "DROP SYMMETRIC KEY kv"),
    ("DROP ASYMMETRIC KEY", "DROP ASYMMETRIC KEY av"),
    ("DROP CERTIFICATE", "DROP CERTIFICATE cp"),
    ("CLOSE MASTER KEY", "CLOSE MASTER KEY"),
];
