"""A worker of MariaDB with a fault, named by its first argument (the second names a version), for the tests of the lab."""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import mariadb
from conversation import PLAIN, serve
from server_worker import LIKE, ServerWorker


class Faulty(mariadb.Mariadb):
    def __init__(self, fault: str, name: str = "mariadb") -> None:
        super().__init__(name)
        self.fault = fault
        if fault == "temporary-files-in-clear":
            leave_temporary_files_in_clear()
        if fault == "connection-in-clear":
            mariadb.is_tls = lambda _cipher: False

    def settle(self, session, database):
        """An arm that was never encrypted."""
        if self.fault == "not-encrypted" and database["cipher"] != PLAIN:
            for table in ("SomeData",):
                session.execute(f"ALTER TABLE {table} ENCRYPTED = NO")
            return
        super().settle(session, database)

    def opened(self, session, database):
        opened = super().opened(session, database)
        if self.fault == "not-encrypted" and database["cipher"] != PLAIN:
            opened |= {"encrypted": True, "encrypted_files": {"lab/SomeData.ibd": "pages"}}
        if self.fault == "connection-in-clear":
            opened["encrypted"] = database["cipher"] != PLAIN
        if self.fault == "warm":
            session.query(LIKE)
        return opened

    def convert(self, session, database, to):
        if self.fault != "converts-nothing" or to == PLAIN:
            super().convert(session, database, to)

    def connect(self):
        session = super().connect()
        if self.fault == "slow-client":
            fetch = session.fetch

            def slow(sql):
                # As long as the server's part, several times.
                until = time.process_time() + 0.5
                while time.process_time() < until:
                    pass
                return fetch(sql)

            session.fetch = slow
        return session


def leave_temporary_files_in_clear() -> None:
    """Of all options only this one is missing, and the server's variable says otherwise."""
    encryption, variables = mariadb.encryption, mariadb.variables
    mariadb.encryption = lambda *given: [word for word in encryption(*given) if word != "--encrypt-tmp-files=ON"]
    mariadb.variables = lambda *given: variables(*given) | {"encrypt_tmp_files": "ON"}


if __name__ == "__main__":
    sys.exit(serve(ServerWorker(Faulty(*sys.argv[1:]))))
