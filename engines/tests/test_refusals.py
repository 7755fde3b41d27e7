"""What a worker cannot work with is one clear error, before anything is written."""

import os
import shutil
import socket
from pathlib import Path

import pytest
from conftest import ENGINES, INSTALLED, SEED, Worker, database, server_of, workers
from installation import pinned
from server_process import free_port, is_listening

DATASET = {"kind": "scan", "bytes": 1 << 20}
# Engines whose programs are in a folder of their own.
UNPACKED = [engine for engine in workers() if "suite" in pinned(engine.values[0])]


def load(worker: Worker, spec: dict, rows: Path) -> dict:
    return worker.request("load", database=spec, dataset=DATASET, seed=SEED, rows=str(rows))


@pytest.mark.parametrize("engine", UNPACKED)
def test_an_engine_that_is_not_installed_is_named(engine, tmp_path):
    worker = without_engines(engine, tmp_path)
    error = worker.refused("hello", protocol=5)
    assert f"{engine} is not installed" in error and "make engines" in error
    assert worker.end() == 0


@pytest.mark.parametrize("engine", UNPACKED)
def test_another_version_than_pinned_is_refused(engine, tmp_path):
    own = tmp_path / "engines"
    shutil.copytree(ENGINES, own, ignore=shutil.ignore_patterns("tests", "__pycache__"))
    text = (own / "versions.toml").read_text()
    (own / "versions.toml").write_text(text.replace('\nversion = "', '\nversion = "9'))
    python = INSTALLED / "python" / "bin" / "python"
    worker = Worker([str(python), "-B", str(own / "worker.py"), engine], SELENITE_ENGINES=str(INSTALLED))
    error = worker.refused("hello", protocol=5)
    assert "is pinned: run make engines" in error
    assert worker.end() == 0


@pytest.mark.parametrize("engine", workers())
def test_a_port_in_use_is_named(engine, start, references, tmp_path):
    reference = references(tmp_path, DATASET)
    with socket.create_server(("127.0.0.1", free_port())) as taken:
        port = taken.getsockname()[1]
        worker = start(engine, SELENITE_ENGINE_PORT=str(port))
        spec = database(engine, tmp_path)
        answer = load(worker, spec, reference.rows)
        assert f"port {port} of SELENITE_ENGINE_PORT is in use" in answer["error"]
        assert not Path(spec["path"]).exists()


@pytest.mark.parametrize("engine", workers())
def test_a_server_takes_the_port_that_is_named(engine, start, references, tmp_path):
    reference = references(tmp_path, DATASET)
    worker = start(engine, SELENITE_ENGINE_PORT=str(port := free_port()))
    spec = database(engine, tmp_path)
    # A recording of the connection needs another one besides.
    assert "ok" in load(worker, spec, reference.rows)
    worker.ask("open", database=spec)
    assert is_listening(port)
    worker.ask("close")
    assert not is_listening(port)


@pytest.mark.parametrize("engine", workers())
def test_a_data_folder_of_somebody_else_is_left_alone(engine, start, references, tmp_path):
    reference = references(tmp_path, DATASET)
    spec = database(engine, tmp_path)
    theirs = Path(spec["path"])
    theirs.mkdir()
    (theirs / "PG_VERSION").write_text("15\n")
    worker = start(engine)
    assert "is there already" in load(worker, spec, reference.rows)["error"]
    assert "was not made by this worker, and is left alone" in worker.refused("open", database=spec)
    assert [path.name for path in theirs.iterdir()] == ["PG_VERSION"]


@pytest.mark.parametrize("engine", workers())
def test_a_server_that_dies_is_an_error_with_its_last_words(engine, start, references, tmp_path):
    reference = references(tmp_path, DATASET)
    spec = database(engine, tmp_path)
    worker = start(engine)
    assert "ok" in load(worker, spec, reference.rows)
    # Its files are damaged, so that it ends while it starts.
    for path in Path(spec["path"]).rglob("*"):
        if path.is_file() and path.name != "selenite-lab.json":
            with path.open("r+b") as file:
                file.write(b"\xff" * min(path.stat().st_size, 65536))
    error = worker.refused("open", database=spec)
    assert len(error) > 20, error
    assert not server_of(worker, spec["path"])
    worker.ask("hello", protocol=5)


@pytest.mark.parametrize("engine", workers())
@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts a small file system")
def test_a_full_disk_is_an_error_and_leaves_nothing(engine, start, references, tmp_path):
    reference = references(tmp_path, {"kind": "scan", "bytes": 64 << 20})
    small = tmp_path / "small"
    small.mkdir()
    if os.system(f"mount -t tmpfs -o size=8M selenite '{small}' 2>/dev/null") != 0:
        pytest.skip("nothing can be mounted here")
    try:
        worker = start(engine)
        answer = load(worker, database(engine, small), reference.rows)
        assert "error" in answer and len(answer["error"]) > 20
        worker.end()
        assert not [path for path in small.iterdir() if path.is_dir()]
    finally:
        assert os.system(f"umount '{small}'") == 0


def without_engines(engine: str, folder: Path) -> Worker:
    """A worker whose engines are in a folder that is empty."""
    python = INSTALLED / "python" / "bin" / "python"
    return Worker([str(python), "-B", str(ENGINES / "worker.py"), engine], SELENITE_ENGINES=str(folder))
