"""SQLAlchemy's tests of a dialect and of SQL Server's, by pymssql. The sdist is PyPI's.

usage: sqlalchemy_suite.py [ARGUMENT FOR PYTEST]...
"""

import hashlib
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from urllib.parse import quote

from suite import HERE, TARGET, Known, arguments, execute, report, server

VERSION = "2.1.9"
SHA256 = "d700a8b2edfb26282a470333d6bc4a454c4acda4d201a3bea7b72fa76c217d28"
PASSWORD = "tiger^5HHH"
TESTS = ["test/dialect/test_suite.py", "test/dialect/mssql"]


def fetched() -> Path:
    """The folder of the sdist."""
    folder, name = TARGET / f"sqlalchemy-{VERSION}", f"sqlalchemy-{VERSION}.tar.gz"
    if not folder.exists():
        asked = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
        subprocess.run([*asked, "--dest", str(TARGET), f"SQLAlchemy=={VERSION}"], check=True)
        digest = hashlib.sha256((TARGET / name).read_bytes()).hexdigest()
        assert digest == SHA256, f"{name} is not the one that is asked for: {digest}"
        with tarfile.open(TARGET / name) as archive:
            archive.extractall(TARGET, filter="data")
    return folder


def results_of(file: Path) -> dict[str, str]:
    """`file::Class::test[parameters]` and what became of it."""
    results = {}
    for case in ElementTree.parse(file).iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}".removeprefix("test.dialect.")
        if case.find("failure") is not None or case.find("error") is not None:
            results[name] = "failed"
        else:
            results.setdefault(name, "skipped" if case.find("skipped") is not None else "passed")
    return results


def main() -> int:
    asked = arguments().filter
    known = Known.load(HERE / "sqlalchemy.txt")
    assert not known.left_out, "a test that is left out would have to be deselected"
    folder, output = fetched(), TARGET / "sqlalchemy.xml"
    with server() as running:
        execute(
            running,
            "CREATE DATABASE test",
            "ALTER DATABASE test SET ALLOW_SNAPSHOT_ISOLATION ON",
            "ALTER DATABASE test SET READ_COMMITTED_SNAPSHOT ON",
            f"CREATE LOGIN scott WITH PASSWORD = '{PASSWORD}'",
            "ALTER SERVER ROLE sysadmin ADD MEMBER scott",
            "USE test; EXEC('CREATE SCHEMA test_schema'); EXEC('CREATE SCHEMA test_schema_2')",
        )
        uri = f"mssql+pymssql://scott:{quote(PASSWORD)}@127.0.0.1:{running.port}/test"
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-o", "addopts=", "-p", "warnings", "-p", "logging"]
        command += ["-q", "-q", "--tb=short", "--no-header", f"--junitxml={output}", f"--dburi={uri}", *(asked or TESTS)]
        with (TARGET / "sqlalchemy.log").open("w") as log:
            subprocess.run(command, cwd=folder, stdout=log, stderr=subprocess.STDOUT, check=False)
    return report("sqlalchemy", known, results_of(output), bool(asked))


if __name__ == "__main__":
    sys.exit(main())
