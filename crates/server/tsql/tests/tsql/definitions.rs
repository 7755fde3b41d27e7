//! Definitions and administration: each statement parses, and its printed tree parses to the same tree.

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
fn tables_are_created() {
    check(&[
        "CREATE TABLE testtable ( [code] INT IDENTITY, [date] DATETIME DEFAULT GETDATE (), [name] CHAR (25) DEFAULT 'SQLSHACK')",
        "CREATE TABLE dbo.t (a int NOT NULL IDENTITY(1, 1) PRIMARY KEY CLUSTERED, b varchar(max) NULL, c AS a + 1 PERSISTED NOT NULL)",
        "CREATE TABLE #t (a bigint IDENTITY (-5, -1) NOT FOR REPLICATION, b decimal(10, 2) DEFAULT (0) NOT NULL,)",
        "CREATE TABLE t (a int CONSTRAINT pk PRIMARY KEY NONCLUSTERED WITH (FILLFACTOR = 80) ON [PRIMARY], b int CONSTRAINT df DEFAULT 1)",
        "CREATE TABLE t (a int CHECK (a > 0 AND a < 10), b int CONSTRAINT ck CHECK NOT FOR REPLICATION (b IN (1, 2)))",
        "CREATE TABLE t (a int REFERENCES u, b int CONSTRAINT fk FOREIGN KEY REFERENCES dbo.u (x) ON DELETE CASCADE ON UPDATE SET NULL)",
        "CREATE TABLE t (a int, b int, CONSTRAINT pk PRIMARY KEY (a ASC, b DESC), UNIQUE NONCLUSTERED (b), CHECK (a <> b))",
        "CREATE TABLE t (a int, FOREIGN KEY (a) REFERENCES u (x) ON UPDATE NO ACTION ON DELETE SET DEFAULT NOT FOR REPLICATION)",
        "CREATE TABLE t (a varchar(10) COLLATE Latin1_General_CI_AS UNIQUE, g uniqueidentifier ROWGUIDCOL DEFAULT NEWID(), timestamp)",
        "CREATE TABLE t (a int INDEX ix NONCLUSTERED, b int, INDEX iy UNIQUE CLUSTERED (a, b DESC) WHERE a > 1 WITH (PAD_INDEX = ON))",
        "CREATE TABLE t (a int, b text) ON [PRIMARY] TEXTIMAGE_ON [PRIMARY]",
        "CREATE TABLE t (a int) ON \"default\" WITH (DATA_COMPRESSION = PAGE)",
    ]);
}

#[test]
fn triggers_are_defined() {
    check(&[
        "CREATE TRIGGER dbo.tr ON dbo.t FOR INSERT, UPDATE, DELETE AS IF UPDATE(a) AND NOT UPDATE (b) SELECT 1; SELECT 2",
        "CREATE OR ALTER TRIGGER tr ON v WITH ENCRYPTION INSTEAD OF UPDATE NOT FOR REPLICATION AS BEGIN RETURN END",
        "ALTER TRIGGER tr ON t AFTER DELETE AS SELECT * FROM deleted",
        "ENABLE TRIGGER a, dbo.b ON dbo.t",
        "DISABLE TRIGGER ALL ON t",
        "ALTER TABLE t ENABLE TRIGGER ALL",
        "ALTER TABLE t DISABLE TRIGGER a, b",
    ]);
}

#[test]
fn sequences_and_synonyms_are_defined() {
    check(&[
        "CREATE SEQUENCE dbo.s AS decimal(10, 0) START WITH -5 INCREMENT BY 2 MINVALUE -10 MAXVALUE 10 CYCLE CACHE 20",
        "CREATE SEQUENCE s NO MINVALUE NO MAXVALUE NO CYCLE NO CACHE",
        "CREATE SEQUENCE s",
        "CREATE SEQUENCE s CACHE CYCLE",
        "ALTER SEQUENCE s RESTART WITH 1 INCREMENT BY -1 CACHE",
        "ALTER SEQUENCE s RESTART",
        "DROP SEQUENCE IF EXISTS dbo.s, t",
        "CREATE SYNONYM dbo.s FOR srv.db.dbo.t",
        "DROP SYNONYM IF EXISTS s",
        "SELECT NEXT VALUE FOR dbo.s + 1, NEXT VALUE FOR s OVER (ORDER BY a DESC) AS n FROM t",
        "CREATE TABLE t (a int DEFAULT NEXT VALUE FOR dbo.s, b int DEFAULT (NEXT VALUE FOR s))",
    ]);
}

