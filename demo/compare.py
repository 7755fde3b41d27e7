"""What encryption costs here and now: compare.py PLAIN ENCRYPTED."""

import json
import sqlite3
import statistics
import subprocess
import sys
from pathlib import Path

from database import columns, quoted, row_count, tables
from terminal import progress, say, table

ROUNDS = 5
WORK = Path(__file__).resolve().parent / "work.py"


def text_column(path: Path) -> tuple[str, str]:
    """A column with text in it, in the largest table that has one."""
    connection = sqlite3.connect(path)
    by_size = sorted(tables(connection), key=lambda name: -row_count(connection, name))
    for name in by_size:
        for column in columns(connection, name):
            kind = f"SELECT typeof({quoted(column)}) FROM {quoted(name)} LIMIT 1"
            if connection.execute(kind).fetchone() == ("text",):
                return quoted(name), quoted(column)
    return quoted(by_size[0]), quoted(columns(connection, by_size[0])[0])


def measure(path: Path, work: str, place: tuple[str, str]) -> dict[str, int]:
    answer = subprocess.run(
        [sys.executable, WORK, path, work, *place], check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    return json.loads(answer)


def milliseconds(ns: float) -> str:
    return f"{ns / 1e6:,.0f} ms" if ns >= 1e7 else f"{ns / 1e6:.1f} ms"


def main(plain: Path, encrypted: Path) -> None:
    place = text_column(plain)
    works = {"like": f"LIKE '%...%' through {place[0].strip(chr(34))}", "insert": "10,000 inserts, a commit each"}
    taken: dict[tuple[str, Path], list[dict[str, int]]] = {}
    # One after the other in each round, so that whatever else the machine does meets both.
    plan = [(work, path) for _ in range(ROUNDS) for work in works for path in (plain, encrypted)]
    for work, path in progress(plan, len(plan), "measured:"):
        taken.setdefault((work, path), []).append(measure(path, work, place))

    rows = []
    for work, label in works.items():
        for what, name in {"cpu_ns": "CPU", "elapsed_ns": "elapsed"}.items():
            one, two = (statistics.median(run[what] for run in taken[work, path]) for path in (plain, encrypted))
            rows.append([f"{label}: {name}", milliseconds(one), milliseconds(two), f"{two / one:.2f}"])
    table(["", "plain", "encrypted", "ratio"], rows)
    say()
    say(f"Medians of {ROUNDS}, each in a fresh process, plain and encrypted in turn; WAL, synchronous = NORMAL,")
    say("files in the system's cache. A short run on this machine: make lab-quick measures more, and longer.")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
