#!/usr/bin/env python3
"""Runs test files of SQLite's own suite with Selenite as the default VFS, and compares what fails with expected.txt.

usage: run.py TESTFIXTURE SOURCE EXTENSION [--permutation NAME]... [--all-permutations] [--files FILE] [--vfs NAME]
              [--jobs N] [--write FILE]

Each file runs in a process and a folder of its own. Exit status 1: something failed that expected.txt does not list, or
something that it lists for a file that ran did not fail. See README.md.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SUMMARY = re.compile(r"^(\d+) errors out of (\d+) tests", re.M)
FAILURES = re.compile(r"^!Failures on these tests:(.*)$", re.M)
STARTED = re.compile(r"^! (\S+) expected:", re.M)
# A test that hangs is a difference, too; the longest takes two minutes where nothing else runs.
SECONDS_MAX = 600
# In place of a permutation: the tests beside this file, in SQLite's test language.
OURS = "ours"


def main():
    arguments = parse()
    started = time.monotonic()
    print("== test session starts ==", flush=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sqlite-suite-"))
    try:
        results = run_all(arguments, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if arguments.write:
        write(arguments.write, results)
    sys.exit(report(arguments, results, time.monotonic() - started))


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("testfixture", type=pathlib.Path)
    parser.add_argument("source", type=pathlib.Path, help="SQLite's source folder")
    parser.add_argument("extension", type=pathlib.Path, help="libselenite.so")
    parser.add_argument("--permutation", action="append", default=[])
    parser.add_argument("--all-permutations", action="store_true", help="all that `all.test` runs")
    parser.add_argument("--files", type=pathlib.Path, help="a list of test files; otherwise all of the permutation")
    parser.add_argument("--vfs", default="selenite", help="selenite, geometry or stock")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--write", type=pathlib.Path, help="write what failed to this file")
    arguments = parser.parse_args()
    arguments.testfixture = arguments.testfixture.resolve()
    arguments.source = arguments.source.resolve()
    arguments.extension = arguments.extension.resolve()
    arguments.permutation = arguments.permutation or ["veryquick"]
    if arguments.all_permutations:
        arguments.permutation = all_permutations(arguments.source)
    return arguments


def all_permutations(source):
    """Those that all.test names, by their lines `run_test_suite NAME`."""
    text = (source / "test" / "all.test").read_text()
    names = re.findall(r"^\s*run_test_suite (\w+)", text, re.M)
    return list(dict.fromkeys(names))


def environment(arguments, folder):
    kept = ("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "TCL_LIBRARY")
    made = {name: os.environ[name] for name in kept if name in os.environ}
    key = folder / "key"
    if not key.exists():
        key.write_bytes(bytes(range(32)))
        key.chmod(0o600)
    made["HOME"] = made["XDG_CONFIG_HOME"] = made["XDG_STATE_HOME"] = str(folder)
    made["SUITE_SOURCE"] = str(arguments.source)
    if arguments.vfs != "stock":
        made["SUITE_VFS"] = arguments.vfs
        made["SUITE_EXTENSION"] = str(arguments.extension)
    if arguments.vfs == "selenite":
        made["SELENITE_IDENTITY"] = f"raw:{key}"
    return made


def files_of(arguments, permutation, folder):
    command = [arguments.testfixture, HERE / "list_files.tcl", arguments.source / "test", permutation]
    found = subprocess.run(
        command, check=True, capture_output=True, text=True, cwd=folder, env={**environment(arguments, folder), "SUITE_VFS": ""}
    )
    # A file is asked for by its name: files of one name run together.
    found = {pathlib.Path(line).name: pathlib.Path(line) for line in found.stdout.splitlines() if line.endswith(".test")}
    files = sorted(found.values(), key=lambda file: file.name)
    if arguments.files:
        lines = arguments.files.read_text().splitlines()
        wanted = {line.split()[0] for line in lines if line.strip() and not line.startswith("#")}
        files = [file for file in files if file.name in wanted]
        missing = wanted - {file.name for file in files}
        if missing:
            sys.exit(f"sqlite-suite: {permutation} does not have {', '.join(sorted(missing))}")
    return files


def run_all(arguments, folder):
    """Per permutation and file: how many tests ran, and which failed."""
    jobs = [(name, file) for name in arguments.permutation for file in files_of(arguments, name, folder)]
    if arguments.vfs == "selenite":
        jobs += [(OURS, file) for file in sorted(HERE.glob("*.test"))]
    results = {}
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        started = {pool.submit(run_one, arguments, folder, *job): job for job in jobs}
        for done, future in enumerate(concurrent.futures.as_completed(started), 1):
            results[started[future]] = future.result()
            if done % 100 == 0:
                print(f"sqlite-suite: {done} of {len(jobs)} files", flush=True)
    return results


def run_one(arguments, folder, permutation, file):
    """How many tests ran; the names of those that failed."""
    place = folder / f"{permutation}-{file.stem}-{file.parent.parent.name}"
    place.mkdir(parents=True)
    command = [arguments.testfixture, arguments.source / "test" / "permutations.test", permutation, file.name]
    if permutation == OURS:
        command = [arguments.testfixture, file]
    with open(place / "log", "wb") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=place, env=environment(arguments, folder)
        )
        try:
            process.wait(SECONDS_MAX)
            how = "ends early"
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            how = "hangs"
    text = (place / "log").read_bytes().decode(errors="replace")
    if keep := os.environ.get("SUITE_KEEP_LOGS"):
        shutil.copy(place / "log", pathlib.Path(keep) / f"{permutation}-{file.stem}.log")
    shutil.rmtree(place, ignore_errors=True)
    summary, failures = SUMMARY.search(text), FAILURES.search(text)
    if not summary:
        return text.count("... Ok\n"), set(STARTED.findall(text)) | {f"{file.name}:{how.replace(' ', '-')}"}
    failed = set(failures.group(1).split()) if failures else set()
    if not failed and summary.group(1) != "0":
        failed = {f"{file.name}:errors"}
    # In a permutation a test's name begins with the permutation's.
    return int(summary.group(2)), {name.removeprefix(f"{permutation}.") for name in failed}


def expected():
    """Which tests of which file fail, and why."""
    known = collections.defaultdict(dict)
    file = None
    for line in (HERE / "expected.txt").read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        name, _, reason = line.strip().partition("  ")
        if line.startswith(" "):
            known[file][name] = reason.strip()
        else:
            file = name
    return known


def is_listed(known, name):
    """Whether a name is in a list, in which `*` at the end stands for any."""
    return any(name == one or one.endswith("*") and name.startswith(one[:-1]) for one in known)


def report(arguments, results, seconds):
    known = expected() if arguments.vfs == "selenite" else {}
    wrong, bad_files = [], set()
    for (permutation, file), (_, failed) in sorted(results.items()):
        here = known.get(file.name, {})
        for name in sorted(failed):
            if not is_listed(here, name):
                wrong.append((file, f"{permutation} {file.name}: {name} failed, and expected.txt does not say so"))
        # Other permutations leave out tests.
        for name, reason in here.items() if permutation == "veryquick" else ():
            if not any(is_listed([name], one) for one in failed) and not reason.startswith("sometimes"):
                wrong.append((file, f"{permutation} {file.name}: {name} did not fail, and expected.txt says so"))
    for file, text in wrong:
        print(f"sqlite-suite: {text}")
        bad_files.add(file)
    ran = sum(count for count, _ in results.values())
    failed = sum(len(failed) for _, failed in results.values())
    print(f"sqlite-suite: {arguments.vfs}: {ran} tests, {failed} differences, {len(wrong)} of them not expected")
    # As pytest's last line: scripts/test.sh counts files by it.
    bad = f"{len(bad_files)} failed, " if bad_files else ""
    print(f"== {bad}{len(results) - len(bad_files)} passed in {seconds:.1f}s ==")
    return 1 if wrong else 0


def write(path, results):
    lines = []
    for (permutation, file), (ran, failed) in sorted(results.items()):
        lines.append(f"{permutation} {file.name} {ran} {' '.join(sorted(failed))}".rstrip())
    path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
