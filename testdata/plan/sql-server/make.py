"""Writes snapshots of SQL Server as its documentation describes them: no server made them.

python3 testdata/plan/sql-server/make.py
"""
import pathlib

HERE = pathlib.Path(__file__).parent
# database, file, type, then of each of three snapshots: reads, bytes read, writes, bytes written
FILES = [
    (1, 1, "ROWS", [(50, 50 * 8192, 5, 5 * 8192)] * 3),
    (1, 2, "LOG", [(5, 307200, 9, 9 * 4096)] * 3),
    (2, 1, "ROWS", [(100, 819200, 200, 1638400), (110, 901120, 230, 1884160), (110, 901120, 300, 2457600)]),
    (2, 2, "LOG", [(3, 184320, 40, 819200), (3, 184320, 50, 1024000), (3, 184320, 55, 1126400)]),
    (5, 1, "ROWS", [(10000, 245760000, 4000, 65536000), (13000, 393216000, 4500, 77824000), (13400, 396492800, 5200, 83558400)]),
    (5, 2, "LOG", [(12, 737280, 90000, 900000000), (12, 737280, 96000, 960000000), (14, 860160, 105000, 1040000000)]),
    (6, 1, "ROWS", [(700, 5734400, 10, 81920), (700, 5734400, 10, 81920), (708, 6258688, 12, 98304)]),
    (6, 2, "LOG", [(8, 491520, 20, 81920), (8, 491520, 20, 81920), (8, 491520, 25, 102400)]),
    (32767, 1, "ROWS", [(300, 2457600, 0, 0)] * 3),
]
SAMPLES = [864000123, 864015140, 864030155]
# The same moments by the clock, an hour ahead of UTC.
CLOCK = ["2026-11-23T10:00:00.100", "2026-11-23T10:00:15.117", "2026-11-23T10:00:30.132"]
BATCHES, COMMITS, LOGINS, CPU = [1000000, 1006000, 1013500], [400000, 402250, 405600], [900, 903, 910], [7200000, 7218000, 7241500]

plain = "database_id,file_id,sample_ms,num_of_reads,num_of_bytes_read,io_stall_read_ms,num_of_writes,num_of_bytes_written," \
        "io_stall_write_ms,io_stall,size_on_disk_bytes,file_handle,io_stall_queued_read_ms,io_stall_queued_write_ms"
columns = "database_id,file_id,type_desc,sample_ms,num_of_reads,num_of_bytes_read,num_of_writes,num_of_bytes_written," \
          "size_on_disk_bytes,file_count,server_name,sqlserver_start_time,cpu_count,process_cpu_ms,batch_requests," \
          "write_transactions,logins,computer_name,snapshot_utc,utc_offset_minutes"
files = ""
for n in range(3):
    # sqlcmd -W -s","
    files += columns + "\n" + ",".join("-" * len(name) for name in columns.split(",")) + "\n"
    ssms = plain + "\r\n"
    for database, file, kind, counters in FILES:
        reads, read, writes, written = counters[n]
        size = 8 << 20 if kind == "LOG" else 40 << 20
        facts = f"{len(FILES)},SQL1,2026-11-13T04:00:00.123,8,{CPU[n]},{BATCHES[n]},{COMMITS[n]},{LOGINS[n]},SQL1,{CLOCK[n]},60"
        files += f"{database},{file},{kind},{SAMPLES[n]},{reads},{read},{writes},{written},{size},{facts}\n"
        ssms += f"{database},{file},{SAMPLES[n]},{reads},{read},{reads * 2},{writes},{written},{writes},{reads * 2 + writes}," \
                f"{size},0x0000000000000A{file:02X},0,0\r\n"
    # "Save Results As" of Management Studio
    (HERE / f"plain-{n + 1}.csv").write_bytes(b"\xef\xbb\xbf" + ssms.encode())
(HERE / "files.csv").write_text(files)

NAME = "11111111-2222-3333-4444-0000000000%02d"
PACKETS = [  # connection, transport, encrypted, packet size, (reads, writes) in each snapshot
    (1, "TCP", "TRUE", 4096, [(1000, 2000), (1500, 3000), (1700, 3400)]),
    (2, "TCP", "FALSE", 8000, [(10, 10), (30, 40), None]),
    (3, "Shared memory", "FALSE", 4096, [(500, 500), (900, 900), (950, 950)]),
    (4, "TCP", "FALSE", 4096, [None, (20, 60), (120, 360)]),
]
text = ""
for n in range(3):
    names = "sample_ms,connection_count,connection_id,net_transport,encrypt_option,num_reads,num_writes,net_packet_size," \
            "server_name,sqlserver_start_time"
    text += names + "\n" + ",".join("-" * len(name) for name in names.split(",")) + "\n"
    present = [row for row in PACKETS if row[4][n]]
    for connection, transport, encrypted, size, counters in present:
        reads, writes = counters[n]
        text += f"{SAMPLES[n] + 40},{len(present)},{NAME % connection},{transport},{encrypted},{reads},{writes},{size},SQL1,2026-11-13T04:00:00.123\n"
(HERE / "connections.csv").write_text(text)

paths = ["SQLServer:SQL Statistics\\Batch Requests/sec", "SQLServer:Databases(_Total)\\Write Transactions/sec",
         "SQLServer:Databases(_Total)\\Log Bytes Flushed/sec", "SQLServer:Buffer Manager\\Checkpoint pages/sec",
         "Process(sqlservr)\\% Processor Time", "Processor(_Total)\\% Processor Time"]
rows = [("10:00:00.010", [" "] * 6), ("10:00:10.020", ["400", "150", "4000000", "12.5", "120.5", "18"]),
        ("10:00:20.015", ["500", "190.5", "6000000", "0", "139.5", "21"]),
        ("10:00:30.020", ["450", "199.5", "5.0000000000000000e+006", "7.5", "160", "24"])]
out = ",".join(['"(PDH-CSV 4.0) (Coordinated Universal Time)(0)"'] + [f'"\\\\SQL1\\{path}"' for path in paths]) + "\r\n"
for time, values in rows:
    out += ",".join([f'"11/23/2026 {time}"'] + [f'"{value}"' for value in values]) + "\r\n"
(HERE / "performance.csv").write_bytes(out.encode())
