#!/usr/bin/env python3
"""CPU time and elapsed time of a fleet's verification, and of two processes of the command alone.

usage: scripts/measure-fleet.py COMMAND EXTENSION [DATABASES [ROUNDS]]
"""

import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "packages/python/src/selenite"


def cpu(who):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def measured(name, count, work):
    started = time.monotonic(), cpu(resource.RUSAGE_SELF), cpu(resource.RUSAGE_CHILDREN)
    work()
    ended = time.monotonic(), cpu(resource.RUSAGE_SELF), cpu(resource.RUSAGE_CHILDREN)
    seconds, driver, commands = (end - start for start, end in zip(started, ended))
    print(
        f"{name}: {seconds:.2f} s, CPU for each database: driver {driver / count * 1000:.3f} ms,"
        f" commands {commands / count * 1000:.3f} ms"
    )


def main(command, extension, count=2000, rounds=3):
    os.environ["HOME"] = os.environ["SELENITE_STATE"] = os.getcwd()
    package = Path("package/selenite")
    shutil.copytree(PACKAGE, package)
    for folder, file, name in (("bin", command, "selenite"), ("lib", extension, "libselenite.so")):
        (package / folder).mkdir(exist_ok=True)
        shutil.copy(file, package / folder / name)
    sys.path.insert(0, str(package.parent.resolve()))
    from selenite.fleet import Fleet, Run, operations

    subprocess.run([command, "keygen", "-o", "key.txt"], check=True, capture_output=True)
    paths = [Path(f"{number}.db").resolve() for number in range(int(count))]
    connection = sqlite3.connect(paths[0])
    connection.execute("CREATE TABLE t AS SELECT randomblob(1000000)")
    connection.close()
    subprocess.run([command, "-i", "key.txt", "encrypt", paths[0]], check=True, capture_output=True)
    for path in paths[1:]:
        shutil.copy(paths[0], path)

    def alone():
        verify = [command, "-i", "key.txt", "verify", "--physical-only", "--json", "--files0-from=-"]
        running = []
        for half in (paths[::2], paths[1::2]):
            names = tempfile.TemporaryFile()
            names.write(b"".join(os.fsencode(path) + b"\0" for path in half))
            names.seek(0)
            running.append(subprocess.Popen(verify, stdin=names, stdout=subprocess.DEVNULL))
        assert [process.wait() for process in running] == [0, 0]

    def fleet(number):
        operation = operations.verify(identity="key.txt", physical_only=True)
        with Run(f"{number}.state", Fleet(paths), operation, identity="key.txt") as run:
            run.execute()

    for number in range(int(rounds)):
        measured("fleet", len(paths), lambda: fleet(number))
        measured("alone", len(paths), alone)


if len(sys.argv) < 3:
    sys.exit(__doc__)
binaries = [os.path.abspath(path) for path in sys.argv[1:3]]
with tempfile.TemporaryDirectory(prefix="selenite-fleet-") as own:
    os.chdir(own)
    main(*binaries, *sys.argv[3:])
