"""Which databases a fleet has."""

from __future__ import annotations

import csv
import glob as _glob
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Optional, Union

from . import _backups
from .._uri import Identity, specification

FilePath = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Database:
    """A database of a fleet.

    Attributes:
        path: its file, absolute, on its node; of ``Fleet.backups``, the destination and the database's id.
        node: the node that has the file, by the name that ``RayExecutor`` knows; ``None`` for any.
        labels: what it is, such as ``{"tenant": "acme"}``.
    """

    path: str
    node: Optional[str] = None
    labels: Mapping[str, str] = field(default_factory=dict)


class Fleet:
    """The databases of a fleet. Each is in it once: the second of two equal entries is left out, and counted.

    Attributes:
        databases: the databases, in the order in which they were named.
        duplicates: paths that were named again, also by another path to the same file.

    Example:
        >>> Fleet(["a.db", "b.db"]) + Fleet.glob("/srv/*.db", labels={"site": "north"})
    """

    def __init__(self, databases: Iterable[Union[FilePath, Database]], *, labels: Optional[Mapping[str, str]] = None):
        if isinstance(databases, (str, os.PathLike)):
            raise TypeError("databases is a list of databases, not one of them")
        self.databases: list[Database] = []
        self.duplicates: list[str] = []
        known: set[tuple[Optional[str], object]] = set()
        file: object
        for one in databases:
            database = one if isinstance(one, Database) else Database(os.fspath(one), labels=dict(labels or {}))
            if _backups.Backups.parse(database.path):
                path, file = database.path, database.path
            else:
                path = os.path.abspath(database.path)
                file = _file_of(path) if database.node is None else path
            place = (database.node, file)
            if place in known:
                self.duplicates.append(path)
                continue
            known.add(place)
            self.databases.append(Database(path, database.node, dict(database.labels)))

    @classmethod
    def glob(cls, pattern: str, *, labels: Optional[Mapping[str, str]] = None) -> Fleet:
        """The files that match a pattern; ``**`` stands for any folders. Logs and journals of databases don't count.

        Example:
            >>> Fleet.glob("/srv/**/*.db")
        """
        found = sorted(path for path in _glob.iglob(pattern, recursive=True) if os.path.isfile(path))
        return cls((path for path in found if not path.endswith(_COMPANIONS)), labels=labels)

    @classmethod
    def csv(cls, path: FilePath) -> Fleet:
        """A table with a header: ``path``, and ``node`` if wanted. Other columns are labels.

        Example:
            >>> Fleet.csv("fleet.csv")
        """
        # A spreadsheet writes a byte order mark.
        with open(path, newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            if "path" not in (reader.fieldnames or ()):
                raise ValueError(f"{os.fspath(path)}: a table of databases has a column 'path' in its first line")
            return cls(_databases(reader, os.fspath(path)))

    @classmethod
    def query(cls, connection: sqlite3.Connection, sql: str) -> Fleet:
        """The rows of a query with the columns of ``Fleet.csv``.

        Example:
            >>> Fleet.query(selenite.connect("tenants.db"), "SELECT file AS path, name AS tenant FROM tenant")
        """
        cursor = connection.execute(sql)
        names = [column[0] for column in cursor.description]
        if "path" not in names:
            raise ValueError("the query has no column 'path'")
        return cls(_databases((dict(zip(names, row)) for row in cursor), "the query"))

    @classmethod
    def backups(
        cls, destination: FilePath, *, identity: Optional[Identity] = None, labels: Optional[Mapping[str, str]] = None
    ) -> Fleet:
        """The databases that have backups at a destination: a folder, or a prefix of an object store.

        ``status``, ``verify``, ``drill`` and ``restore`` take them.

        Example:
            >>> Fleet.backups("s3://bucket/tenants", identity="key.txt")
        """
        place = _backups.absolute(os.fspath(destination))
        found = sorted(_backups.find(place, specification(identity)))
        return cls((_backups.Backups(place, one).path for one in found), labels=labels)

    def __add__(self, other: Fleet) -> Fleet:
        both = Fleet([*self.databases, *other.databases])
        both.duplicates = [*self.duplicates, *other.duplicates, *both.duplicates]
        return both

    def __len__(self) -> int:
        return len(self.databases)

    def __iter__(self) -> Iterator[Database]:
        return iter(self.databases)


_COMPANIONS = ("-wal", "-shm", "-journal")


def _file_of(path: str) -> object:
    """What is the same for two names of a file. One that is not there is its path."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return path
    return (found.st_dev, found.st_ino)


def _databases(rows: Iterable[Mapping[str, object]], source: str) -> Iterator[Database]:
    for number, row in enumerate(rows, 1):
        path = row.get("path")
        if not path:
            raise ValueError(f"{source}: row {number} has no path")
        labels = {
            name: str(value)
            for name, value in row.items()
            if name is not None and name not in ("path", "node") and value is not None
        }
        node = row.get("node")
        yield Database(str(path), str(node) if node else None, labels)
