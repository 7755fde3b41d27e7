CREATE PROCEDURE sp_pkeys
    @table_name nvarchar(128), @table_owner nvarchar(128) = NULL, @table_qualifier nvarchar(128) = NULL
AS
SELECT CONVERT(nvarchar(128), DB_NAME()) AS TABLE_QUALIFIER, CONVERT(nvarchar(128), s.name) AS TABLE_OWNER,
    CONVERT(nvarchar(128), t.name) AS TABLE_NAME, CONVERT(nvarchar(128), c.name) AS COLUMN_NAME,
    CONVERT(smallint, i.key_ordinal) AS KEY_SEQ, CONVERT(nvarchar(128), k.name) AS PK_NAME
FROM sys.key_constraints k
    JOIN sys.tables t ON t.object_id = k.parent_object_id
    JOIN sys.schemas s ON s.schema_id = t.schema_id
    JOIN sys.index_columns i ON i.object_id = k.parent_object_id AND i.index_id = k.unique_index_id
    JOIN sys.columns c ON c.object_id = i.object_id AND c.column_id = i.column_id
WHERE k.type = 'PK' AND t.name = @table_name AND (@table_owner IS NULL AND t.object_id = OBJECT_ID(QUOTENAME(@table_name)) OR s.name = @table_owner)
ORDER BY 1, 2, 3, 5
