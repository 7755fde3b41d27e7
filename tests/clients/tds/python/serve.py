"""Answers requests on stdin, one line of JSON each, with one line of JSON on stdout.

Values travel as text, whatever they are in the client: `native.py` says how. What the server says is sorted into result
sets, counts, messages and errors, each in the order in which the client tells of it.
"""

import json
import sys
import traceback
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol


@dataclass
class Notice:
    """An error or a message of the server's. A client that does not tell a part of it leaves it None."""

    text: str
    number: int | None = None
    state: int | None = None
    severity: int | None = None
    line: int | None = None
    procedure: str | None = None


@dataclass
class Reply:
    """All that came of one request."""

    sets: list[dict[str, Any]] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    messages: list[Notice] = field(default_factory=list)
    errors: list[Notice] = field(default_factory=list)
    status: int | None = None
    outputs: list[str | None] = field(default_factory=list)
    cancelled_ms: float | None = None


class Client(Protocol):
    """A way to the server. Connections have names, which the test gives."""

    def connect(
        self,
        name: str,
        port: int,
        user: str,
        password: str,
        encryption: str,
        certificate: str | None,
        database: str | None,
        packet_size: int | None,
    ) -> None: ...

    def batch(self, name: str, sql: str) -> Reply:
        """Runs a batch as plain text."""
        ...

    def close(self, name: str) -> None: ...

    # Some clients have more: execute (with parameters), cancel, begin, commit, rollback, call, prepare.


class Refused(Exception):
    """What the server said, when the client raises it instead of answering."""

    def __init__(self, *notices: Notice) -> None:
        super().__init__("; ".join(notice.text for notice in notices))
        self.notices = notices


def serve(client: Client) -> None:
    """Answers until stdin ends."""
    for line in sys.stdin:
        request = json.loads(line)
        action = request.pop("action")
        try:
            reply = getattr(client, action)(**request)
            answer = {"answer": asdict(reply) if isinstance(reply, Reply) else reply}
        except Refused as error:
            answer = {"refused": [asdict(notice) for notice in error.notices]}
        except Exception as error:  # whatever the client raises is for the test to judge
            trace = traceback.format_exc()
            answer = {"failed": f"{type(error).__name__}: {error}", "trace": trace}
        # What a client raises can be anything.
        print(json.dumps(answer, default=str), flush=True)
