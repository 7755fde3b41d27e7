CREATE PROCEDURE sp_databases
AS
SELECT CONVERT(nvarchar(128), d.name) AS DATABASE_NAME, CONVERT(int, SUM(f.size) * 8) AS DATABASE_SIZE, CONVERT(varchar(254), NULL) AS REMARKS
FROM sys.databases d LEFT JOIN sys.master_files f ON f.database_id = d.database_id
GROUP BY d.name
ORDER BY 1
