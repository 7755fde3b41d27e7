"""An application in the middle of its work: application.py DATABASE, then a line for each state it shall be in.

It stops there with its files open, so that someone may look into them.
"""

import json
import sqlite3
import sys
from pathlib import Path

from database import connect

# Sorters and temporary tables go to disk once they are larger than the cache.
COPIES = "WITH RECURSIVE copy(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copy WHERE n < 100)"


def main(path: Path) -> None:
    connection = connect(path)
    connection.execute("PRAGMA cache_size = 2")
    connection.execute("PRAGMA temp_store = file")
    connection.execute("PRAGMA synchronous = normal")
    values = [bytes.fromhex(value) for value in json.loads(sys.stdin.readline())]
    for line in sys.stdin:
        STATES[line.strip()](connection, values)
        print("ready", flush=True)


def wal(connection: sqlite3.Connection, values: list[bytes]) -> None:
    """Committed, and not yet in the database."""
    connection.execute("PRAGMA journal_mode = wal")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute("DROP TABLE IF EXISTS selenite_demo")
    connection.execute("BEGIN")
    connection.execute("CREATE TABLE selenite_demo(value BLOB)")
    connection.executemany("INSERT INTO selenite_demo VALUES (?)", [(value,) for value in values])
    connection.execute("COMMIT")


def journal(connection: sqlite3.Connection, _values: list[bytes]) -> None:
    """Overwritten in the database, and still in the journal that could bring it back."""
    connection.execute("PRAGMA journal_mode = delete")
    connection.execute("BEGIN")
    connection.execute("UPDATE selenite_demo SET value = zeroblob(length(value))")


def temporary(connection: sqlite3.Connection, _values: list[bytes]) -> None:
    """In a temporary table, and in the runs of a large ORDER BY that has given its first row."""
    connection.execute("ROLLBACK")
    connection.execute("PRAGMA temp.cache_size = 2")
    connection.execute(f"CREATE TEMP TABLE scratch AS {COPIES} SELECT value FROM selenite_demo, copy")
    unfinished.append(connection.execute(f"{COPIES} SELECT value FROM selenite_demo, copy ORDER BY randomblob(8)"))
    unfinished[-1].fetchone()


def end(connection: sqlite3.Connection, _values: list[bytes]) -> None:
    unfinished.clear()
    connection.execute("DROP TABLE selenite_demo")
    connection.close()


unfinished: list[sqlite3.Cursor] = []
STATES = {"wal": wal, "journal": journal, "temporary": temporary, "end": end}

if __name__ == "__main__":
    main(Path(sys.argv[1]))
