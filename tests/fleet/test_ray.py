"""Fleets on a Ray cluster of two nodes on this machine: placement, and workers, nodes and drivers that die.

They run where Ray is installed: `make test-fleet`.
"""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import selenite
from conftest import make_databases
from selenite.fleet import Database, Fleet, Limits, Progress, Run, operations
from test_local import NEW, OLD, numbers

ray = pytest.importorskip("ray", reason="Ray is not installed: make test-fleet")
cluster_utils = pytest.importorskip("ray.cluster_utils")
PATIENT = Limits(attempts=20, retry_seconds=0.05)


@pytest.fixture
def cluster(folder: Path) -> Iterator[Any]:
    """Two nodes, north and south. Their workers start in the folder's environment."""
    head = {"num_cpus": 2, "resources": {"north": 1000}, "include_dashboard": False}
    cluster = cluster_utils.Cluster(initialize_head=True, head_node_args=head)
    cluster.south = cluster.add_node(num_cpus=2, resources={"south": 1000})
    ray.init(address=cluster.address, log_to_driver=False)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def on_nodes(paths: list[Path]) -> Fleet:
    return Fleet(Database(str(path), ("north", "south")[number % 2]) for number, path in enumerate(paths))


def execute(state: str, fleet: Fleet, operation: operations.Operation, **how: Any) -> Any:
    from selenite.fleet import RayExecutor

    progress = how.pop("progress", None)
    how = {"limits": PATIENT} | how
    with Run(state, fleet, operation, identity=OLD, executor=RayExecutor(), **how) as run:
        return run.execute(progress)


def node_ids() -> dict[str, str]:
    """The nodes by their custom resource."""
    nodes = (node for node in ray.nodes() if node["Alive"])
    return {name: node["NodeID"][:8] for node in nodes for name in node["Resources"] if name in ("north", "south")}


def check(paths: list[Path], identity: str, epoch: int) -> None:
    assert numbers(paths, identity) == list(range(len(paths)))
    for path in paths:
        superblock = selenite.status(path, identity=identity).superblock
        assert superblock and superblock.state == "steady" and len(superblock.slots) == 1
        assert [one.epoch for one in superblock.epochs] == [epoch]
        selenite.verify(path, identity=identity)


def test_a_database_is_worked_on_by_its_node(cluster: Any, folder: Path) -> None:
    paths = make_databases(folder, 12)
    fleet = on_nodes(paths) + Fleet([Database(str(folder / "far.db"), "west"), Database(str(folder / "missing.db"))])
    report = execute("state", fleet, operations.encrypt(identity=OLD), limits=Limits(attempts=1))
    nodes = node_ids()
    for one in report.databases:
        if one["node"] in nodes:
            assert one["state"] == "done" and one["worker"].split()[1] == nodes[one["node"]]
    errors = {Path(one["path"]).name: one["error"]["message"] for one in report.failed}
    assert set(errors) == {"far.db", "missing.db"} and "no node west" in errors["far.db"]
    assert numbers(paths, OLD) == list(range(12))


def test_no_key_is_in_rays_files_or_arguments(cluster: Any, folder: Path) -> None:
    """Ray keeps logs, arguments of tasks and what it has spilled in its session's folder, and objects in shared memory."""
    paths = make_databases(folder, 6)
    execute("encrypt", on_nodes(paths), operations.encrypt(identity=OLD))
    execute("rotate", on_nodes(paths), operations.rotate_identity(old=OLD, new=NEW))
    secrets = [
        line.encode()
        for key in (OLD, NEW)
        for line in Path(key).read_text().splitlines()
        if line.startswith("AGE-SECRET")
    ]
    assert len(secrets) == 2
    session = Path(ray._private.worker._global_node.get_session_dir_path())
    places = [path for path in session.rglob("*") if path.is_file()]
    places += [path for path in Path("/dev/shm").iterdir() if path.is_file() and path.stat().st_size < 1 << 28]
    places += list(Path("/proc").glob("[0-9]*/cmdline"))
    looked_at = 0
    for place in places:
        try:
            content = place.read_bytes()
        except OSError:
            continue
        looked_at += len(content)
        assert not any(secret in content for secret in secrets), place
    assert looked_at > 10_000


@pytest.mark.parametrize("name", ["rotate_identity", "reencrypt"])
def test_workers_and_a_node_that_die_lose_nothing_and_repeat_nothing(name: str, cluster: Any, folder: Path) -> None:
    seed = random.randrange(1 << 32)
    print("seed", seed)
    rng = random.Random(seed)
    paths = make_databases(folder, 60, kilobytes=100)
    execute("encrypt", on_nodes(paths), operations.encrypt(identity=OLD))
    is_over = threading.Event()
    killed = []

    def kill_workers() -> None:
        while not is_over.wait(rng.uniform(0.1, 0.5)):
            found = subprocess.run(["pgrep", "-f", "ray::_perform"], capture_output=True, text=True).stdout.split()
            if found:
                victim = int(rng.choice(found))
                try:
                    os.kill(victim, signal.SIGKILL)
                    killed.append(victim)
                except ProcessLookupError:
                    pass

    def lose_a_node(progress: Progress) -> None:
        if progress.done == 20 and not hasattr(cluster, "lost"):
            cluster.lost = True
            cluster.remove_node(cluster.south, allow_graceful=False)
            cluster.add_node(num_cpus=2, resources={"south": 1000})

    killer = threading.Thread(target=kill_workers)
    killer.start()
    try:
        make = getattr(operations, name)
        operation = make(old=OLD, new=NEW) if name == "rotate_identity" else make(identity=OLD)
        report = execute("state", on_nodes(paths), operation, progress=lose_a_node)
    finally:
        is_over.set()
        killer.join()
    assert report.counts == {"done": 60}, report.findings()["failures"]
    assert killed and cluster.lost
    check(paths, NEW if name == "rotate_identity" else OLD, 1 if name == "rotate_identity" else 2)


DRIVER = """
import sys, ray
from selenite.fleet import Database, Fleet, Limits, RayExecutor, Run, operations
ray.init(address=sys.argv[1], log_to_driver=False)
fleet = Fleet(Database(path, ("north", "south")[number % 2]) for number, path in enumerate(sys.argv[2:]))
print("begun", flush=True)
limits = Limits(attempts=20, retry_seconds=0.05)
with Run("state", fleet, operations.reencrypt(identity="key.txt"), identity="key.txt", executor=RayExecutor(), limits=limits) as run:
    run.execute(lambda progress: print(progress.done, flush=True))
"""


def test_a_driver_that_dies_is_gone_on_with(cluster: Any, folder: Path) -> None:
    """Its tasks may still run on the nodes when the next driver begins."""
    rng = random.Random(time.time_ns())
    paths = make_databases(folder, 30)
    execute("encrypt", on_nodes(paths), operations.encrypt(identity=OLD))
    kills = 0
    while True:
        line = [sys.executable, "-c", DRIVER, cluster.address, *map(str, paths)]
        driver = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
        assert driver.stdout
        stop_after = rng.randrange(2, 15)
        for _ in driver.stdout:
            stop_after -= 1
            if stop_after == 0:
                driver.kill()
                kills += 1
        if driver.wait() == 0:
            break
    assert kills > 0
    check(paths, OLD, 2)
