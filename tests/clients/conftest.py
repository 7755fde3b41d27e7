"""What every test needs: a folder, keys, and hosts that end with the test."""

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from host import EXTENSION, Host, Peer


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="selenite-clients-") as folder:
        yield Path(folder)


@pytest.fixture
def key(folder: Path) -> Path:
    return new_key(folder / "identity.key")


@pytest.fixture
def other_key(folder: Path) -> Path:
    return new_key(folder / "other.key")


@pytest.fixture
def start(folder: Path, key: Path) -> Iterator[Callable[..., Peer]]:
    """Runs a host with an identity in force, unless the test says otherwise."""
    peers: list[Peer] = []

    def start(host: Host, extension: str | None = EXTENSION, **environment: str) -> Peer:
        if reason := host.missing():
            pytest.skip(reason)
        peers.append(host.start(folder, extension, **{"SELENITE_IDENTITY": str(key)} | environment))
        return peers[-1]

    yield start
    for peer in peers:
        peer.stop()


@pytest.fixture
def stock(start: Callable[..., Peer]) -> Callable[[Host], Peer]:
    """Runs a host as anyone would who has neither the extension nor a key."""
    return lambda host: start(host, extension=None, SELENITE_IDENTITY="")


def new_key(path: Path) -> Path:
    """A raw key: 32 random bytes that no other user may read."""
    path.touch(mode=0o600)
    path.write_bytes(os.urandom(32))
    return path
