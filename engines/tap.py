"""What someone sees who reads along: a relay between client and server that records."""

import socket
import threading

from server_process import any_free_port

ROOM = 256 << 10


class Tap:
    """Relays one connection to a port of the loopback interface."""

    def __init__(self, port: int) -> None:
        self._server_port = port
        self.port = any_free_port()
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self._recorded: list[bytes] = []
        self._thread = threading.Thread(target=self._relay, daemon=True)
        self._thread.start()

    def recorded(self) -> bytes:
        """All bytes, in the order in which they passed. The connection has been closed."""
        self._thread.join()
        self._listener.close()
        return b"".join(self._recorded)

    def _relay(self) -> None:
        client, _ = self._listener.accept()
        server = socket.create_connection(("127.0.0.1", self._server_port))
        back = threading.Thread(target=self._pump, args=(server, client), daemon=True)
        back.start()
        self._pump(client, server)
        back.join()
        client.close()
        server.close()

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        try:
            while piece := source.recv(ROOM):
                self._recorded.append(piece)
                target.sendall(piece)
        except OSError:
            # One of them closed without a word.
            pass
        try:
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass
