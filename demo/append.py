"""Two processes append to one database at once: append.py DATABASE."""

import os
import sys
import time
from pathlib import Path

from database import connect
from terminal import say

EACH = 2000
TABLE = "selenite_demo_log"


def append(path: Path, writer: str) -> None:
    """One commit a row, each waiting for the other's."""
    connection = connect(path)
    connection.execute("PRAGMA synchronous = normal")
    for number in range(EACH):
        connection.execute(f"INSERT INTO {TABLE} VALUES (?, ?)", (writer, number))
    connection.close()


def main(path: Path) -> None:
    connection = connect(path)
    connection.execute("PRAGMA journal_mode = wal")
    connection.execute(f"CREATE TABLE IF NOT EXISTS {TABLE}(writer TEXT, number INTEGER)")
    connection.execute(f"DELETE FROM {TABLE}")
    connection.close()

    start = time.monotonic()
    children = []
    for writer in ["one", "two"]:
        child = os.fork()
        if child == 0:
            append(path, writer)
            os._exit(0)
        children.append(child)
    failed = [child for child in children if os.waitpid(child, 0)[1]]
    elapsed = time.monotonic() - start
    if failed:
        sys.exit("a writer failed")

    connection = connect(path)
    (count,) = connection.execute(f"SELECT count(DISTINCT writer || number) FROM {TABLE}").fetchone()
    # How often the writers took turns shows that they did write at once.
    (turns,) = connection.execute(
        f"SELECT count(*) FROM {TABLE} a JOIN {TABLE} b ON b.rowid = a.rowid + 1 WHERE a.writer <> b.writer"
    ).fetchone()
    connection.execute(f"DROP TABLE {TABLE}")
    say(f"two processes, {EACH:,} commits each: {count:,} of {2 * EACH:,} are there after {elapsed:.1f} s")
    say(f"(one wrote right after the other {turns:,} times)")
    if count != 2 * EACH:
        sys.exit("commits were lost")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
