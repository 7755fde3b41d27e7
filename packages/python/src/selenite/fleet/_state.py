"""The state of a run: a database of its own, encrypted, which a later process goes on with.

A task is `waiting`, `started`, `done` or `failed`. What is `started` when a driver begins was left by one that died: it
waits again, since every operation looks first how far it is.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
from contextlib import suppress
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timezone
from typing import Any, Optional

from .._connection import connect
from ._fleet import Database
from .operations import Operation, failure

_SCHEMA = """
CREATE TABLE IF NOT EXISTS run(operation TEXT, options TEXT, created TEXT);
CREATE TABLE IF NOT EXISTS task(
    id INTEGER PRIMARY KEY, path TEXT NOT NULL, node TEXT, labels TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'waiting',
    attempts INTEGER NOT NULL DEFAULT 0, worker TEXT, started TEXT, ended TEXT, before TEXT, result TEXT, error TEXT,
    UNIQUE(path, node));
CREATE INDEX IF NOT EXISTS by_state ON task(state);
"""


class StateError(Exception):
    """The state can't be used: it is another run's, or another driver's at this time."""


class State:
    """The stored tasks of a run. One driver has it at a time."""

    def __init__(self, path: str, operation: Operation, identity: Optional[str]):
        self._path = path
        # Not by a link's own name: another driver would have another lock.
        self._lock = _lock(os.path.realpath(path))
        try:
            self._connection = connect(path, identity=identity, isolation_level=None)
        except BaseException:
            os.close(self._lock)
            raise
        try:
            self._connection.execute("PRAGMA journal_mode = wal")
            self._connection.execute("PRAGMA synchronous = normal")
            self._connection.executescript(_SCHEMA)
            self._check(path, operation)
            self._connection.execute("UPDATE task SET state = 'waiting' WHERE state = 'started'")
        except BaseException:
            self.close()
            raise

    def _check(self, path: str, operation: Operation) -> None:
        own = (operation.name, _text(operation.options))
        found = self._connection.execute("SELECT operation, options FROM run").fetchone()
        if found is None:
            self._connection.execute("INSERT INTO run VALUES (?, ?, ?)", (*own, now()))
        elif found != own:
            what = found[0] if found[0] != operation.name else f"{found[0]} with other options"
            raise StateError(f"{path} is the state of another run: {what}; name another file")

    def add(self, databases: Iterable[Database]) -> None:
        """Adds databases that are not in the run yet. The state is none of them, whatever a pattern says."""
        rows = (self._row(one) for one in databases if not self._is_state(one))
        self._connection.execute("BEGIN")
        # NULLs are different from each other in a UNIQUE constraint.
        self._connection.executemany(
            "INSERT INTO task(path, node, labels, state, error) SELECT ?1, ?2, ?3, ?4, ?5"
            " WHERE NOT EXISTS (SELECT 1 FROM task WHERE path = ?1 AND node IS ?2)",
            rows,
        )
        self._connection.execute("COMMIT")

    @staticmethod
    def _row(database: Database) -> tuple[Optional[str], ...]:
        """A name that SQLite has no text for is an error of that database alone."""
        path, labels = database.path, _text(database.labels)
        if "\0" not in path and _is_utf8(path):
            return path, database.node, labels, "waiting", None
        shown = path.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")
        error = failure(ValueError("a name that is not UTF-8, or has a zero byte"))
        return shown, database.node, labels, "failed", _text(error)

    def _is_state(self, database: Database) -> bool:
        with suppress(OSError, ValueError):
            return os.path.samefile(database.path, self._path)
        return False

    def retry_failed(self) -> None:
        """Lets what failed wait again."""
        self._connection.execute("UPDATE task SET state = 'waiting', attempts = 0 WHERE state = 'failed'")

    def waiting(self) -> Iterator[tuple[int, str, Optional[str], Optional[dict[str, Any]]]]:
        """The tasks to do: id, path, node, and what was stored before the first attempt."""
        rows = self._connection.execute("SELECT id, path, node, before FROM task WHERE state = 'waiting' ORDER BY id")
        for number, path, node, before in rows.fetchall():
            yield number, path, node, json.loads(before) if before else None

    def counts(self) -> dict[str, int]:
        """How many tasks are in each state."""
        return dict(self._connection.execute("SELECT state, count(*) FROM task GROUP BY state"))

    def commit(self) -> None:
        """Stores what was written since the last call. What a driver that dies has not stored is looked at again."""
        if self._connection.in_transaction:
            self._connection.execute("COMMIT")

    def _write(self, sql: str, values: tuple[Any, ...]) -> None:
        """Writes in a transaction that goes on until ``commit``: each has its cost."""
        if not self._connection.in_transaction:
            self._connection.execute("BEGIN")
        self._connection.execute(sql, values)

    def started(self, number: int) -> None:
        self._write(
            "UPDATE task SET state = 'started', attempts = attempts + 1, started = ? WHERE id = ?", (now(), number)
        )

    def known(self, number: int, before: Mapping[str, Any]) -> None:
        """Stores what a repetition has to know: from now on the operation may have begun. The look is no attempt."""
        self._write("UPDATE task SET before = ?, attempts = attempts - 1 WHERE id = ?", (_text(before), number))
        self.commit()

    def done(self, number: int, worker: str, result: Mapping[str, Any]) -> None:
        self._end(number, "done", worker, _text(result), None)

    def failed(self, number: int, worker: str, error: Mapping[str, Any]) -> None:
        self._end(number, "failed", worker, None, _text(error))

    def again(self, number: int, error: Mapping[str, Any]) -> int:
        """Lets a task wait for another attempt; returns how many there were."""
        self._write("UPDATE task SET state = 'waiting', error = ? WHERE id = ?", (_text(error), number))
        found = self._connection.execute("SELECT attempts FROM task WHERE id = ?", (number,)).fetchone()
        return int(found[0])

    def attempts(self, number: int) -> int:
        return int(self._connection.execute("SELECT attempts FROM task WHERE id = ?", (number,)).fetchone()[0])

    def _end(self, number: int, state: str, worker: str, result: Optional[str], error: Optional[str]) -> None:
        self._write(
            "UPDATE task SET state = ?, worker = ?, ended = ?, result = ?, error = ? WHERE id = ?",
            (state, worker, now(), result, error, number),
        )

    def rows(self) -> Iterator[dict[str, Any]]:
        """Every task, for a report."""
        self._connection.row_factory = sqlite3.Row
        try:
            rows = self._connection.execute("SELECT * FROM task ORDER BY path, node").fetchall()
        finally:
            self._connection.row_factory = None
        for row in rows:
            found = dict(row)
            for name in ("labels", "before", "result", "error"):
                found[name] = json.loads(found[name]) if found[name] else None
            yield found

    def created(self) -> str:
        return str(self._connection.execute("SELECT created FROM run").fetchone()[0])

    def close(self) -> None:
        try:
            self.commit()
        finally:
            self._connection.close()
            os.close(self._lock)


def _lock(path: str) -> int:
    """Two drivers with one state would do everything twice."""
    descriptor = os.open(path + ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise StateError(f"{path} is in use by another driver") from error
    return descriptor


def now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


def _text(value: Any) -> str:
    return _ENCODER.encode(dict(value))


_ENCODER = json.JSONEncoder(sort_keys=True)


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
