CREATE PROCEDURE sp_special_columns_100
    @table_name nvarchar(384), @table_owner nvarchar(384) = NULL, @table_qualifier nvarchar(128) = NULL,
    @col_type char(1) = 'R', @scope char(1) = 'T', @nullable char(1) = 'U', @ODBCVer int = 2
AS
DECLARE @object int, @index int
SELECT @object = t.object_id FROM sys.tables t
WHERE t.name = @table_name AND (@table_owner IS NULL AND t.object_id = OBJECT_ID(QUOTENAME(@table_name)) OR SCHEMA_NAME(t.schema_id) = @table_owner)
-- A primary key before others; of those, one whose columns can't be NULL where that is asked for.
IF @col_type = 'R'
    SELECT TOP 1 @index = i.index_id FROM sys.indexes i
    WHERE i.object_id = @object AND i.is_unique = 1 AND i.has_filter = 0
        AND (@nullable <> 'O' OR NOT EXISTS (SELECT 1 FROM sys.index_columns x
            JOIN sys.columns c ON c.object_id = x.object_id AND c.column_id = x.column_id
            WHERE x.object_id = i.object_id AND x.index_id = i.index_id AND x.key_ordinal > 0 AND c.is_nullable = 1))
    ORDER BY i.is_primary_key DESC, i.index_id
-- The columns that each change of a row changes.
IF @col_type = 'V'
BEGIN
    SELECT CONVERT(smallint, NULL) AS SCOPE, c.column_name AS COLUMN_NAME, c.data_type AS DATA_TYPE, c.type_name AS TYPE_NAME,
        c.[precision] AS [PRECISION], c.[length] AS [LENGTH], c.scale AS SCALE, CONVERT(smallint, 1) AS PSEUDO_COLUMN
    FROM sys.selenite_odbc_columns(1, @ODBCVer) c
    WHERE c.object_id = @object AND c.type_name = N'timestamp'
    RETURN
END
SELECT CONVERT(smallint, CASE @scope WHEN 'C' THEN 0 ELSE 1 END) AS SCOPE, c.column_name AS COLUMN_NAME, c.data_type AS DATA_TYPE,
    c.type_name AS TYPE_NAME, c.[precision] AS [PRECISION], c.[length] AS [LENGTH], c.scale AS SCALE,
    CONVERT(smallint, 1) AS PSEUDO_COLUMN
FROM sys.selenite_odbc_columns(1, @ODBCVer) c
    JOIN sys.index_columns x ON x.object_id = c.object_id AND x.column_id = c.column_id AND x.key_ordinal > 0
WHERE x.object_id = @object AND x.index_id = @index
ORDER BY x.key_ordinal
