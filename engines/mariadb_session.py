"""A connection to MariaDB: PyMySQL, and its protocol for what is measured."""

import ssl
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from conversation import Refused
from engine import Session

# 256 KiB: few system calls.
ROOM = 256 << 10
DATABASE = "lab"
INTEGERS = {"Id", "code", "VendorID", "CardID", "PurchaseID", "Amount"}


class MariadbSession(Session):
    """A connection, by PyMySQL for all but large answers."""

    def __init__(self, port: int, password: str, trusted: Path | None = None, database: str = DATABASE) -> None:
        self._connection = None
        self._options = {"port": port, "password": password, "trusted": trusted, "database": database}
        self.renew()

    def renew(self) -> None:
        """Connects, again if it is connected: some settings hold for new sessions."""
        import pymysql

        if self._connection:
            self._connection.close()
        trusted = self._options["trusted"]
        self._connection = pymysql.connect(
            host="127.0.0.1",
            port=self._options["port"],
            user="lab",
            password=self._options["password"],
            database=self._options["database"],
            ssl=ssl.create_default_context(cafile=str(trusted)) if trusted else None,
            charset="utf8mb4",
            autocommit=True,
            # All values stay texts: what is a number is known by its column.
            conv={},
            max_allowed_packet=64 << 20,
        )

    def execute(self, sql: str) -> int:
        with self._connection.cursor() as cursor:
            return cursor.execute(sql)

    def query(self, sql: str) -> list[tuple]:
        return list(self.stream(sql))

    def stream(self, sql: str) -> Iterator[tuple]:
        from pymysql.cursors import SSCursor

        with self._connection.cursor(SSCursor) as cursor:
            cursor.execute(sql)
            names = [column[0] for column in cursor.description]
            for row in cursor:
                yield typed(names, row)

    def fetch(self, sql: str) -> Callable[[], list[tuple]]:
        from pymysql.constants import COMMAND

        connection = self._connection
        connection._execute_command(COMMAND.COM_QUERY, sql)
        head = connection._read_packet()
        names = [connection._read_packet(FieldPacket()).name for _ in range(head.read_length_encoded_integer())]
        read, packets = connection._rfile.read, []
        # The end of the columns' descriptions.
        connection._read_packet()
        while True:
            size = read(4)
            packet = read(int.from_bytes(size[:3], "little"))
            if packet[0] in (0xFE, 0xFF) and len(packet) < 9 or packet[0] == 0xFF:
                break
            packets.append(packet)
        if packet[0] == 0xFF:
            raise Refused(f"the server broke off: {packet[9:].decode(errors='replace')}")
        connection._next_seq_id = 0
        return lambda: [typed(names, texts(packet)) for packet in packets]

    def discard(self, sql: str) -> int:
        from pymysql.constants import COMMAND

        connection = self._connection
        connection._execute_command(COMMAND.COM_QUERY, sql)
        columns = connection._read_packet().read_length_encoded_integer()
        for _ in range(columns + 1):
            connection._read_packet()
        read, total, tail = connection._rfile.read1, 0, b""
        # The packet that ends an answer, which no number looks like: its length, its place, 0xFE, warnings, status.
        while not (tail[:3] == b"\5\0\0" and tail[4:5] == b"\xfe"):
            piece = read(ROOM)
            if not piece:
                raise Refused("the server closed the connection")
            total += len(piece)
            tail = (tail + piece[-9:])[-9:]
        connection._next_seq_id = 0
        return total

    def close(self) -> None:
        self._connection.close()


def FieldPacket():  # noqa: N802 - a class of the driver, which is imported late
    from pymysql.protocol import FieldDescriptorPacket

    return FieldDescriptorPacket


def texts(packet: bytes) -> list[str | None]:
    """The values of a row of the text protocol. None has more than 250 bytes."""
    values, place = [], 0
    while place < len(packet):
        size = packet[place]
        place += 1
        if size == 0xFB:
            values.append(None)
            continue
        values.append(packet[place : place + size].decode())
        place += size
    return values


def typed(names: list[str], row: Iterable) -> tuple:
    return tuple(
        int(value) if value is not None and name in INTEGERS else value.ljust(25) if name == "name" else value
        for name, value in zip(names, row, strict=True)
    )
