CREATE PROCEDURE sp_fkeys
    @pktable_name nvarchar(128) = NULL, @pktable_owner nvarchar(128) = NULL, @pktable_qualifier nvarchar(128) = NULL,
    @fktable_name nvarchar(128) = NULL, @fktable_owner nvarchar(128) = NULL, @fktable_qualifier nvarchar(128) = NULL
AS
SELECT CONVERT(nvarchar(128), DB_NAME()) AS PKTABLE_QUALIFIER, CONVERT(nvarchar(128), ps.name) AS PKTABLE_OWNER,
    CONVERT(nvarchar(128), p.name) AS PKTABLE_NAME, CONVERT(nvarchar(128), pc.name) AS PKCOLUMN_NAME,
    CONVERT(nvarchar(128), DB_NAME()) AS FKTABLE_QUALIFIER, CONVERT(nvarchar(128), fs.name) AS FKTABLE_OWNER,
    CONVERT(nvarchar(128), f.name) AS FKTABLE_NAME, CONVERT(nvarchar(128), fc.name) AS FKCOLUMN_NAME,
    CONVERT(smallint, u.constraint_column_id) AS KEY_SEQ,
    CONVERT(smallint, CASE k.update_referential_action WHEN 0 THEN 1 WHEN 1 THEN 0 ELSE k.update_referential_action END) AS UPDATE_RULE,
    CONVERT(smallint, CASE k.delete_referential_action WHEN 0 THEN 1 WHEN 1 THEN 0 ELSE k.delete_referential_action END) AS DELETE_RULE,
    CONVERT(nvarchar(128), k.name) AS FK_NAME, CONVERT(nvarchar(128), x.name) AS PK_NAME, CONVERT(smallint, 7) AS DEFERRABILITY
FROM sys.foreign_keys k
    JOIN sys.foreign_key_columns u ON u.constraint_object_id = k.object_id
    JOIN sys.tables p ON p.object_id = k.referenced_object_id
    JOIN sys.schemas ps ON ps.schema_id = p.schema_id
    JOIN sys.columns pc ON pc.object_id = u.referenced_object_id AND pc.column_id = u.referenced_column_id
    JOIN sys.tables f ON f.object_id = k.parent_object_id
    JOIN sys.schemas fs ON fs.schema_id = f.schema_id
    JOIN sys.columns fc ON fc.object_id = u.parent_object_id AND fc.column_id = u.parent_column_id
    LEFT JOIN sys.indexes x ON x.object_id = k.referenced_object_id AND x.index_id = k.key_index_id
WHERE (@pktable_name IS NULL OR p.name = @pktable_name) AND (@pktable_owner IS NULL OR ps.name = @pktable_owner)
    AND (@fktable_name IS NULL OR f.name = @fktable_name) AND (@fktable_owner IS NULL OR fs.name = @fktable_owner)
ORDER BY CASE WHEN @fktable_name IS NULL THEN fs.name ELSE ps.name END, CASE WHEN @fktable_name IS NULL THEN f.name ELSE p.name END,
    k.name, u.constraint_column_id
