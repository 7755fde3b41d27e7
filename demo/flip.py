"""Flips one bit of one page of an encrypted database, looks what it does, and flips it back: flip.py DATABASE."""

import sqlite3
import sys
from pathlib import Path

from database import connect, last_error, quoted, row_count, tables
from terminal import Meter, say, strong

PREFIX_SIZE = 65536


def largest_table(connection: sqlite3.Connection) -> str:
    """The one with the most rows, of those that are in the order of their rowid."""
    counts = {}
    for name in tables(connection):
        try:
            connection.execute(f"SELECT rowid FROM {quoted(name)} LIMIT 1")
            counts[name] = row_count(connection, name)
        except sqlite3.OperationalError:
            continue
    return max(counts, key=lambda name: counts[name])


def middle_leaf(connection: sqlite3.Connection, table: str) -> int:
    """A page in the middle of the table."""
    pages = connection.execute(
        "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path", (table,)
    ).fetchall()
    return int(pages[len(pages) // 2][0])


def flip(path: Path, page: int, page_size: int) -> None:
    offset = PREFIX_SIZE + (page - 1) * page_size + page_size // 2
    with path.open("r+b") as file:
        file.seek(offset)
        (byte,) = file.read(1)
        file.seek(offset)
        file.write(bytes([byte ^ 1]))


def read_until_error(path: Path, table: str, order: str, total: int) -> tuple[int, sqlite3.Error | None]:
    """How many rows are read before an error, if there is one."""
    connection, count = connect(path), 0
    meter = Meter(f"rows of {table}:")
    try:
        for _ in connection.execute(f"SELECT * FROM {quoted(table)} NOT INDEXED ORDER BY rowid {order}"):
            count += 1
            if count % 10_000 == 0:
                meter.show(count, total)
        return count, None
    except sqlite3.Error as error:
        return count, error
    finally:
        meter.wipe()
        connection.close()


def main(path: Path) -> None:
    connection = connect(path)
    table = largest_table(connection)
    total = row_count(connection, table)
    page = middle_leaf(connection, table)
    (page_size,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()

    flip(path, page, page_size)
    before, error = read_until_error(path, table, "ASC", total)
    reason = last_error()
    behind, _ = read_until_error(path, table, "DESC", total)
    flip(path, page, page_size)
    whole, error_after = read_until_error(path, table, "ASC", total)

    if error is None or error_after is not None or whole != total:
        sys.exit(f"an altered page was not refused, or an unaltered one was: {error}, {error_after}")
    say(f"page {page:,} holds rows of {table}. One bit of it is flipped in the file, then {table} is read:")
    say()
    say(f"  {type(error).__name__}: {error} ({error.sqlite_errorname})")
    say(f"  {strong(reason)}")
    say()
    say(f"the {before:,} rows before that page and the {behind:,} after it can still be read")
    say(f"flipped back: all {total:,} are there again")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
