"""A session of tsql's that stays: batches go in by its standard input, rows come out."""

import re
import subprocess
import tempfile
import threading
from pathlib import Path

END = "end of the answer"
PROMPTS = re.compile(r"^(\d+> )+")


class TsqlSession:
    """One login of sa's."""

    def __init__(self, port: int, password: str, encryption: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="selenite-tsql-")
        configuration = Path(self._folder.name) / "freetds.conf"
        configuration.write_text(
            f"[selenite]\n\thost = 127.0.0.1\n\tport = {port}\n\ttds version = 7.4\n\tclient charset = UTF-8\n"
            f"\tencryption = {encryption}\n\ttext size = 2147483647\n"
        )
        # Line by line: it writes in blocks where no terminal is.
        self._process = subprocess.Popen(
            ["stdbuf", "-oL", "tsql", "-S", "selenite", "-U", "sa", "-P", password],
            env={"FREETDSCONF": str(configuration), "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.told: list[str] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def run(self, *batches: tuple[str, int]) -> list[list[str]]:
        """Runs batches, each so often. The lines of what came, cut into cells: headings and rows."""
        self.send(*batches)
        return self.answer()

    def send(self, *batches: tuple[str, int]) -> None:
        """Sends batches, and does not wait."""
        assert self._process.stdin
        asked = [f"{text}\nGO\n" * count for text, count in batches]
        text = "".join([*asked, f"SELECT '{END}' AS e\nGO\n"]).encode()
        # What it answers meanwhile is read by others: both ways have but so much room.
        threading.Thread(target=self._write, args=(text,), daemon=True).start()

    def answer(self) -> list[list[str]]:
        """Waits for what was sent last."""
        assert self._process.stdout
        lines = []
        for raw in self._process.stdout:
            line = PROMPTS.sub("", raw.decode().rstrip("\n"))
            if line == END:
                # Without its heading.
                return lines[:-1]
            if line and not line.endswith("affected)") and not line.startswith(("locale ", "using default charset")):
                lines.append(line.split("\t"))
        raise RuntimeError(f"tsql ended: {self.told}")

    def value(self, text: str) -> str:
        """The one value of a query."""
        lines = self.run((text, 1))
        if len(lines) < 2:
            raise RuntimeError(f"{text}: {self.told[-3:]}")
        return lines[1][0]

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()
        self._folder.cleanup()

    def _write(self, text: bytes) -> None:
        assert self._process.stdin
        self._process.stdin.write(text)
        self._process.stdin.flush()

    def _listen(self) -> None:
        assert self._process.stderr
        for line in self._process.stderr:
            self.told.append(line.decode().strip())
            # Ten thousand statements tell thirty thousand times what they took.
            del self.told[:-1000]
