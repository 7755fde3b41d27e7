"""The files of this installation, and whether they fit the machine."""

from __future__ import annotations

import os
import sys
import sysconfig
from importlib import metadata
from pathlib import Path
from typing import Optional

from ._errors import ExtensionError

_HERE = Path(__file__).resolve().parent
# SQLite derives the name of the entry point from the name of the file (sqlite.org/loadext.html).
EXTENSION = _HERE / "lib" / "libselenite.so"
COMMAND = _HERE / "bin" / "selenite"


def require(file: Path) -> Path:
    """The file, if this installation has it.

    Raises:
        ExtensionError: it does not: the package was installed from its source.
    """
    if not file.is_file():
        raise ExtensionError(
            f"{file} is missing: this installation of selenite was not made from a wheel; "
            "install a wheel for this platform (pip install --force-reinstall --only-binary :all: selenite)"
        )
    return file


def misfit() -> Optional[str]:
    """Why the wheel that was installed does not fit this machine, or ``None`` if it does.

    pip refuses such a wheel, but an installation can be copied: into a container, or to another machine.
    """
    tags = _wheel_tags()
    if not tags:
        return None
    here = f"{_architecture()}, {_libc()}"
    for tag in tags:
        if _fits(tag):
            return None
    return (
        f"selenite was installed for {' or '.join(tags)}, and this Python runs on {here}; "
        "install it here, with this Python: python -m pip install --force-reinstall selenite"
    )


def _wheel_tags() -> list[str]:
    """The platforms of the wheel, such as manylinux_2_28_x86_64."""
    try:
        text = metadata.distribution("selenite").read_text("WHEEL") or ""
    except metadata.PackageNotFoundError:
        return []
    lines = [line.partition(": ") for line in text.splitlines()]
    return [value.rsplit("-", 1)[-1] for name, _, value in lines if name == "Tag"]


def _fits(platform: str) -> bool:
    """Whether a platform of a wheel is this one (packaging.python.org, platform compatibility tags)."""
    name, _, rest = platform.partition("_")
    version, _, architecture = rest.partition("_x86_64") if rest.endswith("_x86_64") else rest.partition("_aarch64")
    if not rest.endswith(_architecture()):
        return False
    glibc = _glibc_version()
    if name == "manylinux":
        major, _, minor = version.partition("_")
        return glibc is not None and glibc >= (int(major), int(minor))
    return name == "musllinux" and glibc is None


def _architecture() -> str:
    """That of this Python, which may differ from the kernel's."""
    platform = sysconfig.get_platform()
    return platform.partition("-")[2] if platform.startswith("linux-") else platform


def _libc() -> str:
    version = _glibc_version()
    if version:
        return "glibc {}.{}".format(*version)
    return "musl" if sys.platform == "linux" else "no glibc"


def _glibc_version() -> Optional[tuple[int, int]]:
    try:
        text = os.confstr("CS_GNU_LIBC_VERSION")
    except (AttributeError, ValueError, OSError):
        return None
    if not text:
        return None
    major, _, minor = text.rpartition(" ")[2].partition(".")
    return int(major), int(minor.partition(".")[0])
