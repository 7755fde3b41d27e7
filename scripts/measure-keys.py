#!/usr/bin/env python3
"""What opening a database costs by the place of its key, and a commit with `selenite follow` beside it.

    scripts/measure-keys.py [--program target/release/selenite] [--rounds 100] [--commits 300] [--json FILE]

Openings: a process that opens, reads a row and ends, by a raw key, an age key, a key in SoftHSM (if softhsm2-util is
installed), and keys of servers on loopback that answer as Vault's and AWS KMS's documents say, interleaved in random
order. What those two add is the key command, TLS (Vault alone) and a request without a network: no figure of Vault or
AWS. Commits: rounds of one-row transactions in WAL mode with synchronous=NORMAL, by one process of the command, with
`follow --anchor-to` beside it and without, in random order. Each difference is the median of the rounds' own, with a
bootstrap interval of 95 %. It writes to a temporary folder and removes it.
"""

import argparse
import base64
import http.server
import json
import os
import pathlib
import platform
import random
import shutil
import signal
import ssl
import statistics
import subprocess
import sys
import tempfile
import threading
import time

MODULES = [
    "/usr/lib/softhsm/libsofthsm2.so",
    "/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so",
    "/usr/lib64/pkcs11/libsofthsm2.so",
]
PIN = "1234-user-pin"
TOKEN = "hvs.measured"
PORTS = range(21000, 32000)
FOLLOW_TIME_MAX_S = 60


class Place:
    """A folder with keys, where the command runs."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.environment = {"HOME": str(folder), "PATH": os.environ["PATH"]}

    def start(self, *words, **options):
        command = [str(self.program), *words]
        return subprocess.Popen(command, cwd=self.folder, env=self.environment, **options)

    def run(self, *words):
        done = subprocess.run(
            [str(self.program), *words], cwd=self.folder, env=self.environment, capture_output=True, text=True
        )
        if done.returncode != 0:
            sys.exit(f"selenite {' '.join(words)}: exit status {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def timed(self, *words):
        """Seconds that the command takes."""
        begun = time.perf_counter()
        child = self.start(*words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        _, said = child.communicate()
        took = time.perf_counter() - begun
        if child.returncode != 0:
            sys.exit(f"selenite {' '.join(words)[:200]}: exit status {child.returncode}: {said.decode().strip()}")
        return took


class KeyService(http.server.BaseHTTPRequestHandler):
    """A double of Vault's transit engine and of AWS KMS: it wraps by XOR, and checks no signature."""

    protocol_version = "HTTP/1.1"
    # Else the second of its two writes waits for the client's delayed acknowledgement: 40 ms that no service adds.
    disable_nagle_algorithm = True

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        target = self.headers.get("X-Amz-Target")
        if target == "TrentService.Encrypt":
            answer = {"CiphertextBlob": flipped(body["Plaintext"]), "KeyId": body["KeyId"]}
        elif target == "TrentService.Decrypt":
            answer = {"Plaintext": flipped(body["CiphertextBlob"]), "KeyId": body["KeyId"]}
        elif self.path.endswith("/encrypt/app"):
            answer = {"data": {"ciphertext": f"vault:v1:{flipped(body['plaintext'])}"}}
        else:
            answer = {"data": {"plaintext": flipped(body["ciphertext"].removeprefix("vault:v1:"))}}
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def flipped(text):
    return base64.b64encode(bytes(byte ^ 0x5A for byte in base64.b64decode(text))).decode()


def start_service(certificate=None):
    """Returns its address."""
    for port in random.sample(PORTS, 100):
        try:
            server = http.server.ThreadingHTTPServer(("127.0.0.1", port), KeyService)
            break
        except OSError:
            continue
    else:
        sys.exit("no port is free")
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"{'https' if certificate else 'http'}://127.0.0.1:{server.server_port}"


def services(place):
    """Starts the doubles; returns the key commands by their names."""
    files = [place.folder / name for name in ("service.pem", "service.key", "token.txt")]
    words = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    words += ["-subj", "/CN=double", "-addext", "subjectAltName=IP:127.0.0.1"]
    words += ["-addext", "basicConstraints=critical,CA:FALSE", "-out", str(files[0]), "-keyout", str(files[1])]
    subprocess.run(["openssl", *words], check=True, capture_output=True)
    files[2].write_text(f"{TOKEN}\n")
    files[2].chmod(0o600)
    place.environment |= {"AWS_ACCESS_KEY_ID": "measured", "AWS_SECRET_ACCESS_KEY": "measured"}
    place.environment["AWS_REGION"] = "eu-central-1"
    command = [str(place.program), "key-service"]
    vault = ["vault", "--address", start_service(files[:2]), "--ca-file", str(files[0])]
    return {
        "vault": [*command, *vault, "--key", "app", "--token-file", str(files[2])],
        "kms": [*command, "aws-kms", "--endpoint", start_service(), "--key", "alias/app"],
    }


def softhsm(place):
    """Makes a token with a key; returns the key command, or none without SoftHSM."""
    module = next((module for module in MODULES if pathlib.Path(module).exists()), None)
    if module is None or shutil.which("softhsm2-util") is None:
        return None
    tokens = place.folder / "tokens"
    tokens.mkdir()
    settings = place.folder / "softhsm2.conf"
    settings.write_text(f"directories.tokendir = {tokens}\nobjectstore.backend = file\nlog.level = ERROR\n")
    place.environment["SOFTHSM2_CONF"] = str(settings)
    words = ["--init-token", "--free", "--label", "app", "--so-pin", "0000-so-pin", "--pin", PIN]
    subprocess.run(["softhsm2-util", *words], env=place.environment, check=True, capture_output=True)
    pin = place.folder / "pin.txt"
    pin.write_text(f"{PIN}\n")
    pin.chmod(0o600)
    uri = f"pkcs11:token=app;object=measured?module-path={module}&pin-source={pin}"
    place.run("key-service", "pkcs11", "--uri", uri, "generate", "--kind", "aes")
    return [str(place.program), "key-service", "pkcs11", "--uri", uri]


def add_databases(place):
    """Returns each kind of key with its identity and database."""
    raw = place.folder / "raw.key"
    raw.write_bytes(os.urandom(32))
    raw.chmod(0o600)
    place.run("keygen", "-o", "age.txt")
    identities = {"raw key": f"raw:{raw}", "age key": "age.txt"}
    commands = services(place)
    if hsm := softhsm(place):
        commands["SoftHSM"] = hsm
    configuration = place.folder / ".config" / "selenite"
    configuration.mkdir(parents=True)
    lines = [f"{name} = {json.dumps(words)}\n" for name, words in commands.items()]
    (configuration / "config.toml").write_text("[commands]\n" + "".join(lines))
    identities |= {name: f"command:{name}" for name in commands}
    databases = {}
    for kind, identity in identities.items():
        name = f"{kind.split()[0].lower()}.db"
        sql = "PRAGMA journal_mode = WAL; CREATE TABLE t (a INTEGER PRIMARY KEY, b); INSERT INTO t VALUES (1, 2)"
        place.run("-i", identity, "exec", "--create", name, sql)
        databases[kind] = (identity, name)
    return databases


def measure_openings(place, databases, rounds):
    times = {kind: [] for kind in databases}
    for _ in range(rounds):
        for kind in random.sample(list(databases), len(databases)):
            identity, name = databases[kind]
            times[kind].append(place.timed("-i", identity, "exec", name, "SELECT b FROM t WHERE a = 1"))
    return times


def measure_commits(place, database, rounds, commits):
    """Seconds of a transaction, without and with `follow` beside."""
    identity, name = database
    sql = "PRAGMA synchronous = NORMAL;" + "UPDATE t SET b = randomblob(100) WHERE a = 1;" * commits
    anchors = place.folder / "anchors"
    times = {"without": [], "beside follow": []}
    for _ in range(rounds):
        for kind in random.sample(list(times), len(times)):
            follow = start_follow(place, identity, name, anchors) if kind != "without" else None
            took = place.timed("-i", identity, "exec", name, sql)
            if follow is not None:
                follow.send_signal(signal.SIGINT)
                follow.wait(FOLLOW_TIME_MAX_S)
            times[kind].append(took / commits)
    if not anchors.exists():
        sys.exit("follow wrote no anchor")
    return times


def start_follow(place, identity, name, anchors):
    """Starts it, and waits until it has written the anchor of what was committed before."""
    size = anchors.stat().st_size if anchors.exists() else 0
    place.run("-i", identity, "exec", name, "UPDATE t SET b = randomblob(100) WHERE a = 1")
    words = ["-i", identity, "follow", name, "--anchor-to", str(anchors), "--anchor-interval", "1"]
    words += [] if anchors.exists() else ["--first-anchor"]
    follow = place.start(*words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + FOLLOW_TIME_MAX_S
    while not anchors.exists() or anchors.stat().st_size == size:
        if follow.poll() is not None or time.monotonic() > until:
            sys.exit("follow does not write an anchor")
        time.sleep(0.01)
    return follow


def interval(values, chosen):
    medians = sorted(statistics.median(chosen.choices(values, k=len(values))) for _ in range(2000))
    return medians[50], medians[1949]


def report(title, times, chosen):
    print(f"\n{title}")
    first = next(iter(times))
    for kind, values in times.items():
        low, high = interval(values, chosen)
        line = f"  {kind:16} {statistics.median(values) * 1e3:9.3f} ms [{low * 1e3:.3f}, {high * 1e3:.3f}]"
        if kind != first:
            ratios = [value / base - 1 for value, base in zip(values, times[first])]
            low, high = interval(ratios, chosen)
            line += f", {statistics.median(ratios):+.1%} [{low:+.1%}, {high:+.1%}] beside {first}"
        print(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/selenite", type=pathlib.Path)
    parser.add_argument("--rounds", default=100, type=int)
    parser.add_argument("--commits", default=300, type=int, help="in a round, 2500 at most")
    parser.add_argument("--seed", default=random.SystemRandom().randrange(1 << 32), type=int)
    parser.add_argument("--json", type=pathlib.Path, help="all samples, in seconds")
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    chosen = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as folder:
        place = Place(arguments.program.resolve(), pathlib.Path(folder))
        version = place.run("--version").strip()
        print(f"{version.splitlines()[0]}, {platform.platform()}, {os.cpu_count()} processors, seed {arguments.seed}")
        print(f"load before: {os.getloadavg()}")
        databases = add_databases(place)
        openings = measure_openings(place, databases, arguments.rounds)
        report("a process that opens, reads a row and ends", openings, chosen)
        commits = measure_commits(place, databases["raw key"], max(2, arguments.rounds // 5), arguments.commits)
        report(f"a commit, of {arguments.commits} in a process that opens", commits, chosen)
        if "SoftHSM" not in databases:
            print("\nSoftHSM is not installed: not measured")
        print(f"load after: {os.getloadavg()}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"seed": arguments.seed, "openings": openings, "commits": commits}) + "\n")


if __name__ == "__main__":
    main()
