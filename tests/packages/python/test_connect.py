"""Connections: every argument, every kind of file name, and what is refused."""

from conftest import inside


@inside
def test_a_connection_is_one_of_sqlite3_with_its_defaults():
    stock, db = sqlite3.connect(":memory:"), new_database()
    assert type(db) is sqlite3.Connection
    assert db.isolation_level == stock.isolation_level
    assert db.row_factory is None and db.text_factory is str
    assert db.execute("SELECT value FROM selenite_status WHERE name = 'encrypted'").fetchone() == ("yes",)


@inside
def test_every_argument_of_sqlite3_counts():
    class Own(sqlite3.Connection):
        pass

    new_database().close()
    db = selenite.connect("app.db", 0.25, sqlite3.PARSE_COLNAMES, None, False, Own, 7, False, identity="key.txt")
    assert type(db) is Own and db.isolation_level is None
    assert db.execute("PRAGMA busy_timeout").fetchone() == (250,)
    from datetime import date

    sqlite3.register_converter("day", lambda raw: date.fromisoformat(raw.decode()))
    assert db.execute("SELECT '2026-03-01' AS 'd [day]'").fetchone() == (date(2026, 3, 1),)
    seen = []
    thread = threading.Thread(target=lambda: seen.extend(db.execute("SELECT count(*) FROM note")))
    thread.start()
    thread.join()
    assert seen == [(3,)]
    if sys.version_info >= (3, 12):
        assert selenite.connect(":memory:", autocommit=True).autocommit is True
    else:
        with raises(TypeError):
            selenite.connect(":memory:", autocommit=True)


@inside
def test_every_file_name_is_the_file_of_that_name():
    names = [
        "50% off?.db",
        "a#b.db",
        " two  spaces ",
        "a&b=c;d+e.db",
        "file:x.db",
        "%41.db",
        "\u00e9t\u00e9.db",
        "-v",
        "a:b",
    ]
    paths = [*names, b"\xff\xfe.db", os.fsdecode(b"\xfd.db"), pathlib.Path("path?.db"), os.path.abspath("absolute?.db")]
    paths += ["/" + os.path.abspath("two slashes.db"), "./dot.db"]
    for path in paths:
        new_database(path).close()
        assert open(path, "rb").read(8) == b"Selenite", path
        assert selenite.connect(path, identity="key.txt").execute("SELECT count(*) FROM note").fetchone() == (3,)
    assert len(os.listdir(".")) == len(paths) + 1


@inside
def test_an_identity_may_have_any_name_of_utf_8():
    for name in ["50% off?.txt", "a#b&c=d.txt", " spaces ", "\u00e9.txt", "a+b"]:
        selenite.connect(f"{len(name)}.db", identity=key(name)).execute("CREATE TABLE a(b)")
        assert selenite.verify(f"{len(name)}.db", identity=name).authentic
    path = pathlib.Path("age:x")
    selenite.keygen(path)
    selenite.connect("path.db", identity=path).execute("CREATE TABLE a(b)")
    with raises(ValueError, "page_size: a parameter of a URI has to be UTF-8"):
        selenite.connect("app.db", identity="key.txt", options={"page_size": os.fsdecode(b"\xff")})


@inside
def test_specifications_and_the_environment_name_an_identity():
    pathlib.Path("passphrase.txt").write_text("correct horse\n")
    os.chmod("passphrase.txt", 0o600)
    selenite.connect("app.db", identity="passphrase:passphrase.txt").execute("CREATE TABLE a(b)")
    pathlib.Path("raw.key").write_bytes(bytes(range(32)))
    os.chmod("raw.key", 0o600)
    selenite.connect("raw.db", identity="raw:raw.key").execute("CREATE TABLE a(b)")
    os.environ["SELENITE_IDENTITY"] = os.path.abspath(key())
    selenite.connect("environment.db").execute("CREATE TABLE a(b)")
    assert selenite.keys("app.db").slots[0].who.startswith("passphrase")
    assert selenite.keys("raw.db").slots[0].who.startswith("raw")
    assert selenite.keys("environment.db").slots[0].who.startswith("age1")


@inside
def test_a_uri_gets_the_parameters():
    new_database().close()
    db = selenite.connect("file:app.db?mode=ro#fragment", uri=True, identity="key.txt")
    with raises(sqlite3.OperationalError, "readonly"):
        db.execute("DELETE FROM note")
    for name in ("file:app.db", f"file://{os.path.abspath('app.db')}", "file:%61pp.db?cache=private"):
        assert selenite.connect(name, uri=True, identity="key.txt").execute("SELECT * FROM note").fetchone()
    assert selenite.connect("app.db", uri=True, identity="key.txt").execute("SELECT * FROM note").fetchone()
    with raises(ValueError, "names the VFS 'unix'"):
        selenite.connect("file:app.db?vfs=unix", uri=True, identity="key.txt")
    with raises(ValueError, "mode is given twice: as an argument and in the URI"):
        selenite.connect("file:app.db?mode=ro", uri=True, mode="rw", identity="key.txt")


