"""Runs operations: here by processes of this machine, in `_ray.py` by those of a cluster."""

from __future__ import annotations

import os
import queue
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Optional, Protocol

from .._version import __version__
from . import _looks
from .operations import Operation, failure


@dataclass(frozen=True)
class Task:
    """An operation on one database."""

    number: int
    path: str
    node: Optional[str]
    operation: Operation
    before: Optional[Mapping[str, Any]]


@dataclass(frozen=True)
class Ended:
    """A task that has ended.

    Attributes:
        before: what has to be stored before the operation itself is started; it was not started yet.
        is_lost: whether the process or the node that worked on it is gone.
    """

    number: int
    worker: str
    before: Optional[Mapping[str, Any]] = None
    result: Optional[Mapping[str, Any]] = None
    error: Optional[Mapping[str, Any]] = None
    is_lost: bool = False


class Executor(Protocol):
    """What runs tasks, in batches of which each has one worker. A run starts no more than ``capacity`` at a time."""

    @property
    def capacity(self) -> int:
        """How many batches run at the same time."""

    def host(self, task: Task) -> str:
        """The host that a task runs on, for limits by host."""

    def host_capacity(self, host: str) -> Optional[int]:
        """How many batches run on a host at the same time; ``None`` if only ``capacity`` counts."""

    def start(self, batch: Sequence[Task]) -> None:
        """Starts tasks of one operation and host: several only of an operation that is a look."""

    def wait(self, seconds: float) -> Optional[Ended]:
        """The next task that has ended; ``None`` after that time."""

    def close(self) -> None:
        """Ends the workers, after their tasks."""


class LocalExecutor:
    """Works on this machine: by processes of the command, as many operations at a time as there are cores.

    Example:
        >>> Run("fleet.db", fleet, operation, executor=LocalExecutor(workers=4))
    """

    def __init__(self, workers: Optional[int] = None):
        if workers is not None and workers < 1:
            raise ValueError("workers is at least 1")
        self._workers = workers or len(os.sched_getaffinity(0))
        self._processes = _looks.Processes()
        self._threads = ThreadPoolExecutor(
            self._workers, thread_name_prefix="selenite-fleet", initializer=self._processes.use
        )
        self._ended: queue.SimpleQueue[Ended] = queue.SimpleQueue()

    @property
    def capacity(self) -> int:
        return self._workers

    def host(self, task: Task) -> str:
        return "localhost"

    def host_capacity(self, host: str) -> Optional[int]:
        return None

    def start(self, batch: Sequence[Task]) -> None:
        def perform_all() -> None:
            for ended in perform(batch, __version__, "localhost"):
                self._ended.put(ended)

        self._threads.submit(perform_all)

    def wait(self, seconds: float) -> Optional[Ended]:
        try:
            return self._ended.get(timeout=seconds)
        except queue.Empty:
            return None

    def close(self) -> None:
        self._threads.shutdown(wait=True)
        self._processes.close()


def perform(batch: Sequence[Task], version: str, worker: str) -> Iterator[Ended]:
    """Runs tasks where it is called. ``version`` is the driver's: another one may store something else."""
    if version != __version__:
        message = f"{worker} has version {__version__} of selenite, and the driver {version}"
        error = {"kind": "VersionError", "exit_status": None, "message": message, "advice": "install the same on both"}
        for task in batch:
            yield Ended(task.number, worker, error=error)
    elif len(batch) > 1:
        ended = 0
        try:
            for task, found in zip(batch, batch[0].operation.look([task.path for task in batch])):
                ended += 1
                if isinstance(found, Exception):
                    yield _failed(task, worker, found)
                else:
                    yield Ended(task.number, worker, result=found)
        except Exception as error:  # noqa: BLE001 - as below
            for task in batch[ended:]:
                yield _failed(task, worker, error)
    else:
        [task] = batch
        try:
            if task.before is None:
                yield Ended(task.number, worker, before=task.operation.before(task.path))
            else:
                yield Ended(task.number, worker, result=task.operation.run(task.path, task.before))
        except Exception as error:  # noqa: BLE001 - the others go on, whatever it is
            yield _failed(task, worker, error)


def _failed(task: Task, worker: str, error: Exception) -> Ended:
    found = failure(error)
    # Killed, or interrupted as a terminal interrupts all its processes: neither is an answer.
    status = found["exit_status"] or 0
    return Ended(task.number, worker, error=found, is_lost=status < 0 or status == 130)
