"""The digest of a database's rows (FORMAT 12.7): what SQLite answers, not where it lies."""

import struct

from primitives import sha256


def word(value):
    return value.to_bytes(8, "big")


def text(value):
    data = value.encode()
    return word(len(data)) + data


def name(value):
    return '"' + value.replace('"', '""') + '"'


def row_digest(database):
    """`database` is a connection of sqlite3."""
    out = b"selenite/1 row digest"
    for pragma in "user_version", "application_id", "encoding", "auto_vacuum":
        (value,) = database.execute(f"PRAGMA {pragma}").fetchone()
        out += text(pragma) + text(str(value))
    entries = database.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
    entries.sort(key=lambda entry: (entry[0].encode(), entry[1].encode()))
    out += word(len(entries))
    for kind, entry, table, sql in entries:
        out += text(kind) + text(entry) + text(f"{table}: {sql}")
    tables = [row[0] for row in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0")]
    out += word(len(tables))
    for table in sorted(tables, key=str.encode):
        rows = list(rows_of(database, table))
        out += text(table) + word(len(rows)) + sha256(b"".join(rows))
    return sha256(out)


def rows_of(database, table):
    columns = database.execute(f"PRAGMA table_xinfo({name(table)})").fetchall()
    stored = [column[1] for column in columns if column[6] != 2]
    (without_rowid,) = database.execute("SELECT wr FROM pragma_table_list(?) WHERE schema = 'main'", [table]).fetchone()
    taken = {column[1].lower() for column in columns}
    rowid = next((alias for alias in ("rowid", "_rowid_", "oid") if alias not in taken), None)
    selected = ([] if without_rowid or rowid is None else [rowid]) + [name(column) for column in stored]
    # A covering index would give another order, that of its keys.
    order = f" ORDER BY {rowid}" if rowid and not without_rowid else ""
    for row in database.execute(f"SELECT {', '.join(selected)} FROM {name(table)} NOT INDEXED{order}"):
        yield b"".join(map(value, row))


def value(item):
    if item is None:
        return b"\0" + word(0)
    if isinstance(item, int):
        return b"\1" + item.to_bytes(8, "big", signed=True)
    if isinstance(item, float):
        return b"\2" + struct.pack(">d", item)
    if isinstance(item, str):
        return b"\3" + text(item)
    return b"\4" + word(len(item)) + item
