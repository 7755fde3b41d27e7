"""pymssql, which brings FreeTDS with it. Parameters are put into the text by the client."""

import re
import time
from typing import Any

import pymssql
from native import set_of, text_of, value_of
from serve import Notice, Refused, Reply, serve

ENCRYPTION = {"off": "off", "login": "request", "on": "require"}


class Pymssql:
    def __init__(self) -> None:
        self.connections: dict[str, pymssql.Connection] = {}
        self.messages: dict[str, list[Notice]] = {}

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
        assert packet_size is None, "pymssql has no such setting"
        try:
            connection = pymssql.connect(
                server="127.0.0.1",
                port=str(port),
                user=user,
                password=password,
                database=database or "",
                login_timeout=20,
                autocommit=True,
                tds_version="7.4",
                encryption=ENCRYPTION[encryption],
                use_datetime2=True,
            )
        except pymssql.Error as error:
            raise refused(error) from error
        self.connections[name] = connection
        heard = self.messages[name] = []

        def hear(state: int, severity: int, server: bytes, procedure: bytes, line: int, text: bytes) -> None:
            # Errors come here too, and are raised besides.
            if severity <= 10:
                heard.append(Notice(text.decode(), None, state, severity, line, procedure.decode() or None))

        connection._conn.set_msghandler(hear)

    def batch(self, name: str, sql: str) -> Reply:
        return self._run(name, sql)

    def execute(self, name: str, sql: str, parameters: list[tuple[str, str | None]]) -> Reply:
        values = tuple(value_of(*parameter) for parameter in parameters)
        return self._run(name, re.sub(r"@p\d+", "%s", sql.replace("%", "%%")), values)

    def cancel(self, name: str, sql: str, after_ms: int | None) -> Reply:
        """Cancels after the first row: dblib has no other moment for it."""
        assert after_ms is None
        reply = Reply()
        cursor = self.connections[name].cursor()
        cursor.execute(sql)
        cursor.fetchone()
        started = time.monotonic()
        self.connections[name]._conn.cancel()
        reply.cancelled_ms = (time.monotonic() - started) * 1000
        return reply

    def begin(self, name: str) -> None:
        self.connections[name].autocommit(False)

    def commit(self, name: str) -> None:
        self.connections[name].commit()
        self.connections[name].autocommit(True)

    def rollback(self, name: str) -> None:
        # The client rolls back what is open.
        self.connections[name].autocommit(True)

    def call(self, name: str, sql: str, parameters: list[tuple[str, str, str | None]], outputs: list[tuple[str, str]]) -> Reply:
        """A procedure by a call: its status, and its parameters that come back."""
        cursor = self.connections[name].cursor()
        values = [value_of(kind, text) for _, kind, text in parameters]
        values += [pymssql.output(int if kind == "int" else str) for _, kind in outputs]
        try:
            told = cursor.callproc(sql, tuple(values))
            sets = []
            while cursor.description:
                sets.append(set_of([column[0] for column in cursor.description], cursor.fetchall()))
                if not cursor.nextset():
                    break
        except pymssql.Error as error:
            return Reply(errors=refused(error).notices)
        # Those that come back stand behind all others, by their places and once more by their names.
        back = [text_of(value) for value in told[-len(outputs) :]]
        return Reply(sets=sets, status=cursor.returnvalue, outputs=back)

    def bulk(self, name: str, table: str, columns: list[tuple[str, str]], rows: list[list[str | None]]) -> Reply:
        """INSERT BULK, by FreeTDS' bcp."""
        kinds = [kind for _, kind in columns]
        data = [tuple(value_of(kind, text) for kind, text in zip(kinds, row, strict=True)) for row in rows]
        try:
            self.connections[name].bulk_copy(table, data)
        except pymssql._mssql.MSSQLDatabaseException as told:
            text = told.text.decode(errors="replace").split("DB-Lib error message")[0]
            return Reply(errors=[Notice(text, told.number, told.state, told.severity, told.line)])
        return Reply()

    def close(self, name: str) -> None:
        self.connections.pop(name).close()

    def _run(self, name: str, sql: str, *values: Any) -> Reply:
        reply = Reply()
        self.messages[name].clear()
        cursor = self.connections[name].cursor()
        try:
            cursor.execute(sql, *values)
            while True:
                if cursor.description:
                    rows = cursor.fetchall()
                    reply.sets.append(set_of([column[0] for column in cursor.description], rows))
                if cursor.rowcount >= 0:
                    reply.counts.append(cursor.rowcount)
                if not cursor.nextset():
                    break
        except pymssql.Error as error:
            reply.errors += refused(error).notices
        reply.messages += self.messages[name]
        return reply


def refused(error: pymssql.Error) -> Refused:
    """What the server said, as dblib tells it."""
    told = error.__context__
    if isinstance(told, pymssql._mssql.MSSQLDatabaseException):
        text = told.text.decode(errors="replace").split("DB-Lib error message")[0]
        return Refused(Notice(text, told.number, told.state, told.severity, told.line))
    return Refused(Notice(str(error)))


if __name__ == "__main__":
    serve(Pymssql())