#[test]
fn tables_are_altered() {
    check(&[
        "ALTER TABLE t ADD a int NULL, b varchar(10) NOT NULL CONSTRAINT df DEFAULT 'x' WITH VALUES",
        "ALTER TABLE t ADD CONSTRAINT pk PRIMARY KEY CLUSTERED (a), CHECK (a > 0)",
        "ALTER TABLE dbo.t WITH NOCHECK ADD CONSTRAINT fk FOREIGN KEY (a) REFERENCES u (b)",
        "ALTER TABLE t WITH CHECK ADD CONSTRAINT df DEFAULT (0) FOR a WITH VALUES",
        "ALTER TABLE t DROP COLUMN a, b",
        "ALTER TABLE t DROP COLUMN IF EXISTS a",
        "ALTER TABLE t DROP CONSTRAINT a, COLUMN b",
        "ALTER TABLE t DROP pk",
        "ALTER TABLE t ALTER COLUMN a decimal(10, 2) NOT NULL",
        "ALTER TABLE t ALTER COLUMN a varchar(10) COLLATE Latin1_General_BIN NULL",
        "ALTER TABLE t CHECK CONSTRAINT ALL",
        "ALTER TABLE t WITH CHECK CHECK CONSTRAINT a, b",
        "ALTER TABLE t NOCHECK CONSTRAINT fk",
        "ALTER TABLE t REBUILD",
        "ALTER TABLE t REBUILD PARTITION = ALL WITH (DATA_COMPRESSION = NONE)",
    ]);
}

#[test]
fn indexes_are_created_altered_and_dropped() {
    check(&[
        "CREATE INDEX i ON t (a)",
        "CREATE UNIQUE CLUSTERED INDEX i ON dbo.t (a ASC, b DESC) WITH (PAD_INDEX = OFF, FILLFACTOR = 80, DROP_EXISTING = ON)",
        "CREATE NONCLUSTERED INDEX i ON t (a) INCLUDE (b, c) WHERE a IS NOT NULL AND b > 5 ON [PRIMARY]",
        "CREATE UNIQUE INDEX i ON t (a) WITH FILLFACTOR = 80, IGNORE_DUP_KEY",
        "ALTER INDEX i ON t REBUILD",
        "ALTER INDEX ALL ON dbo.t REBUILD WITH (ONLINE = ON, MAXDOP = 2)",
        "ALTER INDEX i ON t REORGANIZE WITH (LOB_COMPACTION = ON)",
        "ALTER INDEX i ON t DISABLE",
        "ALTER INDEX i ON t SET (ALLOW_ROW_LOCKS = OFF)",
        "DROP INDEX i ON t",
        "DROP INDEX IF EXISTS i ON dbo.t WITH (MAXDOP = 1), j ON u",
        "DROP INDEX t.i",
        "DROP INDEX dbo.t.i, u.j",
    ]);
}

#[test]
fn views_and_procedures_are_defined() {
    check(&[
        "CREATE VIEW v AS SELECT 1 AS a",
        "CREATE VIEW dbo.v (a, b) WITH SCHEMABINDING, VIEW_METADATA AS SELECT 1, 2 FROM dbo.t WITH CHECK OPTION;",
        "ALTER VIEW v AS WITH c AS (SELECT 1 AS x) SELECT x FROM c",
        "CREATE OR ALTER VIEW v AS SELECT TOP (100) PERCENT a FROM t ORDER BY a",
        "CREATE PROC p AS SELECT 1",
        "CREATE PROCEDURE p AS",
        "CREATE PROCEDURE dbo.p @a int, @b varchar(10) = 'x' OUTPUT, @c int = NULL OUT AS BEGIN SET @b = 'y' RETURN 1 END",
        "CREATE PROCEDURE p (@a AS int = -1, @t dbo.tt READONLY, @w varchar(5) = word) WITH RECOMPILE, ENCRYPTION AS RETURN @a + 1",
        "ALTER PROC p;2 @a int AS SELECT @a SELECT 2; RETURN",
        "CREATE OR ALTER PROCEDURE p @a int NOT NULL FOR REPLICATION AS l: IF @a > 0 GOTO l RETURN (SELECT 1)",
        "CREATE FUNCTION dbo.f (@a int, @b AS varchar(10) = 'x') RETURNS int AS BEGIN IF @a = 1 RETURN 2 RETURN @a END",
        "ALTER FUNCTION f () RETURNS decimal(9, 2) WITH SCHEMABINDING, RETURNS NULL ON NULL INPUT BEGIN RETURN 1; END",
        "CREATE OR ALTER FUNCTION f () RETURNS TABLE WITH INLINE = OFF AS RETURN (SELECT 1 AS a)",
        "CREATE FUNCTION f (@t dbo.tt READONLY) RETURNS TABLE RETURN WITH c AS (SELECT 1 AS a) SELECT a FROM c",
        "CREATE FUNCTION f () RETURNS TABLE AS RETURN (WITH c AS (SELECT 1 AS a) SELECT a FROM c)",
        "CREATE FUNCTION f () RETURNS @r TABLE (a int PRIMARY KEY, b AS a + 1) WITH CALLED ON NULL INPUT AS BEGIN RETURN END;",
        "CREATE TYPE dbo.phone FROM varchar(20) NOT NULL",
        "CREATE TYPE tt AS TABLE (a int IDENTITY PRIMARY KEY, b int DEFAULT 1, CHECK (b > 0))",
        "DROP TYPE IF EXISTS dbo.tt",
        "SELECT dbo.f(1, DEFAULT) FROM dbo.g(DEFAULT) AS x",
        "DROP TABLE t",
        "DROP TABLE IF EXISTS #a, dbo.b",
        "DROP VIEW IF EXISTS v, w",
        "DROP PROC p",
        "DROP PROCEDURE IF EXISTS dbo.p",
        "DROP FUNCTION IF EXISTS f",
        "DROP TRIGGER t",
        "DROP DATABASE IF EXISTS a, b",
        "DROP SCHEMA IF EXISTS s",
        "DROP LOGIN l",
        "DROP USER IF EXISTS u",
        "DROP ROLE r",
        "DROP CERTIFICATE c",
    ]);
}

#[test]
fn databases_are_created_altered_and_used() {
    check(&[
        "CREATE DATABASE TESTDB",
        "CREATE DATABASE d ON PRIMARY (NAME = d_data, FILENAME = 'C:\\d.mdf', SIZE = 100MB, MAXSIZE = UNLIMITED, FILEGROWTH = 10%) \
         LOG ON (NAME = 'd_log', FILENAME = N'C:\\d.ldf', SIZE = 20 MB, FILEGROWTH = 65536KB) COLLATE Latin1_General_CI_AS",
        "CREATE DATABASE d CONTAINMENT = NONE ON (NAME = a), (NAME = b), FILEGROUP f DEFAULT (NAME = c, SIZE = 5), (NAME = e) \
         WITH TRUSTWORTHY ON, DB_CHAINING OFF",
        "ALTER DATABASE TestDB SET ENCRYPTION ON",
        "ALTER DATABASE d SET ENCRYPTION OFF",
        "ALTER DATABASE d SET ENCRYPTION SUSPEND",
        "ALTER DATABASE CURRENT SET ENCRYPTION RESUME",
        "ALTER DATABASE d SET RECOVERY SIMPLE, COMPATIBILITY_LEVEL = 120, READ_COMMITTED_SNAPSHOT ON WITH ROLLBACK IMMEDIATE",
        "ALTER DATABASE d SET SINGLE_USER WITH NO_WAIT",
        "ALTER DATABASE d SET MULTI_USER",
        "ALTER DATABASE d SET OFFLINE WITH ROLLBACK AFTER 30 SECONDS",
        "ALTER DATABASE d SET TARGET_RECOVERY_TIME = 60 SECONDS",
        "ALTER DATABASE d MODIFY NAME = e",
        "ALTER DATABASE d COLLATE Latin1_General_BIN",
        "USE master",
        "USE [my db]",
    ]);
}

