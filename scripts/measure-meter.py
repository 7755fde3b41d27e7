#!/usr/bin/python3
"""What the meter of calls costs an application whose database is in clear.

    scripts/measure-meter.py [--extension target/release/libselenite.so] [--sessions 12] [--rounds 60] [--json FILE]

Three connections of one process, in random order within each round: SQLite's own VFS, on a copy of the database, since
the extension refuses a file that the process has open without it; the extension with `meter=0`; and with the meter. Each does the same block of work; its CPU time is the process's. Works: a scan that
does little but read pages from the system's cache (the worst case), point reads of a B-tree larger than SQLite's cache,
and transactions of ten updates. A session is a process; its value is the median over rounds of the ratio to the
connection before it in that list, and the interval is Student's t over sessions, 95 %. It writes to a temporary folder
and removes it.
"""

import argparse
import json
import math
import os
import pathlib
import platform
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

ARMS = ["stock", "unmetered", "metered"]
ROWS = 40_000
CACHE_KIB = 2048
# 97.5 % quantiles of Student's t by degrees of freedom.
T = {4: 2.776, 5: 2.571, 7: 2.365, 9: 2.262, 11: 2.201, 14: 2.145, 19: 2.093, 29: 2.045, 39: 2.023}


def connect(arm, path, extension):
    """A connection of an arm; the extension is loaded through another one."""
    connection = sqlite3.connect(":memory:")
    connection.enable_load_extension(True)
    connection.load_extension(str(extension))
    connection.close()
    vfs = {"stock": "vfs=unix", "unmetered": "vfs=selenite&plain=allow&meter=0", "metered": "vfs=selenite&plain=allow"}
    place = f"{path}-copy" if arm == "stock" else path
    opened = sqlite3.connect(f"file:{place}?{vfs[arm]}", uri=True, isolation_level=None)
    opened.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    opened.execute("PRAGMA synchronous = OFF")
    opened.execute("PRAGMA wal_autocheckpoint = 0")
    return opened


def fill(path):
    """A row a page and more: reading it all is reading pages, and little else."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER, body BLOB)")
    connection.execute("BEGIN")
    rows = ((number, number, bytes(3600)) for number in range(ROWS))
    connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    connection.execute("COMMIT")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def scan(connection, chance):
    first = chance.randrange(ROWS // 2)
    connection.execute("SELECT sum(n) FROM t WHERE id BETWEEN ? AND ?", (first, first + ROWS // 4)).fetchone()


def point_reads(connection, chance):
    for _ in range(3000):
        connection.execute("SELECT n FROM t WHERE id = ?", (chance.randrange(ROWS),)).fetchone()


def commits(connection, chance):
    for _ in range(60):
        connection.execute("BEGIN IMMEDIATE")
        for _ in range(10):
            connection.execute("UPDATE t SET n = n + 1 WHERE id = ?", (chance.randrange(ROWS),))
        connection.execute("COMMIT")


WORKS = {"scan": scan, "point reads": point_reads, "transactions": commits}


def session(path, extension, seed, rounds):
    """Ratios of one process, by work: (unmetered to stock, metered to unmetered)."""
    chance = random.Random(seed)
    order = ARMS[:]
    chance.shuffle(order)
    connections = {arm: connect(arm, path, extension) for arm in order}
    found = {}
    for name, work in WORKS.items():
        seconds = {arm: [] for arm in ARMS}
        for number in range(-2, rounds):
            chance.shuffle(order)
            block = chance.randrange(2**32)
            for arm in order:
                connections[arm].execute("PRAGMA wal_checkpoint(TRUNCATE)")
                began = time.process_time_ns()
                work(connections[arm], random.Random(block))
                took = time.process_time_ns() - began
                if number >= 0:
                    seconds[arm].append(took)
        pairs = [("stock", "unmetered"), ("unmetered", "metered")]
        found[name] = [
            statistics.median(b / a for a, b in zip(seconds[one], seconds[other], strict=True)) for one, other in pairs
        ]
    return found


def interval(values):
    """Mean and half-width of logarithms, as percentages."""
    logs = [math.log(value) for value in values]
    degrees = len(logs) - 1
    quantile = T[max(known for known in T if known <= degrees)]
    half = quantile * statistics.stdev(logs) / math.sqrt(len(logs))
    mean = statistics.fmean(logs)
    return [100 * math.expm1(mean + step) for step in (0, -half, half)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--extension", type=pathlib.Path, default=pathlib.Path("target/release/libselenite.so"))
    parser.add_argument("--sessions", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--session", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    extension = arguments.extension.resolve()
    if arguments.session:
        path, seed = arguments.session
        print(json.dumps(session(path, extension, int(seed), arguments.rounds)))
        return
    if arguments.sessions < 5:
        sys.exit("five sessions at least")
    seed = random.randrange(2**32)
    with tempfile.TemporaryDirectory(prefix="meter-") as folder:
        path = os.path.join(folder, "meter.db")
        fill(path)
        found = []
        for number in range(arguments.sessions):
            # How a file lies in the system's cache depends on how it was written: both are copies, new in each session.
            for copy in random.sample(["own", "own-copy"], 2):
                pathlib.Path(folder, copy).unlink(missing_ok=True)
                shutil.copyfile(path, os.path.join(folder, copy))
            command = [sys.executable, __file__, "--extension", extension, "--rounds", str(arguments.rounds)]
            command += ["--session", os.path.join(folder, "own"), str(seed + number)]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(done.stderr)
            found.append(json.loads(done.stdout))
    print(f"{platform.machine()}, SQLite {sqlite3.sqlite_version}, seed {seed}, {len(found)} sessions")
    results = {}
    for work in WORKS:
        for index, label in enumerate(["the extension without the meter, to SQLite", "the meter, to the extension"]):
            mean, low, high = interval([values[work][index] for values in found])
            results[f"{work}: {label}"] = [mean, low, high]
            print(f"{work:14} {label:45} {mean:+.2f} % [{low:.2f}, {high:.2f}]")
    if arguments.json:
        arguments.json.write_text(json.dumps({"seed": seed, "sessions": found, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
