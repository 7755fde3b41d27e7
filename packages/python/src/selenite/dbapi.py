"""A DB-API 2.0 module (PEP 249): that of ``sqlite3``, whose ``connect`` opens encrypted databases.

>>> from selenite import dbapi
>>> db = dbapi.connect("app.db", identity="key.txt")
"""

from sqlite3.dbapi2 import *

from ._connection import connect as connect  # type: ignore[no-redef]
