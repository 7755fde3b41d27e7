"""Loading the extension, and what stands in its way."""

import shutil
from pathlib import Path

import pytest
from conftest import Environment, inside

SHOW = "import selenite\ntry:\n    {}\n    print('no error')\nexcept Exception as error:\n    print(type(error).__name__, error)"


def said(environment: Environment, folder: Path, code: str) -> str:
    """What a call says; an error is one line."""
    ended = environment.run(environment.python, "-c", SHOW.format(code), cwd=folder)
    assert ended.stderr == "" and ended.stdout.count("\n") == 1, ended
    return ended.stdout.strip()


@pytest.fixture
def copy(environment: Environment, folder: Path) -> Environment:
    """An environment of its own, whose installation a test may damage."""
    one = Environment(folder / "venv", folder / "home")
    ignored = shutil.ignore_patterns("pip*", "setuptools*", "__pycache__")
    shutil.copytree(environment.folder, one.folder, symlinks=True, ignore=ignored)
    one.home.mkdir()
    return one


@inside
def test_loading_does_not_permit_sql_to_load_extensions():
    selenite.load()
    db = sqlite3.connect(":memory:")
    with raises(sqlite3.OperationalError, "not authorized|no such function"):
        db.execute("SELECT load_extension('libm.so.6')")
    with raises(sqlite3.OperationalError, "not authorized|no such function"):
        selenite.connect(":memory:").execute("SELECT load_extension('libm.so.6')")


@inside
def test_loading_twice_is_loading_once():
    for _ in range(3):
        selenite.load()
    db = sqlite3.connect(":memory:")
    selenite.load(db)
    assert db.execute("SELECT selenite_version()").fetchone() == (selenite.__version__,)
    maps = {line.split()[-1] for line in open("/proc/self/maps") if "libselenite" in line}
    assert len(maps) == 1, maps


@inside
def test_a_connection_that_was_opened_before_gets_the_functions_if_it_can():
    db = sqlite3.connect(":memory:")
    if CAN_LOAD:
        selenite.load(db)
        assert db.execute("SELECT selenite_version()").fetchone() == (selenite.__version__,)
        with raises(sqlite3.OperationalError, "not authorized"):
            db.execute("SELECT load_extension('libm.so.6')")
    else:
        with raises(selenite.ExtensionError, "was opened before the extension was loaded.*selenite.load\\(\\) first"):
            selenite.load(db)
    assert sqlite3.connect(":memory:").execute("SELECT selenite_version()").fetchone() == (selenite.__version__,)


@inside
def test_a_sqlite_that_cannot_be_reached_is_an_error_with_a_way_out():
    """As if SQLite were linked into Python: what the process exports has no SQLite, and the module has no file."""
    if CAN_LOAD:
        return
    from selenite import _extension

    _extension._file_of_module = lambda: None
    with raises(
        selenite.ExtensionError,
        "this Python's sqlite3 .SQLite 3.* cannot load extensions, and its SQLite cannot be reached through ctypes: "
        "it is linked into Python, which does not export its functions; use a Python that can .*or pip install apsw",
    ):
        selenite.connect("app.db")


@inside
def test_what_is_no_connection_is_refused_by_its_class():
    class Connection:
        def __init__(self, path):
            raise AssertionError("was called")

    for thing, name in ((3, "builtins.int"), (Connection.__new__(Connection), "Connection")):
        with raises(TypeError, f"{name} is not a connection of sqlite3, or of a module like it"):
            selenite.load(thing)


@inside
def test_the_same_version_loaded_by_hand_is_used():
    if not CAN_LOAD:
        return
    import shutil

    package = os.path.dirname(selenite.__file__)
    shutil.copy(f"{package}/lib/libselenite.so", "libselenite.so")
    boot = sqlite3.connect(":memory:")
    boot.enable_load_extension(True)
    boot.load_extension("./libselenite.so")
    new_database().close()
    assert not any(package in line for line in open("/proc/self/maps"))


def test_an_extension_of_another_version_than_the_package_is_refused(copy: Environment, folder: Path) -> None:
    (copy.package / "_version.py").write_text('__version__ = "9.8.7"\n')
    told = said(copy, folder, "selenite.load()")
    assert told.startswith("ExtensionError ") and "libselenite.so is version " in told
    assert "and this package is 9.8.7: the installation is mixed; install it again" in told


def test_two_versions_in_one_process_are_refused(copy: Environment, folder: Path) -> None:
    """The one that was loaded by hand is the real extension; the package says that it is of another version."""
    other = folder / "other" / "libselenite.so"
    other.parent.mkdir()
    shutil.copy(copy.package / "lib/libselenite.so", other)
    (copy.package / "_version.py").write_text('__version__ = "9.8.7"\n')
    by_hand = (
        "import ctypes, sqlite3, selenite._extension as e; e.EXTENSION = {!r}; boot = sqlite3.connect(':memory:'); "
        "(e._load_on(boot) if hasattr(boot, 'load_extension') else e._load_through_library()); {}"
    )
    for call in ("selenite.load()", "selenite.connect('app.db')"):
        told = said(copy, folder, by_hand.format(str(other), call))
        assert told.startswith("ExtensionError two versions of the extension in one process: "), told
        assert f"is loaded from {other}, and this package is 9.8.7; remove the other call" in told or (
            "is loaded, and this package is 9.8.7" in told
        ), told


