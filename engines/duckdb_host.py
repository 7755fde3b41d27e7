"""DuckDB in a process of its own, so that it is measured as servers are: a statement a line, over loopback.

usage: duckdb_host.py PORT FILE MEMORY_KIB EXTENSIONS
The key and the token of those who may connect are the first two lines of the file named by SELENITE_DUCKDB_SECRETS.
A statement and its answer are a line of JSON. `{"sql": ..., "wants": "rows" | "count"}`, `{"ok": ...}`, `{"error": ...}`.
"""

import json
import os
import signal
import socket
import sys
import threading
from pathlib import Path

# A client that is still connected does not hinder the end.
THREAD_SECONDS = 5


def main(arguments: list[str]) -> int:
    import duckdb

    port, path, memory, extensions = int(arguments[0]), arguments[1], int(arguments[2]), arguments[3]
    secrets = Path(os.environ["SELENITE_DUCKDB_SECRETS"])
    token, cipher, key = secrets.read_text().splitlines()
    secrets.unlink()
    connection = duckdb.connect(config={"memory_limit": f"{memory}KiB", "threads": 1, "autoinstall_known_extensions": False})
    connection.execute("SET enable_progress_bar = false")
    for extension in filter(None, extensions.split(":")):
        connection.execute(f"LOAD '{extension}'")
    options = f" (ENCRYPTION_KEY '{key}', ENCRYPTION_CIPHER '{cipher.upper()}')" if cipher != "plain" else ""
    connection.execute(f"ATTACH '{path}' AS lab{options}")
    connection.execute("USE lab")
    listener = socket.create_server(("127.0.0.1", port))
    ended = threading.Event()

    def end(*_) -> None:
        ended.set()
        listener.shutdown(socket.SHUT_RDWR)

    signal.signal(signal.SIGTERM, end)
    threads = []
    while not ended.is_set():
        try:
            client, _ = listener.accept()
        except OSError:
            break
        threads.append(threading.Thread(target=serve, args=(client, connection.cursor(), token), daemon=True))
        threads[-1].start()
    # Their clients have gone. A thread in DuckDB's code does not survive the end of the interpreter.
    for thread in threads:
        thread.join(THREAD_SECONDS)
    connection.execute("CHECKPOINT lab")
    connection.execute("USE memory")
    connection.execute("DETACH lab")
    connection.close()
    return 0


def serve(client: socket.socket, cursor, token: str) -> None:
    cursor.execute("USE lab")
    with client, client.makefile("rwb") as stream:
        if stream.readline().decode().strip() != token:
            return
        for line in stream:
            request = json.loads(line)
            try:
                result = cursor.execute(request["sql"])
                rows = result.fetchall() if result.description else []
                answer = {"ok": rows if request["wants"] == "rows" else (rows[0][0] if rows else 0)}
            except Exception as error:  # noqa: BLE001 - DuckDB's errors are answers
                answer = {"error": " ".join(str(error).split())}
            stream.write(json.dumps(answer, default=str, separators=(",", ":")).encode() + b"\n")
            stream.flush()


if __name__ == "__main__":
    status = main(sys.argv[1:])
    # Nothing is left to do, and DuckDB's own threads may abort while the interpreter is taken down.
    os._exit(status)