#[test]
fn keys_and_certificates_are_made_and_saved() {
    check(&[
        "CREATE MASTER KEY ENCRYPTION BY PASSWORD='$ql$h@ck@12'",
        "CREATE MASTER KEY",
        "ALTER MASTER KEY REGENERATE WITH ENCRYPTION BY PASSWORD = 'p'",
        "ALTER MASTER KEY FORCE REGENERATE WITH ENCRYPTION BY PASSWORD = 'p'",
        "OPEN MASTER KEY DECRYPTION BY PASSWORD = 'x''y'",
        "CLOSE MASTER KEY",
        "BACKUP MASTER KEY TO FILE = 'k' ENCRYPTION BY PASSWORD = 'p'",
        "RESTORE MASTER KEY FROM FILE = 'k' DECRYPTION BY PASSWORD = 'p' ENCRYPTION BY PASSWORD = 'q'",
        "RESTORE MASTER KEY FROM FILE = 'k' DECRYPTION BY PASSWORD = 'p' ENCRYPTION BY PASSWORD = 'q' FORCE",
        "DROP MASTER KEY",
        "CREATE CERTIFICATE TestDB_TDECert WITH SUBJECT='TestDB_Encryption'",
        "CREATE CERTIFICATE c AUTHORIZATION dbo ENCRYPTION BY PASSWORD = 'p' WITH SUBJECT = 's', START_DATE = '20200101', \
         EXPIRY_DATE = '20300101' ACTIVE FOR BEGIN_DIALOG = OFF",
        "CREATE CERTIFICATE c FROM FILE = 'f' WITH PRIVATE KEY (FILE = 'k', DECRYPTION BY PASSWORD = 'p', ENCRYPTION BY PASSWORD = 'q')",
        "CREATE CERTIFICATE c FROM BINARY = 0x0102 WITH PRIVATE KEY (BINARY = 0x03, DECRYPTION BY PASSWORD = 'p')",
        "BACKUP CERTIFICATE c TO FILE = 'f'",
        "BACKUP CERTIFICATE c TO FILE = 'f' WITH PRIVATE KEY (FILE = 'k', ENCRYPTION BY PASSWORD = 'p')",
        "CREATE DATABASE ENCRYPTION KEY WITH ALGORITHM = AES_256 ENCRYPTION BY SERVER CERTIFICATE TestDB_TDECert",
        "CREATE DATABASE ENCRYPTION KEY WITH ALGORITHM = TRIPLE_DES_3KEY ENCRYPTION BY SERVER ASYMMETRIC KEY k",
        "ALTER DATABASE ENCRYPTION KEY REGENERATE WITH ALGORITHM = AES_128",
        "ALTER DATABASE ENCRYPTION KEY ENCRYPTION BY SERVER CERTIFICATE c",
        "ALTER DATABASE ENCRYPTION KEY REGENERATE WITH ALGORITHM = AES_192 ENCRYPTION BY SERVER CERTIFICATE c",
        "DROP DATABASE ENCRYPTION KEY",
    ]);
}

#[test]
fn providers_and_their_keys_are_registered() {
    check(&[
        "CREATE CRYPTOGRAPHIC PROVIDER p FROM FILE = '/usr/lib/p.so'",
        "ALTER CRYPTOGRAPHIC PROVIDER p FROM FILE = '/usr/lib/q.so'",
        "ALTER CRYPTOGRAPHIC PROVIDER p FROM FILE = 'q' DISABLE",
        "ALTER CRYPTOGRAPHIC PROVIDER p ENABLE",
        "DROP CRYPTOGRAPHIC PROVIDER p",
        "CREATE CREDENTIAL c WITH IDENTITY = 'i', SECRET = 's' FOR CRYPTOGRAPHIC PROVIDER p",
        "CREATE CREDENTIAL c WITH IDENTITY = N'i'",
        "ALTER CREDENTIAL c WITH IDENTITY = 'i', SECRET = 's'",
        "DROP CREDENTIAL c",
        "ALTER LOGIN l ADD CREDENTIAL c",
        "ALTER LOGIN l DROP CREDENTIAL c",
        "CREATE ASYMMETRIC KEY k AUTHORIZATION dbo FROM PROVIDER p WITH PROVIDER_KEY_NAME = 'n', \
         CREATION_DISPOSITION = OPEN_EXISTING",
        "CREATE ASYMMETRIC KEY k FROM PROVIDER p WITH ALGORITHM = RSA_2048",
        "ALTER DATABASE ENCRYPTION KEY ENCRYPTION BY SERVER ASYMMETRIC KEY k",
        "DROP ASYMMETRIC KEY k",
    ]);
    let secret = "CREATE CREDENTIAL c WITH IDENTITY = 'i', SECRET = 'a-marker'";
    assert!(!format!("{:?}", round_trip(secret)).contains("a-marker"));
}

