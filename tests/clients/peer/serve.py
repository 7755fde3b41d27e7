"""Answers requests on stdin, one line of JSON each, with one line of JSON on stdout.

Two programs that wait for each other's lines need no clock: a test decides who does what before whom.
"""

import json
import os
import sys
from collections.abc import Callable
from typing import Any, Protocol


class Client(Protocol):
    """A way into SQLite. Connections have names, which the test gives."""

    def open(self, name: str, path: str) -> None: ...

    def run(self, name: str, sql: str, values: list[Any]) -> list[list[Any]]: ...

    def first(self, name: str, sql: str) -> list[Any]: ...

    def close(self, name: str) -> None: ...

    def backup(self, name: str, target: str) -> None: ...


def serve(client: Client) -> None:
    """Answers until stdin ends. An error of SQLite's is an answer, too."""
    actions: dict[str, Callable[..., Any]] = {
        "open": client.open,
        "run": client.run,
        "first": client.first,
        "close": client.close,
        "backup": client.backup,
        "repeat": lambda **request: repeat(client, **request),
        "fork": fork,
        "leave": lambda: os._exit(0),
    }
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"answer": actions[request.pop("action")](**request)}
        except Exception as error:  # whatever the client raises is for the test to judge
            answer = {"error": str(error), "code": getattr(error, "sqlite_errorcode", None)}
        say(answer)


def say(answer: dict[str, Any]) -> None:
    print(json.dumps(answer, default=bytes.hex), flush=True)


def repeat(client: Client, name: str, sql: str, values: list[Any]) -> int:
    """Runs a statement once for each value, and says each one when it is committed."""
    for value in values:
        client.run(name, sql, [value])
        say({"done": value})
    return len(values)


def fork() -> int:
    """Goes on as two processes. The child answers until it is told to leave; the parent answers after it."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
    return child
