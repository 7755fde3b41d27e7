--Create master key
USE master;
GO
CREATE MASTER KEY ENCRYPTION
BY PASSWORD='$ql$h@ck@12';
GO

--Create Certificate using above master key
CREATE CERTIFICATE TestDB_TDECert
WITH SUBJECT='TestDB_Encryption';
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
