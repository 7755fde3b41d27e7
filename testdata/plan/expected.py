"""What the snapshots beside this file mean, worked out a second time: writes expected.json.

python3 testdata/plan/expected.py
"""
import csv
import json
import pathlib

HERE = pathlib.Path(__file__).parent
K = 1024


def intervals(snapshots, one):
    return [one(before, after) for before, after in zip(snapshots, snapshots[1:])]


def interval(seconds, requests=None, cpu=None, **load):
    named = {name.replace("_", "-"): {"count": count, "kib": size / K} for name, (count, size) in load.items()}
    return {"seconds": seconds, "requests": requests, "cpu_seconds": cpu, "load": named}


def mariadb(folder):
    snapshots = []
    for n in (1, 2, 3):
        lines = (HERE / folder / f"snapshot-{n}.tsv").read_text().splitlines()
        snapshots.append(dict(line.split("\t", 1) for line in lines))

    def one(before, after):
        def d(name):
            return int(after[name]) - int(before[name])

        page = int(after["Innodb_page_size"])
        ahead = d("Innodb_buffer_pool_read_ahead")
        random, written = d("Innodb_pages_read") - ahead, d("Innodb_pages_written")
        network = d("Bytes_received") + d("Bytes_sent")
        time = "selenite_snapshot_time"
        return interval(
            float(after[time]) - float(before[time]), d("Questions"),
            read_sequential=(ahead, ahead * page), read_random=(random, random * page), write=(written, written * page),
            log_record=(d("Innodb_log_write_requests"), d("Innodb_os_log_written")),
            commit=(d("Innodb_max_trx_id") / 2, 0), handshake=(d("Connections"), 0),
            packet=(max(2 * d("Questions"), -(-network // 16384)), network))

    return {"page_size": int(snapshots[0]["Innodb_page_size"]), "cores": None,
            "database_mib": int(snapshots[-1]["selenite_database_bytes"]) / K / K, "intervals": intervals(snapshots, one)}


def postgresql(folder):
    lines = (HERE / folder / "snapshots.csv").read_text().splitlines()
    snapshots = [row for row in csv.DictReader(lines) if row["block_size"] != "block_size"]

    def one(before, after):
        def d(name):
            return int(after[name]) - int(before[name])

        page = 8192
        if "read_bytes_normal" in after:
            random = d("reads_normal")
            sequential = (d("read_bytes_normal") + d("read_bytes_sequential")) / page - random
            written = (d("write_bytes") + d("extend_bytes")) / page
            log = d("wal_writes"), d("wal_write_bytes")
        elif "reads_random" in after:
            random, sequential, written = d("reads_random"), d("reads_sequential"), d("writes") + d("extends")
            log = d("wal_write"), d("wal_bytes") + d("wal_write") * page
        else:
            random, sequential, written = d("blks_read"), 0, d("buffers_written")
            count = d("wal_write") if "wal_write" in after else d("next_transaction")
            log = count, d("wal_bytes") + count * page
        load = dict(read_random=(random, random * page), read_sequential=(sequential, sequential * page),
                    write=(written, written * page), log_record=log, commit=(d("next_transaction"), 0))
        if "sessions" in after:
            load["handshake"] = (d("sessions"), 0)
        return interval(float(after["snapshot_epoch"]) - float(before["snapshot_epoch"]),
                        d("xact_commit") + d("xact_rollback"), **load)

    return {"page_size": 8192, "cores": None, "database_mib": int(snapshots[-1]["database_bytes"]) / K / K,
            "intervals": intervals(snapshots, one)}


def sql_server(files):
    snapshots = {}
    for name in files:
        for row in csv.DictReader((HERE / "sql-server" / name).read_text("utf-8-sig").splitlines()):
            if row["file_id"].isdigit():
                snapshots.setdefault(int(row["sample_ms"]), {})[int(row["database_id"]), int(row["file_id"])] = row
    snapshots = [snapshots[sample] for sample in sorted(snapshots)]
    facts = snapshots[0][1, 1]

    def one(before, after):
        random = sequential = written = log_count = log_bytes = 0
        for key in after:
            def d(name):
                return int(after[key][name]) - int(before[key][name])

            if key[0] not in (2, 5, 6):
                continue
            if key[1] == 2:
                log_count, log_bytes = log_count + d("num_of_writes"), log_bytes + d("num_of_bytes_written")
            else:
                random += d("num_of_reads")
                sequential += d("num_of_bytes_read") // 8192 - d("num_of_reads")
                written += d("num_of_bytes_written") // 8192
        load = dict(read_random=(random, random * 8192), read_sequential=(sequential, sequential * 8192),
                    write=(written, written * 8192), log_record=(log_count, log_bytes))
        rates = {}
        if "logins" in facts:
            load["commit"], load["handshake"] = (d_("write_transactions", before, after), 0), (d_("logins", before, after), 0)
            rates = dict(requests=d_("batch_requests", before, after), cpu=d_("process_cpu_ms", before, after) / 1000)
        return interval(d_("sample_ms", before, after) / 1000, **rates, **load)

    def d_(name, before, after):
        return int(after[1, 1][name]) - int(before[1, 1][name])

    return {"page_size": 8192, "cores": 8 if "cpu_count" in facts else None, "database_mib": 80.0,
            "intervals": intervals(snapshots, one)}


expected = {folder: mariadb(folder) for folder in ("mariadb-10.11", "mariadb-11.8")}
for folder in ("postgresql-13-query", "postgresql-15", "postgresql-17", "postgresql-18"):
    expected[folder] = postgresql(folder)
expected["sql-server"] = sql_server(["files.csv"])
expected["sql-server-plain"] = sql_server([f"plain-{n}.csv" for n in (1, 2, 3)])
(HERE / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
