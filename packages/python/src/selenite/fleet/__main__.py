"""An operation on a fleet from the command line: ``python -m selenite.fleet verify --glob '/srv/*.db' --state fleet.db``."""

from __future__ import annotations

import argparse
import os
import sqlite3
import sys

from .._connection import last_error
from .._errors import SeleniteError
from .. import fleet
from . import operations
from ._executor import Executor, LocalExecutor
from ._fleet import Fleet
from ._run import Limits, Progress, Run
from ._state import StateError


def main() -> int:
    arguments = _parser().parse_intermixed_args()
    limits = Limits(per_host=arguments.per_host, per_second=arguments.per_second, failures=arguments.failures)
    try:
        _check_reports(arguments.report)
        databases = Fleet(arguments.database)
        for pattern in arguments.glob:
            databases += Fleet.glob(pattern)
        for path in arguments.csv:
            databases += Fleet.csv(path)
        for destination in arguments.from_backups:
            databases += Fleet.backups(destination, identity=arguments.identity)
        if not databases:
            raise _UsageError("no database: nothing is named, or matches")
        if databases.duplicates:
            print(f"{len(databases.duplicates)} duplicates left out", file=sys.stderr)
        operation = _operation(arguments)
        executor = _executor(arguments)
        with Run(
            arguments.state, databases, operation, identity=arguments.identity, executor=executor, limits=limits
        ) as run:
            if arguments.retry_failed:
                run.retry_failed()
            report = run.execute(_show)
        for path in arguments.report:
            report.write(path)
    except KeyboardInterrupt:
        print("interrupted; to go on: the same command", file=sys.stderr)
        return 130
    except _UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except (SeleniteError, StateError, sqlite3.Error, ImportError, ValueError, OSError) as error:
        reason = last_error() if isinstance(error, sqlite3.Error) else None
        print(f"error: {reason or error}", file=sys.stderr)
        return 1
    counts, findings = report.counts, report.findings()
    print(", ".join(f"{counts[state]} {state}" for state in ("done", "failed", "waiting") if counts.get(state)))
    for reason, count in findings["failures"].items():
        print(_line(f"{count} failed: {reason}"), file=sys.stderr)
    if counts.get("failed"):
        print("to try them again: the same command with --retry-failed", file=sys.stderr)
    if operation.name == "compromised" and findings["changed"] == 0 and not counts.get("failed"):
        print(f"error: no database has the key slot {arguments.slot}: nothing was changed", file=sys.stderr)
        return 1
    return 0 if set(counts) <= {"done"} else 1


class _UsageError(Exception):
    """The command line is not one."""


def _check_reports(paths: list[str]) -> None:
    """Before anything is done: the run may take hours."""
    for path in paths:
        if not path.endswith((".html", ".htm", ".json")):
            raise _UsageError(f"{path}: a report ends with .html or .json")
        if not os.path.isdir(os.path.dirname(os.path.abspath(path))):
            raise _UsageError(f"{path}: there is no such folder")


def _executor(arguments: argparse.Namespace) -> Executor:
    if not arguments.ray:
        return LocalExecutor(arguments.workers)
    executor: Executor = fleet.RayExecutor()
    return executor


def _operation(arguments: argparse.Namespace) -> operations.Operation:
    identity = arguments.identity
    if arguments.operation == "rotate_identity":
        if not arguments.new_identity:
            raise _UsageError("rotate_identity needs --new-identity")
        return operations.rotate_identity(old=identity, new=arguments.new_identity)
    if arguments.operation == "backup":
        if not arguments.destination:
            raise _UsageError("backup needs --destination")
        return operations.backup(arguments.destination, identity=identity)
    if arguments.operation == "drill":
        if not (arguments.destination or arguments.from_backups):
            raise _UsageError("drill needs --destination or --from-backups")
        return operations.drill(arguments.destination, identity=identity)
    if arguments.operation == "restore":
        if not arguments.folder:
            raise _UsageError("restore needs --folder")
        return operations.restore(arguments.folder, identity=identity)
    if arguments.operation == "plan":
        if not arguments.calibration:
            raise _UsageError("plan needs --calibration")
        return operations.plan(arguments.calibration, arguments.observation)
    if arguments.operation == "status":
        return operations.status(identity=identity, backups=arguments.destination)
    if arguments.operation == "compromised":
        if not arguments.slot:
            raise _UsageError("compromised needs --slot")
        return operations.compromised(arguments.slot, identity=identity)
    if arguments.operation == "encrypt":
        return operations.encrypt(identity=identity, cipher=arguments.cipher, online=arguments.online)
    if arguments.operation == "reencrypt":
        return operations.reencrypt(identity=identity, cipher=arguments.cipher)
    return operations.verify(identity=identity, physical_only=arguments.physical_only)


def _line(text: str) -> str:
    """One line without control characters: a file's name may have them, for a terminal or for one who reads a log."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def _show(progress: Progress) -> None:
    ended = progress.done + progress.failed
    if progress.error:
        reason = progress.error.removeprefix(f"{progress.path}: ")
        print(_line(f"{progress.path}: {reason}"), file=sys.stderr)
    if ended % 1000 == 0 or ended == progress.total:
        print(f"{ended} of {progress.total}", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m selenite.fleet", description="An operation on many databases.")
    names = "status verify encrypt reencrypt rotate_identity compromised backup drill restore plan".split()
    parser.add_argument("operation", choices=names)
    parser.add_argument("database", nargs="*", help="a database")
    parser.add_argument("--glob", action="append", default=[], metavar="PATTERN", help="databases by a pattern")
    parser.add_argument("--csv", action="append", default=[], metavar="FILE", help="a table with a column 'path'")
    parser.add_argument(
        "--from-backups", action="append", default=[], metavar="DEST", help="databases that have backups there"
    )
    parser.add_argument("--state", required=True, metavar="FILE", help="the state, with which a later run goes on")
    parser.add_argument("--identity", metavar="SPEC", help="what opens the databases and the state")
    parser.add_argument("--new-identity", metavar="SPEC", help="of rotate_identity")
    parser.add_argument("--destination", metavar="DEST", help="of backup and drill; status looks there, too")
    parser.add_argument("--folder", metavar="DIR", help="of restore")
    parser.add_argument("--calibration", metavar="FILE", help="of plan")
    parser.add_argument(
        "--observation", metavar="FILE", default="{}.observation.json", help="of plan; {} is the database's path"
    )
    parser.add_argument("--cipher", metavar="SUITE", help="of encrypt and reencrypt")
    parser.add_argument("--online", action="store_true", help="of encrypt: while applications use the database")
    parser.add_argument("--physical-only", action="store_true", help="of verify: without SQLite's integrity check")
    parser.add_argument("--slot", help="of compromised: a recipient or a label")
    parser.add_argument("--report", action="append", default=[], metavar="FILE", help="a page, or FILE.json")
    parser.add_argument("--ray", action="store_true", help="on a Ray cluster")
    parser.add_argument("--workers", type=int, help="how many at a time on this machine")
    parser.add_argument("--per-host", type=int, help="how many at a time on a host")
    parser.add_argument("--per-second", type=float, help="how many are started in a second")
    parser.add_argument("--failures", type=int, help="begin no other after so many failures")
    parser.add_argument("--retry-failed", action="store_true", help="try again what has failed")
    return parser


if __name__ == "__main__":
    sys.exit(main())
