"""What a run has found, as JSON and as a page."""

from __future__ import annotations

import html
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union

from .._version import __version__
from .operations import Operation


class Report:
    """The databases of a run: which key holder has which since when, what was never verified, what failed and why.

    Attributes:
        operation: the operation.
        databases: one mapping for each: ``path``, ``node``, ``labels``, ``state`` (``done``, ``failed`` or
            ``waiting``), ``attempts``, ``worker``, ``started``, ``ended``, ``result``, ``error``.
        duplicates: paths that the fleet named more than once.
    """

    def __init__(
        self, operation: Operation, created: str, databases: Sequence[Mapping[str, Any]], duplicates: Sequence[str]
    ):
        self.operation = operation
        self.created = created
        self.databases = databases
        self.duplicates = duplicates

    @property
    def counts(self) -> dict[str, int]:
        """How many databases are in each state."""
        return dict(Counter(one["state"] for one in self.databases))

    @property
    def failed(self) -> list[Mapping[str, Any]]:
        """The databases that failed."""
        return [one for one in self.databases if one["state"] == "failed"]

    def json(self) -> dict[str, Any]:
        """Everything, for another program."""
        return {
            "selenite": __version__,
            "operation": self.operation.name,
            "options": dict(self.operation.options),
            "created": self.created,
            "counts": self.counts,
            "duplicates": list(self.duplicates),
            "findings": self.findings(),
            "databases": [dict(one) for one in self.databases],
        }

    def findings(self) -> dict[str, Any]:
        """What somebody who answers for the fleet has to know.

        ``changed``: how many databases the operation changed, ``None`` if it changes none. ``unencrypted`` and
        ``never_verified``: paths. ``holders``: for each key holder, how many databases it opens and
        since when it opens the oldest. ``oldest_verification``: a path and a time. ``oldest_backup``: the same of the
        database whose newest backup is the oldest, and ``without_backup``: paths; ``None`` where the operation did not
        look for backups. ``plan``: what ``operations.plan`` predicts for all together. ``failures``: for
        each message, how many databases.
        """
        facts = [(one["path"], one["ended"], one["result"] or {}) for one in self.databases if one["state"] == "done"]
        statuses = [(path, result["status"]) for path, _, result in facts if "status" in result]
        holders: dict[str, dict[str, Any]] = {}
        for _, status in statuses:
            for slot in status.get("slots", ()):
                own = holders.setdefault(slot["who"], {"databases": 0, "since": slot["since"]})
                own["databases"] += 1
                own["since"] = min(own["since"], slot["since"])
        verified = [(path, status["last_verified"]) for path, status in statuses if status.get("last_verified")]
        looked = [(path, status["last_backup"]) for path, status in statuses if "last_backup" in status]
        backups = [(path, made) for path, made in looked if made]
        plans = [result["plan"] for _, _, result in facts if "plan" in result]
        changes = [result["changed"] for _, _, result in facts if "changed" in result]
        plain = [one["path"] for one in self.failed if one["error"]["kind"] == "NotEncryptedError"]
        return {
            "changed": sum(changes) if changes else None,
            "unencrypted": [path for path, status in statuses if not status.get("encrypted", True)] + plain,
            "never_verified": [
                path for path, status in statuses if status.get("encrypted") and not status["last_verified"]
            ],
            "oldest_verification": _oldest(verified),
            "oldest_backup": _oldest(backups),
            "without_backup": [path for path, made in looked if not made] if looked else None,
            "plan": _total(plans),
            "holders": holders,
            "failures": dict(Counter(_reason(one) for one in self.failed).most_common()),
        }

    def write(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes it: JSON if the name ends with ``.json``, a page otherwise. Only its owner can read the file."""
        text = json.dumps(self.json(), indent=1) if os.fspath(path).endswith(".json") else self.page()
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.fchmod(descriptor, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)

    def page(self) -> str:
        """An HTML page without scripts or references to other files."""
        findings = self.findings()
        counts = self.counts
        total = len(self.databases)
        summary = ", ".join(f"{counts[state]:,} {state}" for state in ("done", "failed", "waiting") if counts.get(state))
        parts = [
            f"<h1>{_text(self.operation.name)}: {total:,} databases</h1>",
            f"<p class=lead>{_text(summary or 'nothing to do')}. Begun {_text(self.created)}.</p>",
            _findings(findings),
        ]
        if self.failed:
            rows = ((one["path"], _reason(one), one["error"]["advice"]) for one in self.failed)
            parts.append(_table("Failed", ("database", "why", "next"), rows))
        holders = (
            (who, f"{own['databases']:,}", own["since"]) for who, own in sorted(findings["holders"].items())
        )
        if findings["holders"]:
            done = counts["done"]
            of = "" if done == total else f" of the {done:,} databases that are done: others may have other ones"
            parts.append(_table(f"Key holders{of}", ("who", "databases", "since"), holders))
        for title, key in _LISTS:
            if findings[key]:
                parts.append(_table(title, ("database",), ((path,) for path in findings[key])))
        parts.append(_table("All databases", _COLUMNS, (_row(one) for one in self.databases)))
        return _PAGE.format(title=_text(f"{self.operation.name}: {total:,} databases"), body="\n".join(parts))


_LISTS = (
    ("Not encrypted", "unencrypted"),
    ("Never verified on this machine", "never_verified"),
    ("Without a backup that can be restored", "without_backup"),
)

_COLUMNS = ("database", "labels", "state", "suite", "key since", "verified", "size", "node")

_PAGE = """<!doctype html>
<html lang=en><meta charset=utf-8><meta name=viewport content="width=device-width,initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); }}
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }}
h1 {{ font-size: 1.5rem; }} h2 {{ font-size: 1.1rem; margin-top: 2rem; }}
.lead {{ font-size: 1.1rem; }}
.scroll {{ overflow-x: auto; }}
table {{ border-collapse: collapse; width: 100%; }}
th, td {{ text-align: left; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }}
td {{ overflow-wrap: anywhere; }} td.failed {{ color: #c0392b; font-weight: 600; }}
dt {{ font-weight: 600; }} dd {{ margin: 0 0 .5rem; }}
</style>
{body}
</html>
"""


def _oldest(found: Iterable[tuple[str, str]]) -> Any:
    oldest = min(found, key=lambda one: one[1], default=None)
    return {"path": oldest[0], "time": oldest[1]} if oldest else None


def _reason(failed: Mapping[str, Any]) -> str:
    """Why a database failed, without its path."""
    return str(failed["error"]["message"]).removeprefix(f"{failed['path']}: ")


def _total(plans: Sequence[Mapping[str, Any]]) -> Any:
    """What the databases cost together. One calibration is behind all: they err together, so that bounds add up, too."""
    if not plans:
        return None
    conversions = [plan for plan in plans if plan["conversion_seconds"]]
    return {
        "databases": len(plans),
        "added_cores": _sum([plan["added_cores"] for plan in plans]),
        "converted": len(conversions),
        "conversion_seconds": _sum([plan["conversion_seconds"] for plan in conversions]),
        "needed_mib": max((plan["needed_mib"] or 0 for plan in conversions), default=None),
        "warnings": dict(Counter(warning for plan in plans for warning in plan["warnings"]).most_common()),
    }


def _sum(intervals: Sequence[Mapping[str, float]]) -> Any:
    if not intervals:
        return None
    return {name: sum(one[name] for one in intervals) for name in ("value", "low", "high")}


def _interval(interval: Mapping[str, float], unit: str) -> str:
    return f"{interval['value']:,.3g} {unit} [{interval['low']:,.3g}, {interval['high']:,.3g}]"


def _findings(findings: Mapping[str, Any]) -> str:
    items = []
    if findings["changed"] is not None:
        items.append(("Changed", f"{findings['changed']:,}"))
    for name, key in _LISTS:
        if findings[key] is not None:
            items.append((name, f"{len(findings[key]):,}"))
    for name, key in (("Oldest verification", "oldest_verification"), ("Oldest backup", "oldest_backup")):
        if findings[key]:
            items.append((name, f"{findings[key]['time']}: {findings[key]['path']}"))
    if plan := findings["plan"]:
        items.append((f"Encryption of {plan['databases']:,} databases adds", _interval(plan["added_cores"], "cores")))
        if plan["conversion_seconds"]:
            name = f"Encrypting {plan['converted']:,} of them once, one after the other"
            items.append((name, _interval(plan["conversion_seconds"], "s")))
            items.append(("Room that the largest needs meanwhile", f"{plan['needed_mib']:,.0f} MiB"))
    return "<dl>" + "".join(f"<dt>{_text(name)}<dd>{_text(value)}" for name, value in items) + "</dl>"


def _row(one: Mapping[str, Any]) -> tuple[str, ...]:
    status = (one["result"] or {}).get("status", {})
    labels = ", ".join(f"{name} {value}" for name, value in sorted(one["labels"].items()))
    suite = status.get("suite") or ("" if status.get("encrypted", True) else "not encrypted")
    size = f"{status['size']:,}" if "size" in status else ""
    since, verified = status.get("key_since") or "", status.get("last_verified") or ""
    return (one["path"], labels, one["state"], suite, since, verified, size, one["node"] or "")


def _table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{_text(column)}" for column in columns)
    body = "".join("<tr>" + "".join(_cell(value) for value in row) for row in rows)
    return f"<h2>{_text(title)}</h2><div class=scroll><table><tr>{head}{body}</table></div>"


def _cell(value: str) -> str:
    kind = " class=failed" if value == "failed" else ""
    return f"<td{kind}>{_text(value)}"


def _text(value: str) -> str:
    return html.escape(value)
