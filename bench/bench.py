"""Compares databases of each suite with stock SQLite: bench.py [--rounds N] [--rows N] [--only WORK,...].

Every piece of work runs in a process of its own, on a database that the operating system has in memory. A round does
each work once on each database, in an order drawn anew, so that whatever else the machine does meets all of them. A
ratio is of two runs of one round; given is the median of all rounds with the interval that holds it in 95 of 100
benches or more. "stock again" is the same as stock: what it differs by is the noise.

Writes a table in Markdown to standard output, and every run to target/bench/runs.csv.
"""

import argparse
import csv
import json
import math
import os
import platform
import random
import sqlite3
import statistics
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import work

ROOT = Path(__file__).resolve().parents[1]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
FOLDER = TARGET / "bench"
EXTENSION = TARGET / "release/libselenite.so"
SEED = 1
LABELS = {
    "like": "LIKE '%...%', every row",
    "equal": "column = value, every row",
    "select": "select all rows into Python",
    "insert": "10,000 inserts, a commit each",
    "update": "update every row, checkpoint",
    "backup": "backup API into a new file",
    "integrity": "integrity_check",
}
STOCK = "stock"
# With 5, a median lies outside of all runs in 1 bench of 16.
ROUNDS_MIN = 6


@dataclass(frozen=True)
class Case:
    """A database to work on."""

    name: str
    cipher: str | None

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.name.replace(' ', '-')}.db"


CASES = [
    Case(STOCK, None),
    Case("stock again", None),
    Case("AES_256", "AES_256"),
    Case("AEGIS_256X4", "AEGIS_256X4"),
    Case("NONE", "NONE"),
]
Runs = dict[tuple[str, str, int], dict[str, int]]


def environment(case: Case) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("SELENITE_")}
    own["SELENITE_EXTENSION"] = str(EXTENSION)
    own["XDG_CONFIG_HOME"] = str(FOLDER / "config")
    if case.cipher:
        own |= {"SELENITE_IDENTITY": str(FOLDER / "identity.key"), "SELENITE_CIPHER": case.cipher}
    if case.cipher == "NONE":
        own["SELENITE_PLAIN"] = "allow"
    return own


def make(case: Case, row_count: int) -> None:
    """The same rows in every database: about 250 bytes each."""
    if case.path.exists():
        return
    program = (
        "import sys, work; from pathlib import Path; "
        "work.make(Path(sys.argv[1]), sys.argv[2] == 'encrypted', int(sys.argv[3]))"
    )
    kind = "encrypted" if case.cipher else "plain"
    subprocess.run(
        [sys.executable, "-c", program, case.path, kind, str(row_count)],
        check=True,
        cwd=ROOT / "bench",
        env=environment(case),
    )


def runs(works: list[str], rounds: int) -> Iterator[tuple[str, str, int, dict[str, int]]]:
    order = random.Random(SEED)
    for number in range(rounds):
        for name in works:
            for case in order.sample(CASES, len(CASES)):
                command = [sys.executable, ROOT / "bench/work.py", case.path, name]
                done = subprocess.run(
                    command, check=True, stdout=subprocess.PIPE, text=True, env=environment(case)
                )
                yield name, case.name, number, json.loads(done.stdout)


def interval(ratios: list[float]) -> tuple[float, float]:
    """Two of the ratios, the true median between them in 95 % of benches or more, whatever their distribution."""
    ordered, outside = sorted(ratios), 0
    while chance_beyond(len(ratios), outside + 1) <= 0.05:
        outside += 1
    return ordered[outside], ordered[-1 - outside]


def chance_beyond(count: int, outside: int) -> float:
    """That the true median lies further out than a run with `outside` others beyond it, on either side."""
    return 2 * sum(math.comb(count, heads) for heads in range(outside + 1)) / 2**count


def cell(name: str, case: Case, what: str, taken: Runs, rounds: int) -> str:
    ratios = [taken[name, case.name, one][what] / taken[name, STOCK, one][what] for one in range(rounds)]
    low, high = interval(ratios)
    return f"{statistics.median(ratios):.2f} ({low:.2f} to {high:.2f})"


def markdown(what: str, title: str, works: list[str], taken: Runs, rounds: int) -> str:
    others = CASES[1:]
    head = ["", f"stock, {title}", *(case.name for case in others)]
    lines = [" | ".join(["", *head, ""]).strip(), "|" + "---|" * len(head)]
    for name in works:
        stock = statistics.median(taken[name, STOCK, one][what] for one in range(rounds)) / 1e6
        cells = [LABELS[name], f"{stock:,.0f} ms", *(cell(name, case, what, taken, rounds) for case in others)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def machine() -> str:
    names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    model = names[0].split(":")[1].strip() if names else platform.processor()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{model}, {os.cpu_count()} CPUs, {memory:.0f} GiB, Linux {platform.release()}"


def commit() -> str:
    describe = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude=*"]
    return subprocess.run(describe, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def save(works: list[str], taken: Runs, rounds: int) -> Path:
    path = FOLDER / "runs.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["work", "database", "round", "cpu_ns", "elapsed_ns"])
        for name in works:
            for case in CASES:
                for one in range(rounds):
                    run = taken[name, case.name, one]
                    writer.writerow([name, case.name, one, run["cpu_ns"], run["elapsed_ns"]])
    return path


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compares databases of each suite with stock SQLite.")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(LABELS))
    asked = parser.parse_args()
    if asked.rounds < ROUNDS_MIN:
        parser.error(f"fewer than {ROUNDS_MIN} rounds give no interval")
    return asked


def main() -> None:
    asked = arguments()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.glob("*.db*"):
        old.unlink()
    key = FOLDER / "identity.key"
    key.unlink(missing_ok=True)
    key.touch(mode=0o600)
    key.write_bytes(os.urandom(32))
    for case in CASES:
        make(case, asked.rows)

    load = [os.getloadavg()[0]]
    taken: Runs = {}
    total = len(asked.only) * len(CASES) * asked.rounds
    for name, case_name, one, run in runs(asked.only, asked.rounds):
        taken[name, case_name, one] = run
        if sys.stderr.isatty():
            print(f"\r\x1b[K{len(taken)} of {total} runs", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    load.append(os.getloadavg()[0])
    size = CASES[0].path.stat().st_size / 1e6
    path = save(asked.only, taken, asked.rounds)
    print(f"Machine: {machine()}  ")
    print(f"Host: Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}  ")
    print(f"Database: {asked.rows:,} rows, {size:.0f} MB, in the system's cache; WAL, synchronous = NORMAL  ")
    print(f"Commit: {commit()}  ")
    print(f"Command: {' '.join(['bench/bench.py', *sys.argv[1:]])}, {asked.rounds} rounds  ")
    print(f"Load: {load[0]:.1f} processes when it began, {load[1]:.1f} when it ended, one of them its own  ")
    print(f"Runs: {path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}")
    print("\nCPU time, as a multiple of stock:\n")
    print(markdown("cpu_ns", "CPU", asked.only, taken, asked.rounds))
    print("\nElapsed time, as a multiple of stock:\n")
    print(markdown("elapsed_ns", "elapsed", asked.only, taken, asked.rounds))
    for old in FOLDER.glob("*.db*"):
        old.unlink()


if __name__ == "__main__":
    main()
