CREATE PROCEDURE sp_who @loginame nvarchar(128) = NULL
AS
SELECT p.spid, p.ecid, p.status, p.loginame, p.hostname, CONVERT(char(5), p.blocked) AS blk,
    CONVERT(nchar(128), DB_NAME(p.dbid)) AS dbname, p.cmd, p.request_id
FROM sys.sysprocesses p
WHERE @loginame IS NULL OR p.loginame = @loginame OR (@loginame = N'active' AND p.cmd <> N'AWAITING COMMAND')
    OR CONVERT(nvarchar(128), p.spid) = @loginame
ORDER BY p.spid