#[test]
fn databases_are_backed_up_and_restored() {
    check(&[
        "BACKUP DATABASE testdb TO DISK ='C:\\program files\\testdb.bak'",
        "BACKUP DATABASE @d TO DISK = @p, DISK = 'b' WITH INIT, FORMAT, COMPRESSION, NAME = N'x', STATS = 10, COPY_ONLY",
        "BACKUP DATABASE d TO dev WITH ENCRYPTION (ALGORITHM = AES_256, SERVER CERTIFICATE = c)",
        "BACKUP LOG d TO TAPE = 't'",
        "BACKUP LOG d WITH NORECOVERY",
        "RESTORE DATABASE d FROM DISK = 'a' WITH REPLACE, MOVE 'x' TO 'y', MOVE N'z' TO @w, STATS = 5, FILE = 1",
        "RESTORE DATABASE d WITH RECOVERY",
        "RESTORE LOG d FROM URL = 'https://x' WITH NORECOVERY",
        "RESTORE FILELISTONLY FROM DISK = 'a'",
        "RESTORE HEADERONLY FROM DISK = @p WITH NOUNLOAD",
        "RESTORE LABELONLY FROM dev",
        "RESTORE VERIFYONLY FROM DISK = 'a' WITH CHECKSUM",
    ]);
}

#[test]
fn principals_and_permissions_are_changed() {
    check(&[
        "CREATE LOGIN l WITH PASSWORD = 'p'",
        "CREATE LOGIN [a\\b] FROM WINDOWS WITH DEFAULT_DATABASE = [master]",
        "CREATE LOGIN l WITH PASSWORD = 0x0200 HASHED MUST_CHANGE, CHECK_EXPIRATION = ON, SID = 0x01, DEFAULT_DATABASE = d",
        "CREATE LOGIN l FROM CERTIFICATE c",
        "ALTER LOGIN l ENABLE",
        "ALTER LOGIN l DISABLE",
        "ALTER LOGIN l WITH PASSWORD = 'a' OLD_PASSWORD = 'b'",
        "ALTER LOGIN l WITH PASSWORD = 'a' MUST_CHANGE UNLOCK, CHECK_POLICY = OFF, NAME = m",
        "CREATE USER u",
        "CREATE USER u FOR LOGIN l WITH DEFAULT_SCHEMA = dbo",
        "CREATE USER u WITHOUT LOGIN",
        "ALTER USER u WITH NAME = v, DEFAULT_SCHEMA = s",
        "CREATE ROLE r AUTHORIZATION dbo",
        "ALTER ROLE db_owner ADD MEMBER u",
        "ALTER ROLE r DROP MEMBER u",
        "ALTER ROLE r WITH NAME = s",
        "ALTER SERVER ROLE sysadmin ADD MEMBER l",
        "CREATE SCHEMA s AUTHORIZATION dbo",
        "CREATE SCHEMA AUTHORIZATION u",
        "CREATE SCHEMA s CREATE TABLE t (a int) CREATE VIEW v AS SELECT a FROM t CREATE TABLE u (b int) GRANT SELECT ON v TO x",
        "ALTER SCHEMA s TRANSFER dbo.t",
        "ALTER SCHEMA s TRANSFER OBJECT :: t",
        "ALTER SCHEMA s TRANSFER XML SCHEMA COLLECTION::dbo.c",
        "GRANT SELECT, INSERT (a, b), VIEW SERVER STATE TO u, public WITH GRANT OPTION AS dbo",
        "GRANT ALL ON dbo.t TO u",
        "GRANT SELECT ON dbo.t (a, b) TO u",
        "GRANT EXECUTE ON SCHEMA :: dbo TO u",
        "DENY UPDATE ON OBJECT::dbo.t TO u CASCADE",
        "REVOKE GRANT OPTION FOR SELECT ON t FROM u CASCADE",
        "REVOKE CREATE TABLE TO u",
    ]);
}

#[test]
fn the_server_is_administered() {
    check(&[
        "DBCC SQLPERF('sys.dm_os_wait_stats', CLEAR)",
        "DBCC DROPCLEANBUFFERS",
        "DBCC CHECKDB",
        "DBCC CHECKDB ('d') WITH PHYSICAL_ONLY, NO_INFOMSGS",
        "DBCC CHECKIDENT (t, RESEED, 0)",
        "DBCC CHECKIDENT ('dbo.t', NORESEED)",
        "DBCC FREESYSTEMCACHE ('ALL') WITH MARK_IN_USE_FOR_REMOVAL",
        "DBCC TRACEON (3604, -1)",
        "KILL 53",
        "KILL 53 WITH STATUSONLY",
        "KILL '00000000-0000-0000-0000-000000000000'",
        "CHECKPOINT",
        "CHECKPOINT 10",
        "RECONFIGURE",
        "RECONFIGURE WITH OVERRIDE",
        "SHUTDOWN",
        "SHUTDOWN WITH NOWAIT",
    ]);
}
