CREATE PROCEDURE sp_who2 @loginame nvarchar(128) = NULL
AS
SELECT CONVERT(char(5), p.spid) AS SPID, CONVERT(nchar(30), p.status) AS Status, CONVERT(nvarchar(128), p.loginame) AS Login,
    CASE WHEN p.hostname = N'' THEN N'  .' ELSE CONVERT(nvarchar(128), p.hostname) END AS HostName,
    CASE WHEN p.blocked = 0 THEN '  .  ' ELSE CONVERT(char(5), p.blocked) END AS BlkBy,
    CONVERT(nvarchar(128), DB_NAME(p.dbid)) AS DBName, CONVERT(nvarchar(26), p.cmd) AS Command,
    CONVERT(varchar(20), p.cpu) AS CPUTime, CONVERT(varchar(20), p.physical_io) AS DiskIO,
    CONCAT(SUBSTRING(CONVERT(varchar(23), p.last_batch, 121), 6, 2), '/', SUBSTRING(CONVERT(varchar(23), p.last_batch, 121), 9, 2),
        ' ', SUBSTRING(CONVERT(varchar(23), p.last_batch, 121), 12, 8)) AS LastBatch,
    CONVERT(nvarchar(128), p.program_name) AS ProgramName, CONVERT(char(5), p.spid) AS SPID,
    CONVERT(char(5), p.request_id) AS REQUESTID
FROM sys.sysprocesses p
WHERE @loginame IS NULL OR p.loginame = @loginame OR (@loginame = N'active' AND p.cmd <> N'AWAITING COMMAND')
    OR CONVERT(nvarchar(128), p.spid) = @loginame
ORDER BY p.spid
