CREATE PROCEDURE sp_stored_procedures
    @sp_name nvarchar(390) = NULL, @sp_owner nvarchar(384) = NULL, @sp_qualifier nvarchar(128) = NULL, @fUsePattern bit = 1
AS
SELECT CONVERT(nvarchar(128), DB_NAME()) AS PROCEDURE_QUALIFIER, CONVERT(nvarchar(128), s.name) AS PROCEDURE_OWNER,
    CONVERT(nvarchar(134), p.name + N';1') AS PROCEDURE_NAME, -1 AS NUM_INPUT_PARAMS, -1 AS NUM_OUTPUT_PARAMS, -1 AS NUM_RESULT_SETS,
    CONVERT(varchar(254), NULL) AS REMARKS, CONVERT(smallint, 2) AS PROCEDURE_TYPE
FROM sys.procedures p JOIN sys.schemas s ON s.schema_id = p.schema_id
WHERE (@sp_qualifier IS NULL OR DB_NAME() LIKE @sp_qualifier)
    AND (@sp_name IS NULL OR (@fUsePattern = 1 AND p.name LIKE @sp_name) OR (@fUsePattern = 0 AND p.name = @sp_name))
    AND (@sp_owner IS NULL OR (@fUsePattern = 1 AND s.name LIKE @sp_owner) OR (@fUsePattern = 0 AND s.name = @sp_owner))
ORDER BY 1, 2, 3
