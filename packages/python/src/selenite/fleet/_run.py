"""A run: an operation on all databases of a fleet, within limits, which goes on after any interruption."""

from __future__ import annotations

import contextlib
import heapq
import itertools
import os
import random
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Optional, Union

from ._executor import Ended, Executor, LocalExecutor, Task
from ._fleet import Fleet
from ._report import Report
from ._state import State, now
from .operations import Identity, Operation, _spec


@dataclass(frozen=True)
class Limits:
    """What a run keeps to.

    Attributes:
        per_host: how many operations run on a host at a time; batches of ``status`` and ``verify`` count as one.
        per_second: how many are started in a second, on all hosts together.
        failures: after this many databases have failed, no other is begun, but a batch is ended.
        attempts: how often an operation is tried on a database that is in use, or whose worker is gone.
        retry_seconds: the wait before the second attempt; twice that before the next, and so on.
    """

    per_host: Optional[int] = None
    per_second: Optional[float] = None
    failures: Optional[int] = None
    attempts: int = 3
    retry_seconds: float = 1.0


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Attributes:
        total: how many databases it has.
        done: how many are done.
        failed: how many have failed.
        running: how many are being worked on, each by a worker.
        path: the database that has just ended.
        error: why it failed, if it did.
    """

    total: int
    done: int
    failed: int
    running: int
    path: str
    error: Optional[str]


class Run:
    """An operation on a fleet, with its state in a database.

    Args:
        state: the file of that database. If it is there, its run goes on, with databases that are new in the fleet.
        identity: what opens the state: a spec, as for databases.
        executor: where it runs: ``LocalExecutor()`` if not given, or ``RayExecutor()``.
        limits: see ``Limits``.

    Raises:
        StateError: the state is another run's, or in use by another driver.

    Example:
        >>> with Run("fleet.db", fleet, operations.status(), identity="key.txt") as run:
        ...     run.execute().write("fleet.html")
    """

    def __init__(
        self,
        state: Union[str, "os.PathLike[str]"],
        fleet: Fleet,
        operation: Operation,
        *,
        identity: Identity = None,
        executor: Optional[Executor] = None,
        limits: Limits = Limits(),
    ):
        self._fleet = fleet
        self._operation = operation
        self._limits = limits
        self._state = State(os.path.abspath(state), operation, _spec(identity))
        try:
            self._executor = executor or LocalExecutor()
            self._state.add(fleet)
        except BaseException:
            self._state.close()
            raise

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the workers and closes the state."""
        self._executor.close()
        self._state.close()

    def retry_failed(self) -> None:
        """Lets the next ``execute`` try again what has failed."""
        self._state.retry_failed()

    def report(self) -> Report:
        """What is known now."""
        return Report(self._operation, self._state.created(), list(self._state.rows()), self._fleet.duplicates)

    def execute(self, progress: Optional[Callable[[Progress], None]] = None) -> Report:
        """Does what is left to do.

        It ends early if the budget of failures is used up: the rest waits for the next ``execute``. An exception of
        ``progress``, KeyboardInterrupt too, ends it after the operations that run have ended.
        """
        driver = _Driver(self._state, self._executor, self._operation, self._limits, progress)
        with _interrupts_between_results(driver):
            try:
                driver.run()
            finally:
                driver.drain()
        return self.report()


