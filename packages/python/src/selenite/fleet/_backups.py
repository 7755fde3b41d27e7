"""Databases of which a fleet has the backups: those at a destination, each by its id."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Optional

from .._command import run

_PREFIX = "backups:"


@dataclass(frozen=True)
class Backups:
    """The backups of a database at a destination.

    Attributes:
        destination: a folder, or ``s3://BUCKET/PREFIX``.
        database_id: the id of the database.
    """

    destination: str
    database_id: str

    @classmethod
    def parse(cls, path: str) -> Optional[Backups]:
        """Of the path that ``path`` made; ``None`` of a file's."""
        if not path.startswith(_PREFIX):
            return None
        destination, _, database_id = path[len(_PREFIX) :].rpartition("/")
        return cls(destination, database_id)

    @property
    def path(self) -> str:
        """What stands for them in a fleet."""
        return f"{_PREFIX}{self.destination}/{self.database_id}"


def absolute(destination: str) -> str:
    """A folder's absolute path: other processes have other folders."""
    return destination if "://" in destination else os.path.abspath(destination)


def find(destination: str, identity: Optional[str], database_id: Optional[str] = None) -> dict[str, list[dict[str, Any]]]:
    """The backups at a destination, by the id of their database.

    Raises:
        CommandError: the destination can't be listed.
    """
    only = [f"--database={database_id}"] if database_id else []
    listed = json.loads(run("backups", "list", "--json", *only, "--", destination, identity=identity))
    found: dict[str, list[dict[str, Any]]] = {}
    for backup in listed["backups"]:
        found.setdefault(backup["database_id"], []).append(backup)
    return found


def facts(backups: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """What a report says of a database's backups. One that can't be restored does not count as the last."""
    backups = list(backups)
    usable = [one["made"] for one in backups if one["complete"] and one["rests_on_whole"] and one["made"]]
    return {
        "backups": len(backups),
        "backup_size": sum(one["size"] or 0 for one in backups),
        "last_backup": max(usable, default=None),
    }
