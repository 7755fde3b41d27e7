CREATE PROCEDURE sp_helpindex @objname nvarchar(776)
AS
IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE object_id = OBJECT_ID(@objname) AND index_id > 0)
BEGIN
    RAISERROR (N'The object ''%s'' does not have any indexes, or you do not have permissions.', 0, 1, @objname)
    RETURN 0
END
SELECT i.name AS index_name,
    CONVERT(varchar(210), CASE i.index_id WHEN 1 THEN 'clustered' ELSE 'nonclustered' END
        + CASE i.ignore_dup_key WHEN 1 THEN ', ignore duplicate keys' ELSE '' END
        + CASE i.is_unique WHEN 1 THEN ', unique' ELSE '' END
        + CASE i.is_primary_key WHEN 1 THEN ', primary key' ELSE '' END
        + CASE i.is_unique_constraint WHEN 1 THEN ', unique key' ELSE '' END + ' located on PRIMARY') AS index_description,
    CONVERT(nvarchar(2078), STRING_AGG(CONVERT(nvarchar(max), c.name)
        + CASE k.is_descending_key WHEN 1 THEN N'(-)' ELSE N'' END, N', ') WITHIN GROUP (ORDER BY k.key_ordinal)) AS index_keys
FROM sys.indexes i
    JOIN sys.index_columns k ON k.object_id = i.object_id AND k.index_id = i.index_id AND k.is_included_column = 0
    JOIN sys.columns c ON c.object_id = k.object_id AND c.column_id = k.column_id
WHERE i.object_id = OBJECT_ID(@objname) AND i.index_id > 0
GROUP BY i.name, i.index_id, i.ignore_dup_key, i.is_unique, i.is_primary_key, i.is_unique_constraint
ORDER BY i.name
