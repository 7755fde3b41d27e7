import json
import sys

answer = {"program": "%d.%d.%d" % sys.version_info[:3]}
try:
    import sqlite3

    answer["sqlite"] = sqlite3.sqlite_version
    db = sqlite3.connect(":memory:")
    answer["can_load"] = hasattr(db, "enable_load_extension")
    try:
        from importlib.metadata import version

        answer["package"] = version("selenite")
    except Exception:
        pass
    try:
        if "package" in answer:
            import selenite

            selenite.load()
            db = sqlite3.connect(":memory:")
        elif answer["can_load"] and len(sys.argv) > 1:
            db.enable_load_extension(True)
            db.load_extension(sys.argv[1])
        if "package" in answer or (answer["can_load"] and len(sys.argv) > 1):
            answer["loaded"] = db.execute("SELECT selenite_version()").fetchone()[0]
    except Exception as error:
        answer["error"] = str(error)
except ImportError as error:
    answer["error"] = str(error)
print(json.dumps(answer))
