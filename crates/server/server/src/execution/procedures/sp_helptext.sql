CREATE PROCEDURE sp_helptext @objname nvarchar(776), @columnname nvarchar(128) = NULL
AS
SELECT l.text AS Text FROM sys.selenite_module_lines(OBJECT_ID(@objname)) l ORDER BY l.number
