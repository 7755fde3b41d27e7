"""One process with two copies of SQLite in it: Python's own, and the one that apsw brings.

A connection belongs to the copy that its name begins with: "debian" or "apsw". Each has one named "memory" from the
start, which is known here as "debian:memory" and "apsw:memory".
"""

import sys
from typing import Any

from apsw_client import Apsw
from python_sqlite3 import PythonSqlite3
from serve import serve


class TwoCopies:
    def __init__(self, extension: str) -> None:
        self.copies = {"debian": PythonSqlite3(extension), "apsw": Apsw(extension)}

    def open(self, name: str, path: str) -> None:
        self.copy_of(name).open(name, path)

    def run(self, name: str, sql: str, values: list[Any]) -> list[list[Any]]:
        return self.copy_of(name).run(name.partition(":")[2] or name, sql, values)

    def first(self, name: str, sql: str) -> list[Any]:
        return self.copy_of(name).first(name, sql)

    def close(self, name: str) -> None:
        self.copy_of(name).close(name)

    def backup(self, name: str, target: str) -> None:
        self.copy_of(name).backup(name, target)

    def copy_of(self, name: str) -> PythonSqlite3 | Apsw:
        return self.copies[name.partition(":")[0]]


if __name__ == "__main__":
    serve(TwoCopies(sys.argv[1]))