def test_another_version_that_is_loaded_later_is_refused(copy: Environment, folder: Path) -> None:
    """A file of the same version, into a connection that says it has another one."""
    other = folder / "libselenite.so"
    shutil.copy(copy.package / "lib/libselenite.so", other)
    code = (
        "import sqlite3, selenite._extension as e; selenite.load(); e.EXTENSION = {!r}; "
        "boot = sqlite3.connect(':memory:'); boot.create_function('selenite_version', 0, lambda: '0.0.9'); "
        "boot.enable_load_extension(True); e._load_on(boot)"
    )
    told = said(copy, folder, code.format(str(other)))
    if "has no attribute 'enable_load_extension'" not in told:
        assert "two versions of the extension in one process: selenite 0.0.9 is loaded, and this is " in told


@pytest.mark.parametrize(
    ("tag", "words"),
    [
        ("manylinux_2_28_aarch64", "installed for manylinux_2_28_aarch64, and this Python runs on x86_64, glibc"),
        ("musllinux_1_2_x86_64", "installed for musllinux_1_2_x86_64, and this Python runs on x86_64, glibc"),
        ("manylinux_2_99_x86_64", "installed for manylinux_2_99_x86_64, and this Python runs on x86_64, glibc"),
    ],
)
def test_a_wheel_of_another_platform_is_named(copy: Environment, folder: Path, tag: str, words: str) -> None:
    """As after copying an installation to another machine: the binaries are foreign, and WHEEL says for whom they are."""
    (metadata,) = copy.package.parent.glob("selenite-*.dist-info")
    wheel = metadata / "WHEEL"
    wheel.write_text(
        "".join(
            line if not line.startswith("Tag:") else f"Tag: py3-none-{tag}\n"
            for line in wheel.read_text().splitlines(keepends=True)
        )
    )
    for name in ("lib/libselenite.so", "bin/selenite"):
        file = copy.package / name
        content = bytearray(file.read_bytes())
        content[18:20] = b"\xb7\x00"  # e_machine: EM_AARCH64
        file.write_bytes(bytes(content))
    for call in ("selenite.load()", "selenite.connect('app.db')", "selenite.status('app.db')"):
        told = said(copy, folder, call)
        assert told.startswith("ExtensionError selenite was") and words in told, told
        assert "install it here, with this Python: python -m pip install --force-reinstall selenite" in told
    ended = copy.run(copy.python, "-m", "selenite", "--version", cwd=folder)
    assert ended.returncode == 1 and ended.stderr.startswith("error: selenite was installed for "), ended
    assert ended.stderr.count("\n") == 1


@inside
def test_a_wheel_of_musl_fits_a_python_on_musl():
    """No Python on musl was to be had: what differs there, the C library's answer, is put in its place."""
    from selenite import _platform

    here = _platform._architecture()
    _platform._glibc_version = lambda: None
    _platform._wheel_tags = lambda: [f"musllinux_1_2_{here}"]
    assert _platform.misfit() is None
    _platform._wheel_tags = lambda: [f"manylinux_2_28_{here}"]
    assert f"was installed for manylinux_2_28_{here}, and this Python runs on {here}, musl" in _platform.misfit()


def test_an_installation_without_binaries_is_named(copy: Environment, folder: Path) -> None:
    (copy.package / "lib/libselenite.so").unlink()
    (copy.package / "bin/selenite").unlink()
    for call in ("selenite.load()", "selenite.status('app.db')"):
        told = said(copy, folder, call)
        assert " is missing: this installation of selenite was not made from a wheel; install a wheel" in told
    ended = copy.run(copy.python, "-m", "selenite", "--version", cwd=folder)
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1) and "is missing" in ended.stderr, ended


def test_a_damaged_extension_is_named(copy: Environment, folder: Path) -> None:
    (copy.package / "lib/libselenite.so").write_bytes(b"\x7fELF damaged")
    assert "libselenite.so cannot be loaded: " in said(copy, folder, "selenite.load()")


def test_a_command_that_is_not_executable_is_named(copy: Environment, folder: Path) -> None:
    (copy.package / "bin/selenite").chmod(0o644)
    assert "bin/selenite does not run: Permission denied" in said(copy, folder, "selenite.status('app.db')")


def test_an_old_sqlite_is_refused(environment: Environment, folder: Path) -> None:
    """SQLite tells its version through a function, which a library that is loaded before it may define."""
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    import subprocess

    source, library = folder / "old.c", folder / "libold.so"
    source.write_text(
        'const char *sqlite3_libversion(void) { return "3.39.4"; }\nint sqlite3_libversion_number(void) { return 3039004; }\n'
    )
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    ended = environment.run(
        environment.python, "-c", SHOW.format("selenite.load()"), cwd=folder, LD_PRELOAD=str(library)
    )
    assert ended.stdout.startswith("ExtensionError SQLite 3.39.4 is too old: selenite needs 3.40 or later"), ended


def test_a_preloaded_sqlite_is_the_one_that_is_used(environment: Environment, folder: Path) -> None:
    """What LD_PRELOAD puts in front, _sqlite3 calls: the extension has to be loaded there."""
    import os

    newest = os.environ.get("SELENITE_TEST_SQLITE_NEW", "")
    if not os.path.exists(newest):
        pytest.skip("SELENITE_TEST_SQLITE_NEW names no library")
    code = (
        "import selenite, sqlite3; selenite.load(); "
        "print(sqlite3.connect(':memory:').execute('SELECT sqlite_version(), selenite_version()').fetchone())"
    )
    ended = environment.run(environment.python, "-c", code, cwd=folder, LD_PRELOAD=newest)
    assert ended.stdout.startswith("('3.5") and ended.stderr == "", ended
