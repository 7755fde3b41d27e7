"""A server that belongs to this worker: its own process, data folder and port, and its end."""

import errno
import os
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from conversation import Refused

# Below those that the system gives to clients (net.ipv4.ip_local_port_range).
PORT_LOWEST, PORT_COUNT = 20_000, 10_000
PORT_VARIABLE = "SELENITE_ENGINE_PORT"
GUARDIAN = Path(__file__).with_name("guardian.py")
# A server that has to recover from a crash, on a slow disk.
START_SECONDS = 60
STOP_SECONDS = 60
# The lines of its log that an error quotes.
LOG_LINES = 4


class ServerProcess:
    """A running server. The one who starts it stops it; if this process ends first, the server ends with it."""

    def __init__(self, command: list[str], folder: Path, log: Path) -> None:
        self.folder = folder
        self.log = log
        self.status: int | None = None
        self._log_from = log.stat().st_size if log.exists() else 0
        lock = folder.with_name(folder.name + ".lock")
        self._guardian = subprocess.Popen(
            [sys.executable, "-I", "-S", str(GUARDIAN), str(lock), str(log), "--", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            # Unbuffered, so that what was said can be waited for.
            bufsize=0,
        )
        said = self._listen(START_SECONDS)
        if not said.startswith("started "):
            self.kill()
            raise Refused(f"{folder}: {said.removeprefix('refused ') or 'its server could not be started'}")
        self.pid = int(said.removeprefix("started "))

    def wait_until_ready(self, is_ready) -> None:
        """Calls `is_ready` until it is true. A server that ends before is an error that quotes its log."""
        deadline = time.monotonic() + START_SECONDS
        while not is_ready():
            if (said := self._listen(0.02)).startswith("ended ") or self._guardian.poll() is not None:
                self.status = int(said.removeprefix("ended ") or 0)
                self._guardian.wait()
                raise Refused(f"the server ended before it listened: {self.last_words()}")
            if time.monotonic() > deadline:
                self.kill()
                raise Refused(f"the server did not listen within {START_SECONDS} s: {self.last_words()}")

    def is_running(self) -> bool:
        return self._guardian.poll() is None and self.status is None

    def stop(self, number: int = signal.SIGTERM) -> None:
        """Ends it in an orderly way; one that does not end is killed, which is an error."""
        try:
            os.kill(self.pid, number)
        except ProcessLookupError:
            pass
        said = self._listen(STOP_SECONDS)
        self.kill()
        status = said.removeprefix("ended ")
        if status != "0":
            raise Refused(f"the server did not end in order ({said or 'no answer'}): {self.last_words()}")

    def kill(self) -> None:
        """Ends it and its descendants at once."""
        self._guardian.stdin.close()
        self._guardian.wait()
        self._guardian.stdout.close()

    def last_words(self) -> str:
        """The last lines of its log, in one."""
        try:
            with self.log.open("rb") as file:
                file.seek(self._log_from)
                text = file.read().decode(errors="replace")
        except OSError:
            text = ""
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        errors = [line for line in lines if "error" in line.lower() or "fatal" in line.lower()]
        return "; ".join((errors or lines)[-LOG_LINES:]) or "it said nothing"

    def _listen(self, seconds: float) -> str:
        """The guardian's next line; empty after so many seconds, or if it has ended."""
        stdout = self._guardian.stdout
        if not select.select([stdout], [], [], seconds)[0]:
            return ""
        return stdout.readline().decode().strip()


def free_port() -> int:
    """A port of the loopback interface on which no one listens: the one of the environment, or any."""
    asked = os.environ.get(PORT_VARIABLE, "")
    if asked:
        if not asked.isdigit() or not 1024 <= int(asked) < 65536:
            raise Refused(f"{PORT_VARIABLE} is no port: {asked!r}")
        if not is_free(int(asked)):
            raise Refused(f"port {asked} of {PORT_VARIABLE} is in use")
        return int(asked)
    return any_free_port()


def any_free_port() -> int:
    """A port for this process's own use, whatever the environment says of the server's."""
    first = os.getpid()
    for number in range(first, first + PORT_COUNT):
        port = PORT_LOWEST + number % PORT_COUNT
        if is_free(port):
            return port
    raise Refused(f"no port from {PORT_LOWEST} to {PORT_LOWEST + PORT_COUNT - 1} is free")


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return False
            raise
    return True


def is_listening(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True
