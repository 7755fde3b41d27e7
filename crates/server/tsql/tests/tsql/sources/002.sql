--Sample database and table creation
CREATE DATABASE TESTDB
GO
USE TESTDB
GO
CREATE TABLE testtable (
 [code] INT IDENTITY,
 [date] DATETIME DEFAULT GETDATE (),
 [name] CHAR (25) DEFAULT 'SQLSHACK');
GO
USE Testdb
GO
SET STATISTICS TIME ON
SET STATISTICS IO ON
GO
INSERT INTO testtable DEFAULT VALUES ;
GO 10000
SET STATISTICS IO OFF
SET STATISTICS TIME OFF
GO
SELECT spid, cpu, physical_io, memusage, st.text
FROM sysprocesses AS sp
CROSS APPLY sys.dm_exec_sql_text(sp.sql_handle) st
WHERE spid IN (56)
GO
USE Testdb
GO
SET STATISTICS TIME ON
SET STATISTICS IO ON
GO
UPDATE testtable
SET name='SQL Server'
GO
SET STATISTICS IO OFF
SET STATISTICS TIME OFF
GO
USE testdb
GO
SET STATISTICS TIME ON
SET STATISTICS IO ON
GO
SELECT code, name, date FROM testtable
Go
SET STATISTICS IO OFF
SET STATISTICS TIME OFF
GO
--Create master key
USE master;
GO
CREATE MASTER KEY ENCRYPTION BY PASSWORD='$ql$h@ck@12';
GO
--Create Certificate using above master key
CREATE CERTIFICATE TestDB_TDECert WITH SUBJECT='TestDB_Encryption';
GO
--Create a database encryption key
USE TestDB
GO
CREATE DATABASE ENCRYPTION KEY
WITH ALGORITHM = AES_256
ENCRYPTION BY SERVER CERTIFICATE TestDB_TDECert;
GO
--Enable encryption
ALTER DATABASE TestDB
SET ENCRYPTION ON;
GO
--Check TDE for user database
SELECT DB_Name(database_id) As [DB Name], encryption_state_desc
FROM sys.dm_database_encryption_keys
Go
