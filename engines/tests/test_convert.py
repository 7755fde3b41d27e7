"""Conversion of the files of a data folder by the engine's own means, and AES without its instructions."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import mariadb
import pytest
from conftest import INSTALLED, SEED, Worker, database, server_of, workers
from test_end import wait_until_gone

DATASET = {"kind": "statements", "rows": 3000, "indexes": 1}
FAULTY = Path(__file__).with_name("faulty.py")


def convert(worker: Worker, to: str) -> dict:
    return worker.run("convert", to=to)


@pytest.mark.parametrize("engine", workers())
def test_a_copy_is_converted_both_ways_and_the_database_stays_as_it_was(engine, start, references, tmp_path):
    worker = start(engine)
    hello = worker.ask("hello", protocol=5)
    reference = references(tmp_path, DATASET)
    if "convert" not in hello["works"]:
        spec = database(engine, tmp_path)
        worker.ask("load", database=spec, dataset=DATASET, seed=SEED, rows=str(reference.rows))
        worker.ask("open", database=spec)
        assert "does no such work: convert" in worker.refused("run", work={"kind": "convert", "to": "plain"}, **RUN)
        return
    answers = set()
    for cipher, ends in {"plain": ["plain", "tables-ctr", "all-cbc"], "all-cbc": ["plain"]}.items():
        spec = database(engine, tmp_path, cipher)
        loaded = worker.ask("load", database=spec, dataset=DATASET, seed=SEED, rows=str(reference.rows))
        worker.ask("open", database=spec)
        for to in ends:
            sample = convert(worker, to)
            assert sample["pages_written"] > 0 and sample["operations"] == 1
            answers.add(sample["answer"])
        assert worker.ask("digest")["digest"] == loaded["digest"]
        assert "no cipher rot13" in worker.refused("run", work={"kind": "convert", "to": "rot13"}, **RUN)
        assert worker.ask("digest")["digest"] == loaded["digest"]
        worker.ask("close")
    assert len(answers) == 1, answers
    assert not [path for path in tmp_path.iterdir() if ".converted" in path.name]


RUN = {"seed": SEED, "process": {"index": 0, "count": 1}, "start_at_ns": 0}
OF_MARIADB = [name for name in workers() if name.values[0].startswith("mariadb")]


@pytest.mark.parametrize("engine", OF_MARIADB)
def test_a_conversion_that_converts_nothing_is_found(engine, references, tmp_path):
    worker = Worker([sys.executable, "-B", str(FAULTY), "converts-nothing", engine])
    reference = references(tmp_path, DATASET)
    spec = database(engine, tmp_path)
    worker.ask("load", database=spec, dataset=DATASET, seed=SEED, rows=str(reference.rows))
    worker.ask("open", database=spec)
    assert "rows are still in clear" in worker.refused("run", work={"kind": "convert", "to": "all-cbc"}, **RUN)
    assert not server_of(worker, spec["path"])
    assert not [path for path in tmp_path.iterdir() if ".converted" in path.name]
    # It goes on.
    worker.ask("open", database=spec)
    assert convert(worker, "plain")["answer"]
    assert worker.end() == 0


def test_a_tablespace_that_the_view_does_not_list_is_left():
    """MariaDB's view lacks a tablespace for a moment now and then, of which nothing was encrypted yet."""
    answers = [[], [("other", 0)], [("lab/t", 1), ("other", 0)], [("lab/t", 0), ("other", 1)], [("lab/t", 0)]]
    executed = []

    class Scripted:
        def query(self, sql):
            return answers.pop(0)

        def execute(self, sql):
            executed.append((sql, len(answers)))

    mariadb.run_background_threads(Scripted(), "MIN_KEY_VERSION = 0", {"lab/t"})
    assert [left for _, left in executed] == [5, 0], executed


@pytest.mark.parametrize("engine", OF_MARIADB)
def test_the_server_of_a_conversion_ends_with_its_worker(engine, start, references, tmp_path):
    worker = start(engine)
    reference = references(tmp_path, DATASET)
    spec = database(engine, tmp_path)
    worker.ask("load", database=spec, dataset=DATASET, seed=SEED, rows=str(reference.rows))
    worker.ask("open", database=spec)
    worker.send(json.dumps({"do": "run", "work": {"kind": "convert", "to": "all-ctr"}} | RUN))
    deadline = time.monotonic() + 60
    while not server_of(worker, spec["path"] + ".converted"):
        assert time.monotonic() < deadline
        os.sched_yield()
    os.killpg(worker.process.pid, signal.SIGKILL)
    worker.process.wait()
    wait_until_gone(worker, spec["path"])


@pytest.mark.parametrize("engine", OF_MARIADB)
def test_aes_is_slower_without_its_instructions(engine):
    if "aes" not in subprocess.run(["grep", "-m1", "^flags", "/proc/cpuinfo"], capture_output=True, text=True).stdout.split():
        pytest.skip("this processor has no AES instructions")
    command = [str(INSTALLED / f"selenite-worker-{engine}")]
    worker = Worker(command)
    without = worker.ask("hello", protocol=5)["without_aes"]
    times = worker.ask("cipher", cipher="all-cbc")
    assert "no cipher rot13" in worker.refused("cipher", cipher="rot13")
    worker.end()
    masked = Worker(command, **without)
    slower = masked.ask("cipher", cipher="all-cbc")
    masked.end()
    assert all(slower[name] > 2 * times[name] > 0 for name in ("seal_ns", "open_ns")), (times, slower)
