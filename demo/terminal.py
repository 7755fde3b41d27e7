"""What a person sees: lines, a little colour, and progress where it takes long."""

import os
import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")

INDENT = "    "
# As long as people wait without wondering.
PATIENCE_S = 1.0
REFRESH_S = 0.1


def say(text: str = "") -> None:
    print(f"{INDENT}{text}".rstrip(), flush=True)


def is_coloured() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def dim(text: str) -> str:
    return f"\x1b[2m{text}\x1b[0m" if is_coloured() else text


def strong(text: str) -> str:
    return f"\x1b[1m{text}\x1b[0m" if is_coloured() else text


def size_text(size: int) -> str:
    return f"{size / 2**20:,.1f} MiB" if size >= 2**17 else f"{size / 2**10:,.1f} KiB"


def progress(items: Iterable[Item], total: int, label: str) -> Iterator[Item]:
    """Goes through the items, and says how far it is once that takes longer than people wait."""
    meter = Meter(label)
    for number, item in enumerate(items):
        yield item
        meter.show(number + 1, total)
    meter.wipe()


class Meter:
    """How far something is, on a terminal and nowhere else."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.start = self.shown = time.monotonic()
        self.is_visible = False

    def show(self, done: int, total: int) -> None:
        now = time.monotonic()
        if not sys.stdout.isatty() or now - self.start < PATIENCE_S or now - self.shown < REFRESH_S:
            return
        self.shown, self.is_visible = now, True
        print(f"\r\x1b[K{INDENT}{self.label} {100 * done // max(total, 1)} %", end="", flush=True)

    def wipe(self) -> None:
        if self.is_visible:
            print("\r\x1b[K", end="", flush=True)


def table(head: list[str], rows: list[list[str]]) -> None:
    """Columns of text: the first to the left, the others to the right."""
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]

    def line(row: list[str]) -> str:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]
        return "   ".join(cells)

    say(dim(line(head)))
    for row in rows:
        say(line(row))
