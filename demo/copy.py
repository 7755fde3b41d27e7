"""Copies an unencrypted database, which others may be using: copy.py SOURCE COPY."""

import sqlite3
import sys
from pathlib import Path
from urllib.parse import quote

from database import row_count, tables
from terminal import Meter, progress, say, size_text

# About 16 MiB at a time.
STEP_PAGES = 4096


def main(source_path: Path, copy_path: Path) -> None:
    try:
        source = sqlite3.connect(f"file:{quote(str(source_path))}?mode=ro", uri=True)
        source.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.Error as error:
        sys.exit(f"demo: {source_path}: {error}")
    copy = sqlite3.connect(copy_path, isolation_level=None)
    meter = Meter("copied:")
    source.backup(copy, pages=STEP_PAGES, progress=lambda _, left, total: meter.show(total - left, total))
    meter.wipe()
    copy.execute("PRAGMA journal_mode = delete")
    names = tables(copy)
    rows = sum(row_count(copy, name) for name in progress(names, len(names), "tables counted:"))
    copy.close()
    if rows == 0:
        sys.exit(f"demo: {source_path} has no rows to look for")
    say(f"{size_text(copy_path.stat().st_size)}, {len(names)} tables, {rows:,} rows")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
