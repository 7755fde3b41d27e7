"""Writes to a database while another process re-encrypts its pages: rotate.py DATABASE COMMAND...

Commits row after row until the command has ended, then checks that all of them are there.
"""

import sqlite3
import subprocess
import sys
from pathlib import Path

from database import connect
from terminal import say

TABLE = "selenite_demo_rotation"


def main(path: Path, command: list[str]) -> None:
    connection = connect(path)
    connection.execute("PRAGMA journal_mode = wal")
    connection.execute("PRAGMA synchronous = normal")
    connection.execute(f"CREATE TABLE IF NOT EXISTS {TABLE}(number INTEGER)")
    connection.execute(f"DELETE FROM {TABLE}")
    epochs(connection, "before:")

    rotation = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    number, half_way = 0, ""
    while rotation.poll() is None:
        connection.execute(f"INSERT INTO {TABLE} VALUES (?)", (number,))
        number += 1
        if not half_way and number % 50 == 0:
            half_way = at_work(connection)
    if rotation.returncode:
        sys.exit(rotation.stderr.read())

    if half_way:
        say(half_way)
    epochs(connection, "after: ")
    (count,) = connection.execute(f"SELECT count(DISTINCT number) FROM {TABLE}").fetchone()
    connection.execute(f"DROP TABLE {TABLE}")
    connection.close()
    say(f"meanwhile this process committed {number:,} rows, without reopening the database: {count:,} are there")
    if count != number:
        sys.exit("commits were lost")


def at_work(connection: sqlite3.Connection) -> str:
    """The reported progress once a part is done; empty until then."""
    status = dict(connection.execute("SELECT name, value FROM selenite_status WHERE section = 'reencryption'"))
    if status["running"] != "yes" or status["percent_complete"] < 10:
        return ""
    return f"during: process {status['pid']} has re-encrypted {status['percent_complete']:.0f} %, {status['what']}"


def epochs(connection: sqlite3.Connection, when: str) -> None:
    pages = connection.execute("SELECT epoch, suite, pages FROM selenite_epochs").fetchall()
    counts = ", ".join(f"{count:,} pages under key {epoch} ({suite})" for epoch, suite, count in pages if count)
    say(f"{when} {counts}{', no other key' if len(pages) == 1 else ''}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
