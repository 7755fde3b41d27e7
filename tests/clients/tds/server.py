"""`selenite serve` as the tests run it: in a folder of its own, on loopback, with a log that is read."""

import os
import re
import signal
import subprocess
import threading
import time
from pathlib import Path

from host import TARGET
from ports import free_port

COMMAND = os.environ.get("SELENITE_TEST_COMMAND", str(TARGET / "debug/selenite"))
MODES = ("off", "optional", "require", "strict")
# A start makes an RSA key and an encrypted database, in a debug build, on a machine that does other things too.
START_SECONDS = 60
TRIES_MAX = 10
STOP_SECONDS = 30


class Server:
    """A running server. The caller stops it."""

    def __init__(self, folder: Path, encryption: str, identity: Path, *flags: str) -> None:
        self.encryption = encryption
        self.folder = folder
        self.data = folder / "data"
        # Of the caller's environment nothing is left that is ours, and the configuration of the user who runs the tests does not count.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SELENITE_")}
        environment |= {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder / ".config"), "RUST_BACKTRACE": "1"}
        command = [COMMAND, "serve", "--data", str(self.data), "--identity", f"raw:{identity}"]
        command += ["--encryption", encryption, *flags]
        for left in reversed(range(TRIES_MAX)):
            try:
                self._start([*command, "--listen", f"127.0.0.1:{free_port()}"], environment)
                break
            except AssertionError:
                # Another process may have taken the port since it was free.
                if not left or not any("cannot listen on" in line for line in self.log):
                    raise

    def _start(self, command: list[str], environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            command, cwd=self.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.log: list[str] = []
        self.output: list[str] = []
        self._said = threading.Condition()
        self._readers = [
            threading.Thread(target=self._read, args=(self.process.stdout, self.output), daemon=True),
            threading.Thread(target=self._read, args=(self.process.stderr, self.log), daemon=True),
        ]
        for reader in self._readers:
            reader.start()
        try:
            host, port = self.announced(r"listening on (\S+):(\d+)").groups()
            self.host, self.port = host.strip("[]"), int(port)
            first = re.fullmatch(r"password of login sa: (\S+)", self.output[0])
            self.password = first[1] if first else ""
        except BaseException:
            self.process.kill()
            self.process.wait()
            self._readers[1].join()
            raise

    @property
    def certificate(self) -> Path:
        """The certificate that it made for itself."""
        found = list(self.data.glob("*.crt")) + list(self.data.glob("*.pem"))
        assert len(found) == 1, f"{found} in {self.data}"
        return found[0]

    def announced(self, pattern: str) -> re.Match[str]:
        """Waits for a line on standard output."""
        deadline = time.monotonic() + START_SECONDS
        with self._said:
            while True:
                for line in self.output:
                    if found := re.fullmatch(pattern, line):
                        return found
                left = deadline - time.monotonic()
                if left <= 0 or not self._readers[0].is_alive():
                    raise AssertionError(f"no {pattern!r} in {self.output}; on stderr: {self.log}")
                self._said.wait(min(left, 1))

    def panics(self) -> list[str]:
        """What its log says of panics."""
        return [line for line in self.log if "panicked at" in line or "stack overflow" in line]

    def is_running(self) -> bool:
        return self.process.poll() is None

    def stop(self) -> int:
        """Ends it as an administrator would, and gives its status."""
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"{STOP_SECONDS} s after SIGTERM it still ran; its log: {self.log}") from None
        for reader in self._readers:
            reader.join()
        return status

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def _read(self, stream, lines: list[str]) -> None:
        for line in stream:
            with self._said:
                lines.append(line.rstrip("\n"))
                self._said.notify_all()
        with self._said:
            self._said.notify_all()
