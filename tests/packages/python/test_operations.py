"""Functions that run the command: their results, their errors and their progress."""

from conftest import inside


@inside
def test_encrypt_in_place_and_decrypt_to_a_new_file():
    plain_database()
    done = selenite.encrypt("plain.db", identity=key(), cipher="CHACHA20")
    assert (done.path, done.suite) == (pathlib.Path("plain.db"), "CHACHA20")
    assert (done.tables, done.rows) == (1, 1)
    assert len(done.slots) == 1 and done.leftovers == () and done.not_kept == ()
    assert selenite.connect("plain.db", identity="key.txt").execute("SELECT * FROM note").fetchone() == ("in clear",)
    clear = selenite.decrypt("plain.db", identity="key.txt", to=pathlib.Path("clear.db"))
    assert (clear.path, clear.suite, clear.slots) == (pathlib.Path("clear.db"), None, ())
    assert sqlite3.connect("clear.db").execute("SELECT * FROM note").fetchone() == ("in clear",)
    selenite.decrypt("plain.db", identity="key.txt")
    assert open("plain.db", "rb").read(6) == b"SQLite"


@inside
def test_encrypt_while_a_connection_has_it_open():
    plain_database()
    open_one = selenite.connect("plain.db", identity=key(), plain=True)
    open_one.execute("PRAGMA journal_mode = WAL")
    assert open_one.execute("SELECT count(*) FROM note").fetchone() == (1,)
    done = selenite.encrypt("plain.db", identity="key.txt", online=True)
    assert (done.suite, done.rows) == ("AES_256", 1)
    with open_one:
        open_one.execute("INSERT INTO note VALUES ('sealed')")
    assert selenite.connect("plain.db", identity="key.txt").execute("SELECT count(*) FROM note").fetchone() == (2,)
    open_one.close()
    assert open("plain.db", "rb").read(6) != b"SQLite"


@inside
def test_encrypt_to_a_new_file_for_more_than_one_key():
    plain_database()
    other = selenite.keygen("other.txt")
    key("third.txt")
    done = selenite.encrypt(
        "plain.db", identity=key(), to="new.db", recipients=[other, pathlib.Path("third.txt")], progress=print
    )
    assert len(done.slots) == 3
    assert {slot.who for slot in selenite.keys("new.db").slots} > {other}
    assert selenite.verify("new.db", identity="third.txt").authentic
    with raises(TypeError, "recipients is a list of recipients"):
        selenite.encrypt("plain.db", identity="key.txt", to="again.db", recipients=other)


@inside
def test_status_of_an_encrypted_database():
    new_database().close()
    from datetime import datetime, timedelta, timezone

    before = selenite.status("app.db")
    assert before.encrypted and before.superblock.authentic is not True and before.superblock.opened_by is None
    found = selenite.status("app.db", identity="key.txt")
    block = found.superblock
    assert (found.path, block.authentic, block.suite, block.state) == (
        pathlib.Path("app.db"),
        True,
        "AES_256",
        "steady",
    )
    assert block.opened_by == block.slots[0].id and block.origin == "own" and len(block.commitment) == 64
    assert block.copies == {"a": "ok", "b": "ok"} and found.size == os.path.getsize("app.db")
    now = datetime.now(timezone.utc)
    for moment in (block.master_key_created, block.epochs[0].created, block.slots[0].created):
        assert now - timedelta(minutes=5) < moment <= now + timedelta(seconds=1)
    assert [warning.code for warning in found.warnings] == ["never_verified"] and found.last_verification is None
    selenite.verify("app.db", identity="key.txt")
    after = selenite.status("app.db", identity="key.txt")
    assert after.warnings == () and after.last_verification.page_count == block.page_count
    plain_database()
    clear = selenite.status("plain.db")
    assert (clear.encrypted, clear.superblock) == (False, None)
    with raises(IsADirectoryError, "is a folder: status takes a database"):
        selenite.status(".")
    with raises(dataclasses.FrozenInstanceError):
        found.path = "other"


