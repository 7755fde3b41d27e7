CREATE PROCEDURE sp_sproc_columns
    @procedure_name nvarchar(390) = N'%', @procedure_owner nvarchar(384) = NULL, @procedure_qualifier nvarchar(128) = NULL,
    @column_name nvarchar(384) = NULL, @ODBCVer int = 2, @fUsePattern bit = 1
AS
SELECT CONVERT(nvarchar(128), DB_NAME()) AS PROCEDURE_QUALIFIER, CONVERT(nvarchar(128), p.schema_name) AS PROCEDURE_OWNER,
    CONVERT(nvarchar(134), p.procedure_name + N';1') AS PROCEDURE_NAME, p.parameter_name AS COLUMN_NAME, p.parameter_type AS COLUMN_TYPE,
    p.data_type AS DATA_TYPE, p.type_name AS TYPE_NAME, p.[precision] AS [PRECISION], p.[length] AS [LENGTH], p.scale AS SCALE,
    p.radix AS RADIX, CONVERT(smallint, CASE p.parameter_id WHEN 0 THEN 0 ELSE 1 END) AS NULLABLE, CONVERT(varchar(254), NULL) AS REMARKS,
    CONVERT(nvarchar(4000), NULL) AS COLUMN_DEF, p.sql_data_type AS SQL_DATA_TYPE, p.sql_datetime_sub AS SQL_DATETIME_SUB,
    p.char_octet_length AS CHAR_OCTET_LENGTH, p.parameter_id AS ORDINAL_POSITION,
    CONVERT(varchar(254), CASE p.parameter_id WHEN 0 THEN 'NO' ELSE 'YES' END) AS IS_NULLABLE,
    p.ss_data_type AS SS_DATA_TYPE
FROM sys.selenite_odbc_parameters(0, @ODBCVer) p
WHERE (@procedure_qualifier IS NULL OR DB_NAME() LIKE @procedure_qualifier)
    AND (@procedure_name IS NULL OR (@fUsePattern = 1 AND p.procedure_name LIKE @procedure_name)
        OR (@fUsePattern = 0 AND p.procedure_name = @procedure_name))
    AND (@procedure_owner IS NULL OR (@fUsePattern = 1 AND p.schema_name LIKE @procedure_owner)
        OR (@fUsePattern = 0 AND p.schema_name = @procedure_owner))
    AND (@column_name IS NULL OR (@fUsePattern = 1 AND p.parameter_name LIKE @column_name)
        OR (@fUsePattern = 0 AND p.parameter_name = @column_name))
ORDER BY 1, 2, 3, 18
