"""Transparent encryption for SQLite: a loadable extension, a command, and what Python needs to use both.

>>> import selenite
>>> selenite.keygen("key.txt")                                    # store a copy of this file elsewhere
>>> db = selenite.connect("app.db", identity="key.txt")           # a sqlite3.Connection
>>> db.execute("CREATE TABLE note(body)")

Connections: ``connect``, ``uri``, ``load``, ``last_error``; ``selenite.dbapi`` is a DB-API 2.0 module.
Frameworks: SQLAlchemy ``sqlite+selenite:///app.db``, Django ``ENGINE = "selenite.django"``.
Files: ``keygen``, ``encrypt``, ``decrypt``, ``status``, ``verify``, ``backup``, ``restore``, ``keys``; ``run`` for
every other command. Each has an example in its help.
"""

from ._command import command_path, run
from ._connection import connect, last_error
from ._errors import (
    BusyError,
    CommandError,
    DamagedError,
    ExtensionError,
    IdentityError,
    InterruptedCommandError,
    NotEncryptedError,
    SeleniteError,
    StorageError,
    UsageError,
)
from ._extension import load
from ._operations import backup, decrypt, encrypt, keygen, keys, restore, status, verify
from ._results import (
    BadPage,
    Backup,
    Conversion,
    Epoch,
    KeyList,
    KeySlot,
    LastVerification,
    Progress,
    Restore,
    Status,
    StatusWarning,
    Superblock,
    Verification,
)
from ._uri import uri
from ._version import __version__

__all__ = [
    "BadPage",
    "Backup",
    "BusyError",
    "CommandError",
    "Conversion",
    "DamagedError",
    "Epoch",
    "ExtensionError",
    "IdentityError",
    "InterruptedCommandError",
    "KeyList",
    "KeySlot",
    "LastVerification",
    "NotEncryptedError",
    "Progress",
    "Restore",
    "SeleniteError",
    "Status",
    "StatusWarning",
    "StorageError",
    "Superblock",
    "UsageError",
    "Verification",
    "__version__",
    "backup",
    "command_path",
    "connect",
    "decrypt",
    "encrypt",
    "keygen",
    "keys",
    "last_error",
    "load",
    "restore",
    "run",
    "status",
    "uri",
    "verify",
]

# Tracebacks and help name what a program imports, and not the files of this package.
for _name in __all__:
    if getattr(globals()[_name], "__module__", "").startswith("selenite."):
        globals()[_name].__module__ = "selenite"
del _name
