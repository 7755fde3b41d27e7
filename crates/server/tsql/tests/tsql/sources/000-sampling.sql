declare @spid int = 78, @i int = 1, @samples int = 120 ;

begin
  while ( @i <= @samples ) 
  begin
    select cpu_time,total_elapsed_time, status, wait_type, wait_time, 
	  scheduler_id
	  from sys.dm_exec_requests r 
	  where session_id = @spid
	waitfor delay '00:00:01'
	set @i = @i + 1
  end
end ;
