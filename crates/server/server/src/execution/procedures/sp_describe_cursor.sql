CREATE PROCEDURE sp_describe_cursor @cursor_return CURSOR VARYING OUTPUT, @cursor_source nvarchar(30), @cursor_identity nvarchar(128)
AS
IF @cursor_source IS NULL OR LOWER(@cursor_source) NOT IN (N'local', N'global', N'variable')
BEGIN
    RAISERROR (N'sp_describe_cursor: The value of the parameter cursor_source is invalid.', 16, 1)
    RETURN 1
END
DECLARE @scope smallint = CASE LOWER(@cursor_source) WHEN N'global' THEN 2 ELSE 1 END,
    @variable bit = CASE LOWER(@cursor_source) WHEN N'variable' THEN 1 ELSE 0 END
IF NOT EXISTS (SELECT 1 FROM sys.selenite_cursors() c
    WHERE c.cursor_scope = @scope AND c.is_variable = @variable AND c.reference_name = @cursor_identity)
BEGIN
    RAISERROR (N'A cursor with the name ''%s'' does not exist.', 16, 1, @cursor_identity)
    RETURN 1
END
SET @cursor_return = CURSOR SCROLL STATIC FOR
SELECT reference_name, cursor_name, cursor_scope, status, model, concurrency, scrollable, open_status, cursor_rows, fetch_status,
    column_count, row_count, last_operation, cursor_handle
FROM sys.selenite_cursors() c
WHERE c.cursor_scope = @scope AND c.is_variable = @variable AND c.reference_name = @cursor_identity
OPEN @cursor_return
RETURN 0
