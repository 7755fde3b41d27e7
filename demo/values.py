"""Values out of a database, and a search for them in the bytes of files."""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from database import columns, quoted, tables

SIZE_MIN = 8
# Longer values are cut: a part is found wherever the whole would be.
SIZE_MAX = 64
# A value of 8 bytes holds four bytes at a multiple of four wherever it lies, so the search may step by four.
STEP = 4
CHUNK_SIZE = 1 << 15


def draw(connection: sqlite3.Connection, count: int) -> list[bytes]:
    """As many different values of at least 8 bytes, text and blobs, spread over all tables and over each table.

    Of a long one its first 64 bytes.
    """
    sources = [
        values_of(connection, table, column, count) for table in tables(connection) for column in columns(connection, table)
    ]
    drawn: dict[bytes, None] = {}
    # One of each column in turn, so that a small table has its part.
    while sources and len(drawn) < count:
        for source in list(sources):
            value = next(source, None)
            if value is None:
                sources.remove(source)
            else:
                drawn[value] = None
            if len(drawn) == count:
                break
    return list(drawn)


def values_of(connection: sqlite3.Connection, table: str, column: str, count: int) -> Iterator[bytes]:
    """Values of one column, from all over its table."""
    cell = f"substr(CAST({quoted(column)} AS BLOB), 1, {SIZE_MAX})"
    wanted = f"typeof({quoted(column)}) IN ('text', 'blob') AND length({cell}) >= {SIZE_MIN}"
    try:
        (low,) = connection.execute(f"SELECT min(rowid) FROM {quoted(table)}").fetchone()
        (high,) = connection.execute(f"SELECT max(rowid) FROM {quoted(table)}").fetchone()
    except sqlite3.OperationalError:  # a table without rowid: from its beginning
        yield from (row[0] for row in connection.execute(f"SELECT {cell} FROM {quoted(table)} WHERE {wanted} LIMIT {count}"))
        return
    if low is None:
        return
    # The golden ratio spreads any number of places evenly.
    place = 0.0
    for _ in range(count):
        place = (place + 0.6180339887498949) % 1
        rowid = low + int((high - low) * place)
        # A value of few among many rows is not sought through all of them.
        near = f"(SELECT * FROM {quoted(table)} WHERE rowid >= ? ORDER BY rowid LIMIT 20)"
        row = connection.execute(f"SELECT {cell} FROM {near} WHERE {wanted} LIMIT 1", (rowid,)).fetchone()
        if row:
            yield row[0]


class Search:
    """Looks for many values at once, at every place of a file."""

    def __init__(self, values: list[bytes]) -> None:
        self.values = values
        self.by_word: dict[int, list[bytes]] = {}
        common = Counter(word for value in values for word in all_words(value))
        for value in values:
            for word in rarest_words(value, common):
                self.by_word.setdefault(word, []).append(value)

    def found_in(self, files: list[Path], tell: Callable[[int, int], None]) -> set[bytes]:
        """Those of the values that any of the files holds. Tells how many bytes of all are done."""
        done, size = 0, sum(file.stat().st_size for file in files)
        found: set[bytes] = set()
        wanted = {word: list(values) for word, values in self.by_word.items()}
        words = set(wanted)
        for path in files:
            for around, chunk in chunks(path):
                done += chunk.nbytes
                tell(done, size)
                for word in words.intersection(chunk):
                    found.update(value for value in wanted[word] if value in around)
                    wanted[word] = [value for value in wanted[word] if value not in found]
                    if not wanted[word]:
                        words.discard(word)
        return found


def all_words(value: bytes) -> list[int]:
    return [int.from_bytes(value[at : at + STEP], "little") for at in range(len(value) - STEP + 1)]


def rarest_words(value: bytes, common: Counter[int]) -> list[int]:
    """The words at four places in a row: wherever the value lies, one of them is at a multiple of four."""
    words = all_words(value)
    starts = range(len(words) - STEP + 1)
    start = min(starts, key=lambda start: sum(common[word] for word in words[start : start + STEP]))
    return words[start : start + STEP]


def chunks(path: Path) -> Iterator[tuple[bytes, memoryview]]:
    """A part of a file as numbers of four bytes, and the same part with what lies around it."""
    before = b""
    with path.open("rb") as file:
        data = file.read(CHUNK_SIZE)
        while data:
            after = file.read(CHUNK_SIZE)
            whole = data[: len(data) // STEP * STEP]
            if whole.strip(b"\0"):  # holes hold nothing
                yield before + data + after[:SIZE_MAX], memoryview(whole).cast("I")
            before, data = data[-SIZE_MAX:], after
