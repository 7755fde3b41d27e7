CREATE PROCEDURE sp_helpdb @dbname nvarchar(128) = NULL
AS
SELECT CONVERT(nvarchar(128), d.name) AS name,
    CONVERT(nvarchar(13), STR(CONVERT(float, (SELECT SUM(f.size) FROM sys.master_files f WHERE f.database_id = d.database_id)) / 128, 10, 2) + N' MB')
        AS db_size,
    (SELECT MAX(p.name) FROM sys.server_principals p WHERE p.sid = d.owner_sid) AS owner, CONVERT(smallint, d.database_id) AS dbid,
    CONVERT(nvarchar(11), d.create_date, 106) AS created,
    CONVERT(nvarchar(600), N'Status=' + d.state_desc + N', Updateability=' + CASE d.is_read_only WHEN 1 THEN N'READ_ONLY' ELSE N'READ_WRITE' END
        + N', UserAccess=' + d.user_access_desc + N', Recovery=' + d.recovery_model_desc + N', Collation=' + d.collation_name) AS status,
    d.compatibility_level
FROM sys.databases d
WHERE @dbname IS NULL OR d.name = @dbname
ORDER BY 1
IF @dbname IS NOT NULL
    SELECT CONVERT(nvarchar(128), f.name) AS name, CONVERT(smallint, f.file_id) AS fileid, f.physical_name AS filename,
        CONVERT(nvarchar(128), CASE f.type WHEN 0 THEN N'PRIMARY' END) AS filegroup,
        CONVERT(nvarchar(18), CONVERT(nvarchar(15), CONVERT(bigint, f.size) * 8) + N' KB') AS size,
        CONVERT(nvarchar(18), CASE f.max_size WHEN -1 THEN N'Unlimited' ELSE CONVERT(nvarchar(15), CONVERT(bigint, f.max_size) * 8) + N' KB' END)
            AS maxsize,
        CONVERT(nvarchar(18), CONVERT(nvarchar(15), CONVERT(bigint, f.growth) * 8) + N' KB') AS growth,
        CONVERT(varchar(9), CASE f.type WHEN 0 THEN 'data only' ELSE 'log only' END) AS usage
    FROM sys.master_files f JOIN sys.databases d ON d.database_id = f.database_id
    WHERE d.name = @dbname
    ORDER BY 2
