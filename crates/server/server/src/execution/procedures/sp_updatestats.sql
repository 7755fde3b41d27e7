CREATE PROCEDURE sp_updatestats @resample char(8) = 'NO'
AS
IF UPPER(@resample) NOT IN ('RESAMPLE', 'NO')
BEGIN
    RAISERROR (N'Invalid option: %s', 16, 1, @resample)
    RETURN 1
END
DECLARE @text nvarchar(max) = N''
SELECT @text = @text + N'Updating [' + SCHEMA_NAME(schema_id) + N'].[' + name + N']' + NCHAR(10)
    + N'    0 index(es)/statistic(s) have been updated, 0 did not require update.' + NCHAR(10)
FROM sys.tables ORDER BY name
IF @text <> N'' PRINT @text
PRINT N'Statistics for all tables have been updated.'
RETURN 0
