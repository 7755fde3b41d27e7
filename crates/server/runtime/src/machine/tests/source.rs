//! The script of the context switches article, with fewer iterations: it runs as published.

use self::mock::Counter;
use super::*;

const SCRIPT: &str = "select @@spid

DBCC SQLPERF('sys.dm_os_wait_stats', CLEAR);

select @@VERSION

select encrypt_option from sys.dm_exec_connections where session_id = @@SPID 

DECLARE @starttime datetime, @endtime datetime
DECLARE @cnt int = 0, @ts_start int ;
DECLARE @context_switches_before int, @context_switches_after int ;

SET @starttime =getdate() ;
select @context_switches_before = sum(context_switches_count) 
  from sys.dm_os_schedulers ;

--load  
BEGIN
    WHILE @cnt < 100000000
\tBEGIN
\t   SET @cnt = @cnt + 1;
\tEND;
END

select @context_switches_after = sum(context_switches_count) 
  from sys.dm_os_schedulers ;

select ( @context_switches_after  -  @context_switches_before ) context_switches ;

SET @endtime = GETDATE() ;
SELECT Datediff(s, @starttime, @endtime) elapsed_seconds

select * from sys.dm_os_wait_stats where wait_type = 'PREEMPTIVE_OS_ENCRYPTMESSAGE' ;
";

/// TDS.md 5.1: two DONEs for each iteration, one for the test that ends the loop, and one for each other statement.
#[test]
fn the_whole_script_compiles_and_runs() {
    let text = SCRIPT.replace("100000000", "1000");
    let program = compile(&text).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert_eq!(
        program.statement_count(),
        5,
        "DBCC and the four SELECTs from views are the host's"
    );
    let mut machine = Machine::new();
    let mut host = Counter::new();
    let request = Request {
        program: Arc::new(program),
        arguments: Vec::new(),
        entry: Entry::Batch,
    };
    assert_eq!(machine.run(request, &mut host), Ended::Finished);
    let others = 12;
    assert_eq!(host.done_count, 2 * 1000 + 1 + others, "{:?}", host.inner.calls);
    let recorded = host.inner.recorded();
    let context_switches = recorded
        .iter()
        .position(|call| call == "columns context_switches")
        .unwrap();
    assert_eq!(
        recorded[context_switches + 1],
        "row NULL",
        "the host of this test assigns nothing"
    );
    assert!(recorded.contains(&"columns elapsed_seconds".to_owned()));
    assert!(!recorded.iter().any(|call| call.starts_with("msg ")), "{recorded:?}");
}

/// The second script of the article, which samples the load from another session.
#[test]
fn the_sampling_script_runs() {
    let recorded = run("declare @spid int = 78, @i int = 1, @samples int = 3 ;

begin
  while ( @i <= @samples ) 
  begin
    select cpu_time,total_elapsed_time, status, wait_type, wait_time, 
\t  scheduler_id
\t  from sys.dm_exec_requests r 
\t  where session_id = @spid
\twaitfor delay '00:00:01'
\tset @i = @i + 1
  end
end ;");
    assert_eq!(
        recorded
            .iter()
            .filter(|call| *call == "Delay { milliseconds: 1000 }")
            .count(),
        3
    );
}