@inside
def test_verify_finds_an_altered_page():
    new_database(rows=2000).close()
    good = selenite.verify("app.db", identity="key.txt")
    assert good.authentic and good.bad == () and good.integrity_check == () and good.bad_count == 0
    assert good.page_count > 5 and good.size == os.path.getsize("app.db") and good.json["authentic"] is True
    assert selenite.verify("app.db", identity="key.txt", physical_only=True).integrity_check is None
    flip_a_bit("app.db", 65536 + 4096 * 3 + 100)
    with raises(selenite.DamagedError, "verify: 1 place not authentic \\(next: restore these pages") as caught:
        selenite.verify("app.db", identity="key.txt")
    error = caught[0]
    assert (error.exit_status, error.command) == (5, "verify") and len(error.details) == 1
    assert error.message == "1 place not authentic" and error.advice.startswith("restore these pages")
    assert not error.report.authentic and error.report.bad_count == 1
    (bad,) = error.report.bad
    assert (bad.file, bad.page, bad.owner_kind, bad.owner) == ("database", 4, "table", "note")


@inside
def test_verify_compares_with_an_anchor():
    new_database().close()
    selenite.verify("app.db", identity="key.txt", write_anchor="anchor")
    old = open("app.db", "rb").read()
    assert selenite.verify("app.db", identity="key.txt", anchor="anchor").anchor == "same"
    with contextlib.closing(selenite.connect("app.db", identity="key.txt")) as db, db:
        db.execute("DELETE FROM note")
    assert selenite.verify("app.db", identity="key.txt", anchor="anchor", write_anchor="anchor").anchor == "changed"
    open("app.db", "wb").write(old)
    with raises(selenite.DamagedError, "older than the anchor") as caught:
        selenite.verify("app.db", identity="key.txt", anchor="anchor")
    assert caught[0].report.anchor == "older" and caught[0].report.authentic


@inside
def test_backup_and_restore():
    db = new_database(rows=500)
    first = selenite.backup("app.db", "backups", identity="key.txt", digest=True)
    assert first.base is None and first.pages == first.pages_sent and len(first.digest) == 64 and first.bytes_sent > 0
    assert selenite.backup("app.db", "backups", identity="key.txt", incremental=True).base == first.name
    with db:
        db.execute("DELETE FROM note WHERE rowid = 500")
    newest = selenite.backup("app.db", pathlib.Path("backups"), identity="key.txt", incremental=True)
    assert newest.pages_unchanged > 0 and newest.pages_sent < first.pages_sent
    back = selenite.restore("backups", "back.db", identity="key.txt")
    assert (back.path, back.backup, back.pages_missing) == (pathlib.Path("back.db"), newest.name, ())
    older = selenite.restore("backups", "older.db", identity="key.txt", name=first.name)
    assert older.backup == first.name and len(older.slots) == 1
    count = "SELECT count(*) FROM note"
    assert selenite.connect("back.db", identity="key.txt").execute(count).fetchone() == (499,)
    assert selenite.connect("older.db", identity="key.txt").execute(count).fetchone() == (500,)
    with raises(selenite.UsageError, "restore: .*back.db"):
        selenite.restore("backups", "back.db", identity="key.txt")
    selenite.restore("backups", "back.db", identity="key.txt", force=True, at="2099-01-01T00:00:00Z")


@inside
def test_a_backup_without_bad_pages_is_made_and_is_an_error():
    new_database(rows=2000).close()
    flip_a_bit("app.db", 65536 + 4096 * 3 + 100)
    with raises(selenite.DamagedError, "page") as caught:
        selenite.backup("app.db", "backups", identity="key.txt")
    assert caught[0].report is None
    with raises(selenite.DamagedError, "the backup is complete except for 1 page") as caught:
        selenite.backup("app.db", "others", identity="key.txt", skip_bad=True)
    assert caught[0].report.pages_missing == (4,)


@inside
def test_keys_and_run():
    new_database().close()
    other = selenite.keygen("other.txt")
    selenite.run("keys", "add", "--label", "a label", "app.db", other, identity="key.txt")
    found = selenite.keys("app.db", identity="key.txt")
    assert [slot.label for slot in found.slots] == ["", "a label"] and found.origin == "own"
    assert selenite.keys("app.db").commitment is None
    assert found.database_id == selenite.status("app.db").superblock.database_id
    assert "AES_256" in selenite.run("status", "app.db", identity=pathlib.Path("key.txt"))


