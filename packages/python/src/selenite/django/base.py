"""The backend: Django's own for SQLite, with another file name."""

from __future__ import annotations

from typing import Any

from django.db.backends.sqlite3 import base

from .._connection import checked, explained
from .._extension import load
from .._uri import uri

_ARGUMENTS = ("identity", "cipher", "mode", "plain", "options")


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's ``DatabaseWrapper`` for SQLite, on encrypted databases."""

    display_name = "SQLite with Selenite"

    def get_connection_params(self) -> dict[str, Any]:
        parameters: dict[str, Any] = super().get_connection_params()
        own = {name: parameters.pop(name) for name in _ARGUMENTS if name in parameters}
        parameters["database"] = uri(parameters["database"], is_uri=True, **own)
        parameters["uri"] = True
        return parameters

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        load()
        with explained(conn_params["database"]):
            connection = super().get_new_connection(conn_params)
        return checked(connection, conn_params["database"])
