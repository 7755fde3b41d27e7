CREATE PROCEDURE sp_columns_100
    @table_name nvarchar(384), @table_owner nvarchar(384) = NULL, @table_qualifier nvarchar(128) = NULL,
    @column_name nvarchar(384) = NULL, @NameScope int = 0, @ODBCVer int = 2, @fUsePattern bit = 1
AS
SELECT CONVERT(nvarchar(128), DB_NAME()) AS TABLE_QUALIFIER, c.schema_name AS TABLE_OWNER, c.object_name AS TABLE_NAME,
    c.column_name AS COLUMN_NAME, c.data_type AS DATA_TYPE, c.type_name AS TYPE_NAME, c.[precision] AS [PRECISION],
    c.[length] AS [LENGTH], c.scale AS SCALE, c.radix AS RADIX, c.nullable AS NULLABLE, CONVERT(varchar(254), NULL) AS REMARKS,
    c.column_def AS COLUMN_DEF, c.sql_data_type AS SQL_DATA_TYPE, c.sql_datetime_sub AS SQL_DATETIME_SUB,
    c.char_octet_length AS CHAR_OCTET_LENGTH, c.column_id AS ORDINAL_POSITION, c.is_nullable AS IS_NULLABLE,
    CONVERT(smallint, 0) AS SS_IS_SPARSE, CONVERT(smallint, 0) AS SS_IS_COLUMN_SET, c.is_computed AS SS_IS_COMPUTED,
    c.is_identity AS SS_IS_IDENTITY, CONVERT(nvarchar(128), NULL) AS SS_UDT_CATALOG_NAME,
    CONVERT(nvarchar(128), NULL) AS SS_UDT_SCHEMA_NAME, CONVERT(nvarchar(max), NULL) AS SS_UDT_ASSEMBLY_TYPE_NAME,
    CONVERT(nvarchar(128), NULL) AS SS_XML_SCHEMACOLLECTION_CATALOG_NAME,
    CONVERT(nvarchar(128), NULL) AS SS_XML_SCHEMACOLLECTION_SCHEMA_NAME,
    CONVERT(nvarchar(128), NULL) AS SS_XML_SCHEMACOLLECTION_NAME,
    c.ss_data_type AS SS_DATA_TYPE
FROM sys.selenite_odbc_columns(1, @ODBCVer) c
WHERE (@table_qualifier IS NULL OR DB_NAME() LIKE @table_qualifier)
    AND ((@fUsePattern = 1 AND c.object_name LIKE @table_name) OR (@fUsePattern = 0 AND c.object_name = @table_name))
    AND (@table_owner IS NOT NULL OR @fUsePattern = 1 AND @table_name LIKE N'%[%[_]%' OR c.object_id = OBJECT_ID(QUOTENAME(@table_name)))
    AND (@table_owner IS NULL OR (@fUsePattern = 1 AND c.schema_name LIKE @table_owner) OR (@fUsePattern = 0 AND c.schema_name = @table_owner))
    AND (@column_name IS NULL OR (@fUsePattern = 1 AND c.column_name LIKE @column_name) OR (@fUsePattern = 0 AND c.column_name = @column_name))
ORDER BY 1, 2, 3, 17
