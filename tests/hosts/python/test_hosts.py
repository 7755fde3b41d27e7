"""Each host opens an encrypted database by the lines that docs/HOSTS.md gives to its users."""

import asyncio
import json
import os
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import selenite

BIN = Path(sys.executable).parent
ENCRYPTED = "SELECT value FROM selenite_status WHERE section = 'database' AND name = 'encrypted'"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("SELENITE_") and "TEST" not in name]:
        monkeypatch.delenv(name)
    selenite.keygen("key.txt")
    yield tmp_path


@pytest.fixture
def app(folder: Path) -> Path:
    db = selenite.connect("app.db", identity="key.txt")
    with db:
        db.execute("CREATE TABLE note(id INTEGER PRIMARY KEY, body)")
        db.executemany("INSERT INTO note(body) VALUES (?)", [("one",), ("two",)])
    db.close()
    return folder / "app.db"


def is_encrypted(path: Path | str) -> bool:
    return Path(path).read_bytes()[:8] == b"Selenite"


def run(*command: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, timeout=60)


def test_sqlalchemy_orm(folder: Path) -> None:
    from sqlalchemy import ForeignKey, create_engine, select, text
    from sqlalchemy.exc import DatabaseError, OperationalError
    from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

    class Base(DeclarativeBase):
        pass

    class Author(Base):
        __tablename__ = "author"
        id: Mapped[int] = mapped_column(primary_key=True)
        name: Mapped[str]
        notes: Mapped[list["Note"]] = relationship(back_populates="author", cascade="all, delete-orphan")

    class Note(Base):
        __tablename__ = "note"
        id: Mapped[int] = mapped_column(primary_key=True)
        body: Mapped[str]
        author_id: Mapped[int] = mapped_column(ForeignKey("author.id"))
        author: Mapped[Author] = relationship(back_populates="notes")

    engine = create_engine("sqlite+selenite:///app.db?identity=key.txt&cipher=AEGIS_256X4&timeout=3&pool_size=1M")
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        session.add(Author(name="Ada", notes=[Note(body="one"), Note(body="two")]))
        session.commit()
        found = session.scalars(select(Note).join(Author).where(Author.name == "Ada").order_by(Note.id)).all()
        assert [note.body for note in found] == ["one", "two"]
        session.delete(found[0])
        session.rollback()
        assert len(session.scalars(select(Note)).all()) == 2
        assert session.execute(text(ENCRYPTED)).scalar_one() == "yes"
        assert session.execute(text("PRAGMA busy_timeout")).scalar_one() == 3000
    engine.dispose()
    assert is_encrypted("app.db") and selenite.status("app.db").superblock.suite == "AEGIS_256X4"  # type: ignore[union-attr]

    selenite.keygen("other.txt")
    with pytest.raises(DatabaseError, match="none of the keys given opens this database"):
        create_engine("sqlite+selenite:///app.db?identity=other.txt").connect()
    with pytest.raises(OperationalError, match="unknown URI parameter identty; did you mean selenite_identity"):
        create_engine("sqlite+selenite:///app.db?identty=key.txt").connect()
    with create_engine("sqlite+selenite:///app.db", connect_args={"identity": "key.txt", "mode": "ro"}).connect() as db:
        with pytest.raises(OperationalError, match="readonly"):
            db.execute(text("DELETE FROM note"))
    with create_engine("sqlite+selenite:///file:app.db?uri=true&mode=ro&identity=key.txt").connect() as db:
        assert db.execute(text("SELECT count(*) FROM note")).scalar_one() == 2
    with create_engine("sqlite+selenite://").connect() as db:
        assert db.execute(text("SELECT 1")).scalar_one() == 1


def test_pandas(folder: Path) -> None:
    import pandas
    from sqlalchemy import create_engine

    frame = pandas.DataFrame({"number": range(1000), "body": [f"row {number}" for number in range(1000)]})
    for target in (
        selenite.connect("direct.db", identity="key.txt"),
        create_engine("sqlite+selenite:///engine.db?identity=key.txt"),
    ):
        frame.to_sql("frame", target, index=False)
        back = pandas.read_sql("SELECT * FROM frame WHERE number >= 500", target)
        assert back["number"].sum() == sum(range(500, 1000)) and back["body"].iloc[-1] == "row 999"
    assert is_encrypted("direct.db") and is_encrypted("engine.db")


def test_apsw(app: Path) -> None:
    import apsw

    selenite.load(apsw.Connection(":memory:"))
    flags = apsw.SQLITE_OPEN_URI | apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    db = apsw.Connection(selenite.uri("app.db", identity="key.txt"), flags=flags)
    assert list(db.execute("SELECT body FROM note")) == [("one",), ("two",)]
    assert list(db.execute(ENCRYPTED)) == [("yes",)]
    db.close()
    new = apsw.Connection(selenite.uri("new.db", identity="key.txt"), flags=flags)
    new.execute("CREATE TABLE note(body)")
    new.close()
    assert is_encrypted("new.db")


def test_apsw_with_an_old_sqlite_is_refused(folder: Path) -> None:
    old = os.environ.get("SELENITE_TEST_OLD_APSW", "")
    if not list(Path(old).glob("apsw*")) if old else True:
        pytest.skip("no module with an old SQLite for this Python")
    code = "import apsw, selenite\nselenite.load(apsw.Connection(':memory:'))"
    ended = run(sys.executable, "-c", code, PYTHONPATH=old)
    assert ended.stderr.splitlines()[-1].startswith(
        "selenite.ExtensionError: SQLite 3.39.4 is too old: selenite needs 3.40 or later; use a newer Python"
    ), ended
    by_hand = (
        "import apsw\nfrom selenite import _platform\ndb = apsw.Connection(':memory:')\n"
        "db.enableloadextension(True)\ndb.loadextension(str(_platform.EXTENSION))"
    )
    ended = run(sys.executable, "-c", by_hand, PYTHONPATH=old)
    needs = f"SQLite 3.39.4 is too old: selenite {selenite.__version__} needs SQLite 3.40 or later"
    assert needs in ended.stderr.splitlines()[-1], ended


def test_pysqlite3(app: Path) -> None:
    import pysqlite3

    selenite.load(pysqlite3.connect(":memory:"))
    db = pysqlite3.connect(selenite.uri("app.db", identity="key.txt"), uri=True)
    assert db.execute("SELECT count(*) FROM note").fetchone() == (2,)
    db.close()


def test_aiosqlite(app: Path) -> None:
    import aiosqlite

    async def count() -> tuple[int]:
        selenite.load()
        async with aiosqlite.connect(selenite.uri("app.db", identity="key.txt"), uri=True) as db:
            with pytest.raises(TypeError, match="aiosqlite.core.Connection is not a connection of sqlite3"):
                selenite.load(db)
            async with db.execute("SELECT count(*) FROM note") as cursor:
                return await cursor.fetchone()

    assert asyncio.run(count()) == (2,)


def test_datasette(app: Path) -> None:
    get = [BIN / "datasette", "app.db", "--get", "/app.json?sql=select+body+from+note&_shape=arrayfirst"]
    ended = run(*get, SELENITE_DEFAULT="1", SELENITE_IDENTITY="key.txt")
    assert json.loads(ended.stdout) == ["one", "two"], ended
    plugins = run(BIN / "datasette", "plugins")
    assert "selenite" in [plugin["name"] for plugin in json.loads(plugins.stdout)]


def test_datasette_serves_other_databases_as_before(folder: Path) -> None:
    with sqlite3.connect("plain.db") as db:
        db.execute("CREATE TABLE note(body)")
    db.close()
    ended = run(BIN / "datasette", "plain.db", "--get", "/plain.json?sql=select+1&_shape=arrayfirst")
    assert json.loads(ended.stdout) == [1], ended


def test_litecli(app: Path) -> None:
    start = "import selenite; selenite.load(); from litecli.main import cli; cli()"
    command = [sys.executable, "-c", start, "app.db", "--execute", "SELECT body FROM note"]
    ended = run(*command, SELENITE_DEFAULT="1", SELENITE_IDENTITY="key.txt", HOME=str(app.parent))
    assert ended.stdout.split()[-2:] == ["one", "two"], ended


@pytest.mark.parametrize("engine", ["selenite.django"])
def test_django(folder: Path, engine: str) -> None:
    project = folder / "project.py"
    project.write_text(
        "import django\n"
        "from django.conf import settings\n"
        "settings.configure(DATABASES={'default': {'ENGINE': 'selenite.django', 'NAME': 'app 100%.db', 'OPTIONS':\n"
        "    {'identity': 'key.txt', 'cipher': 'CHACHA20', 'options': {'pool_size': '1M'},\n"
        "     'transaction_mode': 'IMMEDIATE', 'init_command': 'PRAGMA journal_mode = wal'}}})\n"
        "django.setup()\n"
        "from django.db import connection, models, transaction\n"
        "class Note(models.Model):\n"
        "    body = models.TextField()\n"
        "    class Meta:\n"
        "        app_label = 'project'\n"
        "with connection.schema_editor() as editor:\n"
        "    editor.create_model(Note)\n"
        "with transaction.atomic():\n"
        "    Note.objects.create(body='one')\n"
        "print(Note.objects.filter(body__regex='^o').count(), connection.vendor, connection.display_name)\n"
    )
    ended = run(sys.executable, project)
    assert ended.stdout == "1 sqlite SQLite with Selenite\n", ended
    assert is_encrypted("app 100%.db") and selenite.status("app 100%.db").superblock.suite == "CHACHA20"  # type: ignore[union-attr]

    (folder / "plain.db").touch()
    for name, identity, words in (
        ("app 100%.db", "none.txt", "can't read none.txt"),
        ("app 100%.db", None, "no key given for an encrypted database"),
    ):
        options = {"identity": identity} if identity else {}
        code = (
            f"from django.conf import settings; settings.configure(DATABASES={{'default': {{'ENGINE': '{engine}', "
            f"'NAME': {name!r}, 'OPTIONS': {options!r}}}}}); import django; django.setup(); "
            "from django.db import connection; connection.ensure_connection()"
        )
        assert words in run(sys.executable, "-c", code).stderr.splitlines()[-1]


@pytest.mark.parametrize("extension", ["fts5", "rtree", "json", "generated columns"])
def test_parts_of_sqlite(folder: Path, extension: str) -> None:
    statements = {
        "fts5": ("CREATE VIRTUAL TABLE t USING fts5(a)", "INSERT INTO t VALUES ('a word')", "SELECT a FROM t('word')"),
        "rtree": ("CREATE VIRTUAL TABLE t USING rtree(id, a, b)", "INSERT INTO t VALUES (1, 2, 3)", "SELECT id FROM t"),
        "json": ("CREATE TABLE t(a)", "INSERT INTO t VALUES ('{\"b\": 1}')", "SELECT a ->> 'b' FROM t"),
        "generated columns": ("CREATE TABLE t(a, b AS (a * 2) STORED)", "INSERT INTO t VALUES (4)", "SELECT b FROM t"),
    }[extension]
    db = selenite.connect("app.db", identity="key.txt")
    with db:
        rows: Callable[[str], sqlite3.Cursor] = db.execute
        for statement in statements[:-1]:
            rows(statement)
    assert len(db.execute(statements[-1]).fetchall()) == 1
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()
    assert is_encrypted("app.db")


@pytest.mark.parametrize("order", ["before", "after"])
def test_sqlite_vec(folder: Path, order: str) -> None:
    loads = ["load_vec(boot)", "selenite.load(boot)"]
    code = "\n".join(
        (
            "import selenite, sqlite3, sqlite_vec",
            "def load_vec(db):",
            "    db.enable_load_extension(True)",
            "    sqlite_vec.load(db)",
            "boot = sqlite3.connect(':memory:')",
            *(loads if order == "before" else reversed(loads)),
            "for db in sqlite3.connect('plain.db'), selenite.connect('app.db', identity='key.txt'):",
            "    load_vec(db)",
            "    db.execute('CREATE VIRTUAL TABLE place USING vec0(embedding float[4])')",
            "    for n in range(500):",
            "        db.execute('INSERT INTO place VALUES (?, ?)', (n, sqlite_vec.serialize_float32([n, 1, 2, 3])))",
            "    db.commit()",
            "near = sqlite_vec.serialize_float32([250.2, 1, 2, 3])",
            "sql = 'SELECT rowid FROM place WHERE embedding MATCH ? AND k = 3 ORDER BY distance'",
            "print(db.execute(sql, (near,)).fetchall(), boot.execute('SELECT vec_version()').fetchone()[0])",
        )
    )
    ended = run(sys.executable, "-c", code)
    assert ended.stdout.startswith("[(250,), (251,), (249,)] v0."), ended
    assert is_encrypted("app.db")
    vector = struct.pack("<4f", 250, 1, 2, 3)
    assert vector in Path("plain.db").read_bytes() and vector not in Path("app.db").read_bytes()
