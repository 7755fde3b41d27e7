--Check TDE for user database
SELECT DB_Name(database_id) As [DB Name], encryption_state_desc
FROM sys.dm_database_encryption_keys
Go
