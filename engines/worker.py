"""The worker of an engine: worker.py NAME, started by the lab through target/engines/selenite-worker-NAME."""

import sys

from conversation import serve
from engine import Engine
from server_worker import ServerWorker


def engine_of(name: str) -> Engine:
    """The engine of a worker. Its module is loaded now: each needs its own driver."""
    match name:
        case "mariadb" | "mariadb118":
            from mariadb import Mariadb

            return Mariadb(name)
        case "postgresql" | "postgresql17":
            from postgresql import Postgresql

            return Postgresql(name)
        case "duckdb":
            from duckdb_engine import Duckdb

            return Duckdb()
        case "serve":
            from selenite_serve import Serve

            return Serve()
    raise SystemExit(f"worker: no such engine: {name}")


if __name__ == "__main__":
    sys.exit(serve(ServerWorker(engine_of(sys.argv[1]))))
