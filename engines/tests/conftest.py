"""What the tests of the workers share: a worker that answers, and the native worker as the reference."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ENGINES = Path(__file__).parents[1]
sys.path.insert(0, str(ENGINES))

# The lab's own program, for rows and for the answers of SQLite.
PROGRAM = os.environ.get("SELENITE_TEST_COMMAND", "")
# The worker of `serve` starts the same one.
if PROGRAM:
    os.environ.setdefault("SELENITE_PROGRAM", PROGRAM)
INSTALLED = Path(os.environ.setdefault("SELENITE_ENGINES", str(ENGINES.parent / "target" / "engines")))
LAYOUTS = {
    "mariadb": {"page_size": 16384, "cache_kib": 16 << 10},
    "postgresql": {"page_size": 8192, "cache_kib": 16 << 10},
    "duckdb": {"page_size": 65536, "cache_kib": 128 << 10},
    "serve": {"page_size": 4096, "cache_kib": 8 << 10},
}
SEED = 20261124


class Worker:
    """A worker process, spoken to by JSON lines."""

    def __init__(self, command: list[str], **environment: str) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | environment,
            start_new_session=True,
        )

    def send(self, line: str) -> None:
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def receive(self) -> dict:
        line = self.process.stdout.readline()
        assert line, "the worker ended"
        return json.loads(line)

    def request(self, do: str, **fields) -> dict:
        self.send(json.dumps({"do": do} | fields))
        return self.receive()

    def ask(self, do: str, **fields) -> dict:
        answer = self.request(do, **fields)
        assert "ok" in answer, answer
        return answer["ok"]

    def refused(self, do: str, **fields) -> str:
        answer = self.request(do, **fields)
        assert "error" in answer, answer
        assert "\n" not in answer["error"]
        return answer["error"]

    def run(self, kind: str, count: int = 1, **fields) -> dict:
        work = {"kind": kind} | fields
        return self.ask("run", work=work, seed=SEED, process={"index": 0, "count": count}, start_at_ns=0)

    def end(self) -> int:
        self.process.stdin.close()
        status = self.process.wait(60)
        self.process.stdout.close()
        return status


def lab(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Runs the lab's program in a folder."""
    return subprocess.run(
        [PROGRAM, "lab", *arguments],
        cwd=folder,
        env=os.environ | {"SELENITE_WORKERS": str(INSTALLED)},
        capture_output=True,
        text=True,
        check=False,
    )


def is_installed(engine: str) -> bool:
    return (INSTALLED / f"selenite-worker-{engine}").is_file()


def if_installed(engine: str) -> pytest.MarkDecorator:
    """A test of an engine that is not installed is skipped, and says so."""
    return pytest.mark.skipif(not is_installed(engine), reason=f"{engine} is not installed: scripts/engines.sh {engine}")


def workers() -> list:
    """All engines, for `parametrize`."""
    names = tomllib.loads((ENGINES / "versions.toml").read_text())
    return [pytest.param(engine, marks=if_installed(engine)) for engine in names]


def layout_of(engine: str) -> dict:
    return LAYOUTS[next(known for known in LAYOUTS if engine.startswith(known))]


def database(engine: str, folder: Path, cipher: str = "plain", name: str = "main") -> dict:
    key = folder / "key"
    if not key.exists():
        key.write_bytes(bytes(range(32)))
    return {
        "path": str(folder / f"{name}-{cipher}.db"),
        "cipher": cipher,
        "key_file": str(key),
        "journal_mode": "wal",
        "synchronous": "normal",
    } | layout_of(engine)


class Reference:
    """SQLite in the native worker: the rows of a dataset, and answers."""

    def __init__(self, folder: Path, dataset: dict) -> None:
        self.folder = folder
        self.rows = folder / "rows.db"
        self.worker = Worker([PROGRAM, "lab-worker"])
        spec = self._spec(self.rows)
        self.loaded = self.worker.ask("load", database=spec, dataset=dataset, seed=SEED)
        twin = folder / "twin.db"
        twin.write_bytes(self.rows.read_bytes())
        self.worker.ask("open", database=self._spec(twin))

    @staticmethod
    def _spec(path: Path) -> dict:
        layout = {"page_size": 4096, "cache_kib": 2048, "journal_mode": "wal", "synchronous": "normal"}
        return {"path": str(path), "cipher": "plain", "key_file": ""} | layout


@pytest.fixture
def references():
    """Makes references, and ends them."""
    made = []

    def make(folder: Path, dataset: dict) -> Reference:
        if not PROGRAM:
            pytest.skip("SELENITE_TEST_COMMAND names no program")
        made.append(Reference(folder, dataset))
        return made[-1]

    yield make
    for reference in made:
        reference.worker.end()


@pytest.fixture
def start():
    """Starts workers, and sees that they end."""
    started = []

    def begin(engine: str, **environment: str) -> Worker:
        started.append(Worker([str(INSTALLED / f"selenite-worker-{engine}")], **environment))
        return started[-1]

    yield begin
    for worker in started:
        if worker.process.poll() is None:
            worker.end()


def server_of(worker: Worker, folder: str) -> list[int]:
    """The processes that name a data folder in their arguments, or work in it."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            arguments = (entry / "cmdline").read_bytes().decode(errors="replace")
            place = os.readlink(entry / "cwd")
        except OSError:
            continue
        if folder in arguments or place.startswith(folder):
            found.append(int(entry.name))
    return found
