"""tsql of FreeTDS, with TLS by GnuTLS. Each request is a run of the program: it logs in, does one script and leaves."""

import re
import subprocess
import tempfile
from pathlib import Path

from serve import Notice, Refused, Reply, serve

ENCRYPTION = {"off": "off", "login": "request", "on": "require"}
NOTICE = re.compile(
    r'^Msg (?P<number>\d+) \(severity (?P<severity>\d+), state (?P<state>\d+)\) from (?P<server>[^\n]*?)'
    r'(, Procedure (?P<procedure>\S+))?( Line (?P<line>\d+))?:\n\t"(?P<text>.*?)"\n',
    re.MULTILINE | re.DOTALL,
)
FOOTER = re.compile(r"\((\d+) rows? affected\)")


class Tsql:
    def __init__(self) -> None:
        # Below the folder that the caller of the program removes.
        self.folder = Path(tempfile.mkdtemp())
        self.logins: dict[str, tuple[str, str, str | None]] = {}

    def connect(
        self,
        name: str,
        port: int,
        user: str,
        password: str,
        encryption: str,
        certificate: str | None = None,
        database: str | None = None,
        packet_size: int | None = None,
    ) -> None:
        size = f"\tinitial block size = {packet_size}\n" if packet_size else ""
        self._configuration(name).write_text(
            f"[selenite]\n\thost = 127.0.0.1\n\tport = {port}\n\ttds version = 7.4\n\tclient charset = UTF-8\n"
            f"\tencryption = {ENCRYPTION[encryption]}\n\ttext size = 2147483647\n{size}"
        )
        self.logins[name] = (user, password, database)
        reply = self.batch(name, "SELECT 1 AS one")
        if [one["rows"] for one in reply.sets] != [[["1"]]]:
            raise Refused(*reply.errors)

    def batch(self, name: str, sql: str) -> Reply:
        """A script: GO stands between its batches."""
        user, password, database = self.logins[name]
        chosen = ["-D", database] if database else []
        done = subprocess.run(
            ["tsql", "-S", "selenite", "-U", user, "-P", password, *chosen],
            input=f"{sql}\nGO\n".encode(),
            env={"FREETDSCONF": str(self._configuration(name)), "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"},
            capture_output=True,
            check=False,
        )
        reply = Reply()
        # It returns to where its prompt stands before it complains.
        told = done.stderr.decode().replace("\r", "")
        for found in NOTICE.finditer(told):
            notice = Notice(
                found["text"],
                int(found["number"]),
                int(found["state"]),
                int(found["severity"]),
                int(found["line"]) if found["line"] else None,
                found["procedure"],
            )
            (reply.errors if int(found["severity"]) > 10 else reply.messages).append(notice)
        # PRINT has no number, and so no heading.
        plain = NOTICE.sub("", told).splitlines()
        if done.returncode:
            reply.errors += [Notice(line) for line in plain]
        else:
            reply.messages += [Notice(line, 0) for line in plain]
        answer(done.stdout.decode(), reply)
        return reply

    def close(self, name: str) -> None:
        del self.logins[name]

    def _configuration(self, name: str) -> Path:
        return self.folder / f"{name}.conf"


def answer(text: str, reply: Reply) -> None:
    """What a script's output says: a heading, rows and a footer for each result set, a footer alone for a count.

    A result set that an error ends has a heading alone. What follows it in the same batch can't be told from its rows.
    """
    pending: list[str] = []

    def end() -> None:
        if pending:
            columns, *rows = pending
            cells = [[None if cell == "NULL" else cell for cell in row.split("\t")] for row in rows]
            reply.sets.append({"columns": columns.split("\t"), "rows": cells})
            pending.clear()

    for line in text.split("\n"):
        # Prompts stand before what is answered to the lines that were typed.
        bare = re.sub(r"^(\d+> )+", "", line)
        if bare != line:
            end()
        if footer := FOOTER.fullmatch(bare):
            end()
            reply.counts.append(int(footer[1]))
        elif (bare or pending) and not bare.startswith(("locale ", "using default charset", "Default database")):
            pending.append(bare)
    end()


if __name__ == "__main__":
    serve(Tsql())
