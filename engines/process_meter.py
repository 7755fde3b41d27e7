"""The counters of a server's process and its descendants, and of its client apart, before and after work.

- clocks-innermost: clocks are read last before the work and first after it.
- ended-processes-count: the CPU time of a descendant that ended in between is in its parent's, in ticks of 10 ms; its
  bytes and faults are in its parent's exactly. Context switches of ended threads are lost.
"""

import os
import time
from dataclasses import dataclass, fields
from pathlib import Path

from guardian import descendants

TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
# Work that a server does by itself, such as purging, ends within this time or is measured as it is.
IDLE_SECONDS = 10
IDLE_INTERVAL = 0.05
IDLE_SHARE = 0.03


@dataclass
class Counts:
    """Sums over processes."""

    cpu_ns: int = 0
    user_ns: int = 0
    system_ns: int = 0
    switches_voluntary: int = 0
    switches_involuntary: int = 0
    faults_minor: int = 0
    faults_major: int = 0
    read_calls: int = 0
    write_calls: int = 0
    read_chars: int = 0
    write_chars: int = 0
    read_bytes: int = 0
    write_bytes: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))

    def since(self, before: "Counts") -> dict[str, int]:
        """Differences; one below zero is 0."""
        return {field.name: max(0, getattr(self, field.name) - getattr(before, field.name)) for field in fields(self)}


class ProcessMeter:
    """Measures one piece of work of a server."""

    def __init__(self, server: int) -> None:
        self._server = server
        self._has_peak = reset_peaks(server)
        self._before = counts(server)
        self._cpu_ns = cpu_ns(server)
        self._client_ns = time.process_time_ns()
        self.began_ns = time.monotonic_ns()

    def stop(self) -> dict[str, int | None]:
        """The counters of a sample of the protocol."""
        ended_ns = time.monotonic_ns()
        client_ns = time.process_time_ns() - self._client_ns
        server_ns = cpu_ns(self._server) - self._cpu_ns
        sample = counts(self._server).since(self._before)
        return sample | {
            "began_ns": self.began_ns,
            "elapsed_ns": ended_ns - self.began_ns,
            "cpu_ns": max(0, server_ns),
            "client_cpu_ns": client_ns,
            "peak_bytes": peak(self._server) if self._has_peak else None,
            "instructions": None,
        }


class PartTimer:
    """Elapsed and CPU time of a part of the work, such as its checkpoint."""

    def __init__(self, server: int) -> None:
        self._server = server
        self._cpu_ns = cpu_ns(server)
        self._began_ns = time.monotonic_ns()

    def stop(self) -> tuple[int, int]:
        elapsed_ns = time.monotonic_ns() - self._began_ns
        return elapsed_ns, max(0, cpu_ns(self._server) - self._cpu_ns)


def wait_until_idle(server: int) -> None:
    """Waits until the server does nothing by itself: what it has left to do is not the work's."""
    deadline = time.monotonic() + IDLE_SECONDS
    before, at = cpu_ns(server), time.monotonic_ns()
    while time.monotonic() < deadline:
        time.sleep(IDLE_INTERVAL)
        now, now_at = cpu_ns(server), time.monotonic_ns()
        if now - before < IDLE_SHARE * (now_at - at):
            return
        before, at = now, now_at


def wait_until(start_at_ns: int) -> None:
    """Sleeps until CLOCK_MONOTONIC reaches a time, so that several processes begin together."""
    while (left := start_at_ns - time.monotonic_ns()) > 0:
        time.sleep(left / 1e9)


def processes(server: int) -> list[int]:
    return [server, *descendants(server)]


def cpu_ns(server: int) -> int:
    """CPU time of a process and its descendants, those that were waited for included."""
    return sum(_cpu_ns(pid) for pid in processes(server))


def _cpu_ns(pid: int) -> int:
    try:
        # The number of the clock of another process (clock_getcpuclockid(3)), CPUCLOCK_SCHED of its threads together.
        own = time.clock_gettime_ns((~pid << 3) | 2)
        stat = _stat(pid)
    except OSError:
        return 0
    return own + (int(stat[13]) + int(stat[14])) * TICK_NS


def counts(server: int) -> Counts:
    """All counters but the CPU clock."""
    return sum((_counts(pid) for pid in processes(server)), Counts())


def _counts(pid: int) -> Counts:
    try:
        stat, io = _stat(pid), _named(f"/proc/{pid}/io")
        voluntary = involuntary = 0
        for thread in os.listdir(f"/proc/{pid}/task"):
            status = _named(f"/proc/{pid}/task/{thread}/status")
            voluntary += int(status.get("voluntary_ctxt_switches", 0))
            involuntary += int(status.get("nonvoluntary_ctxt_switches", 0))
    except OSError:
        return Counts()
    return Counts(
        user_ns=(int(stat[11]) + int(stat[13])) * TICK_NS,
        system_ns=(int(stat[12]) + int(stat[14])) * TICK_NS,
        switches_voluntary=voluntary,
        switches_involuntary=involuntary,
        faults_minor=int(stat[7]) + int(stat[8]),
        faults_major=int(stat[9]) + int(stat[10]),
        read_calls=int(io["syscr"]),
        write_calls=int(io["syscw"]),
        read_chars=int(io["rchar"]),
        write_chars=int(io["wchar"]),
        read_bytes=int(io["read_bytes"]),
        write_bytes=int(io["write_bytes"]),
    )


def reset_peaks(server: int) -> bool:
    """Resets VmHWM of all processes; false where that is not allowed."""
    try:
        for pid in processes(server):
            Path(f"/proc/{pid}/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def peak(server: int) -> int | None:
    """The sum of the peaks of resident memory, in bytes; shared memory counts once for each process."""
    total = 0
    for pid in processes(server):
        try:
            total += int(_named(f"/proc/{pid}/status")["VmHWM"].split()[0]) << 10
        except (OSError, KeyError):
            return None
    return total


def _stat(pid: int) -> list[str]:
    """The fields of proc_pid_stat(5) from the third on: the name before them may contain any character."""
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()


def _named(path: str) -> dict[str, str]:
    lines = (line.split(":", 1) for line in Path(path).read_text().splitlines() if ":" in line)
    return {name: value.strip() for name, value in lines}
