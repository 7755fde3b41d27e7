"""Runs operations on a Ray cluster.

A database of a node is worked on by that node alone: by its name, Ray's address of the node (``ray.nodes()``,
``NodeManagerAddress``) or a custom resource that it was started with (``--resources='{"north": 1000}'``). A database
without a node is worked on by any: its file has to be the same on all.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Sequence
from typing import Any, Optional

import ray
from ray.exceptions import RayError

from .._version import __version__
from ._executor import Ended, Task, perform
from .operations import failure


_ANY = "any"
"""The host of databases without a node."""


class RayExecutor:
    """Works on the nodes of a Ray cluster: the one that Ray is connected to, or else the one that runs on this machine or
    that ``RAY_ADDRESS`` names, or else one of its own.

    Args:
        capacity: how many operations, or batches of looks, run at a time. Without it, twice as many as the cluster
            has cores: the second one is sent while the first one runs.
        node_share: how much of a node's custom resource an operation takes.

    Example:
        >>> ray.init("auto")
        >>> Run("fleet.db", fleet, operation, executor=RayExecutor())
    """

    def __init__(self, capacity: Optional[int] = None, node_share: float = 0.001):
        if not ray.is_initialized():
            try:
                ray.init("auto", log_to_driver=False)
            except ConnectionError:
                ray.init(log_to_driver=False)
        self._capacity = capacity or max(2, 2 * int(ray.cluster_resources().get("CPU", 1)))
        self._node_share = node_share
        # Ray repeats nothing by itself: the driver does, and counts.
        self._perform = ray.remote(num_cpus=1, max_retries=0)(_perform_remotely)
        self._running: dict[Any, Sequence[Task]] = {}
        self._ended: deque[Ended] = deque()
        # Of a node, by each of its names: asked for when a name is met that is not in it.
        self._cores: dict[str, int] = {}

    @property
    def capacity(self) -> int:
        return self._capacity

    def host(self, task: Task) -> str:
        return task.node or _ANY

    def host_capacity(self, host: str) -> Optional[int]:
        """So that the tasks of one node don't take the places of another's."""
        if host == _ANY:
            return None
        if host not in self._cores:
            self._look_at_nodes()
        cores = self._cores.get(host)
        return None if cores is None else max(2, 2 * cores)

    def _look_at_nodes(self) -> None:
        self._cores = {
            name: int(node["Resources"].get("CPU", 1))
            for node in ray.nodes()
            if node["Alive"]
            for name in (*node["Resources"], node["NodeManagerAddress"])
        }

    def start(self, batch: Sequence[Task]) -> None:
        function = self._perform
        if batch[0].node is not None:
            function = function.options(resources={self._resource(batch[0].node): self._node_share})
        self._running[function.remote(batch, __version__)] = batch

    def wait(self, seconds: float) -> Optional[Ended]:
        if not self._ended and self._running:
            ready, _ = ray.wait(list(self._running), num_returns=1, timeout=seconds)
            if ready:
                self._take(ready[0])
            elif seconds > 0:
                self._give_up_without_node()
        return self._ended.popleft() if self._ended else None

    def _take(self, reference: Any) -> None:
        batch = self._running.pop(reference)
        try:
            self._ended.extend(ray.get(reference))
        except RayError as error:
            # The process or the node is gone. What it has done is found by the next attempt.
            self._lose(batch, error)

    def _lose(self, batch: Sequence[Task], error: Exception) -> None:
        found = failure(error)
        self._ended.extend(Ended(task.number, task.node or _ANY, error=found, is_lost=True) for task in batch)

    def close(self) -> None:
        for reference in self._running:
            with contextlib.suppress(RayError):
                ray.cancel(reference)

    def _resource(self, node: str) -> str:
        """The resource that places a task on a node: the one of its address, or a custom one of that name."""
        address = f"node:{node}"
        return address if address in self._cores else node

    def _give_up_without_node(self) -> None:
        """A batch whose node is not there would wait for ever."""
        self._look_at_nodes()
        for reference, batch in list(self._running.items()):
            node = batch[0].node
            if node is not None and node not in self._cores:
                ray.cancel(reference)
                del self._running[reference]
                self._lose(batch, RuntimeError(f"the cluster has no node {node}"))


def _perform_remotely(batch: Sequence[Task], version: str) -> list[Ended]:
    node = ray.util.get_node_ip_address()
    return list(perform(batch, version, f"{node} {ray.get_runtime_context().get_node_id()[:8]}"))
