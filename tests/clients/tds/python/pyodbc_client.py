"""pyodbc with Microsoft's ODBC driver 18, out of the wheel of mssql-python."""

import re
import threading
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyodbc
from native import set_of, value_of
from odbc_catalog import catalog
from serve import Notice, Refused, Reply, serve

pyodbc.pooling = False


def driver() -> str:
    """The driver's library for this machine."""
    spec = find_spec("mssql_python_odbc")
    assert spec and spec.origin
    machine = Path("/usr/bin/python3").resolve().exists() and __import__("platform").machine()
    (library,) = Path(spec.origin).parent.glob(f"libs/linux/debian_ubuntu/{machine}/lib/libmsodbcsql-*.so*")
    return str(library)


class Pyodbc:
    def __init__(self) -> None:
        self.connections: dict[str, pyodbc.Connection] = {}

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
        parts = {"DRIVER": driver(), "SERVER": f"127.0.0.1,{port}", "UID": user}
        parts |= {"PWD": "{" + password.replace("}", "}}") + "}", "Encrypt": encrypt, "Database": database}
        parts |= {"PacketSize": packet_size, "ConnectRetryCount": 0}
        if encryption == "strict":
            parts["ServerCertificate"] = certificate
        else:
            parts["TrustServerCertificate"] = "yes"
        text = ";".join(f"{key}={value}" for key, value in parts.items() if value is not None)
        try:
            connection = pyodbc.connect(text, autocommit=True, timeout=20)
        except pyodbc.Error as error:
            raise Refused(notice(error)) from error
        # SQL_SS_TIMESTAMPOFFSET has no class of Python's in pyodbc: its text is as good.
        connection.add_output_converter(-155, offset_text)
        # Nor has SQL_SS_VARIANT: its bytes are those of its value.
        connection.add_output_converter(-150, bytes)
        self.connections[name] = connection

    def batch(self, name: str, sql: str) -> Reply:
        return self._run(name, sql)

    def execute(self, name: str, sql: str, parameters: list[tuple[str, str | None]]) -> Reply:
        values = [sent(*parameter) for parameter in parameters]
        return self._run(name, re.sub(r"@p\d+", "?", sql), *values)

    def cancel(self, name: str, sql: str, after_ms: int | None) -> Reply:
        """SQLCancel from another thread."""
        reply = Reply()
        cursor = self.connections[name].cursor()
        at: list[float] = []

        def cancel() -> None:
            at.append(time.monotonic())
            cursor.cancel()

        try:
            if after_ms is None:
                cursor.execute(sql)
                cursor.fetchone()
                cancel()
                cursor.close()
            else:
                threading.Timer(after_ms / 1000, cancel).start()
                cursor.execute(sql)
                while cursor.nextset():
                    pass
        except pyodbc.Error as error:
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
        """executemany: a call for each row, or the rows of all as an array."""
        cursor = self.connections[name].cursor()
        cursor.fast_executemany = fast
        values = [[sent(kind, text) for kind, text in zip(kinds, row, strict=True)] for row in rows]
        try:
            cursor.executemany(re.sub(r"@p\d+", "?", sql), values)
        except pyodbc.Error as error:
            return Reply(errors=[notice(error)])
        return Reply()

    def catalog(self, name: str, what: str, table: str | None = None) -> Reply:
        return catalog(self.connections[name].cursor(), what, table)

    def close(self, name: str) -> None:
        self.connections.pop(name).close()

    def _run(self, name: str, sql: str, *values: Any) -> Reply:
        reply = Reply()
        cursor = self.connections[name].cursor()
        try:
            cursor.execute(sql, *values)
            while True:
                reply.messages += heard(cursor)
                if cursor.description:
                    rows = cursor.fetchall()
                    reply.sets.append(set_of([column[0] for column in cursor.description], rows))
                elif cursor.rowcount >= 0:
                    reply.counts.append(cursor.rowcount)
                if not cursor.nextset():
                    break
            reply.messages += heard(cursor)
        except pyodbc.Error as error:
            reply.errors.append(notice(error))
        return reply


def sent(kind: str, text: str | None) -> Any:
    """A value as an application would give it to pyodbc, which sends no offset with a datetime: as text."""
    return text if kind.startswith("datetimeoffset") else value_of(kind, text)


def heard(cursor: pyodbc.Cursor) -> list[Notice]:
    """The messages that came meanwhile."""
    told = []
    for state, text in cursor.messages or []:
        number = re.search(r"\((\d+)\)", state)
        told.append(Notice(plain(text), int(number[1]) if number else None))
    return told


def notice(error: pyodbc.Error) -> Notice:
    """The server's text, and its number at the end of it. Of several the first counts."""
    text = error.args[1] if len(error.args) > 1 else str(error)
    first = re.match(r"\[\w{5}\] (?P<text>.*?) \((?P<number>\d+)\)( \(SQL\w+\))?(; \[\w{5}\]|$)", text, re.DOTALL)
    if not first:
        return Notice(plain(text))
    return Notice(plain(first["text"]), int(first["number"]))


def plain(text: str) -> str:
    """A text without the names of those that pass it on."""
    return re.sub(r"^(\[[^]]*\] ?)+", "", text)


def offset_text(data: bytes | None) -> str | None:
    """SQL_SS_TIMESTAMPOFFSET_STRUCT as text."""
    if data is None:
        return None
    import struct

    year, month, day, hour, minute, second, nanos, hours, minutes = struct.unpack("<6hI2h", data)
    sign = "-" if hours < 0 or minutes < 0 else "+"
    moment = f"{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{nanos // 100:07}"
    return f"{moment}{sign}{abs(hours):02}:{abs(minutes):02}"


if __name__ == "__main__":
    serve(Pyodbc())
