"""The state of a run: a database of its own, encrypted, which a later process goes on with.

A task is `waiting`, `started`, `done` or `failed`. What is `started` when a driver begins was left by one that died: it
waits again, since every operation looks first how far it is. That a look was started is not stored: it is repeated if its
driver dies.
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
from ._executor import Ended
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
        self._ended: list[tuple[Any, ...]] = []
        # Of this driver's tasks, so that a report need not parse them.
        self._results: dict[int, Mapping[str, Any]] = {}
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
        own = os.stat(self._path)
        rows = (self._row(one) for one in databases if not _is_file(own, one.path))
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

    def retry_failed(self) -> None:
        """Lets what failed wait again."""
        self._connection.execute("UPDATE task SET state = 'waiting', attempts = 0 WHERE state = 'failed'")

    def waiting(self) -> Iterator[tuple[int, str, Optional[str], Optional[dict[str, Any]], int]]:
        """The tasks to do: id, path, node, what was stored before the first attempt, how many attempts there were."""
        rows = self._connection.execute(
            "SELECT id, path, node, before, attempts FROM task WHERE state = 'waiting' ORDER BY id"
        )
        for number, path, node, before, attempts in rows.fetchall():
            yield number, path, node, json.loads(before) if before else None, attempts

    def counts(self) -> dict[str, int]:
        """How many tasks are in each state."""
        self._write_ended()
        return dict(self._connection.execute("SELECT state, count(*) FROM task GROUP BY state"))

    def commit(self) -> None:
        """Stores what was written since the last call. What a driver that dies has not stored is looked at again."""
        self._write_ended()
        if self._connection.in_transaction:
            self._connection.execute("COMMIT")

    def _begin(self) -> None:
        """Begins a transaction that goes on until ``commit``: each has its cost."""
        if not self._connection.in_transaction:
            self._connection.execute("BEGIN")

    def _write(self, sql: str, values: tuple[Any, ...]) -> None:
        self._begin()
        self._connection.execute(sql, values)

    def _write_ended(self) -> None:
        """Writes the tasks that have ended, in the order in which they are in the table."""
        if self._ended:
            self._begin()
            self._ended.sort(key=lambda row: int(row[-1]))
            self._connection.executemany(
                "UPDATE task SET state = ?, attempts = ?, worker = ?, started = ?, ended = ?, result = ?, error = ?"
                " WHERE id = ?",
                self._ended,
            )
            self._ended.clear()

    def started(self, number: int, attempts: int, moment: str) -> None:
        """Stores that a task which changes something is about to begin."""
        self._write(
            "UPDATE task SET state = 'started', attempts = ?, started = ? WHERE id = ?", (attempts, moment, number)
        )

    def known(self, number: int, before: Mapping[str, Any], attempts: int) -> None:
        """Stores what a repetition has to know: from now on the operation may have begun."""
        self._write("UPDATE task SET before = ?, attempts = ? WHERE id = ?", (_text(before), attempts, number))
        self.commit()

    def ended(self, ended: Ended, attempts: int, started: str) -> None:
        """Stores a result or an error, by the next ``commit``."""
        result = error = None
        if ended.error is None:
            found = dict(ended.result or {})
            result = _text(found)
            self._results[ended.number] = found
        else:
            error = _text(ended.error)
        state = "done" if error is None else "failed"
        self._ended.append((state, attempts, ended.worker, started, now(), result, error, ended.number))

    def again(self, number: int, error: Mapping[str, Any], attempts: int) -> None:
        """Lets a task wait for another attempt."""
        self._write(
            "UPDATE task SET state = 'waiting', attempts = ?, error = ? WHERE id = ?", (attempts, _text(error), number)
        )

    def rows(self) -> Iterator[dict[str, Any]]:
        """Every task, by path and node, for a report."""
        self._write_ended()
        cursor = self._connection.execute("SELECT * FROM task")
        names = [column[0] for column in cursor.description]
        found = [dict(zip(names, row)) for row in cursor]
        found.sort(key=lambda row: (row["path"], row["node"] or ""))
        for row in found:
            known = self._results.get(row["id"])
            for name in ("labels", "before", "result", "error"):
                if name == "result" and known is not None:
                    row[name] = known
                else:
                    row[name] = json.loads(row[name]) if row[name] else None
            yield row

    def created(self) -> str:
        return str(self._connection.execute("SELECT created FROM run").fetchone()[0])

    def close(self) -> None:
        try:
            self.commit()
        finally:
            self._connection.close()
            os.close(self._lock)


def _is_file(file: os.stat_result, path: str) -> bool:
    with suppress(OSError, ValueError):
        return os.path.samestat(os.stat(path), file)
    return False


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
