SELECT spid, cpu, physical_io, memusage, st.text
FROM sysprocesses AS sp
CROSS APPLY sys.dm_exec_sql_text(sp.sql_handle) st
WHERE spid IN (56)