@inside
def test_each_exit_status_has_a_class():
    new_database().close()
    plain_database()
    for call, kind, status, words in (
        (lambda: selenite.encrypt("app.db", identity="key.txt"), selenite.CommandError, 1, "already encrypted"),
        (lambda: selenite.keygen("key.txt"), selenite.UsageError, 2, "File exists .*keys are never overwritten"),
        (
            lambda: selenite.run("nonsense"),
            selenite.UsageError,
            2,
            "selenite nonsense: unrecognized subcommand 'nonsense'$",
        ),
        (lambda: selenite.verify("app.db", identity="age1x"), ValueError, None, "is a recipient"),
        (lambda: selenite.encrypt("plain.db", cipher="ROT13", identity="key.txt"), selenite.UsageError, 2, "ROT13"),
        (lambda: selenite.verify("plain.db", identity="key.txt"), selenite.NotEncryptedError, 3, "not encrypted"),
        (lambda: selenite.verify("app.db", identity=key("wrong.txt")), selenite.IdentityError, 4, "none of the keys"),
        (lambda: selenite.verify("app.db"), selenite.IdentityError, 4, "no key given"),
        (lambda: selenite.status("none.db"), selenite.StorageError, 6, "No such file"),
        (lambda: selenite.restore("none", "r.db", identity="key.txt"), selenite.StorageError, 6, "none"),
    ):
        with raises(kind, words) as caught:
            call()
        if status:
            error = caught[0]
            assert error.exit_status == status and isinstance(error, selenite.SeleniteError)
            assert error.message and "\n" not in error.message
            import pickle

            assert str(pickle.loads(pickle.dumps(error))) == str(error)
    with contextlib.closing(selenite.connect("app.db", identity="key.txt")) as db:
        db.execute("BEGIN EXCLUSIVE")
        with raises(selenite.BusyError, "in use|busy|locked") as caught:
            selenite.decrypt("app.db", identity="key.txt")
        assert caught[0].exit_status == 7


@inside
def test_any_file_name_reaches_the_command():
    for name in ("-v", "--help", "a b?.db", os.fsdecode(b"\xff.db"), "two\nlines.db"):
        new_database(name).close()
        assert selenite.verify(name, identity="key.txt").path == pathlib.Path(name)
        assert selenite.status(pathlib.Path(name)).encrypted
        assert selenite.decrypt(name, to=f"{name} clear", identity="key.txt").path == pathlib.Path(f"{name} clear")
        if name.isprintable():
            selenite.backup(name, f"{name} backups", identity="key.txt")
            selenite.restore(f"{name} backups", f"{name} restored", identity="key.txt")
    selenite.backup("-v", os.fsdecode(b"\xff"), identity="key.txt")
    selenite.restore(os.fsdecode(b"\xff"), "restored", identity="key.txt")


@inside
def test_progress_and_notes_are_told_apart():
    """A stand-in for the command prints what a long run prints (crates/cli/src/meter.rs)."""
    import logging

    from selenite import _command

    script = pathlib.Path("stand-in")
    script.write_text(
        "#!/bin/sh\n"
        "printf 'copying 1.2 GiB ...\\ncopying 1.2 GiB: 45 %%\\nchecking integrity ...\\n' >&2\n"
        "printf 'waiting for process 7, for 12 s\\nbacking up 512 bytes: 100 %%\\nwarning: a superblock\\n' >&2\n"
        "echo done\n"
    )
    script.chmod(0o755)
    _command.COMMAND = script.absolute()
    lines = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append((record.levelname, record.getMessage()))
    logging.getLogger("selenite").addHandler(handler)
    seen = []
    assert selenite.run("anything", progress=seen.append) == "done\n"
    assert [(one.phase, one.total, one.percent) for one in seen] == [
        ("copying", "1.2 GiB", None),
        ("copying", "1.2 GiB", 45),
        ("checking integrity", None, None),
        ("waiting", None, None),
        ("backing up", "512 bytes", 100),
    ]
    assert seen[3].text == "waiting for process 7, for 12 s"
    assert lines == [("WARNING", "anything: warning: a superblock")]


