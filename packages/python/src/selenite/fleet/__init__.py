"""Many databases at once: who is under which key, what was verified, what failed, and changes of all of them.

>>> from selenite.fleet import Fleet, Run, operations
>>> fleet = Fleet.glob("/srv/tenants/*.db")
>>> run = Run("fleet.db", fleet, operations.verify(identity="key.txt"), identity="key.txt")
>>> report = run.execute(progress=print)
>>> report.write("fleet.html")

The same lines continue a run that was interrupted: ``fleet.db`` has its state, and is encrypted itself. Databases are
worked on by processes of this machine, or with ``executor=RayExecutor()`` (with Ray installed) by those of a
Ray cluster, each database on the node whose files it is among.

An identity is named, never passed: a path or a spec such as ``command:NAME``, which each node resolves by itself.
"""

from typing import Any

from . import operations
from ._executor import Executor, LocalExecutor
from ._fleet import Database, Fleet
from ._report import Report
from ._run import Limits, Progress, Run

__all__ = [
    "Database",
    "Executor",
    "Fleet",
    "Limits",
    "LocalExecutor",
    "Progress",
    "Report",
    "Run",
    "operations",
]


def __getattr__(name: str) -> Any:
    if name == "RayExecutor":
        try:
            from ._ray import RayExecutor
        except ModuleNotFoundError as error:
            raise ImportError("RayExecutor needs Ray: python -m pip install ray") from error
        return RayExecutor
    raise AttributeError(name)
