"""apsw, which brings the newest SQLite with it."""

import sys
from typing import Any

import apsw
from serve import serve


class Apsw:
    def __init__(self, extension: str | None) -> None:
        self.connections: dict[str, apsw.Connection] = {}
        self.open("memory", ":memory:")
        if extension:
            self.connections["memory"].enable_load_extension(True)
            self.connections["memory"].load_extension(extension)

    def open(self, name: str, path: str) -> None:
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
        self.connections[name] = apsw.Connection(path, flags=flags)
        self.connections[name].set_busy_timeout(60_000)

    def run(self, name: str, sql: str, values: list[Any]) -> list[list[Any]]:
        return [list(row) for row in self.connections[name].execute(sql, values)]

    def first(self, name: str, sql: str) -> list[Any]:
        """The first row. The rest is not asked for, and the query not ended."""
        self.unfinished = self.connections[name].execute(sql)
        return list(next(self.unfinished))

    def close(self, name: str) -> None:
        self.connections.pop(name).close()

    def backup(self, name: str, target: str) -> None:
        with self.connections[target].backup("main", self.connections[name], "main") as backup:
            while not backup.done:
                backup.step()


if __name__ == "__main__":
    serve(Apsw(*sys.argv[1:] or [None]))
