"""A connection that speaks TDS without a driver: what is measured is the server, and the moment of each packet is known.

It encrypts all, as the server's own default asks, or nothing.
"""

import socket
import ssl
import struct

PRELOGIN, LOGIN7, BATCH, ATTENTION = 0x12, 0x10, 0x01, 0x06
HEADER_SIZE = 8
# MS-TDS 2.2.7.6: the last DONE of a message; its status is all that is looked at here.
DONE_SIZE = 13
DONE_ATTENTION = 0x20
PACKET_SIZE = 4096


class RawConnection:
    """One session of sa's."""

    def __init__(self, port: int, password: str, encrypted: bool) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._tls: ssl.SSLObject | None = None
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._buffer = bytearray()
        self.send(PRELOGIN, prelogin(encrypted))
        self.packet()
        if encrypted:
            self._shake_hands()
        self.send(LOGIN7, login7("sa", password))
        self.answer()

    def send(self, kind: int, data: bytes) -> None:
        """Sends a message."""
        room = PACKET_SIZE - HEADER_SIZE
        pieces = [data[at : at + room] for at in range(0, len(data), room)] or [b""]
        for number, piece in enumerate(pieces):
            status = 1 if number + 1 == len(pieces) else 0
            self._write(struct.pack(">BBHHBB", kind, status, HEADER_SIZE + len(piece), 0, 1, 0) + piece)

    def batch(self, sql: str) -> None:
        """Sends a batch; ALL_HEADERS says that there is no transaction of the client's."""
        headers = struct.pack("<IIHQI", 22, 18, 2, 0, 1)
        self.send(BATCH, headers + sql.encode("utf-16-le"))

    def cancel(self) -> None:
        self.send(ATTENTION, b"")

    def packet(self) -> tuple[bool, bytes]:
        """Whether a message ends with the next packet, and its data."""
        header = self._read(HEADER_SIZE)
        size = int.from_bytes(header[2:4], "big")
        return bool(header[1] & 1), self._read(size - HEADER_SIZE)

    def answer(self) -> bytes:
        """The next message's last bytes: a DONE. An error is one of the test's own."""
        tail = b""
        while True:
            is_last, data = self.packet()
            tail = (tail + data)[-DONE_SIZE:]
            if is_last:
                assert tail[0] in (0xFD, 0xFE), tail
                return tail

    def run(self, sql: str) -> None:
        """Runs a batch that has no error."""
        self.batch(sql)
        done = self.answer()
        assert not int.from_bytes(done[1:3], "little") & 2, sql

    def number(self, sql: str) -> int:
        """The one bigint of a query: a column, a row of eight bytes, and DONE (MS-TDS 2.2.5.4, 2.2.7.19)."""
        self.batch(sql)
        is_last, data = self.packet()
        assert is_last and data[-DONE_SIZE] == 0xFD, data
        return int.from_bytes(data[-DONE_SIZE - 8 : -DONE_SIZE], "little", signed=True)

    def wait_for_attention(self) -> None:
        while not int.from_bytes(self.answer()[1:3], "little") & DONE_ATTENTION:
            pass

    def close(self) -> None:
        self.socket.close()

    def _shake_hands(self) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        tls = context.wrap_bio(self._in, self._out)
        while True:
            try:
                tls.do_handshake()
            except ssl.SSLWantReadError:
                self.send(PRELOGIN, self._out.read())
                self._in.write(self.packet()[1])
            else:
                break
        self._tls = tls

    def _write(self, data: bytes) -> None:
        if self._tls:
            self._tls.write(data)
            data = self._out.read()
        self.socket.sendall(data)

    def _read(self, size: int) -> bytes:
        while len(self._buffer) < size:
            if self._tls:
                try:
                    self._buffer += self._tls.read(1 << 16)
                    continue
                except ssl.SSLWantReadError:
                    pass
            came = self.socket.recv(1 << 20)
            if not came:
                raise ConnectionError("the server has closed the connection")
            if self._tls:
                self._in.write(came)
            else:
                self._buffer += came
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken


def prelogin(encrypted: bool) -> bytes:
    """VERSION and ENCRYPTION: on, or not supported (MS-TDS 2.2.6.5)."""
    options = struct.pack(">BHHBHHB", 0, 11, 6, 1, 17, 1, 0xFF)
    return options + bytes(6) + (b"\x01" if encrypted else b"\x02")


def login7(user: str, password: str) -> bytes:
    """TDS 7.4, without features (MS-TDS 2.2.6.4)."""
    hidden = bytes(((byte << 4 & 0xF0) | byte >> 4) ^ 0xA5 for byte in password.encode("utf-16-le"))
    texts = [b"", user.encode("utf-16-le"), hidden, "figures".encode("utf-16-le")] + [b""] * 5
    fixed = struct.pack("<IIIIIBBBBiI", 0x74000004, PACKET_SIZE, 7, 0, 0, 0xE0, 0x03, 0, 0, 0, 0x409)
    place, places, data = 94, b"", b""
    for text in texts:
        places += struct.pack("<HH", place + len(data), len(text) // 2)
        data += text
    # The client's id, then what it has none of: SSPI, a file to attach, a new password.
    places += bytes(6) + struct.pack("<HHHHHHI", place + len(data), 0, place + len(data), 0, place + len(data), 0, 0)
    body = fixed + places + data
    return struct.pack("<I", len(body) + 4) + body
