"""Predicts what encryption costs a third-party application, then measures it.

usage: make plan-application [SESSIONS=10] [CALIBRATION=calibration.json]
   or: study.py run FOLDER EXTENSION COMMAND [SESSIONS [CALIBRATION]]

The application is Datasette with sqlite-utils, both from PyPI and unchanged. A sitecustomize.py loads the extension in
its process. A session makes changes by sqlite-utils and asks Datasette for pages, the same in every arm, on a copy
of the same database. Sessions in clear, encrypted and without the extension follow each other in random order; the
CPU time of a session is that of its process after its imports.
"""

import asyncio
import json
import os
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

ROWS, SEED = 60_000, 20_261_124
WORDS = "the page is read from file and log when a query of this table needs it or its index was changed before".split()
FORECAST = "PLAN_APPLICATION_FORECAST"
CLEAR = {"SELENITE_PLAIN": "allow"}
# The copy of the database of an arm, and its environment: none without the extension.
ARMS = {
    "without the extension": ("clear.db", None),
    "in clear": ("clear.db", CLEAR),
    "in clear, forecast each second": ("clear.db", CLEAR | {FORECAST: "1"}),
    "in clear, trace": ("clear.db", CLEAR),
    "AES_256, without page pool": ("encrypted.db", {"SELENITE_POOL_SIZE": "0"}),
    "AES_256": ("encrypted.db", {}),
}
# Student's t, 95 % in both tails, by degrees of freedom.
T = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10, 2.09]


def rows(count: int, first: int, rng: random.Random) -> list[dict[str, object]]:
    text = lambda words: " ".join(rng.choices(WORDS, k=words))  # noqa: E731
    return [
        {
            "id": first + number,
            "state": rng.choice(["open", "closed", "open again"]),
            "owner": f"owner {rng.randrange(40)}",
            "priority": rng.randrange(5),
            "created": f"2026-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}",
            "title": text(8),
            "body": text(120),
        }
        for number in range(count)
    ]


def make(path: str) -> None:
    """The database, by sqlite-utils."""
    import sqlite_utils

    db = sqlite_utils.Database(path)
    db.enable_wal()
    db["issue"].insert_all(rows(ROWS, 1, random.Random(SEED)), pk="id")
    db["issue"].create_index(["owner", "created"])
    db["issue"].enable_fts(["title", "body"], create_triggers=True)
    db.close()


def change(path: str, rng: random.Random) -> None:
    import sqlite_utils

    db = sqlite_utils.Database(path)
    for batch in range(20):
        db["issue"].insert_all(rows(50, ROWS + 1 + batch * 50, rng), pk="id")
    for number in rng.sample(range(1, ROWS), 200):
        db["issue"].update(number, {"state": "closed", "priority": rng.randrange(5)})
    db["issue"].delete_where("id between ? and ?", [ROWS + 1, ROWS + 200])
    db.close()


async def ask(path: str, rng: random.Random) -> None:
    from datasette.app import Datasette

    client = Datasette([path], settings={"sql_time_limit_ms": 20_000, "facet_time_limit_ms": 20_000}).client
    name = Path(path).stem
    paths = [f"/{name}/issue?_facet=owner&_facet=state&_sort_desc=created"] * 4
    paths += [f"/{name}/issue?_facet=priority&_where=length(body)+>+{rng.randrange(500, 700)}" for _ in range(4)]
    paths += [f"/{name}/issue.json?owner__exact=owner+{rng.randrange(40)}&_sort=created" for _ in range(80)]
    paths += [f"/{name}/issue.json?_search={rng.choice(WORDS)}+{rng.choice(WORDS)}&_size=20" for _ in range(8)]
    paths += [f"/{name}/issue/{rng.randrange(1, ROWS)}" for _ in range(150)]
    paths += [f"/{name}.json?sql=select+owner,count(*),avg(priority)+from+issue+group+by+owner"] * 4
    rng.shuffle(paths)
    for path in paths:
        answer = await client.get(path)
        assert answer.status_code == 200, (path, answer.status_code, answer.text[:500])


def forecast(path: str, over: threading.Event) -> None:
    """Reads the forecast each second, as a monitor does."""
    db = sqlite3.connect(path)
    while not over.wait(1):
        assert db.execute("SELECT count(*) FROM selenite_forecast").fetchone()[0] >= 0
    db.close()


def drive(path: str) -> None:
    """A session: prints its CPU seconds."""
    import datasette.app  # noqa: F401
    import sqlite_utils  # noqa: F401

    rng, before = random.Random(SEED + 1), time.process_time()
    over = threading.Event()
    monitor = threading.Thread(target=forecast, args=(path, over)) if FORECAST in os.environ else None
    if monitor:
        monitor.start()
    change(path, rng)
    asyncio.run(ask(path, rng))
    over.set()
    if monitor:
        monitor.join()
    print(json.dumps(time.process_time() - before))


