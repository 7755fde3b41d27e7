"""The tests of tiberius, from crates.io. The crate lacks one of its own tests' macros: `runtimes-macro` has another.

usage: tiberius_suite.py [FILTER FOR libtest]
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from suite import HERE, TARGET, Known, arguments, execute, report, server

VERSION = "0.13.0"
FEATURES = "rustls,tds80,chrono,time,rust_decimal,bigdecimal,serde,sql-browser-tokio,sql-browser-smol"
# What the tests of certificates log in with.
PASSWORD = "<YourStrong@Passw0rd>"
# What examples alone need.
DROPPED = re.compile(r"\[\[example\]\]|\[dev-dependencies\.(azure_core|azure_identity|reqwest|indicatif)\]")


def fetched() -> Path:
    """A copy of the crate, with a manifest that knows the macro. Cargo checks its sum."""
    folder = TARGET / f"tiberius-{VERSION}"
    if not folder.exists():
        copy = folder.with_suffix(".new")
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(source_of_crate(), copy)
        manifest = (copy / "Cargo.toml").read_text()
        sections = [one for one in re.split(r"(?m)^(?=\[)", manifest) if not DROPPED.match(one)]
        macro = f'\n[dev-dependencies.runtimes-macro]\npath = "{HERE / "runtimes-macro"}"\n\n'
        # A dropped dependency brought this feature of another.
        macro += '[dev-dependencies.time]\nversion = "0.3"\nfeatures = ["formatting"]\n\n[workspace]\n'
        (copy / "Cargo.toml").write_text("".join(sections) + macro)
        copy.rename(folder)
    return folder


def source_of_crate() -> Path:
    """Where Cargo has unpacked it."""
    folder = TARGET / "tiberius-fetch"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "lib.rs").touch()
    (folder / "Cargo.toml").write_text(
        '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2024"\n\n[lib]\npath = "lib.rs"\n\n'
        f'[dependencies]\ntiberius = "={VERSION}"\n\n[workspace]\n'
    )
    subprocess.run(["cargo", "fetch", "--quiet"], cwd=folder, check=True)
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    (found,) = home.glob(f"registry/src/*/tiberius-{VERSION}")
    return found


def run(folder: Path, test: str, port: int, skipped: list[str], asked: list[str]) -> str:
    """What one program of tests says. Addresses are fixed in some, so these are built for this port."""
    connection = f"server=tcp:localhost,{port};user=SA;password={PASSWORD};TrustServerCertificate=true"
    environment = os.environ | {"TIBERIUS_TEST_CONNECTION_STRING": connection, "CARGO_TARGET_DIR": str(TARGET / "tiberius")}
    command = ["cargo", "test", "--quiet", "--no-default-features", "--features", FEATURES, "--test", test, "--", *asked]
    command += ["--test-threads=4", "--format=pretty"]
    for name in skipped:
        command += ["--skip", name]
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout


def main() -> int:
    asked = arguments().filter
    known = Known.load(HERE / "tiberius.txt")
    folder = fetched()
    certificates = folder / "docker/certs"
    flags = ["--tls-cert", str(certificates / "server-full.crt"), "--tls-key", str(certificates / "server.key")]
    results: dict[str, str] = {}
    with server(*flags) as running, (TARGET / "tiberius.log").open("w") as log:
        execute(running, f"ALTER LOGIN sa WITH PASSWORD = '{PASSWORD}'")
        for file in sorted((folder / "tests").glob("*.rs")):
            text = file.read_text()
            file.write_text(re.sub(r"(?<=localhost[,:])\d+|(?<=port\()\d+", str(running.port), text))
            test = file.stem
            skipped = [name.removeprefix(f"{test}::") for name in known.left_out if name.startswith(f"{test}::")]
            said = run(folder, test, running.port, skipped, asked)
            log.write(said)
            for name, result in re.findall(r"(?m)^test (\S+) \.\.\. (ok|FAILED|ignored)", said):
                results[f"{test}::{name}"] = {"ok": "passed", "FAILED": "failed", "ignored": "skipped"}[result]
    return report("tiberius", known, results, bool(asked))


if __name__ == "__main__":
    sys.exit(main())
