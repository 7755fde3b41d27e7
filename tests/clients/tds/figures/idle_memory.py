"""What 1,000 sessions cost that have logged in over TLS and do nothing: VmRSS of the server before and with them.

usage: idle_memory.py [SESSIONS]
"""

import resource
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]

from figures.raw_connection import RawConnection  # noqa: E402
from server import Server  # noqa: E402

SESSION_COUNT = 1000


def figures(folder: Path, count: int) -> None:
    identity = folder / "identity.key"
    identity.touch(mode=0o600)
    identity.write_bytes(bytes(range(32)))
    server = Server(folder, "require", identity)
    try:
        first = RawConnection(server.port, server.password, encrypted=True)
        first.run("SELECT 1")
        before = memory(server.process.pid)
        sessions = []
        for _ in range(count):
            sessions.append(RawConnection(server.port, server.password, encrypted=True))
        with_idle = memory(server.process.pid)
        for session in sessions:
            session.run("DECLARE @i int = 0 WHILE @i < 1000 SET @i += 1 SELECT @i")
        after_work = memory(server.process.pid)
        for session in sessions:
            session.close()
        print(f"{count} sessions over TLS; VmRSS of the server, MiB\n")
        print(f"with one session               {before / 1024:8.1f}")
        print(f"with {count} more, idle          {with_idle / 1024:8.1f}   each {(with_idle - before) / count:.1f} KiB")
        print(f"after each has run a batch     {after_work / 1024:8.1f}   each {(after_work - before) / count:.1f} KiB")
    finally:
        server.kill()


def memory(process: int) -> int:
    """VmRSS in KiB."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError(f"{process} has no VmRSS")


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else SESSION_COUNT
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with tempfile.TemporaryDirectory(prefix="selenite-figures-") as folder:
        figures(Path(folder), count)
