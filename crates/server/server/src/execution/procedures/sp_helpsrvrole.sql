CREATE PROCEDURE sp_helpsrvrole @srvrolename nvarchar(128) = NULL
AS
SELECT CONVERT(nvarchar(128), r.name) AS ServerRole, CONVERT(nvarchar(70), CASE r.name WHEN 'sysadmin' THEN N'System Administrators'
    WHEN 'securityadmin' THEN N'Security Administrators' WHEN 'processadmin' THEN N'Process Administrators'
    WHEN 'dbcreator' THEN N'Database Creators' ELSE N'Bulk Insert Administrators' END) AS Description
FROM sys.server_principals r
WHERE r.is_fixed_role = 1 AND (@srvrolename IS NULL OR r.name = @srvrolename)
ORDER BY r.principal_id
