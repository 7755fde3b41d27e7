"""Reads every table of a database twice, plain and encrypted, and compares: read_through.py PLAIN ENCRYPTED."""

import sqlite3
import sys
from pathlib import Path

from database import columns, connect, quoted, tables
from terminal import progress, say, table

# The rest is told in one line.
SHOWN_MAX = 8


def content(connection: sqlite3.Connection, name: str) -> tuple[int, int]:
    """How many rows, and how many bytes in all their columns."""
    lengths = " + ".join(f"ifnull(length(CAST({quoted(column)} AS BLOB)), 0)" for column in columns(connection, name))
    row = connection.execute(f"SELECT count(*), ifnull(sum({lengths}), 0) FROM {quoted(name)}").fetchone()
    return int(row[0]), int(row[1])


def main(plain_path: Path, encrypted_path: Path) -> None:
    plain, encrypted = connect(plain_path, encrypted=False), connect(encrypted_path, encrypted=True)
    names = tables(plain)
    compared = [
        (name, content(plain, name), content(encrypted, name))
        for name in progress(names, len(names), "tables compared:")
    ]
    compared.sort(key=lambda entry: -entry[1][1])
    rows = [
        [name, f"{rows:,}", f"{size:,}", "the same" if (rows, size) == other else "NOT THE SAME"]
        for name, (rows, size), other in compared
    ]
    table(["table", "rows", "bytes", "encrypted"], rows[:SHOWN_MAX])
    if len(rows) > SHOWN_MAX:
        say(f"and {len(rows) - SHOWN_MAX} more")
    if any(row[3] != "the same" for row in rows):
        sys.exit("the encrypted database does not have what the plain one has")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
