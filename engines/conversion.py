"""Encrypting and decrypting the files of a data folder by the engine's own means, on a copy of it.

- source-unchanged: the copy is made before the clock starts, with its server restarted on it; afterwards it is deleted,
  and the server runs on the folder again.
- result-checked: the copy's tables hold the marker exactly if they were decrypted.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

import dataset as data
from conversation import PLAIN, Refused
from engine import Engine, Session

SUFFIX = ".converted"


class Conversion:
    """One conversion of the copy of an open database."""

    def __init__(self, engine: Engine, database: dict, kind: str, to: str) -> None:
        self._engine, self._database, self._kind, self._to = engine, database, kind, to
        self._copy = database | {"path": database["path"] + SUFFIX}

    def start(self) -> Session:
        """Copies the folder, whose server has stopped, and starts a server that can convert the copy."""
        shutil.copytree(self._database["path"], self._copy["path"])
        self._engine.start_conversion(self._copy, self._to)
        return self._engine.connect()

    def finish(self, session: Session, restart: Callable[[], None]) -> str:
        """Checks and deletes the copy, and gives a text that is the same for the same rows."""
        found = self._engine.checksum(session)
        session.close()
        self._engine.stop()
        self._check()
        self.discard()
        restart()
        return found

    def _check(self) -> None:
        marker = data.MARKERS[self._kind].encode()
        files = self._engine.table_files(Path(self._copy["path"]))
        has_marker = any(marker in path.read_bytes() for path in files)
        if has_marker != (self._to == PLAIN):
            what = "rows are still in clear" if has_marker else "no row is in clear"
            raise Refused(f"after a conversion to {self._to} {what} in {', '.join(path.name for path in files)}")

    def discard(self) -> None:
        """Deletes what there is of the copy."""
        folder = Path(self._copy["path"])
        shutil.rmtree(folder, ignore_errors=True)
        for suffix in (".lock", ".log", ".init"):
            folder.with_name(folder.name + suffix).unlink(missing_ok=True)
