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


def megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 1e5 else f"{size / 1e3:,.1f} kB"


def progress(items: Iterable[Item], total: int, label: str) -> Iterator[Item]:
    """Goes through the items, and says how far it is once that takes longer than people wait."""
    start = shown = time.monotonic()
    if not sys.stdout.isatty():
        yield from items
        return
    wiped = True
    for number, item in enumerate(items):
        yield item
        now = time.monotonic()
        if now - start > PATIENCE_S and now - shown > REFRESH_S:
            shown, wiped = now, False
            print(f"\r\x1b[K{INDENT}{label} {100 * number // max(total, 1)} %", end="", flush=True)
    if not wiped:
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
