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
        self.folder = Path(tempfile.mkdtemp(prefix="selenite-tsql-"))
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
        told = done.stderr.decode()
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
    """What a script's output says: a heading, rows and a footer for each result set, a footer alone for a count."""
    pending: list[str] = []
    for line in text.split("\n"):
        # Prompts stand before what is answered to the lines that were typed.
        line = re.sub(r"^(\d+> )+", "", line)
        if footer := FOOTER.fullmatch(line):
            if pending:
                columns, *rows = pending
                cells = [[None if cell == "NULL" else cell for cell in row.split("\t")] for row in rows]
                reply.sets.append({"columns": columns.split("\t"), "rows": cells})
                pending = []
            reply.counts.append(int(footer[1]))
        elif line and not re.match(r"^(locale is|locale charset is|using default charset|Default database)", line):
            pending.append(line)


if __name__ == "__main__":
    serve(Tsql())
