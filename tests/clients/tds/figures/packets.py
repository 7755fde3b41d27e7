"""What the context switches loop sends: DONE tokens and packets, counted by a client that reads every byte, beside the server's own count.

usage: packets.py [ITERATIONS]   100,000,000 if nothing is said, as in the source

The source's server sent two DONE for each turn. In packets of 4096 bytes, of which 8 are the header, 200,000,000 of 13 bytes
make 636,008. Whatever is not a DONE of the loop, or not the number that was reckoned, is an error.
"""

import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]

from figures.raw_connection import DONE_SIZE, HEADER_SIZE, PACKET_SIZE, RawConnection  # noqa: E402
from figures.tsql_session import TsqlSession  # noqa: E402
from server import Server  # noqa: E402

ITERATIONS = 100_000_000
ROOM = PACKET_SIZE - HEADER_SIZE
TOKEN_DONE = 0xFD
DONE_MORE = 0x01
# Packets that the server says it has sent to the session, before the one that says so.
WRITES = "SELECT CONVERT(bigint, num_writes) AS n FROM sys.dm_exec_connections WHERE session_id = @@SPID"
LOOP = "DECLARE @cnt int = 0 WHILE @cnt < {} BEGIN SET @cnt = @cnt + 1 END"


class Stream:
    """The answer to a batch: packets, and what they hold."""

    def __init__(self) -> None:
        self.packet_count = 0
        self.size = 0
        # The DONEs of two turns, once they are known: all that follow are alike.
        self.period = b""
        self.expected: list[bytes] = []
        self.tail = b""

    def take(self, data: bytes) -> None:
        """Takes the data of the next packet."""
        self.packet_count += 1
        if not self.period:
            self.period = self.period_of(data)
            room = ROOM + len(self.period)
            long = self.period * (room // len(self.period) + 1)
            self.expected = [long[at : at + ROOM] for at in range(len(self.period))]
        if len(data) == ROOM and data != self.expected[self.size % len(self.period)]:
            self.differ(data)
        self.size += len(data)
        self.tail = data

    def differ(self, data: bytes) -> None:
        raise SystemExit(f"packet {self.packet_count} is none of the loop's: {data[:52].hex()}..")

    @staticmethod
    def period_of(data: bytes) -> bytes:
        """Two DONEs, the loop's own and its statement's, which say that more is to come."""
        period = data[: 2 * DONE_SIZE]
        for at in (0, DONE_SIZE):
            if period[at] != TOKEN_DONE or not period[at + 1] & DONE_MORE:
                raise SystemExit(f"it begins with no DONE that more follow: {period.hex()}")
        return period


def count(session: RawConnection, iterations: int) -> tuple[Stream, float]:
    """Runs the loop, and reads what it sends; in how many seconds."""
    stream = Stream()
    started = time.monotonic()
    session.batch(LOOP.format(iterations))
    is_last = False
    while not is_last:
        is_last, data = session.packet()
        stream.take(data)
    return stream, time.monotonic() - started


def count_by_tsql(session: TsqlSession, iterations: int) -> tuple[int, float]:
    """Has tsql run the loop: how many packets the server says it has sent for it, and in how many seconds."""
    before = int(session.value(WRITES))
    started = time.monotonic()
    session.run((LOOP.format(iterations), 1))
    seconds = time.monotonic() - started
    # Besides, the first of these questions was answered, and twice what tells that an answer has ended.
    return int(session.value(WRITES)) - before - 3, seconds


def figures(folder: Path, iterations: int) -> None:
    identity = folder / "identity.key"
    identity.touch(mode=0o600)
    identity.write_bytes(bytes(range(32)))
    server = Server(folder, "optional", identity)
    try:
        print(f"{iterations:,} turns of the context switches loop, packets of {PACKET_SIZE}\n")
        print(f"{'':10} {'DONE':>14} {'packets':>10} {'num_writes':>11} {'seconds':>8}")
        for name, encrypted in (("in clear", False), ("TLS", True)):
            session = RawConnection(server.port, server.password, encrypted)
            before = session.number(WRITES)
            stream, seconds = count(session, iterations)
            # The first of these questions has been answered since, in one packet.
            told = session.number(WRITES) - before - 1
            done_count = stream.size // DONE_SIZE
            print(f"{name:10} {done_count:14,} {stream.packet_count:10,} {told:11,} {seconds:8.1f}", flush=True)
            check(stream, iterations, told)
            session.close()
        tsql = TsqlSession(server.port, server.password, "off")
        told, seconds = count_by_tsql(tsql, iterations)
        print(f"{'tsql':10} {'':14} {'':10} {told:11,} {seconds:8.1f}", flush=True)
        tsql.close()
        check(stream, iterations, told)
    finally:
        server.kill()


def check(stream: Stream, iterations: int, told: int) -> None:
    """Two for each turn, besides the few of what stands around the loop; packets as they follow from that, and as told."""
    done_count, rest = divmod(stream.size, DONE_SIZE)
    if rest or not 0 <= done_count - 2 * iterations <= 4:
        raise SystemExit(f"{done_count:,} DONE and {rest} bytes are not two for each turn")
    reckoned = -(-stream.size // ROOM)
    if stream.packet_count != reckoned or told != reckoned:
        raise SystemExit(f"{stream.packet_count:,} packets came and {told:,} were told, where {reckoned:,} are enough")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="selenite-figures-") as name:
        figures(Path(name), int(sys.argv[1]) if len(sys.argv) > 1 else ITERATIONS)
