"""The script that makes a wheel: its tag, its content, and the binaries that it refuses."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "packages/python/build_wheel.py"
EXTENSION = os.environ.get("SELENITE_TEST_EXTENSION", "")
COMMAND = os.environ.get("SELENITE_TEST_COMMAND", "")

pytestmark = pytest.mark.skipif(
    not (os.path.exists(EXTENSION) and os.path.exists(COMMAND)),
    reason="SELENITE_TEST_EXTENSION and SELENITE_TEST_COMMAND name no binaries",
)


def build(
    output: Path, *more: str, extension: str | Path = EXTENSION, command: str | Path = COMMAND
) -> subprocess.CompletedProcess[str]:
    options = ["--extension", extension, "--command", command, "--output", output, *more]
    return subprocess.run([sys.executable, SCRIPT, *options], capture_output=True, text=True)


def compiled(folder: Path, name: str, *options: str) -> Path:
    """A small program of C."""
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    source = folder / f"{name}.c"
    source.write_text("int answer(void) { return 42; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / name, source, *options], check=True)
    return folder / name


def of_other_machine(folder: Path, file: str) -> Path:
    content = bytearray(Path(file).read_bytes()[: 1 << 20])
    content[18:20] = b"\xb7\x00"  # e_machine: EM_AARCH64
    content[40:48] = bytes(8)  # e_shoff, and below e_shnum: the sections were cut off
    content[60:64] = bytes(4)
    (folder / "other").write_bytes(bytes(content))
    return folder / "other"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A wheel, and what was said of it."""
    output = tmp_path_factory.mktemp("dist")
    ended = build(output)
    assert ended.returncode == 0, ended.stderr
    (wheel,) = output.iterdir()
    return wheel, ended.stdout


def test_the_tag_is_what_the_binaries_need(built: tuple[Path, str]) -> None:
    wheel, said_of_it = built
    versions = set()
    for file in (EXTENSION, COMMAND):
        said = subprocess.run(["readelf", "--version-info", file], capture_output=True, text=True, check=True).stdout
        versions |= {tuple(map(int, one.split("."))) for one in re.findall(r"Name: GLIBC_(\d+\.\d+)\b", said)}
    major, minor = max(versions)
    machine = os.uname().machine
    assert wheel.name == f"selenite-{version()}-py3-none-manylinux_{major}_{max(minor, 17)}_{machine}.whl"
    assert ("needs glibc" in said_of_it) == ((major, minor) > (2, 28)), said_of_it
    assert ("larger than 8 MiB" in said_of_it) == (wheel.stat().st_size > 8 * 1024 * 1024), said_of_it


def test_the_wheel_has_what_it_should_and_nothing_of_the_machine(built: tuple[Path, str]) -> None:
    with zipfile.ZipFile(built[0]) as wheel:
        names = set(wheel.namelist())
        info = f"selenite-{version()}.dist-info"
        assert {"selenite/lib/libselenite.so", "selenite/bin/selenite", "selenite/py.typed"} <= names
        assert {f"{info}/licenses/LICENSE-APACHE", f"{info}/licenses/LICENSE-MIT"} <= names
        assert not [name for name in names if "__pycache__" in name or "hook" in name or "build_wheel" in name]
        modes = {name: wheel.getinfo(name).external_attr >> 16 & 0o777 for name in names}
        assert modes["selenite/bin/selenite"] == modes["selenite/lib/libselenite.so"] == 0o755
        assert modes["selenite/__init__.py"] == 0o644
        entries = wheel.read(f"{info}/entry_points.txt").decode()
        assert "selenite = selenite._command:main" in entries and "sqlite.selenite = " in entries
        assert b"Root-Is-Purelib: false" in wheel.read(f"{info}/WHEEL")
        readme = (ROOT / "packages/python/README.md").read_text()
        assert readme in wheel.read(f"{info}/METADATA").decode()
        assert wheel.testzip() is None


def test_two_builds_are_the_same_bytes_and_strict_fails_on_a_missed_goal(built: tuple[Path, str], folder: Path) -> None:
    ended = build(folder, "--strict")
    assert ended.returncode == (1 if "missed goals" in built[1] else 0)
    (again,) = folder.iterdir()
    assert hashlib.sha256(again.read_bytes()).digest() == hashlib.sha256(built[0].read_bytes()).digest()


def test_binaries_that_do_not_fit_are_refused_in_one_line(folder: Path) -> None:
    text = folder / "text"
    text.write_text("no binary")
    other = of_other_machine(folder, COMMAND)
    here, there = os.uname().machine, "aarch64"
    strange = compiled(folder, "needy.so", f"-L{strange_library(folder)}", "-Wl,--no-as-needed", "-lstrange")
    for call, words in (
        (lambda: build(folder, command=text), f"{text} is not an ELF file"),
        (lambda: build(folder, extension=folder / "none"), "none: No such file or directory"),
        (
            lambda: build(folder, command=other),
            f"the extension is of {here}, the command is of {there}: a wheel is of one",
        ),
        (lambda: build(folder, "--platform", there), f"a wheel is of one platform, and {there} was asked for"),
        (lambda: build(folder, "--libc", "musl"), "a wheel is of one libc, and musl was asked for"),
        (lambda: build(folder, extension=strange), "the extension needs libstrange.so, which a manylinux wheel cannot"),
        (lambda: build(folder, "--strip", "no-such-strip"), "no-such-strip: not found"),
    ):
        ended = call()
        assert ended.returncode == 1 and ended.stdout == "" and words in ended.stderr, ended
        assert ended.stderr.startswith("build_wheel: ") and ended.stderr.count("\n") == 1
    assert not list(folder.glob("*.whl"))


def strange_library(folder: Path) -> Path:
    compiled(folder, "libstrange", "-Wl,-soname,libstrange.so")
    shutil.move(folder / "libstrange", folder / "libstrange.so")
    return folder


def test_binaries_of_musl_get_its_tag(folder: Path) -> None:
    """Libraries that need musl's libc by its name; nothing runs them."""
    machine = os.uname().machine
    compiled(folder, "libmusl.so", f"-Wl,-soname,libc.musl-{machine}.so.1", "-nostdlib")
    one = compiled(folder, "libone.so", "-nostdlib", f"-L{folder}", "-Wl,--no-as-needed", "-lmusl")
    ended = build(folder / "dist", "--libc", "musl", extension=one, command=one)
    assert ended.returncode == 0, ended.stderr
    (wheel,) = (folder / "dist").iterdir()
    assert wheel.name.endswith(f"-musllinux_1_2_{machine}.whl") and "missed goals" not in ended.stdout


def test_a_wheel_is_not_built_without_binaries(folder: Path) -> None:
    """As by `pip wheel packages/python`."""
    shutil.copytree(ROOT / "packages/python", folder / "sources")
    ended = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel"],
        cwd=folder / "sources",
        capture_output=True,
        text=True,
    )
    assert ended.returncode and "run packages/python/build_wheel.py with their paths" in ended.stdout + ended.stderr


def version() -> str:
    (found,) = re.findall(r'__version__ = "(.+)"', (ROOT / "packages/python/src/selenite/_version.py").read_text())
    return found
