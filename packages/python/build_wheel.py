#!/usr/bin/env python3
"""Makes a wheel of an extension and a command that were built before, for one platform.

    packages/python/build_wheel.py --extension target/release/libselenite.so --command target/release/selenite

The platform's tag is what the binaries say of themselves: ``manylinux_2_N`` of the newest symbol of glibc that one of
them needs, or ``musllinux_1_2``. The same binaries and the same SOURCE_DATE_EPOCH (by default, the time of the newest
commit) give the same bytes. It needs ``hatchling`` and ``pyelftools``.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, Optional

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MACHINES = {"EM_X86_64": "x86_64", "EM_AARCH64": "aarch64"}
# What auditwheel's policies expect of every system, of what Rust's programs need.
LIBRARIES = {
    "glibc": r"lib(gcc_s|m|c|pthread|dl|rt)\.so\.\d+|ld-linux.*\.so\.\d+",
    "musl": r"libc\.so|libc\.musl-.*\.so\.1",
}
# What the goal for the wheel's size is, and what the goal for its tag is.
SIZE_GOAL = 8 * 1024 * 1024
GLIBC_GOAL = (2, 28)


@dataclass(frozen=True)
class Binary:
    """What an ELF file says of itself."""

    machine: str
    libc: Optional[str]
    glibc: tuple[int, int]
    strange_libraries: tuple[str, ...]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--extension", type=Path, required=True, help="libselenite.so")
    parser.add_argument("--command", type=Path, required=True, help="the command selenite")
    parser.add_argument("--platform", choices=sorted(MACHINES.values()), help="refuse other binaries")
    parser.add_argument("--libc", choices=sorted(LIBRARIES), help="refuse other binaries")
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="the folder of the wheel [dist]")
    parser.add_argument("--strip", help="the program that strips [strip, of the binaries' platform]")
    parser.add_argument("--strict", action="store_true", help="fail if the wheel misses a goal")
    arguments = parser.parse_args()
    check_version()
    files = {"extension": arguments.extension, "command": arguments.command}
    tag = platform_tag({what: read(file) for what, file in files.items()}, arguments.platform, arguments.libc)
    with tempfile.TemporaryDirectory(prefix="selenite-wheel-") as folder:
        stripped = {
            what: strip(file, Path(folder) / what, arguments.strip, tag.rpartition("_")[2])
            for what, file in files.items()
        }
        made = build(stripped, f"py3-none-{tag}", Path(folder))
        arguments.output.mkdir(parents=True, exist_ok=True)
        wheel = arguments.output / made.name
        shutil.copyfile(made, wheel)
    report(wheel, tag, arguments.strict)


def check_version() -> None:
    """The package, the extension and the command have one version: the workspace's."""
    workspace = re.search(
        r'^\[workspace\.package\]\n(?:.+\n)*?version = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.M
    )
    package = re.search(r'__version__ = "(.+)"', (HERE / "src/selenite/_version.py").read_text())
    assert workspace and package
    if workspace[1] != package[1]:
        fail(f"packages/python/src/selenite/_version.py says {package[1]}, and Cargo.toml {workspace[1]}")


def read(file: Path) -> Binary:
    """What a binary is, and what it needs."""
    try:
        stream = file.open("rb")
    except OSError as error:
        fail(f"{file}: {error.strerror}")
    with stream:
        if stream.read(4) != b"\x7fELF":
            fail(f"{file} is not an ELF file")
        elf = ELFFile(stream)
        dynamic = elf.get_section_by_name(".dynamic")
        tags = dynamic.iter_tags("DT_NEEDED") if isinstance(dynamic, DynamicSection) else ()
        needed = [str(getattr(tag, "needed")) for tag in tags]
        versions = [
            tuple(int(part) for part in found[1].split(".")[:2])
            for section in elf.iter_sections()
            if isinstance(section, GNUVerNeedSection)
            for _, symbols in section.iter_versions()
            for symbol in symbols
            if (found := re.fullmatch(r"GLIBC_(\d+\.\d+)(?:\.\d+)?", symbol.name))
        ]
        # A static program runs on either libc.
        libc = "glibc" if versions else "musl" if needed else None
        allowed = LIBRARIES[libc] if libc else ""
        return Binary(
            machine=MACHINES.get(elf["e_machine"], elf["e_machine"]),
            libc=libc,
            glibc=max(versions, default=(0, 0)),  # type: ignore[arg-type,unused-ignore]
            strange_libraries=tuple(name for name in needed if not re.fullmatch(allowed, name)),
        )


def platform_tag(binaries: dict[str, Binary], platform: Optional[str], libc: Optional[str]) -> str:
    """The tag of the platform that both need."""
    machines = {binary.machine for binary in binaries.values()}
    libcs = {binary.libc for binary in binaries.values() if binary.libc} or ({libc} if libc else set())
    for what, found, asked in (("platform", machines, platform), ("libc", libcs, libc)):
        if len(found) != 1 or (asked and found != {asked}):
            field = "machine" if what == "platform" else "libc"
            told = ", ".join(f"the {name} is of {getattr(one, field)}" for name, one in binaries.items())
            fail(f"{told}: a wheel is of one {what}{f', and {asked} was asked for' if asked else ''}")
    for what, binary in binaries.items():
        if binary.strange_libraries:
            fail(
                f"the {what} needs {', '.join(binary.strange_libraries)}, which a {'many' if libcs == {'glibc'} else 'musl'}"
                "linux wheel cannot expect of a system; link it statically"
            )
    machine = machines.pop()
    if libcs == {"musl"}:
        return f"musllinux_1_2_{machine}"
    major, minor = max(binary.glibc for binary in binaries.values())
    # Older than 2.17 there is no policy.
    return f"manylinux_{major}_{max(minor, 17)}_{machine}"


def strip(file: Path, to: Path, program: Optional[str], machine: str) -> Path:
    """A copy without the symbols that only debuggers read."""
    known = [program] if program else [f"{machine}-linux-gnu-strip", "llvm-strip"]
    if not program and os.uname().machine == machine:
        known.append("strip")
    found = next((path for name in known if (path := shutil.which(name))), None)
    if found is None:
        if program:
            fail(f"{program}: not found")
        print(f"warning: {file} is not stripped: none of {', '.join(known)} is installed", file=sys.stderr)
        shutil.copyfile(file, to)
    else:
        ended = subprocess.run([found, "--strip-unneeded", "-o", to, file], capture_output=True, text=True)
        if ended.returncode:
            fail(ended.stderr.strip())
    to.chmod(0o755)
    return to


def build(stripped: dict[str, Path], tag: str, folder: Path) -> Path:
    """Runs the backend on a copy of the sources, which gets the licences of the repository."""
    sources = folder / "sources"
    shutil.copytree(HERE, sources, ignore=shutil.ignore_patterns("__pycache__", "*.pyc", "dist"))
    for licence in ("LICENSE-APACHE", "LICENSE-MIT"):
        shutil.copyfile(ROOT / licence, sources / licence)
    environment = {
        **os.environ,
        "SELENITE_WHEEL_EXTENSION": str(stripped["extension"]),
        "SELENITE_WHEEL_COMMAND": str(stripped["command"]),
        "SELENITE_WHEEL_TAG": tag,
        "SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH") or commit_time(),
    }
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "made")]
    ended = subprocess.run(command, cwd=sources, env=environment, capture_output=True, text=True)
    if ended.returncode:
        fail(f"hatchling failed:\n{ended.stdout}{ended.stderr}")
    (made,) = (folder / "made").glob("*.whl")
    return compress(made, folder / made.name)


def compress(wheel: Path, to: Path) -> Path:
    """The same files with deflate at its slowest. pip and PyPI take no better method (PEP 427)."""
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
        for entry in old.infolist():
            new.writestr(entry, old.read(entry), zipfile.ZIP_DEFLATED, 9)
    return to


def commit_time() -> str:
    found = subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%ct"], capture_output=True, text=True)
    return found.stdout.strip() or "315532800"  # 1980-01-01: a zip file knows no earlier time.


def report(wheel: Path, tag: str, strict: bool) -> None:
    """Says how large the wheel is, and which goals it misses."""
    size = wheel.stat().st_size
    print(f"{wheel}\n  {size / 1024**2:.1f} MiB", end="")
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            if entry.filename.endswith((".so", "bin/selenite")):
                print(
                    f"; {entry.filename} {entry.compress_size / 1024**2:.1f} of {entry.file_size / 1024**2:.1f}", end=""
                )
    print()
    missed = []
    if size > SIZE_GOAL:
        missed.append(f"larger than {SIZE_GOAL // 1024**2} MiB")
    found = re.match(r"manylinux_(\d+)_(\d+)_", tag)
    if found and (int(found[1]), int(found[2])) > GLIBC_GOAL:
        missed.append(f"needs glibc {found[1]}.{found[2]}, newer than {'.'.join(map(str, GLIBC_GOAL))}")
    if missed:
        print(f"  missed goals: {'; '.join(missed)}")
        if strict:
            sys.exit(1)


def fail(why: str) -> NoReturn:
    sys.exit(f"build_wheel: {why}")


if __name__ == "__main__":
    main()
