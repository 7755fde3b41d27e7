"""Python's own module sqlite3, over the SQLite of the system or whichever is preloaded."""

import sqlite3
import sys
from typing import Any

from serve import serve


class PythonSqlite3:
    def __init__(self, extension: str | None) -> None:
        self.connections: dict[str, sqlite3.Connection] = {}
        self.open("memory", ":memory:")
        if extension:
            self.connections["memory"].enable_load_extension(True)
            self.connections["memory"].load_extension(extension)

    def open(self, name: str, path: str) -> None:
        # isolation_level=None: transactions begin and end where the SQL says so.
        self.connections[name] = sqlite3.connect(path, uri=True, isolation_level=None, timeout=60)

    def run(self, name: str, sql: str, values: list[Any]) -> list[list[Any]]:
        return [list(row) for row in self.connections[name].execute(sql, values)]

    def first(self, name: str, sql: str) -> list[Any]:
        """The first row. The rest is not asked for, and the query not ended."""
        self.unfinished = self.connections[name].execute(sql)
        return list(self.unfinished.fetchone())

    def close(self, name: str) -> None:
        self.connections.pop(name).close()

    def backup(self, name: str, target: str) -> None:
        self.connections[name].backup(self.connections[target])


if __name__ == "__main__":
    serve(PythonSqlite3(*sys.argv[1:] or [None]))