@inside
def test_a_key_file_may_have_any_name():
    name = os.fsdecode(b"k\xff ?#%&=.txt")
    for path in (name, pathlib.Path(name), pathlib.Path(name).absolute(), "age:" + name):
        database = f"{len(os.listdir())}.db"
        if not os.path.exists(name):
            selenite.keygen(name)
        selenite.connect(database, identity=path).execute("CREATE TABLE note(body)")
        assert open(database, "rb").read(8) == b"Selenite"
        assert selenite.verify(database, identity=path).authentic
    os.environ["SELENITE_IDENTITY"] = name
    selenite.connect(database).execute("SELECT * FROM note")
    assert selenite.verify(database).authentic
    assert selenite.run("exec", database, "SELECT 7") == "7\n"
    with raises(sqlite3.OperationalError, "can't read k.none.txt: No such file"):
        selenite.connect(database, identity=os.fsdecode(b"k\xffnone.txt"))


@inside
def test_databases_without_a_file_have_encrypted_temporary_files():
    for name, more in ((":memory:", {}), ("", {}), ("file:shared?mode=memory&cache=shared", {"uri": True})):
        db = selenite.connect(name, **more)
        db.execute("CREATE TABLE a(b)")
        db.execute("INSERT INTO a VALUES (1)")
        assert db.execute("SELECT * FROM a").fetchall() == [(1,)]
        vfs = [row for row in db.execute("PRAGMA database_list")]
        assert vfs[0][2] == "", vfs
    assert selenite.connect("x", mode="memory").execute("SELECT 1").fetchone() == (1,)
    assert os.listdir(".") == []


@inside
def test_cipher_mode_and_options_reach_the_extension():
    db = new_database(cipher="AEGIS_256X4", options={"page_size": 8192, "pool_size": "1M", "auto_vacuum": "full"})
    found = selenite.status("app.db", identity="key.txt").superblock
    assert (found.suite, found.page_size) == ("AEGIS_256X4", 8192)
    assert db.execute("PRAGMA auto_vacuum").fetchone() == (1,)
    db.close()
    selenite.connect("app.db", identity="key.txt", options={"commitment": found.commitment}).close()
    with raises(sqlite3.OperationalError, "unable to open database file.*did you mean cipher"):
        selenite.connect("app.db", identity="key.txt", options={"cypher": "AES_256"})
    with raises(sqlite3.OperationalError, "unable to open"):
        selenite.connect("none.db", identity="key.txt", mode="rw")
    assert not os.path.exists("none.db")
    with raises(ValueError, "cipher is given twice: as an argument and in options"):
        selenite.connect("app.db", cipher="AES_256", options={"cipher": "AES_256"})
    with raises(TypeError, "immutable is a str or an int, not bool"):
        selenite.connect("app.db", options={"immutable": True})


@inside
def test_an_unencrypted_database_is_refused_with_and_without_an_identity():
    plain_database()
    before = open("plain.db", "rb").read()
    os.environ["SELENITE_IDENTITY"] = os.path.abspath(key())
    with raises(sqlite3.DatabaseError, "file is not a database: .*plain.db: not encrypted"):
        selenite.connect("plain.db")
    del os.environ["SELENITE_IDENTITY"]
    with raises(sqlite3.DatabaseError, "file is not encrypted: plain.db is an unencrypted database; encrypt it"):
        selenite.connect("plain.db")
    with raises(sqlite3.DatabaseError, "file is not a database: .*plain.db: not encrypted"):
        selenite.connect("plain.db", identity=key())
    assert open("plain.db", "rb").read() == before
    for more in ({}, {"identity": "key.txt"}):
        assert selenite.connect("plain.db", plain=True, **more).execute("SELECT * FROM note").fetchone() == (
            "in clear",
        )
    with raises(sqlite3.OperationalError, "not the database that is expected here: it is an unencrypted database"):
        selenite.connect("plain.db", plain=True, options={"encrypted": "required"})
    os.environ["SELENITE_PLAIN"] = "allow"
    assert selenite.connect("plain.db").execute("SELECT * FROM note").fetchone() == ("in clear",)


