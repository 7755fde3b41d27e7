"""A wire tap: a relay on loopback that keeps what goes through it.

What is encrypted is seen here from outside, whatever client and server say of it.
"""

import socket
import threading

from ports import listener


class Tap:
    """Relays connections to a port of loopback."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._listener = listener()
        self.port: int = self._listener.getsockname()[1]
        self._lock = threading.Lock()
        self._sent = bytearray()
        self._received = bytearray()
        self._sockets: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> "Tap":
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        with self._lock:
            for end in self._sockets:
                end.close()

    @property
    def sent(self) -> bytes:
        """What clients have sent so far."""
        with self._lock:
            return bytes(self._sent)

    @property
    def received(self) -> bytes:
        """What the server has answered so far."""
        with self._lock:
            return bytes(self._received)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._to))
            with self._lock:
                self._sockets += [client, server]
            for source, target, kept in [(client, server, self._sent), (server, client, self._received)]:
                threading.Thread(target=self._relay, args=(source, target, kept), daemon=True).start()

    def _relay(self, source: socket.socket, target: socket.socket, kept: bytearray) -> None:
        try:
            while data := source.recv(65536):
                with self._lock:
                    kept += data
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass
