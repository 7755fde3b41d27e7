"""What is done to each database of a fleet. Every operation looks first how far it is: it may be repeated at any time.

An operation is data: a name and options, which are stored in the state of the run and sent to other nodes. Identities
in it are specs.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Callable, Optional, Union

from .. import _operations as single
from .._command import run
from .._errors import CommandError, IdentityError, NotEncryptedError, UsageError
from .._results import Status, Superblock
from . import _backups, _looks
from ._backups import Backups

Identity = Union[str, "os.PathLike[str]", None]
Result = dict[str, Any]


@dataclass(frozen=True)
class Operation:
    """An operation with its options.

    Attributes:
        name: one of the functions of this module.
        options: its arguments, as JSON has them.
    """

    name: str
    options: Mapping[str, Any]

    @property
    def has_before(self) -> bool:
        """Whether a repetition has to know something of the database before the first attempt."""
        return _OPERATIONS[self.name].before is not None

    def before(self, path: str) -> Result:
        """What a repetition has to know. It is stored before the operation is started."""
        look = _OPERATIONS[self.name].before
        return look(path, self.options) if look and not Backups.parse(path) else {}

    @property
    def is_look(self) -> bool:
        """Whether it changes nothing, and looks at many databases for less than at one after the other."""
        return _OPERATIONS[self.name].look is not None

    def look(self, paths: Sequence[str]) -> Iterator[Union[Result, Exception]]:
        """Looks at each, which is the operation: its result or error."""
        look = _OPERATIONS[self.name].look
        assert look
        if any(map(Backups.parse, paths)):
            for path in paths:
                try:
                    yield self.run(path, {})
                except Exception as error:  # noqa: BLE001 - the others go on, whatever it is
                    yield error
        else:
            yield from look(paths, self.options)

    def run(self, path: str, before: Mapping[str, Any]) -> Result:
        """Does it, or what is left of it.

        Raises:
            CommandError: it failed.
        """
        backups = Backups.parse(path)
        if backups is None:
            implementation = _OPERATIONS[self.name]
            if implementation.run:
                return implementation.run(path, self.options, before)
            [found] = self.look([path])
            if isinstance(found, Exception):
                raise found
            return found
        of_backups = _OPERATIONS[self.name].of_backups
        if of_backups is None:
            raise UsageError(self.name, 2, f"{path}: backups, not a database", "restore the database first")
        return of_backups(backups, self.options)


def status(*, identity: Identity = None, backups: Optional[str] = None) -> Operation:
    """Looks at each database: encrypted or not, suite, key slots and their dates, last verification, warnings.

    Args:
        backups: a destination, where the newest backup of each database is looked for.
    """
    options = {"identity": _spec(identity), "backups": _backups.absolute(backups) if backups else None}
    return Operation("status", options)


def verify(*, identity: Identity = None, physical_only: bool = False) -> Operation:
    """Verifies each database, and looks at it as ``status`` does."""
    return Operation("verify", {"identity": _spec(identity), "physical_only": physical_only})


def encrypt(
    *,
    identity: Identity = None,
    cipher: Optional[str] = None,
    recipients: Sequence[str] = (),
    online: bool = False,
) -> Operation:
    """Encrypts each database in place. One that is encrypted already stays as it is.

    Args:
        online: while applications use it, as ``selenite.encrypt`` does.
    """
    options = {
        "identity": _spec(identity),
        "cipher": cipher,
        "recipients": [_public(one) for one in recipients],
        "online": online,
    }
    return Operation("encrypt", options)


def reencrypt(*, identity: Identity = None, cipher: Optional[str] = None, max_rate: Optional[str] = None) -> Operation:
    """Re-encrypts each database online, under a new data key or another suite."""
    return Operation("reencrypt", {"identity": _spec(identity), "cipher": cipher, "max_rate": max_rate})


def rotate_identity(*, old: Identity, new: Identity) -> Operation:
    """Replaces the key slot of an identity by that of another one. Pages are not rewritten."""
    return Operation("rotate_identity", {"old": _spec(old), "new": _spec(new)})


def compromised(slot: str, *, identity: Identity = None, drop: bool = False) -> Operation:
    """Revokes a key holder: removes the slot, renews the master key, replaces the data key.

    A database that the holder can't open is left as it is.

    Args:
        slot: the recipient (``age1...``) or the label of the slot.
    """
    return Operation("compromised", {"slot": _public(slot), "identity": _spec(identity), "drop": drop})


def backup(destination: str, *, identity: Identity = None, incremental: bool = False) -> Operation:
    """Backs each database up.

    Args:
        destination: a folder, or ``s3://BUCKET/PREFIX``. Backups of several databases may share one.
    """
    options = {
        "destination": _backups.absolute(destination),
        "identity": _spec(identity),
        "incremental": incremental,
    }
    return Operation("backup", options)


def drill(destination: Optional[str] = None, *, identity: Identity = None) -> Operation:
    """Restores the newest backup of each database to a temporary folder, and checks it.

    Args:
        destination: where the backups are; those of ``Fleet.backups`` are where they were found.
    """
    place = _backups.absolute(destination) if destination else None
    return Operation("drill", {"destination": place, "identity": _spec(identity)})


def restore(folder: Union[str, "os.PathLike[str]"], *, identity: Identity = None) -> Operation:
    """Restores each database of ``Fleet.backups`` from its newest backup, to ``ID.db`` in a folder, which is made.

    A database that is there already stays as it is.
    """
    return Operation("restore", {"folder": os.path.abspath(folder), "identity": _spec(identity)})


def plan(
    calibration: Union[str, "os.PathLike[str]"], observation: str = "{}.observation.json", *, cipher: Optional[str] = None
) -> Operation:
    """Predicts what encryption will cost each database, before it is encrypted; the report adds it up.

    Args:
        calibration: the file that ``selenite plan calibrate`` made on such a machine.
        observation: the file that ``selenite plan observe`` made of the database's load; ``{}`` is its path.
        cipher: the suite.
    """
    options = {"calibration": os.path.abspath(calibration), "observation": observation, "cipher": cipher}
    return Operation("plan", options)


def command(name: str, *arguments: str, identity: Identity = None) -> Operation:
    """Any command of ``selenite`` that may be repeated; ``{}`` in its arguments is the path of the database.

    Example:
        >>> operations.command("verify", "--write-anchor={}.anchor", "--", "{}")
    """
    options = {"name": name, "arguments": [_public(one) for one in arguments], "identity": _spec(identity)}
    return Operation("command", options)


def _spec(identity: Identity) -> Optional[str]:
    """The spec of an identity. A path is absolute: other processes have other folders."""
    if identity is None:
        return None
    text = os.fspath(identity)
    _public(text)
    kind, separator, rest = text.partition(":")
    if separator and kind == "command":
        return text
    if separator and kind in ("age", "raw", "passphrase"):
        return f"{kind}:{os.path.abspath(rest)}"
    return os.path.abspath(text)


def _public(text: str) -> str:
    """Refuses a secret key where a name is meant: it would be in the state, in logs and in arguments."""
    if "AGE-SECRET-KEY-" in text.upper() or "AGE-PLUGIN-" in text.upper():
        raise ValueError("a secret key itself, where the path of its file is meant")
    return text


@dataclass(frozen=True)
class _Implementation:
    """By ``run`` of one database, or ``look`` at many."""

    run: Optional[Callable[[str, Mapping[str, Any], Mapping[str, Any]], Result]] = None
    look: Optional[Callable[[Sequence[str], Mapping[str, Any]], Iterator[Union[Result, Exception]]]] = None
    before: Optional[Callable[[str, Mapping[str, Any]], Result]] = None
    of_backups: Optional[Callable[[Backups, Mapping[str, Any]], Result]] = None


def _look_at_status(paths: Sequence[str], options: Mapping[str, Any]) -> Iterator[Union[Result, Exception]]:
    for found in _looks.statuses(paths, options["identity"]):
        if isinstance(found, Exception):
            yield found
            continue
        facts = _facts(found)
        destination = options.get("backups")
        try:
            if destination and "database_id" in facts:
                database_id = facts["database_id"]
                made = _backups.find(destination, options["identity"], database_id)
                facts |= _backups.facts(made.get(database_id, []))
        except Exception as error:  # noqa: BLE001 - the others go on, whatever it is
            yield error
        else:
            yield {"status": facts}


def _status(path: str, options: Mapping[str, Any]) -> Result:
    [found] = _look_at_status([path], options)
    if isinstance(found, Exception):
        raise found
    return found


def _status_of_backups(backups: Backups, options: Mapping[str, Any]) -> Result:
    made = _backups.find(backups.destination, options["identity"], backups.database_id)
    return {"status": {"database_id": backups.database_id, **_backups.facts(made.get(backups.database_id, []))}}


def _verify(paths: Sequence[str], options: Mapping[str, Any]) -> Iterator[Union[Result, Exception]]:
    for answer in _looks.verify(paths, options["identity"], options["physical_only"]):
        if isinstance(answer, Exception):
            yield answer
            continue
        verified = {"pages": answer["page_count"], "size": answer["size"], "seconds": answer["ms"] / 1000}
        yield {"verified": verified, "status": _facts(answer["status"])}


def _verify_backups(backups: Backups, options: Mapping[str, Any]) -> Result:
    only = f"--database={backups.database_id}"
    text = run("backups", "verify", "--json", only, "--", backups.destination, identity=options["identity"])
    return {"verified": {"backups": json.loads(text)["good"]}, **_status_of_backups(backups, options)}


def _encrypt(path: str, options: Mapping[str, Any], before: Mapping[str, Any]) -> Result:
    changed = not _looks.status(path, options["identity"]).encrypted
    if changed:
        single.encrypt(
            path,
            identity=options["identity"],
            cipher=options["cipher"],
            recipients=options["recipients"],
            online=options["online"],
        )
    return {"changed": changed, **_status(path, options)}


def _before_reencrypt(path: str, options: Mapping[str, Any]) -> Result:
    """The epoch in force: a re-encryption is complete if the file has a newer one and no other."""
    return {"epoch": _epoch(_authentic(path, options["identity"]))}


def _reencrypt(path: str, options: Mapping[str, Any], before: Mapping[str, Any]) -> Result:
    present = _authentic(path, options["identity"])
    more = [f"--max-rate={options['max_rate']}"] if options["max_rate"] else []
    if not _is_steady(present):
        run("reencrypt", "--resume", *more, "--", path, identity=options["identity"])
        present = _authentic(path, options["identity"])
    # What was in progress may have been somebody else's, begun before this run: then its end does not count.
    if _epoch(present) <= before["epoch"]:
        how = f"--cipher={options['cipher']}" if options["cipher"] else "--new-key"
        run("reencrypt", how, *more, "--", path, identity=options["identity"])
        present = _authentic(path, options["identity"])
    return {"changed": True, "status": _facts(present.json)}


def _rotate_identity(path: str, options: Mapping[str, Any], before: Mapping[str, Any]) -> Result:
    old, new = options["old"], options["new"]
    present = _opened(path, old)
    if present is None:
        # Done before, or never a key holder: the new identity has to open it in either case.
        return {"changed": False, "status": _facts(_authentic(path, new).json)}
    # The only slot is the old one's.
    is_other_there = len(present.slots) > 1 and _opened(path, new) is not None
    try:
        if is_other_there:
            run("keys", "remove", "--", path, str(present.opened_by), identity=new)
        else:
            run("keys", "replace", "--", path, str(present.opened_by), new, identity=old)
    except CommandError:
        # Another run may have replaced it since the look.
        if _opened(path, old) is not None:
            raise
        return {"changed": False, "status": _facts(_authentic(path, new).json)}
    return {"changed": True, "status": _facts(_authentic(path, new).json)}


def _before_compromised(path: str, options: Mapping[str, Any]) -> Result:
    """The epoch in force, and whether there is a slot to remove: without one nothing is done."""
    present = _authentic(path, options["identity"])
    return {"epoch": _epoch(present), "holds": _holds(present, options["slot"])}


def _compromised(path: str, options: Mapping[str, Any], before: Mapping[str, Any]) -> Result:
    present = _authentic(path, options["identity"])
    if not before["holds"]:
        return {"changed": False, "status": _facts(present.json)}
    more = ["--drop"] if options["drop"] else []
    is_replaced = _epoch(present) > before["epoch"] and _is_steady(present)
    if _holds(present, options["slot"]):
        run("compromised", *more, "--", path, options["slot"], identity=options["identity"])
    elif not is_replaced:
        # The slot is gone, but not yet the data key that its holder may know.
        run("compromised", "--go-on", *more, "--", path, options["slot"], identity=options["identity"])
    else:
        return {"changed": True, "status": _facts(present.json)}
    return {"changed": True, **_status(path, options)}


def _backup(path: str, options: Mapping[str, Any], before: Mapping[str, Any]) -> Result:
    made = single.backup(
        path, options["destination"], identity=options["identity"], incremental=options["incremental"]
    )
    backed_up = {"name": made.name, "pages": made.pages, "bytes": made.bytes_sent, "seconds": made.seconds}
    return {"backup": backed_up, **_status(path, {**options, "backups": options["destination"]})}


def _drill(path: str, options: Mapping[str, Any], before: Mapping[str, Any]) -> Result:
    if options["destination"] is None:
        raise UsageError("drill", 2, f"{path}: the destination of its backups is not known", "state the destination")
    present = _looks.status(path, options["identity"])
    if present.superblock is None:
        raise NotEncryptedError("drill", 3, f"{path}: not encrypted", "encrypt it, and make a backup")
    _run_drill(Backups(options["destination"], present.superblock.database_id), options)
    return {"drill": True, "status": _facts(present.json)}


def _drill_backups(backups: Backups, options: Mapping[str, Any]) -> Result:
    _run_drill(backups, options)
    return {"drill": True, **_status_of_backups(backups, options)}


def _run_drill(backups: Backups, options: Mapping[str, Any]) -> None:
    only = f"--database={backups.database_id}"
    run("drill", "--json", only, "--", backups.destination, identity=options["identity"])


def _restore(path: str, options: Mapping[str, Any], before: Mapping[str, Any]) -> Result:
    raise UsageError("restore", 2, f"{path}: a database, not backups", "make the fleet by Fleet.backups")


def _restore_backups(backups: Backups, options: Mapping[str, Any]) -> Result:
    target = os.path.join(options["folder"], f"{backups.database_id}.db")
    # A restored database gets its name when it is whole: what is there is.
    changed = not os.path.lexists(target)
    if changed:
        os.makedirs(options["folder"], exist_ok=True)
        only = f"--database={backups.database_id}"
        run("restore", f"--to={target}", only, "--", backups.destination, identity=options["identity"])
    status = _facts(_authentic(target, options["identity"]).json)
    if status["database_id"] != backups.database_id:
        raise UsageError("restore", 2, f"{target}: another database", "restore to another folder")
    return {"changed": changed, "restored": target, "status": status}


def _plan(path: str, options: Mapping[str, Any], before: Mapping[str, Any]) -> Result:
    observation = options["observation"].replace("{}", path)
    more = [f"--cipher={options['cipher']}"] if options["cipher"] else []
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "prediction.json")
        calibration = f"--calibration={options['calibration']}"
        run("plan", "predict", calibration, f"--json={file}", *more, "--", observation)
        with open(file, encoding="utf-8") as text:
            found = json.load(text)
    conversion = found["conversion"] or {}
    return {
        "plan": {
            "added_cores": found["added_cores"],
            "conversion_seconds": conversion.get("seconds"),
            "needed_mib": conversion.get("needed_mib"),
            "warnings": found["warnings"],
        }
    }


def _command(path: str, options: Mapping[str, Any], before: Mapping[str, Any]) -> Result:
    arguments = [argument.replace("{}", path) for argument in options["arguments"]]
    return {"output": run(options["name"], *arguments, identity=options["identity"])}


_OPERATIONS = {
    "status": _Implementation(look=_look_at_status, of_backups=_status_of_backups),
    "verify": _Implementation(look=_verify, of_backups=_verify_backups),
    "encrypt": _Implementation(_encrypt),
    "reencrypt": _Implementation(_reencrypt, before=_before_reencrypt),
    "rotate_identity": _Implementation(_rotate_identity),
    "compromised": _Implementation(_compromised, before=_before_compromised),
    "backup": _Implementation(_backup),
    "drill": _Implementation(_drill, of_backups=_drill_backups),
    "restore": _Implementation(_restore, of_backups=_restore_backups),
    "plan": _Implementation(_plan),
    "command": _Implementation(_command),
}


def _authentic(path: str, identity: Optional[str]) -> Status:
    """The status of a database that the identity opens."""
    found = _looks.status(path, identity)
    if found.superblock is None:
        raise NotEncryptedError("status", 3, f"{path}: not encrypted", "encrypt it first")
    if not found.superblock.authentic:
        raise IdentityError("status", 4, f"{path}: not opened by this identity", "check the identity")
    return found


def _opened(path: str, identity: Optional[str]) -> Optional[Superblock]:
    """The superblock, if the identity opens it."""
    try:
        superblock = _looks.status(path, identity).superblock
    except IdentityError:
        return None
    if superblock is None:
        raise NotEncryptedError("status", 3, f"{path}: not encrypted", "encrypt it first")
    return superblock if superblock.authentic else None


def _epoch(status: Status) -> int:
    assert status.superblock is not None
    return max(epoch.epoch for epoch in status.superblock.epochs)


def _is_steady(status: Status) -> bool:
    """Whether no re-encryption is in progress."""
    assert status.superblock is not None
    return status.superblock.state == "steady"


def _holds(status: Status, slot: str) -> bool:
    """Whether a slot has this recipient, label, or beginning of an id."""
    assert status.superblock is not None
    slots = status.superblock.slots
    return any(slot in (one.who, one.label) or one.id.startswith(slot) for one in slots)


def _facts(status: Mapping[str, Any]) -> Result:
    """What a report says about a database, of what ``selenite status`` answers."""
    superblock = status.get("superblock")
    verified = status["last_verify"]
    facts: Result = {
        "encrypted": status["encrypted"],
        "size": sum(file["size"] for file in status["files"]),
        "last_verified": verified["time"] if verified else None,
        "warnings": status["warnings"],
    }
    if superblock is not None:
        facts |= {
            "suite": superblock["suite"],
            "state": superblock["state"],
            "database_id": superblock["database_id"],
            "authentic": superblock["authentic"],
            "key_since": min(epoch["created"] for epoch in superblock["epochs"]),
            "slots": [
                {"id": slot["id"], "who": slot["who"], "label": slot["label"], "since": slot["created"]}
                for slot in superblock["slots"]
            ],
        }
    return facts


def failure(error: BaseException) -> Result:
    """An error, as the state of a run has it."""
    if isinstance(error, CommandError):
        return {
            "kind": type(error).__name__,
            "exit_status": error.exit_status,
            "message": error.message,
            "advice": error.advice,
        }
    return {"kind": type(error).__name__, "exit_status": None, "message": str(error), "advice": ""}
