CREATE PROCEDURE sp_MSforeachtable @command1 nvarchar(2000), @replacechar nchar(1) = N'?', @command2 nvarchar(2000) = NULL,
    @command3 nvarchar(2000) = NULL, @whereand nvarchar(2000) = NULL, @precommand nvarchar(2000) = NULL, @postcommand nvarchar(2000) = NULL
AS
IF @precommand IS NOT NULL EXEC (@precommand)
DECLARE @query nvarchar(max) = N'DECLARE hCForEachTable CURSOR GLOBAL STATIC FOR
    SELECT QUOTENAME(SCHEMA_NAME(syso.schema_id)) + N''.'' + QUOTENAME(OBJECT_NAME(o.id))
    FROM dbo.sysobjects o JOIN sys.all_objects syso ON o.id = syso.object_id WHERE OBJECTPROPERTY(o.id, N''IsUserTable'') = 1 '
    + ISNULL(@whereand, N'')
EXEC (@query)
IF @@ERROR <> 0 RETURN 1
OPEN hCForEachTable
DECLARE @table nvarchar(517), @text nvarchar(max)
FETCH NEXT FROM hCForEachTable INTO @table
WHILE @@FETCH_STATUS = 0
BEGIN
    SET @text = REPLACE(@command1, @replacechar, @table)
    EXEC (@text)
    IF @command2 IS NOT NULL
    BEGIN
        SET @text = REPLACE(@command2, @replacechar, @table)
        EXEC (@text)
    END
    IF @command3 IS NOT NULL
    BEGIN
        SET @text = REPLACE(@command3, @replacechar, @table)
        EXEC (@text)
    END
    FETCH NEXT FROM hCForEachTable INTO @table
END
CLOSE hCForEachTable
DEALLOCATE hCForEachTable
IF @postcommand IS NOT NULL EXEC (@postcommand)
RETURN 0
