#!/usr/bin/env python3
"""Prints the notices of the libraries that are in the extension and the command: name, version, licence and texts.

    usage: scripts/notices.py >NOTICES

From the licence files that each library was published with.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOTS = {"selenite-cli", "selenite-extension"}
TEXTS = ("license", "licence", "copying", "copyright", "notice", "unlicense")


def main() -> None:
    command = ["cargo", "metadata", "--locked", "--format-version=1", "--filter-platform=x86_64-unknown-linux-gnu"]
    metadata = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    linked = closure(metadata["resolve"]["nodes"], {key for key in packages if packages[key]["name"] in ROOTS})
    # Packages without a source are ours.
    libraries = sorted((packages[key] for key in linked if packages[key]["source"]), key=by_name)
    users: dict[str, list[str]] = {}
    for library in libraries:
        name = f"{library['name']} {library['version']}"
        print(f"{name}: {library['license']}, {library['repository'] or 'https://crates.io/crates/' + library['name']}")
        for text in texts(Path(library["manifest_path"]).parent):
            users.setdefault(text, []).append(name)
    for text, names in users.items():
        print(f"\n{'=' * 80}\n{', '.join(names)}\n{'=' * 80}\n\n{text}")
    if len(libraries) < 50:
        sys.exit(f"notices: only {len(libraries)} libraries were found")


def by_name(package: dict) -> tuple[str, str]:
    return package["name"], package["version"]


def closure(nodes: list[dict], found: set[str]) -> set[str]:
    """What is linked into these packages, without what only builds or tests them."""
    needs = {
        node["id"]: [need["pkg"] for need in node["deps"] if any(kind["kind"] is None for kind in need["dep_kinds"])]
        for node in nodes
    }
    open_packages = list(found)
    while open_packages:
        new = set(needs[open_packages.pop()]) - found
        found |= new
        open_packages += new
    return found


def texts(folder: Path) -> list[str]:
    """The licence files of a library, and of the C sources that it brings with it."""
    files = [file for file in folder.rglob("*") if file.name.lower().startswith(TEXTS) and file.is_file()]
    files = [file for file in files if "-" in file.name or file.suffix.lower() in {"", ".md", ".txt"}]
    return [file.read_text(encoding="utf-8", errors="replace").strip() for file in sorted(files)]



main()
