"""What pip installs, and what a new user sees first."""

import sys
from pathlib import Path

import pytest
from conftest import PYTHONS, Environment, inside


def test_there_is_a_python_that_can_load_extensions_and_one_that_cannot() -> None:
    assert "debian" in PYTHONS
    if len(PYTHONS) == 1:
        pytest.skip("no Python without load_extension here: those tests did not run")


def test_the_console_script_is_the_command(environment: Environment, folder: Path) -> None:
    for command in (["selenite"], [str(environment.python), "-m", "selenite"]):
        ended = environment.run(*command, "--version", cwd=folder)
        assert ended.stdout.startswith("selenite "), ended
        refused = environment.run(*command, "verify", "none.db", cwd=folder)
        assert (refused.returncode, refused.stdout) == (6, "")
        assert refused.stderr.startswith("error: ")


def test_nothing_of_the_repository_or_of_rust_is_in_reach(environment: Environment, folder: Path) -> None:
    code = "import shutil, sys; print([shutil.which(name) for name in ('cargo', 'rustc')], sys.path)"
    ended = environment.run(environment.python, "-c", code, cwd=folder)
    found, _, path = ended.stdout.partition("] ")
    assert found == "[None, None"
    assert str(Path(__file__).parents[3]) not in path


@inside
def test_the_first_minute_works():
    key_file = pathlib.Path("key.txt")
    recipient = selenite.keygen(key_file)
    assert re.fullmatch("age1[a-z0-9]{58}", recipient)
    assert key_file.stat().st_mode & 0o777 == 0o600
    db = selenite.connect("app.db", identity=key_file)
    with db:
        db.execute("CREATE TABLE note(body)")
        db.execute("INSERT INTO note VALUES ('a secret body')")
    db.close()
    content = pathlib.Path("app.db").read_bytes()
    assert content.startswith(b"Selenite") and b"secret" not in content
    assert selenite.connect("app.db", identity=key_file).execute("SELECT * FROM note").fetchall() == [
        ("a secret body",)
    ]


def test_the_lines_of_the_readme_work(environment: Environment, folder: Path) -> None:
    readme = (Path(__file__).parents[3] / "packages/python/README.md").read_text()
    first, frameworks = readme.split("```python\n")[1:3]
    ended = environment.run(environment.python, "-c", first.partition("```")[0], cwd=folder)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert b"a secret" not in (folder / "app.db").read_bytes()
    code = "import selenite; print(selenite.connect('app.db', identity='key.txt').execute('SELECT * FROM note').fetchall())"
    assert environment.run(environment.python, "-c", code, cwd=folder).stdout == "[('a secret',)]\n"
    assert "create_engine" in frameworks  # tests/hosts/python runs these.


@inside
def test_every_public_function_has_an_example():
    for name in selenite.__all__:
        thing = getattr(selenite, name)
        assert name == "__version__" or thing.__doc__, name
        if callable(thing) and not isinstance(thing, type):
            assert "Example:\n" in thing.__doc__, name
        if name != "__version__":
            assert thing.__module__ == "selenite", name


@inside
def test_the_help_lists_what_there_is():
    import pydoc

    text = pydoc.plain(pydoc.render_doc(selenite))
    for name in selenite.__all__:
        assert name == "__version__" or name in text, name
    assert ">>> db = selenite.connect" in text and "libselenite" not in text


@inside
def test_the_extension_the_command_and_the_package_have_one_version():
    from importlib import metadata

    selenite.load()
    (version,) = sqlite3.connect(":memory:").execute("SELECT selenite_version()").fetchone()
    said = subprocess.run([selenite.command_path(), "--version"], capture_output=True, text=True).stdout
    assert version == selenite.__version__ == metadata.version("selenite") == said.split()[1]


def test_a_strict_type_checker_accepts_a_program(environment: Environment, folder: Path) -> None:
    api = pytest.importorskip("mypy.api")
    sample = folder / "sample.py"
    sample.write_text(
        "import sqlite3\n"
        "from typing import Optional\n"
        "import selenite\n"
        "from selenite import dbapi\n"
        "class Own(sqlite3.Connection):\n"
        "    pass\n"
        "db: sqlite3.Connection = selenite.connect('app.db', identity='key.txt', timeout=1.0, isolation_level=None)\n"
        "own: Own = selenite.connect(b'app.db', factory=Own, options={'pool_size': 1})\n"
        "also: sqlite3.Connection = dbapi.connect(':memory:')\n"
        "pages: int = selenite.verify('app.db', progress=lambda one: print(one.percent)).page_count\n"
        "found: Optional[selenite.Superblock] = selenite.status('app.db').superblock\n"
        "try:\n"
        "    name: str = selenite.backup('app.db', 'backups', recipients=['age1']).name\n"
        "except selenite.CommandError as error:\n"
        "    status: int = error.exit_status\n"
    )
    wrong = folder / "wrong.py"
    wrong.write_text(
        "import selenite\n"
        "selenite.connect('app.db', identity=3)\n"
        "selenite.connect('app.db', identty='key.txt')\n"
        "suite: int = selenite.status('app.db').superblock.suite\n"
    )
    options = ["--strict", "--no-incremental", f"--python-executable={environment.python}"]
    said, _, status = api.run([*options, str(sample)])
    assert status == 0, said
    said, _, status = api.run([*options, str(wrong)])
    assert status == 1 and [f"wrong.py:{line}:" in said for line in (2, 3, 4)] == [True] * 3, said
    assert sys.version_info >= (3, 9)
