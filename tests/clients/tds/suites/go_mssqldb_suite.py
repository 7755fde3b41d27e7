"""The tests of go-mssqldb, from the Go module proxy.

usage: go_mssqldb_suite.py [PATTERN FOR go test -run]
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

from suite import HERE, TARGET, Known, arguments, execute, report, server

MODULE, VERSION = "github.com/microsoft/go-mssqldb", "v1.11.2"
# Of a test that waits for what does not come, Go ends all of them.
TIMEOUT = "12m"


def fetched() -> Path:
    """A copy of the module: that of the cache can't be written to, and some tests write files. Go checks its sum."""
    folder = TARGET / f"go-mssqldb-{VERSION}"
    if not folder.exists():
        TARGET.mkdir(parents=True, exist_ok=True)
        command = ["go", "mod", "download", "-json", f"{MODULE}@{VERSION}"]
        said = subprocess.run(command, cwd=TARGET, check=True, stdout=subprocess.PIPE, text=True).stdout
        copy = folder.with_suffix(".new")
        shutil.copytree(json.loads(said)["Dir"], copy, dirs_exist_ok=True)
        subprocess.run(["chmod", "-R", "u+w", copy], check=True)
        copy.rename(folder)
    return folder


def main() -> int:
    asked = arguments().filter
    known = Known.load(HERE / "go_mssqldb.txt")
    folder = fetched()
    skipped = "^(" + "|".join(map(re.escape, known.left_out)) + ")$"
    results: dict[str, str] = {}
    with server() as running:
        execute(running, "CREATE DATABASE test")
        dsn = f"sqlserver://sa:{quote(running.password)}@127.0.0.1:{running.port}?database=test&TrustServerCertificate=true"
        command = ["go", "test", "-json", "-count=1", f"-timeout={TIMEOUT}", "-skip", skipped, "."]
        if asked:
            command[2:2] = ["-run", *asked]
        environment = os.environ | {"SQLSERVER_DSN": dsn}
        with (TARGET / "go-mssqldb.json").open("w") as said:
            subprocess.run(command, cwd=folder, env=environment, stdout=said, check=False)
    output = []
    for event in map(json.loads, (TARGET / "go-mssqldb.json").read_text().splitlines()):
        output.append(event.get("Output", ""))
        # A test of tests fails if one of them does.
        if event["Action"] in ("pass", "fail", "skip") and "Test" in event and "/" not in event["Test"]:
            results[event["Test"]] = {"pass": "passed", "fail": "failed", "skip": "skipped"}[event["Action"]]
    (TARGET / "go-mssqldb.log").write_text("".join(output))
    return report("go-mssqldb", known, results, bool(asked))


if __name__ == "__main__":
    sys.exit(main())