@inside
def test_an_exception_in_the_callback_ends_the_command():
    from selenite import _command

    script = pathlib.Path("stand-in")
    script.write_text("#!/bin/sh\necho $$ >pid\necho 'copying ...' >&2\nexec tail -f /dev/null\n")
    script.chmod(0o755)
    _command.COMMAND = script.absolute()

    def stop(one):
        raise LookupError("enough")

    with raises(LookupError, "enough"):
        selenite.run("anything", progress=stop)
    with raises(ProcessLookupError):
        os.kill(int(pathlib.Path("pid").read_text()), 0)


@inside
def test_an_interrupt_from_the_terminal_reaches_the_command_once():
    """A second signal ends a command before it has cleaned up (crates/cli/src/interrupt.rs)."""
    import signal

    from selenite import _command

    script = pathlib.Path("stand-in")
    script.write_text(
        "#!/bin/sh\n"
        "tail -f /dev/null & trap 'echo INT >>signals; kill $!; exit 130' INT; trap 'echo TERM >>signals' TERM\n"
        "echo 'copying ...' >&2; wait; wait\n"
    )
    script.chmod(0o755)
    _command.COMMAND = script.absolute()
    os.setpgrp()
    with raises(KeyboardInterrupt):
        selenite.run("anything", progress=lambda one: os.killpg(0, signal.SIGINT))
    assert pathlib.Path("signals").read_text() == "INT\n"


@inside
def test_a_command_that_is_killed_is_an_error():
    from selenite import _command

    script = pathlib.Path("stand-in")
    script.write_text("#!/bin/sh\nkill -9 $$\n")
    script.chmod(0o755)
    _command.COMMAND = script.absolute()
    with raises(selenite.CommandError, "selenite verify: was killed by SIGKILL") as caught:
        selenite.verify("app.db")
    assert caught[0].exit_status == -9


@inside
def test_a_command_of_another_version_is_named_in_one_line():
    from selenite import _command

    script = pathlib.Path("stand-in")
    _command.COMMAND = script.absolute()
    calls = (
        lambda: selenite.keygen("key.txt"),
        lambda: selenite.encrypt("app.db"),
        lambda: selenite.decrypt("app.db"),
        lambda: selenite.status("app.db"),
        lambda: selenite.verify("app.db"),
        lambda: selenite.backup("app.db", "backups"),
        lambda: selenite.restore("backups", "new.db"),
        lambda: selenite.keys("app.db"),
    )
    for output in ("", "selenite 0.0.9: done", '{"rows": 1}', "[1]", "null"):
        script.write_text(f"#!/bin/sh\nprintf '%s' '{output}'\n")
        script.chmod(0o755)
        for call in calls:
            with raises(selenite.ExtensionError, "stand-in is not of this package's version .*: its answer to") as caught:
                call()
            assert "\n" not in str(caught[0]), caught
    script.write_text("#!/bin/sh\nprintf '{\"rows\":'\nkill -9 $$\n")
    with raises(selenite.CommandError, "selenite verify: was killed by SIGKILL") as caught:
        selenite.verify("app.db")
    assert caught[0].report is None


@inside
def test_a_long_encryption_reports_its_progress():
    """Real progress needs work of more than a second; what is shorter reports nothing, which is right, too."""
    with contextlib.closing(sqlite3.connect("large.db")) as db, db:
        db.execute("CREATE TABLE note(body)")
        db.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250000)"
            " INSERT INTO note SELECT hex(randomblob(200)) FROM n"
        )
    seen = []
    assert selenite.encrypt("large.db", identity=key(), progress=seen.append).rows == 250000
    phases = {"copying", "comparing", "verifying", "checking integrity", "sealing", "finishing", "checking"}
    assert {one.phase for one in seen} <= phases and all(one.text for one in seen)
    assert selenite.status("large.db").encrypted
