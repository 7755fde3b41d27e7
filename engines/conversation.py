"""The lab's protocol: JSON, one object a line, on standard input and output (docs/WORKERS.md)."""

import json
import os
import queue
import select
import sys
import threading
import traceback

PROTOCOL = 5
# Requests have some hundred bytes.
LINE_SIZE_MAX = 1 << 20
PLAIN = "plain"


class Refused(Exception):
    """What cannot be done, in one line. The worker goes on."""


class Controls:
    """The controls of a run that is under way."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[dict] = queue.SimpleQueue()

    def put(self, control: dict) -> None:
        self._waiting.put(control)

    def next(self, seconds: float = 0) -> dict | None:
        """The next one; none if there is none within so many seconds."""
        try:
            return self._waiting.get(timeout=seconds) if seconds > 0 else self._waiting.get_nowait()
        except queue.Empty:
            return None


def serve(handler) -> int:
    """Answers requests until `quit` or the end of the input.

    `handler` has `hello()`, `load(...)`, `open(database)`, `close()`, `digest()`, `run(...)`, `cipher(name)`, and `abandon()`,
    which ends its server at once and is called from another thread if the lab is gone.
    """
    lines: queue.SimpleQueue[dict | Refused | None] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(lines, handler), name="requests", daemon=True).start()
    while (request := lines.get()) is not None:
        if isinstance(request, Refused):
            _answer({"error": str(request)})
        elif request["do"] == "quit":
            break
        else:
            _answer(_answered(handler, request))
    handler.abandon()
    return 0


def _read(lines: queue.SimpleQueue, handler) -> None:
    controls = Controls()
    while line := sys.stdin.buffer.readline(LINE_SIZE_MAX + 1):
        if len(line) > LINE_SIZE_MAX:
            while not line.endswith(b"\n") and line:
                line = sys.stdin.buffer.readline(LINE_SIZE_MAX)
            lines.put(Refused(f"the line is longer than {LINE_SIZE_MAX} bytes"))
            continue
        if not line.strip():
            continue
        request = _parsed(line)
        if isinstance(request, dict) and request["do"] == "control":
            controls.put(request)
        else:
            if isinstance(request, dict) and request["do"] == "run":
                controls = Controls()
                request["controls"] = controls
            lines.put(request)
    controls.put({"stop": True})
    lines.put(None)
    # Requests that were made are answered, as long as there is someone to read the answers.
    readers = select.poll()
    readers.register(sys.stdout.fileno(), 0)
    readers.poll()
    handler.abandon()
    os._exit(1)


def _parsed(line: bytes) -> dict | Refused:
    try:
        request = json.loads(line)
        fields = REQUESTS[request["do"]]
    except (ValueError, KeyError, TypeError) as error:
        return Refused(f"no request: {error}")
    unknown = set(request) - fields - {"do"}
    missing = {name for name in fields if name not in OPTIONAL} - set(request)
    if unknown or missing:
        return Refused(f"no request: {request['do']} with {sorted(unknown)} and without {sorted(missing)}")
    return request


def _answered(handler, request: dict) -> dict:
    try:
        match request["do"]:
            case "hello":
                if request["protocol"] != PROTOCOL:
                    raise Refused(f"this worker speaks protocol {PROTOCOL}, not {request['protocol']}")
                return {"ok": handler.hello()}
            case "load":
                return {
                    "ok": handler.load(request["database"], request["dataset"], request["seed"], request.get("rows"))
                }
            case "open":
                return {"ok": handler.open(request["database"])}
            case "close":
                handler.close()
                return {"ok": {}}
            case "digest":
                return {"ok": handler.digest()}
            case "run":
                share, start = request["process"], request.get("start_at_ns", 0)
                return {"ok": handler.run(request["work"], request["seed"], share, start, request["controls"])}
            case _:
                return {"ok": handler.cipher(request["cipher"])}
    except Refused as error:
        return {"error": str(error)}
    except Exception as error:  # noqa: BLE001 - whatever a driver raises is an answer; the worker goes on
        traceback.print_exc()
        what = " ".join(str(error).split())
        return {"error": f"{type(error).__name__}: {what}"}


def _answer(answer: dict) -> None:
    sys.stdout.write(json.dumps(answer, separators=(",", ":")) + "\n")
    sys.stdout.flush()


REQUESTS = {
    "hello": {"protocol"},
    "load": {"database", "dataset", "seed", "rows"},
    "open": {"database"},
    "close": set(),
    "digest": set(),
    "run": {"work", "seed", "process", "start_at_ns"},
    "cipher": {"cipher"},
    "control": {"stop", "mix"},
    "quit": set(),
}
OPTIONAL = {"rows", "start_at_ns", "stop", "mix"}
