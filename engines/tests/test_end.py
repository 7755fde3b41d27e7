"""No server outlives its worker, and no worker the lab, whatever kills them."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import INSTALLED, PROGRAM, SEED, database, layout_of, server_of, workers

DATASET = {"kind": "scan", "bytes": 1 << 20}
# Killing takes milliseconds; a busy machine may need longer.
PATIENCE_SECONDS = 30


def loaded(start, references, engine: str, folder: Path):
    worker = start(engine)
    worker.ask("hello", protocol=5)
    reference = references(folder, DATASET)
    spec = database(engine, folder)
    worker.ask("load", database=spec, dataset=DATASET, seed=SEED, rows=str(reference.rows))
    return worker, spec


def wait_until_gone(worker, folder: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while left := server_of(worker, folder):
        assert time.monotonic() < deadline, left
        os.sched_yield()


@pytest.mark.parametrize("engine", workers())
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_server_ends_with_its_worker(engine, number, start, references, tmp_path):
    worker, spec = loaded(start, references, engine, tmp_path)
    worker.ask("open", database=spec)
    assert server_of(worker, spec["path"])
    os.killpg(worker.process.pid, number)
    worker.process.wait()
    wait_until_gone(worker, spec["path"])
    # What a crash leaves, the next worker recovers.
    other = start(engine)
    other.ask("open", database=spec)
    assert other.run("equal")["answer"].startswith("0 rows")
    assert other.end() == 0
    assert not server_of(worker, spec["path"])


@pytest.mark.parametrize("engine", workers())
def test_a_server_ends_when_its_guardian_is_killed(engine, start, references, tmp_path):
    worker, spec = loaded(start, references, engine, tmp_path)
    worker.ask("open", database=spec)
    guardians = [pid for pid in server_of(worker, spec["path"]) if b"guardian.py" in cmdline(pid)]
    assert len(guardians) == 1
    os.kill(guardians[0], signal.SIGKILL)
    wait_until_gone(worker, spec["path"])
    # Without its server, the worker refuses, and goes on.
    assert worker.request("run", work={"kind": "equal"}, seed=1, process={"index": 0, "count": 1}).keys() == {"error"}
    worker.request("close")
    worker.ask("hello", protocol=5)


@pytest.mark.parametrize("engine", workers())
def test_a_server_ends_when_a_load_is_killed(engine, start, references, tmp_path):
    worker = start(engine)
    reference = references(tmp_path, {"kind": "scan", "bytes": 32 << 20})
    spec = database(engine, tmp_path)
    request = {"do": "load", "database": spec, "dataset": DATASET, "seed": 1, "rows": str(reference.rows)}
    worker.send(json.dumps(request))
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not [pid for pid in server_of(worker, spec["path"]) if b"guardian.py" in cmdline(pid)]:
        assert time.monotonic() < deadline
        os.sched_yield()
    os.kill(worker.process.pid, signal.SIGKILL)
    wait_until_gone(worker, spec["path"])


def cmdline(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


@pytest.mark.skipif(not PROGRAM, reason="SELENITE_TEST_COMMAND names no program")
@pytest.mark.parametrize("engine", workers())
def test_nothing_outlives_a_lab_that_is_killed(engine, tmp_path):
    layout = layout_of(engine)
    cipher = next(cipher for name, cipher in CIPHERS.items() if engine.startswith(name))
    study = tmp_path / "s.toml"
    study.write_text(STUDY.format(engine=engine, cipher=cipher, **layout))
    lab = subprocess.Popen(
        [PROGRAM, "lab", "run", str(study)],
        cwd=tmp_path,
        env=os.environ | {"SELENITE_WORKERS": str(INSTALLED)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 120
    while not any(b"guardian.py" in cmdline(pid) for pid in server_of(None, str(tmp_path))):
        assert lab.poll() is None and time.monotonic() < deadline
        os.sched_yield()
    lab.kill()
    lab.wait()
    wait_until_gone(None, str(tmp_path))


CIPHERS = {"mariadb": "tables-cbc", "postgresql": "tls", "duckdb": "gcm", "serve": "AES_256"}
STUDY = """
[study]
name = "killed"
sessions = 1
pairs = 2
[layout]
page_size = {page_size}
cache = "{cache_kib}KiB"
[data]
kind = "scan"
size = "16MiB"
[arms.encrypted]
engine = "{engine}"
cipher = "{cipher}"
[[cells]]
name = "equal"
work = {{ kind = "equal" }}
cache = "os"
"""