@contextlib.contextmanager
def _interrupts_between_results(driver: _Driver) -> Iterator[None]:
    """Ctrl-C ends a run between two results: raised anywhere, it could lose the one that was just taken."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, lambda *_: driver.interrupt())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


class _Batch:
    """Tasks that were started together."""

    def __init__(self, tasks: list[Task], host: str):
        self.host = host
        self.size = len(tasks)
        self.running = len(tasks)
        self.started = time.monotonic()
        self.began = now()


class _Driver:
    """Starts tasks and takes their results. It alone writes the state.

    Looks are started in batches that take about ``_BATCH_SECONDS``: sending one by one costs more than a look at a small
    database. One that was lost goes alone the next time: it may have been what ended its batch.
    """

    def __init__(
        self,
        state: State,
        executor: Executor,
        operation: Operation,
        limits: Limits,
        progress: Optional[Callable[[Progress], None]],
    ):
        self._state = state
        self._executor = executor
        self._operation = operation
        self._limits = limits
        self._progress = progress
        self._waiting: deque[Task] = deque()
        # When a task may be tried again, a number that keeps tasks from being compared, the task.
        self._later: list[tuple[float, int, Task]] = []
        self._numbers = itertools.count()
        self._running: dict[int, tuple[Task, _Batch]] = {}
        self._batch_count = 0
        self._batch_size = 1.0
        self._alone: set[int] = set()
        self._attempts: Counter[int] = Counter()
        self._on_host: Counter[str] = Counter()
        self._may_start = 0.0
        counts = state.counts()
        self._total = sum(counts.values())
        self._done = counts.get("done", 0)
        self._failed = counts.get("failed", 0)
        self._new_failures = 0
        self._committed = 0.0
        self._is_interrupted = False

    def interrupt(self) -> None:
        """Lets ``run`` raise KeyboardInterrupt soon."""
        self._is_interrupted = True

    def run(self) -> None:
        for number, path, node, before, attempts in self._state.waiting():
            self._attempts[number] = attempts
            known = before if self._operation.has_before else {}
            self._waiting.append(Task(number, path, node, self._operation, known))
        while True:
            if self._is_interrupted:
                raise KeyboardInterrupt
            self._start_tasks()
            if not self._running and (self._is_over_budget() or not (self._waiting or self._later)):
                return
            ended = self._next_ended()
            if ended is not None:
                self._take(ended)

    def _next_ended(self) -> Optional[Ended]:
        """Stores what is known from time to time: a transaction costs more than a look, which may be repeated. What
        changed a database is stored before it waits.
        """
        now = time.monotonic()
        to_commit = self._committed + _COMMIT_SECONDS - now
        if to_commit > 0:
            is_look = self._operation.is_look
            ended = self._executor.wait(min(to_commit, self._seconds_to_wait()) if is_look else 0)
            if ended is not None or is_look:
                return ended
        self._state.commit()
        self._committed = now
        return self._executor.wait(self._seconds_to_wait())

    def drain(self) -> None:
        """Takes the results of what still runs, after an interruption."""
        self._progress = None
        self._waiting.clear()
        self._later.clear()
        while self._running:
            ended = self._executor.wait(1.0)
            if ended is not None:
                self._take(ended, is_last=True)
        self._state.commit()

    def _is_over_budget(self) -> bool:
        return self._limits.failures is not None and self._new_failures >= self._limits.failures

    def _start_tasks(self) -> None:
        now = time.monotonic()
        while self._later and self._later[0][0] <= now:
            self._waiting.append(heapq.heappop(self._later)[2])
        if self._is_over_budget():
            return
        skipped: list[Task] = []
        while self._waiting and self._batch_count < self._executor.capacity and now >= self._may_start:
            task = self._waiting.popleft()
            host = self._executor.host(task)
            limits = (self._limits.per_host, self._executor.host_capacity(host))
            if any(limit is not None and self._on_host[host] >= limit for limit in limits):
                skipped.append(task)
                # A host that has enough keeps the others from being looked at only this long.
                if len(skipped) >= _SKIPPED_MAX:
                    break
                continue
            self._start([task, *self._others(task, host)], host)
            if self._limits.per_second:
                self._may_start = max(self._may_start, now) + 1 / self._limits.per_second
        self._waiting.extendleft(reversed(skipped))

    def _others(self, task: Task, host: str) -> list[Task]:
        """The next tasks that may be in one batch with this one."""
        if not self._operation.is_look or self._limits.per_second or task.number in self._alone:
            return []
        # Towards the end they get smaller, so that all workers end at the same time.
        share = len(self._waiting) / (2 * self._executor.capacity)
        wanted = int(min(self._batch_size, share)) - 1
        found: list[Task] = []
        skipped: list[Task] = []
        while self._waiting and len(found) < wanted and len(skipped) < _SKIPPED_MAX:
            other = self._waiting.popleft()
            is_fitting = other.number not in self._alone and self._executor.host(other) == host
            (found if is_fitting else skipped).append(other)
        self._waiting.extendleft(reversed(skipped))
        return found

    def _start(self, tasks: list[Task], host: str) -> None:
        batch = _Batch(tasks, host)
        for task in tasks:
            self._attempts[task.number] += 1
            if not self._operation.is_look:
                self._state.started(task.number, self._attempts[task.number], batch.began)
            self._running[task.number] = (task, batch)
        self._batch_count += 1
        self._on_host[host] += 1
        self._executor.start(tasks)

    def _end(self, batch: _Batch) -> None:
        """One of its tasks has ended."""
        batch.running -= 1
        if batch.running:
            return
        self._batch_count -= 1
        self._on_host[batch.host] -= 1
        seconds = time.monotonic() - batch.started
        # No more than twice as large as one that was measured.
        fitting = min(2 * batch.size, batch.size * _BATCH_SECONDS / max(seconds, 1e-6))
        self._batch_size = min(max(1.0, fitting), _BATCH_MAX)

    def _seconds_to_wait(self) -> float:
        """Until something may be started; results end the wait at once."""
        now = time.monotonic()
        until = [now + 1.0]
        if self._later:
            until.append(self._later[0][0])
        if self._limits.per_second and self._waiting:
            until.append(self._may_start)
        return max(0.001, min(until) - now)

    def _take(self, ended: Ended, is_last: bool = False) -> None:
        task, batch = self._running.pop(ended.number)
        self._end(batch)
        if ended.before is not None:
            # The look is no attempt.
            self._attempts[task.number] -= 1
            self._state.known(task.number, ended.before, self._attempts[task.number])
            again = Task(task.number, task.path, task.node, task.operation, ended.before)
            if is_last:
                self._state.again(task.number, {}, self._attempts[task.number])
            else:
                self._waiting.appendleft(again)
            return
        attempts = self._attempts[task.number]
        if ended.error is not None and self._may_repeat(ended):
            self._state.again(task.number, ended.error, attempts)
            self._alone.add(task.number)
            if not is_last:
                # Others that wait for the same thing don't all come back at once.
                wait = self._limits.retry_seconds * 2 ** (attempts - 1) * random.uniform(0.5, 1.5)  # noqa: S311
                heapq.heappush(self._later, (time.monotonic() + wait, next(self._numbers), task))
            return
        self._state.ended(ended, attempts, batch.began)
        if ended.error is not None:
            self._failed += 1
            self._new_failures += 1
        else:
            self._done += 1
        if self._progress:
            error = str(ended.error["message"]) if ended.error else None
            self._progress(
                Progress(self._total, self._done, self._failed, self._batch_count, task.path, error)
            )

    def _may_repeat(self, ended: Ended) -> bool:
        """Operations look first how far they are, so a lost one may be repeated; an answer stands, but for "in use"."""
        is_temporary = ended.is_lost or (ended.error or {}).get("kind") == "BusyError"
        return is_temporary and self._attempts[ended.number] < self._limits.attempts


_BATCH_SECONDS = 0.5
_BATCH_MAX = 1000
_SKIPPED_MAX = 1000
_COMMIT_SECONDS = 0.2
"""What is done within this time before a driver dies is looked at again."""
