"""Ports on loopback, below those that the system gives to clients."""

import os
import socket
from itertools import count, islice

LOWEST, COUNT = 20_000, 10_000
# Another place to begin for each process, so that those that run at once seldom meet.
NUMBERS = count(os.getpid())


def listener() -> socket.socket:
    """A socket that listens on a port that was free."""
    for number in islice(NUMBERS, COUNT):
        try:
            return socket.create_server(("127.0.0.1", LOWEST + number % COUNT))
        except OSError:
            continue
    raise RuntimeError("no port is free")


def free_port() -> int:
    """A port on which no process listened a moment ago."""
    with listener() as found:
        return found.getsockname()[1]
