"""mssql-python: Microsoft's ODBC driver, by Microsoft's own binding."""

import re
import threading
import time
from typing import Any

import mssql_python
from native import set_of, value_of
from odbc_catalog import catalog
from serve import Notice, Refused, Reply, serve


class MssqlPython:
    def __init__(self) -> None:
        self.connections: dict[str, mssql_python.Connection] = {}
        # Each connection of the tests is a connection of its own.
        mssql_python.pooling(enabled=False)

    def connect(
        self,
        name: str,
        port: int,
        user: str,
        password: str,
        encryption: str,
        certificate: str | None = None,
        database: str | None = None,
        packet_size: int | None = None,
    ) -> None:
        encrypt = {"login": "no", "on": "yes", "strict": "strict"}[encryption]
        parts = {"Server": f"127.0.0.1,{port}", "UID": user, "PWD": "{" + password.replace("}", "}}") + "}"}
        parts |= {"Encrypt": encrypt, "Database": database, "PacketSize": packet_size, "ConnectRetryCount": 0}
        if encryption == "strict":
            parts["ServerCertificate"] = certificate
        else:
            parts["TrustServerCertificate"] = "yes"
        text = ";".join(f"{key}={value}" for key, value in parts.items() if value is not None)
        try:
            self.connections[name] = mssql_python.connect(text, autocommit=True, timeout=0)
        except mssql_python.Error as error:
            raise Refused(notice(error)) from error

    def batch(self, name: str, sql: str) -> Reply:
        return self._run(name, sql)

    def execute(self, name: str, sql: str, parameters: list[tuple[str, str | None]]) -> Reply:
        values = [value_of(*parameter) for parameter in parameters]
        return self._run(name, re.sub(r"@p\d+", "?", sql), *values)

    def cancel(self, name: str, sql: str, after_ms: int | None) -> Reply:
        """SQLCancel from another thread, as the binding's own readers do it."""
        reply = Reply()
        cursor = self.connections[name].cursor()
        at: list[float] = []

        def cancel() -> None:
            at.append(time.monotonic())
            cursor.hstmt._cancel()

        try:
            if after_ms is None:
                cursor.execute(sql)
                cursor.fetchone()
                at.append(time.monotonic())
                # SQL_CLOSE with rows to come sends ATTENTION.
                cursor.close()
            else:
                threading.Timer(after_ms / 1000, cancel).start()
                cursor.execute(sql)
                while cursor.nextset():
                    pass
        except mssql_python.Error as error:
            reply.errors.append(notice(error))
        reply.cancelled_ms = (time.monotonic() - at[0]) * 1000
        return reply

    def begin(self, name: str) -> None:
        self.connections[name].autocommit = False

    def commit(self, name: str) -> None:
        self.connections[name].commit()
        self.connections[name].autocommit = True

    def rollback(self, name: str) -> None:
        self.connections[name].rollback()
        self.connections[name].autocommit = True

    def many(self, name: str, sql: str, kinds: list[str], rows: list[list[str | None]], fast: bool) -> Reply:
        """executemany: the rows of all as an array; it has no other way."""
        assert fast
        cursor = self.connections[name].cursor()
        values = [[value_of(kind, text) for kind, text in zip(kinds, row, strict=True)] for row in rows]
        try:
            cursor.executemany(re.sub(r"@p\d+", "?", sql), values)
        except mssql_python.Error as error:
            return Reply(errors=[notice(error)])
        finally:
            cursor.close()
        return Reply()

    def catalog(self, name: str, what: str, table: str | None = None) -> Reply:
        return catalog(self.connections[name].cursor(), what, table, is_swapped=True)

    def close(self, name: str) -> None:
        self.connections.pop(name).close()

    def _run(self, name: str, sql: str, *values: Any) -> Reply:
        reply = Reply()
        cursor = self.connections[name].cursor()
        try:
            cursor.execute(sql, *values)
            while True:
                if cursor.description:
                    rows = cursor.fetchall()
                    reply.sets.append(set_of([column[0] for column in cursor.description], rows))
                elif cursor.rowcount >= 0:
                    reply.counts.append(cursor.rowcount)
                reply.messages += heard(cursor)
                if not cursor.nextset():
                    break
            reply.messages += heard(cursor)
        except mssql_python.Error as error:
            reply.errors.append(notice(error))
            reply.messages += heard(cursor)
        try:
            cursor.close()
        except mssql_python.Error:
            # A broken connection has no cursors to close.
            pass
        return reply


def heard(cursor: Any) -> list[Notice]:
    """The messages that came meanwhile; each is a state with a number, and a text."""
    told = [Notice(plain(text)) for _, text in cursor.messages]
    cursor.messages.clear()
    return told


def notice(error: mssql_python.Error) -> Notice:
    """What the driver tells: the server's text, without a number."""
    return Notice(plain(getattr(error, "ddbc_error", None) or str(error)))


def plain(text: str) -> str:
    """A text without the names of those that pass it on."""
    return re.sub(r"^(\[[^]]*\])+", "", text)


if __name__ == "__main__":
    serve(MssqlPython())
