"""A dialect of SQLAlchemy: ``sqlite+selenite``.

>>> from sqlalchemy import create_engine
>>> engine = create_engine("sqlite+selenite:///app.db?identity=key.txt")

The parameters of the URL are those of ``selenite.connect`` (``identity``, ``cipher``, ``mode``, ``plain=true``) and of
SQLAlchemy's own dialect for SQLite; all others are options, such as ``origin=any``. ``connect_args`` may have any
argument of ``selenite.connect``. It is SQLAlchemy's dialect for ``sqlite3`` in everything else.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.engine.url import URL
from sqlalchemy.util import asbool

_ARGUMENTS = ("identity", "cipher", "mode", "plain")
_OF_SQLITE3 = (
    "uri",
    "timeout",
    "isolation_level",
    "detect_types",
    "check_same_thread",
    "cached_statements",
    "autocommit",
)


class SeleniteDialect(SQLiteDialect_pysqlite):
    """The dialect ``sqlite+selenite``."""

    driver = "selenite"
    supports_statement_cache = True

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        from . import dbapi

        return dbapi

    def create_connect_args(self, url: URL) -> Any:
        query = dict(url.query)
        own: dict[str, Any] = {name: query.pop(name) for name in _ARGUMENTS if name in query}
        if "plain" in own:
            own["plain"] = asbool(own["plain"])
        options = {name: query.pop(name) for name in list(query) if name not in _OF_SQLITE3}
        if options:
            own["options"] = options
        arguments, keywords = super().create_connect_args(url.set(query=query))
        return arguments, {**keywords, **own}
