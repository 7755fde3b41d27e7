CREATE PROCEDURE sp_helpconstraint @objname nvarchar(776), @nomsg varchar(5) = 'msg'
AS
DECLARE @id int = OBJECT_ID(@objname)
IF LOWER(@nomsg) <> 'nomsg' SELECT @objname AS [Object Name]
IF EXISTS (SELECT 1 FROM sys.objects WHERE parent_object_id = @id AND type IN ('PK', 'UQ', 'F', 'C', 'D'))
    SELECT q.constraint_type, q.constraint_name, q.delete_action, q.update_action, q.status_enabled,
        q.status_for_replication, q.constraint_keys
    FROM (
        SELECT CONVERT(nvarchar(146), CASE k.type WHEN 'PK' THEN 'PRIMARY KEY' ELSE 'UNIQUE' END
                + CASE i.index_id WHEN 1 THEN ' (clustered)' ELSE ' (non-clustered)' END) AS constraint_type,
            CONVERT(nvarchar(128), k.name) AS constraint_name, CONVERT(nvarchar(11), '(n/a)') AS delete_action,
            CONVERT(nvarchar(11), '(n/a)') AS update_action, CONVERT(varchar(8), '(n/a)') AS status_enabled,
            CONVERT(varchar(19), '(n/a)') AS status_for_replication,
            CONVERT(nvarchar(2126), (SELECT STRING_AGG(CONVERT(nvarchar(max), c.name)
                    + CASE x.is_descending_key WHEN 1 THEN N'(-)' ELSE N'' END, N', ') WITHIN GROUP (ORDER BY x.key_ordinal)
                FROM sys.index_columns x JOIN sys.columns c ON c.object_id = x.object_id AND c.column_id = x.column_id
                WHERE x.object_id = i.object_id AND x.index_id = i.index_id)) AS constraint_keys,
            CONVERT(nvarchar(128), k.name) AS place, 0 AS line
        FROM sys.key_constraints k
            JOIN sys.indexes i ON i.object_id = k.parent_object_id AND i.index_id = k.unique_index_id
        WHERE k.parent_object_id = @id
        UNION ALL
        SELECT CASE n.line WHEN 0 THEN N'FOREIGN KEY' ELSE N' ' END, CASE n.line WHEN 0 THEN f.name ELSE N' ' END,
            CASE n.line WHEN 0 THEN CASE f.delete_referential_action WHEN 0 THEN N'No Action' WHEN 1 THEN N'Cascade'
                WHEN 2 THEN N'Set Null' ELSE N'Set Default' END ELSE N' ' END,
            CASE n.line WHEN 0 THEN CASE f.update_referential_action WHEN 0 THEN N'No Action' WHEN 1 THEN N'Cascade'
                WHEN 2 THEN N'Set Null' ELSE N'Set Default' END ELSE N' ' END,
            CASE n.line WHEN 0 THEN CASE f.is_disabled WHEN 1 THEN 'Disabled' ELSE 'Enabled' END ELSE ' ' END,
            CASE n.line WHEN 0 THEN 'Is_For_Replication' ELSE ' ' END,
            CASE n.line WHEN 0 THEN (SELECT STRING_AGG(CONVERT(nvarchar(max), c.name), N', ')
                    WITHIN GROUP (ORDER BY x.constraint_column_id)
                FROM sys.foreign_key_columns x
                    JOIN sys.columns c ON c.object_id = x.parent_object_id AND c.column_id = x.parent_column_id
                WHERE x.constraint_object_id = f.object_id)
            ELSE N'REFERENCES ' + DB_NAME() + N'.' + OBJECT_SCHEMA_NAME(f.referenced_object_id) + N'.'
                + OBJECT_NAME(f.referenced_object_id) + N' (' + (SELECT STRING_AGG(CONVERT(nvarchar(max), c.name), N', ')
                    WITHIN GROUP (ORDER BY x.constraint_column_id)
                FROM sys.foreign_key_columns x
                    JOIN sys.columns c ON c.object_id = x.referenced_object_id AND c.column_id = x.referenced_column_id
                WHERE x.constraint_object_id = f.object_id) + N')' END,
            f.name, n.line
        FROM sys.foreign_keys f CROSS JOIN (VALUES (0), (1)) AS n (line)
        WHERE f.parent_object_id = @id
        UNION ALL
        SELECT CASE WHEN k.parent_column_id = 0 THEN N'CHECK Table Level '
                ELSE N'CHECK on column ' + COL_NAME(@id, k.parent_column_id) END, k.name, N'(n/a)', N'(n/a)',
            CASE k.is_disabled WHEN 1 THEN 'Disabled' ELSE 'Enabled' END, 'Is_For_Replication', k.definition, k.name, 0
        FROM sys.check_constraints k WHERE k.parent_object_id = @id
        UNION ALL
        SELECT N'DEFAULT on column ' + COL_NAME(@id, k.parent_column_id), k.name, N'(n/a)', N'(n/a)', '(n/a)', '(n/a)',
            k.definition, k.name, 0
        FROM sys.default_constraints k WHERE k.parent_object_id = @id
    ) AS q
    ORDER BY CASE q.line WHEN 0 THEN q.constraint_type ELSE N'FOREIGN KEY' END, q.place, q.line
ELSE
    RAISERROR (N'No constraints are defined on object ''%s'', or you do not have permissions.', 0, 1, @objname)
IF EXISTS (SELECT 1 FROM sys.foreign_keys WHERE referenced_object_id = @id)
    SELECT DB_NAME() + N'.' + OBJECT_SCHEMA_NAME(parent_object_id) + N'.' + OBJECT_NAME(parent_object_id) + N': ' + name
        AS [Table is referenced by foreign key]
    FROM sys.foreign_keys WHERE referenced_object_id = @id ORDER BY 1
ELSE
    RAISERROR (N'No foreign keys reference table ''%s'', or you do not have permissions on referencing tables.', 0, 1, @objname)
RETURN 0
