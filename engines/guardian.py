"""Runs one server, and kills it and all its descendants as soon as the worker that asked for it is gone.

usage: guardian.py LOCK LOG -- COMMAND...

- nothing-outlives: the worker holds the other end of standard input. Its end, whatever the reason, ends the server.
  Should this process be killed, the kernel kills the server (PR_SET_PDEATHSIG).
- one-server-a-folder: LOCK is locked for as long as any process of the server may live.

It is in a session of its own, so that the lab, which kills a worker's process group, does not kill it before it has
done its work. It prints `started PID`, or `refused WHY`; then `ended STATUS`.
"""

import ctypes
import errno
import fcntl
import os
import select
import signal
import sys
import time

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
# A server that was killed lets go of its folder in less time.
LOCK_SECONDS = 20


def main(arguments: list[str]) -> int:
    options, command = arguments[: arguments.index("--")], arguments[arguments.index("--") + 1 :]
    lock_path, log_path = options
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    lock = os.open(lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    if not locked(lock):
        say(f"refused another server still works on it ({lock_path})")
        return 1
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.set_wakeup_fd(wake_write)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, lambda *_: None)
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    server = os.fork()
    if server == 0:
        start(libc, command, log)
    say(f"started {server}")
    status = watch(server, wake_read)
    kill_descendants()
    say(f"ended {status}")
    return 0


def locked(lock: int) -> bool:
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)


def start(libc: ctypes.CDLL, command: list[str], log: int) -> None:
    """Becomes the server. Never returns."""
    try:
        parent = os.getppid()
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(125)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(log, 1)
        os.dup2(log, 2)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        os.execv(command[0], command)
    except OSError as error:
        os.write(log, f"{command[0]}: {error.strerror}\n".encode())
    os._exit(127)


def watch(server: int, wake: int) -> int:
    """Waits until the server has ended, or the worker has. Gives the server's status."""
    while True:
        readable, _, _ = select.select([0, wake], [], [])
        if wake in readable:
            os.read(wake, 4096)
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return 0
            if pid == server:
                return os.waitstatus_to_exitcode(status)
            if pid == 0:
                break
        if 0 in readable and not os.read(0, 4096):
            return -signal.SIGKILL


def kill_descendants() -> None:
    """Kills until there is none. Those whose parent was killed are children of this process then."""
    while True:
        for pid in descendants(os.getpid()):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)


def descendants(pid: int) -> list[int]:
    found, place = [pid], 0
    while place < len(found):
        try:
            for thread in os.listdir(f"/proc/{found[place]}/task"):
                with open(f"/proc/{found[place]}/task/{thread}/children") as children:
                    found.extend(int(child) for child in children.read().split())
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ESRCH):
                raise
        place += 1
    return found[1:]


def say(line: str) -> None:
    try:
        os.write(1, f"{line}\n".encode())
    except BrokenPipeError:
        pass


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
