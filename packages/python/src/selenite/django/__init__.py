"""A database backend of Django.

    DATABASES = {
        "default": {
            "ENGINE": "selenite.django",
            "NAME": BASE_DIR / "db.sqlite3",
            "OPTIONS": {"identity": BASE_DIR / "key.txt"},
        }
    }

``OPTIONS`` may have the arguments of ``selenite.connect`` (``identity``, ``cipher``, ``mode``, ``plain``, ``options``)
and those of Django's own backend for SQLite, which this one is in everything else.
"""
