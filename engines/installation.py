"""Where `make engines` puts servers, and which versions it pins."""

import os
import tomllib
from functools import cache
from pathlib import Path

from conversation import Refused

VERSIONS = Path(__file__).with_name("versions.toml")
# What `make engines` filled.
FOLDER_VARIABLE = "SELENITE_ENGINES"


@cache
def pinned(name: str) -> dict:
    """The table of versions.toml for an engine."""
    return tomllib.loads(VERSIONS.read_text())[name]


def folder(name: str) -> Path:
    """The folder of an engine's own root."""
    root = os.environ.get(FOLDER_VARIABLE) or str(VERSIONS.parents[1] / "target" / "engines")
    return Path(root) / name


def program(name: str, path: str) -> Path:
    """A program of an engine. One that is missing is an error that says what to do."""
    found = folder(name) / path
    if not found.is_file():
        raise Refused(f"{name} is not installed: there is no {found}; run make engines")
    return found


def check_version(name: str, found: str) -> None:
    """Refuses another version than the pinned one."""
    if found != (wanted := pinned(name)["version"]):
        raise Refused(f"{name} is version {found}, and {wanted} is pinned: run make engines")
