CREATE PROCEDURE sp_tables
    @table_name nvarchar(384) = NULL, @table_owner nvarchar(384) = NULL, @table_qualifier nvarchar(128) = NULL,
    @table_type varchar(100) = NULL, @fUsePattern bit = 1
AS
IF @table_qualifier = N'%' AND @table_owner = N'' AND @table_name = N''
    SELECT CONVERT(nvarchar(128), name) AS TABLE_QUALIFIER, CONVERT(nvarchar(128), NULL) AS TABLE_OWNER,
        CONVERT(nvarchar(128), NULL) AS TABLE_NAME, CONVERT(varchar(32), NULL) AS TABLE_TYPE, CONVERT(varchar(254), NULL) AS REMARKS
    FROM sys.databases ORDER BY 1
ELSE IF @table_qualifier = N'' AND @table_owner = N'%' AND @table_name = N''
    SELECT CONVERT(nvarchar(128), NULL) AS TABLE_QUALIFIER, CONVERT(nvarchar(128), name) AS TABLE_OWNER,
        CONVERT(nvarchar(128), NULL) AS TABLE_NAME, CONVERT(varchar(32), NULL) AS TABLE_TYPE, CONVERT(varchar(254), NULL) AS REMARKS
    FROM sys.schemas ORDER BY 2
ELSE IF @table_qualifier = N'' AND @table_owner = N'' AND @table_name = N'' AND @table_type = '%'
    SELECT CONVERT(nvarchar(128), NULL) AS TABLE_QUALIFIER, CONVERT(nvarchar(128), NULL) AS TABLE_OWNER,
        CONVERT(nvarchar(128), NULL) AS TABLE_NAME, CONVERT(varchar(32), k.kind) AS TABLE_TYPE, CONVERT(varchar(254), NULL) AS REMARKS
    FROM (SELECT 'SYSTEM TABLE' AS kind UNION ALL SELECT 'TABLE' UNION ALL SELECT 'VIEW') k ORDER BY 4
ELSE
    SELECT CONVERT(nvarchar(128), DB_NAME()) AS TABLE_QUALIFIER, CONVERT(nvarchar(128), s.name) AS TABLE_OWNER,
        CONVERT(nvarchar(128), o.name) AS TABLE_NAME,
        CONVERT(varchar(32), CASE o.type WHEN 'U' THEN 'TABLE' ELSE 'VIEW' END) AS TABLE_TYPE, CONVERT(varchar(254), NULL) AS REMARKS
    FROM sys.all_objects o JOIN sys.schemas s ON s.schema_id = o.schema_id
    WHERE o.type IN ('U', 'V')
        AND (@table_qualifier IS NULL OR DB_NAME() LIKE @table_qualifier)
        AND (@table_name IS NULL OR (@fUsePattern = 1 AND o.name LIKE @table_name) OR (@fUsePattern = 0 AND o.name = @table_name))
        AND (@table_owner IS NULL OR (@fUsePattern = 1 AND s.name LIKE @table_owner) OR (@fUsePattern = 0 AND s.name = @table_owner))
        AND (@table_type IS NULL OR @table_type = '%'
            OR CHARINDEX(CASE o.type WHEN 'U' THEN '''TABLE''' ELSE '''VIEW''' END, @table_type) > 0)
    ORDER BY 4, 1, 2, 3
