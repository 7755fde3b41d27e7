"""What a server answers, decoded from its tokens to the model's types and values: exact, with nothing that a driver rounds."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any

from data_type import MAX, DataType

PRELOGIN_VERSION = 0x12


@dataclass
class ResultSet:
    names: list[str]
    types: list[DataType]
    nullable: list[bool]
    rows: list[list[Any]] = field(default_factory=list)


@dataclass
class Answer:
    """All that came of a batch, in order."""

    sets: list[ResultSet] = field(default_factory=list)
    errors: list[tuple[int, str]] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)


class Reader:
    """Reads one message's tokens (MS-TDS 2.2.7)."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, size: int) -> bytes:
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, size: int, signed: bool = False) -> int:
        return int.from_bytes(self.take(size), "little", signed=signed)

    def text(self, length: int) -> str:
        return self.take(2 * length).decode("utf-16-le", "surrogatepass")

    def answer(self) -> Answer:
        answer = Answer()
        while self.at < len(self.data):
            token = self.number(1)
            if token == 0x81:
                answer.sets.append(self._columns())
            elif token in (0xD1, 0xD2):
                about = answer.sets[-1]
                about.rows.append(self._row(about.types, token == 0xD2))
            elif token in (0xFD, 0xFE, 0xFF):
                status, _, count = self.number(2), self.number(2), self.number(8)
                if status & 0x10:
                    answer.counts.append(count)
            elif token in (0xAA, 0xAB):
                self._message(answer, is_error=token == 0xAA)
            elif token == 0x79:
                self.take(4)
            elif token in (0xE3, 0xA9, 0xA5):
                self.take(self.number(2))
            else:
                raise ValueError(f"token {token:#x}")
        return answer

    def _message(self, answer: Answer, is_error: bool) -> None:
        body = Reader(self.take(self.number(2)))
        number, _, _ = body.number(4), body.number(1), body.number(1)
        said = body.text(body.number(2))
        if is_error:
            answer.errors.append((number, said))

    def _columns(self) -> ResultSet:
        about = ResultSet([], [], [])
        for _ in range(self.number(2)):
            self.take(4)
            flags = self.number(2)
            about.types.append(self._type())
            about.nullable.append(bool(flags & 1))
            about.names.append(self.text(self.number(1)))
        return about

    def _type(self) -> DataType:
        token = self.number(1)
        if token in FIXED:
            return DataType(FIXED[token], size=-2)
        if token in BY_SIZE:
            return DataType(BY_SIZE[token][self.number(1)])
        if token == 0x28:
            return DataType("date")
        if token in (0x29, 0x2A, 0x2B):
            return DataType(("time", "datetime2", "datetimeoffset")[token - 0x29], scale=self.number(1))
        if token in (0x6A, 0x6C):
            self.take(1)
            precision, scale = self.number(1), self.number(1)
            return DataType("decimal", precision=precision, scale=scale)
        if token in SIZED_TOKENS:
            name = SIZED_TOKENS[token]
            size = self.number(2)
            if name in ("char", "varchar", "nchar", "nvarchar"):
                self.take(5)
            if size == 0xFFFF:
                return DataType(name, size=MAX)
            return DataType(name, size=size // 2 if name in ("nchar", "nvarchar") else size)
        raise ValueError(f"type {token:#x}")

    def _row(self, types: list[DataType], has_bitmap: bool) -> list[Any]:
        if not has_bitmap:
            return [self._value(kind) for kind in types]
        bitmap = self.take((len(types) + 7) // 8)
        absent = [bool(bitmap[index // 8] >> (index % 8) & 1) for index in range(len(types))]
        return [None if gone else self._value(kind) for gone, kind in zip(absent, types, strict=True)]

    def _value(self, kind: DataType) -> Any:
        if kind.size == -2:
            return scalar(kind, self.take(FIXED_SIZES[kind.name]))
        if kind.size == MAX:
            data = self._chunks()
        elif kind.size is not None:
            size = self.number(2)
            data = None if size == 0xFFFF else self.take(size)
        else:
            size = self.number(1)
            data = self.take(size) if size else None
        return None if data is None else scalar(kind, data)

    def _chunks(self) -> bytes | None:
        if self.number(8) == 2**64 - 1:
            return None
        parts = []
        while size := self.number(4):
            parts.append(self.take(size))
        return b"".join(parts)


def scalar(kind: DataType, data: bytes) -> Any:
    """A value that is not NULL."""
    name = kind.name
    if kind.is_text:
        return data.decode("utf-16-le" if kind.is_national else "cp1252", "surrogatepass")
    if kind.is_binary:
        return data
    if kind.is_float:
        return struct.unpack("<d" if name == "float" else "<f", data)[0]
    if name == "decimal":
        magnitude = int.from_bytes(data[1:], "little")
        return magnitude if data[0] else -magnitude
    if name == "money":
        high, low = struct.unpack("<iI", data)
        return (high << 32) + low
    if name == "datetime":
        days, parts = struct.unpack("<iI", data)
        return days * 86_400 * 300 + parts
    if name == "smalldatetime":
        days, minutes = struct.unpack("<HH", data)
        return days * 1440 + minutes
    if name == "date":
        return int.from_bytes(data, "little")
    if name == "time":
        return int.from_bytes(data, "little") * 10 ** (7 - kind.scale)
    if name == "datetime2":
        ticks = int.from_bytes(data[:-3], "little") * 10 ** (7 - kind.scale)
        return int.from_bytes(data[-3:], "little") * 864_000_000_000 + ticks
    if name == "datetimeoffset":
        offset = int.from_bytes(data[-2:], "little", signed=True)
        return scalar(DataType("datetime2", scale=kind.scale), data[:-2]), offset
    return int.from_bytes(data, "little", signed=name not in ("tinyint", "bit"))


FIXED = {
    0x30: "tinyint",
    0x32: "bit",
    0x34: "smallint",
    0x38: "int",
    0x3A: "smalldatetime",
    0x3B: "real",
    0x3C: "money",
    0x3D: "datetime",
    0x3E: "float",
    0x7A: "smallmoney",
    0x7F: "bigint",
}
FIXED_SIZES = {
    **{"tinyint": 1, "bit": 1, "smallint": 2, "int": 4, "smalldatetime": 4, "real": 4, "money": 8, "datetime": 8},
    **{"float": 8, "smallmoney": 4, "bigint": 8},
}
BY_SIZE = {
    0x26: {1: "tinyint", 2: "smallint", 4: "int", 8: "bigint"},
    0x68: {1: "bit"},
    0x6D: {4: "real", 8: "float"},
    0x6E: {4: "smallmoney", 8: "money"},
    0x6F: {4: "smalldatetime", 8: "datetime"},
}
SIZED_TOKENS = {0xAF: "char", 0xA7: "varchar", 0xEF: "nchar", 0xE7: "nvarchar", 0xAD: "binary", 0xA5: "varbinary"}
