"""A process with elevated rights: who started it chose its environment, and must not choose keys by it.

The host is SQLite's shell, as a copy that is set-user-ID root and run as nobody.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from host import EXTENSION, uri
from test_command import selenite

SHELL = "/usr/bin/sqlite3"
NOBODY = 65534
# Identity of a plugin that there need not be: it is refused before anyone looks for it.
PLUGIN = "AGE-PLUGIN-FAKE-18YX8DC"


@pytest.fixture
def place(folder: Path) -> Iterator[Path]:
    """A folder that everyone can enter, with the shell, the extension, a key of root's, and what an attacker prepared."""
    if os.geteuid() != 0:
        pytest.skip("only root can make a program set-user-ID root")
    if not Path(SHELL).exists():
        pytest.skip(f"{SHELL} is not installed")
    folder.chmod(0o755)
    shutil.copy(EXTENSION, folder / "libselenite.so")
    for name in ("plain", "elevated"):
        shutil.copy(SHELL, folder / name)
        (folder / name).chmod(0o4755 if name == "elevated" else 0o755)
    selenite(folder, "keygen", "-o", "root.key")
    evil = folder / "evil"
    (evil / ".config/selenite").mkdir(parents=True)
    command = evil / "command"
    command.write_text(f"#!/bin/sh\nid -u >> {evil}/ran\nexec cat\n")
    command.chmod(0o755)
    shutil.copy(command, evil / "age-plugin-fake")
    config = f'identity = "command:evil"\n[commands]\nevil = "{command}"\n'
    for path in (evil / "evil.toml", evil / ".config/selenite/config.toml"):
        path.write_text(config)
    for path in [evil, *evil.rglob("*")]:
        os.chown(path, NOBODY, NOBODY)
    yield folder


def run(place: Path, program: str, database: str, *statements: str, **environment: str) -> str:
    """The output of the shell, run as the user nobody."""
    own = {"PATH": f"{place}/evil:/usr/bin:/bin", "HOME": f"{place}/evil", **environment}
    drop = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    # The user nobody must be able to write to the folder of a new database.
    words = [".load ./libselenite", f".open {database}", *statements, "SELECT 'said ' || selenite_last_error();"]
    done = subprocess.run(
        [*drop, f"{place}/{program}", "-batch", ":memory:"],
        input="\n".join(words),
        cwd=place,
        env=own,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    "environment",
    [{"SELENITE_CONFIG": "evil/evil.toml"}, {}, {"XDG_CONFIG_HOME": "evil/.config"}],
    ids=["variable", "home", "xdg"],
)
def test_no_environment_names_a_configuration(place: Path, environment: dict[str, str]) -> None:
    environment = {name: f"{place}/{value}" for name, value in environment.items()}
    marker = place / "evil/ran"
    said = run(place, "plain", uri(place / "evil/new.db", vfs="selenite"), "CREATE TABLE t(a);", **environment)
    assert marker.read_text().split() == [str(NOBODY)] * len(marker.read_text().split()), said
    assert "did not return the key that it was given, or left it unencrypted" in said
    marker.unlink()
    said = run(place, "elevated", uri(place / "other.db", vfs="selenite"), "CREATE TABLE t(a);", **environment)
    assert "no key given for a new encrypted database" in said
    assert not marker.exists()


def test_no_variable_names_an_identity_or_lets_clear_text_pass(place: Path) -> None:
    variables = {"SELENITE_IDENTITY": f"{place}/root.key", "SELENITE_PLAIN": "allow", "SELENITE_DEFAULT": "1"}
    said = run(place, "elevated", uri(place / "new.db", vfs="selenite"), "CREATE TABLE t(a);", **variables)
    assert "no key given for a new encrypted database" in said
    # Not made the default, it leaves files that are opened by name to SQLite.
    run(place, "elevated", str(place / "plain.db"), "CREATE TABLE t(a);", **variables)
    assert (place / "plain.db").read_bytes()[:8] == b"SQLite f"
    said = run(place, "elevated", uri(place / "plain.db", vfs="selenite", selenite_identity=place / "root.key"),
               "SELECT count(*) FROM t;", **variables)
    assert "not encrypted" in said


def test_what_the_program_says_in_the_uri_counts(place: Path) -> None:
    database = uri(place / "new.db", vfs="selenite", selenite_identity=f"age:{place}/root.key")
    said = run(place, "elevated", database, "CREATE TABLE t(a);", "INSERT INTO t VALUES('kept');", "SELECT a FROM t;")
    assert "kept" in said
    assert (place / "new.db").read_bytes()[:8] == b"Selenite"
    (place / "plugin.key").write_text(PLUGIN + "\n")
    for spec, what in ((f"age:{place}/plugin.key", "age plugin"), ("command:evil", "a key command")):
        said = run(place, "elevated", uri(place / "other.db", vfs="selenite", selenite_identity=spec), "CREATE TABLE t(a);")
        assert f"{what} is refused in a process with elevated rights" in said, said
    assert not (place / "evil/ran").exists()


def test_the_command_refuses_to_run_with_elevated_rights(place: Path) -> None:
    shutil.copy(os.environ["SELENITE_TEST_COMMAND"], place / "selenite")
    (place / "selenite").chmod(0o4755)
    done = subprocess.run(
        ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", f"{place}/selenite", "status", "x.db"],
        cwd=place, capture_output=True, text=True, check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "elevated rights" in done.stderr
