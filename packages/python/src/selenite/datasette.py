"""A plugin of Datasette: with ``SELENITE_DEFAULT=1``, every database that it opens is opened by the extension.

    SELENITE_DEFAULT=1 SELENITE_IDENTITY=key.txt datasette app.db

Without that variable it does nothing: other databases are served as before.
"""

import os

from ._extension import load

if os.environ.get("SELENITE_DEFAULT") == "1":
    # Datasette takes pysqlite3 if it is installed.
    from datasette.utils.sqlite import sqlite3

    _boot = sqlite3.connect(":memory:")
    load(_boot)
    _boot.close()
