"""Settings for Django's own tests: two databases in files, on the backend that SELENITE_TEST_ENGINE names."""

import os
from pathlib import Path

from django.db.backends.signals import connection_created

FOLDER = Path(os.environ["SELENITE_TEST_FOLDER"])
ENGINE = os.environ["SELENITE_TEST_ENGINE"]
IS_ENCRYPTED = ENGINE == "selenite.django"

DATABASES = {
    name: {
        "ENGINE": ENGINE,
        "NAME": FOLDER / f"{name}.db",
        "OPTIONS": {"identity": FOLDER / "key.txt"} if IS_ENCRYPTED else {},
        "TEST": {"NAME": FOLDER / f"test {name} 100%.db"},
    }
    for name in ("default", "other")
}
SECRET_KEY = "for tests"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
USE_TZ = False

_encrypted: set[str] = set()


def _look(connection, **_):
    """Notes the databases whose files are encrypted; `seen` is written again whenever there is one more."""
    if IS_ENCRYPTED:
        with connection.cursor() as cursor:
            cursor.execute("SELECT value FROM selenite_status WHERE section = 'database' AND name = 'encrypted'")
            if cursor.fetchone()[0] in ("yes", "no database yet"):
                _encrypted.add(connection.alias)
        (FOLDER / "seen").write_text(f"encrypted: {' '.join(sorted(_encrypted))}\n")


connection_created.connect(_look)
