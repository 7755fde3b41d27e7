"""The servers of a run: one for each mode, started when it is first asked for."""

from pathlib import Path

from server import Server


class Servers:
    """One server for each mode, started when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running: dict[str, Server] = {}

    def start(self, name: str, encryption: str, *flags: str) -> Server:
        folder = self.folder / name
        folder.mkdir()
        identity = folder / "identity.key"
        identity.touch(mode=0o600)
        identity.write_bytes(bytes(range(32)))
        self.running[name] = Server(folder, encryption, identity, *flags)
        return self.running[name]

    def of(self, encryption: str) -> Server:
        found = self.running.get(encryption)
        return found or self.start(encryption, encryption)
