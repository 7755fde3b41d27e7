"""A database of SQLCipher or SQLite3 Multiple Ciphers, made or read by the product itself in a process of its own.

Standard input is a JSON object:
  product     sqlcipher or sqlite3mc
  database    the path
  pragmas     what is set before the key is given (sqlite3mc) or after it (sqlcipher)
  key         the argument of PRAGMA key, as it stands in SQL
  statements  what is run then, one after the other
  end         close, abort: ended without closing, or wait: open until the end of standard input
Standard output is one line of JSON: the rows of each statement.
"""

import json
import os
import sys
from collections.abc import Callable


def connect(product: str, database: str) -> Callable[[str], list]:
    if product == "sqlcipher":
        from sqlcipher3 import dbapi2

        connection = dbapi2.connect(database, isolation_level=None)
    else:
        import apsw

        connection = apsw.Connection(database)
    KEEP.append(connection)
    return lambda sql: [list(row) for row in connection.execute(sql)]


KEEP: list = []


def main() -> None:
    asked = json.loads(sys.stdin.readline())
    run = connect(asked["product"], asked["database"])
    key = [f"key = {asked['key']}"]
    pragmas = asked["pragmas"]
    for pragma in key + pragmas if asked["product"] == "sqlcipher" else pragmas + key:
        run(f"PRAGMA {pragma}")
    answers = [run(statement) for statement in asked["statements"]]
    print(json.dumps(answers, default=bytes.hex), flush=True)
    if asked["end"] == "wait":
        sys.stdin.read()
    if asked["end"] == "abort":
        os._exit(0)


main()