@inside
def test_a_database_whose_encryption_was_switched_off_is_refused():
    new_database().close()
    selenite.run("reencrypt", "--off", "app.db", identity="key.txt")
    assert b"a secret body" in open("app.db", "rb").read()
    with raises(sqlite3.DatabaseError, "file is not a database|unable to open|encrypted"):
        selenite.connect("app.db", identity="key.txt").execute("SELECT * FROM note")
    assert selenite.connect("app.db", identity="key.txt", plain=True).execute("SELECT * FROM note").fetchone()


@inside
def test_a_key_is_never_taken_for_the_path_of_one():
    secret = [line for line in open(key()) if line.startswith("AGE-SECRET-KEY")][0].strip()
    for text in (secret, secret.lower()):
        with raises(ValueError, "the identity is a key, and not the path") as caught:
            selenite.connect("app.db", identity=text)
        assert secret[20:40].lower() not in str(caught[0]).lower()
    with raises(ValueError, "is a recipient, which cannot open a database"):
        selenite.connect("app.db", identity="age1xyz")
    with raises(TypeError, "not bytes"):
        selenite.connect("app.db", identity=b"key.txt")


@inside
def test_an_error_of_opening_has_the_reason_and_its_class():
    new_database().close()
    with raises(sqlite3.DatabaseError, "file is not a database: .*app.db: none of the keys given opens") as caught:
        selenite.connect("app.db", identity=key("other.txt"))
    if sys.version_info >= (3, 11):
        assert caught[0].sqlite_errorname == "SQLITE_NOTADB"
    with raises(sqlite3.DatabaseError, "no key given for an encrypted database"):
        selenite.connect("app.db")
    with raises(sqlite3.OperationalError, "no key given for a new encrypted database"):
        selenite.connect("new.db")
    with raises(sqlite3.OperationalError, "can't read none.txt: No such file"):
        selenite.connect("app.db", identity="none.txt")
    os.chmod("key.txt", 0o666)
    with raises(sqlite3.OperationalError, "key.txt.*is not trusted"):
        selenite.connect("app.db", identity="key.txt")
    with raises(sqlite3.OperationalError, "^unable to open database file$"):
        selenite.connect("none/app.db", identity=key("other.txt"))
    with raises(ValueError, "embedded null character"):
        selenite.connect("a\0b")
    with raises(TypeError, "not int"):
        selenite.connect(3)


@inside
def test_the_reason_is_that_of_the_file():
    with raises(sqlite3.OperationalError, "no key given"):
        selenite.connect("one.db")
    with raises(sqlite3.OperationalError, "^unable to open database file$"):
        selenite.connect(".", identity=key())


@inside
def test_last_error_names_an_altered_page():
    db = new_database(rows=2000)
    db.close()
    flip_a_bit("app.db", 65536 + 4096 * 3 + 100)
    db = selenite.connect("app.db", identity="key.txt")
    db.row_factory = sqlite3.Row
    with raises(sqlite3.OperationalError, "disk I/O error"):
        db.execute("SELECT sum(length(body)) FROM note").fetchall()
    assert "page 4" in selenite.last_error(db), selenite.last_error(db)
    assert "page 4" in selenite.last_error()


@inside
def test_many_threads_load_once():
    key()
    errors = []

    def work(number):
        try:
            selenite.connect(f"{number}.db", identity="key.txt").execute("CREATE TABLE a(b)")
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert errors == [] and len(os.listdir(".")) == 17


@inside
def test_dbapi_is_a_module_of_pep_249():
    from selenite import dbapi

    assert (dbapi.apilevel, dbapi.paramstyle) == ("2.0", "qmark") and dbapi.threadsafety in (0, 1, 2, 3)
    for name in ("Error", "Warning", "InterfaceError", "DatabaseError", "OperationalError", "IntegrityError"):
        assert getattr(dbapi, name) is getattr(sqlite3, name)
    assert dbapi.connect is selenite.connect
    db = dbapi.connect("app.db", identity=key())
    db.execute("CREATE TABLE note(body)")
    assert open("app.db", "rb").read(8) == b"Selenite"


@inside
def test_a_uri_for_other_programs_opens_the_same_file():
    new_database("50% off?.db").close()
    assert (
        selenite.uri("50% off?.db", identity="key.txt")
        == "file:50%25%20off%3F.db?vfs=selenite&selenite_identity=key.txt"
    )
    db = sqlite3.connect(selenite.uri("50% off?.db", identity="key.txt"), uri=True)
    assert db.execute("SELECT count(*) FROM note").fetchone() == (3,)
    assert selenite.uri("a.db", plain=True, mode="ro") == "file:a.db?vfs=selenite&plain=allow&mode=ro"
