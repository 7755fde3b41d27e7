CREATE PROCEDURE sp_help @objname nvarchar(776) = NULL
AS
DECLARE @object int
SET @object = OBJECT_ID(@objname)
IF @objname IS NULL
    SELECT CONVERT(nvarchar(128), o.name) AS Name, CONVERT(nvarchar(128), SCHEMA_NAME(o.schema_id)) AS Owner,
        CONVERT(nvarchar(31), CASE o.type WHEN 'U' THEN N'user table' WHEN 'V' THEN N'view' WHEN 'P' THEN N'stored procedure'
            WHEN 'PK' THEN N'primary key cns' WHEN 'UQ' THEN N'unique cns' WHEN 'F' THEN N'foreign key cns' WHEN 'C' THEN N'check cns'
            WHEN 'D' THEN N'default (maybe cns)' END) AS Object_type
    FROM sys.objects o ORDER BY 2, 3 DESC, 1
ELSE
BEGIN
    SELECT CONVERT(nvarchar(128), o.name) AS Name, CONVERT(nvarchar(128), SCHEMA_NAME(o.schema_id)) AS Owner,
        CONVERT(nvarchar(31), CASE o.type WHEN 'U' THEN N'user table' WHEN 'V' THEN N'view' WHEN 'P' THEN N'stored procedure'
            WHEN 'PK' THEN N'primary key cns' WHEN 'UQ' THEN N'unique cns' WHEN 'F' THEN N'foreign key cns' WHEN 'C' THEN N'check cns'
            WHEN 'D' THEN N'default (maybe cns)' END) AS Type,
        o.create_date AS Created_datetime
    FROM sys.all_objects o WHERE o.object_id = @object
    IF EXISTS (SELECT 1 FROM sys.all_columns c WHERE c.object_id = @object)
    BEGIN
        SELECT CONVERT(nvarchar(128), c.name) AS Column_name, CONVERT(nvarchar(128), TYPE_NAME(c.user_type_id)) AS Type,
            CONVERT(varchar(35), CASE c.is_computed WHEN 1 THEN 'yes' ELSE 'no' END) AS Computed, CONVERT(int, c.max_length) AS [Length],
            CONVERT(char(5), CASE WHEN c.[precision] > 0 THEN CONVERT(varchar(5), c.[precision]) ELSE '     ' END) AS Prec,
            CONVERT(char(5), CASE WHEN c.[precision] > 0 THEN CONVERT(varchar(5), c.scale) ELSE '     ' END) AS Scale,
            CONVERT(varchar(35), CASE c.is_nullable WHEN 1 THEN 'yes' ELSE 'no' END) AS Nullable,
            CONVERT(varchar(35), CASE WHEN c.collation_name IS NULL THEN '(n/a)' ELSE 'no' END) AS TrimTrailingBlanks,
            CONVERT(varchar(35), CASE WHEN c.collation_name IS NULL THEN '(n/a)' WHEN c.is_nullable = 1 THEN 'yes' ELSE 'no' END)
                AS FixedLenNullInSource,
            CONVERT(nvarchar(128), c.collation_name) AS Collation
        FROM sys.all_columns c WHERE c.object_id = @object ORDER BY c.column_id
        SELECT CONVERT(nvarchar(128), c.name) AS [Identity], CONVERT(numeric(38, 0), c.seed_value) AS Seed,
            CONVERT(numeric(38, 0), c.increment_value) AS Increment,
            CONVERT(int, c.is_not_for_replication) AS [Not For Replication]
        FROM sys.identity_columns c WHERE c.object_id = @object
    END
    IF EXISTS (SELECT 1 FROM sys.parameters p WHERE p.object_id = @object)
        SELECT CONVERT(nvarchar(128), p.name) AS Parameter_name, CONVERT(nvarchar(128), TYPE_NAME(p.user_type_id)) AS Type,
            p.max_length AS [Length], CONVERT(int, p.[precision]) AS Prec, CONVERT(int, p.scale) AS Scale, p.parameter_id AS Param_order
        FROM sys.parameters p WHERE p.object_id = @object ORDER BY 6
END
