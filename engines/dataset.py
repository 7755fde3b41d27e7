"""Rows: from the SQLite database that the lab makes, by the random source of the native worker, and their digests.

All of it gives the same bytes as crates/lab/worker/src: tests compare.
"""

import hashlib
import sqlite3
import struct
from collections.abc import Iterable, Iterator

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVXYZ2345678"
MASK32, MASK64 = 0xFFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF

# Columns in order, the first of which is the key. `SomeData` has none: its rows are in the order of their Id.
TABLES = {
    "scan": {"SomeData": ("Id", "SomeText")},
    "statements": {"testtable": ("code", "date", "name")},
    "cards": {
        "Vendor": ("VendorID", "BusinessName", "City", "PostalCode", "Changed"),
        "Card": ("CardID", "CardNumber", "SecurityCode", "SecureString", "Changed"),
        "Purchase": ("PurchaseID", "CardID", "VendorID", "Amount", "PurchaseDate"),
    },
}
MARKERS = {"scan": "PlainToRead-Scan", "statements": "SQLSHACK", "cards": "PlainToRead-Card"}
# As in a row of a server's answer.
WIRE_MARKER = "SQLSHACK"

Row = tuple[int | str, ...]


def rows(source: str, table: str) -> Iterator[Row]:
    """All rows of a table of the database with the rows, in their order."""
    connection = sqlite3.connect(f"file:{source}?mode=ro", uri=True)
    try:
        yield from connection.execute(f'SELECT * FROM "{table}" ORDER BY rowid')
    finally:
        connection.close()


class RowDigest:
    """A digest of all rows of all tables. Tables are given in the order of their names."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self.row_count = 0

    def table(self, name: str, rows: Iterable[Row]) -> None:
        """Adds a table. A table whose first column is not its key has rows numbered from 1."""
        self._hash.update(_text(name.encode(), b"T"))
        is_numbered = name == "SomeData"
        for number, row in enumerate(rows, 1):
            self.row_count += 1
            key = number if is_numbered else row[0]
            self._hash.update(b"R" + _value(key) + b"".join(map(_value, row)))

    def result(self) -> dict[str, str | int]:
        return {"digest": self._hash.hexdigest(), "rows": self.row_count}


def _value(value: int | str) -> bytes:
    if isinstance(value, int):
        return b"i" + value.to_bytes(8, "big", signed=True)
    return _text(value.encode(), b"t")


def _text(data: bytes, kind: bytes) -> bytes:
    return kind + len(data).to_bytes(8, "big") + data


class AnswerDigest:
    """A running digest of the results of work."""

    def __init__(self) -> None:
        self._state = 0x243F_6A88_85A3_08D3
        self.row_count = 0

    def row(self, row: Iterable[int | str | None]) -> None:
        for value in row:
            if value is None:
                self._number(1)
            elif isinstance(value, int):
                self._bytes(2, value.to_bytes(8, "little", signed=True))
            else:
                self._bytes(4, value.encode())
        self.row_count += 1

    def text(self) -> str:
        return f"{self.row_count} rows {self._state:016x}"

    def _number(self, number: int) -> None:
        state = ((self._state ^ number) * 0x9E37_79B9_7F4A_7C15) & MASK64
        self._state = ((state << 29) | (state >> 35)) & MASK64

    def _bytes(self, kind: int, data: bytes) -> None:
        self._number(kind + (len(data) << 3))
        for place in range(0, len(data), 8):
            self._number(int.from_bytes(data[place : place + 8], "little"))


class Random:
    """ChaCha8Rng of rand_chacha 0.9: `seed_from_u64`, and a stream for each process."""

    def __init__(self, seed: int, stream: int = 0) -> None:
        self._key = _key(seed)
        self._stream = stream
        self._counter = 0
        self._words: list[int] = []
        self._place = 0

    def next_u32(self) -> int:
        if self._place == len(self._words):
            self._refill()
        self._place += 1
        return self._words[self._place - 1]

    def next_u64(self) -> int:
        low = self.next_u32()
        return low | self.next_u32() << 32

    def string(self, count: int) -> str:
        letters, bits = [], 0
        for index in range(count):
            if index % 12 == 0:
                bits = self.next_u64()
            letters.append(LETTERS[bits & 31])
            bits >>= 5
        return "".join(letters)

    def date(self) -> str:
        month, day = self.next_u32() % 12 + 1, self.next_u32() % 28 + 1
        hour, minute, second = self.next_u32() % 24, self.next_u32() % 60, self.next_u32() % 60
        return f"2026-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"

    def _refill(self) -> None:
        self._words = _block(self._key, self._counter, self._stream)
        self._counter += 1
        self._place = 0


def _key(seed: int) -> list[int]:
    """`SeedableRng::seed_from_u64` of rand_core 0.9: PCG32."""
    words, state = [], seed
    for _ in range(8):
        state = (state * 6364136223846793005 + 11634580027462260723) & MASK64
        xorshifted = ((state >> 18) ^ state) >> 27 & MASK32
        rotation = state >> 59
        words.append((xorshifted >> rotation | xorshifted << (-rotation & 31)) & MASK32)
    return words


def _block(key: list[int], counter: int, stream: int) -> list[int]:
    constants = struct.unpack("<4I", b"expand 32-byte k")
    last = [counter & MASK32, counter >> 32, stream & MASK32, stream >> 32]
    initial = [*constants, *key, *last]
    state = list(initial)
    for _ in range(4):
        for a, b, c, d in ROUNDS:
            _quarter(state, a, b, c, d)
    return [(word + first) & MASK32 for word, first in zip(state, initial, strict=True)]


def _quarter(state: list[int], a: int, b: int, c: int, d: int) -> None:
    for left, right in ((16, 12), (8, 7)):
        state[a] = (state[a] + state[b]) & MASK32
        word = state[d] ^ state[a]
        state[d] = (word << left | word >> (32 - left)) & MASK32
        state[c] = (state[c] + state[d]) & MASK32
        word = state[b] ^ state[c]
        state[b] = (word << right | word >> (32 - right)) & MASK32


ROUNDS = (
    (0, 4, 8, 12),
    (1, 5, 9, 13),
    (2, 6, 10, 14),
    (3, 7, 11, 15),
    (0, 5, 10, 15),
    (1, 6, 11, 12),
    (2, 7, 8, 13),
    (3, 4, 9, 14),
)
