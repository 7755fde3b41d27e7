"""How long ATTENTION takes: from the moment it is sent until its DONE has come, for whatever a session may be busy with.

usage: cancel_times.py [ROUNDS]   each is measured so often; 60 if nothing is said
"""

import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]

from figures.raw_connection import RawConnection  # noqa: E402
from server import Server  # noqa: E402

ROUND_COUNT = 60
ROWS = "t a, t b, t c, t d, t e, t f, t g, t h, t i, t j, t k, t l"
SUM = " + ".join(f"{name}.n" for name in "abcdefghijkl")
ENDLESS = "DECLARE @i bigint = 0 WHILE 1 = 1 SET @i = @i + 1"


class Bench:
    """A server with a table of ten rows, one of many, and a session that holds a lock."""

    def __init__(self, folder: Path) -> None:
        identity = folder / "identity.key"
        identity.touch(mode=0o600)
        identity.write_bytes(bytes(range(32)))
        self.server = Server(folder, "optional", identity)
        self.holder = self.connect()
        self.holder.run("CREATE DATABASE figures")
        self.holder.run("USE figures CREATE TABLE t (n int NOT NULL) CREATE TABLE u (n int NOT NULL, s varchar(40) NOT NULL)")
        self.holder.run("INSERT INTO t VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)")
        number = "((((a.n * 10 + b.n) * 10 + c.n) * 10 + d.n) * 10 + e.n) * 7919 % 1000003"
        self.holder.run(f"INSERT INTO u SELECT {number}, 'row ' + CAST({number} AS varchar(20)) FROM t a, t b, t c, t d, t e")
        self.holder.run("CREATE TABLE held (n int NOT NULL) INSERT INTO held VALUES (1)")

    def connect(self) -> RawConnection:
        return RawConnection(self.server.port, self.server.password, encrypted=False)


def measured(bench: Bench, sql: str, busy_seconds: float, reads: bool) -> float:
    """Milliseconds for one of them. The session is new each time; how far the statement is by then is left to chance."""
    session = bench.connect()
    session.run("USE figures")
    session.batch(sql)
    until = time.monotonic() + busy_seconds * random.uniform(0.5, 1.5)
    while (left := until - time.monotonic()) > 0:
        if reads:
            session.socket.settimeout(left)
            try:
                session.packet()
            except TimeoutError:
                break
        else:
            time.sleep(left)
    session.socket.settimeout(None)
    sent = time.monotonic()
    session.cancel()
    session.wait_for_attention()
    took = time.monotonic() - sent
    session.run("SELECT 1")
    session.close()
    return took * 1000


def figures(bench: Bench, round_count: int) -> None:
    cases: list[tuple[str, str, float, bool]] = [
        ("WHILE loop, the client reads", ENDLESS, 0.1, True),
        ("SELECT within SQLite", f"SELECT COUNT(*) FROM {ROWS} WHERE {SUM} < 0", 0.1, False),
        ("SELECT that sends rows", f"SELECT a.n, l.n FROM {ROWS}", 0.1, True),
        ("SELECT that sorts", "SELECT COUNT(*) FROM (SELECT TOP 100000000 a.s FROM u a, u b ORDER BY a.s) x", 1.0, False),
        ("INSERT of endless rows", f"INSERT INTO t SELECT a.n FROM {ROWS}", 0.1, False),
        ("WAITFOR", "WAITFOR DELAY '01:00:00'", 0.1, False),
        ("wait for a lock", "UPDATE held SET n = 3", 0.1, False),
        ("blocked: the client did not read", ENDLESS, 0.5, False),
    ]
    random.seed(seed := random.randrange(1 << 32))
    print(f"seed {seed}; {round_count} of each; milliseconds from sending ATTENTION to its DONE\n")
    print(f"{'':34} {'p50':>8} {'p99':>8} {'worst':>8}")
    for name, sql, busy_seconds, reads in cases:
        if name == "wait for a lock":
            bench.holder.run("BEGIN TRANSACTION UPDATE held SET n = 2")
        times = sorted(measured(bench, sql, busy_seconds, reads) for _ in range(round_count))
        if name == "wait for a lock":
            bench.holder.run("ROLLBACK")
        print(f"{name:34} {quantile(times, 0.50):8.2f} {quantile(times, 0.99):8.2f} {times[-1]:8.2f}", flush=True)


def quantile(times: list[float], part: float) -> float:
    return times[min(int(len(times) * part), len(times) - 1)]


def with_bench(body: Callable[[Bench], None]) -> None:
    with tempfile.TemporaryDirectory(prefix="selenite-figures-") as folder:
        bench = Bench(Path(folder))
        try:
            body(bench)
        finally:
            bench.server.kill()


if __name__ == "__main__":
    with_bench(lambda bench: figures(bench, int(sys.argv[1]) if len(sys.argv) > 1 else ROUND_COUNT))
