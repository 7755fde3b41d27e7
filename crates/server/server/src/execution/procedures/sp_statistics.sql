CREATE PROCEDURE sp_statistics
    @table_name nvarchar(128), @table_owner nvarchar(128) = NULL, @table_qualifier nvarchar(128) = NULL,
    @index_name nvarchar(128) = N'%', @is_unique char(1) = 'N', @accuracy char(1) = 'Q'
AS
DECLARE @count int
IF @accuracy = 'E'
    SELECT @count = p.rows FROM sys.partitions p JOIN sys.tables t ON t.object_id = p.object_id
    WHERE p.index_id < 2 AND t.name = @table_name AND (@table_owner IS NULL AND t.object_id = OBJECT_ID(QUOTENAME(@table_name)) OR SCHEMA_NAME(t.schema_id) = @table_owner)
SELECT CONVERT(nvarchar(128), DB_NAME()) AS TABLE_QUALIFIER, CONVERT(nvarchar(128), s.name) AS TABLE_OWNER,
    CONVERT(nvarchar(128), t.name) AS TABLE_NAME, CONVERT(smallint, NULL) AS NON_UNIQUE, CONVERT(nvarchar(128), NULL) AS INDEX_QUALIFIER,
    CONVERT(nvarchar(128), NULL) AS INDEX_NAME, CONVERT(smallint, 0) AS TYPE, CONVERT(smallint, NULL) AS SEQ_IN_INDEX,
    CONVERT(nvarchar(128), NULL) AS COLUMN_NAME, CONVERT(char(1), NULL) AS COLLATION, @count AS CARDINALITY,
    CONVERT(int, NULL) AS PAGES, CONVERT(varchar(128), NULL) AS FILTER_CONDITION
FROM sys.tables t JOIN sys.schemas s ON s.schema_id = t.schema_id
WHERE t.name = @table_name AND (@table_owner IS NULL AND t.object_id = OBJECT_ID(QUOTENAME(@table_name)) OR s.name = @table_owner)
UNION ALL
SELECT CONVERT(nvarchar(128), DB_NAME()), CONVERT(nvarchar(128), s.name), CONVERT(nvarchar(128), t.name),
    CONVERT(smallint, CASE i.is_unique WHEN 1 THEN 0 ELSE 1 END), CONVERT(nvarchar(128), t.name), CONVERT(nvarchar(128), i.name),
    CONVERT(smallint, CASE i.type WHEN 1 THEN 1 ELSE 3 END), CONVERT(smallint, x.key_ordinal), CONVERT(nvarchar(128), c.name),
    CONVERT(char(1), CASE x.is_descending_key WHEN 1 THEN 'D' ELSE 'A' END),
    CASE WHEN i.has_filter = 0 THEN @count END, CONVERT(int, NULL), CONVERT(varchar(128), i.filter_definition)
FROM sys.tables t
    JOIN sys.schemas s ON s.schema_id = t.schema_id
    JOIN sys.indexes i ON i.object_id = t.object_id AND i.index_id > 0
    JOIN sys.index_columns x ON x.object_id = i.object_id AND x.index_id = i.index_id AND x.key_ordinal > 0
    JOIN sys.columns c ON c.object_id = x.object_id AND c.column_id = x.column_id
WHERE t.name = @table_name AND (@table_owner IS NULL AND t.object_id = OBJECT_ID(QUOTENAME(@table_name)) OR s.name = @table_owner)
    AND i.name LIKE @index_name AND (@is_unique <> 'Y' OR i.is_unique = 1)
ORDER BY 4, 7, 6, 8
