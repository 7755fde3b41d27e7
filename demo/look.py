"""Looks for the values of a database in its files, plain and encrypted: look.py PLAIN ENCRYPTED."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from database import tables
from terminal import Meter, say, size_text, table
from values import SIZE_MIN, Search, draw

COUNT = 1000
TEMPORARY = Path("temporary").resolve()


class Application:
    """A process with the database open, in the state that it was told to be in."""

    def __init__(self, path: Path, values: list[bytes]) -> None:
        self.path = path
        TEMPORARY.mkdir(exist_ok=True)
        self.process = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("application.py"), path],
            env=os.environ | {"SQLITE_TMPDIR": str(TEMPORARY)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.tell(json.dumps([value.hex() for value in values]))

    def tell(self, line: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def enter(self, state: str) -> None:
        assert self.process.stdout
        self.tell(state)
        if self.process.stdout.readline() != "ready\n":
            sys.exit(f"the application on {self.path} did not reach the state {state}")

    def beside(self, ending: str) -> list[Path]:
        return [self.path.with_name(self.path.name + ending)]

    def temporary_files(self) -> list[Path]:
        """Files without a name, by the descriptors of the process that has them open."""
        descriptors = Path(f"/proc/{self.process.pid}/fd").iterdir()
        return [path for path in descriptors if os.readlink(path).startswith(str(TEMPORARY))]


def counts(path: Path, values: list[bytes]) -> Iterator[tuple[str, int, int]]:
    """Where it was looked, how many bytes there are, and how many of the values."""
    search = Search(values)

    def look(what: str, files: list[Path]) -> tuple[str, int, int]:
        size = sum(file.stat().st_size for file in files)
        meter = Meter(f"{what}, {path.name}:")
        found = search.found_in(files, meter.show)
        meter.wipe()
        return what, size, len(found)

    application = Application(path, values)
    application.enter("wal")
    yield look("database", [path])
    yield look("write-ahead log", application.beside("-wal"))
    application.enter("journal")
    yield look("rollback journal", application.beside("-journal"))
    application.enter("temporary")
    yield look("temporary files", application.temporary_files())
    application.enter("end")


def main(plain: Path, encrypted: Path) -> None:
    connection = sqlite3.connect(plain)
    values = draw(connection, COUNT)
    table_count = len(tables(connection))
    connection.close()
    say(f"{len(values):,} values of {SIZE_MIN} bytes or more, from {table_count} tables, sought at every byte:")
    say()
    sides = [list(counts(path, values)) for path in (plain, encrypted)]
    rows = []
    for (what, plain_size, plain_count), (_, size, count) in zip(*sides, strict=True):
        rows.append([what, size_text(plain_size), f"{plain_count:,}", size_text(size), f"{count:,}"])
    table(["", "plain", "found", "encrypted", "found"], rows)
    if any(count < len(values) for _, _, count in sides[0]):
        say()
        say("Values that lie across the border of two pages are not found in the plain files either.")
    if any(row[4] != "0" for row in rows):
        sys.exit("values were found in encrypted files")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
