"""python-tds: the protocol in Python, TLS by OpenSSL."""

import re
import time
from typing import Any

import pytds
from native import set_of, text_of, value_of
from pytds import tds_types
from serve import Notice, Refused, Reply, serve


class Pytds:
    def __init__(self) -> None:
        self.connections: dict[str, Any] = {}

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
        # It has no encryption without a certificate that it trusts.
        trusted = {"off": None, "login": certificate, "verified": certificate}[encryption]
        try:
            self.connections[name] = pytds.connect(
                dsn="127.0.0.1",
                port=port,
                user=user,
                password=password,
                database=database,
                autocommit=True,
                login_timeout=20,
                blocksize=packet_size or 4096,
                cafile=trusted,
                # Its check of names asks pyOpenSSL for what that has no more; the certificate itself is checked.
                validate_host=False,
                enc_login_only=encryption == "login",
                disable_connect_retry=True,
            )
        except pytds.Error as error:
            raise Refused(notice(error)) from error

    def batch(self, name: str, sql: str) -> Reply:
        return self._run(name, sql)

    def execute(self, name: str, sql: str, parameters: list[tuple[str, str | None]]) -> Reply:
        values = tuple(bound(value_of(*parameter)) for parameter in parameters)
        return self._run(name, re.sub(r"@p\d+", "%s", sql.replace("%", "%%")), values)

    def cancel(self, name: str, sql: str, after_ms: int | None) -> Reply:
        """Cancels after the first row, or when the client's time is up: it sends ATTENTION then."""
        reply = Reply()
        connection = self.connections[name]
        cursor = connection.cursor()
        if after_ms is None:
            cursor.execute(sql)
            while not cursor.description:
                cursor.nextset()
            cursor.fetchone()
            started = time.monotonic()
            cursor.cancel()
        else:
            socket = connection._tds_socket.sock
            socket.settimeout(after_ms / 1000)
            try:
                # Where the answer has begun, reading what follows is what waits.
                cursor.execute(sql)
                raise AssertionError("it ended")
            except pytds.TimeoutError as error:
                reply.errors.append(notice(error))
            started = time.monotonic()
            socket.settimeout(None)
            cursor._session.process_cancel()
        reply.cancelled_ms = (time.monotonic() - started) * 1000
        return reply

    def begin(self, name: str) -> None:
        self.connections[name].autocommit = False

    def commit(self, name: str) -> None:
        self.connections[name].commit()
        self.connections[name].autocommit = True

    def rollback(self, name: str) -> None:
        self.connections[name].rollback()
        self.connections[name].autocommit = True

    def call(self, name: str, sql: str, parameters: list[tuple[str, str, str | None]], outputs: list[tuple[str, str]]) -> Reply:
        """A procedure by a call: its status, and its parameters that come back."""
        cursor = self.connections[name].cursor()
        # It counts those that come back as if they stood first.
        named: dict[str, Any] = {f"@{key}": pytds.output(param_type=kind) for key, kind in outputs}
        named |= {f"@{key}": bound(value_of(kind, text)) for key, kind, text in parameters}
        try:
            cursor.callproc(sql, named)
            sets = []
            read = None
            while (about := cursor._session.res_info) is not None and about is not read:
                read = about
                sets.append(set_of([column[0] for column in cursor.description], cursor.fetchall()))
                cursor.nextset()
            told = cursor.get_proc_outputs()
        except pytds.Error as error:
            return Reply(errors=[notice(error)])
        return Reply(sets=sets, status=cursor.get_proc_return_status(), outputs=[text_of(value) for value in told])

    def bulk(self, name: str, table: str, columns: list[tuple[str, str]], rows: list[list[str | None]]) -> Reply:
        """INSERT BULK."""
        kinds = [kind for _, kind in columns]
        nullable = pytds.Column.fNullable
        about = [pytds.Column(name=column, type=type_of(kind), flags=nullable) for column, kind in columns]
        data = [[value_of(kind, text) for kind, text in zip(kinds, row, strict=True)] for row in rows]
        cursor = self.connections[name].cursor()
        try:
            cursor.copy_to(data=data, table_or_view=table, columns=about)
        except pytds.Error as error:
            return Reply(errors=[notice(error)])
        return Reply()

    def table(
        self, name: str, sql: str, procedure: bool, type: str, columns: list[tuple[str, str]], rows: list[list[str | None]]
    ) -> Reply:
        """A table-valued parameter, @p1 of a text or the only one of a procedure."""
        kinds = [kind for _, kind in columns]
        about = [pytds.Column(type=type_of(kind)) for kind in kinds]
        data = [[value_of(kind, text) for kind, text in zip(kinds, row, strict=True)] for row in rows]
        value = pytds.TableValuedParam(type_name=type, columns=about, rows=data)
        if not procedure:
            return self._run(name, sql.replace("@p1", "%s"), (value,))
        cursor = self.connections[name].cursor()
        try:
            cursor.callproc(sql, [value])
            sets = [set_of([column[0] for column in cursor.description], cursor.fetchall())]
        except pytds.Error as error:
            return Reply(errors=[notice(error)])
        return Reply(sets=sets)

    def close(self, name: str) -> None:
        self.connections.pop(name).close()

    def _run(self, name: str, sql: str, *values: Any) -> Reply:
        reply = Reply()
        cursor = self.connections[name].cursor()
        try:
            cursor.execute(sql, *values)
            read = None
            while True:
                # What has no columns leaves those of the set before.
                about = cursor._session.res_info
                if about is not None and about is not read and cursor.description:
                    read = about
                    rows = cursor.fetchall()
                    reply.sets.append(set_of([column[0] for column in cursor.description], rows))
                if cursor.rowcount >= 0:
                    reply.counts.append(cursor.rowcount)
                if not cursor.nextset():
                    break
        except pytds.Error as error:
            reply.errors.append(notice(error))
        told = [message for _, message in cursor.messages] if cursor._session else []
        reply.messages += [notice(message) for message in told if message.severity <= 10]
        # What it raises is what came last, be it an error or not.
        if errors := [notice(message) for message in told if message.severity > 10]:
            reply.errors = errors
        return reply


def type_of(kind: str) -> Any:
    """The type of a column that is copied in bulk, or is a table's."""
    base, _, sizes = kind.rstrip(")").partition("(")
    if sizes == "max":
        return {"nvarchar": tds_types.NVarCharMaxType, "varbinary": tds_types.VarBinaryMaxType}[base]()
    sizes = [int(size) for size in sizes.split(",") if size]
    types = {
        "int": tds_types.IntType,
        "bigint": tds_types.BigIntType,
        "bit": tds_types.BitType,
        "float": tds_types.FloatType,
        "decimal": tds_types.DecimalType,
        "nvarchar": tds_types.NVarCharType,
        "varbinary": tds_types.VarBinaryType,
        "datetime2": tds_types.DateTime2Type,
        "uniqueidentifier": tds_types.UniqueIdentifierType,
    }
    return types[base](*sizes)


def bound(value: Any) -> Any:
    """Bytes as bytes: it takes them for text else."""
    return pytds.Binary(value) if isinstance(value, bytes) else value


def notice(error: Any) -> Notice:
    """What the server said. An error of the client's own has a text alone."""
    number = getattr(error, "number", None) or getattr(error, "msg_no", None)
    return Notice(
        getattr(error, "text", None) or str(error),
        number,
        getattr(error, "state", None),
        getattr(error, "severity", None),
        getattr(error, "line", None),
        getattr(error, "proc_name", None) or None,
    )


if __name__ == "__main__":
    serve(Pytds())
