"""A certificate of a server on the loopback interface, signed by itself."""

import subprocess
from pathlib import Path

from conversation import Refused


def certificate(folder: Path) -> tuple[Path, Path]:
    """The files of a certificate and its key in a folder, which are made there once."""
    found, key = folder / "server.pem", folder / "server-key.pem"
    if not (found.exists() and key.exists()):
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        command += ["-days", "3650", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
        command += ["-keyout", str(key), "-out", str(found)]
        try:
            made = subprocess.run(command, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            raise Refused("openssl is missing, which makes the server's certificate") from None
        if made.returncode:
            raise Refused(f"openssl made no certificate: {made.stderr.strip().splitlines()[-1:]}")
        key.chmod(0o600)
    return found, key
