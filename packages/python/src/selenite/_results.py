"""What commands answer, as typed values. Times are in UTC."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Optional


@dataclass(frozen=True)
class Progress:
    """How far a command is, for a progress callback.

    Attributes:
        phase: ``copying``, ``backing up``, ``restoring``, ``comparing``, ``verifying``, ``checking integrity``,
            ``sealing``, ``finishing`` or ``checking``; ``waiting`` while others use the database.
        total: the size of the work, such as ``"1.2 GiB"``, if the phase has one.
        percent: how much of it is done, once the command says so.
        text: the line as the command printed it.
    """

    phase: str
    total: Optional[str]
    percent: Optional[int]
    text: str


@dataclass(frozen=True)
class KeySlot:
    """Who can open a database.

    Attributes:
        id: the key slot's id, for ``selenite keys remove``.
        who: an age recipient, or the kind of identity.
        label: the text given to ``selenite keys add``.
        created: when the slot was made.
    """

    id: str
    who: str
    label: str
    created: datetime


@dataclass(frozen=True)
class KeyList:
    """The key slots of a database."""

    database_id: str
    slots: tuple[KeySlot, ...]
    origin: Optional[str]
    commitment: Optional[str]


@dataclass(frozen=True)
class Epoch:
    """A data key. ``sealing``: new pages are encrypted with it."""

    epoch: int
    suite: str
    created: datetime
    sealing: bool


@dataclass(frozen=True)
class Superblock:
    """The keys and the state of an encrypted database.

    Attributes:
        authentic: whether the superblock was verified with the key; ``None`` without a key.
        opened_by: the id of the key slot that the identity opened.
        origin: ``own`` or ``foreign``, if the identity opens the database.
        commitment: the commitment of the master key, for ``options={"commitment": ...}``.
        suite: the cipher suite.
        state: ``steady``, or what a re-encryption is doing.
        percent: the progress of a re-encryption.
        copies: ``ok`` or ``damaged``, for each of the two copies ``a`` and ``b``.
    """

    authentic: Optional[bool]
    opened_by: Optional[str]
    pinned: Optional[bool]
    origin: Optional[str]
    commitment: Optional[str]
    suite: str
    state: str
    percent: Optional[int]
    page_size: int
    page_count: int
    database_id: str
    generation: int
    master_key_created: datetime
    epochs: tuple[Epoch, ...]
    slots: tuple[KeySlot, ...]
    copies: Mapping[str, str]


@dataclass(frozen=True)
class LastVerification:
    """The last successful verification on this machine."""

    time: datetime
    age_seconds: Optional[int]
    kind: str
    page_count: int
    before_reencryption: bool


@dataclass(frozen=True)
class StatusWarning:
    """Something to do. ``code`` is stable."""

    code: str
    text: str
    file: Optional[str]


@dataclass(frozen=True)
class Status:
    """What ``status`` answers. ``superblock`` is ``None`` of an unencrypted database; ``json`` is everything that the
    command printed."""

    path: Path
    encrypted: bool
    superblock: Optional[Superblock]
    size: int
    last_verification: Optional[LastVerification]
    warnings: tuple[StatusWarning, ...]
    json: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class BadPage:
    """A page that is not authentic, or older than the anchor.

    Attributes:
        file: ``database``, ``wal`` or ``journal``.
        page: the number of the page, if it is known.
        index: the number of the frame or record in a log.
        why: what is wrong with it.
        owner_kind: ``table``, ``index`` or another use, if it is known.
        owner: the name of the table or index, if it is known.
    """

    file: str
    page: Optional[int]
    index: Optional[int]
    why: str
    owner_kind: Optional[str]
    owner: Optional[str]


@dataclass(frozen=True)
class Verification:
    """What ``verify`` found.

    Attributes:
        authentic: whether every page is authentic.
        bad_count: how many places are bad; ``bad`` lists the first of them.
        pending: pages that the log or journal is about to rewrite, which is no fault.
        integrity_check: the faults that SQLite found; empty if there are none, ``None`` if it was not asked.
        anchor: the comparison with an anchor: ``same``, ``changed`` or ``older``.
        json: everything that the command printed.
    """

    path: Path
    authentic: bool
    origin: Optional[str]
    page_count: int
    size: int
    bad_count: int
    bad: tuple[BadPage, ...]
    pending: tuple[int, ...]
    integrity_check: Optional[tuple[str, ...]]
    anchor: Optional[str]
    seconds: float
    json: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Backup:
    """A backup that was made.

    Attributes:
        name: the name of the backup, for ``restore``.
        base: the backup that this one depends on, if it is incremental.
        resumed: whether an interrupted backup was continued.
        pages_missing: pages that were not authentic, and are left out (``skip_bad``).
        digest: the digest of all rows, if it was asked for.
    """

    name: str
    base: Optional[str]
    resumed: bool
    page_size: int
    pages: int
    pages_sent: int
    pages_unchanged: int
    pages_missing: tuple[int, ...]
    digest: Optional[str]
    bytes_sent: int
    bytes_received: int
    seconds: float


@dataclass(frozen=True)
class Restore:
    """A database that was restored from a backup."""

    path: Path
    backup: str
    origin: Optional[str]
    suite: str
    page_size: int
    pages: int
    pages_missing: tuple[int, ...]
    size: int
    slots: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class Conversion:
    """A database that was encrypted or decrypted.

    Attributes:
        path: the new file; of a conversion in place, the database.
        suite: the cipher suite, of an encryption.
        tables: how many tables were copied and compared.
        rows: how many rows.
        slots: who can open it, of an encryption.
        removed: files that were removed: logs and journals of the old database.
        leftovers: files that could not be removed, and may contain the old database.
        not_kept: properties of the old file that the new one could not get.
    """

    path: Path
    suite: Optional[str]
    tables: int
    rows: int
    slots: tuple[str, ...]
    removed: tuple[str, ...]
    leftovers: tuple[str, ...]
    not_kept: tuple[str, ...]


def key_list(json: Mapping[str, Any]) -> KeyList:
    return KeyList(
        database_id=json["database_id"],
        slots=tuple(_slot(slot) for slot in json["slots"]),
        origin=json["origin"],
        commitment=json["commitment"],
    )


def status(path: Path, json: Mapping[str, Any]) -> Status:
    verified = json["last_verify"]
    superblock = json.get("superblock")
    return Status(
        path=path,
        encrypted=json["encrypted"],
        superblock=_superblock(superblock) if superblock else None,
        size=sum(file["size"] for file in json["files"]),
        last_verification=_last_verification(verified) if verified else None,
        warnings=tuple(StatusWarning(code=one["code"], text=one["text"], file=one["file"]) for one in json["warnings"]),
        json=json,
    )


def verification(path: Path, json: Mapping[str, Any]) -> Verification:
    faults = json["integrity_check"]
    anchor = json["anchor"]
    older = anchor["older"] if anchor else []
    return Verification(
        path=path,
        authentic=json["authentic"],
        origin=json["origin"],
        page_count=json["page_count"],
        size=json["size"],
        bad_count=json["bad_count"] + (anchor["older_count"] if anchor else 0),
        bad=tuple(_bad_page(place) for place in [*json["bad"], *older]),
        pending=tuple(json["pending"]),
        integrity_check=None if faults is None else tuple(faults),
        anchor=anchor["verdict"] if anchor else None,
        seconds=json["ms"] / 1000,
        json=json,
    )


def backup(json: Mapping[str, Any]) -> Backup:
    return Backup(
        name=json["backup"],
        base=json["base"],
        resumed=json["resumed"],
        page_size=json["page_size"],
        pages=json["pages"],
        pages_sent=json["pages_sent"],
        pages_unchanged=json["pages_unchanged"],
        pages_missing=tuple(json["pages_missing"]),
        digest=json["digest"],
        bytes_sent=json["bytes_sent"],
        bytes_received=json["bytes_received"],
        seconds=json["seconds"],
    )


def restore(path: Path, json: Mapping[str, Any]) -> Restore:
    return Restore(
        path=path,
        backup=json["backup"],
        origin=json["origin"],
        suite=json["suite"],
        page_size=json["page_size"],
        pages=json["pages"],
        pages_missing=tuple(json["pages_missing"]),
        size=json["size"],
        slots=tuple(json["slots"]),
        seconds=json["seconds"],
    )


def conversion(path: Path, json: Mapping[str, Any]) -> Conversion:
    return Conversion(
        path=path,
        suite=json["suite"],
        tables=json["tables"],
        rows=json["rows"],
        slots=tuple(json["slots"]),
        removed=tuple(json["removed"]),
        leftovers=tuple(json["left_over"]),
        not_kept=tuple(json["not_kept"]),
    )


def _superblock(json: Mapping[str, Any]) -> Superblock:
    return Superblock(
        authentic=json["authentic"],
        opened_by=json["opened_by"],
        pinned=json["pinned"],
        origin=json["origin"],
        commitment=json["commitment"],
        suite=json["suite"],
        state=json["state"],
        percent=json["percent"],
        page_size=json["page_size"],
        page_count=json["page_count"],
        database_id=json["database_id"],
        generation=json["generation"],
        master_key_created=_time(json["master_key_created"]),
        epochs=tuple(
            Epoch(epoch=one["epoch"], suite=one["suite"], created=_time(one["created"]), sealing=one["sealing"])
            for one in json["epochs"]
        ),
        slots=tuple(_slot(slot) for slot in json["slots"]),
        copies=dict(json["superblocks"]),
    )


def _slot(json: Mapping[str, Any]) -> KeySlot:
    return KeySlot(id=json["id"], who=json["who"], label=json["label"], created=_time(json["created"]))


def _last_verification(json: Mapping[str, Any]) -> LastVerification:
    return LastVerification(
        time=_time(json["time"]),
        age_seconds=json["age_seconds"],
        kind=json["kind"],
        page_count=json["page_count"],
        before_reencryption=json["before_reencryption"],
    )


def _bad_page(json: Mapping[str, Any]) -> BadPage:
    owner = json["owner"] or {}
    return BadPage(
        file=json["file"],
        page=json["page"],
        index=json["index"],
        why=json["why"],
        owner_kind=owner.get("kind"),
        owner=owner.get("name"),
    )


def _time(text: str) -> datetime:
    # Python reads the Z by itself from 3.11 on.
    if not text.endswith("Z"):
        raise ValueError(f"not a time in UTC: {text}")
    return datetime.fromisoformat(text[:-1]).replace(tzinfo=timezone.utc)