# Python goes on where sitecustomize fails.
LOADER = """
import os, sqlite3, traceback
if path := os.environ.get("PLAN_APPLICATION_EXTENSION"):
    try:
        _loader = sqlite3.connect(":memory:")
        _loader.enable_load_extension(True)
        _loader.load_extension(path)
        _loader.close()
    except BaseException:
        traceback.print_exc()
        os._exit(70)
"""


class Study:
    def __init__(self, folder: Path, extension: str, command: str) -> None:
        self.folder, self.command = folder, command
        site = folder / "site"
        site.mkdir()
        (site / "sitecustomize.py").write_text(LOADER)
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("SELENITE_")}
        self.environment = inherited | {"HOME": str(folder), "SELENITE_IDENTITY": str(folder / "key.txt")}
        self.loaded = {"PYTHONPATH": str(site), "PLAN_APPLICATION_EXTENSION": extension, "SELENITE_DEFAULT": "1"}
        self.python = [sys.executable, str(Path(__file__).resolve())]

    def run(self, command: list[str], environment: dict[str, str] | None = None) -> str:
        own = self.environment | (environment or {})
        return subprocess.run(command, env=own, cwd=self.folder, check=True, text=True, stdout=subprocess.PIPE).stdout

    def prepare(self) -> str:
        """The database, in clear and encrypted; returns the recipient of the trace."""
        self.run([self.command, "keygen", "-o", "key.txt"])
        self.run([*self.python, "make", "clear.db"])
        self.run([self.command, "encrypt", "clear.db", "--to", "encrypted.db"])
        lines = (self.folder / "key.txt").read_text().splitlines()
        return next(line.removeprefix("# public key: ") for line in lines if line.startswith("# public key: "))

    def session(self, source: str, environment: dict[str, str] | None, before: list[str] | None = None) -> float:
        for suffix in ("", "-wal", "-shm"):
            (self.folder / f"app.db{suffix}").unlink(missing_ok=True)
        shutil.copy(self.folder / source, self.folder / "app.db")
        (self.folder / "app.db").read_bytes()
        own = None if environment is None else self.loaded | environment
        return float(self.run([*(before or []), *self.python, "drive", "app.db"], own).splitlines()[-1])

    def predict(self, calibration: str, cores: int) -> dict[str, float]:
        """CPU seconds that encryption adds to the session that was traced."""
        traces = [path.name for path in self.folder.glob("app.trace.*")]
        print(self.run([self.command, "-i", "key.txt", "plan", "observe", "trace", *traces, "--cores", str(cores)]))
        predict = [self.command, "plan", "predict", "observation.json", "--calibration", calibration]
        print(self.run([*predict, "--json", "prediction.json"]))
        observation = json.loads((self.folder / "observation.json").read_text())
        seconds = sum(interval["seconds"] for interval in observation["intervals"])
        added = json.loads((self.folder / "prediction.json").read_text())["added_cores"]
        return {name: value * seconds for name, value in added.items()}


def differences(arm: list[float], clear: list[float]) -> tuple[float, float]:
    """The mean of the differences of rounds, and the half-width of its 95 % interval."""
    pairs = [one - other for one, other in zip(arm, clear, strict=True)]
    half = T[min(len(pairs), len(T) + 1) - 2] * statistics.stdev(pairs) / len(pairs) ** 0.5
    return statistics.mean(pairs), half


def run(folder: str, extension: str, command: str, sessions: str = "10", calibration: str = "") -> None:
    study = Study(Path(folder).resolve(), extension, command)
    if not calibration:
        study.run([command, "plan", "calibrate", "--seconds", "60", "--suite", "AES_256"])
        calibration = "calibration.json"
    recipient = study.prepare()
    limit = str(256 << 20)
    trace = [command, "trace", "--recipient", recipient, "--limit", limit, "--output", "app.trace", "--"]
    study.session("clear.db", CLEAR, trace)
    predicted = study.predict(calibration, os.cpu_count() or 1)
    times: dict[str, list[float]] = {name: [] for name in ARMS}
    order = list(ARMS)
    rng = random.Random(SEED + 2)
    for number in range(int(sessions)):
        rng.shuffle(order)
        for name in order:
            times[name].append(study.session(*ARMS[name], trace if name.endswith("trace") else None))
        print(f"round {number + 1} of {sessions}", {name: round(of[-1], 2) for name, of in times.items()}, flush=True)
    (study.folder / "result.json").write_text(json.dumps({"predicted": predicted, "measured": times}, indent=1))
    for base in list(ARMS)[:2]:
        mean = statistics.mean(times[base])
        print(f"\nCPU seconds of a session {base}: {mean:.2f}; more than that:")
        low, value, high = (100 * predicted[name] / mean for name in ("low", "value", "high"))
        print(f"  predicted for AES_256, which knows no page pool: {value:+.1f} % [{low:.1f}, {high:.1f}]")
        for name in ARMS:
            more, half = (100 * number / mean for number in differences(times[name], times[base]))
            print(f"  {name}: {more:+.1f} % [{more - half:.1f}, {more + half:.1f}]")


if __name__ == "__main__":
    {"make": make, "drive": drive, "run": run}[sys.argv[1]](*sys.argv[2:])
