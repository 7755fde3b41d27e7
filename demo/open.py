"""Opens a database as an application does: open.py DATABASE."""

import sqlite3
import sys
from pathlib import Path

from database import connect, last_error, row_count, tables

path = Path(sys.argv[1])
try:
    connection = connect(path)
    print(f"{sum(row_count(connection, name) for name in tables(connection)):,} rows")
except sqlite3.Error as error:
    sys.exit(f"{type(error).__name__}: {error}\n{last_error()}")
