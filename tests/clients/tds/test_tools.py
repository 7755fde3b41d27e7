"""Tools on the clients: their flows, whole, by their own public interfaces, each in a database of its own.

A flow is a program that runs checks in their order, and writes a line of JSON for each: its name, and what failed.
Checks that fail are listed in tools.txt with their reasons; one that passes though it is listed fails the test.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from client import BUILT, HERE, PYTHON
from host import NODE
from servers import Servers
from test_sqlalchemy import odbc_driver

sys.path.append(str(HERE / "suites"))

from suite import Known, execute

# A flow takes half a minute on an idle machine.
FLOW_SECONDS = 600
JAVA = ("java", "-XX:TieredStopAtLevel=1", "-cp", f"{BUILT}/tools:{BUILT}/tools/*:{BUILT}/java/*")


@dataclass(frozen=True)
class Tool:
    """A tool, and the program that is its flow."""

    name: str
    command: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)


TOOLS = [
    Tool("knex", (str(NODE), str(HERE / "node/knex_flow.mjs"))),
    Tool("sequelize", (str(NODE), str(HERE / "node/sequelize_flow.mjs"))),
    Tool("typeorm", (str(NODE), str(HERE / "node/typeorm_flow.mjs"))),
    Tool("prisma", (str(NODE), str(HERE / "node/prisma_flow.mjs"))),
    Tool("django", (str(BUILT / "python/bin/python"), str(HERE / "python/django_flow.py"))),
    Tool("explorer", (PYTHON, str(HERE / "python/explorer_flow.py"))),
    Tool("flyway", (*JAVA, "FlywayFlow")),
    Tool("liquibase", (*JAVA, "LiquibaseFlow")),
    Tool("golang_migrate", (str(BUILT / "go-migrate"),)),
]
# `make test-clients` says so.
ASKED = TOOLS if os.environ.get("SELENITE_TEST_CLIENTS") == "all" else []


@pytest.mark.parametrize("tool", ASKED, ids=lambda tool: tool.name)
def test_a_tool_does_what_it_does_on_sql_server(tool: Tool, servers: Servers, tmp_path: Path) -> None:
    server = servers.of("require")
    database = f"of_{tool.name}"
    execute(server, f"CREATE DATABASE {database}")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("SELENITE_")}
    told = {
        "TDS_PORT": str(server.port),
        "TDS_PASSWORD": server.password,
        "TDS_DATABASE": database,
        "TDS_ODBC_DRIVER": str(odbc_driver()),
        "HOME": str(tmp_path),
    }
    ran = subprocess.run(
        tool.command,
        cwd=tmp_path,
        env=inherited | told | tool.environment,
        timeout=FLOW_SECONDS,
        check=False,
        capture_output=True,
        text=True,
    )
    checks = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith('{"check":')]
    errors = {f"{tool.name}: {one['check']}": one["error"] for one in checks}
    assert ran.returncode == 0 and errors, f"it ended with {ran.returncode}: {ran.stdout[-4000:]} {ran.stderr[-4000:]}"
    results = {name: "failed" if error else "passed" for name, error in errors.items()}
    wrong = known(tool.name).differences(results)
    texts = [f"{name}\n{error}" for name, error in errors.items() if any(line == f"failed: {name}" for line in wrong)]
    assert not wrong, "\n".join([*wrong, *texts])
    print(f"{tool.name}: {list(results.values()).count('passed')} of {len(results)} checks pass")


def known(tool: str) -> Known:
    """What is known of one tool's checks."""
    found = Known.load(HERE / "tools.txt")
    found.fails = {name: reason for name, reason in found.fails.items() if name.startswith(f"{tool}: ")}
    return found
