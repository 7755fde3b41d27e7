CREATE PROCEDURE sp_helpsrvrolemember @srvrolename nvarchar(128) = NULL
AS
SELECT CONVERT(nvarchar(128), r.name) AS ServerRole, CONVERT(nvarchar(128), m.name) AS MemberName, CONVERT(varbinary(85), m.sid) AS MemberSID
FROM sys.server_role_members rm
JOIN sys.server_principals r ON r.principal_id = rm.role_principal_id
JOIN sys.server_principals m ON m.principal_id = rm.member_principal_id
WHERE r.is_fixed_role = 1 AND (@srvrolename IS NULL OR r.name = @srvrolename)
ORDER BY r.principal_id, m.principal_id
