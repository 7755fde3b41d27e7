CREATE PROCEDURE sp_cursor_list @cursor_return CURSOR VARYING OUTPUT, @cursor_scope int
AS
IF @cursor_scope IS NULL OR @cursor_scope NOT IN (1, 2, 3)
BEGIN
    RAISERROR (N'sp_cursor_list: The value of the parameter cursor_scope is invalid.', 16, 1)
    RETURN 1
END
SET @cursor_return = CURSOR SCROLL STATIC FOR
SELECT reference_name, cursor_name, cursor_scope, status, model, concurrency, scrollable, open_status, cursor_rows, fetch_status,
    column_count, row_count, last_operation, cursor_handle
FROM sys.selenite_cursors() c
WHERE c.cursor_scope & @cursor_scope <> 0
ORDER BY c.cursor_scope, c.reference_name
OPEN @cursor_return
RETURN 0
