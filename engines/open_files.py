"""Files that a server has open and that have no name any more: its temporary ones, while a query runs."""

import os
from collections.abc import Iterator
from pathlib import Path

# What the kernel adds to the name of a file without one (proc_pid_fd(5)).
DELETED = " (deleted)"


def deleted_files(pid: int, folder: Path) -> Iterator[bytes]:
    """The bytes of each file of a folder that a process has open, and that was deleted or never had a name."""
    descriptors = Path(f"/proc/{pid}/fd")
    for name in os.listdir(descriptors):
        link = descriptors / name
        try:
            target = os.readlink(link)
            if target.endswith(DELETED) and target.startswith(f"{folder}/"):
                yield link.read_bytes()
        except FileNotFoundError:
            # It has been closed since.
            continue
