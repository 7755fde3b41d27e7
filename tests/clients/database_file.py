"""A database as it lies on disk: what a test may know of its bytes (docs/FORMAT.md)."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PREFIX_SIZE = 65536
TRAILER_SIZE = 48
WAL_HEADER_SIZE = 32
FRAME_HEADER_SIZE = 24


@dataclass(frozen=True)
class Image:
    """A sealed page (FORMAT 5.1)."""

    page_no: int
    image: bytes

    @property
    def nonce(self) -> bytes:
        """Session and counter: no two seals may share both (FORMAT 5.3)."""
        trailer = self.image[-TRAILER_SIZE:]
        return trailer[4:20] + trailer[28:32]


class DatabaseFile:
    """A database with its WAL and its journal, read without SQLite."""

    def __init__(self, path: Path, page_size: int = 4096) -> None:
        self.path = path
        self.page_size = page_size

    @property
    def wal(self) -> Path:
        return self.path.with_name(self.path.name + "-wal")

    @property
    def journal(self) -> Path:
        return self.path.with_name(self.path.name + "-journal")

    @property
    def shm(self) -> Path:
        return self.path.with_name(self.path.name + "-shm")

    @property
    def database_id(self) -> bytes:
        return self.path.read_bytes()[40:56]

    def digests(self) -> dict[str, str]:
        """What is kept over a crash, and must not change by one byte. The shm file is rebuilt by anyone."""
        files = [file for file in (self.path, self.wal, self.journal) if file.exists()]
        return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}

    def pages(self) -> Iterator[Image]:
        data = self.path.read_bytes()[PREFIX_SIZE:]
        for start in range(0, len(data), self.page_size):
            yield Image(start // self.page_size + 1, data[start : start + self.page_size])

    def frames(self) -> Iterator[Image]:
        """All frames of the WAL, old ones and torn ones too."""
        data = self.wal.read_bytes() if self.wal.exists() else b""
        frame_size = FRAME_HEADER_SIZE + self.page_size
        for start in range(WAL_HEADER_SIZE, len(data) - frame_size + 1, frame_size):
            page_no = int.from_bytes(data[start : start + 4], "big")
            yield Image(page_no, data[start + FRAME_HEADER_SIZE : start + frame_size])

    def images(self) -> set[Image]:
        return {*self.pages(), *self.frames()}


def assert_no_nonce_is_used_twice(images: set[Image]) -> None:
    """An image may lie in more than one place; two images never share session and counter."""
    by_nonce: dict[bytes, Image] = {}
    for image in images:
        first = by_nonce.setdefault(image.nonce, image)
        assert first is image, f"pages {first.page_no} and {image.page_no} were sealed under one nonce"
