"""One piece of work on one database, in a process of its own: work.py DATABASE WORK [TABLE COLUMN].

Prints what the work alone took, as JSON: CPU time (of user and system together) and elapsed time, in nanoseconds.
Opening the database and loading the extension are not counted. A database is opened through the extension if it is
encrypted, and by SQLite alone if it is not.
"""

import json
import os
import random
import resource
import sqlite3
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

INSERT_COUNT = 10_000
LOG = "selenite_bench_log"
READ_SIZE = 1 << 20
SEED = 20080806


@dataclass
class Target:
    """What is worked on."""

    path: Path
    connection: sqlite3.Connection
    table: str
    column: str


def like(target: Target) -> None:
    """Every row is read, none fits."""
    target.connection.execute(
        f"SELECT count(*) FROM {target.table} NOT INDEXED WHERE {target.column} LIKE '%wibble%'"
    ).fetchone()


def equal(target: Target) -> None:
    """Every row is read, none fits, and to see that is cheap."""
    target.connection.execute(
        f"SELECT count(*) FROM {target.table} NOT INDEXED WHERE {target.column} = 'wibble'"
    ).fetchone()


def select(target: Target) -> None:
    """Every row is handed to Python."""
    for _ in target.connection.execute(f"SELECT * FROM {target.table} NOT INDEXED"):
        pass


def insert(target: Target) -> None:
    """One commit a row."""
    for number in range(INSERT_COUNT):
        target.connection.execute(f"INSERT INTO {LOG}(text) VALUES (?)", (f"entry {number} of a log, as any other",))


def update(target: Target) -> None:
    """Every row is changed, in one transaction, and the changes are brought into the database."""
    target.connection.execute(f"UPDATE {target.table} SET number = number + 1")
    target.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def backup(target: Target) -> None:
    """Into a new database of the same kind."""
    copy = connect(target.path.with_suffix(".copy"), is_encrypted(target.path))
    copy.execute("PRAGMA synchronous = normal")
    target.connection.backup(copy)
    copy.close()


def integrity(target: Target) -> None:
    if target.connection.execute("PRAGMA integrity_check").fetchone() != ("ok",):
        sys.exit("integrity_check found something")


WORKS: dict[str, Callable[[Target], None]] = {
    work.__name__: work for work in (like, equal, select, insert, update, backup, integrity)
}


def connect(path: Path, encrypted: bool) -> sqlite3.Connection:
    if not encrypted:
        return sqlite3.connect(path, isolation_level=None)
    loader = sqlite3.connect(":memory:")
    loader.enable_load_extension(True)
    loader.load_extension(os.environ["SELENITE_EXTENSION"])
    return sqlite3.connect(f"file:{quote(str(path))}?vfs=selenite", uri=True, isolation_level=None)


def make(path: Path, encrypted: bool, row_count: int) -> None:
    """A table to work on, the same one every time."""
    connection = connect(path, encrypted)
    connection.execute("PRAGMA journal_mode = off")
    connection.execute("PRAGMA synchronous = off")
    connection.execute("CREATE TABLE item(id INTEGER PRIMARY KEY, number INTEGER, name TEXT, text TEXT)")
    connection.execute("BEGIN")
    draw = random.Random(SEED)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randrange(3, 10))) for _ in range(2000)]
    rows = ((number, f"item {number}", " ".join(draw.choices(words, k=30))) for number in range(row_count))
    connection.executemany("INSERT INTO item(number, name, text) VALUES (?, ?, ?)", rows)
    connection.execute("COMMIT")
    connection.execute("CREATE INDEX item_name ON item(name)")
    connection.close()


def is_encrypted(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(8) == b"Selenite"


def warm(path: Path) -> None:
    """What is read comes from the operating system's memory."""
    with path.open("rb") as file:
        while file.read(READ_SIZE):
            pass


def cpu_ns() -> int:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return round((usage.ru_utime + usage.ru_stime) * 1e9)


def main(path: Path, work: str, table: str = "item", column: str = "text") -> None:
    warm(path)
    connection = connect(path, is_encrypted(path))
    connection.execute("PRAGMA journal_mode = wal")
    connection.execute("PRAGMA synchronous = normal")
    if work == "insert":
        connection.execute(f"CREATE TABLE IF NOT EXISTS {LOG}(id INTEGER PRIMARY KEY, text TEXT)")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    path.with_suffix(".copy").unlink(missing_ok=True)
    target = Target(path, connection, table, column)

    cpu, elapsed = cpu_ns(), time.perf_counter_ns()
    WORKS[work](target)
    cpu, elapsed = cpu_ns() - cpu, time.perf_counter_ns() - elapsed

    connection.execute(f"DROP TABLE IF EXISTS {LOG}")
    connection.close()
    path.with_suffix(".copy").unlink(missing_ok=True)
    print(json.dumps({"cpu_ns": cpu, "elapsed_ns": elapsed}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
